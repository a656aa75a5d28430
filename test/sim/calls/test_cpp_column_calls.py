"""Sorting of columns and running statistics in DST, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cores.compute_core import ComputeCore, Recorder
from cores.tile_bytes import packed, unpacked
from numpy.typing import NDArray
from running.randomness import TestGenerator

from ttmlir.layout.enums import DataType
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.errors import SimError
from ttmlir.sim.options import SimOptions

Array = NDArray[Any]
RNG = TestGenerator(__name__)


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


def run_in_dst(
    core: ComputeCore, body: str, count: int, *, first: int = 0, start: str = "", before: str = ""
) -> list[Array]:
    """Tiles of DST, from the first on, after a body that computes in it; no findings."""
    core.buffer(16, DataType.F32, count)
    core.run_cpp(
        f"""{before}
        void kernel_main() {{
            unary_op_init_common(0, 16);
            {start}
            tile_regs_acquire();
            {body}
            tile_regs_commit();
            tile_regs_wait();
            pack_tile_block({first}, 16, {count});
            tile_regs_release();
        }}"""
    )
    assert core.watch.findings == []
    return list(unpacked(core.bytes_of(16), DataType.F32))


def sorted_columns(body: str, values: Array) -> tuple[Array, Array]:
    """Values and indices, rows of 64, after calls on their transposes in tiles 0 to 3 of DST."""
    core = ComputeCore(ComputeSettings(fp32_dest_acc_en=True), SimOptions(), Recorder())
    numbers = np.tile(np.arange(64, dtype=np.float32), (32, 1))
    for index, matrix in enumerate((values, numbers)):
        tiles = [packed(matrix.T[:32], DataType.F32), packed(matrix.T[32:], DataType.F32)]
        core.filled(index, DataType.F32, tiles)
    tiles = run_in_dst(core, LOAD + body, 4)
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
    """Runs of 4, 16, 32 and 64, in turn falling and rising; indices move with their values.

    The direction has no effect on runs of 4 (ttsim 1.10.0, on tt-metal 0.81).
    """
    values = shuffled(64)
    body = f"ckernel::topk_local_sort(0, {direction}, {phase});"
    got, indices = sorted_columns(body, values)
    expected = [runs(row, 2 << phase, rising=bool(direction) and phase >= 3) for row in values]
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
    core = ComputeCore(ComputeSettings(fp32_dest_acc_en=True), SimOptions(), Recorder())
    padded = np.full((64, 32), 99, np.float32)
    padded[:COUNT] = SERIES
    tiles = [packed(padded[:32], DataType.F32), packed(padded[32:], DataType.F32)]
    core.filled(0, DataType.F32, tiles)
    bits = (np.float32(1) / np.arange(1, COUNT + 1, dtype=np.float32)).view(np.uint32)
    words = ", ".join(f"{each}u" for each in bits)
    lut = f"constexpr uint32_t lut[{COUNT}] = {{{words}}};" if table else ""
    body = f"""
        welford_init();
        copy_tile(0, 0, 0);
        welford_update<{COUNT}>(0, 0, lut);
        copy_tile(0, 1, 0);
        {body}"""
    return run_in_dst(core, body, 3, first=1, start=lut)


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


# --- Down the columns -------------------------------------------------------------------------


def computed(body: str, *tiles: Array, exact: bool = True, before: str = "") -> list[Array]:
    """The four tiles of DST after calls on some."""
    options = SimOptions(numerics="exact" if exact else "device")
    core = ComputeCore(ComputeSettings(fp32_dest_acc_en=True), options, Recorder())
    core.filled(0, DataType.F32, [packed(each, DataType.F32) for each in tiles])
    core.filled(1, DataType.U32, [np.arange(100, 1124, dtype=np.uint32).tobytes()])
    loads = "".join(f"copy_tile(0, {i}, {i});" for i in range(len(tiles)))
    start = "copy_tile_to_dst_init_short(0);"
    return run_in_dst(core, loads + body, 4, start=start, before=before)


def matrices(count: int) -> list[Array]:
    """Rows of small numbers."""
    return [RNG.integers(-40, 40, (32, 32)).astype(np.float32) / 8 for _ in range(count)]


def test_sums_go_on_in_the_next_tile() -> None:
    """Two tiles below each other, and one that begins anew."""
    upper, lower, other = matrices(3)
    body = "cumsum_tile_init(); cumsum_tile(0); cumsum_tile(1, false); cumsum_tile(2, true);"
    first, second, third, _ = computed(body, upper, lower, other)
    both = np.cumsum(np.vstack([upper, lower]), axis=0)
    np.testing.assert_array_equal(np.vstack([first, second]), both)
    np.testing.assert_array_equal(third, np.cumsum(other, axis=0))


def bits(number: float) -> int:
    """The bits of a number as float32."""
    return int(np.float32(number).view(np.uint32))


def test_averages_go_on_in_the_next_tile() -> None:
    """alpha * (row before) + beta * row, into the tile behind."""
    upper, lower = matrices(2)
    body = f"""
        ema_init({bits(0.75)}u, {bits(0.25)}u);
        ema_clear_previous_output();
        ema_tile(0);
        copy_tile(0, 1, 2);
        ema_tile(2);"""
    _, first, _, second = computed(body, upper, lower)
    average = np.zeros(32, np.float32)
    rows = list[Array]()
    for row in np.vstack([upper, lower]):
        average = np.float32(0.75) * average + np.float32(0.25) * row
        rows.append(average)
    np.testing.assert_array_equal(np.vstack([first, second]), np.array(rows))


@pytest.mark.parametrize("probability", [0.0, 0.3, 1.0])
def test_dropout_is_as_frequent_as_it_should_be(probability: float) -> None:
    """What is left is scaled; the seed decides what is dropped."""
    ones = np.ones((32, 32), np.float32)
    call = f"dropout_tile(0, {int(probability * (2**31 - 1))}u, {bits(2.5)}u);"
    got = computed(f"dropout_kernel_init(7); {call}", ones)[0]
    again = computed(f"dropout_kernel_init(7); {call}", ones)[0]
    np.testing.assert_array_equal(got, again)
    assert set(np.unique(got)) <= {0.0, 2.5}
    assert abs(np.mean(got == 0) - probability) < 0.05


def test_rows_are_added_to_those_that_a_list_names() -> None:
    """The list is bytes of L1; rows with a number behind the last are left out."""
    rows, sums = matrices(2)
    numbers = np.full(48, 255, np.uint8)
    numbers[16:48] = RNG.permutation(np.r_[0:20, [3, 3, 3], [31] * 5, [32, 77, 255, 200]])
    core = ComputeCore(ComputeSettings(fp32_dest_acc_en=True), SimOptions(), Recorder())
    core.filled(0, DataType.F32, [packed(each, DataType.F32) for each in (rows, sums)])
    core.filled(1, DataType.U8, [np.pad(numbers, (0, 1024 - 48)).tobytes()])
    body = """
        copy_tile(0, 0, 0);
        copy_tile(0, 1, 1);
        reshuffle_rows_tile_init();
        reshuffle_rows_tile(0, get_tile_address(1, 0));"""
    tiles = run_in_dst(core, body, 2, start="copy_tile_to_dst_init_short(0);")
    expected = sums.copy()
    for row, place in zip(rows, numbers[16:48], strict=True):
        if place < 32:
            expected[place] += row
    np.testing.assert_array_equal(tiles[1], expected)


LAYOUTS = [("", 9, False), ("<5>", 5, False), ("<9, DataLayout::ROW_MAJOR>", 9, True)]


@pytest.mark.parametrize(("template", "count", "by_rows"), LAYOUTS)
def test_maxima_come_with_their_indices(template: str, count: int, by_rows: bool) -> None:
    """Of the first rows, in faces or one after another as DST has them."""
    values = RNG.permutation(1024).reshape(32, 32).astype(np.float32)
    numbers = RNG.permutation(1024).reshape(32, 32).astype(np.float32)
    layout = "<DataLayout::ROW_MAJOR>" if by_rows else ""
    body = f"max_reduce_with_indices_init{layout}(); max_reduce_with_indices{template}(0, 1);"
    got = computed(body, values, numbers)

    def ordered(matrix: Array) -> Array:
        if not by_rows:
            return matrix
        return matrix.reshape(2, 16, 2, 16).transpose(0, 2, 1, 3).reshape(32, 32)

    places = np.argmax(ordered(values)[:count], axis=0)
    columns = np.arange(32)
    for tile, before in zip(got, (values, numbers), strict=False):
        np.testing.assert_array_equal(ordered(tile)[0], ordered(before)[places, columns])
        np.testing.assert_array_equal(ordered(tile)[1:], ordered(before)[1:])


def test_tables_of_reciprocals_may_lie_in_memory() -> None:
    """As a reference to an array at an address; entries behind its end are refused."""
    rows = matrices(1)[0]
    body = """
        copy_tile(0, 0, 0);
        welford_init();
        welford_update<32>(0, 0, *reciprocals);
        welford_finalize_to_row<32>(1, 31, *reciprocals);"""
    core = ComputeCore(
        ComputeSettings(fp32_dest_acc_en=True), SimOptions(numerics="exact"), Recorder()
    )
    core.filled(0, DataType.F32, [packed(rows, DataType.F32)])
    table = (1 / np.arange(1, 33, dtype=np.float32)).astype(np.float32)
    core.filled(1, DataType.U32, [np.pad(table.view(np.uint32), (0, 992)).tobytes()])
    start = """
        copy_tile_to_dst_init_short(0);
        auto reciprocals =
            reinterpret_cast<const std::array<uint32_t, 32>*>(get_tile_address(1, 0));"""
    _, mean, variance = run_in_dst(core, body, 3, start=start)
    np.testing.assert_allclose(mean[0], rows.mean(axis=0), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(variance[0], rows.var(axis=0), rtol=1e-4)


SCAN_ERRORS = [
    ("cumsum_tile(99);", "DST has no tile 99"),
    ("max_reduce_with_indices_init(); max_reduce_with_indices<10>(0, 1);", "10 rows; it takes 1"),
    ("max_reduce_with_indices_init(); max_reduce_with_indices(0, 1, 2);", "is not modelled"),
    ("ema_init(0, 0); ema_tile(3);", "DST has no tile 4"),
    ("reshuffle_rows_tile_init(); reshuffle_rows_tile(0, 0xfffffff0u);", "0x"),
]


@pytest.mark.parametrize(("body", "message"), SCAN_ERRORS)
def test_wrong_scans(body: str, message: str) -> None:
    """Tiles that there are not, rows that the call does not take, lists outside of L1."""
    with pytest.raises(SimError, match=message):
        computed(f"cumsum_tile_init(); {body}", *matrices(1))
