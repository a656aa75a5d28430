"""Loading tiles whose elements are anywhere in other tiles (`d2m.view_elements`).

A tile is gathered in pieces of 16 elements, the rows of its faces. What is 16 neighbours of a face
in memory, at a place with the same alignment, is one transaction; so are rows of a face that follow
each other there. All else goes through a bounce buffer. Of rows that are moved sideways, the faces
that they are in are read; of elements in few faces, these (`d2m.Box`), unless the tile before had
them, too; of other pieces the units of memory that hold the elements, the first and the last of
neighbours or one for each element. Neighbours are then copied by words, all others one by one. What
is beyond the shape of the view is 0: such a tile is cleared before, by copies of some zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.gathered import FACE, FACES, TILE_OF_NUMBERS, has_parts
from ttmlir.dialects.tt.layout import element_of
from ttmlir.dialects.ttcore import DeviceLayout, device_layout_of
from ttmlir.ir.kernel_builder import KernelBuilder, Number
from ttmlir.layout.affine import (
    AffineExpr,
    AffineMap,
    LinearForm,
    as_expr,
    constant,
    dim,
    dims,
    linear_form,
)
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import TILE
from ttmlir.passes.d2m.kernels.block_copy import (
    BytesSomewhere,
    Place,
    TileAddresses,
    evaluate,
)

_WORD = 4
_PARTS = 16
"""So many parts of a tile are cleared one after the other, by copies of one that is 0."""


@dataclass(frozen=True)
class _Source:
    """Where an element of the view is, by the tile, and the row, the face and the place in it."""

    place: tuple[LinearForm, ...]
    """What tells the tile of the buffer, from its address on."""
    unit: LinearForm
    """The number of the unit in the tile."""
    lane: LinearForm
    """The number of the element in the unit."""

    def follows(self, position: int) -> bool:
        """True if the unit depends on a dimension."""
        return any(position in form.used_dims() for form in (*self.place, self.unit))


class GatheredTiles(TileAddresses):
    """The tiles of a view on elements."""

    def __init__(
        self,
        kernel: KernelBuilder,
        view: d2m.Gather,
        below: BytesSomewhere,
        alignment: int,
        bounce: SSAValue,
    ) -> None:
        """`alignment`: of reads from the buffer; `bounce`: a circular buffer of `bounce_tiles`.

        LayoutError for elements that share bytes.
        """
        layout = device_layout_of(view.results[0].type)
        source = device_layout_of(view.input.type)
        assert layout is not None, "views have layouts"
        assert source is not None, "buffers have layouts"
        self._view, self._below, self._bounce = view, below, bounce
        self._bytes = _element_bytes(layout)
        self._unit = max(FACE, alignment // self._bytes)
        places = self._places = d2m.GatherPlaces(view)
        self._form = places.form
        rank = self._rank = places.rank
        self.place = Place(AffineMap(2 * rank, 0, dims(2 * rank)[rank:]))
        self._row, self._face, self._lane = places.row, places.face, places.lane
        self._number, self._extents = places.number, places.extents
        self._elements, self._in_view = places.elements, places.in_view
        self._named = places.named
        self._box = places.box(self._bytes)
        self._source = self._find(source)
        follows = places.follows_columns
        self._is_aligned = places.is_in_pieces and self._compare()
        self._first = self._find_first() if follows else None
        """The place in a face where each piece begins, if all begin at the same."""
        self._is_run = self._unit == FACE and follows
        self._unit_bytes = self._unit * self._bytes
        self._units = 2 if self._is_run else FACE
        self._slots = TILE * TILE // self._unit
        self._slots_at = 0
        """Where the units that are read begin in the bounce buffer."""
        self._held = None if self._box is None else kernel.variables(1)
        """The number of the box that is in the bounce buffer, if there are several."""
        if self._held is not None:
            self._held.store(0, -1)
        self._zeros = kernel.variables(1) if has_parts(view) else None
        """Where there are zeros to copy; 0 before anything was cleared."""
        if self._zeros is not None:
            self._zeros.store(0, 0)
        if not self._is_aligned or isinstance(view, d2m.ViewNumberedOp) or self._zeros is not None:
            kernel.call("cb_reserve_back", bounce, d2m.bounce_tiles(view))

    def _find_first(self) -> int | None:
        column = self._form(self._elements[-1])
        factors = (f for term, f in column.factors.items() if term != dim(self._lane))
        return None if any(factor % FACE for factor in factors) else column.offset % FACE

    def _find(self, layout: DeviceLayout) -> _Source:
        """The places of elements."""
        places, inside = self._find_in(self._below, layout, self._elements)
        return _Source(
            tuple(self._form(each) for each in places),
            self._form(inside // self._unit),
            self._form(inside % self._unit),
        )

    def _find_in(
        self, below: BytesSomewhere, layout: DeviceLayout, element: Sequence[AffineExpr]
    ) -> tuple[Sequence[AffineExpr], AffineExpr]:
        """What tells the tile of an element of a buffer, and the number of the element in it."""
        *before, y, x = element
        grid = (constant(0) for _ in layout.grid_shape)
        tile = AffineMap(len(self._extents), 0, (*grid, *before, y // TILE, x // TILE))
        inside = _place_in_tile(y % TILE, x % TILE)
        return below.place.results.compose(tile).results, inside

    def _compare(self) -> bool:
        """True if pieces are neighbours in memory, aligned as they are in the tile."""
        inside = _place_in_tile(dim(self._row), dim(self._face) * FACE + dim(self._lane))
        lane = self._form(inside % self._unit)
        return lane == self._source.lane and not self._source.follows(self._lane)

    # --- Code ----------------------------------------------------------------------------------

    def read(
        self, kernel: KernelBuilder, place: Sequence[Number], address: Number, tiles: int
    ) -> None:
        """Gather a tile."""
        self._gather(kernel, dict(enumerate(place)), address)

    def _clear(self, kernel: KernelBuilder, known: Mapping[int, Number], address: Number) -> None:
        """Let a tile be 0, if some of it is beyond the view."""
        zeros = self._zeros
        if zeros is None:
            return
        whole = [
            kernel.compare("sle", kernel.value(kernel.multiply(known[at], TILE)), extent - TILE)
            for at, extent in zip(
                (self._rank - 2, self._rank - 1), self._view.shape[-2:], strict=True
            )
            if extent % TILE
        ]
        size = TILE * TILE * self._bytes // _PARTS

        def make() -> None:
            (start,) = kernel.call("get_write_ptr", self._bounce)
            end = d2m.bounce_tiles(self._view) * TILE * TILE * self._bytes
            place = kernel.value(kernel.add(start, end - size))
            pointer = kernel.pointer(place)
            kernel.count(size // _WORD, lambda word: kernel.call("store_to_l1", 0, pointer, word))
            zeros.store(0, place)

        def clear() -> None:
            kernel.branch(kernel.compare("eq", zeros.load(0), 0), make)
            (source,) = kernel.call("get_local_noc_addr", zeros.load(0))

            def copy(part: SSAValue) -> None:
                target = kernel.add(address, kernel.multiply(part, size))
                kernel.call("noc_async_read", source, target, size)

            kernel.count(_PARTS, copy)
            kernel.call("noc_async_read_barrier")

        is_whole = whole[0] if len(whole) == 1 else kernel.arithmetic(arith.AndIOp, *whole)
        kernel.branch(is_whole, lambda: None, clear)

    def _gather(self, kernel: KernelBuilder, known: Mapping[int, Number], address: Number) -> None:
        self._clear(kernel, known, address)
        if self._is_aligned and self._places.follows_rows:
            self._each_face(kernel, known, address, self._read_face)
            return
        if self._first is not None and self._places.follows_rows:
            self._each_face(kernel, known, address, self._shift_face)
            return
        if self._is_aligned:
            self._each_piece(
                kernel,
                known,
                (0, TILE),
                lambda at, _: self._read_aligned(kernel, at, self._target(kernel, at, address)),
            )
            return
        (start,) = kernel.call("get_write_ptr", self._bounce)
        base = kernel.value(kernel.add(start, self._slots_at))
        if self._box is not None:
            self._gather_from_box(kernel, self._box, known, (base, address))
            return
        rows = max(1, self._slots // (self._units * FACES))

        def on_rows(batch: SSAValue) -> None:
            first = kernel.multiply(batch, rows)
            self._each_piece(
                kernel,
                known,
                (first, rows),
                lambda at, slot: self._read_units(kernel, at, self._slot(kernel, base, slot)),
            )
            kernel.call("noc_async_read_barrier")
            self._each_piece(
                kernel,
                known,
                (first, rows),
                lambda at, slot: self._copy(
                    kernel,
                    at,
                    self._slot(kernel, base, slot),
                    self._target(kernel, at, address),
                ),
            )

        kernel.count(TILE // rows, on_rows)

    def _gather_from_box(
        self,
        kernel: KernelBuilder,
        box: d2m.Box,
        known: Mapping[int, Number],
        addresses: tuple[Number, Number],
    ) -> None:
        """Copy the elements of a tile from the faces that all of them are in.

        `addresses` are those of the faces, which are read unless they are there, and of the tile.
        """
        base, address = addresses
        first: list[Number] = []
        number: Number = 0
        for side in box.sides:
            first.append(evaluate(kernel, side.first, known))
            number = kernel.add(kernel.multiply(number, side.extent), first[-1])
        held = self._held
        assert held is not None, "boxes have numbers"

        def read() -> None:
            self._read_box(kernel, box, first, base)
            held.store(0, number)

        kernel.branch(kernel.compare("ne", held.load(0), number), read)

        def copy(at: dict[int, Number], _: Number) -> None:
            target = self._target(kernel, at, address)
            elements = self._elements_of(kernel, at)
            start, place_of = elements.place(box.element)
            source = kernel.add(base, kernel.multiply(start, self._bytes))
            self._copy_each(kernel, elements, (source, target), place_of)

        self._each_piece(kernel, known, (0, TILE), copy)

    def _read_box(
        self, kernel: KernelBuilder, box: d2m.Box, first: Sequence[Number], base: Number
    ) -> None:
        """Read its faces, and wait for them."""
        layout = device_layout_of(self._view.input.type)
        assert layout is not None, "buffers have layouts"
        rank = len(box.sides)
        *before, x, y = dims(rank)
        grid = (constant(0) for _ in layout.grid_shape)
        tile = AffineMap(rank, 0, (*grid, *before, y // FACES, x // FACES))
        extents = (*layout.shard_shape[:-2], *(FACES * n for n in layout.shard_shape[:-3:-1]))
        places = [
            linear_form(expr, extents) for expr in self._below.place.results.compose(tile).results
        ]
        size = FACE * FACE * self._bytes
        inside = linear_form((y % FACES * FACES + x % FACES) * size, extents)
        runs = self._below.place.runs
        assert runs is not None, "buffers of bytes have neighbours"

        def read(target: Number, face: Sequence[Number]) -> None:
            known = dict(enumerate(face))
            place: list[Number] = [evaluate(kernel, form, known) for form in places]
            place[runs] = kernel.add(place[runs], evaluate(kernel, inside, known))
            kernel.call("noc_async_read", self._below.network_address(kernel, place), target, size)

        def along(number: int, target: Number, face: Sequence[Number]) -> None:
            if number == rank:
                read(target, face)
                return
            side = box.sides[number]
            stride = size * math.prod(each.count for each in box.sides[number + 1 :])

            def on_face(index: Number) -> None:
                at = kernel.add(first[number], index)
                if side.may_leave:
                    at = self._smaller(kernel, at, side.extent - 1)
                along(number + 1, kernel.add(target, kernel.multiply(index, stride)), [*face, at])

            if side.count == 1:
                on_face(0)
            else:
                kernel.count(side.count, on_face)

        along(0, base, [])
        kernel.call("noc_async_read_barrier")

    def _elements_of(self, kernel: KernelBuilder, at: Mapping[int, Number]) -> _Elements:
        if self._lane not in self._named:
            at = self._name(kernel, at)
        changing = {self._lane} | ({self._number} - at.keys())
        return _Elements(kernel, at, changing, self._namer(kernel, at))

    def _copy_each(
        self,
        kernel: KernelBuilder,
        elements: _Elements,
        addresses: tuple[Number, Number],
        place_of: _PlaceOf,
    ) -> None:
        """Copy the elements of a piece, each from a place behind an address, to another one."""
        source, target = (self._pointer(kernel, address) for address in addresses)

        def copy(lane: SSAValue) -> None:
            place = place_of(elements.known({self._lane: lane}))
            (value,) = kernel.call("load_from_l1", source, place)
            kernel.call("store_to_l1", value, target, lane)

        kernel.count(kernel.add(self._last_lane(kernel, elements.at), 1), copy)

    def _namer(
        self, kernel: KernelBuilder, at: Mapping[int, Number]
    ) -> Callable[[Mapping[int, Number]], Mapping[int, Number]]:
        """What adds to the place of an element in a piece all else, the number included."""
        return lambda place: {**at, **place}

    def _each_face(
        self,
        kernel: KernelBuilder,
        known: Mapping[int, Number],
        address: Number,
        read: Callable[[KernelBuilder, dict[int, Number], Number], None],
    ) -> None:
        """Read each face of the view, whose rows follow each other in the buffer."""

        def on_row(face_row: SSAValue) -> None:
            def on_face(face: SSAValue) -> None:
                row = kernel.multiply(face_row, FACE)
                at: dict[int, Number] = {**known, self._row: row, self._face: face, self._lane: 0}
                target = self._target(kernel, at, address)
                condition = self._is_inside(kernel, at)
                if condition is None:
                    read(kernel, at, target)
                else:
                    kernel.branch(condition, lambda: read(kernel, at, target))

            kernel.count(FACES, on_face)

        kernel.count(FACES, on_row)

    def _read_face(self, kernel: KernelBuilder, at: dict[int, Number], target: Number) -> None:
        """Read the rows of a face, from one or two of the buffer."""
        piece = FACE * self._bytes
        count, first = self._rows_of_face(kernel, at)
        self._read(kernel, at, target, kernel.multiply(first, piece), with_lane=True)
        second = kernel.add(count, kernel.multiply(first, -1))

        def read_second() -> None:
            below = {**at, self._row: kernel.add(at[self._row], first)}
            after = kernel.add(target, kernel.multiply(first, piece))
            self._read(kernel, below, after, kernel.multiply(second, piece), with_lane=True)

        _if_positive(kernel, second, read_second)

    def _rows_of_face(
        self, kernel: KernelBuilder, at: Mapping[int, Number]
    ) -> tuple[Number, Number]:
        """How many rows of a face are in the view, and how many come from one face."""
        rows = self._view.shape[-2]
        count: Number = FACE
        if rows % FACE:
            row = evaluate(kernel, self._form(dim(self._rank - 2) * TILE + dim(self._row)), at)
            left = kernel.add(kernel.multiply(row, -1), rows)
            count = self._smaller(kernel, left, FACE)
        start = evaluate(kernel, self._form(self._elements[-2] % FACE), at)
        return count, self._smaller(kernel, count, kernel.add(kernel.multiply(start, -1), FACE))

    def _shift_face(self, kernel: KernelBuilder, at: dict[int, Number], target: Number) -> None:
        """Read the faces that the rows of one are in, side by side, and copy the rows."""
        assert self._first is not None, "rows begin at the same place"
        piece = FACE * self._bytes
        (base,) = kernel.call("get_write_ptr", self._bounce)
        right = kernel.value(kernel.add(base, TILE * TILE // 2 * self._bytes))
        count, first = self._rows_of_face(kernel, at)
        # Units may be of several rows: those in front of the first one are read, too.
        before = evaluate(kernel, self._form(self._elements[-2] % (self._unit // FACE)), at)
        last = self._last_lane(kernel, at)
        columns = [(base, 0), (right, last)] if self._first else [(base, 0)]
        held = kernel.add(first, before)
        second = kernel.add(count, kernel.multiply(first, -1))
        for half, lane in columns:
            there = {**at, self._lane: lane}
            self._read(kernel, there, half, kernel.multiply(held, piece))

        def read_second() -> None:
            for half, lane in columns:
                below = {**at, self._row: kernel.add(at[self._row], first), self._lane: lane}
                after = kernel.add(half, kernel.multiply(held, piece))
                self._read(kernel, below, after, kernel.multiply(second, piece))

        _if_positive(kernel, second, read_second)
        kernel.call("noc_async_read_barrier")
        skipped = kernel.multiply(before, piece)
        halves = [kernel.add(half, skipped) for half in (base, right)]

        def on_row(row: SSAValue) -> None:
            offset = kernel.multiply(row, piece)
            rows = [kernel.add(half, offset) for half in halves]
            to = kernel.add(target, offset)
            self._copy_run(kernel, (rows[0], rows[1]), to, last)

        kernel.count(count, on_row)

    def _last_lane(self, kernel: KernelBuilder, at: Mapping[int, Number]) -> Number:
        """The last place of a piece that is in the view."""
        columns = self._view.shape[-1]
        if not columns % FACE:
            return FACE - 1
        form = self._form(dim(self._rank - 1) * TILE + dim(self._face) * FACE)
        left = kernel.add(kernel.multiply(kernel.value(evaluate(kernel, form, at)), -1), columns)
        inside = kernel.compare("slt", left, FACE)
        return kernel.choose(inside, kernel.value(kernel.add(left, -1)), FACE - 1)

    def _copy_run(
        self,
        kernel: KernelBuilder,
        rows: tuple[Number, Number],
        target: Number,
        last: Number,
    ) -> None:
        """Copy a piece that begins in one row and goes on in another; clear what is after."""
        assert self._first is not None, "pieces begin at the same place"
        copy_row(kernel, rows, self._first * self._bytes, target, FACE * self._bytes)
        if isinstance(last, int):
            return
        after, pointer = kernel.add(last, 1), self._pointer(kernel, target)

        def clear(number: SSAValue) -> None:
            kernel.call("store_to_l1", 0, pointer, kernel.add(number, after))

        rest = kernel.add(kernel.multiply(last, -1), FACE - 1)
        _if_positive(kernel, rest, lambda: kernel.count(rest, clear))

    def _smaller(self, kernel: KernelBuilder, lhs: Number, rhs: Number) -> Number:
        if isinstance(lhs, int) and isinstance(rhs, int):
            return min(lhs, rhs)
        return kernel.choose(kernel.compare("slt", lhs, rhs), lhs, rhs)

    def _each_piece(
        self,
        kernel: KernelBuilder,
        known: Mapping[int, Number],
        rows: tuple[Number, int],
        inside: Callable[[dict[int, Number], Number], None],
    ) -> None:
        """Loops over the pieces of some rows that are in the view, with the number of each."""
        first, count = rows

        def on_row(row: SSAValue) -> None:
            def on_face(face: SSAValue) -> None:
                at = {**known, self._row: kernel.add(row, first), self._face: face}
                number = kernel.add(kernel.multiply(row, FACES), face)
                condition = self._is_inside(kernel, at)
                if condition is None:
                    inside(at, number)
                else:
                    kernel.branch(condition, lambda: inside(at, number))

            kernel.count(FACES, on_face)

        kernel.count(count, on_row)

    def write(
        self, kernel: KernelBuilder, place: Sequence[Number], address: Number, tiles: int
    ) -> None:
        """Refuse: a view on elements is read only."""
        raise LayoutError("writes to a view on elements; only inputs are gathered")

    def _target(self, kernel: KernelBuilder, at: Mapping[int, Number], address: Number) -> Number:
        """The address of a piece in the tile."""
        inside = _place_in_tile(dim(self._row), dim(self._face) * FACE)
        return kernel.add(address, evaluate(kernel, self._form(inside * self._bytes), at))

    def _slot(self, kernel: KernelBuilder, base: SSAValue, piece: Number) -> Number:
        """The address of the units of a piece in the bounce buffer."""
        return kernel.add(base, kernel.multiply(piece, self._units * self._unit_bytes))

    def _is_inside(self, kernel: KernelBuilder, at: Mapping[int, Number]) -> SSAValue | None:
        """Whether a piece has elements of the view; None if all have."""
        *_, rows, columns = self._view.shape
        conditions: list[SSAValue] = []
        row = self._form(dim(self._rank - 2) * TILE + dim(self._row))
        column = self._form(dim(self._rank - 1) * TILE + dim(self._face) * FACE)
        for form, extent, unit in ((row, rows, TILE), (column, columns, TILE)):
            if extent % unit:
                number = evaluate(kernel, form, at)
                conditions.append(kernel.compare("slt", number, extent))
        if not conditions:
            return None
        if len(conditions) == 1:
            return conditions[0]
        first, second = conditions
        return kernel.arithmetic(arith.AndIOp, first, second)

    def _name(self, kernel: KernelBuilder, at: Mapping[int, Number]) -> Mapping[int, Number]:
        """The place with the number that names the element, if there is one."""
        return at

    def _read_aligned(
        self, kernel: KernelBuilder, at: Mapping[int, Number], target: Number
    ) -> None:
        self._read(kernel, {**at, self._lane: 0}, target, FACE * self._bytes, with_lane=True)

    def _read_units(self, kernel: KernelBuilder, at: Mapping[int, Number], slot: Number) -> None:
        """Start to read the units of a piece: of its first and last element, or of each."""
        if not self._is_run:
            self._read_each(kernel, at, slot)
            return
        self._read(kernel, {**at, self._lane: 0}, slot, self._unit_bytes)
        last = self._last_lane(kernel, at)
        target = kernel.add(slot, self._unit_bytes)
        self._read(kernel, {**at, self._lane: last}, target, self._unit_bytes)

    def _copy(
        self, kernel: KernelBuilder, at: Mapping[int, Number], slot: Number, target: Number
    ) -> None:
        """Copy the elements of a piece from their units."""
        if self._is_run and self._first is not None:
            rows = slot, kernel.add(slot, self._unit_bytes)
            self._copy_run(kernel, rows, target, self._last_lane(kernel, at))
            return
        elements = self._elements_of(kernel, at)
        if self._is_run:
            start = self._name(kernel, {**at, self._lane: 0})
            first = kernel.multiply(evaluate(kernel, self._source.lane, start), self._bytes)
            addresses = kernel.add(slot, first), target
            self._copy_each(kernel, elements, addresses, lambda known: known[self._lane])
            return
        form = self._source.lane + LinearForm(0, {dim(self._lane): self._unit})
        first, place_of = elements.place(form)
        address = kernel.add(slot, kernel.multiply(first, self._bytes))
        self._copy_each(kernel, elements, (address, target), place_of)

    def _read_each(self, kernel: KernelBuilder, at: Mapping[int, Number], slot: Number) -> None:
        """Start to read the unit of each element of a piece."""
        elements = self._elements_of(kernel, at)
        byte = self._source.unit * (self._unit * self._bytes)
        runs = self._below.place.runs
        assert runs is not None, "buffers of bytes have neighbours"
        forms = list(self._source.place)
        forms[runs] = forms[runs] + byte
        places = [elements.place(form) for form in forms]

        def read_unit(lane: SSAValue) -> None:
            known = elements.known({self._lane: lane})
            place = [kernel.add(place_of(known), start) for start, place_of in places]
            source = self._below.network_address(kernel, place)
            target = kernel.add(slot, kernel.multiply(lane, self._unit_bytes))
            kernel.call("noc_async_read", source, target, self._unit_bytes)

        kernel.count(kernel.add(self._last_lane(kernel, at), 1), read_unit)

    def _read(
        self,
        kernel: KernelBuilder,
        at: Mapping[int, Number],
        target: Number,
        size: Number,
        *,
        with_lane: bool = False,
    ) -> None:
        """Start to read from the unit of an element."""
        at = self._name(kernel, at)
        place: list[Number] = [evaluate(kernel, form, at) for form in self._source.place]
        byte = evaluate(kernel, self._source.unit * (self._unit * self._bytes), at)
        if with_lane:
            byte = kernel.add(byte, evaluate(kernel, self._source.lane * self._bytes, at))
        runs = self._below.place.runs
        assert runs is not None, "buffers of bytes have neighbours"
        place[runs] = kernel.add(place[runs], byte)
        source = self._below.network_address(kernel, place)
        kernel.call("noc_async_read", source, target, size)

    # --- Elements in L1 ------------------------------------------------------------------------

    def _pointer(self, kernel: KernelBuilder, address: Number) -> SSAValue:
        return kernel.pointer(address, 8 * self._bytes)


_PlaceOf = Callable[[Mapping[int, Number]], Number]
"""The value of a sum, from that of each dimension."""


@dataclass(frozen=True)
class _Elements:
    """The elements of a piece: what their places have in common is computed once."""

    kernel: KernelBuilder
    at: Mapping[int, Number]
    """What is the same for all of them."""
    changing: Set[int]
    """The dimensions that are not."""
    known: Callable[[Mapping[int, Number]], Mapping[int, Number]]
    """All dimensions of an element, from that of the place in its piece."""

    def place(self, form: LinearForm) -> tuple[Number, _PlaceOf]:
        """What is the same for all elements, and what is to be added for each."""
        rest = {term: f for term, f in form.factors.items() if term.used_dims() & self.changing}
        fixed = {term: f for term, f in form.factors.items() if term not in rest}
        start = evaluate(self.kernel, LinearForm(form.offset, fixed), self.at)
        return start, lambda known: evaluate(self.kernel, LinearForm(0, rest), known)


def _if_positive(kernel: KernelBuilder, number: Number, body: Callable[[], None]) -> None:
    """Do something if a number is above 0."""
    if isinstance(number, SSAValue):
        kernel.branch(kernel.compare("sgt", number, 0), body)
    elif number > 0:
        body()


def _place_in_tile(row: AffineExpr, column: AffineExpr) -> AffineExpr:
    """The number of an element among those of a tile: faces follow each other."""
    face = row // FACE * FACES + column // FACE
    return as_expr(face * (FACE * FACE) + row % FACE * FACE + column % FACE)


def _element_bytes(layout: DeviceLayout) -> int:
    element = element_of(layout.element_type)
    size, rest = divmod(element.stored_bytes, math.prod((TILE, TILE)))
    if rest or size not in (1, 2, 4):
        raise LayoutError(
            f"gathers elements of '{layout.element_type}', which share bytes; convert the tensor "
            "by ttir.typecast to bf16 before it is moved"
        )
    return size


# --- Rows -----------------------------------------------------------------------------------------
# Copying rows of a face within L1 to where their elements stand elsewhere: by words, shifted.


_WORD_BYTES = 4
_BYTE_BITS = 8


def copy_row(
    kernel: KernelBuilder,
    rows: tuple[Number, Number],
    first_byte: int,
    target: Number,
    row_bytes: int,
) -> None:
    """Copy a row of bytes that begins in one row and goes on in another; all are at addresses."""
    pointers = [kernel.pointer(address) for address in rows]
    out = kernel.pointer(target)
    words = row_bytes // _WORD_BYTES
    start, rest = divmod(first_byte, _WORD_BYTES)

    def load(number: int) -> SSAValue:
        row, place = divmod(start + number, words)
        (word,) = kernel.call("load_from_l1", pointers[row], place)
        return word

    shift = rest * _BYTE_BITS
    word = load(0) if shift else None
    for number in range(words):
        if word is None:
            value = load(number)
        else:
            following = load(number + 1)
            low = kernel.arithmetic(arith.ShRUIOp, word, shift)
            high = kernel.arithmetic(arith.ShLIOp, following, _WORD_BYTES * _BYTE_BITS - shift)
            value = kernel.arithmetic(arith.OrIOp, low, high)
            word = following
        kernel.call("store_to_l1", value, out, number)


# --- Tiles by numbers -----------------------------------------------------------------------------
# Loading tiles whose elements numbers name (`d2m.view_numbered`).
#
# The numbers of a tile of the view are in one tile, which is read in front of it. Where one number
# names all elements, it is known from then on; else it is loaded for each piece of 16 elements, or
# for each element. A number never leads out of the buffer.


_NUMBER_BYTES = 4


class NumberedTiles(GatheredTiles):
    """The tiles of a view by numbers."""

    def __init__(
        self,
        kernel: KernelBuilder,
        view: d2m.ViewNumberedOp,
        belows: tuple[BytesSomewhere, BytesSomewhere],
        alignment: int,
        bounce: SSAValue,
    ) -> None:
        """`belows` are the buffer of the elements and that of the numbers.

        LayoutError if the numbers of a tile are not in one tile.
        """
        super().__init__(kernel, view, belows[0], alignment, bounce)
        self._numbers = belows[1]
        self._count = view.count
        self._slots_at = TILE_OF_NUMBERS
        layout = device_layout_of(view.numbers.type)
        assert layout is not None, "buffers have layouts"
        element = AffineMap(len(self._extents), 0, self._in_view)
        places, inside = self._find_in(self._numbers, layout, view.places.compose(element).results)
        self._tile_of_numbers = [self._form(each) for each in places]
        self._place_of_number = self._form(inside)
        if any(not self._named.isdisjoint(form.used_dims()) for form in self._tile_of_numbers):
            raise LayoutError(
                "a tile of a view by numbers takes them from several tiles; let the numbers be a "
                "row, a column or a tensor of the shape of the view"
            )

    def read(
        self, kernel: KernelBuilder, place: Sequence[Number], address: Number, tiles: int
    ) -> None:
        """Read the numbers of a tile, then its elements."""
        known: dict[int, Number] = dict(enumerate(place))
        (self._base,) = kernel.call("get_write_ptr", self._bounce)
        where = [evaluate(kernel, form, known) for form in self._tile_of_numbers]
        source = self._numbers.network_address(kernel, where)
        kernel.call("noc_async_read", source, self._base, self._slots_at)
        kernel.call("noc_async_read_barrier")
        if not self._named:
            known[self._number] = self._load(kernel, known)
        self._gather(kernel, known, address)

    def _name(self, kernel: KernelBuilder, at: Mapping[int, Number]) -> Mapping[int, Number]:
        if self._number in at:
            return at
        return {**at, self._number: self._load(kernel, at)}

    def _namer(
        self, kernel: KernelBuilder, at: Mapping[int, Number]
    ) -> Callable[[Mapping[int, Number]], Mapping[int, Number]]:
        if self._number in at:
            return super()._namer(kernel, at)
        elements = _Elements(kernel, at, {self._lane}, lambda place: {**at, **place})
        start, place_of = elements.place(self._place_of_number)
        address = kernel.add(self._base, kernel.multiply(start, _NUMBER_BYTES))
        pointer = kernel.pointer(address)

        def name(place: Mapping[int, Number]) -> Mapping[int, Number]:
            known = elements.known(place)
            (number,) = kernel.call("load_from_l1", pointer, place_of(known))
            return {**known, self._number: self._within(kernel, number)}

        return name

    def _load(self, kernel: KernelBuilder, at: Mapping[int, Number]) -> Number:
        """The number of an element, within the buffer."""
        place = evaluate(kernel, self._place_of_number, at)
        (number,) = kernel.call("load_from_l1", kernel.pointer(self._base), place)
        return self._within(kernel, number)

    def _within(self, kernel: KernelBuilder, number: SSAValue) -> Number:
        """A number, or the nearest one that is in the buffer."""
        least = kernel.choose(kernel.compare("sgt", number, 0), number, 0)
        most = self._count - 1
        return kernel.choose(kernel.compare("slt", least, most), least, most)
