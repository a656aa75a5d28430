"""Turn ttnn operations into calls of the ttnn library in C++.

An operation becomes `emitc.call_opaque "ttnn::<name>"` with its operands in order, tensors become
`ttnn::Tensor`, devices `ttnn::Device`. `ttmlir-translate --mlir-to-cpp` prints the result.

Before:

    #device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>,
        l1Map = (d0, d1) -> (0, 0, d0, d1), dramMap = (d0, d1) -> (0, 0, d0, d1),
        meshShape = 1, chipIds = [0]>
    func.func @exp(%arg0: tensor<33x70xf32>, %arg1: !tt.device<#device>) -> tensor<33x70xf32> {
      %0 = "ttnn.empty"(%arg1) : (!tt.device<#device>) -> tensor<33x70xf32>
      %1 = "ttnn.exp"(%arg0, %0) <{operandSegmentSizes = array<i32: 1, 1>}>
          : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
      return %1 : tensor<33x70xf32>
    }

After:

    module {
      emitc.include "ttnn-precompiled.hpp"
      func.func @exp(%arg0: !emitc.opaque<"ttnn::Tensor">, %arg1: !emitc.opaque<"ttnn::Device">)
          -> !emitc.opaque<"ttnn::Tensor"> {
        %0 = emitc.call_opaque "ttnn::empty"(%arg1)
            : (!emitc.opaque<"ttnn::Device">) -> !emitc.opaque<"ttnn::Tensor">
        %1 = emitc.call_opaque "ttnn::exp"(%arg0, %0)
            : (!emitc.opaque<"ttnn::Tensor">, !emitc.opaque<"ttnn::Tensor">)
            -> !emitc.opaque<"ttnn::Tensor">
        return %1 : !emitc.opaque<"ttnn::Tensor">
      }
    }

Requires: builtin, func, emitc and ttnn operations only.
Ensures: no ttnn operation is left, or an error names the first that has no C++ form.
Options: none.
Not done here: the operations of tt-mlir at 880154e3c2 lose their parameters, as they do there;
later operations pass theirs after the inputs, as literals, and so do compute configs.
Memory layouts are not spelled, formats only where `ttnn.to_layout` changes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    TensorType,
    i32,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.dialects import emitc, tt, ttnn
from ttmlir.dialects.definition.control import ControlOp
from ttmlir.dialects.definition.row_ops import RowOperation
from ttmlir.ir.layouts import layout_of
from ttmlir.ir.rewriting import insert_before, refuse_to_legalize
from ttmlir.layout.compute_config import DeviceComputeConfig
from ttmlir.layout.enums import DataType, TTNNLayout
from ttmlir.mlir.attributes.elements import elements_of
from ttmlir.mlir.xdsl_internals import retype
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.emitc.control_to_emitc import callees_first, convert_case, convert_while

if TYPE_CHECKING:
    from xdsl.context import Context

HEADER = "ttnn-precompiled.hpp"
TENSOR = emitc.EmitC_OpaqueType(StringAttr("ttnn::Tensor"))
DEVICE = emitc.EmitC_OpaqueType(StringAttr("ttnn::Device"))
DEVICE_POINTER = emitc.EmitC_PointerType(DEVICE)

_NULLOPT = emitc.EmitC_OpaqueAttr(StringAttr("std::nullopt"))
_LAYOUTS = {layout: f"ttnn::Layout::{layout.name}" for layout in TTNNLayout}
_DATA_TYPES = {
    DataType.F32: "FLOAT32",
    DataType.BF16: "BFLOAT16",
    DataType.BFP_BF8: "BFLOAT8_B",
    DataType.BFP_BF4: "BFLOAT4_B",
    DataType.U32: "UINT32",
    DataType.U16: "UINT16",
    DataType.U8: "UINT8",
}


@dataclass(frozen=True)
class ConvertTTNNToEmitCPass(ModulePass):
    """Turn ttnn operations into calls of the ttnn library in C++."""

    name = "convert-ttnn-to-emitc"
    title = "ConvertTTNNToEmitC"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Put the converted operations in the place of the module's own."""
        converted = to_emitc(module)
        body = module.detach_region(0)
        module.add_region(converted.detach_region(0))
        body.erase()


def to_emitc(module: ModuleOp) -> ModuleOp:
    """A copy of the module, with functions converted and the library's header included."""
    converted = module.clone_without_regions()
    include = emitc.IncludeOp.make(HEADER, location=module.location)
    [block] = _Conversion().copy_regions(module, converted)
    if block.first_op is None:
        block.add_op(include)
    else:
        insert_before(block.first_op, include)
    return converted


