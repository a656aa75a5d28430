"""Lvalues: the places that expressions designate, and reading and writing them."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeGuard, cast

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.types import (
    BOOL,
    CHAR,
    INT,
    NULL,
    UINT8,
    UNSIGNED,
    ArrayType,
    CType,
    EnumType,
    Field,
    FloatType,
    FunctionType,
    IncompleteType,
    IntType,
    MemberPointerType,
    MemberType,
    ObjectType,
    PointerType,
    ReferenceType,
    SignatureType,
    StringType,
    StructType,
    VoidType,
    complete_type,
    count_of,
    is_like_tuple,
    is_same_type,
    is_scoped,
    keeps_const,
    may_point,
    size_of,
    tag_of,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.destructors import keep_temporary
from ttmlir.sim.kernels.expressions.accessor_types import (
    find_layout_flag,
    find_questioned,
    find_spec_constant,
)
from ttmlir.sim.kernels.limits import MAX_FOLDED_STEPS, STACK_BYTES
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.python.code import PURE, TooManySteps, is_literal
from ttmlir.sim.kernels.python.runtime import FORMATS
from ttmlir.sim.kernels.scope import (
    Evaluated,
    FieldName,
    Functions,
    InScope,
    LateVariable,
    Symbol,
    Variable,
    find_reference,
    is_given_up,
)
from ttmlir.sim.kernels.value import (
    BitsLvalue,
    EitherLvalue,
    ItemLvalue,
    LocalLvalue,
    Lvalue,
    MemberLvalue,
    MemoryLvalue,
    PointedLvalue,
    Space,
    Value,
    apply_binary,
    apply_unary,
    build_condition,
    build_node,
    convert,
    convert_to_bool,
    describe_bits,
    find_base_lvalue,
    find_element_of_bits,
    find_member_lvalue,
    make_integer,
    make_value,
    point_at_base,
    point_into,
    protect_lvalue,
    read,
    read_after,
    reinterpret_bits,
    settle,
    width_of,
)

# --- Pointers -------------------------------------------------------------------------------------


def find_pointee(
    context: Context, pointer: Value, node: tree.Node, offset: Value | None = None
) -> Lvalue:
    """The place that a pointer points to, or that lies so many elements after it."""
    type_ = pointer.type
    if not isinstance(type_, PointerType):
        raise context.error(node, f"'{type_.name}' is no pointer")
    if isinstance(type_.pointee, ObjectType) and pointer.space is Space.ANY:
        # Objects of the library do not lie in memory.
        pointer = replace(pointer, space=Space.LOCAL)
    is_whole = isinstance(type_.pointee, (ObjectType, FunctionType, PointerType))
    is_known = is_whole and pointer.space is Space.LOCAL
    if size_of(type_.pointee) is None and not is_known:
        message = f"'{type_.name}' points to nothing that can be read; cast it first"
        raise context.error(node, message)
    if pointer.space is Space.LOCAL:
        lvalue = code.constant(0) if offset is None else settle(offset).node
        return PointedLvalue(type_.pointee, pointer.node, lvalue, type_.const)
    if offset is not None and offset.constant != 0:
        pointer = advance_pointer(context, pointer, offset, node)
    if pointer.space is Space.MEMORY:
        return find_pointee_in_memory(context, pointer)
    first = again = pointer.node
    if not isinstance(first, ast.Name):
        temporary = context.unit.create_name("pointer", "t")
        first, again = code.walrus(temporary, first), code.name(temporary)
    local = PointedLvalue(type_.pointee, again, code.constant(0), type_.const)
    memory = MemoryLvalue(type_.pointee, make_value(UNSIGNED, again), type_.volatile, type_.const)
    return EitherLvalue(type_.pointee, first, local, memory, type_.const)


def find_pointee_in_memory(context: Context, pointer: Value) -> MemoryLvalue:
    """The place in memory that an address means."""
    type_ = pointer.type
    assert isinstance(type_, PointerType)
    address = make_value(UNSIGNED, pointer.node)
    return MemoryLvalue(type_.pointee, address, type_.volatile, type_.const)


def advance_pointer(context: Context, pointer: Value, count: Value, node: tree.Node) -> Value:
    """A pointer to a later element."""
    type_ = pointer.type
    if not isinstance(type_, PointerType):
        raise context.error(node, f"'{type_.name}' has no elements")
    size = size_of(type_.pointee)
    if size is None:
        raise context.error(node, f"arithmetic on '{type_.name}' needs a cast first")
    steps = settle(count).node
    if pointer.space is Space.LOCAL:
        return replace(pointer, node=code.call("_advance", pointer.node, steps))
    if pointer.space is Space.ANY:
        called = code.call("_advance_any", pointer.node, steps, code.constant(size))
        return replace(pointer, node=called)
    scaled = apply_binary(
        "*", convert(count, INT if count.low < 0 else UNSIGNED), make_integer(size, INT)
    )
    assert scaled is not None
    address = apply_binary("+", make_value(UNSIGNED, pointer.node), scaled)
    assert address is not None
    return Value(type_, settle(address).node)


def take_address(context: Context, lvalue: Lvalue, node: tree.Node) -> Value:
    """A pointer to a place."""
    if width_of(lvalue):
        raise context.error(node, "a bit-field has no address; take that of the object around it")
    match lvalue:
        case MemoryLvalue():
            pointer = PointerType(lvalue.type, lvalue.volatile, lvalue.is_const)
            return Value(pointer, settle(lvalue.address).node)
        case EitherLvalue():
            local, memory = (take_address(context, x, node) for x in (lvalue.local, lvalue.memory))
            test = code.call("_is_local", lvalue.pointer)
            chosen = code.choice(test, local.node, memory.node)
            return Value(memory.type, chosen, space=Space.ANY)
        case PointedLvalue():
            type_ = PointerType(lvalue.type, const=lvalue.is_const)
            pointer = Value(type_, lvalue.pointer, space=Space.LOCAL)
            if isinstance(lvalue.offset, ast.Constant) and lvalue.offset.value == 0:
                return pointer
            return advance_pointer(context, pointer, make_value(INT, lvalue.offset), node)
        case ItemLvalue():
            pointer = PointerType(lvalue.type, const=lvalue.is_const)
            return point_into(lvalue.container, lvalue.index, lvalue.count, pointer)
        case LocalLvalue() if isinstance(lvalue.type, (StructType, ArrayType, ObjectType)):
            holder = code.list_of([code.name(lvalue.identifier)])
            pointer = PointerType(lvalue.type, const=lvalue.is_const)
            return point_into(holder, code.constant(0), None, pointer)
        case BitsLvalue():
            if not has_bytes(lvalue.type):
                message = "among members that share bits in a union numbers alone have an address"
                raise context.error(node, f"{message}; or make the union one of an object alone")
            shift, size = settle(lvalue.shift).node, code.constant(lvalue.size)
            tag = code.constant(tag_of(lvalue.type))
            pointed = code.call("_point_at_bits", lvalue.holder, shift, size, tag)
            pointer = PointerType(lvalue.type, const=lvalue.is_const)
            return Value(pointer, pointed, space=Space.LOCAL)
        case _:
            raise context.error(node, "the address of this is not supported")


def has_bytes(type_: CType) -> bool:
    """Whether variables of a type can be seen as numbers of another type."""
    return tag_of(type_) in FORMATS


def operate_on_pointer(
    context: Context, operator: str, left: Value, right: Value, node: tree.Node
) -> Value | None:
    """A binary operator with a pointer; None if it does not go with it."""
    a, b = left.type, right.type
    if isinstance(a, PointerType) and isinstance(b, PointerType):
        left, right = point_at_base(left, b.pointee), point_at_base(right, a.pointee)
        return _operate_on_pointers(context, operator, left, right)
    if operator in code.COMPARE:
        return _compare_with_null(context, operator, left, right)
    if operator == "+" and isinstance(b, PointerType):
        left, right = right, left
    if not isinstance(right.type, IntType) or operator not in ("+", "-"):
        return None
    if is_scoped(right.type):
        return None
    if operator == "-" and isinstance(b, PointerType):
        return None
    count = settle(right)
    if operator == "-":
        negative = apply_unary("-", convert(count, INT))
        assert negative is not None
        count = settle(negative)
    return advance_pointer(context, left, count, node)


def _operate_on_pointers(
    context: Context, operator: str, left: Value, right: Value
) -> Value | None:
    type_ = left.type
    assert isinstance(type_, PointerType)
    size = size_of(type_.pointee)
    in_memory = left.space is right.space is Space.MEMORY
    if operator in ("==", "!=") and not in_memory:
        same = code.call("_is_same", left.node, right.node)
        return Value(BOOL, same if operator == "==" else code.negation(same), 0, 1)
    if operator in code.COMPARE and in_memory:
        return Value(BOOL, code.compare(operator, left.node, right.node), 0, 1)
    if size is None or (operator != "-" and operator not in code.COMPARE):
        return None
    if in_memory:
        bytes_ = code.binary("-", left.node, right.node)
        return make_value(INT, code.call("_quotient", bytes_, code.constant(size)))
    distance = code.call("_distance", left.node, right.node, code.constant(size))
    if operator == "-":
        return make_value(INT, distance)
    return Value(BOOL, code.compare(operator, distance, code.constant(0)), 0, 1)


def _compare_with_null(context: Context, operator: str, left: Value, right: Value) -> Value | None:
    number, pointer = (left, right) if isinstance(left.type, IntType) else (right, left)
    if number.constant != 0 or operator not in ("==", "!="):
        return None
    if pointer.space is Space.LOCAL and isinstance(pointer.node, ast.Name):
        return make_integer(int(operator == "!="), BOOL)
    return Value(BOOL, code.compare(operator, pointer.node, code.constant(0)), 0, 1)


def fit_pointer(context: Context, value: Value, lvalue: Lvalue, node: tree.Node) -> Value:
    """A value of the place's type, if the place can hold where it points to."""
    if not isinstance(value.type, PointerType):
        return value
    match lvalue:
        case LocalLvalue(space=space) if space.join(value.space) is not space:
            context.widen(lvalue.origin)
        case MemoryLvalue() if value.space is Space.LOCAL:
            message = "the address of a local variable is not known to the simulator"
            raise context.error(node, f"{message}; it cannot be kept in memory")
        case _:
            pass
    return value


