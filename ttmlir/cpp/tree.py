"""The kernel tree: C++ kernels as typed, immutable nodes.

IR becomes a tree, `render` makes C++ text of a tree and `parse` makes a tree of C++ text, so that
`parse(render(tree)) == tree`. The nodes cover what kernels for Tensix cores are written in:

    items        Include Define Undefine Pragma UsingNamespace Namespace NamespaceAlias Struct
                 Function Declaration Alias UsingName Enumeration StaticAssert
    statements   Block Declaration Binding Evaluate If Switch For RangeFor While DoWhile Break
                 Continue Return Define Undefine Pragma Alias UsingName UsingNamespace Struct
                 Enumeration StaticAssert Comment Assembly
    types        NamedType Pointer Reference ArrayOf FunctionOf Decltype
    expressions  Integer Floating Boolean String Character Null This Name Call Construct Braces
                 Unary Update Binary Conditional Assign Cast SizeOf OffsetOf Index Member
                 PointedMember New Lambda Expansion Fold CountOf

Comments are written and never read. Every node has a `position`, the place in the source that it
was made from. Positions take no part in equality. A tree has the syntax, not the semantics:
names are not resolved.

Conventions that make the form of a tree unique:

- the body of a loop or branch is a `Block`, with or without braces in the text; `;` alone is none;
- expressions have no node for parentheses;
- a negative number is a `Unary`;
- a template argument that is a plain or qualified name of no built-in type is a `Name`: only the
  reader of the tree can know whether the name means a type or a constant;
- a declaration in a condition stands before its statement, in a block with it;
- `typename` and `template` before names, access, and attributes but those of the layout are read
  and left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field, fields, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from ttmlir.cpp.errors import CppSyntaxError, CppWarning, Position
from ttmlir.light_dataclasses import dataclass

if TYPE_CHECKING:
    from ttmlir.cpp.include_path import IncludeStatus, Lookup


# --- Operators ------------------------------------------------------------------------------------
# The operators of C++ in kernel trees with how tightly they bind, and words of declarations.

PRECEDENCE = {
    operator: level
    for level, operators in enumerate(
        (
            (",",),
            ("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=", "?:"),
            ("||",),
            ("&&",),
            ("|",),
            ("^",),
            ("&",),
            ("==", "!="),
            ("<", ">", "<=", ">="),
            ("<<", ">>"),
            ("+", "-"),
            ("*", "/", "%"),
        )
    )
    for operator in operators
}
"""How tightly operators of two and three operands bind; more is tighter."""

UNARY_OPERATORS = ("+", "-", "!", "~", "*", "&")
UPDATE_OPERATORS = ("++", "--")
ASSIGNMENT_OPERATORS = ("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=")
BINARY_OPERATORS = tuple(
    each for each in PRECEDENCE if each not in ASSIGNMENT_OPERATORS and each != "?:"
)

TYPE_QUALIFIERS = ("const", "volatile", "tt_l1_ptr")
SPECIFIERS = ("static", "inline", "constexpr", "extern")
MEMBER_SPECIFIERS = ("explicit", "mutable", "friend")
"""Words that only go with the members of classes."""


# --- Literals -------------------------------------------------------------------------------------
# Values of literals.


def read_fraction(text: str) -> float:
    """The value of a floating-point literal, in double precision whatever its suffix."""
    digits = text.replace("'", "").rstrip("fFlL")
    if digits[:2] not in ("0x", "0X"):
        return float(digits)
    try:
        return float.fromhex(digits)
    except OverflowError:  # of decimal digits, `float` makes an infinity
        return math.inf


# --- Deferred -------------------------------------------------------------------------------------
# Parts of headers that are read when they are used.


class DeferredBlock:
    """The body of a function in a header, which is read when the function is used."""

    def __init__(self, read: Callable[[], Block]) -> None:
        """`read` makes the block; it raises CppSyntaxError for what is wrong in it."""
        self._read = read
        self._block: Block | None = None

    def read(self) -> Block:
        """The block."""
        if self._block is None:
            self._block = self._read()
        return self._block


# --- Tree -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Node:
    """What every node has."""

    position: Position | None = field(default=None, compare=False, repr=False)


@cache
def _names_of_parts(node: type[Node]) -> tuple[str, ...]:
    """The fields of a node that may hold others, the last one first."""
    return tuple(each.name for each in reversed(fields(node)) if each.type not in _WORDS)


_WORDS = ("bool", "str", "str | None", "tuple[str, ...]", "FunctionKind", "Position | None")
"""The types of fields that hold no nodes, as they are written."""


def list_parts(node: Node) -> Iterator[object]:
    """What a node is made of: other nodes, and tuples of them."""
    for name in _names_of_parts(type(node)):
        yield getattr(node, name)


def walk(node: object) -> Iterator[Node]:
    """All nodes of a tree, outer ones first."""
    pending = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, Node):
            yield each
            known = each.__dict__
            for name in _names_of_parts(type(each)):
                part = known[name]
                if part:
                    pending.append(part)
        elif isinstance(each, tuple):
            pending.extend(reversed(cast("tuple[object, ...]", each)))


# Types.


@dataclass(frozen=True)
class NamedType(Node):
    """`const volatile uint32_t`, `::tt::CB`, `InterleavedAddrGenFast<true>`, `unsigned int`."""

    name: str
    template_arguments: tuple[TemplateArgument, ...] = ()
    qualifiers: tuple[str, ...] = ()
    """Of `TYPE_QUALIFIERS`, in the order in which they are written."""
    scope: Type | None = None
    """The type with template arguments, or the `decltype`, whose member this is."""

    @property
    def is_plain(self) -> bool:
        """Whether it is the name of a type, and nothing else."""
        is_bare = self.scope is None and not self.template_arguments and not self.qualifiers
        return is_bare and self.name != "auto" and "::" not in self.name


@dataclass(frozen=True)
class Pointer(Node):
    """`T*`; with `const` the pointer itself cannot change, as in `T* const`."""

    pointee: Type
    const: bool = False
    holder: Type | None = None
    """The class in `T C::*`, which points to a member."""


@dataclass(frozen=True)
class Reference(Node):
    """`T&`, or `T&&`."""

    referent: Type
    is_rvalue: bool = False


@dataclass(frozen=True)
class ArrayOf(Node):
    """`T[size]` as a type: what `T (&name)[size]` refers to; without size it is `T[]`."""

    element: Type
    size: Expression | None = None


@dataclass(frozen=True)
class FunctionOf(Node):
    """`T(parameters)` as a type: what `T (*name)(parameters)` points to."""

    result: Type
    parameters: tuple[Parameter, ...] = ()
    holder: NamedType | None = None
    """The class that they are members of, with the qualifiers of its object."""


@dataclass(frozen=True)
class Decltype(Node):
    """`decltype(expression)`, or `decltype(auto)` as the name `auto`."""

    expression: Expression
    in_brackets: bool = False
    """Whether it is `decltype((name))`, the type of a place and not of what is declared."""


# Expressions.


@dataclass(frozen=True)
class Integer(Node):
    """An integer literal with its spelling: `4`, `0x10u`, `0b101`, `1'024UL`."""

    text: str

    @property
    def value(self) -> int:
        """The value, without the type that the suffix gives it."""
        digits = self.text.replace("'", "").lower().rstrip("ul")
        octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
        return int(digits, 8) if octal else int(digits, 0)

    @property
    def is_unsigned(self) -> bool:
        """Whether a suffix says that the type is unsigned."""
        return "u" in self.text.lower()


@dataclass(frozen=True)
class Floating(Node):
    """A floating-point literal with its spelling: `1.5f`, `1e-3`, `0x1.8p-3`."""

    text: str

    @property
    def value(self) -> float:
        """The value, in double precision whatever the suffix."""
        return read_fraction(self.text)


@dataclass(frozen=True)
class Boolean(Node):
    """`true` or `false`."""

    value: bool


@dataclass(frozen=True)
class String(Node):
    """A string literal; `text` is what stands between the quotes, escapes as written."""

    text: str


@dataclass(frozen=True)
class Character(Node):
    """A character literal; `text` is what stands between the quotes, escapes as written."""

    text: str


@dataclass(frozen=True)
class Null(Node):
    """`nullptr`."""


@dataclass(frozen=True)
class Name(Node):
    """A name, qualified or not: `i`, `tt::CBIndex::c_0`, `is_same_v<A, B>`, `A<int>::value`."""

    text: str
    template_arguments: tuple[TemplateArgument, ...] = ()
    scope: Type | None = None
    """The type with template arguments, or the `decltype`, whose member this is."""


@dataclass(frozen=True)
class This(Node):
    """`this`."""


@dataclass(frozen=True)
class FunctionCall(Node):
    """`callee<template_arguments>(arguments)`; those of templates after names and members."""

    callee: Expression
    arguments: tuple[Expression | Braces, ...] = ()
    template_arguments: tuple[TemplateArgument, ...] = ()


@dataclass(frozen=True)
class Initializer(Node):
    """An element of braces: `value`, or `.member = value`."""

    value: Expression | Braces
    member: str | None = None


@dataclass(frozen=True)
class Braces(Node):
    """`{1, 2}` or `{.bank_base_address = a, .page_size = 2048}`; only as an initial value."""

    elements: tuple[Initializer, ...] = ()


@dataclass(frozen=True)
class Construct(Node):
    """`Type{elements}`."""

    type: Type
    elements: tuple[Initializer, ...] = ()


@dataclass(frozen=True)
class Unary(Node):
    """A prefix operator: `-x`, `!x`, `~x`, `*p`, `&x`."""

    operator: str
    operand: Expression


@dataclass(frozen=True)
class Update(Node):
    """`++x`, `--x`, or with `postfix` `x++`, `x--`."""

    operator: str
    operand: LvalueExpression
    postfix: bool = False


@dataclass(frozen=True)
class BinaryOperation(Node):
    """A binary operator, comma included."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Conditional(Node):
    """`condition ? true_value : false_value`."""

    condition: Expression
    true_value: Expression
    false_value: Expression


