"""Runs a program on a device: sets up its cores, makes a thread of each kernel, runs them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ttmlir.collector import without_collections
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.layout.enums import DataType, MathFidelity, MemorySpace
from ttmlir.optable.kernel import Role
from ttmlir.optable.kernel.releases import RELEASES, Release
from ttmlir.sim.calls.compute_api import ComputeSettings, WaitingProducts, give_registers
from ttmlir.sim.calls.device_objects import DataMovementApi
from ttmlir.sim.calls.ethernet_api import EthernetApi
from ttmlir.sim.calls.fabric_api import FabricApi
from ttmlir.sim.calls.kernel_api import KernelApi, waiting_calls
from ttmlir.sim.calls.math_api import MathApi
from ttmlir.sim.calls.pack_api import PackApi
from ttmlir.sim.calls.remote_buffer_api import align
from ttmlir.sim.calls.unpack_api import UnpackApi
from ttmlir.sim.errors import AllocationError, Finding, Position, SimError
from ttmlir.sim.execution.program import CircularBufferSpec, GlobalPages, Kernel, Program
from ttmlir.sim.execution.scheduler import KernelSource, KernelThread, Scheduler
from ttmlir.sim.kernels import CompiledKernel, compile_kernel
from ttmlir.sim.kernels.build import Build, CircularBufferFacts
from ttmlir.sim.machine.address_generators import Buffer
from ttmlir.sim.machine.cluster import Cluster
from ttmlir.sim.machine.device import Core, SimChip, SimDevice
from ttmlir.sim.machine.fabric import Fabric
from ttmlir.sim.machine.memory import CircularBuffer
from ttmlir.sim.machine.numerics import FORMAT_NUMBERS, TILE_BYTES
from ttmlir.sim.machine.remote_buffers import begin
from ttmlir.sim.machine.tile_shapes import WHOLE
from ttmlir.sim.sanitizer.regular import IrregularError, RegularRun, may_be_regular
from ttmlir.sim.sanitizer.sanitizer import Sanitizer
from ttmlir.sim.timing.launch import launch_ns
from ttmlir.sim.timing.noc_model import NocModel
from ttmlir.sim.timing.noc_parameters import noc_parameters
from ttmlir.sim.timing.report import ProgramTimes, ThreadTimes
from ttmlir.sim.timing.report import summary as summarize_times
from ttmlir.sim.timing.timeline import Timeline, Track
from ttmlir.terminal import ShownAsText, print_warnings

if TYPE_CHECKING:
    from ttmlir.sim.groups.late_numbers import LateNumbers

# --- Page log -------------------------------------------------------------------------------------
# What was in the pages that kernels handed over: recorded only where somebody asks for it.
#
# `PageLog.watch` puts itself between a kernel and its calls before the kernel starts, so that a
# program that nobody watches pays nothing.


@dataclass(frozen=True)
class PushedPage:
    """A page of a circular buffer, as it was when its producer pushed it."""

    data: bytes
    data_format: DataType
    kernel: str
    """The name of the kernel that pushed it."""


@dataclass
class PageLog:
    """The pages of a program by core, logical (x, y), and circular buffer, in order."""

    pages: dict[tuple[tuple[int, int], int], list[PushedPage]] = field(
        default_factory=dict[tuple[tuple[int, int], int], list[PushedPage]]
    )

    def watch(self, api: KernelApi, kernel: str) -> None:
        """Record what a kernel pushes from now on; it must not have looked its calls up yet."""
        push: Callable[[int, int], None] = api.cb_push_back
        core = api.core.logical

        def record(cb: int, pages: int) -> None:
            buffer = api.cbs[cb]
            kept = self.pages.setdefault((core, cb), [])
            for number in range(pages):
                place = buffer.wr_ptr - buffer.address + number * buffer.page_size
                address = buffer.address + place % buffer.size
                data = bytes(api.l1.read(address, buffer.page_size))
                kept.append(PushedPage(data, buffer.data_format, kernel))
            push(cb, pages)

        calls: Any = api
        calls.cb_push_back = record


# --- Run ------------------------------------------------------------------------------------------

# --- Placement ------------------------------------------------------------------------------------
# Puts circular buffers and semaphores of a program into the L1 of its cores.
#
# Circular buffers grow from the first unreserved byte up, in the order in which they were created,
# each at one address on all of its cores, a multiple of the alignment of DRAM, from and to which
# its pages are copied; those on a buffer are where the buffer is. Semaphores are words below the
# unreserved part (tt-metal, tech_reports/memory/allocator.md; program.cpp).


def place(device: SimDevice, program: Program) -> None:
    """Set up the cores of a program; AllocationError if their L1 is too small."""
    for x, y in program.configured_cores:
        device.core(x, y).reset()
    for channel in program.ethernet_channels:
        device.ethernet_core(channel).reset()
    places = addresses(device, program)
    for spec, address in zip(program.circular_buffers, places, strict=True):
        for x, y in spec.cores:
            _configure(device.core(x, y), spec, address)
            if spec.remote is not None:
                _join(device.core(x, y), spec, spec.remote)
    for semaphore in program.semaphores:
        for x, y in semaphore.cores:
            on_ethernet = semaphore.on_ethernet
            core = device.ethernet_core(y) if on_ethernet else device.core(x, y)
            address = core.semaphore_base + semaphore.index * device.chip.l1_alignment
            _initialise(device, core, semaphore.index, address, semaphore.initial)
    _tell_of_others(device, program)


def addresses(device: SimDevice, program: Program) -> list[int]:
    """The address in L1 of each circular buffer; AllocationError where one does not fit."""
    chip = device.chip
    tops: dict[tuple[int, int], int] = {}
    places: list[int] = []
    for spec in program.circular_buffers:
        if spec.remote is not None:
            places.append(spec.remote.start)
            continue
        if spec.buffer is not None:
            places.append(_on_buffer(spec))
            continue
        top = max((tops.get(core, chip.l1_unreserved_base) for core in spec.cores), default=0)
        address = -(-top // chip.dram_alignment) * chip.dram_alignment
        places.append(address)
        tops.update(dict.fromkeys(spec.cores, address + spec.total_size))
    lowest = device.allocator(MemorySpace.DEVICE_L1).lowest
    for core in sorted(tops):
        if tops[core] > lowest:
            raise _overflow(device, program, places, core, tops[core], lowest)
    return places


def _on_buffer(spec: CircularBufferSpec) -> int:
    buffer = spec.buffer
    assert buffer is not None
    indices = ", ".join(str(index) for index in spec.indices)
    if buffer.space != MemorySpace.DEVICE_L1:
        raise SimError(
            f"circular buffer {indices} is placed on a buffer in DRAM; it has to be in L1"
        )
    if spec.offset + spec.total_size > buffer.bank_size:
        raise AllocationError(
            f"circular buffer {indices} takes {spec.total_size} bytes from {spec.offset} on of a "
            f"buffer that has {buffer.bank_size} bytes on each core",
            rule="cb-overflow",
        )
    return buffer.address + spec.offset


def _overflow(
    device: SimDevice,
    program: Program,
    places: list[int],
    core: tuple[int, int],
    top: int,
    lowest: int,
) -> AllocationError:
    """The error that shows what is where in L1."""
    chip = device.chip
    if lowest == chip.l1_size:
        against = f"L1 ends at {lowest:#x}"
    else:
        against = f"the lowest buffer in L1 begins at {lowest:#x}"
    rows = [
        f"L1 of core {core}: {address:#x} to {address + spec.total_size:#x}, "
        f"{spec.total_size} bytes: circular buffer "
        + ", ".join(str(index) for index in sorted(spec.indices))
        for spec, address in zip(program.circular_buffers, places, strict=True)
        if core in spec.cores
    ]
    return AllocationError(
        f"the circular buffers of core {core} reach to {top:#x}, but {against}: {top - lowest} "
        "bytes too many; use fewer pages, or put buffers into DRAM",
        rule="cb-overflow",
        core=core,
        detail=(
            f"L1 of core {core}: 0x0 to {chip.l1_unreserved_base:#x}: reserved",
            *rows,
            *device.allocator(MemorySpace.DEVICE_L1).map(),
            f"L1 of core {core}: ends at {chip.l1_size:#x}",
        ),
    )


def _configure(core: Core, spec: CircularBufferSpec, address: int) -> None:
    for index, (page_size, data_format) in spec.indices.items():
        core.cbs[index] = CircularBuffer(
            index,
            address,
            page_size,
            max(spec.total_size // page_size, 1),
            data_format,
            aliased=spec.remote is not None or (spec.buffer is not None and not spec.is_storage),
            tile=spec.tiles.get(index, WHOLE),
        )


def _join(core: Core, spec: CircularBufferSpec, remote: GlobalPages) -> None:
    """Set up the ends of a global circular buffer, and what shares its bytes."""
    end = core.remote_ends.get(remote.config)
    if end is None:
        raise SimError(
            f"{core.name} is no sender and no receiver of the global circular buffer",
            rule="remote-cb",
        )
    for index, page_size in remote.page_sizes.items():
        view = core.remote_cbs[index] = begin(end, page_size)
        for local in spec.indices:
            align(core.cbs[local], view)


def _tell_of_others(device: SimDevice, program: Program) -> None:
    """Let cores know where the semaphores of others are, which are at one address everywhere."""
    known = {each.index for each in program.semaphores if not each.on_ethernet}
    for core in (device.core(x, y) for x, y in program.configured_cores):
        core.semaphores_elsewhere = {
            index: core.semaphore_base + index * device.chip.l1_alignment
            for index in known - core.semaphores.keys()
        }


def _initialise(device: SimDevice, core: Core, index: int, address: int, value: int) -> None:
    core.semaphores[index] = address
    core.l1.write(address, (value & 0xFFFF_FFFF).to_bytes(4, "little"))
    if device.watch is not None:
        device.watch.host_write(core.l1, address, 4)


# --- Kernel build ---------------------------------------------------------------------------------
# What the build of a kernel knows, from the program and the chip that it is for.

_FIDELITIES = {
    MathFidelity.LOFI: 0,
    MathFidelity.HIFI2: 2,
    MathFidelity.HIFI3: 3,
    MathFidelity.HIFI4: 4,
}
"""Numbers of tt-metal's MathFidelity."""

