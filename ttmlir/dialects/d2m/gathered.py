"""Which elements of a buffer the tiles of a view on elements take, and the memory to gather them.

Where the elements of a tile are in few faces of the buffer, beside how many they are, a kernel
reads these faces as a whole, and takes the elements one by one from its own L1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.dialects.d2m.structure import (
    Gather,
    ViewElementsOp,
    ViewNumberedOp,
    element_type_of_value,
)
from ttmlir.dialects.tt.layout import element_of
from ttmlir.dialects.ttcore import device_layout_of
from ttmlir.layout.affine import (
    AffineExpr,
    AffineMap,
    LinearForm,
    as_expr,
    bounds_of,
    dim,
    dims,
    linear_form,
)
from ttmlir.layout.metal import TILE

FACE = 16
"""Rows of a face, and columns."""
FACES = TILE // FACE
"""Of a tile, in each direction."""
TILE_OF_NUMBERS = 4096
"""Bytes of a tile of numbers, which have 32 bits."""
_BOX_BYTES = 128
"""What is read at once may be so much for each element that is taken from it.

To read an element by itself takes a processor 200 cycles more; in 30 of them a network brings as
many bytes to one core, and in as many DRAM to each of 64.
"""


@dataclass(frozen=True)
class BoxSide:
    """The faces of a box along a dimension of the buffer."""

    first: LinearForm
    """The first one, by the tile."""
    count: int
    extent: int
    """How many the buffer has."""
    may_leave: bool
    """True if the box goes beyond the buffer where the view ends."""


@dataclass(frozen=True)
class Box:
    """The faces of a buffer that a tile of a view takes elements from."""

    sides: tuple[BoxSide, ...]
    """Outer dimensions, then columns and rows of faces: those of a column follow each other."""
    element: LinearForm
    """The number of an element among all of the box."""

    @property
    def faces(self) -> int:
        """How many there are."""
        return math.prod(each.count for each in self.sides)


class GatherPlaces:
    """Where the elements of a tile of a view are in the buffer below.

    Dimensions are those of the tile, then the row in it, the column of faces, the place in a row of
    a face, and the number that names an element, if one does.
    """

    def __init__(self, view: Gather) -> None:
        """LayoutError for a map that is no sum of parts of dimensions."""
        layout = device_layout_of(view.results[0].type)
        assert layout is not None, "views have layouts"
        self._view = view
        self.rank = len(view.shape)
        self.row, self.face, self.lane = self.rank, self.rank + 1, self.rank + 2
        self.number = self.rank + 3
        counts = (view.count,) if isinstance(view, ViewNumberedOp) else ()
        self.extents = (*layout.shard_shape, TILE, FACES, FACE, *counts)
        *outer, rows, columns = dims(self.rank)
        self.in_view: tuple[AffineExpr, ...] = (
            *outer,
            rows * TILE + dim(self.row),
            columns * TILE + dim(self.face) * FACE + dim(self.lane),
        )
        """The place of an element in the view."""
        places = (*self.in_view, *dims(len(self.extents))[self.number :])
        composed = view.map.compose(AffineMap(len(self.extents), 0, places))
        self.elements: Sequence[AffineExpr] = composed.results
        """The place of an element in the buffer."""
        self.named = self._find_named()
        """The dimensions in a tile that the number depends on, if a number names an element."""
        self.is_in_pieces = self.named.isdisjoint((self.face, self.lane))
        """True if one number, if any, names all elements of a row of a face."""
        self.follows_columns = self.is_in_pieces and self._follow(self.lane, -1)
        """True if neighbours in a row of a face are neighbours in a row of the buffer."""
        self.follows_rows = self.row not in self.named and self._follow(self.row, -2)
        """True if rows of a face that follow each other do so in the buffer."""

    def form(self, expr: AffineExpr) -> LinearForm:
        """An expression in these dimensions as a sum."""
        return linear_form(expr, self.extents)

    def _find_named(self) -> frozenset[int]:
        if not isinstance(self._view, ViewNumberedOp):
            return frozenset()
        places = AffineMap(len(self.extents), 0, self.in_view)
        forms = map(self.form, self._view.places.compose(places).results)
        used = frozenset[int]().union(*(form.used_dims() for form in forms))
        return used & {self.row, self.face, self.lane}

    def _follow(self, position: int, axis: int) -> bool:
        """True if steps along a dimension in the tile are steps along one of the buffer."""
        others = [self.form(each) for each in self.elements]
        along = others.pop(axis)
        return (
            along.factor_of(position) == 1
            and position not in along.divided_dims
            and not any(position in form.used_dims() for form in others)
        )

    def box(self, element_bytes: int) -> Box | None:
        """The faces that a tile takes elements from; None if there are many, or others each time.

        Also None for rows that are moved as they are.
        """
        if self.follows_columns:
            return None
        below = device_layout_of(self._view.input.type)
        assert below is not None, "buffers have layouts"
        *outer, rows, columns = below.shard_shape
        *before, y, x = self.elements
        sides: list[BoxSide] = []
        face: AffineExpr = as_expr(0)
        for expr, extent in zip(
            (*before, x // FACE, y // FACE), (*outer, columns * FACES, rows * FACES), strict=True
        ):
            side = self._side(expr, extent)
            if side is None:
                return None
            sides.append(side[0])
            face = face * side[0].count + side[1].expression()
        element = face * (FACE * FACE) + (y % FACE) * FACE + x % FACE
        box = Box(tuple(sides), linear_form(element, self._inside))
        taken = math.prod(min(TILE, extent) for extent in self._view.shape[-2:])
        size = box.faces * FACE * FACE * element_bytes
        return box if size <= taken * _BOX_BYTES else None

    @property
    def _inside(self) -> tuple[int, ...]:
        """The extents of the dimensions, without what is beyond a view of few elements."""
        rows, columns = (min(TILE, extent) for extent in self._view.shape[-2:])
        inner = rows, -(-columns // FACE), min(FACE, columns)
        return (*self.extents[: self.rank], *inner, *self.extents[self.number :])

    def _side(self, expr: AffineExpr, extent: int) -> tuple[BoxSide, LinearForm] | None:
        """The faces, and the number of that of an element; None if tiles do not tell the first."""
        form = linear_form(expr, self._inside)
        inner = {self.row, self.face, self.lane}
        if self.named:
            inner.add(self.number)
        added = {term: f for term, f in form.factors.items() if term.used_dims() & inner}
        if any(term.used_dims() - inner for term in added):
            return None
        least, most = bounds_of(LinearForm(0, added), self._inside)
        by_tile = {term: f for term, f in form.factors.items() if term not in added}
        first = LinearForm(form.offset + least, by_tile)
        lowest, highest = bounds_of(first, self._inside)
        if lowest < 0:
            return None
        may_leave = highest + most - least >= extent
        side = BoxSide(first, most - least + 1, extent, may_leave)
        return side, LinearForm(-least, added)


def has_parts(view: Gather) -> bool:
    """True if elements of some tiles are beyond the view, and have to be cleared."""
    return any(extent % TILE for extent in view.shape[-2:])


def bounce_tiles(view: Gather) -> int:
    """Tiles of local memory that a kernel needs to gather.

    First that of numbers, then one or its box, last one whose end is 0, if tiles have parts.
    """
    tile_bytes = element_of(element_type_of_value(view.input)).stored_bytes
    box = GatherPlaces(view).box(tile_bytes // (TILE * TILE))
    faces = 1 if box is None else box.faces
    tiles = -(-faces // (FACES * FACES)) + has_parts(view)
    return tiles if isinstance(view, ViewElementsOp) else tiles + -(-TILE_OF_NUMBERS // tile_bytes)