@dataclass(frozen=True)
class Assign(Node):
    """`target = value`, `target += value` and so on."""

    target: LvalueExpression
    operator: str
    value: Expression


CastKind: TypeAlias = Literal["c", "functional", "static_cast", "reinterpret_cast", "const_cast"]


@dataclass(frozen=True)
class Cast(Node):
    """`(T) x`, `T(x)` of a built-in type, `static_cast<T>(x)` and the like."""

    kind: CastKind
    type: Type
    value: Expression


@dataclass(frozen=True)
class SizeOf(Node):
    """`sizeof(T)`, or `alignof(T)`; the size of a plain name is `sizeof(x)` too, with a `Name`."""

    operand: TemplateArgument
    is_alignment: bool = False


@dataclass(frozen=True)
class OffsetOf(Node):
    """`offsetof(T, member)`."""

    type: Type
    member: str


@dataclass(frozen=True)
class Index(Node):
    """`base[index]`."""

    base: Expression
    index: Expression


@dataclass(frozen=True)
class Member(Node):
    """`base.member`, or with `arrow` `base->member`."""

    base: Expression
    member: str
    """Its name; with `*` before it the name of a variable that points to a member."""
    arrow: bool = False


@dataclass(frozen=True)
class PointedMember(Node):
    """`base.*pointer`."""

    base: Expression
    pointer: Expression


