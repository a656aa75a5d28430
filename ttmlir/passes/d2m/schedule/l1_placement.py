"""Buffers in L1: how their tiles are divided over cores, and the views that follow.

A buffer has a grid of ones before it is placed. In L1 its tiles are divided evenly, over as many
cores as extents can be divided by; where they cannot, a few cores would serve all others, and the
buffer is better in DRAM.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import Rewriter

from ttmlir.dialects import d2m
from ttmlir.dialects.tt.layout import MemorySpaceAttr, element_of
from ttmlir.dialects.ttcore import InterleavedLayoutAttr, ShardLayoutAttr, ViewLayoutAttr
from ttmlir.layout.affine import AffineExpr, AffineMap, DimExpr, linear_form
from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.metal import iterator_positions, split_device_shape

MemRef = MemRefType[Attribute]
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
    tiles = cast("ViewLayoutAttr", view.layout).data.results[len(view.get_shape()) // 2 :]
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
    """Let a buffer lie in DRAM, page by page over the banks."""
    memref = op.memref.type
    _, shard = split_device_shape(memref.get_shape())
    layout = InterleavedLayoutAttr.of(shard, element_of(memref.element_type))
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
                attr = ViewLayoutAttr(_divide(attr.data, shard, memref.get_shape()))
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
