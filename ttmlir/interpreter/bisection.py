"""Finds the operation with which a program begins to compute something else while it is lowered.

    report = bisect(Path("model.mlir").read_text(), seed=3)
    print(report)
    report.first.op         # text of the first operation that is off
    report.first.level      # where: "ttir", "ttir decomposed" or "ttnn"; of kernels also "d2m"...

The program runs at each level (`ttmlir.interpreter.levels`) on the same inputs. The first level
that can be run is the reference for all that follow: each operation's result there is compared with
the last result of that shape of what the operation has become. What has no such result, because it
has become part of another operation, is not compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects.builtin import LocationAttr, ModuleOp, NameLoc
from xdsl.ir import Operation

from ttmlir.compiler import parse
from ttmlir.errors import plural
from ttmlir.interpreter.execution import find_function
from ttmlir.interpreter.file_levels import FileLevel
from ttmlir.interpreter.kernel_check import KernelDifference
from ttmlir.interpreter.kernels import lacks_reference
from ttmlir.interpreter.levels import (
    DESTINATIONS,
    LOOPS,
    Level,
    calls_by_name,
    is_in_branch_of_loop,
    levels_of,
    name_operations,
    result_shapes,
)
from ttmlir.interpreter.statistics import MOST_RESULTS, Statistics, Trace, accuracy_of, number_of
from ttmlir.mlir.printing import PrintOptions, print_op_line, show_attribute
from ttmlir.mlir.reporting import LocatedError, file_line_col, name_of
from ttmlir.passes.stablehlo.complex.boundaries import split_signature
from ttmlir.runtime.golden import Accuracy, Tolerance
from ttmlir.runtime.tensor import Array, Numerics, split, split_complex
from ttmlir.runtime.ttrt.running import generate_inputs
from ttmlir.terminal import ShownAsText, show_wait

EXACT_TOLERANCE = Tolerance(pcc=0.9999, rtol=1e-4, atol=1e-5)
"""For results that differ in the order of additions only."""
DEVICE_TOLERANCE = Tolerance(pcc=0.99, rtol=5e-2, atol=1e-2)
"""For results that are rounded to the formats of the device."""
FRAMEWORK = "framework"

_LINE = PrintOptions(elide_larger_than=16, skip_regions=True)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A result that is not what it was at the reference level."""

    level: str
    op: str
    """Text of the operation in the source, or `output N`."""
    location: str
    """`file:line:column`, or what else the location says."""
    number: int
    """Place of the operation in the source, or of the output."""
    accuracy: Accuracy | None
    """None if the shapes differ."""
    expected: Statistics
    actual: Statistics
    device: int | None = None
    """Of a program of a mesh, the first device that has it so."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "level": self.level,
            "op": self.op,
            "location": self.location,
            "number": self.number,
            **({} if self.device is None else {"device": self.device}),
            "expected": self.expected.as_dict(),
            "actual": self.actual.as_dict(),
            **({} if self.accuracy is None else self.accuracy.as_dict()),
        }

    def __str__(self) -> str:
        """Several lines for people."""
        lines = [f"{self.location}: {self.op}", f"  expected: {self.expected}"]
        where = "" if self.device is None else f" on device {self.device}"
        lines.append(f"  {self.level}{where}: {self.actual}")
        if self.accuracy is not None:
            lines.append(
                f"  pcc {self.accuracy.pcc:.6f}, max abs error "
                f"{self.accuracy.max_absolute_error:.6g}, "
                f"{self.accuracy.mismatched_specials} infinities or NaNs differ"
            )
        return "\n".join(lines)


@dataclass(frozen=True, kw_only=True)
class LevelReport:
    """How a level compares with the reference."""

    level: str
    compared: int
    """Operations of the source whose results were compared."""
    differences: tuple[Difference, ...]
    """Those that are off, in the order of the source."""
    outputs: tuple[Difference, ...]
    """Results of the program that are off."""
    worst_pcc: float

    @property
    def agrees(self) -> bool:
        """True if nothing differs."""
        return not self.differences and not self.outputs

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "level": self.level,
            "compared": self.compared,
            "differences": [difference.as_dict() for difference in self.differences],
            "outputs": [difference.as_dict() for difference in self.outputs],
            "worst_pcc": self.worst_pcc,
        }


@dataclass(frozen=True, kw_only=True)
class Report(ShownAsText):
    """What a bisection found."""

    reference: str
    """The level that the others are compared with."""
    skipped: tuple[str, ...]
    """Levels before it, which cannot be run."""
    operations: int
    levels: tuple[LevelReport, ...]
    kernel: KernelDifference | None = None
    """The tile with which a program of kernels goes wrong, if the first difference is there."""
    kernels: int = 0
    """Calls of kernels that have no other meaning than what the simulator computes."""

    @property
    def first(self) -> Difference | None:
        """The first operation that is off at the first level where one is; else an output."""
        for level in self.levels:
            for difference in (*level.differences, *level.outputs):
                return difference
        return None

    @property
    def agrees(self) -> bool:
        """True if no level differs."""
        return self.first is None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "agrees": self.agrees,
            "reference": self.reference,
            "skipped": [*self.skipped],
            "operations": self.operations,
            "kernels": self.kernels,
            "first": None if self.first is None else self.first.as_dict(),
            "kernel": None if self.kernel is None else self.kernel.as_dict(),
            "levels": [level.as_dict() for level in self.levels],
        }

    def __str__(self) -> str:
        """A table, and the first operation that is off."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for name in self.skipped:
            yield f"{name} has operations that cannot be interpreted and is not compared"
        yield f"reference: {self.reference}, {plural(self.operations, 'operation')}"
        if self.kernels:
            yield (
                f"calls of kernels without a reference: {self.kernels}; the simulator computes "
                "them at every level, so that a mistake in them is not seen"
            )
        yield f"{'level':18} {'compared':>8} {'differ':>8} {'outputs':>8} {'least pcc':>10}"
        for level in self.levels:
            outputs = "differ" if level.outputs else "agree"
            yield (
                f"{level.level:18} {level.compared:8} {len(level.differences):8} {outputs:>8} "
                f"{level.worst_pcc:10.6f}"
            )
        if self.first is not None:
            yield "first difference:"
            yield str(self.first)
        if self.kernel is not None:
            yield str(self.kernel)


