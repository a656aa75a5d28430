"""Tensors at run time, the description of where and how one is kept, and open devices.

`TensorDesc` is what a program says about a tensor: shape, element type, memory space, tile. A
`Tensor` is a description with numbers: on the host in the logical element type, on a device in the
type that operations compute in (`ttmlir.runtime.tensor`).
"""

from __future__ import annotations

import ctypes
import math
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache, partial
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ttmlir.layout.data_format import (
    DEFAULT_TILE_SHAPE,
    PARTS,
    SCHEMA_NAMES,
    TileFormat,
    convert,
    is_block_float,
    pack_block_float,
    packed_tile_bytes,
    padded_shape,
    round_block_float,
    row_major_strides,
    unpack_block_float,
)
from ttmlir.layout.enums import DataType, MemorySpace, TensorMemoryLayout
from ttmlir.runtime.errors import InputError

# --- Element --------------------------------------------------------------------------------------
# Element types and the two numerics: what a number becomes when it is stored.
#
# A tensor has a *logical* element type (what the program means: i1, i64, bf16, ...) and a storage
# `DataType` (what the device keeps). Host arrays use the logical type; inside the runtime floating
# point types up to 32 bits are computed in float32, f64 in float64 and integers in their own type.
#
# With `Numerics.EXACT` a value keeps all digits of its computation until it leaves the program.
# With `Numerics.DEVICE` every stored result is rounded to its `DataType`: to nearest even for bf16
# and f16, with one exponent per 16 numbers of a tile row for block floats, modulo 2**32 for 64-bit
# integers.

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
    if array.dtype == host:
        return array
    name = array.dtype.name
    match host.name:
        case "bfloat16":
            is_small = name.startswith(("float8_", "float6_", "float4_"))
        case "int8" | "int32":
            is_small = name in ("int4", "int2")
        case "uint8" | "uint32":
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


# --- Stored bytes ---------------------------------------------------------------------------------
# Numbers as the bytes that the memories of a device hold, in each of the storage formats.

_STORED: dict[DataType, np.dtype[Any]] = {
    DataType.F32: np.dtype(np.float32),
    DataType.F16: np.dtype(np.float16),
    DataType.BF16: np.dtype(ml_dtypes.bfloat16),
    DataType.U32: np.dtype(np.uint32),
    DataType.U16: np.dtype(np.uint16),
    DataType.U8: np.dtype(np.uint8),
}
_SIGNED = {4: np.dtype(np.int32), 2: np.dtype(np.int16), 1: np.dtype(np.int8)}


def narrow_numbers(numbers: Array, data_type: DataType) -> Array:
    """Numbers in the type that stores them; those of block floats, whose bytes differ, as given."""
    return numbers if is_block_float(data_type) else convert(numbers, _STORED[data_type])


def encode_numbers(numbers: Array, data_type: DataType, tile_volume: int) -> memoryview:
    """The bytes of numbers in memory order; block floats share exponents within a tile."""
    if is_block_float(data_type):
        return memoryview(pack_block_float(numbers.reshape(-1, tile_volume), data_type))
    return np.ascontiguousarray(narrow_numbers(numbers, data_type)).reshape(-1).view(np.uint8).data


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


# --- Complex pairs --------------------------------------------------------------------------------
# Complex arrays of a call, which are pairs of real ones in programs and files.


def split(array: Any) -> tuple[Array, Array]:
    """The real and the imaginary part of a complex array, contiguous."""
    real, imag = (part_of(array, name) for name in PARTS)
    return real, imag


def part_of(array: Any, name: str) -> Array:
    """The `real` or `imag` part of an array, contiguous."""
    part: Array = getattr(np.asarray(array), name)
    return part.copy()


def join(real: Array, imag: Array) -> Array:
    """The complex array of two parts: of f64 complex128, of all others complex64."""
    is_wide = real.dtype == np.float64
    joined: Any = np.empty(real.shape, np.complex128 if is_wide else np.complex64)
    joined.real, joined.imag = real, imag
    return joined


def split_complex(arrays: Iterable[Array]) -> list[Array]:
    """Arrays with each complex one as its parts."""
    return [part for array in arrays for part in (split(array) if is_complex(array) else (array,))]


