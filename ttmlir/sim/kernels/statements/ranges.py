"""`for` over a range, and names for the parts of a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.types import UNSIGNED, ArrayType, StructType, complete_type
from ttmlir.sim.kernels.classes.destructors import ending_block, refuse_destructor
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.evaluating import evaluate_scalar, fold_constant
from ttmlir.sim.kernels.expressions.initial_values import build_initial, copy_struct
from ttmlir.sim.kernels.expressions.own_calls import find_member_functions
from ttmlir.sim.kernels.expressions.places import (
    find_element,
    look_at,
    make_known,
    refer,
)
from ttmlir.sim.kernels.place import (
    EitherPlace,
    LocalPlace,
    MemoryPlace,
    Place,
    build_node,
    find_member_place,
    protect_place,
)
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.python.folding import is_literal
from ttmlir.sim.kernels.scope import Evaluated, Scope, Variable
from ttmlir.sim.kernels.statements.declarations import declare_reference_to
from ttmlir.sim.kernels.value import Value, make_integer, settle


def execute_binding(context: Context, node: tree.Binding) -> None:
    """Compile `auto [a, b] = value;`."""
    if isinstance(node.value, tree.Braces):
        raise context.error(node.value, "'auto' needs a value to take its type from")
    found = look_at(context, node.value)
    if isinstance(node.type, tree.Reference) and not isinstance(found, Value):
        place = _refer_to(context, node, found)
    else:
        if isinstance(found.type, ArrayType) and not isinstance(
            found, (Value, MemoryPlace, EitherPlace)
        ):
            value = Value(found.type, code.call("_copied", build_node(found)))
        else:
            value = evaluate_scalar(context, _known(found, node.value))
        place_or_parts = _keep(context, node, copy_struct(context, value, node))
        if place_or_parts is None:
            return
        place = place_or_parts
    parts = list(_list_parts(context, place, node))
    if len(parts) != len(node.names):
        count = f"{len(parts)} parts, not {len(node.names)}"
        raise context.error(node, f"'{place.type.name}' has {count}")
    for name, part in zip(node.names, parts, strict=True):
        _bind(context, node, name, part)


def _refer_to(context: Context, node: tree.Binding, place: Place) -> Place:
    """A reference to a place that has a name of its own."""
    assert isinstance(node.type, tree.Reference)
    declarator = tree.Declarator(f"(binding at {node.position})", position=node.position)
    expression = cast("tree.Expression", node.value)
    scope, context.scope = context.scope, Scope(context.scope)
    declare_reference_to(context, node.type, place, declarator, expression)
    symbol = context.scope.symbols[declarator.name]
    context.scope = scope
    assert isinstance(symbol, Variable)
    assert not isinstance(symbol.meaning, Value)
    return symbol.meaning


def _known(found: Place | Value, node: tree.Expression) -> tree.Expression:
    return cast("tree.Expression", Evaluated(found, position=node.position))


def _is_const(node: tree.Binding) -> bool:
    named = node.type.referent if isinstance(node.type, tree.Reference) else node.type
    is_written = isinstance(named, tree.NamedType) and "const" in named.qualifiers
    return is_written or "constexpr" in node.specifiers


def _keep(context: Context, node: tree.Binding, value: Value) -> Place | None:
    """A value in a variable; None if the names were given its constant parts."""
    refuse_destructor(context, value.type, node)
    is_const = _is_const(node) or isinstance(node.type, tree.Reference)
    if is_const:
        value = fold_constant(context, value)
        if is_literal(value.node) and _bind_constants(context, node, value):
            return None
    identifier = context.unit.create_name("bound")
    context.emit(code.assign(code.name(identifier), settle(value).node), node.position)
    place = LocalPlace(value.type, identifier)
    return protect_place(place) if is_const else place


def _bind_constants(context: Context, node: tree.Binding, value: Value) -> bool:
    type_ = complete_type(value.type, context.unit.structs)
    if not isinstance(type_, StructType) or len(type_.fields) != len(node.names):
        return False
    parts = [make_known(each.type, value.node, i) for i, each in enumerate(type_.fields)]
    if any(each is None or each.constant is None for each in parts):
        return False
    for name, part in zip(node.names, parts, strict=True):
        assert part is not None
        _bind(context, node, name, part)
    return True


def _list_parts(context: Context, place: Place, node: tree.Node) -> Sequence[Place]:
    """The members of an object, or the elements of an array."""
    type_ = complete_type(place.type, context.unit.structs)
    if isinstance(type_, StructType) and type_.name.startswith("std::array<"):
        place = find_member_place(place, 0)
        type_ = place.type
    match type_:
        case ArrayType(count=count):
            numbers = (make_integer(i, UNSIGNED) for i in range(count))
            return [find_element(context, place, each, node) for each in numbers]
        case StructType(fields=fields):
            parts = (find_member_place(place, i) for i in range(len(fields)))
            return [refer(context, each, node) for each in parts]
        case _:
            raise context.error(node, f"'{type_.name}' has no parts to name")


def _bind(context: Context, node: tree.Binding, name: str, meaning: Place | Value) -> None:
    if name in context.scope.symbols:
        raise context.error(node, f"'{name}' is declared twice")
    context.scope.symbols[name] = Variable(name, meaning, is_reference=True)


# Loops over ranges.


def execute_range(context: Context, node: tree.RangeFor) -> None:
    """Compile `for (declaration : range)`."""
    with ending_block(context):
        _execute_range(context, node)


def _execute_range(context: Context, node: tree.RangeFor) -> None:
    outer = context.scope
    context.scope = Scope(outer)
    position = node.position
    name = f"(range at {position})"
    place = _find_range(context, node)
    context.scope.symbols[name] = Variable(name, place, is_reference=True)
    written = tree.Name(name, position=position)
    count = _count_elements(context, place)
    if count is not None:
        _execute_counted(context, node, written, count)
    else:
        _execute_iterated(context, node, written, place)
    context.scope = outer


def _find_range(context: Context, node: tree.RangeFor) -> Place:
    """The range in a place of its own."""
    declaration = node.declaration
    if isinstance(declaration, tree.Binding):
        range_ = declaration.value
    else:
        initial = declaration.declarators[0].value
        assert initial is not None
        range_ = initial
    if isinstance(range_, tree.Braces):
        value = _build_list(context, range_)
    else:
        found = look_at(context, range_)
        if not isinstance(found, Value):
            return found
        value = found
    refuse_destructor(context, value.type, node)
    identifier = context.unit.create_name("range")
    context.emit(code.assign(code.name(identifier), settle(value).node), node.position)
    return LocalPlace(value.type, identifier)


def _build_list(context: Context, braces: tree.Braces) -> Value:
    """`{1, 2, 3}` as an array of the type of its first element."""
    if not braces.elements or isinstance(braces.elements[0].value, tree.Braces):
        raise context.error(braces, "a range in braces needs elements of a known type")
    first = evaluate_scalar(context, braces.elements[0].value)
    return build_initial(context, ArrayType(first.type, len(braces.elements)), braces)


def _count_elements(context: Context, place: Place) -> int | None:
    """How many elements an array has; None for other ranges."""
    type_ = complete_type(place.type, context.unit.structs)
    if isinstance(type_, StructType) and type_.name.startswith("std::array<"):
        inner = type_.fields[0].type
        return inner.count if isinstance(inner, ArrayType) else None
    return type_.count if isinstance(type_, ArrayType) else None


def _execute_counted(context: Context, node: tree.RangeFor, range_: tree.Name, count: int) -> None:
    """A loop over the indices of an array."""
    position = node.position
    counter = f"(index at {position})"
    index = tree.Name(counter, position=position)
    start = tree.Declaration(
        tree.NamedType("uint32_t", position=position),
        (tree.Declarator(counter, (), tree.Integer("0"), position=position),),
        position=position,
    )
    bound = tree.Integer(str(count), position=position)
    condition = tree.BinaryOperation("<", index, bound, position=position)
    step = tree.Update("++", index, position=position)
    element = tree.Index(range_, index, position=position)
    body = tree.Block((_declare(node, element), *node.body.statements), position=position)
    context.execute(tree.For(start, condition, step, body, position=position))


def _declare(node: tree.RangeFor, element: tree.Expression) -> tree.Declaration | tree.Binding:
    """The variable of a loop, with an element as its value."""
    declaration = node.declaration
    if isinstance(declaration, tree.Binding):
        return replace(declaration, value=element)
    declarator = replace(declaration.declarators[0], value=element)
    return replace(declaration, declarators=(declarator,))


def _execute_iterated(
    context: Context, node: tree.RangeFor, range_: tree.Name, place: Place
) -> None:
    """A loop over iterators that `begin` and `end` give."""
    position = node.position
    for name in ("begin", "end"):
        if find_member_functions(context, place.type, name) is None:
            raise context.error(node, f"'{place.type.name}' is no range: it has no '{name}'")
    names = [f"({each} at {position})" for each in ("first", "last")]
    first, last = (tree.Name(each, position=position) for each in names)
    auto = tree.NamedType("auto", position=position)
    for name, function in zip(names, ("begin", "end"), strict=True):
        callee = tree.Member(range_, function, position=position)
        value = tree.FunctionCall(callee, position=position)
        declarator = tree.Declarator(name, (), value, position=position)
        context.execute(tree.Declaration(auto, (declarator,), position=position))
    condition = tree.BinaryOperation("!=", first, last, position=position)
    step = tree.Update("++", first, position=position)
    element = tree.Unary("*", first, position=position)
    body = tree.Block((_declare(node, element), *node.body.statements), position=position)
    context.execute(tree.For(None, condition, step, body, position=position))