def take_memory_address(context: Context, pointer: Value) -> ast.expr:
    """The address that a pointer holds, which must not point to a variable."""
    if pointer.space is Space.MEMORY:
        return pointer.node
    return code.call("_address", pointer.node)


def evaluate_this(context: Context, node: tree.This) -> Value:
    """`this` as a pointer."""
    symbol = context.scope.find("this")
    if not isinstance(symbol, Variable) or isinstance(symbol.storage, Value):
        raise context.error(node, "there is no object here that 'this' could point to")
    return take_address(context, symbol.storage, node)


# --- Evaluating -----------------------------------------------------------------------------------
# Values of expressions where something is wanted of them.


def evaluate_scalar(context: Context, node: tree.Expression) -> Value:
    """The value of an expression that has one."""
    value = context.evaluate(node)
    if isinstance(value.type, VoidType):
        raise context.error(node, "this has no value")
    return value


def evaluate_number(
    context: Context, node: tree.Expression, what: str, *, scoped: bool = False
) -> Value:
    """The value of an expression that has to be an integer, or with `scoped` an enumerator."""
    value = settle(context.evaluate(node))
    is_refused = value.type == NULL or (is_scoped(value.type) and not scoped)
    if not isinstance(value.type, IntType) or is_refused:
        raise context.error(node, f"{what} is an integer, not '{value.type.name}'")
    return value


def evaluate_constant(
    context: Context, node: tree.Expression, what: str, *, scoped: bool = False
) -> int:
    """The value of an expression that has to be a known integer, or with `scoped` enumerator."""
    value = evaluate_number(context, node, what, scoped=scoped)
    number = fold_constant(context, value).constant
    if number is None:
        raise context.error(node, f"{what} has to be a constant expression")
    return int(number)


def fold_constant(context: Context, value: Value) -> Value:
    """A value with what it is, if that can be found without running the kernel."""
    if is_literal(value.node):
        return value
    try:
        literal = context.unit.folder.fold(settle(value).node)
    except TooManySteps:
        assert context.unit.last is not None
        message = f"the constants of this kernel take more than {MAX_FOLDED_STEPS} steps"
        raise context.error(context.unit.last, message) from None
    if literal is None:
        return value
    return make_literal(value.type, literal)


def is_fixed_by_host(context: Context, value: Value) -> bool:
    """Whether a value follows from what the host sets up before the kernel runs."""
    fixed = {variable for variable, name in context.unit.bindings.items() if name in _FIXED_BY_HOST}
    if not fixed:
        return False
    return not code.has_effect(value.node, PURE | fixed)


_FIXED_BY_HOST = ("get_tile_size", "get_dataformat", "get_tile_hw")
"""Calls about what the host sets up; C++ knows their values when it compiles."""


