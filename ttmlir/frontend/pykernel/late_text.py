"""Kernels in the form of 2026.

Circular buffers are compile-time arguments there, which the kernel reads and `arg_spec` lists.
"""

from __future__ import annotations

from math import prod
from typing import cast

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    FunctionType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    i1,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ttmlir.dialects.definition.ods import KERNEL_THREAD, SEGMENTS, segments_attr
from ttmlir.dialects.ttkernel import ArgSpecAttr, CBType, ThreadTypeAttr, op_class
from ttmlir.dialects.ttkernel.attrs import (
    ArgType,
    CircularBuffer,
    CircularBufferParameter,
    KernelArgument,
    ReduceDim,
    ReduceDimAttr,
    ReduceType,
    ReduceTypeAttr,
)
from ttmlir.dialects.ttkernel.ops import LateSyntaxOp
from ttmlir.ir.rewriting import replace
from ttmlir.layout.enums import ThreadType
from ttmlir.mlir.chunk_processing import verify
from ttmlir.mlir.core_prefix import use_late_kernels, use_late_spelling
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.optable.kernel.late_calls import late_call


def late_form(module: ModuleOp) -> ModuleOp | None:
    """A copy of a kernel's module in the form of 2026; None if it has calls that 2026 has not."""
    names = {
        op.name.removeprefix("ttkernel.") for op in module.walk() if op.name.startswith("ttkernel.")
    }
    if any(late_call(name) is None for name in names):
        return None
    module = module.clone()
    use_late_kernels(module)
    use_late_spelling(module)
    for function in module.ops:
        if isinstance(function, FuncOp):
            if function.attributes.get(KERNEL_THREAD) == ThreadTypeAttr(ThreadType.TENSIX):
                function.attributes[KERNEL_THREAD] = ThreadTypeAttr(ThreadType.COMPUTE)
            _read_buffers(function)
            _convert_parameters(function)
    try:
        verify(module)
    except DiagnosticError:
        return None
    return module


def _read_buffers(function: FuncOp) -> None:
    """Replace arguments that are circular buffers by readings of compile-time arguments."""
    block = function.body.block
    buffers = [each for each in block.args if isinstance(each.type, CBType)]
    first = block.first_op
    assert first is not None, "kernels return"
    for number, argument in enumerate(buffers):
        read = op_class("get_compile_time_arg_val").create(
            result_types=[_late_type(cast("CBType", argument.type))],
            properties={"arg_index": IntegerAttr(number, i32)},
        )
        read.location = argument.location
        block.insert_op_before(read, first)
        argument.replace_all_uses_with(read.results[0])
        read.results[0].name_hint = argument.name_hint
        block.erase_arg(argument)
    if not buffers:
        return
    function.function_type = FunctionType.from_lists([each.type for each in block.args], [])
    listed = tuple(KernelArgument(ArgType.CB_PORT, number) for number in range(len(buffers)))
    function.attributes = {"ttkernel.arg_spec": ArgSpecAttr(((), listed)), **function.attributes}


def _late_type(buffer: CBType) -> Attribute:
    elements = prod(buffer.memref.get_shape())
    described = CircularBuffer(buffer.buffer.data.port, 0, 0, elements=elements)
    element = buffer.memref.element_type
    return CBType(CircularBufferParameter(described), MemRefType(element, [elements]))


def _convert_parameters(function: FuncOp) -> None:
    """Make operands and attributes of what operations of 2024 have as other attributes."""
    for op in list(function.walk()):
        given = op.properties
        match op.name:
            case "ttkernel.get_interleaved_addr_gen_fast":
                flag = _constant(op, given.get("dram", IntegerAttr(0, i1)), i1)
                _rebuild(op, [flag, *op.operands], {})
            case "ttkernel.TensorAccessorArgs":
                bases = (given.get(name, IntegerAttr(0, i32)) for name in ("cta_base", "crta_base"))
                operands = [_constant(op, base, i32) for base in bases]
                _rebuild(op, operands, {SEGMENTS: segments_attr((1, 1, 0))})
            case _:
                op.properties = {name: _keyword(name, each) for name, each in given.items()}
                if isinstance(op, LateSyntaxOp):
                    _add_zeros(op)


def _add_zeros(op: LateSyntaxOp) -> None:
    """Give an operation the numbers that 2024 leaves out at the end: offsets, no transposition."""
    call = late_call(op.mnemonic())
    if call is None:
        return
    required = [part for part in call.operands if not part.optional and not part.variadic]
    missing = required[len(op.operands) :]
    if all(part.kind in ("i32", "int") for part in missing):
        zeros = [_constant(op, IntegerAttr(0, i32), i32) for _ in missing]
        op.operands = [*op.operands, *zeros]


def _keyword(name: str, given: Attribute) -> Attribute:
    """The enumerator of what 2024 has the C++ name of."""
    match given:
        case StringAttr(data=word) if name == "reduce_type":
            return ReduceTypeAttr(ReduceType[word])
        case StringAttr(data=word) if name == "reduce_dim":
            return ReduceDimAttr(ReduceDim[word.removeprefix("REDUCE_")])
        case _:
            return given


def _constant(op: Operation, value: Attribute, type: Attribute) -> SSAValue:
    made = ConstantOp.create(result_types=[type], properties={"value": value})
    made.location = op.location
    Rewriter.insert_op(made, InsertPoint.before(op))
    return made.results[0]


def _rebuild(op: Operation, operands: list[SSAValue], properties: dict[str, Attribute]) -> None:
    late = type(op).create(
        operands=operands, result_types=[op.results[0].type], properties=properties
    )
    late.location = op.location
    Rewriter.insert_op(late, InsertPoint.before(op))
    replace(op, *late.results)