@dataclass(frozen=True)
class New(Node):
    """`new (place) T(arguments)`, or with `braced` `new (place) T{arguments}`."""

    place: Expression
    type: Type
    arguments: tuple[Expression | Braces, ...] | None = None
    """None: neither brackets nor braces are written."""
    braced: bool = False


@dataclass(frozen=True)
class Capture(Node):
    """A variable that a lambda takes in: `x`, `&x`, `x = value`, `xs...`, `this` or `*this`."""

    name: str
    by_reference: bool = False
    value: Expression | Braces | None = None
    is_pack: bool = False


@dataclass(frozen=True)
class Lambda(Node):
    """`[default, captures]<template_parameters>(parameters) mutable -> result { body }`."""

    body: Block
    parameters: tuple[Parameter, ...] = ()
    captures: tuple[Capture, ...] = ()
    default: str = ""
    """`=` or `&` if the variables that the body uses are taken in."""
    result: Type | None = None
    is_mutable: bool = False
    template_parameters: tuple[TemplateParameter, ...] = ()


@dataclass(frozen=True)
class Expansion(Node):
    """`pattern...`: once for each element of the parameter packs in the pattern."""

    pattern: TemplateArgument


@dataclass(frozen=True)
class Fold(Node):
    """`(pattern op ...)`, with `leftward` `(... op pattern)`.

    With `start` it is `(pattern op ... op start)`, where either of the two holds the pack.
    """

    operator: str
    pattern: Expression
    start: Expression | None = None
    leftward: bool = False