def make_literal(type_: CType, literal: ast.expr) -> Value:
    """A value that is written with numbers only."""
    if not isinstance(literal, ast.Constant) or literal.value is None:
        return Value(type_, literal)
    number = literal.value
    if isinstance(type_, IntType) and isinstance(number, (int, float)):
        return make_integer(int(number), type_)
    return Value(type_, literal)


def evaluate_condition(context: Context, node: tree.Expression) -> Value:
    """The value of an expression as `bool`."""
    value = evaluate_scalar(context, node)
    is_enumerator = is_scoped(value.type) and value.type != NULL
    if isinstance(value.type, StructType):
        converted = context.handlers.convert_object(context, value, BOOL, node)
        value = converted or value
    if isinstance(value.type, (ObjectType, ArrayType, StructType)) or is_enumerator:
        raise context.error(node, f"'{value.type.name}' is no condition")
    value = convert_to_bool(value)
    context.unit.locate(value.node, node.position)
    return value


# --- Conversions ----------------------------------------------------------------------------------


def convert_implicitly(
    context: Context, value: Value, target: CType, node: tree.Node, *, is_explicit: bool = False
) -> Value:
    """A value in the type of what it is assigned to, without cast.

    With `is_explicit` a cast asks for it, which takes explicit constructors, too.
    """
    source = value.type
    if isinstance(target, IncompleteType):
        target = complete_type(target, context.unit.structs)
    match target, source:
        case ((IntType() | FloatType()), (IntType() | FloatType())):
            if target != source and (isinstance(target, EnumType) or is_scoped(source)):
                raise context.error(node, _describe_conversion(source, target))
            return convert(value, target)
        case IntType(), PointerType() if target == BOOL:
            return convert_to_bool(value)
        case PointerType(), IntType() if source == NULL or _is_zero(value, node):
            return Value(target, code.constant(0))
        case PointerType(), PointerType() if may_point(target, source):
            pointer = replace(target, volatile=target.volatile or source.volatile)
            return replace(point_at_base(value, target.pointee), type=pointer)
        case _ if source == target or _is_accessor(target, source):
            return value
        case PointerType(pointee=MemberType()), _:
            found = context.handlers.point_at_member(context, value, target, node)
            return found or _convert_classes(context, value, target, node, is_explicit)
        case ((PointerType(pointee=SignatureType()) | SignatureType()), _):
            return _convert_function(context, value, target, node)
        case _:
            return _convert_classes(context, value, target, node, is_explicit)


def _convert_function(
    context: Context, value: Value, target: PointerType | SignatureType, node: tree.Node
) -> Value:
    """A function or lambda as a pointer to functions of a type, or for a reference to them."""
    source = value.type
    if isinstance(target, SignatureType) and isinstance(source, PointerType):
        if is_same_type(target, source.pointee):
            return value
    if isinstance(target, PointerType) and isinstance(source, PointerType):
        if context.handlers.points_to_base(context, source, target):
            return replace(value, type=target)
    fitting = context.handlers.fit_function(context, value, target, node)
    if fitting is None and isinstance(source, StructType):
        converted = context.handlers.convert_object(context, value, target, node)
        if converted is not None:
            return converted
    if fitting is None:
        raise context.error(node, _describe_function(source, target))
    if isinstance(target, SignatureType):
        return fitting
    return context.handlers.point_at(context, fitting, target, node)


def is_function(type_: CType) -> bool:
    """Whether values of a type are a function of the kernel, which the type says."""
    return isinstance(type_, FunctionType) and not isinstance(type_, MemberPointerType)


def decay_function(context: Context, value: Value, node: tree.Node) -> Value:
    """A function as a pointer to it; other values as they are."""
    if isinstance(value.type, MemberPointerType):
        target = PointerType(MemberType(value.type.pointee, value.type.holder))
        return context.handlers.point_at_member(context, value, target, node) or value
    if not is_function(value.type):
        return value
    return context.handlers.point_at_function(context, value, node)


def _is_zero(value: Value, node: tree.Node) -> bool:
    return value.constant == 0 and isinstance(node, tree.Integer)


def _is_accessor(target: CType, source: CType) -> bool:
    """Whether a reference to an accessor of any layout may refer to one."""
    if not isinstance(target, ObjectType) or not isinstance(source, ObjectType):
        return False
    return target.name == source.name and not target.arguments


def _describe_function(source: CType, target: CType) -> str:
    signature = target.pointee if isinstance(target, PointerType) else target
    if not isinstance(source, FunctionType) or isinstance(source, MemberPointerType):
        return f"a '{source.name}' is no '{signature.name}'"
    return f"no '{source.name}' is a '{signature.name}'"


def _convert_classes(
    context: Context, value: Value, target: CType, node: tree.Node, is_explicit: bool
) -> Value:
    source = value.type
    if isinstance(source, StringType) and isinstance(target, PointerType):
        if target.const and target.pointee == CHAR:
            return replace(_point_at_characters(source), type=target)
    if isinstance(source, StructType) and isinstance(target, StructType):
        if source.derives_from(target):
            return _take_base(value, target)
    if isinstance(source, StructType) or isinstance(target, StructType):
        converted = _convert_object(context, value, target, node, is_explicit)
        if converted is not None:
            return converted
    raise context.error(node, _describe_conversion(source, target))


def _take_base(value: Value, target: StructType) -> Value:
    """The part of an object that is of its base."""
    count = len(target.fields)
    assert isinstance(value.type, StructType)
    for number in value.type.find_path_to(target) or ():
        value = replace(value, type=target, node=code.subscript(value.node, code.constant(number)))
    assert isinstance(value.type, StructType)
    if len(value.type.fields) == count:
        return replace(value, type=target)
    return Value(target, code.call("_sliced", value.node, code.constant(count)))


def _convert_object(
    context: Context, value: Value, target: CType, node: tree.Node, is_explicit: bool
) -> Value | None:
    """What a conversion function, or a constructor with one argument, makes of a value."""
    found = context.handlers.convert_object(context, value, target, node)
    if found is not None or not isinstance(target, StructType):
        return found
    info = context.unit.classes.get(target.number)
    makers = () if info is None else info.constructors
    fitting = is_like_tuple(value.type, target) or [
        each
        for each in makers
        if each.parameters
        and all(one.default is not None or one.is_pack for one in each.parameters[1:])
        and (is_explicit or "explicit" not in each.specifiers)
    ]
    if not fitting:
        return None
    known = cast("tree.Expression", Evaluated(value, position=node.position))
    if isinstance(node, tree.Name) and isinstance(value.type, StructType) and makers:
        # A variable stays in use: constructors that move do not take it.
        known = node
    made = context.handlers.construct(context, target, (known,), node)
    return keep_temporary(context, made, node)


