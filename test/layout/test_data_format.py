"""Number formats against ml_dtypes, exact fractions and patterns worked out by hand."""

import math
import struct
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttmlir.layout.data_format import (
    BLOCK_FLOATS,
    bf16_bits,
    bf16_values,
    block_float,
    decode_block_float,
    encode_block_float,
    f16_bits,
    f16_values,
    pack_block_float,
    packed_tile_bytes,
    round_bf16,
    round_block_float,
    round_f16,
    unpack_block_float,
)
from ttmlir.layout.enums import DataType
from ttmlir.layout.errors import LayoutError

FLOATS = st.floats(width=32)
BLOCK_FLOAT_TYPES = st.sampled_from(list(BLOCK_FLOATS))


def same_bits(left: np.ndarray, right: np.ndarray) -> bool:
    """Equal bit by bit, NaN and the sign of zero included."""
    return left.dtype == right.dtype and left.tobytes() == right.tobytes()


def test_bf16_of_every_upper_half_and_around_ties():
    """Rounding agrees with ml_dtypes on all 65536 upper halves with lower halves around a tie."""
    upper = np.arange(1 << 16, dtype=np.uint32) << 16
    for lower in (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF):
        values = (upper | lower).view(np.float32)
        with np.errstate(invalid="ignore"):
            expected = values.astype(ml_dtypes.bfloat16)
        assert same_bits(bf16_bits(values), expected.view(np.uint16))


def test_bf16_values_are_the_upper_half():
    """Every bit pattern stands for the float32 whose lower half is 0."""
    bits = np.arange(1 << 16, dtype=np.uint16)
    expected = bits.view(ml_dtypes.bfloat16).astype(np.float32)
    finite = np.isfinite(expected)
    assert same_bits(bf16_values(bits)[finite], expected[finite])
    assert np.isnan(bf16_values(np.uint16(0x7FC1)))


@given(st.lists(FLOATS, min_size=1, max_size=50))
def test_f16_agrees_with_struct_and_numpy(numbers: list[float]):
    """Rounding to nearest even, with overflow to infinity."""
    values = np.array(numbers, np.float32)
    with np.errstate(over="ignore"):
        expected = values.astype(np.float16)
    assert same_bits(f16_bits(values), expected.view(np.uint16))
    assert same_bits(f16_values(f16_bits(values)), expected.astype(np.float32))
    for value, bits in zip(numbers, f16_bits(values), strict=True):
        if math.isfinite(value) and abs(value) < 65504:
            assert struct.pack("<e", value) == struct.pack("<H", bits)


def test_rounding_is_to_nearest_even():
    """1 + 2^-8 is halfway between two bfloat16 numbers, 1 + 3 * 2^-8 halfway above an odd one."""
    values = np.array([1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8, 3.4e38], np.float32)
    assert round_bf16(values).tolist() == [1.0, 1 + 4 * 2**-8, -1.0, np.inf]
    assert round_f16(np.float32(2049.0)) == 2048.0
    assert round_f16(np.float32(2051.0)) == 2052.0


# --- Block floats ------------------------------------------------------------------------------


def block(*numbers: float) -> np.ndarray:
    """A block of 16 numbers, filled up with 0."""
    return np.array([*numbers, *[0.0] * (16 - len(numbers))], np.float32)