_PROCESSORS = {Role.BRISC: 0, Role.NCRISC: 1, Role.UNPACK: 2, Role.MATH: 3, Role.PACK: 4}


def build_facts(core: Core, kernel: Kernel, role: Role) -> Build:
    """What the build of a kernel for a processor of a core knows."""
    formats = {index: cb.data_format for index, cb in sorted(core.cbs.items())}
    facts = build_facts_of_chip(
        core.chip, formats, role, settings=kernel.compute, noc_index=kernel.noc_index
    )
    shaped = {index: cb for index, cb in core.cbs.items() if not cb.tile.is_whole}
    if shaped:
        buffers = tuple(
            (index, _facts_of_shape(shaped[index]) if index in shaped else known)
            for index, known in facts.circular_buffers
        )
        facts = replace(facts, circular_buffers=buffers)
    return replace(facts, names=kernel.names)


def _facts_of_shape(cb: CircularBuffer) -> CircularBufferFacts:
    return CircularBufferFacts(
        data_format=FORMAT_NUMBERS[cb.data_format],
        tile_size=cb.tile.size_told(cb.data_format),
        tile_volume=cb.tile.volume,
    )


def build_facts_of_chip(
    chip: SimChip,
    formats: Mapping[int, DataType],
    role: Role,
    *,
    settings: ComputeSettings,
    noc_index: int,
) -> Build:
    """What the build knows for a processor of a chip; `formats` are those of circular buffers.

    `settings` are those of compute kernels, `noc_index` is the network of the others.
    """
    buffers = (
        (index, CircularBufferFacts(data_format=FORMAT_NUMBERS[each], tile_size=TILE_BYTES[each]))
        for index, each in formats.items()
    )
    constants = _of_board(chip)
    # Compute threads count addresses of circular buffers in words of 16 bytes.
    constants["cb_addr_shift"] = 4 if role in Role.COMPUTE else 0
    macros = {"PROCESSOR_INDEX": str(_PROCESSORS[role]), "NOC_MODE": "0"}
    macros |= _banks("DRAM", len(chip.dram)) | _banks("L1", len(chip.workers))
    if role in Role.COMPUTE:
        constants |= _of_settings(settings)
        sync = "SyncFull" if settings.dst_full_sync_en else "SyncHalf"
        macros["DST_SYNC_MODE"] = f"DstSync::{sync}"
    else:
        macros["NOC_INDEX"] = str(noc_index)
        constants["noc_index"] = noc_index
    return Build(
        circular_buffers=tuple(buffers),
        constants=tuple(constants.items()),
        macros=tuple(macros.items()),
    )


