"""What all functions of a kernel share: names, types, the library, the Python code so far."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.inclusions import Inclusions
from ttmlir.cpp.type_names import find_built_in_type, resolve_type
from ttmlir.cpp.types import (
    UNSIGNED,
    ArrayType,
    CType,
    IncompleteType,
    ObjectType,
    QualifiedType,
    StructType,
)
from ttmlir.sim.kernels.assumptions import AssumedArguments
from ttmlir.sim.kernels.build import Build
from ttmlir.sim.kernels.enumerators import ENUM_TYPES, find_constant, strip_namespaces
from ttmlir.sim.kernels.library import Library
from ttmlir.sim.kernels.limits import MAX_STEPS
from ttmlir.sim.kernels.place import LocalPlace
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.python.clock import ClockCosts, add_clock
from ttmlir.sim.kernels.python.names import PURE
from ttmlir.sim.kernels.scope import (
    Alias,
    Functions,
    Identifiers,
    Scope,
    StructDefinition,
    Symbol,
    Variable,
)
from ttmlir.sim.kernels.spelling import list_alike
from ttmlir.sim.kernels.value import Space, make_integer
from ttmlir.sim.sources import KernelSources

ARGUMENTS = "kernel_compile_time_args"
"""The name of the array of compile-time arguments."""

MEMORY_CALLS = ("move_bytes", "fill_bytes")
SERVICES = ("load", "store", "poll", "turns", "limited", "dprint", "received", *MEMORY_CALLS)
"""Methods of every API that compiled code calls and that kernels cannot name."""

if TYPE_CHECKING:
    from ttmlir.sim.kernels.context import Instance

InstanceKey = tuple[int, tuple[str, ...], tuple[tuple[CType, str, Space, bool], ...]]


@dataclass(frozen=True)
class _ScopedNames:
    """The names of types that can be used in a scope."""

    unit: Unit
    scope: Scope

    def find_type(self, name: str) -> QualifiedType | None:
        return self.unit.find_type(name, self.scope)

    def unknown_type(self, node: tree.Node, name: str) -> Exception:
        symbols = self.unit.root.symbols
        known = [key for key, each in symbols.items() if isinstance(each, StructDefinition)]
        known += [*ENUM_TYPES, "uint32_t", "int32_t", "uint16_t", "uint8_t", "uint64_t", "bool"]
        near = list_alike(name, known)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        return self.unit.unknown_name(node, name, f"there is no type '{name}'{hint}")

    def error(self, node: tree.Node, message: str) -> Exception:
        return self.unit.error(node, message)


class Unit:
    """A kernel on its way to Python."""

    def __init__(
        self,
        text: str,
        file: str,
        includes: Sequence[tree.Include],
        library: Library,
        compile_time_args: Sequence[int],
        clock: ClockCosts | None,
        defines: Mapping[str, str],
    ) -> None:
        """Nothing is compiled yet; without `clock` the kernel does not count its cycles."""
        self.defines = defines
        """Macros that are given to the compiler."""
        self.file = file
        self.inclusions = Inclusions(file, text, includes)
        self.sources = KernelSources(self.inclusions)
        self.unreadable = dict[str, CppSyntaxError]()
        """What is wrong with names that headers may declare."""
        self.library = library
        self.compile_time_args = tuple(compile_time_args)
        self.named_compile_time_args = dict[str, int]()
        self.assumed: AssumedArguments | None = None
        """What is taken for arguments that are missing; None: they are errors."""
        self.build = Build()
        self.clock = clock
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
        self.structs = list[StructType | IncompleteType]()
        """The structs by their numbers."""
        self.steps = 0
        self.nesting = 0
        """How many functions are being compiled inside of each other."""
        self.defaults = list[tree.Parameter]()
        """Parameters whose default arguments are being compiled."""
        self.last: tree.Node | None = None
        """What was looked at last."""
        self.pure = set(PURE)
        """Functions that only find a value."""

    # Errors.

    def error(self, node: tree.Node, message: str) -> CppSyntaxError:
        """An error about a node, with its line."""
        position = node.position or tree.Position(self.file, 1, 1)
        line = self.inclusions.line(position)
        return CppSyntaxError(message, position, line, self.inclusions.notes(position.file))

    def add_unreadable(self, names: Iterable[str], error: CppSyntaxError) -> None:
        """Note what is wrong in a header with what declares these names."""
        located = error.with_notes(*self.inclusions.notes(error.position.file))
        self.unreadable |= dict.fromkeys(names, located)

    def read_body(self, function: tree.Function, node: tree.Node) -> None:
        """Read the body of a function that is used, if it is in a header."""
        try:
            _ = function.body
        except CppSyntaxError as error:
            notes = self.inclusions.notes(error.position.file)
            used = f"'{function.name}' is used at {node.position}"
            raise error.with_notes(*notes, used) from None

    def unknown_name(self, node: tree.Node, name: str, message: str) -> CppSyntaxError:
        """The error about a name that means nothing; `message` says so.

        A header may declare it: one that was not found, or in a way that is not supported.
        """
        bare = name.rpartition("::")[2]
        known = self.unreadable.get(bare)
        if known is not None:
            return known.with_notes(f"'{bare}' is used at {node.position}")
        return self.error(node, message + self.inclusions.describe_missing())

    def spend(self, node: tree.Node, steps: int = 1) -> None:
        """Count what is compiled; refuses kernels that grow without bounds."""
        self.last = node
        self.steps += steps
        if self.steps > MAX_STEPS:
            message = (
                f"the kernel is too large: it has more than {MAX_STEPS} expressions, statements "
                "and elements, with every use of its functions and templates counted"
            )
            raise self.error(node, message)

    # Names.

    def find(self, name: str, scope: Scope) -> Symbol | None:
        """What a name of the kernel means; None if it is none of the kernel's own."""
        if name == ARGUMENTS and name not in self.root.symbols:
            self._declare_arguments()
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

    def _declare_arguments(self) -> None:
        """Declare the array of the compile-time arguments, which only few kernels look at."""
        values = [make_integer(each, UNSIGNED) for each in self.compile_time_args]
        identifier = self.create_name(ARGUMENTS)
        elements = code.list_of(each.node for each in values)
        self.add_global(code.assign(code.name(identifier), elements), None)
        place = LocalPlace(ArrayType(UNSIGNED, len(values)), identifier, is_const=True)
        self.root.symbols[ARGUMENTS] = Variable(ARGUMENTS, place, True, tuple(values))

    def list_names(self) -> Iterator[str]:
        """Names of functions that can be called."""
        yield from self.library.names()
        yield from self.root.symbols

    def list_nearest_calls(self, name: str) -> list[str]:
        """Functions with a similar name, the kernel's own ones first."""
        own = [key for key, each in self.root.symbols.items() if isinstance(each, Functions)]
        return list_alike(name, own, 2) or self.library.list_nearest(name)

    def has_effect(self, node: ast.AST) -> bool:
        """Whether an expression does more than find a value."""
        return code.has_effect(node, self.pure)

    def is_of_library(self, name: str, scope: Scope) -> bool:
        """Whether the kernel library has something of a name."""
        library = self.library
        return (
            library.find_call(name) is not None
            or find_constant(name) is not None
            or self.find_type(name, scope) is not None
        )

    # Types.

    def find_type(self, name: str, scope: Scope) -> QualifiedType | None:
        """The type that a name means; None if it means none."""
        built_in = find_built_in_type(strip_namespaces(name))
        if built_in is not None:
            return QualifiedType(built_in)
        match self.find(name, scope):
            case StructDefinition(type=type_):
                return QualifiedType(type_)
            case Alias(type=qualified):
                return qualified
            case Variable() | Functions():
                return None
            case None:
                pass
        bare = strip_namespaces(name)
        if bare in ENUM_TYPES:
            return QualifiedType(ENUM_TYPES[bare])
        return QualifiedType(ObjectType(bare)) if self.library.is_class(bare) else None

    def resolve_type(self, node: tree.TemplateArgument, scope: Scope) -> QualifiedType:
        """The type that a piece of source means."""
        return resolve_type(node, _ScopedNames(self, scope))

    def resolve_declared_type(
        self, node: tree.TemplateArgument, scope: Scope, deduced: CType, is_const: bool = False
    ) -> QualifiedType:
        """The type that a declaration gives, where `auto` stands for the type of a value."""
        return resolve_type(node, _ScopedNames(self, scope), QualifiedType(deduced, is_const))

    # Code.

    def locate(self, node: ast.AST, position: tree.Position | None) -> None:
        """Give a place in the kernel or a header to a node without one."""
        shift = 0 if position is None else self.sources.shift(position.file)
        code.locate(node, position, shift)

    def bind(self, name: str) -> str:
        """The variable that holds a call or variable of the library, or a service."""
        variable = f"_{name}" if name in SERVICES else f"c_{name}"
        if variable not in self.bindings:
            self.bindings[variable] = name
            if self.library.is_pure(name):
                self.pure.add(variable)
        return variable

    def create_name(self, name: str, kind: str = "v") -> str:
        """A new identifier of a kind: `v` variables, `t` temporary ones, `f` functions."""
        return self.identifiers.create_name(f"{kind}_{name}")

    def add_global(self, statement: ast.stmt, position: tree.Position | None) -> None:
        """A statement that runs before the kernel starts."""
        self.locate(statement, position)
        self.globals.append(statement)

    def add_function(
        self,
        identifier: str,
        parameters: Sequence[str],
        body: list[ast.stmt],
        position: tree.Position | None,
    ) -> None:
        """A function of the kernel."""
        self.functions.append(self.build_function(identifier, parameters, body, position))

    def build_function(
        self,
        identifier: str,
        parameters: Sequence[str],
        body: list[ast.stmt],
        position: tree.Position | None,
    ) -> ast.FunctionDef:
        """A function of Python."""
        if self.clock is not None:
            body = add_clock(body, self.clock)
        arguments = ast.arguments(
            [], [ast.arg(each) for each in parameters], None, [], [], None, []
        )
        node = ast.FunctionDef(identifier, arguments, body or [ast.Pass()], [])
        self.locate(node, position)
        return node
