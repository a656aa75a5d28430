"""What stands for a value of the IR while a module is interpreted.

Tensors are NumPy arrays of compute types, as in the runtime's exact numerics: floating point types
up to 32 bits are float32, f64 is float64, complex numbers are NumPy's, integers their own type,
`i1` is bool. Values of other types are whatever the functions of a dialect make of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    IndexType,
    IntegerType,
    Signedness,
    TensorType,
)
from xdsl.ir import Attribute, Operation

from ttmlir.dialects.tt.layout import TileType
from ttmlir.layout.element_type import SCHEMA_NAMES
from ttmlir.layout.enums import DataType
from ttmlir.mlir.attributes.elements import Elements, element_count, raw_bytes, splat_bytes
from ttmlir.mlir.attributes.resources import blob_bytes
from ttmlir.mlir.reporting.diagnostics import OpError
from ttmlir.runtime.element import ELEMENT_TYPES, Array, ElementType, convert

if TYPE_CHECKING:
    from ttmlir.interpreter.execution import Execution

Function = Callable[["Execution", Operation, Sequence[Any]], Sequence[Any]]
"""Computes the results of an operation from its operands.

Tensors among the results may have a wider element type than the operation's; they are converted.
"""

_COMPLEX = {"f32": np.dtype(np.complex64), "f64": np.dtype(np.complex128)}


@lru_cache(maxsize=256)
def runtime_element(type_: Attribute) -> ElementType | None:
    """The runtime's element type for one of the IR; None if it has none."""
    name = SCHEMA_NAMES.get(str(type_))
    return None if name is None else ELEMENT_TYPES[name]


@lru_cache(maxsize=256)
def compute_dtype(element_type: Attribute) -> np.dtype[Any] | None:
    """Element type of the arrays that stand for tensors of an element type; None if unknown."""
    if isinstance(element_type, TileType):
        return _TILES[element_type.data_type]
    if isinstance(element_type, ComplexType):
        return _COMPLEX.get(str(cast("ComplexType", element_type).element_type))
    if (known := runtime_element(element_type)) is not None:
        return known.compute
    if isinstance(element_type, IntegerType):
        # Integers that no tensor at run time has, such as i4, are computed in the next wider type.
        return _integer(cast("IntegerType", element_type))
    return _SMALL_FLOATS.get(str(element_type)) and np.dtype(np.float32)


_TILES = {
    **dict.fromkeys(DataType, np.dtype(np.float32)),
    DataType.U32: np.dtype(np.uint32),
    DataType.U16: np.dtype(np.uint16),
    DataType.U8: np.dtype(np.uint8),
    DataType.SI32: np.dtype(np.int32),
}
"""Element types of arrays that stand for tiles."""

_SMALL_FLOATS: dict[str, np.dtype[Any]] = {
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
}


def _integer(element_type: IntegerType) -> np.dtype[Any] | None:
    size = 1 << max(0, (element_type.width.data - 1).bit_length() - 3)
    letter = "u" if element_type.signedness.data is Signedness.UNSIGNED else "i"
    return np.dtype(f"{letter}{size}") if size <= 8 else None


def convert_to(array: Array, element_type: Attribute) -> Array | None:
    """The array in the element type that stands for one of the IR; None if nothing does.

    Integers of a width that NumPy lacks wrap, or saturate if they come from floating point, at
    their own width.
    """
    dtype = compute_dtype(element_type)
    if dtype is None:
        return None
    missing = 0
    if dtype.kind in "iu" and isinstance(element_type, IntegerType):
        missing = 8 * dtype.itemsize - cast("IntegerType", element_type).width.data
    if missing and array.dtype.kind == "f":
        limits = np.iinfo(dtype)
        array = np.nan_to_num(array).clip(limits.min >> missing, limits.max >> missing)
    result = convert(array, dtype)
    return (result << missing) >> missing if missing else result


def host_dtype(element_type: Attribute) -> np.dtype[Any] | None:
    """Element type of arrays that come from and go to the caller; None if unknown."""
    known = runtime_element(element_type)
    return compute_dtype(element_type) if known is None else known.host


def tensor_type(type_: Attribute) -> TensorType[Attribute] | None:
    """The type as that of a tensor of a static shape; None if it is something else."""
    if not isinstance(type_, TensorType):
        return None
    tensor = cast("TensorType[Attribute]", type_)
    return tensor if tensor.has_static_shape() else None


def element_of_tensor(type_: Attribute) -> Attribute:
    """The element type of a tensor."""
    return cast("TensorType[Attribute]", type_).element_type


def array_shape(type_: TensorType[Attribute]) -> tuple[int, ...]:
    """The shape of the array that stands for a tensor: tiles add their rows and columns."""
    element = type_.element_type
    shape = tuple(type_.get_shape())
    return (*shape, *element.shape) if isinstance(element, TileType) else shape


def constant_array(op: Operation, value: Attribute) -> Array:
    """The elements of a constant attribute of `op`, in the storage type; never expanded."""
    if isinstance(value, DenseIntOrFPElementsAttr):
        elements = cast("Elements", value)
        dtype = _stored_dtype(op, elements.get_element_type())
        shape = elements.get_shape()
        splat = splat_bytes(elements)
        data = raw_bytes(elements) if splat is None else splat
        array = np.frombuffer(data, dtype)
        if splat is not None and element_count(elements) != 1:
            return np.broadcast_to(array[0], shape)
        return array.reshape(shape)
    if isinstance(value, DenseResourceAttr):
        name = value.resource_handle.data
        data = blob_bytes(op, name)
        if data is None:
            raise OpError(op, f"the module does not hold the resource '{name}'")
        type_ = cast("TensorType[Attribute]", value.type)
        dtype, shape = _stored_dtype(op, type_.element_type), type_.get_shape()
        if len(data) != dtype.itemsize * math.prod(shape):
            raise OpError(
                op,
                f"the resource '{name}' has {len(data)} bytes instead of "
                f"{dtype.itemsize * math.prod(shape)}",
            )
        return np.frombuffer(data, dtype).reshape(shape)
    raise OpError(op, f"'{value.name}' is not a list of elements; give a dense constant")


def _stored_dtype(op: Operation, element_type: Attribute) -> np.dtype[Any]:
    if (small := _SMALL_FLOATS.get(str(element_type))) is not None:
        return small
    known = runtime_element(element_type)
    if known is not None:
        return known.host.newbyteorder("<")
    dtype = compute_dtype(element_type)
    if dtype is None or not isinstance(
        element_type, (IntegerType, IndexType, AnyFloat, ComplexType)
    ):
        raise OpError(op, f"constants of type '{element_type}' cannot be computed with")
    return dtype.newbyteorder("<")
