"""Numbers of tiles in circular buffers as text: `DPRINT << TileSlice(...)`.

Source: tt-metal, debug/dprint_tile.h.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ttmlir.optable.kernel.cpp_calls.printing import RANGES
from ttmlir.sim.errors import SimError
from ttmlir.sim.machine import numerics
from ttmlir.sim.machine.circular_buffer import CircularBuffer
from ttmlir.sim.machine.memory import Memory
from ttmlir.sim.machine.tile_formats import TILE_BYTES

READ_POINTER, WRITE_POINTER = 4, 5
"""Numbers of TSLICE_RD_PTR and TSLICE_WR_PTR, which differ from those of flags here."""


@dataclass(frozen=True)
class SliceRange:
    """Rows and columns of a tile: first, end and step of each."""

    h0: int = 0
    h1: int = 0
    hs: int = 1
    w0: int = 0
    w1: int = 0
    ws: int = 1

    @staticmethod
    def named(name: str) -> SliceRange:
        """One that has a name."""
        return SliceRange(*RANGES[name])

    def rows(self) -> range:
        """The rows, of the 32 that there are."""
        return range(self.h0, min(self.h1, 32), max(self.hs, 1))

    def columns(self) -> range:
        """The columns, of the 32 that there are."""
        return range(self.w0, min(self.w1, 32), max(self.ws, 1))


def show_tile(
    memory: Memory,
    cb: CircularBuffer,
    address: int,
    chosen: SliceRange,
    max_bytes: int,
    *,
    line_ends: bool,
    untilized: bool,
) -> str:
    """The chosen numbers of the tile at an address, one row in a line."""
    size = TILE_BYTES[cb.data_format]
    if address + size > cb.limit:
        raise SimError(
            f"TileSlice of a tile behind the end of circular buffer {cb.index}", rule="cb-bounds"
        )
    data = np.frombuffer(bytes(memory.read(address, size)), np.uint8)
    values: Any = numerics.ieee_reader(cb.data_format)(data).reshape(32, 32)
    if untilized:
        values = numerics.rows_of_faces(values.reshape(-1))
    left = max_bytes // (size // 1024 or 1)
    show: Callable[[Any], str] = str if cb.data_format in numerics.INTEGERS else _show_float
    lines: list[str] = []
    for row in chosen.rows():
        numbers = [values[row, column] for column in chosen.columns()][:left]
        left -= len(numbers)
        lines.append("".join(f"{show(number)} " for number in numbers))
        if left <= 0:
            lines[-1] += f"<cut off after {max_bytes} bytes>"
            break
    return ("\n" if line_ends else "").join(lines) + ("\n" if line_ends else "")


def _show_float(value: float) -> str:
    return f"{float(value):g}"
