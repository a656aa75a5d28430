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
after its last use. Every operand of a generic is a stream over a view, with memory for its
circular buffer: several blocks if it is filled more than once and they fit. Local memrefs of
regions have addresses, too.
Options: how many blocks a circular buffer holds, what L1 there is, whether tensors may be there.
Not done here: buffers of ttnn, which has them where it wants.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NoReturn, cast

from xdsl.dialects.builtin import FunctionType, IntegerAttr, MemRefType, ModuleOp, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.memref import AllocOp, DeallocOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.structure import INPUT_BLOCKS
from ttmlir.dialects.tt.layout import MemorySpaceAttr, element_of
from ttmlir.dialects.ttcore import (
    InterleavedLayoutAttr,
    ShardLayoutAttr,
    ViewLayoutAttr,
    device_layout_of,
    memory_space_of,
)
from ttmlir.dialects.ttir import TTNNMetalLayoutCastOp
from ttmlir.ir.rewriting import erase_unused, insert_before, refuse
from ttmlir.ir.tensor_types import require_system_desc
from ttmlir.layout.affine import AffineExpr, AffineMap, DimExpr, linear_form
from ttmlir.layout.enums import IteratorType, MemorySpace
from ttmlir.layout.metal import (
    CIRCULAR_BUFFERS,
    grid_of_rank,
    iterator_positions,
    l1_buffer_bytes,
    split_device_shape,
)
from ttmlir.layout.system import ChipDesc
from ttmlir.passes.core.base import option
from ttmlir.passes.d2m.frontend.unified_form import ComputingModulePass
from ttmlir.passes.d2m.schedule.block_choice import (
    check_stream_buffers,
    operand_depth,
    restrict_l1,
)
from ttmlir.passes.d2m.schedule.iteration_space import count_circular_buffers, locals_of
from ttmlir.passes.d2m.schedule.row_split import buffers_of_local
from ttmlir.passes.d2m.schedule.ttnn_shards import is_sharded_tensor

if TYPE_CHECKING:
    from xdsl.context import Context

MemRef = MemRefType[Attribute]


