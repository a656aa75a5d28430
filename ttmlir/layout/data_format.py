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

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from ttmlir.layout.enums import DataType
from ttmlir.layout.errors import LayoutError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


# --- Element type ---------------------------------------------------------------------------------
# Element types of tensors in memory: scalars and tiles, their sizes and storage formats.
#
# Sizes and the mapping of types to formats are tt-mlir's (lib/Dialect/TT/IR/TTOpsTypes.cpp). Types
# that it cannot store are kept in the nearest format: i1 as BFloat16, f64 as Float32, 64-bit
# integers and index as UInt32.

DEFAULT_TILE_SHAPE = (32, 32)

_BYTES = {
    DataType.F32: 4,
    DataType.F16: 2,
    DataType.BF16: 2,
    DataType.U32: 4,
    DataType.U16: 2,
    DataType.U8: 1,
    DataType.SI32: 4,
}
_BLOCK_FLOAT_BITS = {
    DataType.BFP_F8: 8,
    DataType.BFP_BF8: 8,
    DataType.BFP_F4: 4,
    DataType.BFP_BF4: 4,
    DataType.BFP_F2: 2,
    DataType.BFP_BF2: 2,
}
_SCALARS = {
    DataType.F32: "f32",
    DataType.F16: "f16",
    DataType.BF16: "bf16",
    DataType.BFP_F8: "f16",
    DataType.BFP_BF8: "bf16",
    DataType.BFP_F4: "f16",
    DataType.BFP_BF4: "bf16",
    DataType.BFP_F2: "f16",
    DataType.BFP_BF2: "bf16",
    DataType.U32: "i32",
    DataType.U16: "i16",
    DataType.U8: "i8",
    DataType.SI32: "si32",
}
_FLOATS = {
    "f16": DataType.F16,
    "bf16": DataType.BF16,
    "f32": DataType.F32,
    "f64": DataType.F32,
}
_INTEGERS = {
    1: DataType.BF16,
    8: DataType.U8,
    16: DataType.U16,
    32: DataType.U32,
    64: DataType.U32,
}
SCHEMA_NAMES = {
    "f32": "Float32",
    "f16": "Float16",
    "bf16": "BFloat16",
    "f64": "Float64",
    "ui32": "UInt32",
    "ui16": "UInt16",
    "ui8": "UInt8",
    "ui64": "UInt64",
    "i32": "Int32",
    "i16": "Int16",
    "i8": "Int8",
    "i64": "Int64",
    "si32": "Int32",
    "si16": "Int16",
    "si8": "Int8",
    "si64": "Int64",
    "index": "Int64",
    "i1": "Bool",
}
"""Name in the schema's `ElementType` of each keyword of the IR; signless integers are signed."""
SUPPORTED_SCALARS = "f16, bf16, f32, f64, integers of 1, 8, 16, 32 or 64 bits, and index"