def _of_board(chip: SimChip) -> dict[str, int]:
    """Alignments and sizes of the network (tt-metal, noc_parameters.h)."""
    return {
        "L1_ALIGNMENT": chip.l1_alignment,
        "DRAM_ALIGNMENT": chip.dram_alignment,
        "PCIE_ALIGNMENT": chip.dram_alignment,
        "NOC_L1_READ_ALIGNMENT_BYTES": chip.l1_alignment,
        "NOC_L1_WRITE_ALIGNMENT_BYTES": chip.l1_alignment,
        "NOC_DRAM_READ_ALIGNMENT_BYTES": chip.dram_alignment,
        "NOC_DRAM_WRITE_ALIGNMENT_BYTES": chip.l1_alignment,
        "NOC_MAX_BURST_SIZE": chip.max_packet_size,
    }


def _of_settings(settings: ComputeSettings) -> dict[str, int]:
    return {
        "DST_ACCUM_MODE": int(settings.fp32_dest_acc_en),
        "APPROX": int(settings.math_approx_mode),
        "MATH_FIDELITY": _FIDELITIES[settings.fidelity],
    }


def _banks(memory: str, count: int) -> dict[str, str]:
    """How many banks a memory has, and how kernels find the bank of a page."""
    found = {f"NUM_{memory}_BANKS": str(count)}
    if count & (count - 1):
        return found | {f"IS_NOT_POW2_NUM_{memory}_BANKS": "1"}
    return found | {f"LOG_BASE_2_OF_NUM_{memory}_BANKS": str(count.bit_length() - 1)}


