"""Initial values: braces, zeros, and nothing at all."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import isfinite
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.types import (
    INT,
    VOID,
    ArrayType,
    CType,
    EnumType,
    FloatType,
    FunctionType,
    IntType,
    ObjectType,
    PointerType,
    QualifiedType,
    ReferenceType,
    StringType,
    StructType,
    complete_type,
    count_of,
    is_same_type,
    is_scoped,
    may_point,
    refers_to_copy,
    size_of,
)
from ttmlir.errors import plural
from ttmlir.sim.kernels.context import Argument, Context
from ttmlir.sim.kernels.destructors import is_temporary, keep_temporary
from ttmlir.sim.kernels.expressions.copies import copy_struct
from ttmlir.sim.kernels.expressions.last_places import look_at_last
from ttmlir.sim.kernels.expressions.library_calls import (
    evaluate_argument,
    evaluate_template_arguments,
)
from ttmlir.sim.kernels.expressions.lvalues import (
    convert_implicitly,
    describe_missing_member,
    evaluate_scalar,
    find_known,
    find_path,
    fold_constant,
    has_address,
    hold_value,
    is_fixed_by_host,
    list_members,
    points_to_function,
    read_lvalue,
    retype_lvalue,
    take_address,
)
from ttmlir.sim.kernels.limits import STACK_BYTES
from ttmlir.sim.kernels.packs import expand_elements
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import (
    Alias,
    Evaluated,
    FieldName,
    Functions,
    InScope,
    Scope,
    Variable,
    list_used_names,
    refers_to_place,
)
from ttmlir.sim.kernels.value import (
    BitsLvalue,
    EitherLvalue,
    ItemLvalue,
    LocalLvalue,
    Lvalue,
    MemberLvalue,
    MemoryLvalue,
    PointedLvalue,
    Value,
    build_assigned,
    build_node,
    convert,
    find_member_lvalue,
    fit_bits,
    make_floating,
    make_integer,
    point_into,
    read_after,
    settle,
    width_of,
)


def evaluate_construct(context: Context, node: tree.Construct) -> Value:
    """The value of `T{...}`."""
    type_ = context.handlers.find_constructed(context, node.type, node.elements, node)
    if (size_of(type_) or 0) > STACK_BYTES:
        message = f"a '{type_.name}' takes {size_of(type_)} bytes; there are {STACK_BYTES}"
        raise context.error(node, message)
    context.unit.spend(node, count_of(type_))
    braces = tree.Braces(node.elements, position=node.position)
    written = node.type if isinstance(node.type, tree.NamedType) else None
    made = build_initial(context, type_, braces, written, is_direct=True)
    return keep_temporary(context, made, node)


def build_initial(
    context: Context,
    type_: CType,
    value: tree.Expression | tree.Braces,
    written: tree.Type | None = None,
    *,
    in_braces: bool = False,
    is_direct: bool = False,
) -> Value:
    """The value that a variable, member or element starts with.

    With `is_direct` it is `T{value}` or the like, without `=`.
    """
    if isinstance(value, InScope):
        outer, context.scope = context.scope, value.scope
        inner = cast("tree.Expression | tree.Braces", value.node)
        result = build_initial(
            context, type_, inner, written, in_braces=in_braces, is_direct=is_direct
        )
        context.scope = outer
        return result
    if isinstance(type_, ArrayType):
        value = spell_characters(context, type_.element, value)
    if not isinstance(value, tree.Braces):
        return _convert_initial(context, type_, value, in_braces, is_direct)
    match type_:
        case StructType() if is_list(type_) and value.elements:
            return _build_list(context, type_, value)
        case StructType() if has_constructors(context, type_):
            if any(each.member for each in value.elements):
                raise context.error(value, f"'{type_.name}' has constructors: give arguments")
            arguments = [each.value for each in value.elements]
            return context.handlers.construct(context, type_, arguments, value, braced=True)
        case StructType():
            return build_struct(context, type_, value)
        case ArrayType():
            return _build_array(context, type_, value)
        case ObjectType():
            return _build_object(context, type_, value, written)
        case _:
            return _build_single(context, type_, value, is_direct)


def spell_characters(
    context: Context, element: CType, value: tree.Expression | tree.Braces
) -> tree.Expression | tree.Braces:
    """The characters of a string that an array starts with, in braces; other values as they are."""
    is_character = isinstance(element, IntType) and size_of(element) == 1
    if not isinstance(value, tree.String) or not is_character:
        return value
    text = context.evaluate(value).type
    assert isinstance(text, StringType)
    numbers = (tree.Integer(str(each), position=value.position) for each in (*text.characters, 0))
    elements = (tree.Initializer(each, position=value.position) for each in numbers)
    return tree.Braces(tuple(elements), position=value.position)


def _convert_initial(
    context: Context, type_: CType, node: tree.Expression, in_braces: bool, is_direct: bool
) -> Value:
    given = evaluate_scalar(context, node)
    if in_braces:
        refuse_narrowing(context, given, type_, node)
        is_number = isinstance(given.type, IntType) and not is_scoped(given.type)
        if is_direct and is_number and isinstance(type_, EnumType) and not type_.is_open:
            # Braces make an enumerator of a number (C++17, [dcl.init.list]).
            return convert(given, type_)
    result = convert_implicitly(context, given, type_, node)
    return copy_struct(context, result, node)


# Lists: `std::initializer_list`, which points to an array that braces make.


def is_list(type_: CType) -> bool:
    """Whether a type is a `std::initializer_list`."""
    return isinstance(type_, StructType) and type_.name.startswith("std::initializer_list<")


def find_list_element(type_: CType) -> CType:
    """The type of the elements of a list."""
    assert isinstance(type_, StructType)
    pointer = type_.fields[0].type
    assert isinstance(pointer, PointerType)
    return pointer.pointee


def _build_list(context: Context, type_: StructType, braces: tree.Braces) -> Value:
    """A list with an array of its own; the array ends with the expression around it."""
    elements = expand_elements(context, braces.elements)
    first = elements[0].value if len(elements) == 1 else braces
    if not _has_braces(first):
        value = evaluate_scalar(context, cast("tree.Expression", first))
        if value.type == type_:
            return copy_struct(context, value, first)
        elements = [_keep(elements[0], value)]
    element = complete_type(find_list_element(type_), context.unit.structs)
    nodes = [
        settle(build_initial(context, element, each.value, in_braces=True)).node
        for each in elements
    ]
    array = Value(ArrayType(element, len(nodes)), code.list_of(nodes))
    kept = keep_temporary(context, array, braces)
    pointer = PointerType(element, const=True)
    begin = point_into(kept.node, code.constant(0), len(nodes), pointer)
    return Value(type_, code.list_of((begin.node, code.constant(len(nodes)))))


def find_type_of_elements(context: Context, braces: tree.Braces) -> CType:
    """The type that all elements of braces have, which `auto` takes for that of a list."""
    found: CType | None = None
    for each in expand_elements(context, braces.elements):
        if each.member is not None or _has_braces(each.value):
            raise context.error(each, "a list needs elements of a known type here")
        type_ = evaluate_scalar(context, cast("tree.Expression", each.value)).type
        if found is not None and not is_same_type(found, type_):
            message = f"a list has elements of one type, not of '{found.name}' and '{type_.name}'"
            raise context.error(each, message)
        found = found or type_
    if found is None:
        raise context.error(braces, "empty braces do not say of which type their elements are")
    return found


def find_list_type(context: Context, braces: tree.Braces) -> CType:
    """The `std::initializer_list` that braces make where nothing says what they are for."""
    scope = Scope(context.scope)
    scope.symbols["(element)"] = Alias(QualifiedType(find_type_of_elements(context, braces)))
    written = tree.NamedType(
        "std::initializer_list", (tree.Name("(element)"),), position=braces.position
    )
    return context.unit.resolve_type(written, scope).type


def refuse_narrowing(context: Context, given: Value, type_: CType, node: tree.Node) -> None:
    """Refuse a number in braces that its new type may not hold (C++17, [dcl.init.list])."""
    if not isinstance(type_, (IntType, FloatType)) or _holds(given, type_):
        return
    if names_variable(context, node):
        # What follows from the values of variables is no constant of the language.
        given = replace(given, node=code.name("unused"))
        if _holds(given, type_):
            return
    elif given.constant is None:
        given = fold_constant(context, given)
        if is_fixed_by_host(context, given):
            return
    constant = given.constant
    if constant is None:
        shown = f"every '{given.type.name}'"
    elif _holds_constant(constant, given.type, type_):
        return
    else:
        shown = f"{constant} of '{given.type.name}'"
    message = f"'{type_.name}' cannot hold {shown}, and braces do not convert it"
    raise context.error(node, f"{message}; write a cast")


def names_variable(context: Context, node: object) -> bool:
    """Whether an expression names a variable that constant expressions may not name."""
    match node:
        case InScope(node=inner, scope=scope):
            outer, context.scope = context.scope, scope
            found = names_variable(context, inner)
            context.scope = outer
            return found
        case tree.SizeOf() | tree.Decltype() | tree.Lambda():
            return False
        case Evaluated(written=written):
            return names_variable(context, written)
        case tree.Conditional(condition=condition) if not names_variable(context, condition):
            known = fold_constant(context, context.evaluate(condition)).constant
            taken = (node.true_value, node.false_value)
            each = taken if known is None else taken[:1] if known else taken[1:]
            return any(names_variable(context, branch) for branch in each)
        case tree.Name(text=text):
            symbol = context.unit.find(text, context.scope)
            is_plain = isinstance(symbol, Variable) and symbol.is_plain
            return is_plain or isinstance(symbol, FieldName)
        case tree.Node():
            return any(names_variable(context, each) for each in tree.list_parts(node))
        case tuple():
            parts = cast("tuple[object, ...]", node)
            return any(names_variable(context, each) for each in parts)
        case _:
            return False


def _holds(given: Value, type_: IntType | FloatType) -> bool:
    """Whether a type holds all values of what is given; objects are converted by their classes."""
    source = given.type
    match type_, source:
        case IntType(), IntType() if given.constant is None:
            source = INT if isinstance(source, EnumType) and source.fits_int else source
            kept = IntType("", given.width, source.signed) if given.width else source
            return type_.low <= kept.low and kept.high <= type_.high
        case FloatType(bits=bits), FloatType(bits=most):
            return most <= bits
        case _:
            return not isinstance(source, (IntType, FloatType, PointerType))


def _holds_constant(constant: float, source: CType, type_: IntType | FloatType) -> bool:
    if isinstance(type_, IntType):
        return isinstance(source, IntType) and type_.low <= constant <= type_.high
    rounded = make_floating(constant, type_).constant
    assert rounded is not None
    return rounded == constant if isinstance(source, IntType) else isfinite(rounded)


def has_constructors(context: Context, type_: CType) -> bool:
    """Whether the objects of a type are made by constructors."""
    if not isinstance(type_, StructType):
        return False
    info = context.unit.classes.get(type_.number)
    return info is not None and bool(info.constructors)


def _build_single(context: Context, type_: CType, braces: tree.Braces, is_direct: bool) -> Value:
    if len(braces.elements) > 1 or any(each.member for each in braces.elements):
        raise context.error(braces, f"braces for '{type_.name}' hold one value")
    if not braces.elements:
        return build_zero(context, type_)
    only = braces.elements[0].value
    return build_initial(context, type_, only, in_braces=True, is_direct=is_direct)


def build_zero(context: Context, type_: CType) -> Value:
    """The value of what is initialised with `{}`."""
    match type_:
        case IntType():
            return make_integer(0, type_)
        case FloatType():
            return make_floating(0.0, type_)
        case ArrayType():
            node = _repeat_element(context, type_, lambda: build_zero(context, type_.element).node)
            return Value(type_, node)
        case StructType() if has_constructors(context, type_):
            return context.handlers.construct(context, type_, (), tree.Braces())
        case StructType():
            return build_struct(context, type_, tree.Braces())
        case ObjectType():
            node = build_object_call(context, type_, (), None, tree.Braces())
            return Value(type_, node)
        case _:
            return Value(type_, code.constant(0))


def build_unset(context: Context, type_: CType) -> Value:
    """What a variable holds that is declared without initial value."""
    match type_:
        case ArrayType():
            return Value(
                type_,
                _repeat_element(context, type_, lambda: build_unset(context, type_.element).node),
            )
        case StructType() if has_constructors(context, type_):
            return context.handlers.construct(context, type_, (), tree.Braces())
        case StructType() if context.unit.classes[type_.number].node.kind == "union":
            return Value(type_, write_unset(type_))
        case StructType(fields=fields):
            members = _Members(context, type_)
            for _ in fields:
                members.add(None, build_unset)
            return members.build()
        case ObjectType(name="Noc"):
            # Of the classes of the library it alone has a constructor without arguments.
            return build_zero(context, type_)
        case _:
            return Value(type_, code.name("_unset"))


def write_unset(type_: CType) -> ast.expr:
    """An object that no constructor has made."""
    match type_:
        case StructType(is_union=True):
            return code.list_of([code.name("_unset")])
        case StructType(fields=fields):
            return code.list_of(write_unset(each.type) for each in fields)
        case ArrayType(element=element, count=count):
            return code.list_of(write_unset(element) for _ in range(count))
        case _:
            return code.name("_unset")


def _repeat_element(
    context: Context, type_: ArrayType, element: Callable[[], ast.expr]
) -> ast.expr:
    if isinstance(type_.element, (ArrayType, StructType, ObjectType)):
        return code.list_of(element() for _ in range(type_.count))
    return code.binary("*", code.list_of([element()]), code.constant(type_.count))


def build_default(
    context: Context, type_: StructType, number: int, find_object: Callable[[], Lvalue]
) -> Value | None:
    """The initial value that a class gives a member; it may name members that are there before."""
    base = next(iter(type_.bases), None)
    if base is not None and number < len(base.fields):
        return build_default(context, base, number, lambda: retype_lvalue(find_object(), base))
    field, info = type_.fields[number], context.unit.classes.get(type_.number)
    default = None if info is None else info.defaults.get(field.name)
    if info is None or default is None:
        return None
    outer, context.scope = context.scope, Scope(info.scope)
    if _names_object(default, info.scope):
        context.scope.symbols["this"] = Variable("this", find_object())
    value = build_field(context, field.type, default, is_direct=True)
    context.scope = outer
    return value


def _names_object(node: tree.Node, scope: Scope) -> bool:
    """Whether an initial value names the object, or members that are no constants."""
    if any(isinstance(each, tree.This) for each in tree.walk(node)):
        return True
    return any(
        isinstance(scope.find(each), (FieldName, Functions)) for each in list_used_names(node)
    )


class _Members:
    """The members of an object that is made, one after the other."""

    def __init__(self, context: Context, type_: StructType, first: Sequence[Value] = ()) -> None:
        self.context, self.type = context, type_
        self.nodes = [settle(each).node for each in first]
        self._held: LocalLvalue | None = None
        """The object, once an initial value names it."""
        self._setup = list[ast.expr]()

    def add(
        self,
        value: Value | None,
        build_other: Callable[[Context, CType], Value] | None = None,
    ) -> None:
        """One more that is given, or its default; zero without, or what `build_other` makes."""
        number = len(self.nodes)
        field = self.type.fields[number]
        value = value or build_default(self.context, self.type, number, self._hold)
        if value is None:
            value = (build_other or build_zero)(self.context, field.type)
        value = fit_bits(value, 0 if field.bits is None else field.bits.width)
        self.nodes.append(value.node)
        if self._held is not None:
            place = (build_node(self._held), code.constant(number))
            self._setup.append(code.call("_put", value.node, *place))

    def _hold(self) -> Lvalue:
        if self._held is None:
            name = self.context.unit.create_name("made", "t")
            rest = (write_unset(each.type) for each in self.type.fields[len(self.nodes) :])
            self._setup.append(code.walrus(name, code.list_of([*self.nodes, *rest])))
            self._held = LocalLvalue(self.type, name)
        return self._held

    def build(self) -> Value:
        """The object."""
        if self._held is None:
            return Value(self.type, code.list_of(self.nodes))
        return Value(self.type, code.last_of(*self._setup, build_node(self._held)))


class _Elements:
    """The elements of braces, which may leave out the braces around those of a member."""

    def __init__(self, elements: Sequence[tree.Initializer]) -> None:
        self.rest = list(elements)

    def take(self, context: Context, type_: CType) -> Value:
        """The value of a member or element."""
        first = self.rest[0]
        is_text = isinstance(type_, ArrayType) and isinstance(first.value, tree.String)
        is_whole = is_text or _has_braces(first.value)
        if not isinstance(type_, (StructType, ArrayType)) or is_whole:
            self.rest.pop(0)
            return build_initial(context, type_, first.value, in_braces=True)
        if isinstance(type_, StructType):
            value = evaluate_scalar(context, cast("tree.Expression", first.value))
            self.rest[0] = _keep(first, value)
            source = value.type
            is_whole = isinstance(source, StructType) and source.derives_from(type_)
            if is_whole or has_constructors(context, type_):
                self.rest.pop(0)
                same = convert_implicitly(context, value, type_, first.value)
                return copy_struct(context, same, first.value)
        return self._take_parts(context, type_)

    def pass_empty(self, context: Context, type_: StructType) -> None:
        """Leave out an element that is for a base without members: braces, or an object of it."""
        first = self.rest[0]
        if _has_braces(first.value):
            self.rest.pop(0)
            return
        value = evaluate_scalar(context, cast("tree.Expression", first.value))
        self.rest[0] = _keep(first, value)
        if isinstance(value.type, StructType) and value.type.derives_from(type_):
            self.rest.pop(0)

    def _take_parts(self, context: Context, type_: StructType | ArrayType) -> Value:
        """A member whose own elements stand without braces."""
        if isinstance(type_, ArrayType):
            nodes = list[ast.expr]()
            for _ in range(type_.count):
                known = bool(self.rest)
                element = type_.element
                each = self.take(context, element) if known else build_zero(context, element)
                nodes.append(settle(each).node)
            return Value(type_, code.list_of(nodes))
        members = _Members(context, type_)
        for field in type_.fields:
            members.add(self.take(context, field.type) if self.rest else None)
        return members.build()


def _keep(element: tree.Initializer, value: Value) -> tree.Initializer:
    """An element of braces that was looked at."""
    position = element.value.position
    found = Evaluated(value, element.value, position=position)
    return replace(element, value=cast("tree.Expression", found))


def _has_braces(value: object) -> bool:
    while isinstance(value, InScope):
        value = value.node
    return isinstance(value, tree.Braces)


def build_struct(context: Context, type_: StructType, braces: tree.Braces) -> Value:
    """An object of a class without constructors."""
    elements = expand_elements(context, braces.elements)
    if type_.is_union:
        return _build_union(context, type_, elements, braces)
    if len(elements) == 1 and elements[0].member is None and not _has_braces(elements[0].value):
        return _build_from_one(context, type_, elements)
    given = dict[str, tree.Initializer]()
    positional = _Elements([each for each in elements if each.member is None])
    for each in elements:
        if each.member is None:
            continue
        path = find_path(type_, each.member)
        if path is None:
            names = list_members(type_)
            raise context.error(each, describe_missing_member(type_.name, each.member, names))
        name = type_.fields[path[0]].name
        given[name] = each if len(path) == 1 else _nest(each, given.get(name))
    return _build_members(context, type_, positional, given)


def _build_members(
    context: Context,
    type_: StructType,
    positional: _Elements,
    given: Mapping[str, tree.Initializer],
) -> Value:
    """An object of the elements of braces, with and without names of members."""
    members = _Members(context, type_, _take_bases(context, type_, positional))
    for field in type_.fields[len(members.nodes) :]:
        if field.name in given:
            members.add(build_field(context, field.type, given[field.name].value, in_braces=True))
        elif positional.rest:
            members.add(_take_field(context, field.type, positional))
        else:
            members.add(None)
    if positional.rest:
        message = f"'{type_.name}' has {plural(len(type_.fields), 'member')} only"
        raise context.error(positional.rest[0], message)
    return members.build()


def _nest(element: tree.Initializer, known: tree.Initializer | None) -> tree.Initializer:
    """Braces for an unnamed struct or union with a member, beside what they have already."""
    braces = tree.Braces() if known is None else known.value
    assert isinstance(braces, tree.Braces)
    elements = (*braces.elements, element)
    return replace(element, member=None, value=replace(braces, elements=elements))


def _build_from_one(
    context: Context, type_: StructType, elements: Sequence[tree.Initializer]
) -> Value:
    """`T{x}`: a copy of x, or an object whose first member is x."""
    first = elements[0].value
    assert not isinstance(first, tree.Braces)
    if not isinstance(first, (tree.Integer, tree.Floating, tree.Boolean)) and type_.fields:
        if not isinstance(type_.fields[0].type, ReferenceType):
            value = evaluate_scalar(context, first)
            elements = [_keep(elements[0], value)]
            if isinstance(value.type, StructType) and value.type.derives_from(type_):
                same = convert_implicitly(context, value, type_, first)
                return copy_struct(context, same, first)
    return _build_members(context, type_, _Elements(elements), {})


def _take_bases(context: Context, type_: StructType, elements: _Elements) -> list[Value]:
    """The members of the bases of a class, each of which takes an element first."""
    members = list[Value]()
    for base in type_.bases:
        if not elements.rest:
            break
        if not base.fields:
            elements.pass_empty(context, base)
            continue
        value = settle(elements.take(context, base))
        if any(base is each for each, _ in type_.list_held_bases()):
            members.append(value)
            continue
        if isinstance(value.node, ast.List):
            nodes = value.node.elts
        else:
            name = context.unit.create_name("base", "t")
            first = code.walrus(name, value.node)
            places = (code.name(name) if number else first for number in range(len(base.fields)))
            nodes = [code.subscript(each, code.constant(i)) for i, each in enumerate(places)]
        members += (Value(each.type, node) for each, node in zip(base.fields, nodes, strict=True))
    return members


def _take_field(context: Context, type_: CType, elements: _Elements) -> Value:
    if isinstance(type_, ReferenceType):
        return build_field(context, type_, elements.rest.pop(0).value)
    return elements.take(context, type_)


def build_field(
    context: Context,
    type_: CType,
    value: tree.Expression | tree.Braces,
    *,
    in_braces: bool = False,
    is_direct: bool = False,
) -> Value:
    """The value of a member: of one that is a reference, where what it refers to is."""
    if not isinstance(type_, ReferenceType):
        return build_initial(context, type_, value, in_braces=in_braces, is_direct=is_direct)
    assert not isinstance(value, tree.Braces)
    setup = list[ast.expr]()
    found = look_at_last(context, value, setup)
    if isinstance(found, LocalLvalue) and found.is_const and is_scalar(found.type):
        found = read_lvalue(context, found)  # References to constant numbers are copies.
    elif isinstance(found, LocalLvalue) and isinstance(found.origin, tree.Parameter):
        if type_.is_rvalue and is_scalar(found.type):
            found = read_lvalue(context, found)  # A number that is passed has no other name.
    if (type_.const or type_.is_rvalue) and refers_to_copy(type_.referent, found.type):
        known = found if isinstance(found, Value) else read_lvalue(context, found)
        found = settle(convert_implicitly(context, known, type_.referent, value))
    pointer = take_address(context, hold_value(found), value)
    return replace(pointer, node=code.last_of(*setup, pointer.node))


def _build_union(
    context: Context, type_: StructType, elements: Sequence[tree.Initializer], braces: tree.Braces
) -> Value:
    """A union: braces set one of its members."""
    if not elements:
        return Value(type_, code.list_of([code.constant(0)]))
    if len(elements) > 1:
        raise context.error(braces, "braces set one member of a union")
    number = 0 if elements[0].member is None else type_.index(elements[0].member)
    if number is None:
        names = [field.name for field in type_.fields]
        message = describe_missing_member(type_.name, elements[0].member or "", names)
        raise context.error(elements[0], message)
    temporary = context.unit.create_name("made", "t")
    holder = code.walrus(temporary, code.list_of([code.constant(0)]))
    lvalue = find_member_lvalue(LocalLvalue(type_, temporary), number)
    value = build_initial(context, lvalue.type, elements[0].value)
    node = code.last_of(holder, build_assigned(lvalue, value), code.name(temporary))
    return Value(type_, node)


def _build_array(context: Context, type_: ArrayType, braces: tree.Braces) -> Value:
    elements = expand_elements(context, braces.elements)
    if len(elements) > type_.count and not isinstance(type_.element, (StructType, ArrayType)):
        raise context.error(braces, f"too many elements for '{type_.name}'")
    if not elements:
        return build_zero(context, type_)
    taken = _Elements(elements)
    given = list[Value]()
    while taken.rest and len(given) < type_.count:
        given.append(taken.take(context, type_.element))
    if taken.rest:
        raise context.error(braces, f"too many elements for '{type_.name}'")
    rest = [build_zero(context, type_.element) for _ in range(type_.count - len(given))]
    return Value(type_, code.list_of(settle(each).node for each in (*given, *rest)))


def _build_object(
    context: Context, type_: ObjectType, braces: tree.Braces, written: tree.Type | None
) -> Value:
    return Value(type_, build_object_call(context, type_, braces.elements, written, braces))


def build_object_call(
    context: Context,
    type_: ObjectType,
    elements: Sequence[tree.Initializer],
    written: tree.Type | None,
    node: tree.Node,
) -> ast.Call:
    """The call that makes an object of the kernel library."""
    positional = list[ast.expr]()
    keywords = dict[str, ast.expr]()
    library = context.unit.library
    if isinstance(written, tree.NamedType) and written.template_arguments:
        template = written.template_arguments
        keywords["template"] = evaluate_template_arguments(context, type_.name, template)
    names = library.parameter_names(type_.name)
    for each in elements:
        if isinstance(each.value, tree.Braces):
            raise context.error(each, "braces in braces are not supported here")
        if each.member is None:
            parameter = library.find_parameter(type_.name, len(positional))
            positional.append(evaluate_argument(context, each.value, parameter))
            continue
        if each.member not in names:
            raise context.error(each, describe_missing_member(type_.name, each.member, names))
        if each.member in keywords:
            raise context.error(each, f"'{each.member}' is given twice")
        parameter = library.find_parameter(type_.name, names.index(each.member))
        keywords[each.member] = evaluate_argument(context, each.value, parameter)
    misfit = context.unit.library.describe_misfit(type_.name, len(positional), keywords)
    if misfit:
        raise context.error(node, misfit)
    return code.call(context.unit.bind(type_.name), *positional, **keywords)


# --- Given ----------------------------------------------------------------------------------------
# Arguments of calls: looked at once, whatever is asked about them, and passed.


class Given:
    """An argument of a call: an expression, or braces."""

    def __init__(
        self,
        context: Context,
        node: tree.Expression | tree.Braces,
        found: Lvalue | Value | None = None,
    ) -> None:
        """An argument as it is written where the context is now; `found` is its resolution."""
        self.context = context
        self.node = node
        self.scope = context.scope
        self.setup = list[ast.expr]()
        """What happens before the place that is found is there; values contain it."""
        self._found = found

    @cached_property
    def braces(self) -> tree.Braces | None:
        """The argument, if it is a list in braces."""
        node: object = self.node
        while isinstance(node, InScope):
            node = node.node
        return node if isinstance(node, tree.Braces) else None

    @property
    def braces_scope(self) -> Scope:
        """Where the names in a list in braces are looked up."""
        scope, node = self.scope, self.node
        while isinstance(node, InScope):
            scope, node = node.scope, node.node
        return scope

    @cached_property
    def found(self) -> Lvalue | Value:
        """The place that the argument means, or its value if it has none."""
        if self._found is not None:
            return self._found
        if self.braces is not None:
            raise self.context.error(self.node, "braces do not say here of which type they are")
        outer, self.context.scope = self.context.scope, self.scope
        found = look_at_last(self.context, cast("tree.Expression", self.node), self.setup)
        self.context.scope = outer
        if found.type == VOID:
            raise self.context.error(self.node, "this has no value")
        if isinstance(found, Value) and self.setup:
            found = read_after(self.setup, found)
            self.setup = []
        return found

    @property
    def lvalue(self) -> Lvalue | None:
        """The place that the argument means, if it means one."""
        return None if isinstance(self.found, Value) else self.found

    @cached_property
    def value(self) -> Value:
        """The value of the argument."""
        found = self.found
        if isinstance(found, Value):
            return found
        if isinstance(self.node, (tree.Index, tree.Member)):
            known = self._find_known(self.node)
            if known is not None and known.constant is not None:
                return known
        value = read_lvalue(self.context, found)
        return read_after(self.setup, value) if self.setup else value

    def _find_known(self, node: tree.Expression) -> Value | None:
        outer, self.context.scope = self.context.scope, self.scope
        known = find_known(self.context, node)
        self.context.scope = outer
        return known

    @property
    def is_const(self) -> bool:
        """Whether the argument is the name of what cannot be changed."""
        if isinstance(self.found, Value):
            return self.found.is_const or isinstance(self.node, tree.Name)
        return self.found.is_const


def pass_argument(
    context: Context,
    parameter: tree.Parameter,
    given: Given,
    scope: Scope,
    number: int,
) -> Argument:
    """What is passed for a parameter of a function, whose types are resolved in a scope."""
    type_ = parameter.type
    if refers_to_place(type_, scope) and not isinstance(type_, tree.Reference):
        type_ = tree.Reference(type_, position=type_.position)
    if isinstance(type_, tree.Reference):
        argument = _pass_by_reference(context, type_, given, scope)
    else:
        argument = _pass_by_value(context, type_, given, scope)
    known = argument.type, argument.mode, argument.node, argument.space, argument.is_const
    return Argument(*known, number)


def _pass_by_value(context: Context, type_: tree.Type, given: Given, scope: Scope) -> Argument:
    if given.braces is not None:
        target = context.unit.resolve_type(type_, scope)
        return _pass_braces(context, target, given)
    value = given.value
    target = context.unit.resolve_declared_type(type_, scope, value.type)
    value = settle(convert_implicitly(context, value, target.type, given.node))
    # A function that is known is compiled into what calls it.
    value = context.unit.find_pointed(value) or value
    if isinstance(target.type, StructType) and not is_temporary(context, value):
        # It ends with the call, in the caller.
        value = keep_temporary(context, copy_struct(context, value, given.node), given.node)
    return Argument(value.type, "value", value.node, value.space, target.const)


def _pass_braces(context: Context, target: QualifiedType, given: Given) -> Argument:
    braces = given.braces
    assert braces is not None
    outer, context.scope = context.scope, given.scope
    if isinstance(given.node, InScope):
        context.scope = given.node.scope
    value = settle(build_initial(context, target.type, braces))
    value = keep_temporary(context, value, given.node)
    context.scope = outer
    return Argument(value.type, "value", value.node, value.space, target.const)


def _pass_by_reference(
    context: Context, type_: tree.Reference, given: Given, scope: Scope
) -> Argument:
    referent = type_.referent
    if given.braces is not None:
        target = context.unit.resolve_type(referent, scope)
        if not target.const and not type_.is_rvalue:
            raise context.error(given.node, "a reference that is not const needs a variable here")
        return _pass_braces(context, target, given)
    lvalue = given.lvalue
    if lvalue is None:
        value = given.value
        target = context.unit.resolve_declared_type(referent, scope, value.type)
        if not target.const and not type_.is_rvalue and not isinstance(value.type, FunctionType):
            raise context.error(given.node, "a reference that is not const needs a variable here")
        passed = _pass_constant_reference(context, target.type, given)
        return replace(passed, is_const=not type_.is_rvalue or target.const)
    given_type = lvalue.type
    target = context.unit.resolve_declared_type(referent, scope, given_type, lvalue.is_const)
    is_number = isinstance(target.type, (IntType, FloatType, PointerType))
    is_place = refers_to_place(type_, scope) and has_address(lvalue)
    is_copied = points_to_function(target.type) or refers_to_copy(target.type, given_type)
    if target.const and is_number and (is_copied or not is_place):
        return _pass_constant_reference(context, target.type, given)
    if target.const and not _may_refer(target, given_type):
        return _pass_constant_reference(context, target.type, given)
    if type_.is_rvalue and not target.const and lvalue.is_const:
        target = replace(target, const=True)
    check_reference(context, target, lvalue, given.node)
    if type_.is_rvalue and isinstance(lvalue, LocalLvalue) and is_scalar(lvalue.type):
        return _pass_constant_reference(context, target.type, given)
    lvalue = retype_lvalue(lvalue, target.type)
    argument = refer_to(context, lvalue, given.node, is_const=target.const)
    return replace(argument, node=code.last_of(*given.setup, argument.node))


def is_scalar(type_: CType) -> bool:
    """Whether what has a type is kept in a variable of Python: numbers and pointers are."""
    return isinstance(type_, (IntType, FloatType, PointerType, FunctionType))


def refer_to(context: Context, lvalue: Lvalue, node: tree.Node, *, is_const: bool) -> Argument:
    """A reference to a place as an argument."""
    match lvalue:
        case MemoryLvalue():
            pointer = PointerType(lvalue.type, volatile=lvalue.volatile)
            node_ = settle(lvalue.address).node
            return Argument(pointer, "address", node_, is_const=is_const)
        case _ if isinstance(lvalue.type, FunctionType) and not isinstance(lvalue, EitherLvalue):
            return Argument(lvalue.type, "value", build_node(lvalue), is_const=True)
        case PointedLvalue() | EitherLvalue() | BitsLvalue():
            pointer = take_address(context, lvalue, node)
            return Argument(pointer.type, "pointer", pointer.node, pointer.space, is_const)
        case _ if isinstance(lvalue.type, (StructType, ArrayType, ObjectType)):
            return Argument(lvalue.type, "object", build_node(lvalue), is_const=is_const)
        case ItemLvalue():
            pair = code.tuple_of(lvalue.container, lvalue.index)
            return Argument(lvalue.type, "pair", pair, is_const=is_const)
        case LocalLvalue() | MemberLvalue():
            raise context.error(node, "a reference to this is not supported")


def check_reference(
    context: Context, target: QualifiedType, lvalue: Lvalue, node: tree.Node
) -> None:
    """Refuse a reference to a variable of another type, or one that drops its `const`."""
    name = f"{'const ' if target.const else ''}{target.type.name}"
    if width_of(lvalue):
        raise context.error(node, f"a bit-field has no address that a '{name}&' could refer to")
    if not _may_refer(target, lvalue.type):
        raise context.error(node, f"a reference to '{name}' does not go with '{lvalue.type.name}'")
    if lvalue.is_const and not target.const:
        message = f"a reference to '{name}' could change what is const here"
        raise context.error(node, f"{message}; declare it 'const {name}&'")


def _may_refer(target: QualifiedType, given: CType) -> bool:
    if isinstance(target.type, PointerType) and isinstance(given, PointerType):
        volatile = replace(given, volatile=target.type.volatile)
        return target.type == volatile or (target.const and may_point(target.type, given))
    if isinstance(given, StructType) and given.derives_from(target.type):
        return True
    return is_same_type(target.type, given)


def _pass_constant_reference(context: Context, target: CType, given: Given) -> Argument:
    value = settle(convert_implicitly(context, given.value, target, given.node))
    value = context.unit.find_pointed(value) or value
    return Argument(value.type, "value", value.node, value.space, is_const=True)
