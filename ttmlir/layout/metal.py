"""Layouts of tt-metal's buffers: shards in device memory, and views of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ttmlir.layout.affine import (
    AffineExpr,
    AffineMap,
    ConstantExpr,
    DimExpr,
    constant,
    dims,
    symbols,
)
from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE, Element, TileFormat
from ttmlir.layout.enums import DeviceMemoryLayout, MemorySpace, OOBVal
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.tensor_layout import NO_MAPPING, shape_text
from ttmlir.machine import WORMHOLE

# --- Device memory --------------------------------------------------------------------------------
# Where shards lie in the memories of a device, and what buffers of the metal path take there.
#
# Positions are (device, y, x or bank, byte). L1 is addressed by core; in DRAM the shards of a
# tensor follow each other in row-major order of the grid, and pages go round the banks.
#
# Source of the maps: tt-mlir, DeviceAttr (late 2025).

DST_TILES = WORMHOLE.units.dst_tiles
"""Tiles of 16-bit numbers in the whole of DST."""
CIRCULAR_BUFFERS = 32
"""Of a core."""
WIDE_BYTES = 4
"""Bytes of the numbers of which DST holds half as many."""


def l1_memory_map() -> AffineMap:
    """From grid y, grid x and the byte in a shard; the symbol is the address of the buffer."""
    y, x, byte = dims(3)
    (base,) = symbols(1)
    return AffineMap(3, 1, (constant(0), y, x, byte + base))


def dram_memory_map(banks: int) -> AffineMap:
    """From grid y, grid x and the byte in a shard to a bank and a byte in it.

    The symbols are rows and columns of the grid, rows and columns of the shard, bytes of a page,
    the address of the buffer in each bank, and bytes of an element.
    """
    y, x, byte = dims(3)
    _, grid_x, shard_y, shard_x, page_size, base, element_size = symbols(7)
    shard_size = shard_y * (shard_x * element_size)
    address = (y * grid_x) * shard_size + x * shard_size + byte
    page = address // page_size
    in_bank = (page // banks) * page_size + address % page_size + base
    return AffineMap(3, 7, (constant(0), constant(0), page % banks, in_bank))


def grid_cores(grid: Sequence[int], chip_grid: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """The (x, y) of the core that each shard in L1 is on, in row-major order of a buffer's grid.

    `chip_grid` is rows and columns of the chip. A grid of such cores begins at (0, 0); one that
    reaches beyond them, such as 64x1, or that has further dimensions counts the chip's cores row by
    row. LayoutError if it has more cores than the chip.
    """
    rows, columns = chip_grid
    count = math.prod(grid)
    *outer, height, width = (1, 1, *grid)
    if height <= rows and width <= columns and math.prod(outer) == 1:
        return tuple((x, y) for y in range(height) for x in range(width))
    if count > rows * columns:
        raise LayoutError(
            f"a grid of {shape_text(grid)} has {count} cores; the chip has {rows * columns}, in "
            f"{rows} rows and {columns} columns"
        )
    return tuple((number % columns, number // columns) for number in range(count))


def shared_cores(
    grid: Sequence[int], follows: Sequence[bool], chip_grid: tuple[int, int]
) -> tuple[str, int] | None:
    """Which cores of a grid have the same part of a tensor, and how many: what is sent to them.

    `follows` says for each dimension of the grid whether the tensor is divided along it. They are
    the cores of a row of the chip (x), of a column (y), or of several whole rows, which one
    rectangle has (rows); None if they are none of these.
    """
    rows, columns = chip_grid
    *outer, height, width = (1, 1, *grid)
    shares = (False, False, *(not each for each in follows))
    if height <= rows and width <= columns and math.prod(outer) == 1:
        for axis, extent, is_shared in (("x", width, shares[-1]), ("y", height, shares[-2])):
            if extent > 1 and is_shared:
                return axis, extent
        return None
    # Such a grid counts the chip's cores row by row.
    count = 1
    for extent, is_shared in zip(reversed(grid), reversed(shares), strict=False):
        if extent > 1 and not is_shared:
            break
        count *= extent
    is_whole = count % columns == 0 == math.prod(grid) % columns
    return ("rows", count) if is_whole and math.prod(grid) <= rows * columns else None


def grid_of_rank(grid: Sequence[int], rank: int, chip_grid: tuple[int, int]) -> tuple[int, ...]:
    """A grid of other rank, 2 or more, on the same cores: for buffers beside that of the grid."""
    *outer, height, width = (1, 1, *grid)
    if math.prod(outer) == 1 and height <= chip_grid[0] and width <= chip_grid[1]:
        return (*(1,) * (rank - 2), height, width)
    # One row of cores; where the chip's are shorter, it is counted row by row.
    return (*(1,) * (rank - 1), math.prod(grid))


def shard_strides(shard: Sequence[int], element: Element) -> tuple[int, ...]:
    """Bytes from one element of a shard to the next in each dimension."""
    strides: list[int] = []
    stride = element.stored_bytes
    for extent in reversed(shard):
        strides.append(stride)
        stride *= extent
    return tuple(reversed(strides))


def shard_bytes(shard: Sequence[int], element: Element, buffers: int = 1) -> int:
    """Bytes of a shard, or of several buffers of it."""
    return math.prod(shard) * element.stored_bytes * buffers


def dram_page_bytes(
    shard: Sequence[int], element: Element, memory_layout: DeviceMemoryLayout
) -> int:
    """Bytes that go to one bank of DRAM before the next one's turn.

    A whole shard, if the tensor is sharded; else a tile or a row.
    """
    if memory_layout is DeviceMemoryLayout.SHARDED:
        return shard_bytes(shard, element)
    if isinstance(element, TileFormat):
        return element.stored_bytes
    return shard_strides(shard, element)[0]


def cb_page_bytes(element: Element) -> int:
    """Bytes of a page of a circular buffer: a tile of the element type, also for scalars."""
    if isinstance(element, TileFormat):
        return element.stored_bytes
    return TileFormat.of(element, DEFAULT_TILE_SHAPE).stored_bytes


def cb_pages(shard: Sequence[int], element: Element) -> int:
    """Pages of a circular buffer that hold one shard."""
    return -(-shard_bytes(shard, element) // cb_page_bytes(element))


def l1_buffer_bytes(shard: Sequence[int], element: Element, buffers: int = 1) -> int:
    """Bytes that a buffer takes in the L1 of each core: whole pages of a circular buffer.

    Each of several shards begins with a page.
    """
    return buffers * cb_pages(shard, element) * cb_page_bytes(element)


def wants_wide_dst(elements: Iterable[Element]) -> bool:
    """True for numbers of 32 bits, and for f16 beside bf16: a DST of 16 bits has one format."""
    scalars = {element.scalar for element in elements}
    has_both = {"f16", "bf16"} <= {scalar.keyword for scalar in scalars}
    return has_both or any(scalar.size_bytes >= WIDE_BYTES for scalar in scalars)


def dst_capacity(
    elements: Iterable[Element], *, physical_tiles: int = DST_TILES, full_sync: bool = False
) -> int:
    """Tiles of DST that a kernel has at a time, from the element types that it computes on.

    Half of DST, as the packer has the other half, unless both wait for each other (`full_sync`);
    half of that if they want a DST of 32 bits. LayoutError if nothing is left.
    """
    tiles = physical_tiles if full_sync else physical_tiles // 2
    if wants_wide_dst(elements):
        tiles //= 2
    if tiles < 1:
        raise LayoutError(
            f"DST of {physical_tiles} tiles has no room for a tile; "
            "give max-dst-physical-size-tiles 4 or more"
        )
    return tiles


# --- Iteration ------------------------------------------------------------------------------------
# The iteration space of a `d2m.generic`: which block a core works on in each step.
#
# Indexing maps take the iterators to blocks of an operand's grid; their results are iterators or
# the constant 0. Where the map of the output has an iterator at a dimension of the grid, each core
# has its own part of it; all other iterators go over all blocks on each core.

Shape = tuple[int, ...]


def iterator_positions(index_map: AffineMap) -> dict[int, int]:
    """For each iterator that a map has as a result, the first result that it is."""
    positions: dict[int, int] = {}
    for position, result in enumerate(index_map.results):
        if isinstance(result, DimExpr):
            positions.setdefault(result.position, position)
    return positions


def infer_block_factors(
    output_map: AffineMap,
    output_grid: Sequence[int],
    grid: Sequence[int],
    inputs: Sequence[tuple[AffineMap, Sequence[int]]],
) -> Shape:
    """How many blocks each core takes along each iterator, from the grids of the operands.

    `grid` is that of the cores. LayoutError for an iterator that no operand has.
    """
    factors: dict[int, int] = {}
    for iterator, position in iterator_positions(output_map).items():
        factors[iterator] = output_grid[position] // grid[position]
    for index_map, operand_grid in inputs:
        for iterator, position in iterator_positions(index_map).items():
            factors.setdefault(iterator, operand_grid[position])
    missing = [f"d{each}" for each in range(output_map.num_dims) if each not in factors]
    if missing:
        raise LayoutError(f"no operand is indexed by {', '.join(missing)}")
    return tuple(factors[iterator] for iterator in range(output_map.num_dims))


def iterator_extents(
    output_map: AffineMap, grid: Sequence[int], block_factors: Sequence[int]
) -> Shape:
    """Blocks along each iterator over all cores."""
    positions = iterator_positions(output_map)
    return tuple(
        factor * (grid[positions[iterator]] if iterator in positions else 1)
        for iterator, factor in enumerate(block_factors)
    )


def block_of(
    index_map: AffineMap,
    output_map: AffineMap,
    block_factors: Sequence[int],
    core: Sequence[int],
    step: Sequence[int],
) -> Shape:
    """The block of an operand that a core works on in a step, both as coordinates."""
    positions = iterator_positions(output_map)
    point = [
        core[positions[iterator]] * block_factors[iterator] + index
        if iterator in positions
        else index
        for iterator, index in enumerate(step)
    ]
    return index_map.eval(point)


# --- Metal layout ---------------------------------------------------------------------------------
# Layouts of the direct-to-metal path: a tensor's shape becomes a grid and a shard of each core.
#
#     layout = MetalLayout.of((4, 43, 7), MemorySpace.DEVICE_L1)
#     layout.intervals                              # ((0, 2), (2, 3))
#     layout.alignments                             # (1, 32, 32)
#     layout.physical_shape()                       # (256, 32)
#     layout.device_shape((2, 1), tile)             # (2, 1, 4, 1): the grid, the shard
#
# The dimensions of an interval are merged into one. From the last of them to the first, the product
# of the extents so far is rounded up to the alignment of the dimension, so that rows of tiles do
# not cross a border between matrices. What is beyond the logical shape is padding.
#
# Source of the rules: tt-mlir, MetalLayoutAttr (late 2025).

Interval = tuple[int, int]
"""Half-open range of dimensions that become one; negative numbers count from the end."""


def align_up(size: int, alignment: int) -> int:
    """The first multiple of `alignment` that is not below `size`."""
    return -(-size // alignment) * alignment


@dataclass(frozen=True)
class MetalLayout:
    """How a tensor is divided over cores; LayoutError if the parts do not fit together."""

    logical_shape: Shape
    alignments: Shape
    """What the products of a merge are rounded up to, one number for each logical dimension."""
    intervals: tuple[Interval, ...]
    """Which dimensions are merged; all others stay alone."""
    memory_space: MemorySpace = MemorySpace.SYSTEM
    memory_layout: DeviceMemoryLayout = DeviceMemoryLayout.SHARDED
    oob_val: OOBVal = OOBVal.UNDEF
    """What the padding holds."""
    index_map: AffineMap = NO_MAPPING
    """From the coordinates of a view to those of the buffer below it; empty for a buffer."""
    names_padding: bool = field(default=True, compare=False)
    """True where the text says what the padding holds, as it did until May 2026."""
    names_all: bool = field(default=False, compare=False)
    """True where the text has what is the default, as since November 2025."""

    def __post_init__(self) -> None:
        """Check ranks, intervals and alignments."""
        if len(self.alignments) != self.rank:
            raise LayoutError(
                f"dim_alignments size ({len(self.alignments)}) must match logical_shape rank "
                f"({self.rank})"
            )
        for place, alignment in enumerate(self.alignments):
            if alignment < 1:
                raise LayoutError(f"dim_alignments[{place}] must be positive, got {alignment}")
        end = 0
        for interval, (first, last) in zip(self.intervals, self._counted_intervals, strict=True):
            self._check_bounds(interval, first, last)
            if not end <= first < last <= self.rank:
                raise LayoutError(
                    f"expected ascending intervals of {self.rank} dimensions that do not overlap, "
                    f"got [{interval[0]}, {interval[1]})"
                )
            end = last
        # Where the layout is a view, its map takes a grid and a shard to those of the buffer.
        if self.index_map.num_symbols or len(self.index_map.results) % 2:
            raise LayoutError(
                "the index map of a layout gives the coordinates of a grid and a shard, "
                f"got '{self.index_map}'"
            )

    def _check_bounds(self, interval: Interval, first: int, last: int) -> None:
        bounds = (
            ("start", interval[0], first, self.rank - 1),
            ("end", interval[1], last, self.rank),
        )
        for name, given, counted, most in bounds:
            if not 0 <= counted <= most:
                raise LayoutError(
                    f"collapsed_intervals {name} index {given} (normalized: {counted}) is out of "
                    f"bounds for logical_shape rank {self.rank}"
                )
        if first > last:
            raise LayoutError(
                f"collapsed_intervals start ({interval[0]}) must not exceed end ({interval[1]})"
            )

    @classmethod
    def of(
        cls,
        logical_shape: Sequence[int],
        memory_space: MemorySpace,
        *,
        intervals: Sequence[Interval] | None = None,
        alignments: Sequence[int] | None = None,
        tile_shape: Shape = DEFAULT_TILE_SHAPE,
        memory_layout: DeviceMemoryLayout = DeviceMemoryLayout.SHARDED,
        oob_val: OOBVal = OOBVal.UNDEF,
    ) -> MetalLayout:
        """The layout of a tensor; by default all dimensions but the last are merged.

        Without alignments, each matrix is rounded up to whole tiles.
        """
        shape = tuple(logical_shape)
        chosen = default_intervals(len(shape)) if intervals is None else tuple(intervals)
        plain = cls(shape, (1,) * len(shape), chosen)
        aligned = plain.tile_alignments(tile_shape) if alignments is None else tuple(alignments)
        return replace(
            plain,
            alignments=aligned,
            memory_space=memory_space,
            memory_layout=memory_layout,
            oob_val=oob_val,
        )

    # --- Shapes ------------------------------------------------------------------------------

    @property
    def rank(self) -> int:
        """Number of logical dimensions."""
        return len(self.logical_shape)

    @property
    def _counted_intervals(self) -> tuple[Interval, ...]:
        """The given intervals, counted from the front."""
        rank = self.rank
        return tuple(
            (first + rank if first < 0 else first, last + rank if last < 0 else last)
            for first, last in self.intervals
        )

    @cached_property
    def normalized_intervals(self) -> tuple[Interval, ...]:
        """All intervals in order, also those of a single dimension; none is negative."""
        found: list[Interval] = []
        position = 0
        for first, last in self._counted_intervals:
            found += [(alone, alone + 1) for alone in range(position, first)]
            found.append((first, last))
            position = last
        found += [(alone, alone + 1) for alone in range(position, self.rank)]
        return tuple(found)

    @property
    def device_rank(self) -> int:
        """Number of dimensions of the grid, and of the shard."""
        return len(self.normalized_intervals)

    def tile_alignments(self, tile_shape: Shape = DEFAULT_TILE_SHAPE) -> Shape:
        """Alignments that fill up the last two physical dimensions to whole tiles."""
        alignments = [1] * self.rank
        last_two = self.normalized_intervals[-2:]
        for (_, end), extent in zip(last_two, tile_shape[-len(last_two) :], strict=True):
            alignments[end - 1] = extent
        return tuple(alignments)

    def grid_alignments(self, target_grid: Sequence[int]) -> Shape:
        """Alignments with which large dimensions divide by a grid.

        For the last two intervals: if the merged extent, its last dimension rounded up to a tile,
        is more than a tile for each core, the first dimension is aligned to whole tiles of all
        cores; the last one is always aligned to a tile.
        """
        alignments = list(self.tile_alignments())
        last_two = self.normalized_intervals[-2:]
        count = len(last_two)
        extents, grid = DEFAULT_TILE_SHAPE[-count:], tuple(target_grid)[-count:]
        for (first, end), extent, cores in zip(last_two, extents, grid, strict=True):
            outer = math.prod(self.logical_shape[first : end - 1])
            size = outer * align_up(self.logical_shape[end - 1], extent)
            if size > cores * extent:
                alignments[first] = cores * extent
        return tuple(alignments)

    def physical_shape(self, element: Element | None = None) -> Shape:
        """The extents of the merged dimensions with the padding, in tiles if the element is one."""
        extents = tuple(self._merged(first, last) for first, last in self.normalized_intervals)
        if not isinstance(element, TileFormat):
            return extents
        if len(extents) < 2:
            raise LayoutError(
                f"a tensor of tiles has two physical dimensions or more, '{self}' has "
                f"{len(extents)}; merge fewer dimensions"
            )
        for extent, tile in zip(extents[-2:], element.shape, strict=True):
            if extent % tile:
                raise LayoutError(
                    f"physical extents {shape_text(extents)} do not divide into tiles of "
                    f"{shape_text(element.shape)}; align the last two dimensions to tiles"
                )
        return element.tiled_shape(extents)

    def _merged(self, first: int, last: int) -> int:
        size = 1
        for dimension in reversed(range(first, last)):
            size = align_up(size * self.logical_shape[dimension], self.alignments[dimension])
        return size

    def shard_shape(self, grid: Sequence[int], element: Element | None = None) -> Shape:
        """What one core of a grid holds; LayoutError if the grid does not divide the tensor."""
        physical = self.physical_shape(element)
        if len(grid) != len(physical) or any(
            cores < 1 or extent % cores for extent, cores in zip(physical, grid, strict=False)
        ):
            unit = "tiles" if isinstance(element, TileFormat) else "elements"
            raise LayoutError(
                f"a grid of {shape_text(grid)} does not divide {shape_text(physical)} {unit}"
            )
        return tuple(extent // cores for extent, cores in zip(physical, grid, strict=True))

    def device_shape(self, grid: Sequence[int], element: Element | None = None) -> Shape:
        """The shape of the tensor on a grid: the grid's extents, then the shard's."""
        return (*grid, *self.shard_shape(grid, element))

    # --- The padded buffer of the host ---------------------------------------------------------

    @cached_property
    def host_strides(self) -> Shape:
        """Distance of neighbours in each logical dimension of the padded host buffer."""
        strides = [0] * self.rank
        outer = 1
        for first, last in reversed(self.normalized_intervals):
            inner = 1
            for dimension in reversed(range(first, last)):
                strides[dimension] = outer * inner
                extent = inner * self.logical_shape[dimension]
                inner = align_up(extent, self.alignments[dimension])
            outer *= inner
        return tuple(strides)

    @property
    def host_volume(self) -> int:
        """Number of elements of the padded host buffer."""
        return math.prod(self.physical_shape())

    # --- Views ---------------------------------------------------------------------------------

    @property
    def is_view(self) -> bool:
        """True if coordinates are mapped to those of a buffer below."""
        return self.index_map != NO_MAPPING and not self.index_map.is_identity

    def with_index_map(self, index_map: AffineMap) -> MetalLayout:
        """The layout as a view; the identity makes it none."""
        return replace(self, index_map=NO_MAPPING if index_map.is_identity else index_map)

    def with_memory(
        self,
        memory_space: MemorySpace,
        memory_layout: DeviceMemoryLayout = DeviceMemoryLayout.SHARDED,
    ) -> MetalLayout:
        """The layout in another memory."""
        return replace(self, memory_space=memory_space, memory_layout=memory_layout)

    def __str__(self) -> str:
        """The IR text between the angle brackets."""
        intervals = ", ".join(f"[{first}, {last}]" for first, last in self.intervals)
        dense = f"[{intervals}]" if intervals else ""
        written: list[str] = []
        if self.names_padding or self.oob_val is not OOBVal.UNDEF:
            written.append(self.oob_val.keyword)
        if self.names_all or self.memory_space is not MemorySpace.SYSTEM:
            written.append(self.memory_space.keyword)
        if self.names_all or self.memory_layout is not DeviceMemoryLayout.SHARDED:
            written.append(self.memory_layout.keyword)
        return "".join(
            (
                f"logical_shape = {shape_text(self.logical_shape)}, ",
                f"dim_alignments = {shape_text(self.alignments)}, ",
                f"collapsed_intervals = dense<{dense}> : tensor<{len(self.intervals)}x2xi64>, ",
                ", ".join(written),
                "" if self.index_map == NO_MAPPING else f", index_map = {self.index_map}",
            )
        )


def default_intervals(rank: int) -> tuple[Interval, ...]:
    """All dimensions but the last as one, and the last; LayoutError below rank 2."""
    if rank < 2:
        raise LayoutError(
            f"a tensor on a grid of cores has two dimensions or more, got rank {rank}; "
            "reshape it to 1xN"
        )
    return (0, rank - 1), (rank - 1, rank)


# --- Views ----------------------------------------------------------------------------------------
# Moves of elements as a map: which element of a buffer each element of a tensor is.
#
#     view = IndexView.identity((512, 768))
#     heads = view.reshape((512, 12, 64)).permute((1, 0, 2))     # 12x512x64
#     heads.tile_map((512, 768))                     # whole tiles: (0, d1, d0 * 2 + d2), in tiles
#
# A coordinate of the view is a number of mixed radix. Each of its digits steps through one axis of
# the buffer, or through none: then it repeats. Slices, permutations, repetitions and most reshapes
# of such a view are views again; what is not is None, and needs a copy first.

# --- Index view -----------------------------------------------------------------------------------
# Moves of elements as a map: which element of a buffer each element of a tensor is.
#
#     view = IndexView.identity((512, 768))
#     heads = view.reshape((512, 12, 64)).permute((1, 0, 2))     # 12x512x64
#     heads.tile_map((512, 768))                     # whole tiles: (0, d1, d0 * 2 + d2), in tiles
#
# A coordinate of the view is a number of mixed radix. Each of its digits steps through one axis of
# the buffer, or through none: then it repeats. Slices, permutations, repetitions and most reshapes
# of such a view are views again; what is not is None, and needs a copy first.

TILE = DEFAULT_TILE_SHAPE[0]
"""Rows of a tile, and columns."""


@dataclass(frozen=True)
class Digit:
    """A part of a coordinate: `extent` steps through an axis of the buffer; step 0 repeats."""

    extent: int
    axis: int
    step: int

    def split(self, inner: int) -> tuple[Digit, Digit]:
        """Two digits instead of one, the second with `inner` steps, which divides the extent."""
        outer = replace(self, extent=self.extent // inner, step=self.step * inner)
        return outer, replace(self, extent=inner)


def _merge(digits: Sequence[Digit]) -> tuple[Digit, ...]:
    """The digits with neighbours as one that go on where the other ends; none of extent 1."""
    merged: list[Digit] = []
    for digit in digits:
        if digit.extent == 1:
            continue
        outer = merged[-1] if merged else None
        if outer and outer.axis == digit.axis and outer.step == digit.step * digit.extent:
            merged[-1] = replace(digit, extent=outer.extent * digit.extent)
        else:
            merged.append(digit)
    return tuple(merged)


_REPEATS = 0
"""The axis that a digit names which steps through none."""


@dataclass(frozen=True)
class TileMap:
    """Whole tiles of a buffer as tiles of a view."""

    places: tuple[AffineExpr, ...]
    """The tile of the buffer, by the coordinates of the tile in the view."""
    transposes: bool
    """True if rows and columns within each tile change places."""


@dataclass(frozen=True)
class IndexView:
    """A tensor whose elements are those of a buffer, in another order, a part or repeated."""

    offsets: Shape
    """Where the element at the origin lies in the buffer."""
    shape: Shape
    digits: tuple[tuple[Digit, ...], ...]
    """Of each dimension, the outermost first."""

    @classmethod
    def identity(cls, shape: Sequence[int]) -> IndexView:
        """All elements of a buffer, in order."""
        digits = tuple(_merge([Digit(extent, axis, 1)]) for axis, extent in enumerate(shape))
        return cls((0,) * len(shape), tuple(shape), digits)

    @cached_property
    def is_identity(self) -> bool:
        """True if coordinates are those of the buffer, which may be larger."""
        return self == IndexView.identity(self.shape)

    # --- Moves -------------------------------------------------------------------------------

    def permute(self, order: Sequence[int]) -> IndexView:
        """Dimension i of the result is dimension `order[i]`."""
        shape = tuple(self.shape[dim] for dim in order)
        return replace(self, shape=shape, digits=tuple(self.digits[dim] for dim in order))

    def reshape(self, shape: Sequence[int]) -> IndexView | None:
        """The elements in row-major order under another shape; None where digits do not divide."""
        rest = list(_merge([digit for digits in self.digits for digit in digits]))
        grouped: list[tuple[Digit, ...]] = []
        for extent in reversed(shape):
            taken: list[Digit] = []
            while extent > 1:
                digit = rest.pop()
                if digit.extent > extent and not digit.extent % extent:
                    outer, digit = digit.split(extent)
                    rest.append(outer)
                if extent % digit.extent:
                    return None
                extent //= digit.extent
                taken.insert(0, digit)
            grouped.insert(0, _merge(taken))
        return replace(self, shape=tuple(shape), digits=tuple(grouped))

    def slice(self, dim: int, begin: int, count: int, step: int = 1) -> IndexView | None:
        """`count` elements of a dimension; None where they do not go by whole digits."""
        digits = self.digits[dim]
        offsets = list(self.offsets)
        kept: list[Digit] = []
        step = step if count > 1 else 1
        for number, digit in enumerate(digits):
            inner = math.prod(each.extent for each in digits[number + 1 :])
            first = begin // inner
            if (begin + (count - 1) * step) // inner == first:
                # All of them are within one step of this digit.
                offsets[digit.axis] += first * digit.step
                begin -= first * inner
                continue
            if inner == 1:
                offsets[digit.axis] += begin * digit.step
                kept.append(Digit(count, digit.axis, digit.step * step))
                break
            if step > 1 or begin % inner or count % inner:
                return None
            offsets[digit.axis] += first * digit.step
            kept += [replace(digit, extent=count // inner), *digits[number + 1 :]]
            break
        changed = list(self.digits)
        changed[dim] = _merge(kept)
        shape = (*self.shape[:dim], count, *self.shape[dim + 1 :])
        return IndexView(tuple(offsets), shape, tuple(changed))

    def widen(self, dim: int, extent: int) -> IndexView | None:
        """A dimension with elements after its end; None unless it has one digit."""
        digits = self.digits[dim]
        if len(digits) != 1:
            return None
        changed = list(self.digits)
        changed[dim] = (replace(digits[0], extent=extent),)
        shape = (*self.shape[:dim], extent, *self.shape[dim + 1 :])
        return replace(self, shape=shape, digits=tuple(changed))

    def reverse(self, dim: int) -> IndexView:
        """A dimension in the opposite order."""
        offsets = list(self.offsets)
        for digit in self.digits[dim]:
            offsets[digit.axis] += (digit.extent - 1) * digit.step
        changed = list(self.digits)
        changed[dim] = tuple(replace(digit, step=-digit.step) for digit in changed[dim])
        return replace(self, offsets=tuple(offsets), digits=tuple(changed))

    def repeat(self, dim: int, count: int) -> IndexView:
        """A dimension `count` times, one after another."""
        changed = list(self.digits)
        changed[dim] = _merge([Digit(count, _REPEATS, 0), *changed[dim]])
        shape = (*self.shape[:dim], self.shape[dim] * count, *self.shape[dim + 1 :])
        return replace(self, shape=shape, digits=tuple(changed))

    def narrow(self) -> IndexView:
        """The view with extent 1 where a dimension does nothing but repeat one element."""
        digits = tuple(
            () if all(digit.step == 0 for digit in each) else each for each in self.digits
        )
        shape = tuple(
            extent if each else 1 for extent, each in zip(self.shape, digits, strict=True)
        )
        return replace(self, shape=shape, digits=digits)

    # --- Maps --------------------------------------------------------------------------------

    def element_map(self) -> AffineMap:
        """From coordinates of elements to those in the buffer."""
        places: list[AffineExpr] = [ConstantExpr(offset) for offset in self.offsets]
        for dim, digits in enumerate(self.digits):
            extents = [digit.extent for digit in digits]
            for digit, index in zip(digits, _indices(dim, extents), strict=True):
                places[digit.axis] = places[digit.axis] + index * digit.step
        return AffineMap(len(self.shape), 0, tuple(places))

    def tile_map(self, buffer: Sequence[int]) -> TileMap | None:
        """From coordinates of tiles to those in a buffer of a shape.

        None if parts of tiles move, or for elements beyond the tiles of the buffer.
        """
        if not self._stays_within(buffer):
            return None
        for transposes in (False, True):
            places = self._tile_places(transposes)
            if places is not None:
                return TileMap(places, transposes)
        return None

    def _stays_within(self, buffer: Sequence[int]) -> bool:
        """True if all elements are in tiles of a buffer."""
        digits = [digit for each in self.digits for digit in each]
        for axis, (offset, extent) in enumerate(zip(self.offsets, buffer, strict=True)):
            reach = [(d.extent - 1) * d.step for d in digits if d.axis == axis]
            first = offset + sum(min(each, 0) for each in reach)
            last = offset + sum(max(each, 0) for each in reach)
            unit = TILE if axis >= len(buffer) - 2 else 1
            if first < 0 or last >= -(-extent // unit) * unit:
                return False
        return True

    def _tile_places(self, transposes: bool) -> tuple[AffineExpr, ...] | None:
        inner_axes = (len(self.offsets) - 2, len(self.offsets) - 1)
        unit = [TILE if axis in inner_axes else 1 for axis in range(len(self.offsets))]
        if any(offset % by for offset, by in zip(self.offsets, unit, strict=True)):
            return None
        places: list[AffineExpr] = [
            ConstantExpr(offset // by) for offset, by in zip(self.offsets, unit, strict=True)
        ]
        rank = len(self.shape)
        wanted = dict(
            zip((rank - 2, rank - 1), inner_axes[:: -1 if transposes else 1], strict=True)
        )
        for dim, digits in enumerate(self.digits):
            extents = [digit.extent for digit in digits]
            steps = [digit.step for digit in digits]
            if dim in wanted and digits:
                if (digits[-1].axis, steps[-1]) != (wanted[dim], 1):
                    return None
                if len(digits) > 1 and extents[-1] % TILE:
                    return None
                extents[-1] = -(-extents[-1] // TILE)
                steps[-1] = TILE
            if any(step % unit[digit.axis] for digit, step in zip(digits, steps, strict=True)):
                return None
            for digit, step, index in zip(digits, steps, _indices(dim, extents), strict=True):
                places[digit.axis] = places[digit.axis] + index * (step // unit[digit.axis])
        return tuple(places)


def _indices(dim: int, extents: Sequence[int]) -> list[AffineExpr]:
    """The digits of a coordinate."""
    indices: list[AffineExpr] = []
    for number, extent in enumerate(extents):
        index = DimExpr(dim) // math.prod(extents[number + 1 :])
        indices.append(index % extent if number else index)
    return indices


# --- Reblocking -----------------------------------------------------------------------------------
# Views: affine maps from the coordinates of one division into shards to those of another.
#
#     reblocking_map((2, 2), (4, 3), (4, 1), (2, 6))    # from blocks of 2x6 to the buffer's of 4x3
#
# Coordinates are those of a grid, then those within a shard, as in the shapes of tensors on
# devices.


def split_device_shape(shape: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Grid and shard of a shape on a device; LayoutError for one of odd rank."""
    if len(shape) % 2:
        raise LayoutError(
            f"the shape of a grid and a shard has an even rank, got {shape_text(shape)}"
        )
    half = len(shape) // 2
    return tuple(shape[:half]), tuple(shape[half:])


