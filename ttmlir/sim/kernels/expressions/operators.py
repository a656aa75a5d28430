"""Operators that change nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import TypeVar, cast

from ttmlir.cpp import tree
from ttmlir.cpp.types import (
    BOOL,
    INT,
    NULL,
    TUPLE,
    UNSIGNED,
    VOID,
    ArrayType,
    CType,
    EnumType,
    FloatType,
    FunctionType,
    IntType,
    PointerType,
    ReferenceType,
    StructType,
    complete_type,
    count_of,
    has_constant_member,
    is_same_type,
    is_scoped,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.destructors import is_temporary, keep_temporary
from ttmlir.sim.kernels.expressions.calls import find_associated_scopes
from ttmlir.sim.kernels.expressions.copies import MOST_ELEMENTS, copy_struct, is_fresh
from ttmlir.sim.kernels.expressions.initial_values import Given, is_list
from ttmlir.sim.kernels.expressions.last_places import (
    WITHOUT_EFFECT,
    acts_first,
    look_at_last,
    name_found,
)
from ttmlir.sim.kernels.expressions.lvalues import (
    convert_implicitly,
    decay_function,
    evaluate_condition,
    evaluate_lvalue,
    evaluate_scalar,
    find_lvalue,
    fit_pointer,
    is_function,
    look_at,
    look_for_value,
    operate_on_pointer,
    points_to_function,
    read_lvalue,
    refer,
    retype_lvalue,
    stabilize,
    take_address,
    unify_types,
)
from ttmlir.sim.kernels.expressions.member_pointers import name_member
from ttmlir.sim.kernels.expressions.own_calls import (
    call_candidate,
    call_own_function,
    find_member_functions,
    hold_object,
)
from ttmlir.sim.kernels.packs import expand_pattern, find_pack, find_packs
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import (
    Evaluated,
    FieldName,
    Functions,
    InScope,
    Variable,
)
from ttmlir.sim.kernels.templates import CallOfOwn, Candidate, choose_operator, is_moved
from ttmlir.sim.kernels.value import (
    EitherLvalue,
    ItemLvalue,
    Lvalue,
    MemoryLvalue,
    Value,
    apply_binary,
    apply_unary,
    build_assigned,
    build_condition,
    find_member_lvalue,
    fit_bits,
    interpret_bits,
    make_integer,
    settle,
    width_of,
)


def has_own_operators(type_: CType) -> bool:
    """Whether an operator on a value may be one of the kernel's own."""
    return isinstance(type_, (StructType, EnumType)) and type_ != NULL


def evaluate_unary(context: Context, node: tree.Unary) -> Value:
    """A prefix operator."""
    match node.operator:
        case "*":
            return evaluate_lvalue(context, node)
        case "&":
            return _evaluate_address(context, node)
        case operator:
            found = look_for_value(context, node.operand)
            if has_own_operators(found.type):
                own = context.handlers.call_operator(
                    context, f"operator{operator}", (node.operand,), node, (found,)
                )
                if own is not None:
                    return own if isinstance(own, Value) else read_lvalue(context, own)
            value = found if isinstance(found, Value) else read_lvalue(context, found)
            if value.type == VOID:
                raise context.error(node.operand, "this has no value")
            if operator == "+" and (is_function(value.type) or _is_lambda(context, value.type)):
                return context.handlers.point_at_function(context, value, node)
            if operator == "+" and points_to_function(value.type):
                return value
            if isinstance(value.type, StructType):
                value = _convert_operand(context, value, operator, node)
            result = None if is_scoped(value.type) else apply_unary(operator, value)
            if result is None:
                message = f"'{operator}' does not go with '{value.type.name}'"
                raise context.error(node, message)
            return result


def _is_lambda(context: Context, type_: CType) -> bool:
    return isinstance(type_, StructType) and type_.number in context.unit.closures


def _convert_operand(context: Context, value: Value, operator: str, node: tree.Node) -> Value:
    """An object as what it converts to, if an operator takes that."""
    wanted = BOOL if operator in ("!", "&&", "||") else INT
    converted = _find_converted(context, value, wanted, node)
    if converted is None:
        message = f"'{operator}' does not go with '{value.type.name}'"
        raise context.error(node, message)
    return converted


