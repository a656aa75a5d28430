"""Statistics in two passes, sorts with tags and others on columns of DST, against NumPy.

ttsim 1.10.0 with tt-metal 0.81 finds the same on Wormhole: the same words where values are sorted
or multiplied, statistics up to the last places of float32.
"""

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
from ttmlir.sim.kernels.build import Build
from ttmlir.sim.options import SimOptions

Array = NDArray[Any]
RNG = TestGenerator(__name__)
COUNT = 41


def bits(number: float) -> str:
    """The bits of a number as float32."""
    return f"{int(np.float32(number).view(np.uint32))}u"


def run(body: str, *tiles: Array, wide: bool = True, board: str = "n150") -> list[Array]:
    """The four tiles of DST after calls on some, which circular buffer 0 holds; no findings."""
    core = ComputeCore(
        ComputeSettings(fp32_dest_acc_en=wide), SimOptions(numerics="exact"), Recorder(), board
    )
    core.filled(0, DataType.F32, [packed(each, DataType.F32) for each in tiles])
    core.buffer(16, DataType.F32, 4)
    core.run_cpp(
        f"""void kernel_main() {{
            unary_op_init_common(0, 16);
            tile_regs_acquire();
            copy_tile_to_dst_init_short(0);
            {body}
            tile_regs_commit();
            tile_regs_wait();
            pack_tile_block(0, 16, 4);
            tile_regs_release();
        }}"""
    )
    assert core.watch.findings == []
    return list(unpacked(core.bytes_of(16), DataType.F32))


# --- Statistics -----------------------------------------------------------------------------------

SERIES = (RNG.integers(-400, 400, (COUNT, 32)) / 16 + 3).astype(np.float32)
"""41 numbers for each of 32 columns."""
MEAN = SERIES.astype(np.float64).mean(axis=0)
VARIANCE = SERIES.astype(np.float64).var(axis=0)
SUM, SQUARES = (f"TwoPassAccumulation::{each}" for each in ("ShiftedSum", "CentredM2"))


def added(call: str, *, start: int = 0, count: int = COUNT) -> str:
    """Calls of a name on so many rows, in tile 0 of DST: 32 and the others, behind row 3."""
    first = max(0, min(32, start + count) - start)
    text = f"copy_tile(0, 0, 0); {call}(0, {start}, {first});" if first else ""
    rest = count - first
    return text + (f"copy_tile(0, 1, 0); {call}(0, 3, {rest});" if rest else "")


def measured(dual: str, *, count: int = COUNT, retain: str = "false") -> str:
    """Both passes over the first rows."""
    first = f"two_pass_stats_update_shifted_rows<{SUM}, TwoPassAnchor::Initialise, {dual}>"
    other = f"two_pass_stats_update_shifted_rows<{SUM}, TwoPassAnchor::Reuse, {dual}>"
    return f"""
        two_pass_stats_init_shifted();
        two_pass_stats_clear();
        {added(first, count=5)}
        {added(other, start=5, count=count - 5)}
        two_pass_stats_finish_shifted_mean<{dual}, {retain}>({bits(1 / count)});
        {
        added(
            f"two_pass_stats_update_shifted_rows<{SQUARES}, TwoPassAnchor::Reuse, {dual}>", count=9
        )
    }
        {added(f"two_pass_stats_update_rows<{dual}>", start=9, count=count - 9)}"""


def statistics(body: str) -> list[Array]:
    """DST after calls on two tiles, of which the second has rows from its fourth one on."""
    padded = np.full((64, 32), 99, np.float32)
    padded[:32] = SERIES[:32]
    padded[35 : 35 + COUNT - 32] = SERIES[32:]
    return run(body, padded[:32], padded[32:])


