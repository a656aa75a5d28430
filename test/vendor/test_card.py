"""Scripts of programs are those that the real ttnn library was run on, and right here."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import card
import pytest
from card_programs import program_names
from running.warm_shell import WarmShell

_RECORD: dict[str, Any] = json.loads(card.VERDICTS.read_text(encoding="utf-8"))["programs"]
_SAMPLE = 5
"""Every so many programs are left to `make test`."""


def _params() -> list[Any]:
    return [
        pytest.param(name, marks=[pytest.mark.exhaustive] if number % _SAMPLE else [])
        for number, name in enumerate(program_names())
    ]


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("name", _params())
def test_script_is_the_recorded_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: WarmShell
) -> None:
    """Its calls, and the numbers and tensors that they give here."""
    for variable, value in shell.environment(os.environ).items():
        monkeypatch.setenv(variable, value)
    script = card.write_script(name, tmp_path / name)
    assert card.hash_of(script) == _RECORD[name]["script"]
    assert card.run_check(script, ["python", "-m", "ttmlir"], "", "") == "right"


def test_no_recorded_verdict_is_wrong() -> None:
    """All programs ran; what is not right is a stop of the simulator."""
    assert sorted(_RECORD) == sorted(program_names())
    for name, verdicts in _RECORD.items():
        assert verdicts["own"] == "right", name
        for mode, board in card.RUNS:
            verdict = verdicts[f"{mode} {board}"]
            assert verdict == "right" or verdict.startswith(card.STOPS), f"{name}: {verdict}"
