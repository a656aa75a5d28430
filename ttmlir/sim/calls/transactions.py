"""Transactions of a data-movement processor on the network, and the barriers behind them.

Bytes move when a transaction is issued, or, with `delay_copies`, at the barrier; clocks say when
they would have. Sources: tt-metal, tt_metal/hw/inc/dataflow_api.h; tt-isa-documentation,
WormholeB0/NoC.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import ClassVar

from ttmlir.layout.enums import Arch
from ttmlir.sim.calls.declaration import kernel_call
from ttmlir.sim.calls.kernel_api import KernelApi
from ttmlir.sim.execution.thread import KernelThread
from ttmlir.sim.machine.core import Core, Endpoint
from ttmlir.sim.machine.memory import Memory
from ttmlir.sim.machine.noc import LOCAL_MASK, NETWORKS, Copy, Network, Outstanding
from ttmlir.sim.options import SimOptions
from ttmlir.sim.sanitizer.sanitizer import BarrierKind, WordKind
from ttmlir.sim.timing.costs import page_address_cycles
from ttmlir.sim.timing.noc_model import NocModel

NO_STATE: tuple[Endpoint, int] = (Endpoint("nowhere", "none", 0, (0, 0), Memory("nowhere", 0)), 0)
"""What calls `with_state` find when nothing was set."""

_TIMES: Mapping[BarrierKind, Callable[[Outstanding], int]] = {
    "read": attrgetter("arrived"),
    "write": attrgetter("acknowledged"),
    "flush": attrgetter("left"),
    "atomic": attrgetter("answered"),
}
"""When what a barrier waits for is done."""


class _PageCycles(dict[int | None, int]):
    """Cycles to find a page that is copied, by the number of banks."""

    def __init__(self, arch: Arch) -> None:
        super().__init__()
        self._arch = arch

    def __missing__(self, banks: int | None) -> int:
        cycles = self[banks] = page_address_cycles(self._arch, banks)
        return cycles


class Transactions(KernelApi):
    """What the calls of BRISC and NCRISC are made of.

    `noc_index` is the network that calls use unless told otherwise. A transaction returns False,
    to be tried again, if the thread is too far ahead of the others to issue it now.
    """

    VARIABLES: ClassVar[frozenset[str]] = frozenset({"noc_index", "my_x", "my_y"})

    def __init__(
        self,
        core: Core,
        thread: KernelThread,
        options: SimOptions,
        network: Network,
        *,
        noc_index: int = 0,
        noc_model: NocModel | None = None,
        compile_time_args: Sequence[int] = (),
    ) -> None:
        """`noc_model` gives transactions their times; None: they take none."""
        super().__init__(core, thread, options)
        self.network = network
        self.noc_index = noc_index
        self.noc_model = noc_model
        self.my_x = [core.coordinate[0]] * NETWORKS
        self.my_y = [core.coordinate[1]] * NETWORKS
        self.outstanding = [Outstanding() for _ in range(NETWORKS)]
        self._compile_time_args = compile_time_args
        self._delay = options.delay_copies
        self._lenient_alignment = "noc-alignment" in options.leniencies
        self._read_state = [NO_STATE] * NETWORKS
        self._write_state = [NO_STATE] * NETWORKS
        self._trid = 0
        self._page_cycles = _PageCycles(core.chip.arch)
        self.transactions = 0
        self.bytes_read = 0
        self.bytes_written = 0
        """Into the networks; a multicast counts once."""

    def counters(self) -> dict[str, int]:
        """What the thread has moved."""
        return {
            **super().counters(),
            "transactions": self.transactions,
            "bytes read": self.bytes_read,
            "bytes written": self.bytes_written,
        }

    def _read(
        self, endpoint: Endpoint, source: int, address: int, size: int, noc: int | None
    ) -> bool:
        thread = self.thread
        if thread.clock > self.scheduler.horizon:
            return False
        if noc is None:
            noc = self.noc_index
        elif not 0 <= noc < NETWORKS:
            raise self._no_network(noc)
        if size < 1 or (source ^ address) & (endpoint.read_alignment - 1):
            self._check_copy(endpoint, source, address, size, endpoint.read_alignment)
        if self.noc_model is not None:
            outstanding = self.outstanding[noc]
            thread.clock, arrived = self.noc_model.read(
                thread.clock, self.core.coordinate, endpoint.coordinate, size, noc
            )
            if arrived > outstanding.arrived:
                outstanding.arrived = arrived
            self.transactions += 1
            self.bytes_read += size
        if self.watch is not None:
            self.watch.copy_started(
                thread, noc, "read", endpoint.memory, source, self.l1, address, size, self._trid
            )
        self.scheduler.progress += 1
        if self._delay:
            endpoint.memory.ensure(source, size)
            copy = Copy(endpoint.memory, source, self.l1, address, size, trid=self._trid)
            self.outstanding[noc].reads.append(copy)
        else:
            self.l1.copy(address, endpoint.memory, source, size)
        return True

    def _write(
        self,
        endpoint: Endpoint,
        target: int,
        address: int,
        size: int,
        noc: int | None,
        trid: int = 0,
    ) -> bool:
        thread = self.thread
        if thread.clock > self.scheduler.horizon:
            return False
        if noc is None:
            noc = self.noc_index
        elif not 0 <= noc < NETWORKS:
            raise self._no_network(noc)
        if size < 1 or (target ^ address) & (endpoint.write_alignment - 1):
            self._check_copy(endpoint, target, address, size, endpoint.write_alignment)
        if self.noc_model is not None:
            outstanding = self.outstanding[noc]
            thread.clock, departed, _, acknowledged = self.noc_model.write(
                thread.clock, self.core.coordinate, endpoint.coordinate, size, noc
            )
            outstanding.left = max(outstanding.left, departed)
            outstanding.acknowledged = max(outstanding.acknowledged, acknowledged)
            self.transactions += 1
            self.bytes_written += size
        if self.watch is not None:
            self.watch.copy_started(
                thread, noc, "write", self.l1, address, endpoint.memory, target, size, trid
            )
        self.scheduler.progress += 1
        if self._delay:
            endpoint.memory.ensure(target, size)
            copy = Copy(self.l1, address, endpoint.memory, target, size, trid=trid)
            self.outstanding[noc].writes.append(copy)
        else:
            endpoint.memory.copy(target, self.l1, address, size)
        return True

    def _multicast(
        self,
        address: int,
        target: int,
        size: int,
        num_dests: int,
        noc: int | None,
        *,
        itself: bool,
        linked: bool = False,
        at_once: bool = False,
    ) -> bool:
        """Copy to a rectangle; `at_once` moves the bytes and those ordered before them now."""
        thread = self.thread
        if thread.clock > self.scheduler.horizon:
            return False
        noc = self._noc(noc)
        cores = self._destinations(target, noc, num_dests, itself)
        local = target & LOCAL_MASK
        self._check_copy(self.core, local, address, size, self.core.write_alignment, at_once)
        outstanding = self.outstanding[noc]
        arrival = 0
        if self.noc_model is not None:
            targets = tuple(core.coordinate for core in cores)
            thread.clock, departed, arrival, acknowledged = self.noc_model.multicast(
                thread.clock, self.core.coordinate, targets, size, noc, linked
            )
            outstanding.left = max(outstanding.left, departed)
            outstanding.acknowledged = max(outstanding.acknowledged, acknowledged)
            self.transactions += 1
            self.bytes_written += size
        self.scheduler.progress += 1
        for core in cores:
            if self.watch is not None:
                self.watch.copy_started(
                    thread, noc, "multicast", self.l1, address, core.l1, local, size
                )
            copy = Copy(self.l1, address, core.l1, local, size, multicast=True)
            if self._delay and not at_once:
                core.l1.ensure(local, size)
                outstanding.writes.append(copy)
                continue
            outstanding.move_ordered(core.l1, multicast=True)
            core.semaphore_times[local] = arrival
            copy.move()
        return True

    def _destinations(
        self, target: int, noc: int, num_dests: int, itself: bool
    ) -> tuple[Core, ...]:
        """The cores of a rectangle; error if they are not as many as the call says."""
        cores = self.network.rectangle(target, noc)
        if not itself:
            cores = tuple(core for core in cores if core is not self.core)
        if len(cores) == num_dests and cores:
            return cores
        there = ", ".join(str(core.logical) for core in cores) or "none"
        raise self.thread.error(
            f"the multicast is said to reach {num_dests} cores, but the rectangle has "
            f"{len(cores)} worker cores{'' if itself else ' besides this one'}; the barrier would "
            "wait for ever",
            rule="noc-num-dests",
            detail=(
                f"logical cores of the rectangle on network {noc}: {there}",
                "the start of a rectangle is its last corner on network 1",
            ),
        )

    def _write_word(
        self,
        endpoint: Endpoint,
        local: int,
        data: bytes,
        noc: int | None,
        kind: WordKind,
        *,
        from_l1: bool = False,
    ) -> bool:
        """Move a word now, behind the writes that are ordered before it.

        It comes with the command, or `from_l1` as all that is written.
        """
        noc = self._noc(noc)
        if local % 4:
            endpoint.memory.check_bounds(local, len(data))
            raise self.thread.error(
                f"address {local:#x} of a 32-bit word is not a multiple of 4", rule="unaligned"
            )
        outstanding = self.outstanding[noc]
        if self.noc_model is not None:
            model = self.noc_model
            start, core, target = self.thread.clock, self.core.coordinate, endpoint.coordinate
            if kind == "atomic":
                times = model.atomic(start, core, target, noc)
            elif from_l1:
                times = model.write(start, core, target, len(data), noc)
            else:
                times = model.write_word(start, core, target, noc)
            self.thread.clock, departed, arrival, acknowledged = times
            if kind == "atomic":
                outstanding.answered = max(outstanding.answered, acknowledged)
            else:
                outstanding.left = max(outstanding.left, departed)
                outstanding.acknowledged = max(outstanding.acknowledged, acknowledged)
            self.transactions += 1
            if isinstance(endpoint, Core):
                endpoint.semaphore_times[local] = arrival
        if self.watch is not None:
            self.watch.word_written(self.thread, noc, kind, endpoint.memory, local)
        outstanding.move_ordered(endpoint.memory, multicast=False)
        endpoint.memory.write(local, data)
        self.scheduler.progress += 1
        return True

    # Barriers.

    def _finish(
        self, call: str, kind: BarrierKind, noc: int | None, trid: int | None = None
    ) -> bool:
        """Wait for everything of a kind that was started, or for the copies with a number."""
        noc = self.noc_index if noc is None else self._noc(noc)
        outstanding = self.outstanding[noc]
        if self.timed:
            done = _TIMES[kind](outstanding)
            if done > self.thread.clock:
                self.thread.wait_until(done, call)
        if self._delay and kind == "read":
            outstanding.move_reads(trid)
        elif self._delay and kind != "atomic":
            outstanding.move_writes(trid)
        if self.watch is not None:
            self.watch.copies_done(self.thread, noc, kind, trid)
        return True

    @kernel_call(waits=True)
    def noc_async_read_barrier(self, noc: int | None = None) -> bool:
        """Wait until all reads have arrived."""
        return self._finish("noc_async_read_barrier", "read", noc)

    @kernel_call(waits=True)
    def noc_async_read_barrier_with_trid(self, trid: int, noc: int | None = None) -> bool:
        """Wait until the reads with a transaction number have arrived."""
        return self._finish("noc_async_read_barrier", "read", noc, trid)

    @kernel_call(waits=True)
    def noc_async_write_barrier(self, noc: int | None = None) -> bool:
        """Wait until all writes have arrived and are acknowledged."""
        return self._finish("noc_async_write_barrier", "write", noc)

    @kernel_call(waits=True)
    def noc_async_write_barrier_with_trid(self, trid: int, noc: int | None = None) -> bool:
        """Wait until the writes with a transaction number have arrived."""
        return self._finish("noc_async_write_barrier", "write", noc, trid)

    @kernel_call(waits=True)
    def noc_async_writes_flushed(self, noc: int | None = None) -> bool:
        """Wait until all writes have left L1, whose bytes may then change."""
        return self._finish("noc_async_writes_flushed", "flush", noc)

    noc_async_posted_writes_flushed = noc_async_writes_flushed

    @kernel_call(waits=True)
    def noc_async_atomic_barrier(self, noc: int | None = None) -> bool:
        """Wait until all additions are done."""
        return self._finish("noc_async_atomic_barrier", "atomic", noc)

    @kernel_call(waits=True)
    def noc_async_full_barrier(self, noc: int | None = None) -> bool:
        """Wait until everything that was started is done."""
        self.noc_async_read_barrier(noc)
        self.noc_async_write_barrier(noc)
        return self.noc_async_atomic_barrier(noc)

    def move_all(self) -> bool:
        """Move the bytes of all copies that still wait; whether there were any."""
        moved = [each.move_reads() or each.move_writes() for each in self.outstanding]
        return any(moved)

    # Checks.

    def _noc(self, noc: int | None) -> int:
        if noc is None:
            return self.noc_index
        if not 0 <= noc < NETWORKS:
            raise self._no_network(noc)
        return noc

    def _no_network(self, noc: int) -> Exception:
        return self.thread.error(f"network {noc} does not exist; there are 0 and 1")

    def _state(
        self, states: list[tuple[Endpoint, int]], noc: int | None, setter: str
    ) -> tuple[Endpoint, int]:
        state = states[self._noc(noc)]
        if state is NO_STATE:
            raise self.thread.error(
                f"nothing was set before; call {setter} first", rule="noc-state"
            )
        return state

    def _check_packet(self, size: int, call: str) -> None:
        largest = self.core.chip.max_packet_size
        if size > largest:
            raise self.thread.error(
                f"{call} of {size} bytes; a packet holds at most {largest}: use the call without "
                "one_packet, which splits the copy",
                rule="noc-packet-size",
            )

    def _check_copy(
        self,
        endpoint: Endpoint,
        there: int,
        here: int,
        size: int,
        alignment: int,
        word: bool = False,
    ) -> None:
        """Refuse copies of nothing, and addresses that differ within the alignment."""
        if size < 1:
            raise self.thread.error(
                f"a copy of {size} bytes never completes; copy at least one byte", rule="noc-size"
            )
        if (there ^ here) & (alignment - 1) and not self._lenient_alignment and not word:
            endpoint.memory.check_bounds(there, size)
            self.l1.check_bounds(here, size)
            raise self.thread.error(
                f"address {here:#x} in L1 and {there:#x} in {endpoint.name} differ modulo "
                f"{alignment}: {here % alignment} and {there % alignment}; a copy needs the same "
                "offset on both sides",
                rule="noc-alignment",
            )
