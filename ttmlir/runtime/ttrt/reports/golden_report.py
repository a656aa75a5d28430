"""What a golden run found, operation by operation: for JSON and as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ttmlir.runtime.ttrt.running.program import Golden

if TYPE_CHECKING:
    from ttmlir.runtime.binary import Operation
    from ttmlir.runtime.generic.runner import GenericReport


def golden_report(golden: Golden) -> list[dict[str, Any]]:
    """An entry for each operation."""
    return [result.as_dict(golden.tolerance) for result in golden.results]


def golden_lines(golden: Golden, kernels: Sequence[GenericReport] = ()) -> Iterator[str]:
    """A line for each operation, marked `ok` or `OFF`, and `--` for what has no reference."""
    for index, title in dict.fromkeys((each.operation.index, each.title) for each in kernels):
        yield (
            f"golden --  operation {index} ttnn.generic ({title}): kernels have no reference; the "
            "operations behind are judged by what it makes of golden numbers"
        )
    for operation in golden.without_reference:
        yield (
            f"golden --  operation {operation.index} {operation.ir_name}{_place(operation)}: loops "
            "and branches have no reference; the operations behind are judged by its results"
        )
    for result in golden.results:
        accuracy = result.accuracy
        mark = "ok " if result.passed else "OFF"
        location = _place(result.operation)
        yield (
            f"golden {mark} operation {result.operation.index} {result.name}{location}: "
            f"pcc {accuracy.pcc:.6f}, max abs error {accuracy.max_absolute_error:.3g}, "
            f"mean abs error {accuracy.mean_absolute_error:.3g}, "
            f"max rel error {accuracy.max_relative_error:.3g}"
            + (f"; {result.tile}" if result.tile else "")
        )


def _place(operation: Operation) -> str:
    return f" loc({operation.location})" if operation.location else ""
