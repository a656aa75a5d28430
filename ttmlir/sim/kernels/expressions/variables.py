"""Names that mean values."""

from __future__ import annotations

import re

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    INT64,
    NULL,
    UINT8,
    UINT64,
    UNSIGNED,
    IntType,
    ObjectType,
    StringType,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.build_facts import find_built_constant
from ttmlir.sim.kernels.expressions.lvalues import find_own_member, find_symbol, read_lvalue
from ttmlir.sim.kernels.expressions.own_calls import make_function_value
from ttmlir.sim.kernels.library import find_constant, list_alike, list_enumerators
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import FieldName, Functions, Pack, Variable
from ttmlir.sim.kernels.value import Value, make_floating, make_integer, make_value

# --- Literals -------------------------------------------------------------------------------------
# Literals.

_ESCAPES = dict(zip("abefnrtv\\'\"?", b"\a\b\x1b\f\n\r\t\v\\'\"?", strict=True))
"""What stands after a backslash, and the character that it means; `e` is one of GCC's own."""
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
    type_ = StringType(characters=bytes(characters))
    return Value(type_, code.constant(characters.decode("utf-8", errors="replace")))


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


# --- Variables ------------------------------------------------------------------------------------


def evaluate_name(context: Context, node: tree.Name) -> Value:
    """The value that a name means."""
    symbol = find_symbol(context, node)
    if isinstance(symbol, Variable):
        if symbol.known is not None and symbol.known.constant is not None:
            return symbol.known
        storage = symbol.storage
        return storage if isinstance(storage, Value) else read_lvalue(context, storage)
    if isinstance(symbol, FieldName):
        return read_lvalue(context, find_own_member(context, symbol, node))
    if isinstance(symbol, Functions):
        return make_function_value(context, symbol, node.template_arguments)
    if isinstance(symbol, Pack):
        raise context.error(node, f"'{node.text}' is a parameter pack; expand it with '...'")
    if symbol is not None:
        raise context.error(node, f"'{node.text}' is no variable")
    built = find_built_constant(context, node.text)
    if built is not None:
        return built
    known = find_constant(node.text)
    if known is not None:
        number, type_ = known
        assert isinstance(type_, IntType)
        return make_integer(number, type_)
    return _evaluate_library_name(context, node)


def _evaluate_library_name(context: Context, node: tree.Name) -> Value:
    bare = node.text.removeprefix("::")
    if context.unit.library.is_variable(bare):
        return make_value(UINT8, code.name(context.unit.bind(bare)))
    constant = context.unit.library.find_constant(bare)
    if constant is not None:
        return make_integer(constant, UNSIGNED)
    enumerator = _find_enumerator_of_alias(context, node.text)
    if enumerator is not None:
        return enumerator
    raise unknown_variable(context, node)


def is_known_name(context: Context, name: str) -> bool:
    """Whether a name means anything here: of the kernel, the library or the build."""
    unit = context.unit
    return (
        unit.find(name, context.scope) is not None
        or unit.find_type(name, context.scope) is not None
        or find_constant(name) is not None
        or name in unit.library.names()
        or name in unit.unreadable
        or unit.library.find_call(name) is not None
        or find_built_constant(context, name) is not None
    )


def unknown_variable(context: Context, node: tree.Name) -> CppSyntaxError:
    """The error about a name that means nothing."""
    return context.unit.unknown_name(node, node.text, _describe_unknown(context, node.text))


def _find_enumerator_of_alias(context: Context, name: str) -> Value | None:
    """An enumerator of a class of the library that the kernel calls by a name of its own."""
    class_, *rest = name.rsplit("::", 2)
    found = context.unit.find_type(class_, context.scope) if len(rest) == 2 else None
    if found is None or not isinstance(found.type, ObjectType):
        return None
    known = find_constant("::".join((found.type.name, *rest)))
    if known is None:
        return None
    number, type_ = known
    assert isinstance(type_, IntType)
    return make_integer(number, type_)


def _describe_unknown(context: Context, name: str) -> str:
    siblings = list_enumerators(name)
    if siblings:
        listed = ", ".join(siblings[:16])
        return f"there is no '{name}'; there are {listed}{' ...' if siblings[16:] else ''}"
    if not context.unit.has_readers:
        return f"'{name}' is not declared"
    own, library = sorted(set(context.scope.visible())), sorted(set(context.unit.list_names()))
    near = list_alike(name, own) or list_alike(name, library)
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    return f"'{name}' is not declared{hint}"
