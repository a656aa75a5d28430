"""Give buffers on the device addresses, and operands of generics circular buffers.

Before:

    // After ttir-load-system-desc
    #dram = #ttcore.memory_space<dram>
    #l1 = #ttcore.memory_space<l1>
    #map = affine_map<(d0, d1) -> (d0, d1)>
    #parallel = #ttcore.iterator_type<parallel>
    !tile = !ttcore.tile<32x32, f32>
    !buffer = memref<1x1x16x12x!tile, #ttcore.interleaved<49152x4096>, #dram>
    !blocks = memref<16x4x1x3x!tile,
        #ttcore.view<(d0, d1, d2, d3) -> (0, 0, d0, d1 * 3 + d3)>, #dram>
    !shard = memref<1x3x!tile, #l1>
    func.func @exp(%arg0: memref<512x384xf32>) -> memref<512x384xf32> {
      %x = memref.alloc() : !buffer
      d2m.to_layout %arg0, %x : memref<512x384xf32> into !buffer
      %y = memref.alloc() : !buffer
      %vx = d2m.view_layout %x : !buffer -> !blocks
      %vy = d2m.view_layout %y : !buffer -> !blocks
      d2m.generic {block_factors = [2, 1], grid = #ttcore.grid<8x4>,
          indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel],
          threads = [#d2m.thread<compute>]} ins(%vx : !blocks) outs(%vy : !blocks) {
      ^compute0(%cb0: !d2m.cb<!shard>, %cb1: !d2m.cb<!shard>):
        %i = d2m.wait %cb0 : !d2m.cb<!shard> -> !shard
        %o = d2m.reserve %cb1 : !d2m.cb<!shard> -> !shard
        linalg.generic {indexing_maps = [#map, #map],
            iterator_types = ["parallel", "parallel"]} ins(%i : !shard) outs(%o : !shard) {
        ^bb0(%a: !tile, %b: !tile):
          %e = "d2m.tile_exp"(%a) : (!tile) -> !tile
          linalg.yield %e : !tile
        }
      }
      %out = memref.alloc() : memref<512x384xf32>
      d2m.to_layout %y, %out : !buffer into memref<512x384xf32>
      return %out : memref<512x384xf32>
    }

After:

    ...
        %alloc = memref.alloc() {address = 1024 : i64, alignment = 32 : i64} : ...
        d2m.to_layout %arg0, %alloc : ...
        %alloc_0 = memref.alloc() {address = 66560 : i64, alignment = 32 : i64} : ...
        ...
        %alloc_2 = memref.alloc() {address = 1024 : i64, alignment = 16 : i64} : memref<8x4x1x3x...
        %stream = "d2m.stream_layout"(%view, %alloc_2) : ...
        %alloc_3 = memref.alloc() {address = 25600 : i64, alignment = 16 : i64} : ...
        %stream_4 = "d2m.stream_layout"(%view_1, %alloc_3) : ...
        d2m.generic {...}
            ins(%stream : ...)
            outs(%stream_4 : ...) {
        ...
        }
        memref.dealloc %alloc : ...
        memref.dealloc %alloc_2 : ...
        memref.dealloc %alloc_3 : ...
        ...

Requires: generics in blocks (`d2m-grid-selection`); the machine on the module.
Ensures: every buffer of the device has an address that is free while it lives, and is deallocated
behind its last use. Every operand of a generic is a stream over a view, with memory for its
circular buffer: several blocks if it is filled more than once. Local memrefs of regions have
addresses, too.
Options: how many blocks a circular buffer holds.
Not done here: buffers of ttnn, which has them where it wants.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, cast

from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import AllocOp, DeallocOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ttmlir.dialects import d2m
from ttmlir.dialects.tt.keywords import MemorySpaceAttr
from ttmlir.dialects.tt.layout import element_of
from ttmlir.dialects.ttcore import (
    DeviceLayout,
    InterleavedLayoutAttr,
    ShardLayoutAttr,
    device_layout_of,
    memory_space_of,
)
from ttmlir.dialects.ttir.metal_cast import TTNNMetalLayoutCastOp
from ttmlir.ir.layouts import require_system_desc
from ttmlir.ir.rewriting import insert_before, refuse
from ttmlir.layout.affine import DimExpr
from ttmlir.layout.enums import IteratorType, MemorySpace
from ttmlir.layout.metal.device_memory import l1_buffer_bytes
from ttmlir.layout.system.chip import ChipDesc
from ttmlir.passes.core.base import ModulePass, option
from ttmlir.passes.d2m.schedule.address_planner import AddressPlanner, Life, Request
from ttmlir.passes.d2m.schedule.block_choice import operand_depth

if TYPE_CHECKING:
    from xdsl.context import Context

MemRef = MemRefType[Attribute]
MOST_CIRCULAR_BUFFERS = 32


@dataclass(frozen=True)
class D2MAllocatePass(ModulePass):
    """Give buffers addresses, and operands of generics circular buffers."""

    name = "d2m-allocate"
    title = "D2MAllocate"
    num_stream_buffers: int = option(2, "Blocks that a circular buffer of several steps holds")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Allocate the buffers of every function."""
        chip = require_system_desc(module, self.name).chip_descs[0]
        for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
            if function.body.blocks:
                _Function(function, chip, self.num_stream_buffers).allocate()