def _decay_both(context: Context, a: Value, b: Value, node: tree.Node) -> tuple[Value, Value]:
    """Functions and strings among two values of different types as pointers."""
    if a.type == b.type:
        return a, b
    if isinstance(a.type, StringType) and isinstance(b.type, StringType):
        return _point_at_characters(a.type), _point_at_characters(b.type)
    return decay_function(context, a, node), decay_function(context, b, node)


def unify_types(
    context: Context, a: Value, b: Value, node: tree.Conditional
) -> tuple[Value, Value]:
    """Two values in the type that they have in common."""
    numbers = (IntType, FloatType)
    a, b = _decay_both(context, a, b, node)
    if a.type == b.type:
        return settle(a), settle(b)
    if isinstance(a.type, ObjectType) and b.type == ObjectType(a.type.name):
        return Value(b.type, a.node), b
    mixed_null = NULL in (a.type, b.type) and PointerType in (type(a.type), type(b.type))
    if (is_scoped(a.type) or is_scoped(b.type)) and not mixed_null:
        raise context.error(node, _describe_mixture(a.type, b.type))
    if isinstance(a.type, numbers) and isinstance(b.type, numbers):
        total = apply_binary("+", a, b)
        assert total is not None
        target = total.type
        assert isinstance(target, numbers)
        return settle(convert(a, target)), settle(convert(b, target))
    if isinstance(a.type, PointerType) and isinstance(b.type, PointerType):
        if may_point(b.type, a.type):
            return convert_implicitly(context, a, b.type, node.true_value), b
    if isinstance(a.type, PointerType):
        return a, convert_implicitly(context, b, a.type, node.false_value)
    if isinstance(a.type, StructType):
        try:
            return a, convert_implicitly(context, b, a.type, node.false_value)
        except CppSyntaxError:
            pass  # It is the first one that becomes the second's type, or neither.
    return convert_implicitly(context, a, b.type, node.true_value), b


def _describe_mixture(a: CType, b: CType) -> str:
    return f"'{a.name}' and '{b.name}' have no type in common; cast one of them"


def _describe_conversion(source: CType, target: CType) -> str:
    if source == NULL:
        return f"nullptr is a pointer and no '{target.name}'; write a value of that type"
    if isinstance(target, PointerType) and isinstance(source, IntType):
        return (
            f"an integer is no '{target.name}'; write reinterpret_cast<{target.name}>(...), "
            "with volatile tt_l1_ptr for memory that others write"
        )
    if isinstance(target, IntType) and isinstance(source, PointerType):
        return f"a pointer is no '{target.name}'; write reinterpret_cast<uint32_t>(...)"
    if isinstance(target, PointerType) and isinstance(source, PointerType):
        if not keeps_const(target, source):
            return (
                f"'{source.name}' does not convert to '{target.name}', through which what is const "
                "could be changed; declare the pointer with const, or use const_cast"
            )
    if isinstance(target, EnumType) or is_scoped(source):
        return (
            f"'{source.name}' does not convert to '{target.name}'; write "
            f"static_cast<{target.name}>(...)"
        )
    if isinstance(source, StringType):
        return f"a string is no '{target.name}'"
    if isinstance(target, FunctionType) and isinstance(source, FunctionType):
        return f"a pointer points to '{target.name}' for good here, and not to '{source.name}'"
    return f"'{source.name}' does not convert to '{target.name}'"


# --- Places ---------------------------------------------------------------------------------------


def find_lvalue(context: Context, node: tree.Expression) -> Lvalue:
    """The place that an expression means."""
    found = look_at(context, node)
    if not isinstance(found, Value):
        return found
    if isinstance(node, tree.Unary) and node.operator == "*":
        # The bits of a variable, which are a value until they are changed.
        return find_pointee(context, evaluate_scalar(context, node.operand), node)
    if isinstance(node, tree.Name):
        symbol = context.unit.find(node.text, context.scope)
        if isinstance(symbol, Variable):
            raise context.error(node, f"'{node.text}' is constant")
        raise context.error(node, f"'{node.text}' is no variable of the kernel")
    raise context.error(node, "this is no variable, element or member")


def look_at(context: Context, node: tree.Expression) -> Lvalue | Value:
    """The place that an expression means, or its value if it has none."""
    context.unit.spend(node)
    found = _look(context, node)
    if isinstance(found, Value):
        context.unit.locate(found.node, node.position)
    return found


def _look(context: Context, node: tree.Expression) -> Lvalue | Value:
    match node:
        case tree.Name():
            return _look_at_name(context, node)
        case tree.Index():
            return _find_element(context, node)
        case tree.Member():
            return _find_member(context, node)
        case tree.PointedMember():
            return context.handlers.find_pointed_member(context, node)
        case tree.Unary(operator="*"):
            return _find_dereferenced(context, node)
        case tree.FunctionCall():
            return context.handlers.call(context, node)
        case tree.Assign() | tree.Update(postfix=False):
            return context.handlers.change(context, node)
        case tree.Cast(type=written) if find_reference(written, context.scope):
            return _cast_lvalue(context, node)
        case tree.Conditional():
            return _choose_lvalue(context, node)
        case _:
            return _look_at_known(context, node)


def _is_idle(context: Context, left: tree.Expression) -> bool:
    """Whether nothing happens before a comma, where a variable stands."""
    if not isinstance(left, tree.Name) or context.unit.find("operator,", context.scope):
        return False
    with context.unit.looking():
        return not context.unit.has_effect(context.evaluate(left).node)


def _look_at_known(context: Context, node: tree.Expression) -> Lvalue | Value:
    """What readers of the tree have put there, or an expression that has a value only."""
    match node:
        case Evaluated(found=found, setup=setup):
            if isinstance(found, Value) or not setup:
                return found
            return read_after(setup, read_lvalue(context, found))
        case InScope(scope=scope):
            outer, context.scope = context.scope, scope
            found = look_at(context, cast("tree.Expression", node.node))
            context.scope = outer
            return found
        case tree.BinaryOperation(operator=",", right=right) if _is_idle(context, node.left):
            return look_at(context, right)
        case _:
            return evaluate_scalar(context, node)


