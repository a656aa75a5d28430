"""ONNX's own tests of backends, which its package holds: models, inputs and expected results.

    python test/support/running/onnx_backend.py [--record] [PATTERN]

compiles and runs all of them, prints how many are right by kind and why the others are not, and
with --record writes the verdicts to the file that the suite and the documentation read.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import ttmlir

onnx: Any = import_module("onnx")
KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
RECORD = Path(__file__).parents[2] / "frontend" / "onnx" / "Inputs" / "backend_tests.txt"

RIGHT, REFUSED, OTHER = "right", "refused", "other numbers"


@dataclass(frozen=True)
class Verdict:
    """What became of one test."""

    kind: str
    name: str
    state: str
    reason: str = ""

    @property
    def line(self) -> str:
        """As the record has it."""
        return f"{self.kind} {self.name}: {self.state}" + (f": {self.reason}" * bool(self.reason))


def read_record() -> tuple[dict[str, int], list[Verdict]]:
    """How many tests there are of each kind, and those that are not right."""
    totals: dict[str, int] = {}
    found: list[Verdict] = []
    for line in RECORD.read_text("utf-8").splitlines():
        head, _, rest = line.partition(": ")
        if head in KINDS:
            totals[head] = int(rest)
        else:
            kind, name = head.split()
            state, _, reason = rest.partition(": ")
            found.append(Verdict(kind, name, state, reason))
    return totals, found


def load(kind: str) -> list[Any]:
    """The tests of a kind."""
    return import_module("onnx.backend.test.loader").load_model_tests(kind=kind)


def load_module(name: str) -> list[Any]:
    """The tests of nodes in one module of the package, if it has not been imported before."""
    package = "onnx.backend.test.case.node"
    made: list[Any] = import_module(package)._NodeTestCases
    before = len(made)
    import_module(f"{package}.{name}")
    return made[before:]


def judge(test: Any) -> Verdict:
    """Compile a test's model, run it, and compare the results by the test's own tolerances."""
    model = test.model or onnx.load(os.path.join(test.model_dir, "model.onnx"))
    for inputs, expected in _data_of(test, model):
        try:
            compiled = ttmlir.compile(model, *inputs)
            found = compiled(*inputs)
        except ttmlir.Error as error:
            return Verdict(test.kind, test.name, REFUSED, short_reason(str(error)))
        found = [found] if len(model.graph.output) == 1 else found
        if not _is_close(list(found), expected, test.rtol, test.atol):
            return Verdict(test.kind, test.name, OTHER)
    return Verdict(test.kind, test.name, RIGHT)


def short_reason(message: str) -> str:
    """The operator and the reason of a message, without the model's own names."""
    text = re.sub(r"\s+", " ", message).partition("error: ")[2]
    text = re.sub(r"^node '[^']*' \((?:\w+\.)*(\w+)\), which gives ('[^']*',? ?)*:", r"\1:", text)
    return re.sub(r"'[^']*'", "'...'", text)[:200]


def _is_close(found: Any, expected: Any, rtol: float, atol: float) -> bool:
    if isinstance(expected, list | tuple):
        pairs: Any = zip(found, expected, strict=False)
        return len(found) == len(expected) and all(_is_close(a, b, rtol, atol) for a, b in pairs)
    if expected is None or found is None:
        return found is expected
    expected = np.asarray(expected)
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return False
    a, b = (x if x.dtype.kind in "iub" else x.astype(np.float64) for x in (found, expected))
    return bool(np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True))


def _data_of(test: Any, model: Any) -> Iterator[tuple[list[Any], list[Any]]]:
    """Pairs of inputs and expected results."""
    if test.data_sets is not None:
        for inputs, outputs in test.data_sets:
            yield [_as_numbers(each) for each in inputs], [_as_numbers(each) for each in outputs]
        return
    for folder in sorted(Path(test.model_dir).glob("test_data_set_*")):
        pairs = ("input", model.graph.input), ("output", model.graph.output)
        inputs, outputs = (
            [
                _read(folder / f"{kind}_{number}.pb", infos[number].type)
                for number in range(len([*folder.glob(f"{kind}_*.pb")]))
            ]
            for kind, infos in pairs
        )
        yield inputs, outputs


def _as_numbers(value: Any) -> Any:
    if isinstance(value, list | tuple):
        items: Any = value
        return [_as_numbers(each) for each in items]
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _read(path: Path, type_: Any) -> Any:
    kinds = {
        "sequence_type": (onnx.SequenceProto, onnx.numpy_helper.to_list),
        "optional_type": (onnx.OptionalProto, onnx.numpy_helper.to_optional),
    }
    default = onnx.TensorProto, onnx.numpy_helper.to_array
    make, convert = kinds.get(type_.WhichOneof("value"), default)
    proto = make()
    proto.ParseFromString(path.read_bytes())
    return convert(proto)


def main() -> int:
    """Run all tests."""
    parser = argparse.ArgumentParser(description="Run ONNX's own tests of backends.")
    parser.add_argument("--record", action="store_true", help="write the verdicts to the record")
    parser.add_argument("pattern", nargs="?", default="", help="names of tests")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    verdicts = [
        judge(test)
        for kind in KINDS
        for test in load(kind)
        if re.search(arguments.pattern, test.name)
    ]
    totals = Counter(each.kind for each in verdicts)
    states = Counter((each.kind, each.state) for each in verdicts)
    print(f"{'':18}{'tests':>7}{RIGHT:>8}{REFUSED:>9}{OTHER:>15}")
    for kind in totals:
        counts = [states[kind, state] for state in (RIGHT, REFUSED, OTHER)]
        print(f"{kind:18}{totals[kind]:7}{counts[0]:8}{counts[1]:9}{counts[2]:15}")
    others = [each for each in verdicts if each.state != RIGHT]
    for (state, reason), count in Counter(
        (each.state, each.reason) for each in others
    ).most_common():
        print(f"{count:5} {state}: {reason}")
    if arguments.record:
        lines = [f"{kind}: {count}" for kind, count in totals.items()]
        lines += sorted(each.line for each in others)
        RECORD.write_text("\n".join(lines) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
