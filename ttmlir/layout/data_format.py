"""Number formats bit by bit: bfloat16, float16 and block floats.

A *block float* keeps one exponent for 16 numbers, a row of a 16x16 face of a tile, and for each of
them a sign and a magnitude of 7, 3 or 1 bits with an explicit leading bit:

    value = (-1)^sign * magnitude / 2^(bits - 1) * 2^(exponent - bias)

The exponent has 8 bits and bias 127 in bfp_bf8, bfp_bf4 and bfp_bf2, and 5 bits and bias 15 in
bfp_f8, bfp_f4 and bfp_f2. A packed tile holds the exponents of all its face rows first, face by
face, filled up to 16 bytes, and then the signs and magnitudes in the same order; of several numbers
in a byte the first is in the low bits.

Sources: tt-metal, tt_metal/common/blockfloat_common.cpp, and tt-isa-documentation,
WormholeB0/TensixTile/TensixCoprocessor/FloatBitPatterns.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ttmlir.layout.element_type import is_block_float
from ttmlir.layout.enums import DataType
from ttmlir.layout.errors import LayoutError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[Any]

BLOCK = 16
"""Numbers that share an exponent."""

_EXPONENT_ALIGNMENT = 16


@dataclass(frozen=True, slots=True)
class BlockFloat:
    """The bits of a block float format."""

    magnitude_bits: int
    exponent_bits: int

    @property
    def bias(self) -> int:
        """What is subtracted from the stored exponent."""
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def bits(self) -> int:
        """Bits of a number without its share of the exponent."""
        return self.magnitude_bits + 1

    @property
    def numbers_per_byte(self) -> int:
        """Numbers in a byte."""
        return 8 // self.bits

    @property
    def largest_magnitude(self) -> int:
        """The magnitude with all bits set."""
        return (1 << self.magnitude_bits) - 1

    @property
    def largest_exponent(self) -> int:
        """The stored exponent with all bits set: an ordinary one in these formats."""
        return (1 << self.exponent_bits) - 1


BLOCK_FLOATS: dict[DataType, BlockFloat] = {
    DataType.BFP_F8: BlockFloat(7, 5),
    DataType.BFP_BF8: BlockFloat(7, 8),
    DataType.BFP_F4: BlockFloat(3, 5),
    DataType.BFP_BF4: BlockFloat(3, 8),
    DataType.BFP_F2: BlockFloat(1, 5),
    DataType.BFP_BF2: BlockFloat(1, 8),
}


def block_float(data_type: DataType) -> BlockFloat:
    """The bits of a block float format; LayoutError for other formats."""
    if not is_block_float(data_type):
        names = ", ".join(known.keyword for known in BLOCK_FLOATS)
        raise LayoutError(f"'{data_type.keyword}' is not a block float format; those are {names}")
    return BLOCK_FLOATS[data_type]


# --- 16-bit floats -----------------------------------------------------------------------------


def bf16_bits(values: ArrayLike) -> Array:
    """The bits (uint16) of numbers rounded to the nearest bfloat16, ties to even.

    NaN becomes the quiet NaN of its sign.
    """
    import numpy as np

    numbers = np.asarray(values, np.float32)
    bits = numbers.view(np.uint32)
    upper = bits >> 16
    rounded = (bits + 0x7FFF + (upper & 1)) >> 16
    quiet_nan = (upper & 0x8000) | 0x7FC0
    return np.where(np.isnan(numbers), quiet_nan, rounded).astype(np.uint16)


def bf16_values(bits: ArrayLike) -> Array:
    """The numbers (float32) that bfloat16 bits stand for."""
    import numpy as np

    return (np.asarray(bits, np.uint16).astype(np.uint32) << 16).view(np.float32)


def round_bf16(values: ArrayLike) -> Array:
    """Numbers rounded to the nearest bfloat16, ties to even, as float32."""
    return bf16_values(bf16_bits(values))


def f16_bits(values: ArrayLike) -> Array:
    """The bits (uint16) of numbers rounded to the nearest float16, ties to even."""
    import numpy as np

    with np.errstate(over="ignore"):
        return np.asarray(values, np.float32).astype(np.float16).view(np.uint16)


def f16_values(bits: ArrayLike) -> Array:
    """The numbers (float32) that float16 bits stand for."""
    import numpy as np

    return np.asarray(bits, np.uint16).view(np.float16).astype(np.float32)


def round_f16(values: ArrayLike) -> Array:
    """Numbers rounded to the nearest float16, ties to even, as float32."""
    return f16_values(f16_bits(values))


# --- Block floats ------------------------------------------------------------------------------


def encode_block_float(values: ArrayLike, data_type: DataType) -> tuple[Array, Array]:
    """Exponents (uint8) and numbers (uint8, sign above magnitude) of blocks of 16.

    The last dimension of `values` is a multiple of 16. The exponent of a block is its largest;
    magnitudes are shifted down to it, the bits shifted out being lost, and rounded to nearest,
    ties to even, but not beyond the largest magnitude. A magnitude of 0 has no sign, denormal
    numbers count as 0, numbers too large for the exponent become the largest, and infinity and NaN
    count as numbers of exponent 128, as in the matrix unit.
    """
    import numpy as np

    form = block_float(data_type)
    blocks = _blocks(np.asarray(values, np.float32))
    bits = blocks.view(np.uint32)
    exponents = ((bits >> 23) & 0xFF).astype(np.int32)
    mantissas = ((bits & 0x7FFFFF) | 0x800000).astype(np.int64)
    normal = exponents > 0

    exponents += form.bias - 127
    too_large = exponents > form.largest_exponent
    normal &= exponents >= 0
    mantissas = np.where(too_large, 0xFFFFFF, mantissas)
    exponents = np.where(normal, np.minimum(exponents, form.largest_exponent), 0)

    shared = exponents.max(axis=-1, keepdims=True)
    mantissas = np.where(normal, mantissas >> np.minimum(shared - exponents, 24), 0)
    magnitudes = _round_to_even(mantissas, 24 - form.magnitude_bits)
    magnitudes = np.minimum(magnitudes, form.largest_magnitude)
    signs = np.where(magnitudes > 0, bits >> 31, 0)
    numbers = (signs << form.magnitude_bits) | magnitudes
    return shared[..., 0].astype(np.uint8), numbers.astype(np.uint8)


def decode_block_float(exponents: ArrayLike, numbers: ArrayLike, data_type: DataType) -> Array:
    """The values (float32) of blocks of 16; inverse of `encode_block_float`.

    A magnitude of 0 with a sign stands for minus infinity. Values beyond float32 are infinite.
    """
    import numpy as np

    form = block_float(data_type)
    stored = np.asarray(numbers, np.uint8)
    magnitudes = (stored & form.largest_magnitude).astype(np.float64)
    negative = (stored >> form.magnitude_bits) & 1 > 0
    scales = np.asarray(exponents, np.uint8).astype(np.int32)[..., None]
    values = np.ldexp(magnitudes, scales - form.bias - (form.magnitude_bits - 1))
    values = np.where(negative, np.where(magnitudes == 0, -np.inf, -values), values)
    with np.errstate(over="ignore"):
        return values.astype(np.float32).reshape(*stored.shape[:-2], -1)


def round_block_float(values: ArrayLike, data_type: DataType) -> Array:
    """The numbers that remain after storing an array in a block float format.

    Blocks are 16 neighbours along the last dimension, as in the rows of a tile's faces; the last
    block may be shorter. Shape and element type stay.
    """
    import numpy as np

    array = np.asarray(values)
    if array.size == 0:
        block_float(data_type)
        return array.copy()
    columns = array.shape[-1] if array.ndim else 1
    rows = array.astype(np.float32).reshape(-1, columns)
    padded = np.pad(rows, ((0, 0), (0, -columns % BLOCK)))
    rounded = decode_block_float(*encode_block_float(padded, data_type), data_type)
    return rounded[:, :columns].reshape(array.shape).astype(array.dtype)


def pack_block_float(tiles: ArrayLike, data_type: DataType) -> bytes:
    """The bytes of tiles whose numbers are in face order, one tile per row of the array.

    `ttmlir.layout.tile.tilize` brings numbers into that order.
    """
    import numpy as np

    form = block_float(data_type)
    array = np.asarray(tiles, np.float32)
    array = array.reshape(-1, array.shape[-1])
    exponents, numbers = encode_block_float(array, data_type)
    count = len(array)
    exponents = exponents.reshape(count, -1)
    exponents = np.pad(exponents, ((0, 0), (0, -exponents.shape[1] % _EXPONENT_ALIGNMENT)))
    grouped = numbers.reshape(count, -1, form.numbers_per_byte)
    shifts = np.arange(form.numbers_per_byte, dtype=np.uint8) * np.uint8(form.bits)
    packed = np.bitwise_or.reduce(grouped << shifts, axis=-1)
    return np.concatenate([exponents, packed], axis=1).astype(np.uint8).tobytes()


def unpack_block_float(data: bytes, data_type: DataType, tile_volume: int = 1024) -> Array:
    """The numbers of packed tiles in face order, one tile per row; inverse of `pack_block_float`.

    LayoutError if the bytes are not a whole number of tiles.
    """
    import numpy as np

    form = block_float(data_type)
    size = packed_tile_bytes(data_type, tile_volume)
    if len(data) % size:
        raise LayoutError(
            f"tiles of {data_type.keyword} with {tile_volume} numbers take {size} bytes each, "
            f"got {len(data)} bytes"
        )
    tiles = np.frombuffer(data, np.uint8).reshape(-1, size)
    exponent_bytes = size - tile_volume // form.numbers_per_byte
    exponents = tiles[:, : tile_volume // BLOCK]
    shifts = np.arange(form.numbers_per_byte, dtype=np.uint8) * np.uint8(form.bits)
    numbers = (tiles[:, exponent_bytes:, None] >> shifts) & np.uint8((1 << form.bits) - 1)
    values = decode_block_float(exponents, numbers.reshape(len(tiles), -1, BLOCK), data_type)
    return values.reshape(len(tiles), tile_volume)


def packed_tile_bytes(data_type: DataType, tile_volume: int = 1024) -> int:
    """Bytes of a tile in a block float format with its exponents: 1088 for bfp_bf8."""
    form = block_float(data_type)
    if tile_volume < 1 or tile_volume % BLOCK:
        raise LayoutError(
            f"a tile of block floats holds a multiple of {BLOCK} numbers, got {tile_volume}"
        )
    exponents = -(-tile_volume // BLOCK // _EXPONENT_ALIGNMENT) * _EXPONENT_ALIGNMENT
    return exponents + tile_volume // form.numbers_per_byte


def _blocks(values: Array) -> Array:
    if values.ndim == 0 or values.shape[-1] % BLOCK:
        raise LayoutError(
            f"block floats come in blocks of {BLOCK}, got an array of shape {values.shape}"
        )
    return values.reshape(*values.shape[:-1], -1, BLOCK)


def _round_to_even(mantissas: Array, shift: int) -> Array:
    """Mantissas divided by 2**shift, rounded to nearest, ties to even."""
    quotient = mantissas >> shift
    return (mantissas + (1 << (shift - 1)) - 1 + (quotient & 1)) >> shift
