"""A program at each level of its way to a binary, run on the same inputs.

Before anything is lowered, each operation gets a name as its location. Passes keep locations, so
what an operation has become carries its name at every level, down to the operations of the
file, and results can be compared by it. Source, ttir and d2m are interpreted, the file is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.traits import IsTerminator

from ttmlir.compiler import (
    divide_options,
    falls_back,
    options_for,
    run_passes,
    spell_pipeline,
    transform,
)
from ttmlir.dialects.tt.layout import TileType
from ttmlir.interpreter.execution import execute, find_function, functions_in, functions_of
from ttmlir.interpreter.file_levels import FILE_LEVELS, FileLevel, PartsFile
from ttmlir.interpreter.statistics import Trace, number_of
from ttmlir.mlir.attributes import cloned
from ttmlir.mlir.reporting import DiagnosticError, LocatedError, name_location
from ttmlir.passes.core.base import Pass, Pipeline
from ttmlir.passes.core.manager import parse_options
from ttmlir.passes.core.registry import lookup
from ttmlir.runtime.tensor import Numerics

_DECOMPOSITION = "ttir-decomposition"
SOURCES = ("stablehlo", "tosa", "linalg", "ttir")
"""Dialects that a program may be written in, the one furthest from the file first."""
DESTINATIONS = ("tensor.empty", "ttir.to_layout")
"""Operations that compute nothing of their own."""
LOOPS = ("affine.for", "scf.for", "scf.while", "stablehlo.while", "tosa.while_loop")
"""Loops around regions. They compute nothing of their own, and ttir carries less than they do."""
BRANCHES = (
    *("affine.if", "scf.if", "scf.index_switch"),
    *("stablehlo.case", "stablehlo.if", "tosa.cond_if"),
)
"""Branches around regions, all of which may be computed once they are lowered."""
_ALIASES = {"affine": "linalg", "chlo": "stablehlo", "scf": "linalg"}


_BESIDE_LINALG = {"arith", "math", "tensor"}
"""Dialects that linalg's pipeline lowers, too, and that others use beside their own operations."""


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


def calls_by_name(operations: Iterable[Operation]) -> dict[str, list[Operation]]:
    """The calls among operations, by the name of the function."""
    calls: dict[str, list[Operation]] = {}
    for op in operations:
        if isinstance(op, CallOp):
            calls.setdefault(op.callee.root_reference.data, []).append(op)
    return calls


def is_in_branch_of_loop(op: Operation, calls: Mapping[str, Sequence[Operation]]) -> bool:
    """True if an iteration of a loop around the operation, or around `calls`, may leave it out."""
    pending = [(op, False)]
    seen: set[tuple[Operation, bool]] = set()
    while pending:
        inner, is_in_branch = pending.pop()
        around = inner.parent_op()
        if around is None or (around, is_in_branch) in seen:
            continue
        seen.add((around, is_in_branch))
        if is_in_branch and around.name in LOOPS:
            return True
        if isinstance(around, FuncOp):
            pending += [(call, is_in_branch) for call in calls.get(around.sym_name.data, ())]
        else:
            pending.append((around, is_in_branch or around.name in BRANCHES))
    return False


def source_dialect(module: ModuleOp) -> str:
    """The dialect of `SOURCES` that a module is written in."""
    prefixes = {op.name.partition(".")[0] for op in module.walk()}
    used = {_ALIASES.get(prefix, prefix) for prefix in prefixes}
    found = next((dialect for dialect in SOURCES if dialect in used), None)
    if found is None and used & _BESIDE_LINALG:
        return "linalg"
    if found is None:
        raise LocatedError(
            module.location, f"there is nothing to compare: no operation of {', '.join(SOURCES)}"
        )
    return found


_WITH_LOOPS = "stablehlo"
"""The dialect whose pipeline has options, which are about loops."""


