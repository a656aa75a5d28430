"""The calls of the MATH thread on columns of tiles in DST: sorting, and running statistics.

Sorting: tiles 0 and 1 of DST hold values, 2 and 3 what goes with them, such as indices. Column c of
tile 0 and that of tile 1 below it are 64 places; the 32 columns do not mix. Statistics: mean and
sum of squared deviations of each column, in registers of the vector unit, where they stay from
call to call. Where such a register is stored as it is, its 32 lanes are 4 rows of 8: columns 0, 2
... 14 of a tile, columns 1, 3 ... 15, columns 16, 18 ... 30 and columns 17, 19 ... 31; a row of
lanes takes every second place of the first half of a row of the tile. Source: tt-llk,
ckernel_sfpu_{topk,welfords}.h.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.optable.kernel import find_row
from ttmlir.sim.calls.compute_api import ComputeSettings, Template
from ttmlir.sim.calls.declaration import kernel_call
from ttmlir.sim.calls.vector_api import VectorApi
from ttmlir.sim.execution.thread import KernelThread
from ttmlir.sim.machine.core import Core
from ttmlir.sim.machine.numerics import faces_of_rows, rows_of_faces, store_vector
from ttmlir.sim.options import SimOptions

Array = NDArray[Any]

Table = list[int] | tuple[int, int]
"""A table of the kernel's own; or the address of one in memory, and how many words it has."""

_PLACES = 64
"""Places of a column in two tiles."""

_LANES = np.concatenate([np.arange(start, start + 16, 2) for start in (0, 1, 16, 17)])
"""The column of each lane of a register that holds a row."""


