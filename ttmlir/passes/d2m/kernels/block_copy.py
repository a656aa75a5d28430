"""Copying a block between memory and a circular buffer: one transaction for each tile.

Where a tile lies follows from the map of the view, as a sum of terms over the number of the block
and the place of the tile in it. What does not change from tile to tile is computed once; the rest
are running numbers. Pages of an interleaved buffer go round the banks of DRAM; in L1 tiles that
follow each other are one transaction.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ttmlir.dialects.tt.layout import element_of
from ttmlir.dialects.ttcore import DeviceLayout, device_layout_of
from ttmlir.ir.kernel_builder import KernelBuilder, Number
from ttmlir.layout.affine import (
    AffineExpr,
    AffineKind,
    AffineMap,
    BinaryExpr,
    ConstantExpr,
    DimExpr,
    LinearForm,
    as_expr,
    dims,
    linear_form,
)
from ttmlir.layout.data_format import TileFormat
from ttmlir.layout.enums import DeviceMemoryLayout, MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import grid_cores
from ttmlir.passes.d2m.kernels.kernel_plan import Chip, KernelArguments, Stream, on_network
from ttmlir.passes.d2m.schedule.iteration_space import Parts

Shape = tuple[int, ...]


# --- Places in memory -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """Where a tile of a buffer is, from the coordinates of the buffer."""

    results: AffineMap
    """What tells the place."""
    runs: int | None = None
    """Which result is a byte of a memory in which neighbours follow each other."""


def _row_major(coordinates: Sequence[AffineExpr], extents: Sequence[int]) -> AffineExpr:
    total: AffineExpr = as_expr(0)
    for coordinate, extent in zip(coordinates, extents, strict=True):
        total = total * extent + coordinate
    return total


def _map(layout: DeviceLayout, *results: AffineExpr) -> AffineMap:
    return AffineMap(len(layout.shape), 0, results)


class TileAddresses(ABC):
    """How a kernel finds and copies the tiles of a buffer."""

    place: Place

    @abstractmethod
    def read(
        self, kernel: KernelBuilder, place: Sequence[Number], address: Number, tiles: int
    ) -> None:
        """Start to copy tiles that follow each other to an address of this core's L1."""

    @abstractmethod
    def write(
        self, kernel: KernelBuilder, place: Sequence[Number], address: Number, tiles: int
    ) -> None:
        """Start to copy tiles from there."""


class BufferTiles(TileAddresses):
    """Tiles as they are in a buffer."""

    @abstractmethod
    def read_part(
        self,
        kernel: KernelBuilder,
        place: Sequence[Number],
        address: Number,
        part: tuple[int, int],
    ) -> None:
        """Start to copy a part of a tile, its first byte and how many, to the same part at an
        address of this core's L1."""


class _InterleavedTiles(BufferTiles):
    """Pages that go round the banks of DRAM."""

    def __init__(
        self,
        kernel: KernelBuilder,
        layout: DeviceLayout,
        base: SSAValue,
        cb: SSAValue,
        parts: Parts,
    ) -> None:
        coordinates = dims(len(layout.shape))[len(layout.grid_shape) :]
        self.place = Place(_map(layout, _row_major(coordinates, layout.shard_shape)))
        (size,) = kernel.call("get_tile_size", cb)
        (number_format,) = kernel.call("get_dataformat", cb)

        def pages_from(first: int) -> SSAValue:
            start = kernel.value(kernel.add(base, first))
            (pages,) = kernel.call(
                "get_interleaved_addr_gen_fast", start, size, number_format, dram=True
            )
            return pages

        self._pages = pages_from(0)
        self._pages_from = {
            first: pages_from(first) if first else self._pages for first, _ in parts
        }

    def read(
        self, kernel: KernelBuilder, place: Sequence[Number], address: Number, tiles: int
    ) -> None:
        kernel.call("noc_async_read_tile", place[0], self._pages, address)

    def write(
        self, kernel: KernelBuilder, place: Sequence[Number], address: Number, tiles: int
    ) -> None:
        kernel.call("noc_async_write_tile", place[0], self._pages, address)

    def read_part(
        self,
        kernel: KernelBuilder,
        place: Sequence[Number],
        address: Number,
        part: tuple[int, int],
    ) -> None:
        first, size = part
        (source,) = kernel.call("get_noc_addr_of_page", place[0], self._pages_from[first])
        kernel.call("noc_async_read", source, kernel.add(address, first), size)


