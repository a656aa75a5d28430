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
