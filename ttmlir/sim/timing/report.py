"""Tables of a program's times as CSV: a row per thread, and a row per program.

The row per program has the columns of tt-metal's performance report (tools/tracy/process_ops_logs
of 2024), so that scripts which read `ops_perf_results.csv` find theirs; what the simulator cannot
know, such as the time of the host, is "-".
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ttmlir.layout.enums import MathFidelity
from ttmlir.sim.timing.costs import UNITS, fidelity_phases
from ttmlir.sim.timing.noc_model import NocModel

# --- Program times --------------------------------------------------------------------------------
# What a timed program's threads and networks were busy with, as far as reports need it.


@dataclass(frozen=True, kw_only=True)
class ThreadTimes:
    """One kernel on one processor."""

    core: tuple[int, int]
    """Logical (x, y)."""
    role: str
    """BRISC, NCRISC, UNPACK, MATH or PACK."""
    kernel: str
    cycles: int
    """When it ended, counted from the start of the program."""
    stalls: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many of these it waited, by the call that waited."""
    counters: Mapping[str, int] = field(default_factory=dict[str, int])
    """What it moved: bytes, tiles."""

    @property
    def busy(self) -> int:
        """Cycles in which it did not wait."""
        return self.cycles - sum(self.stalls.values())


@dataclass(frozen=True, kw_only=True)
class ProgramTimes:
    """One run of a program on one chip."""

    name: str
    clock_hz: int
    threads: Sequence[ThreadTimes]
    networks: NocModel
    launch_ns: float
    """What starting the program takes before its first kernel runs."""

    @property
    def cycles(self) -> int:
        """From the start of the kernels to the end of the last one."""
        return max((thread.cycles for thread in self.threads), default=0)

    @property
    def kernel_ns(self) -> float:
        """The same in nanoseconds."""
        return self.cycles * 1e9 / self.clock_hz

    @property
    def total_ns(self) -> float:
        """With the launch."""
        return self.launch_ns + self.kernel_ns


# --- Roofline -------------------------------------------------------------------------------------
# What a program is bound by, and how far it is from what the chip can do.
#
# Every unit and every link has been busy for some share of the program's time. The largest share
# names the bound; where it is far below one, the program is bound by latencies: by waiting in turn.

BOUND_SHARE = 0.6
"""Below this share of the time no unit is held to be what binds a program."""

_UNITS = {
    "UNPACK": "unpack",
    "MATH": "compute",
    "PACK": "pack",
    "BRISC": "data movement processor",
    "NCRISC": "data movement processor",
}


@dataclass(frozen=True)
class Load:
    """How busy the busiest resource of a kind was."""

    kind: str
    """compute, unpack, pack, data movement processor, NoC, DRAM or dispatch."""
    where: str
    cycles: float
    share: float
    """Of the time of the program, launch included."""


def loads(times: ProgramTimes) -> list[Load]:
    """The busiest resource of each kind, the busiest kind first."""
    total = times.total_ns * times.clock_hz / 1e9
    if not total:
        return []
    busiest: dict[str, tuple[float, str]] = {}
    for kind, where, cycles in _all_loads(times):
        if kind not in busiest or cycles > busiest[kind][0]:
            busiest[kind] = cycles, where
    found = [Load(kind, where, cycles, cycles / total) for kind, (cycles, where) in busiest.items()]
    return sorted(found, key=lambda load: -load.share)


def bound(times: ProgramTimes) -> str:
    """What the program is bound by: the busiest kind, or latency if nothing is busy enough."""
    busiest = loads(times)
    if not busiest or busiest[0].share < BOUND_SHARE:
        return "latency"
    return busiest[0].kind


def peak_flops(clock_hz: int, cores: int, fidelity: MathFidelity) -> float:
    """Operations per second of matrix products on so many cores."""
    return UNITS.matrix_operations * clock_hz * cores / fidelity_phases(fidelity)


