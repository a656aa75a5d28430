"""Numbers of tensors as arrays, and as the bytes of their pages.

An array holds the numbers in the type that operations compute in: floating point in float32,
rounded to the format of the tensor, integers in their own type. It has the logical shape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from ttmlir.layout.data_format import round_block_float, tilize, untilize
from ttmlir.runtime.tensor import (
    ELEMENT_TYPES,
    Array,
    convert,
    decode_numbers,
    element_of_data_type,
    encode_numbers,
)
from ttmlir.ttnn.types.enums import DataType
from ttmlir.ttnn.types.spec import TensorSpec

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_ELEMENTS = {DataType.INT32: ELEMENT_TYPES["Int32"]}
"""The element types that storage formats do not stand for by themselves."""
_CHUNK = 1 << 15
"""Numbers that are rounded at a time, so that they stay in the cache."""
LARGE = 4 * _CHUNK
"""Numbers from which on it is worth while to compute them in parts."""


@cache
def compute_type(dtype: DataType) -> np.dtype[Any]:
    """The type of arrays of a data type."""
    return np.dtype(dtype.facts.compute)


def round_to(array: Array, dtype: DataType, *, own: bool = False) -> Array:
    """The numbers that a data type can hold, of an array that may be of any type.

    Unless the array is the caller's `own`, it is not changed.
    """
    wanted = compute_type(dtype)
    if array.dtype != wanted:
        array, own = convert(array, wanted), True
    if dtype is DataType.BFLOAT16:
        return _round_bfloat16(array if own and array.flags.c_contiguous else array.copy())
    if dtype.facts.is_block:
        return round_block_float(array, dtype.facts.storage)
    return array


def _round_bfloat16(array: Array) -> Array:
    """Round numbers in place, to nearest even."""
    flat = array.reshape(-1)
    with np.errstate(over="ignore"):
        for start in range(0, flat.size, _CHUNK):
            part = flat[start : start + _CHUNK]
            part[...] = part.astype(_BFLOAT16)
    return array


def compute_bfloat16(function: Callable[..., Array], arrays: Sequence[Array]) -> Array:
    """A function of equally large arrays, or numbers, rounded to bfloat16, part by part."""
    result = np.empty(arrays[0].shape, np.float32)
    flat, flats = result.reshape(-1), [each.reshape(-1) for each in arrays]
    for start in range(0, flat.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        numbers = function(*(each if each.size == 1 else each[part] for each in flats))
        flat[part] = numbers.astype(_BFLOAT16)
    return result


def encode(array: Array, spec: TensorSpec, pad_value: float = 0) -> bytes:
    """The bytes of all pages, in the order of the pages."""
    (rows, columns), (height, width) = spec.rows, spec.page_shape
    numbers = pad_rows(array, spec, pad_value)
    if not numbers.size:
        return bytes(spec.size_bytes)
    if spec.is_tiled:
        numbers = tilize(numbers, (height, width))
    else:
        missing = spec.pages[0] - rows, spec.pages[1] * width - columns
        numbers = np.pad(numbers, [(0, missing[0]), (0, missing[1])])
    return encode_numbers(numbers, spec.dtype.facts.storage, height * width)


def decode(data: bytes, spec: TensorSpec) -> Array:
    """The numbers in the bytes of all pages; inverse of `encode`."""
    (rows, columns), (height, width) = spec.rows, spec.page_shape
    element = _ELEMENTS.get(spec.dtype) or element_of_data_type(spec.dtype.facts.storage)
    if not rows * columns:
        return np.zeros(spec.shape, compute_type(spec.dtype))
    numbers = decode_numbers(data, element, spec.dtype.facts.storage, height * width)
    if spec.is_tiled:
        matrix = untilize(numbers.reshape(*spec.pages, -1), (rows, columns), spec.tile.tile_shape)
    else:
        matrix = numbers.reshape(spec.pages[0], -1)[:rows, :columns]
    whole = convert(matrix, compute_type(spec.dtype)).reshape(spec.padded_shape)
    return unpad(whole, spec.shape)


def pad_rows(array: Array, spec: TensorSpec, pad_value: float = 0) -> Array:
    """The numbers with their padding, all dimensions but the last made rows."""
    return pad(array, spec, pad_value).reshape(spec.rows)


def pad(array: Array, spec: TensorSpec, pad_value: float = 0) -> Array:
    """The numbers with their padding."""
    padded = spec.padded_shape
    array = array.reshape((1,) * (len(padded) - array.ndim) + array.shape)
    widths = [(0, to - extent) for extent, to in zip(array.shape, padded, strict=True)]
    return np.pad(array, widths, constant_values=pad_value) if any(map(any, widths)) else array


def unpad(array: Array, shape: tuple[int, ...]) -> Array:
    """The first numbers along each dimension; dimensions in front that the shape lacks are 1."""
    whole = array.shape == shape
    extents = (1,) * (array.ndim - len(shape)) + shape
    return array if whole else array[tuple(map(slice, extents))].reshape(shape)