# --- Running a program ----------------------------------------------------------------------------

COMPUTE_APIS: dict[Role, type[UnpackApi] | type[MathApi] | type[PackApi]] = {
    Role.UNPACK: UnpackApi,
    Role.MATH: MathApi,
    Role.PACK: PackApi,
}
"""The calls of the processors that run compute kernels."""


@dataclass(frozen=True, kw_only=True)
class ProgramReport(ShownAsText):
    """What a program did; without clocks, all times are 0 and `networks` is None."""

    chip: SimChip
    threads: tuple[ThreadTimes, ...]
    has_circular_buffers: bool = False
    findings: tuple[Finding, ...] = ()
    """Warnings and notes of the sanitizer."""
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

    def summary(self, name: str = "program") -> str:
        """A few lines: the time, what was moved, and what binds; SimError without clocks."""
        times = self.times(name)
        return summarize_times(times, flops=0, cores=self.num_cores, fidelity=MathFidelity.HIFI4)

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


@dataclass(frozen=True, kw_only=True)
class Together:
    """What a run has in common with those of other devices."""

    cluster: Cluster
    fabric: Fabric | None
    scheduler: Scheduler
    first_index: int
    """Of its threads."""


class ProgramRun:
    """One run of a program."""

    def __init__(
        self,
        device: SimDevice,
        program: Program,
        timeline: Timeline | None,
        page_log: PageLog | None,
        *,
        together: Together | None = None,
    ) -> None:
        """A run that has not begun; `prepare` makes its threads."""
        self.device = device
        self.page_log = page_log
        self.program = program
        self.timeline = timeline
        self.threads: list[KernelThread] = []
        self.movers: list[DataMovementApi] = []
        self.apis: list[KernelApi] = []
        self.products: WaitingProducts = {}
        self.calls: set[str] = set()
        """What the kernels call."""
        self.compiled: dict[tuple[int, Role, Build], CompiledKernel] = {}
        self.together = together
        self.scheduler = (
            together.scheduler if together else Scheduler(device.options, self.move_held_copies)
        )
        self.noc_model = _noc_model(device) if device.options.timed else None
        self.late: LateNumbers | None = None

    def move_held_copies(self) -> bool:
        """Move the bytes of copies that no barrier waited for; whether there were any."""
        return any([mover.move_all() for mover in self.movers])

    def place(self) -> None:
        """Set up the cores."""
        place(self.device, self.program)

    def prepare(self) -> None:
        """Make the threads of all kernels, core by core."""
        self.place()
        if self.together is None and not self.is_recorded:
            from ttmlir.sim.groups.late_numbers import late_numbers

            self.late = late_numbers(self)
        origins = {id(kernel): kernel.origin for kernel in self.program.kernels}
        for x, y in self.program.cores:
            core = self.device.core(x, y)
            for kernel in self.program.kernels:
                if core.logical in kernel.cores and not kernel.on_ethernet:
                    self._add(core, kernel, origins[id(kernel)])
        for kernel in self.program.kernels:
            for _, channel in kernel.cores if kernel.on_ethernet else ():
                self._add(self.device.ethernet_core(channel), kernel, (0, 0))

    def _add(self, core: Core, kernel: Kernel, origin: tuple[int, int]) -> None:
        if kernel.role == Role.COMPUTE:
            timed = self.device.options.timed
            give_registers(core, kernel.compute, self.products, timed=timed)
            if self.late is not None:
                self.late.give_halves(core)
        for role in kernel.roles:
            thread = KernelThread(
                core,
                role,
                KernelSource(kernel.name, kernel.file),
                len(self.threads) + (self.together.first_index if self.together else 0),
                scheduler=self.scheduler,
                arguments=tuple(kernel.arguments.get(core.logical, ())),
                common_arguments=tuple(kernel.common_arguments),
                origin=origin,
            )
            self._start(thread, kernel)
            self.threads.append(thread)

    def _start(self, thread: KernelThread, kernel: Kernel) -> None:
        api = self._api(thread, kernel)
        compiled = self.compile_for(thread.core, kernel, thread.role)
        thread.kernel = KernelSource(kernel.name, kernel.file, compiled.sources)
        if self.timeline is not None:
            track = Track(thread.core.logical, thread.role_name, kernel.name)
            self.timeline.watch(api, waiting_calls(type(api)), thread, track)
        if self.page_log is not None:
            self.page_log.watch(api, kernel.name)
        self.scheduler.interleave(api, (*waiting_calls(type(api)), "poll"))
        thread.start(compiled.start(api))
        self.calls.update(compiled.bindings.values())
        self.apis.append(api)

    def compile_for(self, core: Core, kernel: Kernel, role: Role) -> CompiledKernel:
        """The kernel compiled for a processor; SimError for what is wrong in its text."""
        build = build_facts(core, kernel, role)
        key = (id(kernel), role, build)
        if key in self.compiled:
            return self.compiled[key]
        try:
            made = compile_kernel(
                kernel.text,
                kernel.file,
                role,
                api=EthernetApi if kernel.on_ethernet else COMPUTE_APIS.get(role, FabricApi),
                defines=kernel.defines,
                compile_time_args=kernel.compile_time_args,
                named_compile_time_args=kernel.named_compile_time_args,
                arch_macro=self.device.chip.spec.macro,
                build=build,
                include_path=kernel.include_path,
                timed=self.device.options.timed,
                release=self.release_of(kernel),
            )
        except CppSyntaxError as error:
            place = error.position
            raise SimError(
                error.message,
                Position(place.file, place.line, place.column),
                source_line=error.line,
                detail=error.notes,
            ) from error
        self.compiled[key] = made
        self.device.warnings.update(dict.fromkeys(map(str, made.warnings)))
        return made

    def release_of(self, kernel: Kernel) -> Release | None:
        """The state of tt-metal that a kernel is said to be of; None if its headers say it."""
        return kernel.release or RELEASES.get(self.device.options.tt_metal or "")

    def _api(self, thread: KernelThread, kernel: Kernel) -> KernelApi:
        compute = COMPUTE_APIS.get(thread.role)
        options = self.device.options
        if compute is not None and self.late is not None:
            return self.late.calls(thread.core, thread, options, kernel.compute)
        if compute is not None:
            return compute(thread.core, thread, options, kernel.compute)
        made = EthernetApi if kernel.on_ethernet else FabricApi
        mover = made(
            thread.core,
            thread,
            options,
            self.device.network,
            noc_index=kernel.noc_index,
            noc_model=self.noc_model,
            compile_time_args=kernel.compile_time_args,
            has_page_sizes=self.release_of(kernel) is Release.LATE_2026,
        )
        if self.together is not None:
            if isinstance(mover, EthernetApi):
                mover.link_to(self.together.cluster)
            elif self.together.fabric is not None:
                mover.join_fabric(self.together.fabric)
        self.movers.append(mover)
        return mover

    def run(self) -> ProgramReport:
        """Run the threads to their end."""
        watch = self.device.watch
        first_line = len(self.device.printed)
        if watch is not None:
            watch.program_started(self.threads, self.cores())
        try:
            self._run_threads()
        except SimError as error:
            if watch is not None:
                watch.program_stopped(error)
            raise
        finally:
            self.end()
        self.move_held_copies()
        self.note_leftovers()
        if watch is not None:
            watch.program_ended()
        return self.report(self.times(), first_line)

    def end(self) -> None:
        """The threads have ended, or stopped."""
        for api in self.apis:
            api.end()

    def note_leftovers(self) -> None:
        """Tell of pages that came from other cores and that no kernel has taken."""
        watch = self.device.watch
        if watch is None:
            return
        for mover in self.movers:
            for note in mover.leftovers():
                watch.report(note)

    def run_if_regular(self, full: Sanitizer) -> ProgramReport | None:
        """Run the threads while all that they do is regular; None, and all undone, if it is not.

        What is wrong with a program is only told by a run of its own.
        """
        watch = RegularRun(full, self.threads, self.cores())
        for api in self.apis:
            api.watch = watch
        try:
            self._run_threads()
            self.move_held_copies()
            watch.finish()
        except (IrregularError, SimError):
            watch.undo()
            return None
        return self.report(self.times())

    @property
    def may_be_regular(self) -> bool:
        """Whether it is worth a try: nothing records what happens, which could not be undone."""
        return not self.is_recorded and may_be_regular(self.calls)

    @property
    def is_recorded(self) -> bool:
        """Whether somebody looks at each call."""
        return self.timeline is not None or self.page_log is not None

    def cores(self) -> tuple[Core, ...]:
        """The cores that are set up."""
        workers = [self.device.core(x, y) for x, y in self.program.configured_cores]
        channels = self.program.ethernet_channels
        return (*workers, *(self.device.ethernet_core(channel) for channel in channels))

    def _run_threads(self) -> None:
        # Numbers overflow without a warning, as on the chip.
        with np.errstate(all="ignore"):
            try:
                self.scheduler.run(self.threads)
            finally:
                if self.late is not None:
                    self.late.finish()

    def times(self) -> tuple[ThreadTimes, ...]:
        """What each thread took."""
        return tuple(map(_times, self.threads, self.apis))

    def report(self, times: Sequence[ThreadTimes], first_line: int | None = None) -> ProgramReport:
        """What a run did, with the times of all threads and what was printed since a line."""
        watch = self.device.watch
        return ProgramReport(
            chip=self.device.chip,
            threads=tuple(times),
            has_circular_buffers=bool(self.program.circular_buffers),
            findings=() if watch is None else tuple(watch.findings),
            printed=() if first_line is None else tuple(self.device.printed[first_line:]),
            networks=self.noc_model,
        )


