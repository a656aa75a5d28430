"""One kernel on one processor of a core: what runs, how far it is, what it waits for."""

from __future__ import annotations

import inspect
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType, GeneratorType, TracebackType
from typing import TYPE_CHECKING, Protocol

from ttmlir.cpp.standard_headers import is_own_text
from ttmlir.optable.kernel import Role
from ttmlir.sim.errors import SimError
from ttmlir.sim.findings import Finding, Position, thread_name
from ttmlir.sim.sources import KernelSources

if TYPE_CHECKING:
    from ttmlir.sim.machine.core import Core
    from ttmlir.sim.machine.memory import Memory
    from ttmlir.sim.protocols import RunningThread, WaitReason


@dataclass(frozen=True)
class KernelSource:
    """The text of a kernel, the file that messages name, and the kernel's own short name."""

    name: str
    file: str
    sources: KernelSources | None = field(repr=False, default=None)
    """The texts that the kernel was made of, once it is compiled."""

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

    `clock` counts cycles and `stalls` how many of them each kind of waiting took. A thread with
    `waiting_for` is blocked until `wake`; `wanted` is how many pages or which value it waits for,
    so that one `WaitReason` serves all waits of its kind. `index` numbers the threads of a program
    without gaps.
    """

    __slots__ = (
        *("arguments", "clock", "common_arguments", "core", "finished", "generator", "index"),
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
        self.stalls: dict[str, int] = {}
        self.waiting_for: WaitReason | None = None
        self.wanted = 0
        self.polling = False
        """It gave way to look at memory again."""
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
        return thread_name(self.core.logical, self.role_name)

    @property
    def logical(self) -> tuple[int, int]:
        """Logical (x, y) of the core."""
        return self.core.logical

    @property
    def l1(self) -> Memory:
        """The L1 of the core."""
        return self.core.l1

    @property
    def role_name(self) -> str:
        """The name of the processor."""
        return self.role.name or ""

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
            self.stalls[kind] = self.stalls.get(kind, 0) + cycles

    def position(self) -> Position:
        """Where the kernel is: in a call if it runs, else where it will go on."""
        generator = self.generator
        if isinstance(generator, GeneratorType) and generator.gi_running:
            frame = inspect.currentframe()
            while frame is not None and not self._is_in_kernel(frame):
                frame = frame.f_back
        else:
            frame = _innermost(generator, self.kernel.file)
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
            detail=detail,
            source_line=self.kernel.line(position),
            severity=severity,
        )

    def error(self, message: str, *, rule: str = "", detail: tuple[str, ...] = ()) -> SimError:
        """An error at the thread's position, to be raised."""
        return SimError.of(self.finding(message, rule=rule, detail=detail))


def _nothing() -> Generator[None, None, None]:
    yield from ()


def _innermost(generator: Generator[None, None, None], file: str) -> FrameType | None:
    """The frame of the innermost generator of a file that a suspended generator is in."""
    frame: FrameType | None = None
    inner: object = generator
    while isinstance(inner, GeneratorType):
        if inner.gi_code.co_filename == file:
            frame = inner.gi_frame or frame
        inner = inner.gi_yieldfrom
    return frame


def _column(code: CodeType, instruction: int, line: int) -> int:
    for index, (start, _, offset, _) in enumerate(code.co_positions()):
        if index == instruction // 2:
            return 0 if offset is None or start != line else offset + 1
    return 0
