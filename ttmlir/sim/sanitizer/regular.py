"""Proves, at little cost, that a program keeps to the rules that most programs keep to.

Most kernels move pages of tensors into circular buffers, compute, and move pages back, with each
wait and barrier where it belongs. Then nothing can be wrong, whatever the order of events: a page
has one owner at a time, its hand-over orders the owners, and no page of a tensor is read and
written. Circular buffers on tensors have that tensor for themselves, or others only read it.
To see that takes no clocks and no histories. `RegularRun` stands in for the sanitizer while a
program runs and raises `IrregularError` at the first event that it cannot vouch for, before it
takes effect, or at the end; also for what is right by other rules, such as semaphores. Then `undo`
puts the memories back, and the program runs anew under the `Sanitizer`, which says what is wrong.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NoReturn

from ttmlir.optable.kernel import Role
from ttmlir.sim.machine.numerics import TILE_BYTES
from ttmlir.sim.sanitizer.sanitizer import (
    BarrierKind,
    CopyKind,
    Sanitizer,
    ThreadState,
    WordKind,
    allowed,
    left_over,
    still_holds,
)
from ttmlir.sim.sanitizer.shadow import (
    BufferState,
    Destination,
    Space,
    Strays,
    Timeline,
    WatchedCore,
)

if TYPE_CHECKING:
    from ttmlir.sim.errors import Finding
    from ttmlir.sim.machine.memory import CircularBuffer, Memory
    from ttmlir.sim.protocols import RunningThread

_BY_OTHER_RULES = (
    *("semaphore", "multicast", "inline", "trid", "mailbox", "dprint", "fabric", "socket"),
    "remote_buffer",
)
"""Parts of the names of calls that are right, or cannot be undone, by other rules than these."""


class IrregularError(Exception):
    """An event of which `RegularRun` cannot say that it is right."""


def may_be_regular(calls: Iterable[str]) -> bool:
    """Whether it is worth a try, by the calls of all kernels."""
    return not any(part in call for call in calls for part in _BY_OTHER_RULES)


class _Mover:
    """What a thread has started on each network and not waited for: copies, and writes' sources."""

    __slots__ = ("computes", "reads", "sources", "targets")

    def __init__(self, thread: RunningThread) -> None:
        self.computes = Role.COMPUTE & thread.role == thread.role
        self.reads: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
        """Start and end of the bytes that are on their way to L1."""
        self.sources = [False, False]
        self.targets = [False, False]

    @property
    def is_reading(self) -> bool:
        """Whether reads are under way."""
        return bool(self.reads[0] or self.reads[1])

    def check_apart(self, address: int, end: int) -> None:
        """Nothing is on its way to bytes that are written."""
        for coming in self.reads:
            for start, stop in coming:
                if address < stop and start < end:
                    raise IrregularError


class _States(dict["CircularBuffer", BufferState]):
    """What the protocol allows, of circular buffers that have their bytes for themselves."""

    def __missing__(self, buffer: CircularBuffer) -> NoReturn:
        """Refuse those that share pages."""
        raise IrregularError


