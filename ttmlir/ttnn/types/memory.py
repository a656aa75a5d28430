"""Shapes, the memory that tensors are in, and how they are spread over its banks and cores."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, overload

from ttmlir.errors import ArgumentError, ArgumentTypeError, UsageError
from ttmlir.metalium.cores import CoreCoord, CoreRange, CoreRangeSet
from ttmlir.metalium.enums import BufferType, ShardOrientation, TensorMemoryLayout
from ttmlir.ttnn.types.enums import ShardDistributionStrategy, ShardStrategy

# --- Shapes ---------------------------------------------------------------------------------------

Extents = Iterable[int]


class Shape(tuple[int, ...]):
    """The extents of a tensor: a tuple, which is printed as ttnn prints it."""

    __slots__ = ()

    def __new__(cls, extents: Extents = ()) -> Shape:
        """The shape with these extents; ValueError for negative ones."""
        shape = super().__new__(cls, map(int, extents))
        if shape and min(shape) < 0:
            raise ArgumentError(f"extents of a shape are not negative, got {list(shape)}")
        return shape

    @property
    def rank(self) -> int:
        """How many dimensions there are."""
        return len(self)

    def to_rank(self, rank: int) -> Shape:
        """The shape with ones in front, or without; RuntimeError if others would be lost."""
        dropped = max(len(self) - rank, 0)
        if any(extent != 1 for extent in self[:dropped]):
            raise UsageError(f"{self} has no rank {rank}: only leading ones can be dropped")
        return Shape((1,) * (rank - len(self)) + self[dropped:])

    def __eq__(self, other: object) -> bool:
        """Whether another shape, or a list, has the same extents."""
        if isinstance(other, list):
            return [*self] == other
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        """The opposite."""
        return not self == other

    def __hash__(self) -> int:
        """As that of a tuple."""
        return super().__hash__()

    def __repr__(self) -> str:
        """As ttnn prints it."""
        return f"Shape({list(self)})"


# --- Memory ---------------------------------------------------------------------------------------

TILE = 32


@dataclass(frozen=True, kw_only=True)
class CoreGrid:
    """Columns and rows of a rectangle of cores at (0, 0)."""

    y: int
    x: int

    @property
    def num_cores(self) -> int:
        """How many cores it has."""
        return self.x * self.y

    def to_core_range_set(self) -> CoreRangeSet:
        """The cores."""
        return CoreRangeSet([CoreRange((0, 0), (self.x - 1, self.y - 1))])


class ShardSpec:
    """The cores that hold shards, and rows and columns of a shard in elements."""

    def __init__(
        self,
        grid: CoreRangeSet,
        shard_shape: Sequence[int],
        shard_orientation: ShardOrientation = ShardOrientation.ROW_MAJOR,
    ) -> None:
        """Shards of two extents; TypeError for other cores than a CoreRangeSet."""
        if len(shard_shape) != 2 or min(shard_shape) < 1:
            raise UsageError(f"a shard has rows and columns, at least one; got {shard_shape}")
        self.grid = grid
        self.shape = Shape(shard_shape)
        self.orientation = shard_orientation

    def num_cores(self) -> int:
        """How many cores hold shards."""
        return self.grid.num_cores()

    def __eq__(self, other: object) -> bool:
        """Whether shards, cores and their order are the same."""
        if not isinstance(other, ShardSpec):
            return NotImplemented
        mine, others = (self.shape, self.orientation), (other.shape, other.orientation)
        return mine == others and self.grid == other.grid

    def __hash__(self) -> int:
        """By shape and cores."""
        return hash((self.shape, self.grid))

    def __repr__(self) -> str:
        """As ttnn prints it."""
        return (
            f"ShardSpec(grid={self.grid}, shape={list(self.shape)}, "
            f"orientation=ShardOrientation::{self.orientation.name})"
        )


class NdShardSpec:
    """Shards of any rank, dealt to cores one after another."""

    def __init__(
        self,
        shard_shape: Sequence[int],
        grid: CoreRangeSet,
        orientation: ShardOrientation = ShardOrientation.ROW_MAJOR,
        shard_distribution_strategy: ShardDistributionStrategy = (
            ShardDistributionStrategy.ROUND_ROBIN_1D
        ),
    ) -> None:
        """Extents of a shard, at least one; RuntimeError for none, or those below 1."""
        self.shard_shape = tuple(int(extent) for extent in shard_shape)
        if min(self.shard_shape, default=0) < 1:
            raise UsageError(f"extents of a shard are at least 1, got {list(self.shard_shape)}")
        self.grid = grid
        self.orientation = orientation
        self.shard_distribution_strategy = shard_distribution_strategy

    @property
    def _key(self) -> tuple[object, ...]:
        strategy = self.shard_distribution_strategy
        return (self.shard_shape, self.grid, self.orientation, strategy)

    def __eq__(self, other: object) -> bool:
        """Whether all parts are the same."""
        return isinstance(other, NdShardSpec) and self._key == other._key

    def __hash__(self) -> int:
        """By all parts."""
        return hash(self._key)

    def __repr__(self) -> str:
        """As ttnn prints it."""
        return (
            f"NdShardSpec(shard_shape={list(self.shard_shape)}, grid={self.grid}, "
            f"orientation=ShardOrientation::{self.orientation.name}, shard_distribution_strategy="
            f"ShardDistributionStrategy::{self.shard_distribution_strategy.name})"
        )


class MemoryConfig:
    """The memory that a tensor is in, and how it is spread there."""

    __slots__ = ("_hash", "buffer_type", "memory_layout", "nd_shard_spec", "shard_spec")

    def __init__(
        self,
        memory_layout: TensorMemoryLayout | BufferType = TensorMemoryLayout.INTERLEAVED,
        buffer_type: BufferType | NdShardSpec = BufferType.DRAM,
        shard_spec: ShardSpec | None = None,
        *,
        nd_shard_spec: NdShardSpec | None = None,
    ) -> None:
        """Memory layout and memory, or memory and NdShardSpec."""
        if isinstance(memory_layout, BufferType):
            first, second = memory_layout, buffer_type
            memory_layout, buffer_type = TensorMemoryLayout.INTERLEAVED, first
            nd_shard_spec = second if isinstance(second, NdShardSpec) else nd_shard_spec
        if not isinstance(buffer_type, BufferType):
            raise ArgumentTypeError(f"buffer_type is a BufferType, not {buffer_type!r}")
        if shard_spec is not None and memory_layout == TensorMemoryLayout.INTERLEAVED:
            raise UsageError(
                "an interleaved tensor has no shards; give a sharded memory_layout with shard_spec"
            )
        self.memory_layout = memory_layout
        self.buffer_type = buffer_type
        self.shard_spec = shard_spec
        self.nd_shard_spec = nd_shard_spec
        self._hash = hash((buffer_type, nd_shard_spec or (memory_layout, shard_spec)))

    @property
    def interleaved(self) -> bool:
        """Whether pages go round all banks."""
        return not self.is_sharded()

    def is_sharded(self) -> bool:
        """Whether cores hold shards."""
        return self.memory_layout != TensorMemoryLayout.INTERLEAVED or bool(self.nd_shard_spec)

    @property
    def has_shards(self) -> bool:
        """Whether the shards are known; operations choose others."""
        return self.shard_spec is not None or self.nd_shard_spec is not None

    def is_l1(self) -> bool:
        """Whether it is in the cores' L1."""
        return self.buffer_type != BufferType.DRAM

    def is_dram(self) -> bool:
        """Whether it is in DRAM."""
        return self.buffer_type == BufferType.DRAM

    def with_shard_spec(self, shard_spec: ShardSpec | None) -> MemoryConfig:
        """The same with other shards."""
        return MemoryConfig(self.memory_layout, self.buffer_type, shard_spec)

    def __eq__(self, other: object) -> bool:
        """Whether everything is the same."""
        if self is other:
            return True
        if not isinstance(other, MemoryConfig):
            return NotImplemented
        if self.nd_shard_spec is not None and other.nd_shard_spec is not None:
            # A tensor's own configuration has shards of two dimensions, too.
            mine, others = self.nd_shard_spec, other.nd_shard_spec
            return (self.buffer_type, mine) == (other.buffer_type, others)
        return (self.memory_layout, self.buffer_type, self.shard_spec) == (
            other.memory_layout,
            other.buffer_type,
            other.shard_spec,
        )

    def __hash__(self) -> int:
        """By all parts."""
        return self._hash

    def __repr__(self) -> str:
        """As ttnn prints it."""
        spec = self.shard_spec
        return (
            f"MemoryConfig(memory_layout=TensorMemoryLayout::{self.memory_layout.name},"
            f"buffer_type=BufferType::{self.buffer_type.name},"
            f"shard_spec={'std::nullopt' if spec is None else spec})"
        )

    def to_json(self) -> str:
        """As text, for `from_json`."""
        spec = self.shard_spec
        return json.dumps(
            {
                "memory_layout": self.memory_layout.name,
                "buffer_type": self.buffer_type.name,
                "shard_spec": spec
                and {
                    "grid": [[*each.start, *each.end] for each in spec.grid.ranges()],
                    "shape": spec.shape,
                    "orientation": spec.orientation.name,
                },
            }
        )

    @staticmethod
    def from_json(text: str) -> MemoryConfig:
        """What `to_json` wrote."""
        parts = json.loads(text)
        spec = parts["shard_spec"]
        return MemoryConfig(
            TensorMemoryLayout[parts["memory_layout"]],
            BufferType[parts["buffer_type"]],
            spec
            and ShardSpec(
                CoreRangeSet(CoreRange((a, b), (c, d)) for a, b, c, d in spec["grid"]),
                spec["shape"],
                ShardOrientation[spec["orientation"]],
            ),
        )