def bisect(
    source: str,
    inputs: Sequence[Any] | None = None,
    *,
    seed: int = 0,
    function: str | None = None,
    numerics: Numerics = Numerics.EXACT,
    tolerance: Tolerance | None = None,
    framework_results: Sequence[Any] | None = None,
    target: str = "ttnn",
    file_name: str = "<text>",
) -> Report:
    """Compare the results of a program's operations at all levels of lowering.

    `target` is "ttnn" for a `.ttnn` file of library calls, "kernels" for a `.ttm` file of kernels.
    `inputs` are made up from `seed` if they are not given. `numerics` are those of the file;
    `framework_results` are compared with the program's results at each level, the reference
    included. Raises DiagnosticError for a text that cannot be read, lowered or run.
    """
    return bisect_module(
        parse(source, file_name=file_name),
        inputs,
        seed=seed,
        function=function,
        numerics=numerics,
        tolerance=tolerance,
        framework_results=framework_results,
        target=target,
    )


def bisect_module(
    module: ModuleOp,
    inputs: Sequence[Any] | None = None,
    *,
    seed: int = 0,
    function: str | None = None,
    numerics: Numerics = Numerics.EXACT,
    tolerance: Tolerance | None = None,
    framework_results: Sequence[Any] | None = None,
    framework_trace: Sequence[tuple[str, Array]] | None = None,
    target: str = "ttnn",
    options: str = "",
) -> Report:
    """Do what `bisect` does for a module, whose locations are changed.

    `framework_trace` has what a framework computes at each of its operations, under the names that
    these have in locations: it is the level that all others are compared with. `options` are those
    of the target's pipeline.
    """
    tolerance = tolerance_for(numerics) if tolerance is None else tolerance
    # Levels below stablehlo take pairs of real tensors for complex ones; so do all of them.
    split_signature(find_function(module, function))
    operations = name_operations(module)
    levels, files = levels_of(module, function, target, options)
    if inputs is None:
        rng = np.random.default_rng(seed)
        inputs = generate_inputs(files[-1].program(), "randn", rng)
    inputs = split_complex(map(np.asarray, inputs))
    able = [level for level in levels if level.can_run]
    skipped = tuple(level.name for level in levels if level not in able)
    calls = calls_by_name(operations)
    comparison = Comparison(operations, tolerance, _returned(module, function), calls)
    others: list[Level | FileLevel] = [*able, *files]
    if framework_trace is None:
        first = others.pop(0)
        name, reference = first.name, first.run(inputs, numerics)
    else:
        name, reference = FRAMEWORK, _trace_of_framework(operations, framework_trace)
    reports: list[LevelReport] = []
    if framework_results is not None:
        results = split_complex(map(np.asarray, framework_results))
        if framework_trace is not None:
            reference.outputs = results
        place = find_function(module, function).location
        check_framework_results(place, reference, results)
        outputs = comparison.outputs(name, results, reference.outputs)
        if framework_trace is None:
            reports.append(comparison.report(name, 0, [], outputs))
        reference.outputs = results
    kernel: KernelDifference | None = None
    with show_wait("bisecting", len(others)) as advance:
        for level in others:
            so_far = all(report.agrees for report in reports)
            reports.append(comparison.compare(level, reference, level.run(inputs, numerics)))
            if so_far and not reports[-1].agrees and isinstance(level, FileLevel):
                kernel = level.find_wrong_kernel(inputs, numerics, tolerance)
            advance()
    return Report(
        reference=name,
        skipped=skipped,
        operations=len(operations),
        levels=tuple(reports),
        kernel=kernel,
        kernels=sum(map(lacks_reference, operations)),
    )


