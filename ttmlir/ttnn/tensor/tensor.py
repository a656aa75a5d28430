"""Tensors, on the host or on a device, and what holds their numbers.

A tensor on a device has an address from its first moment, and its room is taken. Its numbers stay
in an array until somebody can see the bytes: a kernel, or who asks for the address. From then on
the storage is *shared*: before a program of kernels runs, its numbers are written to the device's
memory, and afterwards they are read from there when they are needed.

On several devices a tensor is a list of such tensors, a part on each device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex
from weakref import WeakSet

import ml_dtypes
import numpy as np

from ttmlir.errors import ArgumentTypeError, UsageError
from ttmlir.layout.data_format import round_block_float, tilize, untilize
from ttmlir.runtime.tensor import (
    ELEMENT_TYPES,
    Array,
    convert,
    decode_numbers,
    element_of_data_type,
    encode_numbers,
)
from ttmlir.ttnn.errors import locate_error, refuse_operator
from ttmlir.ttnn.registry import find_operation
from ttmlir.ttnn.types.enums import DataType, Layout, StorageKind
from ttmlir.ttnn.types.memory import DRAM_MEMORY_CONFIG, MemoryConfig, Shape
from ttmlir.ttnn.types.spec import TensorSpec, Tile

if TYPE_CHECKING:
    from ttmlir.runtime.tensor import Array
    from ttmlir.sim.machine.address_generators import Buffer
    from ttmlir.ttnn.device.mesh import MeshDevice
    from ttmlir.ttnn.tensor.distribution import TensorTopology


# --- Numbers as data types keep them --------------------------------------------------------------

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
    return bytes(encode_numbers(numbers, spec.dtype.facts.storage, height * width))


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


# --- Storage --------------------------------------------------------------------------------------


class HostStorage:
    """Numbers in the host's memory."""

    __slots__ = ("array", "pad_value")
    is_released = False
    device = None

    def __init__(self, array: Array) -> None:
        """Take an array, which nobody else changes."""
        self.array = array
        self.pad_value = 0.0


class DeviceStorage:
    """Numbers in DRAM or L1 of a device."""

    __slots__ = (
        "__weakref__",
        "_allocator",
        "_array",
        "_buffer",
        "_is_written",
        "address",
        "device",
        "is_released",
        "pad_value",
        "sharers",
        "spec",
    )

    is_released: bool
    """Whether the memory was given back."""
    pad_value: float
    """What fills the padding of tiles."""
    sharers: WeakSet[Tensor] | None
    """The tensors that have this memory, where there are several; their shapes may differ."""

    def __init__(self, device: MeshDevice, spec: TensorSpec, array: Array | None) -> None:
        """Take memory; without an array, nobody has written it. RuntimeError if there is no room.

        `spec` is complete: sharded configurations have their shards.
        """
        device.check_open()
        self.device = device
        self.spec = spec
        self._array = array
        self._buffer: Buffer | None = None
        self._is_written = False
        self._allocator = device.allocators[spec.space]
        self.address = self._allocator.allocate(spec.bank_bytes(device.chip))
        self.is_released = False
        self.pad_value = 0.0
        self.sharers = None

    @property
    def array(self) -> Array:
        """The numbers; what no one has written is all ones in bits."""
        if self._array is None:
            unseen = self.spec.is_sharded_in_dram
            data = b"\xff" * self.spec.size_bytes if unseen else self.buffer.read()
            self._array = decode(data, self.spec)
        return self._array

    @array.setter
    def array(self, array: Array) -> None:
        self._array = array.reshape(self.spec.shape)
        self._is_written = False

    @property
    def buffer(self) -> Buffer:
        """The bytes on the device, which from now on others may see."""
        if self._buffer is None:
            from ttmlir.sim.machine.address_generators import Buffer

            spec = self.spec
            if spec.is_sharded_in_dram:
                raise UsageError(
                    "kernels do not see shards in DRAM here; use an interleaved memory_config, or "
                    "shards in L1"
                )
            self._buffer = Buffer(
                self.device.simulated,
                spec.size_bytes,
                spec.page_bytes,
                spec.space,
                sharding=spec.sharding(),
                address=self.address,
                is_taken=True,
            )
            self.device.shared.add(self)
        return self._buffer

    def write_bytes(self) -> None:
        """Bring the bytes on the device up to date."""
        if self._array is not None and not self._is_written:
            self.buffer.write(encode(self._array, self.spec, self.pad_value))
            self._is_written = True

    def forget_array(self) -> None:
        """Take the bytes on the device for the truth: a program may have written them."""
        if self._is_written or self._array is None:
            self._array = None

    def release(self) -> None:
        """Give the memory back, once."""
        if self.is_released:
            return
        self.is_released = True
        if self._buffer is None:
            self._allocator.free(self.address)
        else:
            self.device.shared.discard(self)
            self._buffer.deallocate()

    def __del__(self) -> None:
        """Nobody has the tensor any more."""
        # Without room there is nothing to give back.
        if hasattr(self, "is_released"):
            self.release()


