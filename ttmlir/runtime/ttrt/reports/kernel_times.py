"""`ttrt perf` on kernels: tables, traces and a summary of simulated time.

<file>/perf/ops_perf_results.csv     a row per program of kernels, in tt-metal's columns
<file>/perf/threads.csv              a row per kernel, core and thread: cycles, stalls, traffic
<file>/perf/trace_<program>.json     for ui.perfetto.dev and chrome://tracing

For programs of kernels among the operations of a `.ttnn` file, whose operations have the first of
these names, it is kernels_perf_results.csv.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.files import safe_file_name
from ttmlir.layout.enums import MathFidelity
from ttmlir.runtime.binary import BinaryProgram
from ttmlir.runtime.generic.runner import GenericReport
from ttmlir.runtime.locations import place_in
from ttmlir.runtime.metal.session import CommandReport
from ttmlir.runtime.ttrt.running.program import ProgramRun
from ttmlir.sim.execution.run import ProgramReport
from ttmlir.sim.timing.program_times import ProgramTimes
from ttmlir.sim.timing.report import operation_table, thread_table
from ttmlir.sim.timing.roofline import bound, summary
from ttmlir.sim.timing.timeline import Timeline
from ttmlir.sim.timing.trace import chrome_trace
from ttmlir.terminal import shown_name

_MOST_PROGRAMS = 10
_LEAST_WIDTH = 40
"""Of the column of names."""
_LEAST_BINDING_WIDTH = 12
"""Of the column of what binds."""


@dataclass(frozen=True)
class KernelProgram:
    """A program of kernels that ran."""

    name: str
    location: str
    fidelity: MathFidelity | None
    """Of the kernel that computes; None if none does."""
    report: ProgramReport
    timeline: Timeline | None

    @property
    def times(self) -> ProgramTimes:
        """What its threads did, under its name."""
        return self.report.times(self.name)

    @property
    def bound_by(self) -> str:
        """The busiest part of the chip, or latency if none is busy enough."""
        return bound(self.times)

    @property
    def dram_bytes(self) -> int:
        """Read from and written to DRAM."""
        return self.times.networks.dram_bytes


@dataclass(frozen=True)
class KernelRuns:
    """The programs of kernels of one run of a function, in their order."""

    function: BinaryProgram
    programs: tuple[KernelProgram, ...]

    @property
    def cycles(self) -> int:
        """Cycles of all of them one after another, without launching them."""
        return sum(each.report.cycles for each in self.programs)

    @classmethod
    def of_run(cls, function: BinaryProgram, run: ProgramRun) -> KernelRuns | None:
        """Those of a function of a `.ttm` or a `.ttnn` file; None for one without kernels."""
        if run.kernels is not None:
            return cls(function, tuple(_of_command(function, each) for each in run.kernels.reports))
        if run.generics:
            return cls(function, tuple(_of_operation(function, each) for each in run.generics))
        return None


def _of_command(function: BinaryProgram, each: CommandReport) -> KernelProgram:
    command = each.command
    return KernelProgram(
        f"{function.name} {command.index} {command.meaning}",
        command.location,
        command.fidelity,
        each.report,
        each.timeline,
    )


def _of_operation(function: BinaryProgram, each: GenericReport) -> KernelProgram:
    return KernelProgram(
        f"{function.name} {each.operation.index} {each.title}",
        each.operation.location,
        each.description.math_fidelity,
        each.report,
        each.timeline,
    )


def perf_files(runs: Sequence[KernelRuns], table: str = "ops_perf_results.csv") -> dict[str, str]:
    """Contents of the files by name; `table` is that of the first."""
    timed = [each.times for run in runs for each in run.programs]
    details = [_details(each, run) for run in runs for each in run.programs]
    files = {table: operation_table(timed, details), "threads.csv": thread_table(timed)}
    for run in runs:
        name = f"trace_{run.function.index}_{safe_file_name(run.function.name)}.json"
        files[name] = trace_of(run)
    return files


def perf_summary(path: str, runs: Sequence[KernelRuns]) -> str:
    """Time of every function, of the programs that take most of it, and what binds these."""
    lines: list[str] = []
    for run in runs:
        timed = [(each, each.times) for each in run.programs]
        kernels = sum(times.kernel_ns for _, times in timed)
        launches = sum(times.launch_ns for _, times in timed)
        name = shown_name(run.function.name)
        lines.append(
            f"{path}: '{name}': {run.cycles:,} cycles = {kernels / 1e3:.1f} us in "
            f"{len(timed)} program{'' if len(timed) == 1 else 's'}, and {launches / 1e3:.1f} us "
            "to launch them"
        )
        ranked = sorted(timed, key=lambda pair: -pair[1].cycles)[:_MOST_PROGRAMS]
        width = max([_LEAST_WIDTH, *(len(times.name) + 1 for _, times in ranked)])
        binding = max([_LEAST_BINDING_WIDTH, *(len(bound(times)) + 2 for _, times in ranked)])
        lines.append(
            f"{'program':<{width}}{'cycles':>12}{'share':>8}{'DRAM bytes':>14}  "
            f"{'bound by':<{binding}}location"
        )
        for each, times in ranked:
            lines.append(
                f"{times.name:<{width}}{times.cycles:>12,}{_share(each, run):>7.1f}%"
                f"{each.dram_bytes:>14,}  {bound(times):<{binding}}{place_in(each.location) or '-'}"
            )
        if ranked:
            each, times = ranked[0]
            cores = len({thread.core for thread in times.threads})
            fidelity = each.fidelity or MathFidelity.HIFI4
            lines.append(summary(times, flops=0, cores=cores, fidelity=fidelity))
    return "\n".join(lines)


def _share(each: KernelProgram, run: KernelRuns) -> float:
    """Percent of the cycles of a run."""
    return 100 * each.report.cycles / run.cycles if run.cycles else 0.0


def _details(each: KernelProgram, run: KernelRuns) -> dict[str, str]:
    return {
        "MATH FIDELITY": "-" if each.fidelity is None else each.fidelity.schema_name,
        "SHARE [%]": f"{_share(each, run):.2f}",
        "DRAM BYTES": str(each.dram_bytes),
        "LOC": each.location or "-",
    }


def trace_of(run: KernelRuns) -> str:
    """The timelines of all programs one after another, as JSON for viewers of traces."""
    start = 0
    recorded: list[tuple[Timeline, int]] = []
    clock_hz = 1_000_000_000
    for each in run.programs:
        if each.timeline is not None:
            recorded.append((each.timeline, start))
        clock_hz = each.report.chip.clock_hz
        start += each.report.cycles
    return chrome_trace(recorded, clock_hz)