def _trace_of_framework(
    operations: Sequence[Operation], found: Sequence[tuple[str, Array]]
) -> Trace:
    """What a framework computed, by the last operation that each of its own has become."""
    last: dict[tuple[str, tuple[int, ...]], int] = {}
    for number, op in enumerate(operations):
        location = op.location.location if isinstance(op.location, NameLoc) else op.location
        name = name_of(location)
        for shape in result_shapes(op):
            if name is not None and op.name not in DESTINATIONS:
                last[name, shape] = number
    trace = Trace()
    for name, array in found:
        trace.note(last.get((name, array.shape)), array)
    return trace


def _returned(module: ModuleOp, function: str | None) -> dict[int, int]:
    """By the number of each result of a function, the number of the operation that makes it."""
    last = find_function(module, function).body.blocks[-1].last_op
    numbers = enumerate(() if last is None else last.operands)
    found = {
        place: number_of(value.owner)
        for place, value in numbers
        if isinstance(value.owner, Operation)
    }
    return {place: number for place, number in found.items() if number is not None}


def check_framework_results(place: LocationAttr, trace: Trace, results: Sequence[Array]) -> None:
    """Refuse results that are not as many as the program has, or of other shapes."""
    if len(results) != len(trace.outputs):
        raise LocatedError(
            place,
            f"{plural(len(results), 'result')} of the framework were given; the program has "
            f"{len(trace.outputs)}",
        )
    for number, (result, output) in enumerate(zip(results, trace.outputs, strict=True)):
        if result.shape != output.shape:
            raise LocatedError(
                place,
                f"result {number} of the framework has shape {result.shape}; that of the program "
                f"has {output.shape}",
            )


