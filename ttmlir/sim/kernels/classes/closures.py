"""Lambdas: objects of classes of their own, whose members are what they capture."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ttmlir.cpp import tree
from ttmlir.cpp.types import (
    CType,
    FunctionType,
    IncompleteType,
    ObjectType,
    PointerType,
    QualifiedType,
    ReferenceType,
    StructType,
    lay_out_struct,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.given import Given
from ttmlir.sim.kernels.expressions.initial_values import copy_struct
from ttmlir.sim.kernels.expressions.places import find_this
from ttmlir.sim.kernels.expressions.pointers import take_address
from ttmlir.sim.kernels.place import LocalPlace, Place
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import (
    CLOSURE,
    ClassInfo,
    FieldName,
    Functions,
    Pack,
    Scope,
    Symbol,
    Variable,
    walk,
)
from ttmlir.sim.kernels.value import Space, Value, settle

_MEMBERS = (FieldName, Functions)


class _Closure:
    """A class for one lambda on its way."""

    def __init__(self, context: Context, node: tree.Lambda) -> None:
        self.context = context
        self.node = node
        self.scope = Scope(_find_static_scope(context))
        self.members = list[tuple[str, QualifiedType]]()
        self.values = list[ast.expr]()

    def capture(self, name: str, symbol: Symbol, *, by_reference: bool) -> None:
        """Take in a variable of the function around the lambda."""
        match symbol:
            case Pack(symbols=symbols):
                parts = list[Symbol]()
                for number, each in enumerate(symbols):
                    field = f"{name}#{number}"
                    inner = Scope(self.context.scope)
                    inner.symbols[name] = each
                    outer, self.context.scope = self.context.scope, inner
                    self._add(field, name, by_reference=by_reference)
                    self.context.scope = outer
                    parts.append(FieldName(field, CLOSURE))
                self.scope.symbols[name] = Pack(tuple(parts))
            case Variable(known=Value() as known, meaning=meaning):
                self._share_constant(name, known, meaning)
            case _:
                self._add(name, name, by_reference=by_reference)
                self.scope.symbols[name] = FieldName(name, CLOSURE)

    def _share_constant(self, name: str, known: Value, meaning: Place | Value) -> None:
        """Constant arrays and objects are known everywhere."""
        unit = self.context.unit
        identifier = unit.create_name(name)
        unit.add_global(code.assign(code.name(identifier), known.node), self.node.position)
        unit.known_values[identifier] = known.node
        place = LocalPlace(meaning.type, identifier, is_const=True)
        self.scope.symbols[name] = Variable(name, place, is_global=True, known=known)

    def _add(self, field: str, name: str, *, by_reference: bool) -> None:
        written = tree.Name(name, position=self.node.position)
        self.add_value(field, Given(self.context, written), by_reference=by_reference)

    def add_value(self, field: str, given: Given, *, by_reference: bool) -> None:
        """A member that starts as something."""
        place = given.place
        if place is not None and by_reference and self._may_refer(place, field):
            pointer = take_address(self.context, place, self.node)
            assert isinstance(pointer.type, PointerType)
            is_local = pointer.space is Space.LOCAL
            held: CType = ReferenceType(
                pointer.type.pointee, pointer.type.const, pointer.type.volatile, is_local
            )
            self.members.append((field, QualifiedType(held)))
            self.values.append(pointer.node)
            return
        value = settle(copy_struct(self.context, given.value, self.node))
        const = not self.node.is_mutable
        self.members.append((field, QualifiedType(value.type, const)))
        self.values.append(value.node)

    def _may_refer(self, place: Place, field: str) -> bool:
        """Whether a place is taken in by reference; what never changes is copied."""
        if isinstance(place.type, (ObjectType, FunctionType)):
            return False
        if not isinstance(place, LocalPlace):
            return True
        return isinstance(place.type, StructType) or hasattr(place.type, "element")

    def capture_this(self, *, by_reference: bool) -> None:
        """Take in the object of the member function around the lambda."""
        place = find_this(self.context, self.node)
        given = Given(self.context, tree.This(position=self.node.position), place)
        self.add_value("this", given, by_reference=by_reference)
        self.scope.symbols["this"] = FieldName("this", CLOSURE)

    def finish(self) -> Value:
        """The object."""
        unit, node = self.context.unit, self.node
        key = (id(node), id(self.context.scope), tuple(self.members))
        known = self.context.closures.get(key)
        if known is not None:
            # The same expression, looked at once more.
            return Value(known, code.list_of(self.values))
        number = len(unit.structs)
        at = node.position
        name = f"(lambda at {at.line}:{at.column})" if at is not None else "(lambda)"
        unit.structs.append(IncompleteType(name, number))
        type_ = lay_out_struct(name, number, self.members)
        unit.structs[number] = type_
        self.scope.owner = number
        function = tree.Function(
            "operator()",
            node.parameters,
            node.body,
            node.result or tree.NamedType("auto", position=at),
            is_const=not node.is_mutable,
            position=at,
        )
        self.scope.symbols["operator()"] = Functions("operator()", (function,), self.scope)
        struct = tree.Struct(name, position=at)
        unit.classes[number] = ClassInfo(struct, self.scope)
        unit.closures.add(number)
        self.context.closures[key] = type_
        return Value(type_, code.list_of(self.values))


def evaluate_lambda(context: Context, node: tree.Lambda) -> Value:
    """The object that a lambda makes."""
    closure = _Closure(context, node)
    named = dict[str, bool]()
    for each in node.captures:
        context.unit.spend(each)
        if each.name == "this":
            closure.capture_this(by_reference=True)
        elif each.value is not None:
            _capture_value(context, closure, each)
        else:
            named[each.name] = each.by_reference
    if node.default:
        used = dict.fromkeys(_find_used(node))
        for name in used:
            named.setdefault(name, node.default == "&")
        if "this" not in closure.scope.symbols and _uses_object(context, node, used):
            closure.capture_this(by_reference=True)
    for name, by_reference in named.items():
        symbol = context.scope.find(name)
        if symbol is not None and _is_local(symbol):
            closure.capture(name, symbol, by_reference=by_reference)
        elif any(each.name == name for each in node.captures) and symbol is None:
            raise context.error(node, f"there is no variable '{name}' to capture")
    return closure.finish()


def _capture_value(context: Context, closure: _Closure, capture: tree.Capture) -> None:
    """`x = value`, or `&x = value`."""
    assert capture.value is not None
    if isinstance(capture.value, tree.Braces):
        raise context.error(capture, "'auto' needs a value to take its type from")
    given = Given(context, capture.value)
    closure.add_value(capture.name, given, by_reference=capture.by_reference)
    closure.scope.symbols[capture.name] = FieldName(capture.name, CLOSURE)


def _find_used(node: tree.Lambda) -> Iterator[str]:
    for each in walk((node.body, node.captures)):
        if isinstance(each, tree.Name) and each.scope is None:
            yield each.text
        elif isinstance(each, tree.CountOf):
            yield each.pack


def _uses_object(context: Context, node: tree.Lambda, used: dict[str, None]) -> bool:
    """Whether a lambda uses the object of the member function around it."""
    if context.scope.find("this") is None:
        return False
    if any(isinstance(each, tree.This) for each in walk(node.body)):
        return True
    for name in used:
        symbol = context.scope.find(name)
        if isinstance(symbol, FieldName) and symbol.holder != CLOSURE:
            return True
        if isinstance(symbol, Functions) and symbol.scope.owner is not None:
            return True
    return False


def _is_local(symbol: Symbol) -> bool:
    """Whether a name is that of a variable of the function around."""
    match symbol:
        case Variable(meaning=Value()):
            return False
        case Variable(is_global=is_global):
            return not is_global
        case FieldName(holder=holder):
            return holder == CLOSURE
        case Pack(symbols=symbols):
            return any(map(_is_local, symbols))
        case _:
            return False


def _find_static_scope(context: Context) -> Scope:
    """What a lambda sees beside its captures: all but the variables of the function around it."""
    unit = context.unit
    namespaces = {id(each) for each in unit.namespaces.values()} | {id(unit.root)}
    layers = list[Scope]()
    scope: Scope | None = context.scope
    while scope is not None and scope.owner is None and id(scope) not in namespaces:
        layers.append(scope)
        scope = scope.outer
    inner = Scope(scope)
    for layer in reversed(layers):
        for name, symbol in layer.symbols.items():
            if not _is_local(symbol):
                inner.symbols[name] = symbol
            else:
                inner.symbols.pop(name, None)
        inner.more = (*layer.more, *inner.more)
    return inner
