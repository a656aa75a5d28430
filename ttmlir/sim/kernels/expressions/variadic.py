"""What is passed for `...`, and the calls of `<cstdarg>` that ask for it.

A function that calls `va_start` has one more parameter in Python: a tuple of the values, each with
what kind it is of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ttmlir.cpp import tree
from ttmlir.cpp.types import (
    DOUBLE,
    INT64,
    VOID,
    CType,
    FloatType,
    IntType,
    ObjectType,
    PointerType,
    QualifiedType,
    StructType,
    promote,
)
from ttmlir.errors import plural
from ttmlir.sim.kernels.context import Argument, Context
from ttmlir.sim.kernels.expressions.initial_values import Given
from ttmlir.sim.kernels.expressions.lvalues import decay_function, find_lvalue
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import Variable
from ttmlir.sim.kernels.value import (
    BitsLvalue,
    EitherLvalue,
    ListLvalue,
    LocalLvalue,
    MemoryLvalue,
    Space,
    Value,
    build_node,
    convert,
    make_value,
    promote_value,
    settle,
)

REST = -2
"""The number of the parameter that `...` is."""
REST_NAME = "..."
_VALUES = ObjectType("...")
_STARTS = ("va_start", "__builtin_va_start")


def asks_for_rest(function: tree.Function) -> bool:
    """Whether a function looks at what is passed for its `...`."""
    return function.is_variadic and any(
        isinstance(each, tree.FunctionCall)
        and isinstance(each.callee, tree.Name)
        and each.callee.text in _STARTS
        for each in function.parts
    )


def pass_rest(context: Context, given: Sequence[Given]) -> Argument:
    """What is passed for `...`."""
    parts = [_pass(context, each) for each in given]
    pairs = (code.tuple_of(code.constant(kind), value.node) for kind, value in parts)
    return Argument(_VALUES, "value", code.tuple_of(*pairs), number=REST)


def _pass(context: Context, given: Given) -> tuple[str, Value]:
    """A value after the promotions for `...`, and its kind."""
    value = decay_function(context, given.value, given.node)
    match value.type:
        case IntType():
            value = settle(promote_value(value))
        case FloatType():
            value = convert(value, DOUBLE)
        case _:
            pass
    return _find_kind(context, value.type, given.node), value


def _find_kind(context: Context, type_: CType, node: tree.Node) -> str:
    match type_:
        case IntType(bits=bits):
            return f"integer of {max(bits, 32)} bits"
        case FloatType(bits=64):
            return "double"
        case PointerType():
            return "pointer"
        case _:
            raise context.error(node, f"a '{type_.name}' is not passed for '...'")


# Calls.


def _start(context: Context, node: tree.FunctionCall) -> Value:
    """`va_start(list, last)`."""
    listed = _find_list(context, node, 2)
    symbol = context.scope.find(REST_NAME)
    if not isinstance(symbol, Variable) or not isinstance(symbol.storage, LocalLvalue):
        message = "what was passed for '...' is not known here"
        raise context.error(node, f"{message}: va_start stands in a function with '...'")
    start = code.list_of((build_node(symbol.storage), code.constant(0)))
    return Value(VOID, code.call("_overwrite", build_node(listed), start))


def _copy(context: Context, node: tree.FunctionCall) -> Value:
    """`va_copy(to, from)`."""
    to = _find_list(context, node, 2)
    source = _find_list(context, tree.FunctionCall(node.callee, node.arguments[1:]), 1)
    parts = (code.subscript(build_node(source), code.constant(i)) for i in range(2))
    return Value(VOID, code.call("_overwrite", build_node(to), code.list_of(parts)))


def _end(context: Context, node: tree.FunctionCall) -> Value:
    """`va_end(list)`."""
    _find_list(context, node, 1)
    return Value(VOID, code.constant(0))


def _take(context: Context, node: tree.FunctionCall) -> Value:
    """`va_arg(list, T)`, whose type the reader may have made a template argument."""
    listed = _find_list(context, node, 1 if node.template_arguments else 2)
    type_ = _find_asked(context, node).type
    is_small = isinstance(type_, IntType) and promote(type_) != type_ and type_.bits < 32
    if is_small or (isinstance(type_, FloatType) and type_.bits < 64):
        passed = "int" if is_small else "double"
        raise context.error(node, f"a '{type_.name}' is passed as '{passed}' for '...'")
    kind = _find_kind(context, type_, node)
    taken = code.call("_next_argument", build_node(listed), code.constant(kind))
    if isinstance(type_, IntType):
        return settle(convert(make_value(INT64, taken), type_))
    return make_value(type_, taken, Space.ANY)


def _find_asked(context: Context, node: tree.FunctionCall) -> QualifiedType:
    if node.template_arguments:
        return context.unit.resolve_type(node.template_arguments[0], context.scope)
    written = node.arguments[1]
    if not isinstance(written, tree.Name):
        raise context.error(node, "va_arg takes a list and a type")
    return context.unit.resolve_type(written, context.scope)


def _find_list(context: Context, node: tree.FunctionCall, count: int) -> ListLvalue | BitsLvalue:
    if len(node.arguments) != count or isinstance(node.arguments[0], tree.Braces):
        raise context.error(node, f"this takes {plural(count, 'argument')}")
    found = find_lvalue(context, node.arguments[0])
    is_list = isinstance(found.type, StructType) and found.type.name.endswith("va_list")
    if not is_list or isinstance(found, (MemoryLvalue, EitherLvalue)):
        raise context.error(node.arguments[0], f"a '{found.type.name}' is no va_list here")
    return found


_CALLS: Mapping[str, Callable[[Context, tree.FunctionCall], Value]] = {
    "va_start": _start,
    "va_copy": _copy,
    "va_end": _end,
    "va_arg": _take,
}
VARIADIC = {f"{start}{name}": each for name, each in _CALLS.items() for start in ("", "__builtin_")}
"""The calls of `<cstdarg>`."""
