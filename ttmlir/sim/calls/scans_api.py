"""The calls of the MATH thread that go down the rows of tiles in DST, and dropout.

Sums and averages keep a number for each column in registers of the vector unit, where they stay
from call to call, so that the next tile goes on where one ends. Source: tt-llk,
ckernel_sfpu_{cumsum,ema,dropout,reshuffle_rows,max_pool_indices}.h.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.optable.kernel import find_row
from ttmlir.sim.calls.columns_api import ColumnsApi
from ttmlir.sim.calls.compute_api import ComputeSettings, Template
from ttmlir.sim.calls.declaration import kernel_call
from ttmlir.sim.execution.thread import KernelThread
from ttmlir.sim.machine.core import Core
from ttmlir.sim.machine.numerics import faces_of_rows, rows_of_faces, store_vector
from ttmlir.sim.options import SimOptions

Array = NDArray[Any]

_ROWS = 32
_MOST_REDUCED = 9
"""Rows that `max_reduce_with_indices` can reduce."""
_LIST_START = 16
"""Where in a page a list of rows begins, in bytes."""


class ScansApi(ColumnsApi):
    """Calls in which a row depends on those before it, or on numbers that are drawn."""

    def __init__(
        self, core: Core, thread: KernelThread, options: SimOptions, settings: ComputeSettings
    ) -> None:
        """Nothing is summed yet."""
        super().__init__(core, thread, options, settings)
        self._sums = np.zeros(_ROWS, np.float32)
        self._averages = np.zeros(_ROWS, np.float32)
        self._weights = np.zeros(2, np.float32)

    def _put_rows(self, index: int, rows: Array) -> None:
        """Store the rows of a tile, rounded to what DST holds."""
        values = rows if self.exact else store_vector(rows, self.dst.register)
        self.tile(index, "write")[:] = faces_of_rows(values)

    def _begin(self, call: str) -> None:
        self.check_vector_prepared(find_row(call))
        self.spend(find_row(call).cost.math)

    @kernel_call()
    def cumsum_tile(self, dst: int, first: int = 1) -> None:
        """Sums down each column."""
        self._begin("cumsum_tile")
        rows = np.array(rows_of_faces(self.tile(dst)))
        if not first:
            rows[0] += self._sums
        sums = np.add.accumulate(rows, axis=0, dtype=np.float32)
        self._sums = sums[-1].copy()
        self._put_rows(dst, sums)

    @kernel_call()
    def ema_init(self, alpha: int, beta: int) -> None:
        """Note how much the row before counts, and how much a row itself."""
        self.prepare_vector("ema_init")
        self._weights = np.array([alpha, beta], np.uint32).view(np.float32)

    @kernel_call()
    def ema_clear_previous_output(self) -> None:
        """Go on from zeros."""
        self._begin("ema_clear_previous_output")
        self._averages = np.zeros(_ROWS, np.float32)

    @kernel_call()
    def ema_tile(self, dst: int) -> None:
        """Averages down each column, into the next tile."""
        self._begin("ema_tile")
        alpha, beta = self._weights
        rows = np.array(rows_of_faces(self.tile(dst)))
        average = self._averages
        for row in rows:
            average = row[:] = alpha * average + beta * row
        self._averages = average.copy()
        self._put_rows(dst + 1, rows)

    @kernel_call()
    def dropout_kernel_init(self, seed: int = 0) -> None:
        """Start the generator of random numbers; its numbers are not those of the chip."""
        self._random = np.random.default_rng(seed & 0xFFFF_FFFF)
        self.prepare_vector("dropout_kernel_init")

    @kernel_call()
    def dropout_tile(self, dst: int, probability: int, scale: int) -> None:
        """Zeros in the case of a probability, else x times a number."""
        self._begin("dropout_tile")
        drawn = self._random.integers(0, 1 << 31, (_ROWS, _ROWS))
        factor = np.uint32(scale & 0xFFFF_FFFF).view(np.float32)
        rows = rows_of_faces(self.tile(dst)) * factor
        self._put_rows(dst, np.where(drawn < probability, np.float32(0), rows))

    @kernel_call()
    def reshuffle_rows_tile(self, dst: int, address: int) -> None:
        """Add rows to those of the next tile that a list in L1 names."""
        self._begin("reshuffle_rows_tile")
        rows = rows_of_faces(self.tile(dst))
        target = np.array(rows_of_faces(self.tile(dst + 1)))
        for number in range(_ROWS):
            place = self.load(address + _LIST_START + number, 1, False)
            if place < _ROWS:
                sums = target[place] + rows[number]
                target[place] = sums if self.exact else store_vector(sums, self.dst.register)
        self._put_rows(dst + 1, target)

    @kernel_call()
    def max_reduce_with_indices(
        self, dst: int, indices: int, chunk: int = 0, *, template: Template = ()
    ) -> None:
        """The largest of the first rows of each column, and what goes with it, into row 0."""
        self._begin("max_reduce_with_indices")
        numbers = [int(each) for each in template]
        count, by_rows, *more = (*numbers, *(_MOST_REDUCED, 0, 0)[len(numbers) :])
        if not 1 <= count <= _MOST_REDUCED:
            raise self.thread.error(
                f"max_reduce_with_indices of {count} rows; it takes 1 to {_MOST_REDUCED}",
                rule="arguments",
            )
        if chunk or (more[1:] and more[0] == 1):
            raise self.thread.error(
                "max_reduce_with_indices that goes on from other calls is not modelled; reduce "
                f"at most {_MOST_REDUCED} rows in one call",
                rule="arguments",
            )
        tiles = [self.tile(each, "write") for each in (dst, indices)]
        rows = [_read_rows(each, by_rows=bool(by_rows)) for each in tiles]
        places = np.argmax(rows[0][:count], axis=0)
        for tile, each in zip(tiles, rows, strict=True):
            first = each.view(np.int32)
            first[0] = first[places, np.arange(_ROWS)]
            tile[:] = each.ravel() if by_rows else faces_of_rows(each)


def _read_rows(tile: Array, *, by_rows: bool) -> Array:
    """The rows of a tile, which stand one after another or in faces."""
    return np.array(tile.reshape(_ROWS, _ROWS) if by_rows else rows_of_faces(tile))
