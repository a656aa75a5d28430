"""The iteration space of a `d2m.generic`: which block a core works on in each step.

Indexing maps take the iterators to blocks of an operand's grid; their results are iterators or the
constant 0. Where the map of the output has an iterator at a dimension of the grid, each core has
its own part of it; all other iterators go over all blocks on each core.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttmlir.layout.affine import AffineMap, DimExpr
from ttmlir.layout.errors import LayoutError

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