def summary(times: ProgramTimes, *, flops: float, cores: int, fidelity: MathFidelity) -> str:
    """A few lines: time, rates against their peaks, and what binds.

    `flops` is how many operations of matrix products the program was meant to do; 0 for none.
    """
    lines = [
        f"{times.name}: {times.cycles:,} cycles = {times.kernel_ns / 1000:.1f} us, "
        f"and {times.launch_ns / 1000:.1f} us to launch"
    ]
    seconds = times.kernel_ns / 1e9
    if flops and seconds:
        peak = peak_flops(times.clock_hz, cores, fidelity)
        lines.append(
            f"  {flops / seconds / 1e12:.2f} of {peak / 1e12:.1f} TFLOP/s on {cores} cores at "
            f"{fidelity.schema_name}: {100 * flops / seconds / peak:.1f}% utilisation"
        )
    if seconds:
        moved = times.networks.dram_bytes
        rate = times.networks.dram_peak * times.clock_hz
        lines.append(
            f"  {moved / seconds / 1e9:.1f} of {rate / 1e9:.0f} GB/s of DRAM: "
            f"{100 * moved / seconds / rate:.1f}%"
        )
    shares = ", ".join(f"{load.kind} {100 * load.share:.0f}%" for load in loads(times))
    lines.append(f"  bound by {bound(times)} (busiest of each kind: {shares or 'nothing ran'})")
    return "\n".join(lines)


def _all_loads(times: ProgramTimes) -> Iterator[tuple[str, str, float]]:
    for thread in times.threads:
        yield _UNITS[thread.role], f"core {thread.core} {thread.role}", thread.busy
    networks = times.networks
    yield from _of("DRAM", networks.dram_resources())
    yield from _of("NoC", networks.network_resources())
    yield "dispatch", "host", times.launch_ns * times.clock_hz / 1e9


def _of(kind: str, resources: Iterable[tuple[str, float]]) -> Iterator[tuple[str, str, float]]:
    for name, cycles in resources:
        yield kind, name, cycles


# --- Profiler columns -----------------------------------------------------------------------------
# The columns of tt-metal's table of operations, `ops_perf_results.csv`.
#
# Source: tt-metal of 2026, tools/tracy/process_ops_logs.py.

PROCESSORS = {
    "BRISC": "BRISC",
    "NCRISC": "NCRISC",
    "TRISC0": "UNPACK",
    "TRISC1": "MATH",
    "TRISC2": "PACK",
}
"""Processors of a core as the profiler names them, and what they do."""

PROFILER_COLUMNS = (
    "OP CODE",
    "OP TYPE",
    "GLOBAL CALL COUNT",
    "DEVICE ID",
    "DEVICE ARCH",
    "ATTRIBUTES",
    "MATH FIDELITY",
    "CORE COUNT",
    "AVAILABLE WORKER CORE COUNT",
    "PARALLELIZATION STRATEGY",
    "HOST START TS",
    "HOST END TS",
    "HOST DURATION [ns]",
    "DEVICE FW START CYCLE",
    "DEVICE FW END CYCLE",
    "OP TO OP LATENCY [ns]",
    "DEVICE FW DURATION [ns]",
    "DEVICE KERNEL DURATION [ns]",
    *(f"DEVICE {processor} KERNEL DURATION [ns]" for processor in PROCESSORS),
    "DEVICE ERISC KERNEL DURATION [ns]",
    "DEVICE COMPUTE CB WAIT FRONT [ns]",
    "DEVICE COMPUTE CB RESERVE BACK [ns]",
)
"""Those that come before the columns of the tensors."""


# --- Tables ---------------------------------------------------------------------------------------

MISSING = ""
"""A cell without a value."""


def tensor_column_names(inputs: int) -> tuple[str, ...]:
    """The columns of so many operands and one result."""
    tensors = (*(f"INPUT_{number}" for number in range(inputs)), "OUTPUT_0")
    return tuple(f"{tensor}_{name}" for tensor in tensors for name in TENSOR_COLUMNS)


TENSOR_COLUMNS = (
    *(f"{axis}_PAD[LOGICAL]" for axis in "WZYX"),
    *("LAYOUT", "DATATYPE", "MEMORY"),
)
"""Extents with padding and without, such as `64[33]`, and how a tensor is kept."""

OPERATION_COLUMNS = (
    *PROFILER_COLUMNS,
    *tensor_column_names(1),
    *("SHARE [%]", "DRAM BYTES", "BOUND BY", "LOC"),
)


