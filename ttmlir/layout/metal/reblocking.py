"""Views: affine maps from the coordinates of one division into shards to those of another.

    reblocking_map((2, 2), (4, 3), (4, 1), (2, 6))    # from blocks of 2x6 to the buffer's of 4x3

Coordinates are those of a grid, then those within a shard, as in the shapes of tensors on devices.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttmlir.layout.affine import AffineMap, dims
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.grid import shape_text


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