@dataclass
class _Buffer:
    """A buffer of the device."""

    op: AllocOp
    life: Life
    last_user: Operation


class _Function:
    """The buffers of a function, and the memories of a chip."""

    def __init__(self, function: FuncOp, chip: ChipDesc, stream_buffers: int) -> None:
        self._function = function
        self._block = function.body.block
        self._chip = chip
        self._stream_buffers = stream_buffers
        self._places = {op: place for place, op in enumerate(self._block.ops)}

    def allocate(self) -> None:
        """Place the buffers, then the circular buffers of each generic."""
        buffers = [self._buffer(op) for op in self._block.ops if _is_device_buffer(op)]
        for each in buffers:
            _move_to_dram(each.op)
        self._place_in_dram(buffers)
        for op in tuple(self._block.ops):
            if isinstance(op, d2m.GenericOp) and op.regions:
                _Streams(op, self._chip, self._stream_buffers).insert()
        for each in reversed(buffers):
            if each.last_user is not self._block.last_op:
                _deallocate_behind(each.last_user, each.op)

    def _buffer(self, op: Operation) -> _Buffer:
        assert isinstance(op, AllocOp)
        last = max((op, *_users(op.memref)), key=self._places.__getitem__)
        return _Buffer(op, Life(self._places[op], self._places[last]), last)

    def _place_in_dram(self, buffers: Sequence[_Buffer]) -> None:
        chip = self._chip
        alignment = chip.address_alignment(MemorySpace.DEVICE_DRAM)
        planner = AddressPlanner(chip.dram_unreserved_base, chip.dram_unreserved_end, alignment)
        sizes = [_bank_bytes(each.op, chip) for each in buffers]
        requests = [Request(size, each.life) for size, each in zip(sizes, buffers, strict=True)]
        for each, address in zip(buffers, planner.place(requests), strict=True):
            if address is None:
                self._refuse_dram(each, buffers)
            set_address(each.op, address, alignment)

    def _refuse_dram(self, missing: _Buffer, buffers: Sequence[_Buffer]) -> NoReturn:
        living = [each for each in buffers if each.life.overlaps(missing.life)]
        living.sort(key=lambda each: -_bank_bytes(each.op, self._chip))
        total = sum(_bank_bytes(each.op, self._chip) for each in living)
        rows = [
            f"{_bank_bytes(each.op, self._chip):>14}  {each.op.memref.type}" for each in living[:8]
        ]
        refuse(
            missing.last_user,
            f"needs {total} bytes in each bank of DRAM; there are "
            f"{self._chip.usable_dram_channel_size}. Use smaller tensors, or several functions. "
            "The largest buffers at this point, with their bytes in a bank:\n" + "\n".join(rows),
        )


def _is_device_buffer(op: Operation) -> bool:
    return isinstance(op, AllocOp) and memory_space_of(op.memref.type).is_device


def _users(value: SSAValue) -> list[Operation]:
    """The operations that use a buffer, or a view of it."""
    found: list[Operation] = []
    for use in value.uses:
        op = use.operation
        found.append(op)
        if isinstance(op, d2m.ViewLayoutOp | TTNNMetalLayoutCastOp):
            found += _users(op.results[0])
    return found


