"""What is known about the bytes of a memory: who wrote them, who read them since.

Bytes with the same history share a cell. Cells follow the accesses: an access to exactly the bytes
of a cell, such as a page of a circular buffer, costs one dictionary look-up however large it is;
any other one splits the cells at its ends, and a write leaves one cell behind. So histories are
exact to the byte, and memory that nobody touched costs nothing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import CodeType
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ttmlir.sim.errors import Finding
    from ttmlir.sim.machine.memory import CircularBuffer, Memory
    from ttmlir.sim.protocols import RunningThread


# --- Vector clock ---------------------------------------------------------------------------------
# What happened before what: vector clocks over the threads of a program and their copies.
#
# Everything that accesses memory is an actor with a time of its own. A thread is an actor that
# knows, of every actor, up to which time its accesses are over. Two accesses are ordered if the
# later actor knows the time of the earlier one; otherwise they are a race, whatever the order was
# in which this run made them. Threads join the clocks of others at sync points: a semaphore, the
# pages of a circular buffer.
#
# Bytes of an asynchronous copy move at some time between the call and the barrier. The copy is
# therefore the access of another actor, an agent: it knows what its thread knows, and the thread
# knows of its time only after the barrier.
#
# Source: Flanagan, Freund, "FastTrack: efficient and precise dynamic race detection", PLDI 2009.

Times = NDArray[np.int64]

_STEP = 16
"""Actors that clocks hold at first; the size doubles when it is used up."""


class VectorClock:
    """A time for every actor; `view` holds the same numbers as `times`, for reading single ones.

    What it knows of actors of the running program lies in `part`, the times from `start` up to
    `end`: threads of one core, which have neighbouring indices, need not look at those of others.
    """

    __slots__ = ("end", "part", "start", "times", "view")

    def __init__(self, times: Times) -> None:
        """Keep the array, which nobody else may write, and know of no actor of the program."""
        self.start = self.end = 0
        self.set_times(times)

    def set_times(self, times: Times) -> None:
        """Replace the array, for instance by a longer one."""
        self.times = times
        self.view: memoryview[int] = times.data
        self.part = times[self.start : self.end]

    def extend(self, start: int, end: int) -> None:
        """Extend the part that is looked at by the times from `start` up to `end`."""
        if self.start < self.end:
            start, end = min(start, self.start), max(end, self.end)
        self.start, self.end = start, end
        self.part = self.times[start:end]

    def copy(self) -> VectorClock:
        """A clock that knows the same."""
        clock = VectorClock(self.times.copy())
        clock.extend(self.start, self.end)
        return clock

    def join(self, start: int, end: int, part: Times) -> None:
        """Take the larger of each time of this part of another clock and its own."""
        own = self.part
        if start != self.start or end != self.end:
            if start < self.start or end > self.end:
                self.extend(start, end)
            own = self.times[start:end]
        np.maximum(own, part, out=own)

    def join_time(self, index: int, time: int) -> None:
        """Take the time of one actor, if it is larger."""
        if not self.start <= index < self.end:
            self.extend(index, index + 1)
        if self.view[index] < time:
            self.view[index] = time


class Actor:
    """Something that accesses memory: a thread, or an agent that copies for it.

    `index` is its index in vector clocks, `time` its own, `vector` the clock of its thread.
    `in_order` says that accesses of this actor to one address take effect in call order.
    """

    __slots__ = ("in_order", "index", "time", "vector")

    def __init__(self, index: int, time: int, vector: VectorClock, in_order: bool) -> None:
        """An actor that has done nothing yet."""
        self.index = index
        self.time: int = time
        self.vector = vector
        self.in_order = in_order

    def sees(self, other: Actor, time: int) -> bool:
        """True if what the other did at that time is over before this actor's next access."""
        return self.vector.view[other.index] >= time or (other is self and self.in_order)


class Agent(Actor):
    """An actor that copies for a thread; busy from the first copy until its thread has waited."""

    __slots__ = ("_thread", "busy", "flushed", "last")

    def __init__(self, index: int, time: int, thread: Thread, in_order: bool) -> None:
        """An agent without copies under way."""
        super().__init__(index, time, thread.vector, in_order)
        thread.vector.extend(index, index + 1)
        self._thread = thread
        self.busy = False
        self.flushed = time - 1
        self.last = time - 1
        """When it last started a copy."""

    def finish(self) -> None:
        """The thread has waited for all copies."""
        self.vector.view[self.index] = self.time
        self._thread.version += 1
        self.time += 1
        self.busy = False

    def flush(self) -> None:
        """The copies so far have left: what is sent from now on arrives after them."""
        self.flushed = self.time
        self.time += 1


