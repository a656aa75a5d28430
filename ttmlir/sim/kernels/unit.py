"""What all functions of a kernel share: names, types, the library, the Python code so far."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.sim.kernels import code
from ttmlir.sim.kernels.clock import with_clock
from ttmlir.sim.kernels.enumerators import ENUM_TYPES, bare_name, named_constant
from ttmlir.sim.kernels.library import Library
from ttmlir.sim.kernels.names import PURE
from ttmlir.sim.kernels.scope import (
    Alias,
    Functions,
    Identifiers,
    Scope,
    StructDefinition,
    Symbol,
    Variable,
)
from ttmlir.sim.kernels.types import (
    CType,
    ObjectType,
    PointerType,
    VoidType,
    built_in_type,
)
from ttmlir.sim.kernels.value import Space, Value

SERVICES = ("load", "store", "poll", "turns", "limited", "dprint")
"""Methods of every API that compiled code calls and that kernels cannot name."""

if TYPE_CHECKING:
    from ttmlir.sim.kernels.calls import Argument
    from ttmlir.sim.kernels.functions import Instance

InstanceKey = tuple[int, tuple[str, ...], tuple[tuple[CType, str, Space], ...]]


class Unit:
    """A kernel on its way to Python."""

    def __init__(
        self,
        text: str,
        file: str,
        library: Library,
        compile_time_args: Sequence[int],
        timed: bool,
        defines: Mapping[str, str],
    ) -> None:
        """Nothing is compiled yet."""
        self.defines = defines
        """Macros that are given to the compiler."""
        self.lines = text.split("\n")
        self.file = file
        self.library = library
        self.compile_time_args = tuple(compile_time_args)
        self.timed = timed
        self.identifiers = Identifiers()
        self.root = Scope()
        self.used = list[Scope]()
        self.namespaces = dict[str, Scope]()
        self.references = dict[str, frozenset[int]]()
        """Which parameters of the kernel's functions are references that are not const."""
        self.instances = dict[InstanceKey, "Instance"]()
        self.bindings = dict[str, str]()
        """The variables that hold what the library gives, with the names of these."""
        self.globals = list[ast.stmt]()
        self.functions = list[ast.stmt]()
        self.pure = set(PURE)
        """Functions that only find a value."""

    # Errors.

    def error(self, node: tree.Node, message: str) -> CppSyntaxError:
        """An error about a node, with its line."""
        position = node.position or tree.Position(self.file, 1, 1)
        line = self.lines[position.line - 1] if position.line <= len(self.lines) else ""
        return CppSyntaxError(message, position, line.rstrip("\r"))

    # Names.

    def find(self, name: str, scope: Scope) -> Symbol | None:
        """What a name of the kernel means; None if it is none of the kernel's own."""
        if "::" not in name:
            symbol = scope.find(name)
            others = (each.symbols.get(name) for each in self.used)
            return symbol or next((each for each in others if each is not None), None)
        path, _, last = name.removeprefix("::").rpartition("::")
        if not path:
            return self.root.symbols.get(last)
        inside = [
            each
            for known, each in self.namespaces.items()
            if known == path or known.endswith(f"::{path}")
        ]
        return next((each.symbols[last] for each in inside if last in each.symbols), None)

    def visible_names(self) -> Iterator[str]:
        """Names of functions that can be called."""
        yield from self.library.names()
        yield from self.root.symbols

    def nearest_calls(self, name: str) -> list[str]:
        """Functions with a similar name, the kernel's own ones first."""
        own = [key for key, each in self.root.symbols.items() if isinstance(each, Functions)]
        return [*difflib.get_close_matches(name, own, 2), *self.library.nearest(name)][:3]

    def has_effect(self, node: ast.AST) -> bool:
        """Whether an expression does more than find a value."""
        return code.has_effect(node, self.pure)

    def is_of_library(self, name: str, scope: Scope) -> bool:
        """Whether the kernel library has something of a name."""
        library = self.library
        return (
            library.call(name) is not None
            or named_constant(name) is not None
            or self.named_type(tree.NamedType(name), scope) is not None
        )

    # Types.

    def named_type(self, node: tree.NamedType, scope: Scope) -> CType | None:
        """The type that a name means; None if it means none."""
        built_in = built_in_type(bare_name(node.name))
        if built_in is not None:
            return built_in
        match self.find(node.name, scope):
            case StructDefinition(type=type_) | Alias(type=type_):
                return type_
            case Variable() | Functions():
                return None
            case None:
                pass
        bare = bare_name(node.name)
        if bare in ENUM_TYPES:
            return ENUM_TYPES[bare]
        return ObjectType(bare) if self.library.is_class(bare) else None

    def type_of(self, node: tree.TemplateArgument, scope: Scope) -> CType:
        """The type that a piece of source means."""
        return self.declared_type(node, scope, None)

    def is_deduced(self, node: tree.Type) -> bool:
        """Whether a type is `auto`, `auto*` or `auto&`."""
        match node:
            case tree.NamedType(name=name):
                return name == "auto"
            case tree.Pointer(pointee=inner) | tree.Reference(referent=inner):
                return self.is_deduced(inner)

    def declared_type(
        self, node: tree.TemplateArgument, scope: Scope, deduced: CType | None
    ) -> CType:
        """The type that a declaration gives, where `auto` stands for the type of a value."""
        match node:
            case tree.NamedType(name="auto"):
                if deduced is None or isinstance(deduced, VoidType):
                    raise self.error(node, "'auto' has no value here to take its type from")
                return deduced
            case tree.NamedType() | tree.Name():
                return self._named(node, scope)
            case tree.Pointer(pointee=pointee):
                inner = deduced.pointee if isinstance(deduced, PointerType) else None
                volatile = isinstance(pointee, tree.NamedType) and "volatile" in pointee.qualifiers
                return PointerType(self.declared_type(pointee, scope, inner), volatile)
            case tree.Reference(referent=referent):
                return self.declared_type(referent, scope, deduced)
            case _:
                raise self.error(node, "this is no type")

    def _named(self, node: tree.NamedType | tree.Name, scope: Scope) -> CType:
        name = node.name if isinstance(node, tree.NamedType) else node.text
        found = self.named_type(tree.NamedType(name), scope)
        if found is not None:
            return found
        known = [
            key for key, each in self.root.symbols.items() if isinstance(each, StructDefinition)
        ]
        known += [*ENUM_TYPES, "uint32_t", "int32_t", "uint16_t", "uint8_t", "uint64_t", "bool"]
        near = difflib.get_close_matches(bare_name(name), known, 3)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise self.error(node, f"there is no type '{name}'{hint}")

    # Code.

    def bound(self, name: str) -> str:
        """The variable that holds a call or variable of the library, or a service."""
        variable = f"_{name}" if name in SERVICES else f"c_{name}"
        if variable not in self.bindings:
            self.bindings[variable] = name
            if self.library.is_pure(name):
                self.pure.add(variable)
        return variable

    def fresh(self, name: str, kind: str = "v") -> str:
        """A new identifier of a kind: `v` variables, `t` temporary ones, `f` functions."""
        return self.identifiers.fresh(f"{kind}_{name}")

    def add_global(self, statement: ast.stmt, position: tree.Position | None) -> None:
        """A statement that runs before the kernel starts."""
        code.locate(statement, position)
        self.globals.append(statement)

    def add_function(
        self,
        identifier: str,
        parameters: Sequence[str],
        body: list[ast.stmt],
        position: tree.Position | None,
    ) -> None:
        """A function of the kernel."""
        self.functions.append(self.function_node(identifier, parameters, body, position))

    def function_node(
        self,
        identifier: str,
        parameters: Sequence[str],
        body: list[ast.stmt],
        position: tree.Position | None,
    ) -> ast.FunctionDef:
        """A function of Python."""
        if self.timed:
            body = with_clock(body)
        arguments = ast.arguments(
            [], [ast.arg(each) for each in parameters], None, [], [], None, []
        )
        node = ast.FunctionDef(identifier, arguments, body or [ast.Pass()], [])
        code.locate(node, position)
        return node

    def instance(
        self,
        function: tree.Function,
        scope: Scope,
        arguments: Sequence[Argument],
        node: tree.Node,
    ) -> Instance:
        """The function as it is for arguments of these types."""
        from ttmlir.sim.kernels.functions import Instance, compile_instance

        names = () if not function.template_parameters else tuple(map(repr, _meanings(scope)))
        kinds = tuple((each.type, each.mode, each.space) for each in arguments)
        key = (id(function), names, kinds)
        known = self.instances.get(key)
        if known is None:
            identifier = self.fresh(function.name, "f")
            known = self.instances[key] = Instance(identifier, self._result(function, scope))
            compile_instance(self, function, scope, arguments, known)
        elif not known.finished:
            known.called_early = True
            if self.is_deduced(function.result):
                raise self.error(node, "a function with result 'auto' cannot call itself")
        return known

    def _result(self, function: tree.Function, scope: Scope) -> CType:
        if self.is_deduced(function.result):
            return VoidType()
        return self.type_of(function.result, scope)


def _meanings(scope: Scope) -> Iterator[tuple[str, object]]:
    """What template parameters stand for: types and numbers."""
    for name, symbol in scope.symbols.items():
        match symbol:
            case Alias(type=type_):
                yield name, type_
            case Variable(meaning=Value() as value):
                yield name, value.constant
            case _:
                yield name, symbol
