"""Memories of the chip: the L1 of a core, a channel of DRAM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.limits import memory_advice
from ttmlir.sim.errors import SimError
from ttmlir.sim.machine.tile_formats import TILE_BYTES

if TYPE_CHECKING:
    from ttmlir.sim.protocols import RunningThread

POISON = 0xFF
"""Fills memory that nobody wrote: NaN in every floating-point format, 2^32 - 1 as a word."""

_GRANULE_BITS = 12
"""Tiles are found by the granules of 4 KiB that they are in: at most two, as none is longer."""

_TILE_SIZES = frozenset(TILE_BYTES.values())

_STEP = 1 << 16


class Tile:
    """The bytes of a tile, whichever memories they are in, and what the compute units made of them.

    `values` are by format, use and arrangement; `holders` counts the memories that compute units
    read the tile from. When the last of them has other bytes there, the values go.
    """

    __slots__ = ("holders", "size", "values")

    def __init__(self, size: int) -> None:
        """`size` bytes of which nothing was made."""
        self.size = size
        self.holders = 0
        self.values: dict[int, Any] = {}


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
    of an array, which is why copies use `view`. `tiles` are the tiles that the bytes are known to
    be, by address; they do not overlap. A copy of a tile is the same tile, so that what one core
    makes of it serves all. Everything that writes has to go through `write` or `copy` (or to call
    `forget`), so that no tile has old numbers. `waiters` are the threads that wait for a word to
    change, by its address; a write over it wakes them.
    """

    __slots__ = (
        *("_granules", "_holds", "budget", "data", "factors", "name", "size", "tiles", "view"),
        "waiters",
    )

    def __init__(
        self,
        name: str,
        size: int,
        budget: MemoryBudget | None = None,
        *,
        is_read_by_units: bool = True,
    ) -> None:
        """An empty memory of `size` bytes; `name` is what messages call it."""
        self.name = name
        self.budget = budget
        self.size = size
        self.data: NDArray[np.uint8] = np.empty(0, np.uint8)
        self.view = self.data.data
        self.tiles: dict[int, Tile] = {}
        self._granules: dict[int, set[int]] = {}
        """The addresses of the tiles that have bytes in a granule."""
        self._holds = int(is_read_by_units)
        """What it counts as among the holders of its tiles."""
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
        if self.tiles:
            self.forget(address, size)
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
        if size in _TILE_SIZES:
            tile = source.tiles.get(source_address)
            if tile is None or tile.size != size:
                tile = Tile(size)
                source.hold(source_address, tile)
            self.hold(address, tile)
        elif self.tiles:
            self.forget(address, size)
        if self.waiters:
            self._wake(address, end)

    def hold(self, address: int, tile: Tile) -> None:
        """Know that the bytes there are a tile, instead of what they were before."""
        before = self.tiles.get(address)
        if before is None or before.size != tile.size:
            self._forget_parts(address, tile.size)
            for granule in _granules(address, tile.size):
                self._granules.setdefault(granule, set()).add(address)
        elif before is not tile:
            self._let_go(before)
        else:
            return
        self.tiles[address] = tile
        tile.holders += self._holds

    def forget(self, address: int, size: int) -> None:
        """Forget the tiles that have some of these bytes."""
        tile = self.tiles.get(address)
        if tile is not None and tile.size == size:
            # No other tile has any of them. Very likely the next bytes there are a tile as well.
            self.hold(address, Tile(size))
        else:
            self._forget_parts(address, size)

    def _forget_parts(self, address: int, size: int) -> None:
        end = address + size
        for granule in _granules(address, size):
            starts = self._granules.get(granule)
            if not starts:
                continue
            for start in [each for each in starts if each < end]:
                tile = self.tiles[start]
                if start + tile.size > address:
                    del self.tiles[start]
                    self._let_go(tile)
                    for each in _granules(start, tile.size):
                        self._granules[each].discard(start)

    def _let_go(self, tile: Tile) -> None:
        tile.holders -= self._holds
        if not tile.holders:
            tile.values.clear()

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
            self.forget(address, end - address)


def _granules(address: int, size: int) -> range:
    return range(address >> _GRANULE_BITS, (address + size - 1 >> _GRANULE_BITS) + 1)
