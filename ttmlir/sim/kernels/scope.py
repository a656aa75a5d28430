"""The scopes of names, and which names a piece of source changes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TypeAlias

from ttmlir.cpp import tree
from ttmlir.cpp.types import IncompleteType, QualifiedType, StructType, find_built_in_type
from ttmlir.light_dataclasses import dataclass
from ttmlir.sim.kernels.value import Lvalue, Value


@dataclass(frozen=True)
class Variable:
    """A variable: where it is, or, of a constant, what it is."""

    name: str
    storage: Lvalue | Value
    is_global: bool = False
    known: Value | None = None
    """What a constant array or struct holds, written with constants."""
    is_reference: bool = False
    """Whether it is another name of something that changes under its own name."""
    reference: str = ""
    """`&` or `&&`, if its type is a reference."""
    is_plain: bool = False
    """Whether constant expressions may not name it, even where its value is known."""


@dataclass(frozen=True)
class LateVariable:
    """A static member of a class, or a variable template: declared when it is needed."""

    declaration: tree.Declaration
    declarator: tree.Declarator
    scope: Scope


@dataclass(frozen=True)
class Functions:
    """The functions of one name."""

    name: str
    definitions: tuple[tree.Function, ...]
    scope: Scope
    """The namespace or class that they stand in."""
    others: tuple[Functions, ...] = ()
    """Those of the same name in other scopes that are found together with them."""


@dataclass(frozen=True)
class StructDefinition:
    """A struct or class."""

    type: StructType | IncompleteType


@dataclass(frozen=True)
class FieldName:
    """A member that each object of a class has."""

    name: str
    holder: str = "this"
    """What the object is called in its functions: in those of a lambda, `CLOSURE`."""


@dataclass(frozen=True)
class Alias:
    """Another name of a type, or a type that a template parameter stands for."""

    type: QualifiedType


@dataclass(eq=False)
class ClassTemplate:
    """A class template with its specialisations."""

    name: str
    definition: tree.Struct
    scope: Scope
    specializations: list[tree.Struct] = field(default_factory=list[tree.Struct])
    methods: list[tree.Function] = field(default_factory=list[tree.Function])
    """Member functions that are defined outside of the class."""
    values: list[tree.Declaration] = field(default_factory=list[tree.Declaration])
    """Static members, likewise."""
    guides: list[tree.Function] = field(default_factory=list[tree.Function])
    """What says which class arguments make: the results of these functions."""


@dataclass(frozen=True)
class AliasTemplate:
    """An alias with template parameters."""

    definition: tree.Alias
    scope: Scope


@dataclass(frozen=True)
class NamespaceName:
    """Another name of a namespace."""

    path: str


@dataclass(frozen=True)
class Pack:
    """What a parameter pack stands for."""

    symbols: tuple[Symbol, ...]


Symbol: TypeAlias = (
    Variable
    | LateVariable
    | Functions
    | StructDefinition
    | FieldName
    | Alias
    | ClassTemplate
    | AliasTemplate
    | NamespaceName
    | Pack
)


@dataclass(eq=False)
class ClassInfo:
    """What is known of a class beside its layout."""

    node: tree.Struct
    scope: Scope
    """Its members, within what it stands in."""
    constructors: tuple[tree.Function, ...] = ()
    has_default: bool = False
    """Whether a constructor without parameters is defaulted."""
    has_deleted_default: bool = False
    """Whether it is deleted."""
    conversions: tuple[tree.Function, ...] = ()
    destructor: tree.Function | None = None
    copying: tree.Function | None = None
    """The copy constructor, if one is declared; it may be defaulted or deleted."""
    moving: tree.Function | None = None
    """Likewise the one that moves, `T(T&&)`."""
    moves_constants: bool = False
    """Whether one moves what is const, `T(const T&&)`."""
    friends: Scope | None = None
    defaults: dict[str, tree.Expression | tree.Braces] = field(
        default_factory=dict[str, "tree.Expression | tree.Braces"]
    )
    """The initial values of members."""
    template: ClassTemplate | None = None
    arguments: tuple[Symbol, ...] = ()
    """What the parameters of the template stand for."""


class Scope:
    """Names in a block; those of the blocks around it are seen through it."""

    def __init__(self, outer: Scope | None = None) -> None:
        """An empty scope in another one."""
        self.outer = outer
        self.symbols = dict[str, Symbol]()
        self.owner: int | None = None
        """The number of the class whose members these are."""
        self.more: tuple[Scope, ...] = ()
        """Scopes whose names are found here, too: of bases, and of namespaces that are used."""

    def find_here(self, name: str) -> Symbol | None:
        """The symbol that a name denotes in this scope itself."""
        found = self.symbols.get(name)
        if found is not None or not self.more:
            return found
        # Namespaces may use each other.
        pending, seen = list(reversed(self.more)), {id(self)}
        while pending:
            scope = pending.pop()
            if id(scope) in seen:
                continue
            if (found := scope.symbols.get(name)) is not None:
                return found
            seen.add(id(scope))
            pending += reversed(scope.more)
        return None

    def find(self, name: str) -> Symbol | None:
        """The symbol that an unqualified name denotes here."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.symbols.get(name)
            if found is None and scope.more:
                found = scope.find_here(name)
            if found is not None:
                return found
            scope = scope.outer
        return None

    def visible(self) -> Iterator[str]:
        """All names that can be used here."""
        scope: Scope | None = self
        while scope is not None:
            yield from scope.symbols
            scope = scope.outer


