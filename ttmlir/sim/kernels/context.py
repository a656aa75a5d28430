"""What is known while the text of one function is compiled, and what was made of it so far."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError, ErrorList
from ttmlir.cpp.types import VOID, CType, PointerType, QualifiedType, StructType
from ttmlir.light_dataclasses import dataclass
from ttmlir.sim.kernels.scope import (
    LateVariable,
    Scope,
    Symbol,
    list_declared_names,
    list_used_names,
)
from ttmlir.sim.kernels.unit import Instance, Unit
from ttmlir.sim.kernels.value import Lvalue, Space, Value


@dataclass(frozen=True)
class Argument:
    """What a function gets for one parameter."""

    type: CType
    mode: str
    """`value`; or a reference: `object` to a list, `pair` to a variable, `address` to memory,
    `pointer` to what is one or the other."""
    node: ast.expr
    space: Space = Space.MEMORY
    """Where it points to, if it is a pointer."""
    is_const: bool = False
    """Whether it is a reference to what cannot be changed."""
    number: int | None = None
    """The parameter that it is an element of, if that is a pack."""


@dataclass
class Loop:
    """A loop around a statement."""

    before_continue: Callable[[], None] | None
    """Emits what has to happen before `continue`, and the way on."""
    depth: int
    """How many blocks are around it."""
    depth_of_loop: int
    """How many are around what a `continue` in it goes on with."""
    is_switch: bool = False
    """Whether it is a `switch`, which is a loop in Python only if a `break` needs one."""


@dataclass(frozen=True)
class EndingObject:
    """An object whose destructor does something."""

    lvalue: Lvalue
    node: tree.Node
    """What declares or makes it."""


class FindInstance(Protocol):
    """Compiles a function for the kinds of its arguments, or finds it compiled."""

    def __call__(
        self,
        context: Context,
        function: tree.Function,
        scope: Scope,
        arguments: Sequence[Argument],
        node: tree.Node,
    ) -> Instance:
        """The function as it is for arguments of these types; `node` is the call."""
        ...


class CallOperator(Protocol):
    """Calls an operator of the kernel's own."""

    def __call__(
        self,
        context: Context,
        name: str,
        operands: Sequence[tree.Expression],
        node: tree.Node,
        found: Sequence[Lvalue | Value] = (),
    ) -> Lvalue | Value | None:
        """What the operator gives; None if the kernel has none for such operands.

        `found` is what is known of the first operands.
        """
        ...


class Construct(Protocol):
    """Makes objects."""

    def __call__(
        self,
        context: Context,
        type_: CType,
        arguments: Sequence[tree.Expression | tree.Braces],
        node: tree.Node,
        *,
        braced: bool = False,
    ) -> Value:
        """The object that `T(arguments)` makes, or with `braced` `T{arguments}`."""
        ...


@dataclass(frozen=True)
class Handlers:
    """What to do with each kind of node: how the parts of the compiler find each other."""

    values: Mapping[type[tree.Node], Callable[[Context, Any], Value]]
    statements: Mapping[type[tree.Node], Callable[[Context, Any], None]]
    find_instance: FindInstance
    call: Callable[[Context, tree.FunctionCall], Lvalue | Value]
    """A call: the place that it gives a reference to, or its value."""
    change: Callable[[Context, tree.Assign | tree.Update], Lvalue | Value]
    """An assignment or `++place`, likewise."""
    call_operator: CallOperator
    cast: Callable[[Context, Value, CType, tree.Node], Value]
    convert_object: Callable[[Context, Value, CType, tree.Node], Value | None]
    """What a conversion function of a class makes of an object."""
    fit_function: Callable[[Context, Value, CType, tree.Node], Value | None]
    """A function or lambda as one of a written type."""
    point_at: Callable[[Context, Value, PointerType, tree.Node], Value]
    """The same as a pointer."""
    point_at_function: Callable[[Context, Value, tree.Node], Value]
    """A function or lambda as a pointer to functions of its own type."""
    points_to_base: Callable[[Context, PointerType, PointerType], bool]
    """Whether a pointer is one to member functions of a base of another pointer's class."""
    call_pointer: Callable[[Context, tree.FunctionCall, Value, Lvalue | None], Lvalue | Value]
    """A call through a pointer to a function, or to a member function of an object."""
    find_pointed_member: Callable[[Context, tree.PointedMember], Lvalue | Value]
    """A member of an object that a pointer to a member points to."""
    point_at_member: Callable[[Context, Value, CType, tree.Node], Value | None]
    """A pointer to a data member that is known, or of another class, as one of a type."""
    find_templated_type: Callable[[Context, tree.NamedType | tree.Name], QualifiedType | None]
    """The type of a name with template arguments or within a type."""
    open_function: Callable[[Context, tree.Function, set[str]], Context]
    """The place in the body of a template, where some names depend on its arguments."""
    construct: Construct
    copy: Callable[[Context, StructType, Lvalue, tree.Node, bool], Value]
    """The object that a copy constructor makes of another one, or one that moves it."""
    find_constructed: Callable[[Context, tree.Type, Sequence[tree.Initializer], tree.Node], CType]
    """The type that `T{...}` makes, where `T` may be a template without arguments."""
    find_templated_symbol: Callable[[Context, tree.Name], Symbol | None]
    """What a name with template arguments or within a type denotes."""
    declare_late: Callable[[Context, LateVariable, tree.Node], Symbol]
    """Declares a variable that is declared when it is needed."""


