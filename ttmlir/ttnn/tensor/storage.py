"""The numbers of tensors: arrays, and bytes in the memories of a simulated device.

A tensor on a device has an address from its first moment, and its room is taken. Its numbers stay
in an array until somebody can see the bytes: a kernel, or who asks for the address. From then on
the storage is *shared*: before a program of kernels runs, its numbers are written to the device's
memory, and afterwards they are read from there when they are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakSet

from ttmlir.errors import UsageError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.tensor.formats import decode, encode
from ttmlir.ttnn.types.spec import TensorSpec

if TYPE_CHECKING:
    from ttmlir.sim.machine.address_generators import Buffer
    from ttmlir.ttnn.device.mesh import MeshDevice
    from ttmlir.ttnn.tensor.tensor import Tensor


class HostStorage:
    """Numbers in the host's memory."""

    __slots__ = ("array", "pad_value")
    is_released = False

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
            self._allocator.free(self.address)
            self._buffer = Buffer(
                self.device.simulated,
                spec.size_bytes,
                spec.page_bytes,
                spec.space,
                sharding=spec.sharding(),
                address=self.address,
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


Storage = HostStorage | DeviceStorage
