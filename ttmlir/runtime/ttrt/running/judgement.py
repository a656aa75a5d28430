"""What is wrong with the numbers that a program computed, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ttmlir.runtime.element import Array
from ttmlir.runtime.golden import GoldenResult
from ttmlir.runtime.ttrt.running.expected import ExpectedOutput


def identity_problems(
    inputs: Sequence[Array], outputs: Sequence[Array], rtol: float, atol: float
) -> list[str]:
    """Where outputs are not the inputs, within tolerances."""
    if len(inputs) != len(outputs):
        return [f"identity expects as many outputs as inputs: {len(inputs)}, got {len(outputs)}"]
    problems: list[str] = []
    for i, (given, result) in enumerate(zip(inputs, outputs, strict=True)):
        if given.shape != result.shape:
            problems.append(f"output {i} has shape {result.shape}, its input {given.shape}")
            continue
        x, y = np.asarray(result, np.float64), np.asarray(given, np.float64)
        if not np.allclose(x, y, rtol=rtol, atol=atol, equal_nan=True):
            error = np.nanmax(np.abs(x - y))
            problems.append(f"output {i} differs from input {i} by up to {error:.6g}")
    return problems


def zero_problems(outputs: Sequence[Array]) -> list[str]:
    """Which outputs hold nothing but zeros."""
    return [f"output {i} is all zeros" for i, output in enumerate(outputs) if not output.any()]


def expected_problems(results: Sequence[ExpectedOutput]) -> list[str]:
    """Which outputs are not those of the reference run that the user or the file holds."""
    return [
        f"differs from what its file or --golden-file expects: {result}"
        for result in results
        if not result.passed
    ]


def golden_problem(result: GoldenResult) -> str:
    """How an operation differs from its reference."""
    operation, accuracy = result.operation, result.accuracy
    location = f" at loc({operation.location})" if operation.location else ""
    text = f": {operation.debug_info}" if operation.debug_info else ""
    return (
        f"operation {operation.index} ({result.name}){location} is the first that differs from "
        f"its reference: pcc {accuracy.pcc:.6f}, max absolute error "
        f"{accuracy.max_absolute_error:.6g}, {accuracy.mismatched_specials} infinities or NaNs "
        f"differ{'; ' if result.tile else ''}{result.tile}{text}"
    )
