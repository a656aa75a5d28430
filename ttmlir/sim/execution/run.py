"""Runs a program on a device: sets up its cores, makes a thread of each kernel, runs them all."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.compute_api import give_registers
from ttmlir.sim.calls.data_movement_api import DataMovementApi
from ttmlir.sim.calls.declaration import waiting_calls
from ttmlir.sim.calls.kernel_api import KernelApi
from ttmlir.sim.calls.math_api import MathApi
from ttmlir.sim.calls.pack_api import PackApi
from ttmlir.sim.calls.unpack_api import UnpackApi
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.kernel_build import build_facts
from ttmlir.sim.execution.page_log import PageLog
from ttmlir.sim.execution.placement import place
from ttmlir.sim.execution.program import Kernel, Program
from ttmlir.sim.execution.scheduler import Scheduler
from ttmlir.sim.execution.thread import KernelSource, KernelThread
from ttmlir.sim.findings import Finding, Position
from ttmlir.sim.kernels import CompiledKernel, compile_kernel
from ttmlir.sim.kernels.build import Build
from ttmlir.sim.machine.chip import SimChip
from ttmlir.sim.machine.core import Core
from ttmlir.sim.machine.device import SimDevice
from ttmlir.sim.timing.launch import launch_ns
from ttmlir.sim.timing.noc_model import NocModel
from ttmlir.sim.timing.noc_parameters import noc_parameters
from ttmlir.sim.timing.program_times import ProgramTimes, ThreadTimes
from ttmlir.sim.timing.timeline import Timeline, Track

COMPUTE_APIS: dict[Role, type[UnpackApi] | type[MathApi] | type[PackApi]] = {
    Role.UNPACK: UnpackApi,
    Role.MATH: MathApi,
    Role.PACK: PackApi,
}
"""The calls of the processors that run compute kernels."""


@dataclass(frozen=True, kw_only=True)
class ProgramReport:
    """What a program did; without clocks, all times are 0 and `networks` is None."""

    chip: SimChip
    threads: tuple[ThreadTimes, ...]
    has_circular_buffers: bool = False
    findings: tuple[Finding, ...] = ()
    """What the sanitizer let pass but has to say."""
    printed: tuple[str, ...] = field(default=(), repr=False)
    """Lines that kernels printed."""
    networks: NocModel | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        """How long it took, on how many cores."""
        return f"ProgramReport({self.cycles:,} cycles on {self.num_cores} cores)"

    @property
    def cycles(self) -> int:
        """When the last thread ended."""
        return max((thread.cycles for thread in self.threads), default=0)

    @property
    def num_cores(self) -> int:
        """Cores that ran kernels."""
        return len({thread.core for thread in self.threads})

    def times(self, name: str) -> ProgramTimes:
        """The times under the name of the program, for reports; SimError without clocks."""
        if self.networks is None:
            raise SimError("the program ran without clocks; set SimOptions.timed for its times")
        return ProgramTimes(
            name=name,
            clock_hz=self.chip.clock_hz,
            threads=self.threads,
            networks=self.networks,
            launch_ns=launch_ns(
                {thread.role for thread in self.threads},
                self.chip.arch,
                circular_buffers=self.has_circular_buffers,
            ),
        )


class _Run:
    """One run of a program."""

    def __init__(
        self,
        device: SimDevice,
        program: Program,
        timeline: Timeline | None,
        page_log: PageLog | None,
    ) -> None:
        self.device = device
        self.page_log = page_log
        self.program = program
        self.timeline = timeline
        self.threads: list[KernelThread] = []
        self.movers: list[DataMovementApi] = []
        self.apis: list[KernelApi] = []
        self.compiled: dict[tuple[int, Role, Build], CompiledKernel] = {}
        self.scheduler = Scheduler(device.options, self.move_held_copies)
        self.noc_model = _noc_model(device) if device.options.timed else None

    def move_held_copies(self) -> bool:
        """Move the bytes of copies that no barrier waited for; whether there were any."""
        return any([mover.move_all() for mover in self.movers])

    def prepare(self) -> None:
        """Make the threads of all kernels, core by core."""
        place(self.device, self.program)
        for x, y in self.program.cores:
            core = self.device.core(x, y)
            for kernel in self.program.kernels:
                if core.logical in kernel.cores:
                    self._add(core, kernel)

    def _add(self, core: Core, kernel: Kernel) -> None:
        if kernel.role == Role.COMPUTE:
            give_registers(core, kernel.compute, timed=self.device.options.timed)
        for role in kernel.roles:
            thread = KernelThread(
                core,
                role,
                KernelSource(kernel.name, kernel.file),
                len(self.threads),
                scheduler=self.scheduler,
                arguments=tuple(kernel.arguments.get(core.logical, ())),
                common_arguments=tuple(kernel.common_arguments),
                origin=kernel.origin,
            )
            self._start(thread, kernel)
            self.threads.append(thread)

    def _start(self, thread: KernelThread, kernel: Kernel) -> None:
        api = self._api(thread, kernel)
        build = build_facts(thread.core, kernel, thread.role)
        compiled = self._compile(kernel, thread.role, build, type(api))
        thread.kernel = KernelSource(kernel.name, kernel.file, compiled.sources)
        if self.timeline is not None:
            track = Track(thread.core.logical, thread.role_name, kernel.name)
            self.timeline.watch(api, waiting_calls(type(api)), thread, track)
        if self.page_log is not None:
            self.page_log.watch(api, kernel.name)
        self.scheduler.interleave(api, (*waiting_calls(type(api)), "poll"))
        thread.start(compiled.start(api))
        self.apis.append(api)

    def _compile(
        self, kernel: Kernel, role: Role, build: Build, api: type[KernelApi]
    ) -> CompiledKernel:
        """The kernel compiled for a processor; SimError for what is wrong in its text."""
        key = (id(kernel), role, build)
        if key in self.compiled:
            return self.compiled[key]
        try:
            made = compile_kernel(
                kernel.text,
                kernel.file,
                role,
                api=api,
                defines=kernel.defines,
                compile_time_args=kernel.compile_time_args,
                named_compile_time_args=kernel.named_compile_time_args,
                arch_macro=self.device.chip.spec.macro,
                build=build,
                include_path=kernel.include_path,
                timed=self.device.options.timed,
            )
        except CppSyntaxError as error:
            place = error.position
            raise SimError(
                error.message,
                Position(place.file, place.line, place.column),
                source_line=error.line,
                detail=error.notes,
            ) from None
        self.compiled[key] = made
        return made

    def _api(self, thread: KernelThread, kernel: Kernel) -> KernelApi:
        compute = COMPUTE_APIS.get(thread.role)
        options = self.device.options
        if compute is not None:
            return compute(thread.core, thread, options, kernel.compute)
        mover = DataMovementApi(
            thread.core,
            thread,
            options,
            self.device.network,
            noc_index=kernel.noc_index,
            noc_model=self.noc_model,
            compile_time_args=kernel.compile_time_args,
        )
        self.movers.append(mover)
        return mover

    def run(self) -> ProgramReport:
        """Run the threads to their end."""
        watch = self.device.watch
        first_line = len(self.device.printed)
        if watch is not None:
            cores = (self.device.core(x, y) for x, y in self.program.configured_cores)
            watch.program_started(self.threads, tuple(cores))
        try:
            with np.errstate(all="ignore"):  # Numbers overflow without a warning, as on the chip.
                self.scheduler.run(self.threads)
        except SimError as error:
            if watch is not None:
                watch.program_stopped(error)
            raise
        finally:
            for api in self.apis:
                api.end()
        self.move_held_copies()
        if watch is not None:
            watch.program_ended()
        return ProgramReport(
            chip=self.device.chip,
            threads=tuple(map(_times, self.threads, self.apis)),
            has_circular_buffers=bool(self.program.circular_buffers),
            findings=() if watch is None else tuple(watch.findings),
            printed=tuple(self.device.printed[first_line:]),
            networks=self.noc_model,
        )


def run_program(
    device: SimDevice,
    program: Program,
    *,
    timeline: Timeline | None = None,
    page_log: PageLog | None = None,
) -> ProgramReport:
    """Run a program until all its threads have ended.

    `timeline` records what they do when, `page_log` what they hand over in circular buffers.

    Raises SimError for whatever is wrong with it: AllocationError, DeadlockError, CycleLimitError,
    errors of the kernels' text, and what the sanitizer finds.
    """
    if not program.kernels:
        raise SimError("the program has no kernels; create at least one before it is run")
    run = _Run(device, program, timeline, page_log)
    run.prepare()
    return run.run()


def _noc_model(device: SimDevice) -> NocModel:
    chip = device.chip
    channels = {coordinate: channel for channel, coordinate in enumerate(chip.dram)}
    return NocModel(noc_parameters(chip.arch), channels)


def _times(thread: KernelThread, api: KernelApi) -> ThreadTimes:
    return ThreadTimes(
        core=thread.core.logical,
        role=thread.role_name,
        kernel=thread.kernel.name,
        cycles=thread.clock,
        stalls=dict(thread.stalls),
        counters=api.counters(),
    )
