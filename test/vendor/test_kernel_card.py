"""Scripts of kernels are those that the real ttnn library was run on, and right here."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import card
import kernel_card
import pytest
from running.warm_shell import WarmShell

from ttmlir.sim.options import CARD_BITS

_RECORD: dict[str, Any] = json.loads(kernel_card.VERDICTS.read_text(encoding="utf-8"))["programs"]
DIFFERENT: dict[str, list[str]] = json.loads(
    kernel_card.VERDICTS.with_name("kernel_different.json").read_text(encoding="utf-8")
)
"""Programs whose bytes are others than the simulator's; docs/differences.md says why."""
_SAMPLE = 48
"""Every so many programs are left to `make test`."""


def _params() -> list[Any]:
    return [
        pytest.param(name, marks=[pytest.mark.exhaustive] if number % _SAMPLE else [])
        for number, name in enumerate(_RECORD)
    ]


@pytest.mark.parametrize("name", _params())
def test_script_is_the_recorded_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: WarmShell
) -> None:
    """Its kernels and programs, and the numbers that they give here."""
    monkeypatch.setenv(CARD_BITS, "1")
    record = _RECORD[name]
    if "n150 refused" in record:
        with pytest.raises(kernel_card.REFUSALS, match=re.escape(record["n150 refused"])):
            kernel_card.write_script(name, "n150", tmp_path / name)
        return
    for variable, value in shell.environment(os.environ).items():
        monkeypatch.setenv(variable, value)
    script = kernel_card.write_script(name, "n150", tmp_path / name)
    assert kernel_card.hash_of(script) == record["n150 script"]
    assert card.run_check(script, ["python", "-m", "ttmlir"], "", "") == "right"
    if "n150 bits" in record:
        bits = kernel_card.bits_of(script.with_name("own-.npz"))
        assert (bits == record["n150 bits"]) == (name not in DIFFERENT["n150"])


def test_no_recorded_verdict_is_wrong() -> None:
    """What is not right is refused, or a stop of the simulator."""
    assert set(_RECORD) <= set(kernel_card.names())
    for name, verdicts in _RECORD.items():
        for key, verdict in verdicts.items():
            assert (
                key.endswith(("script", "refused", "bits"))
                or verdict in ("right", kernel_card.WIDE)
                or verdict.startswith(card.STOPS)
            ), f"{name}, {key}: {verdict}"
