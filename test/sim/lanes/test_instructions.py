"""Instructions of the vector unit by their own names, each against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cores.lane_kernels import run_lanes
from numpy.typing import NDArray

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.sim.errors import SimError

F = np.float32
X: NDArray[Any] = ((np.arange(1024).reshape(32, 32) - 500) / 8).astype(F)
Y: NDArray[Any] = (np.arange(1024).reshape(32, 32) % 37 - 11).astype(F)
BITS: NDArray[Any] = X.view(np.int32)
EXPONENT, FRACTION = np.int32(255 << 23), np.int32((1 << 23) - 1)
ROWS = np.arange(32)[:, None]
LOAD = "l_reg[LRegs::LReg1] = x; l_reg[LRegs::LReg2] = y; "


def number(bits: NDArray[Any]) -> NDArray[Any]:
    """The numbers with some bits."""
    return bits.astype(np.int32).view(F)


FLOATS: list[tuple[str, NDArray[Any]]] = [
    ("TTI_SFPLOADI(p_sfpu::LREG0, 0, 0x4049);", np.full_like(X, 3.140625)),
    ("TTI_SFPLOADI(0, 1, 0x3e00); TTI_SFPNOP;", np.full_like(X, 1.5)),
    ("TTI_SFPLOADI(0, 10, 0x0fdb); TTI_SFPLOADI(0, 8, 0x4049);", np.full_like(X, np.pi)),
    ("TTI_SFPMAD(p_sfpu::LREG1, p_sfpu::LREG2, p_sfpu::LCONST_1, 0, 0);", X * Y + F(1)),
    ("TTI_SFPADD(p_sfpu::LCONST_1, 1, 2, 0, 0); TTI_NOP;", X + Y),
    ("TTI_SFPMUL(1, 2, p_sfpu::LCONST_0, 0, 0);", X * Y + F(0)),
    ("TTI_SFPMUL(1, p_sfpu::LCONST_0_8373, p_sfpu::LCONST_0, 0, 0);", X * F(0.8373)),
    ("TTI_SFPMAD(1, ckernel::p_sfpu::LCONST_neg1, 2, 0, 0);", Y - X),
    ("TTI_SFPMOV(0, p_sfpu::LREG1, p_sfpu::LREG0, 1);", -X),
    ("vConstFloatPrgm1 = 0.375f; TTI_SFPMOV(0, p_sfpu::LREG13, 0, 0);", np.full_like(X, 0.375)),
    ("TTI_SFPLOAD(0, 0, ADDR_MOD_7, 64);", Y),
    ("TTI_SFPSWAP(0, 1, 2, 0); TTI_SFPMOV(0, 2, 0, 0);", X),
    ("TTI_SFPSWAP(0, 1, 2, 1); TTI_SFPMOV(0, 2, 0, 0);", np.minimum(X, Y)),
    ("TTI_SFPSWAP(0, 1, 2, 1); TTI_SFPMOV(0, 1, 0, 0);", np.maximum(X, Y)),
    ("TTI_SFPSWAP(0, 1, 2, 9); TTI_SFPMOV(0, 2, 0, 0);", np.maximum(X, Y)),
    (
        "TTI_SFPSWAP(0, 1, 2, 2); TTI_SFPMOV(0, 2, 0, 0);",
        np.where(ROWS % 4 < 2, np.minimum(X, Y), np.maximum(X, Y)),
    ),
    (
        "TTI_SFPSWAP(0, 1, 2, 3); TTI_SFPMOV(0, 2, 0, 0);",
        np.where(ROWS % 2 == 0, np.minimum(X, Y), np.maximum(X, Y)),
    ),
    (
        "TTI_SFPMOV(0, 2, 0, 0); TTI_SFPSETCC(0, 1, 0, 0); TTI_SFPSETCC(0, 2, 0, 2); "
        "TTI_SFPMOV(0, 1, 0, 0); TTI_SFPENCC(0, 0, 0, 0);",
        np.where((X < 0) & (Y != 0), X, Y),
    ),
    (
        "TTI_SFPMOV(0, 2, 0, 0); TTI_SFPSETCC(0, 2, 0, 6); TTI_SFPMOV(0, 1, 0, 0); "
        "TTI_SFPENCC(3, 0, 0, 10); TTI_SFPADD(10, 0, 10, 0, 0);",
        np.where(Y == 0, X, Y) + F(1),
    ),
    (
        "TTI_SFPMOV(0, 2, 0, 0); TTI_SFPPUSHC(0, 0, 0, 0); TTI_SFPSETCC(0, 1, 0, 4); "
        "TTI_SFPMOV(0, 1, 0, 0); TTI_SFPCOMPC(0, 0, 0, 0); TTI_SFPLOADI(0, 0, 0x4049); "
        "TTI_SFPPOPC(0, 0, 0, 0);",
        np.where(X >= 0, X, F(3.140625)),
    ),
    ("TTI_SFPMOV(0, 1, 0, 0); TTI_SFPADDI(0x4049, 0, 0);", X + F(3.140625)),
    ("TTI_SFPMOV(0, 1, 0, 0); TTI_SFPMULI(0xc049, 0, 0);", X * F(-3.140625)),
    ("TTI_SFPABS(0, 1, 0, 1);", np.abs(X)),
    ("TTI_SFPMOV(0, 2, 0, 0); TTI_SFPSETSGN(0, 1, 0, 0);", np.copysign(X, Y)),
    ("TTI_SFPSETSGN(1, 1, 0, 1);", -np.abs(X)),
    ("TTI_SFPDIVP2(0xfff, 1, 0, 1);", np.where(X == 0, number(BITS | 255 << 23), X / F(2))),
    ("TTI_SFPDIVP2(3, 1, 0, 1);", np.where(X == 0, number(BITS + (3 << 23)), X * F(8))),
    ("TTI_SFPDIVP2(0x7f, 1, 0, 0);", number(BITS & ~EXPONENT | 127 << 23)),
    ("TTI_SFPLOADI(0, 10, 0xff85); TTI_SFPSETEXP(0, 1, 0, 0);",
     number(BITS & ~EXPONENT | 0x85 << 23)),
    ("TTI_SFPSETEXP(130, 1, 0, 1);", number(BITS & ~EXPONENT | 130 << 23)),
    ("TTI_SFPMOV(0, 2, 0, 0); TTI_SFPSETEXP(0, 1, 0, 2);",
     number(BITS & ~EXPONENT | Y.view(np.int32) & EXPONENT)),
    ("TTI_SFPSETMAN(0xc00, 1, 0, 1);", number(BITS & ~FRACTION | 0xC00 << 11)),
    ("TTI_SFPMOV(0, 2, 0, 0); TTI_SFPSETMAN(0, 1, 0, 0);",
     number(BITS & ~FRACTION | Y.view(np.int32) & FRACTION)),
    ("TTI_SFPEXEXP(0, 2, 3, 0); TTI_SFPABS(0, 3, 3, 0); TTI_SFPCAST(3, 0, 0);",
     np.abs((Y.view(np.int32) >> 23 & 255) - 127)),
    ("TTI_SFPMOV(0, 1, 0, 0); TTI_SFPMOV(0, 2, 3, 0); TTI_SFPTRANSP(0, 0, 0, 0);",
     np.where(ROWS % 4 < 2, X[ROWS[:, 0] & ~3], Y[ROWS[:, 0] & ~3])),
    # The lanes that take part afterwards are set to 2.
    ("TTI_SFPEXEXP(0, 1, 0, 2); TTI_SFPLOADI(1, 0, 0x4000); TTI_SFPENCC(0, 0, 0, 0); "
     "TTI_SFPMOV(0, 1, 0, 0);", np.where(np.abs(X) < 1, F(2), X)),
    ("TTI_SFPEXEXP(0, 1, 0, 10); TTI_SFPLOADI(1, 0, 0x4000); TTI_SFPENCC(0, 0, 0, 0); "
     "TTI_SFPMOV(0, 1, 0, 0);", np.where(np.abs(X) < 1, X, F(2))),
    ("TTI_SFPLZ(0, 2, 0, 2); TTI_SFPLOADI(2, 0, 0x4000); TTI_SFPENCC(0, 0, 0, 0); "
     "TTI_SFPMOV(0, 2, 0, 0);", np.where(Y == 0, Y, F(2))),
    ("TTI_SFPIADD(0, 1, 0, 1); TTI_SFPLOADI(1, 0, 0x4000); TTI_SFPENCC(0, 0, 0, 0); "
     "TTI_SFPMOV(0, 1, 0, 0);", np.where(X < 0, F(2), X)),
    ("TTI_SFPIADD(0, 1, 0, 9); TTI_SFPCOMPC(0, 0, 0, 0); TTI_SFPLOADI(1, 0, 0x4000); "
     "TTI_SFPENCC(0, 0, 0, 0); TTI_SFPMOV(0, 1, 0, 0);", np.where(X < 0, F(2), X)),
    (
        "TTI_STALLWAIT(p_stall::STALL_SFPU, p_stall::MATH | p_stall::WAIT_SFPU);"
        "TTI_SFPMOV(0, 2, 0, 0); v_if(x < 0.0f) { TTI_SFPMOV(0, 1, 0, 0); } v_endif;",
        np.where(X < 0, X, Y),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), FLOATS)
def test_numbers(body: str, expected: NDArray[Any]) -> None:
    """What register 0 holds afterwards."""
    _, tiles = run_lanes(X, Y, f"{LOAD}{body} dst_reg[0] = vFloat(l_reg[LRegs::LReg0]);")
    np.testing.assert_array_equal(tiles[0], expected.astype(F))


INTEGERS: list[tuple[str, NDArray[Any]]] = [
    ("TTI_SFPLOADI(0, 2, 0xfffe);", np.full_like(BITS, 0xFFFE)),
    ("TTI_SFPLOADI(0, 4, 0xfffe);", np.full_like(BITS, -2)),
    ("TTI_SFPMOV(0, 1, 0, 0); TTI_SFPAND(0, 2, 0, 0);", BITS & Y.view(np.int32)),
    ("TTI_SFPMOV(0, 1, 0, 0); TTI_SFPOR(0, 2, 0, 0);", BITS | Y.view(np.int32)),
    ("TTI_SFPMOV(0, 1, 0, 0); TTI_SFPXOR(0, 2, 0, 0);", BITS ^ Y.view(np.int32)),
    ("TTI_SFPNOT(0, 1, 0, 0);", ~BITS),
    ("TTI_SFPMOV(0, 1, 0, 0); TTI_SFPIADD(0, 2, 0, 4);", BITS + Y.view(np.int32)),
    ("TTI_SFPMOV(0, 1, 0, 0); TTI_SFPIADD(0, 2, 0, 6);", Y.view(np.int32) - BITS),
    ("TTI_SFPIADD(0xffd, 1, 0, 5);", BITS - 3),
    ("TTI_SFPMOV(0, 1, 0, 0); TTI_SFPSHFT(0xffb, 0, 0, 1);",
     (BITS.view(np.uint32) >> 5).view(np.int32)),
    ("TTI_SFPMOV(0, 1, 0, 0); TTI_SFPLOADI(3, 4, 35); TTI_SFPSHFT(0, 3, 0, 0);", BITS << 3),
    ("TTI_SFPEXMAN(0, 1, 0, 0);", BITS & FRACTION | 1 << 23),
    ("TTI_SFPEXMAN(0, 1, 0, 1);", BITS & FRACTION),
    ("TTI_SFPEXEXP(0, 1, 0, 1);", BITS >> 23 & 255),
    ("TTI_SFPLOADI(3, 2, 0x00ff); TTI_SFPLZ(0, 3, 0, 0);", np.full_like(BITS, 24)),
    ("TTI_SFPLOADI(3, 4, 0x8000); TTI_SFPLZ(0, 3, 0, 4);", np.full_like(BITS, 1)),
    ("TTI_SFPLOADI(3, 4, 0x8000); TTI_SFPABS(0, 3, 0, 0);", np.full_like(BITS, 1 << 15)),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), INTEGERS)
def test_bits(body: str, expected: NDArray[Any]) -> None:
    """Likewise, as integers."""
    _, tiles = run_lanes(X, Y, f"{LOAD}{body} dst_reg[0] = vInt(l_reg[LRegs::LReg0]);")
    np.testing.assert_array_equal(tiles[0].view(np.int32), expected)


def test_rows_are_stored() -> None:
    """In the second tile, whose rows begin at 64, and only lanes that take part."""
    body = f"{LOAD} TTI_SFPSETCC(0, 1, 0, 0); TTI_SFPSTORE(1, 0, ADDR_MOD_3, 64);"
    _, tiles = run_lanes(X, Y, f"{body} TTI_SFPENCC(0, 0, 0, 0);")
    np.testing.assert_array_equal(tiles[1], np.where(X < 0, X, Y))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("TTI_SFPSTORE(0, 0, 0, 0);", "an assertion does not hold"),
        ("TTI_SFPSHFT2(0, 0, 0, 0);", "'TTI_SFPSHFT2' is not modelled; call 'subvec_shflror1'"),
        ("TTI_SFPIADD(0, 0, 0, 3);", "does not hold here, or of what is called here about its arg"),
        ("TTI_SFPIADD(5000, 0, 0, 5);", "an assertion does not hold"),
        ("TTI_SFPMOV(0, 16, 0, 0);", "l_reg 16: there are those from 0 to 7; instructions read"),
        ("TTI_SFPMOV(0, 1, 9, 0);", "l_reg 9: there are those from 0 to 7; instructions read"),
        ("TTI_SFPPOPC(0, 0, 0, 0);", "there are no lanes to go back to: TTI_SFPPOPC takes those"),
        ("TTI_INCRWC(0, 4, 0, 0);", "'TTI_INCRWC' is not modelled; write 'dst_reg++'"),
        ("TTI_SETRWC(1, 4, 8, 0, 0, 4);", "an assertion does not hold"),
        ("TTI_ZEROACC(0, 0, 0, 0, 0);", "call a function of the kernel library instead"),
        ("TTI_SFPLOADI(8, 0, 1);", "l_reg 8: there are those from 0 to 7"),
        ("TTI_SFPLOADI(0, 3, 1);", "an assertion does not hold"),
        ("TTI_STALLWAIT(p_stall::STALL_ALL, 0);", "STALL_ALL"),
    ],
)
def test_what_is_not_modelled_is_refused(body: str, message: str) -> None:
    """By a message that names what to write."""
    with pytest.raises((SimError, CppSyntaxError)) as raised:
        run_lanes(X, Y, body)
    assert message in str(raised.value)
