"""When what cores did happened: their threads' clocks, from records of what they wait for.

A record has what a thread does that others may notice or that takes as long as others let it:
hand-overs of pages, registers and results, transactions, barriers; and the cycles in between. All
cores of a group share the records of their kernels, save for whom their transactions go to.
`replay` runs the records of all threads in the order of the scheduler, with the rules of the calls
that it names, so that the bookings of the networks are made in the same order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

from ttmlir.optable.kernel import Role
from ttmlir.sim.execution.scheduler import FOREVER, SLACK
from ttmlir.sim.machine.memory import COUNTER_MASK, CircularBuffer
from ttmlir.sim.machine.registers import SOURCE_BANKS
from ttmlir.sim.machine.word_times import WordTimes
from ttmlir.sim.sanitizer.regular import IrregularError
from ttmlir.sim.timing.costs import block_end, lost_to_networks
from ttmlir.sim.timing.noc_model import NocModel

(
    WAIT,
    POP,
    RESERVE,
    PUSH,
    READ,
    WRITE,
    BARRIER,
    FILL,
    USE,
    USE_BLOCK,
    ACQUIRE,
    COMMIT,
    TAKE,
    RELEASE,
    PAUSE,
    SET,
    AWAIT,
    INCREMENT,
    MULTICAST,
    ASK,
) = range(20)


class WrongAnswerError(Exception):
    """Clocks say something else than a kernel was told, which records what it did then."""


NO_WORDS: Mapping[int, int] = {}
"""Of cores without semaphores."""

Cycles = tuple[int, int, int | None]
"""What passes between two steps: cycles of the processor (`KernelThread.step`), then, if units are
busy (`occupy`), what that adds to the clock, and how far the processor is ahead then."""

Step = tuple[int, Any, int, int, int, int, int | None]
"""What is done, with up to three arguments, and the `Cycles` that pass after it:

- WAIT, POP, RESERVE, PUSH: circular buffer, pages
- READ, WRITE: coordinates of the other end for each core, bytes, network
- BARRIER: name of the call and kind, network
- FILL (SrcA and SrcB): cycles that it takes, when the first operands of several are there, banks
- USE: cycles that it takes
- USE_BLOCK: cycles of a product, how many of them
- ACQUIRE, COMMIT, TAKE, RELEASE (DST), PAUSE: nothing
- SET: address of a word of the core, value
- AWAIT: address and whether it is waited for exactly, value
- INCREMENT: for each core the coordinate of the word's core and its address, amount, network
- MULTICAST: for each core the coordinates of the receivers; address there; address of the word that
  is sent, None for pages; whether it is linked (together the first argument), bytes, network
- ASK: circular buffer, whether for filled pages or free ones, and what was told (together the first
  argument), pages
