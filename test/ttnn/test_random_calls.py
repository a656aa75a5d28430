"""Random calls, valid and not, have the verdicts and the results of the real ttnn."""

from __future__ import annotations

import lzma
from collections import Counter
from pathlib import Path

import pytest
from running.ttnn_answers import Program, read_sections

from ttmlir import ttnn
from ttmlir.errors import Error

INPUTS = Path(__file__).with_name("Inputs")
"""Calls of `random_calls.py` and `random_training_calls.py`, with the answers of ttnn 0.81.1."""


def count(device: ttnn.Device, name: str, *, step: int = 1) -> Counter[str]:
    """How many calls of a file, or of each `step` one, agree with the real ttnn, by what."""
    found = Counter[str]()
    for _, steps in read_sections(lzma.decompress((INPUTS / name).read_bytes()).decode()):
        program = Program(ttnn, device)
        for line, answer in steps[::step]:
            own = program.answer(line, Error)
            refusals = {own.startswith("error: "), answer.startswith("error: ")}
            found["calls"] += 1
            found["same verdict"] += len(refusals) == 1
            if refusals == {False}:
                found["taken by both"] += 1
                found["same result"] += own == answer
    return found


def test_random_calls(device: ttnn.Device) -> None:
    """98 % of all calls are taken or refused alike; of those taken, 99 % give the same facts.

    The rest are known: windows and enlarged images come in shards that the card chooses, indices of
    three and more dimensions lose some, `bitcast` goes between sizes, and integers pass through
    functions of floating point.
    """
    counted = count(device, "random_calls.txt.xz")
    assert counted["calls"] > 5000
    assert counted["same verdict"] >= 0.98 * counted["calls"], counted
    assert counted["same result"] >= 0.99 * counted["taken by both"], counted


def check_training_calls(counted: Counter[str], least: int) -> None:
    """Of gradients, training and single models 99 % have the same verdict, and the same facts.

    The rest are known: gradients of operands of other data types than the result's, and memory
    configurations that a card does not look at.
    """
    assert counted["calls"] > least
    assert counted["same verdict"] >= 0.99 * counted["calls"], counted
    assert counted["same result"] >= 0.99 * counted["taken by both"], counted


def test_random_training_calls(device: ttnn.Device) -> None:
    """Each third of the recorded calls."""
    check_training_calls(count(device, "random_training_calls.txt.xz", step=3), 800)


@pytest.mark.exhaustive
def test_all_random_training_calls(device: ttnn.Device) -> None:
    """All recorded calls."""
    check_training_calls(count(device, "random_training_calls.txt.xz"), 2500)


def test_what_a_card_refuses_can_be_asked_for() -> None:
    """A device that is not strict computes what has a meaning."""
    device = ttnn.open_device(device_id=0, strict=False)
    try:
        bytes_ = ttnn.ones((32, 64), ttnn.uint8, ttnn.TILE_LAYOUT, device)
        assert ttnn.add(bytes_, bytes_).to_list()[0][0] == 2
        rows = ttnn.ones((3, 5), ttnn.float32, ttnn.ROW_MAJOR_LAYOUT, device)
        assert ttnn.cumsum(rows, 1).to_list()[0][-1] == 5
    finally:
        ttnn.close_device(device)
