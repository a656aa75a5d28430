"""Destructors: `refuse_destructor`, as none is ever called."""

from __future__ import annotations

from ttmlir.cpp import tree
from ttmlir.cpp.types import ArrayType, CType, StructType, complete_type
from ttmlir.sim.kernels.context import Context


def refuse_destructor(context: Context, type_: CType, node: tree.Node) -> None:
    """Refuse an object whose end would do something; what it ends with may stand in its members."""
    name = _find_destroyed(context, type_, set())
    if name is not None:
        message = f"the destructor of '{name}' would run at the end of this object"
        raise context.error(
            node, f"{message}, which is not supported; call a function there that does the same"
        )


def _find_destroyed(context: Context, type_: CType, seen: set[int]) -> str | None:
    """The class of the object, of an element, a base or a member whose destructor has a body.

    `seen` are the numbers of the classes that have none: each is looked at once, however often it
    is a member.
    """
    while isinstance(type_, ArrayType):
        type_ = type_.element
    type_ = complete_type(type_, context.unit.structs)
    if not isinstance(type_, StructType) or type_.number in seen:
        return None
    seen.add(type_.number)
    info = context.unit.classes.get(type_.number)
    function = None if info is None else info.destructor
    if function is not None and not function.is_defaulted:
        body = function.body
        if body is None or body.statements:
            return type_.name
    inner = (*type_.bases, *(each.type for each in type_.fields))
    return next(filter(None, (_find_destroyed(context, each, seen) for each in inner)), None)