def _evaluate_address(context: Context, node: tree.Unary) -> Value:
    """`&place`, or the address of a function or member, which is the function or member."""
    pointed = name_member(context, node.operand)
    if pointed is not None:
        return pointed
    setup = list[ast.expr]()
    found = look_at_last(context, node.operand, setup)
    is_designator = isinstance(node.operand, tree.Unary) and node.operand.operator == "*"
    if isinstance(found, Value) and isinstance(found.type, FunctionType):
        return found
    if isinstance(found, Value) and is_designator and points_to_function(found.type):
        return found
    lvalue = find_lvalue(context, node.operand) if isinstance(found, Value) else found
    pointer = take_address(context, lvalue, node)
    return replace(pointer, node=code.last_of(*setup, pointer.node))


def evaluate_binary(context: Context, node: tree.BinaryOperation) -> Value:
    """A binary operator."""
    match node.operator:
        case ",":
            if isinstance(node.left, WITHOUT_EFFECT):
                message = "the left operand of ',' has no effect, which tt-metal's compiler refuses"
                raise context.error(node.left, f"{message}; leave it out")
            return _evaluate_comma(context, node)
        case "&&" | "||":
            return _evaluate_logical(context, node)
        case operator:
            left, right = look_for_value(context, node.left), look_for_value(context, node.right)
            if has_own_operators(left.type) or has_own_operators(right.type):
                own = _operate_on_objects(context, node, left, right)
                if own is not None:
                    return own
            a, b = (
                _read_operand(context, left, node.left),
                _read_operand(context, right, node.right),
            )
            return operate(context, operator, a, b, node)


def _read_operand(context: Context, found: Lvalue | Value, node: tree.Expression) -> Value:
    value = found if isinstance(found, Value) else read_lvalue(context, found)
    if value.type == VOID:
        raise context.error(node, "this has no value")
    return value


def _operate_on_objects(
    context: Context, node: tree.BinaryOperation, left: Lvalue | Value, right: Lvalue | Value
) -> Value | None:
    """A binary operator of the kernel's own; None if there is none for such operands."""
    operands = (node.left, node.right)
    found = (left, right)
    name = f"operator{node.operator}"
    own = context.handlers.call_operator(context, name, operands, node, found)
    is_object = any(isinstance(each.type, StructType) for each in found)
    if own is None and is_object and node.operator == "!=":
        equal = context.handlers.call_operator(context, "operator==", operands, node, found)
        if equal is not None:
            value = equal if isinstance(equal, Value) else read_lvalue(context, equal)
            return apply_unary("!", value)
    if own is not None:
        return own if isinstance(own, Value) else read_lvalue(context, own)
    return None


def operate(context: Context, operator: str, left: Value, right: Value, node: tree.Node) -> Value:
    """A binary operator, on pointers too."""
    if isinstance(left.type, StructType) or isinstance(right.type, StructType):
        left, right = (
            _convert_to_number(context, each, other.type, node)
            for each, other in ((left, right), (right, left))
        )
    if isinstance(left.type, FunctionType) or isinstance(right.type, FunctionType):
        left, right = (decay_function(context, each, node) for each in (left, right))
    if isinstance(left.type, PointerType) or isinstance(right.type, PointerType):
        result = operate_on_pointer(context, operator, left, right, node)
    elif not _may_compute(operator, left.type, right.type):
        result = None
    else:
        right = _find_divisor(context, operator, left, right, node)
        result = apply_binary(operator, left, right)
    if result is None:
        message = f"'{operator}' does not go with '{left.type.name}' and '{right.type.name}'"
        raise context.error(node, message)
    return result


def _convert_to_number(context: Context, value: Value, other: CType, node: tree.Node) -> Value:
    """What an object beside an operand of another type converts to; others as they are."""
    if not isinstance(value.type, StructType):
        return value
    wanted = other if isinstance(other, (IntType, FloatType)) else INT
    converted = _find_converted(context, value, wanted, node)
    return value if converted is None else converted


def _may_compute(operator: str, left: CType, right: CType) -> bool:
    """Whether an operator computes with numbers of these types; scoped enumerators compare only."""
    if not is_scoped(left) and not is_scoped(right):
        return True
    return left == right and operator in (("==", "!=") if left == NULL else code.COMPARE)


def _find_divisor(
    context: Context, operator: str, left: Value, right: Value, node: tree.Node
) -> Value:
    """The right operand; a division by zero is refused where it is computed."""
    if operator not in ("/", "%") or right.constant != 0:
        return right
    if not isinstance(left.type, IntType) or not isinstance(right.type, IntType):
        return right
    if context.unit.unevaluated:
        return make_integer(1, right.type)
    raise context.error(node, "division by zero")


