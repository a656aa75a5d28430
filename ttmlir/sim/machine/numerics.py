"""What the compute engine of a Tensix core does to numbers, bit by bit and a tile at a time.

A tile is an array of 1024 numbers in the order of memory (four faces of 16x16). Numbers in the
registers SrcA, SrcB and DST are kept as float32, whose bit patterns hold those of all register
formats; `Register` says which of the bits exist. FP16 is the matrix unit's: its exponent 31 is an
ordinary one, so that it has neither infinity nor NaN and reaches up to 131008.

The matrix unit computes with *operands*, float64 arrays: denormal numbers are 0, and patterns with
exponent 255 are the ordinary numbers 1.m * 2^128. Sums of its products are exact in float64, save
that terms more than 2^28 times smaller than the largest may lose their last bits.

Sources: tt-isa-documentation, WormholeB0/TensixTile/TensixCoprocessor: FloatBitPatterns.md,
SrcASrcB.md, ELWMUL.md, MVMUL.md, UNPACR_Regular.md and Packers/FormatConversion.md; tt-metal,
jit_build/data_format.cpp for the choice of formats. Sums and products of elements and pools are
those of `matrix_unit`, save in FP16. For products of matrices, and FP16, sources name no tie rule
for results in a 16-bit DST: ties go to even here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from functools import cache, partial
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ttmlir.layout.data_format import BLOCK, BLOCK_FLOATS
from ttmlir.layout.enums import Arch, DataType, MathFidelity
from ttmlir.sim.machine import matrix_unit
from ttmlir.sim.machine.vector_unit import all_bfloat16, pack_bfloat16
from ttmlir.sim.timing.costs import fidelity_phases, tile_bytes

# --- Tile formats ---------------------------------------------------------------------------------
# Sizes and numbers of the formats of tiles, as the chip and TT-Metalium have them.

TILE_BYTES: dict[DataType, int] = {
    DataType.F32: 4096,
    DataType.F16: 2048,
    DataType.BF16: 2048,
    DataType.BFP_F8: 1088,
    DataType.BFP_BF8: 1088,
    DataType.BFP_F4: 576,
    DataType.BFP_BF4: 576,
    DataType.BFP_F2: 320,
    DataType.BFP_BF2: 320,
    DataType.U32: 4096,
    DataType.U16: 2048,
    DataType.U8: 1024,
}
"""Bytes of a 32x32 tile in L1 and DRAM, the 64 exponents of block floats included (tt-metal,
dataflow_api_addrgen.h)."""

FORMAT_NUMBERS: dict[DataType, int] = {
    DataType.F32: 0,
    DataType.F16: 1,
    DataType.BFP_F8: 2,
    DataType.BFP_F4: 3,
    DataType.BF16: 5,
    DataType.BFP_BF8: 6,
    DataType.BFP_BF4: 7,
    DataType.U16: 9,
    DataType.BFP_F2: 11,
    DataType.BFP_BF2: 15,
    DataType.U32: 24,
    DataType.U8: 30,
}
"""The numbers of tt-metal's `DataFormat` (tt_metal/hw/inc/tensix_types.h)."""


# --- Numerics -------------------------------------------------------------------------------------

Array = NDArray[Any]

TILE_VOLUME = 1024
"""Numbers in a tile."""


class Register(Enum):
    """Format of the numbers in a source or destination register."""

    TF32 = auto()
    """8 bits of exponent, 10 of mantissa; only in source registers."""
    BF16 = auto()
    FP16 = auto()
    FP32 = auto()
    """Only in DST."""
    INTEGER = auto()
    """32 bits that stand for no float."""


INTEGERS = frozenset({DataType.U32, DataType.U16, DataType.U8})
"""Formats of whole numbers; signed ones share them."""

_CLASS_A = frozenset({DataType.F16, DataType.BFP_F8, DataType.BFP_F4, DataType.BFP_F2})
_SCALAR_DTYPES = {
    DataType.F32: np.dtype(np.float32),
    DataType.F16: np.dtype(np.float16),
    DataType.BF16: np.dtype(ml_dtypes.bfloat16),
    DataType.U32: np.dtype(np.uint32),
    DataType.U16: np.dtype(np.uint16),
    DataType.U8: np.dtype(np.uint8),
}
_FLOAT32, _INT32 = np.dtype(np.float32), np.dtype(np.int32)
_UINT16, _UINT32 = np.dtype(np.uint16), np.dtype(np.uint32)
_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# Members of an Enum take longer to find.
_FP16, _FP32 = Register.FP16, Register.FP32
_MANTISSA_BITS = {Register.BF16: 7, Register.FP16: 10, Register.TF32: 10, Register.FP32: 23}
_SMALLEST = {Register.FP16: 2.0**-14}
_SMALLEST_NORMAL = 2.0**-126
_LARGEST_FP16 = 131008.0
_INFINITY_AS_OPERAND = 2.0**128

_MAGNITUDE = np.int32(0x7FFFFFFF)
_INFINITY = np.int32(0x7F800000)
_NO_NUMBERS = np.zeros(TILE_VOLUME, np.float32)


def scalar_dtype(data_type: DataType) -> np.dtype[Any]:
    """The NumPy type of the numbers of a format; KeyError for block floats."""
    return _SCALAR_DTYPES[data_type]


# --- Which formats a kernel's registers have ----------------------------------------------------


def register_of_class(data_types: Iterable[DataType]) -> Register:
    """The 16-bit format of a kernel whose circular buffers have these formats.

    A buffer with 8 bits of exponent makes it BF16. Float32 decides nothing, so that a kernel of
    Float32 alone gets FP16.
    """
    floats = {each for each in data_types if each not in INTEGERS and each is not DataType.F32}
    return Register.BF16 if floats - _CLASS_A else Register.FP16


