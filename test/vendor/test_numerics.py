"""Devices of ttnn give the bits that a simulated card gives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import record_numerics
from numerics_cases import CASES, numbers_of

import ttmlir.ttnn as ttnn
from ttmlir.layout.enums import Arch
from ttmlir.sim.machine.card_tiles import tile_function
from ttmlir.sim.machine.vector_functions import FUNCTIONS
from ttmlir.sim.machine.vector_unit import pack_bfloat16

_RECORD: dict[str, Any] = json.loads(record_numerics.RECORD.read_text(encoding="utf-8"))["boards"]
_SAMPLE = 12
"""Every so many cases are left to `make test`."""

DIFFERENT: dict[str, dict[str, list[int]]] = json.loads(
    record_numerics.DIFFERENT.read_text(encoding="utf-8")
)
"""Cases whose bits are others: how many numbers, and how many by more than one unit."""
_DIFFERENCES = Path(__file__).resolve().parents[2] / "docs" / "differences.md"
_ROW = re.compile(r"^\| `([^`]+)` \| ([\d,/ ]*) \| ([\d,/ ]*) \| [^|]+ \|$", re.MULTILINE)

SMALL = (
    "add_number bfloat16",
    "exp bfloat16",
    "layer_norm scaled bfloat16",
    "matmul HiFi2 bfloat8_b",
    "matmul bfloat16",
    "multiply bfloat8_b",
    "softmax bfloat16",
    "typecast bfloat16 bfloat4_b",
)
"""Cases of few steps, which devices compute bit by bit by default."""


def _params() -> Iterator[Any]:
    number = 0
    for board, cases in _RECORD.items():
        for name, entry in cases.items():
            if "hash" in entry and name not in DIFFERENT[board]:
                number += 1
                marks = [pytest.mark.exhaustive] if number % _SAMPLE else []
                yield pytest.param(board, name, marks=marks)


@pytest.mark.parametrize(("board", "name"), [*_params()])
def test_bits_are_those_of_a_card(board: str, name: str) -> None:
    """Every number of the result, by its hash; a failure shows the sample."""
    found = _find(board, name, card_bits=True)
    expected = _RECORD[board][name]
    assert found["sample"].split() == expected["sample"].split()
    assert found == expected


def _find(board: str, name: str, **options: bool) -> dict[str, Any]:
    """What the recorder would keep of a case."""
    # Other tests may have left it open.
    ttnn.close_device(ttnn.open_device(device_id=0))
    device = ttnn.open_device(device_id=0, board=board, **options)
    try:
        patterns = numbers_of(ttnn, CASES[name](ttnn, device))
    finally:
        ttnn.close_device(device)
    return record_numerics.entry_of(np.asarray(patterns))


@pytest.mark.parametrize("name", SMALL)
def test_small_tensors_have_the_bits_by_default(name: str) -> None:
    """Without `card_bits`; with `card_bits=False` they have not."""
    assert _find("n150", name) == _RECORD["n150"][name]
    assert _find("n150", name, card_bits=False) != _RECORD["n150"][name]


_KERNEL_CALLS = [
    name
    for name in ("reciprocal", "neg", *FUNCTIONS)
    if f"{name} bfloat16" in _RECORD["n150"]
    and tile_function(name, Arch.WORMHOLE_B0, wide=False, numbers={}) is not None
    # Recorded with a slope of 0.1, where kernels have 0.01.
    and name != "leaky_relu"
]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.exhaustive] if number % _SAMPLE else [])
        for number, name in enumerate(dict.fromkeys(_KERNEL_CALLS))
    ],
)
def test_kernels_have_the_bits(name: str) -> None:
    """Functions of the vector unit in kernels are those of the operations: through DST, packed."""
    function = tile_function(name, Arch.WORMHOLE_B0, wide=False, numbers={})
    assert function is not None
    values = (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)
    # Tensors made of lists have one NaN.
    values = np.where(np.isnan(values), np.float32(np.nan), values)
    patterns = pack_bfloat16(function(values)).view(np.uint32)
    assert record_numerics.entry_of(patterns) == _RECORD["n150"][f"{name} bfloat16"]


def test_what_differs_is_named() -> None:
    """In a table with the counts of `record_numerics.py`, which has recorded cases alone."""
    said: dict[str, dict[str, list[int]]] = {board: {} for board in record_numerics.BOARDS}
    for name, *cells in _ROW.findall(_DIFFERENCES.read_text(encoding="utf-8")):
        for board, cell in zip(record_numerics.BOARDS, cells, strict=True):
            if cell:
                said[board][name] = [int(each.replace(",", "")) for each in cell.split(" / ")]
    assert said == DIFFERENT
    for board, names in DIFFERENT.items():
        assert names.keys() <= {name for name, entry in _RECORD[board].items() if "hash" in entry}


@pytest.mark.parametrize(
    ("board", "name"), [(board, name) for board, names in DIFFERENT.items() for name in names]
)
def test_differences_are_as_small_as_said(board: str, name: str) -> None:
    """In the sample there are no more than in all numbers, and hashes are not equal."""
    found, expected = _find(board, name, card_bits=True), _RECORD[board][name]
    samples = ([int(each, 16) for each in entry["sample"].split()] for entry in (found, expected))
    others, beyond = record_numerics.count_others(name, *samples)
    assert found["hash"] != expected["hash"]
    assert (others <= DIFFERENT[board][name][0], beyond <= DIFFERENT[board][name][1]) == (
        True,
        True,
    )