class ColumnsApi(VectorApi):
    """Calls that treat the columns of tiles in DST apart."""

    def __init__(
        self, core: Core, thread: KernelThread, options: SimOptions, settings: ComputeSettings
    ) -> None:
        """No statistics yet."""
        super().__init__(core, thread, options, settings)
        self._mean = np.zeros(32, np.float32)
        self._squares = np.zeros(32, np.float32)

    # --- Sorting --------------------------------------------------------------------------------

    @kernel_call()
    def topk_local_sort(
        self,
        dst: int,
        direction: int,
        end_phase: int,
        start_phase: int = 0,
        end_step: int = 0,
        start_step: int = 0,
        *,
        template: Template = (),
    ) -> None:
        """Phases of a bitonic sort: phase p makes runs of 2^(p+1), falling and rising in turn."""
        columns = self._load_columns("topk_local_sort", dst, stable=bool(template and template[0]))
        for phase in range(start_phase, end_phase + 1):
            alone = start_phase == end_phase and phase > 3
            first, last = (start_step, end_step) if alone else (phase + 1, min(phase + 1, 4))
            steps = [*range(first, last, -1), *range(min(phase + 1, 4), 0, -1)]
            for step in steps:
                columns.compare_apart(1 << (step - 1), 1 << (phase + 1), rising=bool(direction))
        self._store_columns("topk_local_sort", dst, columns)

    @kernel_call()
    def topk_merge(self, dst: int, iteration: int, k: int, *, template: Template = ()) -> None:
        """The larger of each two numbers of runs that are 2^iteration runs of k apart, in front.

        Of a falling and a rising run these are the k largest; with the first flag the smallest.
        """
        stable = len(template) > 1 and bool(template[1])
        columns = self._load_columns("topk_merge", dst, stable=stable)
        length = self._run_length("topk_merge", k)
        apart = min(_PLACES // 2, length << iteration)
        smallest = bool(template and template[0])
        groups = self._compared(iteration, length) // (2 * length)
        for group in range(groups):
            start = 2 * apart * group
            first = np.arange(start, start + length)
            columns.compare(first, first + apart, rising=smallest)
        self._store_columns("topk_merge", dst, columns)

    @kernel_call()
    def topk_rebuild(
        self,
        dst: int,
        direction: int,
        iteration: int,
        k: int,
        log_k: int,
        skip_second: int,
        *,
        template: Template = (),
    ) -> None:
        """Sort runs of k that are 2^(iteration+1) runs apart, falling and rising in turn."""
        columns = self._load_columns("topk_rebuild", dst, stable=bool(template and template[0]))
        length = min(k, _PLACES)
        apart = max(length, min(_PLACES // 2, length << (iteration + 1)))
        count = self._compared(iteration + 1, length) >> (skip_second & 1)
        rising = bool(direction)
        for start in range(0, max(count // length, 1) * apart, apart):
            if start + length <= _PLACES:
                columns.sort(np.arange(start, start + length), rising=rising)
            rising = not rising
        self._store_columns("topk_rebuild", dst, columns)

    def _run_length(self, call: str, k: int) -> int:
        if k < 1:
            raise self.thread.error(f"{call} of {k} numbers; take at least one", rule="arguments")
        return min(k, _PLACES // 2)

    def _compared(self, iteration: int, length: int) -> int:
        """How many places are looked at: fewer in each iteration, but always two runs."""
        return max(_PLACES >> min(iteration, 6), 2 * length)

    def _load_columns(self, call: str, dst: int, *, stable: bool) -> _Columns:
        self.check_vector_prepared(find_row(call))
        values, others = (
            np.concatenate([rows_of_faces(self.tile(dst + place + half)) for half in (0, 1)])
            for place in (0, 2)
        )
        return _Columns(np.array(values), np.array(others), stable=stable)

    def _store_columns(self, call: str, dst: int, columns: _Columns) -> None:
        for place, values in ((0, columns.values), (2, columns.others)):
            for half in (0, 1):
                rows = values[32 * half : 32 * half + 32]
                self.tile(dst + place + half, "write")[:] = faces_of_rows(rows).reshape(-1)
        self.spend(find_row(call).cost.math)

    # --- Statistics -----------------------------------------------------------------------------

    @kernel_call()
    def welford_init(self) -> None:
        """Prepare the calls, and forget what was added."""
        self.prepare_vector("welford_init")
        self.welford_clear()

    @kernel_call()
    def welford_clear(self) -> None:
        """Forget what was added."""
        self._mean = np.zeros(32, np.float32)
        self._squares = np.zeros(32, np.float32)

    @kernel_call()
    def welford_update(
        self, dst: int, start: int, reciprocals: Table, *, template: Template = ()
    ) -> None:
        """Add the rows of a tile: `start` were added before, number n counts 1 / (n + 1)."""
        self._add_rows("welford_update", dst, start, (0, 32), reciprocals)

    @kernel_call()
    def welford_update_rows(
        self,
        dst: int,
        start: int,
        first_row: int,
        rows: int,
        reciprocals: Table,
        *,
        template: Template = (),
    ) -> None:
        """Add some rows of a tile."""
        if not 0 <= first_row <= first_row + rows <= 32:
            raise self.thread.error(
                f"welford_update_rows of {rows} rows from {first_row} on; a tile has 32",
                rule="arguments",
            )
        self._add_rows("welford_update_rows", dst, start, (first_row, rows), reciprocals)

    def _add_rows(
        self, call: str, dst: int, start: int, rows: tuple[int, int], reciprocals: Table
    ) -> None:
        row = find_row(call)
        self.check_vector_prepared(row)
        tile = rows_of_faces(self.tile(dst))
        first, count = rows
        with np.errstate(all="ignore"):
            for number, values in enumerate(tile[first : first + count], start):
                difference = values - self._mean
                self._mean = self._mean + difference * self._reciprocal(number, reciprocals)
                self._squares = self._squares + difference * (values - self._mean)
        self.spend(row.cost.math * count // 32)

    def _reciprocal(self, number: int, reciprocals: Table) -> np.float32:
        is_in_memory = isinstance(reciprocals, tuple)
        count = reciprocals[1] if is_in_memory else len(reciprocals)
        if not count:
            return np.float32(1) / np.float32(number + 1)
        if number >= count:
            raise self.thread.error(
                f"the table of reciprocals has {count} entries, and number {number} is "
                "needed; make it as long as the columns",
                rule="arguments",
            )
        bits = self.load(reciprocals[0] + 4 * number, 4, False) if is_in_memory else None
        bits = reciprocals[number] if bits is None else bits
        return np.uint32(bits & 0xFFFF_FFFF).view(np.float32)

    @kernel_call()
    def welford_save_state(self, dst: int, group: int = 0) -> None:
        """Store both registers as they are, in tiles `dst` and `dst + 1`, 4 rows for each group."""
        self._store_register("welford_save_state", dst, group, self._mean)
        self._store_register("welford_save_state", dst + 1, group, self._squares)

    @kernel_call()
    def welford_restore_state(self, dst: int, group: int = 0) -> None:
        """Load both registers as they were stored."""
        place = self._lanes_of("welford_restore_state", group)
        found: list[Array] = []
        for tile in (dst, dst + 1):
            lanes = self.tile(tile)[place].reshape(-1)
            register = np.empty(32, np.float32)
            register[_LANES] = lanes
            found.append(register)
        self._mean, self._squares = found
        self.spend(find_row("welford_restore_state").cost.math)

    @kernel_call()
    def welford_finalize_to_row(
        self, dst: int, scale: int, reciprocals: Table, *, template: Template = ()
    ) -> None:
        """Mean and variance in row 0 of two tiles; the three rows below are zero."""
        variance = self._squares * self._reciprocal(scale, reciprocals)
        for tile, values in ((dst, self._mean), (dst + 1, variance)):
            rows = np.array(rows_of_faces(self.tile(tile, "write")))
            rows[:4] = 0
            rows[0] = self._rounded(values)
            self.tile(tile, "write")[:] = faces_of_rows(rows).reshape(-1)
        self.spend(find_row("welford_finalize_to_row").cost.math)

    @kernel_call()
    def welford_finalize_to_face(self, dst: int, *arguments: Any, template: Template = ()) -> None:
        """Mean and variance as registers are stored: (dst[, group], scale, reciprocals)."""
        *group, scale, reciprocals = arguments
        variance = self._squares * self._reciprocal(scale, reciprocals)
        number = group[0] if group else 0
        self._store_register("welford_finalize_to_face", dst, number, self._mean)
        self._store_register("welford_finalize_to_face", dst + 1, number, variance)

    def _store_register(self, call: str, dst: int, group: int, values: Array) -> None:
        place = self._lanes_of(call, group)
        tile = self.tile(dst, "write")
        tile[place] = self._rounded(values)[_LANES].reshape(4, 8)
        self.spend(find_row(call).cost.math // 2)

    def _lanes_of(self, call: str, group: int) -> Array:
        """Where in the faces of a tile the lanes of a group are."""
        if not 0 <= group < 16:
            raise self.thread.error(f"{call} of group {group}; a tile has 16", rule="arguments")
        rows = 64 * group + 16 * np.arange(4)
        return rows[:, None] + np.arange(0, 16, 2)

    def _rounded(self, values: Array) -> Array:
        return values if self.exact else store_vector(values, self.dst.register)


class _Columns:
    """64 places of 32 columns: values, and what moves with them."""

    def __init__(self, values: Array, others: Array, *, stable: bool) -> None:
        self.values = values
        self.others = others
        self._stable = stable

    def compare_apart(self, distance: int, run: int, *, rising: bool) -> None:
        """One step of a bitonic sort: places so far apart, in runs that fall and rise in turn."""
        places = np.arange(_PLACES)
        first = places[(places & distance) == 0]
        for turned in (False, True):
            chosen = first[((first & run) != 0) == turned]
            if chosen.size:
                self.compare(chosen, chosen + distance, rising=rising != turned)

    def compare(self, first: Array, second: Array, *, rising: bool) -> None:
        """Put the larger number into the first place of each pair, or if `rising` the smaller."""
        a, b = self.values[first], self.values[second]
        swapped = a > b if rising else a < b
        if self._stable:
            x, y = (self.others[place].view(np.int32) for place in (first, second))
            swapped |= (a == b) & ((x < y) if rising else (x > y))
        for each in (self.values, self.others):
            before = each[first]
            each[first] = np.where(swapped, each[second], before)
            each[second] = np.where(swapped, before, each[second])

    def sort(self, places: Array, *, rising: bool) -> None:
        """Sort the numbers of these places."""
        keys = self.values[places]
        order = np.argsort(keys, axis=0, kind="stable")
        if self._stable:
            whole = self.others[places].view(np.int32)
            order = np.lexsort((-whole, keys), axis=0)
        if not rising:
            order = order[::-1]
        for each in (self.values, self.others):
            each[places] = np.take_along_axis(each[places], order, axis=0)