def thread_table(programs: Iterable[ProgramTimes]) -> str:
    """A row for each thread of each program, and one for all threads of each kernel."""
    programs = list(programs)
    stalls = _names(thread.stalls for program in programs for thread in program.threads)
    counters = _names(thread.counters for program in programs for thread in program.threads)
    columns = (
        *("program", "kernel", "core", "thread", "cycles", "busy"),
        *(f"stalled in {name}" for name in stalls),
        *counters,
    )
    rows = [
        row
        for program in programs
        for row in (
            *(_thread_row(program.name, each, stalls, counters) for each in program.threads),
            *_total_rows(program, stalls, counters),
        )
    ]
    return _csv(columns, rows)


def operation_table(programs: Iterable[ProgramTimes], details: Sequence[Mapping[str, str]]) -> str:
    """A row for each program; `details` give columns that its times do not say, by name."""
    rows: list[list[str]] = []
    start = 0.0
    for index, (program, extra) in enumerate(zip(programs, details, strict=True), 1):
        cells = {**_operation(index, program, start), **extra}
        rows.append([cells.get(name, MISSING) for name in OPERATION_COLUMNS])
        start += program.total_ns
    return _csv(OPERATION_COLUMNS, rows)


def _operation(index: int, program: ProgramTimes, start: float) -> dict[str, str]:
    scale = 1e9 / program.clock_hz
    cells = {
        "OP CODE": program.name,
        "OP TYPE": "simulated",
        "GLOBAL CALL COUNT": str(index),
        "DEVICE ID": "0",
        "HOST START TS": str(round(start)),
        "HOST END TS": str(round(start + program.total_ns)),
        "OP TO OP LATENCY [ns]": str(round(program.launch_ns)) if start else "0",
        "CORE COUNT": str(len({thread.core for thread in program.threads})),
        "DEVICE FW START CYCLE": "0",
        "DEVICE FW END CYCLE": str(program.cycles),
        "DEVICE FW DURATION [ns]": str(round(program.total_ns)),
        "DEVICE KERNEL DURATION [ns]": str(round(program.kernel_ns)),
        "BOUND BY": bound(program),
    }
    for processor, role in PROCESSORS.items():
        ends = [thread.cycles for thread in program.threads if thread.role == role]
        if ends:
            name = f"DEVICE {processor} KERNEL DURATION [ns]"
            cells[name] = str(round(max(ends) * scale))
    for column, call, role in (
        ("DEVICE COMPUTE CB WAIT FRONT [ns]", "cb_wait_front", "UNPACK"),
        ("DEVICE COMPUTE CB RESERVE BACK [ns]", "cb_reserve_back", "PACK"),
    ):
        waits = [each.stalls.get(call, 0) for each in program.threads if each.role == role]
        if waits:
            cells[column] = str(round(max(waits) * scale))
    return cells


def _thread_row(
    program: str, thread: ThreadTimes, stalls: Sequence[str], counters: Sequence[str]
) -> list[str]:
    x, y = thread.core
    return [
        *(program, thread.kernel, f"({x}, {y})", thread.role),
        *(str(thread.cycles), str(thread.busy)),
        *(str(thread.stalls.get(name, 0)) for name in stalls),
        *(str(thread.counters.get(name, 0)) for name in counters),
    ]


def _total_rows(
    program: ProgramTimes, stalls: Sequence[str], counters: Sequence[str]
) -> Iterable[list[str]]:
    """For each kernel and processor the sums over the cores; `cycles` is the last one's end."""
    groups: dict[tuple[str, str], list[ThreadTimes]] = {}
    for thread in program.threads:
        groups.setdefault((thread.kernel, thread.role), []).append(thread)
    for (kernel, role), threads in groups.items():
        yield [
            *(program.name, kernel, "all", role),
            str(max(each.cycles for each in threads)),
            str(sum(each.busy for each in threads)),
            *(str(sum(each.stalls.get(name, 0) for each in threads)) for name in stalls),
            *(str(sum(each.counters.get(name, 0) for each in threads)) for name in counters),
        ]


def _names(mappings: Iterable[Mapping[str, int]]) -> list[str]:
    return sorted({name for mapping in mappings for name in mapping})


def _csv(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()