def _evaluate_logical(context: Context, node: tree.BinaryOperation) -> Value:
    if context.unit.classes or context.unit.find(f"operator{node.operator}", context.scope):
        found = tuple(look_for_value(context, each) for each in (node.left, node.right))
        if any(has_own_operators(each.type) for each in found):
            own = context.handlers.call_operator(
                context, f"operator{node.operator}", (node.left, node.right), node, found
            )
            if own is not None:
                return own if isinstance(own, Value) else read_lvalue(context, own)
        left, right = (
            evaluate_condition(
                context, cast("tree.Expression", Evaluated(each, position=side.position))
            )
            for each, side in zip(found, (node.left, node.right), strict=True)
        )
    else:
        left, right = (evaluate_condition(context, each) for each in (node.left, node.right))
    decisive = node.operator == "||"
    if left.constant is not None:
        return left if bool(left.constant) == decisive else right
    if right.constant is not None and bool(right.constant) != decisive:
        return left
    operator = ast.Or() if decisive else ast.And()
    if isinstance(left.node, ast.BoolOp) and isinstance(left.node.op, type(operator)):
        return Value(BOOL, ast.BoolOp(operator, [*left.node.values, right.node]), 0, 1)
    return Value(BOOL, ast.BoolOp(operator, [left.node, right.node]), 0, 1)


def _evaluate_comma(context: Context, node: tree.BinaryOperation) -> Value:
    operands = (node.left, node.right)
    has_own = context.unit.find("operator,", context.scope) is not None
    if not has_own or isinstance(node.left, tree.Cast):
        left, right = (context.evaluate(each) for each in operands)
    else:
        found = [look_at(context, each) for each in operands]
        if any(has_own_operators(each.type) for each in found):
            own = context.handlers.call_operator(context, "operator,", operands, node, found)
            if own is not None:
                return own if isinstance(own, Value) else read_lvalue(context, own)
        left, right = (x if isinstance(x, Value) else read_lvalue(context, x) for x in found)
    if not context.unit.has_effect(left.node):
        return right
    right = settle(right)
    joined = code.last_of(left.node, right.node)
    return Value(right.type, joined, right.low, right.high)


def evaluate_conditional(context: Context, node: tree.Conditional) -> Value:
    """`a ? b : c`."""
    condition = evaluate_condition(context, node.condition)
    # g++ takes a bit-field for a number of its declared type here, and does not promote it.
    a = replace(_evaluate_choice(context, node.true_value, condition.constant, 0), width=0)
    b = replace(_evaluate_choice(context, node.false_value, condition.constant, 1), width=0)
    a, b = unify_types(context, a, b, node)
    # Where one of two objects is made, or given up, the other one is copied.
    is_made = _is_own(context, a) != _is_own(context, b) or a.is_over != b.is_over
    if condition.constant is not None:
        taken, written = (a, node.true_value) if condition.constant else (b, node.false_value)
        return _own(context, taken, written) if is_made else taken
    if is_made:
        a, b = _own(context, a, node.true_value), _own(context, b, node.false_value)
    choice = code.choice(build_condition(condition), a.node, b.node)
    space = a.space.join(b.space)
    low, high = min(a.low, b.low), max(a.high, b.high)
    return Value(a.type, choice, low, high, space, is_over=a.is_over and b.is_over)


def _evaluate_choice(
    context: Context, node: tree.Expression, condition: float | None, other: int
) -> Value:
    """The value of a choice, of which only the type matters if a constant is for the other one."""
    if condition is None or bool(condition) != bool(other):
        return context.evaluate(node)
    with context.unit.looking():
        return context.evaluate(node)


def _is_own(context: Context, value: Value) -> bool:
    """Whether an object was made where it is used; true for what is no object."""
    is_object = isinstance(value.type, StructType)
    return not is_object or is_temporary(context, value) or is_fresh(value.node)


def _own(context: Context, value: Value, written: tree.Expression) -> Value:
    """An object that is made where it is used, by a copy if it is a variable's."""
    if _is_own(context, value):
        return value
    held = context.unit.create_name("chosen", "t")
    known = replace(value, node=code.name(held))
    copied = copy_struct(context, known, written)
    made = code.last_of(code.walrus(held, value.node), copied.node)
    return keep_temporary(context, replace(copied, node=made), written)


# --- Assignments ----------------------------------------------------------------------------------
# Assignments, `++` and `--`.


def evaluate_assignment(context: Context, node: tree.Assign) -> Value:
    """The value of `a = b` or `a += b`."""
    found = change(context, node)
    return found if isinstance(found, Value) else read_lvalue(context, found)


