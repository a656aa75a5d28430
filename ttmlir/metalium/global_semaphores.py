"""Semaphores that programs share.

Source: tt-metal, tt_metal/api/tt-metalium/global_semaphore.hpp.
"""

from __future__ import annotations

from ttmlir.layout.enums import MemorySpace
from ttmlir.metalium.cores import CoreSpec, cores_of
from ttmlir.metalium.device import Device
from ttmlir.metalium.enums import BufferType
from ttmlir.metalium.errors import MetaliumError, host_call


class GlobalSemaphore:
    """A word in the L1 of some cores, at one address; `CreateGlobalSemaphore` makes it."""

    def __init__(
        self,
        device: Device,
        cores: CoreSpec,
        initial_value: int,
        buffer_type: BufferType = BufferType.L1,
    ) -> None:
        """Take the word and write it."""
        if buffer_type is BufferType.DRAM:
            raise MetaliumError("a semaphore is in L1, not in DRAM")
        self._device = device
        self._cores = cores_of(cores)
        if not self._cores:
            raise MetaliumError("a global semaphore is on at least one core")
        self._allocator = device.simulated.allocator(MemorySpace.DEVICE_L1)
        with host_call():
            for x, y in self._cores:
                device.simulated.core(x, y)
            address = self._allocator.allocate(device.simulated.chip.l1_alignment)
        self._address = address
        self.reset_semaphore_value(initial_value)

    def __repr__(self) -> str:
        """Where it is."""
        return f"GlobalSemaphore(address {self._address} on {len(self._cores)} cores)"

    def device(self) -> Device:
        """The device that has the word."""
        return self._device

    def address(self) -> int:
        """Where the word is, on all cores."""
        return self._address

    def reset_semaphore_value(self, reset_value: int) -> None:
        """Write the word on all cores."""
        self._device.check_open()
        if not 0 <= reset_value < 1 << 32:
            raise MetaliumError(f"a semaphore is set to {reset_value}; it has 32 bits, no sign")
        watch = self._device.simulated.watch
        for x, y in self._cores:
            memory = self._device.simulated.core(x, y).l1
            memory.write(self._address, reset_value.to_bytes(4, "little"))
            if watch is not None:
                watch.host_write(memory, self._address, 4)
                watch.semaphore_created(memory, self._address)

    def __del__(self) -> None:
        """Give the word back."""
        if not hasattr(self, "_address"):
            return
        self._allocator.free(self._address)
        watch = self._device.simulated.watch
        if watch is not None:
            for x, y in self._cores:
                watch.semaphore_freed(self._device.simulated.core(x, y).l1, self._address)


def CreateGlobalSemaphore(
    device: Device,
    cores: CoreSpec,
    initial_value: int,
    buffer_type: BufferType = BufferType.L1,
) -> GlobalSemaphore:
    """A word in the L1 of some cores, for as long as the object lives."""
    device.check_open()
    return GlobalSemaphore(device, cores, initial_value, buffer_type)
