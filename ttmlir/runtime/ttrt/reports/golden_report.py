"""What a golden run found, operation by operation: for JSON and as lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ttmlir.runtime.ttrt.running.program import Golden


def golden_report(golden: Golden) -> list[dict[str, Any]]:
    """An entry for each operation."""
    return [result.as_dict(golden.tolerance) for result in golden.results]


def golden_lines(golden: Golden) -> Iterator[str]:
    """A line for each operation, marked `ok` or `OFF`."""
    for result in golden.results:
        accuracy = result.accuracy
        mark = "ok " if result.passed else "OFF"
        location = f" loc({result.operation.location})" if result.operation.location else ""
        yield (
            f"golden {mark} operation {result.operation.index} {result.name}{location}: "
            f"pcc {accuracy.pcc:.6f}, max abs error {accuracy.max_absolute_error:.3g}, "
            f"mean abs error {accuracy.mean_absolute_error:.3g}, "
            f"max rel error {accuracy.max_relative_error:.3g}"
        )
