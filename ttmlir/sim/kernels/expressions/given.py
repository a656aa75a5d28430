"""Arguments of calls: looked at once, whatever is asked about them, and passed."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.conversions import is_same_type, may_point
from ttmlir.cpp.types import (
    VOID,
    ArrayType,
    CType,
    FloatType,
    FunctionType,
    IntType,
    ObjectType,
    PointerType,
    QualifiedType,
    StructType,
)
from ttmlir.sim.kernels.classes.destructors import is_temporary, keep_temporary
from ttmlir.sim.kernels.context import Argument, Context
from ttmlir.sim.kernels.expressions.conversions import convert_implicitly
from ttmlir.sim.kernels.expressions.initial_values import build_initial, copy_struct
from ttmlir.sim.kernels.expressions.places import find_known, look_at, read_place, retype_place
from ttmlir.sim.kernels.expressions.pointers import take_address
from ttmlir.sim.kernels.place import (
    BitsPlace,
    EitherPlace,
    ItemPlace,
    LocalPlace,
    MemberPlace,
    MemoryPlace,
    Place,
    PointedPlace,
    build_node,
)
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import InScope, Scope
from ttmlir.sim.kernels.value import Value, settle


class Given:
    """An argument of a call: an expression, or braces."""

    def __init__(
        self,
        context: Context,
        node: tree.Expression | tree.Braces,
        found: Place | Value | None = None,
    ) -> None:
        """An argument as it is written where the context is now; `found` is what it means."""
        self.context = context
        self.node = node
        self.scope = context.scope
        self._found = found

    @cached_property
    def braces(self) -> tree.Braces | None:
        """The argument, if it is a list in braces."""
        node: object = self.node
        while isinstance(node, InScope):
            node = node.node
        return node if isinstance(node, tree.Braces) else None

    @cached_property
    def found(self) -> Place | Value:
        """The place that the argument means, or its value if it has none."""
        if self._found is not None:
            return self._found
        if self.braces is not None:
            raise self.context.error(self.node, "braces do not say here of which type they are")
        outer, self.context.scope = self.context.scope, self.scope
        found = look_at(self.context, cast("tree.Expression", self.node))
        self.context.scope = outer
        if found.type == VOID:
            raise self.context.error(self.node, "this has no value")
        return found

    @property
    def place(self) -> Place | None:
        """The place that the argument means, if it means one."""
        return None if isinstance(self.found, Value) else self.found

    @cached_property
    def value(self) -> Value:
        """The value of the argument."""
        found = self.found
        if isinstance(found, Value):
            return found
        if isinstance(self.node, (tree.Index, tree.Member)):
            known = self._find_known(self.node)
            if known is not None and known.constant is not None:
                return known
        return read_place(self.context, found)

    def _find_known(self, node: tree.Expression) -> Value | None:
        outer, self.context.scope = self.context.scope, self.scope
        known = find_known(self.context, node)
        self.context.scope = outer
        return known

    @property
    def is_const(self) -> bool:
        """Whether the argument is the name of what cannot be changed."""
        if isinstance(self.found, Value):
            return isinstance(self.node, tree.Name)
        return self.found.is_const


def pass_argument(
    context: Context, parameter: tree.Parameter, given: Given, scope: Scope, number: int
) -> Argument:
    """What is passed for a parameter of a function whose types mean what they do in a scope."""
    type_ = parameter.type
    if isinstance(type_, tree.Reference):
        argument = _pass_by_reference(context, type_, given, scope)
    else:
        argument = _pass_by_value(context, type_, given, scope)
    return replace(argument, number=number)


def _pass_by_value(context: Context, type_: tree.Type, given: Given, scope: Scope) -> Argument:
    if given.braces is not None:
        target = context.unit.resolve_type(type_, scope)
        return _pass_braces(context, target, given)
    value = given.value
    target = context.unit.resolve_declared_type(type_, scope, value.type)
    value = settle(convert_implicitly(context, value, target.type, given.node))
    if isinstance(target.type, StructType) and not is_temporary(context, value):
        # It ends with the call, in the caller.
        value = keep_temporary(context, copy_struct(context, value, given.node), given.node)
    return Argument(value.type, "value", value.node, value.space, target.const)


def _pass_braces(context: Context, target: QualifiedType, given: Given) -> Argument:
    braces = given.braces
    assert braces is not None
    outer, context.scope = context.scope, given.scope
    if isinstance(given.node, InScope):
        context.scope = given.node.scope
    value = settle(build_initial(context, target.type, braces))
    value = keep_temporary(context, value, given.node)
    context.scope = outer
    return Argument(value.type, "value", value.node, value.space, target.const)


def _pass_by_reference(
    context: Context, type_: tree.Reference, given: Given, scope: Scope
) -> Argument:
    referent = type_.referent
    if given.braces is not None:
        target = context.unit.resolve_type(referent, scope)
        if not target.const and not type_.is_rvalue:
            raise context.error(given.node, "a reference that is not const needs a variable here")
        return _pass_braces(context, target, given)
    place = given.place
    if place is None:
        value = given.value
        target = context.unit.resolve_declared_type(referent, scope, value.type)
        if not target.const and not type_.is_rvalue and not isinstance(value.type, FunctionType):
            raise context.error(given.node, "a reference that is not const needs a variable here")
        passed = _pass_constant_reference(context, target.type, given)
        return replace(passed, is_const=not type_.is_rvalue or target.const)
    given_type = place.type
    target = context.unit.resolve_declared_type(referent, scope, given_type, place.is_const)
    if target.const and isinstance(target.type, (IntType, FloatType, PointerType)):
        return _pass_constant_reference(context, target.type, given)
    if target.const and not _may_refer(target, given_type):
        return _pass_constant_reference(context, target.type, given)
    if type_.is_rvalue and not target.const and place.is_const:
        target = replace(target, const=True)
    check_reference(context, target, place, given.node)
    if type_.is_rvalue and isinstance(place, LocalPlace) and _is_scalar(place.type):
        return _pass_constant_reference(context, target.type, given)
    return refer_to(context, retype_place(place, target.type), given.node, is_const=target.const)


def _is_scalar(type_: CType) -> bool:
    return isinstance(type_, (IntType, FloatType, PointerType, FunctionType))


def refer_to(context: Context, place: Place, node: tree.Node, *, is_const: bool) -> Argument:
    """A reference to a place as an argument."""
    match place:
        case MemoryPlace():
            pointer = PointerType(place.type, volatile=place.volatile)
            node_ = settle(place.address).node
            return Argument(pointer, "address", node_, is_const=is_const)
        case _ if isinstance(place.type, FunctionType) and not isinstance(place, EitherPlace):
            return Argument(place.type, "value", build_node(place), is_const=True)
        case PointedPlace() | EitherPlace():
            pointer = take_address(context, place, node)
            return Argument(pointer.type, "pointer", pointer.node, pointer.space, is_const)
        case BitsPlace():
            raise context.error(node, "a reference to a member of a union is not supported")
        case _ if isinstance(place.type, (StructType, ArrayType, ObjectType)):
            return Argument(place.type, "object", build_node(place), is_const=is_const)
        case ItemPlace():
            pair = code.tuple_of(place.container, place.index)
            return Argument(place.type, "pair", pair, is_const=is_const)
        case LocalPlace() | MemberPlace():
            raise context.error(node, "a reference to this is not supported")


def check_reference(context: Context, target: QualifiedType, place: Place, node: tree.Node) -> None:
    """Refuse a reference to a variable of another type, or one that drops its `const`."""
    name = f"{'const ' if target.const else ''}{target.type.name}"
    if not _may_refer(target, place.type):
        raise context.error(node, f"a reference to '{name}' does not go with '{place.type.name}'")
    if place.is_const and not target.const:
        message = f"a reference to '{name}' could change what is const here"
        raise context.error(node, f"{message}; declare it 'const {name}&'")


def _may_refer(target: QualifiedType, given: CType) -> bool:
    if isinstance(target.type, PointerType) and isinstance(given, PointerType):
        volatile = replace(given, volatile=target.type.volatile)
        return target.type == volatile or (target.const and may_point(target.type, given))
    if isinstance(given, StructType) and given.derives_from(target.type):
        return True
    return is_same_type(target.type, given)


def _pass_constant_reference(context: Context, target: CType, given: Given) -> Argument:
    value = settle(convert_implicitly(context, given.value, target, given.node))
    return Argument(value.type, "value", value.node, value.space, is_const=True)