@dataclass(frozen=True)
class Placeholder(Node):
    """What readers of a tree put in the place of an expression; no text has any."""


@dataclass(frozen=True)
class CountOf(Node):
    """`sizeof...(pack)`."""

    pack: str


# Declarations, which are both statements and items.


@dataclass(frozen=True)
class Declarator(Node):
    """A declared name, its array sizes (`None` is `[]`) and its initial value."""

    name: str
    sizes: tuple[Expression | None, ...] = ()
    value: Expression | Braces | None = None
    arguments: tuple[Expression | Braces, ...] | None = None
    """Those of `T name(arguments)`, which has no value."""
    type: Type | None = None
    """The type of a pointer or reference beside other names: `T *a, b`."""
    is_direct: bool = False
    """Whether it is `T name{value}`: of `auto` no list, of an enumeration one of a number."""
    bits: Expression | None = None
    """The width of a bit-field: `uint32_t name : bits`, whose name may be empty."""


@dataclass(frozen=True)
class Declaration(Node):
    """`constexpr uint32_t a = 1, b = 2;`."""

    type: Type
    declarators: tuple[Declarator, ...]
    specifiers: tuple[str, ...] = ()
    """Of `SPECIFIERS`, in the order in which they are written."""
    template_parameters: tuple[TemplateParameter, ...] = ()
    scope: Type | None = None
    """The class whose static member is defined: `int A::count = 0;`."""
    alignments: tuple[TemplateArgument, ...] = ()
    """Types and numbers of `alignas`."""

    def alone(self, declarator: Declarator) -> Declaration:
        """The declaration of one of the names, with its own type."""
        if declarator.type is None:
            is_alone = len(self.declarators) == 1
            return self if is_alone else replace(self, declarators=(declarator,))
        plain = replace(declarator, type=None)
        return replace(self, type=declarator.type, declarators=(plain,))


@dataclass(frozen=True)
class Binding(Node):
    """`auto [a, b] = value;`, of type `auto`, `auto&` or `auto&&`."""

    type: Type
    names: tuple[str, ...]
    value: Expression | Braces
    specifiers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Alias(Node):
    """`using name = type;`, which is `typedef type name;` too."""

    name: str
    type: Type
    template_parameters: tuple[TemplateParameter, ...] = ()


@dataclass(frozen=True)
class UsingName(Node):
    """`using tt::CBIndex;`, or `using enum tt::CBIndex;` for the enumerators of it."""

    name: str
    is_enumeration: bool = False
    is_pack: bool = False
    """`using Bases::name...;`."""


@dataclass(frozen=True)
class Enumerator(Node):
    """A name in an enumeration, with its value if it is written."""

    name: str
    value: Expression | None = None


@dataclass(frozen=True)
class Enumeration(Node):
    """`enum name : base { enumerators };`, scoped `enum class name ...`; the name may be empty."""

    name: str
    enumerators: tuple[Enumerator, ...] = ()
    base: NamedType | None = None
    is_scoped: bool = False


@dataclass(frozen=True)
class StaticAssert(Node):
    """`static_assert(condition, "message");`; the message as written, None if there is none."""

    condition: Expression
    message: str | None = None


@dataclass(frozen=True)
class Define(Node):
    """`#define name body`, or with `parameters` `#define name(parameters) body`.

    What follows in the tree has been expanded: the node says what the text said.
    """

    name: str
    body: str = ""
    parameters: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Undefine(Node):
    """`#undef name`."""

    name: str


