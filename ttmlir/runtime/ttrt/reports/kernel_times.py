"""`ttrt perf` on `.ttm` files: tables, traces and a summary of simulated time.

<file>/perf/ops_perf_results.csv     a row per program of kernels, in tt-metal's columns
<file>/perf/threads.csv              a row per kernel, core and thread: cycles, stalls, traffic
<file>/perf/trace_<program>.json     for ui.perfetto.dev and chrome://tracing
"""

from __future__ import annotations

from collections.abc import Sequence

from ttmlir.files import safe_file_name
from ttmlir.layout.enums import MathFidelity
from ttmlir.runtime.binary import BinaryProgram
from ttmlir.runtime.metal.session import CommandReport, MetalRun
from ttmlir.sim.timing.program_times import ProgramTimes
from ttmlir.sim.timing.report import operation_table, thread_table
from ttmlir.sim.timing.roofline import bound, summary
from ttmlir.sim.timing.timeline import Timeline
from ttmlir.sim.timing.trace import chrome_trace

Runs = Sequence[tuple[BinaryProgram, MetalRun]]

_MOST_PROGRAMS = 10


def perf_files(runs: Runs) -> dict[str, str]:
    """Contents of the files by name."""
    timed = [(each, _times(program, each)) for program, run in runs for each in run.reports]
    files = {
        "ops_perf_results.csv": operation_table(
            [times for _, times in timed], [_details(each) for each, _ in timed]
        ),
        "threads.csv": thread_table([times for _, times in timed]),
    }
    for program, run in runs:
        files[f"trace_{program.index}_{safe_file_name(program.name)}.json"] = _trace(run)
    return files


def perf_summary(path: str, runs: Runs) -> str:
    """Time of every function, of the programs that take most of it, and what binds these."""
    lines: list[str] = []
    for program, run in runs:
        timed = [(each, _times(program, each)) for each in run.reports]
        kernels = sum(times.kernel_ns for _, times in timed)
        launches = sum(times.launch_ns for _, times in timed)
        lines.append(
            f"{path}: '{program.name}': {run.cycles:,} cycles = {kernels / 1e3:.1f} us in "
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
            lines.append(summary(times, flops=0, cores=cores, fidelity=_fidelity(each)))
    return "\n".join(lines)


def _times(program: BinaryProgram, each: CommandReport) -> ProgramTimes:
    return each.report.times(f"{program.name} {each.command.index} {each.command.meaning}")


def _fidelity(each: CommandReport) -> MathFidelity:
    for kernel in each.command.kernels:
        if kernel.config == "TensixConfig":
            return kernel.fidelity
    return MathFidelity.HIFI4


def _details(each: CommandReport) -> dict[str, str]:
    computes = any(kernel.config == "TensixConfig" for kernel in each.command.kernels)
    return {
        "MATH FIDELITY": _fidelity(each).schema_name if computes else "-",
        "LOC": each.command.location or "-",
    }


def _trace(run: MetalRun) -> str:
    start = 0
    recorded: list[tuple[Timeline, int]] = []
    clock_hz = 1_000_000_000
    for each in run.reports:
        if each.timeline is not None:
            recorded.append((each.timeline, start))
        clock_hz = each.report.chip.clock_hz
        start += each.report.cycles
    return chrome_trace(recorded, clock_hz)
