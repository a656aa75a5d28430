"""Symbols of emitc, found in the operation that holds them."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation


def _symbol_in_scope(op: Operation, name: str) -> Operation | None:
    """The operation with this symbol name in the nearest enclosing `builtin.module`."""
    scope = op.parent_op()
    while scope is not None and scope.name != "builtin.module":
        scope = scope.parent_op()
    if scope is None:
        return None
    for block in scope.regions[0].blocks:
        for symbol in block.ops:
            attr = symbol.properties.get("sym_name")
            if isinstance(attr, StringAttr) and attr.data == name:
                return symbol
    return None


def lookup_function(op: Operation, name: str) -> Operation | None:
    """The `emitc.func` with this name."""
    symbol = _symbol_in_scope(op, name)
    return symbol if symbol is not None and symbol.name == "emitc.func" else None


def lookup_global(op: Operation, name: str) -> Operation | None:
    """The `emitc.global` with this name."""
    symbol = _symbol_in_scope(op, name)
    return symbol if symbol is not None and symbol.name == "emitc.global" else None
