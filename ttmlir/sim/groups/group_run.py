"""Runs a program whose cores do the same, each kernel once for a whole group of cores.

A group is of cores with the same kernels, circular buffers and settings; run-time arguments may
differ. Its first core runs the kernels (`tracing`), where possible: with calls that are right and
mean the same in any order of the cores, which `RegularRun` watches. A branch or a loop on which
cores disagree splits the group, and all starts anew. Then clocks are found for each core (`timing`)
and numbers for all cores at once (`values`). Nothing changes before all that has succeeded; where
it does not, the program runs core by core.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from traceback import walk_tb
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from ttmlir.optable.kernel import Role
from ttmlir.optable.kernel.releases import Release
from ttmlir.sim.calls.compute_api import give_registers
from ttmlir.sim.calls.lanes_api import COMPUTED
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.program import Kernel, Program
from ttmlir.sim.execution.scheduler import KernelSource, KernelThread, Scheduler
from ttmlir.sim.groups.known_times import find_times
from ttmlir.sim.groups.per_core import DisagreementError, PerCore
from ttmlir.sim.groups.signals import Mover, Signals, word_values
from ttmlir.sim.groups.timing import Answers, TimedCore, TimedThread, WrongAnswerError
from ttmlir.sim.groups.tracing import (
    CALLS,
    NAMES,
    GroupMemory,
    Neighbours,
    TracedHalf,
    TracedMath,
    TracedMover,
    TracedPack,
    TracedThread,
    TracedUnpack,
)
from ttmlir.sim.kernels import CompiledKernel
from ttmlir.sim.machine.device import Core, SimDevice
from ttmlir.sim.machine.numerics import Register
from ttmlir.sim.machine.registers import DestinationRegisters, Products
from ttmlir.sim.sanitizer.regular import IrregularError, RegularRun
from ttmlir.sim.sanitizer.sanitizer import Sanitizer
from ttmlir.sim.timing.noc_model import NocModel
from ttmlir.sim.timing.report import ThreadTimes

SWITCH = "TTMLIR_SIMULATE_GROUPS"
"""The environment variable that lets programs run core by core where it is 0."""

SMALLEST_GROUP = 4
"""Cores that groups have on average: smaller ones take longer than cores by themselves."""

_Cores = Sequence[tuple[int, int]]

_TRIES_BY_TRUTH = 2
"""So often groups are split by the truth of one comparison before they are by what it compares."""


@dataclass(frozen=True)
class _Known:
    """What is known of a program that ran."""

    alike: list[_Cores]
    """Groups of cores that have in common what the program says."""
    groups: list[_Cores]
    """Those that could run."""
    answers: Answers


_known: WeakKeyDictionary[Program, _Known] = WeakKeyDictionary()

_MOST_MISTAKES = 8
"""So often a program is tried anew because kernels were told what clocks do not say."""

_TRACED = {Role.UNPACK: TracedUnpack, Role.MATH: TracedMath, Role.PACK: TracedPack}
_Traced = TracedUnpack | TracedMath | TracedPack | TracedMover


class RunnableProgram(Protocol):
    """A program that is to run on a device."""

    device: SimDevice
    program: Program
    noc_model: NocModel | None
    """None: without clocks."""

    def place(self) -> None:
        """Set up the cores."""
        ...

    def cores(self) -> tuple[Core, ...]:
        """The cores that are set up."""
        ...

    def compile_for(self, core: Core, kernel: Kernel, role: Role) -> CompiledKernel:
        """The kernel compiled for a processor; SimError for what is wrong in its text."""
        ...

    def release_of(self, kernel: Kernel) -> Release | None:
        """The state of tt-metal that a kernel is said to be of; None if its headers say it."""
        ...


def run_in_groups(run: RunnableProgram, watch: Sanitizer | None) -> list[ThreadTimes] | None:
    """Run a program: the times of its threads, core by core.

    None, and nothing has changed, if it has to run core by core.
    """
    options = run.device.options
    suits = options.schedule_seed is None and not options.delay_copies
    suits = suits and not any(each.tiles for each in run.program.circular_buffers)
    if not suits or os.environ.get(SWITCH) == "0":
        return None
    alike = _find_groups(run.program)
    known = _known.get(run.program)
    if known is None or known.alike != alike:
        known = _Known(alike, alike, Answers())
    groups, answers = known.groups, known.answers
    places: Counter[tuple[str, int]] = Counter()
    mistakes = 0
    while len(groups) * SMALLEST_GROUP <= len(run.program.cores) and mistakes <= _MOST_MISTAKES:
        attempt = _Attempt(run, watch, groups, answers)
        try:
            times = attempt.run()
        except WrongAnswerError:
            mistakes += 1
        except DisagreementError as error:
            place = _place_of(error)
            places[place] += 1
            # Cores that take turns compare their own number with each turn.
            takes_turns = places[place] > _TRIES_BY_TRUTH and error.compared
            groups = attempt.split(error.compared if takes_turns else error.numbers)
        except (IrregularError, SimError, TypeError):
            # Python's own functions take no `PerCore`.
            return None
        else:
            _known[run.program] = _Known(alike, groups, answers)
            return times
    return None


def _place_of(error: DisagreementError) -> tuple[str, int]:
    """File and line of a kernel that asked, the same for all processors."""
    *_, (frame, line), _ = walk_tb(error.__traceback__)
    return frame.f_code.co_filename, line


def _find_groups(program: Program) -> list[_Cores]:
    """The cores of a program by what they have in common, in the order of the first ones."""
    found: dict[tuple[object, ...], list[tuple[int, int]]] = {}
    for core in program.cores:
        kernels = [
            (place, len(kernel.arguments.get(core, ())))
            for place, kernel in enumerate(program.kernels)
            if core in kernel.cores
        ]
        buffers = [
            place for place, each in enumerate(program.circular_buffers) if core in each.cores
        ]
        semaphores = [each.index for each in program.semaphores if core in each.cores]
        found.setdefault((tuple(kernels), tuple(buffers), tuple(semaphores)), []).append(core)
    return list(found.values())


class _Group:
    """Cores that run the same kernels, and what the first of them did."""

    def __init__(
        self,
        run: RunnableProgram,
        logical: _Cores,
        index: int,
        scheduler: Scheduler,
        neighbours: Neighbours,
        answers: Answers,
    ) -> None:
        """Threads for the first core; `index` is that of the first of them."""
        device = run.device
        self.cores = [device.core(x, y) for x, y in logical]
        is_exact = device.options.numerics == "exact"
        self.memory = GroupMemory(len(self.cores), is_exact=is_exact)
        self._scheduler = scheduler
        self._neighbours = neighbours
        self._answers = answers
        self.threads: list[TracedThread] = []
        self.apis: list[_Traced] = []
        self.kernels: list[Kernel] = []
        first = self.cores[0]
        for kernel in run.program.kernels:
            if first.logical not in kernel.cores:
                continue
            if kernel.role == Role.COMPUTE:
                _give_traced_registers(first, kernel, timed=device.options.timed)
            for role in kernel.roles:
                self._add(run, kernel, role, index + len(self.threads))

    def _add(self, run: RunnableProgram, kernel: Kernel, role: Role, index: int) -> None:
        first = self.cores[0]
        thread = TracedThread(
            first,
            role,
            KernelSource(kernel.name, kernel.file),
            index,
            scheduler=self._scheduler,
            arguments=tuple(kernel.arguments.get(first.logical, ())),
            common_arguments=tuple(kernel.common_arguments),
        )
        api = _traced_api(run.device, thread, kernel, run)
        api.trace(self.memory, self.cores, self._arguments(kernel))
        api.answers = self._answers
        if isinstance(api, TracedMover):
            api.neighbours = self._neighbours
        compiled = run.compile_for(first, kernel, role)
        calls = set(compiled.bindings.values())
        if not calls <= CALLS or (role is Role.PACK and calls & COMPUTED):
            raise IrregularError
        thread.kernel = KernelSource(kernel.name, kernel.file, compiled.sources)
        thread.start(compiled.start(api, NAMES))
        self.threads.append(thread)
        self.apis.append(api)
        self.kernels.append(kernel)

    def _arguments(self, kernel: Kernel) -> list[Any]:
        """The run-time arguments of all cores: numbers, `PerCore` where they differ."""
        rows = [kernel.arguments.get(core.logical, ()) for core in self.cores]
        columns = ([each & 0xFFFF_FFFF for each in column] for column in zip(*rows, strict=True))
        return [
            column[0] if column.count(column[0]) == len(column) else PerCore(column)
            for column in columns
        ]

    def finish(self) -> None:
        """The kernels of the first core have ended."""
        cbs = self.cores[0].cbs.values()
        if any(cb.received != cb.acked and not cb.aliased for cb in cbs):
            raise IrregularError


def _give_traced_registers(core: Core, kernel: Kernel, *, timed: bool) -> None:
    give_registers(core, kernel.compute, {}, timed=timed)
    dst = core.dst
    assert isinstance(dst, DestinationRegisters), "it was given just now"
    none = Products(Register.BF16, kernel.compute.fidelity)
    dst.use_halves(lambda: TracedHalf(none))


def _traced_api(
    device: SimDevice, thread: TracedThread, kernel: Kernel, run: RunnableProgram
) -> _Traced:
    compute = _TRACED.get(thread.role)
    if compute is not None:
        return compute(thread.core, thread, device.options, kernel.compute)
    return TracedMover(
        thread.core,
        thread,
        device.options,
        device.network,
        noc_index=kernel.noc_index,
        compile_time_args=kernel.compile_time_args,
        has_page_sizes=run.release_of(kernel) is Release.LATE_2026,
    )


class _Attempt:
    """A try with some groups."""

    def __init__(
        self,
        run: RunnableProgram,
        watch: Sanitizer | None,
        groups: list[_Cores],
        answers: Answers,
    ) -> None:
        self._run = run
        self._answers = answers
        self._watch = watch
        self._groups = groups
        self._scheduler = Scheduler(replace(run.device.options, timed=False))
        self._traced: list[_Group] = []
        self._lanes: dict[Core, tuple[_Group, int]] = {}
        self.signals: Signals | None = None

    def split(self, numbers: Sequence[int]) -> list[_Cores]:
        """The groups, with the one that disagreed split by numbers of its cores."""
        thread = self._scheduler.current
        tried = next(i for i, group in enumerate(self._traced) if thread in group.threads)
        parts: dict[int, list[tuple[int, int]]] = {}
        for core, number in zip(self._groups[tried], numbers, strict=True):
            parts.setdefault(number, []).append(core)
        before, after = self._groups[:tried], self._groups[tried + 1 :]
        return [*before, *parts.values(), *after]

    def find(self, core: Core) -> tuple[GroupMemory, Core, int]:
        """The memory of a core's group, its first core, and which one of them it is.

        Raises IrregularError for a core that runs nothing.
        """
        if core not in self._lanes:
            raise IrregularError
        group, lane = self._lanes[core]
        return group.memory, group.cores[0], lane

    def run(self) -> list[ThreadTimes]:
        """Run the program: the times of its threads.

        Raises IrregularError or SimError where that cannot be done, DisagreementError where a group
        has to be split.
        """
        run, groups = self._run, self._traced
        run.place()
        for logical in self._groups:
            count = sum(len(group.threads) for group in groups)
            groups.append(_Group(run, logical, count, self._scheduler, self, self._answers))
        threads = [thread for group in groups for thread in group.threads]
        regular = RegularRun(self._watch, threads, run.cores())
        for group in groups:
            for api in group.apis:
                api.watch = regular
            self._lanes |= {core: (group, lane) for lane, core in enumerate(group.cores)}
        words = word_values(self._lanes)
        if run.program.semaphores:
            self._watch_signals(regular)
        with np.errstate(all="ignore"):
            self._scheduler.run(threads)
            for group in groups:
                group.finish()
            notes = () if self.signals is None else self.signals.finish()
            times = self._find_times(words)
            for group in groups:
                group.memory.evaluate()
                _tell(regular, group)
            regular.finish(notes)
            for group in groups:
                _store(group)
        return times

    def _watch_signals(self, regular: RegularRun) -> None:
        """Have semaphores looked after, with a thread for each core's."""
        movers = {
            id(thread): Mover(thread, group.cores, [])
            for group in self._traced
            for thread in group.threads
            if thread.role in (Role.BRISC, Role.NCRISC)
        }
        threads: list[KernelThread] = []
        index = 0
        for core, group, _ in self._in_order():
            for thread in group.threads:
                mover = movers.get(id(thread))
                if mover is not None:
                    mover.threads.append(KernelThread(core, thread.role, thread.kernel, index))
                    threads.append(mover.threads[-1])
                index += 1
        arch = self._run.device.chip.arch
        self.signals = Signals(arch, [*movers.values()], threads, [*self._lanes], regular)

    def _in_order(self) -> Iterator[tuple[Core, _Group, int]]:
        """The cores as a program numbers them, with their groups and places in these."""
        for x, y in self._run.program.cores:
            core = self._run.device.core(x, y)
            yield core, *self._lanes[core]

    def _find_times(self, words: Mapping[Core, Mapping[int, int]]) -> list[ThreadTimes]:
        """The times of all threads, in the order in which threads are numbered core by core.

        `words` are the values of semaphores at the beginning.
        """
        run = self._run
        steps = {id(api): api.recorder.steps() for group in self._traced for api in group.apis}
        timed: list[TimedThread] = []
        of_threads: list[tuple[Core, KernelThread, _Traced]] = []
        for core, group, lane in self._in_order():
            dst = group.cores[0].dst
            halves = dst.num_halves if isinstance(dst, DestinationRegisters) else 0
            state = TimedCore(core.coordinate, lane, core.cbs, halves, words[core])
            for thread, api in zip(group.threads, group.apis, strict=True):
                timed.append(TimedThread(len(timed), state, steps[id(api)]))
                of_threads.append((core, thread, api))
        if run.noc_model is not None:
            try:
                find_times(timed, run.noc_model, run.device.options.cycle_limit)
            except WrongAnswerError:
                for each, (core, thread, _) in zip(timed, of_threads, strict=True):
                    self._answers.learn(core.logical, thread.role, each)
                raise
        return [
            ThreadTimes(
                core=core.logical,
                role=thread.role_name,
                kernel=thread.kernel.name,
                cycles=each.clock,
                stalls=each.stalls,
                counters=api.counters(),
            )
            for each, (core, thread, api) in zip(timed, of_threads, strict=True)
        ]


def _tell(regular: RegularRun, group: _Group) -> None:
    """Tell what the other cores of a group did, as the first one's was watched."""
    memory = group.memory
    reads = (
        (page.memories[lane], page.sources[lane], page.size)
        for page in memory.reads
        for lane in range(1, memory.num_cores)
    )
    writes = (
        (memories[lane], targets[lane], page.size)
        for memories, targets, page in memory.writes
        for lane in range(1, memory.num_cores)
    )
    first, *others = (core.l1 for core in group.cores)
    regular.repeat(first, others, reads, writes)


def _store(group: _Group) -> None:
    """Put what a group wrote, and what its circular buffers hold, into the memories."""
    for memories, targets, page in group.memory.writes:
        for memory, target, row in zip(memories, targets, page.read(), strict=True):
            memory.write(target, row.data)
    for address, page in group.memory.pages.items():
        for core, row in zip(group.cores, page.read(), strict=True):
            core.l1.write(address, row.data)
