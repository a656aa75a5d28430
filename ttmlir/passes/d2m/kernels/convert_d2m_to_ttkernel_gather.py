"""Loading tiles whose elements are anywhere in other tiles (`d2m.view_elements`).

A tile is gathered in pieces of 16 elements, the rows of its faces. What is 16 neighbours of a face
in memory, at a place with the same alignment, is one transaction. All else goes through a bounce
buffer: the units of memory that hold the elements are read, then each element is copied from its
unit. A piece or element beyond the shape of the view is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.tt.layout import element_of
from ttmlir.dialects.ttcore import DeviceLayout, device_layout_of
from ttmlir.ir.kernel_builder import KernelBuilder, Number
from ttmlir.layout.affine import AffineExpr, AffineMap, as_expr, constant, dim, dims
from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.linear_form import LinearForm, linear_form
from ttmlir.layout.metal.index_view import TILE
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel_arguments import KernelArguments
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel_chip import Chip
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel_movement import (
    BytesSomewhere,
    Place,
    TileAddresses,
    evaluate,
    tile_addresses,
    tile_bytes_of,
)
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel_plan import Stream

FACE = 16
"""Rows of a face, and columns."""
_FACES = TILE // FACE
_WORD = 4


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


def input_addresses(
    kernel: KernelBuilder, stream: Stream, arguments: KernelArguments, chip: Chip
) -> TileAddresses:
    """How to load the tiles of an input; LayoutError if kernels cannot."""
    view = stream.buffer.owner
    if not isinstance(view, d2m.ViewElementsOp):
        return tile_addresses(kernel, stream, arguments, chip)
    if stream.bounce is None:
        raise LayoutError(
            f"operand #{stream.number} is gathered, and there is no memory to do it in; run "
            "ttcore-one-shot-bufferize before"
        )
    layout = device_layout_of(view.input.type)
    if layout is None or layout.index_map is not None:
        raise LayoutError("a view on elements is made of a buffer, not of another view")
    is_dram = layout.memory_space is MemorySpace.DEVICE_DRAM
    below = tile_bytes_of(layout, arguments.address(stream.number), chip)
    alignment = chip.dram_alignment if is_dram else chip.l1_alignment
    return GatheredTiles(kernel, view, below, alignment, kernel.buffers[stream.bounce])


class GatheredTiles(TileAddresses):
    """The tiles of a view on elements."""

    def __init__(
        self,
        kernel: KernelBuilder,
        view: d2m.ViewElementsOp,
        below: BytesSomewhere,
        alignment: int,
        bounce: SSAValue,
    ) -> None:
        """`alignment`: of reads from the buffer; `bounce`: a circular buffer of one tile.

        LayoutError for elements that share bytes.
        """
        layout = device_layout_of(view.results[0].type)
        source = device_layout_of(view.input.type)
        assert layout is not None, "views have layouts"
        assert source is not None, "buffers have layouts"
        self._view, self._below, self._bounce = view, below, bounce
        self._bytes = _element_bytes(layout)
        self._unit = max(FACE, alignment // self._bytes)
        rank = len(view.shape)
        places = dims(2 * rank)[rank:]
        self.place = Place(AffineMap(2 * rank, 0, places))
        self._rank = rank
        # Behind the dimensions of the tile: its row, the face's column, the place in the face.
        self._row, self._face, self._lane = rank, rank + 1, rank + 2
        outer = layout.shard_shape
        self._extents = (*outer, TILE, _FACES, FACE)
        self._source = self._find(source)
        self._is_aligned = self._compare()
        if not self._is_aligned:
            kernel.call("cb_reserve_back", bounce, 1)

    def _find(self, layout: DeviceLayout) -> _Source:
        """The places of elements."""
        rank, view = self._rank, self._view
        *outer, rows, columns = dims(rank)
        row = rows * TILE + dim(self._row)
        column = columns * TILE + dim(self._face) * FACE + dim(self._lane)
        # What is computed is what is inside of the view.
        element = view.map.compose(AffineMap(rank + 3, 0, (*outer, row, column)))
        *before, y, x = element.results
        tile = AffineMap(
            rank + 3,
            0,
            (*(constant(0) for _ in layout.grid_shape), *before, y // TILE, x // TILE),
        )
        places = self._below.place.results.compose(tile).results
        inside = _place_in_tile(y % TILE, x % TILE)
        return _Source(
            tuple(self._form(each) for each in places),
            self._form(inside // self._unit),
            self._form(inside % self._unit),
        )

    def _form(self, expr: AffineExpr) -> LinearForm:
        return linear_form(expr, self._extents)

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
        known: dict[int, Number] = dict(enumerate(place))

        def on_row(row: SSAValue) -> None:
            def on_face(face: SSAValue) -> None:
                at = {**known, self._row: row, self._face: face}
                target = kernel.add(address, self._piece(kernel, row, face))
                inside = self._is_inside(kernel, at)
                if inside is None:
                    self._read_piece(kernel, at, target)
                else:
                    kernel.branch(
                        inside,
                        lambda: self._read_piece(kernel, at, target),
                        lambda: self._clear(kernel, target),
                    )

            kernel.count(_FACES, on_face)

        kernel.count(TILE, on_row)

    def write(
        self, kernel: KernelBuilder, place: Sequence[Number], address: Number, tiles: int
    ) -> None:
        """Refuse: a view on elements is read only."""
        raise LayoutError("writes to a view on elements; only inputs are gathered")

    def _piece(self, kernel: KernelBuilder, row: SSAValue, face: SSAValue) -> Number:
        """The byte of a piece in its tile."""
        inside = _place_in_tile(dim(self._row), dim(self._face) * FACE)
        form = self._form(inside * self._bytes)
        return evaluate(kernel, form, {self._row: row, self._face: face})

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

    def _read_piece(self, kernel: KernelBuilder, at: dict[int, Number], target: Number) -> None:
        size = FACE * self._bytes
        if self._is_aligned:
            self._read(kernel, {**at, self._lane: 0}, target, size, with_lane=True)
            return
        unit_bytes = self._unit * self._bytes
        (base,) = kernel.call("get_write_ptr", self._bounce)

        def read_unit(lane: SSAValue) -> None:
            slot = kernel.add(base, kernel.multiply(lane, unit_bytes))
            self._read(kernel, {**at, self._lane: lane}, slot, unit_bytes)

        def copy(lane: SSAValue) -> None:
            place = evaluate(kernel, self._source.lane, {**at, self._lane: lane})
            slot = kernel.add(kernel.multiply(lane, unit_bytes // self._bytes), place)
            self._copy_element(kernel, (base, slot), (target, lane))

        def clear(lane: SSAValue) -> None:
            self._store(kernel, 0, (target, lane))

        self._each_element(kernel, at, read_unit, lambda lane: None)
        kernel.call("noc_async_read_barrier")
        self._each_element(kernel, at, copy, clear)

    def _each_element(
        self,
        kernel: KernelBuilder,
        at: Mapping[int, Number],
        inside: Callable[[SSAValue], None],
        outside: Callable[[SSAValue], None],
    ) -> None:
        """Loop over the elements of a piece."""
        columns = self._view.shape[-1]
        form = self._form(dim(self._rank - 1) * TILE + dim(self._face) * FACE + dim(self._lane))

        def on_element(lane: SSAValue) -> None:
            if not columns % FACE:
                inside(lane)
                return
            number = evaluate(kernel, form, {**at, self._lane: lane})
            condition = kernel.compare("slt", number, columns)
            kernel.branch(condition, lambda: inside(lane), lambda: outside(lane))

        kernel.count(FACE, on_element)

    def _read(
        self,
        kernel: KernelBuilder,
        at: Mapping[int, Number],
        target: Number,
        size: int,
        *,
        with_lane: bool = False,
    ) -> None:
        """Start to read from the unit of an element."""
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

    def _copy_element(
        self,
        kernel: KernelBuilder,
        source: tuple[Number, Number],
        target: tuple[Number, Number],
    ) -> None:
        pointer = self._pointer(kernel, source[0])
        (value,) = kernel.call("load_from_l1", pointer, source[1])
        self._store(kernel, value, target)

    def _store(self, kernel: KernelBuilder, value: Number, target: tuple[Number, Number]) -> None:
        pointer = self._pointer(kernel, target[0])
        kernel.call("store_to_l1", value, pointer, target[1])

    def _clear(self, kernel: KernelBuilder, target: Number) -> None:
        """Let a piece be 0."""
        pointer = kernel.pointer(target)

        def clear(word: SSAValue) -> None:
            kernel.call("store_to_l1", 0, pointer, word)

        kernel.count(FACE * self._bytes // _WORD, clear)


def _place_in_tile(row: AffineExpr, column: AffineExpr) -> AffineExpr:
    """The number of an element among those of a tile: faces follow each other."""
    face = row // FACE * _FACES + column // FACE
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
