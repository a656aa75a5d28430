"""A memory as the sanitizer sees it: histories of its bytes, what lies where, what is aligned."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

from ttmlir.sim.sanitizer.semaphores import WatchedSemaphore
from ttmlir.sim.sanitizer.shadow import Mark, Shadow, Unwritten
from ttmlir.sim.sanitizer.vector_clock import HandOver, Timeline

if TYPE_CHECKING:
    from ttmlir.sim.findings import Finding
    from ttmlir.sim.machine.circular_buffer import CircularBuffer
    from ttmlir.sim.machine.memory import Memory
    from ttmlir.sim.protocols import RunningThread
    from ttmlir.sim.sanitizer.register_rules import Destination


class Blocks(Protocol):
    """What tells which bytes of a memory buffers have."""

    def block_at(self, address: int) -> tuple[int, int] | None:
        """Start and end of the buffer that has the byte at an address; None if none has."""
        ...


class WatchedMemory(Protocol):
    """A tile of the chip whose memory the sanitizer watches."""

    @property
    def kind(self) -> str:
        """`worker` or `dram`."""
        ...

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


@dataclass(frozen=True, kw_only=True)
class PageGrid:
    """How the pages of a buffer lie in each of its banks; sizes in bytes."""

    page_size: int
    stride: int
    """From page to page: the size of a page and its padding."""
    bank_size: int
    num_pages: int | None
    """Of all banks together; None for shards."""

    def count_pages(self, page_size: int, stride: int, num_banks: int) -> int | None:
        """How many pages of a size there are in so many banks, if they lie `stride` bytes apart."""
        if page_size == self.page_size:
            return self.num_pages
        rows = (self.bank_size - page_size) // stride + 1
        return max(rows, 0) * num_banks

    def is_padding(self, start: int, end: int) -> bool:
        """Whether bytes, counted from the first of the buffer, are the padding of one page."""
        return (
            start % self.stride >= self.page_size and end <= -(-start // self.stride) * self.stride
        )


BreachKind = Literal["write", "read", "ordered read"]
"""What a thread does without the protocol; the last is ordered behind the writes by other means."""


class Breach:
    """Something that the protocol forbids; it is an error only if others keep to the protocol."""

    __slots__ = ("finding", "kind", "state", "thread")

    def __init__(
        self, kind: BreachKind, finding: Finding, thread: RunningThread, state: BufferState
    ) -> None:
        """What `thread` did; `state` is the circular buffer that the finding names."""
        self.kind: BreachKind = kind
        self.finding = finding
        self.thread = thread
        self.state = state

    def meets(self, state: BufferState) -> bool:
        """Whether another thread hands over the pages, or takes those that are written."""
        if self.kind == "ordered read":
            return False
        return self._is_other(state.producer) or (
            self.kind == "write" and self._is_other(state.consumer)
        )

    def _is_other(self, thread: RunningThread | None) -> bool:
        return thread is not None and thread is not self.thread

    @property
    def warning(self) -> Finding:
        """The finding where no order of events changes the result."""
        reason = (
            "something else has ordered this thread behind those who wrote them"
            if self.kind == "ordered read"
            else "no other thread hands over its pages"
        )
        message = f"{self.finding.message}; {reason}, so that the result is always the same"
        return replace(self.finding, severity="warning", message=message)


class BufferState:
    """What the protocol of a circular buffer allows now; `reserved` and `waited` in bytes."""

    __slots__ = (
        *("breaches", "buffer", "consumer", "popped", "producer", "pushed", "reserved"),
        *("waited", "waits"),
    )

    def __init__(self, buffer: CircularBuffer) -> None:
        """A circular buffer that nobody has used in this program."""
        self.buffer = buffer
        self.reserved = 0
        """From the write pointer on."""
        self.waited = 0
        """From the read pointer on."""
        self.waits = False
        """Whether anybody has waited for its pages."""
        self.producer: RunningThread | None = None
        self.consumer: RunningThread | None = None
        self.pushed = HandOver()
        self.popped = HandOver()
        self.breaches: dict[tuple[int, BreachKind, Mark], Breach] = {}
        """By thread, kind and place."""

    def covers_reserved(self, address: int, end: int) -> bool:
        """True if bytes are in pages that the producer has reserved."""
        start = self.buffer.wr_ptr
        if start <= address and end <= start + self.reserved <= self.buffer.limit:
            return True  # As almost always; the pages do not go round the end.
        return self._covers(start, self.reserved, address, end)

    def covers_waited(self, address: int, end: int) -> bool:
        """True if bytes are in pages that the consumer has waited for."""
        start = self.buffer.rd_ptr
        if start <= address and end <= start + self.waited <= self.buffer.limit:
            return True
        return self._covers(start, self.waited, address, end)

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
        *("_segment_starts", "_segments", "allocator", "endpoint", "first_free", "grids"),
        *("has_buffers", "is_core", "lasting_semaphores", "name", "semaphores", "shadow", "size"),
    )

    def __init__(self, endpoint: WatchedMemory, first_free: int, allocator: Blocks | None) -> None:
        """A memory that nobody has touched; without an allocator, all of it is free to use."""
        self.endpoint = endpoint
        self.is_core = endpoint.kind == "worker"
        self.name = endpoint.memory.name
        self.size = endpoint.memory.size
        self.first_free = first_free
        """The first byte that kernels may write; below are firmware and its data."""
        self.allocator = allocator
        self.grids: dict[int, PageGrid] = {}
        """The buffers that have pages here, by address."""
        self.shadow = Shadow()
        self.semaphores: dict[int, WatchedSemaphore] = {}
        """By the address of the word."""
        self.lasting_semaphores: set[int] = set()
        """Addresses of those that belong to no program."""
        self.has_buffers = False
        self._segment_starts: list[int] = []
        self._segments: list[list[BufferState]] = []

    def begin(self, timeline: Timeline) -> None:
        """Start a program: what was in L1 stays, its uses do not."""
        self.shadow.settle()
        self.semaphores = {
            address: WatchedSemaphore(timeline.clock()) for address in self.lasting_semaphores
        }
        self.has_buffers = False

    def place(self, core: WatchedCore, buffers: list[BufferState], timeline: Timeline) -> None:
        """Note where the circular buffers and semaphores of a core are.

        What a program before left in the pages of circular buffers counts as never written.
        """
        for each in buffers:
            if not each.buffer.aliased:
                self.shadow.forget(each.buffer.address, each.buffer.size)
        self.semaphores |= {
            address: WatchedSemaphore(timeline.clock()) for address in core.semaphores.values()
        }
        self.has_buffers = bool(buffers)
        edges = {edge for each in buffers for edge in (each.buffer.address, each.buffer.limit)}
        self._segment_starts = sorted(edges)
        self._segments = [
            [each for each in buffers if each.buffer.address <= start < each.buffer.limit]
            for start in self._segment_starts
        ]

    def word(self, address: int) -> int:
        """The 32-bit word at an address."""
        return int.from_bytes(self.endpoint.memory.read(address, 4), "little")

    def is_free(self, address: int, end: int) -> bool:
        """Whether bytes begin in no buffer, and nobody is known to have put anything there."""
        if self.allocator is None or self.shadow.is_written(address, end):
            return False
        return self.allocator.block_at(address) is None

    def overrun(self, address: int, end: int) -> tuple[int, int] | None:
        """Start and end of the buffer that bytes begin in and reach out of, if they do."""
        block = None if self.allocator is None else self.allocator.block_at(address)
        return None if block is None or end <= block[1] else block

    def missing(self, address: int, end: int) -> Unwritten | None:
        """The first bytes that nobody has written, apart from padding of pages."""
        for start, stop in self.shadow.gaps(address, end):
            block = None if self.allocator is None else self.allocator.block_at(start)
            grid = None if block is None else self.grids.get(block[0])
            if (
                block is None
                or grid is None
                or not grid.is_padding(start - block[0], stop - block[0])
            ):
                return Unwritten(start, stop)
        return None

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