@pytest.mark.parametrize(
    ("numbers", "data_type", "exponent", "expected"),
    [
        # 1.0 is 64/64 * 2^0, 0.5 is 32/64, -0.25 is 16/64 with a sign; exponent 127.
        ((1.0, 0.5, -0.25), DataType.BFP_BF8, 127, [64, 32, 128 | 16]),
        # 1.0 beside 3.0: exponent 128, one step is 2/64. 3.0 is 96 steps, 1.0 is 32.
        ((3.0, 1.0), DataType.BFP_BF8, 128, [96, 32]),
        # 1 + 1/128 is 64.5 steps of 1/64: the tie goes to the even 64; 1 + 3/128 to 66.
        ((1 + 1 / 128, 1 + 3 / 128), DataType.BFP_BF8, 127, [64, 66]),
        # 127.75 of 64 steps would round to 128, which does not fit: the largest, 127.
        ((2 - 1 / 256,), DataType.BFP_BF8, 127, [127]),
        # 1/256 beside 1: a quarter of a step, rounds to 0 and loses its sign.
        ((1.0, -1 / 256), DataType.BFP_BF8, 127, [64, 0]),
        # bfp4: steps of 1/4. 1.0 is 4, 1.5 is 6, -0.25 is 1 with sign bit 8, 0.125 ties to 0.
        ((1.0, 1.5, -0.25, 0.125), DataType.BFP_BF4, 127, [4, 6, 8 | 1, 0]),
        # bfp2: steps of 1. 1.0 is 1, -1.0 is 1 with sign bit 2, 0.5 ties to 0.
        ((1.0, -1.0, 0.5), DataType.BFP_BF2, 127, [1, 2 | 1, 0]),
        # bfp2, exponent 128: steps of 2. 3.0 is 1.5 steps, no larger than 1.
        ((3.0, 1.5), DataType.BFP_BF2, 128, [1, 1]),
        # The a-variants have bias 15.
        ((1.0, -0.5), DataType.BFP_F8, 15, [64, 128 | 32]),
        # 2^17 is beyond exponent 31 (2^16): the largest number, 127/64 * 2^16. 2^16 is 64 steps.
        ((2.0**17, 2.0**16), DataType.BFP_F8, 31, [127, 64]),
        # 2^-15 has exponent 0, and 2^-16 none.
        ((2.0**-15, 2.0**-16), DataType.BFP_F8, 0, [64, 0]),
        # Nothing at all, negative zero, and a denormal.
        ((0.0, -0.0, 2.0**-140), DataType.BFP_BF8, 0, [0, 0, 0]),
    ],
)
def test_encoding_by_hand(
    numbers: tuple[float, ...], data_type: DataType, exponent: int, expected: list[int]
):
    """Exponent, signs and magnitudes of single blocks."""
    exponents, stored = encode_block_float(block(*numbers), data_type)
    assert exponents.tolist() == [exponent]
    assert stored[0].tolist() == expected + [0] * (16 - len(expected))


def test_decoding_by_hand():
    """Magnitude over 2^6 times the power of two; a sign without magnitude is minus infinity."""
    stored = np.array([[64, 32, 128 | 16, 127, 128, *[0] * 11]], np.uint8)
    values = decode_block_float(np.array([128], np.uint8), stored, DataType.BFP_BF8)
    assert values[:5].tolist() == [2.0, 1.0, -0.5, 127 / 32, -np.inf]


def test_infinity_and_nan_are_numbers_of_exponent_128():
    """Infinity is 64 steps of 2^122; beyond float32 when read back, and all others vanish."""
    exponents, stored = encode_block_float(block(np.inf, -np.inf, 1.0), DataType.BFP_BF8)
    assert (exponents[0], stored[0, :3].tolist()) == (255, [64, 192, 0])
    rounded = round_block_float(block(np.inf, -np.inf, np.nan), DataType.BFP_BF8)
    assert rounded[:3].tolist() == [np.inf, -np.inf, np.inf]


@given(
    st.lists(
        st.floats(-(2.0**14), 2.0**14, width=32).filter(lambda x: x == 0 or abs(x) > 2**-12),
        min_size=16,
        max_size=16,
    ),
    BLOCK_FLOAT_TYPES,
)
def test_encoding_agrees_with_exact_fractions(numbers: list[float], data_type: DataType):
    """Each number is the nearest multiple of the step, computed with exact fractions."""
    bits = BLOCK_FLOATS[data_type].magnitude_bits
    largest = max(map(abs, numbers))
    shared = math.floor(math.log2(largest)) if largest else 0
    shared += 1 if largest >= 2.0 ** (shared + 1) else -1 if largest < 2.0**shared else 0
    step = Fraction(2) ** (shared - bits + 1)
    expected: list[float] = []
    for number in numbers:
        # Bits below the 24 of the shared exponent are cut off before rounding.
        cut = math.floor(abs(Fraction(number)) / (Fraction(2) ** (shared - 23)))
        magnitude = min(round(cut * Fraction(2) ** (shared - 23) / step), (1 << bits) - 1)
        expected.append(math.copysign(float(magnitude * step), number) if magnitude else 0.0)
    assert round_block_float(np.array(numbers, np.float32), data_type).tolist() == expected