def is_block_float(data_type: DataType) -> bool:
    """True for the formats whose numbers share exponents."""
    return data_type in _BLOCK_FLOAT_BITS


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A scalar element type by its keyword in the IR, such as `f32`, `si16` or `index`."""

    keyword: str

    @property
    def data_type(self) -> DataType:
        """The format that stores the type; LayoutError if there is none."""
        return _data_type_of(self.keyword)

    @property
    def size_bytes(self) -> int:
        """Bytes of one element in its storage format."""
        return _BYTES[self.data_type]

    @property
    def stored_bytes(self) -> int:
        """The same."""
        return self.size_bytes

    @property
    def scalar(self) -> ScalarType:
        """The type itself."""
        return self

    def __str__(self) -> str:
        """The keyword."""
        return self.keyword


@dataclass(frozen=True, slots=True)
class TileFormat:
    """A tile of `height` x `width` numbers in one format."""

    height: int
    width: int
    data_type: DataType

    @classmethod
    def of(cls, element: ScalarType, shape: Sequence[int] = DEFAULT_TILE_SHAPE) -> TileFormat:
        """The tile that holds numbers of this type; LayoutError if the type has no format."""
        height, width = shape
        return cls(height, width, element.data_type)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.height, self.width

    @property
    def size_bytes(self) -> int:
        """Bytes of the numbers of a tile; the shared exponents of block floats are not counted."""
        volume = self.height * self.width
        if is_block_float(self.data_type):
            return -(-volume * _BLOCK_FLOAT_BITS[self.data_type] // 8)
        return volume * _BYTES[self.data_type]

    @property
    def stored_bytes(self) -> int:
        """Bytes of a tile in memory, one for the exponent of each 16 block floats included."""
        exponents = self.height * self.width // 16 if is_block_float(self.data_type) else 0
        return self.size_bytes + exponents

    @property
    def scalar(self) -> ScalarType:
        """The scalar type that the tile stands for."""
        return ScalarType(_SCALARS[self.data_type])

    def scalar_shape(self, tiled: Sequence[int]) -> tuple[int, ...]:
        """The extents in numbers of a shape counted in tiles."""
        *outer, rows, columns = self._checked(tiled)
        return (*outer, rows * self.height, columns * self.width)

    def tiled_shape(self, scalar: Sequence[int]) -> tuple[int, ...]:
        """The extents in tiles of a shape counted in numbers, the last ones filled up."""
        *outer, rows, columns = self._checked(scalar)
        return (*outer, -(-rows // self.height), -(-columns // self.width))

    def _checked(self, shape: Sequence[int]) -> Sequence[int]:
        if len(shape) < 2:
            raise LayoutError(
                f"tiles cover the last two dimensions, got a shape of rank {len(shape)}; "
                "use a grid of rank 2 or more"
            )
        if self.height < 1 or self.width < 1:
            raise LayoutError(f"a tile of {self.height}x{self.width} holds no numbers")
        return shape

    def __str__(self) -> str:
        """The IR text of the tile type."""
        return f"!tt.tile<{self.height}x{self.width}, {self.data_type.keyword}>"


Element = ScalarType | TileFormat


@cache
def _data_type_of(keyword: str) -> DataType:
    if keyword in _FLOATS:
        return _FLOATS[keyword]
    if keyword == "index":
        return DataType.U32
    integer = re.fullmatch(r"[su]?i(\d+)", keyword)
    if integer is not None and int(integer[1]) in _INTEGERS:
        return _INTEGERS[int(integer[1])]
    raise LayoutError(
        f"element type '{keyword}' has no storage format; supported are {SUPPORTED_SCALARS}"
    )


PARTS = ("real", "imag")
"""The two real tensors that a complex one becomes; their names end in these, after a point."""


# --- Tile -----------------------------------------------------------------------------------------
# Tiles: from rows of numbers to tiles in memory order and back.
#
# A tile is stored as faces of 16x16, left to right and then down, each face row by row. In a tile
# of 32x32, the number in row i and column j has the index
#
#     (2 * (i div 16) + j div 16) * 256 + (i mod 16) * 16 + j mod 16
#
# Smaller tiles have smaller faces: 4x32 has two faces of 4x16. Source: tt-metal,
# tech_reports/tensor_layouts/tensor_layouts.md.

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[Any]

FACE = 16
"""Largest height and width of a face."""


def face_shape(tile_shape: tuple[int, int]) -> tuple[int, int]:
    """Height and width of the faces of a tile; LayoutError if faces do not fill it."""
    height, width = tile_shape
    face = min(height, FACE), min(width, FACE)
    if min(tile_shape) < 1 or height % face[0] or width % face[1]:
        raise LayoutError(
            f"a tile of {height}x{width} is not made of faces: its extents are below {FACE} or "
            f"multiples of {FACE}"
        )
    return face


def element_index(row: int, column: int, tile_shape: tuple[int, int] = DEFAULT_TILE_SHAPE) -> int:
    """Where the number in this row and column of a tile is in memory."""
    height, width = face_shape(tile_shape)
    face = (row // height) * (tile_shape[1] // width) + column // width
    return face * height * width + (row % height) * width + column % width


def repeated_bytes(part: str, element_bytes: int) -> tuple[tuple[int, int], ...]:
    """Where in a tile of 32x32 the numbers are that a broadcast of a part of it repeats.

    `part` is row, col or scalar. Pairs of the first byte and how many: those of the first row, the
    faces with the first column, or the first row of a face, in which the first number is.
    """
    row, face = FACE * element_bytes, FACE * FACE * element_bytes
    match part:
        case "row":
            return (0, row), (face, row)
        case "col":
            return (0, face), (2 * face, face)
        case _:
            return ((0, row),)


def row_major_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """How many elements lie between neighbours along each dimension, the last one fastest."""
    return tuple(math.prod(shape[dim + 1 :]) for dim in range(len(shape)))


def padded_shape(
    shape: Sequence[int], tile_shape: tuple[int, int] = DEFAULT_TILE_SHAPE
) -> tuple[int, ...]:
    """The shape filled up to whole tiles; shapes of rank below 2 become rows."""
    *outer, rows, columns = (1,) * (2 - len(shape)) + tuple(shape)
    height, width = tile_shape
    return (*outer, -(-rows // height) * height, -(-columns // width) * width)


def has_same_tiles(before: Sequence[int], after: Sequence[int]) -> bool:
    """True if a tensor that is reshaped has the same tiles in the same order."""
    (height, width), (new_height, new_width) = ((1, 1, *shape)[-2:] for shape in (before, after))
    rows = DEFAULT_TILE_SHAPE[0]
    return width == new_width and (height == new_height or height % rows == new_height % rows == 0)


def pad_to_tiles(
    values: ArrayLike, tile_shape: tuple[int, int] = DEFAULT_TILE_SHAPE, fill: float = 0
) -> Array:
    """The array filled up to whole tiles in its last two dimensions."""
    import numpy as np

    array = np.asarray(values)
    array = array.reshape((1,) * (2 - array.ndim) + array.shape)
    target = padded_shape(array.shape, tile_shape)
    widths = [(0, to - extent) for extent, to in zip(array.shape, target, strict=True)]
    return np.pad(array, widths, constant_values=fill) if target != array.shape else array


def tilize(
    values: ArrayLike, tile_shape: tuple[int, int] = DEFAULT_TILE_SHAPE, fill: float = 0
) -> Array:
    """The tiles of an array, padded with `fill`.

    The result has the dimensions (outer ..., tile rows, tile columns, numbers of a tile in memory
    order).
    """
    array = pad_to_tiles(values, tile_shape, fill)
    height, width = tile_shape
    face_height, face_width = face_shape(tile_shape)
    *outer, rows, columns = array.shape
    split = array.reshape(
        *outer,
        rows // height,
        height // face_height,
        face_height,
        columns // width,
        width // face_width,
        face_width,
    )
    # From (tile row, face row, row, tile column, face column, column) within the last six.
    first = len(outer)
    order = [*range(first), *(first + axis for axis in (0, 3, 1, 4, 2, 5))]
    tiles = split.transpose(order)
    return tiles.reshape(*outer, rows // height, columns // width, height * width)


def untilize(
    tiles: ArrayLike, shape: Sequence[int], tile_shape: tuple[int, int] = DEFAULT_TILE_SHAPE
) -> Array:
    """The array of this shape whose tiles these are, without padding; inverse of `tilize`."""
    import numpy as np

    array = np.asarray(tiles)
    height, width = tile_shape
    face_height, face_width = face_shape(tile_shape)
    *outer, rows, columns = padded_shape(shape, tile_shape)
    expected = (*outer, rows // height, columns // width, height * width)
    if array.shape != expected:
        raise LayoutError(
            f"tiles of {height}x{width} of an array of shape {tuple(shape)} have the shape "
            f"{expected}, got {array.shape}"
        )
    faces = array.reshape(
        *outer,
        rows // height,
        columns // width,
        height // face_height,
        width // face_width,
        face_height,
        face_width,
    )
    first = len(outer)
    order = [*range(first), *(first + axis for axis in (0, 2, 4, 1, 3, 5))]
    padded = faces.transpose(order).reshape(*outer, rows, columns)
    kept_rows, kept_columns = ((1,) * (2 - len(shape)) + tuple(shape))[-2:]
    return padded[..., :kept_rows, :kept_columns].reshape(tuple(shape))


# --- Data format ----------------------------------------------------------------------------------

# --- Number conversion ----------------------------------------------------------------------------
# What a number becomes in another element type: the rule that everything here obeys.
#
# - Integer to integer keeps the lower bits (it wraps), as in StableHLO, NumPy and C++.
# - Floating point to integer drops the fraction; what does not fit becomes the nearest limit of the
#   type, and NaN becomes 0. StableHLO leaves this open; it is what JAX computes on CPUs.
# - Integer to floating point, and between floating point types, goes to the nearest number, ties to
#   even; what is too large becomes infinite.
# - To a boolean: whether the number is not 0, which NaN is.
# - Booleans are 0 and 1.


def convert(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The array with another element type; no copy if it has it already."""
    import numpy as np

    if array.dtype == dtype:
        return array
    if dtype.kind == "b":
        return array != 0
    if dtype.kind in "iu" and array.dtype.kind not in "biu":
        return _truncate(array, dtype)
    with np.errstate(over="ignore"):
        return array.astype(dtype)


def _truncate(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    import numpy as np

    wide = np.nan_to_num(array.astype(np.float64), nan=0.0)
    limits = np.iinfo(dtype)
    inside = wide.clip(limits.min, limits.max)
    with np.errstate(invalid="ignore"):
        result = np.asarray(inside.astype(dtype))
    # The largest 64-bit integers have no float64 of their own: the clip rounds up out of range.
    return np.where(wide >= float(limits.max), dtype.type(limits.max), result)


# --- Data format ----------------------------------------------------------------------------------

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
    mantissas = ((bits & 0x7FFFFF) | 0x800000).astype(np.int32)
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

    `ttmlir.layout.data_format.tilize` brings numbers into that order.
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
