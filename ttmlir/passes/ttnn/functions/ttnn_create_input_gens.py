"""Write functions that make inputs of ones, and a `main` that runs the program on them.

Before:

    #dram = #ttnn.buffer_type<dram>
    #layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    func.func @neg(%x: tensor<32x32xbf16, #layout>) -> tensor<32x32xbf16, #layout> {
      return %x : tensor<32x32xbf16, #layout>
    }

After:

    ...
      func.func @create_inputs_for_neg() -> tensor<32x32xbf16, #ttnn_layout> {
        %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape =
            #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
        %1 = "ttnn.ones"(%0) <{shape = #ttnn.shape<32x32>}> : (!ttnn.device)
            -> tensor<32x32xbf16, #ttnn_layout>
        return %1 : tensor<32x32xbf16, #ttnn_layout>
      }
      func.func @main() -> i32 {
        %0 = call @create_inputs_for_neg() : () -> tensor<32x32xbf16, #ttnn_layout>
        %1 = call @neg(%0) : (tensor<32x32xbf16, #ttnn_layout>)
            -> tensor<32x32xbf16, #ttnn_layout>
        %c0_i32 = arith.constant 0 : i32
        return %c0_i32 : i32
      }
    }

Requires: ttnn of 2026, with layouts; functions of tensors, or of tuples of tensors
(`ttnn-tuplify-tensors`).
Ensures: `main` calls each function that nothing called before; one with that name is `_main` now.
Options: none.
Not done here: random numbers; `ttnn-load-input-tensors` reads any.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import FunctionType, StringAttr, TensorType, TupleType, i32
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Region

from ttmlir.dialects.ttcore import TupleOp
from ttmlir.dialects.ttnn.attrs import ShapeAttr
from ttmlir.ir.rewriting import refuse_to_legalize, rename_references
from ttmlir.ir.tensor_types import layout_of
from ttmlir.ir.ttnn_values import TTNNValueBuilder
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttnn.functions.ttnn_tuplify_tensors import forward_functions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation, SSAValue

    Maker = Callable[[TTNNValueBuilder, "TensorType[Attribute]", int], "SSAValue"]
    """Makes the tensor of a type that the input with a number is."""

_MAIN = "main"


@dataclass(frozen=True)
class TTNNCreateInputGeneratorsPass(ModulePass):
    """Write functions that make inputs, and one that runs the program on them."""

    name = "ttnn-create-input-gens"
    title = "TTNNCreateInputGenerators"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Add the functions."""
        add_main(module, "create", _ones)


def _ones(build: TTNNValueBuilder, type_: TensorType[Attribute], number: int) -> SSAValue:
    shape = ShapeAttr.of(type_.get_shape())
    return build.create("ones", on_device(build, type_), type_, shape=shape)


def on_device(build: TTNNValueBuilder, type_: TensorType[Attribute]) -> Sequence[SSAValue]:
    """The device, for a tensor that is on it."""
    layout = layout_of(type_)
    return () if layout is None or layout.memory_space.is_system else (build.device(),)


def add_main(module: ModuleOp, verb: str, make: Maker) -> None:
    """Add functions that make the inputs, named after what they do, and one that runs all."""
    forward = forward_functions(module)
    if not forward:
        return
    _free_main(module)
    block = forward[-1].parent_block()
    assert block is not None, "verified: functions are in modules"
    main = FuncOp(_MAIN, FunctionType.from_lists([], [i32]), Region(Block()))
    main.location = module.location
    block.add_op(main)
    for function in forward:
        inputs: Sequence[SSAValue] = ()
        if function.function_type.inputs.data:
            inputs = _call(main, add_inputs(function, main, verb, make), ())
        _call(main, function, inputs)
    end = ConstantOp.from_int_and_width(0, i32)
    for op in (end, ReturnOp(end.results[0])):
        op.location = module.location
        main.body.block.add_op(op)


def _free_main(module: ModuleOp) -> None:
    names = {op.sym_name.data: op for op in module.walk() if isinstance(op, FuncOp)}
    if _MAIN not in names:
        return
    free = f"_{_MAIN}"
    while free in names:
        free = f"_{free}"
    for op in module.walk():
        rename_references(op, {_MAIN: free})
    names[_MAIN].sym_name = StringAttr(free)


def _call(main: FuncOp, callee: FuncOp, inputs: Sequence[SSAValue]) -> Sequence[SSAValue]:
    call = CallOp(callee.sym_name.data, inputs, callee.function_type.outputs.data)
    call.location = callee.location
    main.body.block.add_op(call)
    return call.results


def add_inputs(function: FuncOp, before: Operation, verb: str, make: Maker) -> FuncOp:
    """The function that gives what another one takes."""
    types = function.function_type.inputs.data
    made = FuncOp(
        f"{verb}_inputs_for_{function.sym_name.data}",
        FunctionType.from_lists([], [*types]),
        Region(Block()),
    )
    made.location = function.location
    block = before.parent_block()
    assert block is not None, "verified: functions are in modules"
    block.insert_op_before(made, before)
    end = ReturnOp()
    end.location = function.location
    made.body.block.add_op(end)
    build = TTNNValueBuilder.before(end)
    number, results = 0, list["SSAValue"]()
    for type_ in types:
        parts = type_.types.data if isinstance(type_, TupleType) else (type_,)
        tensors = list["SSAValue"]()
        for part in parts:
            if not isinstance(part, TensorType):
                refuse_to_legalize(function, "inputs are made for functions of tensors")
            tensors.append(make(build, cast("TensorType[Attribute]", part), number))
            number += 1
        if isinstance(type_, TupleType):
            tensors = [*build.add(TupleOp.of(tensors)).results]
        results += tensors
    end.operands = results
    return made
