"""Symbols: operations with a name that others refer to, and the references."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation
from xdsl.traits import SymbolTable

SymbolPath = tuple[str, ...]
"""The parts of a reference: `@module::@function` is `("module", "function")`."""


def symbol_name(op: Operation) -> str | None:
    """The name that an operation defines; None if it defines none."""
    name = op.properties.get("sym_name") or op.attributes.get("sym_name")
    return name.data if isinstance(name, StringAttr) else None


def symbol_visibility(op: Operation) -> str:
    """`public`, `private` or `nested`; public if nothing is said."""
    visibility = op.properties.get("sym_visibility") or op.attributes.get("sym_visibility")
    return visibility.data if isinstance(visibility, StringAttr) else "public"


def is_symbol_table(op: Operation) -> bool:
    """True if the names defined directly inside `op` are looked up in it."""
    return op.has_trait(SymbolTable, value_if_unregistered=False)


def symbols_in(table: Operation) -> dict[str, Operation]:
    """The operations directly inside a symbol table, by the name that each defines."""
    return {
        name: op
        for region in table.regions
        for block in region.blocks
        for op in block.ops
        if (name := symbol_name(op)) is not None
    }


def references_of(op: Operation) -> Iterator[SymbolPath]:
    """The symbol references in the attributes of `op`, nested ones included."""
    for attribute in (*op.properties.values(), *op.attributes.values()):
        yield from _references(attribute)


def _references(attribute: Attribute) -> tuple[SymbolPath, ...]:
    match attribute:
        case SymbolRefAttr():
            parts = attribute.nested_references.data
            return ((attribute.root_reference.data, *(part.data for part in parts)),)
        case ArrayAttr() | DictionaryAttr():
            return _references_inside(attribute)
        case _:
            return ()


@lru_cache(maxsize=4096)
def _references_inside(attribute: ArrayAttr[Attribute] | DictionaryAttr) -> tuple[SymbolPath, ...]:
    """Each reference once: arrays may hold the same array again and again."""
    parts = attribute.data if isinstance(attribute, ArrayAttr) else attribute.data.values()
    return tuple(dict.fromkeys(path for part in parts for path in _references(part)))
