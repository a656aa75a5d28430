"""Sorting of columns and running statistics in DST, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cores.compute_core import ComputeCore, Recorder
from cores.tile_bytes import packed, unpacked
from numpy.typing import NDArray

from ttmlir.layout.enums import DataType
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.errors import SimError
from ttmlir.sim.options import SimOptions

Array = NDArray[Any]
RNG = np.random.default_rng(5)


def shuffled(columns: int, *, distinct: bool = True) -> Array:
    """32 rows of numbers that bfloat16 holds: multiples of 1/4, or a few whole ones."""
    if not distinct:
        return RNG.integers(-4, 5, (32, columns)).astype(np.float32)
    row = (np.arange(columns) - columns // 2) / 4
    return np.stack([RNG.permutation(row) for _ in range(32)]).astype(np.float32)


LOAD = """
    copy_tile_to_dst_init_short(0);
    for (uint32_t i = 0; i < 2; ++i) { copy_tile(0, i, i); }
    copy_tile_to_dst_init_short(1);
    for (uint32_t i = 0; i < 2; ++i) { copy_tile(1, i, 2 + i); }
    topk_tile_init();
"""


def sorted_columns(body: str, values: Array) -> tuple[Array, Array]:
    """Values and indices, rows of 64, after calls on their transposes in tiles 0 to 3 of DST."""
    watch = Recorder()
    core = ComputeCore(ComputeSettings(fp32_dest_acc_en=True), SimOptions(), watch)
    numbers = np.tile(np.arange(64, dtype=np.float32), (32, 1))
    for index, matrix in enumerate((values, numbers)):
        tiles = [packed(matrix.T[:32], DataType.F32), packed(matrix.T[32:], DataType.F32)]
        core.filled(index, DataType.F32, tiles)
    core.buffer(16, DataType.F32, 4)
    core.run_cpp(
        f"""void kernel_main() {{
            unary_op_init_common(0, 16);
            tile_regs_acquire();
            {LOAD}
            {body}
            tile_regs_commit();
            tile_regs_wait();
            pack_tile_block(0, 16, 4);
            tile_regs_release();
        }}"""
    )
    assert watch.findings == []
    tiles = unpacked(core.bytes_of(16), DataType.F32)
    return np.vstack(tiles[:2]).T, np.vstack(tiles[2:]).T


def runs(row: Array, length: int, *, rising: bool) -> Array:
    """A row in sorted runs that fall and rise in turn."""
    parts = [np.sort(part) for part in row.reshape(-1, length)]
    return np.concatenate(
        [part if (number % 2 == 1) != rising else part[::-1] for number, part in enumerate(parts)]
    )


@pytest.mark.parametrize("phase", [1, 3, 4, 5])
@pytest.mark.parametrize("direction", [0, 1])
def test_runs_are_sorted(phase: int, direction: int) -> None:
    """Runs of 4, 16, 32 and 64, in turn falling and rising; indices move with their values."""
    values = shuffled(64)
    body = f"ckernel::topk_local_sort(0, {direction}, {phase});"
    got, indices = sorted_columns(body, values)
    expected = [runs(row, 2 << phase, rising=bool(direction)) for row in values]
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(
        np.take_along_axis(values, indices.astype(np.int64), axis=1), expected
    )


@pytest.mark.parametrize("idir", ["false", "true"])
def test_the_largest_of_two_runs(idir: str) -> None:
    """Of a falling and a rising run of 32, the 32 largest, or smallest, come to the front."""
    values = shuffled(64)
    body = f"""topk_local_sort(0, 0, 4); topk_merge<{idir}>(0, 0, 32);
    topk_rebuild(0, 0, 0, 32, 5, 0);"""
    got, indices = sorted_columns(body, values)
    whole = np.sort(values, axis=1)
    first = whole[:, :32] if idir == "true" else whole[:, 32:]
    second = whole[:, 32:] if idir == "true" else whole[:, :32]
    np.testing.assert_array_equal(got, np.hstack((first[:, ::-1], second)))
    np.testing.assert_array_equal(np.take_along_axis(values, indices.astype(np.int64), axis=1), got)


def test_the_first_eight_in_rounds() -> None:
    """Merging halves the number of runs of 8 each time: 8, 4, 2, 1 of them."""
    values = shuffled(64)
    rounds = "".join(
        f"topk_merge(0, {each}, 8); topk_rebuild(0, 0, {each}, 8, 3, 0);" for each in range(3)
    )
    got, _ = sorted_columns(f"topk_local_sort(0, 0, 2); {rounds}", values)
    np.testing.assert_array_equal(got[:, :8], np.sort(values, axis=1)[:, :-9:-1])


def test_equal_numbers_keep_their_order() -> None:
    """With the flag the index that comes first stays first."""
    values = shuffled(64, distinct=False)
    got, indices = sorted_columns("topk_local_sort<true>(0, 0, 5);", values)
    order = np.argsort(-values, axis=1, kind="stable")
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(got, np.take_along_axis(values, order, axis=1))


# --- Statistics -----------------------------------------------------------------------------------

COUNT = 40
SERIES = shuffled(64)[:, :COUNT].T.copy()
"""40 numbers for each of 32 columns."""


def statistics(body: str, *, table: bool) -> Array:
    """The tiles 1 to 3 of DST behind calls on a tile of 32 rows and one of 8."""
    watch = Recorder()
    core = ComputeCore(ComputeSettings(fp32_dest_acc_en=True), SimOptions(), watch)
    padded = np.full((64, 32), 99, np.float32)
    padded[:COUNT] = SERIES
    tiles = [packed(padded[:32], DataType.F32), packed(padded[32:], DataType.F32)]
    core.filled(0, DataType.F32, tiles)
    core.buffer(16, DataType.F32, 3)
    bits = (np.float32(1) / np.arange(1, COUNT + 1, dtype=np.float32)).view(np.uint32)
    words = ", ".join(f"{each}u" for each in bits)
    lut = f"constexpr uint32_t lut[{COUNT}] = {{{words}}};" if table else ""
    core.run_cpp(
        f"""void kernel_main() {{
            {lut}
            unary_op_init_common(0, 16);
            tile_regs_acquire();
            welford_init();
            copy_tile(0, 0, 0);
            welford_update<{COUNT}>(0, 0, lut);
            copy_tile(0, 1, 0);
            {body}
            tile_regs_commit();
            tile_regs_wait();
            pack_tile_block(1, 16, 3);
            tile_regs_release();
        }}"""
    )
    assert watch.findings == []
    return unpacked(core.bytes_of(16), DataType.F32)


MEAN = SERIES.astype(np.float64).mean(axis=0)
VARIANCE = SERIES.astype(np.float64).var(axis=0)


def test_mean_and_variance_in_a_row() -> None:
    """Of two tiles, the second with 8 rows; entry 39 of the table is 1 / 40."""
    body = "welford_update_rows<40>(0, 32, 0, 8, lut); welford_finalize_to_row<40>(1, 39, lut);"
    mean, variance, _ = statistics(body, table=True)
    np.testing.assert_allclose(mean[0], MEAN, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(variance[0], VARIANCE, rtol=1e-5)
    assert not mean[1:4].any()


def lanes(tile: Array, group: int) -> Array:
    """The columns of a register that was stored as it is: even and odd ones of each half."""
    face, row = divmod(group, 4)
    rows = tile[16 * (face // 2) + 4 * row :, 16 * (face % 2) :][:4, 0:16:2]
    columns = np.empty(32)
    for number, start in enumerate((0, 1, 16, 17)):
        columns[start : start + 16 : 2] = rows[number]
    return columns


@pytest.mark.parametrize("group", [0, 3, 6])
def test_registers_are_stored_and_loaded(group: int) -> None:
    """Every second place of four rows, 16 groups in a tile; what was cleared comes back."""
    body = f"""welford_update_rows<40>(0, 32, 0, 8, lut);
    welford_save_state(2, {group}); welford_clear(); welford_restore_state(2, {group});
    welford_finalize_to_face<40>(1, {group}, 39, lut);"""
    mean, variance, _ = statistics(body, table=True)
    np.testing.assert_allclose(lanes(mean, group), MEAN, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(lanes(variance, group), VARIANCE, rtol=1e-5)


def test_a_table_that_is_too_short() -> None:
    """The message says which number is missing."""
    with pytest.raises(SimError, match="table of reciprocals has 40 entries, and number 40 is"):
        statistics("welford_update_rows<40>(0, 32, 0, 9, lut);", table=True)
