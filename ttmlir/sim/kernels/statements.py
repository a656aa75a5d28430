"""Statements; loops are in `loops`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from ttmlir.cpp import tree
from ttmlir.sim.kernels import code
from ttmlir.sim.kernels.calls import CallCompiler
from ttmlir.sim.kernels.library import LibraryCall
from ttmlir.sim.kernels.place import (
    EitherPlace,
    ItemPlace,
    LocalPlace,
    MemoryPlace,
    Place,
    PointedPlace,
    assignment,
)
from ttmlir.sim.kernels.scope import Alias, Scope, Symbol, Variable
from ttmlir.sim.kernels.types import (
    INT,
    VOID,
    ArrayType,
    CType,
    FloatType,
    IntType,
    ObjectType,
    PointerType,
    StructType,
)
from ttmlir.sim.kernels.unit import Unit
from ttmlir.sim.kernels.value import Space, Value, as_condition, integer, settled


@dataclass
class Loop:
    """A loop around a statement."""

    before_continue: Callable[[], None] | None
    """Emits what has to happen before `continue`, and the way on."""
    is_switch: bool = False
    """Whether it is a `switch`, which is a loop in Python only if a `break` needs one."""


class StatementCompiler(CallCompiler):
    """Turns statements into statements of Python, which it collects."""

    def __init__(
        self,
        unit: Unit,
        scope: Scope,
        changed: frozenset[str] = frozenset(),
        shared: frozenset[str] = frozenset(),
    ) -> None:
        """`changed` variables are assigned to after their declaration; `shared` ones escape."""
        super().__init__(unit, scope)
        self.changed = changed
        self.shared = shared
        self.out: list[ast.stmt] = []
        self.loops = list[Loop]()
        self.result: CType | None = VOID
        self.result_space: Space | None = None
        """Where the result points to, if it is a pointer and one was returned."""
        self.wide = frozenset[int]()
        """Declarations of pointers that may point anywhere."""
        self.in_function = True

    def emit(self, statement: ast.stmt, position: tree.Position | None) -> None:
        """Add a statement that a place in the source stands for."""
        code.locate(statement, position)
        self.out.append(statement)

    def statement(self, node: tree.Statement) -> None:
        """Compile one statement."""
        handler = self.STATEMENTS.get(type(node))
        if handler is not None:
            handler(self, node)

    def block(self, node: tree.Block) -> None:
        """Compile statements in a scope of their own."""
        outer = self.scope
        self.scope = Scope(outer)
        for each in node.statements:
            self.statement(each)
        self.scope = outer

    def captured(self, compile_: Callable[[], None]) -> list[ast.stmt]:
        """The statements that something emits."""
        before, self.out = self.out, []
        compile_()
        made, self.out = self.out, before
        return made

    # Expressions as statements.

    def _evaluate(self, node: tree.Evaluate) -> None:
        self.effect(node.expression)

    def effect(self, node: tree.Expression) -> None:
        """Compile an expression whose value nobody wants."""
        match node:
            case tree.Binary(operator=","):
                self.effect(node.left)
                self.effect(node.right)
            case tree.Assign():
                self._assign_statement(node)
            case tree.Update():
                setup, place, _, new = self.updated(node)
                self._first(setup, node)
                self.emit(assignment(place, new), node.position)
            case tree.Conditional():
                then, otherwise = (
                    tree.Block(
                        (tree.Evaluate(each, position=each.position),), position=each.position
                    )
                    for each in (node.true_value, node.false_value)
                )
                self._if(tree.If(node.condition, then, otherwise, position=node.position))
            case _:
                self._call_statement(node)

    def _assign_statement(self, node: tree.Assign) -> None:
        setup, place, value = self.new_value(node)
        self._first(setup, node)
        self.emit(assignment(place, value), node.position)

    def _first(self, setup: Sequence[ast.expr], node: tree.Node) -> None:
        for each in setup:
            self.emit(ast.Expr(each), node.position)

    def _call_statement(self, node: tree.Expression) -> None:
        shown = self.printed(node)
        if shown is not None:
            self.emit(ast.Expr(code.call(self.unit.bound("dprint"), *shown)), node.position)
            return
        found = self.library_call(node)
        if found is not None and found.waits:
            assert isinstance(node, tree.Call)
            self._wait(node, found)
            return
        value = self.value(node)
        for each in _parts(value.node):
            if self.unit.has_effect(each):
                self.emit(ast.Expr(each), node.position)

    def _wait(self, node: tree.Call, found: LibraryCall) -> None:
        arguments = [self._evaluated_once(each, node) for each in self.arguments(node, found.name)]
        self.waits += 1
        self.emit(code.wait_for(self.library_node(node, found, arguments)), node.position)

    def _evaluated_once(self, argument: ast.expr, node: tree.Node) -> ast.expr:
        if code.is_stable(argument) or isinstance(argument, ast.Constant):
            return argument
        identifier = self.unit.fresh("argument", "t")
        self.emit(code.assign(code.name(identifier), argument), node.position)
        return code.name(identifier)

    # Declarations.

    def _declaration(self, node: tree.Declaration) -> None:
        for each in node.declarators:
            self.declare(node, each)

    def declare(self, node: tree.Declaration, declarator: tree.Declarator) -> None:
        """Compile the declaration of one variable."""
        if isinstance(node.type, tree.Reference):
            self._declare_reference(node.type, declarator)
            return
        type_, value = self._declared(node, declarator)
        is_const = self._is_const(node)
        if is_const and value is None and not isinstance(type_, (ObjectType, StructType)):
            message = f"'{declarator.name}' is constant and needs a value"
            raise self.unit.error(declarator, message)
        if "static" in node.specifiers or not self.in_function:
            self._declare_static(type_, value, declarator, is_const)
            return
        unchanging = is_const or declarator.name not in self.changed
        if "constexpr" in node.specifiers:
            self._require_constant(value, declarator)
        if value is not None and value.constant is not None and unchanging:
            if declarator.name not in self.shared:
                self._bind(declarator, value)
                return
        self._declare_local(type_, value, declarator, is_const)

    def _require_constant(self, value: Value | None, declarator: tree.Declarator) -> None:
        if value is None or not isinstance(value.type, (IntType, FloatType)):
            return
        if value.constant is None:
            message = f"'{declarator.name}' is constexpr, and its value is no constant"
            raise self.unit.error(declarator, message)

    def _is_const(self, node: tree.Declaration) -> bool:
        if "constexpr" in node.specifiers:
            return True
        if isinstance(node.type, tree.Pointer):
            return node.type.const
        return isinstance(node.type, tree.NamedType) and "const" in node.type.qualifiers

    def _declared(
        self, node: tree.Declaration, declarator: tree.Declarator
    ) -> tuple[CType, Value | None]:
        """The type of a variable and its initial value."""
        initial = declarator.value
        if self.unit.is_deduced(node.type):
            if initial is None or isinstance(initial, tree.Braces):
                raise self.unit.error(declarator, "'auto' needs a value to take its type from")
            value = self.scalar(initial)
            type_ = self.unit.declared_type(node.type, self.scope, value.type)
            value = self.implicit(value, type_, initial)
            return value.type, settled(value)
        base = self.unit.type_of(node.type, self.scope)
        if base == VOID:
            raise self.unit.error(declarator, "a variable cannot be 'void'")
        type_ = self._with_sizes(base, declarator)
        if initial is None:
            if isinstance(type_, ObjectType):
                return type_, Value(type_, self.object_node(type_, (), node.type, declarator))
            return type_, None
        if isinstance(type_, ArrayType) and not isinstance(initial, tree.Braces):
            raise self.unit.error(initial, "an array is initialised with braces")
        value = settled(self.initial(type_, initial, node.type))
        return value.type, value

    def _with_sizes(self, type_: CType, declarator: tree.Declarator) -> CType:
        for number, size in reversed(list(enumerate(declarator.sizes))):
            if size is not None:
                count = self.constant(size, "the size of an array")
            elif number == 0 and isinstance(declarator.value, tree.Braces):
                count = len(declarator.value.elements)
            else:
                raise self.unit.error(declarator, "the size of this array is missing")
            if not 0 < count <= 1 << 16:
                raise self.unit.error(declarator, f"an array of {count} elements is not supported")
            type_ = ArrayType(type_, count)
        return type_

    def _declare_local(
        self, type_: CType, value: Value | None, declarator: tree.Declarator, is_const: bool
    ) -> None:
        identifier = self.unit.fresh(declarator.name)
        in_list = isinstance(type_, (StructType, ArrayType))
        if declarator.name in self.shared and not in_list and not isinstance(type_, ObjectType):
            start = code.name("_unset") if value is None else value.node
            self.emit(code.assign(code.name(identifier), code.listed([start])), declarator.position)
            place: Place = ItemPlace(type_, code.name(identifier), code.constant(0), is_const)
        else:
            if value is None and in_list:
                value = self.unset(type_)
            place = LocalPlace(type_, identifier, is_const=is_const, origin=declarator)
            if isinstance(type_, PointerType):
                place = replace(place, space=self._space_of(declarator, value))
            if value is not None:
                self.emit(code.assign(code.name(identifier), value.node), declarator.position)
                if declarator.name not in self.changed and isinstance(type_, IntType):
                    place = replace(place, low=value.low, high=value.high)
        elements = self._table(value) if is_const else None
        self._bind(declarator, place, elements=elements)

    def _space_of(self, origin: tree.Node, value: Value | None) -> Space:
        """Where a pointer may point to: where it points at first, until it is known better."""
        if id(origin) in self.wide:
            return Space.ANY
        return Space.MEMORY if value is None else value.space

    def _table(self, value: Value | None) -> tuple[Value, ...] | None:
        """The elements of an array of constants."""
        if value is None or not isinstance(value.type, ArrayType):
            return None
        element = value.type.element
        if not isinstance(value.node, ast.List) or not isinstance(element, IntType):
            return None
        nodes = value.node.elts
        if not all(isinstance(each, ast.Constant) for each in nodes):
            return None
        return tuple(
            Value(element, each, int(each.value), int(each.value))
            for each in nodes
            if isinstance(each, ast.Constant) and isinstance(each.value, int)
        )

    def _declare_static(
        self, type_: CType, value: Value | None, declarator: tree.Declarator, is_const: bool
    ) -> None:
        """A variable of the whole kernel: a list of one element around the functions."""
        value = self.zero(type_) if value is None else value
        if is_const and value.constant is not None and declarator.name not in self.shared:
            self._bind(declarator, value, is_global=True)
            return
        identifier = self.unit.fresh(declarator.name)
        in_list = isinstance(type_, (StructType, ArrayType, ObjectType))
        node = value.node if in_list else code.listed([value.node])
        self.unit.add_global(code.assign(code.name(identifier), node), declarator.position)
        if in_list:
            place: Place = LocalPlace(type_, identifier, is_const=is_const)
        else:
            place = ItemPlace(type_, code.name(identifier), code.constant(0), is_const)
        elements = self._table(value) if is_const else None
        self._bind(declarator, place, is_global=True, elements=elements)

    def _declare_reference(self, type_: tree.Reference, declarator: tree.Declarator) -> None:
        initial = declarator.value
        if initial is None or isinstance(initial, tree.Braces):
            raise self.unit.error(declarator, "a reference needs a variable that it refers to")
        if not self._is_place(initial) or self._is_constant(initial):
            value = settled(self.scalar(initial))
            target = self.unit.declared_type(type_.referent, self.scope, value.type)
            value = settled(self.implicit(value, target, initial))
            self._declare_local(value.type, value, declarator, is_const=True)
            return
        place = self.place(initial)
        target = self.unit.declared_type(type_.referent, self.scope, place.type)
        self._check_reference(target, place, initial)
        setup = list[ast.expr]()
        place = self._fixed(place, setup)
        self._first(setup, declarator)
        referent = type_.referent
        if isinstance(referent, tree.NamedType) and "const" in referent.qualifiers:
            place = replace(place, is_const=True)
        self._bind(declarator, place)

    def _fixed(self, place: Place, setup: list[ast.expr]) -> Place:
        """The same place whatever happens to the variables that it was found with."""

        def kept(node: ast.expr) -> ast.expr:
            if isinstance(node, ast.Constant):
                return node
            identifier = self.unit.fresh("reference", "t")
            setup.append(code.walrus(identifier, node))
            return code.name(identifier)

        match place:
            case ItemPlace():
                return replace(place, container=kept(place.container), index=kept(place.index))
            case PointedPlace():
                pointer, offset = kept(place.pointer), kept(place.offset)
                return replace(place, pointer=pointer, offset=offset)
            case MemoryPlace():
                address = settled(place.address)
                return replace(place, address=replace(address, node=kept(address.node)))
            case EitherPlace():
                return self._either_fixed(place, setup)
            case _:
                return place

    def _either_fixed(self, place: EitherPlace, setup: list[ast.expr]) -> EitherPlace:
        """The same place as what its address points to: one pointer that is kept."""
        pointer = self.address_of(place, tree.Null())
        identifier = self.unit.fresh("reference", "t")
        setup.append(code.walrus(identifier, pointer.node))
        kept = replace(pointer, node=code.name(identifier))
        fixed = self.pointee(kept, tree.Null())
        assert isinstance(fixed, EitherPlace)
        return fixed

    def _bind(
        self,
        declarator: tree.Declarator,
        meaning: Place | Value,
        *,
        is_global: bool = False,
        elements: tuple[Value, ...] | None = None,
    ) -> None:
        if declarator.name in self.scope.symbols:
            raise self.unit.error(declarator, f"'{declarator.name}' is declared twice")
        self.scope.symbols[declarator.name] = Variable(
            declarator.name, meaning, is_global, elements
        )

    # Branches and jumps.

    def _if(self, node: tree.If) -> None:
        condition = self.condition(node.condition)
        if node.is_constexpr and condition.constant is None:
            raise self.unit.error(node.condition, "'if constexpr' needs a constant condition")
        then = self.captured(lambda: self.block(node.then))
        otherwise = self.captured(lambda: self._otherwise(node.otherwise))
        if condition.constant is not None:
            self.out.extend(then if condition.constant else otherwise)
            return
        branch = ast.If(as_condition(condition), then or [ast.Pass()], otherwise)
        self.emit(branch, node.position)

    def _otherwise(self, node: tree.Block | tree.If | None) -> None:
        match node:
            case tree.Block():
                self.block(node)
            case tree.If():
                self._if(node)
            case None:
                pass

    def _break(self, node: tree.Break) -> None:
        if not self.loops:
            raise self.unit.error(node, "'break' outside of a loop")
        self.emit(ast.Break(), node.position)

    def _continue(self, node: tree.Continue) -> None:
        before = self.loops[-1].before_continue if self.loops else None
        if before is None:
            message = "'continue' outside of a loop"
            if self.loops and self.loops[-1].is_switch:
                message = "'continue' in a switch with a 'break' that ends no case is not supported"
            raise self.unit.error(node, message)
        for each in self.captured(before):
            self.emit(each, node.position)

    def _switch(self, node: tree.Switch) -> None:
        """A chain of `if`; each branch holds what its case falls through to, too."""
        value = settled(self.number(node.condition, "the condition of a switch"))
        if value.constant is None:
            identifier = self.unit.fresh("chosen", "t")
            self.emit(code.assign(code.name(identifier), value.node), node.position)
            value = replace(value, node=code.name(identifier))
        groups = list(_case_groups(node.cases))
        is_left = any(_breaks(each) for case in node.cases for each in _until_break([case]))
        outer = self.loops[-1].before_continue if self.loops and not is_left else None
        self.loops.append(Loop(outer, is_switch=True))
        chain: list[ast.stmt] = []
        for start, end in groups:
            if any(each.value is None for each in node.cases[start:end]):
                chain = self._case_body(node, end - 1)
        for start, end in reversed(groups):
            values = [each.value for each in node.cases[start:end]]
            wanted = [each for each in values if each is not None]
            if len(wanted) == len(values):
                chain = self._chosen(value, wanted, self._case_body(node, end - 1), chain)
        self.loops.pop()
        if is_left:
            once = code.pair(code.constant(0))
            self.emit(ast.For(ast.Name("_", ast.Store()), once, chain, []), node.position)
        else:
            self.out.extend(chain)

    def _case_body(self, node: tree.Switch, start: int) -> list[ast.stmt]:
        statements = tuple(_until_break(node.cases[start:]))
        return self.captured(lambda: self.block(tree.Block(statements)))

    def _chosen(
        self,
        value: Value,
        wanted: Sequence[tree.Expression],
        body: list[ast.stmt],
        otherwise: list[ast.stmt],
    ) -> list[ast.stmt]:
        """A branch for some values; `otherwise` is for the others."""
        tests = list[ast.expr]()
        for each in wanted:
            number = settled(self.number(each, "the value of a case"))
            if number.constant is None:
                raise self.unit.error(each, "the value of a case has to be a constant expression")
            test = self.operate("==", value, number, each)
            if test.constant is None:
                tests.append(test.node)
            elif test.constant:
                return body
        if not tests:
            return otherwise
        question = tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)
        branch = ast.If(question, body or [ast.Pass()], otherwise)
        code.locate(branch, wanted[0].position)
        return [branch]

    # What says something about names.

    def _alias(self, node: tree.Alias) -> None:
        self._name_new(node, node.name, Alias(self.unit.type_of(node.type, self.scope)))

    def _using_name(self, node: tree.UsingName) -> None:
        last = node.name.rpartition("::")[2]
        symbol = self.unit.find(node.name, self.scope)
        if symbol is not None:
            self.scope.symbols[last] = symbol
        elif not self.unit.is_of_library(node.name, self.scope):
            raise self.unit.error(node, f"there is no '{node.name}'")

    def _enumeration(self, node: tree.Enumeration) -> None:
        base = INT if node.base is None else self.unit.type_of(node.base, self.scope)
        if not isinstance(base, IntType):
            raise self.unit.error(node, f"'{base.name}' cannot hold an enumeration")
        type_ = IntType(node.name, base.bits, base.signed)
        self._name_new(node, node.name, Alias(type_))
        inner = Scope(self.scope)
        outer, self.scope = self.scope, inner
        number = -1
        for each in node.enumerators:
            known = None if each.value is None else self.constant(each.value, "an enumerator")
            number = number + 1 if known is None else known
            self._name_new(each, each.name, Variable(each.name, integer(number, type_)))
        self.scope = outer
        self.unit.namespaces[node.name] = inner
        if not node.is_scoped:
            for name, symbol in inner.symbols.items():
                self.scope.symbols[name] = symbol

    def _name_new(self, node: tree.Node, name: str, symbol: Symbol) -> None:
        if name in self.scope.symbols:
            raise self.unit.error(node, f"'{name}' is declared twice")
        self.scope.symbols[name] = symbol

    def _static_assert(self, node: tree.StaticAssert) -> None:
        condition = self.condition(node.condition)
        if condition.constant is None:
            raise self.unit.error(node.condition, "static_assert needs a constant condition")
        if not condition.constant:
            message = "" if node.message is None else f": {node.message}"
            raise self.unit.error(node, f"static_assert failed{message}")

    def _return(self, node: tree.Return) -> None:
        if node.value is None:
            if self.result not in (VOID, None):
                raise self.unit.error(node, "'return' needs a value here")
            self.result = VOID
            self.emit(ast.Return(None), node.position)
            return
        if self.result == VOID:
            raise self.unit.error(node, "a function without result returns a value here")
        value = self.scalar(node.value)
        target = value.type if self.result is None else self.result
        value = settled(self.implicit(value, target, node.value))
        if self.result is None:
            self.result = value.type
        if isinstance(value.type, PointerType):
            known = self.result_space
            self.result_space = value.space if known is None else known.joined(value.space)
        if isinstance(value.type, StructType):
            value = replace(value, node=code.call("_copied", value.node))
        self.emit(ast.Return(value.node), node.position)

    STATEMENTS: ClassVar[dict[type, Callable[..., None]]] = {
        tree.Block: block,
        tree.Declaration: _declaration,
        tree.Evaluate: _evaluate,
        tree.If: _if,
        tree.Switch: _switch,
        tree.Alias: _alias,
        tree.UsingName: _using_name,
        tree.Enumeration: _enumeration,
        tree.StaticAssert: _static_assert,
        tree.Break: _break,
        tree.Continue: _continue,
        tree.Return: _return,
    }


def _case_groups(cases: Sequence[tree.Case]) -> Iterator[tuple[int, int]]:
    """Ranges of cases that share the statements of the last one."""
    start = 0
    for number, case in enumerate(cases, 1):
        if case.statements or number == len(cases):
            yield start, number
            start = number


def _until_break(cases: Sequence[tree.Case]) -> Iterator[tree.Statement]:
    """What runs from the first of some cases on."""
    for each in (each for case in cases for each in case.statements):
        match each:
            case tree.Break():
                return
            case tree.Block(statements=(*inside, tree.Break())):
                yield replace(each, statements=tuple(inside))
                return
            case tree.Return() | tree.Continue():
                yield each
                return
            case _:
                yield each


def _breaks(node: object) -> bool:
    """Whether a `break` in a statement leaves the switch around it."""
    match node:
        case tree.Break():
            return True
        case tree.Block(statements=statements):
            return any(map(_breaks, statements))
        case tree.If(then=then, otherwise=otherwise):
            return _breaks(then) or _breaks(otherwise)
        case _:
            return False


def _parts(node: ast.expr) -> Sequence[ast.expr]:
    """What an expression without wanted value consists of."""
    match node:
        case ast.Subscript(value=ast.Tuple(elts=parts)):
            return parts
        case _:
            return [node]
