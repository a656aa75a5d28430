"""A program at each level of its way to a binary, run on the same inputs.

Before anything is lowered, each operation gets a name as its location. Passes keep locations, so
what an operation has become carries its name at every level, down to the operations of the
`.ttnn` file, and results can be compared by it. Source and ttir are interpreted, the file is run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.traits import IsTerminator

from ttmlir.compiler import TTNN_PIPELINE, run_passes, transform, write_ttnn
from ttmlir.interpreter.execution import execute, find_function, functions_in
from ttmlir.interpreter.registry import functions_of
from ttmlir.mlir.attributes.resources import cloned
from ttmlir.mlir.reporting.diagnostics import LocatedError
from ttmlir.mlir.reporting.locations import name_location, name_of
from ttmlir.passes.core.base import Pass, Pipeline
from ttmlir.passes.core.registry import lookup
from ttmlir.runtime.binary import BinaryProgram
from ttmlir.runtime.device import open_device
from ttmlir.runtime.element import Array, Numerics
from ttmlir.runtime.execution.executor import Run
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.session import prepare_submission, run_prepared, to_host, to_layout
from ttmlir.runtime.tensor import Tensor

if TYPE_CHECKING:
    from ttmlir.runtime.execution.prepare import Step

_NAME = re.compile(r'"operation#(\d+)"')
_DECOMPOSITION = "ttir-decomposition"
SOURCES = ("stablehlo", "tosa", "linalg", "ttir")
"""Dialects that a program may be written in, the one furthest from the file first."""
_DESTINATIONS = ("tensor.empty", "ttir.to_layout")
"""Operations that compute nothing of their own."""
_CONSTANTS = ("ConstantOp", "FullOp")
_ALIASES = {"chlo": "stablehlo"}


def name_operations(module: ModuleOp) -> tuple[Operation, ...]:
    """Give every operation in the functions of a module a name; the operations by their number."""
    operations: list[Operation] = []
    for function in functions_in(module):
        for op in function.body.walk():
            if op.has_trait(IsTerminator, value_if_unregistered=False):
                continue
            op.location = name_location(f"operation#{len(operations)}", op.location)
            operations.append(op)
    return tuple(operations)


def number_in(text: str | None) -> int | None:
    """The number of the operation that a location's name says; None if it says none."""
    match = _NAME.search(text or "")
    return None if match is None else int(match[1])


def number_of(op: Operation) -> int | None:
    """The number of the operation of the source that an operation comes from."""
    name = name_of(op.location)
    return None if name is None else number_in(f'"{name}"')


def source_dialect(module: ModuleOp) -> str:
    """The dialect of `SOURCES` that a module is written in."""
    prefixes = {op.name.partition(".")[0] for op in module.walk()}
    used = {_ALIASES.get(prefix, prefix) for prefix in prefixes}
    found = next((dialect for dialect in SOURCES if dialect in used), None)
    if found is None:
        raise LocatedError(
            module.location, f"there is nothing to compare: no operation of {', '.join(SOURCES)}"
        )
    return found


@dataclass
class Trace:
    """What a run computed: the results of the program, and those of its operations by number."""

    outputs: list[Array] = field(default_factory=list[Array])
    values: dict[int, list[Array]] = field(default_factory=dict[int, list[Array]])
    """For each operation of the source all results of what it became, in order of execution."""

    def note(self, number: int | None, value: Any) -> None:
        """Add a result of an operation."""
        if number is not None and isinstance(value, np.ndarray):
            self.values.setdefault(number, []).append(cast("Array", value))


@dataclass(frozen=True)
class Level:
    """The program after some passes."""

    name: str
    module: ModuleOp
    function: str

    def run(self, inputs: Sequence[Any], numerics: Numerics) -> Trace:
        """Run the program; `numerics` are those of the file, all else is exact."""
        if self.name == "ttnn":
            return self._run_file(inputs, numerics)
        trace = Trace()

        def observe(op: Operation, operands: Sequence[Any], results: Sequence[Any]) -> None:
            if len(results) == 1 and op.name not in _DESTINATIONS:
                trace.note(number_of(op), results[0])

        trace.outputs = execute(self.module, inputs, function=self.function, observer=observe)
        return trace

    @property
    def can_run(self) -> bool:
        """True if every operation has a meaning here."""
        if self.name == "ttnn":
            return True
        return all(
            op.name in functions_of(op.name.partition(".")[0])
            or op.has_trait(IsTerminator, value_if_unregistered=False)
            for function in functions_in(self.module)
            for op in function.body.walk()
        )

    def program(self) -> BinaryProgram:
        """The program of the file."""
        binary = read_binary(write_ttnn(self.module), "bisect.ttnn")
        return next(program for program in binary.programs if program.name == self.function)

    def _run_file(self, inputs: Sequence[Any], numerics: Numerics) -> Trace:
        from ttmlir.runtime.ttrt.running.inputs import fit_inputs

        program, observer = self.program(), _FileObserver()
        device = open_device(numerics=numerics)
        arrays = fit_inputs(program, [np.asarray(given) for given in inputs])
        tensors = [
            to_layout(Tensor.from_numpy(array), device, ref.desc)
            for array, ref in zip(arrays, program.inputs, strict=True)
        ]
        prepared = prepare_submission(device, program.binary, program.index, tensors)
        results = run_prepared(device, prepared, tensors, observer)
        observer.trace.outputs = [to_host(result).to_numpy() for result in results]
        return observer.trace


@dataclass
class _FileObserver:
    trace: Trace = field(default_factory=Trace)

    def before(self, run: Run, step: Step) -> None:
        """Nothing to do."""

    def after(self, run: Run, step: Step) -> None:
        """Note the result of what computes; moves have the locations of operations, too."""
        if step.call is not None or step.operation.table in _CONSTANTS:
            self.trace.note(number_in(step.operation.location), run.output_of(step))


def levels_of(module: ModuleOp, function: str | None = None) -> list[Level]:
    """The program of a module whose operations have names, at every level down to ttnn.

    Raises DiagnosticError for what cannot be lowered.
    """
    dialect = source_dialect(module)
    name = find_function(module, function).sym_name.data
    levels = [Level(dialect, module, name)]
    stages = {"ttir": _to_ttir(dialect), "ttir decomposed": _decomposition()}
    for stage, passes in stages.items():
        if stage == "ttir" == dialect:
            continue
        module = cloned(module)
        run_passes(module, passes)
        levels.append(Level(stage, module, name))
    module = cloned(module)
    transform(module, TTNN_PIPELINE)
    levels.append(Level("ttnn", module, name))
    return levels


def _to_ttir(dialect: str) -> Sequence[Pass]:
    """The passes from a dialect to ttir with its general operations."""
    pipeline = lookup(f"{dialect}-to-ttir-pipeline")
    if pipeline is None or not issubclass(pipeline, Pipeline):
        return ()
    return tuple(each for each in pipeline().passes() if each.name != _DECOMPOSITION)


def _decomposition() -> Sequence[Pass]:
    found = lookup(_DECOMPOSITION)
    assert found is not None, "the pass is registered"
    assert issubclass(found, Pass), "it is no pipeline"
    return (found(),)


def result_shape(op: Operation) -> tuple[int, ...] | None:
    """The shape of the one result of an operation; None if it has another number of tensors."""
    if len(op.results) != 1 or isinstance(op, FuncOp):
        return None
    type_ = op.results[0].type
    if not isinstance(type_, TensorType):
        return None
    return tuple(cast("TensorType[Attribute]", type_).get_shape())
