"""The places that expressions mean, and what is in them."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeGuard, cast

from ttmlir.cpp import tree
from ttmlir.cpp.types import (
    BOOL,
    UINT8,
    UNSIGNED,
    ArrayType,
    CType,
    IncompleteType,
    ObjectType,
    PointerType,
    ReferenceType,
    StructType,
    complete_type,
    count_of,
    size_of,
)
from ttmlir.sim.kernels.classes.access import refuse_hidden
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.evaluating import (
    evaluate_condition,
    evaluate_number,
    evaluate_scalar,
)
from ttmlir.sim.kernels.expressions.pointers import (
    advance_pointer,
    find_pointee,
    find_pointee_in_memory,
    take_address,
)
from ttmlir.sim.kernels.expressions.tensor_layouts import find_layout_flag
from ttmlir.sim.kernels.limits import STACK_BYTES
from ttmlir.sim.kernels.place import (
    BitsPlace,
    EitherPlace,
    ItemPlace,
    LocalPlace,
    MemberPlace,
    MemoryPlace,
    Place,
    PointedPlace,
    build_node,
    find_element_of_bits,
    find_member_place,
    protect_place,
    read,
)
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import (
    Evaluated,
    FieldName,
    Functions,
    InScope,
    LateVariable,
    Symbol,
    Variable,
)
from ttmlir.sim.kernels.value import (
    Space,
    Value,
    build_condition,
    make_integer,
    make_value,
    reinterpret_bits,
    settle,
)


def find_place(context: Context, node: tree.Expression) -> Place:
    """The place that an expression means."""
    found = look_at(context, node)
    if not isinstance(found, Value):
        return found
    if isinstance(node, tree.Unary) and node.operator == "*":
        # The bits of a variable, which are a value until they are changed.
        return find_pointee(context, evaluate_scalar(context, node.operand), node)
    if isinstance(node, tree.Name):
        symbol = context.unit.find(node.text, context.scope)
        if isinstance(symbol, Variable):
            raise context.error(node, f"'{node.text}' is constant")
        raise context.error(node, f"'{node.text}' is no variable of the kernel")
    raise context.error(node, "this is no variable, element or member")


def look_at(context: Context, node: tree.Expression) -> Place | Value:
    """The place that an expression means, or its value if it has none."""
    context.unit.spend(node)
    found = _look(context, node)
    if isinstance(found, Value):
        context.unit.locate(found.node, node.position)
    return found


def _look(context: Context, node: tree.Expression) -> Place | Value:
    match node:
        case tree.Name():
            return _look_at_name(context, node)
        case tree.Index():
            return _find_element(context, node)
        case tree.Member():
            return _find_member(context, node)
        case tree.Unary(operator="*"):
            return _find_dereferenced(context, node)
        case tree.FunctionCall():
            return context.handlers.call(context, node)
        case tree.Assign() | tree.Update(postfix=False):
            return context.handlers.change(context, node)
        case tree.Cast(type=tree.Reference() as reference):
            return _cast_place(context, reference, node)
        case tree.Conditional():
            return _choose_place(context, node)
        case _:
            return _look_at_known(context, node)


def _look_at_known(context: Context, node: tree.Expression) -> Place | Value:
    """What readers of the tree have put there, or an expression that has a value only."""
    match node:
        case Evaluated(found=found):
            return found
        case InScope(scope=scope):
            outer, context.scope = context.scope, scope
            found = look_at(context, cast("tree.Expression", node.node))
            context.scope = outer
            return found
        case _:
            return evaluate_scalar(context, node)


def _choose_place(context: Context, node: tree.Conditional) -> Place | Value:
    """`condition ? a : b`, which is a place if both are places of one type."""
    found = [look_at(context, each) for each in (node.true_value, node.false_value)]
    a, b = (cast("tree.Expression", Evaluated(each, position=node.position)) for each in found)
    known = replace(node, true_value=a, false_value=b)
    places = [each for each in found if _has_address(each)]
    if len(places) < len(found) or places[0].type != places[1].type:
        return evaluate_scalar(context, known)
    condition = evaluate_condition(context, node.condition)
    if condition.constant is not None:
        return places[0 if condition.constant else 1]
    first, second = (take_address(context, each, node) for each in places)
    pointer = replace(
        first,
        node=code.choice(build_condition(condition), first.node, second.node),
        space=first.space.join(second.space),
    )
    chosen = find_pointee(context, pointer, node)
    return protect_place(chosen) if any(each.is_const for each in places) else chosen


def _has_address(found: Place | Value) -> TypeGuard[Place]:
    """Whether a pointer to a place can be made; to a number in a variable of Python it cannot."""
    if isinstance(found, LocalPlace):
        return isinstance(found.type, StructType)
    is_kept = isinstance(found, (ItemPlace, PointedPlace, MemoryPlace, EitherPlace))
    return is_kept and not isinstance(found.type, (ArrayType, ObjectType))


def evaluate_place(context: Context, node: tree.Expression) -> Value:
    """The value of an element, a member, or what else may be a place."""
    known = _find_known_part(context, node)
    found = known or _look(context, node)
    return found if isinstance(found, Value) else read_place(context, found)


def look_for_value(context: Context, node: tree.Expression) -> Place | Value:
    """The same where a value is wanted: an element or member of a constant is constant."""
    return _find_known_part(context, node) or look_at(context, node)


def _find_known_part(context: Context, node: tree.Expression) -> Value | None:
    if isinstance(node, (tree.Index, tree.Member)):
        known = find_known(context, node)
        if known is not None and known.constant is not None:
            return known
    return None


def _look_at_name(context: Context, node: tree.Name) -> Place | Value:
    symbol = find_symbol(context, node)
    if isinstance(symbol, Variable):
        return symbol.meaning
    if isinstance(symbol, FieldName):
        return find_own_member(context, symbol, node)
    return context.evaluate(node)


def find_symbol(context: Context, node: tree.Name) -> Symbol | None:
    """What a name means; a variable that is declared when it is needed is declared now."""
    if node.template_arguments or node.scope is not None:
        return context.handlers.find_templated_symbol(context, node)
    symbol = context.unit.find(node.text, context.scope)
    if isinstance(symbol, LateVariable):
        if symbol.declaration.template_parameters:
            return context.handlers.find_templated_symbol(context, node)
        return context.handlers.declare_late(context, symbol, node)
    return symbol


# Members.


def find_this(context: Context, node: tree.Node, holder: str = "this") -> Place:
    """The object that a member function is called on."""
    symbol = context.scope.find(holder)
    if isinstance(symbol, FieldName):
        return find_own_member(context, symbol, node)
    if not isinstance(symbol, Variable) or isinstance(symbol.meaning, Value):
        raise context.error(node, "there is no object here whose member this could be")
    return symbol.meaning


def find_own_member(context: Context, field: FieldName, node: tree.Node) -> Place:
    """A member of the object that a member function is called on."""
    place = find_member(context, find_this(context, node, field.holder), field.name, node)
    if isinstance(place, Value):
        raise context.error(node, f"'{field.name}' is constant")
    return place


def _find_member(context: Context, node: tree.Member) -> Place | Value:
    if node.arrow:
        base = find_pointed_object(context, node)
    else:
        base = hold_value(look_at(context, node.base))
    return find_member(context, base, node.member, node)


def find_pointed_object(context: Context, node: tree.Member) -> Place:
    """What `base->` means."""
    if isinstance(node.base, tree.This):
        return find_this(context, node)
    found = look_at(context, node.base)
    if isinstance(found.type, StructType):
        arrow = context.handlers.call_operator(context, "operator->", (node.base,), node, (found,))
        if arrow is None:
            raise context.error(node, f"'{found.type.name}' is no pointer")
        found = arrow
    value = found if isinstance(found, Value) else read_place(context, found)
    return find_pointee(context, value, node)


def hold_value(found: Place | Value) -> Place:
    """A value as a place that cannot be changed."""
    if not isinstance(found, Value):
        return found
    return ItemPlace(found.type, code.list_of([found.node]), code.constant(0), is_const=True)


def find_member(context: Context, base: Place, name: str, node: tree.Node) -> Place | Value:
    """A member of an object; of a static one it is known without the object."""
    match complete_type(base.type, context.unit.structs):
        case StructType() as struct:
            refuse_hidden(context, struct, name, node)
            path = find_path(struct, name)
            if path is None:
                return _find_static_member(context, struct, name, node)
            place = replace(base, type=struct) if base.type != struct else base
            for number in path:
                place = _complete_place(context, find_member_place(place, number))
            in_memory = isinstance(place, (MemoryPlace, EitherPlace))
            if in_memory and isinstance(place.type, ObjectType):
                message = f"'{struct.name}' is no type of what lies in memory: it holds an object"
                raise context.error(node, f"{message} of the kernel library")
            return refer(context, place, node)
        case ObjectType() as type_ if not isinstance(base, (MemoryPlace, EitherPlace, BitsPlace)):
            members = context.unit.library.find_members(type_.name)
            if name not in members:
                raise context.error(node, describe_missing_member(type_.name, name, members))
            known = find_layout_flag(context, type_, name)
            if known is not None:
                return make_integer(known, BOOL)
            is_const = not context.unit.library.is_writable(type_.name, name)
            return MemberPlace(members[name], build_node(base), name, is_const)
        case type_:
            raise context.error(node, f"'{type_.name}' has no members")


def find_path(struct: StructType, name: str) -> tuple[int, ...] | None:
    """The numbers of the members that lead to one, through unnamed structs and unions."""
    number = struct.index(name)
    if number is not None:
        return (number,)
    for number, field in enumerate(struct.fields):
        if field.name.startswith("(") and isinstance(field.type, StructType):
            inner = find_path(field.type, name)
            if inner is not None:
                return (number, *inner)
    return None


def list_members(struct: StructType) -> Iterator[str]:
    """The names of members, those in unnamed structs and unions too."""
    for field in struct.fields:
        if field.name.startswith("(") and isinstance(field.type, StructType):
            yield from list_members(field.type)
        else:
            yield field.name


def _find_static_member(
    context: Context, struct: StructType, name: str, node: tree.Node
) -> Place | Value:
    info = context.unit.classes.get(struct.number)
    symbol = None if info is None else info.scope.find_here(name)
    if isinstance(symbol, LateVariable):
        symbol = context.handlers.declare_late(context, symbol, node)
    if isinstance(symbol, Variable):
        return symbol.meaning
    if isinstance(symbol, Functions):
        message = f"'{name}' is a member function of '{struct.name}': it can only be called"
        raise context.error(node, message)
    names = list(list_members(struct))
    raise context.error(node, describe_missing_member(struct.name, name, names))


def _complete_place(
    context: Context, place: ItemPlace | BitsPlace | MemoryPlace | EitherPlace
) -> Place:
    type_ = complete_type(place.type, context.unit.structs)
    if type_ == place.type:
        return place
    return retype_place(place, type_)


def retype_place(place: Place, type_: CType) -> Place:
    """The same place as one of another type, which begins with the same members."""
    if isinstance(place, EitherPlace):
        local, memory = replace(place.local, type=type_), replace(place.memory, type=type_)
        return replace(place, type=type_, local=local, memory=memory)
    return replace(place, type=type_)


def refer(context: Context, place: Place, node: tree.Node) -> Place:
    """What a member that is a reference refers to."""
    type_ = place.type
    if not isinstance(type_, ReferenceType):
        return place
    pointer = PointerType(type_.referent, type_.volatile, type_.const)
    value = read_place(context, retype_place(place, pointer))
    if type_.is_local:
        value = replace(value, space=Space.LOCAL)
    return find_pointee(context, value, node)


def _cast_place(context: Context, reference: tree.Reference, node: tree.Cast) -> Place | Value:
    """`static_cast<T&>(place)`: the same place as one of a base or derived class."""
    found = look_at(context, node.value)
    target = context.unit.resolve_type(reference.referent, context.scope).type
    if isinstance(found, Value):
        return context.handlers.cast(context, found, target, node)
    if found.type == target or reference.is_rvalue:
        return found
    given = found.type
    if isinstance(given, (StructType, IncompleteType)) and isinstance(target, StructType):
        if target.derives_from(given):
            return retype_place(found, target)
        if isinstance(given, StructType) and given.derives_from(target):
            return retype_place(found, target)
    return context.handlers.cast(context, read_place(context, found), target, node)


# Elements.


def _find_element(context: Context, node: tree.Index) -> Place | Value:
    if isinstance(node.base, tree.Name) and context.unit.library.is_array(node.base.text):
        holder = code.name(context.unit.bind(node.base.text))
        number = evaluate_number(context, node.index, "an index")
        return ItemPlace(UINT8, holder, check_index(number), is_const=True)
    if isinstance(node.base, tree.Name) and _is_interface_array(context, node.base.text):
        callee = tree.Name("get_local_cb_interface", position=node.position)
        value = context.evaluate(tree.FunctionCall(callee, (node.index,), position=node.position))
        return ItemPlace(value.type, code.list_of([value.node]), code.constant(0))
    base = look_at(context, node.base)
    array = find_elements_of(context, base)
    if array is None and isinstance(base.type, StructType):
        operands = (node.base, node.index)
        found = context.handlers.call_operator(context, "operator[]", operands, node, (base,))
        if found is None:
            raise context.error(node, f"'{base.type.name}' has no elements")
        return found
    index = evaluate_number(context, node.index, "an index")
    if array is None:
        value = base if isinstance(base, Value) else read_place(context, base)
        return find_pointee(context, value, node, index)
    return find_element(context, array, index, node)


def find_elements_of(context: Context, base: Place | Value) -> Place | None:
    """The place of an array, or of that in a `std::array`."""
    if isinstance(base.type, ArrayType):
        return hold_value(base)
    if isinstance(base.type, StructType) and base.type.name.startswith("std::array<"):
        inner = find_member_place(hold_value(base), 0)
        return inner if isinstance(inner.type, ArrayType) else None
    return None


def find_element(context: Context, base: Place, index: Value, node: tree.Node) -> Place:
    """An element of an array."""
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
) -> ItemPlace | BitsPlace | MemoryPlace | EitherPlace:
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
            assert isinstance(local, (ItemPlace, BitsPlace))
            assert isinstance(memory, MemoryPlace)
            return EitherPlace(array.element, pointer, local, memory, base.is_const)
        case BitsPlace():
            return find_element_of_bits(base, index)
        case _:
            place = check_index(index)
            return ItemPlace(array.element, build_node(base), place, base.is_const, array.count)


def _find_dereferenced(context: Context, node: tree.Unary) -> Place | Value:
    """What `*pointer` means."""
    if isinstance(node.operand, tree.This):
        return find_this(context, node)
    punned = _read_punned(context, node.operand)
    if punned is not None:
        return punned
    found = look_at(context, node.operand)
    if isinstance(found.type, StructType):
        called = context.handlers.call_operator(
            context, "operator*", (node.operand,), node, (found,)
        )
        if called is None:
            raise context.error(node, f"'{found.type.name}' is no pointer")
        return called
    value = found if isinstance(found, Value) else read_place(context, found)
    return find_pointee(context, value, node)


def _read_punned(context: Context, node: tree.Expression) -> Value | None:
    """A local number read through a pointer to another type: `*(uint32_t*)&x`."""
    match node:
        case tree.Cast(
            type=tree.Pointer(pointee=pointee), value=tree.Unary(operator="&", operand=operand)
        ):
            place = find_place(context, operand)
            target = context.unit.resolve_type(pointee, context.scope).type
            if isinstance(place, (MemoryPlace, EitherPlace)) or place.type == target:
                return None
            return reinterpret_bits(read_place(context, place), target)
        case _:
            return None


def find_array(context: Context, node: tree.Expression) -> Place | None:
    """The place of an expression, if it is that of an array."""
    if not isinstance(node, (tree.Name, tree.Index, tree.Member)):
        return None
    if isinstance(node, tree.Name):
        symbol = context.unit.find(node.text, context.scope)
        if isinstance(symbol, FieldName):
            place = find_own_member(context, symbol, node)
            return place if isinstance(place.type, ArrayType) else None
        if not isinstance(symbol, Variable) or isinstance(symbol.meaning, Value):
            return None
    elif not is_place(context, node):
        return None
    found = look_at(context, node)
    if isinstance(found, Value):
        return None
    return found if isinstance(found.type, ArrayType) else None


def is_place(context: Context, node: tree.Expression) -> bool:
    """Whether an expression is written like a place."""
    while isinstance(node, (tree.Index, tree.Member)):
        node = node.base
    if isinstance(node, tree.Name):
        return True
    return isinstance(node, tree.Unary) and node.operator == "*"


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


# What is known when a kernel is compiled.


def find_known(context: Context, node: tree.Expression) -> Value | None:
    """An element or member of what is constant, at a known index."""
    match node:
        case tree.Name(text=text, template_arguments=(), scope=None):
            symbol = context.unit.find(text, context.scope)
            return symbol.known if isinstance(symbol, Variable) else None
        case tree.Index(base=base, index=index):
            return _find_known_element(context, find_known(context, base), index)
        case tree.Member(base=base, member=member, arrow=False):
            return find_known_member(find_known(context, base), member)
        case _:
            return None


def _find_known_element(
    context: Context, base: Value | None, index: tree.Expression
) -> Value | None:
    if base is None:
        return None
    if isinstance(base.type, StructType) and base.type.name.startswith("std::array<"):
        base = find_known_member(base, base.type.fields[0].name)
    if base is None or not isinstance(base.type, ArrayType):
        return None
    number = evaluate_number(context, index, "an index").constant
    if number is None or not 0 <= number < base.type.count:
        return None
    return make_known(base.type.element, base.node, int(number))


def find_known_member(base: Value | None, member: str) -> Value | None:
    """A member of a constant object."""
    if base is None or not isinstance(base.type, StructType) or base.type.is_union:
        return None
    number = base.type.index(member)
    return None if number is None else make_known(base.type.fields[number].type, base.node, number)


def make_known(type_: CType, node: ast.expr, number: int) -> Value | None:
    """A part of a list that is written with constants."""
    if not isinstance(node, ast.List) or number >= len(node.elts):
        return None
    part = node.elts[number]
    if isinstance(part, ast.Constant) and isinstance(part.value, (int, float)):
        low = int(part.value) if isinstance(part.value, int) else 0
        return Value(type_, part, low, low)
    return Value(type_, part) if isinstance(part, ast.List) else None


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
        case BitsPlace():
            holder, shift = kept(place.holder, "union"), settle(place.shift)
            return replace(
                place, holder=holder, shift=replace(shift, node=kept(shift.node, "shift"))
            )
        case MemoryPlace():
            address = settle(place.address)
            return replace(place, address=make_value(UNSIGNED, kept(address.node, "address")))
        case EitherPlace():
            return replace(place, pointer=kept(place.pointer, "pointer"))
        case _:
            return place


def check_index(index: Value) -> ast.expr:
    """An index of a list, which must not count from its end."""
    return index.node if index.low >= 0 else code.call("_index", index.node)


def describe_missing_member(type_: str, member: str, members: Iterable[str]) -> str:
    """The message about a member that a type does not have."""
    known = list(members)
    near = difflib.get_close_matches(member, known, 1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    there = f"its members are {', '.join(known)}" if known else "it has no members to read"
    return f"'{type_}' has no member '{member}'; {there}{hint}"