class BytesSomewhere(BufferTiles):
    """Bytes of a core or bank."""

    tile_bytes: int

    @abstractmethod
    def network_address(self, kernel: KernelBuilder, place: Sequence[Number]) -> SSAValue:
        """The address of a byte."""

    def read(
        self, kernel: KernelBuilder, place: Sequence[Number], address: Number, tiles: int
    ) -> None:
        """Start to copy tiles that follow each other to an address of this core's L1."""
        source = self.network_address(kernel, place)
        kernel.call("noc_async_read", source, address, tiles * self.tile_bytes)

    def write(
        self, kernel: KernelBuilder, place: Sequence[Number], address: Number, tiles: int
    ) -> None:
        """Start to copy tiles from there."""
        target = self.network_address(kernel, place)
        kernel.call("noc_async_write", address, target, tiles * self.tile_bytes)

    def read_part(
        self,
        kernel: KernelBuilder,
        place: Sequence[Number],
        address: Number,
        part: tuple[int, int],
    ) -> None:
        """Start to copy a part of a tile."""
        first, size = part
        runs = self.place.runs
        assert runs is not None, "buffers of bytes have neighbours"
        start = [kernel.add(each, first if n == runs else 0) for n, each in enumerate(place)]
        source = self.network_address(kernel, start)
        kernel.call("noc_async_read", source, kernel.add(address, first), size)


class RepeatedParts(TileAddresses):
    """Of each tile of a buffer only what a broadcast of a part of it repeats."""

    def __init__(self, tiles: BufferTiles, parts: Parts) -> None:
        """`parts`: the first byte of each, and how many bytes."""
        # Parts of neighbours are no neighbours.
        self.place = Place(tiles.place.results)
        self._tiles = tiles
        self._parts = parts

    def read(
        self, kernel: KernelBuilder, place: Sequence[Number], address: Number, tiles: int
    ) -> None:
        """Start to copy the parts of a tile."""
        for part in self._parts:
            self._tiles.read_part(kernel, place, address, part)

    def write(
        self, kernel: KernelBuilder, place: Sequence[Number], address: Number, tiles: int
    ) -> None:
        """Refuse: outputs are whole tiles."""
        raise LayoutError("writes parts of tiles; only inputs are read in parts")


class _ShardsInL1(BytesSomewhere):
    """Shards on cores."""

    def __init__(self, layout: DeviceLayout, base: SSAValue, chip: Chip) -> None:
        self.tile_bytes = element_of(layout.element_type).stored_bytes
        self._base = base
        rank = len(layout.grid_shape)
        coordinates = dims(2 * rank)
        grid = layout.grid_shape
        grid_cores(grid, chip.grid)  # the chip has these cores
        if rank >= 2 and _is_rectangle(grid, chip.grid):
            y, x = coordinates[rank - 2 : rank]
        else:
            number = _row_major(coordinates[:rank], grid)
            y, x = number // chip.grid[1], number % chip.grid[1]
        byte = _row_major(coordinates[rank:], layout.shard_shape) * self.tile_bytes
        self.place = Place(_map(layout, x, y, byte), runs=2)
        self._chip = chip

    def network_address(self, kernel: KernelBuilder, place: Sequence[Number]) -> SSAValue:
        x = on_network(kernel, place[0], self._chip, "x")
        y = on_network(kernel, place[1], self._chip, "y")
        address = kernel.value(kernel.add(place[2], self._base))
        (found,) = kernel.call("get_noc_addr", x, y, address)
        return found


