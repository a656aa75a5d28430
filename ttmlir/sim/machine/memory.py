"""Memories of the chip: the L1 of a core, a channel of DRAM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ttmlir.errors import plural
from ttmlir.layout.enums import DataType
from ttmlir.limits import memory_advice
from ttmlir.sim.errors import SimError
from ttmlir.sim.machine.numerics import TILE_BYTES
from ttmlir.sim.machine.tile_shapes import WHOLE, TileShape
from ttmlir.sim.protocols import RunningThread, WaitReason

ELSEWHERE = 1 << 63
"""With this bit a place of a transfer is an address on the network, not one in L1."""

# --- Circular buffer ------------------------------------------------------------------------------
# Circular buffers: queues of pages in L1 between the threads of a core.
#
# Source: tt-metal, tt_metal/hw/inc/dataflow_api.h and compute_kernel_api/cb_api.h. The two counters
# are 16 bits wide on the chip: more pages acknowledged than received is a state that goes on.

COUNT = 32
"""Circular buffers of a core, numbered from 0."""
UNCONFIGURED_TILE_BYTES, UNCONFIGURED_FORMAT = 1088, 255
"""What the build of tt-metal 0.81 generates for a circular buffer that a program does not have."""

COUNTER_MASK = 0xFFFF


class CircularBuffer:
    """One circular buffer; `size` and `page_size` in bytes, addresses in L1.

    `received` and `acked` count pages that were pushed and popped, `pack_offset` the pages that the
    packer has written since the last push. `aliased`: the pages are those of a tensor's buffer, and
    hold its numbers without a push. `push_times` and `pop_times` say per slot when its page was
    last pushed and popped; `producer` and `consumer` are the threads that last did so.
    """

    __slots__ = (
        *("acked", "address", "aliased", "consumer", "data_format", "data_waiters", "index"),
        *("limit", "num_pages", "pack_offset", "page_size", "pop_times", "producer", "push_times"),
        *("rd_ptr", "received", "size", "space_waiters", "tile", "waits_for_data"),
        *("waits_for_space", "wr_ptr"),
    )

    def __init__(
        self,
        index: int,
        address: int,
        page_size: int,
        num_pages: int,
        data_format: DataType,
        *,
        aliased: bool = False,
        tile: TileShape = WHOLE,
    ) -> None:
        """An empty circular buffer; SimError for an index or a size that cannot be."""
        if not 0 <= index < COUNT:
            raise SimError(f"circular buffer {index} does not exist; they are numbered 0 to 31")
        if page_size < 1 or num_pages < 1:
            raise SimError(
                f"circular buffer {index} has {num_pages} pages of {page_size} bytes; "
                "it needs at least one page of at least one byte"
            )
        self.index = index
        self.address = address
        self.page_size = page_size
        self.num_pages = num_pages
        self.size = page_size * num_pages
        self.limit = address + self.size
        self.data_format = data_format
        self.aliased = aliased
        self.tile = tile
        self.received = 0
        self.acked = 0
        self.rd_ptr = address
        self.wr_ptr = address
        self.pack_offset = 0
        self.push_times = [0] * num_pages
        self.pop_times = [0] * num_pages
        self.data_waiters: list[RunningThread] = []
        self.space_waiters: list[RunningThread] = []
        self.waits_for_data = _WaitForPages(self)
        self.waits_for_space = _WaitForSpace(self)
        self.producer: RunningThread | None = None
        self.consumer: RunningThread | None = None

    def take_place(self, start: int, size: int, pointer: int) -> None:
        """Be bytes from `start` on; the next page that is popped begins at `pointer`."""
        self.address, self.size, self.limit = start, size, start + size
        if size // self.page_size != self.num_pages:
            self.num_pages = size // self.page_size
            self.push_times = [0] * self.num_pages
            self.pop_times = [0] * self.num_pages
        self.rd_ptr = pointer
        # Another processor may have pushed pages already.
        self.wr_ptr = start + (pointer - start + self.filled * self.page_size) % size

    @property
    def filled(self) -> int:
        """Pages that were pushed and not popped, as the 16-bit counters say."""
        return (self.received - self.acked) & COUNTER_MASK

    @property
    def free(self) -> int:
        """Pages that can be reserved, as the 16-bit counters say."""
        return (self.num_pages - self.received + self.acked) & COUNTER_MASK

    def wait_for_data(self, thread: RunningThread, pages: int) -> None:
        """Block the thread until `pages` are filled; error if they can never be."""
        self._check(thread, pages, "cb_wait_front")
        self.data_waiters.append(thread)
        thread.wait(self.waits_for_data, pages)

    def wait_for_space(self, thread: RunningThread, pages: int) -> None:
        """Block the thread until `pages` are free; error if they can never be."""
        self._check(thread, pages, "cb_reserve_back")
        self.space_waiters.append(thread)
        thread.wait(self.waits_for_space, pages)

    def _check(self, thread: RunningThread, pages: int, call: str) -> None:
        if pages < 0:
            raise self._negative(thread, pages, call)
        if pages > self.num_pages:
            raise thread.error(
                f"{call} of {plural(pages, 'page')} never returns: circular buffer "
                f"{self.index} has {self.num_pages} of them; give it more pages or ask for fewer",
                rule="cb-too-many-pages",
                detail=(self.state(),),
            )

    def push(self, thread: RunningThread, pages: int) -> None:
        """Hand pages to the consumer."""
        if pages < 0:
            raise self._negative(thread, pages, "cb_push_back")
        wr_ptr = self.wr_ptr + pages * self.page_size
        if wr_ptr >= self.limit:
            wr_ptr -= self.size
            if wr_ptr != self.address:
                raise self._straddles(thread, pages, "cb_push_back", self.wr_ptr)
        self.wr_ptr = wr_ptr
        self.received += pages
        self.pack_offset = 0
        self.producer = thread

    def pop(self, thread: RunningThread, pages: int) -> None:
        """Hand pages back to the producer."""
        if pages < 0:
            raise self._negative(thread, pages, "cb_pop_front")
        rd_ptr = self.rd_ptr + pages * self.page_size
        if rd_ptr >= self.limit:
            rd_ptr -= self.size
            if rd_ptr != self.address:
                raise self._straddles(thread, pages, "cb_pop_front", self.rd_ptr)
        self.rd_ptr = rd_ptr
        self.acked += pages
        self.consumer = thread

    def _negative(self, thread: RunningThread, pages: int, call: str) -> SimError:
        return thread.error(
            f"{call} of {plural(pages, 'page')} of circular buffer {self.index}; "
            "a number of pages is not negative",
            rule="arguments",
            detail=(self.state(),),
        )

    def _straddles(self, thread: RunningThread, pages: int, call: str, pointer: int) -> SimError:
        left = (self.limit - pointer) // self.page_size
        return thread.error(
            f"{call} of {plural(pages, 'page')} runs over the end of circular buffer {self.index}: "
            f"{left} of its {self.num_pages} pages are left before it wraps around; use a number "
            "of pages that divides the size of the circular buffer, always the same",
            rule="cb-straddle",
            detail=(self.state(),),
        )

    def set_push_time(self, pages: int, clock: int) -> None:
        """Note when the last `pages` were pushed."""
        for page in range(self.received - pages, self.received):
            self.push_times[page % self.num_pages] = clock

    def set_pop_time(self, pages: int, clock: int) -> None:
        """Note when the last `pages` were popped."""
        for page in range(self.acked - pages, self.acked):
            self.pop_times[page % self.num_pages] = clock

    def state(self) -> str:
        """The counters in words, for messages."""
        producer = "nobody yet" if self.producer is None else self.producer.role_name
        consumer = "nobody yet" if self.consumer is None else self.consumer.role_name
        return (
            f"circular buffer {self.index}: {self.num_pages} pages of {self.page_size} bytes, "
            f"received {self.received}, acked {self.acked}, {self.free} free; "
            f"pushed by {producer}, popped by {consumer}"
        )


class LocalCBInterface:
    """A circular buffer as a processor sees it, `word` bytes at a time (tt-metal's struct)."""

    __slots__ = ("_buffer", "_thread", "_word")

    def __init__(self, buffer: CircularBuffer, thread: RunningThread, word: int) -> None:
        """`thread` is who looks at it, for errors."""
        self._buffer = buffer
        self._thread = thread
        self._word = word

    @property
    def fifo_size(self) -> int:
        """How long the buffer is."""
        return self._buffer.size // self._word

    @property
    def fifo_limit(self) -> int:
        """Where it ends."""
        return self._buffer.limit // self._word

    @property
    def fifo_page_size(self) -> int:
        """How long a page is."""
        return self._buffer.page_size // self._word

    @property
    def fifo_num_pages(self) -> int:
        """How many pages there are."""
        return self._buffer.num_pages

    @property
    def fifo_rd_ptr(self) -> int:
        """Where the first filled page is."""
        return self._buffer.rd_ptr // self._word

    @property
    def fifo_wr_ptr(self) -> int:
        """Where the first free page is."""
        return self._buffer.wr_ptr // self._word

    @property
    def fifo_wr_tile_ptr(self) -> int:
        """How much the packer has written after the write pointer."""
        return self._buffer.pack_offset * self._buffer.page_size // self._word

    @property
    def tiles_acked(self) -> int:
        """Pages that were popped."""
        return self._buffer.acked & COUNTER_MASK

    @property
    def tiles_received(self) -> int:
        """Pages that were pushed."""
        return self._buffer.received & COUNTER_MASK

    @property
    def tiles_acked_received_init(self) -> int:
        """Both counters in one word."""
        return self.tiles_received << 16 | self.tiles_acked

    def set_member(self, name: str, value: int) -> None:
        """Move a pointer; error if it leaves the buffer.

        That of the packer, which looks at it for each tile, may lie before the buffer until then.
        """
        buffer, address = self._buffer, value * self._word
        if name == "fifo_wr_tile_ptr":
            pages, rest = divmod(address, buffer.page_size)
            if rest or pages > buffer.num_pages:
                raise self._thread.error(
                    f"{name} of circular buffer {buffer.index} is set to {value:#x}; it counts "
                    f"pages of {buffer.page_size // self._word:#x}, {buffer.num_pages} at most",
                    rule="cb-bounds",
                    detail=(buffer.state(),),
                )
            buffer.pack_offset = pages
            return
        is_late = name == "fifo_wr_ptr" and self._word > 1
        start = buffer.address - buffer.size if is_late else buffer.address
        if not start <= address <= buffer.limit:
            raise self._thread.error(
                f"{name} of circular buffer {buffer.index} is set to {value:#x}, which is outside "
                f"of its {buffer.size} bytes from {buffer.address // self._word:#x} on",
                rule="cb-bounds",
                detail=(buffer.state(),),
            )
        if name == "fifo_rd_ptr":
            buffer.rd_ptr = address
        else:
            buffer.wr_ptr = address


class _WaitForPages(WaitReason):
    """`cb_wait_front`."""

    kind = "cb_wait_front"

    def __init__(self, buffer: CircularBuffer) -> None:
        self._buffer = buffer

    def describe(self, thread: RunningThread) -> tuple[str, ...]:
        buffer = self._buffer
        return (
            f"{plural(thread.wanted, 'filled page')} of circular buffer {buffer.index}; "
            f"it has {buffer.filled}",
            buffer.state(),
        )


class _WaitForSpace(WaitReason):
    """`cb_reserve_back`."""

    kind = "cb_reserve_back"

    def __init__(self, buffer: CircularBuffer) -> None:
        self._buffer = buffer

    def describe(self, thread: RunningThread) -> tuple[str, ...]:
        buffer = self._buffer
        return (
            f"{plural(thread.wanted, 'free page')} of circular buffer {buffer.index}; "
            f"it has {buffer.free}",
            buffer.state(),
        )


class CircularBuffers(dict[int, CircularBuffer]):
    """The circular buffers of a core by index; one that is not there is an error that says so."""

    def __missing__(self, index: int) -> CircularBuffer:
        """Refuse an index that no circular buffer has."""
        there = ", ".join(str(each) for each in sorted(self)) or "none"
        raise SimError(
            f"circular buffer {index} is not configured on this core; configured: {there}",
            rule="cb-missing",
        )


# --- Memory ---------------------------------------------------------------------------------------

POISON = 0xFF
"""Fills memory that nobody wrote: NaN in every floating-point format, 2^32 - 1 as a word."""

_GRANULE_BITS = 12
"""Tiles are found by the granules of 4 KiB that they are in: at most two, as none is longer."""

_TILE_SIZES = frozenset(TILE_BYTES.values())

_STEP = 1 << 16


class Tile:
    """The bytes of a tile, whichever memories they are in, and what the compute units made of them.

    `values` are by format, use and arrangement; `holders` counts the memories that compute units
    read the tile from. When the last of them has other bytes there, the values go. `late` is what
    its bytes will be, None if they are there.
    """

    __slots__ = ("holders", "late", "size", "values")

    def __init__(self, size: int, late: LateBytes | None = None) -> None:
        """`size` bytes of which nothing was made."""
        self.size = size
        self.holders = 0
        self.values: dict[int, Any] = {}
        self.late = late


class LateBytes(Protocol):
    """The bytes of a tile that are computed later, together with others."""

    def settle(self) -> None:
        """Have these bytes, and all others, computed and put where they belong."""
        ...

    def read(self) -> NDArray[np.uint8]:
        """The bytes in the first row; they have been computed."""
        ...


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
    change, by its address; a write over it wakes them. `late` are the tiles, by address, whose
    bytes are not there yet: whoever reads any of them through `read` or `copy` makes them be.
    """

    __slots__ = (
        *("_granules", "_holds", "budget", "data", "factors", "late", "name", "size", "tiles"),
        *("view", "waiters"),
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
        self.late: dict[int, Tile] = {}

    def release(self) -> None:
        """Forget all bytes: nobody uses the memory any more."""
        self.data = np.empty(0, np.uint8)
        self.view = self.data.data
        self.tiles.clear()

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
        if self.late:
            self._settle_parts(address, end)
        return self.view[address:end]

    def write(self, address: int, data: bytes | memoryview) -> None:
        """Put bytes there; SimError out of bounds."""
        size = len(data)
        end = address + size
        if address < 0 or end > self.data.size:
            self.ensure(address, size)
        if self.late:
            self._drop_late(address, size)
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
        is_apart = source is not self or end <= source_address or source_end <= address
        step = source._step_of(source_address, size, is_apart=is_apart)
        if source.late:
            source._settle_parts(source_address, source_end, step)
        if self.late:
            self._drop_late(address, size)
        self.view[address:end] = source.view[source_address:source_end]
        if step:
            for offset in range(0, size, step):
                self._take_tile(address + offset, source, source_address + offset, step)
        elif self.tiles:
            self.forget(address, size)
        if self.waiters:
            self._wake(address, end)

    def _step_of(self, address: int, size: int, *, is_apart: bool) -> int:
        """Bytes of each of the tiles that so many bytes are; 0 if they are none that is known.

        A block of tiles, as they are multicast, goes to where none of them is.
        """
        first = self.tiles.get(address)
        if is_apart and first is not None and size > first.size and not size % first.size:
            return first.size
        return size if size in _TILE_SIZES else 0

    def _take_tile(self, address: int, source: Memory, source_address: int, size: int) -> None:
        """Know that the bytes there are the tile that they were copied from."""
        tile = source.tiles.get(source_address)
        if tile is None or tile.size != size:
            tile = Tile(size)
            source.hold(source_address, tile)
        if tile.late is not None:
            self.late[address] = tile
        self._put_tile(address, tile)

    def _put_tile(self, address: int, tile: Tile) -> None:
        before = self.tiles.get(address)
        if before is None or before.size != tile.size:
            self.hold(address, tile)
        elif before is not tile:
            # As almost always: no other tile has any of the bytes.
            self.tiles[address] = tile
            if self._holds:
                tile.holders += 1
                before.holders -= 1
                if not before.holders:
                    before.values.clear()

    def hold(self, address: int, tile: Tile) -> None:
        """Know that the bytes there are a tile, where they were none of this size."""
        self._forget_parts(address, tile.size)
        for granule in _granules(address, tile.size):
            self._granules.setdefault(granule, set()).add(address)
        self.tiles[address] = tile
        tile.holders += self._holds

    def forget(self, address: int, size: int) -> None:
        """Forget the tiles that have some of these bytes."""
        before = self.tiles.get(address)
        if before is None or before.size != size:
            self._forget_parts(address, size)
            return
        # Very likely the next bytes there are a tile as well.
        before.holders -= self._holds
        if not before.holders:
            before.values.clear()
        tile = self.tiles[address] = Tile(size)
        tile.holders = self._holds

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
                    tile.holders -= self._holds
                    if not tile.holders:
                        tile.values.clear()
                    for each in _granules(start, tile.size):
                        self._granules[each].discard(start)

    # Late tiles

    def put_late(self, address: int, tile: Tile) -> None:
        """Put a tile there whose bytes come later; SimError out of bounds."""
        end = address + tile.size
        if address < 0 or end > self.data.size:
            self.ensure(address, tile.size)
        if self.late:
            self._drop_late(address, tile.size)
        self._put_tile(address, tile)
        self.late[address] = tile
        if self.waiters:
            self._wake(address, end)

    def take_late(self) -> list[Tile]:
        """Put the bytes of late tiles there, which have been computed; these tiles."""
        tiles = [*self.late.values()]
        for address, tile in self.late.items():
            assert tile.late is not None, "what is computed is late nowhere"
            self.view[address : address + tile.size] = tile.late.read()[0].data
        self.late.clear()
        return tiles

    def _find_late(self, address: int, end: int) -> Iterator[tuple[int, Tile]]:
        """The late tiles that have some of these bytes."""
        for granule in _granules(address, max(end - address, 1)):
            for start in self._granules.get(granule, ()):
                tile = self.late.get(start)
                if tile is not None and start < end and address < start + tile.size:
                    yield start, tile

    def _settle_parts(self, address: int, end: int, step: int = 0) -> None:
        """Compute late tiles among these bytes, save whole ones of `step` bytes from there on."""
        for start, tile in self._find_late(address, end):
            is_whole = step and tile.size == step and not (start - address) % step
            if not is_whole and tile.late is not None:
                tile.late.settle()
                return

    def _drop_late(self, address: int, size: int) -> None:
        """Bytes are written: late tiles of which they are a part are computed before."""
        end = address + size
        late = dict(self._find_late(address, end))
        for start, tile in late.items():
            if tile.late is not None and not (address <= start and start + tile.size <= end):
                tile.late.settle()
                return
        for start in late:
            del self.late[start]

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
            if self.late:
                self._drop_late(address, end - address)
            self.data[address:end] = POISON
            self.forget(address, end - address)


def _granules(address: int, size: int) -> range:
    return range(address >> _GRANULE_BITS, (address + size - 1 >> _GRANULE_BITS) + 1)
