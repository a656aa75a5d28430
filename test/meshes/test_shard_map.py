"""Programs of `shard_map`, compiled and run on simulated meshes, against what JAX computes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ttmlir.frontend.compiled import CompiledModel
from ttmlir.frontend.dispatch import compile

RECORD = Path(__file__).parent / "Inputs" / "shard_map.npz"


@cache
def recorded() -> dict[str, dict[str, Any]]:
    """Text, arguments and results by the names of programs."""
    found: dict[str, dict[str, Any]] = {}
    with np.load(RECORD) as file:
        for key, array in file.items():
            program, _, what = key.partition("/")
            found.setdefault(program, {})[what] = array
    return found


def arrays(program: dict[str, Any], kind: str) -> list[Any]:
    """The arguments or the results of a program."""
    return [
        program[f"{kind}{number}"] for number in range(len(program)) if f"{kind}{number}" in program
    ]


def compiled(name: str) -> CompiledModel:
    """A program, compiled from JAX's text."""
    return compile(recorded()[name]["text"].tobytes().decode())


@pytest.mark.parametrize("name", sorted(recorded()))
def test_results_are_those_of_jax(name: str) -> None:
    """Each result is the whole array that JAX has."""
    program = recorded()[name]
    model = compiled(name)
    given = [
        array.astype(desc.element.host) if desc.element.host == ml_dtypes.bfloat16 else array
        for array, (_, desc) in zip(arrays(program, "argument"), model.inputs, strict=True)
    ]
    results: Any = model(*given)
    results = results if isinstance(results, tuple | list) else [results]
    for result, expected in zip(results, arrays(program, "result"), strict=True):
        tolerance = 2e-2 if "bfloat16" in name or "float16" in name else 2e-5
        np.testing.assert_allclose(
            np.asarray(result, expected.dtype), expected, rtol=tolerance, atol=tolerance / 10
        )