class Thread(Actor):
    """An actor with a vector clock of its own; `version` counts what it joined into that."""

    __slots__ = ("_snapshot", "_version", "last_joined", "places", "version")

    def __init__(self, index: int, time: int, vector: VectorClock, places: range) -> None:
        """A thread with this clock; the indices `places` are kept for its agents."""
        super().__init__(index, time, vector, in_order=True)
        self.version = 0
        self.last_joined: Snapshot | None = None
        """What it joined last, which brings nothing new a second time."""
        self._snapshot: Snapshot = (0, 0, vector.part)
        self._version = -1
        """Its version when `_snapshot` was taken."""
        self.places = places
        vector.extend(index, max(places.stop, index + 1))
        vector.view[index] = time

    def advance(self) -> None:
        """Go on to the next time: what comes from now on is not released yet."""
        self.time += 1
        self.vector.view[self.index] = self.time

    def snapshot(self) -> Snapshot:
        """A copy of its clock, whose own time may be an earlier one."""
        if self._version != self.version:
            vector = self.vector
            self._snapshot = vector.start, vector.end, vector.part.copy()
            self._version = self.version
        return self._snapshot

    def release(self, point: VectorClock) -> None:
        """Order all that this thread did, and knew of, before whoever acquires the point."""
        known = self.vector
        point.join(known.start, known.end, known.part)
        self.advance()

    def release_after(self, point: VectorClock, agent: Agent) -> None:
        """Release a point by a message after which the copies of an agent are over."""
        point.join_time(agent.index, agent.time)
        agent.time += 1

    def release_flushed(self, point: VectorClock, agent: Agent) -> None:
        """Release a point by a message that only overtakes what has not left."""
        point.join_time(agent.index, agent.flushed)

    def acquire(self, point: VectorClock) -> None:
        """Join the clocks of those who released the point."""
        self.vector.join(point.start, point.end, point.part)
        self.version += 1


Snapshot = tuple[int, int, Times]
"""A copy of a clock: start, end and part."""


class HandOver:
    """A queue from one thread to one other: taking an entry joins the clock of its producer.

    Unlike a sync point it does not release what the producer does ahead of the consumer. Entries
    may be counted: pages of a circular buffer, for instance.
    """

    __slots__ = ("_entries", "_put", "_version", "taken")

    def __init__(self) -> None:
        """An empty queue."""
        self._entries: deque[tuple[int, Thread, int, Snapshot | None]] = deque()
        self._version = -1
        """Version of the producer when its whole clock was last put into an entry."""
        self._put = 0
        self.taken = 0
        """The sum of what was taken; `_put` is that of what was put."""

    def put(self, producer: Thread, count: int = 1) -> None:
        """Add an entry that releases what the producer did and knows."""
        snapshot = None
        if producer.version != self._version:
            snapshot = producer.snapshot()
            self._version = producer.version
        self._put += count
        time = producer.time
        self._entries.append((self._put, producer, time, snapshot))
        producer.time = producer.vector.view[producer.index] = time + 1  # As `advance` does.

    def take(self, consumer: Thread) -> None:
        """Acquire the first entry, if there is one."""
        if not self._entries:
            return
        self.taken, producer, time, snapshot = self._entries.popleft()
        vector = consumer.vector
        if snapshot is not None and snapshot is not consumer.last_joined:
            vector.join(*snapshot)
            consumer.last_joined = snapshot
        index = producer.index
        if vector.start <= index < vector.end:
            if vector.view[index] < time:
                vector.view[index] = time
        else:
            vector.join_time(index, time)
        consumer.version += 1

    def is_known(self, consumer: Thread, count: int) -> bool:
        """Whether other means order the consumer after the entries up to the sum `count`."""
        known = self.taken
        for total, producer, time, _ in self._entries:
            if known >= count or consumer.vector.view[producer.index] < time:
                break
            known = total
        return known >= count

    def take_until(self, consumer: Thread, count: int) -> None:
        """Acquire the entries that were put until the sum reached `count`."""
        while self.taken < count and self._entries:
            self.take(consumer)