def source_register(data_type: DataType, among: Iterable[DataType], *, wide: bool) -> Register:
    """The format in SrcA and SrcB of tiles stored as `data_type`.

    `among` are the formats of all the kernel's circular buffers, `wide` says whether DST has 32
    bits (fp32_dest_acc_en).
    """
    if data_type in INTEGERS:
        return Register.INTEGER
    if data_type in _CLASS_A:
        return Register.FP16
    if data_type is not DataType.F32:
        return Register.BF16
    others = set(among)
    narrow = register_of_class(others)
    all_float32 = others <= {DataType.F32}
    return Register.TF32 if wide and (all_float32 or narrow is Register.BF16) else narrow


# --- From L1 to the source registers ------------------------------------------------------------


@cache
def ieee_reader(data_type: DataType) -> Callable[[Array], Array]:
    """A function of the bytes of a tile: the numbers (float32, or int32) that they stand for."""
    if data_type in BLOCK_FLOATS:
        return partial(_block_float_values, data_type=data_type)
    stored, number = _SCALAR_DTYPES[data_type], _INT32 if data_type in INTEGERS else _FLOAT32
    return lambda data: data.view(stored).astype(number)


@cache
def l1_reader(data_type: DataType) -> Callable[[Array], Array]:
    """A function of the bytes of a tile: its numbers as the unpacker finds them.

    They are float32 (int32 for integers), and those of Float32 the bytes themselves.
    """
    match data_type:
        case DataType.F32:
            return lambda data: data.view(_FLOAT32)
        case DataType.F16:
            table = _fp16_table()
            return lambda data: table.take(data.view(np.uint16))
        case _:
            return ieee_reader(data_type)


def to_source(values: Array, register: Register) -> Array:
    """Float32 numbers cut to what a source register holds; the bits that do not fit are dropped."""
    bits = values.view(np.int32)
    match register:
        case Register.TF32:
            return (bits & np.int32(-1 << 13)).view(np.float32)
        case Register.BF16:
            kept = bits & np.int32(-1 << 16)
            return np.where(bits & _INFINITY, kept, 0).astype(np.int32).view(np.float32)
        case Register.FP16:
            return _narrow_to_fp16(bits)
        case Register.FP32 | Register.INTEGER:
            return values


def _narrow_to_fp16(bits: Array) -> Array:
    """Float32 patterns cut to 10 bits of mantissa, their exponents limited to those of FP16."""
    values = (bits & np.int32(-1 << 13)).view(np.float32)
    magnitudes = bits & _MAGNITUDE
    values = np.where(magnitudes < _bits(2.0**-14), np.copysign(np.float32(0), values), values)
    largest = np.copysign(np.float32(_LARGEST_FP16), values)
    return np.where(magnitudes > _bits(_LARGEST_FP16), largest, values)


def _bits(number: float) -> np.int32:
    return np.float32(number).view(np.int32)


@cache
def _fp16_table() -> Array:
    """The number of each FP16 pattern, denormal ones included."""
    patterns = np.arange(1 << 16, dtype=np.uint32)
    exponents = (patterns >> 10 & 31).astype(np.int32)
    mantissas = (patterns & 1023).astype(np.float64)
    fractions = np.where(exponents > 0, 1024 + mantissas, mantissas)
    magnitudes = np.ldexp(fractions, np.maximum(exponents, 1) - 25)
    return np.where(patterns >> 15, -magnitudes, magnitudes).astype(np.float32)


@cache
def _block_float_table(data_type: DataType) -> Array:
    """The number of each exponent and, below it, sign with magnitude.

    Magnitudes are normalised and their exponent reduced as bit patterns: a number with exponent
    255 stays one. Below the smallest exponent is 0, and a zero with a sign is minus infinity.
    """
    form = BLOCK_FLOATS[data_type]
    count = 1 << form.bits
    numbers = np.arange(count)
    magnitudes = numbers & form.largest_magnitude
    length = np.array([int(each).bit_length() for each in magnitudes])
    mantissas = (magnitudes << (24 - length)) & 0x7FFFFF
    stored = np.arange(1 << form.exponent_bits)[:, None]
    exponents = stored + (127 - form.bias) - (form.magnitude_bits - length)
    patterns = np.where(exponents > 0, exponents << 23 | mantissas, 0)
    signs = np.where(numbers >> form.magnitude_bits, 1 << 31, 0)
    patterns = np.where(patterns > 0, patterns | signs, 0)
    patterns = np.where(magnitudes > 0, patterns, np.where(signs > 0, 0xFF800000, 0))
    return patterns.astype(np.uint32).view(np.float32).reshape(-1)


