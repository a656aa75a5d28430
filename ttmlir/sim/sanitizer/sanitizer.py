"""Watches what kernels do to memories, circular buffers, semaphores and registers.

The calls of kernels tell the sanitizer of each event, before it takes effect. One object serves a
device; it keeps the histories of all memories, and the order of what happens in the running
program (`vector_clock`). Rules and messages are in the other modules of this package, and on the
page docs/sanitizer.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from ttmlir.layout.enums import Arch
from ttmlir.sim.errors import SimError
from ttmlir.sim.findings import Finding
from ttmlir.sim.sanitizer.actors import Copies, ProgramActors, ThreadState
from ttmlir.sim.sanitizer.buffer_rules import BufferRules
from ttmlir.sim.sanitizer.conflicts import (
    conflicting,
    overlapping,
    overrunning,
    unallocated,
    undoing,
    unwritten,
)
from ttmlir.sim.sanitizer.register_rules import (
    HELD,
    Destination,
    allowed,
    still_holds,
    violation,
)
from ttmlir.sim.sanitizer.reporting import Reporter, SanitizerError
from ttmlir.sim.sanitizer.semaphores import SLOT
from ttmlir.sim.sanitizer.shadow import Conflict, Mark, Unwritten
from ttmlir.sim.sanitizer.spaces import Blocks, PageGrid, Space, WatchedCore, WatchedMemory
from ttmlir.sim.sanitizer.vector_clock import Actor, Agent, HandOver, VectorClock

if TYPE_CHECKING:
    from ttmlir.sim.machine.address_generators import Strays
    from ttmlir.sim.machine.chip import SimChip
    from ttmlir.sim.machine.memory import Memory
    from ttmlir.sim.protocols import RunningThread

CopyKind = Literal["read", "write", "multicast"]
WordKind = Literal["write", "atomic"]
BarrierKind = Literal["read", "write", "flush", "atomic"]

_WORD = 4

_HOST = Actor(0, 0, VectorClock(np.zeros(1, np.int64)), in_order=True)
"""Whatever the host does is before or after a program, never during it."""


class Sanitizer:
    """What one device tells of its programs.

    `findings` are those of the last program. By default the first error raises SanitizerError;
    with `max_findings` above one, so many are collected before, and the error has them all. What
    was collected is raised at the end of the program at the latest.
    """

    def __init__(
        self,
        chip: SimChip,
        *,
        leniencies: frozenset[str] = frozenset(),
        max_findings: int = 1,
    ) -> None:
        """Let the rules named in `leniencies` pass."""
        self._flushed_only = chip.arch is Arch.BLACKHOLE
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

    def host_write(self, memory: Memory, address: int, size: int) -> None:
        """The host writes bytes while no program runs."""
        self._spaces[memory].shadow.preset(address, size, _HOST)

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
        """A buffer was given back: its bytes count as never written."""
        space = self._spaces[memory]
        space.shadow.forget(address, size)
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

    def program_stopped(self, error: SimError) -> None:
        """The program cannot go on: tell what was found before as well."""
        if not isinstance(error, SanitizerError):
            error.others = (*error.others, *self._reporter.errors)

    def _check_finished(self, state: ThreadState, copies: Copies) -> None:
        if copies.reads.busy:
            self.report(_unfinished(state, copies.read_mark, "read", "noc_async_read_barrier"))
        if copies.open_writes:
            have_arrived = all(map(self._program.timeline.is_known, copies.open_writes))
            unfinished = _arrived if have_arrived else _unfinished
            self.report(unfinished(state, copies.write_mark, "write", "noc_async_write_barrier"))
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
        space = self._spaces.get(memory)
        if space is None:
            return
        mine = self._threads[thread.index]
        end = address + size
        if address < 0 or end > space.size:
            self._outside(mine, space, address, size, "reads")
        if address in space.semaphores:
            space.semaphores[address].look(mine.actor)
            return
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
        if wrong is not None:
            self._explain_read(mine, space, address, end, wrong, "reads")

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
        if address < space.first_free or end > space.size:
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
    ) -> None:
        if isinstance(wrong, Conflict):
            self.report(conflicting(self._program, mine, space, wrong, verb))
            return
        missing = space.missing(address, end)
        if missing is not None:
            self.report(unwritten(mine, space, missing, verb))

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
        copies = mine.copies.get(transaction << 1 | noc)
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
        self._copy_reads(mine, reader, self._spaces[source], source_address, size, mark)
        if target_address in space.semaphores:
            if size > SLOT:
                end = target_address + size
                self.report(overlapping(mine, space, target_address, end))
            self._signal(mine, noc, space, target_address, is_multicast=kind == "multicast")
        else:
            self._copy_writes(mine, writer, space, target_address, size, mark)

    def _copy_reads(
        self,
        mine: ThreadState,
        agent: Agent,
        space: Space,
        address: int,
        size: int,
        mark: Mark,
    ) -> None:
        end = address + size
        if address < 0 or end > space.size:
            self._outside(mine, space, address, size, "copies")
        if address in space.semaphores:
            return
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
        if wrong is not None:
            self._explain_read(mine, space, address, end, wrong, "copies")

    def _copy_writes(
        self,
        mine: ThreadState,
        agent: Agent,
        space: Space,
        address: int,
        size: int,
        mark: Mark,
    ) -> None:
        end = address + size
        if address < space.first_free or end > space.size:
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
        self, thread: RunningThread, noc: int, kind: WordKind, memory: Memory, address: int
    ) -> None:
        """A thread writes or increments a word over the network."""
        mine = self._threads[thread.index]
        copies = self._program.copies(mine, noc, 0)
        mark = mine.mark()
        space = self._spaces[memory]
        is_semaphore = address in space.semaphores
        if kind == "atomic":
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
            self._signal(mine, noc, space, address, is_increment=kind == "atomic")

    def _signal(
        self,
        mine: ThreadState,
        noc: int,
        space: Space,
        address: int,
        *,
        is_multicast: bool = False,
        is_increment: bool = False,
    ) -> None:
        """A thread changes a semaphore over the network, behind its copies of the same kind.

        Those to the same place have arrived before, and all others have left. On Blackhole the
        message may overtake copies that were not flushed.
        """
        writers = [
            copies.multicast if is_multicast else copies.writers_to(space)
            for copies in mine.copies.values()
            if copies.noc == noc
        ]
        told = self._change(mine, space, address, is_increment=is_increment)
        for each in writers:
            if self._flushed_only:
                mine.actor.release_flushed(told, each.targets)
            else:
                mine.actor.release_behind(told, each.targets)
                mine.actor.release_behind(told, each.sources)

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
        self,
        thread: RunningThread,
        dst: Destination,
        index: int,
        kind: Literal["read", "write"],
    ) -> None:
        """A compute thread uses a tile of DST."""
        if not allowed(thread, dst):
            self.report(violation(thread, index, kind))


def _unfinished(state: ThreadState, mark: Mark, kind: str, barrier: str) -> Finding:
    return state.finding_at(
        mark,
        f"the kernel ends while this noc_async_{kind} is under way: its bytes may move after the "
        f"program is over; call {barrier}() before the kernel returns",
        rule="missing-barrier",
        severity="error",
        detail=(),
    )


def _arrived(state: ThreadState, mark: Mark, kind: str, barrier: str) -> Finding:
    return state.finding_at(
        mark,
        f"the kernel ends and does not wait for this noc_async_{kind}; another thread has waited "
        f"for what was sent behind it, so that its bytes are there; call {barrier}() before the "
        "kernel returns, for the next kernel of this processor counts what is under way",
        rule="missing-barrier",
        severity="warning",
        detail=(),
    )
