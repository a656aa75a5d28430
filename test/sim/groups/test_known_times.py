"""Programs that ran before: their clocks come without a replay, and are those of any run."""

from __future__ import annotations

from copy import deepcopy
from enum import IntEnum
from typing import Any

import pytest

from ttmlir.layout.enums import DataType
from ttmlir.sim.groups import known_times
from ttmlir.sim.groups.known_times import find_times
from ttmlir.sim.groups.timing import PAUSE, READ, Step, TimedCore, TimedThread, replay
from ttmlir.sim.machine.memory import CircularBuffer
from ttmlir.sim.timing.noc_model import NocModel
from ttmlir.sim.timing.noc_parameters import WORMHOLE

DRAM = {(0, 0): 0, (5, 0): 1}
LIMIT = 1 << 40


class Cycles(IntEnum):
    """Numbers that are no plain integers."""

    FEW = 7


@pytest.fixture(name="replays")
def _replays(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A number for each replay."""
    calls: list[int] = []

    def counted(*arguments: Any) -> None:
        calls.append(len(calls))
        replay(*arguments)

    monkeypatch.setattr(known_times, "replay", counted)
    monkeypatch.setattr(known_times, "known", {})
    return calls


def found(
    places: list[tuple[int, int]],
    *,
    size: int = 2048,
    cycles: int = 5,
    pages: int = 2,
    dram: dict[tuple[int, int], int] = DRAM,
    limit: int = LIMIT,
) -> tuple[list[tuple[int, dict[str, int]]], tuple[Any, ...]]:
    """Clocks, stalls and traffic of cores that each read from DRAM twice."""
    steps: list[Step] = [(PAUSE, None, 0, 0, cycles, 0, None)]
    for target in dram:
        steps.append((READ, [target] * len(places), size, 0, 1, 0, None))
    threads: list[TimedThread] = []
    for lane, place in enumerate(places):
        core = TimedCore(place, lane, {0: CircularBuffer(0, 0, 64, pages, DataType.BF16)}, 2)
        threads.append(TimedThread(lane, core, steps))
    networks = NocModel(WORMHOLE, dram)
    find_times(threads, networks, limit)
    busy = [*networks.dram_resources()], [*networks.network_resources()], networks.dram_bytes
    return [(each.clock, each.stalls) for each in threads], busy


def test_a_program_that_ran_before_is_not_replayed(replays: list[int]) -> None:
    """Clocks and traffic are equal; who changes the stalls of one run changes no other."""
    places = [(1, 1), (2, 1), (7, 3)]
    first = found(places)
    clocks, (*_, dram_bytes) = deepcopy(first)
    assert dram_bytes == 3 * 2 * 2048
    for _, stalls in first[0]:
        stalls["of this run"] = 1
    second = found(places)
    assert second[0] == clocks
    assert second[1] == first[1]
    assert len(replays) == 1


def test_whatever_may_change_clocks_is_looked_at(replays: list[int]) -> None:
    """Cores, their order, records, circular buffers, networks and limits."""
    places = [(1, 1), (2, 1)]
    others: list[dict[str, Any]] = [
        {"places": [(1, 1), (2, 2)]},
        {"places": [(2, 1), (1, 1)]},
        {"places": [(1, 1)]},
        {"size": 4096},
        {"cycles": 6},
        {"pages": 3},
        {"dram": {(0, 0): 0, (5, 0): 0}},
        {"limit": 1 << 30},
    ]
    found(places)
    for count, other in enumerate(others, 2):
        arguments: dict[str, Any] = {"places": places, **other}
        found(**arguments)
        assert len(replays) == count


def test_other_integers_are_replayed(replays: list[int]) -> None:
    """Their encoding is not that of the numbers they are equal to."""
    places = [(1, 1), (2, 1)]
    plain = found(places, cycles=7)
    assert found(places, cycles=Cycles.FEW) == plain
    assert len(replays) == 2


def test_the_oldest_is_forgotten(replays: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """What was used last stays."""
    monkeypatch.setattr(known_times, "_KEPT", 2)
    for cycles in (1, 2, 1, 3, 1):
        found([(1, 1)], cycles=cycles)
    assert len(replays) == 3
    found([(1, 1)], cycles=2)
    assert len(replays) == 4