@without_collections()
def run_program(
    device: SimDevice,
    program: Program,
    *,
    timeline: Timeline | None = None,
    page_log: PageLog | None = None,
) -> ProgramReport:
    """Run a program until all its threads have ended.

    `timeline` records what they do when, `page_log` what they hand over in circular buffers.

    Warnings about its kernels are printed, each once. Raises SimError for whatever is wrong with
    it: AllocationError, DeadlockError, CycleLimitError, errors of the kernels' text, and what the
    sanitizer finds.
    """
    check_kernels(program)
    run = ProgramRun(device, program, timeline, page_log)
    try:
        if not run.is_recorded and not program.ethernet_channels:
            from ttmlir.sim.groups.group_run import run_in_groups

            times = run_in_groups(run, device.watch)
            if times is not None:
                return run.report(times)
            compiled = run.compiled
            run = ProgramRun(device, program, timeline, page_log)
            run.compiled = compiled
        run.prepare()
        if device.watch is not None and run.may_be_regular:
            report = run.run_if_regular(device.watch)
            if report is not None:
                return report
            run = ProgramRun(device, program, timeline, page_log)
            run.prepare()
        return run.run()
    finally:
        print_warnings(device.warnings)


def check_kernels(program: Program) -> None:
    """SimError for a program that does nothing."""
    if not program.kernels:
        raise SimError("the program has no kernels; create at least one before it is run")


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


