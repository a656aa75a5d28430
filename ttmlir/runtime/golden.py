"""Golden runs: every operation again, by its reference function in float64.

The golden run starts from the same inputs, keeps float64 between operations and never looks at the
results of the run that it judges. Each operation's result is compared with the golden one, so the
first operation that is off is the one to look at.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ttmlir.limits import memory_advice, memory_limit
from ttmlir.runtime.binary import Operation
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.execution.executor import Run
from ttmlir.runtime.execution.operations import OperationCall, bind_parameters, check_shapes
from ttmlir.runtime.execution.prepare import prepare
from ttmlir.runtime.execution.steps import GenericStep, PreparedProgram, Step
from ttmlir.runtime.tensor import Array, ElementType, Numerics, convert

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ttmlir.runtime.execution.executor import GenericRunner
    from ttmlir.runtime.execution.mesh import MeshRun


# --- Accuracy -------------------------------------------------------------------------------------
# How far a result is from the expected one.


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """Comparison of two tensors; a number that is not finite where the other is counts fully."""

    pcc: float
    """Pearson correlation, 1 for tensors that are equal up to a scale and an offset."""
    max_absolute_error: float
    mean_absolute_error: float
    max_relative_error: float
    """Largest error divided by the expected number, where that is not 0."""
    root_mean_square_error: float
    relative_root_mean_square_error: float
    """The root mean square error divided by the root mean square of the expected numbers."""
    cosine_similarity: float
    allclose: bool
    """All errors at most atol + rtol * |expected|."""
    mismatched_specials: int
    """Positions where one tensor has an infinity or NaN that the other has not."""

    def as_dict(self) -> dict[str, float | bool | int | None]:
        """For JSON, in which infinite errors are null."""
        return {
            name: value if isinstance(value, bool | int) or math.isfinite(value) else None
            for name, value in asdict(self).items()
        }


def compare(actual: Array, expected: Array, *, rtol: float, atol: float) -> Accuracy:
    """Compare a result with the expected numbers, which have the same shape."""
    x, y, specials = _finite_pairs(actual, expected)
    error = np.abs(x - y)
    nonzero = y != 0
    relative = error[nonzero] / np.abs(y[nonzero])
    failed = math.inf if specials else 0.0
    with np.errstate(over="ignore"):
        mean_square, expected_square = _mean(error**2), _mean(y**2)
    relative_square = mean_square / expected_square if expected_square else math.inf
    return Accuracy(
        pcc=0.0 if specials else _correlation(x, y),
        max_absolute_error=max(_max(error), failed),
        mean_absolute_error=max(_mean(error), failed),
        max_relative_error=max(_max(relative), failed),
        root_mean_square_error=max(math.sqrt(mean_square), failed),
        relative_root_mean_square_error=max(
            math.sqrt(relative_square) if mean_square else 0.0, failed
        ),
        cosine_similarity=0.0 if specials else _cosine(x, y),
        allclose=not specials and bool(np.all(error <= atol + rtol * np.abs(y))),
        mismatched_specials=specials,
    )


def correlation(actual: Array, expected: Array) -> float:
    """The `pcc` of `compare` alone."""
    x, y, specials = _finite_pairs(actual, expected)
    return 0.0 if specials else _correlation(x, y)


def least_correlation(actual: Iterable[Array], expected: Iterable[Array]) -> float:
    """Of pairs of results; those without any finite number correlate by 0, none at all by 1."""
    pairs = zip(actual, expected, strict=True)
    return min(
        (correlation(*pair) if np.isfinite(pair[1]).any() else 0.0 for pair in pairs), default=1.0
    )


def _finite_pairs(actual: Array, expected: Array) -> tuple[Array, Array, int]:
    """The numbers where both are finite, and where one has an infinity or NaN and the other not."""
    x = np.asarray(actual, dtype=np.float64).ravel()
    y = np.asarray(expected, dtype=np.float64).ravel()
    finite = np.isfinite(x) & np.isfinite(y)
    if finite.all():
        return x, y, 0
    specials = int(np.count_nonzero(~finite & ~_same_special(x, y)))
    return x[finite], y[finite], specials


def _same_special(x: Array, y: Array) -> Array:
    return (np.isnan(x) & np.isnan(y)) | (x == y)


def _max(values: Array) -> float:
    return float(values.max()) if values.size else 0.0


def _mean(values: Array) -> float:
    return float(values.mean()) if values.size else 0.0


def _correlation(x: Array, y: Array) -> float:
    """Pearson correlation; for a constant tensor, whether the two are close."""
    if np.array_equal(x, y):
        return 1.0
    x, y = _scale(x), _scale(y)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return 1.0 if np.allclose(x, y, rtol=1e-2, atol=1e-6) else 0.0
    return _cosine(x - x.mean(), y - y.mean())


def _cosine(x: Array, y: Array) -> float:
    if np.array_equal(x, y):
        return 1.0
    x, y = _scale(x), _scale(y)
    norm = math.sqrt(float(x @ x)) * math.sqrt(float(y @ y))
    return float(np.clip(x @ y / norm, -1.0, 1.0)) if norm else 0.0


def _scale(values: Array) -> Array:
    """The values divided by the power of two of the largest, so that squares stay finite.

    Both tensors are of similar size, or their comparison fails anyway.
    """
    largest = _max(np.abs(values))
    return values / 2.0 ** math.frexp(largest)[1] if largest > 1e100 else values


# --- Golden ---------------------------------------------------------------------------------------

_FLOAT64 = np.dtype(np.float64)


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """When a result counts as right.

    Correlation alone does not see a wrong scale or offset. Noise that leaves a correlation of `pcc`
    has a size of sqrt(2 * (1 - pcc)), relative to the numbers, so errors must not be larger either.
    """

    pcc: float = 0.99
    """Smallest acceptable Pearson correlation."""
    rtol: float = 5e-2
    atol: float = 1e-3

    def accepts(self, accuracy: Accuracy) -> bool:
        """True for results that are close number by number, or close enough as a whole."""
        if accuracy.allclose:
            return True
        noise = math.sqrt(2 * (1 - self.pcc))
        return accuracy.pcc >= self.pcc and accuracy.relative_root_mean_square_error <= noise


@dataclass(frozen=True, kw_only=True)
class GoldenResult:
    """Comparison of one operation's result with the golden one."""

    operation: Operation
    name: str
    """Name of the operation, e.g. `ttnn.matmul`."""
    accuracy: Accuracy
    passed: bool
    inherited: bool = False
    """It is off, but right for the operands that the program has, which differ from the golden
    ones, if only by rounding: rounding grows in quotients of small differences, and jumps in
    rounded numbers and comparisons."""
    golden: Array | None = None
    """The golden result, if it was asked for."""
    tile: str = ""
    """Of a program of kernels that is off: where its result is wrong first, and in which kernel."""
    device: int | None = None
    """Of a program of a mesh: the number of the device whose result is compared, the worst one."""

    def as_dict(self, tolerance: Tolerance) -> dict[str, Any]:
        """For JSON."""
        return {
            "index": self.operation.index,
            "op": self.name,
            "loc": self.operation.location,
            "debug_info": self.operation.debug_info,
            "passed": self.passed,
            **({"inherited": True} if self.inherited else {}),
            **({"tile": self.tile} if self.tile else {}),
            **({} if self.device is None else {"device": self.device}),
            "expected_pcc": tolerance.pcc,
            "actual_pcc": self.accuracy.pcc,
            "rtol": tolerance.rtol,
            "atol": tolerance.atol,
            **self.accuracy.as_dict(),
        }