def _converted(type_: Attribute) -> Attribute:
    match type_:
        case TensorType():
            return TENSOR
        case tt.DeviceType() | ttnn.TTNNDeviceType():
            return DEVICE
        case _:
            return type_


class _Conversion:
    """One walk over a module that adds the converted operations to a copy."""

    def __init__(self) -> None:
        self._values: dict[SSAValue, SSAValue] = {}
        self._rules: dict[type[Operation], Callable[[Operation, Block], None]] = {
            ttnn.AllocOp: _refuse_allocation,
            ttnn.DeallocOp: self._dealloc,
            ttnn.GetDeviceOp: self._get_device,
            ttnn.ToLayoutOp: self._to_layout,
            ttnn.op_class("multiply"): self._multiply,
            ttnn.WhileOp: self._while,
            ttnn.CaseOp: self._case,
        }

    def copy_regions(self, source: Operation, target: Operation) -> list[Block]:
        """Convert all that `source` holds into the empty regions of `target`; the new blocks."""
        pairs = [
            (block, self._block(block, region))
            for old, region in zip(source.regions, target.regions, strict=True)
            for block in old.blocks
        ]
        for block, copy in pairs:
            for op in _in_order(block):
                self._convert(op, copy)
        return [copy for _, copy in pairs]

    def _block(self, block: Block, region: Region) -> Block:
        copy = Block()
        region.add_block(copy)
        for index, argument in enumerate(block.args):
            copy.insert_arg(_converted(argument.type), index, argument.location)
            self._values[argument] = copy.args[index]
        return copy

    def _convert(self, op: Operation, block: Block) -> None:
        if isinstance(op, ttnn.TTNNOp):
            if op.form() is not op.SIGNATURE:
                refuse_to_legalize(
                    op,
                    "C++ is made of operations as they were until 2025, which write to a "
                    "destination and take the device; write them so",
                )
            self._rules.get(type(op), self._call)(op, block)
        elif isinstance(op, ModuleOp | FuncOp | CallOp | ReturnOp) or op.name.startswith("emitc."):
            self._keep(op, block)
        else:
            refuse_to_legalize(op, "convert-ttnn-to-emitc takes ttnn, func and emitc operations")

    def _keep(self, op: Operation, block: Block) -> None:
        """Copy an operation that only changes its types."""
        self._operands(op)
        copy = op.clone_without_regions(self._values)
        if isinstance(copy, FuncOp):
            inputs, outputs = copy.function_type.inputs.data, copy.function_type.outputs.data
            copy.function_type = FunctionType.from_lists(
                [*map(_converted, inputs)], [*map(_converted, outputs)]
            )
        if isinstance(copy, CallOp):
            for result in copy.results:
                retype(result, _converted(result.type))
        block.add_op(copy)
        self.copy_regions(op, copy)

    def _operands(self, op: Operation) -> list[SSAValue]:
        """The converted operands."""
        values = [self._values.get(operand) for operand in op.operands]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            refuse_to_legalize(op, "its operands have to be defined before it")
        return known

    def _replace(self, op: Operation, block: Block, new: Operation) -> None:
        block.add_op(new)
        self._values.update(zip(op.results, new.results, strict=True))

    def _get_device(self, op: Operation, block: Block) -> None:
        name = emitc.EmitC_OpaqueAttr(StringAttr("device"))
        self._replace(op, block, emitc.VariableOp.make(name, DEVICE, location=op.location))

    def _to_layout(self, op: Operation, block: Block) -> None:
        assert isinstance(op, ttnn.ToLayoutOp)
        tensor, device = self._operands(op)
        pointer = emitc.ApplyOp.make("&", device, DEVICE_POINTER, location=op.location)
        block.add_op(pointer)
        layout = emitc.EmitC_OpaqueAttr(StringAttr(_LAYOUTS[op.layout.value]))
        arguments = (_operand(0), layout, _new_format(op), _NULLOPT, _operand(1))
        self._replace(op, block, _call_of(op, (tensor, pointer.results[0]), arguments))

    def _dealloc(self, op: Operation, block: Block) -> None:
        call = emitc.CallOpaqueOp.make(
            "ttnn::deallocate", self._operands(op), (), location=op.location
        )
        block.add_op(call)

    def _while(self, op: Operation, block: Block) -> None:
        assert isinstance(op, ttnn.WhileOp)
        results = convert_while(op, self._operands(op), block, TENSOR)
        self._values.update(zip(op.results, results, strict=True))

    def _case(self, op: Operation, block: Block) -> None:
        assert isinstance(op, ttnn.CaseOp)
        results = convert_case(op, self._operands(op), block, TENSOR)
        self._values.update(zip(op.results, results, strict=True))

    def _multiply(self, op: Operation, block: Block) -> None:
        """The one binary operation whose optional arguments are spelled."""
        arguments = (_operand(0), _operand(1), _NULLOPT, _NULLOPT, _operand(2))
        self._replace(op, block, _call_of(op, self._operands(op), arguments))

    def _call(self, op: Operation, block: Block) -> None:
        spells = _has_spelled_parameters(op) or "compute_config" in op.properties
        arguments = _arguments(op) if spells else None
        self._replace(op, block, _call_of(op, self._operands(op), arguments))


