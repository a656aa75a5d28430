"""Types and layouts of tensors of ttnn as they are spelled since 2025, and moves between them.

tensor_in(value.type, tiled=True)                 # the same tensor as tiles in DRAM
with_element(value.type, bf16)                    # other elements in the same memory
to_layout(value, op, tensor_in(value.type, tiled=False))   # rows, made before `op`
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    IntegerType,
    MemRefType,
    NoneAttr,
    Signedness,
    TensorType,
    bf16,
    f16,
    f32,
)
from xdsl.ir import BlockArgument
from xdsl.rewriter import Rewriter

from ttmlir.dialects import tt
from ttmlir.dialects.quant import UniformType
from ttmlir.dialects.tt.layout import AffineMapParameter, GridAttr
from ttmlir.dialects.ttnn.attrs import (
    BufferTypeAttr,
    CoreRangeSetAttr,
    TensorMemoryLayoutAttr,
    TTNNLayoutAttr,
)
from ttmlir.layout.enums import BufferType, DataType, TTNNTensorMemoryLayout
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.tensor_layout import Grid, collapse
from ttmlir.program import CoreRange, CoreRanges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import Attribute, Operation, SSAValue

TILE = 32
"""Rows and columns of a tile."""
ELEMENTS: dict[DataType, Attribute] = {
    DataType.F32: f32,
    DataType.F16: f16,
    DataType.BF16: bf16,
    DataType.SI32: IntegerType(32, Signedness.SIGNED),
    **{
        data_type: IntegerType(width, Signedness.UNSIGNED)
        for data_type, width in ((DataType.U32, 32), (DataType.U16, 16), (DataType.U8, 8))
    },
}
"""The elements of tiles of each format; those of blocks of floats are the tiles themselves."""


@dataclass(frozen=True)
class Memory:
    """Where a tensor of ttnn is, and in what form."""

    buffer: BufferType
    is_tiled: bool


@dataclass(frozen=True)
class Shards:
    """How a tensor is divided over cores: rows and columns of shards, and the cores in order."""

    spread: TTNNTensorMemoryLayout
    grid: tuple[int, int]
    cores: CoreRanges | None
    """None for a tensor that is interleaved over all cores."""

    @classmethod
    def on(
        cls, spread: TTNNTensorMemoryLayout, grid: tuple[int, int], workers: Sequence[int]
    ) -> Shards:
        """Shards on the first cores of a device with so many rows and columns of cores.

        What is interleaved is on all cores. Blocks lie on the cores as in the tensor; shards along
        one dimension fill rows of cores.
        """
        rows, columns = grid
        if spread is TTNNTensorMemoryLayout.INTERLEAVED:
            return cls(spread, (workers[0], workers[1]), None)
        if spread is TTNNTensorMemoryLayout.BLOCK_SHARDED:
            return cls(spread, grid, (CoreRange((0, 0), (columns - 1, rows - 1)),))
        width = workers[1]
        full, rest = divmod(rows * columns, width)
        cores = [CoreRange((0, 0), (width - 1, full - 1))] if full else []
        cores += [CoreRange((0, full), (rest - 1, full))] if rest else []
        return cls(spread, grid, tuple(cores))


def is_sharded(type_: Attribute) -> bool:
    """True for a tensor that is divided over cores."""
    layout = getattr(type_, "encoding", None)
    spread = layout.spread if isinstance(layout, TTNNLayoutAttr) else None
    return (
        isinstance(spread, TensorMemoryLayoutAttr)
        and spread.data is not TTNNTensorMemoryLayout.INTERLEAVED
    )


def memory_of(type_: Attribute) -> Memory | None:
    """Where a tensor is; None for other values, and tensors without a layout of ttnn."""
    if not isinstance(type_, TensorType):
        return None
    layout = cast("TensorType[Attribute]", type_).encoding
    if not isinstance(layout, TTNNLayoutAttr):
        return None
    space = layout.memref.memory_space
    assert isinstance(space, BufferTypeAttr), "layouts name their memory"
    return Memory(space.data, isinstance(layout.memref.element_type, tt.TileType))


def is_tiled(value: SSAValue) -> bool:
    """True for a tensor that ttnn keeps as tiles."""
    memory = memory_of(value.type)
    return memory is not None and memory.is_tiled


def stored_in(type_: Attribute) -> Attribute:
    """What memory holds of the elements of a tensor: a type, or tiles where only these have it."""
    tensor = cast("TensorType[Attribute]", type_)
    stored = _stored(tensor.element_type)
    layout = tensor.encoding
    if not isinstance(layout, TTNNLayoutAttr):
        return stored
    held = layout.memref.element_type
    if not isinstance(held, tt.TileType):
        return held
    return stored if held == _tile_of(stored) else ELEMENTS.get(held.data_type, held)


def elements_in(type_: Attribute) -> tuple[Attribute, Attribute]:
    """The elements of a tensor, and what memory holds of them."""
    return cast("TensorType[Attribute]", type_).element_type, stored_in(type_)


def tensor_in(
    type_: Attribute,
    *,
    tiled: bool,
    buffer: BufferType = BufferType.DRAM,
    shape: Sequence[int] | None = None,
    shards: Shards | None = None,
) -> TensorType[Attribute]:
    """The type of a tensor as tiles or rows, in a memory; it may have another shape, too."""
    tensor = cast("TensorType[Attribute]", type_)
    shape = tensor.get_shape() if shape is None else tuple(shape)
    layout = layout_in(shape, stored_in(type_), tiled=tiled, buffer=buffer, shards=shards)
    return TensorType(tensor.element_type, shape, layout)


def with_element(type_: Attribute, element: Attribute) -> TensorType[Attribute]:
    """The type of a tensor with other elements, in the same memory and form."""
    shape = cast("TensorType[Attribute]", type_).get_shape()
    memory = memory_of(type_) or _TILES
    layout = layout_in(shape, element, tiled=memory.is_tiled, buffer=memory.buffer)
    return TensorType(element, shape, layout)


def with_shape(type_: Attribute, shape: Sequence[int]) -> TensorType[Attribute]:
    """The type of a tensor of another shape, in the same memory and form."""
    memory = memory_of(type_) or _TILES
    return tensor_in(type_, tiled=memory.is_tiled, buffer=memory.buffer, shape=shape)


_TILES = Memory(BufferType.DRAM, is_tiled=True)


@lru_cache(maxsize=4096)
def layout_in(
    shape: tuple[int, ...],
    element: Attribute,
    *,
    tiled: bool,
    buffer: BufferType = BufferType.DRAM,
    shards: Shards | None = None,
) -> TTNNLayoutAttr:
    """The layout of a tensor; without shards it is interleaved, and all of it is one shard."""
    padded = _padded(shape) if tiled else shape
    linear = collapse(padded, 2, ((0, -1),))
    rows, columns = linear.eval_shape(padded) if shape else (1, 1)
    element = _stored(element)
    stored: Attribute = element
    if tiled:
        rows, columns = -(-rows // TILE), -(-columns // TILE)
        stored = _tile_of(element)
    spread: Any = NoneAttr()
    grid: tuple[int, int] = (1, 1)
    ranges: Any = NoneAttr()
    if shards is not None:
        grid = shards.grid
        ranges = NoneAttr() if shards.cores is None else CoreRangeSetAttr(shards.cores)
        spread = TensorMemoryLayoutAttr(shards.spread)
    elif buffer is not BufferType.SYSTEM_MEMORY:
        spread = TensorMemoryLayoutAttr(TTNNTensorMemoryLayout.INTERLEAVED)
    shard = (-(-rows // grid[0]), -(-columns // grid[1]))
    if shards is not None and shards.cores is None:
        # Tiles of what is interleaved go to one core after the other.
        shard = (1, -(-rows * columns // (grid[0] * grid[1])))
    return TTNNLayoutAttr(
        AffineMapParameter(linear),
        GridAttr(Grid(grid)),
        MemRefType(stored, shard, memory_space=BufferTypeAttr(buffer)),
        spread,
        ranges,
    )


def as_tiles_of(type_: Attribute, dtype: DataType) -> TensorType[Attribute] | None:
    """The type of a tensor of floats whose tiles have another format; None for other tensors.

    Formats that no element type names are elements by their tiles.
    """
    if memory_of(type_) is None:
        return None
    tensor = cast("TensorType[Attribute]", type_)
    if not isinstance(tensor.element_type, BFloat16Type | Float16Type | Float32Type):
        return None
    element = BFloat16Type() if dtype is DataType.BF16 else tt.TileType.get(TILE, TILE, dtype)
    shape = tensor.get_shape()
    buffer = cast("Memory", memory_of(type_)).buffer
    return TensorType(element, shape, layout_in(shape, element, tiled=True, buffer=buffer))


_SI32 = IntegerType(32, Signedness.SIGNED)


def _stored(element: Attribute) -> Attribute:
    """What memory holds of elements: of quantized ones integers, of others 32 bits."""
    if not isinstance(element, UniformType):
        return tt.STORED_IN_32_BITS.get(element, element)
    if element.data.width != 32:
        raise LayoutError(
            f"quantized numbers of {element.data.width} bits cannot be laid out; "
            "ttir-quant-data-type-conversion gives them the 32 that devices have"
        )
    return _SI32


def _tile_of(element: Attribute) -> tt.TileType:
    """Tiles of elements; since 2026 those of signed integers have a name of their own."""
    if isinstance(element, tt.TileType):
        return element
    if element == _SI32:
        return tt.TileType.get(TILE, TILE, DataType.SI32)
    return tt.TileType.of(element)


def _padded(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape whose last two extents are multiples of those of a tile."""
    last = tuple(-(-extent // TILE) * TILE for extent in shape[-2:])
    return (*shape[:-2], *last)


def to_layout(value: SSAValue, before: Operation, type_: Attribute) -> SSAValue:
    """A tensor in the layout of another type, made before an operation, at the tensor's place.

    It is a `ttir.to_layout`, which `convert-ttir-to-ttnn` makes a conversion of ttnn.
    """
    from ttmlir.dialects import ttir
    from ttmlir.ir.builder import Builder
    from ttmlir.mlir.core_prefix import name_empty_late

    name_empty_late(before)
    build = Builder.before(before)
    build.location = location_of(value)
    new = ttir.ToLayoutOp.create(
        operands=[value, build.create_empty(type_)], result_types=[type_], location=build.location
    )
    return build.insert(new).results[0]


def location_of(value: SSAValue) -> Any:
    """Where a value is from: its operation, or the argument."""
    return cast("Any", value if isinstance(value, BlockArgument) else value.owner).location


def set_type(value: SSAValue, type_: Attribute) -> SSAValue:
    """Give a value another type; the new value, which all users have."""
    if value.type == type_:
        return value
    location = location_of(value)
    new = Rewriter.replace_value_with_new_type(value, type_)
    if isinstance(new, BlockArgument):
        new.location = location
    return new
