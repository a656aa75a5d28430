"""Functions of the standard library and of the compiler that are no text of C++."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.types import (
    DOUBLE,
    FLOAT,
    INT,
    UNSIGNED,
    VOID,
    ArrayType,
    CType,
    FloatType,
    FunctionType,
    IntType,
    MemberPointerType,
    MemberType,
    PointerType,
    ReferenceType,
    SignatureType,
    StructType,
    complete_type,
    is_same_type,
    size_of,
)
from ttmlir.errors import plural
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.build_facts import BUILT
from ttmlir.sim.kernels.expressions.casts import evaluate_bit_cast
from ttmlir.sim.kernels.expressions.initial_values import Given, build_unset, write_unset
from ttmlir.sim.kernels.expressions.library_calls import (
    evaluate_assertion,
    evaluate_compile_time_argument,
    evaluate_extreme,
    evaluate_named_compile_time_argument,
    take_plain_arguments,
)
from ttmlir.sim.kernels.expressions.lvalues import (
    evaluate_constant,
    evaluate_number,
    evaluate_scalar,
    find_element,
    find_lvalue,
    hold_whole,
    is_function,
    is_lvalue,
    look_at,
    make_known,
    read_lvalue,
    refer,
    take_memory_address,
)
from ttmlir.sim.kernels.expressions.variadic import VARIADIC
from ttmlir.sim.kernels.library import strip_namespaces
from ttmlir.sim.kernels.packs import expand_all, read_as_value
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.python.runtime import round_down, square_root
from ttmlir.sim.kernels.scope import Evaluated, is_given_up
from ttmlir.sim.kernels.value import (
    EitherLvalue,
    Lvalue,
    MemoryLvalue,
    Space,
    Value,
    build_assigned,
    build_store,
    convert,
    find_member_lvalue,
    make_floating,
    make_integer,
    make_value,
    protect_lvalue,
    reinterpret_bits,
    settle,
)
from ttmlir.sim.kernels.value import read as read_value

# --- Memory calls ---------------------------------------------------------------------------------
# `memcpy`, `memmove` and `memset`: in L1, and between the bits of single numbers.

_WRITE_IT_OUT = "copy its elements one by one"


def _copy(context: Context, node: tree.FunctionCall) -> Value:
    """`memcpy(target, source, bytes)` or `memmove`."""
    name = strip_namespaces(_name_of(node))
    arguments = take_plain_arguments(context, node)
    if len(arguments) != 3:
        raise context.error(node, f"{name} takes a target, a source and a number of bytes")
    target, source, count = arguments
    size = _evaluate_size(context, count, name)
    to, from_ = _find_variable(context, target), _find_variable(context, source)
    if to is None and from_ is None:
        addresses = (_evaluate_address(context, each, name).node for each in (target, source))
        return _make_void(code.call(context.unit.bind("move_bytes"), *addresses, size.node))
    for lvalue in (to, from_):
        if lvalue is not None and size.constant != size_of(lvalue.type):
            raise context.error(
                node,
                f"{name} of a local '{lvalue.type.name}' copies its {size_of(lvalue.type)} bytes, "
                "no more and no less",
            )
    if to is None:
        assert from_ is not None
        return _store_bits(context, _evaluate_address(context, target, name), from_)
    if from_ is None:
        address = _evaluate_address(context, source, name)
        value = read_lvalue(context, MemoryLvalue(to.type, address))
    else:
        value = read_lvalue(context, from_)
    bits = value if value.type == to.type else reinterpret_bits(value, to.type)
    if bits is None:
        message = f"{name} between '{value.type.name}' and '{to.type.name}' is not supported"
        raise context.error(node, message)
    return _make_void(build_assigned(to, bits))


def _fill(context: Context, node: tree.FunctionCall) -> Value:
    """`memset(target, byte, bytes)`."""
    arguments = take_plain_arguments(context, node)
    if len(arguments) != 3:
        raise context.error(node, "memset takes a target, a byte and a number of bytes")
    target, byte, count = arguments
    size = _evaluate_size(context, count, "memset")
    value = settle(evaluate_scalar(context, byte))
    lvalue = _find_variable(context, target)
    if lvalue is None:
        address = _evaluate_address(context, target, "memset")
        return _make_void(
            code.call(context.unit.bind("fill_bytes"), address.node, value.node, size.node)
        )
    if value.constant != 0 or size.constant != size_of(lvalue.type):
        raise context.error(node, "memset of a local number sets all its bytes to 0")
    zero = make_integer(0, UNSIGNED)
    assert isinstance(lvalue.type, (IntType, FloatType))
    return _make_void(build_assigned(lvalue, convert(zero, lvalue.type)))


def _store_bits(context: Context, address: Value, lvalue: Lvalue) -> Value:
    return _make_void(build_store(MemoryLvalue(lvalue.type, address), settle(read_value(lvalue))))


def _find_variable(context: Context, node: tree.Expression) -> Lvalue | None:
    """The variable of the kernel that `&name` points to, if it holds one number."""
    if not isinstance(node, tree.Unary) or node.operator != "&":
        return None
    if not is_lvalue(context, node.operand):
        return None
    lvalue = find_lvalue(context, node.operand)
    if isinstance(lvalue, (MemoryLvalue, EitherLvalue)):
        return None
    return lvalue if isinstance(lvalue.type, (IntType, FloatType)) else None


def _evaluate_address(context: Context, node: tree.Expression, name: str) -> Value:
    """Where a pointer into memory points to."""
    value = evaluate_scalar(context, node)
    if not isinstance(value.type, PointerType):
        raise context.error(node, f"{name} takes pointers, not '{value.type.name}'")
    if value.space is Space.LOCAL:
        message = f"{name} takes no pointer to a local array or struct; {_WRITE_IT_OUT}"
        raise context.error(node, message)
    return make_value(UNSIGNED, take_memory_address(context, value))


def _evaluate_size(context: Context, node: tree.Expression, name: str) -> Value:
    value = settle(evaluate_scalar(context, node))
    if not isinstance(value.type, IntType):
        raise context.error(node, f"{name} takes a number of bytes, not '{value.type.name}'")
    return value


def _make_void(node: ast.expr) -> Value:
    return Value(VOID, node)


def _name_of(node: tree.FunctionCall) -> str:
    assert isinstance(node.callee, tree.Name)
    return node.callee.text


MEMORY: Mapping[str, Callable[[Context, tree.FunctionCall], Value]] = {
    "memcpy": _copy,
    "__builtin_memcpy": _copy,
    "memmove": _copy,
    "__builtin_memmove": _copy,
    "memset": _fill,
    "__builtin_memset": _fill,
}
"""Calls of the C library on bytes."""


# --- Standard -------------------------------------------------------------------------------------


def _single(context: Context, node: tree.FunctionCall) -> tree.Expression:
    arguments = expand_all(context, node.arguments)
    if len(arguments) != 1 or isinstance(arguments[0], tree.Braces):
        assert isinstance(node.callee, tree.Name)
        raise context.error(node, f"'{node.callee.text}' takes one value")
    return arguments[0]


def _pass_through(context: Context, node: tree.FunctionCall) -> Lvalue | Value:
    """`std::move(x)`, `std::forward<T>(x)`: x itself, which nobody may need any more."""
    found = look_at(context, _single(context, node))
    if isinstance(found, Value):
        return found
    return replace(found, is_over=is_given_up(node, context.scope))


def _protect(context: Context, node: tree.FunctionCall) -> Lvalue | Value:
    """`std::as_const(x)`: x, which cannot be changed by that name."""
    found = look_at(context, _single(context, node))
    return found if isinstance(found, Value) else protect_lvalue(found)


def _declare_value(context: Context, node: tree.FunctionCall) -> Value:
    """`std::declval<T>()`, of which only the type is asked."""
    if len(node.template_arguments) != 1 or node.arguments:
        raise context.error(node, "std::declval<T>() takes a type and no values")
    type_ = context.unit.resolve_type(node.template_arguments[0], context.scope).type
    return build_unset(context, complete_type(type_, context.unit.structs))


def _leave_unset(context: Context, node: tree.FunctionCall) -> Value:
    """`builtin_unset<T>()`: an object that no constructor has made, of our own headers."""
    type_ = context.unit.resolve_type(node.template_arguments[0], context.scope).type
    return Value(type_, write_unset(complete_type(type_, context.unit.structs)))


def _get(context: Context, node: tree.FunctionCall) -> Lvalue | Value:
    """`std::get<number>(x)` or `std::get<type>(x)` of a tuple, pair or array."""
    whole = _single(context, node)
    found = look_at(context, whole)
    type_ = complete_type(found.type, context.unit.structs)
    if len(node.template_arguments) != 1 or not isinstance(type_, StructType):
        raise context.error(node, "std::get<number>(x) takes a tuple, pair or array")
    base = hold_whole(found, whole)
    wanted = node.template_arguments[0]
    if type_.name.startswith("std::array<"):
        inner = find_member_lvalue(base, 0)
        number = _evaluate_number(context, wanted)
        if isinstance(inner.type, ArrayType):
            return find_element(context, inner, make_integer(number, UNSIGNED), node)
    number = _find_number(context, wanted, type_)
    if not 0 <= number < len(type_.fields):
        raise context.error(node, f"'{type_.name}' has no element {number}")
    known = _find_known_part(found, type_, number)
    return known or refer(context, find_member_lvalue(base, number), node)


def _find_known_part(found: Lvalue | Value, type_: StructType, number: int) -> Value | None:
    part = type_.fields[number].type
    if not isinstance(found, Value) or isinstance(part, ReferenceType):
        return None
    return make_known(part, found.node, number)


def _find_number(context: Context, wanted: tree.TemplateArgument, type_: StructType) -> int:
    """The number of the element that a template argument names."""
    is_type = isinstance(wanted, (tree.NamedType, tree.Pointer))
    if isinstance(wanted, tree.Name) and not wanted.template_arguments:
        is_type = context.unit.find_type(wanted.text, context.scope) is not None
    if not is_type:
        return _evaluate_number(context, wanted)
    named = context.unit.resolve_type(wanted, context.scope).type
    numbers = [i for i, each in enumerate(type_.fields) if is_same_type(each.type, named)]
    if len(numbers) != 1:
        raise context.error(
            wanted, f"'{type_.name}' has {plural(len(numbers), 'element')} of this type"
        )
    return numbers[0]


def _evaluate_number(context: Context, wanted: tree.TemplateArgument) -> int:
    return evaluate_constant(context, read_as_value(wanted), "the number of an element")


def _invoke(context: Context, node: tree.FunctionCall) -> Lvalue | Value:
    """`std::invoke(f, arguments...)`: a call, or a member of the first argument."""
    callee, *arguments = expand_all(context, node.arguments) or (None,)
    if callee is None or isinstance(callee, tree.Braces):
        raise context.error(node, "std::invoke takes what is called, and its arguments")
    found = look_at(context, callee)
    known = cast("tree.Expression", Evaluated(found, callee, position=callee.position))
    type_ = found.type
    member = type_.pointee if isinstance(type_, PointerType) else type_
    is_data = isinstance(member, (MemberType, MemberPointerType))
    if not is_data and not _is_member_function(context, member):
        called = replace(node, callee=known, arguments=tuple(arguments))
        return context.handlers.call(context, called)
    base, *rest = arguments or (None,)
    if base is None or isinstance(base, tree.Braces):
        raise context.error(node, "std::invoke of a member takes an object behind it")
    if isinstance(Given(context, base).value.type, PointerType):
        base = tree.Unary("*", base, position=base.position)
    pointed = tree.PointedMember(base, known, position=node.position)
    if is_data:
        return look_at(context, pointed)
    return context.handlers.call(context, replace(node, callee=pointed, arguments=tuple(rest)))


def _is_member_function(context: Context, type_: CType) -> bool:
    """Whether a type is that of a member function, which is called on an object."""
    if isinstance(type_, SignatureType):
        return type_.is_member
    if not is_function(type_):
        return False
    assert isinstance(type_, FunctionType)
    functions, _ = context.unit.function_values[type_.number]
    is_static = any("static" in each.specifiers for each in functions.definitions)
    return functions.scope.owner is not None and not is_static


# What the compiler has built in.


def _nothing(context: Context, node: tree.FunctionCall) -> Value:
    return Value(VOID, code.constant(None))


def _count_bits(name: str) -> Callable[[Context, tree.FunctionCall], Value]:
    def evaluate(context: Context, node: tree.FunctionCall) -> Value:
        value = settle(evaluate_number(context, _single(context, node), "the value"))
        wide = name.endswith("ll")
        bits = 64 if wide else 32
        called = code.call(f"_{name.removesuffix('ll')}", value.node, code.constant(bits))
        return Value(INT, called, 0, bits)

    return evaluate


def _expect(context: Context, node: tree.FunctionCall) -> Lvalue | Value:
    if len(node.arguments) != 2 or isinstance(node.arguments[0], tree.Braces):
        raise context.error(node, "__builtin_expect takes two values")
    return look_at(context, node.arguments[0])


def _infinity(context: Context, node: tree.FunctionCall) -> Value:
    assert isinstance(node.callee, tree.Name)
    return make_floating(float("inf"), FLOAT if node.callee.text.endswith("f") else DOUBLE)


def _nan(context: Context, node: tree.FunctionCall) -> Value:
    assert isinstance(node.callee, tree.Name)
    return make_floating(float("nan"), FLOAT if node.callee.text.endswith("f") else DOUBLE)


def _line(context: Context, node: tree.FunctionCall) -> Value:
    return make_integer(node.position.line if node.position is not None else 0, INT)


def _abs(context: Context, node: tree.FunctionCall) -> Value:
    value = settle(evaluate_scalar(context, _single(context, node)))
    if isinstance(value.type, IntType):
        zero = code.constant(0)
        test = code.compare("<", value.node, zero)
        if not code.is_stable(value.node):
            raise context.error(node, "put the value of 'abs' into a variable first")
        negative = code.binary("-", zero, value.node)
        return Value(value.type, code.choice(test, negative, value.node), 0, value.type.high)
    raise context.error(node, f"'abs' takes an integer here, not '{value.type.name}'")


def _compute(
    words: str, name: str, function: Callable[[float], float]
) -> Callable[[Context, tree.FunctionCall], Value]:
    """A function of one floating-point number; `words` say what it is in messages."""

    def evaluate(context: Context, node: tree.FunctionCall) -> Value:
        assert isinstance(node.callee, tree.Name)
        value = settle(evaluate_scalar(context, _single(context, node)))
        if not isinstance(value.type, IntType | FloatType):
            raise context.error(node, f"{words} is of a number, not of '{value.type.name}'")
        type_ = FLOAT if node.callee.text.endswith("f") or value.type == FLOAT else DOUBLE
        value = convert(value, type_)
        if value.constant is not None:
            return make_floating(function(value.constant), type_)
        return convert(Value(DOUBLE, code.call(name, value.node)), type_)

    return evaluate


Special = Callable[[Context, tree.FunctionCall], "Lvalue | Value"]

SPECIAL: Mapping[str, Special] = {
    **BUILT,
    **MEMORY,
    **VARIADIC,
    "ASSERT": evaluate_assertion,
    "get_compile_time_arg_val": evaluate_compile_time_argument,
    "get_named_compile_time_arg_val": evaluate_named_compile_time_argument,
    "bit_cast": evaluate_bit_cast,
    "__builtin_bit_cast": evaluate_bit_cast,
    "min": evaluate_extreme,
    "max": evaluate_extreme,
    "move": _pass_through,
    "forward": _pass_through,
    "as_const": _protect,
    "launder": _pass_through,
    "__builtin_assume_aligned": _pass_through,
    "declval": _declare_value,
    "builtin_unset": _leave_unset,
    "get": _get,
    "invoke": _invoke,
    "abs": _abs,
    **dict.fromkeys(
        ("sqrt", "sqrtf", "__builtin_sqrt", "__builtin_sqrtf"),
        _compute("a square root", "_sqrt", square_root),
    ),
    **dict.fromkeys(
        ("floor", "floorf", "__builtin_floor", "__builtin_floorf"),
        _compute("a number rounded down", "_floor", round_down),
    ),
    "__builtin_expect": _expect,
    "__builtin_unreachable": _nothing,
    "__builtin_LINE": _line,
    "__builtin_huge_valf": _infinity,
    "__builtin_huge_val": _infinity,
    "__builtin_inff": _infinity,
    "__builtin_nanf": _nan,
    "__builtin_nan": _nan,
    "__builtin_ctz": _count_bits("ctz"),
    "__builtin_clz": _count_bits("clz"),
    "__builtin_popcount": _count_bits("popcount"),
    "__builtin_ctzll": _count_bits("ctzll"),
    "__builtin_clzll": _count_bits("clzll"),
    "__builtin_popcountll": _count_bits("popcountll"),
}
"""Calls that the compiler knows, without their namespace."""
