"""Runs the threads of a program in turn until all have ended.

Without a seed and with clocks, the thread that is furthest back in time runs next, and it runs
until it blocks or comes to a transaction on the network beyond the *horizon*: the clock of the next
runnable thread plus some slack. Transactions are so issued roughly in the order of time, which is
what sharing of links needs. Without clocks threads take turns. With a seed, the next thread is
drawn at random, and calls that may block sometimes hand over although they need not.
"""

from __future__ import annotations

import inspect
import random
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from types import CodeType, FrameType, GeneratorType, TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from ttmlir.cpp.standard_headers import is_own_text
from ttmlir.limits import CYCLE_ADVICE
from ttmlir.optable.kernel import Role
from ttmlir.sim.errors import (
    CycleLimitError,
    DeadlockError,
    Finding,
    Position,
    SimError,
    thread_name,
)
from ttmlir.sim.options import SimOptions
from ttmlir.sim.protocols import RunningThread
from ttmlir.sim.sources import KernelSources

if TYPE_CHECKING:
    from ttmlir.sim.machine.device import Core
    from ttmlir.sim.machine.memory import Memory
    from ttmlir.sim.protocols import WaitReason


# --- Thread ---------------------------------------------------------------------------------------
# One kernel on one processor of a core: what runs, how far it is, what it waits for.


@dataclass(frozen=True)
class KernelSource:
    """The text of a kernel, the file that messages name, and the kernel's own short name."""

    name: str
    file: str
    sources: KernelSources | None = field(repr=False, default=None)
    """The texts that the kernel was made of, once it is compiled."""

    @property
    def own_files(self) -> frozenset[int]:
        """Numbers of files whose code is the package's own."""
        return frozenset() if self.sources is None else self.sources.own_files

    def position(self, code_line: int, column: int) -> Position:
        """The place that a line of the compiled code stands for."""
        if self.sources is None:
            return Position(self.file, code_line, column)
        return Position(*self.sources.place(code_line), column)

    def line(self, position: Position) -> str:
        """The line of a place; empty if it is in none of the texts."""
        return "" if self.sources is None else self.sources.line(position.file, position.line)


class ThreadScheduler(Protocol):
    """What threads and their calls know of the scheduler that runs them."""

    @property
    def limit(self) -> int:
        """The clock beyond which a thread gives way, so that the program can be stopped."""
        ...

    @property
    def horizon(self) -> int:
        """The clock beyond which a thread gives way before it issues a transaction."""
        ...

    @property
    def next_clock(self) -> int:
        """The clock of the thread that runs next, as far as it is known."""
        ...

    progress: int
    """Counts what others may wait for: stores, transactions, wake-ups, ends of threads."""

    def ready(self, thread: KernelThread) -> None:
        """Let a blocked thread run again."""
        ...

    def wake(self, threads: list[RunningThread]) -> None:
        """Let blocked threads run again, and empty their waiting list."""
        ...


