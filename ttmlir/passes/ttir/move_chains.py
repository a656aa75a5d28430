"""What reshapes and permutations do one after another, and roughly what moving tiles costs.

A chain is followed by *atoms*: factors of the dimensions that stay together all along. A reshape
cuts and joins dimensions, a permutation puts them in another order; together they put the atoms of
the source in another order, which one permutation between two reshapes does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Shape = tuple[int, ...]

_TILE = 32
LAUNCH = 45.0
"""Of a program, in tiles whose lines are moved one by one: 3.1 us, and 64 cores that take 4400
cycles for a tile."""
_COPY = 0.6
"""Of a tile that is copied whole: DRAM moves 8 KB."""
_MULTIPLY = 0.5
"""Of a product of two tiles."""


@dataclass(frozen=True)
class Form:
    """A reshape, a permutation and a reshape; each may change nothing."""

    source: Shape
    split: Shape
    order: Shape
    result: Shape

    @property
    def permuted(self) -> Shape:
        """The shape after the permutation."""
        return tuple(self.split[dim] for dim in self.order)

    @property
    def is_reshape(self) -> bool:
        """True if no element changes its place."""
        return self.order == tuple(range(len(self.order)))

    @property
    def steps(self) -> int:
        """How many operations it takes."""
        if self.is_reshape:
            return int(self.source != self.result)
        return 1 + int(self.source != self.split) + int(self.permuted != self.result)

    @property
    def cost(self) -> float:
        """In tiles."""
        if self.is_reshape:
            return reshape_cost(self.source, self.result)
        return (
            reshape_cost(self.source, self.split)
            + permute_cost(self.split, self.order)
            + reshape_cost(self.permuted, self.result)
        )


class Chain:
    """Where the elements of a tensor are after some moves."""

    def __init__(self, shape: Shape) -> None:
        """A tensor that nothing has moved; it has elements."""
        assert math.prod(shape), "nothing is known of tensors without elements"
        self._extents = [extent for extent in shape]
        # Numbers of atoms, by the dimensions of the source, which they are cut from, and of the
        # result.
        self._source = [[number] for number in range(len(shape))]
        self._result = [[number] for number in range(len(shape))]

    def reshape(self, shape: Shape) -> bool:
        """Follow a reshape; False if it cuts dimensions where they have no factor."""
        left = [atom for dim in self._result for atom in dim if self._extents[atom] != 1]
        left.reverse()
        dims: list[list[int]] = []
        for extent in shape:
            dim: list[int] = []
            while extent > 1:
                atom = left.pop()
                if extent % self._extents[atom]:
                    if self._extents[atom] % extent:
                        return False
                    atom, rest = self._cut(atom, extent)
                    left.append(rest)
                dim.append(atom)
                extent //= self._extents[atom]
            dims.append(dim)
        self._result = dims
        return True

    def permute(self, order: Sequence[int]) -> None:
        """Follow a permutation."""
        self._result = [self._result[dim] for dim in order]

    def slice(self, begins: Sequence[int], ends: Sequence[int]) -> tuple[Shape, Shape] | None:
        """Follow a slice; where it begins and ends in the source, None if it is none there."""
        first = [0] * len(self._source)
        last = [math.prod(self._extents[atom] for atom in dim) for dim in self._source]
        for dim, begin, end in zip(self._result, begins, ends, strict=True):
            if begin == 0 and end == math.prod(self._extents[atom] for atom in dim):
                continue
            outer, *others = dim
            inner = math.prod(self._extents[atom] for atom in others)
            place = next((i for i, atoms in enumerate(self._source) if atoms[:1] == [outer]), None)
            if place is None or begin % inner or end % inner:
                return None
            step = math.prod(self._extents[atom] for atom in self._source[place][1:])
            first[place], last[place] = begin // inner * step, end // inner * step
            self._extents[outer] = (end - begin) // inner
        return tuple(first), tuple(last)

    @property
    def form(self) -> Form:
        """The moves in as few steps as they need, of as few dimensions."""
        source = [atom for dim in self._source for atom in dim if self._extents[atom] != 1]
        result = [atom for dim in self._result for atom in dim if self._extents[atom] != 1]
        place = {atom: number for number, atom in enumerate(source)}
        groups: list[list[int]] = []
        for atom in result:
            if groups and place[atom] == place[groups[-1][-1]] + 1:
                groups[-1].append(atom)
            else:
                groups.append([atom])
        ordered = sorted(groups, key=lambda group: place[group[0]])
        return Form(
            self._shape(self._source),
            self._shape(ordered),
            tuple(ordered.index(group) for group in groups),
            self._shape(self._result),
        )

    def _shape(self, dims: Sequence[Sequence[int]]) -> Shape:
        return tuple(math.prod(self._extents[atom] for atom in dim) for dim in dims)

    def _cut(self, atom: int, extent: int) -> tuple[int, int]:
        """Cut an atom in two, the first of which has an extent."""
        rest = len(self._extents)
        self._extents.append(self._extents[atom] // extent)
        self._extents[atom] = extent
        for dims in (self._source, self._result):
            for dim in dims:
                if atom in dim:
                    dim.insert(dim.index(atom) + 1, rest)
        return atom, rest


def tiles(shape: Shape) -> int:
    """Tiles of a tensor, padding included."""
    *outer, rows, columns = (1, 1, *shape)
    return math.prod(outer) * -(-rows // _TILE) * -(-columns // _TILE)


def reshape_cost(before: Shape, after: Shape) -> float:
    """Of a reshape: nothing if tiles stay as they are."""
    (rows, columns), (new_rows, new_columns) = (((1, 1, *each)[-2:]) for each in (before, after))
    keeps_rows = rows == new_rows or (rows % _TILE == 0 and new_rows % _TILE == 0)
    if before == after or (columns == new_columns and keeps_rows):
        return 0.0
    return LAUNCH + tiles(after)


def permute_cost(shape: Shape, order: Shape) -> float:
    """Of a permutation: whole tiles are copied if rows and columns stay such."""
    rank = len(order)
    last = set(range(max(0, rank - 2), rank))
    each = _COPY if {order[dim] for dim in last} == last else 1.0
    return LAUNCH + each * tiles(tuple(shape[dim] for dim in order))


def slice_cost(begins: Shape, result: Shape) -> float:
    """Of a slice: whole tiles are copied if it begins with one."""
    is_whole = all(begin % _TILE == 0 for begin in begins[-2:])
    return LAUNCH + (_COPY if is_whole else 1.0) * tiles(result)


def product_cost(rows: Shape, inner: int, columns: int) -> float:
    """Of the sums of a product whose first operand has these rows, in batches."""
    return _MULTIPLY * tiles((*rows, columns)) * -(-inner // _TILE)
