"""What all functions of a kernel share: names, types, the library, the Python code so far."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple, Protocol, cast

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError, ErrorList, TooManyErrorsError
from ttmlir.cpp.standard_headers import VECTORS, find_bare_namespace
from ttmlir.cpp.tree import Inclusions
from ttmlir.cpp.types import (
    UNSIGNED,
    ArrayType,
    CType,
    EnumType,
    IncompleteType,
    ObjectType,
    PointerType,
    QualifiedType,
    SignatureType,
    StructType,
    complete_type,
    find_built_in_type,
    resolve_type,
)
from ttmlir.optable.kernel import Role
from ttmlir.optable.kernel.releases import Release
from ttmlir.sim.kernels.build import AssumedArguments, Build
from ttmlir.sim.kernels.library import (
    ENUM_TYPES,
    Library,
    find_constant,
    list_alike,
    strip_namespaces,
)
from ttmlir.sim.kernels.limits import MAX_NOTES, MAX_STEPS, MAX_TYPE_NAME
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.python.code import PURE, ClockCosts, Folder, add_clock
from ttmlir.sim.kernels.scope import (
    AGGREGATES,
    CLOSURES,
    Alias,
    ClassInfo,
    ClassTemplate,
    Functions,
    Identifiers,
    InScope,
    LateVariable,
    NamespaceName,
    ReferencePositions,
    Scope,
    StructDefinition,
    Symbol,
    Variable,
    find_names_changed_by,
    find_reference_positions,
    find_shared_names,
    may_change,
)
from ttmlir.sim.kernels.value import LocalLvalue, Space, Value, make_integer
from ttmlir.sim.sources import KernelSources

_HOLDERS = {
    VECTORS: Role.COMPUTE,
    "ckernel": Role.COMPUTE,
    "experimental": Role.ALL,
    "tensor_accessor": Role.DATA,
    "blocks": Role.COMPUTE,
    "tiles": Role.ALL,
    "variadic": Role.ALL,
}
"""Which processors know the names of namespaces that all compute kernels see."""

_OF_COMPUTE = "ckernel"
"""The namespace that headers of compute kernels use for all that is in it."""

SHARED_NAMES = frozenset(("abs", "min", "max"))
"""Functions of vectors that there are for numbers, too: the arguments say which one is meant."""

ARGUMENTS = "kernel_compile_time_args"
"""The name of the array of compile-time arguments."""

MEMORY_CALLS = ("move_bytes", "fill_bytes")
SERVICES = ("load", "store", "poll", "iterations", "limited", "dprint", "received", *MEMORY_CALLS)
"""Methods of every API that compiled code calls and that kernels cannot name."""


POINTER_STEP = 4
"""Between the numbers of two functions, none of which is that of a null pointer."""

InstanceKey = tuple[int, int, tuple[str, ...], tuple[tuple[CType, str, Space, bool], ...]]


@dataclass
class Instance:
    """A function compiled for the kinds of its arguments."""

    identifier: str
    result: CType
    space: Space = Space.ANY
    """Where the result points to, if it is a pointer."""
    is_reference: bool = False
    """Whether the result, a pointer in Python, is a reference to what it points to."""
    is_over: bool = False
    """Whether it is `T&&`, which nobody needs any more."""
    is_const: bool = False
    """Whether it is an object that cannot be changed: `const T`."""
    waits: bool = False
    """Whether it may have to wait: it is a generator then."""
    loads: int = 0
    finished: bool = False
    called_early: bool = False
    """Whether it calls itself."""


@dataclass(frozen=True)
class PointedFunction:
    """A function that a pointer may point to."""

    value: Value
    """What a function or a lambda is as a value: its type says which one it is."""
    tag: str
    """That of its type."""
    node: tree.Node
    """What takes its address."""


@dataclass
class Dispatcher:
    """What calls through pointers to functions of one type go through."""

    instance: Instance
    signature: SignatureType
    node: tree.Node
    """The first such call."""
    entries: dict[int, tuple[Instance, bool]] = field(
        default_factory=dict[int, "tuple[Instance, bool]"]
    )
    """The functions by their numbers, and whether they are lambdas."""


class TypeServices(Protocol):
    """What it takes to find types that are computed: the compiler does it."""

    def find_templated_type(
        self, unit: Unit, scope: Scope, node: tree.NamedType | tree.Name
    ) -> QualifiedType | None:
        """The type of a name with template arguments or within a type; None if it means none."""
        ...

    def find_decltype(self, unit: Unit, scope: Scope, node: tree.Decltype) -> QualifiedType:
        """The type that `decltype(expression)` means."""
        ...

    def find_count(self, unit: Unit, scope: Scope, node: tree.Expression) -> int:
        """The number of elements that an expression gives an array."""
        ...

    def find_signature(self, unit: Unit, scope: Scope, node: tree.FunctionOf) -> SignatureType:
        """The type of functions that is written."""
        ...

    def load_header(self, unit: Unit, namespace: str, name: str) -> bool:
        """Declare the standard header that has a name; False if there is none, or it is."""
        ...


_STANDARD_REFERENCES = {
    "swap": ReferencePositions(frozenset((0, 1))),
    "exchange": ReferencePositions(frozenset((0,))),
    "ref": ReferencePositions(frozenset((0,))),
    "reference_wrapper": ReferencePositions(frozenset((0,))),
    "tie": ReferencePositions(rest=0),
    "forward_as_tuple": ReferencePositions(rest=0),
}
"""Of standard functions, which are declared when they are used."""


@lru_cache(maxsize=4096)
def _find_built_in_type(name: str) -> QualifiedType | None:
    """The type of a name such as `std::uint32_t`."""
    found = find_built_in_type(strip_namespaces(name))
    return None if found is None else QualifiedType(found)


class UsedNames(NamedTuple):
    """What the text of a function does with the names of variables."""

    changed: frozenset[str]
    shared: frozenset[str]


@dataclass(slots=True)
class _ScopedNames:
    """The names of types that can be used in a scope."""

    unit: Unit
    scope: Scope

    def find_type(self, name: str) -> QualifiedType | None:
        return self.unit.find_type(name, self.scope)

    def find_templated_type(self, node: tree.NamedType | tree.Name) -> QualifiedType | None:
        return self.unit.services.find_templated_type(self.unit, self.scope, node)

    def find_decltype(self, node: tree.Decltype) -> QualifiedType:
        return self.unit.services.find_decltype(self.unit, self.scope, node)

    def find_count(self, node: tree.Expression) -> int:
        return self.unit.services.find_count(self.unit, self.scope, node)

    def find_signature(self, node: tree.FunctionOf) -> SignatureType:
        return self.unit.services.find_signature(self.unit, self.scope, node)

    def unknown_type(self, node: tree.Node, name: str) -> Exception:
        if not self.unit.has_readers:
            return self.unit.unknown_name(node, name, f"there is no type '{name}'")
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
        services: TypeServices,
        assumed: AssumedArguments | None = None,
    ) -> None:
        """Nothing is compiled yet; without `clock` the kernel does not count its cycles."""
        self.services = services
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
        self.release: Release | None = None
        """The state of tt-metal whose meaning calls have; None: what they meant for longest."""
        self.assumed = assumed
        """What is taken for arguments that are missing; None: they are errors."""
        self.build = Build()
        self.runs = True
        """Whether the kernel may be started: else nobody asks where its code comes from."""
        self.has_readers = True
        """Whether somebody may read errors, with names that are meant."""
        self.differing = frozenset[tree.Position]()
        """Where statements of some roles stand, if the kernel is compiled for several."""
        self.errors: ErrorList | None = None
        """What is wrong with statements; None: the first error ends the compilation."""
        self.clock = clock
        self.identifiers = Identifiers()
        self.root = Scope()
        self.used = list[Scope]()
        self.namespaces = dict[str, Scope]()
        self._found_namespaces = dict[str, tuple[Scope, ...]]()
        """What paths were found to mean since the last one was made."""
        self.references = dict(_STANDARD_REFERENCES)
        """Which parameters of the kernel's functions are references that are not const."""
        self.constant_references = dict[str, ReferencePositions]()
        self._used_names = dict[int, UsedNames]()
        self.pattern_names = dict[int, tuple[tree.Node, tuple[str, ...]]]()
        """What patterns that are expanded name, by their identities."""
        self.declaring = list[LateVariable]()
        """Static members whose values are being found."""
        self.variables = dict[tuple[int, tuple[object, ...]], Symbol]()
        """Variable templates with arguments that were used so far."""
        self.classes = dict[int, ClassInfo]()
        """The classes by the numbers of their types."""
        self._hides = False
        """Whether one of them has members that are not public."""
        self.destroyed = dict[int, bool]()
        """Whether something happens at the end of the objects of a class, by its number."""
        self.closures = dict[int, tree.Lambda]()
        """The lambdas, by the numbers of their classes."""
        self.specializations = dict[tuple[int, tuple[object, ...]], QualifiedType]()
        """Class templates with arguments that were used so far."""
        self.function_values = list[tuple[Functions, tuple[tree.TemplateArgument, ...]]]()
        """Functions that are values, by the numbers of their types."""
        self.pointed = list[PointedFunction]()
        """Functions whose addresses are taken, by their numbers."""
        self.dispatchers = dict[str, Dispatcher]()
        """What calls through pointers go through, by the tags of the types of functions."""
        self.waiting_tags = frozenset[str]()
        """The tags of types of which functions may wait that pointers point to."""
        self.found_waiting = frozenset[str]()
        """Those of which functions do wait."""
        self.made_functions = dict[object, Functions]()
        """Functions of templates that were taken as values."""
        self.unevaluated = 0
        """How many expressions around are not evaluated: those of `sizeof` and `decltype`."""
        self.static_functions = dict[str, tree.Declarator]()
        """Constants of the whole kernel that hold addresses of functions."""
        self.headers = set[str]()
        """Standard headers that are declared."""
        self.instantiations = list[tuple[Callable[[], str], tree.Node]]()
        """Templates that are being compiled, with what needs them."""
        self.by_name = dict[str, ast.FunctionDef]()
        """The functions by their names."""
        self.known_values = dict[str, ast.expr]()
        """The values of variables of Python that never change, by their names."""
        known_calls = library.find_known_calls(self.compile_time_args, assumed)
        self.left_out = dict[int, Callable[[], None]]()
        self.is_left_out = False
        """Whether what is compiled now is never run: bodies of templates are not needed."""
        """Checks of the branches that `if constexpr` leaves out."""
        self.folder = Folder(self.by_name, self.known_values, known_calls)
        self.instances = dict[InstanceKey, Instance]()
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
        self.calls = dict[str, tree.Node]()
        """Where functions are called first."""
        self.last: tree.Node | None = None
        """What was looked at last."""
        self.pure = set(PURE)
        self.volatile = set[str]()
        """Identifiers of volatile variables: reading and writing them is an effect."""
        """Functions that only find a value."""

    # Errors.

    @contextmanager
    def watching(self) -> Generator[None]:
        """Note whether what only some roles do is wrong, or asks for missing arguments."""
        before = self._count_findings()
        try:
            yield
        except CppSyntaxError:
            self.library.is_uneven = True
            raise
        if self._count_findings() != before:
            self.library.is_uneven = True

    def _count_findings(self) -> tuple[int, ...]:
        assumed, errors = self.assumed, self.errors
        asked = () if assumed is None else (len(assumed.positions), len(assumed.names))
        return (*asked, 0 if errors is None else len(errors.errors))

    @contextmanager
    def trying(self, *, for_nobody: bool = False) -> Generator[None]:
        """Within it the first error counts: what is wrong may be meant to be passed over.

        With `for_nobody` its text is never shown.
        """
        errors, self.errors = self.errors, None
        has_readers, self.has_readers = self.has_readers, self.has_readers and not for_nobody
        try:
            yield
        finally:
            self.errors, self.has_readers = errors, has_readers

    def error(self, node: tree.Node, message: str) -> CppSyntaxError:
        """An error about a node, with its line, and where the templates around it are needed."""
        position = node.position or tree.Position(self.file, 1, 1)
        line = self.inclusions.line(position)
        notes = (*self._list_instantiations(), *self.inclusions.notes(position.file))
        return CppSyntaxError(message, position, line, notes)

    def _list_instantiations(self) -> Iterator[str]:
        """Notes about the templates that are being compiled, the innermost first."""
        for show, needed in reversed(self.instantiations[-MAX_NOTES:]):
            yield f"{needed.position}: in instantiation of '{show()}' required here"

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
        called = node.expression if isinstance(node, tree.Evaluate) else node
        if isinstance(called, tree.FunctionCall) and isinstance(called.callee, tree.Name):
            self.calls.setdefault(called.callee.text.rpartition("::")[2], node)
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise self._too_large(
                node,
                f"it has more than {MAX_STEPS} expressions, statements "
                "and elements, with every use of its functions and templates counted",
            )

    def spend_name(self, node: tree.Node, name: str) -> None:
        """Count the text of a type's name: types that are made of types may double it each time."""
        if len(name) > MAX_TYPE_NAME:
            message = f"the name of a type has more than {MAX_TYPE_NAME} characters"
            raise self._too_large(node, f"{message}, with those of the types in it")
        self.spend(node, len(name) // 64)

    def _too_large(self, node: tree.Node, reason: str) -> CppSyntaxError:
        message = f"the kernel is too large: {reason}"
        error = self.error(node, message)
        if self.errors is not None:
            return TooManyErrorsError(message, error.position, error.line)
        return error

    # Names.

    def find(self, name: str, scope: Scope) -> Symbol | None:
        """The symbol of a name of the kernel; None if the kernel does not declare it."""
        if name == ARGUMENTS and name not in self.root.symbols:
            self._declare_arguments()
        if "::" not in name:
            symbol = self._find_declared(name, scope)
            return self._find_in_headers(name) if symbol is None else symbol
        path, _, last = name.removeprefix("::").rpartition("::")
        if not path:
            return self.root.find_here(last)
        inside = (each.find_here(last) for each in self.find_holders(path, scope))
        symbol = next((each for each in inside if each is not None), None)
        if symbol is None and self.services.load_header(self, path.removeprefix("::"), last):
            return self.find(name, scope)
        if symbol is None and path.removeprefix("::") == _OF_COMPUTE:
            return self._find_in_headers(last)
        return symbol

    def _find_declared(self, name: str, scope: Scope) -> Symbol | None:
        """The symbol of a name in a scope, or in a namespace that the file uses."""
        symbol = scope.find(name)
        if symbol is None and self.used:
            others = (each.find_here(name) for each in self.used)
            symbol = next((each for each in others if each is not None), None)
        return symbol

    def _find_in_headers(self, name: str) -> Symbol | None:
        """The symbol of a name that headers declare for all compute kernels."""
        namespace = find_bare_namespace(name)
        role = self.library.role
        if namespace is None or role not in _HOLDERS[namespace]:
            if namespace is not None and role & _HOLDERS[namespace]:
                self.library.differs = True
            return self.find_of_vectors(name)
        self.services.load_header(self, namespace, name)
        holder = self.namespaces.get(namespace)
        return None if holder is None else holder.find_here(name)

    @property
    def has_vectors(self) -> bool:
        """Whether the kernel uses vectors of the vector unit."""
        return VECTORS in self.namespaces

    def open_namespace(self, name: str, outer: Scope) -> Scope:
        """The scope of a namespace of the kernel, made if it is not there yet."""
        if name not in self.namespaces:
            self.add_namespace(name, Scope(outer))
            if name == _OF_COMPUTE and self.library.role in Role.COMPUTE:
                self.used.append(self.namespaces[name])
        return self.namespaces[name]

    def add_namespace(self, name: str, scope: Scope) -> None:
        """Make the names of a namespace or an enumeration known."""
        self.namespaces[name] = scope
        self._found_namespaces.clear()

    def load_namespace(self, name: str) -> None:
        """Declare what a namespace holds that headers of compute kernels declare."""
        if name.removeprefix("::") == VECTORS and self.library.role in _HOLDERS[VECTORS]:
            self.services.load_header(self, VECTORS, "vFloat")

    def find_of_vectors(self, name: str) -> Symbol | None:
        """A function of vectors that is called without its namespace, in a kernel with vectors."""
        holder = self.namespaces.get(VECTORS)
        return None if holder is None or name in SHARED_NAMES else holder.find_here(name)

    def find_holders(self, path: str, scope: Scope) -> Iterator[Scope]:
        """The namespaces, classes and enumerations that a path may mean."""
        first, _, rest = path.partition("::")
        symbol = self._find_declared(first, scope)
        if isinstance(symbol, NamespaceName):
            path = f"{symbol.path}::{rest}".removesuffix("::")
        elif symbol is not None:
            found = self.find_type(path, scope)
            if found is not None:
                yield from self.find_members(found.type)
        yield from self._find_namespaces(path)
        if symbol is None or isinstance(symbol, NamespaceName):
            named = self.find(path, scope) if "::" in path else None
            if isinstance(named, NamespaceName):
                yield from self.find_holders(named.path, self.root)
                return
            # A class of the package's own headers is declared when it is looked for.
            is_own = find_bare_namespace(path) is not None
            found = self.find_type(path, scope) if named is not None or is_own else None
            if found is not None:
                yield from self.find_members(found.type)

    def _find_namespaces(self, path: str) -> tuple[Scope, ...]:
        """The namespaces that a path may mean, wherever they are."""
        known = self._found_namespaces.get(path)
        if known is None:
            ending = f"::{path}"
            named = self.namespaces.items()
            known = tuple(each for name, each in named if name == path or name.endswith(ending))
            self._found_namespaces[path] = known
        return known

    def find_members(self, type_: CType) -> Iterator[Scope]:
        """The scope with the members of a class, or with the enumerators of an enumeration."""
        match type_:
            case StructType(number=number) | IncompleteType(number=number):
                if number in self.classes:
                    yield self.classes[number].scope
            case EnumType(name=name):
                if name in self.namespaces:
                    yield self.namespaces[name]
            case _:
                return

    def _declare_arguments(self) -> None:
        """Declare the array of the compile-time arguments, which only few kernels look at."""
        values = [make_integer(each, UNSIGNED) for each in self.compile_time_args]
        identifier = self.create_name(ARGUMENTS)
        elements = code.list_of(each.node for each in values)
        array = ArrayType(UNSIGNED, len(values))
        self.add_global(code.assign(code.name(identifier), elements), None)
        self.known_values[identifier] = elements
        lvalue = LocalLvalue(array, identifier, is_const=True)
        self.root.symbols[ARGUMENTS] = Variable(ARGUMENTS, lvalue, True, Value(array, elements))

    def list_names(self) -> Iterator[str]:
        """Names of functions that can be called."""
        yield from self.library.names()
        yield from self.root.symbols

    def list_nearest_calls(self, name: str) -> list[str]:
        """Functions with a similar name, the kernel's own ones first."""
        own = [key for key, each in self.root.symbols.items() if isinstance(each, Functions)]
        return list_alike(name, own, 2) or self.library.list_nearest(name)

    def has_effect(self, node: ast.AST) -> bool:
        """Whether an expression does more than find a value, of variables that are not volatile."""
        if code.has_effect(node, self.pure):
            return True
        return bool(self.volatile) and not self.volatile.isdisjoint(code.list_names(node))

    def is_of_library(self, name: str, scope: Scope) -> bool:
        """Whether the kernel library has something of a name."""
        library = self.library
        return (
            library.find_call(name) is not None
            or find_constant(name) is not None
            or self.find_type(name, scope) is not None
        )

    def find_used_names(self, function: tree.Function) -> UsedNames:
        """What the text of a function changes, and what it takes addresses of."""
        known = self._used_names.get(id(function))
        if known is None:
            nodes = function.parts
            self.add_references(nodes)
            changed = find_names_changed_by(nodes, self.references)
            shared = find_shared_names(nodes, self.references, self.constant_references, changed)
            known = self._used_names[id(function)] = UsedNames(changed, shared)
        return known

    def add_references(self, nodes: Iterable[tree.Node]) -> None:
        """Note which parameters and members are references in what is defined among some nodes."""
        for each in nodes:
            match each:
                case tree.Function(name=name, kind="function" | "constructor"):
                    self.add_reference(name, each)
                case tree.Lambda() | tree.FunctionOf():
                    self.add_reference(CLOSURES, each)
                case tree.Struct():
                    for member in each.references:
                        may = may_change(member)
                        held = self.references if may else self.constant_references
                        held[AGGREGATES] = ReferencePositions(rest=0)
                case _:
                    pass

    def add_reference(
        self, name: str, function: tree.Function | tree.Lambda | tree.FunctionOf
    ) -> None:
        """Note which parameters of a function of a name are references.

        Lambdas have one name together, so constant ones only count if the result may be one.
        """
        for references, constant in ((self.references, False), (self.constant_references, True)):
            if (
                constant
                and name == CLOSURES
                and not isinstance(function.result, (tree.Reference, tree.Pointer))
            ):
                continue
            known = references.get(name, ReferencePositions())
            found = find_reference_positions(function.parameters, constant=constant)
            references[name] = known.join(found)
        sign = name.removeprefix("operator")
        is_assignment = sign in tree.ASSIGNMENT_OPERATORS and len(function.parameters) == 2
        if sign != name and (is_assignment or sign in tree.UPDATE_OPERATORS):
            self.add_reference(sign, function)

    # Types.

    def find_type(self, name: str, scope: Scope) -> QualifiedType | None:
        """The type that a name means; None if it means none."""
        built_in = _find_built_in_type(name)
        if built_in is not None:
            return built_in
        match self.find(name, scope):
            case StructDefinition(type=type_):
                return QualifiedType(type_)
            case Alias(type=qualified):
                return qualified
            case ClassTemplate() as template:
                return self._find_own_class(template, scope)
            case None:
                pass
            case _:
                return None
        bare = strip_namespaces(name)
        if bare in ENUM_TYPES:
            return QualifiedType(ENUM_TYPES[bare])
        return QualifiedType(ObjectType(bare)) if self.library.is_class(bare) else None

    def _find_own_class(self, template: ClassTemplate, scope: Scope) -> QualifiedType | None:
        """The class that the name of a template means within the class itself."""
        inner: Scope | None = scope
        while inner is not None:
            for number, info in self.classes.items():
                if info.scope is inner and info.template is template:
                    return QualifiedType(self.structs[number])
            inner = inner.outer
        return None

    def resolve_type(self, node: tree.TemplateArgument, scope: Scope) -> QualifiedType:
        """The type that a piece of source means."""
        while isinstance(node, InScope):
            node, scope = cast("tree.TemplateArgument", node.node), node.scope
        if isinstance(node, tree.NamedType) and node.is_plain:
            # Most types are but a name.
            found = self.find_type(node.name, scope)
            if found is not None:
                return self._complete(found)
        if self._hides:
            self._check_type(node, scope)
        return self._complete(resolve_type(node, _ScopedNames(self, scope)))

    def resolve_declared_type(
        self, node: tree.TemplateArgument, scope: Scope, deduced: CType, is_const: bool = False
    ) -> QualifiedType:
        """The type that a declaration gives, where `auto` stands for the type of a value."""
        if isinstance(node, tree.NamedType) and node.is_plain:
            return self.resolve_type(node, scope)
        given = QualifiedType(deduced, is_const)
        if self._hides:
            self._check_type(node, scope)
        return self._complete(resolve_type(node, _ScopedNames(self, scope), given))

    def _complete(self, found: QualifiedType) -> QualifiedType:
        """A type with what is known by now of the classes in it."""
        if not self.structs:
            return found
        type_ = complete_type(found.type, self.structs)
        return found if type_ is found.type else replace(found, type=type_)

    def add_class(self, number: int, info: ClassInfo) -> None:
        """Make a class known by the number of its type."""
        self.classes[number] = info
        self._hides = self._hides or bool(info.node.hidden)

    # Access: what is `private` or `protected`.

    def check_access(self, type_: StructType, name: str, node: tree.Node, scope: Scope) -> None:
        """Refuse the use of a member of a class where a scope may not use it."""
        found = next(self._find_hidden(type_, name), None)
        if found is not None and not self.may_use(*found, scope):
            raise self.error(node, f"'{name}' is {found[1]} in '{found[0].name}'")

    def may_use(self, holder: StructType, access: str, scope: Scope | None) -> bool:
        """Whether a scope is in a class, or in one derived from it if that is enough."""
        while scope is not None:
            if scope.owner is not None:
                around = self.structs[scope.owner]
                is_derived = isinstance(around, StructType) and around.derives_from(holder)
                if scope.owner == holder.number or (access == "protected" and is_derived):
                    return True
            scope = scope.outer
        return False

    def _find_hidden(self, type_: StructType, name: str) -> Iterator[tuple[StructType, str]]:
        """The class that declares a member so that not everybody may use it, and how."""
        info = self.classes.get(type_.number)
        if info is None:
            return
        known = dict(info.node.hidden).get(name)
        if known is not None:
            yield type_, known
        elif info.scope.symbols.get(name) is None:
            for number, each in enumerate(type_.bases):
                if number in info.node.hidden_bases and self._has_member(each, name):
                    yield type_, "private"
                yield from self._find_hidden(each, name)

    def _has_member(self, type_: StructType, name: str) -> bool:
        info = self.classes.get(type_.number)
        is_here = info is not None and info.scope.symbols.get(name) is not None
        return is_here or any(self._has_member(each, name) for each in type_.bases)

    def check_path(self, path: str, node: tree.Node, scope: Scope) -> None:
        """The same for each class that a qualified name goes through."""
        if not self._hides:
            return
        parts = path.removeprefix("::").split("::")
        for count in range(1, len(parts)):
            prefix = "::".join(parts[:count])
            symbol = self.find(prefix, scope)
            if isinstance(symbol, (Alias, StructDefinition)):
                found = self.find_type(prefix, scope)
                if found is not None and isinstance(found.type, StructType):
                    self.check_access(found.type, parts[count], node, scope)

    def _check_type(self, node: tree.TemplateArgument, scope: Scope) -> None:
        """Refuse a type that a class keeps to itself."""
        match node:
            case tree.NamedType(name=name, scope=None) if "::" in name:
                self.check_path(name, node, scope)
            case tree.Pointer(pointee=inner) | tree.Reference(referent=inner):
                self._check_type(inner, scope)
            case tree.ArrayOf(element=inner):
                self._check_type(inner, scope)
            case _:
                pass

    # Code.

    @contextmanager
    def looking(self) -> Generator[None]:
        """Within it only the types of expressions matter."""
        self.unevaluated += 1
        try:
            yield
        finally:
            self.unevaluated -= 1

    def find_pointed(self, pointer: Value) -> Value | None:
        """The function or lambda that a pointer is known to point to."""
        number = pointer.constant
        type_ = pointer.type
        if not isinstance(type_, PointerType) or not isinstance(type_.pointee, SignatureType):
            return None
        if not number or number % POINTER_STEP:
            return None
        index = int(number) // POINTER_STEP - 1
        return self.pointed[index].value if 0 <= index < len(self.pointed) else None

    def locate(self, node: ast.AST, position: tree.Position | None) -> None:
        """Give a place in the kernel or a header to a node without one."""
        if not self.runs or "lineno" in node.__dict__:
            return
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
        if not name.isidentifier():
            name = re.sub(r"\W+", "_", name)
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
        function = self.build_function(identifier, parameters, body, position)
        self.by_name[identifier] = function
        self.functions.append(function)

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