def _no_results() -> list[GoldenResult]:
    return []


@dataclass
class GoldenObserver:
    """Runs the reference beside a program and compares after every operation."""

    inputs: list[Array]
    """Inputs of the program, as arrays of compute types."""
    tolerance: Tolerance = field(default_factory=Tolerance)
    keep_tensors: bool = False
    results: list[GoldenResult] = field(default_factory=_no_results)
    without_reference: list[Operation] = field(default_factory=list[Operation])
    """Loops and branches, which are not compared."""
    _values: list[Array | None] = field(default_factory=list[Array | None])
    _operands: list[Array | None] = field(default_factory=list[Array | None])
    """Of the program, for the operation that runs."""
    _exact: PreparedProgram | None = None
    _runner: GenericRunner | None = None

    def find_failure(self, outputs: Sequence[Array], *, confirmed: bool) -> GoldenResult | None:
        """The first operation that is off.

        Those that are right for their operands count where the outputs are off as well; `confirmed`
        outputs are known not to be.
        """
        off = [result for result in self.results if not result.passed]
        own = next((result for result in off if not result.inherited), None)
        if own is not None or not off:
            return own
        return None if confirmed or self._are_right(outputs) else off[0]

    def _are_right(self, outputs: Sequence[Array]) -> bool:
        tolerance = self.tolerance
        assert self._exact is not None, "there are results"
        for slot, output in zip(self._exact.outputs, outputs, strict=True):
            golden = self._values[slot]
            assert golden is not None, "outputs are kept"
            accuracy = compare(output, golden, rtol=tolerance.rtol, atol=tolerance.atol)
            if not tolerance.accepts(accuracy):
                return False
        return True

    def before(self, run: Run, step: Step) -> None:
        """Start the golden run with the first operation."""
        if self._exact is None:
            program = run.prepared.program
            self._exact = prepare(program, Numerics.EXACT)
            # Its numbers have twice the bits of the exact run's.
            needed = run.prepared.host_bytes + 2 * self._exact.host_bytes
            if needed > memory_limit():
                raise InputError(
                    f"{program.where}: comparing with its reference takes {needed} bytes; "
                    f"{memory_advice()}"
                )
            self._values = [None] * self._exact.slots
            for slot, array in zip(self._exact.inputs, self.inputs, strict=True):
                self._values[slot] = _widen(array)
        self._operands = [run.values[slot] for slot in step.inputs]

    def after(self, run: Run, step: Step) -> None:
        """Compute the golden result of the operation and compare."""
        twin = self.exact.steps[step.operation.index]
        self._run_golden(twin)
        if step.control is not None:
            self.without_reference.append(step.operation)
        for slot, own in zip(step.written, twin.written, strict=True):
            actual = run.values[slot]
            if actual is not None and self._values[own] is None:
                # Loops and branches have no reference: what follows goes on from their results.
                self._values[own] = _widen(actual)
            if step.call is None or actual is None:
                continue
            golden = self._values[own]
            assert golden is not None, "the golden result was just computed"
            self._compare(step, step.call, slot, actual, golden)
        for slot in twin.release:
            self._values[slot] = None

    @property
    def exact(self) -> PreparedProgram:
        """The program that the golden run runs."""
        assert self._exact is not None, "before() is called first"
        return self._exact

    def start_as(self, other: GoldenObserver) -> None:
        """Start with what another golden run of the same inputs started with."""
        if self._exact is None:
            self._exact, self._values = other.exact, [*other._values]

    def has_operands_of(self, other: GoldenObserver, step: Step) -> bool:
        """True if another golden run has the very same operands of a step."""
        inputs = self.exact.steps[step.operation.index].inputs
        return all(self._values[slot] is other._values[slot] for slot in inputs)

    def take_results(self, other: GoldenObserver, step: Step) -> None:
        """Have what another golden run has after a step, whose operands are the same."""
        twin = self.exact.steps[step.operation.index]
        for slot in (*twin.written, *twin.release):
            self._values[slot] = other._values[slot]

    def golden_value(self, slot: int) -> Array:
        """What the golden run has in a slot."""
        values = self._values[slot]
        assert values is not None, "operands were computed before"
        return values

    def put_golden(self, slot: int, values: Array) -> None:
        """Let the golden run have something in a slot."""
        self._values[slot] = values

    def _run_kernels(self, step: Step, generic: GenericStep) -> None:
        """Run kernels, which have no reference, on golden numbers: later operations need theirs."""
        if self._runner is None:
            from ttmlir.runtime.execution.executor import GenericRunner

            self._runner = GenericRunner.of(self.exact)
        operands = [
            convert(self.golden_value(slot), desc.element.compute)
            for slot, desc in zip(step.inputs, generic.program.input_descs, strict=True)
        ]
        results = self._runner.run(step.operation, generic.program, operands)
        for slot, array in zip(generic.outputs, results, strict=True):
            self._values[slot] = _widen(array)

    def _run_golden(self, step: Step) -> None:
        if step.generic is not None:
            self._run_kernels(step, step.generic)
            return
        if step.function is None or step.output is None:
            return
        operands = [self._values[slot] for slot in step.inputs]
        if step.call is None:
            assert step.output_desc is not None, "a step with an output describes it"
            values = step.function(*operands) if not operands else operands[0]
            # A move may repeat its operand.
            repeated = np.broadcast_to(np.asarray(values), step.output_desc.shape)
            self._values[step.output] = _store(repeated, step.output_desc.element)
            return
        with np.errstate(all="ignore"):
            result = reference_function(step.call)(*operands)
        results = result if step.further else (result,)
        for slot, ref, each in zip(step.written, step.call.outputs, results, strict=True):
            self._values[slot] = _store(each, ref.desc.element)

    def _compare(
        self, step: Step, call: OperationCall, slot: int, actual: Array, golden: Array
    ) -> None:
        tolerance = self.tolerance
        accuracy = compare(actual, golden, rtol=tolerance.rtol, atol=tolerance.atol)
        passed = tolerance.accepts(accuracy)
        self.results.append(
            GoldenResult(
                operation=step.operation,
                name=call.name,
                accuracy=accuracy,
                passed=passed,
                inherited=not passed and self._is_right_for_operands(step, call, slot, actual),
                golden=np.array(golden) if self.keep_tensors else None,
            )
        )

    def _is_right_for_operands(
        self, step: Step, call: OperationCall, slot: int, actual: Array
    ) -> bool:
        """Whether a result is what the reference makes of the program's own operands."""
        operands = [None if each is None else _widen(each) for each in self._operands]
        with np.errstate(all="ignore"):
            result = reference_function(call)(*operands)
        results = result if step.further else (result,)
        number = step.written.index(slot)
        expected = _store(results[number], call.outputs[number].desc.element)
        tolerance = self.tolerance
        accuracy = compare(actual, expected, rtol=tolerance.rtol, atol=tolerance.atol)
        return tolerance.accepts(accuracy)


