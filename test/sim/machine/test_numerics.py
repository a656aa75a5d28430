"""Conversions and arithmetic of the compute engine, bit by bit.

Patterns are worked out by hand from the rules that the documentation of the chip gives; where a
conversion is that of IEEE or bfloat16, NumPy and ml_dtypes are the oracle. Models in this file work
on one number at a time, with Python's own exact arithmetic.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from ttmlir.layout.enums import Arch, DataType, MathFidelity
from ttmlir.sim.machine import numerics
from ttmlir.sim.machine.numerics import Register
from ttmlir.sim.timing.costs import tile_bytes

Array = NDArray[Any]

CLASS_A = (DataType.BFP_F8, DataType.BFP_F4, DataType.BFP_F2)
CLASS_B = (DataType.BFP_BF8, DataType.BFP_BF4, DataType.BFP_BF2)
BITS = {3: 7, 4: 7, 5: 3, 6: 3, 7: 1, 8: 1}
"""Bits of magnitude of each block float format."""


def floats(*patterns: int) -> Array:
    """Float32 numbers by their bits."""
    return np.array(patterns, np.uint32).view(np.float32)


def bits(values: Array) -> list[str]:
    """The bits of float32 numbers."""
    return [f"{each:08x}" for each in values.view(np.uint32)]


def tile(*values: float | Array) -> Array:
    """A tile that starts with these float32 numbers, zeros behind them."""
    filled = np.zeros(1024, np.float32)
    start = np.array(values, np.float32).reshape(-1)
    filled[: start.size] = start
    return filled


def tile_of_bits(*patterns: int) -> Array:
    """A tile that starts with these float32 patterns."""
    filled = np.zeros(1024, np.uint32)
    filled[: len(patterns)] = patterns
    return filled.view(np.float32)


# --- Formats ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data_type", "among", "wide", "expected"),
    [
        (DataType.BF16, {DataType.BF16}, False, Register.BF16),
        (DataType.BFP_BF4, {DataType.BFP_BF4}, False, Register.BF16),
        (DataType.F16, {DataType.F16}, True, Register.FP16),
        (DataType.BFP_F8, {DataType.BFP_F8}, False, Register.FP16),
        (DataType.U16, {DataType.U16}, False, Register.INTEGER),
        # Float32 alone belongs to no class: half precision, unless DST is wide.
        (DataType.F32, {DataType.F32}, False, Register.FP16),
        (DataType.F32, {DataType.F32}, True, Register.TF32),
        (DataType.F32, {DataType.F32, DataType.BF16}, False, Register.BF16),
        (DataType.F32, {DataType.F32, DataType.BF16}, True, Register.TF32),
        (DataType.F32, {DataType.F32, DataType.F16}, False, Register.FP16),
        (DataType.F32, {DataType.F32, DataType.F16}, True, Register.FP16),
    ],
)
def test_format_of_source_registers(
    data_type: DataType, among: set[DataType], wide: bool, expected: Register
) -> None:
    """tt-metal's choice for a circular buffer among the kernel's others."""
    assert numerics.source_register(data_type, among, wide=wide) is expected


# --- Unpacking ----------------------------------------------------------------------------------


def test_every_bfloat16_is_unpacked_as_it_is() -> None:
    """All 65536 patterns, infinities, NaN and denormal numbers included."""
    patterns = np.arange(1 << 16, dtype=np.uint16)
    for part in patterns.reshape(-1, 1024):
        got = numerics.l1_reader(DataType.BF16)(part.view(np.uint8))
        assert (got.view(np.uint32) == part.astype(np.uint32) << 16).all()


def test_every_float16_is_unpacked_with_exponent_31_as_an_ordinary_one() -> None:
    """Below it the numbers are IEEE's; infinity and NaN are 2^16 * 1.m."""
    patterns = np.arange(1 << 16, dtype=np.uint16)
    got = np.concatenate(
        [
            numerics.l1_reader(DataType.F16)(part.view(np.uint8))
            for part in patterns.reshape(-1, 1024)
        ]
    )
    ordinary = (patterns >> 10 & 31) < 31
    ieee = patterns.view(np.float16).astype(np.float32)
    np.testing.assert_array_equal(got[ordinary], ieee[ordinary])
    assert got[0x7C00] == 65536
    assert got[0x7E00] == 98304
    assert got[0x7FFF] == 131008
    assert got[0xFC01] == -65600


