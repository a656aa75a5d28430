"""Which tiles go through which circular buffer of a `d2m.generic`, as its maps say it.

A generic whose operands are streams, in front of `convert-d2m-to-ttkernel`, says for each core and
step which block of a buffer is loaded or stored (docs/d2m.md). Here that is written down without
the code that makes kernels of it, so that kernels can be held against it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ttmlir.dialects import d2m
from ttmlir.dialects.ttcore import device_layout_of
from ttmlir.layout.affine import AffineMap, DimExpr
from ttmlir.layout.metal.device_memory import grid_cores

Shape = tuple[int, ...]
Core = tuple[int, int]


@dataclass(frozen=True)
class StreamedTile:
    """A tile that goes through a circular buffer, by its place in the buffer in memory."""

    place: Shape | None
    """Grid and shard; None for what lies beyond the buffer."""


def gather_of(generic: d2m.GenericOp, number: int) -> d2m.Gather | None:
    """The view whose elements are gathered for an operand; None for whole tiles of a buffer."""
    buffer, _ = d2m.buffer_of_view(generic.operands[number])
    return buffer.owner if isinstance(buffer.owner, d2m.Gather) else None


def needed_tiles(
    generic: d2m.GenericOp, number: int, stored: Sequence[Shape]
) -> list[Shape] | None:
    """The tiles of an input that tiles of the first output are computed from.

    `generic` is not divided yet: each operand is one block. Tiles are told by their rows and
    columns in the buffers in memory. None where that cannot be said.
    """
    output = len(generic.inputs)
    places = {place: point for point, place in _tiles_in(generic, output).items()}
    used, given = (_dimensions(generic.indexing_maps[each]) for each in (number, output))
    shared = [(used[iterator], given[iterator]) for iterator in used if iterator in given]
    if any(place not in places for place in stored):
        return None
    wanted = {tuple(places[place][at] for _, at in shared) for place in stored}
    return [
        place
        for point, place in _tiles_in(generic, number).items()
        if tuple(point[at] for at, _ in shared) in wanted
    ]


def _tiles_in(generic: d2m.GenericOp, number: int) -> dict[Shape, Shape]:
    """The tiles of an operand in one block by their places in it: where they are in the buffer.

    What lies beyond the buffer is left out.
    """
    layout = device_layout_of(generic.operands[number].type)
    assert layout is not None, "operands of generics have grids"
    buffer, view = d2m.buffer_of_view(generic.operands[number])
    memory = device_layout_of(buffer.type)
    assert memory is not None, "what is below a stream is on the device"
    grid = (0,) * len(layout.grid_shape)
    points = itertools.product(*map(range, layout.shard_shape))
    found = {point: _tile(view, (*grid, *point), memory.shape).place for point in points}
    return {
        point: tile_at(place, memory.shard_shape)
        for point, place in found.items()
        if place is not None
    }


def tile_at(place: Shape, shard: Shape) -> Shape:
    """Rows and columns of tiles in a buffer, of a place in its grid and shard."""
    rank = len(shard)
    return tuple(
        block * extent + inner
        for block, extent, inner in zip(place[:rank], shard, place[rank:], strict=True)
    )


def streamed_tiles(
    generic: d2m.GenericOp, number: int, chip_grid: tuple[int, int]
) -> dict[Core, list[StreamedTile]]:
    """The tiles of an operand by the core, logical (x, y), through which they go, in order."""
    layout = device_layout_of(generic.operands[number].type)
    assert layout is not None, "operands of generics have grids"
    buffer, view = d2m.buffer_of_view(generic.operands[number])
    memory = device_layout_of(buffer.type)
    assert memory is not None, "what is below a stream is on the device"
    cores = grid_cores(generic.grid_shape, chip_grid)
    positions = itertools.product(*map(range, generic.grid_shape))
    index_map = generic.indexing_maps[number]
    return {
        core: [
            _tile(view, (*block, *tile), memory.shape)
            for step in _steps(generic, number, position)
            for block in (tuple(map(int, index_map.eval(step))),)
            for tile in itertools.product(*map(range, layout.shard_shape))
        ]
        for core, position in zip(cores, positions, strict=True)
    }


def _tile(view: AffineMap, point: Sequence[int], extents: Shape) -> StreamedTile:
    place = tuple(map(int, view.eval(point)))
    is_there = all(0 <= at < extent for at, extent in zip(place, extents, strict=True))
    return StreamedTile(place if is_there else None)


def _steps(generic: d2m.GenericOp, number: int, position: Shape) -> Iterator[Shape]:
    """The points at which a core loads or stores a block of an operand.

    There is a loop for each iterator with a factor above 1; the operand comes in the last of those
    that its map depends on.
    """
    factors = generic.block_factors
    looped = [iterator for iterator, factor in enumerate(factors) if factor > 1]
    used = _dimensions(generic.indexing_maps[number])
    depth = max((i + 1 for i, iterator in enumerate(looped) if iterator in used), default=0)
    spread = _dimensions(generic.indexing_maps[len(generic.inputs)])
    counts = _block_counts(generic)
    first = [
        position[spread[iterator]] * factor if iterator in spread else 0
        for iterator, factor in enumerate(factors)
    ]
    ranges = [
        range(begin, begin + 1)
        if iterator not in looped[:depth]
        else range(begin, min(begin + factors[iterator], counts[iterator]))
        for iterator, begin in enumerate(first)
    ]
    yield from itertools.product(*ranges)


def _dimensions(index_map: AffineMap) -> dict[int, int]:
    """The iterators of a map, with the dimension of the operand that each one runs over."""
    return {
        result.position: dimension
        for dimension, result in enumerate(index_map.results)
        if isinstance(result, DimExpr)
    }


def _block_counts(generic: d2m.GenericOp) -> list[int]:
    """How many blocks there are along each iterator, over all cores."""
    counts = list(generic.block_factors)
    for index_map, layout in zip(generic.indexing_maps, generic.layouts, strict=True):
        for iterator, dimension in _dimensions(index_map).items():
            counts[iterator] = layout.grid_shape[dimension]
    return counts
