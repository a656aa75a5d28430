"""Functions of a kernel: one function of Python for each way in which one is called."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ttmlir.cpp import tree
from ttmlir.sim.kernels import code
from ttmlir.sim.kernels.calls import Argument
from ttmlir.sim.kernels.dead_code import without_dead_code
from ttmlir.sim.kernels.loops import LoopCompiler
from ttmlir.sim.kernels.place import ItemPlace, LocalPlace, MemoryPlace, Place
from ttmlir.sim.kernels.scope import Scope, Variable, changed_names, shared_names
from ttmlir.sim.kernels.types import (
    UNSIGNED,
    VOID,
    CType,
    PointerType,
    StructType,
)
from ttmlir.sim.kernels.unit import Unit
from ttmlir.sim.kernels.value import Space, Value, whole


@dataclass
class Instance:
    """A function compiled for the kinds of its arguments."""

    identifier: str
    result: CType
    space: Space = Space.ANY
    """Where the result points to, if it is a pointer."""
    waits: bool = False
    """Whether it may have to wait: it is a generator then."""
    loads: int = 0
    finished: bool = False
    called_early: bool = False
    """Whether it calls itself."""


class FunctionCompiler(LoopCompiler):
    """The body of one function."""

    def __init__(
        self,
        unit: Unit,
        function: tree.Function,
        scope: Scope,
        wide: frozenset[int] = frozenset(),
    ) -> None:
        """A compiler of a function that stands in a scope."""
        changed = changed_names(function.body, unit.references)
        shared = shared_names(function.body, unit.references)
        super().__init__(unit, Scope(scope), changed, shared)
        self.function = function
        self.wide = wide
        self.result = None if unit.is_deduced(function.result) else self._result_type()

    def _result_type(self) -> CType:
        if isinstance(self.function.result, tree.Reference):
            raise self.unit.error(self.function, "a function that returns a reference: unsupported")
        return self.unit.type_of(self.function.result, self.scope)

    def parameter(self, parameter: tree.Parameter, argument: Argument) -> str:
        """Declare a parameter; returns its identifier."""
        name = parameter.name or "unused"
        identifier = self.unit.fresh(name)
        type_ = argument.type
        node = code.name(identifier)
        referent = parameter.type.referent if isinstance(parameter.type, tree.Reference) else None
        constant = isinstance(referent, tree.NamedType) and "const" in referent.qualifiers
        match argument.mode:
            case "pair":
                container = code.subscript(node, code.constant(0))
                index = code.subscript(node, code.constant(1))
                place: Place = ItemPlace(type_, container, index, constant)
            case "address":
                assert isinstance(type_, PointerType)
                place = MemoryPlace(type_.pointee, whole(UNSIGNED, node), type_.volatile, constant)
            case "pointer":
                place = self.pointee(Value(type_, node, space=argument.space), parameter)
                place = replace(place, is_const=constant)
            case "value" if name in self.shared and not isinstance(type_, StructType):
                cell = code.assign(node, code.listed([node]))
                self.emit(cell, parameter.position)
                place = ItemPlace(type_, node, code.constant(0))
            case _:
                space = Space.ANY if id(parameter) in self.wide else argument.space
                place = LocalPlace(
                    type_, identifier, is_const=constant, space=space, origin=parameter
                )
        if parameter.name is not None:
            if name in self.scope.symbols:
                raise self.unit.error(parameter, f"two parameters are called '{name}'")
            self.scope.symbols[name] = Variable(name, place)
        return identifier

    def compile_body(self) -> list[ast.stmt]:
        """The statements of the function that matter."""
        assert self.function.body is not None
        self.block(self.function.body)
        return without_dead_code(self.out, self.unit.has_effect)


def compile_instance(
    unit: Unit, function: tree.Function, scope: Scope, arguments: Sequence[Argument], made: Instance
) -> None:
    """Compile a function for some arguments, and add it to the unit."""
    wide = frozenset[int]()
    while True:
        compiler = FunctionCompiler(unit, function, scope, wide)
        pairs = zip(function.parameters, arguments, strict=True)
        parameters = [compiler.parameter(parameter, each) for parameter, each in pairs]
        if compiler.result is not None:
            made.result = compiler.result
        body = compiler.compile_body()
        if compiler.widened <= wide:
            break
        wide |= compiler.widened
    made.result = VOID if compiler.result is None else compiler.result
    made.space = compiler.result_space or Space.ANY
    made.waits = _waits(body)
    made.loads = compiler.loads
    made.finished = True
    if made.waits and made.called_early:
        message = f"'{function.name}' calls itself and waits, which is not supported"
        raise unit.error(function, message)
    if not _returns(body) and made.result != VOID:
        body.append(_missing_return(function))
    if not body:
        unit.pure.add(made.identifier)
    unit.add_function(made.identifier, parameters, body, function.position)


def _waits(body: Sequence[ast.stmt]) -> bool:
    return any(
        isinstance(each, (ast.Yield, ast.YieldFrom)) for node in body for each in ast.walk(node)
    )


def _returns(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return)


def _missing_return(function: tree.Function) -> ast.stmt:
    """The end of a function that should not be reached."""
    message = f"'{function.name}' ends without returning a value"
    node = ast.Return(code.call("_missing", code.constant(message)))
    code.locate(node, function.position)
    return node


def compile_entry(unit: Unit, function: tree.Function, scope: Scope) -> list[ast.stmt]:
    """The body of the function that the processor starts."""
    if function.parameters:
        raise unit.error(function, f"'{function.name}' takes no parameters")
    wide = frozenset[int]()
    while True:
        compiler = FunctionCompiler(unit, function, scope, wide)
        body = compiler.compile_body()
        if compiler.widened <= wide:
            return body
        wide |= compiler.widened
