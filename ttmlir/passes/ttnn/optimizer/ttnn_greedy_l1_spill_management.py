"""Move tensors of ttnn from L1 to DRAM where L1 does not hold them all.

Before:

    // Options: l1-size=6000
    #l1 = #ttnn.buffer_type<l1>
    #c = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>,
        <height_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (0,0)>]>>
    func.func @main(%a: tensor<5x7xbf16, #c>) -> tensor<5x7xbf16, #c> {
      %0 = "ttnn.exp"(%a) : (tensor<5x7xbf16, #c>) -> tensor<5x7xbf16, #c>
      %1 = "ttnn.neg"(%a) : (tensor<5x7xbf16, #c>) -> tensor<5x7xbf16, #c>
      %2 = "ttnn.tanh"(%1) : (tensor<5x7xbf16, #c>) -> tensor<5x7xbf16, #c>
      %3 = "ttnn.add"(%2, %0) <{activations = [], input_tensor_a_activations = [],
          input_tensor_b_activations = []}>
          : (tensor<5x7xbf16, #c>, tensor<5x7xbf16, #c>) -> tensor<5x7xbf16, #c>
      return %3 : tensor<5x7xbf16, #c>
    }

After:

    ...
        %0 = "ttnn.exp"(%arg0) : ...
        %1 = "ttnn.to_memory_config"(%0)
            : (tensor<5x7xbf16, #ttnn_layout>) -> tensor<5x7xbf16, #ttnn_layout1>
        %2 = "ttnn.neg"(%arg0) : ...
        %3 = "ttnn.tanh"(%2) : ...
        %4 = "ttnn.add"(%3, %1) ...
        ...

Requires: ttnn of 2026, with layouts.
Ensures: what an operation makes in L1 and what is used there by it or later takes no more than the
budget on a core, as far as elementwise operations use it, which take DRAM as well. What is used
last is moved first.
Options: `l1-size`: the budget in bytes; 0 for four fifths of what the machine has for tensors.
Not done here: circular buffers of operations are not counted; what others than elementwise
operations use stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING, cast

from xdsl.dialects.func import FuncOp

from ttmlir.ir.ttnn_types import memory_of, tensor_in
from ttmlir.ir.ttnn_values import TTNNValueBuilder
from ttmlir.layout.enums import BufferType
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttnn.optimizer.spread_layouts import (
    L1_SHARE,
    is_elementwise,
    shard_bytes,
    usable_l1_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Block, Operation, SSAValue, Use


@dataclass(frozen=True)
class TTNNGreedyL1SpillManagementPass(ModulePass):
    """Move tensors of ttnn from L1 to DRAM where L1 does not hold them all."""

    name = "ttnn-greedy-l1-spill-management"
    title = "TTNNGreedyL1SpillManagement"
    l1_size: int = option(0, "Bytes of L1 of a core for tensors; 0 for what the machine has")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Keep every function within the budget."""
        for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
            usable = usable_l1_of(function)
            budget = self.l1_size or (None if usable is None else int(L1_SHARE * usable))
            if budget is not None and function.body.blocks:
                _spill(function.body.blocks[0], budget)


def _spill(block: Block, budget: int) -> None:
    order = {op: number for number, op in enumerate(block.ops)}
    ending: dict[int, list[SSAValue]] = {}
    held: set[SSAValue] = set()
    by_last_use: list[tuple[int, int, SSAValue]] = []
    used = 0
    for op, number in order.items():
        for value in held.intersection(ending.pop(number - 1, ())):
            held.remove(value)
            used -= shard_bytes(value.type)
        for value in filter(_is_in_l1, op.results):
            end = max((order.get(use.operation, number) for use in value.uses), default=number)
            ending.setdefault(end, []).append(value)
            heappush(by_last_use, (-end, number, value))
            held.add(value)
            used += shard_bytes(value.type)
        while used > budget and by_last_use:
            _, made, value = heappop(by_last_use)
            users = [use for use in value.uses if order.get(use.operation, -1) >= number]
            if value in held and made < number and users and _take_dram(users):
                held.remove(value)
                used -= shard_bytes(value.type)
                _move(value, users)


def _take_dram(users: Iterable[Use]) -> bool:
    return all(is_elementwise(use.operation) for use in users)


def _move(value: SSAValue, users: Iterable[Use]) -> None:
    """Copy a tensor to DRAM as soon as it is made, for some of those that use it."""
    maker = cast("Operation", value.owner)
    after = maker.next_op
    assert after is not None, "users come after"
    build = TTNNValueBuilder.before(after)
    build.location = maker.location
    copy = build.create("to_memory_config", (value,), tensor_in(value.type, tiled=True))
    for use in users:
        use.operation.operands[use.index] = copy


def _is_in_l1(value: SSAValue) -> bool:
    memory = memory_of(value.type)
    return memory is not None and memory.buffer is BufferType.L1 and memory.is_tiled
