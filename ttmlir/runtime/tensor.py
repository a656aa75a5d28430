"""Tensors at run time and the description of where and how one is kept.

`TensorDesc` is what a program says about a tensor: shape, element type, memory space, tile. A
`Tensor` is a description with numbers: on the host in the logical element type, on a device in the
type that operations compute in (`ttmlir.runtime.element`).
"""

from __future__ import annotations

import ctypes
import math
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ttmlir.layout.data_format import packed_tile_bytes
from ttmlir.layout.element_type import TileFormat, is_block_float
from ttmlir.layout.enums import DataType, MemorySpace, TensorMemoryLayout
from ttmlir.layout.tile import padded_shape
from ttmlir.runtime.element import (
    Array,
    ElementType,
    convert,
    element_of_data_type,
    element_of_dtype,
)
from ttmlir.runtime.errors import InputError

if TYPE_CHECKING:
    from ttmlir.runtime.device import Device

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
        stride=row_major_stride(shape),
    )


def row_major_stride(shape: Sequence[int]) -> tuple[int, ...]:
    """Distance in elements between neighbours along each dimension, the last one fastest."""
    stride = [1] * len(shape)
    for i in reversed(range(len(shape) - 1)):
        stride[i] = stride[i + 1] * shape[i + 1]
    return tuple(stride)


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
        return row_major_stride(self.desc.shape)

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
    from ttmlir.runtime.element import ELEMENT_TYPES

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
