"""The options of ttrt: every one is explained, and the defaults are those of the guide."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

COMMANDS = {"read": "Read", "run": "Run", "query": "Query", "perf": "Perf", "check": "Check"}


def options_of(name: str) -> dict[str, Any]:
    """The options of a command by name."""
    module = import_module("ttmlir.runtime.ttrt.commands")
    return {option.name: option for option in getattr(module, COMMANDS[name]).options}


@pytest.mark.parametrize("name", COMMANDS)
def test_options_are_explained(name: str) -> None:
    """In a sentence; a flag is off unless it is given."""
    for option in options_of(name).values():
        if option.name.startswith("-") and not option.api_only:
            assert option.help.endswith("."), option.name
        if option.is_flag:
            assert option.default is False, option.name
        if option.choices is not None:
            assert option.default in (None, *option.choices), option.name


@pytest.mark.parametrize("name", ["run", "perf"])
def test_defaults_of_checks(name: str) -> None:
    """Tolerances, the number of runs and what is run."""
    defaults = {key: option.default for key, option in options_of(name).items()}
    expected = {
        "--rtol": 1e-05,
        "--atol": 1e-08,
        "--pcc": 0.99,
        "--rtol-allclose": 5e-02,
        "--atol-allclose": 1e-03,
        "--golden-file": "",
        "--outputs": "",
        "--loops": 1,
        "--program-index": "all",
        "--seed": 0,
    }
    assert {key: defaults.get(key) for key in expected} == expected