@dataclass
class Context:
    """A function on its way to Python, or the declarations outside of functions."""

    unit: Unit
    scope: Scope
    handlers: Handlers
    changed: frozenset[str] = frozenset()
    """Variables that are assigned to after their declaration."""
    shared: frozenset[str] = frozenset()
    """Variables whose address or reference is taken."""
    wide: frozenset[int] | None = frozenset()
    """Declarations of pointers that may point anywhere; None: all of them."""
    result: CType | None = VOID
    """What the function returns; None: what its first `return` says."""
    in_function: bool = True
    gives_reference: bool = False
    """Whether the function returns a reference, which is a pointer in Python."""
    gives_up: bool = False
    """Whether the result is `T&&`."""
    copies: bool = False
    """Whether the result, `const T&`, is of a number that has no place: it is given as such."""
    makes: bool = False
    """Whether the function is a constructor, which returns its object in Python."""
    result_space: Space | None = None
    """Where the result points to, if it is a pointer and one was returned."""
    out: list[ast.stmt] = field(default_factory=list[ast.stmt])
    """The statements so far."""
    loops: list[Loop] = field(default_factory=list[Loop])
    """Those around the statement that is compiled."""
    widened: set[int] = field(default_factory=set[int])
    """Declarations of pointers that point to more than they were taken to point to."""
    loads: int = 0
    """How many expressions read memory so far."""
    waits: int = 0
    """How many statements may wait so far."""
    closures: dict[tuple[object, ...], StructType] = field(
        default_factory=dict[tuple[object, ...], StructType]
    )
    """The classes of the lambdas so far."""
    function: tree.Function | None = None
    """What is compiled, if it is a function."""
    temporaries: dict[str, EndingObject] = field(default_factory=dict[str, EndingObject])
    """Objects of the expression that is compiled, by the variables of Python that hold them."""
    expression_start: tuple[list[ast.stmt], int] = field(default_factory=lambda: ([], 0))
    """Where the statements of the full expression begin."""
    ending: list[list[EndingObject]] = field(default_factory=list[list[EndingObject]])
    """Variables of the blocks around the statement that is compiled."""
    stack: int = 0
    """Bytes of the arrays and structs that are declared."""

    def evaluate(self, node: tree.Expression) -> Value:
        """The value of an expression; what it does is part of the Python expression."""
        self.unit.spend(node)
        evaluate = self.handlers.values.get(type(node))
        if evaluate is None:
            raise self.error(node, "this is no value")
        value = evaluate(self, node)
        self.unit.locate(value.node, node.position)
        return value

    def execute(self, node: tree.Statement) -> None:
        """Compile one statement."""
        self.unit.spend(node)
        handler = self.handlers.statements.get(type(node))
        if handler is None:
            return
        if self.unit.differing and node.position in self.unit.differing:
            with self.unit.watching():
                self._execute_by(handler, node)
        else:
            self._execute_by(handler, node)

    def _execute_by(self, handler: Callable[[Context, Any], None], node: tree.Statement) -> None:
        if self.unit.errors is None:
            handler(self, node)
        else:
            self._execute_or_note(handler, node, self.unit.errors)

    def _execute_or_note(
        self, handler: Callable[[Context, Any], None], node: tree.Statement, errors: ErrorList
    ) -> None:
        """Compile a statement; if it is wrong, leave it out and go on after it."""
        before = (self.scope, self.out, self.temporaries, self.expression_start)
        depths = len(self.loops), len(self.ending), len(self.unit.instantiations)
        try:
            handler(self, node)
        except CppSyntaxError as error:
            self.scope, self.out, self.temporaries, self.expression_start = before
            del self.loops[depths[0] :], self.ending[depths[1] :]
            del self.unit.instantiations[depths[2] :]
            errors.add(error, list_used_names(node), list_declared_names(node))

    def emit(self, statement: ast.stmt, position: tree.Position | None) -> None:
        """Add a statement that a place in the source stands for."""
        self.unit.locate(statement, position)
        self.out.append(statement)

    def capture(self, compile_: Callable[[], None]) -> list[ast.stmt]:
        """The statements that something emits."""
        before, self.out = self.out, []
        compile_()
        made, self.out = self.out, before
        return made

    def widen(self, origin: tree.Node | None) -> None:
        """Note that a pointer turns out to point to variables as well as into memory."""
        self.widened.add(id(origin))

    def error(self, node: tree.Node, message: str) -> CppSyntaxError:
        """An error about a node, with its line."""
        return self.unit.error(node, message)
