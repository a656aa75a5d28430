"""How a tensor is divided over a grid of cores and laid out in their memory.

A layout has a *linear map* from the tensor's dimensions to as many physical dimensions as the grid
has; the extents of the tensor under this map are its *physical shape*. Each core holds one *shard*,
the physical shape divided by the grid and rounded up. A tiled layout counts the shard in tiles: its
last two extents are divided by the tile's height and width and rounded up again.

For `tensor<2x3x64x128xf32>` on a grid of 2x4 with the default collapse:

    linear map      (d0, d1, d2, d3) -> (d0 * 192 + d1 * 64 + d2, d3)
    physical shape  384x128
    shard           192x32       in tiles of 32x32: 6x1

The rules are those of tt-mlir's LayoutAttr (docs/src/specs/tensor-layout.md and
lib/Dialect/TT/IR/TTOpsTypes.cpp).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

from ttmlir.layout.affine import AffineExpr, AffineMap, constant, dim, dims
from ttmlir.layout.data_format import Element, ScalarType, TileFormat
from ttmlir.layout.enums import MemorySpace, OOBVal, TensorMemoryLayout
from ttmlir.layout.errors import LayoutError

# --- Grid -----------------------------------------------------------------------------------------
# Grids of cores and the text of shapes.

NO_MAPPING = AffineMap.identity(0)
"""The mapping of a grid that says nothing about where its cores are: `() -> ()`."""


def shape_text(shape: Sequence[int]) -> str:
    """Extents as the IR writes them, such as `2x4`."""
    return "x".join(map(str, shape))


@dataclass(frozen=True, slots=True)
class Grid:
    """A grid of cores: its extents and, for a device's grid, where each core is.

    The mapping takes a coordinate of the grid to (chip index, core y, core x), the inverse back.
    """

    shape: tuple[int, ...]
    mapping: AffineMap = NO_MAPPING
    inverse: AffineMap = NO_MAPPING
    """Said since 2026 only."""

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def volume(self) -> int:
        """The number of cores."""
        return math.prod(self.shape)

    def coordinates(self) -> Iterator[tuple[int, ...]]:
        """All coordinates in row-major order."""
        return product(*map(range, self.shape))

    def __str__(self) -> str:
        """The IR text between the angle brackets."""
        text = shape_text(self.shape)
        if self.inverse != NO_MAPPING:
            maps = f"virt_to_physical_map = {self.mapping}, physical_to_virt_map = {self.inverse}"
            return f"{text}, {maps}"
        return text if self.mapping == NO_MAPPING else f"{text}, {self.mapping}"


# --- Core ranges ----------------------------------------------------------------------------------
# Rectangles of cores that a grid covers.

MAX_CORES = 1 << 16
"""Far above any device: larger grids are mistakes, and counting their cores would take for ever."""


@dataclass(frozen=True, slots=True)
class CoreRange:
    """A rectangle of cores on one chip."""

    y: int
    x: int
    height: int
    width: int


@lru_cache(maxsize=1024)
def core_range_set(
    grid_shape: tuple[int, ...], mapping: AffineMap, chip: int = 0
) -> tuple[CoreRange, ...]:
    """The cores of one chip that a layout's grid covers, as rectangles in order of the grid.

    `mapping` is that of the device's worker grid. LayoutError if the ranks differ or the grid has
    more than MAX_CORES cores.
    """
    if len(grid_shape) != mapping.num_dims:
        raise LayoutError(
            f"a layout's grid has the rank of the device's grid, {mapping.num_dims}, "
            f"got {shape_text(grid_shape)}"
        )
    grid = Grid(grid_shape)
    if grid.volume > MAX_CORES:
        raise LayoutError(f"a layout's grid has at most {MAX_CORES} cores, got {grid}")
    ranges: list[CoreRange] = []
    for coordinate in grid.coordinates():
        owner, y, x = mapping.eval(coordinate)
        if owner == chip:
            _add_core(ranges, y, x)
    return tuple(ranges)


def _add_core(ranges: list[CoreRange], y: int, x: int) -> None:
    last = ranges[-1] if ranges else None
    if last is not None and (last.y, last.x + last.width, last.height) == (y, x, 1):
        ranges[-1] = CoreRange(last.y, last.x, 1, last.width + 1)
    else:
        ranges.append(CoreRange(y, x, 1, 1))
    _stack_last_two(ranges)


def _stack_last_two(ranges: list[CoreRange]) -> None:
    """Join the last two rectangles if the later one stands right below the earlier one."""
    if len(ranges) < 2:
        return
    upper, lower = ranges[-2:]
    if (upper.x, upper.width, upper.y + upper.height) == (lower.x, lower.width, lower.y):
        height = upper.height + lower.height
        ranges[-2:] = [CoreRange(upper.y, upper.x, height, upper.width)]


# --- Tensor layout --------------------------------------------------------------------------------

Interval = tuple[int, int]
Shape = tuple[int, ...]

DEFAULT_COLLAPSE: tuple[Interval, ...] = ((0, -1),)
"""All dimensions but the last become the rows."""


@dataclass(frozen=True)
class TensorLayout:
    """The layout of a tensor; the tensor's own shape is not part of it."""

    linear: AffineMap
    """From the tensor's dimensions to the physical ones, one for each dimension of the grid."""
    grid: Grid
    shard: Shape
    """Extents of the part that one core holds, counted in tiles if the layout is tiled."""
    element: Element
    memory_space: MemorySpace
    memory_layout: TensorMemoryLayout = TensorMemoryLayout.NONE
    oob_val: OOBVal = OOBVal.UNDEF
    """What the padding holds."""

    @classmethod
    def of(
        cls,
        shape: Sequence[int],
        element: Element,
        memory_space: MemorySpace = MemorySpace.SYSTEM,
        grid: Grid | Sequence[int] | None = None,
        *,
        collapse_intervals: Sequence[Interval] = DEFAULT_COLLAPSE,
        memory_layout: TensorMemoryLayout = TensorMemoryLayout.NONE,
        oob_val: OOBVal = OOBVal.UNDEF,
    ) -> TensorLayout:
        """The layout of a tensor of this shape.

        Without a grid there is one core: a grid of ones with the tensor's rank. An interval
        (begin, end) names dimensions begin to end - 1; negative numbers count from the rank.
        LayoutError if the dimensions that the intervals leave do not fit the grid, if a dimension
        is dynamic or if a tile finds no two dimensions.
        """
        if grid is None:
            grid = (1,) * len(shape)
        if not isinstance(grid, Grid):
            grid = Grid(tuple(grid))
        linear = collapse(tuple(shape), grid.rank, tuple(collapse_intervals))
        return cls(
            linear=linear,
            grid=grid,
            shard=_shard_shape(linear.eval_shape(shape), grid, element),
            element=element,
            memory_space=memory_space,
            memory_layout=memory_layout,
            oob_val=oob_val,
        )

    # --- Derived layouts ---------------------------------------------------------------------

    def with_element(self, element: Element) -> TensorLayout:
        """The layout with other elements, and the shard that holds the same numbers.

        Going to tiles and back does not restore the shard: its padding to whole tiles stays.
        """
        shard = self.scalar_shard
        if isinstance(element, TileFormat):
            shard = element.tiled_shape(shard)
        return replace(self, element=element, shard=shard)

    def with_memory_space(self, memory_space: MemorySpace) -> TensorLayout:
        """The layout in another memory."""
        return replace(self, memory_space=memory_space)

    def with_memory_layout(self, memory_layout: TensorMemoryLayout) -> TensorLayout:
        """The layout with its shards spread in another way."""
        return replace(self, memory_layout=memory_layout)

    def with_grid(
        self,
        shape: Sequence[int],
        grid: Grid | Sequence[int],
        collapse_intervals: Sequence[Interval] = DEFAULT_COLLAPSE,
    ) -> TensorLayout:
        """The layout of a tensor of this shape on another grid; linear map and shard are new."""
        return TensorLayout.of(
            shape,
            self.element,
            self.memory_space,
            grid,
            collapse_intervals=collapse_intervals,
            memory_layout=self.memory_layout,
            oob_val=self.oob_val,
        )

    # --- Shapes ------------------------------------------------------------------------------

    @property
    def tile(self) -> TileFormat | None:
        """The tile that the layout counts in, None for a row-major layout."""
        return self.element if isinstance(self.element, TileFormat) else None

    @property
    def is_tiled(self) -> bool:
        """True if the elements are tiles."""
        return self.tile is not None

    @property
    def scalar_element(self) -> ScalarType:
        """The type of one number."""
        return self.element.scalar

    @property
    def scalar_shard(self) -> Shape:
        """Extents of a shard in numbers, the padding to whole tiles included."""
        return self.shard if self.tile is None else self.tile.scalar_shape(self.shard)

    @property
    def shard_bytes(self) -> int:
        """Bytes of a shard, padding included."""
        return math.prod(self.shard) * self.element.size_bytes

    @property
    def is_sharded(self) -> bool:
        """True for one of the sharded memory layouts in L1."""
        return self.memory_space is MemorySpace.DEVICE_L1 and self.memory_layout.is_sharded

    def physical_shape(self, shape: Sequence[int]) -> Shape:
        """Extents of a tensor of this shape under the linear map, without padding."""
        return self.linear.eval_shape(shape)

    def padded_shape(self, shape: Sequence[int]) -> Shape:
        """Extents of all shards side by side, in numbers: the physical shape and its padding."""
        self._check_ranks(shape)
        return tuple(
            extent * cores for extent, cores in zip(self.scalar_shard, self.grid.shape, strict=True)
        )

    def tiled_shape(self, shape: Sequence[int]) -> Shape:
        """Extents of the physical shape in tiles; the physical shape if the layout is not tiled."""
        if self.tile is None:
            return self.physical_shape(shape)
        self._check_ranks(shape)
        self.tile.tiled_shape(self.shard)  # refuses ranks below 2
        rows, columns = self.linear.results[-2:]
        # Every occurrence is replaced, in other results too: with (d0 * 96 + d1, d1, d2) the row
        # expression d1 is part of the first one.
        tiles = {rows: rows // self.tile.height, columns: columns // self.tile.width}
        return self.linear.replace(tiles).eval_shape(shape)

    def stride(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Distance between neighbours along each dimension of the tensor, in numbers.

        The tensor is taken as one row-major block of its physical shape: tiles, shards and padding
        do not count. A dimension in several physical ones has the distance in the outermost.
        """
        physical = self.physical_shape(shape)
        strides = [0] * len(shape)
        origin = [0] * len(shape)
        below = 1
        for result, extent in zip(reversed(self.linear.results), reversed(physical), strict=True):
            base = result.eval(origin)
            for position in result.used_dims():
                unit = [int(position == other) for other in range(len(shape))]
                strides[position] = below * (result.eval(unit) - base)
            below *= extent
        return tuple(strides)

    def _check_ranks(self, shape: Sequence[int]) -> None:
        if len(self.shard) != self.grid.rank or len(self.linear.results) != self.grid.rank:
            raise LayoutError(
                f"the linear map, the grid and the shard of a layout have the same rank, got "
                f"{len(self.linear.results)}, {self.grid.rank} and {len(self.shard)}"
            )
        if len(shape) != self.linear.num_dims:
            raise LayoutError(
                f"the layout is for a tensor of rank {self.linear.num_dims}, "
                f"got the shape {shape_text(shape)}"
            )

    # --- Maps to memory ----------------------------------------------------------------------

    def memory_map(self, device_map: AffineMap) -> AffineMap:
        """A device's map with the extents of the shard put in for its symbols."""
        return device_map.with_symbols(self.shard)

    def project_onto(self, device_map: AffineMap) -> AffineMap:
        """From the tensor's dimensions through the linear map to a place in memory."""
        return self.memory_map(device_map).compose(self.linear)


@lru_cache(maxsize=4096)
def collapse(shape: Shape, rank: int, intervals: tuple[Interval, ...]) -> AffineMap:
    """The linear map of a tensor onto `rank` physical dimensions.

    Each interval of dimensions becomes one, in row-major order. If fewer dimensions than `rank`
    are left, constants 0 come first.

        2x3x64x128 onto 2, (0, -1)  (d0, d1, d2, d3) -> (d0 * 192 + d1 * 64 + d2, d3)
        2x3x64x128 onto 3, (1, -1)  (d0, d1, d2, d3) -> (d0, d1 * 64 + d2, d3)
        8x96x32 onto 3, (0, -1)     (d0, d1, d2) -> (d0 * 96 + d1, d1, d2)
        128 onto 2, (0, -1)         (d0) -> (0, d0)

    As the third example shows, an interval takes over the physical dimension of its first
    dimension, and the last dimensions keep theirs. Where that would lose a dimension of the tensor
    (7 dimensions onto 4 with (0, 3) and (-3, -1)), the collapsed and the other dimensions are
    taken in order instead. LayoutError if more than `rank` are left then.
    """
    if any(extent < 0 for extent in shape):
        raise LayoutError("a layout needs a static shape, got a tensor with dynamic dimensions")
    normalised = [_normalize(interval, len(shape)) for interval in intervals]
    collapsed = {begin: _row_major(shape, begin, end) for begin, end in normalised if begin < end}
    results = _in_place(len(shape), rank, collapsed)
    if results is None:
        results = _in_order(shape, rank, [span for span in normalised if span[0] < span[1]])
    padding = [constant(0)] * (rank - len(results))
    return AffineMap(len(shape), 0, (*padding, *results))


def _normalize(interval: Interval, rank: int) -> Interval:
    begin, end = (bound + rank if bound < 0 else bound for bound in interval)
    if rank == 0:  # a scalar has nothing to collapse, whatever the interval says
        return 0, 0
    if not 0 <= begin <= end <= rank:
        raise LayoutError(
            f"collapse interval {interval} is not within the {rank} dimensions of the tensor"
        )
    return begin, end


def _row_major(shape: Shape, begin: int, end: int) -> AffineExpr:
    """`d_begin` to `d_(end - 1)` as one index, the last one running fastest."""
    total: AffineExpr = constant(0)
    for position in range(begin, end):
        total = total + dim(position) * math.prod(shape[position + 1 : end])
    return total


def _in_place(
    num_dims: int, rank: int, collapsed: dict[int, AffineExpr]
) -> list[AffineExpr] | None:
    """tt-mlir's rule; None where it loses a dimension."""
    count = min(num_dims, rank)
    if any(begin >= count for begin in collapsed):
        return None
    results = list(dims(num_dims)[num_dims - count :])
    for begin, expression in collapsed.items():
        results[begin] = expression
    untouched = min(collapsed, default=num_dims)
    for position in range(min(untouched, count)):
        results[position] = dim(position)
    used = frozenset(position for result in results for position in result.used_dims())
    return results if len(used) == num_dims else None


def _in_order(shape: Shape, rank: int, spans: list[Interval]) -> list[AffineExpr]:
    """Each span as one dimension, every other dimension by itself, in order."""
    groups: list[Interval] = []
    position = 0
    for begin, end in sorted(spans):
        if begin < position:
            raise LayoutError(f"collapse intervals {spans} overlap")
        groups += [(single, single + 1) for single in range(position, begin)]
        groups.append((begin, end))
        position = end
    groups += [(single, single + 1) for single in range(position, len(shape))]
    if len(groups) > rank:
        raise LayoutError(
            f"collapse intervals {spans} leave {len(groups)} of the {len(shape)} dimensions of the "
            f"tensor {shape_text(shape)}, but the grid has rank {rank}; collapse more of them or "
            f"use a grid of rank {len(groups)}"
        )
    return [_row_major(shape, begin, end) for begin, end in groups]


def _shard_shape(physical: Shape, grid: Grid, element: Element) -> Shape:
    if any(cores < 1 for cores in grid.shape):
        raise LayoutError(f"a grid has at least one core in each dimension, got {grid}")
    scalar = tuple(-(-extent // cores) for extent, cores in zip(physical, grid.shape, strict=True))
    return element.tiled_shape(scalar) if isinstance(element, TileFormat) else scalar


def linear_from_strides(strides: Sequence[int], rank: int) -> AffineMap:
    """The linear map that an old way of writing layouts says by strides.

    `8192x128x1` stands for a tensor of 64x128: the volume, then the distance between neighbours
    along each dimension. The last dimension runs along a row, the others are collapsed.
    """
    num_dims = len(strides) - 1
    row = strides[-2] if num_dims > 0 else 0
    if row < 1 or strides[-1] != 1 or any(stride % row for stride in strides[:-1]):
        raise LayoutError(
            f"strides {shape_text(strides)} are not those of rows of numbers: expected multiples "
            "of the length of a row, and 1 at the end"
        )
    rows: AffineExpr = constant(0)
    for position, stride in enumerate(strides[1:-1]):
        rows = rows + dim(position) * (stride // row)
    results = [rows, dim(num_dims - 1)]
    padding = [constant(0)] * (rank - len(results))
    return AffineMap(num_dims, 0, (*padding, *results[-rank:]))
