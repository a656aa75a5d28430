"""Watches what kernels do to memories, circular buffers, semaphores and registers.

The calls of kernels tell the sanitizer of each event, before it takes effect. One object serves a
device; it keeps the histories of all memories, and the order of what happens in the running
program (`vector_clock`). Rules and messages are in the other modules of this package, and on the
page docs/sanitizer.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from ttmlir.errors import plural
from ttmlir.layout.enums import Arch
from ttmlir.optable.kernel import Role
from ttmlir.sim.errors import Finding, Position, Reporter, SanitizerError, SimError
from ttmlir.sim.machine.numerics import TILE_BYTES
from ttmlir.sim.sanitizer.shadow import (
    SLOT,
    Actor,
    Agent,
    Blocks,
    Breach,
    BreachKind,
    BufferState,
    Conflict,
    Destination,
    HandOver,
    Mark,
    PageGrid,
    Space,
    Strays,
    Thread,
    Timeline,
    Unwritten,
    VectorClock,
    WatchedCore,
    WatchedMemory,
)
from ttmlir.sim.sources import LINES_OF_FILE

if TYPE_CHECKING:
    from ttmlir.sim.machine.memory import CircularBuffer, Memory
    from ttmlir.sim.machine.registers import Poison
    from ttmlir.sim.protocols import RunningThread


# --- Actors ---------------------------------------------------------------------------------------
# The threads of a program as the sanitizer sees them: what they know, and who copies for them.

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
    def targets(self) -> list[Agent]:
        """Who writes."""
        return [each.targets for each in self._writers]

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

    __slots__ = (
        *("actor", "computes", "copies", "kernel_file"),
        *("own_files", "packets", "strays", "thread"),
    )

    def __init__(self, timeline: Timeline, thread: RunningThread) -> None:
        """A thread that has done nothing yet."""
        self.thread = thread
        self.kernel_file = thread.kernel.file
        self.own_files = thread.kernel.own_files
        self.computes = Role.COMPUTE & thread.role == thread.role
        self.actor = timeline.thread(0 if self.computes else AGENTS)
        self.copies: dict[int, Copies] = {}
        """Who copies for the thread, by transaction id and network."""
        self.packets: Agent | None = None
        """Who reads what the thread sends as packets."""
        self.strays: Strays = {}

    def mark(self) -> Mark:
        """Where in the kernel the running thread is; cheap, as it is taken at every access.

        A call of the kernel's called the sanitizer's, which called this: frames that are not looked
        at need not be made.
        """
        frame = _frame_above(3)
        file, own = self.kernel_file, self.own_files
        while frame is not None:
            code = frame.f_code
            if code.co_filename == file and not (
                own and code.co_firstlineno // LINES_OF_FILE in own
            ):
                return code, frame.f_lasti
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
            device=self.thread.device,
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
        key = transaction << 8 | noc
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


# --- Buffer rules ---------------------------------------------------------------------------------
# The protocol of circular buffers: who may access, push and pop which pages when.
#
# Source: tt-metal, tt_metal/hw/inc/dataflow_api.h; tech_reports and programming examples for what
# well-formed kernels keep to.

POP_UNFILLED = "pop-unfilled"
"""Leniency: circular buffers on tensors are popped although nobody pushed."""


class BufferRules:
    """Follows the calls on circular buffers and checks accesses to their pages."""

    def __init__(self, program: ProgramActors, reporter: Reporter) -> None:
        """Report to `reporter`, which suppresses the rules that it was told to."""
        self._program = program
        self._reporter = reporter
        self._pop_unfilled = POP_UNFILLED in reporter.leniencies
        self._states: dict[CircularBuffer, BufferState] = {}
        self.spaces: dict[CircularBuffer, Space] = {}

    def begin(self) -> None:
        """Forget the circular buffers of the last program."""
        self._states.clear()
        self.spaces.clear()

    def add(self, buffer: CircularBuffer, space: Space) -> BufferState:
        """Follow a circular buffer of the program."""
        state = self._states[buffer] = BufferState(buffer)
        self.spaces[buffer] = space
        return state

    def reserved(self, thread: RunningThread, buffer: CircularBuffer, pages: int) -> None:
        """`cb_reserve_back` returns."""
        state = self._states[buffer]
        if state.producer is not thread:
            self._produces(thread, state, "cb_reserve_back")
        # What is popped beyond these pages may as well be popped later: nobody may rely on it.
        needed = buffer.received + pages - buffer.num_pages
        popped = state.popped
        if popped.taken < needed:
            popped.take_until(self._program.threads[thread.index].actor, needed)
        size = pages * buffer.page_size
        if size > state.reserved:
            state.reserved = size

    def waited(self, thread: RunningThread, buffer: CircularBuffer, pages: int) -> None:
        """`cb_wait_front` returns."""
        state = self._states[buffer]
        if state.consumer is not thread:
            self._consumes(thread, state, "cb_wait_front")
        state.waits = True
        needed = buffer.acked + pages
        pushed = state.pushed
        if pushed.taken < needed:
            pushed.take_until(self._program.threads[thread.index].actor, needed)
        size = pages * buffer.page_size
        if size > state.waited:
            state.waited = size

    def push(self, thread: RunningThread, buffer: CircularBuffer, pages: int) -> None:
        """`cb_push_back` is called."""
        state = self._states[buffer]
        if state.producer is not thread:
            self._produces(thread, state, "cb_push_back")
        size = pages * buffer.page_size
        if size > state.reserved and (pages > buffer.free or not buffer.aliased):
            self._pushes_unreserved(thread, state, pages)
        mine = self._program.threads[thread.index]
        for copies in mine.copies.values():
            if copies.reads.busy:
                self._pushes_in_flight(mine, state, size)
        state.pushed.put(mine.actor, pages)
        state.reserved = state.reserved - size if state.reserved > size else 0

    def pop(self, thread: RunningThread, buffer: CircularBuffer, pages: int) -> None:
        """`cb_pop_front` is called."""
        state = self._states[buffer]
        if state.consumer is not thread:
            self._consumes(thread, state, "cb_pop_front")
        size = pages * buffer.page_size
        mine = self._program.threads[thread.index]
        if size > state.waited and not (buffer.aliased and self._pop_unfilled):
            self._check_unwaited_pop(mine, state, pages)
        if mine.copies:
            self._pops_in_flight(mine, state, size)
        state.popped.put(mine.actor, pages)
        state.waited = state.waited - size if state.waited > size else 0

    def check_write(self, mine: ThreadState, space: Space, address: int, end: int) -> bool:
        """A thread writes bytes, which may be pages of circular buffers; False if they are not.

        Those of a circular buffer on a tensor belong to the tensor: whoever writes them without
        the protocol is only judged by what orders the threads.
        """
        states = space.buffers(address, end)
        if not states:
            return False
        if mine.computes and end - address > states[0].buffer.page_size:
            self._check_tile(mine, states, end - address)
        for state in states:
            if state.covers_reserved(address, end) or state.covers_waited(address, end):
                return True
            if state.buffer.aliased:
                return False
        self._accesses(mine, states, address, end, "write")
        return True

    def check_read(self, mine: ThreadState, space: Space, address: int, end: int) -> bool:
        """A thread reads bytes, which may be pages of circular buffers; False if they are not.

        Pages that were pushed and that nobody waits for are there if something else has ordered
        the thread after those who wrote them: the wait for what the producer pushed later.
        """
        states = space.buffers(address, end)
        if not states:
            return False
        if mine.computes and end - address > states[0].buffer.page_size:
            self._check_tile(mine, states, end - address)
        for state in states:
            if state.covers_waited(address, end):
                return True
            if state.buffer.aliased:
                return False
            if state.producer is mine.thread and state.covers_reserved(address, end):
                return True
            if mine.thread.l1 is not space.endpoint.memory and state.covers_filled(address, end):
                return True
        by_itself = any(state.producer is mine.thread for state in states)
        if (
            by_itself or any(not each.waits and each.covers_filled(address, end) for each in states)
        ) and space.shadow.is_written_before(address, end - address, mine.actor):
            if not by_itself:
                self._accesses(mine, states, address, end, "ordered read")
            return True
        self._accesses(mine, states, address, end, "read")
        return True

    def _check_tile(self, mine: ThreadState, states: list[BufferState], size: int) -> None:
        """Find circular buffers whose pages are too small for the tiles of their format."""
        for state in states:
            buffer = state.buffer
            if buffer.page_size >= size or TILE_BYTES.get(buffer.data_format) != size:
                return
        buffer = states[0].buffer
        self._report(
            mine.thread,
            states[0],
            "cb-page-size",
            f"pages of circular buffer {buffer.index} have {buffer.page_size} bytes, but a tile of "
            f"{buffer.data_format.schema_name} takes {size}; create it with pages of {size} bytes",
        )

    def end(self) -> None:
        """Warn of what only one thread did without the protocol; note pages that nobody popped."""
        for state in self._states.values():
            for breach in list(state.breaches.values())[:1]:
                if breach.state is state:
                    self._reporter.report(breach.warning)
            buffer = state.buffer
            thread = state.producer
            if thread is None or buffer.aliased or buffer.received == buffer.acked:
                continue
            self._reporter.report(left_over(self._program.threads[thread.index], state))

    def _report(self, thread: RunningThread, state: BufferState, rule: str, message: str) -> None:
        finding = thread.finding(message, rule=rule, detail=(state.describe(),))
        self._reporter.report(finding)

    def _produces(self, thread: RunningThread, state: BufferState, call: str) -> None:
        if state.producer is None:
            state.producer = thread
            self._report_breaches(state)
            return
        self._report(
            thread,
            state,
            "cb-producers",
            f"{call} by {thread.role_name}, but {state.producer.role_name} is the producer of "
            f"circular buffer {state.buffer.index}: each thread has a write pointer of its own, so "
            "they would overwrite each other's pages; let one thread produce",
        )

    def _consumes(self, thread: RunningThread, state: BufferState, call: str) -> None:
        if state.consumer is None:
            state.consumer = thread
            self._report_breaches(state)
            return
        self._report(
            thread,
            state,
            "cb-consumers",
            f"{call} by {thread.role_name}, but {state.consumer.role_name} is the consumer of "
            f"circular buffer {state.buffer.index}: each thread has a read pointer of its own, so "
            "they would take the same pages; let one thread consume",
        )

    def _pushes_unreserved(self, thread: RunningThread, state: BufferState, pages: int) -> None:
        buffer = state.buffer
        self._report(
            thread,
            state,
            "cb-push-unreserved",
            f"cb_push_back of {_pages(pages)} to circular buffer {buffer.index}, of which "
            f"{state.reserved // buffer.page_size} are reserved and {buffer.free} free; call "
            f"cb_reserve_back({buffer.index}, {pages}) before writing them",
        )

    def _check_unwaited_pop(self, mine: ThreadState, state: BufferState, pages: int) -> None:
        """Find pops of pages that may not be filled, whatever ordered the thread after them."""
        buffer = state.buffer
        is_ordered = not state.waits and state.pushed.is_known(mine.actor, buffer.acked + pages)
        finding = mine.thread.finding(
            f"cb_pop_front of {_pages(pages)} of circular buffer {buffer.index}, of which "
            f"{state.waited // buffer.page_size} were waited for and {buffer.filled} are filled; "
            f"call cb_wait_front({buffer.index}, {pages}) before using them",
            rule="cb-pop-unwaited",
            detail=(state.describe(),),
        )
        self._keep(mine, [state], finding, "ordered read" if is_ordered else "read")

    def _pushes_in_flight(self, mine: ThreadState, state: BufferState, size: int) -> None:
        """Find reads that have not arrived in pages that are pushed."""
        buffer = state.buffer
        for copies in mine.copies.values():
            if not copies.reads.busy:
                continue
            cell = self.spaces[buffer].shadow.writing(buffer.wr_ptr, size, copies.reads)
            if cell is None:
                continue
            finding = mine.thread.finding(
                f"cb_push_back hands over pages of circular buffer {buffer.index} that a "
                "noc_async_read still fills; call noc_async_read_barrier() before",
                rule="read-before-barrier",
                detail=(state.describe(),),
            )
            note = mine.note(cell.write_mark, "the read was started here")
            self._reporter.report(replace(finding, related=(note,)))
            return

    def _pops_in_flight(self, mine: ThreadState, state: BufferState, size: int) -> None:
        """Find writes that have not left pages that are popped."""
        buffer = state.buffer
        for copies in mine.copies.values():
            shadow = self.spaces[buffer].shadow
            busy = (sources for sources in copies.sources if sources.busy)
            found = next(
                filter(None, (shadow.reading(buffer.rd_ptr, size, each) for each in busy)), None
            )
            if found is None:
                continue
            finding = mine.thread.finding(
                f"cb_pop_front gives back pages of circular buffer {buffer.index} that a "
                "noc_async_write still sends; call noc_async_writes_flushed() or "
                "noc_async_write_barrier() before",
                rule="reuse-before-barrier",
                detail=(state.describe(),),
            )
            note = mine.note(found[1], "the write was started here")
            self._reporter.report(replace(finding, related=(note,)))
            return

    def _accesses(
        self, mine: ThreadState, states: list[BufferState], address: int, end: int, kind: BreachKind
    ) -> None:
        """Find accesses to pages that the thread may not access."""
        key = mine.thread.index, kind, mine.mark()
        if all(key in state.breaches for state in states):
            return
        state = states[0]
        buffer = state.buffer
        index = buffer.index
        if kind == "write":
            rule, verb, need = "cb-unreserved-write", "writes", "reserved"
            call = f"cb_reserve_back({index}, n)"
        else:
            rule, verb, need = "cb-unwaited-read", "reads", "waited for"
            call = f"cb_wait_front({index}, n)"
        what = f"{verb} {plural(end - address, 'byte')} at {address:#x}"
        if end > buffer.limit:
            reason = (
                f"bytes beyond the end of circular buffer {index} at {buffer.limit:#x}: pages "
                "that are used together must not wrap around; use numbers of pages that divide "
                f"its {buffer.num_pages}"
            )
            rule = "cb-straddle"
            self._report(mine.thread, state, rule, f"{what}, {reason}")
            return
        reason = f"pages of circular buffer {index} that were not {need}; call {call} before"
        finding = mine.thread.finding(f"{what}, {reason}", rule=rule, detail=(state.describe(),))
        self._keep(mine, states, finding, kind)

    def _keep(
        self, mine: ThreadState, states: list[BufferState], finding: Finding, kind: BreachKind
    ) -> None:
        """Report a breach of the protocol once another thread keeps to it; else it is a warning.

        A circular buffer that one thread has for itself is scratch memory.
        """
        breach = Breach(kind, finding, mine.thread, states[0])
        for state in states:
            state.breaches.setdefault((mine.thread.index, kind, mine.mark()), breach)
        for state in states:
            self._report_breaches(state)

    def _report_breaches(self, state: BufferState) -> None:
        for breach in state.breaches.values():
            if breach.meets(state):
                self._reporter.report(breach.finding)


def left_over(mine: ThreadState, state: BufferState) -> Finding:
    """The note about a circular buffer with pages that its producer pushed for nobody."""
    buffer = state.buffer
    return mine.finding_at(
        None,
        f"circular buffer {buffer.index} still has {_pages(buffer.filled)} at the end "
        "of the program, which nobody used; wait for and pop as many as are pushed",
        rule="cb-not-empty",
        severity="note",
        detail=(state.describe(),),
    )


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"


def _move_gaps(
    source: Space, address: int, target: Space, start: int, size: int, found: Finding
) -> None:
    """Bytes that nobody wrote count as unwritten where they are copied to."""
    for first, end in list(source.shadow.gaps(address, address + size)):
        target.shadow.forget(start + first - address, end - first)
    target.origins[start] = start + size, source.origins_of(address) or (found,)


# --- Sanitizer ------------------------------------------------------------------------------------

# --- Register rules -------------------------------------------------------------------------------
# Who may use DST when: MATH between acquire and commit, PACK between wait and release.
#
# Source: tt-metal, tt_metal/include/compute_kernel_api/reg_api.h; tt-isa-documentation,
# WormholeB0/TensixTile/TensixCoprocessor/Dst.md.

_PACK = Role.PACK


def allowed(thread: RunningThread, dst: Destination) -> bool:
    """True if the thread owns the part of DST that it works on."""
    return dst.waited if thread.role is _PACK else dst.acquired


HELD = (
    "the kernel ends and holds DST: the next program that computes waits for it for ever; call "
    "tile_regs_release() after the last pack_tile"
)


def still_holds(thread: RunningThread, dst: Destination | None) -> bool:
    """True if a thread has ended between `tile_regs_wait` and `tile_regs_release`.

    Source: tt-llk, llk_math_pack_sync_init, which waits until all halves are free.
    """
    return thread.role is _PACK and dst is not None and dst.waited


def violation(thread: RunningThread, index: int, kind: Literal["read", "write"]) -> Finding:
    """The finding about a use that is not allowed."""
    if thread.role == Role.PACK:
        return thread.finding(
            f"packs tile {index} of DST without having waited for it: MATH may not have finished; "
            "call tile_regs_wait() before and tile_regs_release() after",
            rule="dst-wait",
        )
    return thread.finding(
        f"{kind}s tile {index} of DST without having acquired it: PACK may still use it; call "
        "tile_regs_acquire() before and tile_regs_commit() after",
        rule="dst-acquire",
    )


# --- Conflicts ------------------------------------------------------------------------------------
# Says what is wrong with an access: not ordered, not written, or not in a buffer.

ORDER_BY = (
    "hand the bytes over through a circular buffer (cb_push_back, cb_wait_front) or a semaphore "
    "(noc_semaphore_inc or _set, noc_semaphore_wait)"
)


def unwritten(mine: ThreadState, space: Space, missing: Unwritten, reader: str) -> Finding:
    """The finding about bytes that nobody wrote, with where they come from if that is elsewhere."""
    origins = space.origins_of(missing.start)
    finding = mine.thread.finding(
        f"{reader} {_bytes(missing.start, missing.end)} of {space.name}, which "
        + ("come from bytes that nobody has written" if origins else "nobody has written")
        + "; write them first, or check the address",
        rule="uninitialised-read",
        detail=_buffers(space, missing.start, missing.end),
    )
    notes = (replace(each, severity="note", rule="", related=()) for each in origins)
    return replace(finding, related=tuple(notes))


def overrunning(
    mine: ThreadState, space: Space, address: int, end: int, buffer: tuple[int, int], verb: str
) -> Finding:
    """The finding about bytes past the end of the buffer that the first of them is in."""
    start, stop = buffer
    return mine.thread.finding(
        f"{verb} {_bytes(address, end)} of {space.name}, {end - stop} of them past the end of "
        f"the buffer at {start:#x}, which has {stop - start} bytes there; other buffers may lie "
        "after it: check the address and the size",
        rule="out-of-bounds",
    )


def overlapping(mine: ThreadState, space: Space, address: int, end: int) -> Finding:
    """The finding about a copy to a semaphore that reaches over the next ones."""
    return mine.thread.finding(
        f"copies to {_bytes(address, end)} of {space.name}, over a semaphore and what lies after "
        f"it; a semaphore has 4 bytes, and the next one begins {SLOT} bytes after it",
        rule="out-of-bounds",
    )


def unallocated(mine: ThreadState, space: Space, address: int, end: int, verb: str) -> Finding:
    """The finding about bytes that nobody was given."""
    given = "buffer, circular buffer or semaphore" if space.is_core else "buffer"
    return mine.thread.finding(
        f"{verb} {_bytes(address, end)} of {space.name}, which belong to no {given}; check the "
        "address, or create a buffer for them",
        rule="unallocated-write",
    )


def undoing(
    program: ProgramActors, mine: ThreadState, space: Space, address: int, actor: Actor, mark: Mark
) -> Finding:
    """The finding about two changes of a semaphore that are not ordered."""
    other, _ = program.owner(actor)
    name = other.thread.name
    finding = mine.thread.finding(
        f"changes the semaphore at {address:#x} in {space.name}, which {name} changes at any time: "
        "one may undo the other; set a semaphore before the message that lets others change it, "
        "or after a wait for all their changes",
        rule="semaphore-race",
    )
    return replace(finding, related=(other.note(mark, f"{name} changes it here"),))


def conflicting(
    program: ProgramActors, mine: ThreadState, space: Space, conflict: Conflict, writer: str
) -> Finding:
    """The finding about two accesses that are not ordered; `writer` says what this one does."""
    other, kind = program.owner(conflict.actor)
    where = f"{_bytes(conflict.start, conflict.end)} of {space.name}"
    rule, text, note = "race", "", ""
    if other is mine:
        rule, text, note = _own_copy(kind, conflict.writes)
        message = f"{writer} {where}, {text}"
    else:
        verb = "writes" if conflict.writes else "reads"
        busy = kind != "thread" and conflict.actor.time == conflict.time
        message = (
            f"race: {writer} {where}, which {other.thread.name} {verb} at any time: nothing orders "
            f"the two accesses; {ORDER_BY}"
        )
        note = f"{other.thread.name} {verb} them here"
        if busy:
            note += f", by a noc_async_{kind} that it does not wait for"
    finding = mine.thread.finding(
        message, rule=rule, detail=_buffers(space, conflict.start, conflict.end)
    )
    return replace(finding, related=(other.note(conflict.mark, note),))


def _own_copy(kind: str, writes: bool) -> tuple[str, str, str]:
    """Rule, message and note for a conflict with a copy that the same thread has started."""
    started = f"the {kind} was started here"
    match kind, writes:
        case "read", True:
            return (
                "read-before-barrier",
                "which a noc_async_read still brings; call noc_async_read_barrier() before",
                started,
            )
        case "read", False:
            return (
                "reuse-before-barrier",
                "which a noc_async_read still takes; call noc_async_read_barrier() before",
                started,
            )
        case _, True:
            return (
                "write-before-barrier",
                "which a noc_async_write still changes; call noc_async_write_barrier() before",
                started,
            )
        case _:
            return (
                "reuse-before-barrier",
                "which a noc_async_write still sends; call noc_async_writes_flushed() or "
                "noc_async_write_barrier() before",
                started,
            )


def _bytes(start: int, end: int) -> str:
    return f"bytes {start:#x} to {end:#x}"


def _buffers(space: Space, start: int, end: int) -> tuple[str, ...]:
    """The circular buffers that bytes belong to, in words."""
    return tuple(state.describe() for state in space.buffers(start, end))


# --- Sanitizer ------------------------------------------------------------------------------------

CopyKind = Literal["read", "write", "multicast"]
WordKind = Literal["write", "atomic"]
BarrierKind = Literal["read", "write", "flush", "atomic"]

_WORD = 4

LINK = 2
"""The number among networks of the link of an Ethernet core."""

FABRIC = 16
"""That of the fabric behind channel 0; those of the other channels follow."""

_HOST = Actor(0, 0, VectorClock(np.zeros(1, np.int64)), in_order=True)
"""Whatever the host does is before or after a program, never during it."""


def _runs(written: Iterable[tuple[Memory, int, int]]) -> Iterator[tuple[Memory, int, int, int]]:
    """Places that do not overlap, together where one begins at the end of another as long one.

    Memory, address and size of the first one, and how many there are.
    """
    by_memory: dict[Memory, list[tuple[int, int]]] = {}
    for memory, address, size in written:
        by_memory.setdefault(memory, []).append((address, size))
    for memory, places in by_memory.items():
        places.sort()
        first, length, count = *places[0], 0
        for address, size in places:
            if size != length or address != first + length * count:
                if count:
                    yield memory, first, length, count
                first, length, count = address, size, 0
            count += 1
        yield memory, first, length, count


class Sanitizer:
    """What one device tells of its programs.

    `findings` are those of the last program. By default the first error raises SanitizerError;
    with `max_findings` above one, so many are collected before, and the error has them all. What
    was collected is raised at the end of the program at the latest.
    """

    def __init__(
        self, arch: Arch, *, leniencies: frozenset[str] = frozenset(), max_findings: int = 1
    ) -> None:
        """Suppress the rules named in `leniencies`."""
        self._flushed_only = arch is Arch.BLACKHOLE
        self._reporter = Reporter(leniencies, max_findings)
        self._program = ProgramActors()
        self._threads: dict[int, ThreadState] = {}
        self._buffers = BufferRules(self._program, self._reporter)
        self._spaces: dict[Memory, Space] = {}
        self._registers: dict[object, Destination | None] = {}
        """DST of each core, by its L1."""
        self._points: dict[Hashable, VectorClock] = {}
        self._queues: dict[Hashable, HandOver] = {}
        self.report = self._reporter.report
        """Take a finding that someone else made."""
        self.cb_reserve = self._buffers.reserved
        self.cb_wait = self._buffers.waited
        self.cb_push = self._buffers.push
        self.cb_pop = self._buffers.pop

    @property
    def findings(self) -> Sequence[Finding]:
        """What was found in the last program, in the order of finding."""
        return self._reporter.findings

    # Memories and programs

    def add(
        self, endpoint: WatchedMemory, first_free: int, allocator: Blocks | None = None
    ) -> None:
        """Watch a memory of the device, of which kernels write no bytes below `first_free`.

        Above, they write what the allocator gave to buffers; without one, all.
        """
        self._spaces[endpoint.memory] = Space(endpoint, first_free, allocator)

    def host_write(self, memory: Memory, address: int, size: int, pages: int = 1) -> None:
        """The host writes so many pages of `size` bytes while no program runs."""
        self._spaces[memory].shadow.preset(address, size, _HOST, pages)

    def host_read(self, memory: Memory, address: int, size: int) -> None:
        """The host reads bytes while no program runs: nothing can be wrong with that."""

    def allocated(self, memory: Memory, address: int, grid: PageGrid) -> None:
        """A buffer has pages in this bank, from an address on."""
        self._spaces[memory].grids[address] = grid

    def count_pages(
        self, memory: Memory, address: int, page_size: int, stride: int, num_banks: int
    ) -> int | None:
        """How many pages of a size the buffer has that begins there; None if none does."""
        grid = self._spaces[memory].grids.get(address)
        return None if grid is None else grid.count_pages(page_size, stride, num_banks)

    def freed(self, memory: Memory, address: int, size: int) -> None:
        """A buffer was given back: its bytes count as never written, its words as no semaphores."""
        space = self._spaces[memory]
        space.shadow.forget(address, size)
        gone = {each for each in space.lasting_semaphores if address <= each < address + size}
        space.lasting_semaphores -= gone
        space.grids.pop(address, None)

    def semaphore_created(self, memory: Memory, address: int) -> None:
        """The host makes a word a semaphore for all programs from now on."""
        self._spaces[memory].lasting_semaphores.add(address)

    def semaphore_freed(self, memory: Memory, address: int) -> None:
        """The host gives such a semaphore back."""
        self._spaces[memory].lasting_semaphores.discard(address)

    def program_started(
        self, threads: Sequence[RunningThread], cores: Sequence[WatchedCore]
    ) -> None:
        """A program begins; the circular buffers and semaphores of its cores are set up."""
        self._reporter.begin()
        self._buffers.begin()
        self._points.clear()
        self._queues.clear()
        self._program.begin(list(threads))
        self._threads = self._program.threads
        for space in self._spaces.values():
            space.begin(self._program.timeline)
        self._registers = {core.l1: core.dst for core in cores}
        for core in cores:
            self._place(core)

    def _place(self, core: WatchedCore) -> None:
        space = self._spaces[core.l1]
        states = [self._buffers.add(buffer, space) for buffer in core.cbs.values()]
        space.place(core, states, self._program.timeline)

    def program_ended(self) -> None:
        """All threads have ended: find copies that nobody waited for, full buffers, held DST."""
        for state in self._threads.values():
            for copies in state.copies.values():
                self._check_finished(state, copies)
            if still_holds(state.thread, self._registers.get(state.thread.l1)):
                self.report(
                    state.finding_at(None, HELD, rule="dst-wait", severity="error", detail=())
                )
        self._buffers.end()
        self._reporter.stop()

    def program_was_regular(
        self,
        cores: Iterable[WatchedCore],
        written: Iterable[tuple[Memory, int, int]],
        notes: Iterable[Finding],
    ) -> None:
        """A program ran with which nothing is wrong, and wrote bytes: memory, address and size."""
        self._reporter.begin()
        for note in notes:
            self.report(note)
        for core in cores:
            for buffer in core.cbs.values():
                if not buffer.aliased:
                    self._spaces[core.l1].shadow.forget(buffer.address, buffer.size)
        for memory, address, size, pages in _runs(written):
            self.host_write(memory, address, size, pages)

    @property
    def pops_unfilled(self) -> bool:
        """Whether it is suppressed that circular buffers on tensors are popped without a push."""
        return POP_UNFILLED in self._reporter.leniencies

    def is_watched(self, memory: Memory) -> bool:
        """Whether a memory is one of the device, not of a processor."""
        return memory in self._spaces

    def space(self, memory: Memory) -> Space:
        """What is known of a memory of the device."""
        return self._spaces[memory]

    def program_stopped(self, error: SimError) -> None:
        """The program cannot go on: tell what was found before as well."""
        if not isinstance(error, SanitizerError):
            error.others = (*error.others, *self._reporter.errors)

    def _check_finished(self, state: ThreadState, copies: Copies) -> None:
        if copies.noc >= FABRIC:
            return  # Nobody can wait for what is sent over the fabric.
        if copies.reads.busy:
            self.report(
                _unfinished(state, copies.read_mark, "noc_async_read", "noc_async_read_barrier")
            )
        if copies.open_writes:
            have_arrived = all(map(self._program.timeline.is_known, copies.open_writes))
            unfinished = _arrived if have_arrived else _unfinished
            calls = ("noc_async_write", "noc_async_write_barrier")
            if copies.noc == LINK:
                calls = ("send over the link", "eth_wait_for_receiver_done")
            self.report(unfinished(state, copies.write_mark, *calls))
        if copies.atomic_mark is not None:
            finding = state.finding_at(
                copies.atomic_mark,
                "the kernel ends and does not wait for this increment; call "
                "noc_async_atomic_barrier() before it returns if the next program relies on it",
                rule="atomic-open",
                severity="note",
                detail=(),
            )
            self.report(finding)

    # Accesses

    def read(self, memory: Memory, address: int, size: int, thread: RunningThread) -> None:
        """A thread reads bytes of a memory; its own, which nobody else sees, is not watched."""
        found = self.read_tile(memory, address, size, thread)
        if found is not None:
            self.report(found)

    def read_tile(
        self, memory: Memory, address: int, size: int, thread: RunningThread
    ) -> Finding | None:
        """A thread reads bytes; what there is to tell if some that nobody wrote decide anything."""
        space = self._spaces.get(memory)
        if space is None:
            return None
        mine = self._threads[thread.index]
        end = address + size
        if address < 0 or end > space.size:
            self._outside(mine, space, address, size, "reads")
        if address in space.semaphores:
            space.semaphores[address].look(mine.actor)
            return None
        cell = space.shadow.cell(address, end)
        is_known = cell is not None
        if space.has_buffers:
            is_known |= self._buffers.check_read(mine, space, address, end)
        if not is_known:
            self._check_buffer(mine, space, address, end, "reads")
        if cell is not None:
            wrong = cell.read(mine.actor, mine.mark())
        else:
            wrong = space.shadow.read(address, size, mine.actor, mine.mark())
        if wrong is None:
            return None
        return self._explain_read(mine, space, address, end, wrong, "reads")

    def write(self, memory: Memory, address: int, size: int, thread: RunningThread) -> None:
        """A thread writes bytes of a memory; its own, which nobody else sees, is not watched."""
        space = self._spaces.get(memory)
        if space is None:
            return
        mine = self._threads[thread.index]
        end = address + size
        if address in space.semaphores:
            self._change(mine, space, address)
            return
        if not space.allows(address, end):
            self._outside(mine, space, address, size, "writes")
        cell = space.shadow.cell(address, end)
        is_known = cell is not None
        if space.has_buffers:
            is_known |= self._buffers.check_write(mine, space, address, end)
        if not is_known:
            self._check_buffer(mine, space, address, end, "writes", is_write=True)
        if cell is not None:
            conflict = cell.write(mine.actor, mine.mark())
        else:
            conflict = space.shadow.write(address, size, mine.actor, mine.mark())
        if conflict is not None:
            self.report(conflicting(self._program, mine, space, conflict, "writes"))

    def _explain_read(
        self,
        mine: ThreadState,
        space: Space,
        address: int,
        end: int,
        wrong: Conflict | Unwritten,
        verb: str,
    ) -> Finding | None:
        """What there is to tell of bytes that nobody wrote; conflicts are told."""
        if isinstance(wrong, Conflict):
            self.report(conflicting(self._program, mine, space, wrong, verb))
            return None
        missing = space.missing(address, end)
        return None if missing is None else unwritten(mine, space, missing, verb)

    def unwritten_parts(
        self, memory: Memory, address: int, size: int, count: int
    ) -> NDArray[np.bool_]:
        """Which of `count` equal parts of some bytes nobody has written, or not all of it."""
        found, step = np.zeros(count, bool), size // count
        for start, end in self._spaces[memory].shadow.gaps(address, address + size):
            found[(start - address) // step : -(-(end - address) // step)] = True
        return found

    def leave_unwritten(self, memory: Memory, address: int, size: int, poison: Poison) -> None:
        """A tile was packed of which some numbers come from bytes that nobody wrote."""
        space, step = self._spaces[memory], size // poison.lanes.size
        edges = np.flatnonzero(np.diff(poison.lanes, prepend=False, append=False))
        for first, last in edges.reshape(-1, 2).tolist():
            space.shadow.forget(address + first * step, (last - first) * step)
        first_reads = (each for found in poison.findings for each in found.related or (found,))
        space.origins[address] = address + size, tuple(dict.fromkeys(first_reads))

    def _check_buffer(
        self,
        mine: ThreadState,
        space: Space,
        address: int,
        end: int,
        verb: str,
        *,
        is_write: bool = False,
    ) -> None:
        """Find bytes that reach out of their buffer, and those written that belong to none."""
        buffer = space.overrun(address, end)
        if buffer is not None:
            self.report(overrunning(mine, space, address, end, buffer, verb))
        elif is_write and end <= space.size and space.is_free(address, end):
            self.report(unallocated(mine, space, address, end, verb))

    def _outside(self, mine: ThreadState, space: Space, address: int, size: int, verb: str) -> None:
        legal = f"kernels may use {space.first_free:#x} to {space.size:#x}"
        self.report(
            mine.thread.finding(
                f"{verb} bytes {address:#x} to {address + size:#x} of {space.name}, of which "
                f"{legal}; check the address and the size",
                rule="out-of-bounds",
            )
        )

    def page_outside(self, thread: RunningThread, page: int, num_pages: int) -> None:
        """A thread is about to copy a page that the buffer does not have."""
        pages = "1 page" if num_pages == 1 else f"{num_pages} pages"
        self.report(
            thread.finding(
                f"copies page {page} of a buffer that has {pages}, numbered from 0: other buffers "
                "may lie there; check the number of pages that the kernel is given",
                rule="out-of-bounds",
            )
        )

    def strays(self, thread: RunningThread) -> Strays:
        """Where a thread notes the addresses that it has made of pages that buffers do not have."""
        return self._threads[thread.index].strays

    # Copies on the network

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
        """A thread starts an asynchronous copy; of a multicast, one call per receiver."""
        mine = self._threads[thread.index]
        copies = mine.copies.get(transaction << 8 | noc)
        if copies is None:
            copies = self._program.copies(mine, noc, transaction)
        mark = mine.mark()
        space = self._spaces[target]
        if mine.strays:
            for place in ((source, source_address), (target, target_address)):
                if place in mine.strays:
                    self.page_outside(thread, *mine.strays[place])
        if kind == "read":
            copies.read_mark = mark
            reader = writer = copies.reads
        else:
            copies.write_mark = mark
            writers = copies.multicast if kind == "multicast" else copies.writers_to(space)
            reader = writers.sources
            writer = writers.targets
        reader.busy = writer.busy = True
        writer.last = writer.time
        from_ = self._spaces[source]
        found = self._copy_reads(mine, reader, from_, source_address, size, mark)
        if target_address in space.semaphores:
            if size > SLOT:
                end = target_address + size
                self.report(overlapping(mine, space, target_address, end))
            self._signal(mine, noc, space, target_address, is_multicast=kind == "multicast")
        else:
            self._copy_writes(mine, writer, space, target_address, size, mark)
        if found is None:
            return
        if from_.has_own_pages(source_address) and space.has_own_pages(target_address):
            _move_gaps(from_, source_address, space, target_address, size, found)
        else:
            self.report(found)

    def multicast_started(self, thread: RunningThread, noc: int) -> Writers:
        """A thread starts a multicast of bytes that are watched elsewhere; who does it."""
        mine = self._threads[thread.index]
        copies = self._program.copies(mine, noc, 0)
        copies.write_mark = mine.mark()
        writers = copies.multicast
        writers.sources.busy = writers.targets.busy = True
        writers.targets.last = writers.targets.time
        return writers

    def actor(self, thread: RunningThread) -> Thread:
        """What a thread of the program knows of the others."""
        return self._threads[thread.index].actor

    def delivered(
        self, thread: RunningThread, channel: int, memory: Memory, address: int, size: int
    ) -> None:
        """A packet that a thread has sent over the fabric is written to a memory."""
        mine = self._threads[thread.index]
        copies = self._program.copies(mine, FABRIC + channel, 0)
        mark = copies.write_mark = mine.mark()
        space = self._spaces[memory]
        writer = copies.writers_to(space).targets
        writer.busy = True
        writer.last = writer.time
        if address in space.semaphores:
            self._signal(mine, FABRIC + channel, space, address)
        else:
            self._copy_writes(mine, writer, space, address, size, mark)

    def headers_taken(self, memory: Memory, address: int, size: int) -> None:
        """A thread takes headers of packets, which are zero, out of its pool."""
        space = self._spaces[memory]
        space.headers.append((address, address + size))
        space.shadow.preset(address, size, _HOST)

    def header_sent(
        self, thread: RunningThread, noc: int, memory: Memory, address: int, size: int
    ) -> None:
        """A thread sends the header of a packet out of its L1, which may have unwritten bytes."""
        mine = self._threads[thread.index]
        mark = mine.mark()
        agent = self._program.copies(mine, noc, 0).to_dram.sources
        agent.busy = True
        agent.last = agent.time
        mine.packets = agent
        self._spaces[memory].shadow.read(address, size, agent, mark)

    def _copy_reads(
        self, mine: ThreadState, agent: Agent, space: Space, address: int, size: int, mark: Mark
    ) -> Finding | None:
        """A copy reads bytes; what there is to tell if some that nobody wrote become a result."""
        end = address + size
        if address < 0 or end > space.size:
            self._outside(mine, space, address, size, "copies")
        if address in space.semaphores:
            return None
        cell = space.shadow.cell(address, end)
        is_known = cell is not None
        if space.has_buffers:
            is_known |= self._buffers.check_read(mine, space, address, end)
        if not is_known:
            self._check_buffer(mine, space, address, end, "copies")
        if cell is not None:
            wrong = cell.read(agent, mark)
        else:
            wrong = space.shadow.read(address, size, agent, mark)
        return (
            None
            if wrong is None
            else self._explain_read(mine, space, address, end, wrong, "copies")
        )

    def _copy_writes(
        self, mine: ThreadState, agent: Agent, space: Space, address: int, size: int, mark: Mark
    ) -> None:
        end = address + size
        if not space.allows(address, end):
            self._outside(mine, space, address, size, "copies to")
        cell = space.shadow.cell(address, end)
        is_known = cell is not None
        if space.has_buffers:
            is_known |= self._buffers.check_write(mine, space, address, end)
        if not is_known:
            self._check_buffer(mine, space, address, end, "copies to", is_write=True)
        if cell is not None:
            conflict = cell.write(agent, mark)
        else:
            conflict = space.shadow.write(address, size, agent, mark)
        if conflict is not None:
            self.report(conflicting(self._program, mine, space, conflict, "copies to"))

    def copies_done(
        self, thread: RunningThread, noc: int, kind: BarrierKind, transaction: int | None = None
    ) -> None:
        """A barrier returns: copies of one transaction id, or of all, are over."""
        for copies in self._threads[thread.index].copies.values():
            if copies.noc != noc or transaction not in (None, copies.transaction):
                continue
            match kind:
                case "read":
                    copies.finish_reads()
                case "write":
                    copies.finish_writes()
                case "flush":
                    copies.flush()
                case "atomic":
                    copies.atomic_mark = None

    # Hand-overs

    def release(self, thread: RunningThread, key: Hashable) -> None:
        """Whoever acquires the key later knows what this thread has done so far."""
        self._threads[thread.index].actor.release(self._point(key))

    def release_copies(self, thread: RunningThread, noc: int, key: Hashable) -> None:
        """The same, of the thread and of the copies that it has started on a network, too."""
        mine = self._threads[thread.index]
        point = self._point(key)
        mine.actor.release(point)
        for copies in mine.copies.values():
            if copies.noc == noc:
                for agent in (copies.to_dram.sources, *copies.targets):
                    mine.actor.release_after(point, agent)

    def acquire(self, thread: RunningThread, key: Hashable) -> None:
        """Know what those had done who released the key."""
        self._threads[thread.index].actor.acquire(self._point(key))

    def put(self, thread: RunningThread, key: Hashable) -> None:
        """Add an entry to a queue of hand-overs, such as the banks of SrcA and SrcB."""
        self._queue(key).put(self._threads[thread.index].actor)

    def take(self, thread: RunningThread, key: Hashable) -> None:
        """Take the first entry of a queue, if it has one: know what its giver had done."""
        self._queue(key).take(self._threads[thread.index].actor)

    def _queue(self, key: Hashable) -> HandOver:
        queue = self._queues.get(key)
        if queue is None:
            queue = self._queues[key] = HandOver()
        return queue

    def _point(self, key: Hashable) -> VectorClock:
        point = self._points.get(key)
        if point is None:
            point = self._points[key] = self._program.timeline.clock()
        return point

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
        """A thread writes or increments a word over the network, `in_order` as in `_signal`.

        Nobody can wait until a `posted` increment is done.
        """
        mine = self._threads[thread.index]
        copies = self._program.copies(mine, noc, 0)
        mark = mine.mark()
        space = self._spaces[memory]
        is_semaphore = address in space.semaphores
        if kind == "atomic":
            if not posted:
                copies.atomic_mark = mark
            if not is_semaphore:
                self._no_semaphore(mine, memory, address)
        else:
            copies.write_mark = mark
            writer = copies.writers_to(space).targets
            writer.busy = True
            writer.last = writer.time
            if not is_semaphore:
                self._copy_writes(mine, writer, space, address, _WORD, mark)
        if is_semaphore:
            in_order |= noc >= FABRIC and kind == "write"
            self._signal(
                mine, noc, space, address, is_increment=kind == "atomic", in_order=in_order
            )

    def _signal(
        self,
        mine: ThreadState,
        noc: int,
        space: Space,
        address: int,
        *,
        is_multicast: bool = False,
        is_increment: bool = False,
        in_order: bool = False,
    ) -> None:
        """A thread changes a semaphore over the network, after its copies of the same kind.

        Those to the same place have arrived before, and all others have left. On Blackhole the
        message may overtake copies that were not flushed, unless it comes `in_order`, as words do
        that routers write. A packet that arrives has left.
        """
        writers = [
            copies.multicast if is_multicast else copies.writers_to(space)
            for copies in mine.copies.values()
            if copies.noc == noc
        ]
        released = self._change(mine, space, address, is_increment=is_increment)
        for each in writers:
            if self._flushed_only and not in_order:
                mine.actor.release_flushed(released, each.targets)
            else:
                mine.actor.release_after(released, each.targets)
                mine.actor.release_after(released, each.sources)
        if noc >= FABRIC and mine.packets is not None:
            mine.actor.release_after(released, mine.packets)

    def _change(
        self, mine: ThreadState, space: Space, address: int, *, is_increment: bool = False
    ) -> VectorClock:
        """A thread changes a semaphore; the clock that takes what it tells by that."""
        semaphore = space.semaphores[address]
        unordered = semaphore.check(mine.actor, mine.mark(), is_increment=is_increment)
        if unordered is not None:
            self.report(undoing(self._program, mine, space, address, *unordered))
        return semaphore.change(mine.actor, space.word(address))

    def semaphore_set(self, thread: RunningThread, memory: Memory, address: int) -> None:
        """A thread sets a semaphore of its core."""
        mine = self._threads[thread.index]
        space = self._spaces[memory]
        if address in space.semaphores:
            self._change(mine, space, address)
        else:
            self._no_semaphore(mine, memory, address)

    def semaphore_wait(
        self, thread: RunningThread, memory: Memory, address: int, value: int, *, exactly: bool
    ) -> None:
        """A thread has seen a semaphore at a value that it waited for, or at least at it."""
        mine = self._threads[thread.index]
        space = self._spaces[memory]
        semaphore = space.semaphores.get(address)
        if semaphore is None:
            self._no_semaphore(mine, memory, address)
        else:
            semaphore.wait(mine.actor, value, space.word(address), exactly=exactly)

    def check_semaphore(self, thread: RunningThread, memory: Memory, address: int) -> None:
        """A thread begins to wait for a word, which has to be a semaphore."""
        if address not in self._spaces[memory].semaphores:
            self._no_semaphore(self._threads[thread.index], memory, address)

    def _no_semaphore(self, mine: ThreadState, memory: Memory, address: int) -> None:
        known = self._spaces[memory].semaphores
        there = ", ".join(f"{each:#x}" for each in sorted(known)) or "none"
        self.report(
            mine.thread.finding(
                f"{address:#x} in {memory.name} is not the address of a semaphore; make one with "
                "CreateSemaphore and take its address from get_semaphore(id)",
                rule="semaphore-address",
                detail=(f"semaphores of this core: {there}",),
            )
        )

    # Registers

    def dst_access(
        self, thread: RunningThread, dst: Destination, index: int, kind: Literal["read", "write"]
    ) -> None:
        """A compute thread uses a tile of DST."""
        if not allowed(thread, dst):
            self.report(violation(thread, index, kind))


def _unfinished(state: ThreadState, mark: Mark, call: str, barrier: str) -> Finding:
    return state.finding_at(
        mark,
        f"the kernel ends while this {call} is under way: its bytes may move after the "
        f"program is over; call {barrier}() before the kernel returns",
        rule="missing-barrier",
        severity="error",
        detail=(),
    )


def _arrived(state: ThreadState, mark: Mark, call: str, barrier: str) -> Finding:
    return state.finding_at(
        mark,
        f"the kernel ends and does not wait for this {call}; another thread has waited "
        f"for what was sent after it, so that its bytes are there; call {barrier}() before the "
        "kernel returns, for the next kernel of this processor counts what is under way",
        rule="missing-barrier",
        severity="warning",
        detail=(),
    )
