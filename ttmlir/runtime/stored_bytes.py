"""Numbers as the bytes that the memories of a device hold, in each of the storage formats."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ttmlir.layout.data_format import pack_block_float, unpack_block_float
from ttmlir.layout.element_type import is_block_float
from ttmlir.layout.enums import DataType
from ttmlir.runtime.element import Array, ElementType, convert

_STORED: dict[DataType, np.dtype[Any]] = {
    DataType.F32: np.dtype(np.float32),
    DataType.F16: np.dtype(np.float16),
    DataType.BF16: np.dtype(ml_dtypes.bfloat16),
    DataType.U32: np.dtype(np.uint32),
    DataType.U16: np.dtype(np.uint16),
    DataType.U8: np.dtype(np.uint8),
}
_SIGNED = {4: np.dtype(np.int32), 2: np.dtype(np.int16), 1: np.dtype(np.int8)}


def encode_numbers(numbers: Array, data_type: DataType, tile_volume: int) -> bytes:
    """The bytes of numbers in memory order; block floats share exponents within a tile."""
    if is_block_float(data_type):
        return pack_block_float(numbers.reshape(-1, tile_volume), data_type)
    return convert(numbers, _STORED[data_type]).tobytes()


def decode_numbers(
    data: bytes, element: ElementType, data_type: DataType, tile_volume: int
) -> Array:
    """The numbers in these bytes, in one dimension and in the type that stores them.

    Signed integers are stored as the unsigned ones of their width.
    """
    if is_block_float(data_type):
        return unpack_block_float(data, data_type, tile_volume).reshape(-1)
    stored = _STORED[data_type]
    signed = element.compute.kind == "i" and stored.kind == "u"
    return np.frombuffer(data, _SIGNED[stored.itemsize] if signed else stored)
