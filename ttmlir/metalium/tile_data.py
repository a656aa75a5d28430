"""Numbers to bytes of tiles and back.

Sources: tt-metal, tt_metal/api/tt-metalium/tilize_utils.hpp, bfloat16.hpp, bfloat8.hpp.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ttmlir.layout.data_format import (
    BLOCK_FLOATS,
    bf16_bits,
    bf16_values,
    pack_block_float,
    unpack_block_float,
)
from ttmlir.layout.tile import tilize, untilize
from ttmlir.metalium.enums import DataFormat
from ttmlir.metalium.errors import MetaliumError

_TILE = 32

ELEMENTS: dict[DataFormat, type[np.generic]] = {
    DataFormat.Float32: np.float32,
    DataFormat.Float16: np.float16,
    DataFormat.UInt32: np.uint32,
    DataFormat.UInt16: np.uint16,
    DataFormat.UInt8: np.uint8,
}
"""The types of the numbers of formats that NumPy has."""


def tilize_nfaces(values: ArrayLike, rows: int, columns: int) -> NDArray[Any]:
    """The elements of a row-major matrix, tile by tile and face by face, in one dimension."""
    matrix = np.asarray(values)
    _check_shape(matrix.size, rows, columns)
    return tilize(matrix.reshape(rows, columns)).reshape(-1)


def untilize_nfaces(values: ArrayLike, rows: int, columns: int) -> NDArray[Any]:
    """The matrix whose elements come tile by tile and face by face; inverse of tilize_nfaces."""
    tiles = np.asarray(values)
    _check_shape(tiles.size, rows, columns)
    return untilize(tiles.reshape(rows // _TILE, columns // _TILE, -1), (rows, columns))


def _check_shape(size: int, rows: int, columns: int) -> None:
    if rows < 1 or columns < 1 or rows % _TILE or columns % _TILE:
        raise MetaliumError(
            f"a matrix of {rows}x{columns} is not made of tiles of 32x32; pad it to multiples of 32"
        )
    if size != rows * columns:
        raise MetaliumError(f"{size} elements are not a matrix of {rows}x{columns}")


def pack_bfloat16(values: ArrayLike) -> NDArray[np.uint16]:
    """The bits of numbers rounded to bfloat16, ties to even."""
    return bf16_bits(values)


def unpack_bfloat16(bits: ArrayLike) -> NDArray[np.float32]:
    """The numbers that bits of bfloat16 stand for."""
    return bf16_values(np.asarray(bits).reshape(-1).view(np.uint16))


def pack_bfloat16_vec_into_uint32_vec(values: ArrayLike) -> NDArray[np.uint32]:
    """Numbers as bfloat16, two in a word, the first in the low half."""
    bits = np.ascontiguousarray(bf16_bits(values)).reshape(-1)
    if bits.size % 2:
        raise MetaliumError(f"{bits.size} numbers do not fill words of two")
    return bits.view(np.uint32)


def unpack_uint32_vec_into_bfloat16_vec(words: ArrayLike) -> NDArray[np.float32]:
    """The numbers of words of two bfloat16 each."""
    return bf16_values(np.ascontiguousarray(words, np.uint32).reshape(-1).view(np.uint16))


def pack_two_bfloat16_into_uint32(two: tuple[float, float]) -> int:
    """Two numbers as bfloat16 in a word, the first in the low half."""
    return int(pack_bfloat16_vec_into_uint32_vec(two)[0])


def create_constant_vector_of_bfloat16(num_bytes: int, value: float) -> NDArray[np.uint32]:
    """So many bytes of one number as bfloat16, two in a word."""
    _check_words(num_bytes)
    return np.full(num_bytes // 4, pack_two_bfloat16_into_uint32((value, value)), np.uint32)


def create_random_vector_of_bfloat16(
    num_bytes: int, rand_max_float: float, seed: int, offset: float = 0.0
) -> NDArray[np.uint32]:
    """Random numbers from `offset` to `offset + rand_max_float` as bfloat16, two in a word.

    They are those that C++ makes with `std::mt19937(seed)` and libstdc++.
    """
    _check_words(num_bytes)
    generator = np.random.RandomState(seed)
    draws = generator.randint(0, 1 << 32, num_bytes // 2, np.uint32)
    unit = np.minimum(draws.astype(np.float32) / np.float32(1 << 32), np.nextafter(1, 0, dtype="f"))
    numbers = unit * np.float32(rand_max_float) + np.float32(offset)
    return pack_bfloat16_vec_into_uint32_vec(numbers)


def _check_words(num_bytes: int) -> None:
    if num_bytes < 4 or num_bytes % 4:
        raise MetaliumError(f"{num_bytes} bytes are no words of two numbers of bfloat16")


def check_bfloat16_vector_pcc(vec_a: ArrayLike, vec_b: ArrayLike) -> float:
    """The correlation of two vectors: of their numbers, or of words of bfloat16 if they are uint16.

    Vectors that do not vary correlate if they are equal.
    """
    a, b = (
        (unpack_bfloat16(each) if each.dtype == np.uint16 else each).astype(np.float64).reshape(-1)
        for each in (np.asarray(vec_a), np.asarray(vec_b))
    )
    if a.size != b.size or a.size == 0:
        raise MetaliumError(f"vectors of {a.size} and {b.size} numbers have no correlation")
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return float(np.array_equal(a, b))
    return float(np.corrcoef(a, b)[0, 1])


def pack_tiles(matrix: ArrayLike, data_format: DataFormat) -> bytes:
    """The bytes of the tiles of a row-major matrix, in a format."""
    values = np.asarray(matrix)
    if values.ndim != 2:
        raise MetaliumError(f"a matrix has two dimensions, not {values.ndim}")
    tiles = tilize_nfaces(values, *values.shape)
    if data_format.data_type in BLOCK_FLOATS:
        return pack_block_float(tiles.reshape(-1, _TILE * _TILE), data_format.data_type)
    if data_format == DataFormat.Float16_b:
        return bf16_bits(tiles).tobytes()
    return tiles.astype(ELEMENTS[data_format]).tobytes()


def unpack_tiles(
    data: ArrayLike | bytes, data_format: DataFormat, rows: int, columns: int
) -> NDArray[Any]:
    """The matrix whose tiles have these bytes; floating-point formats as float32."""
    content = data if isinstance(data, bytes) else np.ascontiguousarray(data).tobytes()
    if data_format.data_type in BLOCK_FLOATS:
        numbers = unpack_block_float(content, data_format.data_type)
    elif data_format == DataFormat.Float16_b:
        numbers = bf16_values(np.frombuffer(content, np.uint16))
    else:
        numbers = np.frombuffer(content, ELEMENTS[data_format])
    matrix = untilize_nfaces(numbers, rows, columns)
    return matrix.astype(np.float32) if data_format == DataFormat.Float16 else matrix
