"""Runs programs of several linked devices at once: one scheduler, one clock, one sanitizer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ttmlir.collector import without_collections
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.program import Program
from ttmlir.sim.execution.run import (
    CommandQueue,
    ProgramReport,
    ProgramRun,
    Together,
    check_kernels,
)
from ttmlir.sim.execution.scheduler import Scheduler
from ttmlir.sim.machine.cluster import Cluster
from ttmlir.sim.machine.fabric import Fabric
from ttmlir.terminal import print_warnings


@without_collections()
def run_on_cluster(
    cluster: Cluster, fabric: Fabric | None, programs: Sequence[tuple[CommandQueue, Program]]
) -> list[ProgramReport]:
    """Run a program on each of some devices, all begun at once, until all have ended.

    Raises SimError as a run on one device does; messages name the device.
    """
    runs: list[ProgramRun] = []
    scheduler = Scheduler(
        programs[0][0].device.options,
        lambda: any([run.move_held_copies() for run in runs]),
    )
    cluster.reset()
    if fabric is not None:
        fabric.reset()
    try:
        for queue, program in programs:
            queue.check_open()
            check_kernels(program)
            together = Together(
                cluster=cluster,
                fabric=fabric,
                scheduler=scheduler,
                first_index=sum(len(run.threads) for run in runs),
            )
            run = ProgramRun(queue.device, program, queue.timeline, None, together=together)
            run.prepare()
            runs.append(run)
        reports = _run(scheduler, runs, fabric)
    finally:
        for queue, _ in programs:
            print_warnings(queue.device.warnings)
    for (queue, _), report in zip(programs, reports, strict=True):
        queue.add_report(report)
    return reports


def _run(
    scheduler: Scheduler, runs: Sequence[ProgramRun], fabric: Fabric | None
) -> list[ProgramReport]:
    """Run all threads to their end."""
    threads = [thread for run in runs for thread in run.threads]
    first_lines = [len(run.device.printed) for run in runs]
    watch = runs[0].device.watch
    if watch is not None:
        watch.program_started(threads, [core for run in runs for core in run.cores()])
    try:
        # Numbers overflow without a warning, as on the chip.
        with np.errstate(all="ignore"):
            scheduler.run(threads)
    except SimError as error:
        if watch is not None:
            watch.program_stopped(error)
        raise
    finally:
        for run in runs:
            run.end()
    for run in runs:
        run.move_held_copies()
    if watch is not None:
        for finding in () if fabric is None else fabric.unclosed():
            watch.report(finding)
        watch.program_ended()
    return [run.report(run.times(), line) for run, line in zip(runs, first_lines, strict=True)]
