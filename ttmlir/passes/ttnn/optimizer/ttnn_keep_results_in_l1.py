"""Keep what operations of ttnn make in L1, spread over all cores, as long as it fits.

Before:

    #dram = #ttnn.buffer_type<dram>
    #l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, f32>, #dram>,
        <interleaved>>
    module {
      ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>,
          l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1
          + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, 0, d0 * s1 + d1), meshShape = ,
          chipIds = [0]>
      func.func @main(%a: tensor<5x40xf32, #l>) -> tensor<5x40xf32, #l> {
        %0 = "ttnn.exp"(%a) : (tensor<5x40xf32, #l>) -> tensor<5x40xf32, #l>
        %1 = "ttnn.neg"(%0) : (tensor<5x40xf32, #l>) -> tensor<5x40xf32, #l>
        return %1 : tensor<5x40xf32, #l>
      }
    }

After:

    ...
        %0 = "ttnn.exp"(%arg0)
            : (tensor<5x40xf32, #ttnn_layout>) -> tensor<5x40xf32, #ttnn_layout1>
        %1 = "ttnn.neg"(%0)
            : (tensor<5x40xf32, #ttnn_layout1>) -> tensor<5x40xf32, #ttnn_layout>
        return %1 : tensor<5x40xf32, #ttnn_layout>
        ...

Requires: ttnn of 2026, with layouts, and a `ttcore.device`.
Ensures: a result of DRAM that only operations of `_TAKING` use is interleaved over the L1 of all
cores, which every operation takes and makes, if what is there with it up to its last use takes no
more than the share of L1: that of tensors beside elementwise operations, and that beside operations
that have large blocks of their own. A reshape that moves nothing leaves a tensor where it is. Rows
of numbers and the tiles that are made of them are both in L1, or both in DRAM.
Options: `tensor-l1-usage-cap`: the part of L1 that tensors take; `block-l1-usage-cap`: the same
beside products, convolutions, pools and attention.
Not done here: shards, with which operations need no network to read them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from math import prod
from typing import TYPE_CHECKING

from ttmlir.ir.tensor_types import value_shape
from ttmlir.ir.ttnn_types import Shards, is_sharded, memory_of, set_type, tensor_in
from ttmlir.layout.data_format import has_same_tiles
from ttmlir.layout.enums import BufferType, TTNNTensorMemoryLayout
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttnn.optimizer.spread_layouts import (
    L1_SHARE,
    Occupancy,
    check_part,
    device_functions,
    is_elementwise,
    layout_attr,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Block, Operation, SSAValue

_BLOCKS_SHARE = 0.5
_CONVOLUTION = "ttnn.conv2d"
_IN_BLOCKS = (
    *("ttnn.matmul", "ttnn.linear", _CONVOLUTION, "ttnn.max_pool2d"),
    "ttnn.scaled_dot_product_attention",
)
"""Operations whose circular buffers hold blocks of many tiles."""
_RESHAPE = "ttnn.reshape"
_TAKING = (
    *_IN_BLOCKS,
    *(_RESHAPE, "ttnn.permute", "ttnn.transpose", "ttnn.concat", "ttnn.concatenate_heads"),
    *("ttnn.slice", "ttnn.slice_static", "ttnn.layer_norm", "ttnn.rms_norm", "ttnn.softmax"),
    *("ttnn.mean", "ttnn.sum", "ttnn.max", "ttnn.typecast", "ttnn.rotary_embedding"),
)
"""Operations beside elementwise ones that take and make what is interleaved over L1."""


@dataclass(frozen=True)
class TTNNKeepResultsInL1Pass(ModulePass):
    """Keep what operations of ttnn make in L1, spread over all cores, as long as it fits."""

    name = "ttnn-keep-results-in-l1"
    title = "TTNNKeepResultsInL1"
    tensor_l1_usage_cap: float = option(L1_SHARE, "The part of L1 that tensors may take, 0 to 1")
    block_l1_usage_cap: float = option(
        _BLOCKS_SHARE, "The same beside operations with large blocks of their own"
    )

    def check_options(self) -> None:
        """Refuse what is no part of L1."""
        for name in ("tensor_l1_usage_cap", "block_l1_usage_cap"):
            check_part(name.replace("_", "-"), getattr(self, name))

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Choose for every function of the device."""
        self.check_options()
        for block, workers, usable in device_functions(module):
            caps = (self.tensor_l1_usage_cap, self.block_l1_usage_cap)
            _Choice(block, workers, [int(cap * usable) for cap in caps]).run()


