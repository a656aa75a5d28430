"""Literals."""

from __future__ import annotations

from ttmlir.cpp import tree
from ttmlir.cpp.types import BOOL, CHAR, DOUBLE, FLOAT, INT, INT64, NULL, STRING, UINT64, UNSIGNED
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.value import Value, make_floating, make_integer

_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "\\": 92, "'": 39, '"': 34, "a": 7, "b": 8}


def evaluate_integer(context: Context, node: tree.Integer) -> Value:
    """An integer literal, in the first type that holds it."""
    suffix = node.text.lower()
    decimal = not suffix.startswith("0") or suffix.strip("ul") == "0"
    wide = "ll" in suffix
    for type_ in (INT, UNSIGNED, INT64, UINT64):
        unsigned_allowed = node.is_unsigned or not decimal
        if (not type_.signed and not unsigned_allowed) or (type_.signed and node.is_unsigned):
            continue
        if node.value <= type_.high and (type_.bits == 64 or not wide):
            return make_integer(node.value, type_)
    raise context.error(node, "this number has more than 64 bits")


def evaluate_floating(context: Context, node: tree.Floating) -> Value:
    """A floating-point literal."""
    return make_floating(node.value, FLOAT if node.text[-1] in "fF" else DOUBLE)


def evaluate_boolean(context: Context, node: tree.Boolean) -> Value:
    """`true` or `false`."""
    return make_integer(node.value, BOOL)


def evaluate_string(context: Context, node: tree.String) -> Value:
    """A string literal."""
    characters = bytes(_decode_characters(context, node, node.text))
    return Value(STRING, code.constant(characters.decode("utf-8", errors="replace")))


def evaluate_character(context: Context, node: tree.Character) -> Value:
    """A character literal."""
    characters = list(_decode_characters(context, node, node.text))
    if len(characters) != 1:
        raise context.error(node, "a character literal is one character")
    return make_integer(characters[0], CHAR)


def _decode_characters(context: Context, node: tree.Node, text: str) -> list[int]:
    found = list[int]()
    rest = iter(text.encode())
    for each in rest:
        if each != ord("\\"):
            found.append(each)
            continue
        letter = chr(next(rest))
        if letter not in _ESCAPES:
            raise context.error(node, f"the escape '\\{letter}' is not supported")
        found.append(_ESCAPES[letter])
    return found


def evaluate_null(context: Context, node: tree.Null) -> Value:
    """`nullptr`."""
    return make_integer(0, NULL)
