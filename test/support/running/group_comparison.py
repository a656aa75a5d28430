"""A plugin of pytest that runs each program that can run in groups core by core, too, and compares.

    .venv/bin/python -m pytest -p running.group_comparison test/sim test/metalium

Bytes of all memories, clocks and stalls of all threads, what the networks were busy with, and the
sanitizer's findings have to be the same. Groups may have a single core here.
"""

from __future__ import annotations

import os
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from running.randomness import TestGenerator

from ttmlir.layout.enums import DataType
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.program import Program
from ttmlir.sim.execution.run import ProgramReport, ProgramRun, run_program
from ttmlir.sim.groups import group_run
from ttmlir.sim.machine.device import SimDevice
from ttmlir.sim.machine.memory import POISON, Memory
from ttmlir.sim.sanitizer.sanitizer import Sanitizer
from ttmlir.sim.timing.report import ThreadTimes

_run_in_groups = group_run.run_in_groups


def random_tiles(
    rng: TestGenerator | np.random.Generator, data_type: DataType, count: int
) -> bytes:
    """Tiles of numbers of several magnitudes, some of them 0."""
    numbers = rng.standard_normal(count * 1024) * 2.0 ** rng.integers(-4, 4, count * 1024)
    numbers = np.where(rng.random(count * 1024) < 0.1, 0, numbers).astype(np.float32)
    if data_type is DataType.F32:
        return numbers.tobytes()
    if data_type is DataType.F16:
        return numbers.astype("<f2").tobytes()
    if data_type is DataType.BF16:
        return (numbers.view(np.uint32) >> 16).astype("<u2").tobytes()
    mantissas = rng.integers(0, 256, (count, 1024), np.uint8)
    exponents = rng.integers(120, 132, (count, 64), np.uint8)
    return np.concatenate([exponents, mantissas], axis=1).tobytes()


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
    before = _bytes_of(device)
    times = _run_in_groups(run, watch)
    if times is None:
        return None
    report, after = run.report(times), _bytes_of(device)
    _put_back(before)
    _compare((facts_of(report), after), _run_apart(device, run.program, "0"))
    return times


def run_late(device: SimDevice, program: Program) -> None:
    """Run a program core by core, with numbers that come late and without, and compare.

    Also what is wrong with it, and what is in memory then.
    """
    before = _bytes_of(device)
    facts = _run_apart(device, program, "1")
    after = _bytes_of(device)
    _put_back(before)
    _compare((facts, after), _run_apart(device, program, "0"))


def _run_apart(device: SimDevice, program: Program, switch: str) -> tuple[object, ...]:
    """What came of a run core by core, or what was wrong."""
    with (
        patch.object(group_run, "run_in_groups", return_value=None),
        patch.dict(os.environ, {group_run.SWITCH: switch}),
    ):
        try:
            return facts_of(run_program(device, program))
        except SimError as error:
            return (str(error),)


_Bytes = list[tuple[Memory, NDArray[np.uint8]]]


def _bytes_of(device: SimDevice) -> _Bytes:
    assert not any(memory.late for memory in device.memories())
    return [(memory, memory.data.copy()) for memory in device.memories()]


def _put_back(before: _Bytes) -> None:
    for memory, data in before:
        memory.poison(0, memory.data.size)
        memory.write(0, data.data)


def _compare(found: tuple[tuple[object, ...], _Bytes], expected: tuple[object, ...]) -> None:
    facts, after = found
    assert facts == expected
    for memory, data in after:
        size = min(data.size, memory.data.size)
        np.testing.assert_array_equal(data[:size], memory.data[:size], memory.name)
        assert (data[size:] == POISON).all(), memory.name


def pytest_configure() -> None:
    """Compare from now on."""
    patch.object(group_run, "run_in_groups", run_both_ways).start()
    patch.object(group_run, "SMALLEST_GROUP", 1).start()