@dataclass(frozen=True)
class InScope(tree.Placeholder):
    """A piece of source whose names mean what they do in a scope of its own."""

    node: tree.TemplateArgument | tree.Braces
    scope: Scope = field(repr=False)


@dataclass(frozen=True)
class Evaluated(tree.Placeholder):
    """An expression that was looked at before: it is not looked at twice."""

    found: Lvalue | Value
    written: tree.Node | None = field(default=None, repr=False)
    """The expression, where it matters how a value was written."""
    setup: tuple[ast.expr, ...] = field(default=(), repr=False)
    """What happens before it is there."""


class Identifiers:
    """Names of Python's variables: each belongs to one variable of C++."""

    def __init__(self) -> None:
        """Nothing is given out yet."""
        self._taken = set[str]()
        self._numbers = dict[str, int]()

    def create_name(self, base: str) -> str:
        """A new identifier that begins with a text."""
        candidate, number = base, self._numbers.get(base, 1)
        while candidate in self._taken:
            number += 1
            candidate = f"{base}_{number}"
        self._numbers[base] = number
        self._taken.add(candidate)
        return candidate


def list_used_names(node: object) -> frozenset[str]:
    """The names of variables, functions and types in a statement, without those in it."""
    names = set[str]()
    for each in tree.walk(_find_head(node)):
        match each:
            case tree.Name(text=name) | tree.NamedType(name=name):
                names.add(name)
            case _:
                pass
    return frozenset(names)


def _find_head(node: object) -> object:
    """A statement without those in it."""
    match node:
        case tree.If(condition=head) | tree.While(condition=head) | tree.DoWhile(condition=head):
            return head
        case tree.Switch(condition=head, cases=cases):
            return (head, *(each.value for each in cases), *(each.last for each in cases))
        case tree.For(start=start, condition=condition, step=step):
            return (start, condition, step)
        case tree.RangeFor(declaration=head):
            return head
        case tree.Block():
            return None
        case _:
            return node


