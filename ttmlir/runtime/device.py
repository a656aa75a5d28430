"""Simulated devices: which chips are open, what memory is in use, what was moved."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ttmlir.layout.enums import MemorySpace
from ttmlir.runtime.element import Numerics
from ttmlir.runtime.errors import InputError

if TYPE_CHECKING:
    from ttmlir.runtime.tensor import Tensor, TensorDesc


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