class Timeline:
    """The actors of one program after the other: each program knows all that was before it.

    Actors may join while the program runs; its clocks grow with them.
    """

    def __init__(self) -> None:
        """No program has run."""
        self._past: Times = np.zeros(_STEP, np.int64)
        self._actors: list[Actor] = []
        self._clocks: list[VectorClock] = []
        self._places = 0
        """How many indices of clocks are taken."""

    def begin(self) -> None:
        """Start a program; what was before is over for all its actors."""
        for actor in self._actors:
            self._past[actor.index] = actor.time
        self._actors = []
        self._clocks = []
        self._places = 0

    def clock(self) -> VectorClock:
        """A clock that knows the programs before this one."""
        clock = VectorClock(self._past.copy())
        self._clocks.append(clock)
        return clock

    def thread(self, agents: int = 0) -> Thread:
        """One more actor, with a clock of its own and the next indices for so many agents."""
        index = self._take_places(1 + agents)
        places = range(index + 1, index + 1 + agents)
        thread = Thread(index, int(self._past[index]) + 1, self.clock(), places)
        self._actors.append(thread)
        return thread

    def agent(self, thread: Thread, *, in_order: bool = False) -> Agent:
        """One more actor, which copies for the thread."""
        if thread.places:
            index, thread.places = thread.places[0], thread.places[1:]
        else:
            index = self._take_places(1)
        agent = Agent(index, int(self._past[index]) + 1, thread, in_order)
        self._actors.append(agent)
        return agent

    def is_known(self, agent: Agent) -> bool:
        """Whether some thread knows that all copies of an agent are over."""
        threads = (actor for actor in self._actors if isinstance(actor, Thread))
        return any(thread.vector.view[agent.index] >= agent.last for thread in threads)

    def _take_places(self, count: int) -> int:
        """The first index of the next actors; all clocks grow to hold them."""
        first = self._places
        self._places += count
        while self._places > self._past.size:
            more = np.zeros(self._past.size, np.int64)
            self._past = np.concatenate((self._past, more))
            for clock in self._clocks:
                clock.set_times(np.concatenate((clock.times, more)))
        return first


# --- Shadow ---------------------------------------------------------------------------------------

Mark = tuple[CodeType, int] | None
"""Where in a kernel an access was made: its code and the offset of the instruction."""


class Conflict(NamedTuple):
    """An earlier access that is not ordered before the present one; bytes `start` to `end`."""

    writes: bool
    actor: Actor
    time: int
    mark: Mark
    start: int
    end: int


class Unwritten(NamedTuple):
    """Bytes `start` to `end` are read but nobody has written them."""

    start: int
    end: int


Read = tuple[int, Mark]


