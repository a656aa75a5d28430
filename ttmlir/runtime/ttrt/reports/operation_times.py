"""Times of operations on the host: measured, as a table of tt-metal's profiler, and in short."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from ttmlir.runtime.execution.executor import Run
from ttmlir.runtime.execution.prepare import Step
from ttmlir.runtime.hooks import DebugHooks
from ttmlir.runtime.profiler_table import MISSING, profiler_csv, tensor_columns
from ttmlir.runtime.tensor import TensorDesc

CSV_NAME = "ops_perf_results.csv"
_MOST_OPERATIONS = 10


@dataclass(frozen=True)
class Timing:
    """One operation of one run; times in nanoseconds of the monotonic clock."""

    step: Step
    inputs: tuple[TensorDesc, ...]
    start: int
    end: int

    @property
    def duration(self) -> int:
        """Nanoseconds."""
        return self.end - self.start

    @property
    def code(self) -> str:
        """Name of the operation in the IR."""
        call = self.step.call
        return self.step.operation.ir_name if call is None else call.name


def _no_timings() -> list[Timing]:
    return []


@dataclass
class TimingObserver:
    """Times every operation; registered hooks run outside of the times."""

    timings: list[Timing] = field(default_factory=_no_timings)
    hooks: DebugHooks | None = None
    _start: int = 0

    def before(self, run: Run, step: Step) -> None:
        """Start the clock."""
        if self.hooks is not None:
            self.hooks.before(run, step)
        self._start = time.perf_counter_ns()

    def after(self, run: Run, step: Step) -> None:
        """Stop the clock."""
        end = time.perf_counter_ns()
        call = step.call
        refs = () if call is None else call.operands
        inputs = tuple(ref.desc for ref in refs if ref is not None)
        self.timings.append(Timing(step, inputs, self._start, end))
        if self.hooks is not None:
            self.hooks.after(run, step)


def summary(path: str, timings: list[Timing]) -> str:
    """Total time and the kinds of operations that take most of it, as a table."""
    total = sum(timing.duration for timing in timings)
    by_code: dict[str, list[int]] = {}
    for timing in timings:
        by_code.setdefault(timing.code, []).append(timing.duration)
    ranked = sorted(by_code.items(), key=lambda item: -sum(item[1]))[:_MOST_OPERATIONS]
    lines = [
        f"{path}: {total / 1e6:.3f} ms of host time, on this computer's CPU, in {len(timings)} "
        "operations; --device estimates the device's"
    ]
    lines.append(f"{'operation':<32}{'calls':>8}{'host ms':>12}{'mean host us':>14}{'share':>8}")
    for code, durations in ranked:
        spent = sum(durations)
        share = 100 * spent / total if total else 0.0
        mean = spent / len(durations) / 1e3
        lines.append(
            f"{code:<32}{len(durations):>8}{spent / 1e6:>12.3f}{mean:>14.1f}{share:>7.1f}%"
        )
    return "\n".join(lines)


def timings_as_csv(timings: list[Timing]) -> str:
    """One row per operation, in the columns of tt-metal's profiler; "-" where there is no value."""
    most_inputs = max((len(timing.inputs) for timing in timings), default=0)
    return profiler_csv(
        (_csv_row(count, timing) for count, timing in enumerate(timings)), most_inputs
    )


def _csv_row(count: int, timing: Timing) -> dict[str, Any]:
    step = timing.step
    row: dict[str, Any] = {
        "OP CODE": timing.code,
        "OP TYPE": "host",
        "GLOBAL CALL COUNT": count,
        "HOST START TS": timing.start,
        "HOST END TS": timing.end,
        "HOST DURATION [ns]": timing.duration,
        "CALL DEPTH": 1,
        "LOC": step.operation.location or MISSING,
    }
    if step.call is not None and step.call.parameters:
        row["ATTRIBUTES"] = "; ".join(f"{k}={v}" for k, v in step.call.parameters.items())
    row |= tensor_columns(timing.inputs, step.output_desc)
    if step.output_desc is not None:
        cores = sum(height * width for _, _, height, width in step.output_desc.core_ranges)
        row["CORE COUNT"] = cores or MISSING
    return row
