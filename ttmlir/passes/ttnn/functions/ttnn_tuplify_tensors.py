"""Let functions that nothing calls take all their tensors as one tuple, and give them so.

Before:

    #dram = #ttnn.buffer_type<dram>
    #layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    func.func @neg(%x: tensor<32x32xbf16, #layout>) -> tensor<32x32xbf16, #layout> {
      %0 = "ttnn.neg"(%x) : (tensor<32x32xbf16, #layout>) -> tensor<32x32xbf16, #layout>
      return %0 : tensor<32x32xbf16, #layout>
    }

After:

    ...
      func.func @neg(%arg0: tuple<tensor<32x32xbf16, #ttnn_layout>>)
          -> tuple<tensor<32x32xbf16, #ttnn_layout>> {
        %0 = ttcore.get_tuple_element %arg0[0] : (tuple<tensor<32x32xbf16, #ttnn_layout>>)
            -> tensor<32x32xbf16, #ttnn_layout>
        %1 = "ttnn.neg"(%0) : (tensor<32x32xbf16, #ttnn_layout>)
            -> tensor<32x32xbf16, #ttnn_layout>
        %2 = ttcore.tuple %1 : tuple<tensor<32x32xbf16, #ttnn_layout>>
        return %2 : tuple<tensor<32x32xbf16, #ttnn_layout>>
      }
    }

Requires: ttnn of 2026.
Ensures: such functions take one tuple, those without arguments none, and give one. Functions that
are called, and those of other values than tensors, are left as they are.
Options: `tuplify-input-if-empty`: functions without arguments take an empty tuple, too.
Not done here: functions of constants, which `ttcore.load_cached` calls, take and give tensors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FunctionType, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp

from ttmlir.dialects.ttcore import GetTupleElementOp, TupleOp
from ttmlir.dialects.ttcore_values import tuple_of
from ttmlir.ir.rewriting import insert_before
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.emitc.convert_ttnn_to_emitc import callees_of

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute


@dataclass(frozen=True)
class TTNNTuplifyTensorsPass(ModulePass):
    """Let functions take and give their tensors as tuples."""

    name = "ttnn-tuplify-tensors"
    title = "TTNNTuplifyTensors"
    tuplify_input_if_empty: bool = option(
        False, "Functions without arguments take an empty tuple, too"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Change every function that nothing calls."""
        for function in forward_functions(module):
            inputs = function.function_type.inputs.data
            if _are_tensors(inputs) and (inputs or self.tuplify_input_if_empty):
                _join_arguments(function)
            if _are_tensors(function.function_type.outputs.data):
                _join_results(function)


def forward_functions(module: ModuleOp) -> Sequence[FuncOp]:
    """The functions with a body that nothing calls, as often or as seldom as that may be."""
    called = {name for op in module.walk() for name in callees_of(op)}
    return [
        op
        for op in module.walk()
        if isinstance(op, FuncOp)
        and op.body.blocks
        and op.sym_name.data not in called
        and op.attributes.get("tt.function_type") != StringAttr("const_eval")
    ]


def _are_tensors(types: Iterable[Attribute]) -> bool:
    return all(isinstance(type_, TensorType) for type_ in types)


def _join_arguments(function: FuncOp) -> None:
    block = function.body.blocks[0]
    old = tuple(block.args)
    types, outputs = (
        each.data for each in (function.function_type.inputs, function.function_type.outputs)
    )
    whole = block.insert_arg(tuple_of(types), len(old), function.location)
    first = block.first_op
    assert first is not None, "verified: the block has a terminator"
    for number, argument in enumerate(old):
        part = GetTupleElementOp.of(whole, number)
        part.location = function.location
        insert_before(first, part)
        argument.replace_all_uses_with(part.results[0])
        block.erase_arg(argument)
    function.function_type = FunctionType.from_lists([whole.type], [*outputs])
    function.properties.pop("arg_attrs", None)


def _join_results(function: FuncOp) -> None:
    inputs = function.function_type.inputs.data
    outputs = [tuple_of(function.function_type.outputs.data)]
    for block in function.body.blocks:
        end = block.last_op
        if isinstance(end, ReturnOp):
            whole = TupleOp.of(end.arguments)
            whole.location = end.location
            insert_before(end, whole)
            end.operands = whole.results
    function.function_type = FunctionType.from_lists([*inputs], outputs)
    function.properties.pop("res_attrs", None)
