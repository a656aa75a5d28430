"""`memcpy`, `memmove` and `memset`: in L1, and between the bits of single numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from ttmlir.cpp import tree
from ttmlir.cpp.types import UNSIGNED, VOID, FloatType, IntType, PointerType, size_of
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.enumerators import strip_namespaces
from ttmlir.sim.kernels.expressions.evaluating import evaluate_scalar
from ttmlir.sim.kernels.expressions.library_calls import take_plain_arguments
from ttmlir.sim.kernels.expressions.places import find_place, is_place, read_place
from ttmlir.sim.kernels.expressions.pointers import take_memory_address
from ttmlir.sim.kernels.place import (
    EitherPlace,
    MemoryPlace,
    Place,
    build_assigned,
    build_store,
)
from ttmlir.sim.kernels.place import read as read_value
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.value import (
    Space,
    Value,
    convert,
    make_integer,
    make_value,
    reinterpret_bits,
    settle,
)

_WRITE_IT_OUT = "copy its elements one by one"


def _copy(context: Context, node: tree.FunctionCall) -> Value:
    """`memcpy(target, source, bytes)` or `memmove`."""
    name = strip_namespaces(_name_of(node))
    arguments = take_plain_arguments(context, node)
    if len(arguments) != 3:
        raise context.error(node, f"{name} takes a target, a source and a number of bytes")
    target, source, count = arguments
    size = _evaluate_size(context, count, name)
    to, from_ = _find_number(context, target), _find_number(context, source)
    if to is None and from_ is None:
        addresses = (_evaluate_address(context, each, name).node for each in (target, source))
        return _nothing(code.call(context.unit.bind("move_bytes"), *addresses, size.node))
    for place in (to, from_):
        if place is not None and size.constant != size_of(place.type):
            raise context.error(
                node,
                f"{name} of a local '{place.type.name}' copies its {size_of(place.type)} bytes, "
                "no more and no less",
            )
    if to is None:
        assert from_ is not None
        return _store_bits(context, _evaluate_address(context, target, name), from_)
    if from_ is None:
        address = _evaluate_address(context, source, name)
        value = read_place(context, MemoryPlace(to.type, address))
    else:
        value = read_place(context, from_)
    bits = value if value.type == to.type else reinterpret_bits(value, to.type)
    if bits is None:
        message = f"{name} between '{value.type.name}' and '{to.type.name}' is not supported"
        raise context.error(node, message)
    return _nothing(build_assigned(to, bits))


def _fill(context: Context, node: tree.FunctionCall) -> Value:
    """`memset(target, byte, bytes)`."""
    arguments = take_plain_arguments(context, node)
    if len(arguments) != 3:
        raise context.error(node, "memset takes a target, a byte and a number of bytes")
    target, byte, count = arguments
    size = _evaluate_size(context, count, "memset")
    value = settle(evaluate_scalar(context, byte))
    place = _find_number(context, target)
    if place is None:
        address = _evaluate_address(context, target, "memset")
        return _nothing(
            code.call(context.unit.bind("fill_bytes"), address.node, value.node, size.node)
        )
    if value.constant != 0 or size.constant != size_of(place.type):
        raise context.error(node, "memset of a local number sets all its bytes to 0")
    zero = make_integer(0, UNSIGNED)
    assert isinstance(place.type, (IntType, FloatType))
    return _nothing(build_assigned(place, convert(zero, place.type)))


def _store_bits(context: Context, address: Value, place: Place) -> Value:
    return _nothing(build_store(MemoryPlace(place.type, address), settle(read_value(place))))


def _find_number(context: Context, node: tree.Expression) -> Place | None:
    """The variable of the kernel that `&name` points to, if it holds one number."""
    if not isinstance(node, tree.Unary) or node.operator != "&":
        return None
    if not is_place(context, node.operand):
        return None
    place = find_place(context, node.operand)
    if isinstance(place, (MemoryPlace, EitherPlace)):
        return None
    return place if isinstance(place.type, (IntType, FloatType)) else None


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


def _nothing(node: ast.expr) -> Value:
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