def list_declared_names(node: tree.Node) -> tuple[str, ...]:
    """The names that an item or a statement would declare."""
    match node:
        case tree.Struct(name=name) | tree.Alias(name=name) | tree.Function(name=name):
            return (name,)
        case tree.UsingName(name=name):
            return (name.rpartition("::")[2],)
        case tree.Enumeration(name=name, enumerators=enumerators):
            return (name, *(each.name for each in enumerators))
        case tree.Declaration(declarators=declarators):
            return tuple(each.name for each in declarators)
        case tree.Binding(names=names):
            return names
        case _:
            return ()


def root_names(node: tree.Expression | tree.Braces | None) -> Iterator[str]:
    """The variables that a place may be part of: `a` of `a.b[1]` or `++a`, both of `c ? a : b`."""
    match node:
        case tree.Index(base=inner) | tree.Member(base=inner) | tree.PointedMember(base=inner):
            yield from root_names(inner)
        case tree.Cast(value=inner) | tree.BinaryOperation(operator=",", right=inner):
            yield from root_names(inner)
        case tree.Assign(target=inner) | tree.Update(operand=inner, postfix=False):
            yield from root_names(inner)
        case tree.Name(text=text):
            yield text
        case tree.Conditional(true_value=a, false_value=b):
            yield from root_names(a)
            yield from root_names(b)
        case tree.FunctionCall(callee=tree.Name(text=name), arguments=arguments) if (
            name in _PASSING
        ):
            for each in arguments:
                yield from root_names(each)
        case _:
            return


_FORWARDED = ("std::forward", "forward")
_MOVED = ("std::move", "move")


def is_given_up(node: object, scope: Scope) -> bool:
    """Whether an expression says that nobody needs a place any more."""
    while isinstance(node, InScope):
        node, scope = node.node, node.scope
    match node:
        case tree.FunctionCall(callee=tree.Name(text=text), template_arguments=(written, *_)) if (
            text in _FORWARDED
        ):
            return not refers_to_place(written, scope)
        case tree.FunctionCall(callee=tree.Name(text=text)) if text in _MOVED:
            return True
        case tree.Cast(type=written):
            return find_reference(written, scope) == "&&"
        case _:
            return False


def refers_to_place(written: object, scope: Scope) -> bool:
    """Whether `std::forward` of a type gives a place as it is."""
    return find_reference(written, scope) == "&"


def find_reference(written: object, scope: Scope) -> str:
    """`&` or `&&` if a written type is that of a reference, as far as names alone tell."""
    while isinstance(written, InScope):
        written, scope = written.node, written.scope
    match written:
        case tree.Name(text=name) | tree.NamedType(name=name):
            symbol = scope.find(name)
            return symbol.type.reference if isinstance(symbol, Alias) else ""
        case tree.Reference(referent=referent, is_rvalue=is_rvalue):
            return "&&" if is_rvalue and find_reference(referent, scope) != "&" else "&"
        case tree.Decltype(expression=tree.Name(text=name)):
            symbol = scope.find(name)
            return symbol.reference if isinstance(symbol, Variable) else ""
        case _:
            return ""


def define_static_members(scope: Scope, node: tree.Declaration) -> None:
    """The values of members that the class with this scope declares."""
    for each in node.declarators:
        known = scope.symbols.get(each.name)
        is_valued = each.value is not None or each.arguments is not None
        if isinstance(known, LateVariable) and (is_valued or known.declarator.value is None):
            plain = replace(node, template_parameters=(), scope=None)
            scope.symbols[each.name] = LateVariable(plain, each, scope)


_PASSING = frozenset(
    ("std::forward", "std::move", "std::tie", "std::min", "std::max", "move", "forward")
)
"""Functions that give what they are given."""


@dataclass(frozen=True)
class ReferencePositions:
    """Which parameters of the functions of a name are references that matter to their caller."""

    positions: frozenset[int] = frozenset()
    rest: int | None = None
    """The first one of a pack of such references."""

    def join(self, other: ReferencePositions) -> ReferencePositions:
        """Those of either of two."""
        starts = [each for each in (self.rest, other.rest) if each is not None]
        return ReferencePositions(self.positions | other.positions, min(starts, default=None))

    def covers(self, position: int) -> bool:
        """Whether an argument is passed by reference."""
        return position in self.positions or (self.rest is not None and position >= self.rest)


