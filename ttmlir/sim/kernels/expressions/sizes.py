"""`sizeof`, `alignof` and `offsetof`: the sizes of types, and of what has one."""

from __future__ import annotations

from ttmlir.cpp import tree
from ttmlir.cpp.types import UNSIGNED, CType, StringType, StructType, alignment_of, size_of
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.lvalues import (
    evaluate_scalar,
    find_array,
    find_path,
    is_function,
    list_fields,
)
from ttmlir.sim.kernels.scope import Functions
from ttmlir.sim.kernels.value import Value, make_integer

_TYPES = (
    *(tree.NamedType, tree.Pointer, tree.Reference, tree.ArrayOf, tree.FunctionOf),
    tree.Decltype,
)


def evaluate_size(context: Context, node: tree.SizeOf) -> Value:
    """`sizeof` of a type or an expression, or `alignof` of a type."""
    operand = node.operand
    type_: CType | None = None
    if isinstance(operand, tree.Name):
        found = None
        if not operand.template_arguments and operand.scope is None:
            found = context.unit.find_type(operand.text, context.scope)
        found = found or context.handlers.find_templated_type(context, operand)
        type_ = None if found is None else found.type
    elif isinstance(operand, _TYPES):
        type_ = context.unit.resolve_type(operand, context.scope).type
    if type_ is None:
        assert not isinstance(operand, _TYPES)
        lvalue = find_array(context, operand)
        if lvalue is None:
            with context.unit.looking():
                value = evaluate_scalar(context, operand)
            type_ = value.type
            if isinstance(type_, StringType):
                return make_integer(len(type_.characters) + 1, UNSIGNED)
            if value.width:
                raise context.error(node, "a bit-field has a number of bits, and no size in bytes")
        else:
            type_ = lvalue.type
    is_pointer = is_function(type_) and not _is_named_function(context, operand)
    size = 4 if is_pointer else size_of(type_)
    if size is None:
        raise context.error(node, f"the size of '{type_.name}' is not known")
    return make_integer(alignment_of(type_) if node.is_alignment else size, UNSIGNED)


def _is_named_function(context: Context, node: tree.Node) -> bool:
    """Whether a name is that of a function, which has no size, as a pointer to it has."""
    if not isinstance(node, tree.Name):
        return False
    return isinstance(context.unit.find(node.text, context.scope), Functions)


def evaluate_offset(context: Context, node: tree.OffsetOf) -> Value:
    """`offsetof(T, member)`."""
    type_ = context.unit.resolve_type(node.type, context.scope).type
    path = find_path(type_, node.member) if isinstance(type_, StructType) else None
    if path is None:
        raise context.error(node, f"'{type_.name}' has no member '{node.member}'")
    fields = list_fields(type_, path)
    if fields[-1].bits is not None:
        raise context.error(node, f"'{node.member}' is a bit-field, which has no offset in bytes")
    return make_integer(sum(each.offset for each in fields), UNSIGNED)