def _choose_lvalue(context: Context, node: tree.Conditional) -> Lvalue | Value:
    """`condition ? a : b`, which is a place if both are places of one type, or both given up."""
    found = [look_at(context, each) for each in (node.true_value, node.false_value)]
    a, b = (
        cast("tree.Expression", Evaluated(each, written, position=node.position))
        for each, written in zip(found, (node.true_value, node.false_value), strict=True)
    )
    known = replace(node, true_value=a, false_value=b)
    lvalues = [each for each in found if has_address(each)]
    is_alike = len(lvalues) == len(found) and lvalues[0].is_over == lvalues[1].is_over
    if not is_alike or lvalues[0].type != lvalues[1].type:
        return evaluate_scalar(context, known)
    condition = evaluate_condition(context, node.condition)
    if condition.constant is not None:
        return lvalues[0 if condition.constant else 1]
    first, second = (take_address(context, each, node) for each in lvalues)
    pointer = replace(
        first,
        node=code.choice(build_condition(condition), first.node, second.node),
        space=first.space.join(second.space),
    )
    chosen = replace(find_pointee(context, pointer, node), is_over=lvalues[0].is_over)
    return protect_lvalue(chosen) if any(each.is_const for each in lvalues) else chosen


def has_address(found: Lvalue | Value) -> TypeGuard[Lvalue]:
    """Whether a pointer to a place can be made; to a number in a variable of Python it cannot."""
    if isinstance(found, LocalLvalue):
        return isinstance(found.type, StructType)
    if not isinstance(found, Value) and width_of(found):
        return False
    is_kept = isinstance(found, (ItemLvalue, PointedLvalue, MemoryLvalue, EitherLvalue))
    return is_kept and not isinstance(found.type, (ArrayType, ObjectType))


def evaluate_lvalue(context: Context, node: tree.Expression) -> Value:
    """The value of an element, a member, or what else may be a place."""
    known = _find_known_part(context, node)
    found = known or _look(context, node)
    return found if isinstance(found, Value) else read_lvalue(context, found)


def look_for_value(context: Context, node: tree.Expression) -> Lvalue | Value:
    """The same where a value is wanted: an element or member of a constant is constant."""
    return _find_known_part(context, node) or look_at(context, node)


def _find_known_part(context: Context, node: tree.Expression) -> Value | None:
    if isinstance(node, (tree.Name, tree.Index, tree.Member, tree.PointedMember)):
        known = find_known(context, node)
        if known is not None and known.constant is not None:
            return known
    return None


def _look_at_name(context: Context, node: tree.Name) -> Lvalue | Value:
    symbol = find_symbol(context, node)
    if isinstance(symbol, Variable):
        return symbol.storage
    if isinstance(symbol, FieldName):
        return find_own_member(context, symbol, node)
    return context.evaluate(node)


def find_symbol(context: Context, node: tree.Name) -> Symbol | None:
    """The symbol of a name; a variable that is declared on demand is declared now."""
    if node.template_arguments or node.scope is not None:
        return context.handlers.find_templated_symbol(context, node)
    symbol = context.unit.find(node.text, context.scope)
    if "::" in node.text:
        context.unit.check_path(node.text, node, context.scope)
    if isinstance(symbol, LateVariable):
        if symbol.declaration.template_parameters:
            return context.handlers.find_templated_symbol(context, node)
        return context.handlers.declare_late(context, symbol, node)
    return symbol


# Members.


def find_this(context: Context, node: tree.Node, holder: str = "this") -> Lvalue:
    """The object that a member function is called on."""
    symbol = context.scope.find(holder)
    if isinstance(symbol, FieldName):
        return find_own_member(context, symbol, node)
    if not isinstance(symbol, Variable) or isinstance(symbol.storage, Value):
        raise context.error(node, "there is no object here whose member this could be")
    return symbol.storage


def find_own_member(context: Context, field: FieldName, node: tree.Node) -> Lvalue:
    """A member of the object that a member function is called on."""
    this = find_this(context, node, field.holder)
    base = _find_named_base(context, node)
    if isinstance(this.type, StructType) and base is not None and this.type.derives_from(base):
        this = retype_lvalue(this, base)
    lvalue = find_member(context, this, field.name, node)
    if isinstance(lvalue, Value):
        raise context.error(node, f"'{field.name}' is constant")
    return lvalue


def _find_named_base(context: Context, node: tree.Node) -> StructType | None:
    """The class in `A::x` and `A<int>::x`, of which the member is; the object may have others."""
    if not isinstance(node, tree.Name):
        return None
    path = node.text.rpartition("::")[0]
    named = tree.NamedType(path, (), (), node.scope) if path else node.scope
    found = None if named is None else context.unit.resolve_type(named, context.scope).type
    return found if isinstance(found, StructType) else None


def _find_member(context: Context, node: tree.Member) -> Lvalue | Value:
    if node.arrow:
        base = find_pointed_object(context, node)
    else:
        base = hold_whole(look_at(context, node.base), node.base)
    return find_member(context, base, node.member, node)


def find_pointed_object(context: Context, node: tree.Member) -> Lvalue:
    """The object that `base->` refers to."""
    if isinstance(node.base, tree.This):
        return find_this(context, node)
    found = look_at(context, node.base)
    if isinstance(found.type, StructType):
        arrow = context.handlers.call_operator(context, "operator->", (node.base,), node, (found,))
        if arrow is None:
            raise context.error(node, f"'{found.type.name}' is no pointer")
        found = arrow
    value = found if isinstance(found, Value) else read_lvalue(context, found)
    return find_pointee(context, value, node)


def hold_whole(found: Lvalue | Value, node: tree.Expression) -> Lvalue:
    """The object whose part is asked for: nobody needs one that was just made any more."""
    if not isinstance(found, Value) or isinstance(node, tree.Name):
        return hold_value(found)
    return replace(hold_value(found), is_const=found.is_const, is_over=True)


def hold_value(found: Lvalue | Value) -> Lvalue:
    """A value as a place that cannot be changed."""
    if not isinstance(found, Value):
        return found
    return ItemLvalue(found.type, code.list_of([found.node]), code.constant(0), is_const=True)


def find_member(context: Context, base: Lvalue, name: str, node: tree.Node) -> Lvalue | Value:
    """A member of an object; of a static one it is known without the object."""
    match complete_type(base.type, context.unit.structs):
        case StructType() as struct:
            context.unit.check_access(struct, name, node, context.scope)
            path = find_path(struct, name)
            if path is None:
                return _find_static_member(context, struct, name, node)
            lvalue = replace(base, type=struct) if base.type != struct else base
            for number in path:
                lvalue = _complete_lvalue(context, find_member_lvalue(lvalue, number))
            if isinstance(lvalue, EitherLvalue) and isinstance(lvalue.type, ObjectType):
                lvalue = _find_local(context, lvalue, node)
            if isinstance(lvalue, MemoryLvalue) and isinstance(lvalue.type, ObjectType):
                message = f"'{struct.name}' is no type of what lies in memory: it holds an object"
                raise context.error(node, f"{message} of the kernel library")
            return refer(context, lvalue, node)
        case ObjectType() as type_ if not isinstance(
            base, (MemoryLvalue, EitherLvalue, BitsLvalue)
        ):
            members = context.unit.library.find_members(type_.name)
            if name not in members:
                raise context.error(node, describe_missing_member(type_.name, name, members))
            known = find_layout_flag(context, type_, name)
            if known is not None:
                return make_integer(known, BOOL)
            is_const = not context.unit.library.is_writable(type_.name, name)
            return MemberLvalue(members[name], build_node(base), name, is_const)
        case type_:
            raise context.error(node, f"'{type_.name}' has no members")