def change(context: Context, node: tree.Assign | tree.Update) -> Lvalue | Value:
    """`a = b` or `++a`: what an operator of a class gives, or the value."""
    if isinstance(node, tree.Assign):
        own, plain = change_object(context, node)
        if own is not None:
            return own
        return _assign(context, *prepare_assignment(context, plain))
    own, update = change_object(context, node)
    return _update(context, update) if own is None else own


ChangeT = TypeVar("ChangeT", tree.Assign, tree.Update)


def change_object(context: Context, node: ChangeT) -> tuple[Lvalue | Value | None, ChangeT]:
    """An assignment or `++` by an operator of a class; None if it is a plain one.

    Then the node is the same with what was found already.
    """
    written = node.target if isinstance(node, tree.Assign) else node.operand
    if not _may_have_operators(context, written):
        return None, node
    target = look_at(context, written)
    if isinstance(target, Value) and not _has_own_assignment(context, target.type):
        return None, node
    known = name_found(target, written.position)
    found = [target]
    if isinstance(node, tree.Assign):
        plain: tree.Node = replace(node, target=known)
        operands: tuple[tree.Expression, ...] = (known, node.value)
        by_default = node.operator == "=" and not _has_own_assignment(context, target.type)
        is_own = node.operator == "=" and not by_default
        if is_own and (braces := _find_braces(node)) and _takes_list(context, target.type):
            return _assign_list(context, node, target, braces), cast("ChangeT", plain)
        if is_own and _keeps_default(context, target.type):
            found.append(look_at(context, node.value))
            by_default = _is_object_of(context, found[1].type, target.type)
            if by_default:
                node = replace(node, value=name_found(found[1], node.value.position))
                plain = replace(node, target=known)
    else:
        plain = replace(node, operand=known)
        zero = tree.Integer("0", position=node.position)
        operands = (known, zero) if node.postfix else (known,)
        by_default = False
    if by_default:
        assert isinstance(plain, tree.Assign)
        own, plain = _assign_by_default(context, target, plain)
        return own, cast("ChangeT", plain)
    if not has_own_operators(target.type):
        return None, cast("ChangeT", plain)
    name = f"operator{node.operator}"
    own = context.handlers.call_operator(context, name, operands, node, found)
    return own, cast("ChangeT", plain)


def _may_have_operators(context: Context, node: tree.Expression) -> bool:
    """Whether a target may be an object or enumerator; other variables are not looked at here."""
    match node:
        case tree.Name(text=text, scope=None):
            symbol = context.unit.find(text, context.scope)
            if isinstance(symbol, Variable):
                return has_own_operators(symbol.storage.type)
            return isinstance(symbol, FieldName)
        case Evaluated(found=found) if has_own_operators(found.type):
            return True
        case tree.Assign(target=inner) | tree.Update(operand=inner, postfix=False):
            is_variable = isinstance(inner, (tree.Name, tree.Assign, tree.Update))
            return is_variable and _may_have_operators(context, inner)
        case _:
            kinds = (tree.Name, tree.Unary, tree.Member, tree.FunctionCall, tree.Index)
            more = (tree.Construct, tree.Conditional, InScope, Evaluated)
            is_other = isinstance(node, (*kinds, *more))
            return bool(context.unit.classes) and is_other


def _has_own_assignment(context: Context, type_: CType) -> bool:
    if not isinstance(type_, StructType):
        return False
    info = context.unit.classes.get(type_.number)
    # That of a base is hidden by the one that every class has.
    symbol = None if info is None else info.scope.symbols.get("operator=")
    return isinstance(symbol, Functions) and any(
        not each.is_defaulted for each in symbol.definitions
    )


def _taken_types(context: Context, type_: CType) -> Iterator[CType]:
    """What the assignments that a class defines take, those of templates left out."""
    functions = find_member_functions(context, type_, "operator=")
    assert functions is not None
    for each in functions.definitions:
        if not each.is_defaulted and not each.template_parameters:
            for parameter in each.parameters:
                yield context.unit.resolve_type(parameter.type, functions.scope).type


def _keeps_default(context: Context, type_: CType) -> bool:
    """Whether no assignment that a class defines is for its own objects."""
    return not any(is_same_type(each, type_) for each in _taken_types(context, type_))


def _takes_list(context: Context, type_: CType) -> bool:
    return any(is_list(each) for each in _taken_types(context, type_))


