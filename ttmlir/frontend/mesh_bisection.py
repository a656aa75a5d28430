"""Finds the operation, and the device, with which a program of a mesh begins to go wrong.

The program runs undivided, then as what each device computes in ttir, then as its file on all
devices. Of an undivided result each device should have a part: which one is not written anywhere
once the program is divided, so that it is the one of all ways to cut the result that agrees best.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ttmlir.compiler import spell_pipeline, transform
from ttmlir.frontend.compiled import (
    ImportedModel,
    check_devices,
    divide_options,
    lower_to_ttir,
    public_function,
)
from ttmlir.frontend.mesh_steps import BranchOf, ExchangeOf, LoopOf, Segment, Steps, cut_into_steps
from ttmlir.interpreter.bisection import (
    Comparison,
    Difference,
    LevelReport,
    Report,
    check_framework_results,
    tolerance_for,
)
from ttmlir.interpreter.execution import execute
from ttmlir.interpreter.file_levels import TTNNFile
from ttmlir.interpreter.levels import (
    DESTINATIONS,
    LOOPS,
    Level,
    name_operations,
    number_of,
    source_dialect,
)
from ttmlir.interpreter.statistics import Trace, accuracy_of, number_in
from ttmlir.mlir.attributes import cloned
from ttmlir.mlir.reporting import LocatedError
from ttmlir.passes.stablehlo.complex.boundaries import split_signature
from ttmlir.runtime.execution.mesh import MeshRun
from ttmlir.runtime.session import prepare_submission, run_prepared, to_host, to_layout
from ttmlir.runtime.tensor import Numerics, Tensor, close_device, open_device, split_complex
from ttmlir.runtime.ttrt.running import fit_inputs, generate_inputs
from ttmlir.terminal import show_wait

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

    from ttmlir.runtime.execution.executor import Run
    from ttmlir.runtime.execution.steps import Step
    from ttmlir.runtime.golden import Tolerance
    from ttmlir.runtime.tensor import Array

Shape = tuple[int, ...]


@dataclass
class _MeshTrace:
    """What all devices compute: a trace of each, and the results of the program."""

    devices: list[Trace]
    outputs: list[Array] = field(default_factory=list["Array"])


def bisect_mesh(
    imported: ImportedModel,
    inputs: Sequence[Array] | None,
    *,
    seed: int = 0,
    numerics: Numerics = Numerics.EXACT,
    tolerance: Tolerance | None = None,
    framework_results: Sequence[Array] | None = None,
    options: str = "",
) -> Report:
    """Compare what a program of several devices computes at its levels; its module is changed.

    `inputs` are whole arrays, made up from `seed` if they are not given. DiagnosticError for what
    cannot be lowered or run.
    """
    module = imported.module
    function = public_function(module)
    split_signature(function)
    operations = name_operations(module)
    tolerance = tolerance_for(numerics) if tolerance is None else tolerance
    check_devices(imported, "ttnn", options)
    front, rest = divide_options(options, "ttnn")
    divided = cloned(module)
    lower_to_ttir(divided, imported.stage, "ttnn", options, front)
    lowered = cloned(divided)
    transform(lowered, spell_pipeline("ttnn", rest))
    name = function.sym_name.data
    file = TTNNFile(module=lowered, source=divided, function=name, pipeline_options=rest)
    if inputs is None:
        inputs = generate_inputs(file.program(), "randn", np.random.default_rng(seed))
    inputs = split_complex(map(np.asarray, inputs))

    undivided = Level(source_dialect(module), module, name)
    whole = undivided.run(inputs, numerics) if undivided.can_run else None
    with show_wait("bisecting", 2) as advance:
        plan = _cut(divided)
        parts = None if plan is None else _run_steps(plan, inputs)
        advance()
        run, mesh = _run_file(file, inputs, numerics)
        advance()
    comparison = _MeshComparison(
        Comparison(operations, tolerance, {}), mesh if plan is None else plan.axes
    )
    levels = {undivided.name: whole, "ttir": parts, "ttnn": run}
    able = {level: trace for level, trace in levels.items() if trace is not None}
    (reference, first), *others = able.items()
    outputs, reports = first.outputs, list[LevelReport]()
    if framework_results is not None:
        results = split_complex(map(np.asarray, framework_results))
        check_framework_results(function.location, Trace(outputs=outputs), results)
        off = comparison.base.outputs(reference, results, outputs)
        reports.append(comparison.base.report(reference, 0, [], off))
        outputs = results
    for level, trace in others:
        before = first if isinstance(first, Trace) else parts
        if level == "ttnn" and parts is not None:
            before = parts
        assert before is not None, "it is the level before"
        assert isinstance(trace, _MeshTrace), "only the first level is undivided"
        reports.append(comparison.compare(level, before, trace, outputs))
    return Report(
        reference=reference,
        skipped=tuple(level for level in levels if level not in able),
        operations=len(operations),
        levels=tuple(reports),
    )


# --- Runs -----------------------------------------------------------------------------------------


def _cut(divided: ModuleOp) -> Steps | None:
    """The steps of a program; None for one that exchanges something in a loop."""
    module = cloned(divided)
    try:
        found = cut_into_steps(module, public_function(module))
    except LocatedError:
        return None
    return None if any(isinstance(step, LoopOf | BranchOf) for step in found.steps) else found


def _run_steps(plan: Steps, inputs: Sequence[Array]) -> _MeshTrace:
    """Interpret what each device computes, and exchange what they have."""
    trace = _MeshTrace([Trace() for _ in range(plan.devices)])
    values = {n: [array] * plan.devices for n, array in zip(plan.inputs, inputs, strict=True)}
    for step in plan.steps:
        assert not isinstance(step, LoopOf | BranchOf), "loops and branches are not cut"
        if isinstance(step, Segment):
            _run_segment(step, values, trace)
            continue
        if isinstance(step, ExchangeOf):
            act = step.exchange
            found = act.move(values[act.source])
        else:
            act = step.division
            found = act.apply(values[act.source])
        values[act.result] = found
        for each, part in zip(trace.devices, found, strict=True):
            each.note(number_of(step.op), part)
    trace.outputs = [values[number][0] for number in plan.outputs]
    return trace


def _run_segment(step: Segment, values: dict[int, list[Array]], trace: _MeshTrace) -> None:
    module = cloned(step.module)
    transform(module, "convert-spelling{to=2024}")
    results = [
        execute(
            module,
            [values[number][device] for number in step.inputs],
            observer=partial(_note, each),
        )
        for device, each in enumerate(trace.devices)
    ]
    for number, parts in zip(step.outputs, zip(*results, strict=True), strict=True):
        values[number] = [*parts]


def _note(trace: Trace, op: Operation, operands: Sequence[Any], results: Sequence[Any]) -> None:
    del operands
    if op.name not in DESTINATIONS:
        for result in results:
            trace.note(number_of(op), result)


def _run_file(
    file: TTNNFile, inputs: Sequence[Array], numerics: Numerics
) -> tuple[_MeshTrace, Shape]:
    """Run the file on all devices; what they compute, and their mesh."""
    program = file.program()
    observer = _Observer(_MeshTrace([Trace() for _ in range(math.prod(program.mesh))]))
    device = open_device(range(math.prod(program.mesh)), numerics=numerics)
    try:
        tensors = [
            to_layout(Tensor.from_numpy(array), device, ref.desc)
            for array, ref in zip(fit_inputs(program, [*inputs]), program.inputs, strict=True)
        ]
        prepared = prepare_submission(device, program.binary, program.index, tensors)
        results = run_prepared(device, prepared, tensors, observer)
        observer.trace.outputs = [to_host(result).to_numpy() for result in results]
    finally:
        close_device(device)
    return observer.trace, tuple(program.mesh)


@dataclass
class _Observer:
    trace: _MeshTrace
    enters_functions = True

    def before(self, run: Run, step: Step) -> None:
        """Nothing to do."""

    def after(self, run: Run, step: Step) -> None:
        """Note the results of what computes or exchanges."""
        if step.call is None and step.exchange is None:
            return
        number = number_in(step.operation.location)
        shards = run.shards if isinstance(run, MeshRun) else {}
        for slot in step.written:
            for device, each in enumerate(self.trace.devices):
                parts = shards.get(slot)
                # A loop may write to a tensor in place in its next iteration.
                each.note(number, np.array(run.values[slot] if parts is None else parts[device]))


# --- Comparison -----------------------------------------------------------------------------------


@dataclass
class _MeshComparison:
    base: Comparison
    mesh: Shape
    """Extents of all axes."""

    def compare(
        self,
        level: str,
        before: Trace | _MeshTrace,
        after: _MeshTrace,
        outputs: Sequence[Array],
    ) -> LevelReport:
        """What devices compute at a level against the one before; results against `outputs`."""
        compared, differences = 0, list[Difference]()
        first = before if isinstance(before, Trace) else before.devices[0]
        for number in sorted(first.values):
            if self.base.operations[number].name in LOOPS:
                continue
            actual = [each.values.get(number, []) for each in after.devices]
            if isinstance(before, Trace):
                pairs = self._parts_of(before.values[number][-1], actual)
            else:
                expected = [each.values.get(number, []) for each in before.devices]
                pairs = _last_pairs(expected, actual)
            compared += bool(pairs)
            for device, (wanted, found) in enumerate(pairs):
                off = self.base.difference(level, number, wanted, found)
                if off is None:
                    continue
                if not self._is_of_another(before, device, found):
                    differences.append(replace(off, device=device))
                break
        off = self.base.outputs(level, outputs, after.outputs)
        return self.base.report(level, compared, differences, off)

    def _is_of_another(self, before: Trace | _MeshTrace, device: int, found: Array) -> bool:
        """True for what another operation computes, of which this one has become a part."""
        values = (before if isinstance(before, Trace) else before.devices[device]).values.values()
        tolerance = self.base.tolerance
        accuracies = (accuracy_of(each, found, tolerance) for some in values for each in some)
        return any(each is not None and tolerance.accepts(each) for each in accuracies)

    def _parts_of(
        self, whole: Array, actual: Sequence[Sequence[Array]]
    ) -> list[tuple[Array, Array]]:
        """What each device should have of a result, with what it has; none if nothing fits."""
        for back in range(1, 1 + min(map(len, actual))):
            found = [values[-back] for values in actual]
            ways = [*self._ways(whole, found)]
            if ways:
                return max(ways, key=self._agreement)
        return []

    def _ways(self, whole: Array, found: Sequence[Array]) -> Iterator[list[tuple[Array, Array]]]:
        """All ways to cut a result into parts of the shapes that devices have.

        Devices along the axes that cut nothing may have what is still to be added.
        """
        shape = found[0].shape
        if len(shape) != whole.ndim or np.iscomplexobj(whole):
            return
        axes = range(len(self.mesh))
        for dims in itertools.product(range(-1, whole.ndim), repeat=len(self.mesh)):
            parts = [1] * whole.ndim
            for axis, dim in enumerate(dims):
                if dim >= 0:
                    parts[dim] *= self.mesh[axis]
            if [extent * count for extent, count in zip(shape, parts, strict=True)] != [
                *whole.shape
            ]:
                continue
            for order in itertools.permutations(axis for axis in axes if dims[axis] >= 0):
                wanted = [self._part(whole, dims, order, device) for device in range(len(found))]
                yield [*zip(wanted, found, strict=True)]
                free = tuple(axis for axis in axes if dims[axis] < 0 and self.mesh[axis] > 1)
                for count in range(1, len(free) + 1):
                    for added in itertools.combinations(free, count):
                        yield [*zip(wanted, self._added(found, added), strict=True)]

    def _part(self, whole: Array, dims: Shape, order: Shape, device: int) -> Array:
        place = np.unravel_index(device, self.mesh)
        for axis in order:
            whole = np.split(whole, self.mesh[axis], dims[axis])[int(place[axis])]
        return whole

    def _added(self, found: Sequence[Array], axes: Shape) -> list[Array]:
        """The sums of what devices have along axes, on each of them."""
        grid = np.stack(found).reshape(*self.mesh, *found[0].shape)
        if grid.dtype.kind == "b":
            return [*found]
        sums = np.broadcast_to(grid.sum(axes, keepdims=True, dtype=grid.dtype), grid.shape)
        return [*sums.reshape(len(found), *found[0].shape)]

    def _agreement(self, pairs: Sequence[tuple[Array, Array]]) -> tuple[int, float]:
        tolerance = self.base.tolerance
        found = [accuracy_of(*pair, tolerance) for pair in pairs]
        accepted = sum(each is not None and tolerance.accepts(each) for each in found)
        return accepted, sum(each.pcc for each in found if each is not None)


def _last_pairs(
    expected: Sequence[Sequence[Array]], actual: Sequence[Sequence[Array]]
) -> list[tuple[Array, Array]]:
    """The last result of each device with the last one of that shape."""
    pairs: list[tuple[Array, Array]] = []
    for before, after in zip(expected, actual, strict=True):
        wanted = before[-1] if before else None
        same = [each for each in after if wanted is not None and each.shape == wanted.shape]
        if wanted is None or not same:
            return []
        pairs.append((wanted, same[-1]))
    return pairs