def _find_local(context: Context, lvalue: EitherLvalue, node: tree.Node) -> Lvalue:
    """What a pointer points to that cannot lie in memory, as it holds an object of the library."""
    if not isinstance(lvalue.pointer, ast.Name):
        context.emit(ast.Expr(lvalue.pointer), node.position)
    return lvalue.local


def find_path(struct: StructType, name: str) -> tuple[int, ...] | None:
    """The numbers of the members that lead to one, through unnamed structs and unions."""
    number = struct.index(name)
    if number is not None:
        return (number,)
    for number, field in enumerate(struct.fields):
        if field.name.startswith("(") and isinstance(field.type, StructType):
            inner = find_path(field.type, name)
            if inner is not None:
                return (number, *inner)
    return None


def list_fields(type_: CType, path: Sequence[int]) -> list[Field]:
    """The members on a path, each in the one before."""
    fields = list[Field]()
    for number in path:
        assert isinstance(type_, StructType)
        fields.append(type_.fields[number])
        type_ = fields[-1].type
    return fields


def list_members(struct: StructType) -> Iterator[str]:
    """The names of members, those in unnamed structs and unions too."""
    for field in struct.fields:
        if field.name.startswith("(") and isinstance(field.type, StructType):
            yield from list_members(field.type)
        else:
            yield field.name


def _find_static_member(
    context: Context, struct: StructType, name: str, node: tree.Node
) -> Lvalue | Value:
    info = context.unit.classes.get(struct.number)
    symbol = None if info is None else info.scope.find_here(name)
    if isinstance(symbol, LateVariable):
        symbol = context.handlers.declare_late(context, symbol, node)
    if isinstance(symbol, Variable):
        return symbol.storage
    if isinstance(symbol, Functions):
        message = f"'{name}' is a member function of '{struct.name}': it can only be called"
        raise context.error(node, message)
    names = list(list_members(struct))
    raise context.error(node, describe_missing_member(struct.name, name, names))


def _complete_lvalue(
    context: Context, lvalue: ItemLvalue | BitsLvalue | MemoryLvalue | EitherLvalue
) -> Lvalue:
    type_ = complete_type(lvalue.type, context.unit.structs)
    if type_ == lvalue.type:
        return lvalue
    return retype_lvalue(lvalue, type_)


def retype_lvalue(lvalue: Lvalue, type_: CType) -> Lvalue:
    """The same place as one of another type: with the same members, or of a base."""
    if isinstance(type_, StructType):
        return find_base_lvalue(lvalue, type_)
    if isinstance(lvalue, EitherLvalue):
        local, memory = replace(lvalue.local, type=type_), replace(lvalue.memory, type=type_)
        return replace(lvalue, type=type_, local=local, memory=memory)
    return replace(lvalue, type=type_)


def refer(context: Context, lvalue: Lvalue, node: tree.Node) -> Lvalue:
    """What a member that is a reference refers to."""
    type_ = lvalue.type
    if not isinstance(type_, ReferenceType):
        return lvalue
    pointer = PointerType(type_.referent, type_.volatile, type_.const)
    value = read_lvalue(context, retype_lvalue(lvalue, pointer))
    if type_.is_local:
        value = replace(value, space=Space.LOCAL)
    return find_pointee(context, value, node)


def _cast_lvalue(context: Context, node: tree.Cast) -> Lvalue | Value:
    """`static_cast<T&>(place)`: the same place as one of a base or derived class."""
    found = look_at(context, node.value)
    qualified = context.unit.resolve_type(node.type, context.scope)
    target = qualified.type
    if isinstance(found, Value):
        return context.handlers.cast(context, found, target, node)
    if found.type == target or qualified.reference == "&&":
        is_over = found.is_over or is_given_up(node, context.scope)
        found = replace(found, is_over=is_over)
        return protect_lvalue(found) if qualified.const else found
    given = found.type
    if isinstance(given, (StructType, IncompleteType)) and isinstance(target, StructType):
        if target.derives_from(given):
            refuse_derived(context, target, given, node)
            return retype_lvalue(found, target)
        if isinstance(given, StructType) and given.derives_from(target):
            return retype_lvalue(found, target)
    return context.handlers.cast(context, read_lvalue(context, found), target, node)


def refuse_derived(
    context: Context, target: StructType, given: StructType | IncompleteType, node: tree.Node
) -> None:
    """Refuse a cast to a class from a base of it that is not the first one."""
    base = context.unit.structs[given.number]
    if isinstance(base, StructType) and target.find_path_to(base):
        message = f"'{base.name}' is not the first base of '{target.name}' with members"
        raise context.error(node, f"{message}: a cast from it is not supported")


# Elements.


def _find_element(context: Context, node: tree.Index) -> Lvalue | Value:
    if isinstance(node.base, tree.Name) and context.unit.library.is_array(node.base.text):
        holder = code.name(context.unit.bind(node.base.text))
        number = evaluate_number(context, node.index, "an index")
        return ItemLvalue(UINT8, holder, check_index(number), is_const=True)
    if isinstance(node.base, tree.Name) and _is_interface_array(context, node.base.text):
        callee = tree.Name("get_local_cb_interface", position=node.position)
        value = context.evaluate(tree.FunctionCall(callee, (node.index,), position=node.position))
        return ItemLvalue(value.type, code.list_of([value.node]), code.constant(0))
    base = look_at(context, node.base)
    array = find_elements_of(context, base)
    if array is None and isinstance(base.type, StructType):
        operands = (node.base, node.index)
        found = context.handlers.call_operator(context, "operator[]", operands, node, (base,))
        if found is None:
            raise context.error(node, f"'{base.type.name}' has no elements")
        return found
    index = evaluate_number(context, node.index, "an index")
    if array is None:
        value = base if isinstance(base, Value) else read_lvalue(context, base)
        return find_pointee(context, value, node, index)
    return find_element(context, array, index, node)