def _find_braces(node: tree.Assign) -> tree.Braces | None:
    """The braces of `a = {...}`, which are read as an object of the type of `a`."""
    match node.value:
        case tree.Construct(type=tree.Decltype(expression=of), elements=elements) if (
            of is node.target
        ):
            return tree.Braces(elements, position=node.value.position)
        case _:
            return None


def _assign_list(
    context: Context, node: tree.Assign, target: Lvalue | Value, braces: tree.Braces
) -> Lvalue | Value:
    """`a = {...}` by an assignment that takes a list."""
    functions = find_member_functions(context, target.type, "operator=")
    assert functions is not None
    this = hold_object(context, target)
    return call_own_function(context, node, functions, [Given(context, braces)], (), this)


def _is_object_of(context: Context, type_: CType, base: CType) -> bool:
    type_, base = (complete_type(each, context.unit.structs) for each in (type_, base))
    if not isinstance(type_, StructType) or not isinstance(base, StructType):
        return False
    return is_same_type(type_, base) or type_.derives_from(base)


def _assigns_parts(context: Context, type_: CType, seen: set[int] | None = None) -> bool:
    """Whether a base or a member, or a part of one, has an assignment of its own.

    `seen` are classes that were looked at: those of members may be the same many times over.
    """
    seen = set() if seen is None else seen
    type_ = complete_type(type_, context.unit.structs)
    if isinstance(type_, ArrayType):
        parts: Iterable[CType] = (type_.element,)
    elif isinstance(type_, StructType) and not type_.is_union and type_.number not in seen:
        seen.add(type_.number)
        parts = (*type_.bases, *(each.type for each in type_.fields))
    else:
        return False
    return any(
        _has_own_assignment(context, complete_type(each, context.unit.structs))
        or _assigns_parts(context, each, seen)
        for each in parts
    )


_TUPLES = (TUPLE, "std::pair<")


def _assign_by_default(
    context: Context, target: Lvalue | Value, node: tree.Assign
) -> tuple[Value | None, tree.Assign]:
    """`a = b` part by part; None if `a` is assigned as a whole, with what was found already."""
    is_other = False
    if target.type.name.startswith(_TUPLES) and not _find_braces(node):
        found = look_at(context, node.value)
        node = replace(node, value=name_found(found, node.value.position))
        is_other = _assigns_elements(target.type, found.type)
    if is_other or _assigns_parts(context, target.type):
        return _assign_parts(context, target, node, is_other=is_other), node
    return None, node


def _assigns_elements(target: CType, source: CType) -> bool:
    """Whether a tuple or pair is assigned one of other types, or has elements that refer."""
    if not isinstance(target, StructType) or not isinstance(source, StructType):
        return False
    is_alike = source.name.startswith(_TUPLES) and len(source.fields) == len(target.fields)
    refers = any(isinstance(each.type, ReferenceType) for each in target.fields)
    return is_alike and (refers or not is_same_type(target, source))


def _assign_parts(
    context: Context, assigned: Lvalue | Value, node: tree.Assign, *, is_other: bool
) -> Value:
    """`a = b` of objects whose class says nothing of it: base and members, one by one.

    With `is_other` both are tuples or pairs, of which `b` stays as it is.
    """
    position = node.position
    setup = list[ast.expr]()
    place = assigned if is_other else _find_changeable(context, node.target)
    if isinstance(place, Value) or place.is_const:
        place = _find_changeable(context, node.target)
    target = stabilize(context, place, setup)
    type_ = complete_type(target.type, context.unit.structs)
    assert isinstance(type_, StructType)
    found = look_at(context, node.value)
    source = _find_assigned(context, type_, found, node, setup, is_other=is_other)
    is_moved = isinstance(found, Value) or found.is_over

    def assign(to: tree.Expression, value: tree.Expression, *, is_moved: bool) -> None:
        if is_moved:
            value = tree.FunctionCall(tree.Name("std::move"), (value,), position=position)
        done = change(context, tree.Assign(to, "=", value, position=position))
        setup.append(done.node if isinstance(done, Value) else read_lvalue(context, done).node)

    def visit(to: Lvalue, value: Lvalue) -> None:
        is_kept = isinstance(value.type, ReferenceType) and not value.type.is_rvalue
        to, value = (refer(context, each, node) for each in (to, value))
        inner = complete_type(to.type, context.unit.structs)
        pair = (name_found(to, position), name_found(value, position))
        if not isinstance(inner, ArrayType):
            assign(*pair, is_moved=is_moved and not is_kept)
            return
        if inner.count > MOST_ELEMENTS:
            message = f"this assigns an array of {inner.count} objects one by one"
            raise context.error(node, f"{message}; at most {MOST_ELEMENTS} are assigned so")
        for number in range(inner.count):
            index = tree.Integer(str(number), position=position)
            parts = (tree.Index(each, index, position=position) for each in pair)
            visit(*(find_lvalue(context, each) for each in parts))

    first = 0
    for base in type_.bases[:1]:
        visit(retype_lvalue(target, base), retype_lvalue(source, base))
        first = len(base.fields)
    for number in range(first, len(type_.fields)):
        visit(find_member_lvalue(target, number), find_member_lvalue(source, number))
    whole = read_lvalue(context, target)
    return replace(whole, node=code.last_of(*setup, whole.node))


