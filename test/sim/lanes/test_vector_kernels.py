"""Kernels with vectors as people write them, and how the unit goes over a tile."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from cores.lane_kernels import compute, run_lanes
from numpy.typing import NDArray

from ttmlir.layout.enums import DataType
from ttmlir.sim.errors import SimError
from ttmlir.sim.options import SimOptions

Array = NDArray[Any]
F = np.float32
RNG = np.random.default_rng(3)
X = (RNG.standard_normal((32, 32)) * 3).astype(F)
Y = RNG.standard_normal((32, 32)).astype(F)
EXACT = SimOptions(numerics="exact")


def call(function: str, *arguments: str) -> str:
    """The usual way to call a function on a tile."""
    given = "".join(f", {each}" for each in arguments)
    return f"MATH((_llk_math_eltwise_unary_sfpu_params_<false>({function}, 0{given})));"


# --- Which lanes take part --------------------------------------------------------------------


def test_branches_share_the_lanes() -> None:
    """Every lane is in one branch; conditions behind the first hold in the lanes that are left."""
    body = """
        vFloat r = 9.0f;
        v_if(x < -2.0f) { r = 1.0f; }
        v_elseif(y > 0.0f) {
            r = 2.0f;
            v_if(x > 2.0f) { r = 3.0f; }
            v_else { r += 0.5f; }
            v_endif;
        }
        v_elseif(x > 0.0f) { }
        v_else { r = -x; }
        v_endif;
        dst_reg[0] = r;"""
    inner = np.where(X > 2, F(3), F(2.5))
    rest = np.where(X > 0, F(9), -X)
    expected = np.where(X < -2, F(1), np.where(Y > 0, inner, rest))
    np.testing.assert_array_equal(compute(body, X, Y), expected)


def test_and_narrows_and_else_takes_what_it_left() -> None:
    """`v_and` in a branch, and in a block of its own."""
    body = """
        vFloat r = 0.0f;
        v_if(x > 0.0f) {
            r = 1.0f;
            v_and(y > 0.0f);
            r = 2.0f;
        }
        v_else { r += 4.0f; }
        v_endif;
        v_block {
            v_and(x < 1.0f);
            v_and(y < 1.0f);
            r += 8.0f;
        }
        v_endblock;
        dst_reg[0] = r;"""
    both = (X > 0) & (Y > 0)
    expected = np.where(both, F(2), np.where(X > 0, F(1), F(0)) + F(4))
    expected = expected + np.where((X < 1) & (Y < 1), F(8), F(0))
    np.testing.assert_array_equal(compute(body, X, Y), expected)


def test_stores_leave_other_lanes_alone() -> None:
    """A store in a branch, of numbers and of integers; scalars change whatever lanes there are."""
    body = """
        int turns = 0;
        v_if(x > 0.0f) { dst_reg[0] = 1.0f; turns += 1; }
        v_else { dst_reg[32] = reinterpret<vInt>(y) ^ 1; turns += 2; }
        v_endif;
        if (turns != 3) { dst_reg[0] = 77.0f; }"""
    first, second = compute(body, X, Y, both=True)
    np.testing.assert_array_equal(first, np.where(X > 0, F(1), X))
    changed = (Y.view(np.int32) ^ 1).view(F)
    np.testing.assert_array_equal(second, np.where(X > 0, Y, changed))


def test_functions_take_part_in_the_lanes_of_their_call() -> None:
    """A function that is called in a branch, with branches of its own, changes those lanes."""
    before = """
        #ifdef TRISC_MATH
        sfpi_inline void halve(sfpi::vFloat& value) {
            v_if(value > 4.0f) { value *= 0.25f; }
            v_else { value *= 0.5f; }
            v_endif;
        }
        #endif"""
    body = "v_if(y > 0.0f) { halve(x); } v_endif; dst_reg[0] = x;"
    (got, _) = run_lanes(X, Y, body, before=before, options=EXACT)[1]
    expected = np.where(Y > 0, np.where(X > 4, X * F(0.25), X * F(0.5)), X)
    np.testing.assert_array_equal(got, expected)


