"""Memories of the chip: the L1 of a core, a channel of DRAM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.limits import memory_advice
from ttmlir.sim.errors import SimError

if TYPE_CHECKING:
    from ttmlir.sim.protocols import RunningThread

POISON = 0xFF
"""Fills memory that nobody wrote: NaN in every floating-point format, 2^32 - 1 as a word."""

GRANULE_BITS = 10
"""Decoded tiles are kept by the granule of 1 KiB that they start in."""

_STEP = 1 << 16


class MemoryBudget:
    """Bytes of this machine that the memories of a device may take together."""

    def __init__(self, limit: int) -> None:
        """All bytes are free."""
        self._free = limit
        self.factors: dict[tuple[int, bytes], Any] = {}
        """What was made of tiles for products, by what they were made of, for all memories."""

    def take(self, size: int, name: str) -> None:
        """Take bytes for the memory called `name`; SimError if there are not so many."""
        if size > self._free:
            raise SimError(
                f"no room for the bytes of {name} that are used: the memories of a device are kept "
                f"from their first byte to the last that is used; {memory_advice()}",
                rule="out-of-memory",
            )
        self._free -= size


class Memory:
    """Bytes with bounds; allocated as far as they are touched, poisoned until they are written.

    `data` and `view` are the same bytes as an array and as a memoryview; both are replaced when the
    memory grows, so never hold them across calls. Slices of a memoryview cost half as much as those
    of an array, which is why copies use `view`. `decoded` caches what the compute units made of the
    bytes, by granule; everything that writes has to go through `write` or `copy` (or to call
    `invalidate`), so that the cache never holds old numbers. `waiters` are the threads that wait
    for a word to change, by its address; a write over it wakes them.
    """

    __slots__ = ("budget", "data", "decoded", "factors", "name", "size", "view", "waiters")

    def __init__(self, name: str, size: int, budget: MemoryBudget | None = None) -> None:
        """An empty memory of `size` bytes; `name` is what messages call it."""
        self.name = name
        self.budget = budget
        self.size = size
        self.data: NDArray[np.uint8] = np.empty(0, np.uint8)
        self.view = self.data.data
        self.decoded: dict[int, Any] = {}
        self.factors = {} if budget is None else budget.factors
        self.waiters: dict[int, list[RunningThread]] = {}

    def check_bounds(self, address: int, size: int) -> None:
        """SimError if the memory does not reach over these bytes."""
        if address < 0 or size < 0 or address + size > self.size:
            raise SimError(
                f"bytes {address:#x} to {address + size:#x} are outside of {self.name}, "
                f"which has {self.size:#x} bytes",
                rule="out-of-bounds",
            )

    def ensure(self, address: int, size: int) -> None:
        """Make `data` reach over these bytes; SimError if the memory does not."""
        self.check_bounds(address, size)
        end = address + size
        allocated = self.data.size
        if end > allocated:
            wanted = min(self.size, max(-(-end // _STEP) * _STEP, 2 * allocated))
            if self.budget is not None:
                self.budget.take(wanted - allocated, self.name)
            grown = np.empty(wanted, np.uint8)
            grown[:allocated] = self.data
            grown[allocated:] = POISON
            self.data = grown
            self.view = grown.data

    def read(self, address: int, size: int) -> memoryview:
        """The bytes there, not copied; SimError out of bounds."""
        end = address + size
        if address < 0 or size < 0 or end > self.data.size:
            self.ensure(address, size)
        return self.view[address:end]

    def write(self, address: int, data: bytes | memoryview) -> None:
        """Put bytes there; SimError out of bounds."""
        size = len(data)
        end = address + size
        if address < 0 or end > self.data.size:
            self.ensure(address, size)
        self.view[address:end] = data
        if self.decoded:
            self.invalidate(address, size)
        if self.waiters:
            self._wake(address, end)

    def copy(self, address: int, source: Memory, source_address: int, size: int) -> None:
        """Copy bytes of another memory, or of this one, here; SimError out of bounds."""
        end = address + size
        source_end = source_address + size
        if source_address < 0 or size < 0 or source_end > source.data.size:
            source.ensure(source_address, size)
        if address < 0 or end > self.data.size:
            self.ensure(address, size)
        self.view[address:end] = source.view[source_address:source_end]
        if self.decoded:
            self.invalidate(address, size)
        if self.waiters:
            self._wake(address, end)

    def invalidate(self, address: int, size: int) -> None:
        """Forget what was decoded from these bytes."""
        decoded = self.decoded
        for granule in range(address >> GRANULE_BITS, (address + size - 1 >> GRANULE_BITS) + 1):
            decoded.pop(granule, None)

    def _wake(self, address: int, end: int) -> None:
        for word in [word for word in self.waiters if address <= word < end]:
            for thread in self.waiters.pop(word):
                thread.wake()

    def poison(self, address: int, size: int) -> None:
        """Make bytes look as if nobody had written them; SimError out of bounds."""
        if address < 0 or size < 0 or address + size > self.size:
            self.ensure(address, size)
        # What was never touched is poisoned when it is.
        end = min(address + size, self.data.size)
        if address < end:
            self.data[address:end] = POISON
            self.invalidate(address, end - address)