def _find_assigned(
    context: Context,
    type_: StructType,
    found: Lvalue | Value,
    node: tree.Assign,
    setup: list[ast.expr],
    *,
    is_other: bool,
) -> Lvalue:
    """The place of an object whose parts are assigned."""
    derives = isinstance(found.type, StructType) and found.type.derives_from(type_)
    if not isinstance(found, Value) and (derives or is_other):
        source = stabilize(context, found, setup)
        return retype_lvalue(source, type_) if derives else source
    value = found if isinstance(found, Value) else read_lvalue(context, found)
    held = context.unit.create_name("assigned", "t")
    made = settle(value if is_other else convert_implicitly(context, value, type_, node.value))
    setup.append(code.walrus(held, code.list_of([made.node])))
    return ItemLvalue(made.type, code.name(held), code.constant(0))


def _assign(context: Context, setup: list[ast.expr], lvalue: Lvalue, value: Value) -> Value:
    width = width_of(lvalue)
    value = fit_bits(value, width)
    result = code.last_of(*setup, build_assigned(lvalue, value))
    if isinstance(lvalue, EitherLvalue) or (width and isinstance(lvalue, MemoryLvalue)):
        return replace(value, node=code.last_of(result, value.node))
    if isinstance(lvalue, MemoryLvalue):
        return _take_stored_bits(lvalue, result)
    return replace(settle(value), node=result)


def _take_stored_bits(lvalue: MemoryLvalue, node: ast.expr) -> Value:
    """The value of a store, of which the expression gives the bits."""
    match lvalue.type:
        case FloatType() as type_:
            return interpret_bits(type_, node)
        case IntType(bits=bits):
            return Value(lvalue.type, node, 0, (1 << max(bits, 8)) - 1)
        case _:
            return Value(lvalue.type, node)


def prepare_assignment(context: Context, node: tree.Assign) -> tuple[list[ast.expr], Lvalue, Value]:
    """What to do first, where to assign and what."""
    operator = node.operator.removesuffix("=")
    setup = list[ast.expr]()
    if acts_first(node.target):
        # What `(f(), x) = value` and `(x = 1) += value` do first comes after the value.
        value = _keep_value(context, evaluate_scalar(context, node.value), setup, always=True)
        lvalue = _find_last_changed(context, node.target, setup)
    else:
        lvalue = _find_changeable(context, node.target)
        value = evaluate_scalar(context, node.value)
    if not operator:
        value = fit_pointer(
            context, convert_implicitly(context, value, lvalue.type, node.value), lvalue, node
        )
        if _stores_twice(lvalue):
            is_split = bool(width_of(lvalue)) or isinstance(lvalue.type, StructType)
            context.unit.spend(node, 2 * count_of(lvalue.type))
            lvalue = stabilize(context, lvalue, setup) if is_split else lvalue
            if not code.is_stable(value.node):
                value = _keep_value(context, settle(value), setup, always=True)
        return setup, lvalue, value
    value = _keep_value(context, value, setup)
    lvalue = stabilize(context, lvalue, setup)
    result = operate(context, operator, read_lvalue(context, lvalue), value, node)
    result = fit_pointer(
        context, convert_implicitly(context, result, lvalue.type, node), lvalue, node
    )
    if _stores_twice(lvalue):
        result = _keep_value(context, settle(result), setup, always=True)
    return setup, lvalue, result


def _stores_twice(lvalue: Lvalue) -> bool:
    """Whether a store to a place writes its value more than once in Python."""
    if isinstance(lvalue, MemoryLvalue):
        return lvalue.bits is not None or isinstance(lvalue.type, StructType)
    return isinstance(lvalue, EitherLvalue)


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