# --- How the unit goes over a tile ------------------------------------------------------------


def test_lanes_are_every_second_column_of_four_rows() -> None:
    """Lane l of vector k of a face: row 4 * (k // 2) + l // 8, column 2 * (l % 8) + k % 2."""
    body = "dst_reg[0] = vInt(vConstTileId) + (d << 16);"
    got = compute(body, X, Y).view(np.int32)
    expected = np.zeros((32, 32), np.int32)
    for face in range(4):
        for k in range(8):
            for lane in range(32):
                row = 16 * (face // 2) + 4 * (k // 2) + lane // 8
                column = 16 * (face % 2) + 2 * (lane % 8) + k % 2
                expected[row, column] = 2 * lane + (k << 16)
    np.testing.assert_array_equal(got, expected)


MODES = [
    ("VectorMode::RC", [0, 1, 2, 3]),
    ("(int)VectorMode::RC", [0, 1, 2, 3]),
    ("VectorMode::R", [0, 1]),
    ("VectorMode::C", [0, 2]),
    ("VectorMode::None", [0]),
]


@pytest.mark.parametrize(("mode", "faces"), MODES)
def test_modes_take_faces(mode: str, faces: list[int]) -> None:
    """Rows: the upper faces; columns: the left ones."""
    (got, other) = run_lanes(X, Y, "dst_reg[0] = 100.0f;", call=call("work", mode), options=EXACT)[
        1
    ]
    expected = X.copy()
    for face in faces:
        row, column = 16 * (face // 2), 16 * (face % 2)
        expected[row : row + 16, column : column + 16] = 100
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(other, Y)


def test_a_face_starts_where_it_is_wherever_the_last_one_ended() -> None:
    """A function that goes over four vectors only; `dst_reg += n`; and without a mode."""
    before = """
        #ifdef TRISC_MATH
        void few() {
            for (int d = 0; d < 2; ++d) {
                sfpi::dst_reg[0] = 1.0f;
                sfpi::dst_reg[1] = 2.0f;
                sfpi::dst_reg += 2;
            }
        }
        #endif"""
    (got, _) = run_lanes(X, Y, before=before, call=call("few"), options=EXACT)[1]
    expected = X.copy()
    for row in (0, 16):
        expected[row : row + 8, 0::2] = 1
        expected[row : row + 8, 1::2] = 2
    np.testing.assert_array_equal(got, expected)


def test_two_tiles_in_and_one_out() -> None:
    """The driver of functions of two tiles gives their numbers."""
    before = """
        #ifdef TRISC_MATH
        template <bool Negate>
        inline void add(uint32_t in0, uint32_t in1, uint32_t out, float scale) {
            constexpr uint32_t vectors = 32;
            for (size_t i = 0; i < 8; i++) {
                vFloat a = dst_reg[in0 * vectors];
                vFloat b = dst_reg[in1 * vectors];
                dst_reg[out * vectors] = Negate ? -(a + b * scale) : a + b * scale;
                dst_reg++;
            }
        }
        #endif"""
    line = (
        "MATH((_llk_math_eltwise_binary_sfpu_params_<false>"
        "(add<true>, 0, 1, 1, VectorMode::RC, 2.0f)));"
    )
    first, second = run_lanes(X, Y, before=before, call=line, options=EXACT)[1]
    np.testing.assert_array_equal(first, X)
    np.testing.assert_array_equal(second, -(X + Y * F(2)))


MACROS = [
    (
        "SFPU_UNARY_CALL(DST_SYNC_MODE, DST_ACCUM_MODE, scale, (true, 8), 1, VectorMode::RC, 3.0f)",
        3,
    ),
    (
        "SFPU_UNARY_CALL_NO_TEMPLATE_ARGS(DST_SYNC_MODE, DST_ACCUM_MODE, twice, 1, VectorMode::RC)",
        2,
    ),
]


@pytest.mark.parametrize(("macro", "factor"), MACROS)
def test_macros_of_late_2026(macro: str, factor: int) -> None:
    """They call functions of a namespace, with their template arguments in parentheses."""
    before = """
        #include "llk_math_eltwise_unary_sfpu_macros.h"
        #ifdef TRISC_MATH
        namespace ckernel::sfpu {
        template <bool Up, int Iterations>
        inline void scale(float factor) {
            for (int d = 0; d < Iterations; d++) {
                sfpi::dst_reg[0] *= Up ? factor : 0.0f;
                sfpi::dst_reg++;
            }
        }
        inline void twice() { scale<true, 8>(2.0f); }
        }
        #endif"""
    _, second = run_lanes(X, Y, before=before, call=f"MATH(({macro}));", options=EXACT)[1]
    np.testing.assert_array_equal(second, Y * F(factor))


# --- Whole kernels ----------------------------------------------------------------------------


def test_reciprocal_by_newton() -> None:
    """Within a few units in the last place, for both signs."""
    x = np.where(np.abs(X) < 0.01, F(1), X)
    body = """
        vFloat positive = setsgn(x, 0);
        vFloat scaled = setexp(positive, 126);
        vFloat r = scaled * -1.8823529f + 2.8235294f;
        for (int step = 0; step < 3; ++step) { r = r * (2.0f - scaled * r); }
        vInt exponent = exexp(r) - exexp(positive) - 1;
        vFloat result = setexp(r, exponent + 127);
        dst_reg[0] = setsgn(result, x);"""
    np.testing.assert_allclose(compute(body, x, Y), 1 / x.astype(np.float64), rtol=3e-7)


def test_smooth_step_in_device_numerics() -> None:
    """Clamped, a polynomial; DST of 16 bits cuts off what it has no bits for."""
    body = """
        vFloat t = (x - y) * 0.25f;
        v_if(t < 0.0f) { t = 0.0f; }
        v_elseif(t > 1.0f) { t = 1.0f; }
        v_endif;
        dst_reg[0] = t * t * (3.0f - 2.0f * t);"""
    x, y = (each.astype(ml_dtypes.bfloat16).astype(F) for each in (X, Y))
    core_tiles = run_lanes(x, y, body, data_type=DataType.BF16)[1]
    t = np.clip((x - y) * F(0.25), F(0), F(1))
    exact = t * t * (F(3) - F(2) * t)
    cut = (exact.view(np.uint32) & np.uint32(0xFFFF0000)).view(F)
    np.testing.assert_array_equal(core_tiles[0], cut)


def test_round_to_nearest_before_the_store() -> None:
    """What kernels do against the cut: `float_to_fp16b`."""
    x, y = (each.astype(ml_dtypes.bfloat16).astype(F) for each in (X, Y))
    body = "dst_reg[0] = reinterpret<vFloat>(float_to_fp16b(x * y, 0));"
    (got, _) = run_lanes(x, y, body, data_type=DataType.BF16)[1]
    np.testing.assert_array_equal(got, (x * y).astype(ml_dtypes.bfloat16).astype(F))


def test_denormal_results_are_zero_in_device_numerics() -> None:
    """In exact numerics they stay."""
    tiny = np.full((32, 32), 2.0**-70, F)
    body = "dst_reg[0] = x * y;"
    assert not run_lanes(tiny, tiny, body)[1][0].any()
    assert (run_lanes(tiny, tiny, body, options=EXACT)[1][0] == F(2.0**-140)).all()


def test_logarithm_by_bits() -> None:
    """log2 of the exponent and a polynomial of the mantissa; whole numbers with a sign bit."""
    x = np.abs(X) + F(0.01)
    body = """
        vFloat m = setexp(x, 127);
        vFloat p = ((m * -0.33582878f + 2.0f) * m - 1.6665f) + 0.0f;
        vInt e = exexp(x);
        v_if(e < 0) { e = setsgn(~e + 1, 1); }
        v_endif;
        dst_reg[0] = int32_to_float(e, 0) + p;"""
    mantissa, exponent = np.frexp(x)
    m = (mantissa * 2).astype(F)
    p = (m * F(-0.33582878) + F(2)) * m - F(1.6665)
    np.testing.assert_array_equal(compute(body, x, Y), (exponent - 1).astype(F) + p)


def test_largest_of_two_tiles_by_bits() -> None:
    """Comparison of bits as integers, and a swap in lanes that take part."""
    body = """
        vInt a = reinterpret<vInt>(x), b = reinterpret<vInt>(y);
        v_if(a < b) { vec_swap(a, b); }
        v_endif;
        dst_reg[0] = a;
        dst_reg[32] = b;"""
    first, second = compute(body, np.abs(X), np.abs(Y), both=True)
    np.testing.assert_array_equal(first, np.maximum(np.abs(X), np.abs(Y)))
    np.testing.assert_array_equal(second, np.minimum(np.abs(X), np.abs(Y)))


def test_rows_of_vectors_are_transposed() -> None:
    """Four vectors as a matrix of rows of eight lanes."""
    before = """
        #ifdef TRISC_MATH
        void turn() {
            vFloat a = dst_reg[0], b = dst_reg[2], c = dst_reg[4], e = dst_reg[6];
            subvec_transp(a, b, c, e);
            dst_reg[0] = a; dst_reg[2] = b; dst_reg[4] = c; dst_reg[6] = e;
            dst_reg[1] = subvec_shflror1(vFloat(dst_reg[1]));
        }
        #endif"""
    (got, _) = run_lanes(X, Y, before=before, call=call("turn"), options=EXACT)[1]
    expected = X.copy()
    for row in (0, 16):
        for column in (0, 16):
            face = X[row : row + 16, column : column + 16]
            turned = face.reshape(4, 4, 16).transpose(1, 0, 2).reshape(16, 16)
            part = expected[row : row + 16, column : column + 16]
            part[:, 0::2] = turned[:, 0::2]
            part[:4, 1::2] = np.roll(face[:4, 1::2], 1, axis=1)
    np.testing.assert_array_equal(got, expected)


def test_blackhole_multiplies_and_shifts_signs() -> None:
    """What Wormhole does not have."""
    body = "vInt i = reinterpret<vInt>(x); dst_reg[0] = i >> 20; dst_reg[32] = exexp(x) * 3;"
    first, second = compute(body, X, np.abs(X) + 2, both=True, board="p150")
    np.testing.assert_array_equal(first.view(np.int32), X.view(np.int32) >> 20)
    exponents = (X.view(np.int32) >> 23 & 255) - 127
    np.testing.assert_array_equal(second.view(np.int32), exponents * 3 & 0x7FFFFF)


# --- Time -------------------------------------------------------------------------------------


def clock(body: str) -> int:
    """Cycles of the math thread."""
    core, _ = run_lanes(X, Y, body, options=SimOptions(timed=True))
    return next(each.clock for role, each in core.threads.items() if role.name == "MATH")


TIMES = [
    ("dst_reg[0] = x + y;", 2),
    ("dst_reg[0] = x * y + x;", 2),
    ("dst_reg[0] = x * y * x;", 3),
    ("v_if(x < 0.0f) { dst_reg[0] = -x; } v_endif;", 7),
    ("dst_reg[0] = x * 0.1f;", 4),
    ("dst_reg[0] = x * 0.5f;", 3),
]


@pytest.mark.parametrize(("body", "cycles"), TIMES)
def test_a_vector_takes_a_cycle_for_each_instruction(body: str, cycles: int) -> None:
    """A sum takes 1, with a product before it none; a branch 4; constants of 32 bits 2."""
    assert clock(body) - clock("") == 32 * cycles


# --- What is wrong ----------------------------------------------------------------------------

ERRORS = [
    ("dst_reg[0] = x / y;", "kernel.cpp:11:22: error: '/' does not go with 'vFloat' and 'vFloat'"),
    ("dst_reg[64 * 8] = x;", "kernel.cpp:11:9: error: dst_reg[512] is vector 0 of tile 16 of DST"),
    ("dst_reg[-1] = x;", "kernel.cpp:11:9: error: dst_reg[-1] is vector 31 of tile -1 of DST"),
    ("dst_reg[0x80000000u] = x;", "dst_reg[-2147483648] is vector"),
    ("for (;;) { dst_reg++; x = dst_reg[0]; }", "of tile 4 of DST, where a thread sees the tiles"),
    ("v_if(x < 0.0f) { break; } v_endif;", "the function leaves a v_if or v_block before its end"),
    ("v_if(x < 0.0f) { return; } v_endif;", "error: the function leaves a v_if or v_block"),
    ("v_if(x) { } v_endif;", "kernel.cpp:11:9: error: 'vFloat' does not convert to 'vBool'"),
    ("v_and(x < 0.0f);", "kernel.cpp:11:9: error: v_and stands outside of v_if and v_block"),
    ("x = 1 << y;", "'<<' does not go with 'int' and 'vFloat'"),
    ("dst_reg[0] = exexp(x) >> 2;", "the vector unit of Wormhole shifts zeros in from the left"),
    ("dst_reg[0] = exexp(x) * 3;", "the vector unit of Wormhole does not multiply integers"),
    ("builtin_sfpi_store_floats(0, x.lanes);", "there is no function 'builtin_sfpi_store_floats'"),
    ("auto z = x.lanes; z = z + 1;", "'+' does not go with"),
    ("x.lanes[1];", "error:"),
    ("vFloat z = l_reg[(LRegs)9];", "l_reg 9: there are those from 0 to 7"),
    ("x.lanes.__class__;", "error:"),
]


@pytest.mark.parametrize(("body", "message"), ERRORS)
def test_what_is_wrong_is_said_where_it_is(body: str, message: str) -> None:
    """Places are those of the kernel, whatever header the vectors come from."""
    with pytest.raises(Exception) as raised:  # noqa: PT011
        run_lanes(X, Y, body)
    assert message in str(raised.value)


def test_nine_branches_in_each_other_are_too_many() -> None:
    """The unit remembers eight."""
    body = "v_if(x > 0.0f) { " * 9 + "} v_endif; " * 9
    with pytest.raises(SimError, match="more than 8 v_if and v_block in each other"):
        run_lanes(X, Y, body)
    run_lanes(X, Y, "v_if(x > 0.0f) { " * 8 + "} v_endif; " * 8)


# --- Functions of the first column ---------------------------------------------------------------


def column(name: str, templates: str, *tiles: Array, given: str = "") -> list[Array]:
    """The even columns of the faces on the left of two tiles after a function of tt-metal's."""
    called = f"ckernel::sfpu::{name}<{templates}>, 0, VectorMode::C{given}"
    call = f"MATH((_llk_math_eltwise_unary_sfpu_params_<false>({called})));"
    found = run_lanes(*tiles, call=call)[1]
    for each, before in zip(found, tiles, strict=True):
        np.testing.assert_array_equal(each[:, 1::2], before[:, 1::2])
        np.testing.assert_array_equal(each[:, 16:], before[:, 16:])
    return [each[:, :16:2] for each in found]


def test_exponentials_of_a_column_are_scaled() -> None:
    """By a quarter, as attention does; what is tiny becomes 0, and the other columns stay."""
    x = np.where(np.abs(X) > 5, F(-800), X)
    (found, same) = column("calculate_exponential_first_column", "true, 0x3E80, false", x, Y)
    left = x[:, :16:2]
    np.testing.assert_allclose(found, np.exp(left.astype(np.float64) / 4), rtol=1e-6, atol=1e-30)
    np.testing.assert_array_equal(same, Y[:, :16:2])


def test_reciprocals_of_a_column() -> None:
    """Of both signs."""
    (found, _) = column("calculate_recip_first_column", "true", X, Y)
    np.testing.assert_allclose(found, 1 / X[:, :16:2].astype(np.float64), rtol=1e-6)


def test_two_parts_of_a_softmax_are_joined() -> None:
    """What the sums are multiplied by takes the place of the maxima."""
    maxima = [each[:, :16:2].astype(np.float64) for each in (X, Y)]
    largest = np.maximum(*maxima)
    found = column("calculate_fused_max_sub_exp_add_tile", "true, true", X, Y, given=", 0x3F00")
    for each, part in zip(found, maxima, strict=True):
        np.testing.assert_allclose(each, np.exp((part - largest) / 2), rtol=1e-6)