class _Pages:
    """The circular buffers of a core, and what `written` says: up to where each page was.

    `others` are the bytes that nobody else may read: of circular buffers that are not on tensors,
    and of those that share pages.
    """

    __slots__ = ("_present", "_shared", "_space", "_starts", "_states", "others", "written")

    def __init__(self, core: WatchedCore, space: Space | None) -> None:
        """Where nobody knows what was written before, all of a tensor counts as written."""
        self._space = space
        self._present: set[tuple[int, int]] = set()
        """Bytes of tensors that were written before the program."""
        self.others: list[tuple[int, int]] = []
        buffers = sorted(core.cbs.values(), key=lambda each: each.address)
        self._states: list[BufferState] = []
        self._shared: list[tuple[int, int]] = []
        """Start and end of circular buffers that share pages."""
        top = 0
        for position, buffer in enumerate(buffers):
            following = buffers[position + 1 : position + 2]
            is_last = not following or buffer.limit <= following[0].address
            is_alone = buffer.address >= top and is_last
            if is_alone:
                self._states.append(BufferState(buffer))
            else:
                self._shared.append((buffer.address, buffer.limit))
            if not (is_alone and buffer.aliased):
                self.others.append((buffer.address, buffer.limit))
            top = max(top, buffer.limit)
        self._starts = [each.buffer.address for each in self._states]
        self.written: dict[int, int] = {}

    def __iter__(self) -> Iterator[BufferState]:
        """What the protocol allows of each."""
        return iter(self._states)

    def find(self, address: int) -> BufferState:
        """The circular buffer that an address may be in."""
        position = bisect_right(self._starts, address) - 1
        if position < 0:
            raise IrregularError
        return self._states[position]

    def around(self, address: int) -> BufferState | None:
        """The circular buffer that an address is in, unless that shares its pages.

        Raises IrregularError if bytes of several circular buffers are there.
        """
        if any(address in range(*each) for each in self._shared):
            raise IrregularError
        position = bisect_right(self._starts, address) - 1
        if position < 0 or address >= self._states[position].buffer.limit:
            return None
        return self._states[position]

    def are_filled(self, buffer: CircularBuffer, address: int, end: int) -> bool:
        """Whether bytes of a circular buffer were written by the program."""
        size = buffer.page_size
        first = address - (address - buffer.address) % size
        return all(
            self.written.get(page, 0) >= min(page + size, end) for page in range(first, end, size)
        )

    def are_written(self, buffer: CircularBuffer, address: int, end: int) -> bool:
        """Whether bytes of a circular buffer were written; on a tensor, also before."""
        if self.are_filled(buffer, address, end):
            return True
        if (address, end) in self._present:
            return True
        if buffer.aliased and (self._space is None or self._space.shadow.is_written(address, end)):
            self._present.add((address, end))
            return True
        return False

    def add(self, buffer: CircularBuffer, address: int, end: int) -> None:
        """Bytes are written: from the start of a page on, or after what was written of it."""
        size = buffer.page_size
        first = address - (address - buffer.address) % size
        if first < address and self.written.get(first, 0) < address:
            raise IrregularError
        for page in range(first, end, size):
            self.written[page] = max(self.written.get(page, 0), min(page + size, end))


class _NoStrays(dict[tuple["Memory", int], tuple[int, int]]):
    """Takes no address of a page that a buffer does not have."""

    def __setitem__(self, place: tuple[Memory, int], page: tuple[int, int]) -> NoReturn:
        """Refuse it."""
        raise IrregularError