@dataclass(frozen=True)
class Pragma(Node):
    """`#pragma text`."""

    text: str


# Statements.


@dataclass(frozen=True)
class Comment(Node):
    """Lines of a comment, `//` included; texts that are parsed have none."""

    text: str


@dataclass(frozen=True)
class Block(Node):
    """Statements between braces."""

    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class Evaluate(Node):
    """An expression as a statement."""

    expression: Expression


@dataclass(frozen=True)
class If(Node):
    """`if (condition) then else otherwise`; `else if` has an `If` as `otherwise`."""

    condition: Expression
    then: Block
    otherwise: Block | If | None = None
    is_constexpr: bool = False


@dataclass(frozen=True)
class Case(Node):
    """`case value:`, or without value `default:`, with the statements up to the next one.

    `case value ... last:`, which compilers add to C++, is for all values from one to the other.
    """

    value: Expression | None
    statements: tuple[Statement, ...] = ()
    last: Expression | None = None


@dataclass(frozen=True)
class Switch(Node):
    """`switch (condition) { cases }`."""

    condition: Expression
    cases: tuple[Case, ...] = ()


@dataclass(frozen=True)
class For(Node):
    """`for (start; condition; step) body`; each part of the head may be absent."""

    start: Declaration | Evaluate | None
    condition: Expression | None
    step: Expression | None
    body: Block


@dataclass(frozen=True)
class RangeFor(Node):
    """`for (declaration : range) body`; the value of the declaration is the range."""

    declaration: Declaration | Binding
    body: Block


@dataclass(frozen=True)
class Assembly(Node):
    """`asm volatile("text");` without operands."""

    text: str


@dataclass(frozen=True)
class While(Node):
    """`while (condition) body`."""

    condition: Expression
    body: Block


@dataclass(frozen=True)
class DoWhile(Node):
    """`do body while (condition);`."""

    body: Block
    condition: Expression


@dataclass(frozen=True)
class Break(Node):
    """`break;`."""


@dataclass(frozen=True)
class Continue(Node):
    """`continue;`."""


@dataclass(frozen=True)
class Goto(Node):
    """`goto label;`, which no finished function has."""

    label: str


@dataclass(frozen=True)
class Label(Node):
    """`name:`, likewise."""

    name: str


@dataclass(frozen=True)
class Return(Node):
    """`return;` or `return value;`."""

    value: Expression | Braces | None = None


# Items.


@dataclass(frozen=True)
class Include(Node):
    """`#include <path>`, or without `standard` `#include "path"`."""

    path: str
    standard: bool = False
    status: IncludeStatus = field(default="unread", compare=False)
    header: Header | None = field(default=None, compare=False, repr=False)
    """What it declares, if it was read here."""
    reason: str = field(default="", compare=False, repr=False)
    """Why a file of the name was not opened."""


@dataclass(frozen=True)
class Unreadable(Node):
    """An item of a header that is not supported, which matters only where it is used."""

    names: frozenset[str]
    """What it may declare."""
    error: CppSyntaxError = field(compare=False)


@dataclass(frozen=True)
class Header:
    """A header as it was read; what that is depends on the macros that are defined before it."""

    file: str
    """What messages call it."""
    text: str = field(repr=False)
    items: tuple[Item, ...] = ()
    includes: tuple[Include, ...] = ()
    """All of its `#include`s, also those within other items."""
    variables: frozenset[str] = frozenset()
    """The names of variables in it."""
    types: frozenset[str] = frozenset()
    """The names of types in it."""
    templates: frozenset[str] = frozenset()
    """The names of variables that are names of templates, too, in other classes."""


@dataclass(frozen=True)
class UsingNamespace(Node):
    """`using namespace name;`."""

    name: str


@dataclass(frozen=True)
class Namespace(Node):
    """`namespace name { items }`; `name` is empty for a namespace without a name."""

    name: str
    items: tuple[Item, ...] = ()


@dataclass(frozen=True)
class NamespaceAlias(Node):
    """`namespace name = target;`."""

    name: str
    target: str


