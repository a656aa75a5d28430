"""Assignments, `++` and `--`."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TypeVar, cast

from ttmlir.cpp import tree
from ttmlir.cpp.types import (
    BOOL,
    INT,
    ArrayType,
    CType,
    FloatType,
    IntType,
    StructType,
    has_constant_member,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.conversions import convert_implicitly
from ttmlir.sim.kernels.expressions.evaluating import evaluate_scalar
from ttmlir.sim.kernels.expressions.operators import operate
from ttmlir.sim.kernels.expressions.places import find_place, look_at, read_place, stabilize
from ttmlir.sim.kernels.expressions.pointers import fit_pointer
from ttmlir.sim.kernels.place import EitherPlace, MemoryPlace, Place, build_assigned, interpret_bits
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import Evaluated, FieldName, Functions, InScope, Variable
from ttmlir.sim.kernels.value import Value, make_integer, settle


def evaluate_assignment(context: Context, node: tree.Assign) -> Value:
    """The value of `a = b` or `a += b`."""
    found = change(context, node)
    return found if isinstance(found, Value) else read_place(context, found)


def change(context: Context, node: tree.Assign | tree.Update) -> Place | Value:
    """`a = b` or `++a`: what an operator of a class gives, or the value."""
    if isinstance(node, tree.Assign):
        own, plain = change_object(context, node)
        if own is not None:
            return own
        return _assign(context, *prepare_assignment(context, plain))
    own, update = change_object(context, node)
    return _update(context, update) if own is None else own


ChangeT = TypeVar("ChangeT", tree.Assign, tree.Update)


def change_object(context: Context, node: ChangeT) -> tuple[Place | Value | None, ChangeT]:
    """An assignment or `++` by an operator of a class; None if it is a plain one.

    Then the node is the same with what was found already.
    """
    if not context.unit.classes:
        return None, node
    written = node.target if isinstance(node, tree.Assign) else node.operand
    if not _may_be_object(context, written):
        return None, node
    target = look_at(context, written)
    if isinstance(target, Value) and not _has_own_assignment(context, target.type):
        return None, node
    known = cast("tree.Expression", Evaluated(target, position=written.position))
    if isinstance(node, tree.Assign):
        plain: tree.Node = replace(node, target=known)
        operands: tuple[tree.Expression, ...] = (known, node.value)
        by_default = node.operator == "=" and not _has_own_assignment(context, target.type)
    else:
        plain = replace(node, operand=known)
        zero = tree.Integer("0", position=node.position)
        operands = (known, zero) if node.postfix else (known,)
        by_default = False
    if not isinstance(target.type, StructType) or by_default:
        return None, cast("ChangeT", plain)
    name = f"operator{node.operator}"
    own = context.handlers.call_operator(context, name, operands, node, (target,))
    return own, cast("ChangeT", plain)


def _may_be_object(context: Context, node: tree.Expression) -> bool:
    """Whether a target may be an object; variables of other types are not looked at here."""
    if not isinstance(node, tree.Name) or node.scope is not None:
        return isinstance(node, (tree.Unary, tree.Member, tree.FunctionCall, tree.Index, InScope))
    symbol = context.unit.find(node.text, context.scope)
    if isinstance(symbol, Variable):
        return isinstance(symbol.meaning.type, StructType)
    return isinstance(symbol, FieldName)


def _has_own_assignment(context: Context, type_: CType) -> bool:
    if not isinstance(type_, StructType):
        return False
    info = context.unit.classes.get(type_.number)
    symbol = None if info is None else info.scope.find_here("operator=")
    return isinstance(symbol, Functions) and any(
        not each.is_defaulted for each in symbol.definitions
    )


def _assign(context: Context, setup: list[ast.expr], place: Place, value: Value) -> Value:
    result = code.last_of(*setup, build_assigned(place, value))
    if isinstance(place, EitherPlace):
        return replace(value, node=code.last_of(result, value.node))
    if isinstance(place, MemoryPlace):
        return _take_stored_bits(place, result)
    return replace(settle(value), node=result)


def _take_stored_bits(place: MemoryPlace, node: ast.expr) -> Value:
    """The value of a store, of which the expression gives the bits."""
    match place.type:
        case FloatType() as type_:
            return interpret_bits(type_, node)
        case IntType(bits=bits):
            return Value(place.type, node, 0, (1 << max(bits, 8)) - 1)
        case _:
            return Value(place.type, node)


def prepare_assignment(context: Context, node: tree.Assign) -> tuple[list[ast.expr], Place, Value]:
    """What to do first, where to assign and what."""
    operator = node.operator.removesuffix("=")
    place = _find_changeable(context, node.target)
    value = evaluate_scalar(context, node.value)
    setup = list[ast.expr]()
    if not operator:
        value = fit_pointer(
            context, convert_implicitly(context, value, place.type, node.value), place, node
        )
        if isinstance(place, EitherPlace) and not code.is_stable(value.node):
            value = _keep_value(context, settle(value), setup, always=True)
        return setup, place, value
    value = _keep_value(context, value, setup)
    place = stabilize(context, place, setup)
    result = operate(context, operator, read_place(context, place), value, node)
    result = fit_pointer(
        context, convert_implicitly(context, result, place.type, node), place, node
    )
    if isinstance(place, EitherPlace):
        result = _keep_value(context, settle(result), setup, always=True)
    return setup, place, result


def _keep_value(
    context: Context, value: Value, setup: list[ast.expr], *, always: bool = False
) -> Value:
    """A value in a variable of its own, if its expression does anything."""
    if not always and not context.unit.has_effect(value.node):
        return value
    value = settle(value)
    temporary = context.unit.create_name("value", "t")
    setup.append(code.walrus(temporary, value.node))
    return replace(value, node=code.name(temporary))


def _find_changeable(context: Context, node: tree.Expression) -> Place:
    """The place of an expression that may be assigned to."""
    place = find_place(context, node)
    if place.is_const:
        raise context.error(node, "this is constant and cannot be changed")
    if has_constant_member(place.type):
        message = f"'{place.type.name}' has a constant member; assign the other members"
        raise context.error(node, message)
    if isinstance(place.type, ArrayType):
        raise context.error(node, "an array cannot be assigned to; assign its elements")
    in_memory = isinstance(place, (MemoryPlace, EitherPlace))
    if in_memory and isinstance(place.type, StructType):
        raise context.error(node, "a struct in memory: assign its members one by one")
    return place


def evaluate_update(context: Context, node: tree.Update) -> Value:
    """The value of `++a` or `a++`."""
    found = change(context, node)
    return found if isinstance(found, Value) else read_place(context, found)


def _update(context: Context, node: tree.Update) -> Value:
    setup, place, old, new = prepare_update(context, node)
    put = build_assigned(place, new)
    if not node.postfix:
        result = code.last_of(*setup, put)
        if isinstance(place, MemoryPlace):
            return _take_stored_bits(place, result)
        if isinstance(place, EitherPlace):
            # The new number is computed from the old one, which is kept.
            new = settle(new)
            return replace(new, node=code.last_of(result, new.node))
        return replace(settle(new), node=result)
    both = code.subscript(code.tuple_of(old.node, put), code.constant(0))
    return replace(old, node=code.last_of(*setup, both))


def prepare_update(
    context: Context, node: tree.Update
) -> tuple[list[ast.expr], Place, Value, Value]:
    """What to do first, the place, its old value and its new value."""
    setup = list[ast.expr]()
    place = stabilize(context, _find_changeable(context, node.operand), setup)
    old = read_place(context, place)
    if old.type == BOOL:
        raise context.error(node, f"'{node.operator}' does not go with 'bool'")
    if isinstance(place, EitherPlace):
        old = _keep_value(context, old, setup, always=True)
    new = convert_implicitly(
        context,
        operate(context, node.operator[0], old, make_integer(1, INT), node),
        place.type,
        node,
    )
    return setup, place, old, new