def _find_last_changed(context: Context, node: tree.Expression, setup: list[ast.expr]) -> Lvalue:
    """The place of `(f(), x)`, `(x = 1)` or `++x`, after what happens first."""
    if not acts_first(node):
        return _find_changeable(context, node)
    found = look_at_last(context, node, setup)
    return _find_changeable(context, name_found(found, node.position))


def _find_changeable(context: Context, node: tree.Expression) -> Lvalue:
    """The place of an expression that may be assigned to."""
    lvalue = find_lvalue(context, node)
    if lvalue.is_const or (lvalue.is_over and not isinstance(lvalue.type, StructType)):
        raise context.error(node, "this is constant and cannot be changed")
    if has_constant_member(lvalue.type):
        message = f"'{lvalue.type.name}' has a constant member; assign the other members"
        raise context.error(node, message)
    if isinstance(lvalue.type, ArrayType):
        raise context.error(node, "an array cannot be assigned to; assign its elements")
    return lvalue


def evaluate_update(context: Context, node: tree.Update) -> Value:
    """The value of `++a` or `a++`."""
    found = change(context, node)
    return found if isinstance(found, Value) else read_lvalue(context, found)


def _update(context: Context, node: tree.Update) -> Value:
    setup, lvalue, old, new = prepare_update(context, node)
    new = fit_bits(new, width_of(lvalue))
    put = build_assigned(lvalue, new)
    if not node.postfix:
        result = code.last_of(*setup, put)
        if _stores_twice(lvalue):
            # The new number is computed from the old one, which is kept.
            return replace(new, node=code.last_of(result, new.node))
        if isinstance(lvalue, MemoryLvalue):
            return _take_stored_bits(lvalue, result)
        return replace(new, node=result)
    both = code.subscript(code.tuple_of(old.node, put), code.constant(0))
    return replace(old, node=code.last_of(*setup, both))


def prepare_update(
    context: Context, node: tree.Update
) -> tuple[list[ast.expr], Lvalue, Value, Value]:
    """What to do first, the place, its old value and its new value."""
    setup = list[ast.expr]()
    lvalue = _find_last_changed(context, node.operand, setup)
    lvalue = stabilize(context, lvalue, setup)
    old = read_lvalue(context, lvalue)
    if old.type == BOOL:
        raise context.error(node, f"'{node.operator}' does not go with 'bool'")
    if _stores_twice(lvalue):
        old = _keep_value(context, old, setup, always=True)
    new = convert_implicitly(
        context,
        operate(context, node.operator[0], old, make_integer(1, INT), node),
        lvalue.type,
        node,
    )
    return setup, lvalue, old, new


# --- Own operators --------------------------------------------------------------------------------
# Operators that classes and enumerations of the kernel define.


def call_operator(
    context: Context,
    name: str,
    operands: Sequence[tree.Expression],
    node: tree.Node,
    found: Sequence[Lvalue | Value] = (),
) -> Lvalue | Value | None:
    """What an operator of the kernel gives; None if it has none for such operands."""
    looked = [
        found[number] if number < len(found) else look_at(context, each)
        for number, each in enumerate(operands)
    ]
    return call_operator_on(context, name, operands, looked, node)


def call_operator_on(
    context: Context,
    name: str,
    operands: Sequence[tree.Expression],
    found: Sequence[Lvalue | Value],
    node: tree.Node,
) -> Lvalue | Value | None:
    """The same for operands that were looked at."""
    given = [Given(context, operand, each) for operand, each in zip(operands, found, strict=True)]
    member = find_member_functions(context, found[0].type, name)
    if member is not None:
        this = hold_object(context, found[0])
        moved = is_moved(given[0])
        return call_own_function(context, node, member, given[1:], (), this, is_over=moved)
    functions = _find_functions(context, name, found)
    if functions is None:
        return None
    objects = [each.type for each in found if isinstance(each.type, StructType)]
    if objects and not any(_may_convert(context, each) for each in objects):
        return call_own_function(context, node, functions, given)
    compares = name.removeprefix("operator") in code.COMPARE
    chosen = choose_operator(context, functions, CallOfOwn(node, (), given), compares=compares)
    return None if chosen is None else call_candidate(context, chosen, given, node)


def _may_convert(context: Context, type_: StructType) -> bool:
    """Whether objects of a class convert to something, with which the language may compute."""
    known = (context.unit.classes.get(each.number) for each in (type_, *type_.bases))
    return any(each is not None and each.conversions for each in known)