@dataclass(frozen=True)
class D2MAllocatePass(ComputingModulePass):
    """Give buffers addresses, and operands of generics circular buffers."""

    name = "d2m-allocate"
    title = "D2MAllocate"
    num_stream_buffers: int = option(2, "Blocks that a circular buffer of several steps holds")
    allow_l1_output_spilling: bool = option(
        False, "Let results of functions leave L1 to others, before what does not fit is in DRAM"
    )
    available_l1_addr_range: tuple[int, ...] = option(
        (), "First address in L1 that buffers may have, and the end; of the chip by default"
    )
    test_assume_l1_capacity: int = option(0, "Bytes of L1 to assume; 0 for those of the chip")
    force_spill_to_dram_if_legal: bool = option(
        False, "Let all tensors lie in DRAM, and only circular buffers in L1"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Allocate the buffers of every function."""
        check_stream_buffers(self.num_stream_buffers)
        chip = restrict_l1(
            require_system_desc(module, self.name).chip_descs[0],
            self.available_l1_addr_range,
            self.test_assume_l1_capacity,
        )
        for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
            if function.body.blocks:
                _Function(
                    function,
                    chip,
                    self.num_stream_buffers,
                    results_last=self.allow_l1_output_spilling,
                ).allocate(all_in_dram=self.force_spill_to_dram_if_legal)


@dataclass
class _Buffer:
    """A buffer of the device."""

    op: AllocOp
    life: Life
    last_user: Operation


class _Function:
    """The buffers of a function, and the memories of a chip."""

    def __init__(
        self, function: FuncOp, chip: ChipDesc, stream_buffers: int, *, results_last: bool
    ) -> None:
        self._function = function
        self._results_last = results_last
        self._block = function.body.block
        self._chip = chip
        generics = [op for op in self._block.ops if isinstance(op, d2m.GenericOp) and op.regions]
        self._streams = [Streams(op, chip, stream_buffers) for op in generics]
        # Streams that were there have become views.
        self._places = {op: place for place, op in enumerate(self._block.ops)}

    def allocate(self, *, all_in_dram: bool) -> None:
        """Place the circular buffers of each generic, then buffers in L1 and in DRAM."""
        buffers = [self._buffer(op) for op in self._block.ops if _is_device_buffer(op)]
        for_l1 = [each for each in buffers if not all_in_dram and _is_for_l1(each.op)]
        self._place_in_l1(for_l1)
        self._place_in_dram([each for each in buffers if "address" not in each.op.attributes])
        for each in self._streams:
            each.insert()
        for each in reversed(buffers):
            if each.last_user is not self._block.last_op:
                _deallocate_after(each.last_user, each.op)
        end = self._block.last_op
        function = self._block.parent_op()
        if isinstance(end, ReturnOp) and isinstance(function, FuncOp):
            types = [[each.type for each in values] for values in (self._block.args, end.operands)]
            function.function_type = FunctionType.from_lists(types[0], types[1])

    def _buffer(self, op: Operation) -> _Buffer:
        assert isinstance(op, AllocOp)
        last = max((op, *_users(op.memref)), key=self._places.__getitem__)
        return _Buffer(op, Life(self._places[op], self._places[last]), last)

    def _place_in_l1(self, buffers: Sequence[_Buffer]) -> None:
        """Put into L1 what fits beside the circular buffers; first what is used again soon."""
        chip = self._chip
        alignment = chip.address_alignment(MemorySpace.DEVICE_L1)
        planner = AddressPlanner(chip.l1_unreserved_base, chip.l1_size, alignment)
        for each in self._streams:
            place = self._places[each.op]
            planner.fix(Life(place, place), chip.l1_unreserved_base, each.end)
        for each in sorted(buffers, key=self._urgency):
            memref = each.op.memref.type
            own, extents = split_device_shape(memref.get_shape())
            if _keeps_grid(each.op):
                size = l1_buffer_bytes(extents, element_of(memref.element_type))
                address = planner.place_one(Request(size, each.life))
                if math.prod(own) <= math.prod(chip.grid) and address is not None:
                    set_address(each.op, address, alignment)
                continue
            grid = choose_shards(extents, parts_of(each.op), math.prod(chip.grid))
            if grid is None:
                continue
            shard = [extent // count for extent, count in zip(extents, grid, strict=True)]
            size = l1_buffer_bytes(shard, element_of(memref.element_type))
            address = planner.place_one(Request(size, each.life))
            if address is not None:
                move_to_l1(each.op, grid)
                set_address(each.op, address, alignment)

    def _urgency(self, buffer: _Buffer) -> tuple[bool, float, int]:
        """Steps of life for each use, then the place: what comes first is placed first."""
        users = _users(buffer.op.memref)
        is_last = self._results_last and any(map(_leaves_device, users))
        life = buffer.life
        return is_last, (life.last - life.first) / max(1, len(users)), life.first

    def _place_in_dram(self, buffers: Sequence[_Buffer]) -> None:
        for each in buffers:
            move_to_dram(each.op)
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
    """True for a buffer that needs an address; sharded tensors of ttnn get theirs at run time."""
    return (
        isinstance(op, AllocOp)
        and memory_space_of(op.memref.type).is_device
        and not is_sharded_tensor(op.memref)
    )


def _users(value: SSAValue) -> list[Operation]:
    """The operations that use a buffer, or a view of it."""
    found: list[Operation] = []
    for use in value.uses:
        op = use.operation
        found.append(op)
        if isinstance(op, d2m.ViewLayoutOp | d2m.Gather | TTNNMetalLayoutCastOp):
            found += _users(op.results[0])
    return found


def _leaves_device(op: Operation) -> bool:
    """True for a transfer to the host."""
    return isinstance(op, d2m.ToLayoutOp) and device_layout_of(op.operands[1].type) is None


def _bank_bytes(op: AllocOp, chip: ChipDesc) -> int:
    """Bytes that the tiles, or shards, of a buffer take in the fullest bank of DRAM."""
    memref = op.memref.type
    grid, shard = split_device_shape(memref.get_shape())
    page = element_of(memref.element_type).stored_bytes
    if math.prod(grid) > 1:
        return -(-math.prod(grid) // chip.num_dram_channels) * math.prod(shard) * page
    alignment = chip.address_alignment(MemorySpace.DEVICE_DRAM)
    page = -(-page // alignment) * alignment
    return -(-math.prod(memref.get_shape()) // chip.num_dram_channels) * page


def _is_for_l1(op: AllocOp) -> bool:
    """True for a buffer that may be in L1, and whose views follow it there."""
    return memory_space_of(op.memref.type) is MemorySpace.DEVICE_L1 and (
        _keeps_grid(op)
        or all(
            isinstance(use.operation, d2m.ViewLayoutOp | d2m.ToLayoutOp) for use in op.memref.uses
        )
    )


def _keeps_grid(op: AllocOp) -> bool:
    """True for a buffer that is divided as it shall be: over a grid, or as generics take it."""
    grid, _ = split_device_shape(op.memref.type.get_shape())
    return math.prod(grid) > 1 or any(
        isinstance(use.operation, d2m.GenericOp) for use in op.memref.uses
    )


def set_address(op: AllocOp, address: int, alignment: int) -> None:
    """Say where a buffer lies."""
    op.attributes["address"] = IntegerAttr(address, i64)
    op.properties["alignment"] = IntegerAttr(alignment, i64)


def _deallocate_after(user: Operation, op: AllocOp) -> None:
    block = cast("Block", user.parent)
    end = DeallocOp.get(op.memref)
    end.location = user.location
    block.insert_op_after(end, user)


# --- Circular buffers -----------------------------------------------------------------------------


class Streams:
    """The circular buffers of a generic, one after the other at the base of L1.

    Streams that the generic has already are taken apart, and keep how many blocks they hold.
    """

    def __init__(self, op: d2m.GenericOp, chip: ChipDesc, buffers: int) -> None:
        """Plan streams of so many blocks, or of one if L1 has no room; a located error if none."""
        self.op = op
        self._held = _take_streams(op)
        self._chip = chip
        self._alignment = chip.address_alignment(MemorySpace.DEVICE_L1)
        self._locals = locals_of(op)
        count = count_circular_buffers(op)
        if count > CIRCULAR_BUFFERS:
            refuse(
                op,
                f"needs {count} circular buffers, for {len(op.operands)} operands and "
                f"{len(self._locals)} local memrefs; a core has {CIRCULAR_BUFFERS}. Divide it "
                "into several operations",
            )
        self._addresses: list[int] = []
        self._sizes: list[tuple[int, str]] = []
        self._storages: list[MemRef] = []
        self.end = self._place(buffers)
        """Bytes from the base of L1 on."""
        if self.end > chip.usable_l1_size:
            self.end = self._place(1)
        if self.end > chip.usable_l1_size:
            self._refuse()

    def _place(self, buffers: int) -> int:
        base = self._chip.l1_unreserved_base
        self._storages = [
            self._storage_type(number, buffers) for number in range(len(self.op.operands))
        ]
        self._addresses, self._sizes = [], []
        free = self._chip.align(base, MemorySpace.DEVICE_L1)
        local = [(each.memref.type, buffers_of_local(each.memref)) for each in self._locals]
        for type_, count in (*((each, 1) for each in self._storages), *local):
            layout = device_layout_of(type_)
            shape = type_.get_shape() if layout is None else layout.shard_shape
            count = count if layout is None else layout.buffers
            size = l1_buffer_bytes(shape, element_of(type_.element_type), count)
            self._addresses.append(free)
            self._sizes.append((size, str(type_)))
            free = self._chip.align(free + size, MemorySpace.DEVICE_L1)
        return free - base

    def insert(self, *, has_addresses: bool = True) -> None:
        """Put a stream in front of the generic for each operand, and place local memrefs.

        Without addresses, the memory of streams is only declared.
        """
        op = self.op
        storages: list[AllocOp] = []
        for number, type_ in enumerate(self._storages):
            value = op.operands[number]
            storage = AllocOp((), (), type_)
            storage.location = op.location
            stream = d2m.StreamLayoutOp.of(value, storage.memref, value.type)
            stream.location = op.location
            insert_before(op, storage, stream)
            op.operands[number] = stream.results[0]
            storages.append(storage)
        if not has_addresses:
            return
        for each, address in zip((*storages, *self._locals), self._addresses, strict=True):
            set_address(each, address, self._alignment)
        for each in reversed(storages):
            _deallocate_after(op, each)

    def _storage_type(self, number: int, buffers: int) -> MemRef:
        op = self.op
        layout = op.layouts[number]
        grid = grid_of_rank(op.grid_shape, len(layout.grid_shape), self._chip.grid)
        held = self._held.get(number, self._planned(number) or buffers) if buffers > 1 else 1
        filled = held if self._fills(number) > 1 else 1
        return MemRefType(
            layout.element_type,
            (*grid, *layout.shard_shape),
            ShardLayoutAttr.of(layout.shard_shape, element_of(layout.element_type), filled),
            MemorySpaceAttr(MemorySpace.DEVICE_L1),
        )

    def _fills(self, number: int) -> int:
        """How often the circular buffer of an operand is filled."""
        op = self.op
        factors = op.block_factors
        if number >= len(op.inputs):
            # Outputs are written after the last step of a reduction.
            factors = tuple(
                1 if kind is IteratorType.REDUCTION else factor
                for factor, kind in zip(factors, op.iterator_types, strict=True)
            )
        depth = operand_depth(iterator_positions(op.indexing_maps[number]), factors)
        return math.prod(factors[:depth])

    def _planned(self, number: int) -> int:
        """The blocks that an input is to have room for; 0 if that is not said."""
        op = self.op
        planned = op.attributes.get(INPUT_BLOCKS)
        is_input = number < len(op.inputs)
        return max(0, planned.value.data) if is_input and isinstance(planned, IntegerAttr) else 0

    def _refuse(self) -> NoReturn:
        largest = sorted(self._sizes, key=lambda each: -each[0])[:8]
        rows = [f"{size:>14}  {type_}" for size, type_ in largest]
        refuse(
            self.op,
            f"needs {self.end} bytes of L1 on each core; there are {self._chip.usable_l1_size}. "
            "Run d2m-grid-selection for this machine. The largest circular buffers, with their "
            "bytes:\n" + "\n".join(rows),
        )


def _take_streams(op: d2m.GenericOp) -> dict[int, int]:
    """Let operands that are streams be views again; the blocks that each held, by their numbers."""
    held: dict[int, int] = {}
    for number, value in enumerate(op.operands):
        stream = value.owner
        if not isinstance(stream, d2m.StreamLayoutOp):
            continue
        layout = device_layout_of(stream.storage.type)
        assert layout is not None, "the memory of a stream is divided over the cores"
        held[number] = layout.buffers
        view, storage = stream.input, stream.storage.owner
        if view.type != value.type:
            made = d2m.ViewLayoutOp.of(view, value.type)
            made.location = stream.location
            insert_before(stream, made)
            view = made.results[0]
        op.operands[number] = view
        erase_unused([*([storage] if isinstance(storage, AllocOp) else []), stream])
    return held


# --- Addresses ------------------------------------------------------------------------------------
# Addresses for buffers whose lives are known: largest first, each into the tightest gap.
#
# planner = AddressPlanner(base, end, alignment) planner.fix(Life(3, 3), base, 4096) # memory that
# is taken in step 3 planner.place([Request(2048, Life(0, 4)), ...]) # an address for each, or None


BUCKET = 64
"""Steps whose buffers are looked up together."""


@dataclass(frozen=True, order=True)
class Life:
    """The first and the last step in which a buffer is needed."""

    first: int
    last: int

    def overlaps(self, other: Life) -> bool:
        """True if there is a step in which both are needed."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Request:
    """Memory for a buffer."""

    size: int
    life: Life


@dataclass(frozen=True, order=True)
class _Placed:
    address: int
    end: int
    life: Life
    number: int


class AddressPlanner:
    """The memory between two addresses, over the steps of a program."""

    def __init__(self, base: int, end: int, alignment: int) -> None:
        """Begin with all memory free; addresses are multiples of `alignment`."""
        self._base = self._align(base, alignment)
        self._end = end
        self._alignment = alignment
        self._buckets: dict[int, list[_Placed]] = {}
        self._count = 0

    @staticmethod
    def _align(address: int, alignment: int) -> int:
        return -(-address // alignment) * alignment

    def fix(self, life: Life, address: int, size: int) -> None:
        """Take memory at a given address."""
        placed = _Placed(address, address + size, life, self._count)
        self._count += 1
        for bucket in self._buckets_of(life):
            insort(self._buckets.setdefault(bucket, []), placed)

    def place(self, requests: Sequence[Request]) -> list[int | None]:
        """An address for each request, None where nothing is left; largest first."""
        order = sorted(
            range(len(requests)), key=lambda each: (-requests[each].size, requests[each].life)
        )
        addresses: list[int | None] = [None] * len(requests)
        for number in order:
            addresses[number] = self.place_one(requests[number])
        return addresses

    def place_one(self, request: Request) -> int | None:
        """The start of the tightest gap that a buffer fits into."""
        best: tuple[int, int] | None = None
        free = self._base
        for placed in (*self._conflicts(request.life), None):
            limit = self._end if placed is None else placed.address
            left = limit - free - request.size
            if left >= 0 and (best is None or left < best[0]):
                best = left, free
            if placed is not None:
                free = max(free, self._align(placed.end, self._alignment))
        if best is None:
            return None
        self.fix(request.life, best[1], request.size)
        return best[1]

    def _conflicts(self, life: Life) -> list[_Placed]:
        found = {
            placed
            for bucket in self._buckets_of(life)
            for placed in self._buckets.get(bucket, ())
            if placed.life.overlaps(life)
        }
        return sorted(found)

    @staticmethod
    def _buckets_of(life: Life) -> range:
        return range(life.first // BUCKET, life.last // BUCKET + 1)


# --- Placement in L1 ------------------------------------------------------------------------------
# Buffers in L1: how their tiles are divided over cores, and the views that follow.
#
# A buffer has a grid of ones before it is placed. In L1 its tiles are divided evenly, over as many
# cores as extents can be divided by; where they cannot, a few cores would serve all others, and the
# buffer is better in DRAM.


Shape = tuple[int, ...]

MOST_TILES = 4
"""Tiles of a shard that are never too many for one core to serve."""
MOST_IMBALANCE = 3
"""How many times the even share of tiles a core may hold."""


@dataclass(frozen=True)
class Part:
    """What a generic reads or writes of a buffer."""

    block: Shape
    cores: Shape | None
    """Along each dimension, where each core has tiles of its own and in their order; else None."""


@lru_cache(maxsize=4096)
def choose_shards(extents: Shape, parts: tuple[Part, ...], cores: int) -> Shape | None:
    """The grid that a tensor of tiles is divided over; None if it divides badly.

    The best grid is that of generics which then find their tiles on their own cores; then one of
    many cores, whose shards are whole blocks.
    """
    best: tuple[int, int, int, Shape] | None = None
    tiles = math.prod(extents)
    most = max(MOST_TILES, MOST_IMBALANCE * -(-tiles // min(cores, tiles)))
    for grid in _grids(extents, cores):
        count = math.prod(grid)
        if tiles // count > most:
            continue
        shard = [extent // count for extent, count in zip(extents, grid, strict=True)]
        whole = sum(
            all(size % block == 0 for size, block in zip(shard, each.block, strict=True))
            for each in parts
        )
        found = sum(each.cores == grid for each in parts), count, whole, grid
        if best is None or found > best:
            best = found
    return None if best is None else best[-1]


def _grids(extents: Sequence[int], cores: int) -> Iterator[Shape]:
    if not extents:
        yield ()
        return
    for count in range(1, min(extents[0], cores) + 1):
        if extents[0] % count == 0:
            for rest in _grids(extents[1:], cores // count):
                yield (count, *rest)


def parts_of(op: AllocOp) -> tuple[Part, ...]:
    """What generics access of a buffer, by views of its rank; each once."""
    rank = len(op.memref.type.get_shape()) // 2
    found: dict[Part, None] = {}
    for use in op.memref.uses:
        view = use.operation
        if not isinstance(view, d2m.ViewLayoutOp):
            continue
        shape = cast("MemRef", view.results[0].type).get_shape()
        if len(shape) != 2 * rank:
            continue
        in_order = _is_in_order(cast("MemRef", view.results[0].type))
        for user in view.results[0].uses:
            generic = user.operation
            if isinstance(generic, d2m.GenericOp):
                cores = _cores_of(generic, user.index) if in_order else None
                found[Part(tuple(shape[rank:]), cores)] = None
    return tuple(found)


def _is_in_order(view: MemRef) -> bool:
    """True if each dimension of a view goes over that of the buffer."""
    tiles = cast("ViewLayoutAttr", view.layout).map.results[len(view.get_shape()) // 2 :]
    rank = len(tiles)
    return all(
        tile.used_dims() <= {dimension, rank + dimension} for dimension, tile in enumerate(tiles)
    )


def _cores_of(generic: d2m.GenericOp, number: int) -> Shape | None:
    """Cores along each dimension of an operand, if each core has an even part of its own."""
    positions = iterator_positions(generic.indexing_maps[len(generic.inputs)])
    counts: list[int] = []
    for result, blocks in zip(
        generic.indexing_maps[number].results, generic.layouts[number].grid_shape, strict=True
    ):
        position = positions.get(result.position) if isinstance(result, DimExpr) else None
        cores = 1 if position is None else generic.grid_shape[position]
        if blocks % cores:
            return None
        counts.append(cores)
    return tuple(counts) if tuple(counts) == generic.grid_shape else None


def move_to_dram(op: AllocOp) -> None:
    """Let a buffer lie in DRAM: page by page over the banks, or, of a grid, shard by shard."""
    memref = op.memref.type
    grid, shard = split_device_shape(memref.get_shape())
    kind = ShardLayoutAttr if math.prod(grid) > 1 else InterleavedLayoutAttr
    layout = kind.of(shard, element_of(memref.element_type))
    space = MemorySpaceAttr(MemorySpace.DEVICE_DRAM)
    type_ = MemRefType(memref.element_type, memref.get_shape(), layout, space)
    _retype_views(Rewriter.replace_value_with_new_type(op.memref, type_), space)


def move_to_l1(op: AllocOp, grid: Shape) -> None:
    """Let a buffer lie in the L1 of a grid of cores."""
    memref = op.memref.type
    _, extents = split_device_shape(memref.get_shape())
    shard = tuple(extent // count for extent, count in zip(extents, grid, strict=True))
    layout = ShardLayoutAttr.of(shard, element_of(memref.element_type))
    space = MemorySpaceAttr(MemorySpace.DEVICE_L1)
    type_ = MemRefType(memref.element_type, (*grid, *shard), layout, space)
    _retype_views(Rewriter.replace_value_with_new_type(op.memref, type_), space, shard)


def _retype_views(value: SSAValue, space: MemorySpaceAttr, shard: Shape = ()) -> None:
    """Let views of a buffer that had a grid of ones follow it; with `shard`, into shards."""
    for use in tuple(value.uses):
        view = use.operation
        if isinstance(view, d2m.ViewLayoutOp):
            memref = cast("MemRef", view.results[0].type)
            attr = cast("ViewLayoutAttr", memref.layout)
            if shard:
                attr = ViewLayoutAttr.of(_divide(attr.map, shard, memref.get_shape()))
            type_ = MemRefType(memref.element_type, memref.get_shape(), attr, space)
            Rewriter.replace_value_with_new_type(view.results[0], type_)


def _divide(index_map: AffineMap, shard: Shape, shape: Sequence[int]) -> AffineMap:
    """A map to the tiles of a grid of ones, as one to shards of a grid."""
    tiles = index_map.results[len(shard) :]

    def simplify(expr: AffineExpr) -> AffineExpr:
        return linear_form(expr, shape).expression()

    cores = [simplify(tile // size) for tile, size in zip(tiles, shard, strict=True)]
    places = [simplify(tile % size) for tile, size in zip(tiles, shard, strict=True)]
    return AffineMap(index_map.num_dims, 0, (*cores, *places))