def find_elements_of(context: Context, base: Lvalue | Value) -> Lvalue | None:
    """The place of an array, or of that in a `std::array`."""
    if isinstance(base.type, ArrayType):
        return hold_value(base)
    if isinstance(base.type, StringType):
        return hold_value(_spell_characters(base.type))
    if isinstance(base.type, StructType) and base.type.name.startswith("std::array<"):
        inner = find_member_lvalue(hold_value(base), 0)
        # Its operator[] gives a place, whatever becomes of the array.
        return replace(inner, is_over=False) if isinstance(inner.type, ArrayType) else None
    return None


def _spell_characters(text: StringType) -> Value:
    """A string as the array that it is, with the zero behind it."""
    characters = (*text.characters, 0)
    array = ArrayType(CHAR, len(characters))
    return Value(array, code.list_of(map(code.constant, characters)))


def _point_at_characters(text: StringType) -> Value:
    """A pointer to the first character of a string."""
    array = _spell_characters(text)
    count = len(text.characters) + 1
    return point_into(array.node, code.constant(0), count, PointerType(CHAR, const=True))


def find_element(context: Context, base: Lvalue, index: Value, node: tree.Node) -> Lvalue:
    """An element of an array."""
    array = base.type
    assert isinstance(array, ArrayType)
    if index.constant is not None and not 0 <= index.constant < array.count:
        message = f"the index {index.constant} is outside of '{array.name}'"
        raise context.error(node, message)
    return _find_element_of(context, base, array, index, node)


def _is_interface_array(context: Context, name: str) -> bool:
    """Whether a name is that of the array of 2024 with the interfaces of circular buffers."""
    return name == "cb_interface" and context.unit.find(name, context.scope) is None


def _find_element_of(
    context: Context, base: Lvalue, array: ArrayType, index: Value, node: tree.Node
) -> ItemLvalue | BitsLvalue | MemoryLvalue | EitherLvalue:
    match base:
        case MemoryLvalue():
            type_ = PointerType(array.element, base.volatile, base.is_const)
            start = Value(type_, base.address.node)
            found = find_pointee_in_memory(context, advance_pointer(context, start, index, node))
            return replace(found, is_over=base.is_over)
        case EitherLvalue():
            pointer = base.pointer
            if not code.is_stable(index.node):
                number = context.unit.create_name("index", "t")
                pointer = code.last_of(code.walrus(number, index.node), base.pointer)
                index = Value(index.type, code.name(number), index.low, index.high)
            local = _find_element_of(context, base.local, array, index, node)
            memory = _find_element_of(context, base.memory, array, index, node)
            assert isinstance(local, (ItemLvalue, BitsLvalue))
            assert isinstance(memory, MemoryLvalue)
            return replace(base, type=array.element, pointer=pointer, local=local, memory=memory)
        case BitsLvalue():
            return find_element_of_bits(base, index)
        case _:
            number, count, is_over = check_index(index), array.count, base.is_over
            holder = build_node(base)
            return ItemLvalue(array.element, holder, number, base.is_const, count, 0, is_over)


def _find_dereferenced(context: Context, node: tree.Unary) -> Lvalue | Value:
    """The object that `*pointer` refers to."""
    if isinstance(node.operand, tree.This):
        return find_this(context, node)
    punned = _read_punned(context, node.operand)
    if punned is not None:
        return punned
    found = look_at(context, node.operand)
    if isinstance(found.type, StructType):
        called = context.handlers.call_operator(
            context, "operator*", (node.operand,), node, (found,)
        )
        if called is None:
            raise context.error(node, f"'{found.type.name}' is no pointer")
        return called
    value = found if isinstance(found, Value) else read_lvalue(context, found)
    if is_function(value.type) or points_to_function(value.type):
        return value
    return find_pointee(context, value, node)


def points_to_function(type_: CType) -> bool:
    """Whether a type is that of pointers to functions that are chosen while the kernel runs."""
    return isinstance(type_, PointerType) and isinstance(type_.pointee, SignatureType)


def _read_punned(context: Context, node: tree.Expression) -> Value | None:
    """A local number read through a pointer to another type: `*(uint32_t*)&x`."""
    match node:
        case tree.Cast(
            type=tree.Pointer(pointee=pointee), value=tree.Unary(operator="&", operand=operand)
        ):
            lvalue = find_lvalue(context, operand)
            target = context.unit.resolve_type(pointee, context.scope).type
            if isinstance(lvalue, (MemoryLvalue, EitherLvalue)) or lvalue.type == target:
                return None
            return reinterpret_bits(read_lvalue(context, lvalue), target)
        case _:
            return None


def find_reference_of(context: Context, written: tree.Decltype) -> str:
    """`&` or `&&` if `decltype(expression)` means a reference."""
    node = written.expression
    if written.in_brackets or not isinstance(node, (tree.Name, tree.Member)):
        return _find_category(context, node)
    return _find_declared_reference(context, node)


def _find_declared_reference(context: Context, node: tree.Name | tree.Member) -> str:
    """`&` or `&&` if what an expression names is declared as a reference."""
    if isinstance(node, tree.Name):
        symbol = context.unit.find(node.text, context.scope)
        if isinstance(symbol, FieldName):
            holder, name = find_this(context, node).type, node.text
        else:
            return symbol.reference if isinstance(symbol, Variable) else ""
    else:
        holder = look_at(context, node.base).type
        name = node.member
    if not isinstance(holder, StructType) or (number := holder.index(name)) is None:
        return ""
    declared = holder.fields[number].type
    return ("&&" if declared.is_rvalue else "&") if isinstance(declared, ReferenceType) else ""


def _find_category(context: Context, node: tree.Expression) -> str:
    """`&` of an lvalue, `&&` of a place that is given up; nothing of a value without place."""
    match node:
        case tree.Assign(target=inner) | tree.Update(operand=inner, postfix=False):
            if not isinstance(look_at(context, inner).type, StructType):
                return "&"
        case tree.Conditional(true_value=a, false_value=b):
            is_same = look_at(context, a).type == look_at(context, b).type
            kinds = {_find_category(context, each) for each in (a, b)}
            return kinds.pop() if is_same and len(kinds) == 1 else ""
        case tree.BinaryOperation(operator=",", left=left, right=right):
            has_own = context.unit.find("operator,", context.scope) is not None
            if not has_own or not isinstance(context.evaluate(left).type, StructType):
                return _find_category(context, right)
        case tree.FunctionCall(tree.Name(text="std::declval"), (), (written,)):
            return context.unit.resolve_type(written, context.scope).refer("&&").reference
        case _:
            pass
    found = look_at(context, node)
    if isinstance(found, Value):
        return "&&" if is_given_up(node, context.scope) else ""
    return "&&" if found.is_over else "&"