class _Choice:
    """What of one function is in L1."""

    def __init__(self, block: Block, workers: Sequence[int], most: Sequence[int]) -> None:
        """Begin with the cores, and the bytes of each that tensors take beside operations."""
        self._workers, self._occupancy = workers, Occupancy(block)
        self._most, self._most_beside_blocks = most

    def run(self) -> None:
        """Decide for each operation in order."""
        for op in self._occupancy.ops:
            if len(op.results) != 1 or _is_view(op) or not _takes(op):
                continue
            if _makes_tiles(op) and _is_in_dram(op.operands[0]):
                # To change layout and memory takes two operations.
                continue
            if op.name == _CONVOLUTION and _is_in_dram(op.operands[0]):
                # Of an image in DRAM the library takes slices, and puts them together there.
                continue
            aliases = _views_of(op.results[0])
            users = [use.operation for alias in aliases for use in alias.uses]
            groups = [
                aliases,
                *(_views_of(each.results[0]) for each in users if _makes_tiles(each)),
            ]
            if not all(all(map(_is_in_dram, group)) and _are_taken(group) for group in groups):
                continue
            if self._have_room(groups):
                for alias in chain(*groups):
                    set_type(alias, self._in_l1(alias.type))

    def _have_room(self, groups: Sequence[Sequence[SSAValue]]) -> bool:
        """Give tensors room, each with all its names; False, and nothing is done, if one does not
        fit."""
        given: list[tuple[range, int]] = []
        for group in groups:
            span, size = self._occupancy.span(group), self._bytes_of(group[0].type)
            if not self._occupancy.add(span, size, self._most_beside):
                for span, size in given:
                    self._occupancy.add(span, -size, self._most_beside)
                return False
            given.append((span, size))
        return True

    def _most_beside(self, op: Operation) -> int:
        if op.name == _CONVOLUTION and is_sharded(op.results[0].type):
            # Its buffers take what its shards leave.
            return 0
        return self._most_beside_blocks if op.name in _IN_BLOCKS else self._most

    def _in_l1(self, type_: Attribute) -> Attribute:
        memory = memory_of(type_)
        assert memory is not None, "it is in DRAM"
        return tensor_in(
            type_,
            tiled=memory.is_tiled,
            buffer=BufferType.L1,
            shards=Shards.on(
                TTNNTensorMemoryLayout.INTERLEAVED,
                (self._workers[0], self._workers[1]),
                self._workers,
            ),
        )

    def _bytes_of(self, type_: Attribute) -> int:
        """Bytes of a core that holds most pages of a tensor."""
        layout = layout_attr(type_)
        assert layout is not None, "tensors of ttnn have layouts"
        whole = layout.tensor_layout.shard_bytes
        return -(-whole // prod(self._workers))


def _takes(op: Operation) -> bool:
    return is_elementwise(op) or op.name in _TAKING or _makes_tiles(op)


def _makes_tiles(op: Operation) -> bool:
    """True for rows of numbers that become tiles."""
    if op.name != "ttnn.to_tensor_spec":
        return False
    before, after = (memory_of(each.type) for each in (op.operands[0], op.results[0]))
    if before is None or after is None or before.is_tiled or not after.is_tiled:
        return False
    return before.buffer in (BufferType.DRAM, BufferType.L1) and not is_sharded(op.operands[0].type)


def _views_of(value: SSAValue) -> list[SSAValue]:
    """A tensor, and those that are the same one in other shapes."""
    found = [value]
    for each in found:
        found += [use.operation.results[0] for use in each.uses if _is_view(use.operation)]
    return found


def _are_taken(values: Sequence[SSAValue]) -> bool:
    """True if one of them is used, and all that use them take L1."""
    users = [use.operation for value in values for use in value.uses]
    block = values[0].owner.parent
    return bool(users) and all(_takes(user) and user.parent is block for user in users)


def _is_view(op: Operation) -> bool:
    """True for a reshape of tiles that stay where they are."""
    return op.name == _RESHAPE and has_same_tiles(
        value_shape(op.operands[0]), value_shape(op.results[0])
    )


def _is_in_dram(value: SSAValue) -> bool:
    memory = memory_of(value.type)
    return memory is not None and memory.buffer is BufferType.DRAM and not is_sharded(value.type)
