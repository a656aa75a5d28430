"""How the unpacker reads tiles: bytes in L1 become what the matrix unit computes with.

The same tile is read many times in a matrix product, so what was made of it is kept with the tile
(`Memory.tiles`) until its bytes are written, for all memories that it was copied to.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.layout.enums import DataType
from ttmlir.sim.machine import numerics
from ttmlir.sim.machine.memory import Memory, Tile
from ttmlir.sim.machine.numerics import K_STEP, Factor, Register, faces_of_rows, rows_of_faces
from ttmlir.sim.timing.costs import tile_bytes

Array = NDArray[Any]


class Arrangement(IntEnum):
    """Where the numbers of a tile go on the way to a source register."""

    PLAIN = 0
    TRANSPOSED = 1
    COLUMN = 2
    """Column 0 in all columns."""
    ROW = 3
    """Row 0 in all rows."""
    SCALAR = 4
    """The first number everywhere."""


ARRANGEMENT = 7
"""The bits of a form that are the arrangement; the others are the use."""


class Use(IntEnum):
    """What a tile in a source register is for."""

    NUMBERS = 0
    """Its numbers, to be copied or combined with others: float32 or int32, in memory order."""
    FACTOR_A = 8
    """The second factor of a matrix product."""
    FACTOR_B = 16
    """The first factor of a matrix product."""
    OPERANDS = 32
    """As NUMBERS, but without the denormal numbers of FP16, which the matrix unit takes for 0."""
    SCALER = 24
    """The factors of a reduction: the first row of the first face."""


_FACTORS = frozenset({Use.FACTOR_A, Use.FACTOR_B, Use.SCALER})
_KEPT_FACTORS = 2048
"""Factors that are kept for all cores, each of 20 KiB; the oldest go."""


class TileReader:
    """Reads tiles of one format from the L1 of one core."""

    __slots__ = ("_data_type", "_exact", "_memory", "_register", "_values", "_variant", "size")

    def __init__(
        self, memory: Memory, data_type: DataType, register: Register, *, exact: bool
    ) -> None:
        """Tiles stored as `data_type` for source registers of format `register`.

        `exact` keeps all bits of the numbers instead.
        """
        self._memory = memory
        self._data_type = data_type
        self._register = register
        self._exact = exact
        self._values = _reader(data_type, register, exact=exact)
        self._variant = (data_type << 3 | register.value) << 6
        self.size = tile_bytes(data_type)

    def read(self, address: int, form: int) -> Any:
        """The tile at an address, for a use in an arrangement: `Use.NUMBERS + Arrangement.ROW`."""
        tile = self._memory.tiles.get(address)
        if tile is None or tile.size != self.size:
            self._memory.ensure(address, self.size)
            tile = Tile(self.size)
            self._memory.hold(address, tile)
        key = self._variant | form
        value = tile.values.get(key)
        if value is None:
            data = self._memory.data[address : address + self.size]
            value = tile.values[key] = self._decode_once(data, form)
        return value

    def _decode_once(self, data: Array, form: int) -> Any:
        """What `decode` gives, which many cores ask for of copies of the same tile.

        Factors take longer to make than to find by the bytes of their tile.
        """
        if self._exact or form & ~ARRANGEMENT not in _FACTORS:
            return self.decode(data, form)
        factors = self._memory.factors
        key = self._variant | form, data.tobytes()
        value = factors.get(key)
        if value is None:
            value = self.decode(data, form)
            if len(factors) >= _KEPT_FACTORS:
                del factors[next(iter(factors))]
            factors[key] = value
        return value

    def decode(self, data: Array, form: int) -> Any:
        """What `read` gives for a tile of these bytes; shares no memory with them."""
        values = self._values(data)
        return self.arrange(values, form) if form else values

    def arrange(self, values: Array, form: int) -> Any:
        """Numbers of a source register, in the order of memory, for a use in an arrangement."""
        arrangement = form & ARRANGEMENT
        if arrangement:
            values = faces_of_rows(_arrange(rows_of_faces(values), arrangement))
        match form & ~ARRANGEMENT:
            case Use.NUMBERS:
                return values
            case Use.OPERANDS:
                return numerics.operand(values, self._register).astype(np.float32)
            case Use.FACTOR_A:
                return self._factor(values, numerics.factor_a)
            case Use.FACTOR_B:
                return self._factor(values, numerics.factor_b)
            case _:
                rows = np.zeros((32, 32), values.dtype)
                rows[0] = np.tile(values[:K_STEP], 2)
                return self._factor(faces_of_rows(rows), numerics.factor_b)

    def _factor(self, values: Array, factor: Callable[[Array], Factor]) -> Any:
        if self._exact or self._register is Register.INTEGER:
            return rows_of_faces(values)
        return factor(rows_of_faces(numerics.operand(values, self._register)))


def _reader(data_type: DataType, register: Register, *, exact: bool) -> Callable[[Array], Array]:
    """A function of the bytes of a tile: its numbers in a source register, copied."""
    if exact:
        return numerics.ieee_reader(data_type)
    stored = numerics.l1_reader(data_type)
    if data_type is not DataType.F32:
        return stored
    if register is Register.FP32:
        return lambda data: stored(data).copy()
    return lambda data: numerics.to_source(stored(data), register)


def _arrange(rows: Array, arrangement: int) -> Array:
    match arrangement:
        case Arrangement.TRANSPOSED:
            return rows.T
        case Arrangement.COLUMN:
            part = rows[:, :1]
        case Arrangement.ROW:
            part = rows[:1]
        case _:
            part = rows[:1, :1]
    return np.broadcast_to(part, rows.shape)
