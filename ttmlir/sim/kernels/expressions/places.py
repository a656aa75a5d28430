"""The places that expressions mean, and what is in them."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable
from dataclasses import replace

from ttmlir.cpp import tree
from ttmlir.cpp.types import (
    UINT8,
    UNSIGNED,
    ArrayType,
    ObjectType,
    PointerType,
    StructType,
    complete_type,
    count_of,
    size_of,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.evaluating import evaluate_number, evaluate_scalar
from ttmlir.sim.kernels.expressions.pointers import (
    advance_pointer,
    find_pointee,
    find_pointee_in_memory,
)
from ttmlir.sim.kernels.limits import STACK_BYTES
from ttmlir.sim.kernels.place import (
    EitherPlace,
    ItemPlace,
    MemberPlace,
    MemoryPlace,
    Place,
    PointedPlace,
    build_node,
    find_member_place,
    read,
)
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import Variable
from ttmlir.sim.kernels.value import Value, make_value, settle


def find_place(context: Context, node: tree.Expression) -> Place:
    """The place that an expression means."""
    match node:
        case tree.Name():
            return _find_named_place(context, node)
        case tree.Index():
            return _find_element(context, node)
        case tree.Member():
            return _find_member(context, node)
        case tree.Unary(operator="*"):
            return find_pointee(context, evaluate_scalar(context, node.operand), node)
        case _:
            raise context.error(node, "this is no variable, element or member")


def _find_named_place(context: Context, node: tree.Name) -> Place:
    symbol = context.unit.find(node.text, context.scope)
    if isinstance(symbol, Variable) and not isinstance(symbol.meaning, Value):
        return symbol.meaning
    if isinstance(symbol, Variable):
        raise context.error(node, f"'{node.text}' is constant")
    context.evaluate(node)
    raise context.error(node, f"'{node.text}' is no variable of the kernel")


def _find_element(context: Context, node: tree.Index) -> Place:
    if isinstance(node.base, tree.Name) and context.unit.library.is_array(node.base.text):
        holder = code.name(context.unit.bind(node.base.text))
        number = evaluate_number(context, node.index, "an index")
        return ItemPlace(UINT8, holder, _check_index(number), is_const=True)
    if isinstance(node.base, tree.Name) and _is_interface_array(context, node.base.text):
        callee = tree.Name("get_local_cb_interface", position=node.position)
        value = context.evaluate(tree.FunctionCall(callee, (node.index,), position=node.position))
        return ItemPlace(value.type, code.list_of([value.node]), code.constant(0))
    index = evaluate_number(context, node.index, "an index")
    base = find_array(context, node.base)
    if base is None:
        return find_pointee(context, evaluate_scalar(context, node.base), node, index)
    array = base.type
    assert isinstance(array, ArrayType)
    if index.constant is not None and not 0 <= index.constant < array.count:
        message = f"the index {index.constant} is outside of '{array.name}'"
        raise context.error(node, message)
    return _find_element_of(context, base, array, index, node)


def _is_interface_array(context: Context, name: str) -> bool:
    """Whether a name is that of the array of 2024 with the interfaces of circular buffers."""
    return name == "cb_interface" and context.unit.find(name, context.scope) is None


def _find_element_of(
    context: Context, base: Place, array: ArrayType, index: Value, node: tree.Node
) -> ItemPlace | MemoryPlace | EitherPlace:
    match base:
        case MemoryPlace():
            type_ = PointerType(array.element, base.volatile, base.is_const)
            start = Value(type_, base.address.node)
            return find_pointee_in_memory(context, advance_pointer(context, start, index, node))
        case EitherPlace():
            pointer = base.pointer
            if not code.is_stable(index.node):
                number = context.unit.create_name("index", "t")
                pointer = code.last_of(code.walrus(number, index.node), base.pointer)
                index = Value(index.type, code.name(number), index.low, index.high)
            local = _find_element_of(context, base.local, array, index, node)
            memory = _find_element_of(context, base.memory, array, index, node)
            assert isinstance(local, ItemPlace)
            assert isinstance(memory, MemoryPlace)
            return EitherPlace(array.element, pointer, local, memory, base.is_const)
        case _:
            place = _check_index(index)
            return ItemPlace(array.element, build_node(base), place, base.is_const, array.count)


def find_array(context: Context, node: tree.Expression) -> Place | None:
    """The place of an expression, if it is that of an array."""
    if not isinstance(node, (tree.Name, tree.Index, tree.Member)):
        return None
    if isinstance(node, tree.Name):
        symbol = context.unit.find(node.text, context.scope)
        if not isinstance(symbol, Variable) or isinstance(symbol.meaning, Value):
            return None
    elif not is_place(context, node):
        return None
    place = find_place(context, node)
    return place if isinstance(place.type, ArrayType) else None


def is_place(context: Context, node: tree.Expression) -> bool:
    """Whether an expression is written like a place."""
    while isinstance(node, (tree.Index, tree.Member)):
        node = node.base
    return isinstance(node, tree.Name) or (isinstance(node, tree.Unary) and node.operator == "*")


def is_constant_name(context: Context, node: tree.Expression) -> bool:
    """Whether an expression is the name of something that has no place."""
    if not isinstance(node, tree.Name):
        return False
    symbol = context.unit.find(node.text, context.scope)
    return not isinstance(symbol, Variable) or isinstance(symbol.meaning, Value)


def _find_member(context: Context, node: tree.Member) -> Place:
    if node.arrow:
        base = find_pointee(context, evaluate_scalar(context, node.base), node)
    elif is_place(context, node.base) and not is_constant_name(context, node.base):
        base = find_place(context, node.base)
    else:
        value = evaluate_scalar(context, node.base)
        holder = code.list_of([value.node])
        base = ItemPlace(value.type, holder, code.constant(0), is_const=True)
    match base.type:
        case StructType() as struct:
            return _find_struct_member(context, node, base, struct)
        case ObjectType() as type_ if not isinstance(base, (MemoryPlace, EitherPlace)):
            members = context.unit.library.find_members(type_.name)
            if node.member not in members:
                raise context.error(node, describe_missing_member(type_.name, node.member, members))
            is_const = not context.unit.library.is_writable(type_.name, node.member)
            return MemberPlace(members[node.member], build_node(base), node.member, is_const)
        case type_:
            raise context.error(node, f"'{type_.name}' has no members")


def _find_struct_member(
    context: Context, node: tree.Member, base: Place, struct: StructType
) -> Place:
    number = struct.index(node.member)
    if number is None:
        names = [field.name for field in struct.fields]
        raise context.error(node, describe_missing_member(struct.name, node.member, names))
    place = find_member_place(base, number)
    type_ = complete_type(place.type, context.unit.structs)
    if isinstance(place, EitherPlace):
        local, memory = replace(place.local, type=type_), replace(place.memory, type=type_)
        return replace(place, type=type_, local=local, memory=memory)
    return replace(place, type=type_)


def read_place(context: Context, place: Place) -> Value:
    """The value in a place, noting that memory is looked at."""
    if isinstance(place, (MemoryPlace, EitherPlace)):
        context.loads += 1
    if isinstance(place, MemoryPlace) and isinstance(place.type, StructType):
        return _read_struct(context, place)
    return read(place)


def _read_struct(context: Context, place: MemoryPlace) -> Value:
    """A struct in memory, whose address is calculated once."""
    size = size_of(place.type) or 0
    if size > STACK_BYTES:
        assert context.unit.last is not None
        message = f"a copy of '{place.type.name}' takes {size} bytes of {STACK_BYTES}"
        raise context.error(context.unit.last, message)
    if context.unit.last is not None:
        context.unit.spend(context.unit.last, 2 * count_of(place.type))
    setup = list[ast.expr]()
    value = read(stabilize(context, place, setup))
    return replace(value, node=code.last_of(*setup, value.node))


def evaluate_place(context: Context, node: tree.Index | tree.Member) -> Value:
    """The value of an element or a member."""
    constant = _find_constant_element(context, node)
    return constant if constant is not None else read_place(context, find_place(context, node))


def _find_constant_element(context: Context, node: tree.Expression) -> Value | None:
    """An element of a table of constants, at a known index."""
    match node:
        case tree.Index(base=tree.Name(text=name), index=index):
            symbol = context.unit.find(name, context.scope)
            elements = symbol.elements if isinstance(symbol, Variable) else None
            if elements is None:
                return None
            number = evaluate_number(context, index, "an index").constant
            if number is None or not 0 <= number < len(elements):
                return None
            return elements[int(number)]
        case _:
            return None


def stabilize(context: Context, place: Place, setup: list[ast.expr]) -> Place:
    """The same place with expressions that can be written twice."""

    def kept(node: ast.expr, name: str) -> ast.expr:
        if code.is_stable(node):
            return node
        temporary = context.unit.create_name(name, "t")
        setup.append(code.walrus(temporary, node))
        return code.name(temporary)

    match place:
        case ItemPlace():
            container = kept(place.container, "container")
            return replace(place, container=container, index=kept(place.index, "index"))
        case PointedPlace():
            pointer = kept(place.pointer, "pointer")
            return replace(place, pointer=pointer, offset=kept(place.offset, "index"))
        case MemoryPlace():
            address = settle(place.address)
            return replace(place, address=make_value(UNSIGNED, kept(address.node, "address")))
        case EitherPlace():
            return replace(place, pointer=kept(place.pointer, "pointer"))
        case _:
            return place


def _check_index(index: Value) -> ast.expr:
    """An index of a list, which must not count from its end."""
    return index.node if index.low >= 0 else code.call("_index", index.node)


def describe_missing_member(type_: str, member: str, members: Iterable[str]) -> str:
    """The message about a member that a type does not have."""
    known = list(members)
    near = difflib.get_close_matches(member, known, 1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    there = f"its members are {', '.join(known)}" if known else "it has no members to read"
    return f"'{type_}' has no member '{member}'; {there}{hint}"