DRAM_MEMORY_CONFIG = MemoryConfig()
L1_MEMORY_CONFIG = MemoryConfig(buffer_type=BufferType.L1)
L1_BLOCK_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.BLOCK_SHARDED, BufferType.L1)
L1_HEIGHT_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.HEIGHT_SHARDED, BufferType.L1)
L1_WIDTH_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.WIDTH_SHARDED, BufferType.L1)

_LAYOUTS = {
    ShardStrategy.HEIGHT: TensorMemoryLayout.HEIGHT_SHARDED,
    ShardStrategy.WIDTH: TensorMemoryLayout.WIDTH_SHARDED,
    ShardStrategy.BLOCK: TensorMemoryLayout.BLOCK_SHARDED,
}

Cores = CoreGrid | CoreRangeSet | CoreRange | tuple[CoreGrid, CoreGrid]


def create_sharded_memory_config(
    shape: Sequence[int],
    core_grid: Cores,
    strategy: ShardStrategy,
    orientation: ShardOrientation | None = None,
    use_height_and_width_as_shard_shape: bool = False,
) -> MemoryConfig:
    """Shards in L1 for a tensor of a shape, equal on all cores.

    With the flag, the last two extents of `shape` are those of a shard. RuntimeError if the cores
    do not divide the tensor.
    """
    orientation = ShardOrientation.ROW_MAJOR if orientation is None else orientation
    cores, grid = _cores_memory(core_grid, use_height_and_width_as_shard_shape)
    height, width = math.prod(shape[:-1]), shape[-1]
    by_column = orientation == ShardOrientation.COL_MAJOR
    if use_height_and_width_as_shard_shape:
        height, width = shape[-2:]
        shard = (width, height) if by_column else (height, width)
    else:
        assert grid is not None, "only the flag allows sets of cores"
        down, across = _divisors(strategy, grid, by_column)
        if height % down or width % across:
            raise UsageError(
                f"Invalid sharding core_grid: {height}x{width} elements are not divided by "
                f"{down}x{across} cores"
            )
        shard = (height // down, width // across)
    return MemoryConfig(_LAYOUTS[strategy], BufferType.L1, ShardSpec(cores, shard, orientation))


def create_sharded_memory_config_(
    shape: Sequence[int],
    core_grid: Cores,
    strategy: ShardStrategy | TensorMemoryLayout,
    orientation: ShardOrientation = ShardOrientation.ROW_MAJOR,
    use_height_and_width_as_shard_shape: bool = False,
    tile_layout: bool = False,
) -> MemoryConfig:
    """As `create_sharded_memory_config`, but shards are rounded up where cores do not divide."""
    if isinstance(strategy, TensorMemoryLayout):
        strategy = next(each for each, layout in _LAYOUTS.items() if layout == strategy)
    if use_height_and_width_as_shard_shape:
        return create_sharded_memory_config(
            shape, core_grid, strategy, orientation, use_height_and_width_as_shard_shape=True
        )
    cores, _ = _cores_memory(core_grid, allow_sets=True)
    box = cores.bounding_box().grid_size()
    grid = CoreGrid(x=box.x, y=box.y)
    if strategy is not ShardStrategy.BLOCK:
        grid = CoreGrid(x=cores.num_cores(), y=1)
    down, across = _divisors(strategy, grid, orientation == ShardOrientation.COL_MAJOR)
    unit = TILE if tile_layout else 1
    extents = ((math.prod(shape[:-1]), down), (shape[-1], across))
    shard = [_ceil(_ceil(extent, count), unit) * unit for extent, count in extents]
    return MemoryConfig(_LAYOUTS[strategy], BufferType.L1, ShardSpec(cores, shard, orientation))


def _ceil(number: int, divisor: int) -> int:
    return -(-number // divisor)


def _cores_memory(grid: Cores, allow_sets: bool) -> tuple[CoreRangeSet, CoreGrid | None]:
    match grid:
        case CoreGrid():
            return grid.to_core_range_set(), grid
        case (CoreGrid() as first, CoreGrid() as second):
            corner = CoreCoord(second.x - 1, second.y - 1)
            cores = CoreRange((first.x, first.y), corner)
            size = cores.grid_size()
            return CoreRangeSet([cores]), CoreGrid(x=size.x, y=size.y)
        case CoreRange() | CoreRangeSet():
            if not allow_sets:
                raise UsageError(
                    "a CoreRangeSet needs use_height_and_width_as_shard_shape=True; use a CoreGrid"
                )
            return grid if isinstance(grid, CoreRangeSet) else CoreRangeSet([grid]), None
        case _:
            raise UsageError(f"core_grid is a CoreGrid or a CoreRangeSet, not {grid!r}")


def _divisors(strategy: ShardStrategy, grid: CoreGrid, by_column: bool) -> tuple[int, int]:
    """Rows and columns of shards."""
    if strategy is ShardStrategy.HEIGHT:
        return grid.num_cores, 1
    if strategy is ShardStrategy.WIDTH:
        return 1, grid.num_cores
    return (grid.x, grid.y) if by_column else (grid.y, grid.x)


def choose_shards(
    config: MemoryConfig, rows: int, columns: int, unit: tuple[int, int], grid: CoreCoord
) -> MemoryConfig:
    """The configuration with shards for rows and columns, whole units, on the cores of a device.

    A configuration that has shards stays as it is.
    """
    if config.interleaved or config.shard_spec is not None:
        return config
    height, width = -(-rows // unit[0]), -(-columns // unit[1])
    cores = grid.x * grid.y
    match config.memory_layout:
        case TensorMemoryLayout.HEIGHT_SHARDED:
            shard = (-(-height // cores), width)
        case TensorMemoryLayout.WIDTH_SHARDED:
            shard = (height, -(-width // cores))
        case _:
            shard = (-(-height // grid.y), -(-width // grid.x))
    down, across = -(-height // shard[0]), -(-width // shard[1])
    if config.memory_layout == TensorMemoryLayout.BLOCK_SHARDED:
        used = CoreGrid(x=across, y=down).to_core_range_set()
    else:
        from ttmlir.metalium.cores import num_cores_to_corerangeset

        used = num_cores_to_corerangeset(down * across, grid, row_wise=True)
    shape = (shard[0] * unit[0], shard[1] * unit[1])
    return config.with_shard_spec(ShardSpec(used, shape))


def without_shards(config: MemoryConfig) -> MemoryConfig:
    """The same memory, interleaved."""
    return L1_MEMORY_CONFIG if config.is_l1() else DRAM_MEMORY_CONFIG


# --- Cores in an order ----------------------------------------------------------------------------


def _cores_core_ranges(ranges: CoreRangeSet, row_wise: bool) -> list[CoreCoord]:
    """The cores of each range after the other, by rows or by columns."""
    found: list[CoreCoord] = []
    for each in ranges.ranges():
        first, last = each.start, each.end
        columns, rows = range(first.x, last.x + 1), range(first.y, last.y + 1)
        if row_wise:
            found.extend(CoreCoord(x, y) for y in rows for x in columns)
        else:
            found.extend(CoreCoord(x, y) for x in columns for y in rows)
    return found


def corerange_to_cores(
    core_range_set: CoreRangeSet | CoreRange, max_cores: int | None = None, row_wise: bool = False
) -> list[CoreCoord]:
    """The cores of ranges in order, by columns unless by rows; at most so many."""
    if max_cores is not None and max_cores < 0:
        raise ArgumentError(f"max_cores={max_cores} is negative")
    ranges = core_range_set
    if isinstance(ranges, CoreRange):
        ranges = CoreRangeSet([ranges])
    return list(islice(_cores_core_ranges(ranges, row_wise), max_cores))


def num_cores_to_corerangeset_in_subcoregrids(
    start_core: CoreCoord | tuple[int, int],
    target_num_cores: int,
    sub_core_grids: CoreRangeSet,
    row_wise: bool = False,
) -> CoreRangeSet:
    """So many cores of ranges, from one of them on; RuntimeError if there are fewer."""
    cores = _cores_core_ranges(sub_core_grids, row_wise)
    start = CoreCoord(*start_core)
    if start not in cores:
        raise UsageError(f"start_core {start} is none of {sub_core_grids}")
    chosen = cores[cores.index(start) :][:target_num_cores]
    if target_num_cores < 1 or len(chosen) < target_num_cores:
        raise UsageError(
            f"target_num_cores={target_num_cores}, but there are {len(chosen)} from {start} on"
        )
    return CoreRangeSet([CoreRange(core, core) for core in chosen])


@overload
def grid_to_cores(
    num_cores: int, grid_size_x: int, grid_size_y: int, row_wise: bool = False, /
) -> list[CoreCoord]: ...


@overload
def grid_to_cores(
    start: CoreCoord, end: CoreCoord, row_wise: bool = False, /
) -> list[CoreCoord]: ...


def grid_to_cores(first: Any, second: Any, *more: Any) -> list[CoreCoord]:
    """So many cores of a grid of columns and rows, or those between two, by columns or by rows.

    RuntimeError for more cores than the grid has.
    """
    if not isinstance(first, int):
        ranges = CoreRangeSet([CoreRange(first, second)])
        return _cores_core_ranges(ranges, row_wise=bool(more and more[0]))
    if not more:
        raise ArgumentTypeError("grid_to_cores takes num_cores, grid_size_x and grid_size_y")
    rows, *row_wise = more
    if not 0 <= first <= second * rows:
        raise UsageError(f"a grid of {second}x{rows} cores has no {first}")
    ranges = CoreRangeSet([CoreRange((0, 0), (second - 1, rows - 1))])
    return _cores_core_ranges(ranges, row_wise=bool(row_wise and row_wise[0]))[:first]
