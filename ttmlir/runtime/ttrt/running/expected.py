"""Results that a framework has computed: read from a file, compared with a program's.

They stand in the binary itself or in a `.npz` file whose arrays are called `input_0`, ... and
`output_0`, ... (any names that begin so and end in numbers), or are the inputs followed by the
outputs, in the order in which they were saved. Complex arrays stand for two of the program each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ttmlir.runtime.accuracy import Accuracy, compare
from ttmlir.runtime.binary import BinaryProgram, GoldenTensors
from ttmlir.runtime.complex_pairs import split_complex
from ttmlir.runtime.element import Array
from ttmlir.runtime.errors import BinaryError, InputError
from ttmlir.runtime.golden import Tolerance
from ttmlir.runtime.ttrt.running.inputs import entry_number, load_entries

_KINDS = ("input", "output")


@dataclass(frozen=True, kw_only=True)
class ExpectedOutput:
    """Comparison of an output with what was expected."""

    index: int
    accuracy: Accuracy
    passed: bool

    def as_dict(self, tolerance: Tolerance) -> dict[str, Any]:
        """For JSON."""
        return {
            "output": self.index,
            "passed": self.passed,
            "expected_pcc": tolerance.pcc,
            "actual_pcc": self.accuracy.pcc,
            "rtol": tolerance.rtol,
            "atol": tolerance.atol,
            **self.accuracy.as_dict(),
        }

    def __str__(self) -> str:
        """One line for people."""
        accuracy = self.accuracy
        return (
            f"output {self.index}: pcc {accuracy.pcc:.6f}, max abs error "
            f"{accuracy.max_absolute_error:.3g}, mean abs error "
            f"{accuracy.mean_absolute_error:.3g}, {accuracy.mismatched_specials} infinities or "
            "NaNs differ"
        )


def load_golden_file(path: str, program: BinaryProgram) -> GoldenTensors:
    """Inputs and expected outputs of a program; InputError if the file has others."""
    entries = load_entries([path])
    kinds = {name: _kind(name) for name, _ in entries}
    if all(kinds.values()):
        entries.sort(key=lambda entry: entry_number(entry[0]))
        inputs, outputs = (
            tuple(split_complex(array for name, array in entries if kinds[name] == kind))
            for kind in _KINDS
        )
    elif any(kinds.values()):
        others = ", ".join(name for name, kind in kinds.items() if not kind)
        raise InputError(
            f"{path}: {others} are neither inputs nor outputs; call the arrays input_0, ... and "
            "output_0, ..., or none of them"
        )
    else:
        arrays = split_complex(array for _, array in entries)
        count = len(program.inputs)
        inputs, outputs = tuple(arrays[:count]), tuple(arrays[count:])
    if not outputs:
        raise InputError(f"{path}: there are no expected outputs; call them output_0, ...")
    return GoldenTensors(inputs=inputs, outputs=outputs)


def _kind(name: str) -> str:
    return next((kind for kind in _KINDS if name.startswith(kind)), "")


def compare_outputs(
    program: BinaryProgram, outputs: Sequence[Array], expected: GoldenTensors, tolerance: Tolerance
) -> list[ExpectedOutput]:
    """Every output against what was expected; BinaryError where shapes differ."""
    shapes = [array.shape for array in outputs]
    wanted = [array.shape for array in expected.outputs]
    if shapes != wanted:
        raise BinaryError(
            f"{program.where}: outputs have the shapes {shapes}; expected were {wanted}"
        )
    results: list[ExpectedOutput] = []
    for i, (actual, golden) in enumerate(zip(outputs, expected.outputs, strict=True)):
        accuracy = compare(actual, golden, rtol=tolerance.rtol, atol=tolerance.atol)
        results.append(
            ExpectedOutput(index=i, accuracy=accuracy, passed=tolerance.accepts(accuracy))
        )
    return results