StructKind: TypeAlias = Literal["struct", "class", "union"]


@dataclass(frozen=True)
class Struct(Node):
    """`struct name : bases { fields members };`, a class or a union; or undefined `struct name;`.

    `fields` are what each object has: a declaration of the type of an unnamed struct or union in
    `members`, which has a name of its own like `(union 1)`, may declare no name.
    """

    name: str
    fields: tuple[Declaration, ...] = ()
    members: tuple[ClassMember, ...] = ()
    bases: tuple[NamedType | Expansion, ...] = ()
    kind: StructKind = "struct"
    template_parameters: tuple[TemplateParameter, ...] = ()
    specialized: tuple[TemplateArgument, ...] | None = None
    """What a specialisation of a class template is for."""
    is_defined: bool = True
    hidden: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)
    """Names that are `private` or `protected`; none if friends outside of it may use them."""
    hidden_bases: tuple[int, ...] = field(default=(), compare=False, repr=False)
    """Which bases only the class itself may use."""
    is_packed: bool = False
    """Whether members lie next to each other, wherever that is."""
    alignments: tuple[TemplateArgument, ...] = ()
    """Types and numbers of `alignas`."""

    @cached_property
    def definitions(self) -> tuple[Struct | Function | Lambda, ...]:
        """Itself and all that it declares, save for bodies that are still to be read."""
        kinds = (Struct, Function, Lambda)
        return tuple(each for each in walk(self) if isinstance(each, kinds))

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """The types of the members that are references, if it has no constructors."""
        made = (each for each in self.members if isinstance(each, Function))
        if any(each.kind == "constructor" for each in made):
            return ()
        types = (
            type_
            for node in self.fields
            for type_ in (node.type, *(each.type for each in node.declarators))
        )
        return tuple(each for each in types if isinstance(each, Reference))


@dataclass(frozen=True)
class Parameter(Node):
    """A parameter of a function; only a declaration without body may leave out the name."""

    type: Type
    name: str | None = None
    default: Expression | Braces | None = None
    is_pack: bool = False


@dataclass(frozen=True)
class TemplateParameter(Node):
    """`typename name`, or with `type` `uint32_t name`; the name may be empty."""

    name: str
    type: Type | None = None
    default: TemplateArgument | None = None
    is_pack: bool = False
    is_template: bool = False


@dataclass(frozen=True)
class MemberInitializer(Node):
    """`name(arguments)` or `name{arguments}` before the body of a constructor."""

    type: NamedType
    """A member, or a base."""
    arguments: tuple[Expression | Braces, ...] = ()
    braced: bool = False


FunctionKind: TypeAlias = Literal["function", "constructor", "destructor", "conversion"]


@dataclass(frozen=True)
class Function(Node):
    """A function; without `body` its declaration.

    The function called `MAIN` is written without parameter list: `MAIN` is a macro that brings one.
    Operators are called `operator+` and so on.
    """

    name: str
    parameters: tuple[Parameter, ...] = ()
    definition: Block | DeferredBlock | None = None
    result: Type = NamedType("void")
    specifiers: tuple[str, ...] = ()
    template_parameters: tuple[TemplateParameter, ...] = ()
    kind: FunctionKind = "function"
    is_const: bool = False
    category: str = ""
    """`&` or `&&` of a member function that is called only on a place, or on what nobody needs."""
    is_deleted: bool = False
    is_defaulted: bool = False
    initializers: tuple[MemberInitializer, ...] = ()
    specialized: tuple[TemplateArgument, ...] | None = None
    """What a specialisation of a function template is for."""
    scope: Type | None = None
    """The class whose member is defined outside of it."""
    is_variadic: bool = False
    """Whether `...` follows its parameters."""
    access: str = field(default="", compare=False, repr=False)
    """`private` or `protected`, if not everybody may call it."""

    @property
    def body(self) -> Block | None:
        """What it does; reads it, if that was deferred."""
        if isinstance(self.definition, DeferredBlock):
            return self.definition.read()
        return self.definition

    @cached_property
    def parts(self) -> tuple[Node, ...]:
        """All nodes of its initializers and its body, outer ones first."""
        return tuple(walk((self.initializers, self.body)))


