"""Devices of ttnn with `card_bits` give the bits that a simulated card gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import record_numerics
from numerics_cases import CASES, numbers_of

import ttmlir.ttnn as ttnn

_RECORD: dict[str, Any] = json.loads(record_numerics.RECORD.read_text(encoding="utf-8"))["boards"]
_SAMPLE = 12
"""Every so many cases are left to `make test`."""

DIFFERENT = {
    board: set(names)
    for board, names in json.loads(
        record_numerics.RECORD.with_name("numerics_different.json").read_text(encoding="utf-8")
    ).items()
}
"""Cases whose bits are others; docs/differences.md says why."""


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
    # Other tests may have left it open.
    ttnn.close_device(ttnn.open_device(device_id=0))
    device = ttnn.open_device(device_id=0, board=board, card_bits=True)
    try:
        patterns = numbers_of(ttnn, CASES[name](ttnn, device))
    finally:
        ttnn.close_device(device)
    expected = _RECORD[board][name]
    found = record_numerics.entry_of(np.asarray(patterns))
    assert found["sample"].split() == expected["sample"].split()
    assert found == expected


def test_what_differs_is_named() -> None:
    """No case is named that was not recorded."""
    for board, names in DIFFERENT.items():
        assert names <= {name for name, entry in _RECORD[board].items() if "hash" in entry}