class BytesOfPages(BytesSomewhere):
    """Parts of pages that go round the banks of DRAM."""

    def __init__(self, layout: DeviceLayout, base: SSAValue, banks: int) -> None:
        """Pages are tiles, in the order of the shard."""
        self.tile_bytes = element_of(layout.element_type).stored_bytes
        self._base = base
        coordinates = dims(len(layout.shape))[len(layout.grid_shape) :]
        page = _row_major(coordinates, layout.shard_shape)
        self.place = Place(_map(layout, page % banks, page // banks * self.tile_bytes), runs=1)

    def network_address(self, kernel: KernelBuilder, place: Sequence[Number]) -> SSAValue:
        """The address of a byte, from the bank and the byte in it."""
        bank, byte = place
        address = kernel.value(kernel.add(byte, self._base))
        (found,) = kernel.call("get_noc_addr_from_bank_id", kernel.value(bank), address, dram=True)
        return found


class _ShardsInDram(BytesOfPages):
    """Shards that go round the banks of DRAM."""

    def __init__(self, layout: DeviceLayout, base: SSAValue, banks: int) -> None:
        self.tile_bytes = element_of(layout.element_type).stored_bytes
        self._base = base
        rank = len(layout.grid_shape)
        coordinates = dims(2 * rank)
        number = _row_major(coordinates[:rank], layout.grid_shape)
        tile = _row_major(coordinates[rank:], layout.shard_shape)
        byte = (number // banks) * math.prod(layout.shard_shape) + tile
        self.place = Place(_map(layout, number % banks, byte * self.tile_bytes), runs=1)


def _is_rectangle(grid: Shape, chip_grid: tuple[int, int]) -> bool:
    return grid[-2] <= chip_grid[0] and grid[-1] <= chip_grid[1] and math.prod(grid[:-2]) == 1


def tile_addresses(
    kernel: KernelBuilder,
    stream: Stream,
    arguments: KernelArguments,
    chip: Chip,
    parts: Parts = (),
) -> BufferTiles:
    """How to reach the tiles of the buffer below a stream; LayoutError if kernels cannot.

    `parts` are those that `read_part` is asked for.
    """
    layout = device_layout_of(stream.buffer.type)
    if layout is None or layout.index_map is not None:
        raise LayoutError(
            f"operand #{stream.number} is '{stream.buffer.type}', which is no buffer; expected a "
            "memref with #ttcore.interleaved or #ttcore.shard"
        )
    if not isinstance(element_of(layout.element_type), TileFormat):
        raise LayoutError(
            f"operand #{stream.number} has elements '{layout.element_type}'; kernels move tiles"
        )
    base = arguments.address(stream.number)
    is_dram = layout.memory_space is MemorySpace.DEVICE_DRAM
    if is_dram and layout.memory_layout is DeviceMemoryLayout.INTERLEAVED:
        return _InterleavedTiles(kernel, layout, base, kernel.buffers[stream.cb], parts)
    return tile_bytes_of(layout, base, chip)


def tile_bytes_of(layout: DeviceLayout, base: SSAValue, chip: Chip) -> BytesSomewhere:
    """How to reach the bytes of the tiles of a buffer."""
    if layout.memory_space is MemorySpace.DEVICE_L1:
        return _ShardsInL1(layout, base, chip)
    if layout.memory_layout is DeviceMemoryLayout.INTERLEAVED:
        return BytesOfPages(layout, base, chip.dram_banks)
    return _ShardsInDram(layout, base, chip.dram_banks)


# --- Blocks ---------------------------------------------------------------------------------------

CHUNK_TILES = 8
"""Tiles, about, that a circular buffer gets or gives at a time: others go on meanwhile."""


@dataclass(frozen=True)
class _Loop:
    """A loop over a dimension of the block, or over every `step`-th place in it."""

    dim: int
    extent: int
    step: int = 1


class BlockCopy:
    """The loops over the tiles of a block of a stream, and over the chunks that it is copied in."""

    def __init__(self, kernel: KernelBuilder, stream: Stream, tiles: TileAddresses) -> None:
        """LayoutError if a place does not follow from the view."""
        self.stream = stream
        self._kernel = kernel
        self._tiles = tiles
        extents = (*stream.blocks, *stream.block)
        self._rank = len(stream.blocks)
        places = tiles.place.results.compose(stream.view)
        self._forms = [linear_form(result, extents) for result in places.results]
        element = device_layout_of(stream.buffer.type)
        assert element is not None, "buffers have layouts"
        self._tile_bytes = element_of(element.element_type).stored_bytes
        loops = self._merge(stream.block)
        self._run = self._take_run(loops)
        self._outer, self._inner = self._split_chunks(loops)
        looped = {loop.dim for loop in loops}
        self._fixed, self._moving = self._split(looped)
        self._running = [
            number
            for number, form in enumerate(self._forms)
            if any(form.factor_of(dim) for dim in looped)
        ]
        # Dimensions that are divided are counted, too.
        divided = frozenset[int]().union(*(form.divided_dims for form in self._moving))
        self._counted = sorted(looped & divided)

    @property
    def chunks(self) -> list[int]:
        """The extents of the loops over the chunks of a block."""
        return [loop.extent for loop in self._outer]

    @property
    def chunk_tiles(self) -> int:
        """Tiles, or pages, of a chunk."""
        return self._run * math.prod(loop.extent for loop in self._inner)

    @property
    def chunk_strides(self) -> list[list[int]]:
        """How far the numbers of `start` go along each loop over chunks."""
        return self._strides(self._outer)

    def _merge(self, block: Shape) -> list[_Loop]:
        """The loops over tiles; two that step evenly through memory are one."""
        divided = frozenset[int]().union(*(form.divided_dims for form in self._forms))
        loops: list[_Loop] = []
        for number, extent in enumerate(block):
            if extent == 1:
                continue
            dim = self._rank + number
            if loops and not divided & {dim, loops[-1].dim}:
                outer = loops[-1]
                if all(f.factor_of(outer.dim) == f.factor_of(dim) * extent for f in self._forms):
                    loops[-1] = _Loop(dim, outer.extent * extent)
                    continue
            loops.append(_Loop(dim, extent))
        return loops

    def _take_run(self, loops: list[_Loop]) -> int:
        """How many tiles one transaction copies; its loop is taken off."""
        runs = self._tiles.place.runs
        if runs is None or not loops:
            return 1
        dim, extent = loops[-1].dim, loops[-1].extent
        steps = [self._tile_bytes if n == runs else 0 for n in range(len(self._forms))]
        if any(dim in form.divided_dims for form in self._forms):
            return 1
        if [form.factor_of(dim) for form in self._forms] != steps:
            return 1
        loops.pop()
        return extent

    def _split_chunks(self, loops: list[_Loop]) -> tuple[list[_Loop], list[_Loop]]:
        """Loops over chunks, and those in a chunk."""
        left = max(1, CHUNK_TILES // self._run)
        for number in reversed(range(len(loops))):
            loop = loops[number]
            if loop.extent > left:
                width = _nearest_divisor(loop.extent, left)
                outer = _Loop(loop.dim, loop.extent // width, width)
                inner = [_Loop(loop.dim, width)] if width > 1 else []
                return [*loops[:number], outer], [*inner, *loops[number + 1 :]]
            left //= loop.extent
        return [], loops

    def _split(self, looped: set[int]) -> tuple[list[LinearForm], list[LinearForm]]:
        """What stays the same from tile to tile, and the terms that a division keeps apart."""
        fixed: list[LinearForm] = []
        moving: list[LinearForm] = []
        for form in self._forms:
            inner = {
                term: factor for term, factor in form.factors.items() if term.used_dims() & looped
            }
            outer = {term: f for term, f in form.factors.items() if term not in inner}
            divided = {t: f for t, f in inner.items() if not isinstance(t, DimExpr)}
            fixed.append(LinearForm(form.offset, outer))
            moving.append(LinearForm(0, divided))
        return fixed, moving

    def _strides(self, loops: Sequence[_Loop]) -> list[list[int]]:
        """How far the running numbers, and those of the counted dimensions, go along loops."""
        return [
            *(
                [self._forms[number].factor_of(loop.dim) * loop.step for loop in loops]
                for number in self._running
            ),
            *([loop.step if loop.dim == dim else 0 for loop in loops] for dim in self._counted),
        ]

    def start(self, block: Sequence[Number]) -> BlockPlace:
        """Find the first tile of a block."""
        # Loops that were joined with another one, or taken off, begin at 0.
        known = dict(enumerate((*block, *(0 for _ in block))))
        starts = [evaluate(self._kernel, form, known) for form in self._fixed]
        first = [self._kernel.value(starts[number]) for number in self._running]
        zeros = [self._kernel.constant(0) for _ in self._counted]
        return BlockPlace(known, starts, [*first, *zeros])

    @property
    def is_divided(self) -> bool:
        """True if a place in the block is divided to find the tile in memory."""
        return bool(self._counted)

    @property
    def num_places(self) -> int:
        """How many numbers tell the place of a tile in memory."""
        return len(self._forms)

    def place_at(self, fixed: Sequence[SSAValue]) -> BlockPlace:
        """The place of a block that begins there, of which nothing is divided."""
        known = dict.fromkeys(range(2 * self._rank), 0)
        return BlockPlace(known, fixed, [fixed[number] for number in self._running])

    @property
    def block_bytes(self) -> int:
        """Bytes of a block in the circular buffer."""
        return self.stream.tiles * self._tile_bytes

    def copy_block(self, block: Sequence[Number], address: SSAValue, *, store: bool) -> None:
        """Start to copy a whole block to, or from, an address of this core's L1."""
        place = self.start(block)
        chunk_bytes = self.chunk_tiles * self._tile_bytes
        addresses: list[int] = []
        for extent in reversed(self.chunks):
            addresses.insert(0, chunk_bytes)
            chunk_bytes *= extent
        self._kernel.walk(
            self.chunks,
            [*self.chunk_strides, addresses],
            [*place.first, address],
            lambda numbers: self.copy_chunk(place, numbers[:-1], numbers[-1], store=store),
        )

    def copy_chunk(
        self, at: BlockPlace, numbers: Sequence[SSAValue], address: SSAValue, *, store: bool
    ) -> None:
        """Start to copy a chunk to, or from, an address of this core's L1.

        `numbers` are those of the start of the block, after the loops around.
        """
        kernel = self._kernel
        copy = self._tiles.write if store else self._tiles.read
        places: list[int] = []
        stride = self._run * self._tile_bytes
        for loop in reversed(self._inner):
            places.insert(0, stride)
            stride *= loop.extent

        def on_tile(running: Sequence[SSAValue]) -> None:
            place: list[Number] = list(at.fixed)
            for number, value in zip(self._running, running, strict=False):
                place[number] = value
            counts = zip(self._counted, running[len(self._running) :], strict=False)
            inside = {**at.known, **dict(counts)}
            full = [
                kernel.add(number, evaluate(kernel, form, inside))
                for number, form in zip(place, self._moving, strict=True)
            ]
            copy(kernel, full, running[-1], self._run)

        extents = [loop.extent for loop in self._inner]
        strides = [*self._strides(self._inner), places]
        kernel.walk(extents, strides, [*numbers, address], on_tile)


def _nearest_divisor(number: int, wanted: int) -> int:
    """The divisor that is the fewest times as large, or as small, as a number."""
    divisors = (each for each in range(1, number + 1) if not number % each)
    return min(divisors, key=lambda each: max(each / wanted, wanted / each))


@dataclass(frozen=True)
class BlockPlace:
    """Where a block begins."""

    known: Mapping[int, Number]
    """Its number, and 0 for the places in it."""
    fixed: Sequence[Number]
    """What tells the first tile, as far as it does not change from tile to tile."""
    first: Sequence[SSAValue]
    """The numbers that run from tile to tile."""


def evaluate(kernel: KernelBuilder, form: LinearForm, known: Mapping[int, Number]) -> Number:
    """The value of a sum."""
    total: Number = 0
    for term, factor in form.factors.items():
        total = kernel.add(kernel.multiply(_value(kernel, term, known), factor), total)
    return kernel.add(total, form.offset)


def _value(kernel: KernelBuilder, expr: AffineExpr, known: Mapping[int, Number]) -> Number:
    """The value of a term, in which nothing is below 0."""
    match expr:
        case ConstantExpr(value=value):
            return value
        case DimExpr(position=position):
            return known[position]
        case BinaryExpr(kind=kind, lhs=lhs, rhs=rhs):
            first, second = _value(kernel, lhs, known), _value(kernel, rhs, known)
            if isinstance(first, int) and isinstance(second, int):
                return BinaryExpr(kind, as_expr(first), as_expr(second)).eval(())
            if kind is AffineKind.ADD:
                return kernel.add(first, second)
            if kind is AffineKind.MUL and isinstance(second, int):
                return kernel.multiply(first, second)
            return kernel.arithmetic(_ARITHMETIC[kind], first, second)
        case _:
            raise AssertionError("forms have no symbols")


_ARITHMETIC: Mapping[AffineKind, type[arith.SignlessIntegerBinaryOperation]] = {
    AffineKind.MUL: arith.MuliOp,
    AffineKind.FLOORDIV: arith.DivUIOp,
    AffineKind.MOD: arith.RemUIOp,
}
