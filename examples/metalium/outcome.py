"""What an example prints in the end: whether it is right, how long it took, what binds it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from matrix_data import Matrix, additions_of, check, stored, tolerance
from matrix_options import MatrixOptions, parse_options

from ttmlir.metalium import MetaliumError
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.run import CommandQueue
from ttmlir.sim.timing.report import ProgramTimes, summary
from ttmlir.sim.timing.timeline import Timeline, chrome_trace


@dataclass(frozen=True)
class Outcome:
    """One run of an example."""

    options: MatrixOptions
    times: ProgramTimes
    timeline: Timeline | None
    passed: bool
    verdict: str
    flops: int = 0
    """Operations of matrix products."""


def recording(options: MatrixOptions) -> Timeline | None:
    """What records the program, if a trace is wanted."""
    return Timeline() if options.trace else None


def sum_outcome(
    name: str, queue: CommandQueue, options: MatrixOptions, a: Matrix, b: Matrix, c: Matrix
) -> Outcome:
    """Compare a sum with NumPy's, of the numbers that the device was given."""
    expected = stored(a, options.data_format) + stored(b, options.data_format)
    passed, verdict = check(
        c, expected, tolerance(options, 0 if options.numerics == "exact" else 1)
    )
    times = queue.reports[-1].times(name)
    return Outcome(options, times, queue.timeline, passed, verdict)


def product_outcome(
    name: str, queue: CommandQueue, options: MatrixOptions, a: Matrix, b: Matrix, c: Matrix
) -> Outcome:
    """Compare a product with NumPy's, of the numbers that the device was given."""
    expected = stored(a, options.data_format) @ stored(b, options.data_format)
    passed, verdict = check(c, expected, tolerance(options, additions_of(options)))
    times = queue.reports[-1].times(name)
    flops = 2 * options.m * options.k * options.n
    return Outcome(options, times, queue.timeline, passed, verdict, flops)


def main(run: Callable[[MatrixOptions], Outcome], description: str) -> int:
    """Run an example with the options of the command line; returns the exit status."""
    try:
        outcome = run(parse_options(description))
        _print(outcome)
    except (MetaliumError, SimError, OSError) as error:
        text = str(error)
        print(text if "error: " in text else f"error: {text}", file=sys.stderr)
        return 1
    return 0 if outcome.passed else 1


def _print(outcome: Outcome) -> None:
    """Print an outcome, and write its trace if there is one."""
    options, times = outcome.options, outcome.times
    print(outcome.verdict)
    cores = len({thread.core for thread in times.threads})
    print(summary(times, flops=outcome.flops, cores=cores, fidelity=options.fidelity))
    if options.trace is not None and outcome.timeline is not None:
        options.trace.write_text(
            chrome_trace([(outcome.timeline, 0)], times.clock_hz), encoding="utf-8"
        )
        print(f"trace written to {options.trace}; open it in ui.perfetto.dev")
