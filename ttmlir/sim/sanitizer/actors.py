"""The threads of a program as the sanitizer sees them: what they know, and who copies for them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

from ttmlir.optable.kernel import Role
from ttmlir.sim.findings import Finding, Position
from ttmlir.sim.sanitizer.shadow import Mark
from ttmlir.sim.sanitizer.vector_clock import Actor, Thread, Timeline

if TYPE_CHECKING:
    from ttmlir.sim.protocols import RunningThread

_frame_above: Callable[[int], FrameType | None] = vars(sys)["_getframe"]
"""The frame of a caller by its distance; `inspect.currentframe` has no way to skip the others,
and to make them takes a tenth of the sanitizer's time."""


class Copies:
    """The agents that copy for one thread on one network under one transaction id.

    Completion comes separately for reads, for the sources of writes (which may be used again once
    the bytes have left), and for their destinations. Writes to one tile and those to a rectangle
    travel on different virtual channels: each kind arrives in order, but not with the other.
    Source: tt-isa-documentation, WormholeB0/NoC/Ordering.md; tt-metal, dataflow_api.h.
    """

    __slots__ = (
        *("atomic_mark", "multicast", "noc", "read_mark", "reads", "sources", "transaction"),
        *("write_mark", "writes"),
    )

    def __init__(self, timeline: Timeline, thread: Thread, noc: int, transaction: int) -> None:
        """No copies are under way."""
        self.noc = noc
        self.transaction = transaction
        self.reads = timeline.agent(thread)
        self.sources = timeline.agent(thread)
        self.writes = timeline.agent(thread, in_order=True)
        self.multicast = timeline.agent(thread, in_order=True)
        self.read_mark: Mark = None
        self.write_mark: Mark = None
        self.atomic_mark: Mark = None
        """Where the last increment was sent that no barrier has waited for; the others likewise."""

    def finish_reads(self) -> None:
        """All reads have arrived."""
        if self.reads.busy:
            self.reads.finish()

    def finish_writes(self) -> None:
        """All writes have arrived."""
        for agent in (self.sources, self.writes, self.multicast):
            if agent.busy:
                agent.finish()

    def flush(self) -> None:
        """All writes have left."""
        if self.sources.busy:
            self.sources.finish()
            self.writes.flush()
            self.multicast.flush()


class ThreadState:
    """One thread of the running program."""

    __slots__ = ("actor", "computes", "copies", "kernel_file", "thread")

    def __init__(self, timeline: Timeline, thread: RunningThread) -> None:
        """A thread that has done nothing yet."""
        self.thread = thread
        self.kernel_file = thread.kernel.file
        self.actor = timeline.thread()
        self.computes = Role.COMPUTE & thread.role == thread.role
        self.copies: dict[int, Copies] = {}
        """Who copies for the thread, by transaction id and network."""

    def mark(self) -> Mark:
        """Where in the kernel the running thread is; cheap, as it is taken at every access.

        A call of the kernel's called the sanitizer's, which called this: frames that are not looked
        at need not be made.
        """
        frame = _frame_above(3)
        file = self.kernel_file
        while frame is not None:
            if frame.f_code.co_filename == file:
                return frame.f_code, frame.f_lasti
            frame = frame.f_back
        return None

    def note(self, mark: Mark, message: str) -> Finding:
        """A note at a place of this thread's kernel."""
        return self.finding_at(mark, message, rule="", severity="note", detail=())

    def finding_at(
        self, mark: Mark, message: str, *, rule: str, severity: str, detail: tuple[str, ...]
    ) -> Finding:
        """A finding at a place where this thread was."""
        kernel = self.thread.kernel
        place = place_of(mark)
        position = Position(self.kernel_file, 0, 0) if place is None else kernel.position(*place)
        return Finding(
            message=message,
            rule=rule,
            file=position.file,
            line=position.line,
            column=position.column,
            core=self.thread.logical,
            role=self.thread.role_name,
            detail=detail,
            source_line=kernel.line(position),
            severity=severity,
        )


def place_of(mark: Mark) -> tuple[int, int] | None:
    """The line of the compiled code and the column that a mark stands for."""
    if mark is None:
        return None
    code, instruction = mark
    for index, (line, _, column, _) in enumerate(code.co_positions()):
        if index == instruction // 2 and line is not None:
            return line, 0 if column is None else column + 1
    return code.co_firstlineno, 0


class ProgramActors:
    """The actors of the running program, and whose they are."""

    def __init__(self) -> None:
        """No program runs."""
        self.timeline = Timeline()
        self.threads: dict[int, ThreadState] = {}
        """By the index of the thread."""
        self._owners: dict[Actor, tuple[ThreadState, str]] = {}

    def begin(self, threads: list[RunningThread]) -> None:
        """Start a program with these threads."""
        self.timeline.begin()
        self._owners.clear()
        self.threads = {thread.index: ThreadState(self.timeline, thread) for thread in threads}
        for state in self.threads.values():
            self._owners[state.actor] = state, "thread"

    def copies(self, state: ThreadState, noc: int, transaction: int) -> Copies:
        """Who copies for a thread on a network under a transaction id."""
        key = transaction << 1 | noc
        copies = state.copies.get(key)
        if copies is None:
            copies = state.copies[key] = Copies(self.timeline, state.actor, noc, transaction)
            self._owners[copies.reads] = state, "read"
            for agent in (copies.sources, copies.writes, copies.multicast):
                self._owners[agent] = state, "write"
        return copies

    def owner(self, actor: Actor) -> tuple[ThreadState, str]:
        """Whose actor it is, and what it does: `thread`, `read` or `write`."""
        return self._owners[actor]