def find_reference_positions(
    parameters: Sequence[tree.Parameter], *, constant: bool
) -> ReferencePositions:
    """Which parameters are references that may change what is passed; or those that may not."""
    taken = set[int]()
    rest: int | None = None
    for number, each in enumerate(parameters):
        if not isinstance(each.type, tree.Reference) or may_change(each.type) == constant:
            continue
        if each.is_pack:
            rest = number
        else:
            taken.add(number)
    return ReferencePositions(frozenset(taken), rest)


def may_change(type_: tree.Type) -> bool:
    """Whether a parameter may change what is passed for it."""
    match type_:
        case tree.Reference(referent=tree.NamedType(qualifiers=qualifiers)):
            return "const" not in qualifiers
        case _:
            return isinstance(type_, tree.Reference)


References: TypeAlias = Mapping[str, ReferencePositions]
"""By the names of functions and classes; those of lambdas have the name `CLOSURES`, those of
classes without constructors `AGGREGATES`, and those of operators that are no members also their
sign."""
CLOSURES = "(lambda)"
AGGREGATES = "(aggregate)"
CLOSURE = "(closure)"


_TAKING = frozenset(
    (
        *(tree.Assign, tree.Update, tree.Unary, tree.FunctionCall, tree.Construct, tree.Lambda),
        *(tree.Declaration, tree.Binding, tree.Capture, tree.MemberInitializer),
    )
)
"""The nodes that may change variables, or take their address or a reference of them."""


def find_changed_names(node: object, references: References) -> frozenset[str]:
    """The names of variables that a piece of source may change."""
    return find_names_changed_by(tree.walk(node), references)


def find_names_changed_by(nodes: Iterable[tree.Node], references: References) -> frozenset[str]:
    """The names of variables that some nodes may change."""
    return frozenset(
        name for each in nodes if type(each) in _TAKING for name in _changes(each, references)
    )


def _changes(node: tree.Node, references: References) -> Iterator[str]:
    match node:
        case tree.Assign(target=lvalue) | tree.Update(operand=lvalue):
            yield from root_names(lvalue)
        case tree.FunctionCall(callee=tree.Member(base=base, member=name)) if name in references:
            # A member function may change its object.
            yield from root_names(base)
            yield from shared_by(node, references)
        case _:
            yield from shared_by(node, references)


def find_shared_names(
    nodes: Iterable[tree.Node],
    references: References,
    constants: References,
    changed: frozenset[str],
) -> frozenset[str]:
    """The names of variables whose address or reference some nodes take.

    Constant references, which `constants` has, only matter to variables that change.
    """
    found = set[str]()
    for each in nodes:
        if type(each) not in _TAKING:
            continue
        found.update(shared_by(each, references))
        found.update(changed.intersection(shared_by(each, constants)))
        if isinstance(each, tree.Lambda):
            found.update(_captured(each) & changed)
    return frozenset(found)


def _captured(node: tree.Lambda) -> frozenset[str]:
    """The names that a lambda may capture by reference."""
    named = {each.name for each in node.captures if each.by_reference and each.value is None}
    if node.default == "&":
        named |= {each.text for each in tree.walk(node.body) if isinstance(each, tree.Name)}
    return frozenset(named)


