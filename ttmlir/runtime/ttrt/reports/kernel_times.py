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
from ttmlir.runtime.metal.session import CommandReport, MetalRun
from ttmlir.sim.execution.run import ProgramReport
from ttmlir.sim.timing.program_times import ProgramTimes
from ttmlir.sim.timing.report import operation_table, thread_table
from ttmlir.sim.timing.roofline import bound, summary
from ttmlir.sim.timing.timeline import Timeline
from ttmlir.sim.timing.trace import chrome_trace

_MOST_PROGRAMS = 10


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
    def of_commands(cls, function: BinaryProgram, run: MetalRun) -> KernelRuns:
        """Those of a function of a `.ttm` file."""
        return cls(function, tuple(_of_command(function, each) for each in run.reports))

    @classmethod
    def of_operations(cls, function: BinaryProgram, reports: Sequence[GenericReport]) -> KernelRuns:
        """Those of a function of a `.ttnn` file."""
        return cls(function, tuple(_of_operation(function, each) for each in reports))


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
    timed = [(each, each.times) for run in runs for each in run.programs]
    files = {
        table: operation_table(
            [times for _, times in timed], [_details(each) for each, _ in timed]
        ),
        "threads.csv": thread_table([times for _, times in timed]),
    }
    for run in runs:
        name = f"trace_{run.function.index}_{safe_file_name(run.function.name)}.json"
        files[name] = _trace(run)
    return files


def perf_summary(path: str, runs: Sequence[KernelRuns]) -> str:
    """Time of every function, of the programs that take most of it, and what binds these."""
    lines: list[str] = []
    for run in runs:
        timed = [(each, each.times) for each in run.programs]
        kernels = sum(times.kernel_ns for _, times in timed)
        launches = sum(times.launch_ns for _, times in timed)
        lines.append(
            f"{path}: '{run.function.name}': {run.cycles:,} cycles = {kernels / 1e3:.1f} us in "
            f"{len(timed)} programs, and {launches / 1e3:.1f} us to launch them"
        )
        lines.append(f"{'program':<40}{'cycles':>12}{'share':>8}  bound by")
        ranked = sorted(timed, key=lambda pair: -pair[1].cycles)[:_MOST_PROGRAMS]
        for _, times in ranked:
            share = 100 * times.cycles / run.cycles if run.cycles else 0.0
            lines.append(f"{times.name:<40}{times.cycles:>12,}{share:>7.1f}%  {bound(times)}")
        if ranked:
            each, times = ranked[0]
            cores = len({thread.core for thread in times.threads})
            fidelity = each.fidelity or MathFidelity.HIFI4
            lines.append(summary(times, flops=0, cores=cores, fidelity=fidelity))
    return "\n".join(lines)


def _details(each: KernelProgram) -> dict[str, str]:
    return {
        "MATH FIDELITY": "-" if each.fidelity is None else each.fidelity.schema_name,
        "LOC": each.location or "-",
    }


def _trace(run: KernelRuns) -> str:
    start = 0
    recorded: list[tuple[Timeline, int]] = []
    clock_hz = 1_000_000_000
    for each in run.programs:
        if each.timeline is not None:
            recorded.append((each.timeline, start))
        clock_hz = each.report.chip.clock_hz
        start += each.report.cycles
    return chrome_trace(recorded, clock_hz)
