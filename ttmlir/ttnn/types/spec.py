"""What is known of a tensor besides its numbers, and which bytes of which banks hold them."""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, cast

from ttmlir.errors import ArgumentTypeError, UsageError
from ttmlir.layout.data_format import face_shape, packed_tile_bytes
from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.enums import TensorMemoryLayout as PageLayout
from ttmlir.metalium.cores import CoreCoord, CoreRange, CoreRangeSet
from ttmlir.metalium.enums import (
    BufferType,
    ShardOrientation,
    ShardSpecBuffer,
    TensorMemoryLayout,
    shard_cores,
    shard_pages,
    shards_of,
)
from ttmlir.metalium.errors import MetaliumError
from ttmlir.optable.op_definition import spell_shape
from ttmlir.ttnn.types.enums import DataType, Layout, ShardDistributionStrategy
from ttmlir.ttnn.types.memory import (
    Extents,
    MemoryConfig,
    NdShardSpec,
    Shape,
    ShardSpec,
    choose_shards,
)

if TYPE_CHECKING:
    from ttmlir.sim.machine.address_generators import Sharding
    from ttmlir.sim.machine.device import SimChip


# --- Shards of any rank as shards of rows and columns ---------------------------------------------


def flatten_shards(config: MemoryConfig, shape: tuple[int, ...]) -> MemoryConfig:
    """The configuration with the shards of two dimensions that its NdShardSpec stands for.

    `shape` is a tensor's, padding included. RuntimeError for shards that are no rectangles of rows
    and columns, and for those that go round the cores more than once.
    """
    spec = config.nd_shard_spec
    if spec is None or config.shard_spec is not None:
        return config
    rows, columns = _rectangle(spec, shape)
    height, width = math.prod(shape[:-1]), shape[-1]
    down, across = -(-height // rows), -(-width // columns)
    name = f"NdShardSpec of {list(spec.shard_shape)} for a tensor of {list(shape)}"
    if down * across > spec.grid.num_cores():
        raise UsageError(
            f"{name}: {down * across} shards for {spec.grid.num_cores()} cores; here each core "
            "holds one: use larger shards or more cores"
        )
    if across == 1:
        layout, columns = TensorMemoryLayout.HEIGHT_SHARDED, width
    elif down == 1:
        layout, rows = TensorMemoryLayout.WIDTH_SHARDED, height
    else:
        layout = TensorMemoryLayout.BLOCK_SHARDED
        if not _is_block(spec, down, across):
            raise UsageError(
                f"{name}: {down} rows and {across} columns of shards are dealt to the cores one "
                f"after another; here the grid must be one rectangle of {across} columns and "
                f"{down} rows"
            )
    flat = ShardSpec(spec.grid, (rows, columns), spec.orientation)
    return MemoryConfig(layout, config.buffer_type, flat, nd_shard_spec=spec)


def _rectangle(spec: NdShardSpec, shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of a shard; RuntimeError if its rows are not one after another."""
    shard = spec.shard_shape
    if len(shard) > len(shape):
        raise UsageError(
            f"NdShardSpec of {list(shard)}: the tensor of {list(shape)} has fewer dimensions"
        )
    # Dimensions that the shard lacks are rows of its first one.
    first = len(shape) - len(shard) + 1
    extents = (math.prod(shape[:first]), *shape[first:])
    *outer, columns = shard
    places = [i for i, extent in enumerate(outer) if extent != 1]
    if places:
        begin = places[0]
        inner = range(begin + 1, len(outer))
        is_whole = all(shard[i] == extents[i] for i in inner)
        fits = extents[begin] % shard[begin] == 0 or math.prod(extents[:begin]) == 1
        if not is_whole or not fits:
            raise UsageError(
                f"NdShardSpec of {list(shard)} for a tensor of {list(shape)}: here the rows of a "
                "shard must follow each other in the tensor; use extents of 1, then one that "
                "divides the tensor's, then whole ones"
            )
    return math.prod(outer), columns


def _is_block(spec: NdShardSpec, down: int, across: int) -> bool:
    """Whether dealing shards to cores one after another is dealing them by row and column."""
    ranges = spec.grid.ranges()
    if len(ranges) != 1:
        return False
    size = ranges[0].grid_size()
    wanted = (across, down) if spec.orientation == ShardOrientation.ROW_MAJOR else (down, across)
    if spec.shard_distribution_strategy == ShardDistributionStrategy.GRID_2D:
        return size.x >= wanted[0] and size.y >= wanted[1]
    return (size.x, size.y) == wanted


# --- Specifications -------------------------------------------------------------------------------

MAX_RANK = 8

_PAGE_LAYOUTS = {
    TensorMemoryLayout.HEIGHT_SHARDED: PageLayout.HEIGHT_SHARDED,
    TensorMemoryLayout.WIDTH_SHARDED: PageLayout.WIDTH_SHARDED,
    TensorMemoryLayout.BLOCK_SHARDED: PageLayout.BLOCK_SHARDED,
}


class Tile:
    """Extents of the tiles of a tensor in tile layout."""

    def __init__(self, tile_shape: Extents = (32, 32), transpose_tile: bool = False) -> None:
        """Tiles of these extents; RuntimeError if faces do not fill them."""
        extents = tuple(tile_shape)
        if len(extents) != 2:
            raise UsageError(f"a tile has rows and columns, got {list(extents)}")
        height, width = extents
        self.tile_shape = (height, width)
        self.transpose_tile = transpose_tile
        self.face_shape = face_shape(self.tile_shape)

    @property
    def num_faces(self) -> int:
        """How many faces a tile has."""
        return math.prod(self.tile_shape) // math.prod(self.face_shape)

    def get_tile_size(self, dtype: DataType) -> int:
        """Bytes of a tile, exponents of block floats included."""
        volume = math.prod(self.tile_shape)
        if dtype.facts.is_block:
            return packed_tile_bytes(dtype.facts.storage, volume)
        return volume * dtype.facts.element_bytes

    def __eq__(self, other: object) -> bool:
        """Whether the extents are the same."""
        return isinstance(other, Tile) and self.tile_shape == other.tile_shape

    def __hash__(self) -> int:
        """By the extents."""
        return hash(self.tile_shape)

    def __repr__(self) -> str:
        """As ttnn prints it."""
        return f"Tile with shape: [{self.tile_shape[0]}, {self.tile_shape[1]}]"


DEFAULT_TILE = Tile()


def tile_size(dtype: DataType) -> int:
    """Bytes of a tile of 32x32 numbers, exponents of block floats included."""
    return DEFAULT_TILE.get_tile_size(dtype)


def element_size(dtype: DataType) -> int:
    """Bytes of a number; RuntimeError for block floats, which have no bytes of their own."""
    if dtype.facts.is_block:
        raise UsageError(f"a number of {dtype} has no size; ttnn.tile_size has that of a tile")
    return dtype.facts.element_bytes


def _read_memory(
    args: tuple[Any, ...], parts: dict[str, Any], tile: Tile | None
) -> tuple[MemoryConfig, Tile | None]:
    """The memory that its parts say, by position or by name; TypeError for others."""
    kinds = {
        "memory_layout": TensorMemoryLayout,
        "shard_spec": ShardSpec,
        "nd_shard_spec": NdShardSpec,
        "buffer_type": BufferType,
    }
    found = {name: value for name, value in parts.items() if value is not None}
    for value in args:
        name = next((name for name, kind in kinds.items() if isinstance(value, kind)), None)
        if isinstance(value, Tile):
            tile = value
        elif name is not None:
            found[name] = value
        elif value is not None:
            raise ArgumentTypeError(f"a TensorSpec takes no {value!r} for its memory")
    for name, value in found.items():
        if not isinstance(value, kinds.get(name, ())):
            raise ArgumentTypeError(f"a TensorSpec takes no {name}={value!r}")
    return MemoryConfig(**found), tile


class TensorSpec:
    """Shape, data type, layout and memory of a tensor. It never changes.

    A tensor is kept as rows: all dimensions but the last are rows of the last one, and only the
    last two are padded. *Pages* are its tiles, or the parts of its rows that a bank holds.
    """

    def __init__(
        self,
        shape: Extents,
        dtype: DataType,
        layout: Layout,
        memory_config: MemoryConfig | BufferType | TensorMemoryLayout | NdShardSpec | None = None,
        *args: Any,
        tile: Tile | None = None,
        padded_shape: Shape | None = None,
        **parts: Any,
    ) -> None:
        """RuntimeError for what no tensor can be: block floats row by row, shards that do not fit.

        The memory may be given by its parts: a buffer type and a tile, a memory layout, a ShardSpec
        and a buffer type, or an NdShardSpec and a buffer type. A sharded memory configuration
        without shards is for who knows the device to complete. `padded_shape` is of whole tiles,
        where it is more than it must be.
        """
        if not isinstance(memory_config, MemoryConfig):
            memory_config, tile = _read_memory((memory_config, *args), parts, tile)
        elif args or parts:
            raise ArgumentTypeError(
                "a TensorSpec with a MemoryConfig takes nothing else but a tile"
            )
        if not isinstance(cast("object", layout), Layout):
            # Nothing would fail on it before the tensor is printed.
            raise ArgumentTypeError(
                f"layout is a ttnn.Layout, such as ttnn.TILE_LAYOUT, not {layout!r}"
            )
        self.shape = shape if isinstance(shape, Shape) else Shape(shape)
        self.dtype = dtype
        self.layout = layout
        self.tile = DEFAULT_TILE if tile is None else tile
        self.memory_config = memory_config
        self._padded_shape = padded_shape
        if memory_config.nd_shard_spec is not None:
            self.memory_config = flatten_shards(memory_config, self.padded_shape)
        if len(self.shape) > MAX_RANK:
            raise UsageError(f"a tensor has {MAX_RANK} dimensions at most, got {self.shape}")
        if layout == Layout.ROW_MAJOR and dtype.facts.is_block:
            raise UsageError(
                "Layout must be Layout::TILE for bfloat8_b or bfloat4_b! Block floats share "
                "exponents within tiles; use layout=ttnn.TILE_LAYOUT"
            )
        if self.memory_config.shard_spec is not None:
            self._check_shards()

    @property
    def is_tiled(self) -> bool:
        """True for tile layout."""
        return self.layout == Layout.TILE

    @cached_property
    def padded_shape(self) -> Shape:
        """The shape with the last two dimensions filled up to whole tiles, if it has tiles."""
        if self._padded_shape is not None:
            return self._padded_shape
        if not self.is_tiled:
            # One number fills a row of one.
            return self.shape or Shape((1,))
        height, width = self.tile.tile_shape
        *outer, rows, columns = (1,) * (2 - len(self.shape)) + self.shape
        return Shape((*outer, -(-rows // height) * height, -(-columns // width) * width))

    @cached_property
    def rows(self) -> tuple[int, int]:
        """Rows and columns in memory, padding included."""
        padded = self.padded_shape
        return math.prod(padded[:-1]), padded[-1] if padded else 1

    @cached_property
    def page_shape(self) -> tuple[int, int]:
        """Rows and columns of a page, in elements."""
        if self.is_tiled:
            return self.tile.tile_shape
        spec = self.memory_config.shard_spec
        return 1, max(self.rows[1], 1) if spec is None else min(spec.shape[1], self.rows[1])

    @cached_property
    def page_bytes(self) -> int:
        """Bytes of a page."""
        if self.is_tiled:
            return self.tile.get_tile_size(self.dtype)
        return self.page_shape[1] * self.dtype.facts.element_bytes

    @cached_property
    def pages(self) -> tuple[int, int]:
        """Rows and columns of pages; at least one page, so that empty tensors have an address."""
        return (
            max(1, -(-self.rows[0] // self.page_shape[0])),
            max(1, -(-self.rows[1] // self.page_shape[1])),
        )

    @property
    def size_bytes(self) -> int:
        """Bytes of all pages."""
        return self.pages[0] * self.pages[1] * self.page_bytes

    @property
    def is_sharded_in_dram(self) -> bool:
        """Whether banks of DRAM hold shards; their bytes are not simulated."""
        return self.memory_config.is_sharded() and self.memory_config.is_dram()

    @property
    def space(self) -> MemorySpace:
        """The memory that holds the tensor."""
        is_dram = self.memory_config.buffer_type == BufferType.DRAM
        return MemorySpace.DEVICE_DRAM if is_dram else MemorySpace.DEVICE_L1

    @cached_property
    def _shards(self) -> ShardSpecBuffer:
        spec = self.memory_config.shard_spec
        assert spec is not None, "the tensor is sharded"
        return ShardSpecBuffer(
            spec.grid,
            (spec.shape[0], spec.shape[1] if self.is_tiled else self.page_shape[1]),
            spec.orientation,
            self.page_shape,
            self.pages,
        )

    def _check_shards(self) -> None:
        """RuntimeError unless the shards are whole pages and the cores hold all of them."""
        spec, layout = self.memory_config.shard_spec, self.memory_config.memory_layout
        assert spec is not None, "the tensor is sharded"
        (height, width), (rows, columns) = spec.shape, self.rows
        name = f"shards of {height}x{width} for a tensor of {rows}x{columns} elements"
        if self.is_tiled and (height % self.page_shape[0] or width % self.page_shape[1]):
            raise UsageError(
                f"{name}: Shard shape must be made of whole tiles of "
                f"{spell_shape(self.tile.tile_shape)} in TILE_LAYOUT"
            )
        if layout == TensorMemoryLayout.HEIGHT_SHARDED and width != columns:
            raise UsageError(f"{name}: a height-sharded tensor has shards of its width")
        if layout == TensorMemoryLayout.WIDTH_SHARDED and height < rows:
            raise UsageError(f"{name}: a width-sharded tensor has shards of its height")
        try:
            down, across = shards_of(self._shards)
            shard_cores(self._shards, layout)
        except MetaliumError as error:
            raise UsageError(f"{name}: {error}") from error
        if down * across > spec.num_cores():
            raise UsageError(
                f"{name} are {down * across}, but the grid {spec.grid} has {spec.num_cores()} "
                "cores; use larger shards or more cores"
            )

    def sharding(self) -> Sharding | None:
        """How the simulator cuts the pages; None for interleaved tensors."""
        if self.memory_config.shard_spec is None:
            return None
        from ttmlir.sim.machine.address_generators import Sharding

        layout = self.memory_config.memory_layout
        return Sharding(
            layout=_PAGE_LAYOUTS[layout],
            cores=tuple((x, y) for x, y in shard_cores(self._shards, layout)),
            shape=self.pages,
            shard_shape=shard_pages(self._shards),
        )

    def bank_bytes(self, chip: SimChip) -> int:
        """Bytes that the tensor takes in each bank."""
        is_dram = self.memory_config.buffer_type == BufferType.DRAM
        alignment = chip.dram_alignment if is_dram else chip.l1_alignment
        if self.memory_config.shard_spec is None:
            banks = chip.num_dram_channels if is_dram else len(chip.workers)
            in_bank = -(-self.pages[0] * self.pages[1] // banks)
        else:
            rows, columns = shard_pages(self._shards)
            in_bank = rows * columns
        return in_bank * (-(-self.page_bytes // alignment) * alignment)

    def complete(self, grid: CoreCoord) -> TensorSpec:
        """The specification with shards for a device of so many columns and rows of cores."""
        config = self.memory_config
        if config.shard_spec is not None and config.is_l1():
            end = config.shard_spec.grid.bounding_box().end_coord
            if end.x >= grid.x or end.y >= grid.y:
                raise UsageError(
                    f"shards on core {end}, but the device has cores up to "
                    f"(x={grid.x - 1},y={grid.y - 1}); "
                    "device.compute_with_storage_grid_size() says how many there are"
                )
        if config.interleaved or config.shard_spec is not None:
            return self
        unit = self.tile.tile_shape if self.is_tiled else (1, 1)
        return self.replace(memory_config=choose_shards(config, *self.rows, unit, grid))

    def height_sharded(
        self, grid: CoreRangeSet, orientation: ShardOrientation = ShardOrientation.ROW_MAJOR
    ) -> TensorSpec:
        """The specification with its rows cut for all cores, in whole tiles."""
        return self._cut(
            TensorMemoryLayout.HEIGHT_SHARDED, grid, (grid.num_cores(), 1), orientation
        )

    def width_sharded(
        self, grid: CoreRangeSet, orientation: ShardOrientation = ShardOrientation.ROW_MAJOR
    ) -> TensorSpec:
        """The specification with its columns cut for all cores, in whole tiles."""
        return self._cut(TensorMemoryLayout.WIDTH_SHARDED, grid, (1, grid.num_cores()), orientation)

    def block_sharded(
        self,
        grid: CoreRange | CoreRangeSet,
        orientation: ShardOrientation = ShardOrientation.ROW_MAJOR,
    ) -> TensorSpec:
        """The specification with rows and columns cut for a rectangle of cores."""
        cores = grid if isinstance(grid, CoreRangeSet) else CoreRangeSet([grid])
        size = cores.bounding_box().grid_size()
        by_row = orientation == ShardOrientation.ROW_MAJOR
        parts = (size.y, size.x) if by_row else (size.x, size.y)
        return self._cut(TensorMemoryLayout.BLOCK_SHARDED, cores, parts, orientation)

    def sharded(
        self,
        shard_shape: Extents,
        grid: CoreRangeSet,
        orientation: ShardOrientation = ShardOrientation.ROW_MAJOR,
    ) -> TensorSpec:
        """The specification with shards of any rank."""
        shards = NdShardSpec(tuple(shard_shape), grid, orientation)
        return self.replace(memory_config=MemoryConfig(self.memory_config.buffer_type, shards))

    def _cut(
        self,
        layout: TensorMemoryLayout,
        grid: CoreRangeSet,
        parts: tuple[int, int],
        orientation: ShardOrientation,
    ) -> TensorSpec:
        """Rows and columns in so many parts, rounded up to whole pages."""
        unit = self.tile.tile_shape if self.is_tiled else (1, 1)
        shard = [
            -(-extent // (count * step)) * step
            for extent, count, step in zip(self.rows, parts, unit, strict=True)
        ]
        config = MemoryConfig(
            layout, self.memory_config.buffer_type, ShardSpec(grid, shard, orientation)
        )
        return self.replace(memory_config=config)

    def replace(
        self,
        *,
        shape: Extents | None = None,
        dtype: DataType | None = None,
        layout: Layout | None = None,
        memory_config: MemoryConfig | None = None,
        padded_shape: Shape | None = None,
    ) -> TensorSpec:
        """The specification with some parts changed; another shape or layout is padded anew."""
        if padded_shape is None and shape is None and layout in (None, self.layout):
            padded_shape = self._padded_shape
        return _known_spec(
            self.shape if shape is None else tuple(shape),
            self.dtype if dtype is None else dtype,
            self.layout if layout is None else layout,
            self._resized(shape) if memory_config is None else memory_config,
            self.tile,
            padded_shape,
        )

    def _resized(self, shape: Extents | None) -> MemoryConfig:
        """The configuration for another shape, for which shards of any rank are others."""
        config = self.memory_config
        if config.nd_shard_spec is None or shape is None or tuple(shape) == self.shape:
            return config
        return MemoryConfig(config.buffer_type, config.nd_shard_spec)

    @cached_property
    def key(self) -> tuple[object, ...]:
        """Everything that tells specifications apart."""
        return (
            *(self.shape, self.padded_shape, self.dtype, self.layout, self.memory_config),
            self.tile,
        )

    def __eq__(self, other: object) -> bool:
        """Whether all parts are the same."""
        return self is other or (isinstance(other, TensorSpec) and self.key == other.key)

    @cached_property
    def _hash(self) -> int:
        return hash(self.key)

    def __hash__(self) -> int:
        """By all parts."""
        return self._hash

    def __repr__(self) -> str:
        """As a call that makes it."""
        return (
            f"TensorSpec(shape={self.shape}, dtype=DataType::{self.dtype.name}, "
            f"layout=Layout::{self.layout.name}, memory_config={self.memory_config})"
        )


@lru_cache(maxsize=1024)
def _known_spec(
    shape: tuple[int, ...],
    dtype: DataType,
    layout: Layout,
    memory_config: MemoryConfig,
    tile: Tile,
    padded_shape: Shape | None,
) -> TensorSpec:
    """A specification, which knows its pages and its hash from the calls before."""
    return TensorSpec(shape, dtype, layout, memory_config, tile=tile, padded_shape=padded_shape)
