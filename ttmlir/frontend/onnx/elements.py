"""ONNX's element types, and tensors of a model as arrays of NumPy.

Tensors from files are decoded here and nowhere else: what they announce is compared with what there
is before anything is allocated, and paths of external data lead to files below the model's folder.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.arrays.array import Array
from ttmlir.arrays.carriers import host_dtype
from ttmlir.errors import ArgumentError
from ttmlir.files import path_below
from ttmlir.frontend.errors import missing_package
from ttmlir.limits import memory_advice, memory_limit

DTYPES: Mapping[str, str] = {
    "FLOAT": "f32",
    "DOUBLE": "f64",
    "FLOAT16": "f16",
    "BFLOAT16": "bf16",
    "BOOL": "i1",
    **{f"INT{width}": f"i{width}" for width in (8, 16, 32, 64)},
    **{f"UINT{width}": f"ui{width}" for width in (8, 16, 32, 64)},
    **dict.fromkeys(("INT4", "INT2"), "i8"),
    **dict.fromkeys(("UINT4", "UINT2"), "ui8"),
    "FLOAT8E4M3FN": "bf16",
    "FLOAT8E4M3FNUZ": "bf16",
    "FLOAT8E5M2": "bf16",
    "FLOAT8E5M2FNUZ": "bf16",
    "FLOAT8E8M0": "bf16",
    "FLOAT4E2M1": "bf16",
}
"""Element types of tensors by ONNX's names; those of few bits are kept in wider ones."""

SMALL_FLOATS: Mapping[str, str] = {
    "FLOAT8E4M3FN": "f8E4M3FN",
    "FLOAT8E4M3FNUZ": "f8E4M3FNUZ",
    "FLOAT8E5M2": "f8E5M2",
    "FLOAT8E5M2FNUZ": "f8E5M2FNUZ",
    "FLOAT8E8M0": "f8E8M0FNU",
    "FLOAT4E2M1": "f4E2M1FN",
}
"""Formats of numbers that bf16 holds."""

SMALL_INTEGERS: Mapping[str, tuple[int, int]] = {
    "INT4": (-8, 7),
    "UINT4": (0, 15),
    "INT2": (-2, 1),
    "UINT2": (0, 3),
}
"""Least and largest number of integers that those of 8 bits hold."""

_OWN_NAMES: Mapping[str, str] = {
    dtype: name
    for name, dtype in DTYPES.items()
    if name not in SMALL_FLOATS and name not in SMALL_INTEGERS
}


def onnx_package() -> Any:
    """The package `onnx`, which is imported by whoever has something for this frontend."""
    return import_module("onnx")


def require_onnx() -> None:
    """MissingPackageError where the package is not installed."""
    if "onnx" not in sys.modules and find_spec("onnx") is None:
        raise missing_package("onnx", "onnx", "compiling models of ONNX")


def type_name(number: int) -> str:
    """`FLOAT` for 1; a number that ONNX does not have as text."""
    try:
        return str(onnx_package().TensorProto.DataType.Name(number))
    except ValueError:
        return str(number)


def why_not_supported(name: str) -> str:
    """Why tensors cannot have an element type that `DTYPES` does not have."""
    if name == "STRING":
        return "tensors of strings are not supported: devices compute with numbers"
    if name.startswith("COMPLEX"):
        return f"tensors of {name} are not supported; give real and imaginary parts as tensors"
    return f"tensors of the element type {name} are not supported; types are {', '.join(DTYPES)}"


@dataclass(frozen=True)
class Tensor:
    """An array with the name of its element type in ONNX."""

    array: Array
    type: str

    @classmethod
    def of(cls, array: Array) -> Tensor:
        """An array in the type that it has."""
        return cls(array, _OWN_NAMES[array.dtype])


@dataclass(frozen=True, eq=False)
class Size:
    """A number of elements that is known only when the model runs."""

    count: Array
    """An i64 of no dimension."""
    most: int
    least: int = 0
    source: Any = None
    """The value whose elements other than 0 it counts, where it does."""


@dataclass(frozen=True, eq=False)
class Bounded:
    """A tensor of the largest extents that there can be, of which the first ones count.

    Elements behind those that count may be any numbers.
    """

    array: Array
    sizes: Mapping[int, Size]
    """Of dimensions that are not known; their extents in the array are the most."""
    type: str = ""
    """Of its elements, by ONNX's name; empty until the schema has said it."""
    one: Array | None = None
    """The number that all elements are, where that is known."""
    places: tuple[Array, bool] | None = None
    """The mask whose true elements are at these places, and whether each is a row."""

    def describe(self) -> str:
        """Type and shape, for messages."""
        extents = [
            f"0 to {n}" if dim in self.sizes else str(n) for dim, n in enumerate(self.array.shape)
        ]
        return f"{self.type}[{', '.join(extents)}]"


@dataclass(frozen=True)
class Counted(Tensor):
    """A tensor of few whole numbers that shapes may depend on, such as what `Shape` gives."""

    entries: tuple[int | Size, ...] = ()
    """What is known of each element, in their order."""


Value = Tensor | Bounded | list["Value"] | None
"""What a name of a graph stands for: a tensor, a sequence, or an optional without a value."""


def host_type(name: str) -> np.dtype[Any]:
    """The type of NumPy in which arrays of a model's callers are."""
    number = onnx_package().TensorProto.DataType.Value(name)
    return np.dtype(onnx_package().helper.tensor_dtype_to_np_dtype(number))