"""


class _Word:
    """What times say of the word of a semaphore."""

    __slots__ = ("times", "value", "waiters")

    def __init__(self, value: int) -> None:
        self.value = value
        self.times = WordTimes()
        self.waiters: list[TimedThread] = []

    def change(self, value: int, time: int, *, added: int = 0) -> list[TimedThread]:
        """It has a value from a time on, by an addition where something was `added`; who waits."""
        self.value = value & 0xFFFF_FFFF
        self.times.change(self.value, time, added=added)
        waiters, self.waiters = self.waiters, []
        return waiters


class _Queue:
    """What times say of a circular buffer: see `CircularBuffer`."""

    __slots__ = ("acked", "makers", "num_pages", "pops", "pushes", "received", "takers")

    def __init__(self, num_pages: int) -> None:
        self.num_pages = num_pages
        self.received: int = 0
        self.acked: int = 0
        self.pushes: list[int] = [0] * num_pages
        self.pops: list[int] = [0] * num_pages
        self.takers: list[TimedThread] = []
        self.makers: list[TimedThread] = []


class TimedCore:
    """The hand-overs on a core: those of `SourceRegisters` and `DestinationRegisters`."""

    __slots__ = (
        *("banks", "committed", "coordinate", "dst_times", "freed", "idle_since", "lane"),
        *("math", "math_half", "pack", "pack_half", "passed", "queues", "source_math"),
        *("source_unpack", "words"),
    )

    def __init__(
        self,
        coordinate: tuple[int, int],
        lane: int,
        cbs: dict[int, CircularBuffer],
        halves: int,
        words: Mapping[int, int] = NO_WORDS,
    ) -> None:
        """Nothing has happened; `lane` is the place of the core in its group.

        `words` are the values of its semaphores, by address.
        """
        self.coordinate = coordinate
        self.lane = lane
        self.words = {address: _Word(value) for address, value in words.items()}
        self.queues = {index: _Queue(cb.num_pages) for index, cb in cbs.items()}
        self.passed: int = 0
        self.idle_since: int = 0
        self.banks: deque[tuple[int, int]] = deque()
        self.freed: deque[int] = deque([0] * SOURCE_BANKS)
        self.dst_times: list[int] = [0] * halves
        self.committed: int = 0
        self.math_half: int = 0
        self.pack_half: int = 0
        self.source_math: TimedThread | None = None
        self.source_unpack: TimedThread | None = None
        self.math: TimedThread | None = None
        self.pack: TimedThread | None = None


class TimedThread:
    """A thread with its record, and how far it is."""

    __slots__ = (
        *("ahead", "answers", "clock", "core", "done", "index", "place", "queued", "stalls"),
        "steps",
    )

    def __init__(self, index: int, core: TimedCore, steps: Sequence[Step]) -> None:
        """At cycle 0."""
        self.index = index
        self.core = core
        self.steps = steps
        self.place: int = 0
        self.clock: int = 0
        self.ahead: int = 0
        self.stalls: dict[str, int] = {}
        self.queued = True
        self.answers: list[tuple[bool, bool]] = []
        """To what it asked: what is right, and what it was told."""
        self.done: dict[str, list[int]] = {
            kind: [0, 0] for kind in ("read", "write", "flush", "atomic")
        }
        """By kind of barrier and network: when all that it waits for is over."""


def replay(  # noqa: C901 - one case for each kind, in place: calls take as long as the rest
    threads: Sequence[TimedThread], networks: NocModel, limit: int
) -> None:
    """Find the clocks and stalls of all threads at their ends.

    Raises IrregularError if they wait for each other, or take more than `limit` cycles, and
    WrongAnswerError where kernels were told something else than `answers` say.
    """
    ready: list[tuple[int, int, TimedThread]] = [(0, each.index, each) for each in threads]
    cores = {each.core.coordinate: each.core for each in threads}
    while ready:
        _, _, thread = heappop(ready)
        clock: int = thread.clock
        ahead: int = thread.ahead
        if clock > limit:
            raise IrregularError
        thread.queued = False
        next_clock = ready[0][0] if ready else FOREVER
        horizon: int = min(next_clock + SLACK, limit)
        core, steps = thread.core, thread.steps
        queues, stalls = core.queues, thread.stalls
        is_blocked = False
        woken: Sequence[TimedThread] = ()
        place = end = len(steps)
        for place in range(thread.place, end):
            kind, first, second, third, before, busy, left = steps[place]
            if kind == WAIT:
                queue, pages = queues[first], second
                if (queue.received - queue.acked) & COUNTER_MASK < pages:
                    queue.takers.append(thread)
                    is_blocked = True
                    break
                if pages > 0:
                    since = queue.pushes[(queue.acked + pages - 1) % queue.num_pages]
                    if since > clock:
                        stalls["cb_wait_front"] = stalls.get("cb_wait_front", 0) + since - clock
                        clock = since
                        ahead = 0
                    elif since > clock - ahead:
                        ahead = clock - since
            elif kind == POP:
                queue = queues[first]
                if second == 1:
                    queue.pops[queue.acked % queue.num_pages] = clock
                else:
                    for page in range(queue.acked, queue.acked + second):
                        queue.pops[page % queue.num_pages] = clock
                queue.acked += second
                if queue.makers:
                    woken, queue.makers = queue.makers, []
            elif kind == RESERVE:
                queue, pages = queues[first], second
                if (queue.num_pages - queue.received + queue.acked) & COUNTER_MASK < pages:
                    queue.makers.append(thread)
                    is_blocked = True
                    break
                if pages > 0:
                    since = queue.pops[(queue.received + pages - 1) % queue.num_pages]
                    if since > clock:
                        stalls["cb_reserve_back"] = stalls.get("cb_reserve_back", 0) + since - clock
                        clock = since
                        ahead = 0
                    elif since > clock - ahead:
                        ahead = clock - since
            elif kind == PUSH:
                queue = queues[first]
                if second == 1:
                    queue.pushes[queue.received % queue.num_pages] = clock
                else:
                    for page in range(queue.received, queue.received + second):
                        queue.pushes[page % queue.num_pages] = clock
                queue.received += second
                if queue.takers:
                    woken, queue.takers = queue.takers, []
            elif kind == READ:
                if clock > horizon:
                    break
                noc, place_there = third, first[core.lane]
                clock, arrived = networks.read(clock, core.coordinate, place_there, second, noc)
                done = thread.done["read"]
                if arrived > done[noc]:
                    done[noc] = arrived
                core.passed += second
                other_end = cores.get(place_there)
                if other_end is not None:
                    other_end.passed += second
            elif USE <= kind <= USE_BLOCK:
                banks = core.banks
                if not banks:
                    core.source_math = thread
                    is_blocked = True
                    break
                since, last = banks.popleft()
                if since > clock:
                    stalls["src"] = stalls.get("src", 0) + since - clock
                    clock = since
                if kind == USE:
                    ahead = first
                    clock += ahead
                else:
                    end_of_all, free = block_end(clock, since, last, second, first)
                    ahead = end_of_all - clock
                    stalls["src"] = stalls.get("src", 0) + ahead - second * first
                    clock = end_of_all
                    core.freed.append(free)
                core.freed.append(clock)
                if core.source_unpack is not None:
                    woken = (core.source_unpack,)
                    core.source_unpack = None
            elif kind == FILL:
                freed = core.freed
                if len(freed) < third:
                    core.source_unpack = thread
                    is_blocked = True
                    break
                since = freed.popleft()
                if third > 1:
                    freed.popleft()
                if since > clock:
                    stalls["src"] = stalls.get("src", 0) + since - clock
                    clock = since
                ahead = first
                if core.passed:
                    idle = clock - core.idle_since
                    lost, core.passed = lost_to_networks(core.passed, idle, ahead)
                    ahead += lost
                since = clock + second
                clock += ahead
                core.idle_since = clock
                core.banks.append((since if second else clock, clock))
                if core.source_math is not None:
                    woken = (core.source_math,)
                    core.source_math = None
            elif kind == BARRIER:
                call, kind_of_copies = first
                since = thread.done[kind_of_copies][second]
                if since > clock:
                    stalls[call] = stalls.get(call, 0) + since - clock
                    clock = since
            elif kind == WRITE:
                if clock > horizon:
                    break
                noc, place_there = third, first[core.lane]
                clock, departed, _, answered = networks.write(
                    clock, core.coordinate, place_there, second, noc
                )
                flushed, written = thread.done["flush"], thread.done["write"]
                flushed[noc] = max(flushed[noc], departed)
                written[noc] = max(written[noc], answered)
                core.passed += second
                other_end = cores.get(place_there)
                if other_end is not None:
                    other_end.passed += second
            elif kind == ACQUIRE:
                if core.committed == len(core.dst_times):
                    core.math = thread
                    is_blocked = True
                    break
                since = core.dst_times[core.math_half]
                if since > clock:
                    stalls["dst"] = stalls.get("dst", 0) + since - clock
                    clock = since
                    ahead = 0
            elif kind == COMMIT:
                times = core.dst_times
                times[core.math_half] = clock
                core.committed = min(core.committed + 1, len(times))
                core.math_half = (core.math_half + 1) % len(times)
                if core.pack is not None:
                    woken = (core.pack,)
                    core.pack = None
            elif kind == TAKE:
                if core.committed == 0:
                    core.pack = thread
                    is_blocked = True
                    break
                since = core.dst_times[core.pack_half]
                if since > clock:
                    stalls["dst"] = stalls.get("dst", 0) + since - clock
                    clock = since
                    ahead = 0
            elif kind == RELEASE:
                times = core.dst_times
                times[core.pack_half] = clock
                core.committed = max(core.committed - 1, 0)
                core.pack_half = (core.pack_half + 1) % len(times)
                if core.math is not None:
                    woken = (core.math,)
                    core.math = None
            elif kind == AWAIT:
                address, is_exact = first
                word = core.words[address]
                if not (word.value == second or (not is_exact and word.value > second)):
                    word.waiters.append(thread)
                    is_blocked = True
                    break
                since = word.times.last if is_exact else word.times.reached(second, clock)
                if since > clock:
                    call = "noc_semaphore_wait"
                    stalls[call] = stalls.get(call, 0) + since - clock
                    clock = since
                    ahead = 0
                elif since > clock - ahead:
                    ahead = clock - since
            elif kind == SET:
                woken = core.words[first].change(second, clock)
            elif kind == INCREMENT:
                if clock > horizon:
                    break
                place_there, address = first[core.lane]
                clock, _, arrived, answered = networks.atomic(
                    clock, core.coordinate, place_there, third
                )
                added = thread.done["atomic"]
                added[third] = max(added[third], answered)
                word = cores[place_there].words[address]
                woken = word.change(word.value + second, arrived, added=second)
            elif kind == MULTICAST:
                if clock > horizon:
                    break
                receivers, address, source, is_linked = first
                places_there = receivers[core.lane]
                clock, departed, arrived, answered = networks.multicast(
                    clock, core.coordinate, places_there, second, third, is_linked
                )
                flushed, written = thread.done["flush"], thread.done["write"]
                flushed[third] = max(flushed[third], departed)
                written[third] = max(written[third], answered)
                core.passed += second
                for place_there in places_there:
                    receiver = cores[place_there]
                    receiver.passed += second
                    if source is not None:
                        value = core.words[source].value
                        woken = [*woken, *receiver.words[address].change(value, arrived)]
            elif kind == ASK:
                index, is_filled, told = first
                queue = queues[index]
                count = queue.received - queue.acked
                count = (count if is_filled else queue.num_pages - count) & COUNTER_MASK
                thread.answers.append((count >= second, told))
            if woken:
                for other in woken:
                    if other.queued or other is thread:
                        continue
                    other.queued = True
                    horizon = min(horizon, max(other.clock, clock) + SLACK)
                    heappush(ready, (other.clock, other.index, other))
                woken = ()
            before -= ahead
            if before > 0:
                clock += before
                ahead = 0
            else:
                ahead = -before
            if left is not None:
                clock += busy
                ahead = left
        else:
            place = end
        thread.place = place
        thread.clock = clock
        thread.ahead = ahead
        if place < end and not is_blocked:
            thread.queued = True
            heappush(ready, (clock, thread.index, thread))
    if any(answer != told for each in threads for answer, told in each.answers):
        raise WrongAnswerError
    if any(each.place < len(each.steps) or each.clock > limit for each in threads):
        raise IrregularError


@dataclass
class Answers:
    """Whether pages are free or filled when threads ask, in the order of their questions.

    A kernel that asks does one thing or another, so records hold for some answers only. They are
    guessed first; `replay` finds the right ones up to the first that is wrong, and later ones that
    are likely, so another try, which knows these, comes further.
    """

    known: dict[tuple[tuple[int, int], Role], list[bool]] = field(
        default_factory=dict[tuple[tuple[int, int], Role], list[bool]]
    )
    """By logical coordinate of a core and its processor."""

    def find(self, core: tuple[int, int], role: Role, number: int, guess: bool) -> bool:
        """What a thread is told when it asks for the `number`-th time."""
        known = self.known.get((core, role), ())
        return known[number] if number < len(known) else guess

    def learn(self, core: tuple[int, int], role: Role, thread: TimedThread) -> None:
        """Take what clocks said."""
        if thread.answers:
            self.known[core, role] = [answer for answer, _ in thread.answers]