class MeshStorage:
    """The parts that several devices have of a tensor, or on the host what they are to get."""

    __slots__ = ("device", "parts", "topology")

    is_used = False
    """Whether this process ever divided a tensor: else calls need not look for one."""

    def __init__(
        self, parts: Sequence[Tensor], device: MeshDevice | None, topology: TensorTopology
    ) -> None:
        """A tensor of each device, row by row; None for the device on the host."""
        MeshStorage.is_used = True
        self.parts = tuple(parts)
        self.device = device
        self.topology = topology

    @property
    def is_released(self) -> bool:
        """Whether the memory of a part was given back."""
        return not all(each.is_allocated() for each in self.parts)

    @property
    def array(self) -> Array:
        """RuntimeError: there are several."""
        raise UsageError(
            f"the tensor has parts on {len(self.parts)} devices; give to_torch a mesh_composer, "
            "such as ttnn.ConcatMeshToTensor(mesh_device, dim=0), or take single parts with "
            "ttnn.get_device_tensors(tensor)"
        )

    @array.setter
    def array(self, array: Array) -> None:
        for each in self.parts:
            each.storage.array = array

    @property
    def pad_value(self) -> float:
        """What fills the padding of tiles."""
        return self.parts[0].pad_value

    @pad_value.setter
    def pad_value(self, value: float) -> None:
        for each in self.parts:
            each.pad_value = value


Storage = HostStorage | DeviceStorage | MeshStorage


# --- Tensors --------------------------------------------------------------------------------------

_ids = count()