class Cell:
    """Bytes `start` to `end` with one history: the last write, and the reads since.

    Most cells have one reader; `readers` holds those beyond it, by actor.
    """

    __slots__ = (
        *("end", "read_mark", "read_time", "reader", "readers", "start"),
        *("write_mark", "write_time", "writer"),
    )

    def __init__(self, start: int, end: int) -> None:
        """Bytes that nobody has touched."""
        self.start = start
        self.end = end
        self.writer: Actor | None = None
        self.write_time = 0
        self.write_mark: Mark = None
        self.reader: Actor | None = None
        self.read_time = 0
        self.read_mark: Mark = None
        self.readers: dict[Actor, Read] | None = None

    def split(self, at: int) -> Cell:
        """Keep the bytes before `at` and return a cell with the others."""
        other = Cell(at, self.end)
        self.end = at
        other.writer = self.writer
        other.write_time = self.write_time
        other.write_mark = self.write_mark
        other.reader = self.reader
        other.read_time = self.read_time
        other.read_mark = self.read_mark
        other.readers = None if self.readers is None else dict(self.readers)
        return other

    def same_history(self, other: Cell) -> bool:
        """True if the two cells could be one."""
        return (
            self.writer is other.writer
            and self.write_time == other.write_time
            and self.reader is other.reader
            and self.read_time == other.read_time
            and self.write_mark == other.write_mark
            and self.read_mark == other.read_mark
            and self.readers == other.readers
        )

    def is_last(self, actor: Actor, mark: Mark) -> bool:
        """True if this write is the last that was noted, and nobody has read since."""
        return (
            self.writer is actor
            and self.write_time == actor.time
            and self.reader is None
            and self.write_mark == mark
            and self.readers is None
        )

    def written(self, actor: Actor, mark: Mark) -> None:
        """Note a write; the reads before it need not be known any longer."""
        self.writer = actor
        self.write_time = actor.time
        self.write_mark = mark
        self.reader = None
        self.read_time = 0
        self.read_mark = None
        self.readers = None

    def was_read(self, actor: Actor, mark: Mark) -> None:
        """Note a read; it stands for earlier ones that it is ordered after."""
        reader = self.reader
        if reader is not None and reader is not actor and not actor.sees(reader, self.read_time):
            if self.readers is None:
                self.readers = {}
            self.readers[reader] = (self.read_time, self.read_mark)
        self.reader = actor
        self.read_time = actor.time
        self.read_mark = mark

    def read_conflict(self, actor: Actor) -> Conflict | Unwritten | None:
        """What forbids the actor to read these bytes."""
        writer = self.writer
        if writer is None:
            return Unwritten(self.start, self.end)
        seen = actor.vector.view[writer.index] >= self.write_time
        if seen or actor.sees(writer, self.write_time):
            return None
        return Conflict(True, writer, self.write_time, self.write_mark, self.start, self.end)

    def write_conflict(self, actor: Actor) -> Conflict | None:
        """What forbids the actor to write these bytes."""
        writer = self.writer
        if writer is not None and not actor.sees(writer, self.write_time):
            return Conflict(True, writer, self.write_time, self.write_mark, self.start, self.end)
        if self.reader is None:
            return None
        if self.readers is None and actor.vector.view[self.reader.index] >= self.read_time:
            return None
        for reader, time, mark in self.reads():
            if not actor.sees(reader, time):
                return Conflict(False, reader, time, mark, self.start, self.end)
        return None

    def read(self, actor: Actor, mark: Mark) -> Conflict | Unwritten | None:
        """Note a read; what forbids it."""
        view = actor.vector.view
        writer = self.writer
        wrong = None
        if writer is None or view[writer.index] < self.write_time:
            wrong = self.read_conflict(actor)
        reader = self.reader
        if reader is None or reader is actor or view[reader.index] >= self.read_time:
            self.reader = actor
            self.read_time = actor.time
            self.read_mark = mark
        else:
            self.was_read(actor, mark)
        return wrong

    def write(self, actor: Actor, mark: Mark) -> Conflict | None:
        """Note a write; what forbids it."""
        conflict = self.write_conflict(actor)
        self.written(actor, mark)
        return conflict

    def reads(self) -> Iterator[tuple[Actor, int, Mark]]:
        """The reads since the last write that no other known read stands for."""
        if self.reader is not None:
            yield self.reader, self.read_time, self.read_mark
        if self.readers is not None:
            for reader, (time, mark) in self.readers.items():
                yield reader, time, mark


