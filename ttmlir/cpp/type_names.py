"""What the written types of C++ mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from ttmlir.cpp import tree
from ttmlir.cpp.types import (
    BOOL,
    CHAR,
    DOUBLE,
    FIXED_WIDTHS,
    FLOAT,
    INT,
    UNSIGNED,
    VOID,
    ArrayType,
    CType,
    FunctionType,
    IntType,
    PointerType,
    QualifiedType,
    VoidType,
    find_integer_type,
)

_WORDS = frozenset(("unsigned", "signed", "char", "short", "int", "long"))
"""Words that make the name of an integer type together."""

_BUILT_IN: Mapping[str, CType] = {
    "void": VOID,
    "bool": BOOL,
    "char": CHAR,
    "float": FLOAT,
    "double": DOUBLE,
    "size_t": UNSIGNED,
    "uint": UNSIGNED,
    "uintptr_t": UNSIGNED,
    "ptrdiff_t": INT,
    "intptr_t": INT,
    **{
        each.name: each
        for bits in FIXED_WIDTHS
        for each in (find_integer_type(bits, True), find_integer_type(bits, False))
    },
}
"""Types by the names of one word that C++ has for them."""

BUILT_IN_WORDS = frozenset(("auto", *_BUILT_IN, *_WORDS))
"""Words that name a type of the language or of `<cstdint>`; `unsigned int` is two of them."""


def is_built_in_type(name: str) -> bool:
    """Whether a name, possibly of several words, is that of a built-in type."""
    return all(word in BUILT_IN_WORDS for word in name.split())


def find_built_in_type(name: str) -> CType | None:
    """The type of a name such as `uint32_t` or `unsigned long long int`."""
    known = _BUILT_IN.get(name)
    if known is not None:
        return known
    words = name.split()
    return _find_integer(words) if words and set(words) <= _WORDS else None


def _find_integer(words: list[str]) -> IntType:
    """The type that words such as `unsigned` and `short` mean, in whatever order they stand."""
    signed = "unsigned" not in words
    if "char" in words:
        return IntType("signed char" if signed else "unsigned char", 8, signed)
    name, bits = "int", 32
    if "short" in words:
        name, bits = "short", 16
    elif "long" in words:
        name, bits = ("long long", 64) if words.count("long") == 2 else ("long", 32)
    return IntType(name if signed else f"unsigned {name}", bits, signed)


class TypeNames(Protocol):
    """What names mean as types where a type is written."""

    def find_type(self, name: str) -> QualifiedType | None:
        """The type of a name; None if it means none."""
        ...

    def find_templated_type(self, node: tree.NamedType | tree.Name) -> QualifiedType | None:
        """The type of a name with template arguments or within a type; None if it means none."""
        ...

    def find_decltype(self, node: tree.Expression) -> QualifiedType:
        """The type of an expression."""
        ...

    def find_count(self, node: tree.Expression) -> int:
        """The number of elements that an expression gives an array."""
        ...

    def unknown_type(self, node: tree.Node, name: str) -> Exception:
        """The error about a name that means no type."""
        ...

    def error(self, node: tree.Node, message: str) -> Exception:
        """An error about a node."""
        ...


def resolve_type(
    node: tree.TemplateArgument, names: TypeNames, deduced: QualifiedType | None = None
) -> QualifiedType:
    """The type that a piece of source means, where `auto` stands for the type of a value.

    A reference has the type of what it refers to.
    """
    match node:
        case tree.NamedType(name="auto", scope=None):
            if deduced is None or isinstance(deduced.type, VoidType):
                raise names.error(node, "'auto' has no value here to take its type from")
            return _qualify(deduced, node)
        case tree.NamedType(name=name) | tree.Name(text=name):
            if node.template_arguments or node.scope is not None:
                found = names.find_templated_type(node)
            else:
                found = names.find_type(name)
            if found is None:
                raise names.unknown_type(node, name)
            return _qualify(found, node) if isinstance(node, tree.NamedType) else found
        case tree.Pointer(pointee=tree.FunctionOf()):
            if deduced is None or not isinstance(deduced.type, FunctionType):
                raise names.error(node, "which function a pointer points to has to be known here")
            return deduced
        case tree.Pointer(pointee=pointee, const=const):
            inner = resolve_type(pointee, names, _pointed_by(deduced))
            return QualifiedType(PointerType(inner.type, inner.volatile, inner.const), const)
        case _:
            return _resolve_composed(node, names, deduced)


def _resolve_composed(
    node: tree.TemplateArgument, names: TypeNames, deduced: QualifiedType | None
) -> QualifiedType:
    match node:
        case tree.Reference(referent=referent):
            return resolve_type(referent, names, deduced)
        case tree.Decltype(expression=expression):
            return names.find_decltype(expression)
        case tree.ArrayOf(element=element, size=size):
            if size is None:
                raise names.error(node, "the size of this array is missing")
            inner = resolve_type(element, names)
            return replace(inner, type=ArrayType(inner.type, names.find_count(size)))
        case tree.FunctionOf():
            raise names.error(node, "the type of a function is supported as a parameter only")
        case _:
            raise names.error(node, "this is no type")


def _qualify(type_: QualifiedType, node: tree.NamedType) -> QualifiedType:
    return QualifiedType(
        type_.type,
        type_.const or "const" in node.qualifiers,
        type_.volatile or "volatile" in node.qualifiers,
    )


def _pointed_by(type_: QualifiedType | None) -> QualifiedType | None:
    match type_:
        case QualifiedType(type=PointerType(pointee=pointee, const=const, volatile=volatile)):
            return QualifiedType(pointee, const, volatile)
        case _:
            return None


def is_deduced(node: tree.Type) -> bool:
    """Whether a type is `auto`, `auto*` or `auto&`."""
    match node:
        case tree.NamedType(name=name):
            return name == "auto"
        case tree.Pointer(pointee=inner) | tree.Reference(referent=inner):
            return is_deduced(inner)
        case _:
            return False
