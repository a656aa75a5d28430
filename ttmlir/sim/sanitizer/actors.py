"""The threads of a program as the sanitizer sees them: what they know, and who copies for them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

from ttmlir.optable.kernel import Role
from ttmlir.sim.findings import Finding, Position
from ttmlir.sim.sanitizer.shadow import Mark
from ttmlir.sim.sanitizer.spaces import Space
from ttmlir.sim.sanitizer.vector_clock import Actor, Agent, Timeline

if TYPE_CHECKING:
    from ttmlir.sim.machine.address_generators import Strays
    from ttmlir.sim.protocols import RunningThread

_frame_above: Callable[[int], FrameType | None] = vars(sys)["_getframe"]
"""The frame of a caller by its distance; `inspect.currentframe` has no way to skip the others,
and to make them takes a tenth of the sanitizer's time."""


class Writers:
    """The agents that write for one thread to one place, or to any rectangle.

    `sources` reads what is sent: it is done when the bytes have left. `targets` writes it: it is
    done when they have arrived.
    """

    __slots__ = ("sources", "targets")

    def __init__(self, sources: Agent, targets: Agent) -> None:
        """No copies are under way."""
        self.sources = sources
        self.targets = targets


AGENTS = 5
"""How many agents `Copies` makes at once."""


class Copies:
    """The agents that copy for one thread on one network under one transaction id.

    Completion comes separately for reads, for the sources of writes (which may be used again once
    the bytes have left), and for their destinations. Writes to one tile arrive in order, and so do
    those to a rectangle, which travel on a virtual channel of their own; writes to different tiles
    do not, and neither do the two kinds. All of one kind leave in order.
    Source: tt-isa-documentation, WormholeB0/NoC/Ordering.md; tt-metal, dataflow_api.h.
    """

    __slots__ = (
        *("_new_agent", "_to_core", "_writers", "atomic_mark", "multicast", "noc", "read_mark"),
        *("reads", "to_dram", "transaction", "write_mark"),
    )

    def __init__(self, new_agent: Callable[[str], Agent], noc: int, transaction: int) -> None:
        """No copies are under way; `new_agent` makes one that does a `read` or a `write`."""
        self._new_agent = new_agent
        self.noc = noc
        self.transaction = transaction
        self.reads = new_agent("read")
        self.to_dram = Writers(new_agent("write"), new_agent("write"))
        """Who writes to DRAM."""
        self.multicast = Writers(new_agent("write"), new_agent("write"))
        self._to_core: dict[Space, Writers] = {}
        """Who writes to the L1 of single cores; they share the agent that reads what is sent."""
        self._writers = [self.to_dram, self.multicast]
        self.read_mark: Mark = None
        self.write_mark: Mark = None
        self.atomic_mark: Mark = None
        """Where the last increment was sent that no barrier has waited for; the others likewise."""

    def writers_to(self, space: Space) -> Writers:
        """Who writes to a memory."""
        if not space.is_core:
            return self.to_dram
        writers = self._to_core.get(space)
        if writers is None:
            writers = Writers(self.to_dram.sources, self._new_agent("write"))
            self._to_core[space] = writers
            self._writers.append(writers)
        return writers

    @property
    def sources(self) -> tuple[Agent, Agent]:
        """Who reads what is sent."""
        return self.to_dram.sources, self.multicast.sources

    @property
    def open_writes(self) -> list[Agent]:
        """Who writes and was not waited for."""
        return [each.targets for each in self._writers if each.targets.busy]

    def finish_reads(self) -> None:
        """All reads have arrived."""
        if self.reads.busy:
            self.reads.finish()

    def finish_writes(self) -> None:
        """All writes have arrived."""
        for writers in self._writers:
            if writers.targets.busy:
                writers.targets.finish()
            if writers.sources.busy:
                writers.sources.finish()

    def flush(self) -> None:
        """All writes have left."""
        for writers in self._writers:
            if writers.targets.busy:
                writers.targets.flush()
        for sources in self.sources:
            if sources.busy:
                sources.finish()


class ThreadState:
    """One thread of the running program."""

    __slots__ = ("actor", "computes", "copies", "kernel_file", "strays", "thread")

    def __init__(self, timeline: Timeline, thread: RunningThread) -> None:
        """A thread that has done nothing yet."""
        self.thread = thread
        self.kernel_file = thread.kernel.file
        self.computes = Role.COMPUTE & thread.role == thread.role
        self.actor = timeline.thread(0 if self.computes else AGENTS)
        self.copies: dict[int, Copies] = {}
        """Who copies for the thread, by transaction id and network."""
        self.strays: Strays = {}

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

            def new_agent(kind: str) -> Agent:
                agent = self.timeline.agent(state.actor, in_order=kind == "write")
                self._owners[agent] = state, kind
                return agent

            copies = state.copies[key] = Copies(new_agent, noc, transaction)
        return copies

    def owner(self, actor: Actor) -> tuple[ThreadState, str]:
        """Whose actor it is, and what it does: `thread`, `read` or `write`."""
        return self._owners[actor]