class KernelThread:
    """A kernel's generator and its state.

    `clock` counts cycles and `stalls` how many of them each kind of waiting took. A compute thread
    hands calls over to its units: its clock is that of the units, and `ahead` is how many cycles
    before that the processor is free. A thread with
    `waiting_for` is blocked until `wake`; `wanted` is how many pages or which value it waits for,
    so that one `WaitReason` serves all waits of its kind. `index` numbers the threads of a program
    without gaps.
    """

    __slots__ = (
        *(
            "ahead",
            "arguments",
            "clock",
            "common_arguments",
            "core",
            "finished",
            "generator",
            "index",
        ),
        "is_endless",
        *("kernel", "origin", "polling", "queued", "resume", "role", "scheduler", "stalls"),
        "waiting_for",
        "wanted",
    )

    def __init__(
        self,
        core: Core,
        role: Role,
        kernel: KernelSource,
        index: int = 0,
        *,
        scheduler: ThreadScheduler | None = None,
        arguments: Sequence[int] = (),
        common_arguments: Sequence[int] = (),
        origin: tuple[int, int] = (0, 0),
    ) -> None:
        """A thread that has not started; `start` gives it something to run.

        The arguments are the run-time arguments, as 32-bit words; `origin` is the first core that
        the kernel runs on.
        """
        self.core = core
        self.role = role
        self.kernel = kernel
        self.index = index
        self.clock = 0
        self.ahead = 0
        self.stalls: dict[str, int] = {}
        self.waiting_for: WaitReason | None = None
        self.wanted = 0
        self.polling = False
        """It gave way to look at memory again."""
        self.is_endless = False
        """It last gave way in a loop that nothing leaves."""
        self.finished = False
        self.queued = False
        self.scheduler = scheduler
        self.arguments = [argument & 0xFFFF_FFFF for argument in arguments]
        self.common_arguments = [argument & 0xFFFF_FFFF for argument in common_arguments]
        self.origin = origin
        self.start(_nothing())

    def start(self, generator: Generator[None, None, None]) -> None:
        """Set what the thread runs."""
        self.generator = generator
        self.resume = generator.__next__

    @property
    def name(self) -> str:
        """How messages name the thread: `core (0, 0) BRISC`."""
        return thread_name(self.core.logical, self.role_name, self.core.device)

    @property
    def logical(self) -> tuple[int, int]:
        """Logical (x, y) of the core."""
        return self.core.logical

    @property
    def device(self) -> int | None:
        """The number of the chip, where several run together."""
        return self.core.device

    @property
    def l1(self) -> Memory:
        """The L1 of the core."""
        return self.core.l1

    @property
    def role_name(self) -> str:
        """The name of the processor."""
        return self.core.role_name(self.role)

    def wait(self, reason: WaitReason, wanted: int) -> None:
        """Note what the thread waits for; whoever provides it calls `wake`."""
        self.waiting_for = reason
        self.wanted = wanted

    def wake(self) -> None:
        """Let the thread run again, to look whether it has got what it waits for."""
        if self.scheduler is not None:
            self.scheduler.ready(self)

    def wait_until(self, clock: int, kind: str) -> None:
        """Advance the clock to this time, if it is later, and count the cycles as a stall."""
        cycles = clock - self.clock
        if cycles > 0:
            self.clock = clock
            self.ahead = 0
            self.stalls[kind] = self.stalls.get(kind, 0) + cycles
        elif -cycles < self.ahead:
            self.ahead = -cycles

    def occupy(self, cycles: int) -> None:
        """Hand a call over to a unit that takes so long.

        The processor goes on when the unit begins with it.
        """
        self.clock += cycles
        self.ahead = cycles

    def step(self, cycles: int) -> None:
        """Run instructions of so many cycles, which pass while the units work."""
        late = cycles - self.ahead
        if late > 0:
            self.clock += late
            self.ahead = 0
        else:
            self.ahead = -late

    def position(self) -> Position:
        """Where the kernel is: in a call if it runs, else where it will go on."""
        generator = self.generator
        if isinstance(generator, GeneratorType) and generator.gi_running:
            frame = inspect.currentframe()
            while frame is not None and not self._is_in_kernel(frame):
                frame = frame.f_back
        else:
            frame = self._innermost(generator)
        if frame is None:
            return Position(self.kernel.file, 0, 0)
        return self.kernel.position(
            frame.f_lineno, _column(frame.f_code, frame.f_lasti, frame.f_lineno)
        )

    def _is_in_kernel(self, frame: FrameType) -> bool:
        """Whether a frame is in the kernel or a header of others: not in one of the package's."""
        if frame.f_code.co_filename != self.kernel.file:
            return False
        return not is_own_text(self.kernel.position(frame.f_lineno, 1).file)

    def _innermost(self, generator: Generator[None, None, None]) -> FrameType | None:
        """The frame of the innermost generator of the kernel that a suspended one is in."""
        frame: FrameType | None = None
        inner: object = generator
        while isinstance(inner, GeneratorType):
            found: FrameType | None = inner.gi_frame
            if found is not None and self._is_in_kernel(found):
                frame = found
            inner = inner.gi_yieldfrom
        return frame

    def position_in(self, traceback: TracebackType | None) -> Position:
        """Where in the kernel an exception passed, innermost first."""
        found = Position(self.kernel.file, 0, 0)
        while traceback is not None:
            code = traceback.tb_frame.f_code
            if code.co_filename == self.kernel.file:
                line = traceback.tb_lineno
                place = self.kernel.position(line, _column(code, traceback.tb_lasti, line))
                found = found if is_own_text(place.file) else place
            traceback = traceback.tb_next
        return found

    def finding(
        self, message: str, *, rule: str = "", detail: tuple[str, ...] = (), severity: str = "error"
    ) -> Finding:
        """A finding at the thread's position."""
        position = self.position()
        return Finding(
            message=message,
            rule=rule,
            file=position.file,
            line=position.line,
            column=position.column,
            core=self.core.logical,
            role=self.role_name,
            device=self.core.device,
            detail=detail,
            source_line=self.kernel.line(position),
            severity=severity,
        )

    def error(self, message: str, *, rule: str = "", detail: tuple[str, ...] = ()) -> SimError:
        """An error at the thread's position, to be raised."""
        return SimError.of(self.finding(message, rule=rule, detail=detail))


def _nothing() -> Generator[None, None, None]:
    yield from ()


def _column(code: CodeType, instruction: int, line: int) -> int:
    for index, (start, _, offset, _) in enumerate(code.co_positions()):
        if index == instruction // 2:
            return 0 if offset is None or start != line else offset + 1
    return 0


# --- Scheduler ------------------------------------------------------------------------------------

