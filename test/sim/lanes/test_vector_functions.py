"""Functions of sfpi on vectors, each against NumPy on the tile that the vectors are of."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from cores.lane_kernels import compute
from numpy.typing import NDArray
from running.randomness import TestGenerator

Array = NDArray[Any]
F = np.float32
RNG = TestGenerator(__name__)


def numbers() -> Array:
    """Numbers of both signs and many sizes, zeros among them."""
    x = (RNG.standard_normal((32, 32)) * 2.0 ** RNG.integers(-6, 7, (32, 32))).astype(F)
    x[3, ::5] = 0
    return x


X, Y = numbers(), numbers()


def bits(x: Array) -> Array:
    """The bits of numbers, with sign."""
    return np.ascontiguousarray(x, F).view(np.int32)


def floats(x: Array) -> Array:
    """The numbers of some bits."""
    return np.ascontiguousarray(x, np.int32).view(F)


def exponents(x: Array) -> Array:
    """The exponent of numbers, with bias."""
    return bits(x) >> 23 & 255


def lines(limits: list[float], slopes: list[float], intercepts: list[float]) -> Array:
    """Lines by the size of numbers, which tables of `lut` describe."""
    place = np.searchsorted(np.array(limits, F), np.abs(X), side="right")
    slope, intercept = (np.array(x, F).astype(np.float64)[place] for x in (slopes, intercepts))
    return (slope * np.abs(X) + intercept).astype(F)


# 0x10 is 2^-1, 0xa8 is -1.5 * 2^-2, 0x38 is 1.5 * 2^-3, 0x21 is 17/16 * 2^-2, 0xff is 0.
BYTES = "vUInt(0x10a8), vUInt(0x38ff), vUInt(0xff21)"
OF_BYTES = lines([1, 2], [0.5, 0.1875, 0], [-0.375, 0, 0.265625])
# In FP16, where 0x7c00 is 0.
HALVES = "vUInt(0x3c00b800u), vUInt(0x40003800u), vUInt(0xbc007c00u)"
OF_HALVES = lines([1, 2], [1, 2, -1], [-0.5, 0.5, 0])
SIX = (
    "vUInt(0x40003c00u), vUInt(0x44004200u), vUInt(0xbc004800u), "
    "vUInt(0x3800b800u), vUInt(0x34003000u), vUInt(0xc2007c00u)"
)
SLOPES, INTERCEPTS = [1.0, 2, 3, 4, 8, -1], [-0.5, 0.5, 0.125, 0.25, 0, -3]
TABLES = [
    (f"lut(x, {BYTES})", np.copysign(OF_BYTES, X)),
    (f"lut_sign(x, {BYTES})", OF_BYTES),
    (f"lut2(x, {HALVES})", np.copysign(OF_HALVES, X)),
    (f"sfpi::lut2_sign(x, {HALVES})", OF_HALVES),
    (f"lut2_sign(x, {SIX})", lines([0.5, 1, 1.5, 2, 3], SLOPES, INTERCEPTS)),
    (
        f"lut2(x, {SIX}, 2)",
        np.copysign(lines([0.5, 1, 1.5, 2, 4], SLOPES, INTERCEPTS), X),
    ),
    (
        "lut2(x, vFloat(0.5f), vFloat(-1.25f), vFloat(2.0f), vFloat(3.0f), vFloat(0.1f), x)",
        np.copysign(
            np.where(
                np.abs(X) < 2,
                lines([1], [0.5, -1.25], [3, 0.1]),
                (2 * np.abs(X).astype(np.float64) + X).astype(F),
            ),
            X,
        ),
    ),
    (
        "lut(x, vLut8si(0.5f, -0.375f), vLut8si(uint8_t(0x38), uint8_t(0xff)), "
        "vLut8si(0.0f, 0.265625f))",
        np.copysign(OF_BYTES, X),
    ),
    (
        "lut(x, vLut8si(0.3f, 3.0f), vLut8si(-0.001f, -1.99f), vLut8si(0.97f, 0.0f))",
        np.copysign(lines([1, 2], [0.296875, 0, 0.96875], [1.9375, -1.9375, 0]), X),
    ),
    (
        "lut(x, vLut16si(1.0f, -0.5f), vLut16si(sLut16si(0x4000, 0x3800)), "
        "vLut16si(-1.0f, 1e-6f), LutSign::Update)",
        OF_HALVES,
    ),
    (
        "lut(x, vLut16si(0.1f, 70000.0f), vLut16si(sLut16si(20.0f, 0.0f)), "
        "as<vLut16si>(vUInt(0x7c007c00)))",
        np.copysign(lines([1, 2], [614 / 1024 / 16 + 1 / 16, 20, 0], [65504, 0, 0]), X),
    ),
    (
        "lut(x, vLut32si(0.5f, 3.0f), vLut32si(sLut32si(-1.25f, 0.1f)), vLut32si(2.0f, 1.0f), "
        "LutSign::Update)",
        lines([1, 2], [0.5, -1.25, 2], [3, 0.1, 1]),
    ),
    (
        "lut(x, vLut16ss(1.0f, 2.0f), vLut16ii(-0.5f, 0.5f), vLut16ss(3.0f, 4.0f), "
        "vLut16ii(0.125f, 0.25f), vLut16ss(8.0f, -1.0f), vLut16ii(0.0f, -3.0f), LutSign::Update)",
        lines([0.5, 1, 1.5, 2, 3], SLOPES, INTERCEPTS),
    ),
    (
        "lut<LutMode::Fp16x6_HWM4>(x, vLut16ss(sLut16ss(sLut16si(1.0f, -0.5f), sLut16si(2.0f, "
        "0.5f))), vLut16ii(sLut16ii(sLut16si(1.0f, -0.5f), sLut16si(2.0f, 0.5f))), vLut16ss(3.0f, "
        "4.0f), vLut16ii(0.125f, 0.25f), vLut16ss(8.0f, -1.0f), vLut16ii(0.0f, -3.0f))",
        np.copysign(lines([0.5, 1, 1.5, 2, 4], SLOPES, INTERCEPTS), X),
    ),
]
"""Tenstorrent's simulator gave the same bits for tables of random registers, as far as it has
them: `lut` and `lut2_sign` of six."""

FLOATS = [
    *TABLES,
    ("x + y", X + Y),
    ("x - y", X - Y),
    ("x * y", X * Y),
    ("-x", -X),
    ("2.0f * x + 1.0f", F(2) * X + F(1)),
    ("1.5f - x", F(1.5) - X),
    ("x * 3", X * F(3)),
    ("dst_reg[0] * dst_reg[32] - 0.25f", X * Y - F(0.25)),
    ("x * vConst0p8373 + vConst1", X * F(0.8373) + F(1)),
    ("vConstNeg1 * x + vConst0", -X),
    ("abs(x)", np.abs(X)),
    ("sfpi::abs(x - y)", np.abs(X - Y)),
    ("setsgn(x, 1)", -np.abs(X)),
    ("setsgn(x, 0)", np.abs(X)),
    ("setsgn(x, y)", np.copysign(X, Y)),
    ("sfpi::copysgn(x, y)", np.copysign(X, Y)),
    (
        "setexp(x, 127)",
        np.where(X == 0, np.copysign(F(1), X), floats(bits(X) & ~0x7F800000 | 127 << 23)),
    ),
    ("setexp(x, exexp(y) + 127)", floats(bits(X) & ~0x7F800000 | exponents(Y) << 23)),
    ("setman(x, 0x123456)", floats(bits(X) & ~0x7FFFFF | 0x123456)),
    ("addexp(x, 2)", X * F(4)),
    ("addexp(x, -3)", X / F(8)),
    ("sfpi::min(x, y)", np.minimum(X, Y)),
    ("sfpi::max(x, y)", np.maximum(X, Y)),
    ("max(x, y)", np.maximum(X, Y)),
    ("sfpi::clamp(x, -0.5f, 2.0f)", np.clip(X, F(-0.5), F(2))),
    ("sfpi::symmetric_clamp(x, 1.5f)", np.clip(X, F(-1.5), F(1.5))),
    ("sfpi::polynomial(x, 1.0f, -2.0f, 0.5f)", (F(0.5) * X + F(-2)) * X + F(1)),
    ("reinterpret<vFloat>(reinterpret<vInt>(x) ^ 1)", floats(bits(X) ^ 1)),
    ("as<vFloat>(as<vUInt>(x) >> 1)", floats((bits(X).view(np.uint32) >> 1).view(np.int32))),
    ("int32_to_float(exman8(x), 0)", (bits(X) & 0x7FFFFF | 1 << 23).astype(F)),
    ("int32_to_float(setsgn(exexp(x) & 15, 1), 0)", -((exponents(X) - 127 & 15).astype(F))),
    ("sfpi::convert<vFloat>(exexp(x))", (exponents(X) - 127).astype(F)),
    ("reinterpret<vFloat>(float_to_fp16b(x, 0))", X.astype(ml_dtypes.bfloat16).astype(F)),
    (
        "sfpi::convert<sfpi::vFloat16b>(x, RoundMode::Nearest)",
        X.astype(ml_dtypes.bfloat16).astype(F),
    ),
    (
        "reinterpret<vFloat>(float_to_fp16a(x, 0))",
        np.where(np.abs(X) < 2.0**-14, F(0), X.astype(np.float16).astype(F)),
    ),
    ("x + s2vFloat16b(1.2f)", X + F(1.1953125)),
    ("x * s2vFloat16b(0x4049)", X * F(3.140625)),
    ("vFloat(s2vFloat16a(0x3E00)) * x", X * F(1.5)),
]


@pytest.mark.parametrize(("expression", "expected"), FLOATS, ids=[each for each, _ in FLOATS])
def test_numbers(expression: str, expected: Array) -> None:
    """The numbers that an expression of vectors gives."""
    got = compute(f"dst_reg[0] = {expression};", X, Y)
    np.testing.assert_array_equal(got, expected.astype(F))


def count_leading_zeros(x: Array) -> Array:
    """One by one."""
    return np.vectorize(lambda each: 32 - (int(each) & 0xFFFFFFFF).bit_length())(x)


def shift(x: Array, count: int) -> Array:
    """To the left, or to the right with zeros."""
    unsigned = x.view(np.uint32)
    return (unsigned << count if count >= 0 else unsigned >> -count).view(np.int32)


INTEGERS = [
    ("exexp(x)", exponents(X) - 127),
    ("exexp_nodebias(x)", exponents(X)),
    ("sfpi::exexp(x, sfpi::ExponentMode::Biased)", exponents(X)),
    ("exman9(x)", bits(X) & 0x7FFFFF),
    ("exman8(x)", bits(X) & 0x7FFFFF | 1 << 23),
    ("lz(x)", count_leading_zeros(bits(X))),
    ("lz(exman9(y))", count_leading_zeros(bits(Y) & 0x7FFFFF)),
    ("i + k", bits(X) + bits(Y)),
    ("i - 7", bits(X) - np.int32(7)),
    ("3 - i", np.int32(3) - bits(X)),
    ("i & k", bits(X) & bits(Y)),
    ("i | 0x00ff00ff", bits(X) | 0x00FF00FF),
    ("i ^ k", bits(X) ^ bits(Y)),
    ("~i", ~bits(X)),
    ("-i", -bits(X)),
    ("i << 3", shift(bits(X), 3)),
    ("shft(i, -5)", shift(bits(X), -5)),
    ("shft(reinterpret<vUInt>(x), 4)", shift(bits(X), 4)),
    ("shft(i, -40)", np.zeros((32, 32), np.int32)),
    ("u >> 9", shift(bits(X), -9)),
    ("u >> (vInt(0) + 31)", shift(bits(X), -31)),
    ("abs(i)", np.abs(bits(X))),
    ("setsgn(i, 1)", bits(np.copysign(X, F(-1)))),
    ("float_to_uint8(x * 20.0f, 0)", np.rint(np.minimum(np.abs(X * F(20)), 255))),
    ("float_to_uint16(x, 0)", np.rint(np.abs(X))),
    (
        "float_to_int8(x * 20.0f, 0) & 0x7fffffff",
        np.rint(np.minimum(np.abs(X * F(20)), 127)),
    ),
    ("setsgn(float_to_int16(x, 0), 0)", np.rint(np.abs(X))),
    ("sfpi::convert<vInt>(sfpi::convert<sfpi::vSMag>(i))", bits(X)),
]


@pytest.mark.parametrize(("expression", "expected"), INTEGERS, ids=[each for each, _ in INTEGERS])
def test_integers(expression: str, expected: Array) -> None:
    """The integers that an expression of vectors gives."""
    declared = "vInt i = dst_reg[0]; vInt k = dst_reg[32]; vUInt u = dst_reg[0];"
    body = f"{declared} dst_reg[0] = {expression};"
    got = compute(body, X, Y)
    np.testing.assert_array_equal(bits(got), expected.astype(np.int64).astype(np.int32))


CONDITIONS = [
    ("x < y", X < Y),
    ("x <= 0.0f", X <= 0),
    ("0.5f > x", X < F(0.5)),
    ("x >= y", X >= Y),
    ("x == 0.0f", X == 0),
    ("x != 0.0f", X != 0),
    ("x < 0.0f && y > 1.0f", (X < 0) & (Y > 1)),
    ("x < 0.0f || y > 1.0f", (X < 0) | (Y > 1)),
    ("!(x < 0.0f) && !(y > 1.0f || x == 0.0f)", (X >= 0) & ~((Y > 1) | (X == 0))),
    ("exexp(x) >= 2", exponents(X) - 127 >= 2),
    ("-1 < exexp(x)", exponents(X) - 127 > -1),
    ("reinterpret<vInt>(x) < 0", bits(X) < 0),
    (
        "reinterpret<vUInt>(x) < reinterpret<vUInt>(y)",
        bits(X).view(np.uint32) < bits(Y).view(np.uint32),
    ),
    ("is_zero(x)", X == 0),
    ("is_neg(y)", np.signbit(Y)),
    ("dst_reg[0] < dst_reg[32]", X < Y),
]


@pytest.mark.parametrize(
    ("condition", "expected"), CONDITIONS, ids=[each for each, _ in CONDITIONS]
)
def test_conditions(condition: str, expected: Array) -> None:
    """The lanes that a condition holds in."""
    body = f"vFloat r = 0.0f; v_if({condition}) {{ r = 1.0f; }} v_endif; dst_reg[0] = r;"
    np.testing.assert_array_equal(compute(body, X, Y), expected.astype(F))


def test_infinities_and_nans_are_told_apart() -> None:
    """`is_nan` and `is_inf`, and what a comparison with NaN says."""
    special = np.resize(np.array([np.nan, np.inf, -np.inf, 1.0, -0.0], F), (32, 32))
    body = """
        vFloat r = 0.0f;
        v_if(sfpi::is_nan(x)) { r = 1.0f; }
        v_elseif(sfpi::is_inf(x)) { r = 2.0f; }
        v_elseif(x >= 0.0f) { r = 3.0f; }
        v_endif;
        dst_reg[0] = r;"""
    expected = np.where(np.isnan(special), 1, np.where(np.isinf(special), 2, 3)).astype(F)
    np.testing.assert_array_equal(compute(body, special, Y), expected)


def test_stochastic_rounding_gives_neighbours() -> None:
    """Of a number between two others both are drawn, the nearer one more often."""
    quarter = np.full((32, 32), 1 + 2.0**-9, F)
    got = compute("dst_reg[0] = reinterpret<vFloat>(float_to_fp16b(x, 1));", quarter, Y)
    assert set(np.unique(got)) == {F(1), F(1 + 2.0**-7)}
    assert 0.1 < np.mean(got != 1) < 0.4


def test_numbers_that_change_are_changed() -> None:
    """`+=` and its like, `++`, and functions that change two vectors."""
    body = """
        vFloat a = x; vFloat b = y;
        a += 1.0f; a -= y; a *= 2.0f; a++; --a;
        vec_min_max(a, b);
        dst_reg[0] = b - a;
        vInt i = reinterpret<vInt>(x);
        i &= 0xff; i |= 0x100; i ^= 3; i <<= 2; i += 5; i -= 1; ++i; i--;
        dst_reg[32] = i;
        dst_reg[0] += 0.5f;"""
    got, integers = compute(body, X, Y, both=True)
    a = ((X + F(1)) - Y) * F(2)
    a = (a + F(1)) - F(1)
    np.testing.assert_array_equal(got, np.maximum(a, Y) - np.minimum(a, Y) + F(0.5))
    expected = ((((bits(X) & 0xFF) | 0x100) ^ 3) << 2) + 4
    np.testing.assert_array_equal(bits(integers), expected)


def test_registers_keep_their_numbers_from_face_to_face() -> None:
    """Registers and constants that the kernel names; here sums over what was seen before."""
    body = """
        vFloat sum = l_reg[LRegs::LReg4];
        dst_reg[0] = sum + vConstFloatPrgm0;
        l_reg[LRegs::LReg4] = sum + x;
        vConstFloatPrgm0 = 10.0f;"""
    got = compute(body, X, Y)
    faces = X.reshape(2, 16, 2, 16).transpose(0, 2, 1, 3).reshape(4, 4, 4, 8, 2)
    vectors = faces.transpose(0, 1, 4, 2, 3).reshape(32, 32)
    sums = np.zeros((32, 32), F)
    for number in range(1, 32):
        sums[number] = sums[number - 1] + vectors[number - 1]
    expected = sums + np.where(np.arange(32) == 0, F(0), F(10))[:, None]
    back = expected.reshape(4, 4, 2, 4, 8).transpose(0, 1, 3, 4, 2).reshape(2, 2, 16, 16)
    np.testing.assert_array_equal(got, back.transpose(0, 2, 1, 3).reshape(32, 32))
