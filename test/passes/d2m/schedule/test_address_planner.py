"""Addresses of buffers that live at the same time do not overlap, and gaps are used."""

from __future__ import annotations

import random

import pytest

from ttmlir.passes.d2m.schedule.d2m_allocate import AddressPlanner, Life, Request


def test_tightest_gap() -> None:
    """After two long buffers with gaps of 64 and 32 bytes, one of 32 goes into the smaller gap."""
    planner = AddressPlanner(0, 1024, 32)
    planner.fix(Life(0, 9), 64, 32)
    planner.fix(Life(0, 9), 128, 32)
    # Free are 0 to 64, 96 to 128 and 160 to 1024.
    assert planner.place_one(Request(32, Life(3, 4))) == 96
    assert planner.place_one(Request(64, Life(3, 4))) == 0
    assert planner.place_one(Request(65, Life(3, 4))) == 160
    # Where the others do not live, everything is free: the memory ends before it is full.
    assert planner.place_one(Request(1024, Life(10, 11))) == 0
    assert planner.place_one(Request(1025, Life(20, 21))) is None


def test_largest_first() -> None:
    """Small buffers do not take what a large one needs."""
    planner = AddressPlanner(32, 32 + 96, 32)
    life = Life(0, 1)
    requests = [Request(16, life), Request(64, life), Request(16, life)]
    assert planner.place(requests) == [96, 32, None]


@pytest.mark.parametrize("seed", range(5))
def test_random_lives(seed: int) -> None:
    """300 buffers of 200 steps: no two overlap in memory and time; all are aligned."""
    rng = random.Random(seed)
    requests: list[Request] = []
    for _ in range(300):
        first = rng.randrange(200)
        life = Life(first, min(199, first + rng.choice((0, 1, 5, 150))))
        requests.append(Request(rng.randrange(1, 4096), life))
    addresses = AddressPlanner(1000, 1 << 20, 64).place(requests)
    placed = [
        (address, address + request.size, request.life)
        for address, request in zip(addresses, requests, strict=True)
        if address is not None
    ]
    assert len(placed) == 300
    assert all(start >= 1000 and start % 64 == 0 and end <= 1 << 20 for start, end, _ in placed)
    for number, (start, end, life) in enumerate(placed):
        for other_start, other_end, other in placed[:number]:
            meets = life.first <= other.last and other.first <= life.last
            assert not (meets and start < other_end and other_start < end)