def held(numbers: NDArray[Any], name: str) -> NDArray[Any]:
    """Numbers of an element type in the type that holds them."""
    return numbers.astype(host_dtype(DTYPES[name]), copy=False)


# -- tensors of a model --------------------------------------------------------------------------


def require_memory(shape: Sequence[int], dtype: str, what: str) -> None:
    """Refuse arrays that are larger than all that a run may take."""
    size = math.prod(shape) * host_dtype(dtype).itemsize
    if size > memory_limit():
        raise ArgumentError(
            f"{what} would have {math.prod(shape):,} elements of {dtype}; {memory_advice()}"
        )


def read_tensor(proto: Any, folder: str | None) -> tuple[NDArray[Any], str]:
    """The numbers of a `TensorProto` in the type that holds them, and the name of their type.

    ArgumentError says what is wrong with it. `folder` is that of the model's file, if it has one.
    """
    name = type_name(proto.data_type)
    if name not in DTYPES:
        raise ArgumentError(why_not_supported(name))
    shape = tuple(proto.dims)
    if any(extent < 0 for extent in shape):
        raise ArgumentError(f"its shape {_spell(shape)} has an extent below 0")
    if proto.data_location == proto.EXTERNAL:
        return held(_read_external(proto, name, shape, folder), name), name
    try:
        numbers = np.asarray(onnx_package().numpy_helper.to_array(proto))
    except (ValueError, TypeError, OverflowError) as error:
        raise ArgumentError(
            f"its numbers do not fit its shape {_spell(shape)} of {name}: {error}"
        ) from error
    if numbers.shape != shape:
        raise ArgumentError(f"its numbers do not fit its shape {_spell(shape)} of {name}")
    return held(numbers, name), name


def _spell(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _read_external(
    proto: Any, name: str, shape: tuple[int, ...], folder: str | None
) -> NDArray[Any]:
    entries = {entry.key: entry.value for entry in proto.external_data}
    location = entries.get("location", "")
    if folder is None:
        raise ArgumentError(
            f"its numbers are in the file '{location}', and the model is not given as a file; give "
            "its path, or load it by onnx.load, which reads them"
        )
    try:
        path = path_below(folder, location)
        size = os.stat(path).st_size
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ArgumentError(f"its numbers are in the file '{location}': {reason}") from error
    dtype = host_type(name)
    count = math.prod(shape)
    packed = _BITS_OF_PACKED.get(name)
    needed = -(-count * packed // 8) if packed else count * dtype.itemsize
    offset = _whole_number(entries, "offset", 0)
    length = _whole_number(entries, "length", needed)
    if length != needed:
        raise ArgumentError(
            f"it has {length:,} bytes in the file '{location}'; {count:,} elements of {name} are "
            f"{needed:,}"
        )
    if offset + needed > size:
        raise ArgumentError(
            f"its {needed:,} bytes from byte {offset:,} on are not in the file '{location}', which "
            f"has {size:,}"
        )
    try:
        if packed:
            # Few of these are large; ONNX's own function knows the order of their bits.
            inner = onnx_package().TensorProto()
            inner.CopyFrom(proto)
            inner.ClearField("external_data")
            inner.data_location = proto.DEFAULT
            inner.raw_data = np.fromfile(path, np.uint8, needed, offset=offset).tobytes()
            return np.asarray(onnx_package().numpy_helper.to_array(inner))
        if not count:
            return np.zeros(shape, dtype)
        # Elements stand in files with their least byte first.
        found = np.fromfile(path, np.uint8, needed, offset=offset)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ArgumentError(f"its numbers are in the file '{location}': {reason}") from error
    return found.view(dtype.newbyteorder("<") if dtype.isbuiltin else dtype).reshape(shape)


_BITS_OF_PACKED: Mapping[str, int] = {
    "INT4": 4,
    "UINT4": 4,
    "FLOAT4E2M1": 4,
    "INT2": 2,
    "UINT2": 2,
}


def _whole_number(entries: Mapping[str, str], key: str, default: int) -> int:
    text = entries.get(key, str(default))
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise ArgumentError(f"the {key} of its external data is no number: '{text[:40]}'")
    return int(text)


def read_sparse_tensor(proto: Any, folder: str | None) -> tuple[NDArray[Any], str]:
    """The numbers of a `SparseTensorProto` with the zeros between them."""
    values, name = read_tensor(proto.values, folder)
    places, _ = read_tensor(proto.indices, folder)
    shape = tuple(proto.dims)
    if any(extent < 0 for extent in shape):
        raise ArgumentError(f"its shape {_spell(shape)} has an extent below 0")
    require_memory(shape, DTYPES[name], "it")
    if places.ndim == 2 and places.shape == (values.size, len(shape)):
        limits = np.asarray(shape, np.int64)
        is_inside = bool(((places >= 0) & (places < limits)).all())
        index = tuple(places.T)
    else:
        is_inside = places.shape == values.shape and bool(
            ((places >= 0) & (places < math.prod(shape))).all()
        )
        index = np.unravel_index(places, shape) if is_inside else ()
    if not is_inside or values.ndim != 1:
        raise ArgumentError("the places of its values are not in its shape, or not as many")
    found = np.zeros(shape, values.dtype)
    found[index] = values
    return found, name
