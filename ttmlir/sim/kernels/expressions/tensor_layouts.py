"""Layouts of tensors that are known when a kernel is compiled: `TensorAccessorArgs<n>()`."""

from __future__ import annotations

import ast

from ttmlir.cpp import tree
from ttmlir.cpp.types import CType, ObjectType
from ttmlir.sim.errors import SimError
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.machine.address_generators import (
    DRAM,
    RUNTIME_NUM_BANKS,
    RUNTIME_PAGE_SIZE,
    RUNTIME_RANK,
    SHARDED,
    read_accessor_args,
)

_CLASS = "TensorAccessorArgs"
_MEMBERS = {"is_dram": DRAM, "is_sharded": SHARDED}
_AT_RUNTIME = {
    "next_common_runtime_args_offset": RUNTIME_RANK | RUNTIME_NUM_BANKS,
    "get_aligned_page_size": RUNTIME_PAGE_SIZE,
}
"""Flags of a layout with which a member function depends on run-time arguments."""


def find_layout_type(result: CType, called: ast.Call) -> CType:
    """The type of an object that a call makes, with its template arguments if they say it all."""
    if not isinstance(result, ObjectType) or result.name != _CLASS:
        return result
    match called:
        case ast.Call(args=[], keywords=[ast.keyword(value=ast.Tuple(elts=numbers))]):
            known = [each.value for each in numbers if isinstance(each, ast.Constant)]
            whole = [each for each in known if isinstance(each, int)]
            return ObjectType(_CLASS, tuple(whole)) if len(whole) == len(numbers) else result
        case _:
            return result


def find_layout_flag(context: Context, type_: ObjectType, member: str) -> int | None:
    """A member of a layout that is known, such as `is_dram`; None if it is not known."""
    base = type_.arguments[0] if type_.name == _CLASS and type_.arguments else None
    words = context.unit.compile_time_args
    if base is None or not 0 <= base < len(words):
        return None
    return int(bool(words[base] & _MEMBERS[member])) if member in _MEMBERS else None


def find_layout_number(
    context: Context, node: tree.Node, type_: ObjectType, member: str
) -> int | None:
    """What a member function gives of a layout that is known; None if it is not."""
    if type_.name != _CLASS or not type_.arguments:
        return None
    base, common = (*type_.arguments, 0)[:2]
    words, assumed = context.unit.compile_time_args, context.unit.assumed
    try:
        if assumed is not None and base >= len(words):
            return int(getattr(assumed.take_layout(base, common), member)())
        args = read_accessor_args(words, base, common, None)
        if words[base] & _AT_RUNTIME.get(member, 0):
            return None
        return int(getattr(args, member)())
    except SimError as error:
        raise context.error(node, error.message) from None
