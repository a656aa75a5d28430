"""Runs programs of several linked devices at once: one scheduler, one clock, one sanitizer."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

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
from ttmlir.sim.execution.scheduler import KernelThread, Scheduler, deadlock
from ttmlir.sim.machine.cluster import Cluster
from ttmlir.sim.machine.fabric import Fabric
from ttmlir.terminal import print_warnings


class ClusterRun:
    """Programs of some devices, all begun at once, which can stop where they wait for the host."""

    def __init__(
        self,
        cluster: Cluster,
        fabric: Fabric | None,
        programs: Sequence[tuple[CommandQueue, Program]],
    ) -> None:
        """Programs that have not begun; SimError for what cannot run."""
        self._fabric = fabric
        self._queues = [queue for queue, _ in programs]
        self._runs: list[ProgramRun] = []
        self._scheduler = Scheduler(
            programs[0][0].device.options,
            lambda: any([run.move_held_copies() for run in self._runs]),
        )
        cluster.reset()
        if fabric is not None:
            fabric.reset()
        with self._telling():
            for queue, program in programs:
                queue.check_open()
                check_kernels(program)
                together = Together(
                    cluster=cluster,
                    fabric=fabric,
                    scheduler=self._scheduler,
                    first_index=sum(len(run.threads) for run in self._runs),
                )
                run = ProgramRun(queue.device, program, queue.timeline, None, together=together)
                run.prepare()
                self._runs.append(run)
        self._threads = [thread for run in self._runs for thread in run.threads]
        self._first_lines = [len(run.device.printed) for run in self._runs]
        self._watch = self._runs[0].device.watch
        if self._watch is not None:
            cores = [core for run in self._runs for core in run.cores()]
            self._watch.program_started(self._threads, cores)

    @contextmanager
    def _telling(self) -> Generator[None]:
        """Print the warnings of what is done within."""
        try:
            yield
        finally:
            for queue in self._queues:
                print_warnings(queue.device.warnings)

    @property
    def clock(self) -> int:
        """How far the thread is that has gone on most."""
        return max((thread.clock for thread in self._threads), default=0)

    @without_collections()
    def advance(self) -> list[KernelThread]:
        """Run as far as threads go: those that have not ended, which wait.

        Raises SimError as a run on one device does; messages name the device.
        """
        try:
            # Numbers overflow without a warning, as on the chip.
            with self._telling(), np.errstate(all="ignore"):
                return self._scheduler.advance(self._threads)
        except SimError as error:
            self.stop(error)
            raise

    def stop(self, error: SimError) -> None:
        """End programs that cannot go on."""
        if self._watch is not None:
            self._watch.program_stopped(error)
        for run in self._runs:
            run.end()

    def end(self) -> list[ProgramReport]:
        """What the programs did, which have ended."""
        for run in self._runs:
            run.end()
        for run in self._runs:
            run.move_held_copies()
        for run in self._runs:
            run.note_leftovers()
        with self._telling():
            if self._watch is not None:
                for finding in () if self._fabric is None else self._fabric.unclosed():
                    self._watch.report(finding)
                self._watch.program_ended()
        reports = [
            run.report(run.times(), line)
            for run, line in zip(self._runs, self._first_lines, strict=True)
        ]
        for queue, report in zip(self._queues, reports, strict=True):
            queue.add_report(report)
        return reports


def run_on_cluster(
    cluster: Cluster, fabric: Fabric | None, programs: Sequence[tuple[CommandQueue, Program]]
) -> list[ProgramReport]:
    """Run a program on each of some devices, all begun at once, until all have ended.

    Raises SimError as a run on one device does; messages name the device.
    """
    run = ClusterRun(cluster, fabric, programs)
    blocked = run.advance()
    if blocked:
        error = deadlock(blocked)
        run.stop(error)
        raise error
    return run.end()