def lanes(tile: Array, group: int, odd: int = 0) -> Array:
    """The columns of a register that was stored as it is."""
    face, row = divmod(group, 4)
    rows = tile[16 * (face // 2) + 4 * row :, 16 * (face % 2) :][:4, odd:16:2]
    columns = np.empty(32)
    for number, start in enumerate((0, 1, 16, 17)):
        columns[start : start + 16 : 2] = rows[number]
    return columns


def near(got: Array, expected: Array) -> None:
    """Up to the last places of float32."""
    np.testing.assert_allclose(got, expected, rtol=2e-6, atol=1e-5)


@pytest.mark.parametrize("dual", ["true", "false"])
def test_mean_and_variance_in_a_row(dual: str) -> None:
    """Of 41 rows of two tiles; even and odd rows apart, or together."""
    body = f"two_pass_stats_finalize_to_row<{dual}>(1, {bits(1 / COUNT)});"
    _, mean, variance, _ = statistics(measured(dual) + body)
    near(mean[0], MEAN)
    near(variance[0], VARIANCE)
    assert not mean[1:4].any()


def test_a_variance_alone() -> None:
    """The tile of the mean stays."""
    body = f"two_pass_stats_finalize_to_row<true, false>(1, {bits(1 / COUNT)});"
    _, mean, variance, _ = statistics("copy_tile(0, 0, 1);" + measured("true") + body)
    np.testing.assert_array_equal(mean, SERIES[:32])
    near(variance[0], VARIANCE)


def test_a_mean_in_two_parts() -> None:
    """The anchor is the first number of a column; the parts are exact in sum."""
    body = f"two_pass_stats_finalize_split_mean_to_row<true>(1, {bits(1 / COUNT)});"
    _, mean, variance, _ = statistics(measured("true", retain="true") + body)
    np.testing.assert_array_equal(mean[0], SERIES[0])
    near(mean[16], SERIES[0] - MEAN)
    near(variance[0], VARIANCE)


def test_states_and_anchors_are_stored_and_loaded() -> None:
    """Mean and squares in two tiles, the anchor behind the mean and in a tile of its own."""
    body = """
        two_pass_stats_save_state<true>(1);
        two_pass_stats_save_anchor_to_state(1);
        two_pass_stats_clear();
        two_pass_stats_restore_anchor_from_state(1);
        two_pass_stats_save_anchor(3);
        two_pass_stats_restore_anchor(3);"""
    _, mean, squares, anchor = statistics(measured("true", retain="true") + body)
    near(lanes(mean, 0), MEAN)
    near(lanes(squares, 0) / COUNT, VARIANCE)
    np.testing.assert_array_equal(lanes(mean, 1), SERIES[0])
    np.testing.assert_array_equal(lanes(anchor, 0), SERIES[0])


def test_blocks_are_merged() -> None:
    """All rows, and the first 20 of them once more."""
    body = f"""{measured("true")} two_pass_stats_save_state<true>(1); {measured("true", count=20)}
        two_pass_stats_combine_block<true>(1, {bits(1 / 61)}, {bits(20)});
        two_pass_stats_finalize_to_face<true>(1, 6, {bits(1 / 61)});"""
    _, mean, variance, _ = statistics(body)
    both = np.concatenate([SERIES, SERIES[:20]]).astype(np.float64)
    near(lanes(mean, 6), both.mean(axis=0))
    near(lanes(variance, 6), both.var(axis=0))


def test_groups_take_turns() -> None:
    """What was saved as one group comes back, what was there is another one."""
    body = f"""{measured("false")} two_pass_stats_save_state<false>(1); two_pass_stats_clear();
        two_pass_stats_switch_group<false>(1, 3, 0);
        two_pass_stats_finalize_to_face<false>(1, 7, {bits(1 / COUNT)});"""
    _, mean, variance, _ = statistics(body)
    near(lanes(mean, 7), MEAN)
    near(lanes(variance, 7), VARIANCE)
    assert not lanes(mean, 3).any()


@pytest.mark.parametrize("average", ["true", "false"])
def test_all_columns_together(average: str) -> None:
    """The mean in every lane, the variance, or 32 times that, in the first row of lanes."""
    body = f"two_pass_stats_finalize_and_combine_to_face<true, {average}>(1, 2, {bits(1 / COUNT)});"
    _, mean, variance, _ = statistics(measured("true") + body)
    whole = SERIES.astype(np.float64)
    for odd in (0, 1):
        near(lanes(mean, 2, odd), np.full(32, whole.mean()))
        factor = 1 if average == "true" else 32
        near(variance[8, odd:16:2], np.full(8, factor * whole.var()))


# --- Sorting --------------------------------------------------------------------------------------

LOAD = "for (uint32_t i = 0; i < 4; ++i) { copy_tile(0, i, i); }"
VALUES = np.tile(np.float32([-3, -2, -1, -0.0, 0, 1, 2, 3, 5, -7, 0.5]), 6)[:64]
PLACES = np.repeat(np.arange(64, dtype=np.float32)[:, None], 32, axis=1)


def shuffled() -> Array:
    """64 rows: each column has few different values, zeros with and without sign among them."""
    return np.stack([RNG.permutation(VALUES) for _ in range(32)], axis=1)


def sorted_columns(body: str, values: Array, others: Array) -> tuple[Array, Array]:
    """Values and what moved with them, in 64 rows."""
    tiles = run(LOAD + body, values[:32], values[32:], others[:32], others[32:])
    return np.vstack(tiles[:2]), np.vstack(tiles[2:])


def in_order(values: Array, *, largest: bool) -> Array:
    """Places of the numbers of each column in a stable order."""
    return np.argsort(-values if largest else values, axis=0, kind="stable")


@pytest.mark.parametrize("bits", [16, 10])
@pytest.mark.parametrize("largest", [True, False])
def test_places_as_tags_make_sorts_stable(largest: bool, bits: int) -> None:
    """The network is that of sorts which are not; zeros are equal, whatever their signs."""
    values = shuffled()
    flags = f"<{str(largest).lower()}, {bits}>"
    body = f"""topk_tile_init<false, true, {bits}>(); topk_stamp_local_positions{flags}(0);
        topk_local_sort<false, true, false, true>(0, {int(not largest)}, 5);
        topk_strip_rank_tags<{bits}>(0); topk_strip_rank_tags<{bits}>(1);"""
    got, others = sorted_columns(body, values, PLACES)
    order = in_order(values, largest=largest)
    np.testing.assert_array_equal(others, order)
    np.testing.assert_array_equal(got, np.take_along_axis(values, order, axis=0))
    assert not np.signbit(got[got == 0]).any()


@pytest.mark.parametrize("largest", [True, False])
def test_merges_tag_anew(largest: bool) -> None:
    """The best 16 of 32, of two runs whose tags count from 0 each."""
    values = shuffled()
    flag, idir = str(largest).lower(), str(not largest).lower()
    more = "false, true, false, true"
    body = f"""topk_tile_init<false, true>(); topk_stamp_tile_rank_range<{flag}>(0, 0, 0);
        topk_stamp_tile_rank_range<{flag}>(0, 1, 32);
        topk_local_sort<{more}>(0, {int(not largest)}, 3);
        topk_merge<{idir}, {more}>(0, 0, 16);
        topk_rebuild<{more}>(0, {int(not largest)}, 0, 16, 4, 0); topk_strip_rank_tags(0);"""
    got, others = sorted_columns(body, values, PLACES)
    order = in_order(values[:32], largest=largest)[:16]
    np.testing.assert_array_equal(others[:16], order)
    np.testing.assert_array_equal(got[:16], np.take_along_axis(values, order, axis=0))


@pytest.mark.parametrize("largest", [True, False])
def test_ties_by_the_order_of_all(largest: bool) -> None:
    """The first place of equal values comes first in both directions."""
    values = shuffled()
    body = f"""constexpr auto order = topk_tie_order_from_global_direction({str(largest).lower()});
        topk_tile_init(); topk_canonicalize_negzero_values(0);
        topk_local_sort<true, true, false, false, order>(0, {int(not largest)}, 5);"""
    _, others = sorted_columns(body, values, PLACES)
    np.testing.assert_array_equal(others, in_order(values, largest=largest))


@pytest.mark.parametrize("largest", [True, False])
def test_indices_in_the_low_halves(largest: bool) -> None:
    """Fused words are sorted alone; what is split is as a stable sort has it."""
    values = np.abs(shuffled()) - 2
    flag = str(largest).lower()
    body = f"""topk_tile_init<true>(); topk_fuse_tile<{flag}>(0);
        topk_local_sort<false, true, true>(0, {int(not largest)}, 5);
        topk_defuse_tile<{flag}>(0, 2);
        topk_uint16_move_dest_tile_to_pack_half(2); topk_finalize_uint16_indices(3);
        topk_uint16_prepare_value_tile_for_pack(0);"""
    indices = np.ascontiguousarray(PLACES.astype(np.uint32)).view(np.float32)
    got, others = sorted_columns(body, values, indices)
    order = in_order(values, largest=largest)
    np.testing.assert_array_equal(others.astype(np.float32).view(np.uint32), order)
    np.testing.assert_array_equal(got, np.take_along_axis(values, order, axis=0))


# --- Others ---------------------------------------------------------------------------------------


def vectors(tile: Array) -> Array:
    """A tile as its 32 vectors: 4 rows of a face, even columns, then odd ones."""
    faces = tile.reshape(2, 4, 4, 2, 8, 2)
    return faces.transpose(0, 3, 1, 5, 2, 4).reshape(32, 32)


def test_products_down_the_vectors() -> None:
    """Powers of two are exact; the next tile's first vector is multiplied, too."""
    tiles = [2.0 ** RNG.integers(-2, 3, (32, 32)).astype(np.float32) for _ in range(2)]
    body = "copy_tile(0, 0, 0); copy_tile(0, 1, 1); tiled_prod_tile_init(); tiled_prod_tile(0);"
    first, second, _, _ = run(body, *tiles)
    expected = np.cumprod(vectors(tiles[0]).astype(np.float64), axis=0)
    np.testing.assert_array_equal(vectors(first), expected)
    np.testing.assert_array_equal(vectors(second)[0], vectors(tiles[1])[0] * expected[-1])
    np.testing.assert_array_equal(vectors(second)[1:], vectors(tiles[1])[1:])


def test_sums_of_integers() -> None:
    """The offset has no effect."""
    a, b = (RNG.integers(0, 1 << 20, (32, 32), dtype=np.int32) for _ in range(2))
    body = """copy_tile(0, 0, 0); copy_tile(0, 1, 1); sfpu_sum_int_init(); sfpu_add_int(0, 3);"""
    got = run(body, a.view(np.float32), b.view(np.float32))[0]
    np.testing.assert_array_equal(got.astype(np.float32).view(np.int32), a + b)


SOLVE = """copy_tile(0, 1, 0); triangle_solve_tile_init();
    triangle_solve_tile<DataFormat::Float32{}>(0, 0, 0, 1);"""


@pytest.mark.parametrize("negated", [False, True])
def test_triangles_are_solved(negated: bool) -> None:
    """What is on and above the diagonal is not read."""
    lower = RNG.uniform(-0.5, 0.5, (32, 32)).astype(np.float32)
    right = RNG.uniform(-2, 2, (32, 32)).astype(np.float32)
    body = SOLVE.format(", true" if negated else "")
    got = run(body, -lower if negated else lower, right, board="p150")[1]
    unit = np.tril(lower.astype(np.float64), -1) + np.eye(32)
    np.testing.assert_allclose(unit @ got, right, atol=2e-4)


ERRORS = [
    ("two_pass_stats_update_rows(0, 30, 3);", "of 3 rows from 30 on; a tile has 32"),
    ("two_pass_stats_update_shifted_rows(0, 0, 3);", "write two_pass_stats_update_shifted_rows<"),
    ("two_pass_stats_switch_group<true>(0, 1, 2);", "write two_pass_stats_switch_group<false>"),
    ("two_pass_stats_save_state(3);", "DST has no tile 4"),
    ("topk_stamp_tile_rank_range<true>(0, 2, 32);", "of tile 2 and places from 32 on; there are"),
    ("topk_stamp_tile_rank_range<true, 6>(0, 0, 64);", "multiples of 32 up to 32"),
    ("topk_strip_rank_tags<5>(0);", "tags of 5 bits; they have 6 to 16"),
    ("topk_fuse_tile(0);", "write topk_fuse_tile<largest>"),
    ("triangle_solve_tile(0, 0, 0, 1);", "runs on Blackhole, in kernels with fp32_dest_acc_en"),
]


@pytest.mark.parametrize(("body", "message"), ERRORS)
def test_wrong_calls(body: str, message: str) -> None:
    """Rows, groups, tiles and tags that there are not."""
    prepared = "two_pass_stats_init_shifted(); topk_tile_init(); triangle_solve_tile_init();"
    with pytest.raises(SimError, match=message):
        run(prepared + body, SERIES[:32])


def test_words_take_32_bits() -> None:
    """A DST of 16 bits holds no tags."""
    with pytest.raises(SimError, match="words of 32 bits: compile the kernel with fp32_dest"):
        run("topk_tile_init(); topk_stamp_local_positions<true>(0);", SERIES[:32], wide=False)


# --- The width of DST -----------------------------------------------------------------------------

WIDTHS = """void kernel_main() {{
    unary_op_init_common(0, 16);
    copy_tile_to_dst_init_short(0);
    binop_with_scalar_tile_init();
    for (uint32_t i = 0; i < 3; ++i) {{
        if (i == 1) {{ set_fp32_dest_acc<{other}>(); }}
        if (i == 2) {{ restore_fp32_dest_acc<{other}>(); }}
        {middle}
        tile_regs_acquire();
        copy_tile(0, 0, 2);
        add_unary_tile(2, {tiny});
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(2, 16);
        tile_regs_release();
    }}
}}"""


def widths(wide: bool, middle: str = "") -> Array:
    """Three times 1 + 2^-12, the second time with another width."""
    core = ComputeCore(ComputeSettings(fp32_dest_acc_en=wide), SimOptions(), Recorder())
    core.filled(0, DataType.BF16, [packed(np.ones((32, 32), np.float32))])
    core.buffer(16, DataType.F32, 3)
    text = WIDTHS.format(other=str(not wide).lower(), tiny=bits(2.0**-12), middle=middle)
    core.run_cpp(text, build=Build(constants=(("DST_ACCUM_MODE", int(wide)),)))
    assert core.watch.findings == []
    return unpacked(core.bytes_of(16), DataType.F32)[:, 0, 0]


@pytest.mark.parametrize("wide", [False, True])
def test_the_width_of_dst_changes(wide: bool) -> None:
    """16 bits hold 8 of a mantissa, 32 bits 24."""
    short, long = 1.0, 1 + 2.0**-12
    np.testing.assert_array_equal(
        widths(wide), [long, short, long] if wide else [short, long, short]
    )


def test_the_width_stays_while_tiles_are_held() -> None:
    """The message says where the call belongs."""
    with pytest.raises(SimError, match="width of DST changes while the kernel holds tiles of it"):
        widths(False, "if (i == 1) { tile_regs_acquire(); enable_fp32_dest_acc(); }")
