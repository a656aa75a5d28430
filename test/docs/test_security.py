"""SECURITY.md: its limits are those of the code."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "SECURITY.md").read_text(encoding="utf-8")
LIMITS = re.findall(r"^\| .*? \| (\d+) \| `([\w.]+)\.([A-Z_\d]+)` \|$", PAGE, re.MULTILINE)


def test_table_is_read() -> None:
    """Every line of the table but its head is a limit."""
    assert len(LIMITS) == len(re.findall(r"^\|", PAGE, re.MULTILINE)) - 2
    assert len(LIMITS) >= 16


@pytest.mark.parametrize(("number", "module", "name"), LIMITS, ids=[each[2] for each in LIMITS])
def test_limit_is_that_of_the_code(number: str, module: str, name: str) -> None:
    """The number in the page is the constant."""
    assert getattr(import_module(module), name) == int(number)


def test_every_shared_limit_is_listed() -> None:
    """What `ttmlir.limits` holds is in the table."""
    limits = vars(import_module("ttmlir.limits"))
    listed = {name for _, module, name in LIMITS if module == "ttmlir.limits"}
    assert {name for name, value in limits.items() if isinstance(value, int)} == listed
