"""Access to the members of objects: what is `private` or `protected`."""

from __future__ import annotations

from collections.abc import Iterator

from ttmlir.cpp import tree
from ttmlir.cpp.types import StructType
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.scope import Scope


def refuse_hidden(context: Context, type_: StructType, name: str, node: tree.Node) -> None:
    """Refuse the use of a member that the function around it may not use."""
    found = next(_find_hidden(context, type_, name), None)
    if found is None:
        return
    holder, access = found
    scope: Scope | None = context.scope
    while scope is not None:
        if scope.owner is not None:
            around = context.unit.structs[scope.owner]
            is_derived = isinstance(around, StructType) and around.derives_from(holder)
            if scope.owner == holder.number or (access == "protected" and is_derived):
                return
        scope = scope.outer
    raise context.error(node, f"'{name}' is {access} in '{holder.name}'")


def _find_hidden(
    context: Context, type_: StructType, name: str
) -> Iterator[tuple[StructType, str]]:
    """The class that declares a member so that not everybody may use it, and how."""
    info = context.unit.classes.get(type_.number)
    if info is None:
        return
    known = dict(info.node.hidden).get(name)
    if known is not None:
        yield type_, known
    elif info.scope.symbols.get(name) is None:
        for each in type_.bases:
            yield from _find_hidden(context, each, name)
