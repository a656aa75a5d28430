"""What JAX makes of the programs of test/meshes: text, arguments and results."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

RECORDS = Path(__file__).resolve().parents[2] / "meshes" / "Inputs"


@cache
def recorded(of: str) -> dict[str, dict[str, Any]]:
    """Text, arguments and results by the names of programs."""
    found: dict[str, dict[str, Any]] = {}
    with np.load(RECORDS / f"{of}.npz") as file:
        for key, array in file.items():
            program, _, what = key.partition("/")
            found.setdefault(program, {})[what] = array
    return found


def arrays(program: dict[str, Any], kind: str) -> list[Any]:
    """The arguments or the results of a program."""
    return [
        program[f"{kind}{number}"] for number in range(len(program)) if f"{kind}{number}" in program
    ]