SLACK = 200
"""Cycles that a thread may be ahead of the others when it issues a transaction: the latency of a
transaction, below which the order can hardly matter (tt-npe, wormhole_b0.hpp: 154 to 270)."""

FOREVER = 1 << 62

_SPINS = 50_000
"""Turns in a row in which threads only looked at memory, before it is held that nothing changes."""

_CHECK_EVERY = 4096
"""Turns between two looks at the limit of cycles."""


class _Queue(Protocol):
    """Threads that can run, in the order in which they will."""

    def push(self, thread: KernelThread, /) -> None: ...
    def take(self) -> KernelThread: ...
    def __len__(self) -> int: ...


class _Turns(deque[KernelThread]):
    """First come, first served."""

    push = deque[KernelThread].append
    take = deque[KernelThread].popleft


class _ByClock(list[tuple[int, int, KernelThread]]):
    """The thread with the smallest clock first, of several the one with the lowest index."""

    def push(self, thread: KernelThread, /) -> None:
        heappush(self, (thread.clock, thread.index, thread))

    def take(self) -> KernelThread:
        return heappop(self)[2]

    def next_clock(self) -> int:
        return self[0][0] if self else FOREVER


class _Drawn(list[KernelThread]):
    """Any thread, by a generator of random numbers."""

    push = list[KernelThread].append

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self._chance = chance

    def take(self) -> KernelThread:
        index = self._chance.randrange(len(self))
        self[index], self[-1] = self[-1], self[index]
        return self.pop()


class Scheduler:
    """Runs threads; `horizon` and `current` are for the calls that the running thread makes."""

    def __init__(self, options: SimOptions, on_idle: Callable[[], bool] = lambda: False) -> None:
        """`on_idle` is asked before a deadlock is declared: True if it made something happen."""
        self.options = options
        self.current: KernelThread | None = None
        self.limit = options.cycle_limit if options.timed else FOREVER
        """The clock beyond which a thread gives way, so that the program can be stopped."""
        self.horizon = self.limit
        self.next_clock = FOREVER
        """The clock of the thread that runs next, as far as it is known."""
        self.progress = 0
        """Counts what others may wait for: stores, transactions, wake-ups, ends of threads."""
        self._on_idle = on_idle
        self._chance = (
            None if options.schedule_seed is None else random.Random(options.schedule_seed)
        )
        self._by_clock = _ByClock() if options.timed and self._chance is None else None
        self._queue: _Queue
        if self._by_clock is not None:
            self._queue = self._by_clock
        elif self._chance is not None:
            self._queue = _Drawn(self._chance)
        else:
            self._queue = _Turns()

    def ready(self, thread: KernelThread) -> None:
        """Let a blocked thread run again."""
        if thread.queued or thread.finished or thread is self.current:
            return
        thread.queued = True
        thread.waiting_for = None
        self.progress += 1
        if self._by_clock is not None and self.current is not None:
            # It is woken by something that happens now, so it will hardly go on earlier.
            self.horizon = min(self.horizon, max(thread.clock, self.current.clock) + SLACK)
        self._queue.push(thread)

    def wake(self, threads: list[RunningThread]) -> None:
        """Let blocked threads run again, and empty their waiting list."""
        while threads:
            threads.pop(0).wake()

    def interleave(self, api: object, blocking: Iterable[str]) -> None:
        """With a seed: let these calls of an API hand over to other threads now and then."""
        if self._chance is None:
            return
        for name in sorted(blocking):
            setattr(api, name, _interrupted(getattr(api, name), self._chance))

    def run(self, threads: Sequence[KernelThread]) -> None:
        """Run until every thread has ended.

        Raises DeadlockError if threads wait for each other, CycleLimitError if it takes longer than
        the options allow, and what the kernels' own calls raise, with the place in the kernel.
        """
        blocked = self.advance(threads)
        if blocked:
            raise deadlock(blocked)

    def advance(self, threads: Sequence[KernelThread]) -> list[KernelThread]:
        """Run until every thread has ended or none can go on: those that wait for the host.

        They look again when they advance once more. Raises what `run` does but DeadlockError.
        """
        for thread in threads:
            thread.scheduler = self
            self.ready(thread)
        while True:
            self._run_ready(threads)
            blocked = [thread for thread in threads if not thread.finished]
            if not blocked:
                if self.options.timed:
                    self._check_cycles(threads, threads)
                return []
            if not self._on_idle() or not self._queue:
                return blocked

    def _run_ready(self, threads: Sequence[KernelThread]) -> None:
        """Run until no thread can go on."""
        queue = self._queue
        by_clock = self._by_clock
        turns = spins = seen = 0
        while queue:
            thread = queue.take()
            thread.queued = False
            self.current = thread
            if by_clock is not None:
                self.next_clock = by_clock.next_clock()
                self.horizon = min(self.next_clock + SLACK, self.limit)
            try:
                thread.resume()
            except StopIteration:
                thread.finished = True
                self.progress += 1
            except SimError as error:
                raise self._located(error, thread) from None
            self.current = None
            if thread.waiting_for is None and not thread.finished:
                thread.queued = True
                queue.push(thread)
            turns += 1
            if turns % _CHECK_EVERY == 0:
                # Threads that poll are never blocked: a deadlock among them shows as no progress.
                spins = spins + _CHECK_EVERY if self.progress == seen else 0
                seen = self.progress
                self._check_limits(threads, turns, spins)

    def _check_limits(self, threads: Sequence[KernelThread], turns: int, spins: int) -> None:
        running = [thread for thread in threads if not thread.finished]
        if spins >= _SPINS and _all_poll(running) and not self._on_idle():
            raise deadlock(running)
        if self.options.timed:
            self._check_cycles(running, threads)
        else:
            self._check_spent(turns, "turns of its threads", running)

    def _check_cycles(
        self, clocks: Sequence[KernelThread], threads: Sequence[KernelThread]
    ) -> None:
        spent = max((thread.clock for thread in clocks), default=0)
        self._check_spent(spent, "cycles", [each for each in threads if not each.finished])

    def _check_spent(self, spent: int, unit: str, running: Sequence[KernelThread]) -> None:
        limit = self.options.cycle_limit
        if spent > limit:
            error = CycleLimitError(
                f"the program takes more than {limit} {unit}; {CYCLE_ADVICE}",
                rule="cycle-limit",
                related=tuple(_still(thread) for thread in running),
            )
            _place_at_first_note(error)
            raise error

    def _located(self, error: SimError, thread: KernelThread) -> SimError:
        """The error, with the place in the kernel if it does not say one itself."""
        if error.position is None:
            error.position = thread.position_in(error.__traceback__)
            error.source_line = thread.kernel.line(error.position)
        if error.core is None:
            error.core, error.role = thread.core.logical, thread.role_name
            error.device = thread.core.device
        return error