def _find_functions(
    context: Context, name: str, found: Sequence[Lvalue | Value]
) -> Functions | None:
    """The functions of an operator where it is used, and where its operands are declared."""
    groups = list[Functions]()
    symbol = context.unit.find(name, context.scope)
    if isinstance(symbol, Functions) and symbol.scope.owner is None:
        groups.append(symbol)
    of_enumeration: list[Functions] | None = None
    for each in found:
        for scope in find_associated_scopes(context, each):
            symbol = scope.symbols.get(name)
            is_free = isinstance(symbol, Functions) and symbol.scope.owner is None
            if is_free and isinstance(symbol, Functions):
                groups.append(symbol)
        if isinstance(each.type, EnumType):
            if of_enumeration is None:
                of_enumeration = _find_of_enumeration(context, name)
            groups += of_enumeration
    unique = list({id(each.definitions): each for each in groups}.values())
    if not unique:
        return None
    return replace(unique[0], others=tuple(unique[1:]))


def _find_of_enumeration(context: Context, name: str) -> list[Functions]:
    """The operators in all namespaces: an enumeration does not know its own."""
    holders = (context.unit.root, *context.unit.namespaces.values())
    symbols = (each.symbols.get(name) for each in holders)
    return [each for each in symbols if isinstance(each, Functions)]


def convert_object(context: Context, value: Value, target: CType, node: tree.Node) -> Value | None:
    """What a conversion function makes of an object, in a type; None if there is none."""
    converted = _find_converted(context, value, target, node)
    if converted is None or converted.type == target:
        return converted
    return context.handlers.cast(context, converted, target, node)


def _find_converted(context: Context, value: Value, target: CType, node: tree.Node) -> Value | None:
    """What the conversion function that is best for a type gives; another number if need be."""
    source = complete_type(value.type, context.unit.structs)
    if not isinstance(source, StructType):
        return None
    best: tuple[int, Candidate] | None = None
    is_over = value.is_over or _is_own(context, value)
    left_out = "&" if is_over else "&&"
    for type_ in (source, *source.bases):
        info = context.unit.classes.get(type_.number)
        for function in () if info is None else info.conversions:
            assert info is not None
            if function.category == left_out and not (is_over and function.is_const):
                continue
            result = context.unit.resolve_type(function.result, info.scope).type
            rank = _rank(result, target)
            if rank is not None and (best is None or rank < best[0]):
                best = (rank, Candidate(function, info.scope))
    if best is None:
        return None
    made = call_candidate(context, best[1], (), node, hold_object(context, value))
    return made if isinstance(made, Value) else read_lvalue(context, made)


def _rank(result: CType, target: CType) -> int | None:
    if is_same_type(result, target):
        return 0
    numbers = (IntType, FloatType)
    return 1 if isinstance(result, numbers) and isinstance(target, numbers) else None


# --- Folds ----------------------------------------------------------------------------------------
# Folds over parameter packs, and how many elements these have.

_EMPTY = {"&&": True, "||": False}


def evaluate_fold(context: Context, node: tree.Fold) -> Value:
    """`(xs + ...)` and its like (C++17, [expr.prim.fold])."""
    pattern, start, leftward = node.pattern, node.start, node.leftward
    if start is not None and not find_packs(context, pattern):
        pattern, start, leftward = start, pattern, True
    parts: list[tree.Expression] = [
        cast("tree.Expression", each) for each in expand_pattern(context, pattern, node)
    ]
    if start is not None:
        parts = [start, *parts] if leftward else [*parts, start]
    if not parts:
        if node.operator in _EMPTY:
            return make_integer(_EMPTY[node.operator], BOOL)
        if node.operator == ",":
            return Value(VOID, code.constant(None))
        raise context.error(node, f"a fold over '{node.operator}' needs at least one element")

    def join(a: tree.Expression, b: tree.Expression) -> tree.Expression:
        return tree.BinaryOperation(node.operator, a, b, position=node.position)

    if leftward:
        return context.evaluate(reduce(join, parts))
    return context.evaluate(reduce(lambda a, b: join(b, a), reversed(parts)))


def evaluate_count(context: Context, node: tree.CountOf) -> Value:
    """`sizeof...(xs)`."""
    symbol = find_pack(context.scope, node.pack)
    if symbol is None:
        raise context.error(node, f"'{node.pack}' is no parameter pack")
    return make_integer(len(symbol.symbols), UNSIGNED)


def evaluate_in_scope(context: Context, node: InScope) -> Value:
    """An expression whose names mean what they do in a scope of its own."""
    outer, context.scope = context.scope, node.scope
    value = context.evaluate(cast("tree.Expression", node.node))
    context.scope = outer
    return value