# --- Command queue --------------------------------------------------------------------------------
# A queue of commands of the host: writes, programs, reads, in the order in which they came.
#
# Commands take effect when they are queued; what the host does not wait for it still does not see:
# a read that does not block fills its destination when the queue is finished.


def _nothing_waits() -> None:
    """The programs of a device that is alone run at once."""


class CommandQueue:
    """The commands of one device; `reports` has one entry for each program that ran."""

    def __init__(self, device: SimDevice) -> None:
        """A queue without commands."""
        self.device = device
        self.timeline: Timeline | None = None
        """Records the programs that follow."""
        self._reports: list[ProgramReport] = []
        self.is_open = True
        """False when the device was closed."""
        self.settle: Callable[[], object] = _nothing_waits
        """Runs programs of the device that wait for those of others, before another command."""
        self._deliveries: list[Callable[[], None]] = []

    def __repr__(self) -> str:
        """How many programs ran."""
        count = len(self._reports)
        return f"CommandQueue({count} program{'s' * (count != 1)} ran)"

    @property
    def reports(self) -> list[ProgramReport]:
        """What each program did that was enqueued."""
        self.settle()
        return self._reports

    def take_finished(self) -> list[ProgramReport]:
        """The reports of programs that have run by now, which are no longer among `reports`."""
        finished = list(self._reports)
        self._reports.clear()
        return finished

    @property
    def open_reads(self) -> int:
        """Reads whose data the host has not got yet."""
        return len(self._deliveries)

    def write(
        self, buffer: Buffer, data: bytes | memoryview, *, pages: range | None = None
    ) -> None:
        """Fill a buffer, or some of its pages."""
        self._check(buffer)
        self.settle()
        buffer.write(data, pages=pages)

    def run(self, program: Program) -> ProgramReport:
        """Run a program."""
        self.check_open()
        self.settle()
        report = run_program(self.device, program, timeline=self.timeline)
        self.add_report(report)
        return report

    def add_report(self, report: ProgramReport) -> None:
        """Know what a program did."""
        self._reports.append(report)

    def read(
        self,
        buffer: Buffer,
        deliver: Callable[[bytes], None],
        *,
        blocking: bool,
        pages: range | None = None,
    ) -> None:
        """Read a buffer, or some of its pages.

        `deliver` takes the bytes, now or when the queue is finished.
        """
        self._check(buffer)
        self.settle()
        data = buffer.read(pages=pages)
        if blocking:
            self.finish()
            deliver(data)
        else:
            self._deliveries.append(lambda: deliver(data))

    def finish(self) -> None:
        """Wait until all commands are done: hand out what was read."""
        self.settle()
        deliveries, self._deliveries = self._deliveries, []
        for deliver in deliveries:
            deliver()

    def check_open(self) -> None:
        """SimError if the device was closed."""
        if not self.is_open:
            raise SimError(f"device {self.device.device_id} is closed")

    def _check(self, buffer: Buffer) -> None:
        self.check_open()
        if buffer.device is not self.device:
            raise SimError(
                f"the buffer at {buffer.address:#x} is on device {buffer.device.device_id}, the "
                f"command queue is that of device {self.device.device_id}"
            )