class RegularRun:
    """Watches one run of a program in place of a sanitizer, of which it has the same methods."""

    def __init__(
        self,
        full: Sanitizer | None,
        threads: Sequence[RunningThread],
        cores: Sequence[WatchedCore],
    ) -> None:
        """Watch these threads; the circular buffers of the cores are set up.

        Without a sanitizer what a program does by itself is watched, not what it finds in memories.
        """
        self._full = full
        self._threads = threads
        self._cores = cores
        self._movers = [_Mover(thread) for thread in threads]
        self._pages = {
            core.l1: _Pages(core, None if full is None else full.space(core.l1)) for core in cores
        }
        self._states = _States(
            {state.buffer: state for pages in self._pages.values() for state in pages}
        )
        self._reads: set[tuple[Memory, int, int]] = set()
        """Memory, address and size of what was copied to pages."""
        self._writes: dict[Memory, dict[int, int]] = {}
        """By address: the size of what was copied from pages."""
        self._unreserved: set[BufferState] = set()
        """Circular buffers on tensors whose producer does not reserve pages."""
        self._before: list[tuple[Memory, int, bytes]] = []
        """What was where something was written first."""
        self._strays: Strays = _NoStrays()

    def count_pages(
        self, memory: Memory, address: int, page_size: int, stride: int, num_banks: int
    ) -> int | None:
        """See `Sanitizer.count_pages`."""
        if self._full is None:
            return None
        return self._full.count_pages(memory, address, page_size, stride, num_banks)

    def undo(self) -> None:
        """Put the bytes back that were there before the program."""
        for memory, address, data in reversed(self._before):
            memory.write(address, data)

    def repeat(
        self,
        first: Memory,
        others: Iterable[Memory],
        reads: Iterable[tuple[Memory, int, int]],
        writes: Iterable[tuple[Memory, int, int]],
    ) -> None:
        """Other cores did in their L1 what one was seen to do in `first`.

        `reads` and `writes` are their copies to and from pages: memory, address and size.
        """
        written = self._pages[first].written
        for other in others:
            self._pages[other].written.update(written)
        self._reads.update(reads)
        for memory, address, size in writes:
            known = self._writes.setdefault(memory, {})
            if address in known:
                raise IrregularError
            known[address] = size

    def finish(self, notes: Sequence[Finding] = ()) -> None:
        """All threads have ended: have the sanitizer know what was written, and what was noted.

        Raises IrregularError for what cannot be said to be right.
        """
        self._check_ends()
        full = self._full
        for memory, places in self._read_places():
            if full is not None:
                self._check_reads(full.space(memory), places)
        for memory, written in self._writes.items():
            self._check_writes(memory, written)
        for core in self._cores:
            written = self._writes.get(core.l1, {})
            places = [(address, address + size) for address, size in written.items()]
            _check_apart(places, [(each, each + 1) for each in core.semaphores.values()])
            _check_apart(places, [(each.address, each.limit) for each in core.cbs.values()])
        if full is not None:
            full.program_was_regular(self._cores, self._written(), [*notes, *self._notes()])

    def _notes(self) -> Iterator[Finding]:
        """Circular buffers with pages that nobody used."""
        buffers = (buffer for core in self._cores for buffer in core.cbs.values())
        for state in filter(None, map(self._states.get, buffers)):
            buffer, thread = state.buffer, state.producer
            if thread is None or buffer.aliased:
                continue
            if buffer.received != buffer.acked:
                yield left_over(ThreadState(Timeline(), thread), state)

    def _written(self) -> Iterator[tuple[Memory, int, int]]:
        for memory, pages in self._pages.items():
            for address, end in pages.written.items():
                yield memory, address, end - address
        for memory, written in self._writes.items():
            for address, size in written.items():
                yield memory, address, size

    # Circular buffers

    def cb_reserve(self, thread: RunningThread, buffer: CircularBuffer, pages: int) -> None:
        """`cb_reserve_back` returns."""
        state = self._states[buffer]
        if state.producer is not thread:
            _produce(thread, state)
        size = pages * buffer.page_size
        if size > state.reserved:
            state.reserved = size

    def cb_wait(self, thread: RunningThread, buffer: CircularBuffer, pages: int) -> None:
        """`cb_wait_front` returns."""
        state = self._states[buffer]
        if state.consumer is not thread:
            _consume(thread, state)
        size = pages * buffer.page_size
        if size > state.waited:
            state.waited = size

    def cb_push(self, thread: RunningThread, buffer: CircularBuffer, pages: int) -> None:
        """`cb_push_back` is called: pages are reserved, and no reads are under way."""
        state = self._states[buffer]
        if state.producer is not thread:
            _produce(thread, state)
        state.reserved -= pages * buffer.page_size
        if state.reserved < 0:
            if not buffer.aliased or pages > buffer.free:
                raise IrregularError
            state.reserved = 0
        if self._movers[thread.index].is_reading:
            raise IrregularError

    def cb_pop(self, thread: RunningThread, buffer: CircularBuffer, pages: int) -> None:
        """`cb_pop_front` is called: pages were waited for, and no writes are leaving."""
        state = self._states[buffer]
        if state.consumer is not thread:
            _consume(thread, state)
        state.waited -= pages * buffer.page_size
        if state.waited < 0:
            may_be_unfilled = self._full is None or self._full.pops_unfilled
            if not (buffer.aliased and may_be_unfilled):
                raise IrregularError
            state.waited = 0
        if True in self._movers[thread.index].sources:
            raise IrregularError

    # Accesses

    def read(self, memory: Memory, address: int, size: int, thread: RunningThread) -> None:
        """A thread reads bytes of a memory; its own, which nobody else sees, is not watched."""
        pages = self._pages.get(memory)
        if pages is None:
            self._check_own(memory)
            return
        state = pages.find(address)
        if self._movers[thread.index].computes:
            _check_tile(state.buffer, size)
        self._use(thread, memory, pages, state, address, size)

    read_tile = read

    def write(self, memory: Memory, address: int, size: int, thread: RunningThread) -> None:
        """A thread writes bytes of a memory; its own, which nobody else sees, is not watched."""
        pages = self._pages.get(memory)
        if pages is None:
            self._check_own(memory)
            return
        state = pages.find(address)
        if self._movers[thread.index].computes:
            _check_tile(state.buffer, size)
        self._fill(thread, memory, pages, state, address, size)

    def copy_started(
        self,
        thread: RunningThread,
        noc: int,
        kind: CopyKind,
        source: Memory,
        source_address: int,
        target: Memory,
        target_address: int,
        size: int,
        transaction: int = 0,
    ) -> None:
        """A thread starts a copy: to a page that it fills, or of a filled page."""
        mover = self._movers[thread.index]
        if transaction or size < 1:
            raise IrregularError
        if kind == "read":
            pages = self._pages.get(target)
            if pages is None or target is not thread.l1:
                raise IrregularError
            state = pages.find(target_address)
            self._fill(thread, target, pages, state, target_address, size)
            self._reads.add((source, source_address, size))
            mover.reads[noc].append((target_address, target_address + size))
            return
        pages = self._pages.get(source)
        if pages is None or kind != "write" or source is not thread.l1:
            raise IrregularError
        state = pages.find(source_address)
        self._use(thread, source, pages, state, source_address, size)
        written = self._writes.setdefault(target, {})
        if target_address in written:
            raise IrregularError
        self._keep(target, target_address, size)
        written[target_address] = size
        mover.sources[noc] = mover.targets[noc] = True

    def send(
        self, thread: RunningThread, noc: int, memory: Memory, address: int, size: int
    ) -> bool:
        """A thread multicasts bytes of its L1: pages that it has filled or waited for, or a tensor.

        Whether the thread alone may change them until it hands them over.
        """
        end = address + size
        pages = self._pages[memory]
        state = pages.around(address)
        if state is None:
            self._reads.add((memory, address, size))
            return True
        if state.producer is thread and state.covers_reserved(address, end):
            self._movers[thread.index].check_apart(address, end)
            if not pages.are_filled(state.buffer, address, end):
                raise IrregularError
            return True
        self._use(thread, memory, pages, state, address, size)
        self._movers[thread.index].sources[noc] = True
        return False

    def deliver(
        self, memory: Memory, address: int, size: int
    ) -> tuple[RunningThread, CircularBuffer]:
        """Bytes arrive that another core sends, in pages that a thread has reserved for them.

        The thread, and the circular buffer.
        """
        state = self._pages[memory].around(address)
        if state is None or state.buffer.aliased:
            raise IrregularError
        thread = state.producer
        if thread is None or not state.covers_reserved(address, address + size):
            raise IrregularError
        self._fill(thread, memory, self._pages[memory], state, address, size)
        return thread, state.buffer

    def copies_done(
        self, thread: RunningThread, noc: int, kind: BarrierKind, transaction: int | None = None
    ) -> None:
        """A barrier returns: all copies of a kind are over."""
        if transaction is not None:
            raise IrregularError
        mover = self._movers[thread.index]
        match kind:
            case "read":
                mover.reads[noc].clear()
            case "write":
                mover.sources[noc] = mover.targets[noc] = False
            case "flush":
                mover.sources[noc] = False
            case "atomic":
                pass

    def dst_access(
        self, thread: RunningThread, dst: Destination, index: int, kind: Literal["read", "write"]
    ) -> None:
        """A compute thread uses a tile of DST."""
        if not allowed(thread, dst):
            raise IrregularError

    # What orders threads beyond that, which nothing here relies on

    def put(self, thread: RunningThread, key: Hashable) -> None:
        """A thread hands something over."""

    take = acquire = release = put

    # What is right by other rules, if at all

    def report(self, finding: Finding) -> None:
        """Somebody else found something."""
        raise IrregularError

    def strays(self, thread: RunningThread) -> Strays:
        """Where a thread notes addresses of pages that buffers do not have."""
        return self._strays

    def page_outside(self, thread: RunningThread, page: int, num_pages: int) -> None:
        """A thread is about to copy a page that the buffer does not have."""
        raise IrregularError

    def word_written(
        self,
        thread: RunningThread,
        noc: int,
        kind: WordKind,
        memory: Memory,
        address: int,
        *,
        in_order: bool = False,
        posted: bool = False,
    ) -> None:
        """A thread changes a word over the network."""
        raise IrregularError

    def semaphore_set(self, thread: RunningThread, memory: Memory, address: int) -> None:
        """A thread sets a semaphore."""
        raise IrregularError

    def semaphore_wait(
        self, thread: RunningThread, memory: Memory, address: int, value: int, *, exactly: bool
    ) -> None:
        """A thread has waited for a semaphore."""
        raise IrregularError

    def check_semaphore(self, thread: RunningThread, memory: Memory, address: int) -> None:
        """A thread begins to wait for a semaphore."""
        raise IrregularError

    # Pages

    def _check_own(self, memory: Memory) -> None:
        if self._full is None or self._full.is_watched(memory):
            raise IrregularError

    def _use(
        self,
        thread: RunningThread,
        memory: Memory,
        pages: _Pages,
        state: BufferState,
        address: int,
        size: int,
    ) -> None:
        """A thread, or a copy for it, reads pages that it has waited for and that were written.

        It need not wait for those of a tensor that nobody writes.
        """
        end = address + size
        if state.consumer is thread and state.covers_waited(address, end):
            if pages.written.get(address, 0) < end and not pages.are_written(
                state.buffer, address, end
            ):
                raise IrregularError
            return
        if not state.buffer.aliased or pages.are_filled(state.buffer, address, end):
            raise IrregularError
        self._reads.add((memory, address, size))

    def _fill(
        self,
        thread: RunningThread,
        memory: Memory,
        pages: _Pages,
        state: BufferState,
        address: int,
        size: int,
    ) -> None:
        """A thread, or a copy for it, writes pages that it has reserved, each from its start on.

        It need not reserve those of a tensor that no other thread uses.
        """
        end = address + size
        self._movers[thread.index].check_apart(address, end)
        if state.producer is not thread or not state.covers_reserved(address, end):
            buffer = state.buffer
            if not buffer.aliased or end > buffer.limit or state.producer not in (None, thread):
                raise IrregularError
            state.producer = thread
            self._unreserved.add(state)
        if pages.written.get(address, 0) >= end or pages.are_filled(state.buffer, address, end):
            return  # As almost always: in an earlier round.
        self._keep(memory, address, size)
        pages.add(state.buffer, address, end)

    def _keep(self, memory: Memory, address: int, size: int) -> None:
        """Keep what is there, to undo what comes."""
        self._before.append((memory, address, bytes(memory.read(address, size))))

    # The end

    def _check_ends(self) -> None:
        """Everything was waited for."""
        registers: dict[object, Destination | None] = {core.l1: core.dst for core in self._cores}
        for thread, mover in zip(self._threads, self._movers, strict=True):
            is_open = mover.is_reading or True in mover.targets
            if is_open or still_holds(thread, registers.get(thread.l1)):
                raise IrregularError
        if any(state.consumer is not None for state in self._unreserved):
            raise IrregularError

    def _read_places(self) -> Iterator[tuple[Memory, list[tuple[int, int]]]]:
        """What was read of each memory, as start and end; nothing of it was written."""
        places: dict[Memory, list[tuple[int, int]]] = {}
        for memory, address, size in self._reads:
            places.setdefault(memory, []).append((address, address + size))
        for memory, found in places.items():
            _check_overlaps(found, self._writes.get(memory, {}))
            pages = self._pages.get(memory)
            if pages is not None:
                written = pages.written
                _check_overlaps(found, {each: written[each] - each for each in written})
                _check_apart(found, pages.others)
            yield memory, found

    def _check_reads(self, space: Space, places: list[tuple[int, int]]) -> None:
        """Somebody had written what was read, and it lies in one buffer."""
        for address, end in places:
            cell = space.shadow.cell(address, end)
            if cell is not None and cell.writer is not None:
                continue
            inside = address >= 0 and end <= space.size
            if not inside or not space.shadow.is_written(address, end):
                raise IrregularError
            if space.overrun(address, end) is not None:
                raise IrregularError

    def _check_writes(self, memory: Memory, written: dict[int, int]) -> None:
        """What was written lies in a buffer, and was written once."""
        space = None if self._full is None else self._full.space(memory)
        last = 0 if space is None else space.first_free
        inside = 0
        """Up to where the buffer reaches that was found last."""
        for address in sorted(written):
            end = address + written[address]
            if address < last or end > memory.size:
                raise IrregularError
            last = end
            if space is None or end <= inside:
                continue
            inside = space.buffer_end(address)
            if end <= inside or space.shadow.cell(address, end) is not None:
                continue
            if space.overrun(address, end) is not None or space.is_free(address, end):
                raise IrregularError
        if space is not None:
            places = [(address, address + size) for address, size in written.items()]
            _check_apart(places, [(each, each + 1) for each in space.lasting_semaphores])


def _check_overlaps(reads: list[tuple[int, int]], written: dict[int, int]) -> None:
    """Nothing that was read was written."""
    starts = sorted(written)
    ends = [start + written[start] for start in starts]
    for address, end in reads:
        if bisect_right(ends, address) != bisect_left(starts, end):
            raise IrregularError


def _check_apart(places: list[tuple[int, int]], others: list[tuple[int, int]]) -> None:
    """No place, by start and end, has a byte in common with one of the others, which are few."""
    for start, stop in others:
        if any(address < stop and start < end for address, end in places):
            raise IrregularError


def _produce(thread: RunningThread, state: BufferState) -> None:
    """A thread is the only producer of a circular buffer."""
    if state.producer is not None:
        raise IrregularError
    state.producer = thread


def _consume(thread: RunningThread, state: BufferState) -> None:
    """A thread is the only consumer of a circular buffer."""
    if state.consumer is not None:
        raise IrregularError
    state.consumer = thread


def _check_tile(buffer: CircularBuffer, size: int) -> None:
    """Tiles fit the pages."""
    if size > buffer.page_size and TILE_BYTES.get(buffer.data_format) == size:
        raise IrregularError
