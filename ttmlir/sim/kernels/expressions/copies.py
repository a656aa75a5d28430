"""Copies of objects: member by member, or by constructors of their classes; moves likewise."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from ttmlir.cpp import tree
from ttmlir.cpp.types import ArrayType, CType, StructType, complete_type
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.destructors import take_over
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.value import ItemLvalue, Value, settle

MOST_ELEMENTS = 64
"""Of an array within an object that is copied, or assigned, by what its class says."""


def copy_struct(context: Context, value: Value, node: tree.Node, *, is_over: bool = False) -> Value:
    """An object, or an array, of one's own; one that was just made is.

    `node` is what stands in the text: an object that is moved may give up what it has, as may one
    that `is_over`, such as a parameter that is returned.
    """
    value = take_over(context, value)
    type_ = value.type
    if not isinstance(type_, (StructType, ArrayType)) or is_fresh(value.node):
        return value
    info = context.unit.classes.get(type_.number) if isinstance(type_, StructType) else None
    is_fixed = value.is_const and info is not None and info.moves_constants
    is_moved = is_over or value.is_over or is_fixed
    if not _has_own_copies(context, type_, is_moved, node):
        return replace(value, node=code.call("_copied", value.node))
    source = settle(value).node
    if not isinstance(source, ast.Name):
        held = context.unit.create_name("copied", "t")
        context.emit(code.assign(code.name(held), source), node.position)
        source = code.name(held)
    return Value(type_, _Copier(context, node, is_moved, is_fixed).copy(type_, lambda: source))


def is_fresh(node: ast.expr) -> bool:
    """Whether an object has just been made, so that nobody else knows it."""
    match node:
        case ast.List():
            return True
        case ast.IfExp(body=a, orelse=b):
            return is_fresh(a) and is_fresh(b)
        case ast.Subscript(
            value=ast.Tuple(
                elts=[ast.NamedExpr(target=ast.Name(id=made), value=value), *_, ast.Name(id=last)]
            ),
            slice=ast.Constant(value=-1),
        ) if made == last:
            return is_fresh(value)
        case ast.Subscript(value=ast.Tuple(elts=[*_, last]), slice=ast.Constant(value=-1)):
            return is_fresh(last)
        case ast.BinOp():
            # A base with the members of its own.
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name.startswith("f_") or name in ("_copied", "_sliced")
        case _:
            return False


class _Copier:
    """Copies one object with its parts."""

    def __init__(self, context: Context, node: tree.Node, is_moved: bool, is_fixed: bool) -> None:
        """`is_fixed`: the object is const, and its class moves such ones."""
        self.context = context
        self.node = node
        self.is_moved = is_moved
        self.is_fixed = is_fixed

    def copy(self, type_: CType, source: Callable[[], ast.expr]) -> ast.expr:
        """The copy of what an expression, which has no effect, gives."""
        type_ = complete_type(type_, self.context.unit.structs)
        if not self._is_own(type_):
            is_object = isinstance(type_, (StructType, ArrayType))
            return code.call("_copied", source()) if is_object else source()
        if isinstance(type_, ArrayType):
            return self._copy_parts([type_.element] * self._count(type_), source)
        assert isinstance(type_, StructType)
        if find_copying(self.context, type_, self.is_moved, self.node) is not None:
            held = code.list_of([source()])
            lvalue = ItemLvalue(type_, held, code.constant(0), self.is_fixed)
            return self.context.handlers.copy(
                self.context, type_, lvalue, self.node, self.is_moved
            ).node
        types = [each.type for each in type_.fields]
        if not type_.bases or not self._is_own(type_.bases[0]):
            return self._copy_parts(types, source)
        base = type_.bases[0]
        own = self._copy_parts(types, source, len(base.fields))
        return code.binary("+", self.copy(base, source), own)

    def _is_own(self, type_: CType) -> bool:
        return _has_own_copies(self.context, type_, self.is_moved, self.node)

    def _count(self, type_: ArrayType) -> int:
        if type_.count > MOST_ELEMENTS:
            message = f"this copies an array of {type_.count} objects by their own constructor"
            raise self.context.error(
                self.node,
                f"{message}; at most {MOST_ELEMENTS} are copied so: pass it by reference",
            )
        return type_.count

    def _copy_parts(
        self, types: list[CType], source: Callable[[], ast.expr], first: int = 0
    ) -> ast.expr:
        def part(number: int) -> Callable[[], ast.expr]:
            return lambda: code.subscript(source(), code.constant(number))

        numbered = enumerate(types[first:], first)
        return code.list_of(self.copy(each, part(number)) for number, each in numbered)


def find_copying(
    context: Context, type_: StructType, is_moved: bool, node: tree.Node
) -> tree.Function | None:
    """The constructor that copies or moves objects of a class; None if that goes by members."""
    info = context.unit.classes.get(type_.number)
    if info is None:
        return None
    found = info.moving if is_moved and info.moving is not None else info.copying
    is_hidden = found is None and info.moving is not None
    if is_hidden or (found is not None and found.is_deleted):
        if is_moved and not is_hidden:
            raise context.error(node, f"'{type_.name}' cannot be moved: its moving is deleted")
        hint = "; write std::move(...) around it" if info.moving is not None else ""
        message = f"'{type_.name}' cannot be copied: its copying is deleted{hint}"
        raise context.error(node, message)
    return None if found is None or found.is_defaulted else found


def _has_own_copies(context: Context, type_: CType, is_moved: bool, node: tree.Node) -> bool:
    """Whether a constructor copies objects of a type, or parts of them."""
    type_ = complete_type(type_, context.unit.structs)
    if isinstance(type_, ArrayType):
        return _has_own_copies(context, type_.element, is_moved, node)
    if not isinstance(type_, StructType):
        return False
    if find_copying(context, type_, is_moved, node) is not None:
        return True
    if any(_has_own_copies(context, base, is_moved, node) for base in type_.bases):
        return True
    return any(_has_own_copies(context, each.type, is_moved, node) for each in type_.fields)