class Shadow:
    """The cells of one memory, which do not overlap."""

    __slots__ = ("_cells", "_starts")

    def __init__(self) -> None:
        """Nobody has touched the memory."""
        self._cells: dict[int, Cell] = {}
        self._starts: list[int] = []

    def cell(self, address: int, end: int) -> Cell | None:
        """The cell of exactly these bytes, which those of an access before have."""
        cell = self._cells.get(address)
        return cell if cell is not None and cell.end == end else None

    def write(self, address: int, size: int, actor: Actor, mark: Mark) -> Conflict | None:
        """Note a write; the first conflict, if there is one."""
        end = address + size
        cell = self._cells.get(address)
        if cell is not None and cell.end == end:
            return cell.write(actor, mark)
        conflict = None
        starts = self._starts
        position = bisect_left(starts, address)
        left = self._cells[starts[position - 1]] if position else None
        if left is not None and left.end == address and left.is_last(actor, mark):
            # As loops write: on with what was written last, at the cost of what is behind it.
            right = self._cells[starts[position]] if position < len(starts) else None
            if right is None or right.start >= end:
                left.end = end
                return None
            if right.start == address and right.end > end and right.write_conflict(actor) is None:
                left.end = right.start = starts[position] = end
                del self._cells[address]
                self._cells[end] = right
                return None
        if self._untouched(position, address, end):
            self._starts.insert(position, address)
            cell = self._cells[address] = Cell(address, end)
            cell.written(actor, mark)
        else:
            for cell in self._carve(address, end):
                conflict = conflict or cell.write_conflict(actor)
            (cell,) = self._unite(address, size, 1)
            cell.written(actor, mark)
        self._join_left(address)
        return conflict

    def preset(self, address: int, size: int, actor: Actor, pages: int = 1) -> None:
        """Note writes that nothing can be wrong with, of pages that each keep a cell of their own.

        The host writes tensors page by page, and kernels use them page by page.
        """
        for cell in self._unite(address, size, pages):
            cell.written(actor, None)

    def read(
        self, address: int, size: int, actor: Actor, mark: Mark
    ) -> Conflict | Unwritten | None:
        """Note a read; what forbids it: the first conflict, or bytes that nobody has written."""
        end = address + size
        cell = self._cells.get(address)
        if cell is not None and cell.end == end:
            return cell.read(actor, mark)
        first: Conflict | Unwritten | None = None
        for cell in self._carve(address, end):
            conflict = cell.read(actor, mark)
            if first is None or (isinstance(first, Unwritten) and isinstance(conflict, Conflict)):
                first = conflict
        self._join_left(address)
        return first

    def forget(self, address: int, size: int) -> None:
        """Nobody has touched these bytes: what a freed buffer leaves behind is worth nothing."""
        end = address + size
        self._carve(address, end)
        first, last = self._between(address, end)
        for start in self._starts[first:last]:
            del self._cells[start]
        del self._starts[first:last]

    def settle(self) -> None:
        """No access so far can race with a later one: forget the readers."""
        for cell in self._cells.values():
            cell.reader = None
            cell.read_time = 0
            cell.read_mark = None
            cell.readers = None

    def gaps(self, address: int, end: int) -> Iterator[tuple[int, int]]:
        """Bytes that nobody has written, from the first one on."""
        at = address
        for cell in self._touching(address, end):
            if cell.writer is None:
                continue
            if cell.start > at:
                yield at, cell.start
            at = cell.end
        if at < end:
            yield at, end

    def is_written(self, address: int, end: int) -> bool:
        """Whether all bytes were written."""
        return next(self.gaps(address, end), None) is None

    def is_written_before(self, address: int, size: int, actor: Actor) -> bool:
        """Whether all bytes were written, by writes that are ordered before the actor."""
        at = address
        for cell in self._touching(address, address + size):
            if cell.start > at or cell.read_conflict(actor) is not None:
                return False
            at = cell.end
        return at >= address + size

    def writing(self, address: int, size: int, agent: Actor) -> Cell | None:
        """Bytes of this range that the agent's copies, not waited for, write."""
        known = agent.vector.view[agent.index]
        for cell in self._touching(address, address + size):
            if cell.writer is agent and cell.write_time > known:
                return cell
        return None

    def reading(self, address: int, size: int, agent: Actor) -> tuple[Cell, Mark] | None:
        """Bytes of this range that the agent's copies, not waited for, read, and where from."""
        known = agent.vector.view[agent.index]
        for cell in self._touching(address, address + size):
            for reader, time, mark in cell.reads():
                if reader is agent and time > known:
                    return cell, mark
        return None

    def cells(self) -> Iterator[Cell]:
        """All cells by address."""
        return (self._cells[start] for start in self._starts)

    def _untouched(self, position: int, address: int, end: int) -> bool:
        """True if no cell has any of the bytes; `position` is where one with them would be."""
        starts = self._starts
        if position and self._cells[starts[position - 1]].end > address:
            return False
        return position == len(starts) or starts[position] >= end

    def _between(self, address: int, end: int) -> tuple[int, int]:
        """The range of positions in `_starts` of cells that start in [address, end)."""
        first = bisect_left(self._starts, address)
        return first, bisect_left(self._starts, end, first)

    def _touching(self, address: int, end: int) -> Iterator[Cell]:
        first, last = self._between(address, end)
        if first and self._cells[self._starts[first - 1]].end > address:
            first -= 1
        return (self._cells[start] for start in self._starts[first:last])

    def _carve(self, address: int, end: int) -> list[Cell]:
        """Cells that cover exactly these bytes."""
        if address >= end:
            return []
        self._cut(address)
        self._cut(end)
        first, last = self._between(address, end)
        cells: list[Cell] = []
        at = address
        for start in self._starts[first:last]:
            if at < start:
                cells.append(Cell(at, start))
            cells.append(self._cells[start])
            at = cells[-1].end
        if at < end:
            cells.append(Cell(at, end))
        if len(cells) != last - first:
            self._starts[first:last] = [cell.start for cell in cells]
            self._cells.update((cell.start, cell) for cell in cells)
        return cells

    def _cut(self, at: int) -> None:
        """Let a cell end at `at` if one reaches over it."""
        position = bisect_right(self._starts, at) - 1
        if position < 0:
            return
        cell = self._cells[self._starts[position]]
        if cell.start < at < cell.end:
            self._cells[at] = cell.split(at)
            self._starts.insert(position + 1, at)

    def _unite(self, address: int, size: int, pages: int) -> list[Cell]:
        """One cell for exactly the bytes of each of several pages."""
        end = address + size * pages
        self._cut(address)
        self._cut(end)
        first, last = self._between(address, end)
        for start in self._starts[first:last]:
            del self._cells[start]
        starts = range(address, end, size) if pages > 1 else (address,)
        self._starts[first:last] = starts
        cells = [Cell(start, start + size) for start in starts]
        self._cells.update(zip(starts, cells, strict=True))
        return cells

    def _join_left(self, address: int) -> None:
        """Make one cell of the one that starts there and the one before it if they are alike."""
        position = bisect_left(self._starts, address)
        cell = self._cells[address]
        left = self._cells[self._starts[position - 1]] if position else None
        if left is not None and left.end == address and left.same_history(cell):
            left.end = cell.end
            del self._cells[address]
            del self._starts[position]