def reference_function(call: OperationCall) -> Any:
    """The reference function of an operation, which makes a result of its output's shape.

    BinaryError if the operation is not defined on its operands.
    """
    function = partial(call.definition.reference, np, **bind_parameters(call))
    fit = check_shapes(call)
    if fit is None:
        return function

    def run(*operands: Array) -> Array:
        return fit(np.asarray(function(*operands)))

    return run


def _widen(array: Array) -> Array:
    return convert(array, _FLOAT64) if array.dtype.kind == "f" else array


def _store(values: Any, element: ElementType) -> Array:
    return convert(np.asarray(values), _FLOAT64 if element.is_float else element.compute)


# --- Meshes ---------------------------------------------------------------------------------------


@dataclass
class _ValuesOfDevice:
    """What a device has in the slots of a run."""

    run: MeshRun
    device: int

    def __getitem__(self, slot: int) -> Array | None:
        parts = self.run.shards.get(slot)
        return self.run.values[slot] if parts is None else parts[self.device]


@dataclass
class GoldenOfDevices:
    """Runs the reference of each device of a mesh beside it; they exchange what they have.

    What is the same on all devices is computed and compared once, as in the run itself.
    """

    inputs: list[Array]
    tolerance: Tolerance
    keep_tensors: bool
    devices: int
    results: list[GoldenResult] = field(default_factory=_no_results)

    def __post_init__(self) -> None:
        """An observer for each device."""
        self._observers = [
            GoldenObserver(self.inputs, self.tolerance, self.keep_tensors)
            for _ in range(self.devices)
        ]

    @property
    def without_reference(self) -> list[Operation]:
        """Loops and branches, which are not compared."""
        return self._observers[0].without_reference

    def find_failure(self, outputs: Sequence[Array], *, confirmed: bool) -> GoldenResult | None:
        """The first operation that is off, on the first device where it is."""
        found = [
            replace(failure, device=device)
            for device, each in enumerate(self._observers)
            if (failure := each.find_failure(outputs, confirmed=confirmed)) is not None
        ]
        return min(found, key=lambda result: result.operation.index, default=None)

    def before(self, run: Run, step: Step) -> None:
        """Start the golden runs with the first operation."""
        first, *others = self._observers
        for each, own in self._runs(run):
            each.before(own, step)
            if each is first:
                for other in others:
                    other.start_as(first)

    def after(self, run: Run, step: Step) -> None:
        """Compute the golden results of all devices, and keep the worst comparison of each."""
        if step.exchange is not None:
            self._exchange(step)
        is_shared = self._is_shared(cast("MeshRun", run), step)
        found: list[list[GoldenResult]] = []
        for device, (each, own) in enumerate(self._runs(run)):
            if is_shared and device:
                each.take_results(self._observers[0], step)
                continue
            known = len(each.results)
            each.after(own, step)
            found.append([replace(result, device=device) for result in each.results[known:]])
            # The tensor that is kept is that of the device that is told.
            each.results[known:] = [replace(result, golden=None) for result in found[-1]]
        self.results += [
            min(results, key=lambda each: (each.passed, each.accuracy.pcc))
            for results in zip(*found, strict=True)
        ]

    def _is_shared(self, run: MeshRun, step: Step) -> bool:
        """True if all devices, and their references, have the same before a step and after it."""
        first, *others = self._observers
        return (
            step.exchange is None
            and run.shards.keys().isdisjoint(step.written)
            and all(each.has_operands_of(first, step) for each in others)
        )

    def _exchange(self, step: Step) -> None:
        first = self._observers[0].exact
        twin = first.steps[step.operation.index]
        assert twin.exchange is not None, "both run the same operations"
        assert twin.output is not None, "an exchange has a result"
        operands = [[each.golden_value(slot) for each in self._observers] for slot in twin.inputs]
        for each, part in zip(self._observers, twin.exchange(*operands), strict=True):
            each.put_golden(twin.output, part)

    def _runs(self, run: Run) -> Iterator[tuple[GoldenObserver, Run]]:
        for device, each in enumerate(self._observers):
            values = _ValuesOfDevice(cast("MeshRun", run), device)
            yield each, Run(run.prepared, cast("list[Array | None]", values))
