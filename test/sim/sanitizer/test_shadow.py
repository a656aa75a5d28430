"""Shadow and vector clocks against an oracle that keeps every access and the whole graph."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from ttmlir.sim.sanitizer.shadow import (
    Agent,
    Conflict,
    HandOver,
    Shadow,
    Thread,
    Timeline,
    Unwritten,
)

THREADS = 3
POINTS = 2

Event = tuple[str, int, int, int, int]
"""What is done, the thread, the start and size of the bytes, and a point or a second start."""

EVENTS = st.tuples(
    st.sampled_from(
        [
            *("read", "write", "release", "acquire"),
            *("copy in", "copy out", "read barrier", "write barrier", "flush"),
            *("release behind", "release behind flushed", "put", "take"),
        ]
    ),
    st.integers(0, THREADS - 1),
    st.integers(0, 6),
    st.integers(1, 4),
    st.integers(0, 6),
)


@dataclass(frozen=True)
class Access:
    """An access in the oracle: a node of the graph, the bytes, and the queue it is in."""

    node: int
    writes: bool
    start: int
    end: int
    queue: tuple[str, int]


@dataclass
class Oracle:
    """Every access and every edge; two accesses are ordered if one reaches the other."""

    accesses: list[Access] = field(default_factory=list[Access])
    successors: list[set[int]] = field(default_factory=list[set[int]])
    last: dict[int, int] = field(default_factory=dict[int, int])
    pending: dict[tuple[str, int], list[int]] = field(
        default_factory=dict[tuple[str, int], list[int]]
    )
    flushed: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    released: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    queue: list[int] = field(default_factory=list[int])
    taken: int = 0

    def node(self, *before: int) -> int:
        """A new node behind others."""
        self.successors.append(set())
        for each in before:
            self.successors[each].add(len(self.successors) - 1)
        return len(self.successors) - 1

    def step(self, thread: int) -> int:
        """The next node of a thread."""
        before = (self.last[thread],) if thread in self.last else ()
        self.last[thread] = self.node(*before)
        return self.last[thread]

    def reaches(self, start: int, goal: int) -> bool:
        """True if a path leads from one node to the other."""
        seen, stack = {start}, [start]
        while stack:
            for each in self.successors[stack.pop()] - seen:
                seen.add(each)
                stack.append(each)
        return goal in seen

    def access(self, node: int, writes: bool, start: int, size: int, queue: tuple[str, int]) -> str:
        """Add an access and say what is wrong with it."""
        new = Access(node, writes, start, start + size, queue)
        written = {
            byte for old in self.accesses if old.writes for byte in range(old.start, old.end)
        }
        races = any(
            old.start < new.end
            and new.start < old.end
            and (old.writes or new.writes)
            and not self.reaches(old.node, node)
            and not (queue[0] == "U" and old.queue == queue)
            for old in self.accesses
        )
        self.accesses.append(new)
        if races:
            return "race"
        return "" if writes or written.issuperset(range(start, start + size)) else "unwritten"

    def wait(self, thread: int, *queues: str) -> None:
        """The thread waits for the copies of these queues."""
        step = self.step(thread)
        for queue in queues:
            for each in self.pending.pop((queue, thread), []):
                self.successors[each].add(step)

    def copy(self, thread: int, source: int, size: int, target: int, queues: str) -> str:
        """An asynchronous copy: two accesses behind the call."""
        step = self.step(thread)
        reading, writing = self.node(step), self.node(step)
        read_queue, write_queue = (queues[0], thread), (queues[1], thread)
        self.pending.setdefault(read_queue, []).append(reading)
        self.pending.setdefault(write_queue, []).append(writing)
        result = self.access(reading, False, source, size, read_queue)
        return result or self.access(writing, True, target, size, write_queue)

    def event(self, event: Event) -> str:
        """Do an event and say what is wrong with it."""
        kind, thread, start, size, other = event
        match kind:
            case "read" | "write":
                writes = kind == "write"
                return self.access(self.step(thread), writes, start, size, ("T", thread))
            case "copy in":
                return self.copy(thread, start, size, other, "RR")
            case "copy out":
                return self.copy(thread, start, size, other, "SU")
            case "read barrier" | "write barrier" | "flush":
                self.barrier(kind, thread)
            case _:
                self.hand_over(kind, thread, other % POINTS)
        return ""

    def barrier(self, kind: str, thread: int) -> None:
        """A thread waits for copies of a kind."""
        match kind:
            case "read barrier":
                self.wait(thread, "R")
            case "write barrier":
                self.wait(thread, "S", "U")
                self.flushed.pop(thread, None)
            case _:
                self.wait(thread, "S")
                self.flushed[thread] = list(self.pending.get(("U", thread), []))

    def hand_over(self, kind: str, thread: int, point: int) -> None:
        """A thread tells, or learns."""
        match kind:
            case "acquire":
                step = self.step(thread)
                for each in self.released.get(point, []):
                    self.successors[each].add(step)
            case "put":
                self.queue += [self.step(0)] * (1 + point)
            case "take":
                step = self.step(1)
                for each in self.queue[: self.taken + 1 + point]:
                    self.successors[each].add(step)
                self.taken += 1 + point
            case _:
                before = [self.step(thread)]
                if kind == "release behind":
                    before += self.pending.get(("U", thread), [])
                    before += self.pending.get(("S", thread), [])
                elif kind == "release behind flushed":
                    before += self.flushed.get(thread, [])
                self.released.setdefault(point, []).append(self.node(*before))


class Subject:
    """The same events on the code under test."""

    def __init__(self) -> None:
        """Threads, agents and sync points of one program."""
        timeline = Timeline()
        timeline.begin()
        self.threads: list[Thread] = []
        self.agents: list[tuple[Agent, Agent, Agent]] = []
        for _ in range(THREADS):
            thread = timeline.thread()
            self.threads.append(thread)
            agents = timeline.agent(thread), timeline.agent(thread)
            self.agents.append((*agents, timeline.agent(thread, in_order=True)))
        self.points = [timeline.clock() for _ in range(POINTS)]
        self.shadow = Shadow()
        self.queue = HandOver()
        self.taken = 0

    def event(self, event: Event) -> str:
        """Do an event and say what is wrong with it."""
        kind, index, start, size, other = event
        thread, (reads, sources, targets) = self.threads[index], self.agents[index]
        match kind:
            case "read":
                return verdict(self.shadow.read(start, size, thread, None))
            case "write":
                return verdict(self.shadow.write(start, size, thread, None))
            case "copy in":
                result = verdict(self.shadow.read(start, size, reads, None))
                return result or verdict(self.shadow.write(other, size, reads, None))
            case "copy out":
                result = verdict(self.shadow.read(start, size, sources, None))
                return result or verdict(self.shadow.write(other, size, targets, None))
            case "read barrier":
                reads.finish()
            case "write barrier":
                sources.finish()
                targets.finish()
            case "flush":
                sources.finish()
                targets.flush()
            case _:
                self.hand_over(kind, thread, (sources, targets), other % POINTS)
        return ""

    def hand_over(
        self, kind: str, thread: Thread, writers: tuple[Agent, Agent], number: int
    ) -> None:
        """A thread tells, or learns."""
        point = self.points[number]
        match kind:
            case "acquire":
                thread.acquire(point)
            case "release":
                thread.release(point)
            case "put":
                self.queue.put(self.threads[0], 1 + number)
            case "take":
                self.taken += 1 + number
                self.queue.take_until(self.threads[1], self.taken)
            case _:
                thread.release(point)
                for agent in writers if kind == "release behind" else ():
                    thread.release_after(point, agent)
                if kind == "release behind flushed":
                    thread.release_flushed(point, writers[1])


def verdict(conflict: Conflict | Unwritten | None) -> str:
    """The word that the oracle uses."""
    match conflict:
        case None:
            return ""
        case Unwritten():
            return "unwritten"
        case Conflict():
            return "race"


@settings(max_examples=100, deadline=None)
@given(st.lists(EVENTS, min_size=40, max_size=80))
def test_events_are_judged_as_by_reachability(events: list[Event]) -> None:
    """Every event after a history without races is judged as the oracle judges it."""
    oracle, subject = Oracle(), Subject()
    history: list[Event] = []
    for event in events:
        before = len(oracle.accesses)
        expected = oracle.event(event)
        found = subject.event(event)
        assert found == expected, event
        if expected != "race":
            history.append(event)
            continue
        # What follows a race may be judged either way, so it is taken back.
        del oracle.accesses[before:]
        subject = Subject()
        for each in history:
            subject.event(each)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 20), st.booleans()), max_size=40))
def test_cells_never_overlap(accesses: list[tuple[int, int, bool]]) -> None:
    """Whatever is accessed, cells are sorted, apart, and cover the accessed bytes."""
    subject = Subject()
    touched: set[int] = set()
    for start, size, writes in accesses:
        access = subject.shadow.write if writes else subject.shadow.read
        access(start, size, subject.threads[start % THREADS], None)
        touched.update(range(start, start + size))
    cells = list(subject.shadow.cells())
    covered = [byte for cell in cells for byte in range(cell.start, cell.end)]
    assert covered == sorted(touched)


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 20), st.booleans()), max_size=20),
    st.integers(0, 30),
    st.integers(1, 5),
    st.integers(1, 6),
)
def test_pages_written_at_once_are_as_one_by_one(
    accesses: list[tuple[int, int, bool]], address: int, size: int, pages: int
) -> None:
    """By the host, over whatever was accessed before."""
    both = Subject(), Subject()
    for subject in both:
        for start, length, writes in accesses:
            access = subject.shadow.write if writes else subject.shadow.read
            access(start, length, subject.threads[start % THREADS], None)
    together, single = both
    together.shadow.preset(address, size, together.threads[0], pages)
    for page in range(pages):
        single.shadow.preset(address + size * page, size, single.threads[0])

    def histories(subject: Subject) -> list[tuple[int, int, int | None, bool]]:
        return [
            (*(cell.start, cell.end), cell.writer and cell.writer.index, cell.reader is None)
            for cell in subject.shadow.cells()
        ]

    assert histories(together) == histories(single)


def test_words_in_a_row_share_a_cell() -> None:
    """Filling a page word by word leaves one cell; the last word that is read keeps its own."""
    subject = Subject()
    for address in range(0, 4096, 4):
        subject.shadow.write(address, 4, subject.threads[0], None)
    assert len(list(subject.shadow.cells())) == 1
    for address in range(0, 4096, 4):
        assert subject.shadow.read(address, 4, subject.threads[0], None) is None
    assert [cell.start for cell in subject.shadow.cells()] == [0, 4092]


def test_a_conflict_names_the_bytes_and_the_other_access() -> None:
    """The first cell that conflicts is reported with its actor, its time and its place."""
    subject = Subject()
    code = test_a_conflict_names_the_bytes_and_the_other_access.__code__
    first, second = subject.threads[:2]
    subject.shadow.write(0, 64, first, (code, 2))
    subject.shadow.write(64, 64, first, (code, 4))
    conflict = subject.shadow.read(32, 64, second, None)
    assert conflict == Conflict(True, first, first.time, (code, 2), 32, 64)
    assert subject.shadow.write(100, 4, second, None) == Conflict(
        True, first, first.time, (code, 4), 100, 104
    )


def test_copies_that_are_not_waited_for_can_be_found() -> None:
    """`writing` and `reading` see the copies under way, and nothing after the barrier."""
    subject = Subject()
    reads, sources, _ = subject.agents[0]
    subject.shadow.write(0, 256, subject.threads[0], None)
    subject.shadow.write(64, 32, reads, None)
    subject.shadow.read(128, 32, sources, None)
    cell = subject.shadow.writing(32, 64, reads)
    assert cell is not None
    assert (cell.start, cell.end) == (64, 96)
    assert subject.shadow.writing(96, 64, reads) is None
    assert subject.shadow.reading(0, 128, sources) is None
    found = subject.shadow.reading(128, 8, sources)
    assert found is not None
    assert found[0].start == 128
    reads.finish()
    sources.finish()
    assert subject.shadow.writing(32, 64, reads) is None
    assert subject.shadow.reading(128, 8, sources) is None


def test_forgotten_bytes_are_unwritten() -> None:
    """A freed buffer leaves nothing behind; its neighbours keep what they have."""
    subject = Subject()
    thread = subject.threads[0]
    subject.shadow.write(0, 256, thread, None)
    subject.shadow.forget(64, 64)
    assert subject.shadow.read(0, 64, thread, None) is None
    assert subject.shadow.read(32, 64, thread, None) == Unwritten(64, 96)
    assert subject.shadow.read(128, 128, thread, None) is None


def test_the_next_program_knows_all_of_the_last_one() -> None:
    """Programs run one after the other, whatever their numbers of threads."""
    timeline, shadow = Timeline(), Shadow()
    for count in (4, 40, 3):
        timeline.begin()
        threads = [timeline.thread() for _ in range(count)]
        for index, thread in enumerate(threads):
            for _ in range(index):
                thread.release(timeline.clock())
            assert shadow.write(index * 16, 16, thread, None) is None
            assert shadow.read(index * 16, 16, thread, None) is None
        assert shadow.write(0, 16, threads[1], None) is not None


def test_actors_that_join_late_are_known() -> None:
    """Clocks grow without losing what they know."""
    timeline, shadow = Timeline(), Shadow()
    timeline.begin()
    first, second = timeline.thread(), timeline.thread()
    point = timeline.clock()
    agents = [timeline.agent(first) for _ in range(50)]
    shadow.write(0, 16, first, None)
    shadow.write(16, 16, agents[-1], None)
    first.release(point)
    second.acquire(point)
    assert shadow.read(0, 16, second, None) is None
    assert shadow.read(16, 16, second, None) is not None
    agents[-1].finish()
    first.release(point)
    second.acquire(point)
    assert shadow.read(16, 16, second, None) is None


def test_settled_readers_do_not_race() -> None:
    """What is settled is forgotten; the bytes stay written."""
    subject = Subject()
    first, second = subject.threads[:2]
    subject.shadow.write(0, 64, first, None)
    first.release(subject.points[0])
    subject.shadow.read(0, 64, first, None)
    second.acquire(subject.points[0])
    subject.shadow.settle()
    assert subject.shadow.write(0, 64, second, None) is None
    assert subject.shadow.read(0, 64, second, None) is None
