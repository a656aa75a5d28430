"""Types of the IR for tensors of ttnn, and back."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from ttmlir.dialects import tt, ttnn
from ttmlir.layout.affine import AffineMap, constant, dims
from ttmlir.layout.element_type import DEFAULT_TILE_SHAPE, Element, ScalarType, TileFormat
from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.enums import TensorMemoryLayout as Spread
from ttmlir.layout.grid import Grid
from ttmlir.layout.tensor_layout import TensorLayout
from ttmlir.metalium.cores import CoreCoord, CoreRange, CoreRangeSet
from ttmlir.metalium.enums import BufferType, ShardOrientation, TensorMemoryLayout
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.ttnn.types.enums import DataType, Layout
from ttmlir.ttnn.types.memory import MemoryConfig, ShardSpec
from ttmlir.ttnn.types.spec import TensorSpec

_ELEMENTS = {
    DataType.BFLOAT16: "bf16",
    DataType.FLOAT32: "f32",
    DataType.BFLOAT8_B: "bf16",
    DataType.BFLOAT4_B: "bf16",
    DataType.INT32: "i32",
    DataType.UINT32: "ui32",
    DataType.UINT16: "ui16",
    DataType.UINT8: "ui8",
}
"""The element types of tensors; block floats are formats of tiles."""

_DATA_TYPES = {each.facts.storage: each for each in _ELEMENTS if each != DataType.INT32}
"""Data types by what memory holds; integers with and without sign are the same there."""

_SPREADS = {
    TensorMemoryLayout.INTERLEAVED: Spread.INTERLEAVED,
    TensorMemoryLayout.HEIGHT_SHARDED: Spread.HEIGHT_SHARDED,
    TensorMemoryLayout.WIDTH_SHARDED: Spread.WIDTH_SHARDED,
    TensorMemoryLayout.BLOCK_SHARDED: Spread.BLOCK_SHARDED,
}
_SPREADS_OF_TTNN = {spread: layout for layout, spread in _SPREADS.items()}


class UnsupportedLayoutError(RuntimeError):
    """A tensor that kernels cannot take, and what to do about it."""


def tensor_type(spec: TensorSpec) -> Attribute:
    """The type of tensors with this specification on a device.

    UnsupportedLayoutError for those that kernels cannot take.
    """
    element = tt.element_type_of(ScalarType(_ELEMENTS[spec.dtype]))
    return TensorType(element, tuple(spec.shape), ttnn.TTNNLayoutAttr.of(_layout(spec)))


def _layout(spec: TensorSpec) -> TensorLayout:
    config = spec.memory_config
    stored: Element = ScalarType(_ELEMENTS[spec.dtype])
    if spec.is_tiled:
        if spec.tile.tile_shape != DEFAULT_TILE_SHAPE:
            raise UnsupportedLayoutError(
                f"tiles of {spec.tile.tile_shape} are not supported; tiles have 32x32 elements"
            )
        stored = TileFormat(*DEFAULT_TILE_SHAPE, spec.dtype.facts.storage)
    if not config.is_sharded():
        is_dram = config.buffer_type == BufferType.DRAM
        return TensorLayout.of(
            tuple(spec.shape),
            stored,
            MemorySpace.DEVICE_DRAM if is_dram else MemorySpace.DEVICE_L1,
            (1, 1),
            memory_layout=Spread.INTERLEAVED,
        )
    return _sharded_layout(spec, stored)


def _sharded_layout(spec: TensorSpec, stored: Element) -> TensorLayout:
    config = spec.memory_config
    shards = config.shard_spec
    move = "move it with ttnn.to_memory_config first"
    if config.buffer_type != BufferType.L1:
        raise UnsupportedLayoutError(f"sharded DRAM tensors are not supported; {move}")
    if shards is None:
        raise UnsupportedLayoutError(
            f"shards of more than two dimensions are not supported; {move}"
        )
    if shards.orientation != ShardOrientation.ROW_MAJOR:
        raise UnsupportedLayoutError(f"column-major sharding is not supported; {move}")
    if len(shards.grid.ranges()) != 1:
        raise UnsupportedLayoutError(
            f"grids with more than one core range are not supported; {move}"
        )
    box = shards.grid.bounding_box()
    rows, columns = (-(-extent // by) for extent, by in zip(spec.rows, shards.shape, strict=True))
    whole = TensorLayout.of(tuple(spec.shape), stored, MemorySpace.DEVICE_L1, (1, 1))
    shard = shards.shape
    if isinstance(stored, TileFormat):
        shard = stored.tiled_shape(shard)
    return TensorLayout(
        linear=whole.linear,
        grid=Grid((rows, columns), _core_map(box, config.memory_layout)),
        shard=shard,
        element=stored,
        memory_space=MemorySpace.DEVICE_L1,
        memory_layout=_SPREADS[config.memory_layout],
    )


def _core_map(box: CoreRange, layout: TensorMemoryLayout) -> AffineMap:
    """Where the shards of a grid are: chip, row and column of cores, which are filled row by row.

    The chip's own map, which goes without saying, where that is the same.
    """
    y, x = dims(2)
    width, height = box.end.x - box.start.x + 1, box.end.y - box.start.y + 1
    if layout == TensorMemoryLayout.HEIGHT_SHARDED and width > 1:
        y, x = (y // width, y % width) if height > 1 else (constant(0), y)
    elif layout == TensorMemoryLayout.WIDTH_SHARDED and height > 1:
        y, x = (x // width, x % width) if width > 1 else (x, constant(0))
    return AffineMap(2, 0, (constant(0), y + box.start.y, x + box.start.x))


def spec_of(desc: TensorDesc) -> TensorSpec:
    """The specification of a tensor that a file describes."""
    dtype = _DATA_TYPES[desc.data_type]
    if dtype == DataType.UINT32 and desc.element.keyword == "i32":
        dtype = DataType.INT32
    is_dram = desc.memory_space is MemorySpace.DEVICE_DRAM
    shards = None
    if desc.memory_layout.is_sharded:
        by = desc.tile if desc.is_tiled else (1, 1)
        cores = CoreRangeSet(
            CoreRange(CoreCoord(x, y), CoreCoord(x + width - 1, y + height - 1))
            for y, x, height, width in desc.core_ranges
        )
        extents = [extent * unit for extent, unit in zip(desc.shard, by, strict=True)]
        shards = ShardSpec(cores, extents)
    config = MemoryConfig(
        _SPREADS_OF_TTNN[desc.memory_layout],
        BufferType.DRAM if is_dram else BufferType.L1,
        shards,
    )
    layout = Layout.TILE if desc.is_tiled else Layout.ROW_MAJOR
    return TensorSpec(desc.shape, dtype, layout, config)


def data_type_attr(dtype: DataType) -> Attribute:
    """The attribute `#ttcore.supportedDataTypes<...>`."""
    return tt.DataTypeAttr(dtype.facts.storage)