@dataclass(frozen=True)
class TranslationUnit(Node):
    """A whole source."""

    items: tuple[Item, ...] = ()
    includes: tuple[Include, ...] = field(default=(), compare=False, repr=False)
    """All of its `#include`s, also those within other items."""
    lookups: tuple[Lookup, ...] = field(default=(), compare=False, repr=False)
    """All headers that were looked for, also by headers."""
    differing: frozenset[Position] = field(default=frozenset[Position](), compare=False, repr=False)
    """Where statements of some processors stand, if it was read for several."""


Type: TypeAlias = NamedType | Pointer | Reference | ArrayOf | FunctionOf | Decltype
Constant: TypeAlias = Integer | Floating | Boolean | String | Character | Null
Expression: TypeAlias = (
    Constant
    | This
    | Name
    | Lambda
    | Expansion
    | Fold
    | CountOf
    | Placeholder
    | FunctionCall
    | Construct
    | Unary
    | Update
    | BinaryOperation
    | Conditional
    | Assign
    | Cast
    | SizeOf
    | OffsetOf
    | Index
    | PointedMember
    | New
    | Member
)
LvalueExpression: TypeAlias = Expression
"""What is assigned to, or changed."""
TemplateArgument: TypeAlias = Type | Expression
Directive: TypeAlias = Include | Define | Undefine | Pragma
NameDeclaration: TypeAlias = Alias | UsingName | Enumeration | StaticAssert
"""What says something about names and does nothing."""
Loop: TypeAlias = For | RangeFor | While | DoWhile
Jump: TypeAlias = Break | Continue | Return | Goto | Label
Statement: TypeAlias = (
    Block
    | Declaration
    | Binding
    | NameDeclaration
    | Struct
    | UsingNamespace
    | NamespaceAlias
    | Assembly
    | Evaluate
    | Loop
    | Jump
    | If
    | Switch
    | Define
    | Undefine
    | Pragma
    | Comment
)
ClassMember: TypeAlias = NameDeclaration | Struct | Function | Declaration
"""What a class has beside what each of its objects has; a `Declaration` is static."""
Item: TypeAlias = (
    Directive
    | NameDeclaration
    | UsingNamespace
    | Namespace
    | NamespaceAlias
    | Struct
    | Function
    | Declaration
    | Binding
    | Unreadable
)


# --- Walk -----------------------------------------------------------------------------------------
# Questions about kernel trees that need a look at every node below one.


def descendants(node: Node) -> Iterator[Node]:
    """A node and all below it, in the order of the text."""
    yield node
    for each in fields(node):
        child: object = getattr(node, each.name)
        children = cast("tuple[object, ...]", child) if isinstance(child, tuple) else (child,)
        for one in children:
            if isinstance(one, Node):
                yield from descendants(one)


def assigned(node: Node) -> list[str]:
    """Names that are assigned anywhere in a tree."""
    names = dict[str, None]()
    for each in descendants(node):
        match each:
            case Assign(target=Name(text=name)) | Update(operand=Name(text=name)):
                names[name] = None
            case _:
                pass
    return list(names)


def mentioned(node: Node) -> set[str]:
    """Names that occur anywhere in a tree."""
    return {each.text for each in descendants(node) if isinstance(each, Name)}


@cache
def _elements() -> frozenset[str]:
    # What only prints types does without the table of calls, which takes a while to load.
    from ttmlir.optable.kernel import CALLS, Form

    return frozenset(call.cpp for call in CALLS if call.form is Form.ELEMENT)


def effect(node: Node) -> Node | None:
    """The first call, assignment or read of memory in a tree; None if there is none."""
    return next((each for each in descendants(node) if _has_effect(each)), None)


def _has_effect(node: Node) -> bool:
    match node:
        case FunctionCall() | Assign() | Update() | Unary(operator="*"):
            return True
        case Index(base=base):
            # Elements of the library's own arrays, such as `my_x[0]`, never change.
            return not isinstance(base, Name) or base.text not in _elements()
        case _:
            return False


