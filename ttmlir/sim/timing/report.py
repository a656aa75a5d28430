"""Tables of a program's times as CSV: a row per thread, and a row per program.

The row per program has the columns of tt-metal's performance report (tools/tracy/process_ops_logs
of 2024), so that scripts which read `ops_perf_results.csv` find theirs; what the simulator cannot
know, such as the time of the host, is "-".
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from ttmlir.sim.timing.profiler_columns import PROCESSORS, PROFILER_COLUMNS
from ttmlir.sim.timing.program_times import ProgramTimes, ThreadTimes
from ttmlir.sim.timing.roofline import bound

MISSING = "-"

OPERATION_COLUMNS = (*PROFILER_COLUMNS, "SHARE [%]", "DRAM BYTES", "BOUND BY", "LOC")


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
    rows = [
        [{**_operation(index, program), **extra}.get(name, MISSING) for name in OPERATION_COLUMNS]
        for index, (program, extra) in enumerate(zip(programs, details, strict=True), 1)
    ]
    return _csv(OPERATION_COLUMNS, rows)


def _operation(index: int, program: ProgramTimes) -> dict[str, str]:
    scale = 1e9 / program.clock_hz
    cells = {
        "OP CODE": program.name,
        "OP TYPE": "simulated",
        "GLOBAL CALL COUNT": str(index),
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