@dataclass
class Comparison:
    """Compares what levels compute with a reference."""

    operations: Sequence[Operation]
    tolerance: Tolerance
    returned: Mapping[int, int]
    """The operation that makes each result of the program."""
    calls: Mapping[str, Sequence[Operation]] = field(default_factory=dict[str, list[Operation]])
    """The calls of each function."""
    worst: float = 1.0

    def compare(self, level: Level | FileLevel, reference: Trace, actual: Trace) -> LevelReport:
        """The operations and outputs of a level against the reference."""
        differences: list[Difference] = []
        compared: set[int] = set()
        for number in sorted(reference.values):
            pairs = self._pairs(number, reference.values[number], actual.values.get(number, []))
            if pairs:
                compared.add(number)
            found = (self.difference(level.name, number, *pair) for pair in pairs)
            differences += [each for each in found if each is not None][:1]
        outputs = (
            self.outputs(level.name, reference.outputs, actual.outputs) if reference.outputs else []
        )
        if not differences:
            # What is left of the last operation may be the move of its result to the output.
            unseen = {self.returned.get(each.number) for each in outputs} - compared
            numbers = sorted(number for number in unseen if number is not None)
            for number in numbers[:1]:
                place = next(at for at, of in self.returned.items() if of == number)
                pair = reference.outputs[place], actual.outputs[place]
                found = self.difference(level.name, number, *pair)
                differences += [] if found is None else [found]
        return self.report(level.name, len(compared), differences, outputs)

    def report(
        self, level: str, compared: int, differences: list[Difference], outputs: list[Difference]
    ) -> LevelReport:
        """What was found at a level."""
        worst, self.worst = self.worst, 1.0
        return LevelReport(
            level=level,
            compared=compared,
            differences=tuple(differences),
            outputs=tuple(outputs),
            worst_pcc=worst,
        )

    def _pairs(
        self, number: int, expected: list[Array], actual: list[Array]
    ) -> list[tuple[Array, Array]]:
        """Results of each execution of an operation with those of what it has become."""
        op = self.operations[number]
        shapes = result_shapes(op)
        if op.name in LOOPS:
            return []
        if len(shapes) == 1 and not any(map(np.iscomplexobj, expected[-1:])):
            return _pairs_of_executions(op, self.calls, expected, actual)
        if not shapes or tuple(value.shape for value in expected[-len(shapes) :]) != shapes:
            return []
        # What becomes of which result is not known; each is compared with the nearest one.
        pairs: list[tuple[Array, Array]] = []
        for value in _real_parts(expected[-len(shapes) :], actual):
            candidates = [each for each in actual if each.shape == value.shape]
            if candidates:
                pairs.append((value, max(candidates, key=partial(self._likeness, value))))
        return pairs

    def _likeness(self, expected: Array, actual: Array) -> float:
        accuracy = accuracy_of(expected, actual, self.tolerance)
        return -1.0 if accuracy is None else accuracy.allclose + accuracy.pcc

    def difference(
        self, level: str, number: int, expected: Array, actual: Array
    ) -> Difference | None:
        """How a result of an operation of the source is off; None if it is not."""
        accuracy = self._accuracy(expected, actual)
        if accuracy is not None and self.tolerance.accepts(accuracy):
            return None
        op = self.operations[number]
        location = op.location.location if isinstance(op.location, NameLoc) else op.location
        place = file_line_col(location)
        return Difference(
            level=level,
            op=print_op_line(op, _LINE),
            location=show_attribute(location) if place is None else ":".join(map(str, place)),
            number=number,
            accuracy=accuracy,
            expected=Statistics.of(expected),
            actual=Statistics.of(actual),
        )

    def outputs(
        self, level: str, expected: Sequence[Array], actual: Sequence[Array]
    ) -> list[Difference]:
        """Results of the program that are off."""
        found: list[Difference] = []
        for number, (golden, value) in enumerate(zip(expected, actual, strict=True)):
            accuracy = self._accuracy(golden, value)
            if accuracy is None or not self.tolerance.accepts(accuracy):
                found.append(
                    Difference(
                        level=level,
                        op=f"output {number}",
                        location="result",
                        number=number,
                        accuracy=accuracy,
                        expected=Statistics.of(golden),
                        actual=Statistics.of(value),
                    )
                )
        return found

    def _accuracy(self, expected: Array, actual: Array) -> Accuracy | None:
        accuracy = accuracy_of(expected, actual, self.tolerance)
        if accuracy is not None:
            self.worst = min(self.worst, accuracy.pcc)
        return accuracy


def _real_parts(expected: Sequence[Array], actual: Sequence[Array]) -> Iterator[Array]:
    """Results as they are, or the parts of complex ones where there are real ones instead.

    A part that the operation hands on as it was is not seen, and which one that is neither.
    """
    for value in expected:
        if not np.iscomplexobj(value) or any(map(np.iscomplexobj, actual)):
            yield value
        elif sum(each.shape == value.shape for each in actual) > 1:
            yield from split(value)


def _pairs_of_executions(
    op: Operation,
    calls: Mapping[str, Sequence[Operation]],
    expected: list[Array],
    actual: list[Array],
) -> list[tuple[Array, Array]]:
    """The one result of each execution with that of what the operation has become."""
    [shape] = result_shapes(op)
    expected = [value for value in expected if value.shape == shape]
    found = [value for value in actual if value.shape == shape]
    if not found and op.name.partition(".")[2].startswith("broadcast"):
        # The repetition has become a part of what reads it, which repeats by itself.
        found = [np.broadcast_to(value, shape) for value in actual if _repeats(value, shape)]
    times = len(expected)
    if not expected or not found:
        return []
    if (len(found) != times or times == MOST_RESULTS) and is_in_branch_of_loop(op, calls):
        # It may be computed in each iteration now, and which of them counted is not known.
        return []
    if len(found) % times:
        return [(expected[-1], found[-1])]
    each = len(found) // times
    return [(expected[i], found[(i + 1) * each - 1]) for i in range(times)]


def _repeats(value: Array, shape: tuple[int, ...]) -> bool:
    """True if repeating dimensions of 1 gives an array of a shape of the same rank."""
    return value.ndim == len(shape) and all(
        extent in (1, wanted) for extent, wanted in zip(value.shape, shape, strict=True)
    )


def tolerance_for(
    numerics: Numerics,
    *,
    pcc: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
) -> Tolerance:
    """The tolerance for these numerics, with other limits where they are given."""
    default = EXACT_TOLERANCE if numerics is Numerics.EXACT else DEVICE_TOLERANCE
    return Tolerance(
        pcc=default.pcc if pcc is None else pcc,
        rtol=default.rtol if rtol is None else rtol,
        atol=default.atol if atol is None else atol,
    )