def find_array(context: Context, node: tree.Expression) -> Lvalue | None:
    """The place of an expression, if it is that of an array."""
    if not isinstance(node, (tree.Name, tree.Index, tree.Member)):
        return None
    if isinstance(node, tree.Name):
        symbol = context.unit.find(node.text, context.scope)
        if isinstance(symbol, FieldName):
            lvalue = find_own_member(context, symbol, node)
            return lvalue if isinstance(lvalue.type, ArrayType) else None
        is_late = node.scope is not None or isinstance(symbol, LateVariable)
        if not is_late and (not isinstance(symbol, Variable) or isinstance(symbol.storage, Value)):
            return None
    elif not is_lvalue(context, node):
        return None
    found = look_at(context, node)
    if isinstance(found, Value):
        return None
    return found if isinstance(found.type, ArrayType) else None


def is_lvalue(context: Context, node: tree.Expression) -> bool:
    """Whether an expression is written like a place."""
    while isinstance(node, (tree.Index, tree.Member)):
        node = node.base
    if isinstance(node, tree.Name):
        return True
    return isinstance(node, tree.Unary) and node.operator == "*"


def read_lvalue(context: Context, lvalue: Lvalue) -> Value:
    """The value in a place, noting that memory is looked at."""
    if isinstance(lvalue, (MemoryLvalue, EitherLvalue)):
        context.loads += 1
    if isinstance(lvalue, MemoryLvalue) and isinstance(lvalue.type, StructType):
        return _read_struct(context, lvalue)
    if isinstance(lvalue, BitsLvalue) and isinstance(lvalue.type, ArrayType):
        first = find_element_of_bits(lvalue, make_integer(0, UNSIGNED))
        return take_address(context, first, context.unit.last or tree.Node())
    value = read(lvalue)
    if not lvalue.is_over:
        return value
    is_const = value.is_const or lvalue.is_const
    return replace(value, is_over=lvalue.is_over and not lvalue.is_const, is_const=is_const)


def _read_struct(context: Context, lvalue: MemoryLvalue) -> Value:
    """A struct in memory, whose address is calculated once."""
    size = size_of(lvalue.type) or 0
    if size > STACK_BYTES:
        assert context.unit.last is not None
        message = f"a copy of '{lvalue.type.name}' takes {size} bytes of {STACK_BYTES}"
        raise context.error(context.unit.last, message)
    if context.unit.last is not None:
        context.unit.spend(context.unit.last, 2 * count_of(lvalue.type))
    setup = list[ast.expr]()
    value = read(stabilize(context, lvalue, setup))
    return replace(value, node=code.last_of(*setup, value.node))


# What is known when a kernel is compiled.


def find_known(context: Context, node: tree.Expression) -> Value | None:
    """An element or member of what is constant, at a known index."""
    match node:
        case tree.Name(text=text, template_arguments=(), scope=None):
            symbol = context.unit.find(text, context.scope)
            return symbol.known if isinstance(symbol, Variable) else None
        case tree.Index(base=base, index=index):
            return _find_known_element(context, find_known(context, base), index)
        case tree.Member(base=base, member=member, arrow=False):
            return find_known_member(find_known(context, base), member)
        case tree.FunctionCall():
            return find_known_of_accessor(context, node)
        case _:
            return None


def find_known_of_accessor(context: Context, node: tree.FunctionCall) -> Value | None:
    """`accessor.dspec().rank()` or a shape, where they are constant."""
    found = find_questioned(node)
    if found is None:
        return None
    with context.unit.looking():
        type_ = look_at(context, found[0]).type
    return find_spec_constant(context, node, type_, found[1])


def _find_known_element(
    context: Context, base: Value | None, index: tree.Expression
) -> Value | None:
    if base is None:
        return None
    if isinstance(base.type, StructType) and base.type.name.startswith("std::array<"):
        base = find_known_member(base, base.type.fields[0].name)
    if base is None or not isinstance(base.type, ArrayType):
        return None
    number = evaluate_number(context, index, "an index").constant
    if number is None or not 0 <= number < base.type.count:
        return None
    return make_known(base.type.element, base.node, int(number))


def find_known_member(base: Value | None, member: str) -> Value | None:
    """A member of a constant object."""
    if base is None or not isinstance(base.type, StructType) or base.type.is_union:
        return None
    number = base.type.index(member)
    if number is None:
        return None
    field = base.type.fields[number]
    if field.mutable:
        return None
    known = make_known(field.type, base.node, number)
    if known is None or field.bits is None:
        return known
    return describe_bits(known, field.bits.width)


def make_known(type_: CType, node: ast.expr, number: int) -> Value | None:
    """A part of a list that is written with constants."""
    if not isinstance(node, ast.List) or number >= len(node.elts):
        return None
    part = node.elts[number]
    if isinstance(part, ast.Constant) and isinstance(part.value, (int, float)):
        low = int(part.value) if isinstance(part.value, int) else 0
        return Value(type_, part, low, low)
    return Value(type_, part) if isinstance(part, ast.List) else None


def stabilize(context: Context, lvalue: Lvalue, setup: list[ast.expr]) -> Lvalue:
    """The same place with expressions that can be written twice."""

    def kept(node: ast.expr, name: str) -> ast.expr:
        if code.is_stable(node):
            return node
        temporary = context.unit.create_name(name, "t")
        setup.append(code.walrus(temporary, node))
        return code.name(temporary)

    match lvalue:
        case ItemLvalue():
            container = kept(lvalue.container, "container")
            return replace(lvalue, container=container, index=kept(lvalue.index, "index"))
        case PointedLvalue():
            pointer = kept(lvalue.pointer, "pointer")
            return replace(lvalue, pointer=pointer, offset=kept(lvalue.offset, "index"))
        case BitsLvalue():
            holder, shift = kept(lvalue.holder, "union"), settle(lvalue.shift)
            return replace(
                lvalue, holder=holder, shift=replace(shift, node=kept(shift.node, "shift"))
            )
        case MemoryLvalue():
            address = settle(lvalue.address)
            return replace(lvalue, address=make_value(UNSIGNED, kept(address.node, "address")))
        case EitherLvalue():
            return replace(lvalue, pointer=kept(lvalue.pointer, "pointer"))
        case _:
            return lvalue


def check_index(index: Value) -> ast.expr:
    """An index of a list, which must not count from its end."""
    return index.node if index.low >= 0 else code.call("_index", index.node)


def describe_missing_member(type_: str, member: str, members: Iterable[str]) -> str:
    """The message about a member that a type does not have."""
    known = list(members)
    near = difflib.get_close_matches(member, known, 1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    there = f"its members are {', '.join(known)}" if known else "it has no members to read"
    return f"'{type_}' has no member '{member}'; {there}{hint}"