def split_leaves(
    leaves: Sequence[Any], are_complex: Sequence[bool], names: Sequence[str], model: str
) -> list[Any]:
    """The arrays and numbers of a call, those for complex arguments as their parts.

    InputError, with the name of the argument, where an array of real numbers is given for one.
    """
    found: list[Any] = []
    for leaf, is_pair, name in zip(leaves, are_complex, names, strict=True):
        if not is_pair:
            found.append(leaf)
        elif isinstance(leaf, bool | int | float):
            found += [leaf, 0.0]
        elif is_complex(leaf):
            found += split(leaf)
        else:
            raise InputError(
                f"'{model}' takes complex numbers as {name}, not {leaf.dtype}; convert them first"
            )
    return found


def join_pairs(arrays: Sequence[Array], are_pairs: Sequence[bool]) -> list[Array]:
    """One array for each flag: the next one, or if it is set that of the next two."""
    rest: Iterator[Array] = iter(arrays)
    return [join(next(rest), next(rest)) if is_pair else next(rest) for is_pair in are_pairs]


def is_complex(array: Any) -> bool:
    """True for arrays of complex numbers."""
    return np.iscomplexobj(array)


# --- Tensor ---------------------------------------------------------------------------------------

Shape = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class TensorDesc:
    """How a tensor is kept.

    `tile` is (1, 1) for row-major tensors and the tile's height and width otherwise; `stride`
    counts elements of the unpadded tensor; `core_ranges` are (y, x, height, width). `shard` is the
    part of a sharded tensor that one core holds, in tiles if it is tiled.
    """

    shape: Shape
    element: ElementType
    data_type: DataType
    memory_space: MemorySpace = MemorySpace.SYSTEM
    memory_layout: TensorMemoryLayout = TensorMemoryLayout.NONE
    tile: tuple[int, int] = (1, 1)
    stride: tuple[int, ...] = ()
    core_ranges: tuple[tuple[int, int, int, int], ...] = ()
    shard: Shape = ()

    @property
    def is_on_device(self) -> bool:
        """True for device memory."""
        return self.memory_space.is_device

    @property
    def is_tiled(self) -> bool:
        """True for tile layout."""
        return self.tile != (1, 1)

    @property
    def volume(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def padded_shape(self) -> Shape:
        """Shape with the last two dimensions rounded up to whole tiles; the shape if row-major."""
        return padded_shape(self.shape, self.tile) if self.is_tiled else self.shape

    @property
    def size_in_bytes(self) -> int:
        """Bytes that the tensor occupies, padding included."""
        elements = math.prod(self.padded_shape)
        if not is_block_float(self.data_type):
            return elements * TileFormat(1, 1, self.data_type).size_bytes
        tile_volume = math.prod(self.tile)
        return -(-elements // tile_volume) * packed_tile_bytes(self.data_type, tile_volume)

    def agrees_with(self, other: TensorDesc) -> bool:
        """True if a tensor kept as `other` says can be used where this description is asked for."""
        if self.memory_space is MemorySpace.SYSTEM:
            return (
                other.memory_space is MemorySpace.SYSTEM
                and self.shape == other.shape
                and self.element is other.element
            )
        return self is other or not self.differences(other)

    def differences(self, other: TensorDesc) -> list[str]:
        """What has to change to make a tensor kept as `other` says fit this description."""
        compared = ["shape", "element", "memory_space"]
        if self.is_on_device and other.is_on_device:
            compared += ["data_type", "tile"]
        if self.is_on_device and self.memory_layout.is_sharded:
            compared += ["memory_layout", "core_ranges"]
        return [
            f"{name.replace('_', ' ')} {_spell(getattr(other, name))} instead of "
            f"{_spell(getattr(self, name))}"
            for name in compared
            if getattr(self, name) != getattr(other, name)
        ]

    def on_host(self) -> TensorDesc:
        """The same tensor in host memory, row-major."""
        return replace(
            self,
            memory_space=MemorySpace.SYSTEM,
            memory_layout=TensorMemoryLayout.NONE,
            tile=(1, 1),
            core_ranges=(),
            shard=(),
        )

    @property
    def type_text(self) -> str:
        """Shape and element type: `64x128xbf16`."""
        return "x".join((*map(str, self.shape), str(self.element)))

    def __repr__(self) -> str:
        """The line of `str`."""
        return f"TensorDesc({self})"

    def __str__(self) -> str:
        """One line: `64x128xbf16, f32 tiles 32x32, dram interleaved`."""
        parts = [self.type_text]
        if self.is_tiled:
            parts.append(f"{self.data_type.keyword} tiles {self.tile[0]}x{self.tile[1]}")
        place = self.memory_space.keyword
        if self.memory_layout is not TensorMemoryLayout.NONE:
            place += f" {self.memory_layout.keyword}"
        return ", ".join((*parts, place))


def _spell(value: Any) -> str:
    return value.keyword if hasattr(value, "keyword") else str(value)


def host_desc(shape: Sequence[int], element: ElementType) -> TensorDesc:
    """Description of a row-major tensor in host memory."""
    return TensorDesc(
        shape=tuple(shape),
        element=element,
        data_type=element.storage,
        stride=row_major_strides(shape),
    )


class Tensor:
    """A tensor on the host or on a device.

    Host tensors share the memory of the array they were made from; device tensors own theirs.
    """

    def __init__(self, desc: TensorDesc, values: Array, device: Device | None = None) -> None:
        """Wrap values that already have the right type; users call `from_numpy`."""
        self.desc = desc
        self.device = device
        self._values: Array | None = values
        self._allocation: weakref.finalize[Any, Any] | None = None
        if device is not None:
            self._allocation = device.allocate(self, desc)

    @staticmethod
    def from_numpy(array: Array, element: ElementType | DataType | str | None = None) -> Tensor:
        """A host tensor that shares the array's memory where the element type allows.

        `element` names another element type (IR keyword, `DataType` or `ElementType`); values are
        converted to it.
        """
        own = element_of_dtype(array.dtype)
        target = own if element is None else _as_element(element)
        return Tensor(host_desc(array.shape, target), convert(array, target.host))

    @property
    def values(self) -> Array:
        """The array behind the tensor; InputError once it was deallocated."""
        if self._values is None:
            raise InputError(
                f"the tensor ({self.desc}) was deallocated and cannot be used any more"
            )
        return self._values

    @property
    def is_allocated(self) -> bool:
        """False once the tensor was deallocated."""
        return self._values is not None

    @property
    def shape(self) -> Shape:
        """Logical shape."""
        return self.desc.shape

    @property
    def stride(self) -> tuple[int, ...]:
        """Distance in elements between neighbours along each dimension."""
        return row_major_strides(self.desc.shape)

    @property
    def volume(self) -> int:
        """Number of elements."""
        return self.desc.volume

    @property
    def data_type(self) -> DataType:
        """Storage type."""
        return self.desc.data_type

    dtype = data_type

    @property
    def element(self) -> ElementType:
        """Logical element type."""
        return self.desc.element

    def to_numpy(self) -> Array:
        """The values in the logical element type; a copy for device tensors."""
        if self.device is None:
            return self.values
        self.device.counters.count_read(self.desc)
        return np.array(convert(self.values, self.element.host))

    def deallocate(self) -> None:
        """Give the memory back; later uses are errors, a second call is not."""
        self._values = None
        if self._allocation is not None:
            self._allocation()

    def __repr__(self) -> str:
        """Description and state, without the numbers."""
        state = "" if self.is_allocated else ", deallocated"
        return f"Tensor({self.desc}{state})"


def _as_element(element: ElementType | DataType | str) -> ElementType:

    if isinstance(element, ElementType):
        return element
    if isinstance(element, DataType):
        return element_of_data_type(element)
    for candidate in ELEMENT_TYPES.values():
        if element in (candidate.keyword, candidate.name):
            return candidate
    names = ", ".join(candidate.keyword for candidate in ELEMENT_TYPES.values())
    raise InputError(f"unknown element type '{element}'; supported are {names}")


def create_tensor(
    data: int | Array,
    shape: Sequence[int],
    stride: Sequence[int],
    element_size: int,
    data_type: DataType | ElementType | str,
) -> Tensor:
    """A host tensor over memory that the caller keeps alive; results are written into it.

    `data` is an address or an array, `stride` counts elements and `element_size` bytes.
    """
    element = _as_element(data_type)
    if element_size != element.host.itemsize:
        raise InputError(
            f"element size {element_size} does not fit element type {element}, whose elements "
            f"have {element.host.itemsize} bytes"
        )
    if len(stride) != len(shape):
        raise InputError(f"shape {tuple(shape)} and stride {tuple(stride)} differ in length")
    if any(extent < 0 for extent in (*shape, *stride)):
        raise InputError(f"shape {tuple(shape)} and stride {tuple(stride)} must not be negative")
    if not isinstance(data, int):
        return _over_array(data, shape, element)
    last = sum((extent - 1) * step for extent, step in zip(shape, stride, strict=True))
    length = (last + 1) * element_size if math.prod(shape) else 0
    buffer = memoryview((ctypes.c_ubyte * length).from_address(data))
    values = np.ndarray(
        tuple(shape),
        element.host,
        buffer=buffer,
        strides=tuple(step * element_size for step in stride),
    )
    return Tensor(host_desc(shape, element), values)


def _over_array(data: Array, shape: Sequence[int], element: ElementType) -> Tensor:
    if data.dtype != element.host or data.shape != tuple(shape):
        raise InputError(
            f"an array of dtype {data.dtype} and shape {data.shape} cannot be a tensor of element "
            f"type {element} and shape {tuple(shape)}"
        )
    return Tensor(host_desc(shape, element), data)


# --- Devices -------------------------------------------------------------------------------------


@dataclass
class Counters:
    """Traffic between host and device since the device was opened."""

    writes: int = 0
    """Tensors moved from the host to the device."""
    bytes_written: int = 0
    reads: int = 0
    """Tensors moved from the device to the host."""
    bytes_read: int = 0
    programs: int = 0
    """Programs that ran."""

    def count_write(self, desc: TensorDesc) -> None:
        """Note that a tensor was moved to the device."""
        self.writes += 1
        self.bytes_written += desc.size_in_bytes

    def count_read(self, desc: TensorDesc) -> None:
        """Note that a tensor was moved to the host."""
        self.reads += 1
        self.bytes_read += desc.size_in_bytes

    def add(self, other: Counters, times: int = 1) -> None:
        """Add the traffic of a run, or of as many runs of a function within one."""
        self.writes += other.writes * times
        self.bytes_written += other.bytes_written * times
        self.reads += other.reads * times
        self.bytes_read += other.bytes_read * times
        self.programs += other.programs


@dataclass(eq=False)
class Device:
    """An open device of one or more chips; made by `open_device`."""

    chip_ids: tuple[int, ...]
    numerics: Numerics = Numerics.EXACT
    counters: Counters = field(default_factory=Counters)
    is_open: bool = True
    bytes_in_use: dict[MemorySpace, int] = field(default_factory=dict[MemorySpace, int])
    """Bytes of live tensors per device memory space, those between programs, not within one."""

    def __repr__(self) -> str:
        """Chips, numerics, and whether it was closed."""
        state = "" if self.is_open else ", closed"
        return f"Device(chips {list(self.chip_ids)}, numerics={self.numerics.value}{state})"

    def check_open(self) -> None:
        """InputError if the device was closed."""
        if not self.is_open:
            raise InputError(f"device {list(self.chip_ids)} was closed; open it again first")

    def allocate(self, tensor: Tensor, desc: TensorDesc) -> weakref.finalize[Any, Any]:
        """Account for a tensor until the returned function is called or the tensor is gone."""
        space, size = desc.memory_space, desc.size_in_bytes
        self.bytes_in_use[space] = self.bytes_in_use.get(space, 0) + size
        return weakref.finalize(tensor, _release, self.bytes_in_use, space, size)


def _release(bytes_in_use: dict[MemorySpace, int], space: MemorySpace, size: int) -> None:
    bytes_in_use[space] -= size


def open_device(
    device_ids: Sequence[int] = (0,),
    num_hw_cqs: Sequence[int] = (),
    *,
    numerics: Numerics | str = Numerics.EXACT,
) -> Device:
    """Open simulated chips by id.

    `numerics` says how the results of programs on this device are rounded. `num_hw_cqs`, the number
    of hardware command queues per chip, is accepted and changes nothing here.
    """
    ids = tuple(device_ids)
    if not ids:
        raise InputError("no device ids were given; the default device is [0]")
    if len(set(ids)) != len(ids) or min(ids) < 0:
        raise InputError(f"device ids {list(ids)} must be different and not negative")
    if num_hw_cqs and len(num_hw_cqs) != len(ids):
        raise InputError(
            f"{len(num_hw_cqs)} numbers of command queues were given for {len(ids)} devices"
        )
    return Device(ids, Numerics(numerics))


def close_device(device: Device) -> None:
    """Close a device; tensors on it can still be read, programs no longer run on it."""
    device.check_open()
    device.is_open = False