@given(
    st.lists(st.floats(-1e4, 1e4, width=32), min_size=1, max_size=40),
    BLOCK_FLOAT_TYPES,
)
def test_rounding_twice_is_rounding_once(numbers: list[float], data_type: DataType):
    """What a format can hold, it keeps, as long as the largest of a block stays as large."""
    once = round_block_float(np.array(numbers, np.float32), data_type)
    np.testing.assert_array_equal(round_block_float(once, data_type), once)


def test_rounding_keeps_shape_and_type_and_blocks_follow_rows():
    """Blocks end with the row: the 17th number of a row has an exponent of its own."""
    values = np.zeros((3, 5, 17), np.float64)
    values[1, 2, 0], values[1, 2, 15], values[1, 2, 16] = 1.0, 1 / 1024, 1 / 1024
    rounded = round_block_float(values, DataType.BFP_BF8)
    assert (rounded.shape, rounded.dtype) == (values.shape, values.dtype)
    assert rounded[1, 2, [0, 15, 16]].tolist() == [1.0, 0.0, 1 / 1024]
    assert round_block_float(np.float32(1.005), DataType.BFP_BF8) == 1.0
    assert round_block_float(np.zeros((0, 3)), DataType.BFP_BF8).shape == (0, 3)


@pytest.mark.parametrize(
    ("data_type", "size"),
    [(DataType.BFP_BF8, 1088), (DataType.BFP_F4, 576), (DataType.BFP_BF2, 320)],
)
def test_packed_tiles(data_type: DataType, size: int):
    """64 exponents and then the numbers; reading gives back what rounding leaves."""
    random = np.random.default_rng(5)
    tiles = random.normal(size=(3, 1024)).astype(np.float32)
    packed = pack_block_float(tiles, data_type)
    assert len(packed) == 3 * size == 3 * packed_tile_bytes(data_type)
    np.testing.assert_array_equal(
        unpack_block_float(packed, data_type), round_block_float(tiles, data_type)
    )


def test_packed_bytes_by_hand():
    """The first number of a byte is in its low bits; exponents are filled up to 16 bytes."""
    tile = np.zeros(64, np.float32)  # 4x16: four blocks
    tile[:4] = 1.0, -1.5, 0.5, 0.25
    tile[16] = 4.0
    packed = pack_block_float(tile, DataType.BFP_BF4)
    assert len(packed) == 16 + 32
    assert packed[:16] == bytes([127, 129, *[0] * 14])
    # 1.0 is 4, -1.5 is 6 | 8 = 14, 0.5 is 2, 0.25 is 1, each in four bits.
    assert packed[16:18] == bytes([14 << 4 | 4, 1 << 4 | 2])
    assert packed[24] == 4
    np.testing.assert_array_equal(unpack_block_float(packed, DataType.BFP_BF4, 64)[0], tile)
    two_bits = pack_block_float(np.array([1, -1, 0, 1] * 4, np.float32), DataType.BFP_BF2)
    assert two_bits[16:] == bytes([1 << 6 | 0 << 4 | 3 << 2 | 1] * 4)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (
            lambda: block_float(DataType.BF16),
            "'bf16' is not a block float format; those are bfp_f8, bfp_bf8, bfp_f4, bfp_bf4, "
            "bfp_f2, bfp_bf2",
        ),
        (
            lambda: encode_block_float(np.zeros(17), DataType.BFP_BF8),
            "block floats come in blocks of 16, got an array of shape (17,)",
        ),
        (
            lambda: unpack_block_float(bytes(1087), DataType.BFP_BF8),
            "tiles of bfp_bf8 with 1024 numbers take 1088 bytes each, got 1087 bytes",
        ),
        (
            lambda: packed_tile_bytes(DataType.BFP_BF8, 40),
            "a tile of block floats holds a multiple of 16 numbers, got 40",
        ),
    ],
)
def test_refusals(action, message: str):
    """Other formats, blocks and sizes are refused with what was expected."""
    with pytest.raises(LayoutError) as error:
        action()
    assert str(error.value) == message