def reblocking_map(
    grid: Sequence[int],
    shard: Sequence[int],
    view_grid: Sequence[int],
    view_shard: Sequence[int],
) -> AffineMap:
    """Where in a buffer of `grid` and `shard` an element of a view lies.

    LayoutError unless both divide the same elements.
    """
    before = [cores * extent for cores, extent in zip(grid, shard, strict=True)]
    after = [cores * extent for cores, extent in zip(view_grid, view_shard, strict=True)]
    if before != after:
        raise LayoutError(
            f"a view of {shape_text(view_grid)} shards of {shape_text(view_shard)} does not cover "
            f"{shape_text(grid)} shards of {shape_text(shard)}"
        )
    rank = len(before)
    coordinates = dims(2 * rank)
    if tuple(grid) == tuple(view_grid):
        return AffineMap.identity(2 * rank)
    positions = [
        coordinates[axis] * view_shard[axis] + coordinates[rank + axis] for axis in range(rank)
    ]
    results = (
        *(position // extent for position, extent in zip(positions, shard, strict=True)),
        *(position % extent for position, extent in zip(positions, shard, strict=True)),
    )
    return AffineMap(2 * rank, 0, results)


def compose_views(upper: AffineMap, lower: AffineMap) -> AffineMap:
    """The map of a view on a view: `upper` first, then `lower`; an empty map is the identity."""
    if not lower.results:
        return upper
    return lower.compose(upper) if upper.results else lower


def permutation_map(order: Sequence[int]) -> AffineMap:
    """The view that permutes the dimensions of grid and shard alike.

    Dimension i of the view is dimension `order[i]` of the buffer.
    """
    rank = len(order)
    inverse = [order.index(axis) for axis in range(rank)]
    coordinates = dims(2 * rank)
    return AffineMap(
        2 * rank,
        0,
        (
            *(coordinates[axis] for axis in inverse),
            *(coordinates[rank + axis] for axis in inverse),
        ),
    )
