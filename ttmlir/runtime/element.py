"""Element types and the two numerics: what a number becomes when it is stored.

A tensor has a *logical* element type (what the program means: i1, i64, bf16, ...) and a storage
`DataType` (what the device keeps). Host arrays use the logical type; inside the runtime floating
point types up to 32 bits are computed in float32, f64 in float64 and integers in their own type.

With `Numerics.EXACT` a value keeps all digits of its computation until it leaves the program. With
`Numerics.DEVICE` every stored result is rounded to its `DataType`: to nearest even for bf16 and
f16, with one exponent per 16 numbers of a tile row for block floats, modulo 2**32 for 64-bit
integers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache, partial
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ttmlir.layout.data_format import round_block_float
from ttmlir.layout.element_type import (
    DEFAULT_TILE_SHAPE,
    SCHEMA_NAMES,
    TileFormat,
    is_block_float,
)
from ttmlir.layout.enums import DataType
from ttmlir.layout.number_conversion import convert as convert
from ttmlir.runtime.errors import InputError

Array = NDArray[Any]


class Numerics(Enum):
    """How results are rounded."""

    EXACT = "exact"
    DEVICE = "device"


@dataclass(frozen=True)
class ElementType:
    """A logical element type; `name` is that of the schema's `ElementType` enumeration."""

    name: str
    keyword: str
    """Spelling in the IR."""
    host: np.dtype[Any]
    """Element type of arrays on the host."""
    compute: np.dtype[Any]
    """Element type of arrays between operations."""
    storage: DataType
    """How the device keeps it unless a tensor says otherwise."""

    @property
    def is_float(self) -> bool:
        """True for floating point types."""
        return self.compute.kind == "f"

    @property
    def is_bool(self) -> bool:
        """True for i1."""
        return self.compute.kind == "b"

    def __str__(self) -> str:
        """The IR keyword."""
        return self.keyword


def _element(keyword: str, host: Any, compute: Any, storage: DataType) -> ElementType:
    name = SCHEMA_NAMES[keyword]
    return ElementType(name, keyword, np.dtype(host), np.dtype(compute), storage)


ELEMENT_TYPES: dict[str, ElementType] = {
    element.name: element
    for element in (
        _element("f32", np.float32, np.float32, DataType.F32),
        _element("f16", np.float16, np.float32, DataType.F16),
        _element("bf16", ml_dtypes.bfloat16, np.float32, DataType.BF16),
        _element("f64", np.float64, np.float64, DataType.F32),
        _element("i1", np.bool_, np.bool_, DataType.BF16),
        _element("ui8", np.uint8, np.uint8, DataType.U8),
        _element("ui16", np.uint16, np.uint16, DataType.U16),
        _element("ui32", np.uint32, np.uint32, DataType.U32),
        _element("ui64", np.uint64, np.uint64, DataType.U32),
        _element("i8", np.int8, np.int8, DataType.U8),
        _element("i16", np.int16, np.int16, DataType.U16),
        _element("i32", np.int32, np.int32, DataType.U32),
        _element("i64", np.int64, np.int64, DataType.U32),
    )
}

# The types that block floats stand for, by the keyword of their scalars.
_BY_KEYWORD = {element.keyword: element for element in ELEMENT_TYPES.values()}


def element_of_data_type(data_type: DataType) -> ElementType:
    """The logical type that a storage type stands for when nothing else is said."""
    if is_block_float(data_type):
        return _BY_KEYWORD[TileFormat(*DEFAULT_TILE_SHAPE, data_type).scalar.keyword]
    return ELEMENT_TYPES[data_type.schema_name]


@cache
def element_of_dtype(dtype: np.dtype[Any]) -> ElementType:
    """The element type of a NumPy array; InputError for dtypes that no tensor can have."""
    for element in ELEMENT_TYPES.values():
        if element.host == dtype:
            return element
    names = ", ".join(str(element.host) for element in ELEMENT_TYPES.values())
    raise InputError(f"arrays of dtype {dtype} cannot become tensors; supported dtypes are {names}")


def widen(array: Array, host: np.dtype[Any]) -> Array:
    """An array of a type of few bits, of ml_dtypes, in the type that programs take it as.

    All its numbers are numbers of that type; other arrays stay as they are.
    """
    name = array.dtype.name
    match host.name:
        case "bfloat16":
            is_small = name.startswith(("float8", "float6", "float4"))
        case "int8":
            is_small = name in ("int4", "int2")
        case "uint8":
            is_small = name in ("uint4", "uint2")
        case _:
            is_small = False
    return array.astype(host) if is_small else array


Rounding = Callable[[Array], Array]


def storage_rounding(
    element: ElementType, data_type: DataType, numerics: Numerics
) -> Rounding | None:
    """What storing does to values of this element type; None where it changes nothing.

    The function maps arrays of `element.compute` to arrays of the same shape and type.
    """
    if numerics is Numerics.EXACT:
        return None
    if not element.is_float:
        return _wrap_to_32_bits if element.compute.itemsize == 8 else None
    if is_block_float(data_type):
        return partial(round_block_float, data_type=data_type)
    if data_type is DataType.BF16:
        return _through(np.dtype(ml_dtypes.bfloat16), element)
    if data_type is DataType.F16:
        return _through(np.dtype(np.float16), element)
    if element.compute.itemsize == 8:
        return _through(np.dtype(np.float32), element)
    return None


def cast_rounding(element: ElementType) -> Rounding | None:
    """What a cast to this element type does to values, in both numerics: the program asks for it.

    None where values of the type are computed in the type itself.
    """
    return None if element.host == element.compute else _through(element.host, element)


def _through(narrow: np.dtype[Any], element: ElementType) -> Rounding:
    def rounding(array: Array) -> Array:
        with np.errstate(over="ignore"):
            return array.astype(narrow).astype(element.compute)

    return rounding


def _wrap_to_32_bits(array: Array) -> Array:
    narrow = np.int32 if array.dtype.kind == "i" else np.uint32
    return array.astype(narrow).astype(array.dtype)
