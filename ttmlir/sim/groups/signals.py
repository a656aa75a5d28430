"""What orders the cores of groups beside circular buffers: semaphores, and pages sent to others.

All cores of a group change their semaphores at once, so each wait ends when it does on all of them.
That is one possible order of events; it stands for all others where nothing depends on the order.
A `Sanitizer` of its own, with a thread for each core's, says what orders what; beyond its rules a
wait has to acquire all changes so far, whoever changes the word later has to know of the wait, and
increments are equal: so a wait ends with the same changes in any order. Pages are sent to where a
thread has reserved pages, as the sender knows; it hands them over when it knows of their arrival.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ttmlir.layout.enums import Arch
from ttmlir.sim.calls.data_movement_api import WaitForSemaphore
from ttmlir.sim.errors import Finding
from ttmlir.sim.execution.scheduler import KernelThread
from ttmlir.sim.machine.device import Core
from ttmlir.sim.machine.memory import CircularBuffer, Memory
from ttmlir.sim.sanitizer.regular import IrregularError, RegularRun
from ttmlir.sim.sanitizer.sanitizer import BarrierKind, Sanitizer
from ttmlir.sim.sanitizer.shadow import Actor, Thread

_Place = tuple[int, Actor, int]
"""Core of a group, who did something there, and at which of its times."""


@dataclass
class _Sent:
    """Bytes of the cores of a group that are sent to others."""

    address: int
    end: int
    places: Sequence[_Place]


@dataclass(frozen=True)
class Mover:
    """A thread of a group that moves data."""

    thread: KernelThread
    """That of the first core, which stands for the others."""
    cores: Sequence[Core]
    threads: list[KernelThread]
    """Of each core: where the sanitizer knows them by."""
    actors: list[Thread] = field(default_factory=list[Thread])
    touched: dict[CircularBuffer, int] = field(default_factory=dict[CircularBuffer, int])
    """When it last reserved or used pages that it produces, by its own time, equal on all cores."""
    sent: list[_Sent] = field(default_factory=list[_Sent])
    """Pages that it has sent and still has."""
    coming: dict[CircularBuffer, list[_Place]] = field(
        default_factory=dict[CircularBuffer, list[_Place]]
    )
    """Who has sent it pages, by circular buffer."""


Receivers = Sequence[tuple[int, int]]
"""Cores of a group that receive something, and which of the sending ones it comes from."""


class Signals:
    """The semaphores of a program whose cores run in groups."""

    def __init__(
        self,
        arch: Arch,
        movers: Sequence[Mover],
        threads: Sequence[KernelThread],
        cores: Sequence[Core],
        regular: RegularRun,
    ) -> None:
        """`threads` are those of all movers, in the order of a program that runs core by core.

        `cores` are those that run something: only these have words that are looked after.
        """
        self._watch = Sanitizer(arch)
        self._regular = regular
        for core in cores:
            self._watch.add(core, core.chip.l1_unreserved_base)
        self._watch.program_started(threads, cores)
        self._words = {core.l1: set(core.semaphores.values()) for core in cores}
        self._waits: dict[tuple[Memory, int], tuple[Actor, int]] = {}
        """By word: who has waited for it last, at which of its times."""
        self._amounts: dict[tuple[Memory, int], int] = {}
        """By word: what is added to it."""
        self._movers = {mover.thread.index: mover for mover in movers}
        for mover in movers:
            mover.actors.extend(map(self._watch.actor, mover.threads))

    def mover(self, thread: KernelThread) -> Mover:
        """What is known of a thread that moves data."""
        return self._movers[thread.index]

    # Semaphores

    def set(self, mover: Mover, address: int, value: int) -> None:
        """Each core sets a word of its own."""
        data = (value & 0xFFFF_FFFF).to_bytes(4, "little")
        for core, thread, actor in zip(mover.cores, mover.threads, mover.actors, strict=True):
            self._check_change(actor, core, address)
            self._watch.semaphore_set(thread, core.l1, address)
            core.l1.write(address, data)

    def increment(
        self, mover: Mover, noc: int, words: Iterable[tuple[Core, int]], amount: int
    ) -> None:
        """Each core adds to a word of some core."""
        for (core, address), thread, actor in zip(words, mover.threads, mover.actors, strict=True):
            self._check_change(actor, core, address)
            if self._amounts.setdefault((core.l1, address), amount) != amount:
                raise IrregularError
            self._watch.word_written(thread, noc, "atomic", core.l1, address)
            value = int.from_bytes(core.l1.read(address, 4), "little") + amount
            core.l1.write(address, (value & 0xFFFF_FFFF).to_bytes(4, "little"))

    def multicast(
        self, mover: Mover, noc: int, source: int, receivers: Sequence[Sequence[Core]], address: int
    ) -> None:
        """Each core sends a word of its own to those of others."""
        for core, thread, actor, others in zip(
            mover.cores, mover.threads, mover.actors, receivers, strict=True
        ):
            if source not in self._words[core.l1]:
                raise IrregularError
            for other in others:
                self._check_change(actor, other, address)
                self._watch.copy_started(
                    thread, noc, "multicast", core.l1, source, other.l1, address, 4
                )
                other.l1.write(address, bytes(core.l1.read(source, 4)))

    def wait(self, mover: Mover, address: int, value: int, *, exactly: bool) -> bool:
        """Wait for words of all cores; False if some are not there yet."""
        late: list[Core] = []
        for core in mover.cores:
            if address not in self._words[core.l1]:
                raise IrregularError
            word = int.from_bytes(core.l1.read(address, 4), "little")
            if not (word == value or (not exactly and word > value)):
                late.append(core)
        if late:
            for core in late:
                core.l1.waiters.setdefault(address, []).append(mover.thread)
            mover.thread.wait(WaitForSemaphore(late[0], address, exactly), value)
            return False
        for core, thread, actor in zip(mover.cores, mover.threads, mover.actors, strict=True):
            self._watch.semaphore_wait(thread, core.l1, address, value, exactly=exactly)
            if not self._watch.space(core.l1).semaphores[address].is_known:
                raise IrregularError
            self._waits[core.l1, address] = actor, actor.time
        return True

    def barrier(self, mover: Mover, noc: int, kind: BarrierKind) -> None:
        """Each core has waited for copies."""
        for thread in mover.threads:
            self._watch.copies_done(thread, noc, kind)

    def _check_change(self, actor: Thread, core: Core, address: int) -> None:
        if address not in self._words.get(core.l1, ()):
            raise IrregularError
        waited = self._waits.get((core.l1, address))
        if waited is not None and not actor.sees(*waited):
            raise IrregularError

    # Pages

    def touch(self, mover: Mover, buffer: CircularBuffer) -> None:
        """It reserves pages of a circular buffer."""
        mover.touched[buffer] = mover.actors[0].time

    def fill(self, mover: Mover, buffer: CircularBuffer, address: int, size: int) -> None:
        """It fills pages, which it must not send any more."""
        self.touch(mover, buffer)
        for sent in mover.sent:
            overlaps = address < sent.end and sent.address < address + size
            if overlaps and not _are_known(mover, sent.places):
                raise IrregularError

    def push(self, mover: Mover, buffer: CircularBuffer) -> None:
        """It hands pages over, which have arrived."""
        if not _are_known(mover, mover.coming.pop(buffer, ())):
            raise IrregularError

    def send(self, mover: Mover, noc: int, address: int, size: int) -> Sequence[_Place]:
        """Each core sends bytes of its L1, by somebody whom this tells."""
        is_kept = self._regular.send(mover.thread, noc, mover.thread.l1, address, size)
        targets: list[_Place] = []
        sources: list[_Place] = []
        for lane, thread in enumerate(mover.threads):
            writers = self._watch.multicast_started(thread, noc)
            targets.append((lane, writers.targets, writers.targets.time))
            sources.append((lane, writers.sources, writers.sources.time))
        if is_kept:
            mover.sent[:] = [each for each in mover.sent if not _are_known(mover, each.places)]
            mover.sent.append(_Sent(address, address + size, sources))
        return targets

    def deliver(
        self,
        sender: Mover,
        places: Sequence[_Place],
        memory: Memory,
        address: int,
        size: int,
        receivers: Receivers,
    ) -> None:
        """Bytes come to cores of the group whose first core has this L1."""
        thread, buffer = self._regular.deliver(memory, address, size)
        mover = self._movers.get(thread.index)
        if mover is None:
            raise IrregularError
        since = mover.touched[buffer]
        coming = mover.coming.setdefault(buffer, [])
        open_sends = [
            each for each in mover.sent if address < each.end and each.address < address + size
        ]
        for lane, origin in receivers:
            actor = sender.actors[origin]
            if not actor.sees(mover.actors[lane], since):
                raise IrregularError
            for each in open_sends:
                if not actor.sees(*each.places[lane][1:]):
                    raise IrregularError
            coming.append((lane, *places[origin][1:]))

    def finish(self) -> Sequence[Finding]:
        """All threads have ended: what there is to note, and nothing worse."""
        if any(
            mover.coming.get(buffer) for mover in self._movers.values() for buffer in mover.coming
        ):
            raise IrregularError
        self._watch.program_ended()
        notes = self._watch.findings
        if any(note.severity != "note" for note in notes):
            raise IrregularError
        return notes


def _are_known(mover: Mover, places: Iterable[_Place]) -> bool:
    """Whether what others, or copies, did is over for the thread on each core."""
    return all(mover.actors[lane].sees(actor, time) for lane, actor, time in places)


def word_values(cores: Iterable[Core]) -> dict[Core, dict[int, int]]:
    """The values of all semaphores by core and address."""
    return {
        core: {
            address: int.from_bytes(core.l1.read(address, 4), "little")
            for address in core.semaphores.values()
        }
        for core in cores
    }
