"""A memory as the sanitizer sees it: histories of its bytes, what lies where, what is aligned."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from ttmlir.sim.sanitizer.shadow import Shadow
from ttmlir.sim.sanitizer.vector_clock import HandOver, Timeline, VectorClock

if TYPE_CHECKING:
    from ttmlir.sim.machine.circular_buffer import CircularBuffer
    from ttmlir.sim.machine.memory import Memory
    from ttmlir.sim.protocols import RunningThread
    from ttmlir.sim.sanitizer.register_rules import Destination


class WatchedMemory(Protocol):
    """A tile of the chip whose memory the sanitizer watches."""

    @property
    def memory(self) -> Memory:
        """Its memory."""
        ...


class WatchedCore(Protocol):
    """A core as the sanitizer sees it when a program starts."""

    @property
    def l1(self) -> Memory:
        """Its memory."""
        ...

    @property
    def cbs(self) -> Mapping[int, CircularBuffer]:
        """Its circular buffers by index."""
        ...

    @property
    def semaphores(self) -> Mapping[int, int]:
        """The address of the word of each semaphore, by id."""
        ...

    @property
    def dst(self) -> Destination | None:
        """Its registers, where a kernel computes."""
        ...


class BufferState:
    """What the protocol of a circular buffer allows now; `reserved` and `waited` in bytes."""

    __slots__ = ("buffer", "consumer", "popped", "producer", "pushed", "reserved", "waited")

    def __init__(self, buffer: CircularBuffer) -> None:
        """A circular buffer that nobody has used in this program."""
        self.buffer = buffer
        self.reserved = 0
        """From the write pointer on."""
        self.waited = 0
        """From the read pointer on."""
        self.producer: RunningThread | None = None
        self.consumer: RunningThread | None = None
        self.pushed = HandOver()
        self.popped = HandOver()

    def covers_reserved(self, address: int, end: int) -> bool:
        """True if bytes are in pages that the producer has reserved."""
        return self._covers(self.buffer.wr_ptr, self.reserved, address, end)

    def covers_waited(self, address: int, end: int) -> bool:
        """True if bytes are in pages that the consumer has waited for."""
        return self._covers(self.buffer.rd_ptr, self.waited, address, end)

    def covers_filled(self, address: int, end: int) -> bool:
        """True if bytes are in pages that were pushed and not popped."""
        buffer = self.buffer
        filled = min(buffer.filled, buffer.num_pages) * buffer.page_size
        return self._covers(buffer.rd_ptr, filled, address, end)

    def _covers(self, start: int, size: int, address: int, end: int) -> bool:
        """True if bytes are among `size` from `start` on; behind the last page comes the first."""
        limit = self.buffer.limit
        if address < start:
            size -= limit - start
            start, limit = self.buffer.address, start
        return start <= address and end <= start + size and end <= limit

    def describe(self) -> str:
        """The state in words, for messages."""
        page = self.buffer.page_size
        return (
            f"{self.buffer.state()}; reserved {self.reserved // page}, waited {self.waited // page}"
        )


class Space:
    """One memory: its histories, its limits, and the words and buffers in it."""

    __slots__ = (
        *("_segment_starts", "_segments", "endpoint", "first_free", "has_buffers", "name"),
        *("semaphores", "shadow", "size"),
    )

    def __init__(self, endpoint: WatchedMemory) -> None:
        """A memory that nobody has touched."""
        self.endpoint = endpoint
        self.name = endpoint.memory.name
        self.size = endpoint.memory.size
        self.first_free = 0
        """The first byte that kernels may write; below are firmware and its data."""
        self.shadow = Shadow()
        self.semaphores: dict[int, VectorClock] = {}
        """What waiting for it tells, by the address of a semaphore's word."""
        self.has_buffers = False
        self._segment_starts: list[int] = []
        self._segments: list[list[BufferState]] = []

    def begin(self) -> None:
        """Start a program: what was in L1 stays, its uses do not."""
        self.shadow.settle()
        self.semaphores = {}
        self.has_buffers = False

    def place(self, core: WatchedCore, buffers: list[BufferState], timeline: Timeline) -> None:
        """Note where the circular buffers and semaphores of a core are.

        What a program before left in the pages of circular buffers counts as never written.
        """
        for each in buffers:
            if not each.buffer.aliased:
                self.shadow.forget(each.buffer.address, each.buffer.size)
        self.semaphores = {address: timeline.clock() for address in core.semaphores.values()}
        self.has_buffers = bool(buffers)
        edges = {edge for each in buffers for edge in (each.buffer.address, each.buffer.limit)}
        self._segment_starts = sorted(edges)
        self._segments = [
            [each for each in buffers if each.buffer.address <= start < each.buffer.limit]
            for start in self._segment_starts
        ]

    def buffers(self, address: int, end: int) -> list[BufferState]:
        """The circular buffers, more than one if they share pages, that the bytes begin in.

        Bytes that begin in none and reach into some belong to these.
        """
        starts = self._segment_starts
        position = bisect_right(starts, address) - 1
        if position >= 0 and self._segments[position]:
            return self._segments[position]
        if position + 1 < len(starts) and starts[position + 1] < end:
            return self._segments[position + 1]
        return []