def _all_poll(threads: Sequence[KernelThread]) -> bool:
    """Whether all that can run only look at memory."""
    return all(thread.polling for thread in threads if thread.waiting_for is None)


def deadlock(blocked: Sequence[KernelThread]) -> DeadlockError:
    """The error that lists who waits for what."""
    if all(thread.waiting_for is None and thread.is_endless for thread in blocked):
        text = "a loop never ends: nothing in it leaves it"
    else:
        count = "1 thread waits" if len(blocked) == 1 else f"{len(blocked)} threads wait"
        text = f"deadlock: {count}, and nothing is left that could wake them"
    error = DeadlockError(text, rule="deadlock", related=tuple(map(_waits, _by_blame(blocked))))
    _place_at_first_note(error)
    return error


def _by_blame(blocked: Sequence[KernelThread]) -> list[KernelThread]:
    """Those that others wait for come first.

    Others wait for a compute kernel whose threads wait for each other alone. Of a kernel one of
    which waits for pages the others wait for that one.
    """
    waiting = {
        thread.core
        for thread in blocked
        if thread.role in Role.COMPUTE and not _is_within_kernel(thread)
    }

    def number(thread: KernelThread) -> int:
        if not _is_within_kernel(thread):
            return 1
        return 2 if thread.core in waiting else 0

    return sorted(blocked, key=number)


def _is_within_kernel(thread: KernelThread) -> bool:
    return thread.waiting_for is not None and thread.waiting_for.is_within_kernel


def _place_at_first_note(error: SimError) -> None:
    """Give an error about several threads the place of the first one, whose line is shown once."""
    if not error.related or not error.related[0].file:
        return
    first, *others = error.related
    error.position = Position(first.file, first.line, first.column)
    error.source_line = first.source_line
    error.related = (replace(first, source_line=""), *others)


def _waits(thread: KernelThread) -> Finding:
    if thread.waiting_for is None:
        does = "looks at memory that does not change"
        if thread.is_endless:
            does = "is in a loop that never ends"
        return thread.finding(f"{thread.name} {does}", severity="note")
    what, *detail = thread.waiting_for.describe(thread)
    return thread.finding(f"{thread.name} waits for {what}", detail=tuple(detail), severity="note")


def _still(thread: KernelThread) -> Finding:
    if thread.waiting_for is not None:
        return _waits(thread)
    return thread.finding(f"{thread.name} runs, at cycle {thread.clock}", severity="note")


def _interrupted(call: Callable[..., Any], chance: random.Random) -> Callable[..., Any]:
    """The call, or now and then nothing but False: try again."""

    def interrupted(*arguments: Any, **templates: Any) -> bool:
        return chance.random() >= 0.25 and call(*arguments, **templates)

    return interrupted
