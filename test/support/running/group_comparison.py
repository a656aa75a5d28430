"""A plugin of pytest that runs each program that can run in groups core by core, too, and compares.

    .venv/bin/python -m pytest -p running.group_comparison test/sim test/metalium

Bytes of all memories, clocks and stalls of all threads, what the networks were busy with, and the
sanitizer's findings have to be the same. Groups may have a single core here.
"""

from __future__ import annotations

from unittest.mock import patch

import numpy as np

from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.run import ProgramReport, ProgramRun, run_program
from ttmlir.sim.groups import group_run
from ttmlir.sim.machine.device import SimDevice
from ttmlir.sim.machine.memory import POISON, Memory
from ttmlir.sim.sanitizer.sanitizer import Sanitizer
from ttmlir.sim.timing.report import ThreadTimes

_run_in_groups = group_run.run_in_groups


def memories_of(device: SimDevice) -> list[Memory]:
    """All memories of a device that a program may change."""
    return [*(bank.memory for bank in device.network.dram), *(core.l1 for core in device.cores())]


def facts_of(report: ProgramReport) -> tuple[object, ...]:
    """What two runs of a program have to have in common."""
    networks = report.networks
    busy = None
    if networks is not None:
        busy = {*networks.dram_resources()}, {*networks.network_resources()}, networks.dram_bytes
    return report.threads, report.findings, report.printed, busy


def run_both_ways(run: ProgramRun, watch: Sanitizer | None) -> list[ThreadTimes] | None:
    """Run a program in groups, put all back, run it core by core, and compare.

    The times of its threads; None if it does not run in groups.
    """
    device = run.device
    try:
        run.place()  # Makes the cores.
    except SimError:
        return None
    before = [(memory, memory.data.copy()) for memory in memories_of(device)]
    times = _run_in_groups(run, watch)
    if times is None:
        return None
    report = run.report(times)
    after = [(memory, memory.data.copy()) for memory in memories_of(device)]
    for memory, data in before:
        memory.poison(0, memory.data.size)
        memory.write(0, data.data)
    with patch.object(group_run, "run_in_groups", return_value=None):
        expected = run_program(device, run.program)
    assert facts_of(report) == facts_of(expected)
    for memory, data in after:
        size = min(data.size, memory.data.size)
        np.testing.assert_array_equal(data[:size], memory.data[:size], memory.name)
        assert (data[size:] == POISON).all(), memory.name
    return times


def pytest_configure() -> None:
    """Compare from now on."""
    patch.object(group_run, "run_in_groups", run_both_ways).start()
    patch.object(group_run, "SMALLEST_GROUP", 1).start()