def _in_order(block: Block) -> Sequence[Operation]:
    """The operations of a block; functions that loops and branches call before those."""
    ops = list(block.ops)
    functions = [op for op in ops if isinstance(op, FuncOp)]
    if not any(isinstance(op, ControlOp) for each in functions for op in each.walk()):
        return ops
    return [*(op for op in ops if not isinstance(op, FuncOp)), *callees_first(functions)]


def _refuse_allocation(op: Operation, block: Block) -> None:
    refuse_to_legalize(op, "the ttnn library chooses addresses itself in C++")


def _new_format(op: ttnn.ToLayoutOp) -> Attribute:
    """The `ttnn::DataType` that the result has and the operand has not, as of narrower weights."""
    before, after = (_format(value.type) for value in (op.operands[0], op.results[0]))
    if after is None or after == before or after not in _DATA_TYPES:
        return _NULLOPT
    return emitc.EmitC_OpaqueAttr(StringAttr(f"ttnn::DataType::{_DATA_TYPES[after]}"))


def _format(type_: Attribute) -> DataType | None:
    layout = layout_of(type_)
    return None if layout is None else layout.element.data_type


def _has_spelled_parameters(op: Operation) -> bool:
    return (
        isinstance(op, RowOperation) and op.ROW.extends_reference and bool(op.ROW.parameters)
    ) or isinstance(op, ttnn.ConstantOp)


def _arguments(op: Operation) -> list[Attribute]:
    """The inputs, parameters and compute config as literals, then destination and device."""
    assert isinstance(op, RowOperation)
    signature = op.SIGNATURE
    inputs = op.group_range(signature.init)[0] if signature.init else 0
    operands = [_operand(index) for index in range(len(op.operands))]
    parameters = [
        literal
        for parameter in op.PARAMETERS
        for literal in _literals(op.properties.get(parameter.name))
    ]
    if not _has_spelled_parameters(op):
        parameters = []
    config = op.properties.get("compute_config")
    if isinstance(config, ttnn.DeviceComputeConfigAttr):
        parameters.append(_compute_config(config.data))
    return [*operands[:inputs], *parameters, *operands[inputs:]]


def _compute_config(config: DeviceComputeConfig) -> Attribute:
    """`ttnn::WormholeComputeKernelConfig`, which Blackhole takes, too."""
    wide = str(config.fp32_dest_acc_en).lower()
    return emitc.EmitC_OpaqueAttr(
        StringAttr(
            f"ttnn::WormholeComputeKernelConfig{{.math_fidelity = MathFidelity::"
            f"{config.math_fidelity.schema_name}, .fp32_dest_acc_en = {wide}}}"
        )
    )


def _literals(attribute: Attribute | None) -> Sequence[Attribute]:
    """What stands for a parameter; elements are followed by their shape."""
    match attribute:
        case None:
            return (_NULLOPT,)
        case DenseIntOrFPElementsAttr():
            return (attribute, _list(attribute.get_shape()))
        case ArrayAttr():
            items = cast("ArrayAttr[IntegerAttr]", attribute)
            return (_list([item.value.data for item in items]),)
        case DenseArrayBase():
            items = cast("DenseArrayBase[IntegerType]", attribute)
            return (_list([*items.iter_values()]),)
        case _:
            return (attribute,)


def _list(values: Sequence[int]) -> Attribute:
    """Integers that C++ text shows as `{1, 2}`."""
    return elements_of(TensorType(i32, [len(values)]), values)


@cache
def _operand(index: int) -> Attribute:
    """The argument that stands for the operand with this number."""
    return IntegerAttr.from_index_int_value(index)


def _call_of(
    op: Operation, operands: Sequence[SSAValue], arguments: Sequence[Attribute] | None
) -> Operation:
    callee = op.ROW.callee if isinstance(op, RowOperation) else _callee(op)
    results = [_converted(result.type) for result in op.results]
    return emitc.CallOpaqueOp.make(callee, operands, results, args=arguments, location=op.location)


def _callee(op: Operation) -> str:
    return op.name.replace("ttnn.", "ttnn::", 1)
