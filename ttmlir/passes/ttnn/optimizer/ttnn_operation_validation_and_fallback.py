"""Convert what operations of ttnn are given and the library does not take.

Before:

    #l1 = #ttnn.buffer_type<l1>
    #c = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x2>, memref<1x1x!ttcore.tile<32x32, f32>, #l1>,
        <width_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (1,0)>]>>
    func.func @main(%a: tensor<5x40xf32, #c>) -> tensor<5x40xf32, #c> {
      %0 = "ttnn.softmax"(%a) <{dimension = 1 : si32, numericStable = false}>
          : (tensor<5x40xf32, #c>) -> tensor<5x40xf32, #c>
      return %0 : tensor<5x40xf32, #c>
    }

After:

    ...
        %0 = "ttnn.to_tensor_spec"(%arg0)
            : (tensor<5x40xf32, #ttnn_layout>) -> tensor<5x40xf32, #ttnn_layout1>
        %1 = "ttnn.softmax"(%0) ...
            : (tensor<5x40xf32, #ttnn_layout1>) -> tensor<5x40xf32, #ttnn_layout1>
        %2 = "ttnn.to_tensor_spec"(%1)
            : (tensor<5x40xf32, #ttnn_layout1>) -> tensor<5x40xf32, #ttnn_layout>
        return %2 : tensor<5x40xf32, #ttnn_layout>
        ...

Requires: ttnn of 2026, with layouts.
Ensures: operands and results have the elements and the form for which `ttnn-workaround` converts
them; what is divided over cores is moved to DRAM for operations of which it is not known that they
take it, and back.
Options: `max-fallback-attempts` counts configurations in tt-mlir; here each operation has one.
Not done here: asking a model of the device what else an operation takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.ir.ttnn_types import is_sharded, memory_of, set_type, tensor_in
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttnn.optimizer.spread_layouts import is_elementwise, move
from ttmlir.passes.ttnn.workarounds.ttnn_workarounds import apply_layouts

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation

_TAKING_SHARDS = frozenset(
    f"ttnn.{name}"
    for name in (
        *("to_tensor_spec", "to_layout", "to_memory_config", "from_device", "deallocate"),
        *("permute", "reshape", "concat", "matmul", "linear", "conv2d", "conv_transpose2d"),
        *("max_pool2d", "avg_pool2d", "typecast"),
    )
)
"""Operations that the library computes on shards."""


@dataclass(frozen=True)
class TTNNOperationValidationAndFallbackPass(ModulePass):
    """Convert what operations of ttnn are given and the library does not take."""

    name = "ttnn-operation-validation-and-fallback"
    title = "TTNNOperationValidationAndFallback"
    max_fallback_attempts: int = option(0, "Configurations to try; here there is one")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert operands and results."""
        apply_layouts(module)
        for op in tuple(module.walk()):
            takes_shards = op.name in _TAKING_SHARDS or is_elementwise(op)
            if op.name.startswith("ttnn.") and not takes_shards:
                _move_to_dram(op)


def _move_to_dram(op: Operation) -> None:
    for index, value in enumerate(op.operands):
        if is_sharded(value.type):
            type_ = _in_dram(value.type)
            op.operands[index] = move(value, type_, op, op.location)
    after = op.next_op
    for result in op.results:
        if is_sharded(result.type) and after is not None:
            given = result.type
            made = set_type(result, _in_dram(given))
            users = tuple(made.uses)
            back = move(made, given, after, op.location)
            for use in users:
                use.operation.operands[use.index] = back


def _in_dram(type_: Attribute) -> Attribute:
    memory = memory_of(type_)
    return tensor_in(type_, tiled=memory is not None and memory.is_tiled)
