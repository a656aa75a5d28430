"""Divisions of a device's cores into parts. They are checked and kept; all cores stay one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.errors import UsageError
from ttmlir.metalium.cores import CoreRangeSet, cores_of


@dataclass(frozen=True)
class SubDeviceId:
    """The number of a part."""

    id: int


class SubDevice:
    """Cores that programs may have for themselves, by the kinds of cores: Tensix, Ethernet."""

    def __init__(self, cores: Sequence[CoreRangeSet]) -> None:
        """Cores of each kind; the first are those that compute."""
        if not cores:
            raise UsageError("a sub-device has cores: ttnn.SubDevice([CoreRangeSet(...)])")
        self.cores = tuple(cores)


class SubDevices:
    """The divisions of a device."""

    def __init__(self) -> None:
        """No division."""
        self._divisions: dict[int, tuple[SubDevice, ...]] = {}
        self._next = 1
        self.loaded: int | None = None

    def create(self, sub_devices: Sequence[SubDevice], grid: tuple[int, int]) -> int:
        """The number of a division; RuntimeError for cores in two parts, or outside the grid."""
        seen: set[tuple[int, int]] = set()
        for place in (place for part in sub_devices for place in cores_of(part.cores[0])):
            if place in seen:
                raise UsageError(f"core {place} is in two sub-devices")
            if place[0] >= grid[0] or place[1] >= grid[1]:
                raise UsageError(f"core {place} is outside of the {grid[0]}x{grid[1]} cores")
            seen.add(place)
        number, self._next = self._next, self._next + 1
        self._divisions[number] = tuple(sub_devices)
        return number

    def load(self, number: int) -> None:
        """Take a division for the current one."""
        self._require_known(number)
        self.loaded = number

    def remove(self, number: int) -> None:
        """Forget a division; RuntimeError for the current one."""
        self._require_known(number)
        if number == self.loaded:
            raise UsageError(
                f"sub-device manager {number} is loaded; call clear_loaded_sub_device_manager first"
            )
        del self._divisions[number]

    def numbers(self) -> list[SubDeviceId]:
        """The parts of the current division."""
        count = 1 if self.loaded is None else len(self._divisions[self.loaded])
        return [SubDeviceId(number) for number in range(count)]

    def require(self, numbers: Sequence[SubDeviceId]) -> None:
        """RuntimeError for a part that the current division does not have."""
        known = self.numbers()
        for each in numbers:
            if each not in known:
                raise UsageError(f"{each} is none of the {len(known)} sub-devices")

    def _require_known(self, number: int) -> None:
        if number not in self._divisions:
            raise UsageError(f"there is no sub-device manager {number}")