@dataclass(frozen=True)
class Level:
    """The program after some passes."""

    name: str
    module: ModuleOp
    function: str

    def run(self, inputs: Sequence[Any], numerics: Numerics) -> Trace:
        """Run the program; `numerics` are those of the file, all else is exact."""
        trace = Trace()

        def observe(op: Operation, operands: Sequence[Any], results: Sequence[Any]) -> None:
            if op.name not in DESTINATIONS:
                for value, result in zip(op.results, results, strict=True):
                    # Numbers inside of loops are those of all places at once.
                    if isinstance(value.type, TensorType):
                        trace.note(number_of(op), _numbers(op, result))

        trace.outputs = execute(self.module, inputs, function=self.function, observer=observe)
        return trace

    @property
    def can_run(self) -> bool:
        """True if every operation has a meaning here."""
        return all(
            _is_known(op) or op.has_trait(IsTerminator, value_if_unregistered=False)
            for function in functions_in(self.module)
            for op in function.body.walk()
        )


def levels_of(
    module: ModuleOp, function: str | None = None, target: str = "ttnn", options: str = ""
) -> tuple[list[Level], list[FileLevel]]:
    """The program of a module whose operations have names, at every level down to the file of a
    target of `PIPELINES`, whose pipeline takes `options`: the levels in front of files, and those.

    Raises DiagnosticError for what cannot be lowered.
    """
    name = find_function(module, function).sym_name.data
    options = options_for(module, target, options)
    try:
        return _levels_of(module, name, FILE_LEVELS[target], *divide_options(options, target))
    except DiagnosticError:
        if not falls_back(target, options):
            raise
    divided = divide_options(options, target, in_parts=True)
    return _levels_of(module, name, (PartsFile,), *divided)


def _levels_of(
    module: ModuleOp, name: str, kinds: Sequence[type[FileLevel]], to_ttir: str, options: str
) -> tuple[list[Level], list[FileLevel]]:
    dialect = source_dialect(module)
    levels = [Level(dialect, module, name)]
    stages = {"ttir": _to_ttir(dialect, to_ttir), "ttir decomposed": _decomposition()}
    for stage, passes in stages.items():
        if stage == "ttir" == dialect:
            continue
        module = cloned(module)
        run_passes(module, passes)
        levels.append(Level(stage, module, name))
    for stage, until in kinds[-1].between.items():
        between = cloned(module)
        transform(between, spell_pipeline(kinds[-1].target, options), until=until)
        levels.append(Level(stage, between, name))
    files: list[FileLevel] = []
    for kind in kinds:
        lowered = cloned(module)
        own = f"{options} {kind.options}".strip()
        kind.lower(lowered, own)
        files.append(kind(module=lowered, source=module, function=name, pipeline_options=own))
    return levels, files


def _is_known(op: Operation) -> bool:
    dialect = op.name.partition(".")[0]
    if op.name not in functions_of(dialect):
        return False
    if dialect != "tosa":
        return True
    from ttmlir.interpreter.tosa import can_interpret

    return can_interpret(op)


def _numbers(op: Operation, result: Any) -> Any:
    """A result as it is compared: of tiles on a grid the numbers without padding."""
    if op.name.partition(".")[0] != "d2m" and not _is_of_tiles(op):
        return result
    from ttmlir.interpreter.d2m import logical_numbers

    return logical_numbers(op, result)


def _is_of_tiles(op: Operation) -> bool:
    return any(
        isinstance(type_, TensorType)
        and isinstance(cast("TensorType[Attribute]", type_).element_type, TileType)
        for type_ in op.result_types
    )


def _to_ttir(dialect: str, options: str) -> Sequence[Pass]:
    """The passes from a dialect to ttir with its general operations."""
    pipeline = lookup(f"{dialect}-to-ttir-pipeline")
    if pipeline is None or not issubclass(pipeline, Pipeline):
        return ()
    made = parse_options(pipeline, f"{options} spelling=2024" if dialect == _WITH_LOOPS else "")
    assert isinstance(made, Pipeline), "it is made of the class of one"
    return tuple(each for each in made.passes() if each.name != _DECOMPOSITION)


def _decomposition() -> Sequence[Pass]:
    found = lookup(_DECOMPOSITION)
    assert found is not None, "the pass is registered"
    assert issubclass(found, Pass), "it is no pipeline"
    return (found(),)


def result_shapes(op: Operation) -> tuple[tuple[int, ...], ...]:
    """The shapes of the results of an operation; none if one of them is no tensor."""
    types = [result.type for result in op.results]
    if isinstance(op, FuncOp) or not all(isinstance(type_, TensorType) for type_ in types):
        return ()
    return tuple(tuple(cast("TensorType[Attribute]", type_).get_shape()) for type_ in types)
