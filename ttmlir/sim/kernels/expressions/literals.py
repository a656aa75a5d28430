"""Literals."""

from __future__ import annotations

import re

from ttmlir.cpp import tree
from ttmlir.cpp.types import BOOL, CHAR, DOUBLE, FLOAT, INT, INT64, NULL, STRING, UINT64, UNSIGNED
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.value import Value, make_floating, make_integer

_ESCAPES = dict(zip("abefnrtv\\'\"?", b"\a\b\x1b\f\n\r\t\v\\'\"?", strict=True))
"""What stands behind a backslash, and the character that it means; `e` is one of GCC's own."""
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]+)|(.))", re.DOTALL)


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
    characters = _decode_characters(context, node, node.text)
    return Value(STRING, code.constant(characters.decode("utf-8", errors="replace")))


def evaluate_character(context: Context, node: tree.Character) -> Value:
    """A character literal."""
    characters = _decode_characters(context, node, node.text)
    if len(characters) != 1:
        raise context.error(node, "a character literal is one character")
    return make_integer(characters[0], CHAR)


def _decode_characters(context: Context, node: tree.Node, text: str) -> bytes:
    found, start = bytearray(), 0
    for escape in _ESCAPE.finditer(text):
        found += text[start : escape.start()].encode()
        octal, hexadecimal, letter = escape.groups()
        if letter is None:
            value = int(octal, 8) if octal else int(hexadecimal, 16)
            if value > 255:
                raise context.error(node, f"the escape '{escape[0]}' is no character of 8 bits")
            found.append(value)
        elif letter in _ESCAPES:
            found.append(_ESCAPES[letter])
        else:
            raise context.error(node, f"the escape '\\{letter}' is not supported")
        start = escape.end()
    return bytes(found + text[start:].encode())


def evaluate_null(context: Context, node: tree.Null) -> Value:
    """`nullptr`."""
    return make_integer(0, NULL)