def shared_by(node: tree.Node, references: References) -> Iterator[str]:
    """The variables that a node takes the address or a reference of."""
    match node:
        case tree.Unary(operator="&", operand=lvalue):
            yield from root_names(lvalue)
        case (
            tree.Assign(target=tree.Conditional() as lvalue)
            | tree.Update(operand=tree.Conditional() as lvalue)
        ):
            yield from root_names(lvalue)
        case tree.Assign(operator=operator, target=lvalue, value=value):
            yield from _shared_arguments(operator, (lvalue, value), references)
        case tree.Update(operator=operator, operand=lvalue):
            yield from _shared_arguments(operator, (lvalue,), references)
        case tree.FunctionCall(callee=callee, arguments=arguments):
            yield from _shared_arguments(_called_name(callee, references), arguments, references)
            if AGGREGATES in references:
                yield from _root_lists(arguments)
        case tree.Construct(type=tree.NamedType() as type_, elements=elements):
            values = [each.value for each in elements]
            yield from _shared_arguments(type_.name, values, references)
            if _holds_reference(type_):
                yield from _root_all(values)
            if AGGREGATES in references:
                yield from _root_elements(elements)
        case _:
            yield from _shared_by_declaration(node, references)


def _shared_by_declaration(node: tree.Node, references: References) -> Iterator[str]:
    match node:
        case tree.Declaration(type=tree.Reference() | tree.Decltype(), declarators=declarators):
            for each in declarators:
                yield from root_names(each.value)
        case tree.Declaration(type=tree.NamedType() as type_, declarators=declarators):
            for each in declarators:
                yield from _shared_by_initial(type_, each, references)
        case tree.Binding(type=tree.Reference(), value=value):
            yield from root_names(value)
        case tree.Capture(by_reference=True, value=value) if value is not None:
            yield from root_names(value)
        case tree.MemberInitializer(arguments=arguments):
            yield from _root_all(arguments)
            if AGGREGATES in references:
                yield from _root_lists(arguments)
        case _:
            return


def _holds_reference(type_: tree.NamedType) -> bool:
    """Whether a class is written with a reference as a template argument."""
    return any(isinstance(each, tree.Reference) for each in type_.template_arguments)


def _root_all(values: Iterable[tree.Expression | tree.Braces]) -> Iterator[str]:
    for each in values:
        yield from root_names(each)


def _root_lists(values: Iterable[tree.Expression | tree.Braces]) -> Iterator[str]:
    """What members may refer to of objects that lists in braces make."""
    for each in values:
        if isinstance(each, tree.Braces):
            yield from _root_elements(each.elements)


def _root_elements(elements: Iterable[tree.Initializer]) -> Iterator[str]:
    values = [each.value for each in elements]
    yield from _root_all(values)
    yield from _root_lists(values)


def _shared_by_initial(
    type_: tree.NamedType, declarator: tree.Declarator, references: References
) -> Iterator[str]:
    values: Sequence[tree.Expression | tree.Braces] = ()
    match declarator:
        case tree.Declarator(type=tree.Reference(), value=value):
            yield from root_names(value)
        case tree.Declarator(arguments=tuple() as arguments):
            values = arguments
        case tree.Declarator(value=tree.Braces(elements=elements)):
            values = [each.value for each in elements]
        case _:
            pass
    yield from _shared_arguments(type_.name, values, references)
    if _holds_reference(type_):
        yield from _root_all(values)
    if AGGREGATES in references and find_built_in_type(type_.name) is None:
        yield from _root_all(values)
        yield from _root_lists((declarator.value,) if declarator.value else values)


def _called_name(callee: tree.Expression, references: References) -> str:
    """The name that the references of a call are known by."""
    match callee:
        case tree.Name(text=text):
            name = text.rpartition("::")[2]
        case tree.Member(member=name):
            pass
        case _:
            name = CLOSURES
    return name if name in references else CLOSURES


def _shared_arguments(
    name: str, arguments: Sequence[tree.Expression | tree.Braces], references: References
) -> Iterator[str]:
    taken = references.get(name.rpartition("::")[2])
    if taken is None:
        return
    for number, argument in enumerate(arguments):
        if isinstance(argument, tree.Expansion):
            yield from (each.text for each in tree.walk(argument) if isinstance(each, tree.Name))
        elif taken.covers(number):
            yield from root_names(argument)