# --- Semaphores -----------------------------------------------------------------------------------
# Semaphores: what waiting for them acquires, and changes of which one may undo the other.

SLOT = 16
"""Bytes from semaphore to semaphore."""

_MOST_STATES = 256
"""Values of a semaphore that are distinguished; older changes count as met by every wait."""


class _Change(NamedTuple):
    """A change of the word: who made it when, the value that it met, and what it releases."""

    thread: Thread
    time: int
    met: int
    released: VectorClock


class WatchedSemaphore:
    """One word of L1 by which threads are ordered.

    Increments may come in any order; whoever sets the word has to know of all changes before, and
    has to be known to all who change it next. Who waits for a value knows of the changes up to the
    first one with which the wait might have ended: later ones may as well come after it.
    """

    __slots__ = ("_changes", "_increments", "_known", "_set")

    def __init__(self, known: VectorClock) -> None:
        """A semaphore that nobody has changed in this program; `known` is an empty clock."""
        self._known = known
        """What a wait for any value acquires."""
        self._changes: list[_Change] = []
        """The changes that are not in `_known` yet, in order."""
        self._set: Mapping[Thread, tuple[int, Mark]] = {}
        """Who has set it last, at which of its times, and where."""
        self._increments: dict[Thread, tuple[int, Mark]] = {}
        """Who has incremented it since."""

    def check(
        self, thread: Thread, mark: Mark, *, is_increment: bool = False
    ) -> tuple[Thread, Mark] | None:
        """Note who changes it; an earlier change that is not ordered before, and its place."""
        unordered = _unordered(thread, self._set)
        if is_increment:
            self._increments[thread] = thread.time, mark
        else:
            unordered = unordered or _unordered(thread, self._increments)
            self._set = {thread: (thread.time, mark)}
            self._increments.clear()
        return unordered

    def change(self, thread: Thread, met: int) -> VectorClock:
        """Release what a thread has done; the clock that its messages are released into.

        `met` is the value before the change.
        """
        if len(self._changes) == _MOST_STATES:
            self._publish(_MOST_STATES // 2)
        released = thread.vector.copy()
        self._changes.append(_Change(thread, thread.time, met, released))
        thread.advance()
        return released

    def look(self, thread: Thread) -> None:
        """A thread reads the word: it knows of all changes."""
        self._publish(len(self._changes))
        thread.acquire(self._known)

    def wait(self, thread: Thread, value: int, now: int, *, exactly: bool) -> None:
        """A thread has waited for a value, or with `exactly` False for at least it."""
        changes = self._changes
        count = len(changes)
        while count and not thread.sees(changes[count - 1].thread, changes[count - 1].time):
            count -= 1
        values = [*(change.met for change in changes[count:]), now]
        for seen in values[:-1]:
            if seen == value or (not exactly and seen > value):
                break
            count += 1
        self._publish(count)
        thread.acquire(self._known)

    @property
    def is_known(self) -> bool:
        """Whether the last wait acquired all changes."""
        return not self._changes

    def _publish(self, count: int) -> None:
        """Have every wait acquire the first changes."""
        for change in self._changes[:count]:
            released = change.released
            self._known.join(released.start, released.end, released.part)
        del self._changes[:count]


def _unordered(
    thread: Thread, changes: Mapping[Thread, tuple[int, Mark]]
) -> tuple[Thread, Mark] | None:
    for other, (time, mark) in changes.items():
        if not thread.sees(other, time):
            return other, mark
    return None


# --- Spaces ---------------------------------------------------------------------------------------
# A memory as the sanitizer sees it: histories of its bytes, what lies where, what is aligned.


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


class Destination(Protocol):
    """What the rules have to know of DST: which threads own the part that they work on."""

    @property
    def acquired(self) -> bool:
        """True between `tile_regs_acquire` and `tile_regs_commit`."""
        ...

    @property
    def waited(self) -> bool:
        """True between `tile_regs_wait` and `tile_regs_release`."""
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


Strays: TypeAlias = "dict[tuple[Memory, int], tuple[int, int]]"
"""Addresses behind the last page of a buffer: which page that would be, and how many there are."""


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
"""What a thread does without the protocol; the last is ordered after the writes by other means."""


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
            "something else has ordered this thread after those who wrote them"
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
        """True if bytes are among `size` from `start` on; after the last page comes the first."""
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
        *("has_buffers", "headers", "is_core", "lasting_semaphores", "name", "origins"),
        *("semaphores", "shadow", "size"),
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
        self.origins: dict[int, tuple[int, tuple[Finding, ...]]] = {}
        """By the address of a packed tile: its end, and where numbers in it that count as unwritten
        were read first."""
        self.has_buffers = False
        self.headers: list[tuple[int, int]] = []
        """First byte and end of headers of packets, which are in firmware's part of L1."""
        self._segment_starts: list[int] = []
        self._segments: list[list[BufferState]] = []

    def begin(self, timeline: Timeline) -> None:
        """Start a program: what was in L1 stays, its uses do not."""
        self.shadow.settle()
        self.origins.clear()
        self.headers.clear()
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

    def is_header(self, address: int, end: int) -> bool:
        """Whether bytes of firmware's part are of headers of packets, which kernels write."""
        return any(first <= address and end <= last for first, last in self.headers)

    def allows(self, address: int, end: int) -> bool:
        """Whether kernels may write bytes."""
        is_low = address < self.first_free
        return end <= self.size and not (is_low and not self.is_header(address, end))

    def is_free(self, address: int, end: int) -> bool:
        """Whether bytes begin in no buffer, and nobody is known to have put anything there."""
        if address < self.first_free and self.is_header(address, end):
            return False
        if self.allocator is None or self.shadow.is_written(address, end):
            return False
        return self.allocator.block_at(address) is None

    def buffer_end(self, address: int) -> int:
        """The end of the buffer that a byte is in; 0 if it is in none."""
        block = None if self.allocator is None else self.allocator.block_at(address)
        return 0 if block is None else block[1]

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

    def has_own_pages(self, address: int) -> bool:
        """Whether a byte is of a circular buffer that is no tensor's."""
        states = self.buffers(address, address + 1) if self.has_buffers else []
        return bool(states) and not any(each.buffer.aliased for each in states)

    def origins_of(self, address: int) -> tuple[Finding, ...]:
        """Where a number that counts as unwritten was read first, if it was packed since."""
        for start, (end, findings) in self.origins.items():
            if start <= address < end:
                return findings
        return ()

    def buffers(self, address: int, end: int) -> list[BufferState]:
        """The circular buffers, more than one if they share pages, that the bytes begin in.

        Bytes that begin in none and extend into some belong to these.
        """
        starts = self._segment_starts
        position = bisect_right(starts, address) - 1
        if position >= 0 and self._segments[position]:
            return self._segments[position]
        if position + 1 < len(starts) and starts[position + 1] < end:
            return self._segments[position + 1]
        return []
