"""The examples are those that the real ttnn library was run on."""

from __future__ import annotations

import json
from typing import Any

import card
import metalium_card

_RECORD: dict[str, Any] = json.loads(metalium_card.VERDICTS.read_text(encoding="utf-8"))


def test_examples_are_the_recorded_ones() -> None:
    """Otherwise `metalium_card.py` has to run them again."""
    assert _RECORD["examples"] == metalium_card.hash_of_examples()
    assert set(_RECORD["programs"]) == set(metalium_card.names())


def test_recorded_numbers_are_right() -> None:
    """Where the library can be given the program, and the simulator has what it needs."""
    for name, verdicts in _RECORD["programs"].items():
        assert verdicts["own"] == "right", name
        for board in metalium_card.BOARDS:
            found: str = verdicts[f"sim {board}"]
            assert found in ("right", metalium_card.UNNAMED) or found.startswith(card.STOPS), name