def sets_first(block: Block, name: str) -> bool:
    """Whether a block gives a variable a value before anything in it could read it."""
    for statement in block.statements:
        match statement:
            case Evaluate(
                expression=Assign(target=Name(text=target), operator="=", value=value)
            ) if target == name:
                return name not in mentioned(value)
            case _ if name in mentioned(statement):
                return False
            case _:
                pass
    return False


def is_fixed(node: Node, changed: Collection[str]) -> bool:
    """Whether an expression has the same value in each iteration of a loop, without any effect."""
    return effect(node) is None and mentioned(node).isdisjoint(changed)


# --- Inclusions -----------------------------------------------------------------------------------
# The sources that a kernel is made of, for messages: lines to quote, and how one gets to them.

_MOST_LISTED = 3


class Inclusions:
    """A kernel and the headers that were read for it, by the names that messages call them."""

    def __init__(self, file: str, text: str, includes: Sequence[Include] = ()) -> None:
        """The kernel itself, and its `#include`s."""
        self.file = file
        self.texts = {file: text}
        self.includes = list[Include]()
        """All `#include`s, those of the kernel first."""
        self.missing = list[Include]()
        """The `#include`s that found nothing, those of the kernel first."""
        self._included_at = dict[str, Position]()
        self._lines = dict[str, list[str]]()
        self._number_of_own = len(includes)
        self._add(includes)

    def _add(self, includes: Sequence[Include]) -> None:
        self.includes += includes
        self.missing += [each for each in includes if each.status == "missing"]
        for each in includes:
            header = each.header
            if header is None or header.file in self.texts:
                continue
            self.texts[header.file] = header.text
            if each.position is not None:
                self._included_at[header.file] = each.position
            self._add(header.includes)

    def renamed(self, file: str) -> Inclusions:
        """The same for a kernel with the same text in another file."""
        moved = list[Include]()
        for each in self.includes[: self._number_of_own]:
            place = each.position
            if place is not None and place.file == self.file:
                each = replace(each, position=replace(place, file=file))
            moved.append(each)
        return Inclusions(file, self.texts[self.file], moved)

    def find_unfound_headers(self) -> Iterator[CppWarning]:
        """A warning for each name of a header that was not found, at its first include."""
        names = set[str]()
        for each in self.missing:
            if each.position is None or each.path in names:
                continue
            names.add(each.path)
            why = f": {each.reason}" if each.reason else ""
            message = f"'{each.path}' was not found{why}"
            hint = "; give its folder with -I or include_folders"
            yield CppWarning(message + hint, each.position, self.line(each.position))

    def line(self, position: Position) -> str:
        """The line of a place; empty if it is in none of the sources."""
        file = position.file
        if file not in self._lines:
            self._lines[file] = self.texts.get(file, "").split("\n")
        lines = self._lines[file]
        return lines[position.line - 1].rstrip("\r") if 0 < position.line <= len(lines) else ""

    def notes(self, file: str) -> tuple[str, ...]:
        """How one gets from the kernel to a header; nothing for the kernel."""
        found = list[str]()
        while file in self._included_at:
            position = self._included_at[file]
            found.append(f"in file included from {position}")
            file = position.file
        return tuple(found)

    def describe_missing(self) -> str:
        """Where else a name may come from, to follow a message; empty if all headers were found."""
        missing = self.missing
        if not missing:
            return ""
        listed = ", ".join(map(self._describe, missing[:_MOST_LISTED]))
        more = " and others" if missing[_MOST_LISTED:] else ""
        found = "which was not found" if len(missing) == 1 else "which were not found"
        reasons = {each.reason: None for each in missing if each.reason}
        why = f" ({'; '.join(reasons)})" if reasons else ""
        folders = "its folder" if len(missing) == 1 else "their folders"
        advice = f"give {folders} with -I or include_folders"
        return f"; it may come from {listed}{more}, {found}{why}: {advice}"

    def _describe(self, include: Include) -> str:
        position = include.position
        if position is None:
            return f"'{include.path}'"
        line = f"line {position.line}"
        where = line if position.file == self.file else f"{line} of {position.file}"
        return f"'{include.path}' ({where})"
