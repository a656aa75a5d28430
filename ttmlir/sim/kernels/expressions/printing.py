"""What `DPRINT` and `DEVICE_PRINT` print."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ttmlir.cpp import tree
from ttmlir.cpp.conversions import is_scoped
from ttmlir.cpp.types import BOOL, CHAR, FLOAT, INT, FloatType, IntType, PointerType, StringType
from ttmlir.optable.kernel import Role
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.enumerators import strip_namespaces
from ttmlir.sim.kernels.expressions.casts import cast_value
from ttmlir.sim.kernels.expressions.evaluating import evaluate_constant, evaluate_scalar
from ttmlir.sim.kernels.expressions.library_calls import (
    build_library_call,
    evaluate_arguments,
    take_plain_arguments,
)
from ttmlir.sim.kernels.expressions.pointers import take_memory_address
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.value import (
    Space,
    Value,
    convert,
    convert_to_unsigned,
    reinterpret_bits,
    settle,
)

_WIDEST = 255
"""What SETW takes at most: it keeps the width in a `char`."""

_MOST_WORDS = 256
"""How many words U32_ARRAY shows."""

_DPRINT = "DPRINT"
_DEVICE_PRINT = "DEVICE_PRINT"
_ONLY_ON = {
    "UNPACK": Role.UNPACK,
    "MATH": Role.MATH,
    "PACK": Role.PACK,
    "DATA0": Role.BRISC,
    "DATA1": Role.NCRISC,
}
"""Processors by what follows `DEVICE_PRINT_`."""

_BASES = {"HEX": 16, "DEC": 10, "OCT": 8}
_TILES = ("TileSlice", "TSLICE")
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{(\d*)(?::(\d*)(?:\.(\d+))?([xXodfgeb]?))?\}|[{}]")


@dataclass
class _Style:
    """How the next values are shown."""

    base: int = 10
    width: int = 0
    fixed: bool = False
    precision: int | None = None


def find_printed(context: Context, node: tree.Expression) -> list[ast.expr] | None:
    """The values that `DPRINT << a << b` or `DEVICE_PRINT` prints; None if it is neither."""
    if isinstance(node, tree.FunctionCall) and isinstance(node.callee, tree.Name):
        return _find_formatted(context, node, node.callee.text)
    parts = list[tree.Expression]()
    while isinstance(node, tree.BinaryOperation) and node.operator == "<<":
        parts.append(node.right)
        node = node.left
    if not isinstance(node, tree.Name) or node.text != _DPRINT:
        return None
    style = _Style()
    return [shown for each in reversed(parts) for shown in _show(context, each, style)]


def _show(context: Context, node: tree.Expression, style: _Style) -> Iterator[ast.expr]:
    """What an operand of `<<` prints; it may only change how the others are shown."""
    if not isinstance(node, tree.FunctionCall) or not isinstance(node.callee, tree.Name):
        yield _show_value(context, evaluate_scalar(context, node), style, node)
        return
    name = strip_namespaces(node.callee.text)
    match name:
        case "HEX" | "DEC" | "OCT":
            style.base = _BASES[name]
        case "ENDL":
            yield code.constant("\n")
        case "SETW":
            style.width = _evaluate_width(context, node, name)
        case "SETPRECISION":
            style.precision = _evaluate_width(context, node, name)
        case "FIXED" | "DEFAULTFLOAT":
            style.fixed = name == "FIXED"
        case "U32_ARRAY":
            yield from _show_words(context, node, style)
        case _ if name in _TILES:
            yield _show_tile(context, node, name)
        case _:
            yield _show_value(context, _evaluate_wrapped(context, node, name), style, node)


def _evaluate_wrapped(context: Context, node: tree.FunctionCall, name: str) -> Value:
    """`F32(x)`, `U32(x)` or `BF16(bits)`, or any other call."""
    if name not in ("F32", "U32", "BF16"):
        return evaluate_scalar(context, node)
    arguments = take_plain_arguments(context, node)
    if len(arguments) != 1:
        raise context.error(node, f"{name} takes one number")
    value = settle(evaluate_scalar(context, arguments[0]))
    if name == "F32":
        return cast_value(context, value, FLOAT, node)
    if not isinstance(value.type, IntType):
        raise context.error(node, f"{name} takes an integer, not '{value.type.name}'")
    bits = convert_to_unsigned(value, 16 if name == "BF16" else 32)
    if name == "U32":
        return bits
    word = Value(convert_to_unsigned(bits, 32).type, _shift(bits.node), 0, 0xFFFF_0000)
    shown = reinterpret_bits(word, FLOAT)
    assert shown is not None, "32 bits are those of a float"
    return shown


def _shift(node: ast.expr) -> ast.expr:
    return code.binary("<<", node, code.constant(16))


def _show_words(context: Context, node: tree.FunctionCall, style: _Style) -> Iterator[ast.expr]:
    """`U32_ARRAY(pointer, count)`: words of memory."""
    arguments = take_plain_arguments(context, node)
    if len(arguments) != 2:
        raise context.error(node, "U32_ARRAY takes a pointer and a number")
    count = evaluate_constant(context, arguments[1], "the number of words")
    if not 0 <= count <= _MOST_WORDS:
        raise context.error(node, f"U32_ARRAY of {count} words; it shows up to {_MOST_WORDS}")
    for number in range(count):
        index = tree.Integer(str(number), position=node.position)
        element = tree.Index(arguments[0], index, position=node.position)
        yield _show_value(context, evaluate_scalar(context, element), style, node)
        yield code.constant(" ")


def _show_tile(context: Context, node: tree.FunctionCall, name: str) -> ast.expr:
    found = context.unit.library.find_call(name)
    assert found is not None, "the table has it"
    return build_library_call(context, node, found, evaluate_arguments(context, node, name))


def _evaluate_width(context: Context, node: tree.FunctionCall, name: str) -> int:
    arguments = take_plain_arguments(context, node)
    if len(arguments) != 1:
        raise context.error(node, f"{name} takes one number")
    width = evaluate_constant(context, arguments[0], "a width")
    if not 0 <= width <= _WIDEST:
        raise context.error(node, f"a width of {width}; {name} takes 0 to {_WIDEST}")
    return width


def _show_value(context: Context, given: Value, style: _Style, node: tree.Node) -> ast.expr:
    value = settle(given)
    base, width, style.width = style.base, style.width, 0
    match value.type:
        case type_ if is_scoped(type_):
            raise context.error(node, f"DPRINT does not print '{type_.name}'; cast it to a number")
        case IntType() if value.type == CHAR:
            return code.call("_character", value.node)
        case IntType() if base != 10 or width:
            number = convert_to_unsigned(value, max(value.type.bits, 8)) if base != 10 else value
            return code.call("_printed", number.node, code.constant(base), code.constant(width))
        case IntType() if value.type == BOOL:
            return (
                convert(value, INT).node
                if value.constant is None
                else code.constant(int(value.constant))
            )
        case FloatType() if style.fixed or style.precision is not None:
            precision = 6 if style.precision is None else style.precision
            options = (code.constant(style.fixed), code.constant(precision))
            return code.call("_printed_float", value.node, *options)
        case IntType() | FloatType() | StringType():
            return value.node
        case PointerType() if value.space is not Space.LOCAL:
            return take_memory_address(context, value)
        case type_:
            raise context.error(node, f"DPRINT does not print '{type_.name}'")


# DEVICE_PRINT.


def _find_formatted(context: Context, node: tree.FunctionCall, name: str) -> list[ast.expr] | None:
    """The values that `DEVICE_PRINT("text {}", value)` prints; none on another processor."""
    if not name.startswith(_DEVICE_PRINT):
        return None
    where = name.removeprefix(_DEVICE_PRINT).removeprefix("_")
    if where and where not in _ONLY_ON:
        return None
    arguments = take_plain_arguments(context, node)
    match arguments[:1]:
        case [tree.String(text=text)]:
            shown = list(_format(context, node, text, arguments[1:]))
        case _:
            raise context.error(node, f"{name} takes a text in quotes, then the values in it")
    return shown if not where or _ONLY_ON[where] == context.unit.library.role else []


def _format(
    context: Context, node: tree.FunctionCall, text: str, values: Sequence[tree.Expression]
) -> Iterator[ast.expr]:
    """The pieces of a text and the values of its placeholders."""
    used = set[int]()
    numbered = set[bool]()
    end = 0
    for found in _PLACEHOLDER.finditer(text):
        if found.start() > end:
            yield code.constant(text[end : found.start()])
        end = found.end()
        if found[0] in ("{{", "}}"):
            yield code.constant(found[0][0])
            continue
        if found[0] in ("{", "}"):
            message = "write {} or {n} for a value, with :x, :o, :d, :f or a width, {{ for a brace"
            raise context.error(node, f"'{found[0]}' in the text stands alone; {message}")
        numbered.add(bool(found[1]))
        number = int(found[1]) if found[1] else len(used)
        used.add(number)
        if number < len(values):
            yield from _show(context, values[number], _style_of(found))
    if text[end:]:
        yield code.constant(text[end:])
    if len(numbered) > 1:
        raise context.error(node, "{} and {n} are not mixed in one text")
    if used != set(range(len(values))):
        message = f"the text has places for {len(used)} values, and there are {len(values)}"
        raise context.error(node, message)


def _style_of(found: re.Match[str]) -> _Style:
    width, precision, kind = found[2], found[3], found[4] or ""
    return _Style(
        base={"x": 16, "X": 16, "o": 8}.get(kind, 10),
        width=min(int(width or 0), _WIDEST),
        fixed=kind == "f",
        precision=min(int(precision), _WIDEST) if precision else None,
    )