@pytest.mark.parametrize("data_type", [*CLASS_A, *CLASS_B])
def test_block_floats_are_unpacked_by_their_formula(data_type: DataType) -> None:
    """(-1)^sign * magnitude / 2^(bits - 1) * 2^(exponent - bias) for random bytes.

    A zero with a sign is minus infinity; exponent 255 keeps its place in the pattern.
    """
    magnitude_bits = BITS[data_type]
    bias, exponent_bits = (15, 5) if data_type in CLASS_A else (127, 8)
    rng = np.random.default_rng(data_type)
    data = rng.integers(0, 256, tile_bytes(data_type), dtype=np.uint8)
    data[:64] = rng.integers(0, 1 << exponent_bits, 64)
    data[0] = (1 << exponent_bits) - 1
    got = numerics.l1_reader(data_type)(data)
    per_byte = 8 // (magnitude_bits + 1)
    for place in range(1024):
        stored = data[64 + place // per_byte] >> (place % per_byte * (magnitude_bits + 1))
        magnitude = int(stored) & ((1 << magnitude_bits) - 1)
        sign = int(stored) >> magnitude_bits & 1
        exponent = int(data[place // 16])
        assert bits(got[place : place + 1]) == [
            _bf16_pattern(sign, magnitude, exponent - bias - (magnitude_bits - 1))
        ]


def _bf16_pattern(sign: int, magnitude: int, scale: int) -> str:
    """The float32 pattern of magnitude * 2^scale, exponent 255 as any other, below it 0."""
    if magnitude == 0:
        return "ff800000" if sign else "00000000"
    length = magnitude.bit_length()
    exponent = scale + length - 1 + 127
    if exponent < 1:
        return "00000000"
    mantissa = (magnitude << (24 - length)) & 0x7FFFFF
    return f"{sign << 31 | exponent << 23 | mantissa:08x}"


def test_float32_to_tf32_drops_13_bits() -> None:
    """No rounding; denormal numbers and NaN keep their upper bits."""
    values = floats(0x3F801FFF, 0x3FFFFFFF, 0xBF803000, 0x007FFFFF, 0x7F800001, 0x80000000)
    assert bits(numerics.to_source(values, Register.TF32)) == [
        *("3f800000", "3fffe000", "bf802000", "007fe000", "7f800000", "80000000")
    ]


def test_float32_to_bfloat16_drops_16_bits_and_denormal_numbers() -> None:
    """No rounding."""
    values = floats(0x3F80FFFF, 0xC07FFFFF, 0x007FFFFF, 0x00800000, 0x7F800000, 0x7F80FFFF)
    assert bits(numerics.to_source(values, Register.BF16)) == [
        *("3f800000", "c07f0000", "00000000", "00800000", "7f800000", "7f800000")
    ]


def test_float32_to_float16_narrows_the_exponent() -> None:
    """Mantissas are cut to 10 bits; too small is 0, too large the largest number."""
    values = np.array([1 + 2**-11, 65504, 98304, 131008, 131072, -1e30, 2**-14, -(2**-15)])
    got = numerics.to_source(values.astype(np.float32), Register.FP16)
    np.testing.assert_array_equal(
        got, np.array([1, 65504, 98304, 131008, 131008, -131008, 2**-14, 0], np.float32)
    )


# --- Operands, rounding of DST ------------------------------------------------------------------


def test_operands_have_no_special_values() -> None:
    """Exponent 255 is an ordinary one, denormal numbers are 0."""
    values = tile_of_bits(0x7F800000, 0xFF800000, 0x7FC00000, 0xFFFF0000, 0x007F0000, 0x00800000)
    got = numerics.operand(values, Register.BF16)
    assert list(got[:6]) == [
        *(2.0**128, -(2.0**128), 1.5 * 2.0**128, -(2 - 2.0**-7) * 2.0**128, 0.0, 2.0**-126)
    ]
    assert numerics.operand(tile(2**-15, 2**-14), Register.FP16)[:2].tolist() == [0, 2**-14]


def test_results_round_to_bfloat16_as_ml_dtypes_does() -> None:
    """Nearest, ties to even: random patterns and all ties of one binade."""
    rng = np.random.default_rng(0)
    patterns = rng.integers(0x00800000, 0x7F000000, 1 << 14, dtype=np.uint32)
    ties = (0x3F800000 + (np.arange(256, dtype=np.uint32) << 15)).astype(np.uint32)
    values = np.concatenate([patterns, ties, ties + 1, ties - 1]).view(np.float32)
    values = np.concatenate([values, -values])
    got = numerics.round_to(values.astype(np.float64), Register.BF16)
    np.testing.assert_array_equal(got, values.astype(ml_dtypes.bfloat16).astype(np.float32))


def test_results_round_to_float16_as_ieee_within_its_range() -> None:
    """Beyond 65504 the exponent goes on to 31; denormal results are 0."""
    rng = np.random.default_rng(1)
    values = rng.uniform(2**-14, 65519, 1 << 14) * rng.choice([-1.0, 1.0], 1 << 14)
    values = np.concatenate([values, 1 + (2 * np.arange(2048) + 1) / 2048])
    got = numerics.round_to(values, Register.FP16)
    np.testing.assert_array_equal(got, values.astype(np.float16).astype(np.float32))
    special = np.array([65520, 131040, 131072, -1e30, 2**-15, 2**-14 - 2**-30])
    got = numerics.round_to(special, Register.FP16)
    np.testing.assert_array_equal(
        got, np.array([65536, 131008, 131008, -131008, 0, 2**-14], np.float32)
    )


@pytest.mark.parametrize("register", [Register.BF16, Register.FP32])
def test_results_overflow_to_the_infinity_pattern(register: Register) -> None:
    """And flush to zero at the other end."""
    values = np.array([2.0**128, -1.7 * 2.0**200, 2.0**-127, -(2.0**-126)])
    assert bits(numerics.round_to(values, register)) == [
        *("7f800000", "ff800000", "00000000", "80800000")
    ]


# --- Fidelity -----------------------------------------------------------------------------------


def test_slices_of_a_full_mantissa() -> None:
    """TF32 with all 10 mantissa bits: SrcA gives 4 and 5 of them, SrcB 6 and 4."""
    full = np.array([2 - 2.0**-10])
    first, second = numerics.parts_a(full)
    assert (first[0], second[0]) == (2 - 2.0**-4, 2.0**-4 - 2.0**-9)
    first, second = numerics.parts_b(full)
    assert (first[0], second[0]) == (2 - 2.0**-6, 2.0**-6 - 2.0**-10)
    first, second = numerics.parts_a(np.array([-(2 - 2.0**-7)]))
    assert (first[0], second[0]) == (-(2 - 2.0**-4), -(2.0**-4 - 2.0**-7))


def test_parts_are_those_of_the_masks_on_float32() -> None:
    """A_hi keeps 0xfff80000, A_lo = x - (x & 0xfff83fff), and so on."""
    rng = np.random.default_rng(2)
    patterns = rng.integers(0x00800000, 0x7F800000, 4096, dtype=np.uint32) & 0xFFFFE000
    values = patterns.astype(np.uint32).view(np.float32)
    masks = ((0xFFF80000, 0xFFF83FFF), (0xFFFE0000, 0xFFFE1FFF))
    for slices, (high, keep) in zip((numerics.parts_a, numerics.parts_b), masks, strict=True):
        first, second = slices(values.astype(np.float64))
        np.testing.assert_array_equal(first, (patterns & high).astype(np.uint32).view(np.float32))
        kept = (patterns & keep).astype(np.uint32).view(np.float32)
        np.testing.assert_array_equal(second, values - kept)


PHASES = {
    MathFidelity.LOFI: ((0, 0),),
    MathFidelity.HIFI2: ((0, 0), (1, 0)),
    MathFidelity.HIFI3: ((0, 0), (1, 0), (0, 1)),
    MathFidelity.HIFI4: ((0, 0), (1, 0), (0, 1), (1, 1)),
}


def _part(number: float, masks: tuple[int, int], second: int) -> float:
    """A slice of a float32 number by its masks."""
    (pattern,) = struct.unpack("<I", struct.pack("<f", number))
    high, keep = masks
    if second == 0:
        return struct.unpack("<f", struct.pack("<I", pattern & high))[0]
    return number - struct.unpack("<f", struct.pack("<I", pattern & keep))[0]


def _rounded(number: float, register: Register) -> float:
    """Nearest, ties to even, in the precision of a register; ordinary numbers only."""
    if number == 0:
        return 0.0
    places = {Register.BF16: 8, Register.FP16: 11, Register.FP32: 24}[register]
    fraction, exponent = math.frexp(number)
    return math.ldexp(round(Fraction(fraction) * 2**places), exponent - places)


A_MASKS = (0xFFF80000, 0xFFF83FFF)
B_MASKS = (0xFFFE0000, 0xFFFE1FFF)


@pytest.mark.parametrize("fidelity", PHASES)
@pytest.mark.parametrize("register", [Register.BF16, Register.FP16, Register.FP32])
def test_matrix_product_step_by_step(fidelity: MathFidelity, register: Register) -> None:
    """A scalar model of a corner of the product: phases outside, steps of 16 inside."""
    rng = np.random.default_rng(5)
    source = {Register.FP32: Register.TF32}.get(register, register)
    in0, in1, start = (
        numerics.to_source(rng.normal(0, 1, 1024).astype(np.float32), source).reshape(32, 32)
        for _ in range(3)
    )
    start = numerics.round_to(start.astype(np.float64), register)
    got = numerics.matmul_onto(
        start,
        numerics.factor_a(numerics.operand(in1.reshape(-1), source).reshape(32, 32)),
        numerics.factor_b(numerics.operand(in0.reshape(-1), source).reshape(32, 32)),
        fidelity,
        register,
    )
    for row, column in [(0, 0), (1, 30), (17, 4), (31, 31), (16, 15)]:
        total = float(start[row, column])
        for part_a, part_b in PHASES[fidelity]:
            for first in (0, 16):
                products = [
                    _part(float(in0[row, k]), B_MASKS, part_b)
                    * _part(float(in1[k, column]), A_MASKS, part_a)
                    for k in range(first, first + 16)
                ]
                total = _rounded(math.fsum([total, *products]), register)
        assert float(got[row, column]) == total


@pytest.mark.parametrize("fidelity", PHASES)
def test_elementwise_product_phase_by_phase(fidelity: MathFidelity) -> None:
    """A scalar model of every number of a tile in FP16; others are those of recorded programs."""
    rng = np.random.default_rng(6)
    source = register = Register.FP16
    a, b = (numerics.to_source(rng.normal(0, 1, 1024).astype(np.float32), source) for _ in range(2))
    start = numerics.round_to(rng.normal(0, 1, 1024), register)
    got = numerics.multiply_onto(start, a, b, fidelity, register)
    for place in range(0, 1024, 7):
        total = float(start[place])
        for part_a, part_b in PHASES[fidelity]:
            product = _part(float(a[place]), A_MASKS, part_a) * _part(
                float(b[place]), B_MASKS, part_b
            )
            total = _rounded(total + product, register)
        assert float(got[place]) == total


@pytest.mark.parametrize("fidelity", PHASES)
@pytest.mark.parametrize("register", [Register.BF16, Register.FP32])
@pytest.mark.parametrize("scale", [1.0, 2.0**-55, 2.0**70])
def test_short_cuts_change_no_bit(fidelity: MathFidelity, register: Register, scale: float) -> None:
    """Sums and products in float32, where they are used, against the way by integers.

    Small scales underflow, large ones overflow; infinities, denormal numbers and zeros are mixed
    in for half of them.
    """
    rng = np.random.default_rng(8)
    source = {Register.FP32: Register.TF32}.get(register, register)
    special = [0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-39, 2.0**-126, 3e38, -0.0]
    for plain in (True, False):
        a, b = (
            numerics.to_source((rng.normal(0, scale, 1024)).astype(np.float32), source)
            for _ in range(2)
        )
        if not plain:
            a[rng.choice(1024, 99)] = rng.choice(special, 99)
            b[rng.choice(1024, 99)] = rng.choice(special, 99)
        slow = numerics.multiply_onto(np.zeros(1024, np.float32), a, b, fidelity, register)
        assert bits(numerics.multiply(a, b, fidelity, register)) == bits(slow)
        for function in (np.add, np.subtract):
            slow = numerics.combine_onto(function, np.zeros(1024, np.float32), a, b, register)
            got = np.empty(1024, np.float32)
            numerics.combine(function, a, b, register, got)
            assert bits(got) == bits(slow)


@pytest.mark.parametrize("register", [Register.BF16, Register.FP32])
def test_a_nan_of_ones_has_the_largest_exponent(register: Register) -> None:
    """It is infinity in DST, as other numbers of that exponent are, whatever its sign."""
    a, b = np.ones(1024, np.float32), np.ones(1024, np.float32)
    a[:3] = np.array([0xFFFFE000, 0x7FFFE000, 0x7FC00000], np.uint32).view(np.float32)
    b[3] = a[0]
    infinite = [-np.inf, np.inf, np.inf, -np.inf, 2.0]
    got = np.empty(1024, np.float32)
    numerics.combine(np.add, a, b, register, got)
    assert got[:5].tolist() == infinite
    numerics.combine(np.subtract, a, b, register, got)
    assert got[:5].tolist() == [-np.inf, np.inf, np.inf, np.inf, 0.0]


def test_lofi_is_exact_for_short_mantissas_only() -> None:
    """5 bits of SrcA by 7 of SrcB: one bit more of either is lost until its phase comes."""
    a, b = tile(1 + 2**-4, 1 + 2**-5, 1), tile(1 + 2**-6, 1, 1 + 2**-7)

    def product(fidelity: MathFidelity) -> list[float]:
        return numerics.multiply(a, b, fidelity, Register.FP32)[:3].tolist()

    exact = (1 + 2**-4) * (1 + 2**-6)
    assert product(MathFidelity.LOFI) == [exact, 1, 1]
    assert product(MathFidelity.HIFI2) == [exact, 1 + 2**-5, 1]
    assert product(MathFidelity.HIFI3) == [exact, 1 + 2**-5, 1 + 2**-7]


@pytest.mark.parametrize("register", [Register.BF16, Register.FP16, Register.FP32])
@pytest.mark.parametrize("scale", [1.0, 2.0**-50, 2.0**60])
def test_chains_of_products_are_those_one_by_one(register: Register, scale: float) -> None:
    """Several tiles at once; large and small products leave the range in which that is quick."""
    rng = np.random.default_rng(9)
    source = {Register.FP32: Register.TF32}.get(register, register)

    def factor(make: Callable[[Any], numerics.Factor]) -> numerics.Factor:
        values = numerics.to_source(rng.normal(0, scale, 1024).astype(np.float32), source)
        return make(numerics.operand(values, source).reshape(32, 32))

    chains = [
        [(factor(numerics.factor_a), factor(numerics.factor_b)) for _ in range(5)] for _ in range(3)
    ]
    tiles = [np.zeros((32, 32), np.float32) for _ in chains]
    numerics.add_products(tiles, chains, MathFidelity.HIFI3, register)
    for tile, chain in zip(tiles, chains, strict=True):
        expected = np.zeros((32, 32), np.float32)
        for a, b in chain:
            expected = numerics.matmul_onto(expected, a, b, MathFidelity.HIFI3, register)
        assert bits(tile.reshape(-1)) == bits(expected.reshape(-1))


@pytest.mark.parametrize(
    ("bits_of", "least"),
    [(None, 2.0**-11), (Arch.WORMHOLE_B0, 2.0**-10), (Arch.BLACKHOLE, 2.0**-10)],
)
def test_terms_of_products_on_cards(bits_of: Arch | None, least: float) -> None:
    """Of eight, they are rounded to 10 bits below the largest, halves away from 0."""
    in0, in1 = np.zeros((32, 32)), np.zeros((32, 32))
    # In the second group all terms have the last bit of a quarter.
    in0[0, :12] = [1, *[2.0**-11] * 7, 2.0**-2, *[2.0**-11] * 3]
    in0[1, :12] = [1, *[-(2.0**-11)] * 7, 2.0**-2, *[-(2.0**-11)] * 3]
    in1[:, 5] = 1
    factors = numerics.factor_a(in1, bits_of), numerics.factor_b(in0, bits_of)
    tile = np.zeros((32, 32), np.float32)
    numerics.add_products([tile], [[factors]], MathFidelity.HIFI2, Register.FP32)
    rest = 7 * least + 3 * 2.0**-11
    assert tile[:2, 5].tolist() == [1.25 + rest, 1.25 - rest]


def test_sums_of_rows_take_all_bits() -> None:
    """Rows are in SrcB, where the last of 11 bits is multiplied: SrcA would leave it out.

    Those of several tiles are added up together.
    """
    ones = np.zeros((32, 32))
    ones[0] = 1
    rows = np.zeros((32, 32))
    rows[3, 7] = 1 + 2.0**-10
    tiles = np.stack([rows.T, 2 * rows]).astype(np.float32)
    sums = numerics.pool_onto(
        *(np.zeros((2, 32), np.float32), tiles, numerics.factor_b(ones)),
        *(numerics.Pool.ROWS, MathFidelity.HIFI4, Register.FP32),
        source=Register.TF32,
        wormhole=True,
    )
    for tile, (line, number) in enumerate(((3, 1 + 2.0**-10), (7, 2 + 2.0**-9))):
        assert sums[tile].tolist() == [number if row == line else 0 for row in range(32)]


@pytest.mark.parametrize("bits_of", [None, Arch.BLACKHOLE])
@pytest.mark.parametrize("register", [Register.BF16, Register.FP16, Register.FP32])
@pytest.mark.parametrize(
    ("rows", "columns", "taken"),
    [
        pytest.param(5, 6, slice(None), id="more than a block each way"),
        pytest.param(1, 3, slice(None), id="a row"),
        pytest.param(3, 3, slice(8), id="not all of a grid"),
        pytest.param(4, 7, [*range(13), 2, 2], id="several grids, and some tiles twice"),
    ],
)
def test_products_of_rows_with_columns_are_those_one_by_one(
    register: Register, rows: int, columns: int, taken: slice | list[int], bits_of: Arch | None
) -> None:
    """Tiles that share factors, in any order: their sums may hold numbers of very unlike sizes."""
    rng = np.random.default_rng(12)
    source = {Register.FP32: Register.TF32}.get(register, register)

    def factors(make: Callable[[Any, Arch | None], numerics.Factor]) -> list[numerics.Factor]:
        values = np.ldexp(rng.normal(0, 1, (2, 1024)), rng.integers(-9, 9, (2, 1024)))
        numbers = numerics.to_source(values.astype(np.float32), source)
        operands = (numerics.operand(each, source).reshape(32, 32) for each in numbers)
        return [make(each, bits_of) for each in operands]

    of_rows = [factors(numerics.factor_b) for _ in range(rows)]
    of_columns = [factors(numerics.factor_a) for _ in range(columns)]
    places: list[int] = rng.permutation(rows * columns)[taken].tolist()
    chains = [
        list(zip(of_columns[place % columns], of_rows[place // columns], strict=True))
        for place in places
    ]
    before = numerics.round_to(rng.normal(0, 9, (len(places), 32, 32)), register)
    tiles = list(before.copy())
    numerics.add_products(tiles, chains, MathFidelity.HIFI4, register)
    for tile, expected, chain in zip(tiles, before, chains, strict=True):
        for a, b in chain:
            expected = numerics.matmul_onto(expected, a, b, MathFidelity.HIFI4, register)
        assert bits(tile.reshape(-1)) == bits(expected.reshape(-1))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("place", [0, 21, 400])
def test_sums_of_products_are_rounded_to_even(sign: float, place: int) -> None:
    """Of two numbers, of which one is small: on ties, and just beside powers of 2."""
    smaller = np.multiply.outer([1, -1, 3, -3], 2.0 ** -np.arange(8, 53)).reshape(-1)
    first = sign * np.repeat([1, 1 + 2.0**-6, 2 - 2.0**-6], smaller.size)
    small = np.tile(smaller, 3)
    in0, in1 = np.zeros((first.size, 512), np.float32), np.zeros((512, 3), np.float32)
    in0[:, place], in0[:, place + 1] = first, small
    in1[place : place + 2] = scales = [1, 0.5, 64]
    start = np.zeros((first.size, 3), np.float32)
    found = numerics.multiply_matrices(start, in0, in1, MathFidelity.LOFI, Register.BF16)
    assert found is not None
    fractions, exponents = np.frexp(first + small)
    expected = np.ldexp(np.rint(fractions * 256) / 256, exponents)
    np.testing.assert_array_equal(found, np.multiply.outer(expected, scales))


@pytest.mark.parametrize("side", ["a", "b"])
def test_factors_of_many_tiles_are_those_of_each(side: str) -> None:
    """Parts, extents and numbers, also of tiles of zeros, infinities and NaN."""
    values = np.random.default_rng(3).standard_normal((4, 32, 32)).astype(np.float32)
    values[1] = 0
    values[2, 3, 4:6] = np.inf, np.nan
    operands = numerics.operand(values)
    together, one_by_one = (
        numerics.factors_a if side == "a" else numerics.factors_b,
        numerics.factor_a if side == "a" else numerics.factor_b,
    )
    parts = (numerics.parts_a if side == "a" else numerics.parts_b)(operands)
    for place, found in enumerate(together(operands, Arch.WORMHOLE_B0)):
        for each, expected in zip(
            found, one_by_one(operands[place], Arch.WORMHOLE_B0), strict=True
        ):
            np.testing.assert_array_equal(each, expected)
        for part, expected in zip(found.parts, parts, strict=True):
            steps = part.reshape(32, 32) if side == "a" else np.hstack([*part[0]])
            np.testing.assert_array_equal(steps, expected[place])
        magnitudes = np.abs(operands[place])
        assert found.largest == magnitudes.max()
        assert found.smallest == min(magnitudes[magnitudes > 0], default=np.inf)


@pytest.mark.parametrize("fidelity", PHASES)
@pytest.mark.parametrize("register", [Register.BF16, Register.FP32])
def test_products_of_matrices_are_those_of_their_tiles(
    fidelity: MathFidelity, register: Register
) -> None:
    """More than a block each way, of numbers of unlike sizes, onto numbers that were there."""
    rng = np.random.default_rng(14)
    source = {Register.FP32: Register.TF32}.get(register, register)

    def matrix(rows: int, columns: int) -> Any:
        values = np.ldexp(rng.normal(0, 1, (rows, columns)), rng.integers(-5, 5, (rows, columns)))
        return numerics.to_source(values.astype(np.float32), source)

    def part(values: Any, row: int, column: int) -> Any:
        return values[32 * row : 32 * row + 32, 32 * column : 32 * column + 32]

    in0, in1 = matrix(160, 96), matrix(96, 192)
    start = numerics.round_to(rng.normal(0, 9, (160, 192)), register)
    got = numerics.multiply_matrices(start, in0, in1, fidelity, register)
    assert got is not None
    for row, column in ((0, 0), (3, 5), (4, 1), (4, 5)):
        expected = part(start, row, column)
        for k in range(3):
            a = numerics.factor_a(numerics.operand(part(in1, k, column), source))
            b = numerics.factor_b(numerics.operand(part(in0, row, k), source))
            expected = numerics.matmul_onto(expected, a, b, fidelity, register)
        np.testing.assert_array_equal(part(got, row, column), expected)


def test_matrices_with_special_numbers_are_left_to_products_of_tiles() -> None:
    """Denormal and infinite ones, products that are too small or large, and DST in FP16."""
    ones = np.ones((32, 32), np.float32)

    def multiply(in0: Any, start: Any = ones, register: Register = Register.BF16) -> Any:
        return numerics.multiply_matrices(start, in0, ones, MathFidelity.LOFI, register)

    assert multiply(ones).tolist() == [[33.0] * 32] * 32
    for number in (1e-40, np.inf, np.nan, 2.0**-91, 2.0**119):
        special = ones.copy()
        special[3, 30] = number
        assert multiply(special) is None
    assert multiply(ones, np.full((32, 32), np.inf, np.float32)) is None
    assert multiply(ones, register=Register.FP16) is None


@pytest.mark.parametrize("register", [Register.BF16, Register.FP16])
def test_rounding_of_ties_and_their_neighbours(register: Register) -> None:
    """Numbers halfway between two of the register, and the next float64 numbers on both sides."""
    rng = np.random.default_rng(10)
    places = {Register.BF16: 8, Register.FP16: 11}[register]
    halfway = 2.0 * rng.integers(1 << (places - 1), 1 << places, 300) + 1
    halfway[:2] = (2 << places) - 1, (1 << places) + 1
    numbers = np.ldexp(halfway * rng.choice([-1, 1], 300), rng.integers(-13, 2, 300) - places)
    for each in (numbers, np.nextafter(numbers, np.inf), np.nextafter(numbers, -np.inf)):
        got = numerics.round_to(each, register).tolist()
        assert got == [_rounded(number, register) for number in each.tolist()]


def test_products_that_overflow_or_vanish() -> None:
    """A sum of two times 2^127 is the infinity pattern, 2^-130 is 0, infinity is 2^128."""
    left, right = np.zeros((2, 32, 32), np.float32)
    left[0, :2], right[:2, 0] = 2.0**64, 2.0**63
    left[1, 0], right[0, 1] = 2.0**-65, 2.0**-65
    left[2, 2], right[2, 2] = np.inf, 0.5
    for register in (Register.BF16, Register.FP32):
        got = numerics.matmul_onto(
            np.zeros((32, 32), np.float32),
            numerics.factor_a(numerics.operand(right)),
            numerics.factor_b(numerics.operand(left)),
            MathFidelity.HIFI4,
            register,
        )
        assert got[0, 0] == np.inf
        assert got[1, 1] == 0
        assert got[2, 2] == 2.0**127


# --- Packing ------------------------------------------------------------------------------------


def test_wide_dst_to_bfloat16_rounds_ties_away() -> None:
    """-0 and denormal numbers become +0, NaN infinity; the largest number rounds to infinity."""
    values = tile_of_bits(
        *(0x3F808000, 0xBF808000, 0x3F807FFF, 0x3F818000, 0x80000000, 0x807FFFFF),
        *(0x7FC00000, 0xFFC00001, 0x7F800000, 0x7F7FFFFF),
    )
    got = numerics.packer(Register.FP32, DataType.BF16)(values).view(np.uint16)[:10]
    assert [f"{each:04x}" for each in got] == [
        *("3f81", "bf81", "3f80", "3f82", "0000", "0000", "7f80", "ff80", "7f80", "7f80")
    ]


def test_16_bit_dst_to_float32_is_exact() -> None:
    """Identity keeps everything."""
    values = tile_of_bits(0x80000000, 0x7F800000, 0x7FC00000, 0x3F810000)
    got = numerics.packer(Register.BF16, DataType.F32)(values).view(np.uint32)[:4]
    assert [f"{each:08x}" for each in got] == ["80000000", "7f800000", "7fc00000", "3f810000"]


def test_wide_dst_to_float16() -> None:
    """10 bits of mantissa, ties away; exponent 31 is used, then the largest number."""
    values = tile(1 + 2**-11, -(1 + 2**-11), 1 + 2**-12, 65536, 98304, 131071, 1e30, 2**-15, -0.0)
    got = numerics.packer(Register.FP32, DataType.F16)(values).view(np.uint16)[:9]
    assert [f"{each:04x}" for each in got] == [
        *("3c01", "bc01", "3c00", "7c00", "7e00", "7fff", "7fff", "0000", "0000")
    ]


def test_bfloat16_dst_to_float16_truncates_and_saturates() -> None:
    """The late conversion does not round; bfloat16's mantissa fits."""
    values = tile(1.9921875, 2.0**20, -(2.0**20), 2.0**-20)
    got = numerics.packer(Register.BF16, DataType.F16)(values).view(np.uint16)[:4]
    assert [f"{each:04x}" for each in got] == ["3ff8", "7fff", "ffff", "0000"]


def test_float16_dst_to_bfloat16_truncates() -> None:
    """10 bits of mantissa become 7."""
    values = tile(1 + 2**-7 + 2**-8 + 2**-9, 131008)
    got = numerics.packer(Register.FP16, DataType.BF16)(values).view(np.uint16)[:2]
    assert [f"{each:04x}" for each in got] == ["3f81", "47ff"]


def _block_float(value: float, shared: int, magnitude_bits: int, bias: int) -> int:
    """Sign and magnitude: 7 bits rounded, ties away from zero, then cut."""
    magnitude = Fraction(abs(value)) / Fraction(2) ** (shared - bias - 6)
    rounded = min(math.floor(magnitude + Fraction(1, 2)), 127) >> (7 - magnitude_bits)
    sign = 1 if value < 0 and rounded else 0
    return sign << magnitude_bits | rounded


@pytest.mark.parametrize("data_type", [*CLASS_A, *CLASS_B])
def test_block_floats_share_the_largest_exponent(data_type: DataType) -> None:
    """A scalar model of the packer on bfloat16 numbers of very different sizes."""
    magnitude_bits = BITS[data_type]
    bias = 15 if data_type in CLASS_A else 127
    rng = np.random.default_rng(data_type)
    values = rng.normal(0, 1, 1024) * np.exp2(rng.integers(-9, 9, 1024))
    values = values.astype(ml_dtypes.bfloat16).astype(np.float32)
    values[16:32] = 0
    values[32:48] = np.float32(1 - 2**-8)  # rounds up to 128, which does not fit
    register = Register.FP16 if data_type in CLASS_A else Register.BF16
    data = numerics.packer(register, data_type)(values)
    assert data.size == tile_bytes(data_type)
    per_byte = 8 // (magnitude_bits + 1)
    for block in range(64):
        numbers = [float(each) for each in values[16 * block : 16 * block + 16]]
        largest = max(abs(each) for each in numbers)
        shared = math.frexp(largest)[1] - 1 + bias if largest else 0
        assert data[block] == shared
        for index, number in enumerate(numbers):
            place = 16 * block + index
            stored = data[64 + place // per_byte] >> (place % per_byte * (magnitude_bits + 1))
            expected = _block_float(number, shared, magnitude_bits, bias)
            assert int(stored) & ((2 << magnitude_bits) - 1) == expected


def test_block_float_rounds_ties_away_where_the_host_rounds_to_even() -> None:
    """64.5 and 65.5 of 64 units: 65 and 66; bits of bfp_bf4 and bfp_bf2 beyond 7 are cut."""
    values = tile(1, 64.5 / 64, 65.5 / 64, -64.5 / 64)
    data = numerics.packer(Register.BF16, DataType.BFP_BF8)(values)
    assert data[0] == 127
    assert list(data[64:68]) == [64, 65, 66, 0x80 | 65]
    values = tile(1, 31 / 16, -1 / 16)
    data = numerics.packer(Register.BF16, DataType.BFP_BF4)(values)
    assert list(data[64:66]) == [7 << 4 | 4, 0]


@pytest.mark.parametrize("data_type", [DataType.U32, DataType.U16, DataType.U8])
def test_integers_pass_unchanged(data_type: DataType) -> None:
    """From L1 to DST and back, the lower bits in narrower formats."""
    rng = np.random.default_rng(7)
    data = rng.integers(0, 256, tile_bytes(data_type), dtype=np.uint8)
    values = numerics.l1_reader(data_type)(data)
    assert values.dtype == np.int32
    packed = numerics.packer(Register.FP32, data_type)(values.view(np.float32))
    np.testing.assert_array_equal(packed, data)


# --- The vector unit ----------------------------------------------------------------------------


def test_vector_results_keep_infinity_and_nan_except_in_float16() -> None:
    """bfloat16 rounds to nearest even; FP16 has its largest number for both."""
    values = np.array([np.inf, -np.inf, np.nan, 1 + 2**-8, 1 + 3 * 2**-8], np.float32)
    got = numerics.store_vector(values, Register.BF16)
    np.testing.assert_array_equal(
        got, np.array([np.inf, -np.inf, np.nan, 1, 1 + 2**-6], np.float32)
    )
    got = numerics.store_vector(values, Register.FP16)
    assert got[:3].tolist() == [131008, -131008, 131008]
    assert numerics.store_vector(values, Register.FP32) is values


# --- Order --------------------------------------------------------------------------------------


def test_faces_and_rows() -> None:
    """Number (i, j) is at (2 * (i div 16) + j div 16) * 256 + (i mod 16) * 16 + j mod 16."""
    rows = np.arange(1024).reshape(32, 32)
    faces = numerics.faces_of_rows(rows)
    for i, j in [(0, 0), (0, 16), (16, 0), (31, 31), (5, 20), (20, 5)]:
        place = (2 * (i // 16) + j // 16) * 256 + (i % 16) * 16 + j % 16
        assert faces[place] == rows[i, j]
    np.testing.assert_array_equal(numerics.rows_of_faces(faces), rows)
