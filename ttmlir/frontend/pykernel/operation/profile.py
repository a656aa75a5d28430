"""What an operation did on a simulated device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ttmlir.files import write_file
from ttmlir.sim.execution.command_queue import CommandQueue
from ttmlir.sim.execution.run import ProgramReport
from ttmlir.sim.findings import Finding
from ttmlir.sim.timing.report import thread_table
from ttmlir.sim.timing.timeline import Timeline
from ttmlir.sim.timing.trace import chrome_trace


@dataclass(frozen=True)
class Profile:
    """One run of an operation."""

    name: str
    output: Any = field(repr=False)
    """What the operation returned."""
    report: ProgramReport = field(repr=False)
    timeline: Timeline = field(repr=False)

    @property
    def cycles(self) -> int:
        """When the last thread ended."""
        return self.report.cycles

    @property
    def nanoseconds(self) -> float:
        """The same in time."""
        return self.cycles * 1e9 / self.report.chip.clock_hz

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the sanitizer let pass but has to say."""
        return self.report.findings

    @property
    def printed(self) -> tuple[str, ...]:
        """The lines that kernels printed."""
        return self.report.printed

    def threads(self) -> str:
        """A table as CSV: for each thread its cycles, and in which calls it waited."""
        return thread_table([self.report.times(self.name)])

    def trace(self) -> str:
        """The timeline, as JSON that chrome://tracing and ui.perfetto.dev show."""
        return chrome_trace([(self.timeline, 0)], self.report.chip.clock_hz)

    def write_trace(self, path: str | Path) -> None:
        """Write the timeline to a file."""
        write_file(path, self.trace().encode())

    def __str__(self) -> str:
        """Cycles, time and cores."""
        cores = len({thread.core for thread in self.report.threads})
        time = f"{self.nanoseconds / 1000:.1f} us"
        return f"{self.name}: {self.cycles} cycles, {time}, {cores} core{'s' * (cores != 1)}"


def record(name: str, queue: CommandQueue, run: Callable[[], Any]) -> Profile:
    """Run something that puts one program on a queue, and keep what it did."""
    outer, timeline = queue.timeline, Timeline()
    queue.timeline = timeline
    try:
        output = run()
    finally:
        queue.timeline = outer
    return Profile(name, output, queue.reports[-1], timeline)
