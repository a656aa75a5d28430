"""Let what is computed once take its inputs from the host.

Before:

    #dram = #ttnn.buffer_type<dram>
    #l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>,
        <interleaved>>
    func.func private @main_const_eval_0(%w: tensor<5x7xf32, #l>) -> tensor<5x7xf32, #l>
        attributes {tt.function_type = "const_eval"} {
      %0 = "ttnn.exp"(%w) : (tensor<5x7xf32, #l>) -> tensor<5x7xf32, #l>
      return %0 : tensor<5x7xf32, #l>
    }
    func.func @main(%w: tensor<5x7xf32, #l>
            {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<5x7xf32, #l>
        attributes {tt.function_type = "forward_device"} {
      %0 = ttcore.load_cached(@main_const_eval_0, [%w])
          : (tensor<5x7xf32, #l>) -> tensor<5x7xf32, #l>
      return %0 : tensor<5x7xf32, #l>
    }

After:

    ...
      func.func private @main_const_eval_0(%arg0: tensor<5x7xf32, #ttnn_layout>)
          -> tensor<5x7xf32, #ttnn_layout1> attributes {tt.function_type = "const_eval"} {
        %0 = "ttnn.to_tensor_spec"(%arg0)
            : (tensor<5x7xf32, #ttnn_layout>) -> tensor<5x7xf32, #ttnn_layout1>
        %1 = "ttnn.exp"(%0)
            : (tensor<5x7xf32, #ttnn_layout1>) -> tensor<5x7xf32, #ttnn_layout1>
        return %1 : tensor<5x7xf32, #ttnn_layout1>
      }
      func.func @main(%arg0: tensor<5x7xf32, #ttnn_layout> ...) -> ... {
        ...

Requires: ttnn of 2026, after `const-eval-hoist-transform`.
Ensures: arguments that functions of constants alone take are rows in the host's memory, and are
moved within those functions.
Options: none.
Not done here: arguments that the program uses besides, and caches, stay where they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FunctionType, StringAttr
from xdsl.dialects.func import FuncOp

from ttmlir.dialects.ttcore import LoadCachedOp
from ttmlir.ir.ttnn_types import memory_of, set_type, tensor_in
from ttmlir.layout.enums import BufferType
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.general.const_eval_hoist_transform import argument_attribute, is_fixed
from ttmlir.passes.general.ttcore_mark_functions_as_forward import FUNCTION_TYPE
from ttmlir.passes.general.ttcore_register_device import device_modules
from ttmlir.passes.ttir.ttir_infer_kv_cache_argument_types import KV_CACHE
from ttmlir.passes.ttnn.workarounds.ttnn_workarounds import convert

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import BlockArgument

_CONST_EVAL = StringAttr("const_eval")


@dataclass(frozen=True)
class TTNNConstEvalInputsToSystemMemoryPass(ModulePass):
    """Let what is computed once take its inputs from the host."""

    name = "ttnn-force-const-eval-to-system-memory"
    title = "TTNNConstEvalInputsToSystemMemory"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Move the arguments, then what calls and functions say of them."""
        for each in device_modules(module):
            functions = {
                op.sym_name.data: op
                for op in each.body.block.ops
                if isinstance(op, FuncOp) and op.body.blocks
            }
            for function in functions.values():
                if function.attributes.get(FUNCTION_TYPE) != _CONST_EVAL:
                    _move_arguments(function, functions)


def _move_arguments(function: FuncOp, functions: dict[str, FuncOp]) -> None:
    for argument in tuple(function.body.blocks[0].args):
        calls = [(use.operation, use.index) for use in argument.uses]
        memory = memory_of(argument.type)
        if (
            memory is None
            or memory.buffer is BufferType.SYSTEM_MEMORY
            or not is_fixed(function, argument.index)
            or argument_attribute(function, argument.index, KV_CACHE) is not None
            or not calls
            or not all(isinstance(op, LoadCachedOp) for op, _ in calls)
        ):
            continue
        callees = [
            (functions[op.callee], index) for op, index in calls if isinstance(op, LoadCachedOp)
        ]
        _to_host(argument)
        _update_type(function)
        for callee, index in callees:
            inner = callee.body.blocks[0].args[index]
            given = inner.type
            moved = _to_host(inner)
            first = callee.body.blocks[0].first_op
            assert first is not None, "a function returns"
            back = convert(moved, given, first)
            moved.replace_uses_with_if(back, lambda use, back=back: use.operation is not back.owner)
            _update_type(callee)


def _to_host(argument: BlockArgument) -> BlockArgument:
    type_ = tensor_in(argument.type, tiled=False, buffer=BufferType.SYSTEM_MEMORY)
    block, index = argument.block, argument.index
    set_type(argument, type_)
    return block.args[index]


def _update_type(function: FuncOp) -> None:
    outputs = function.function_type.outputs.data
    inputs = [argument.type for argument in function.body.blocks[0].args]
    function.properties["function_type"] = FunctionType.from_lists(inputs, outputs)
