"""Layouts of tensors that are known when a kernel is compiled: `TensorAccessorArgs<n>()`.

The types of layouts and accessors hold where the compile-time arguments of a layout begin.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from math import prod

from ttmlir.cpp import tree
from ttmlir.cpp.types import UNSIGNED, ArrayType, CType, ObjectType
from ttmlir.sim.errors import SimError
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.value import Value, make_integer
from ttmlir.sim.machine.address_generators import (
    DRAM,
    RUNTIME_BANKS,
    RUNTIME_NUM_BANKS,
    RUNTIME_PAGE_SIZE,
    RUNTIME_RANK,
    RUNTIME_SHAPE,
    RUNTIME_SHARD_SHAPE,
    SHARDED,
    AccessorArgs,
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


_SPEC = {
    "has_static_rank": RUNTIME_RANK,
    "has_static_num_banks": RUNTIME_NUM_BANKS,
    "tensor_shape_static": RUNTIME_RANK | RUNTIME_SHAPE,
    "shard_shape_static": RUNTIME_RANK | RUNTIME_SHARD_SHAPE,
    "bank_coords_static": RUNTIME_NUM_BANKS | RUNTIME_BANKS,
    "shapes_static": RUNTIME_RANK | RUNTIME_SHAPE | RUNTIME_SHARD_SHAPE,
    "is_static": RUNTIME_RANK
    | RUNTIME_NUM_BANKS
    | RUNTIME_SHAPE
    | RUNTIME_SHARD_SHAPE
    | RUNTIME_BANKS,
}
"""Constants of `T::DSpec` of a sharded tensor, with the flags that make them false."""
SPEC_FACTS = ("is_dram", "is_interleaved", *_SPEC)
_SPEC_METHODS: Mapping[str, tuple[str, Callable[[AccessorArgs], int | tuple[int, ...]]]] = {
    "rank": ("has_static_rank", lambda args: args.rank),
    "num_banks": ("has_static_num_banks", lambda args: len(args.banks)),
    "tensor_volume": ("tensor_shape_static", lambda args: prod(args.shape)),
    "shard_volume": ("shard_shape_static", lambda args: prod(args.shard_shape)),
    "tensor_shape": ("tensor_shape_static", lambda args: args.shape),
    "shard_shape": ("shard_shape_static", lambda args: args.shard_shape),
}
"""What is constant of `accessor.dspec()` where a constant of its type says so."""


def find_accessor_flag(context: Context, type_: ObjectType, member: str) -> bool | None:
    """A constant of `T::DSpec` of the type of an accessor; None if it does not say that."""
    if not type_.arguments:
        return None
    base, words, assumed = type_.arguments[0], context.unit.compile_time_args, context.unit.assumed
    if 0 <= base < len(words):
        flags = words[base]
    elif assumed is not None:
        layout = assumed.take_layout(base, 0)
        flags = SHARDED * layout.is_sharded | DRAM * layout.is_dram
    else:
        return None
    if member == "is_dram":
        return bool(flags & DRAM)
    is_sharded = bool(flags & SHARDED)
    return is_sharded and not flags & _SPEC[member] if member in _SPEC else not is_sharded


def find_questioned(node: tree.FunctionCall) -> tuple[tree.Expression, str] | None:
    """The accessor and the question of `accessor.dspec().rank()`."""
    match node:
        case tree.FunctionCall(
            callee=tree.Member(
                base=tree.FunctionCall(callee=tree.Member(base=accessor, member="dspec")),
                member=member,
            )
        ) if member in _SPEC_METHODS:
            return accessor, member
        case _:
            return None


def find_spec_constant(
    context: Context, node: tree.Node, type_: CType, member: str
) -> Value | None:
    """The rank, a shape or a volume of `dspec()`, if the type of the accessor says it."""
    fact, find = _SPEC_METHODS[member]
    if not isinstance(type_, ObjectType) or not find_accessor_flag(context, type_, fact):
        return None
    has_page_size = context.unit.library.has_page_sizes
    try:
        words, base = context.unit.compile_time_args, type_.arguments[0]
        found = find(read_accessor_args(words, base, 0, None, has_page_size=has_page_size))
    except SimError as error:
        raise context.error(node, error.message) from error
    if isinstance(found, int):
        return make_integer(found, UNSIGNED)
    return Value(ArrayType(UNSIGNED, len(found)), code.list_of(map(code.constant, found)))


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
        has_page_size = context.unit.library.has_page_sizes
        args = read_accessor_args(words, base, common, None, has_page_size=has_page_size)
        if words[base] & _AT_RUNTIME.get(member, 0):
            return None
        return int(getattr(args, member)())
    except SimError as error:
        raise context.error(node, error.message) from error
