"""The protocol of circular buffers: who may access, push and pop which pages when.

Source: tt-metal, tt_metal/hw/inc/dataflow_api.h; tech_reports and programming examples for what
well-formed kernels keep to.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ttmlir.sim.machine.tile_formats import TILE_BYTES
from ttmlir.sim.sanitizer.actors import ProgramActors, ThreadState
from ttmlir.sim.sanitizer.reporting import Reporter
from ttmlir.sim.sanitizer.spaces import Breach, BreachKind, BufferState, Space

if TYPE_CHECKING:
    from ttmlir.sim.findings import Finding
    from ttmlir.sim.machine.circular_buffer import CircularBuffer
    from ttmlir.sim.protocols import RunningThread

POP_UNFILLED = "pop-unfilled"
"""Leniency: circular buffers on tensors are popped although nobody pushed."""


class BufferRules:
    """Follows the calls on circular buffers and checks accesses to their pages."""

    def __init__(self, program: ProgramActors, reporter: Reporter) -> None:
        """Report to `reporter`; lenient as far as it is."""
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
        the thread behind those who wrote them: the wait for what the producer pushed later.
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
            mine = self._program.threads[thread.index]
            self._reporter.report(
                mine.finding_at(
                    None,
                    f"circular buffer {buffer.index} still has {_pages(buffer.filled)} at the end "
                    "of the program, which nobody used; wait for and pop as many as are pushed",
                    rule="cb-not-empty",
                    severity="note",
                    detail=(state.describe(),),
                )
            )

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
        """Find pops of pages that may not be filled, whatever ordered the thread behind them."""
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
        self,
        mine: ThreadState,
        states: list[BufferState],
        address: int,
        end: int,
        kind: BreachKind,
    ) -> None:
        """Find out what an access means to pages that the thread has no right to."""
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
        what = f"{verb} {end - address} bytes at {address:#x}"
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
        self,
        mine: ThreadState,
        states: list[BufferState],
        finding: Finding,
        kind: BreachKind,
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


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"