def _block_float_values(data: Array, data_type: DataType) -> Array:
    form = BLOCK_FLOATS[data_type]
    numbers = data[tile_bytes(data_type) - TILE_VOLUME // form.numbers_per_byte :]
    if form.numbers_per_byte > 1:
        shifts = np.arange(form.numbers_per_byte, dtype=np.uint8) * np.uint8(form.bits)
        numbers = ((numbers[:, None] >> shifts) & np.uint8((1 << form.bits) - 1)).reshape(-1)
    exponents = data[: TILE_VOLUME // BLOCK] & np.uint8(form.largest_exponent)
    return numbers_of_blocks(exponents, numbers.reshape(-1, BLOCK), data_type).reshape(-1)


def numbers_of_blocks(exponents: Array, numbers: Array, data_type: DataType) -> Array:
    """What the unpacker makes of blocks of 16, given as `share_exponents` gives them."""
    places = exponents.astype(np.uint16)[:, None] << np.uint16(BLOCK_FLOATS[data_type].bits)
    return _block_float_table(data_type).take(places | numbers)


# --- The matrix unit ----------------------------------------------------------------------------

_TINY = 2.0**-90
_HUGE = 2.0**120


def _span(pattern: type[np.unsignedinteger[Any]], drop: int) -> tuple[Array, Array, Array]:
    """Of patterns without signs, shifted left: the smallest ordinary one, how many, and 0 there."""
    tiny, huge = (2 * int(np.float32(each).view(np.uint32)) >> drop for each in (_TINY, _HUGE))
    zero = pattern(0) - np.array(tiny, pattern)
    return np.array(tiny, pattern), np.array(huge - tiny, pattern), zero


_SPANS = {4: _span(np.uint32, 0), 2: _span(np.uint16, 16)}


def _ordinary(patterns: Array) -> bool:
    """Whether numbers are 0 or between 2^-90 and 2^120, by their float32 or bfloat16 patterns.

    Sums and products of such numbers can be left to float32: nothing is denormal or infinite, and
    what denormal operands would add is too small to change a result.
    """
    tiny, count, zero = _SPANS[patterns.itemsize]
    above = patterns + patterns  # Without signs.
    above -= tiny  # What is smaller becomes large.
    others = above.size - np.count_nonzero(above < count)
    return not others or np.count_nonzero(above == zero) == others


def _to_bfloat16(values: Array) -> Array:
    """Float32 numbers rounded to bfloat16, nearest, ties to even."""
    return values.astype(_BFLOAT16).astype(_FLOAT32)


@np.errstate(all="ignore")
def operand(values: Array, register: Register = Register.BF16) -> Array:
    """What the matrix unit takes the float32 numbers of a register for, as float64."""
    wide = values.astype(np.float64)
    magnitudes = np.abs(wide)
    if not magnitudes.max() < np.inf:
        magnitudes = np.nan_to_num(magnitudes, nan=np.inf)
        bits = values.view(np.int32)
        fractions = 1.0 + (bits & np.int32(0x7FFFFF)) / 2.0**23
        ordinary = np.copysign(fractions * 2.0**128, np.where(bits < 0, -1.0, 1.0))
        wide = np.where((bits & _INFINITY) == _INFINITY, ordinary, wide)
    wide *= magnitudes >= _SMALLEST.get(register, _SMALLEST_NORMAL)
    return wide


@np.errstate(all="ignore")
def round_to(values: Array, register: Register) -> Array:
    """Results of the matrix unit (float64, finite) as a register of DST holds them, float32."""
    return _rounded_operand(values, register).astype(np.float32)


def _rounded_operand(values: Array, register: Register) -> Array:
    """Results of the matrix unit (float64, finite) as it would read them back from DST.

    Nearest, ties to even; results too small become 0, results too large the infinity pattern, which
    is 2^128 as an operand, or in FP16 its largest number.
    """
    rounded = _without_limits(values.copy(), register)
    largest = _LARGEST_FP16 if register is Register.FP16 else _INFINITY_AS_OPERAND
    np.minimum(rounded, largest, out=rounded)
    np.maximum(rounded, -largest, out=rounded)
    rounded *= np.abs(rounded) >= _SMALLEST.get(register, _SMALLEST_NORMAL)
    return rounded


_SPLITS = {register: np.array(2.0 ** (52 - bits) + 1) for register, bits in _MANTISSA_BITS.items()}
"""Times a number, what a float64 has no room for the register's last bits beside."""


def _without_limits(values: Array, register: Register) -> Array:
    """Float64 numbers rounded to the mantissa of a register, nearest, ties to even, in place."""
    if register is Register.FP32:
        values[:] = values.astype(np.float32)
    else:
        room = np.empty_like(values), np.empty_like(values)
        _add_rounded(values, (_MINUS_ZERO,), register, room)
    return values


_MINUS_ZERO = np.array(-0.0)
"""Changes no number that it is added to."""


def _add_rounded(
    total: Array, addends: Iterable[Array], register: Register, room: tuple[Array, Array]
) -> None:
    """Add float64 numbers in place, one after another; each sum has the register's 16 bits.

    Veltkamp's splitting (Boldo, "Pitfalls of a full floating-point proof", 2006) rounds to nearest.
    Ties go to even: a number halfway between two has one bit more than the register, so the product
    is halfway between float64 numbers too, of which the even one has the even head.
    `room` is for as many numbers, twice.
    """
    split = _SPLITS[register]
    product, rest = room
    for addend in addends:
        np.add(total, addend, total)
        np.multiply(total, split, product)
        np.subtract(total, product, rest)
        np.add(product, rest, total)


_DROPPED = 52 - _MANTISSA_BITS[Register.BF16]
"""The last bits of a float64, which bfloat16 has no room for."""
_LESS = np.array(1 - 2.0**-_DROPPED)
_LOWERED = 20
"""So many times sums are lowered before they are raised again, which keeps them ordinary."""
_RAISED = np.array(2.0 ** (_DROPPED * _LOWERED))


def _scale_of(place: int) -> float:
    """What the addend of a place is multiplied by for `_add_lowered`."""
    return 2.0 ** (_DROPPED * (_LOWERED // 2 - place % _LOWERED))


def _add_lowered(total: Array, addends: Iterable[Array]) -> None:
    """As `_add_rounded` to bfloat16, in a pass less; addends are scaled, and overwritten.

    A sum times `_LESS` is rounded where the bits begin that bfloat16 has, so the difference of both
    is the sum, rounded to bfloat16 and 2^45 times smaller. On ties the sum is an even multiple of
    the product's last bit, so the difference is even, too. Just above a power of 2 the product is
    below it and has a bit more, but the difference is that power all the same.
    """
    total *= _scale_of(0)
    place = 0
    for place, addend in enumerate(addends, 1):
        np.add(total, addend, addend)
        np.multiply(addend, _LESS, total)
        np.subtract(addend, total, total)
        if not place % _LOWERED:
            np.multiply(total, _RAISED, total)
    total /= _scale_of(place)


# What the parts of SrcA and SrcB keep of a mantissa: its first bits, then the next ones.
_BITS_A = (4, 5)
_BITS_B = (6, 4)

PHASE_PARTS = ((0, 0), (1, 0), (0, 1), (1, 1))
"""For each phase, which parts of SrcA and SrcB are multiplied."""


def _parts(values: Array, mantissa_bits: tuple[int, int]) -> tuple[Array, Array]:
    """The two parts of operands that the multiplier takes in different phases.

    The sign and exponent belong to both.
    """
    integer, mantissa = (np.int32, 23) if values.dtype == np.float32 else (np.int64, 52)
    first_bits, second_bits = mantissa_bits
    bits = values.view(integer)
    first = (bits & integer(-1 << (mantissa - first_bits))).view(values.dtype)
    both = (bits & integer(-1 << (mantissa - first_bits - second_bits))).view(values.dtype)
    return first, both - first


def parts_a(values: Array) -> tuple[Array, Array]:
    """The parts of SrcA: 4 bits of mantissa after the leading one, then 5."""
    return _parts(values, _BITS_A)


def parts_b(values: Array) -> tuple[Array, Array]:
    """The parts of SrcB: 6 bits of mantissa after the leading one, then 4."""
    return _parts(values, _BITS_B)


def combine(function: Callable[..., Array], a: Array, b: Array, dst: Register, out: Array) -> None:
    """Put the sum or difference of SrcA and SrcB (float32 numbers), rounded to DST, into `out`.

    Denormal FP16 numbers are expected to be 0 already, here and in the products.
    """
    sign = -1 if function is np.subtract else 1
    if dst is _FP16 or not matrix_unit.add_ordinary(a, b, sign, out, wide=dst is _FP32):
        out[:] = combine_onto(function, None, a, b, dst)


@np.errstate(all="ignore")
def combine_onto(
    function: Callable[..., Array], start: Array | None, a: Array, b: Array, dst: Register
) -> Array:
    """DST, 0 without a start, after the sum or difference of SrcA and SrcB was added to it."""
    if dst is _FP16:
        total = function(operand(a), operand(b))
        return round_to(total if start is None else operand(start, dst) + total, dst)
    b = -b if function is np.subtract else b
    # Generations differ where a sum is one last bit below 0, which those of 11 bits never are.
    return matrix_unit.add(a, b, wide=dst is _FP32, wormhole=False, dst=start)


@np.errstate(all="ignore")
def multiply(a: Array, b: Array, fidelity: MathFidelity, dst: Register) -> Array:
    """The product of SrcA and SrcB (float32 numbers) in a DST that holds zeros."""
    if dst is not _FP16:
        return matrix_unit.multiply(a, b, fidelity, wide=dst is Register.FP32, wormhole=False)
    return multiply_onto(_NO_NUMBERS, a, b, fidelity, dst)


@np.errstate(all="ignore")
def multiply_onto(start: Array, a: Array, b: Array, fidelity: MathFidelity, dst: Register) -> Array:
    """DST after an elementwise multiplication of SrcA and SrcB (float32 numbers) onto it.

    DST (float32 numbers before and after) is rounded in each phase.
    """
    if dst is not _FP16:
        return matrix_unit.multiply(
            a, b, fidelity, wide=dst is Register.FP32, wormhole=False, dst=start
        )
    pieces_a, pieces_b = parts_a(operand(a)), parts_b(operand(b))
    total = operand(start, dst)
    for index_a, index_b in PHASE_PARTS[: fidelity_phases(fidelity)]:
        total = _rounded_operand(total + pieces_a[index_a] * pieces_b[index_b], dst)
    return total.astype(np.float32)


K_STEP = 16
"""Products that one matmul instruction adds up."""


class Factor(NamedTuple):
    """A factor of a matrix product: its parts, in two steps of 16 products each."""

    parts: Array
    """Of SrcA 2x2x16x32 numbers (float64), of SrcB 2x1x2x32x16: parts first, then steps."""
    smallest: float
    """The smallest magnitude other than 0."""
    largest: float
    values: Array
    """The whole numbers (32x32, float32)."""
    bits_of: Arch | None = None
    """The generation whose matrix unit rounds the terms of a product; None: they are exact."""


def factor_a(values: Array, bits_of: Arch | None = None) -> Factor:
    """Operands of in1 (32x32, float64) as SrcA, in steps of 16 rows."""
    return factors_a(values[None], bits_of)[0]


def factor_b(values: Array, bits_of: Arch | None = None) -> Factor:
    """Operands of in0 (32x32, float64) as SrcB, in steps of 16 columns."""
    return factors_b(values[None], bits_of)[0]


def factors_a(values: Array, bits_of: Arch | None = None) -> list[Factor]:
    """As `factor_a`, of many tiles (32x32 each)."""
    parts = np.stack(parts_a(values), axis=1).reshape(-1, 2, 2, K_STEP, 32)
    return _factors_of(parts, values, bits_of)


def factors_b(values: Array, bits_of: Arch | None = None) -> list[Factor]:
    """As `factor_b`, of many tiles (32x32 each)."""
    parts = np.stack(parts_b(values), axis=1).reshape(-1, 2, 1, 32, 2, K_STEP)
    parts = np.ascontiguousarray(parts.transpose(0, 1, 2, 4, 3, 5))
    return _factors_of(parts, values, bits_of)


@np.errstate(all="ignore")
def _factors_of(parts: Array, values: Array, bits_of: Arch | None) -> list[Factor]:
    numbers = values.astype(np.float32)
    return [
        Factor(part, *extent, each, bits_of)
        for part, extent, each in zip(parts, _extents(values), numbers, strict=True)
    ]


def _extents(values: Array) -> Iterable[tuple[float, float]]:
    """Of each matrix the smallest magnitude other than 0, and the largest."""
    magnitudes = np.abs(values).reshape(len(values), -1)
    largest = magnitudes.max(axis=1).tolist()
    magnitudes[magnitudes == 0] = np.inf
    return zip(magnitudes.min(axis=1).tolist(), largest, strict=True)


Product = tuple[Factor, Factor]
"""SrcA and SrcB: the factors in1 and in0 of the matrix product in0 @ in1."""


def matmul_onto(start: Array, a: Factor, b: Factor, fidelity: MathFidelity, dst: Register) -> Array:
    """DST (32x32, float32) after the matrix product in0 @ in1 was added to it."""
    tile = start.copy()
    add_products([tile], [[(a, b)]], fidelity, dst)
    return tile


class Pool(Enum):
    """Which numbers of a tile a reduction adds up."""

    ROWS = auto()
    COLUMNS = auto()
    ALL = auto()


@np.errstate(all="ignore")
def pool_onto(
    start: Array,
    a: Array,
    b: Factor,
    pool: Pool,
    fidelity: MathFidelity,
    dst: Register,
    *,
    source: Register,
    wormhole: bool,
) -> Array:
    """The parts of tiles of DST that have sums, a row for each, after those of SrcA were added.

    SrcA, 32 rows of 32 numbers for each tile, is multiplied by row 0 of SrcB. The sums of rows,
    whose transpose is in SrcA, are those of a product with a column (MVMUL). The others take 16
    rows at a time in all phases (GAPOOL); all numbers face by face, then those of one row.
    """
    factors = b.values[:1]
    multiply = partial(matrix_unit.matmul, fidelity=fidelity, wide=dst is _FP32, wormhole=wormhole)
    if pool is Pool.ROWS:
        rows = a.swapaxes(1, 2).reshape(-1, 32)
        return multiply(rows, factors.T, start.reshape(-1, 1)).reshape(start.shape)
    if pool is Pool.COLUMNS:
        columns = a.swapaxes(0, 1).reshape(32, -1)
        return multiply(factors, columns, start.reshape(1, -1), pools=True).reshape(start.shape)
    row = factors[:, :K_STEP]
    found = np.empty(start.shape, np.float32)
    for place, matrix in enumerate(a):
        faces = matrix.reshape(2, K_STEP, 2, K_STEP).swapaxes(1, 2).reshape(-1, K_STEP)
        sums = np.zeros((1, K_STEP), np.float32)
        sums = multiply(np.tile(row, 4), faces, sums, pools=True)
        # Half of the tile has no numbers.
        left, column = np.zeros((1, 32), np.float32), np.zeros((32, 1), np.float32)
        left[:, :K_STEP], column[:K_STEP] = row, to_source(sums, source).T
        found[place] = multiply(left, column, start[place].reshape(1, 1), pools=True)[0]
    return found


LONGEST_CHAIN = 16
"""Products of a tile that may be added at once."""
_TILES_AT_ONCE = 8
"""So many tiles with their products stay in a cache of 1 MiB."""
_GRID_AT_ONCE = 16
"""As above for tiles that share factors: only one product of a part is kept."""


@np.errstate(all="ignore")
def add_products(
    tiles: Sequence[Array],
    chains: Sequence[Sequence[Product]],
    fidelity: MathFidelity,
    dst: Register,
) -> None:
    """Add to each tile of DST (32x32, float32) the products of its chain, one after another.

    Chains are equally long, at most `LONGEST_CHAIN`. In a product, phases are the outer loop, steps
    of 16 along the inner dimension the inner one; each of these instructions rounds DST.
    """
    phases = fidelity_phases(fidelity)
    grids, singles = _find_grids(chains)
    bits_of = chains[0][0][0].bits_of
    if bits_of is not None and dst is not _FP16:
        for grid in [*grids, *([[each]] for each in singles)]:
            _add_rounded_terms(tiles, chains, grid, fidelity, dst, bits_of)
        return
    for grid in grids:
        _add_to_grid(tiles, chains, grid, phases, dst)
    if not singles:
        return
    tiles, chains = [tiles[each] for each in singles], [chains[each] for each in singles]
    # Once for all phases of a product; by the part of SrcB, the part of SrcA, the step.
    parts_of_a, parts_of_b = slice(1 + (phases > 1)), slice(1 + (phases > 2))
    shape = parts_of_b.stop, parts_of_a.stop, 2, 32, 32
    products = np.empty((min(len(tiles), _TILES_AT_ONCE), *shape))
    for first in range(0, len(tiles), _TILES_AT_ONCE):
        some = slice(first, first + _TILES_AT_ONCE)
        start = np.array(tiles[some])
        places = products[: len(start)]
        steps = places.reshape(len(start), -1, 32, 32).swapaxes(0, 1)[: 2 * phases]

        def find_addends(
            some: slice = some, places: Array = places, steps: Array = steps
        ) -> Iterable[Array]:
            for factors in zip(*chains[some], strict=True):
                for place, (a, b) in zip(places, factors, strict=True):
                    np.matmul(b.parts[parts_of_b], a.parts[parts_of_a], place)
                yield from steps

        limited = not _stays_ordinary(start, chains[some], dst)
        total = start.astype(np.float64)
        total = _add_all(total, find_addends(), dst, limited=limited)
        for tile, numbers in zip(tiles[some], total, strict=True):
            tile[:] = numbers


_SIDE = 128
"""Rows and columns of the result that stay in the cache with what is added to them.

Of more, OpenBLAS would have several threads share a product that one computes in no time.
"""


@np.errstate(all="ignore")
def multiply_matrices(
    start: Array,
    in0: Array,
    in1: Array,
    fidelity: MathFidelity,
    dst: Register,
    bits_of: Arch | None = None,
) -> Array | None:
    """DST (M x N) after in0 (M x K) @ in1 (K x N) was added, as `add_products` adds it (float32).

    32 divides K, which is at most 32 * `LONGEST_CHAIN`; `bits_of` is that of a `Factor`. None if
    some number of these is not ordinary, or some sum may not be.
    """
    if bits_of is not None and dst is not _FP16:
        return _multiply_rounded(in0, in1, start, fidelity, dst, bits_of)
    if dst is _FP16 or not all(
        _ordinary(np.ascontiguousarray(each).view(_UINT32)) for each in (start, in0, in1)
    ):
        return None
    ((least0, most0),), ((least1, most1),) = _extents(in0[None]), _extents(in1[None])
    if least0 * least1 < _TINY or in0.shape[1] * most0 * most1 > _HUGE:
        return None
    phases = fidelity_phases(fidelity)
    a = [part.astype(np.float64) for part in parts_a(np.ascontiguousarray(in1))]
    b = [part.astype(np.float64) for part in parts_b(np.ascontiguousarray(in0))]
    result = np.empty(start.shape, np.float32)
    steps = [slice(first, first + K_STEP) for first in range(0, in0.shape[1], K_STEP)]
    order = [
        (part_a, part_b, step)
        for pair in zip(steps[::2], steps[1::2], strict=True)
        for part_a, part_b in PHASE_PARTS[:phases]
        for step in pair
    ]
    are_scaled = dst is Register.BF16
    factors = [b[part_b][:, step] for _, part_b, step in order]
    for left in range(0, start.shape[1], _SIDE):
        columns = slice(left, left + _SIDE)
        others = [
            a[part_a][step, columns] * (_scale_of(place) if are_scaled else 1.0)
            for place, (part_a, _, step) in enumerate(order)
        ]
        for top in range(0, start.shape[0], _SIDE):
            rows = slice(top, top + _SIDE)
            total = start[rows, columns].astype(np.float64)
            product = np.empty_like(total)
            addends = (
                np.matmul(factor[rows], other, product)
                for factor, other in zip(factors, others, strict=True)
            )
            result[rows, columns] = _add_all(total, addends, dst, are_scaled=are_scaled)
    return result


def _add_all(
    total: Array,
    addends: Iterable[Array],
    dst: Register,
    *,
    limited: bool = False,
    are_scaled: bool = False,
) -> Array:
    """The total (float64) after addends, each of which rounds; `limited` where one may be special.

    The total may be changed. `are_scaled`: they are those of `_add_lowered`.
    """
    if are_scaled:
        _add_lowered(total, addends)
    elif limited:
        total = operand(total.astype(np.float32), dst)
        for addend in addends:
            total = _rounded_operand(total + addend, dst)
    elif dst is Register.FP32:
        for addend in addends:
            total[:] = np.add(total, addend).astype(np.float32)
    else:
        _add_rounded(total, addends, dst, (np.empty_like(total), np.empty_like(total)))
    return total


_Grid = list[list[int]]
"""Places of tiles by row and column: tiles of a row share in0, those of a column in1."""


def _find_grids(chains: Sequence[Sequence[Product]]) -> tuple[list[_Grid], list[int]]:
    """How tiles lie that are all products of some rows with some columns, and which do not."""
    rows: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}
    singles: list[int] = []
    for place, chain in enumerate(chains):
        row = rows.setdefault(tuple([id(b) for _, b in chain]), {})
        column = tuple([id(a) for a, _ in chain])
        if row.setdefault(column, place) != place:
            singles.append(place)  # Another tile is the same product.
    by_columns: dict[frozenset[tuple[int, ...]], list[dict[tuple[int, ...], int]]] = {}
    for row in rows.values():
        by_columns.setdefault(frozenset(row), []).append(row)
    grids: list[_Grid] = []
    for alike in by_columns.values():
        grid = [[row[column] for column in alike[0]] for row in alike]
        if len(grid) == len(grid[0]) == 1:
            singles += grid[0]
        else:
            grids.append(grid)
    return grids, singles


def _multiply_rounded(
    in0: Array, in1: Array, start: Array, fidelity: MathFidelity, dst: Register, arch: Arch
) -> Array:
    wormhole = arch is not Arch.BLACKHOLE
    return matrix_unit.matmul(in0, in1, start, fidelity, wide=dst is _FP32, wormhole=wormhole)


def _add_rounded_terms(
    tiles: Sequence[Array],
    chains: Sequence[Sequence[Product]],
    grid: _Grid,
    fidelity: MathFidelity,
    dst: Register,
    arch: Arch,
) -> None:
    """Add products to a grid as the matrix unit does, which takes some times as long."""
    in0 = np.block([[b.values for _, b in chains[row[0]]] for row in grid])
    in1 = np.block([[a.values for a, _ in chains[place]] for place in grid[0]])
    # Blocks of a column are those of a row of `grid` each: those of the inner dimension go down.
    in1 = in1.reshape(len(grid[0]), 32, -1, 32).transpose(2, 1, 0, 3).reshape(-1, 32 * len(grid[0]))
    start = np.block([[tiles[place] for place in row] for row in grid])
    total = _multiply_rounded(in0, in1, start, fidelity, dst, arch)
    for row, numbers in zip(grid, np.split(total, len(grid)), strict=True):
        for place, tile in zip(row, np.split(numbers, len(row), axis=1), strict=True):
            tiles[place][:] = tile


def _add_to_grid(
    tiles: Sequence[Array],
    chains: Sequence[Sequence[Product]],
    grid: _Grid,
    phases: int,
    dst: Register,
) -> None:
    """Multiply matrices of several tiles: that takes a BLAS less time than tile by tile."""
    width = min(len(grid[0]), 4)
    height = min(len(grid), _GRID_AT_ONCE // width)
    width = min(len(grid[0]), _GRID_AT_ONCE // height)
    columns = [grid[0][first : first + width] for first in range(0, len(grid[0]), width)]
    matrices_a = [
        [np.concatenate([a.parts for a, _ in factors], axis=-1) for factors in _at(chains, column)]
        for column in columns
    ]
    for first in range(0, len(grid), height):
        rows = grid[first : first + height]
        matrices_b = [
            np.concatenate([b.parts[:, 0] for _, b in factors], axis=-2)
            for factors in _at(chains, [row[0] for row in rows])
        ]
        for place, matrices in enumerate(matrices_a):
            some = slice(place * width, (place + 1) * width)
            block = [row[some] for row in rows]
            _add_to_block(tiles, chains, block, matrices, matrices_b, phases, dst)


def _at(
    chains: Sequence[Sequence[Product]], places: Sequence[int]
) -> Iterable[tuple[Product, ...]]:
    """The products of some chains, one after another."""
    return zip(*(chains[place] for place in places), strict=True)


def _add_to_block(
    tiles: Sequence[Array],
    chains: Sequence[Sequence[Product]],
    block: _Grid,
    matrices_a: Sequence[Array],
    matrices_b: Sequence[Array],
    phases: int,
    dst: Register,
) -> None:
    """Add products to a part of a grid, by the parts of whose rows and columns in each of them."""
    rows, columns = len(block), len(block[0])
    places = [place for row in block for place in row]
    start = np.array([tiles[place] for place in places])
    limited = not _stays_ordinary(start, [chains[place] for place in places], dst)
    are_scaled = dst is Register.BF16 and not limited
    total = np.empty((rows, 32, columns, 32))
    total[:] = start.reshape(rows, columns, 32, 32).swapaxes(1, 2)
    product = np.empty((32 * rows, 32 * columns))

    def find_addends() -> Iterable[Array]:
        place = 0
        for a, b in zip(matrices_a, matrices_b, strict=True):
            for part_a, part_b in PHASE_PARTS[:phases]:
                for step in range(2):
                    other = a[part_a, step]
                    if are_scaled:
                        other = other * _scale_of(place)
                        place += 1
                    yield np.matmul(b[part_b, step], other, product)

    total = _add_all(
        total.reshape(product.shape),
        find_addends(),
        dst,
        limited=limited,
        are_scaled=are_scaled,
    )
    total = total.reshape(rows, 32, columns, 32).swapaxes(1, 2).reshape(-1, 32, 32)
    for place, numbers in zip(places, total, strict=True):
        tiles[place][:] = numbers


def _stays_ordinary(tiles: Array, chains: Sequence[Sequence[Product]], dst: Register) -> bool:
    """Whether no sum of these products can be denormal, infinite or too large for the register.

    Every total is a multiple of the last bits of products and of the start, so that none is too
    small. The 32 products that a number takes of each matrix product make none larger than 32 times
    the largest ones, and the rounding of a chain does not double that.
    """
    if dst is Register.FP16:
        return False
    largest = 0.0
    for factors in zip(*chains, strict=True):
        if min([a.smallest for a, _ in factors]) * min([b.smallest for _, b in factors]) < _TINY:
            return False
        largest += max([a.largest for a, _ in factors]) * max([b.largest for _, b in factors])
    return largest <= _HUGE and _ordinary(tiles.view(_UINT32))


# --- The vector unit ----------------------------------------------------------------------------


@np.errstate(all="ignore")
def store_vector(values: Array, register: Register) -> Array:
    """Results of the vector unit (float32) as DST holds them: nearest, ties to even.

    Infinity and NaN stay; FP16 has neither and saturates.
    """
    match register:
        case Register.BF16:
            return _to_bfloat16(values)
        case Register.FP16:
            finite = np.nan_to_num(values, nan=_LARGEST_FP16).astype(np.float64)
            return round_to(finite, register)
        case _:
            return values


# --- From DST to L1 -----------------------------------------------------------------------------


@cache
def ieee_packer(data_type: DataType) -> Callable[[Array], Array]:
    """A function of float32 numbers (int32 for integers): the bytes of a tile, rounded once.

    Ties go to even, in block floats away from zero.
    """
    if data_type not in BLOCK_FLOATS:
        stored = _SCALAR_DTYPES[data_type]
        return lambda values: values.astype(stored).view(np.uint8)
    if data_type not in _CLASS_A:
        return lambda values: _block_float_bytes(values.view(_UINT32), data_type)
    return lambda values: _block_float_bytes(
        _narrow_to_fp16(values.view(_INT32)).view(_UINT32), data_type
    )


def packer(register: Register, data_type: DataType) -> Callable[[Array], Array]:
    """A function of the numbers of DST: the bytes of a tile that the packer makes of them.

    The early conversion rounds float32 numbers to the 16-bit format of the output's class, ties
    away from zero; the late one drops bits of a 16-bit format that the output lacks, limits
    exponents, and rounds block floats.
    """
    if data_type in INTEGERS:
        stored = _SCALAR_DTYPES[data_type]
        return lambda values: values.view(_INT32).astype(stored).view(np.uint8)
    if data_type is DataType.F32:
        return lambda values: values.view(np.uint8)
    encode = _encoder(data_type)
    target = Register.FP16 if data_type in _CLASS_A else Register.BF16
    if register is Register.FP32:
        return lambda values: encode(round_away(values, target))
    if register is not target:
        return lambda values: encode(to_source(values, target))
    if data_type is DataType.BF16:
        table = _packed_bfloat16()
        return lambda values: table.take(values.view(_UINT16)[1::2]).view(np.uint8)
    return encode


@cache
def _packed_bfloat16() -> Array:
    """What the packer makes of each pattern of a DST of bfloat16."""
    return np.ascontiguousarray(pack_bfloat16(all_bfloat16()).view(_UINT16)[1::2])


def round_away(values: Array, register: Register) -> Array:
    """Float32 numbers rounded to a 16-bit register format, ties away from zero.

    Denormal numbers and -0 become +0, NaN becomes infinity.
    """
    drop = 23 - _MANTISSA_BITS[register]
    bits = values.view(np.int32)
    exponents = bits & _INFINITY
    rounded = (bits + np.int32(1 << (drop - 1))) & np.int32(-1 << drop)
    special = exponents == _INFINITY
    if special.any():
        rounded = np.where(special, bits & np.int32(-1 << 23), rounded)
    rounded = np.where(exponents, rounded, 0).astype(np.int32)
    if register is Register.FP16:
        narrowed = _narrow_to_fp16(rounded)
        return narrowed + np.float32(0)
    return rounded.view(np.float32)


def _encoder(data_type: DataType) -> Callable[[Array], Array]:
    """A function of numbers that fit the 16-bit format of `data_type`'s class: their bytes."""
    match data_type:
        case DataType.BF16:
            return _upper_halves
        case DataType.F16:
            return lambda values: _fp16_patterns(values.view(_UINT32)).view(np.uint8)
        case _:
            return lambda values: _block_float_bytes(values.view(_UINT32), data_type)


def _upper_halves(values: Array) -> Array:
    """The bytes of bfloat16 numbers given as float32."""
    return np.ascontiguousarray(values.view(_UINT16)[1::2]).view(np.uint8)


def _fp16_patterns(bits: Array) -> Array:
    """FP16 patterns (uint16) of FP16 numbers given as float32 patterns."""
    exponents = (bits >> 23 & 0xFF).astype(np.int32) - 112
    fractions = (bits & 0x7FFFFF | 0x800000) >> 13
    denormal = fractions >> np.minimum(1 - np.minimum(exponents, 1), 31).astype(np.uint32)
    normal = exponents.astype(np.uint32) << 10 | fractions & 1023
    magnitudes = np.where(exponents > 0, normal, denormal)
    return (bits >> 16 & 0x8000 | magnitudes).astype(np.uint16)


def share_exponents(
    blocks: Array, data_type: DataType, *, to_6_bits: bool = False
) -> tuple[Array, Array]:
    """Exponents and numbers (uint8, sign above magnitude) of blocks of 16 float32 patterns.

    Magnitudes are rounded to 7 bits, ties away from zero, then cut to fewer. With `to_6_bits`, as
    between a DST of bfloat16 and the formats of 8 bits of exponent, mantissas are rounded to 6 bits
    before.
    """
    form = BLOCK_FLOATS[data_type]
    if to_6_bits:
        blocks = blocks + np.uint32(1 << 16) & np.uint32(0xFFFE0000)
    exponents = (blocks >> 23 & 0xFF).astype(np.int32) - (127 - form.bias)
    fractions = (blocks & 0x7FFFFF | 0x800000).astype(np.int32)
    fractions *= exponents > 0
    shared = np.maximum(exponents.max(axis=1, keepdims=True), 0)
    # A bit more than is kept, for the half that rounds up.
    shifts = np.minimum(shared - exponents + (24 - 7 - 1), 25)
    magnitudes = np.minimum(((fractions >> shifts) + 1) >> 1, 127)
    magnitudes >>= 7 - form.magnitude_bits
    signs = (blocks >> 31).astype(np.int32) * (magnitudes > 0)
    numbers = (signs << form.magnitude_bits | magnitudes).astype(np.uint8)
    return shared[:, 0].astype(np.uint8), numbers


def _block_float_bytes(bits: Array, data_type: DataType) -> Array:
    """A tile of block floats."""
    form = BLOCK_FLOATS[data_type]
    exponents, numbers = share_exponents(bits.reshape(-1, BLOCK), data_type)
    if form.numbers_per_byte == 1:
        return np.concatenate([exponents, numbers.reshape(-1)])
    grouped = numbers.reshape(-1, form.numbers_per_byte)
    places = np.arange(form.numbers_per_byte, dtype=np.uint8) * np.uint8(form.bits)
    packed = np.bitwise_or.reduce(grouped << places, axis=1)
    return np.concatenate([exponents, packed.astype(np.uint8)])


# --- The order of numbers -----------------------------------------------------------------------


def rows_of_faces(faces: Array) -> Array:
    """A tile as 32 rows of 32 numbers, from the order of memory."""
    return faces.reshape(2, 2, 16, 16).transpose(0, 2, 1, 3).reshape(32, 32)


def faces_of_rows(rows: Array) -> Array:
    """A tile in the order of memory, from 32 rows of 32 numbers."""
    return rows.reshape(2, 16, 2, 16).transpose(0, 2, 1, 3).reshape(TILE_VOLUME)


def rows_of_tiles(tiles: Array) -> Array:
    """Tiles as 32 rows of 32 numbers each, copied, from the order of memory, a row for each."""
    faces = tiles.reshape(-1, 2, 2, 16, 16)
    return np.ascontiguousarray(faces.transpose(0, 1, 3, 2, 4)).reshape(-1, 32, 32)


def tiles_of_rows(tiles: Array) -> Array:
    """Tiles in the order of memory, a row for each, from 32 rows of 32 numbers each."""
    rows = tiles.reshape(-1, 2, 16, 2, 16)
    return rows.transpose(0, 1, 3, 2, 4).reshape(-1, TILE_VOLUME)