class Tensor:
    """Numbers with a specification; operations make new ones.

    `Tensor(array, ...)` and `Tensor(numbers, shape, dtype, layout, ...)` are `create` in
    `ttmlir.ttnn.tensor.conversion`.
    """

    __slots__ = ("__weakref__", "_storage", "spec", "tensor_id")

    spec: TensorSpec
    """What is known besides the numbers."""
    tensor_id: int
    _storage: Storage | None

    def __new__(cls, *args: Any, **kwargs: Any) -> Tensor:
        """A tensor on the host, or on a device if one is given."""
        return find_operation("create_tensor")(*args, **kwargs)

    @staticmethod
    def of(spec: TensorSpec, storage: Storage) -> Tensor:
        """The tensor that a storage holds."""
        tensor = object.__new__(Tensor)
        tensor.spec = spec
        tensor._storage = storage
        tensor.tensor_id = next(_ids)
        return tensor

    @staticmethod
    def on(device: MeshDevice | None, spec: TensorSpec, array: Array | None) -> Tensor:
        """A tensor with the numbers of an array, which nobody else changes; None for any numbers.

        On a device it takes memory there.
        """
        if device is None:
            assert array is not None, "tensors on the host have numbers"
            return Tensor.of(spec, HostStorage(array))
        if device.is_several:
            from ttmlir.ttnn.tensor.distribution import replicated_topology

            parts = [Tensor.on(unit, spec, array) for unit in device.units]
            return Tensor.divided(parts, device, replicated_topology(device.shape))
        spec = spec.complete(device.core_coord)
        return Tensor.of(spec, DeviceStorage(device, spec, array))

    @staticmethod
    def divided(
        parts: Sequence[Tensor], device: MeshDevice | None, topology: TensorTopology
    ) -> Tensor:
        """The tensor of which the devices of a mesh have these parts; on the host without one.

        RuntimeError for parts of different specifications.
        """
        first = parts[0].spec
        for each in parts:
            if each.spec != first:
                raise UsageError(
                    f"the parts of a tensor are alike, not {first.shape}, {first.dtype}, "
                    f"{first.layout} and {each.shape}, {each.dtype}, {each.layout}"
                )
        return Tensor.of(first, MeshStorage(parts, device, topology))

    # What it is.

    @property
    def mesh_storage(self) -> MeshStorage | None:
        """The parts, if several devices have one each; None else."""
        storage = self._storage
        return storage if type(storage) is MeshStorage else None

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """The part of each device, row by row: the tensor itself if there is one."""
        storage = self.storage
        return storage.parts if isinstance(storage, MeshStorage) else (self,)

    def tensor_topology(self) -> TensorTopology:
        """How the tensor is divided over the devices of a mesh."""
        from ttmlir.metalium.mesh_shapes import MeshShape
        from ttmlir.ttnn.tensor.distribution import replicated_topology

        storage = self.storage
        if isinstance(storage, MeshStorage):
            return storage.topology
        return replicated_topology(MeshShape(1, 1))

    @property
    def storage(self) -> Storage:
        """What holds the numbers; RuntimeError once the tensor was deallocated."""
        storage = self._storage
        if storage is None or storage.is_released:
            raise UsageError(
                "the buffer is not allocated: the tensor was deallocated, and cannot be used any "
                "more"
            )
        return storage

    @property
    def array(self) -> Array:
        """The numbers in the type that operations compute in. Nobody changes them."""
        array = self.storage.array
        return array if array.shape == self.spec.shape else array.reshape(self.spec.shape)

    @property
    def pad_value(self) -> float:
        """What fills the padding of tiles."""
        return self.storage.pad_value

    @pad_value.setter
    def pad_value(self, value: float) -> None:
        self.storage.pad_value = value

    @property
    def shape(self) -> Shape:
        """The logical shape."""
        return self.spec.shape

    @property
    def padded_shape(self) -> Shape:
        """The shape in memory."""
        return self.spec.padded_shape

    @property
    def dtype(self) -> DataType:
        """What the numbers are."""
        return self.spec.dtype

    @property
    def layout(self) -> Layout:
        """Rows or tiles."""
        return self.spec.layout

    @property
    def tile(self) -> Tile:
        """The extents of a tile."""
        return self.spec.tile

    def get_dtype(self) -> DataType:
        """As `dtype`."""
        return self.spec.dtype

    def get_layout(self) -> Layout:
        """As `layout`."""
        return self.spec.layout

    def get_tile(self) -> Tile:
        """As `tile`."""
        return self.spec.tile

    def volume(self) -> int:
        """Numbers in memory, padding included."""
        volume = 1
        for extent in self.spec.padded_shape:
            volume *= extent
        return volume

    physical_volume = volume

    def logical_volume(self) -> int:
        """Numbers without padding."""
        volume = 1
        for extent in self.spec.shape:
            volume *= extent
        return volume

    def element_size(self) -> int:
        """Bytes of a number."""
        return self.dtype.facts.element_bytes or 1

    # Where it is.

    def storage_type(self) -> StorageKind:
        """Host or device."""
        return StorageKind.HOST if self.storage.device is None else StorageKind.DEVICE

    def device(self) -> MeshDevice | None:
        """The device, which may be a mesh of several; None on the host."""
        return self.storage.device

    def devices(self) -> list[MeshDevice]:
        """The single devices."""
        device = self.device()
        return [] if device is None else [*device.units]

    def memory_config(self) -> MemoryConfig:
        """The memory; DRAM for tensors on the host, as ttnn says it."""
        return DRAM_MEMORY_CONFIG if self.storage.device is None else self.spec.memory_config

    def is_sharded(self) -> bool:
        """Whether cores hold shards."""
        return self.memory_config().is_sharded()

    def is_allocated(self) -> bool:
        """False once the tensor was deallocated."""
        return self._storage is not None and not self._storage.is_released

    def device_storage(self) -> DeviceStorage:
        """The storage on a device; RuntimeError on the host, and for parts on several devices."""
        storage = self.storage
        if isinstance(storage, MeshStorage) and storage.device is not None:
            raise UsageError(
                f"the tensor has parts on {len(storage.parts)} devices; take them with "
                "ttnn.get_device_tensors(tensor)"
            )
        if not isinstance(storage, DeviceStorage):
            raise UsageError("the tensor is on the host; move it with ttnn.to_device first")
        return storage

    def buffer_address(self) -> int:
        """The address in each bank. Programs see the numbers there from now on.

        RuntimeError where devices have their parts at different addresses.
        """
        if (divided := self.mesh_storage) is not None:
            addresses = sorted({each.buffer_address() for each in divided.parts})
            if len(addresses) > 1:
                raise UsageError(f"the devices have their parts at different addresses {addresses}")
            return addresses[0]
        storage = self.device_storage()
        return storage.address if storage.spec.is_sharded_in_dram else storage.buffer.address

    def share(self, shape: Sequence[int]) -> Tensor:
        """The tensor, which is on a device, with another shape in the same memory."""
        storage = self.device_storage()
        shared = Tensor.of(self.spec.replace(shape=shape), storage)
        if storage.sharers is None:
            storage.sharers = WeakSet([self])
        storage.sharers.add(shared)
        return shared

    def deallocate(self, force: bool = False) -> None:
        """Give the memory back; a second call changes nothing.

        Memory that other tensors share stays as it is, unless it is by force: then a tensor that
        was made of another one takes it from all, and the one that it was made of from itself.
        """
        storage = self._storage
        if isinstance(storage, MeshStorage):
            for part in storage.parts:
                part.deallocate(force)
            return
        if isinstance(storage, DeviceStorage):
            others = [each for each in storage.sharers or () if each is not self]
            if any(each.is_allocated() for each in others):
                if not force:
                    return
                if self.spec is storage.spec:
                    self._storage = None
                    return
            storage.release()
        self._storage = None

    def take(self, other: Tensor) -> None:
        """Hold the numbers of another tensor of the same specification, at this one's address."""
        if (divided := self.mesh_storage) is not None:
            for part, new in zip(divided.parts, other.parts, strict=True):
                part.take(new)
        elif self._storage is None:
            self._storage = other.storage
        else:
            self._storage.array = other.array

    # Moving and converting it: operations.

    def to(self, target: MeshDevice | Layout, *args: Any, **kwargs: Any) -> Tensor:
        """The tensor on a device, or in another layout."""
        name = "to_layout" if isinstance(target, Layout) else "to_device"
        if "mem_config" in kwargs:
            kwargs["memory_config"] = kwargs.pop("mem_config")
        return find_operation(name)(self, target, *args, **kwargs)

    def cpu(self, blocking: bool = True, cq_id: int | None = None) -> Tensor:
        """The tensor on the host."""
        return find_operation("from_device")(self)

    def to_torch(self, mesh_composer: object = None) -> Any:
        """A torch tensor; RuntimeError unless the tensor is on the host."""
        self._require_host("to_torch")
        return find_operation("to_torch")(self, mesh_composer=mesh_composer)

    def to_numpy(self) -> Array:
        """An array of the data type; RuntimeError unless the tensor is on the host."""
        self._require_host("to_numpy")
        return find_operation("to_numpy")(self)

    def to_list(self) -> Any:
        """Nested lists of numbers; RuntimeError for parts on several devices."""
        try:
            return self.array.tolist()
        except UsageError as error:
            raise locate_error(error, "Tensor.to_list") from error

    def item(self) -> float | int:
        """The number of a tensor that has one; RuntimeError for more."""
        if self.logical_volume() != 1:
            wrong = UsageError(f"it takes a tensor of one element, not of {self.shape}")
            raise locate_error(wrong, "Tensor.item")
        return self.array.reshape(-1)[0].item()

    def _require_host(self, name: str) -> None:
        if self.storage.device is not None:
            wrong = UsageError(f"it takes a tensor on the host; use ttnn.{name}, or cpu() first")
            raise locate_error(wrong, f"Tensor.{name}")

    def to_torch_with_padded_shape(self) -> Any:
        """A torch tensor with the padding."""
        whole = pad(self.array, self.spec, self.pad_value)
        return find_operation("to_torch")(
            Tensor.on(None, self.spec.replace(shape=whole.shape), whole)
        )

    def pad(self, shape: Sequence[int], start: Sequence[int], value: float) -> Tensor:
        """The tensor within a larger one, at `start`."""
        import numpy as np

        whole = np.full(tuple(shape), value, compute_type(self.dtype))
        places = zip(start, self.shape, strict=True)
        whole[tuple(slice(first, first + extent) for first, extent in places)] = self.array
        return Tensor.on(None, self.spec.replace(shape=shape), whole)

    def unpad(self, start: Sequence[int], end: Sequence[int]) -> Tensor:
        """The part from `start` on and before `end`."""
        part = self.array[tuple(map(slice, start, end))]
        return Tensor.on(None, self.spec.replace(shape=part.shape), part)

    def pad_to_tile(self, value: float = 0.0) -> Tensor:
        """The tensor with its padding to tiles as numbers of its own."""
        spec = self.spec.replace(layout=Layout.TILE)
        whole = pad(self.array, spec, value)
        return Tensor.on(None, self.spec.replace(shape=whole.shape), whole)

    def unpad_from_tile(self, shape: Sequence[int]) -> Tensor:
        """The first numbers along each dimension."""
        part = unpad(self.array, tuple(shape))
        return Tensor.on(None, self.spec.replace(shape=part.shape), part)

    def reshape(self, *shape: Any) -> Tensor:
        """The numbers in another shape."""
        target = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return find_operation("reshape")(self, target)

    # Operators.

    def __add__(self, other: Any) -> Tensor:
        """Sum."""
        return find_operation("add")(self, other)

    def __radd__(self, other: Any) -> Tensor:
        """Sum."""
        return find_operation("add")(self, other)

    def __sub__(self, other: Any) -> Tensor:
        """Difference."""
        return find_operation("subtract")(self, other)

    def __mul__(self, other: Any) -> Tensor:
        """Product of elements."""
        return find_operation("multiply")(self, other)

    def __rmul__(self, other: Any) -> Tensor:
        """Product of elements."""
        return find_operation("multiply")(self, other)

    def __truediv__(self, other: Any) -> Tensor:
        """Quotient."""
        return find_operation("divide")(self, other)

    def __rtruediv__(self, other: float) -> Tensor:
        """A number divided by the tensor."""
        return find_operation("rdiv")(self, other)

    def __matmul__(self, other: Any) -> Tensor:
        """Product of matrices."""
        return find_operation("matmul")(self, other)

    def __rsub__(self, other: Any) -> Tensor:
        """A number less the tensor."""
        return find_operation("subtract")(other, self)

    # ttnn has no operators for these; without an answer, a program would not know what to call.

    def __pow__(self, other: Any) -> Tensor:
        """TypeError: powers have a function."""
        raise refuse_operator("**", "ttnn.pow(tensor, exponent)")

    def __neg__(self) -> Tensor:
        """TypeError: the opposite has a function."""
        raise refuse_operator("-tensor", "ttnn.neg(tensor)")

    def __eq__(self, other: object) -> Any:
        """1 where elements are equal, else 0."""
        return find_operation("eq")(self, other)

    def __ne__(self, other: object) -> Any:
        """1 where elements differ, else 0."""
        return find_operation("ne")(self, other)

    def __gt__(self, other: Any) -> Tensor:
        """1 where elements are larger, else 0."""
        return find_operation("gt")(self, other)

    def __ge__(self, other: Any) -> Tensor:
        """1 where elements are not smaller, else 0."""
        return find_operation("ge")(self, other)

    def __lt__(self, other: Any) -> Tensor:
        """1 where elements are smaller, else 0."""
        return find_operation("lt")(self, other)

    def __le__(self, other: Any) -> Tensor:
        """1 where elements are not larger, else 0."""
        return find_operation("le")(self, other)

    __hash__ = object.__hash__

    def __getitem__(self, index: Any) -> Tensor:
        """A part: integers, slices with steps, and one ellipsis."""
        return find_operation("get_item")(self, index)

    def __len__(self) -> int:
        """The first extent."""
        return self._require_parts()[0]

    def __iter__(self) -> Iterator[Tensor]:
        """The parts along the first dimension."""
        return (self[i] for i in range(self._require_parts()[0]))

    def _require_parts(self) -> Shape:
        """The shape; TypeError if it has no first dimension."""
        if not self.shape:
            raise locate_error(
                ArgumentTypeError("a ttnn.Tensor without dimensions has no length and no parts")
            )
        return self.shape

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Refuse to be copied or pickled by Python: memory of a device stays where it is."""
        raise ArgumentTypeError(
            "a ttnn.Tensor is not copied or pickled by Python; ttnn.clone copies one on a device, "
            "ttnn.dump_tensor writes one to a file, ttnn.to_torch gives its numbers"
        )

    def __repr__(self) -> str:
        """The numbers and what they are, as ttnn prints them."""
        show: Callable[[Tensor], str] = find_operation("print_tensor")
        return show(self)