def _bank_bytes(op: AllocOp, chip: ChipDesc) -> int:
    """Bytes that the tiles of a buffer take in the fullest bank of DRAM."""
    memref = op.memref.type
    page = element_of(memref.element_type).stored_bytes
    alignment = chip.address_alignment(MemorySpace.DEVICE_DRAM)
    page = -(-page // alignment) * alignment
    return -(-math.prod(memref.get_shape()) // chip.num_dram_channels) * page


def _move_to_dram(op: AllocOp) -> None:
    """Let a buffer lie in DRAM, page by page over the banks; views of it follow."""
    memref = op.memref.type
    layout = device_layout_of(memref)
    if layout is None or memory_space_of(memref) is MemorySpace.DEVICE_DRAM:
        return
    strides = InterleavedLayoutAttr.of(layout.shard_shape, element_of(layout.element_type))
    space = MemorySpaceAttr(MemorySpace.DEVICE_DRAM)
    type_ = MemRefType(memref.element_type, memref.get_shape(), strides, space)
    changed = Rewriter.replace_value_with_new_type(op.memref, type_)
    _move_views(changed, space)


def _move_views(value: SSAValue, space: MemorySpaceAttr) -> None:
    for use in tuple(value.uses):
        view = use.operation
        if isinstance(view, d2m.ViewLayoutOp):
            memref = cast("MemRef", view.results[0].type)
            type_ = MemRefType(memref.element_type, memref.get_shape(), memref.layout, space)
            _move_views(Rewriter.replace_value_with_new_type(view.results[0], type_), space)


def set_address(op: AllocOp, address: int, alignment: int) -> None:
    """Say where a buffer lies."""
    op.attributes["address"] = IntegerAttr(address, i64)
    op.properties["alignment"] = IntegerAttr(alignment, i64)


def _deallocate_behind(user: Operation, op: AllocOp) -> None:
    block = cast("Block", user.parent)
    end = DeallocOp.get(op.memref)
    end.location = user.location
    block.insert_op_after(end, user)


# --- Circular buffers ----------------------------------------------------------------------------


class _Streams:
    """The circular buffers of a generic, one behind the other at the base of L1."""

    def __init__(self, op: d2m.GenericOp, chip: ChipDesc, buffers: int) -> None:
        self._op = op
        self._chip = chip
        self._buffers = buffers
        self._alignment = chip.address_alignment(MemorySpace.DEVICE_L1)
        self._next = chip.align(chip.l1_unreserved_base, MemorySpace.DEVICE_L1)
        self._sizes: list[tuple[int, str]] = []

    def insert(self) -> None:
        """Put a stream in front of the generic for each operand, and place local memrefs."""
        op = self._op
        locals_ = [each for each in op.compute_region.block.ops if isinstance(each, AllocOp)]
        count = len(op.operands) + len(locals_)
        if count > MOST_CIRCULAR_BUFFERS:
            refuse(
                op,
                f"needs {count} circular buffers, for {len(op.operands)} operands and "
                f"{len(locals_)} local memrefs; a core has {MOST_CIRCULAR_BUFFERS}. Divide it "
                "into several operations",
            )
        storages = [self._stream(number) for number in range(len(op.operands))]
        for each in locals_:
            memref = each.memref.type
            self._take(each, memref.get_shape(), memref.element_type, 1)
        self._check()
        for each in reversed(storages):
            _deallocate_behind(op, each)

    def _stream(self, number: int) -> AllocOp:
        op = self._op
        value = op.operands[number]
        layout = op.layouts[number]
        buffers = self._buffers if self._fills(number) > 1 else 1
        element = element_of(layout.element_type)
        storage_type = MemRefType(
            layout.element_type,
            (*storage_grid(op, layout, self._chip.grid), *layout.shard_shape),
            ShardLayoutAttr.of(layout.shard_shape, element, buffers),
            MemorySpaceAttr(MemorySpace.DEVICE_L1),
        )
        storage = AllocOp((), (), storage_type)
        storage.location = op.location
        stream = d2m.StreamLayoutOp.of(value, storage.memref, value.type)
        stream.location = op.location
        insert_before(op, storage, stream)
        op.operands[number] = stream.results[0]
        self._take(storage, layout.shard_shape, layout.element_type, buffers)
        return storage

    def _fills(self, number: int) -> int:
        """How often the circular buffer of an operand is filled."""
        op = self._op
        factors = op.block_factors
        if number >= len(op.inputs):
            # Outputs are written after the last step of a reduction.
            factors = tuple(
                1 if kind is IteratorType.REDUCTION else factor
                for factor, kind in zip(factors, op.iterator_types, strict=True)
            )
        iterators = [
            result.position if isinstance(result, DimExpr) else None
            for result in op.indexing_maps[number].results
        ]
        return math.prod(factors[: operand_depth(iterators, factors)])

    def _take(
        self, op: AllocOp, shape: Sequence[int], element_type: Attribute, buffers: int
    ) -> None:
        size = l1_buffer_bytes(shape, element_of(element_type), buffers)
        set_address(op, self._next, self._alignment)
        self._sizes.append((size, str(op.memref.type)))
        self._next = self._chip.align(self._next + size, MemorySpace.DEVICE_L1)

    def _check(self) -> None:
        if self._next <= self._chip.l1_size:
            return
        largest = sorted(self._sizes, key=lambda each: -each[0])[:8]
        rows = [f"{size:>14}  {type_}" for size, type_ in largest]
        refuse(
            self._op,
            f"needs {self._next - self._chip.l1_unreserved_base} bytes of L1 on each core; there "
            f"are {self._chip.usable_l1_size}. Run d2m-grid-selection with the same "
            "num-stream-buffers. The largest circular buffers, with their bytes:\n"
            + "\n".join(rows),
        )


def storage_grid(
    op: d2m.GenericOp, layout: DeviceLayout, chip_grid: tuple[int, int]
) -> tuple[int, ...]:
    """The grid of a circular buffer of an operand: the cores of the generic, in its rank.

    A rectangle of cores stays one; others, which count the chip's cores row by row, are one row.
    """
    rank = len(layout.grid_shape)
    if len(op.grid_shape) == rank:
        return op.grid_shape
    *outer, height, width = (1, 1, *op.grid_shape)
    is_rectangle = height <= chip_grid[0] and width <= chip_grid[1] and math.prod(outer) == 1
    last = (height, width) if is_rectangle else (1, math.prod(op.grid_shape))
    return (*(1,) * (rank - 2), *last)
