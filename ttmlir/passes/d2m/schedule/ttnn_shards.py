"""Sharded tensors of ttnn as buffers in L1, and as views that put their tiles in order.

The shard of a tensor that is number (i, j) lies on the core that its layout's grid maps (i, j) to.
The buffer has a place for every core from (0, 0) up to the last one of these.
"""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.tt.layout import MemorySpaceAttr, element_of
from ttmlir.dialects.ttcore import ShardLayoutAttr, ViewLayoutAttr
from ttmlir.dialects.ttir import TTNNMetalLayoutCastOp
from ttmlir.ir.tensor_types import layout_of
from ttmlir.layout.affine import AffineExpr, AffineMap, constant, dims
from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.tensor_layout import NO_MAPPING, TensorLayout


def are_placed(layout: TensorLayout) -> bool:
    """True for shards of tiles in L1 whose cores the layout names."""
    return (
        layout.memory_layout.is_sharded
        and layout.memory_space is MemorySpace.DEVICE_L1
        and layout.is_tiled
        and len(layout.shard) == 2
        and layout.grid.mapping != NO_MAPPING
    )


def buffer_of_shards(layout: TensorLayout, element: Attribute) -> MemRefType[Attribute]:
    """The type of the buffer of a sharded tensor with tiles of a type."""
    cores = [layout.grid.mapping.eval(each) for each in layout.grid.coordinates()]
    grid = tuple(1 + max(core[axis] for core in cores) for axis in (1, 2))
    shards = ShardLayoutAttr.of(layout.shard, element_of(element))
    space = MemorySpaceAttr(MemorySpace.DEVICE_L1)
    return MemRefType(element, (*grid, *layout.shard), shards, space)


def view_shards(
    buffer: SSAValue, layout: TensorLayout, whole: MemRefType[Attribute]
) -> d2m.ViewLayoutOp:
    """A view of the buffer of a sharded tensor as `whole` is divided: on a grid of ones.

    Tiles of all dimensions but the last follow each other as rows.
    """
    shape = whole.get_shape()
    space = MemorySpaceAttr(MemorySpace.DEVICE_L1)
    places = ViewLayoutAttr.of(_place_of_tiles(layout, shape))
    return d2m.ViewLayoutOp.of(buffer, MemRefType(whole.element_type, shape, places, space))


def sharded_layout(type_: Attribute) -> TensorLayout | None:
    """The layout of a sharded tensor of ttnn."""
    layout = layout_of(type_)
    return layout if layout is not None and layout.memory_layout.is_sharded else None


def is_sharded_tensor(buffer: SSAValue) -> bool:
    """True for a buffer that is cast to a sharded tensor of ttnn, which says where it is."""
    users = [use.operation for use in buffer.uses]
    return any(
        isinstance(user, TTNNMetalLayoutCastOp) and sharded_layout(user.results[0].type) is not None
        for user in users
    )


def _place_of_tiles(layout: TensorLayout, shape: tuple[int, ...]) -> AffineMap:
    """Where the tiles of a tensor of a shape, on a grid of ones, are in its shards."""
    rank = len(shape) // 2
    *outer, column = dims(len(shape))[rank:]
    row: AffineExpr = constant(0)
    for coordinate, extent in zip(outer, shape[rank:], strict=False):
        row = row * extent + coordinate
    (height, width), (i, j) = layout.shard, dims(2)
    mapping = layout.grid.mapping
    number = {i: row // height, j: column // width}
    y, x = (result.replace(number) for result in mapping.results[1:])
    return AffineMap(len(shape), 0, (y, x, row % height, column % width))
