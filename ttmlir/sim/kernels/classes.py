"""Classes: their members, how objects are made, and lambdas, which are objects of classes."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.types import (
    TUPLE,
    ArrayType,
    CType,
    Field,
    FloatType,
    FunctionType,
    IncompleteType,
    IntType,
    Member,
    ObjectType,
    PointerType,
    QualifiedType,
    ReferenceType,
    StructType,
    complete_type,
    has_mutable_member,
    is_like_tuple,
    lay_out_struct,
    size_of,
)
from ttmlir.errors import plural
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.destructors import FullExpression
from ttmlir.sim.kernels.expressions.copies import copy_struct
from ttmlir.sim.kernels.expressions.initial_values import (
    Given,
    build_default,
    build_field,
    build_initial,
    build_object_call,
    build_struct,
    build_unset,
    build_zero,
    is_list,
    refuse_narrowing,
    write_unset,
)
from ttmlir.sim.kernels.expressions.lvalues import (
    convert_implicitly,
    decay_function,
    evaluate_constant,
    find_this,
    list_members,
    retype_lvalue,
    take_address,
)
from ttmlir.sim.kernels.expressions.own_calls import call_candidate, take_arguments
from ttmlir.sim.kernels.limits import MAX_CALL_NESTING
from ttmlir.sim.kernels.packs import expand_all
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import (
    CLOSURE,
    AliasTemplate,
    ClassInfo,
    ClassTemplate,
    Evaluated,
    FieldName,
    Functions,
    LateVariable,
    Pack,
    Scope,
    StructDefinition,
    Symbol,
    Variable,
    define_static_members,
)
from ttmlir.sim.kernels.templates import (
    CallOfOwn,
    Candidate,
    Deduction,
    bind_defaults,
    bind_explicit,
    choose_function,
    is_moved,
    key_of,
    rank_list,
    refuse_repeated,
    show_arguments,
    within_scope,
)
from ttmlir.sim.kernels.value import (
    ItemLvalue,
    LocalLvalue,
    Lvalue,
    PointedLvalue,
    Space,
    Value,
    build_assignment,
    build_node,
    find_member_lvalue,
    settle,
)

# --- Closures -------------------------------------------------------------------------------------
# Lambdas: objects of classes of their own, whose members are what they capture.

_MEMBERS = (FieldName, Functions)
_LISTS = (LocalLvalue, ItemLvalue, PointedLvalue)


class _Closure:
    """A class for one lambda on its way."""

    def __init__(self, context: Context, node: tree.Lambda) -> None:
        self.context = context
        self.node = node
        self.scope = Scope(_find_static_scope(context))
        self.members = list[tuple[str, QualifiedType]]()
        self.values = list[ast.expr]()

    def capture(self, name: str, symbol: Symbol, *, by_reference: bool) -> None:
        """Take in a variable of the function around the lambda."""
        match symbol:
            case Pack(symbols=symbols):
                parts = list[Symbol]()
                for number, each in enumerate(symbols):
                    field = f"{name}#{number}"
                    inner = Scope(self.context.scope)
                    inner.symbols[name] = each
                    outer, self.context.scope = self.context.scope, inner
                    self._add(field, name, by_reference=by_reference)
                    self.context.scope = outer
                    parts.append(FieldName(field, CLOSURE))
                self.scope.symbols[name] = Pack(tuple(parts))
            case Variable(known=Value() as known, storage=at) if not has_mutable_member(at.type):
                self._share_constant(name, known, at)
            case _:
                self._add(name, name, by_reference=by_reference)
                self.scope.symbols[name] = FieldName(name, CLOSURE)

    def _share_constant(self, name: str, known: Value, storage: Lvalue | Value) -> None:
        """Constant arrays and objects are known everywhere."""
        unit = self.context.unit
        identifier = unit.create_name(name)
        unit.add_global(code.assign(code.name(identifier), known.node), self.node.position)
        unit.known_values[identifier] = known.node
        lvalue = LocalLvalue(storage.type, identifier, is_const=True)
        self.scope.symbols[name] = Variable(name, lvalue, is_global=True, known=known)

    def _add(self, field: str, name: str, *, by_reference: bool) -> None:
        given = Given(self.context, tree.Name(name, position=self.node.position))
        lvalue = given.lvalue
        if by_reference or not isinstance(lvalue, _LISTS):
            self.add_value(field, given, by_reference=by_reference)
        elif isinstance(lvalue.type, ArrayType):
            # An array that is taken in is copied, where its value would be a pointer.
            self._add_copy(field, Value(lvalue.type, build_node(lvalue)), given.node)
        else:
            self.add_value(field, given, by_reference=False)

    def add_value(self, field: str, given: Given, *, by_reference: bool) -> None:
        """A member that starts as something."""
        lvalue = given.lvalue
        if lvalue is not None and by_reference and self._may_refer(lvalue, field):
            pointer = take_address(self.context, lvalue, self.node)
            assert isinstance(pointer.type, PointerType)
            is_local = pointer.space is Space.LOCAL
            held: CType = ReferenceType(
                pointer.type.pointee, pointer.type.const, pointer.type.volatile, is_local
            )
            self.members.append((field, QualifiedType(held)))
            self.values.append(code.last_of(*given.setup, pointer.node))
            return
        self._add_copy(field, given.value, given.node)

    def _add_copy(self, field: str, found: Value, node: tree.Node) -> None:
        value = settle(copy_struct(self.context, found, node))
        const = not self.node.is_mutable
        self.members.append((field, QualifiedType(value.type, const)))
        self.values.append(value.node)

    def _may_refer(self, lvalue: Lvalue, field: str) -> bool:
        """Whether a place is taken in by reference; what never changes is copied."""
        if isinstance(lvalue.type, FunctionType):
            return False
        if not isinstance(lvalue, LocalLvalue):
            return True
        return isinstance(lvalue.type, (StructType, ArrayType, ObjectType))

    def capture_this(self, *, by_reference: bool) -> None:
        """Take in the object of the member function around the lambda."""
        lvalue = find_this(self.context, self.node)
        given = Given(self.context, tree.This(position=self.node.position), lvalue)
        self.add_value("this", given, by_reference=by_reference)
        self.scope.symbols["this"] = FieldName("this", CLOSURE)

    def finish(self) -> Value:
        """The object."""
        unit, node = self.context.unit, self.node
        key = (id(node), self.context.scope, tuple(self.members))
        known = self.context.closures.get(key)
        if known is not None:
            # The same expression, looked at once more.
            return Value(known, code.list_of(self.values))
        number = len(unit.structs)
        at = node.position
        name = f"(lambda at {at.line}:{at.column})" if at is not None else "(lambda)"
        unit.structs.append(IncompleteType(name, number))
        type_ = lay_out_struct(name, number, [Member(*each) for each in self.members])
        unit.structs[number] = type_
        self.scope.owner = number
        parameters, invented = _name_types(node.parameters)
        function = tree.Function(
            "operator()",
            parameters,
            node.body,
            node.result or tree.NamedType("auto", position=at),
            is_const=not node.is_mutable,
            template_parameters=(*node.template_parameters, *invented),
            position=at,
        )
        self.scope.symbols["operator()"] = Functions("operator()", (function,), self.scope)
        struct = tree.Struct(name, position=at)
        unit.add_class(number, ClassInfo(struct, self.scope))
        unit.closures[number] = self.node
        self.context.closures[key] = type_
        return Value(type_, code.list_of(self.values))


def _name_types(
    parameters: Sequence[tree.Parameter],
) -> tuple[tuple[tree.Parameter, ...], tuple[tree.TemplateParameter, ...]]:
    """The parameters of a lambda with a template parameter in place of each `auto`, and these."""
    named = list[tree.Parameter]()
    invented = list[tree.TemplateParameter]()
    for each in parameters:
        name = f"auto#{len(invented)}"
        type_ = _name_auto(each.type, name)
        if type_ is not each.type:
            each = replace(each, type=type_)
            invented.append(tree.TemplateParameter(name, is_pack=each.is_pack))
        named.append(each)
    return tuple(named), tuple(invented)


def _name_auto(type_: tree.Type, name: str) -> tree.Type:
    match type_:
        case tree.NamedType(name="auto", scope=None):
            return replace(type_, name=name)
        case tree.Pointer(pointee=inner):
            found = _name_auto(inner, name)
            return type_ if found is inner else replace(type_, pointee=found)
        case tree.Reference(referent=inner):
            found = _name_auto(inner, name)
            return type_ if found is inner else replace(type_, referent=found)
        case _:
            return type_


def evaluate_lambda(context: Context, node: tree.Lambda) -> Value:
    """The object that a lambda makes."""
    closure = _Closure(context, node)
    named = dict[str, bool]()
    for each in node.captures:
        context.unit.spend(each)
        if each.name in ("this", "*this"):
            closure.capture_this(by_reference=each.name == "this")
        elif each.value is not None:
            _capture_value(context, closure, each)
        else:
            named[each.name] = each.by_reference
    if node.default:
        used = dict.fromkeys(_find_used(node))
        written = {each.name for each in node.captures}
        # In the order of the text, for the same code each time.
        named |= {name: node.default == "&" for name in used if name not in written}
        if "this" not in closure.scope.symbols and _uses_object(context, node, used):
            closure.capture_this(by_reference=True)
    for name, by_reference in named.items():
        symbol = context.scope.find(name)
        if symbol is not None and _is_local(symbol):
            closure.capture(name, symbol, by_reference=by_reference)
        elif any(each.name == name for each in node.captures) and symbol is None:
            raise context.error(node, f"there is no variable '{name}' to capture")
    return closure.finish()


def _capture_value(context: Context, closure: _Closure, capture: tree.Capture) -> None:
    """`x = value`, or `&x = value`."""
    assert capture.value is not None
    if isinstance(capture.value, tree.Braces):
        raise context.error(capture, "'auto' needs a value to take its type from")
    given = Given(context, capture.value)
    closure.add_value(capture.name, given, by_reference=capture.by_reference)
    closure.scope.symbols[capture.name] = FieldName(capture.name, CLOSURE)


def _find_used(node: tree.Lambda) -> Iterator[str]:
    for each in tree.walk((node.body, node.captures)):
        if isinstance(each, tree.Name) and each.scope is None:
            yield each.text
        elif isinstance(each, tree.CountOf):
            yield each.pack


def _uses_object(context: Context, node: tree.Lambda, used: dict[str, None]) -> bool:
    """Whether a lambda uses the object of the member function around it."""
    if context.scope.find("this") is None:
        return False
    if any(isinstance(each, tree.This) for each in tree.walk(node.body)):
        return True
    for name in used:
        symbol = context.scope.find(name)
        if isinstance(symbol, FieldName) and symbol.holder != CLOSURE:
            return True
        if isinstance(symbol, Functions) and symbol.scope.owner is not None:
            return True
    return False


def _is_local(symbol: Symbol) -> bool:
    """Whether a name is that of a variable of the function around."""
    match symbol:
        case Variable(storage=Value()):
            return False
        case Variable(is_global=is_global):
            return not is_global
        case FieldName(holder=holder):
            return holder == CLOSURE
        case Pack(symbols=symbols):
            return any(map(_is_local, symbols))
        case _:
            return False


def _find_static_scope(context: Context) -> Scope:
    """What a lambda sees beside its captures: all but the variables of the function around it."""
    unit = context.unit
    namespaces = {id(each) for each in unit.namespaces.values()} | {id(unit.root)}
    layers = list[Scope]()
    scope: Scope | None = context.scope
    while scope is not None and scope.owner is None and id(scope) not in namespaces:
        layers.append(scope)
        scope = scope.outer
    inner = Scope(scope)
    for layer in reversed(layers):
        for name, symbol in layer.symbols.items():
            if not _is_local(symbol):
                inner.symbols[name] = symbol
            else:
                inner.symbols.pop(name, None)
        inner.more = (*layer.more, *inner.more)
    return inner


# --- Construct ------------------------------------------------------------------------------------
# Objects of classes: how they are made, and what starts with which value.

Arguments = Sequence[tree.Expression | tree.Braces]


def find_info(context: Context, type_: CType) -> ClassInfo | None:
    """What is known of a class beside its layout."""
    if isinstance(type_, (StructType, IncompleteType)):
        return context.unit.classes.get(type_.number)
    return None


def construct(
    context: Context, type_: CType, arguments: Arguments, node: tree.Node, *, braced: bool = False
) -> Value:
    """The object that `T(arguments)` makes, or with `braced` `T{arguments}`."""
    type_ = complete_type(type_, context.unit.structs)
    arguments = expand_all(context, arguments)
    info = find_info(context, type_)
    if not isinstance(type_, StructType) or info is None:
        return _construct_plain(context, type_, arguments, node)
    if info.constructors:
        if not braced and _is_single_braces(arguments) and not _takes_one(info.constructors):
            # A copy of what the braces make.
            braces = cast("tree.Braces", arguments[0])
            arguments, braced = tuple(each.value for each in braces.elements), True
        listed = _find_list_constructors(context, info, arguments, node) if braced else None
        if listed is not None:
            return _make_by(context, type_, replace(info, constructors=listed[0]), listed[1], node)
        return _call_constructor(context, type_, info, arguments, node, braced=braced)
    if not arguments:
        return build_zero(context, type_)
    is_tuple = type_.name.startswith(TUPLE)
    if len(arguments) == 1 and not isinstance(arguments[0], tree.Braces):
        made, arguments = _construct_from_one(
            context, type_, arguments[0], node, braced or is_tuple
        )
        if made is not None:
            return made
    braced = braced or is_tuple
    if not braced and not _is_single_braces(arguments):
        message = f"'{type_.name}' has no constructor with {plural(len(arguments), 'argument')}"
        raise context.error(node, f"{message}; write braces to set its members")
    if _is_single_braces(arguments) and not braced:
        braces = arguments[0]
        assert isinstance(braces, tree.Braces)
        return build_struct(context, type_, braces)
    elements = tuple(tree.Initializer(each, position=node.position) for each in arguments)
    return build_struct(context, type_, tree.Braces(elements, position=node.position))


def _construct_from_one(
    context: Context, type_: StructType, value: tree.Expression, node: tree.Node, braced: bool
) -> tuple[Value | None, Arguments]:
    """What one value makes of a class without constructors, or the members that it is for."""
    given = Given(context, value)
    source = given.found.type
    if not braced or (isinstance(source, StructType) and source.derives_from(type_)):
        same = convert_implicitly(context, given.value, type_, node)
        return copy_struct(context, same, node), ()
    known = Evaluated(given.found, setup=tuple(given.setup), position=value.position)
    known = cast("tree.Expression", known)
    if not is_like_tuple(type_, source) or is_like_tuple(type_.fields[0].type, source):
        return None, (known,)
    return None, _list_elements(known, given, len(type_.fields), node)


def _list_elements(
    whole: tree.Expression, given: Given, count: int, node: tree.Node
) -> tuple[tree.Expression, ...]:
    """The elements of a tuple, given up as it is."""
    if is_moved(given):
        whole = tree.FunctionCall(tree.Name("std::move"), (whole,), position=node.position)
    get = tree.Name("std::get")
    numbers = (tree.Integer(str(each), position=node.position) for each in range(count))
    return tuple(
        tree.FunctionCall(get, (whole,), (each,), position=node.position) for each in numbers
    )


def _find_list_constructors(
    context: Context, info: ClassInfo, arguments: Arguments, node: tree.Node
) -> tuple[tuple[tree.Function, ...], list[Given]] | None:
    """The constructors that take `T{arguments}` as one list, and the list as their argument.

    They go before all others, but for empty braces (C++17, [over.match.list]).
    """
    found = list[tree.Function]()
    elements = tuple(tree.Initializer(each, position=node.position) for each in arguments)
    given = Given(context, tree.Braces(elements, position=node.position))
    for each in info.constructors if arguments else ():
        first, *others = each.parameters or (None,)
        if first is None or first.is_pack or each.template_parameters:
            continue
        if any(one.default is None for one in others):
            continue
        written = first.type.referent if isinstance(first.type, tree.Reference) else first.type
        if not _may_be_list(written):
            continue
        type_ = context.unit.resolve_type(written, info.scope).type
        if is_list(type_):
            with context.unit.trying():
                if rank_list(context, given, type_) is not None:
                    found.append(each)
    return (tuple(found), [given]) if found else None


def _may_be_list(written: tree.Type) -> bool:
    """Whether a type may be a list; others are not resolved before they are needed."""
    return isinstance(written, tree.NamedType) and (
        "initializer_list" in written.name or not written.template_arguments
    )


def _is_single_braces(arguments: Arguments) -> bool:
    return len(arguments) == 1 and isinstance(arguments[0], tree.Braces)


def _takes_one(constructors: Sequence[tree.Function]) -> bool:
    """Whether one of them can be called with one argument."""
    return any(
        each.parameters and all(one.default is not None for one in each.parameters[1:])
        for each in constructors
    )


def _construct_plain(
    context: Context, type_: CType, arguments: Arguments, node: tree.Node
) -> Value:
    """`T(value)` of what is no class of the kernel."""
    if not arguments:
        return build_zero(context, type_)
    if len(arguments) != 1:
        raise context.error(node, f"a conversion to '{type_.name}' takes one value")
    return build_initial(context, type_, arguments[0])


def _call_constructor(
    context: Context,
    type_: StructType,
    info: ClassInfo,
    arguments: Arguments,
    node: tree.Node,
    *,
    braced: bool,
) -> Value:
    given = take_arguments(context, arguments)
    copied = _find_copied(type_, given)
    if copied is not None:
        same = settle(convert_implicitly(context, copied.value, type_, node))
        return copy_struct(context, same, copied.node)
    return _make_by(context, type_, info, given, node, braced=braced)


def copy_object(
    context: Context, type_: StructType, source: Lvalue, node: tree.Node, is_moved: bool
) -> Value:
    """The object that the copy constructor of a class makes, or the one that moves."""
    known = cast("tree.Expression", Evaluated(source, position=node.position))
    if is_moved:
        known = tree.FunctionCall(tree.Name("std::move"), (known,), position=node.position)
    given = take_arguments(context, (known,))
    return _make_by(context, type_, context.unit.classes[type_.number], given, node)


_TAKING_ANY = ("std::pair<", TUPLE, "std::optional<")
"""Classes whose constructors take values of other types and convert them."""


def _make_by(
    context: Context,
    type_: StructType,
    info: ClassInfo,
    given: Sequence[Given],
    node: tree.Node,
    *,
    braced: bool = False,
) -> Value:
    """The object that one of the constructors makes."""
    functions = Functions(info.node.name, info.constructors, info.scope)
    chosen = choose_function(context, functions, CallOfOwn(node, (), given))
    if braced and not type_.name.startswith(_TAKING_ANY):
        _refuse_narrowed_arguments(context, chosen, given)
    initialized = {each.type.name for each in chosen.function.initializers}
    for base in type_.bases:
        if context.unit.classes[base.number].constructors:
            initialized |= {field.name for field in base.fields}
    raw = Value(type_, _build_raw(context, type_, initialized))
    this = ItemLvalue(type_, code.list_of([raw.node]), code.constant(0))
    made = call_candidate(context, chosen, given, node, this)
    assert isinstance(made, Value)
    return Value(type_, made.node)


def _refuse_narrowed_arguments(context: Context, chosen: Candidate, given: Sequence[Given]) -> None:
    """Refuse numbers in the braces of `T{arguments}` that their parameters may not hold."""
    for parameter, each in zip(chosen.function.parameters, given, strict=False):
        if parameter.is_pack:
            return
        if each.braces is None and isinstance(each.found.type, (IntType, FloatType)):
            written = parameter.type
            written = written.referent if isinstance(written, tree.Reference) else written
            resolve = context.unit.resolve_declared_type
            target = resolve(written, chosen.scope, each.found.type).type
            refuse_narrowing(context, each.value, target, each.node)


def _find_copied(type_: StructType, given: Sequence[Given]) -> Given | None:
    """The object that a call of a constructor copies, if it copies one."""
    if len(given) != 1 or given[0].braces is not None:
        return None
    source = given[0].found.type
    is_same = isinstance(source, StructType) and source.derives_from(type_)
    return given[0] if is_same else None


def _build_raw(context: Context, type_: StructType, initialized: Collection[str] = ()) -> ast.expr:
    """An object whose members have no values yet; tuples that are `initialized` are not made."""
    if type_.is_union:
        return code.list_of([code.name("_unset")])
    nodes = list[ast.expr]()
    for field in type_.fields:
        inner = complete_type(field.type, context.unit.structs)
        info = find_info(context, inner)
        if field.name in initialized and inner.name.startswith(TUPLE):
            nodes.append(write_unset(inner))
        elif isinstance(inner, StructType) and info is not None and info.constructors:
            nodes.append(_build_raw(context, inner))
        else:
            nodes.append(build_unset(context, inner).node)
    return code.list_of(nodes)


# Constructors.


def initialize_members(context: Context, function: tree.Function) -> None:
    """What a constructor does before its body."""
    this = find_this(context, function)
    type_ = this.type
    assert isinstance(type_, StructType)
    info = context.unit.classes[type_.number]
    given = {each.type.name.rpartition("::")[2]: each for each in function.initializers}
    if info.node.name in given:
        _construct_base(context, this, type_, given[info.node.name])
        return
    for base in type_.bases:
        base_info = context.unit.classes[base.number]
        initializer = _find_base_initializer(context, function, base)
        if initializer is not None or base_info.constructors:
            _construct_base(context, this, base, initializer, function)
        else:
            _default_members(context, this, base, len(base.fields))
    for number in range(type_.count_inherited(), len(type_.fields)):
        with FullExpression(context):
            _initialize_member(context, this, type_, number, given, info, function)


def _find_base_initializer(
    context: Context, function: tree.Function, base: StructType
) -> tree.MemberInitializer | None:
    for each in function.initializers:
        name = each.type.name.rpartition("::")[2]
        symbol = context.scope.find(name)
        if each.type.template_arguments or each.type.scope is not None:
            found = context.unit.resolve_type(each.type, context.scope)
        elif symbol is None or type(symbol).__name__ in ("FieldName", "Variable"):
            continue
        else:
            found = context.unit.find_type(each.type.name, context.scope)
        if found is not None and getattr(found.type, "number", None) == base.number:
            return each
    return None


def _construct_base(
    context: Context,
    this: Lvalue,
    base: StructType,
    initializer: tree.MemberInitializer | None,
    function: tree.Node | None = None,
) -> None:
    """Make the part of an object that is of a base, or all of it by another constructor."""
    node = initializer or function
    assert node is not None
    arguments = () if initializer is None else initializer.arguments
    info = context.unit.classes[base.number]
    if not info.constructors:
        braced = initializer is not None and initializer.braced
        value = construct(context, base, arguments, node, braced=braced)
        part = context.unit.create_name("base", "t")
        context.emit(code.assign(code.name(part), settle(value).node), node.position)
        for number, field in enumerate(base.fields):
            item = code.subscript(code.name(part), code.constant(number))
            target = find_member_lvalue(retype_lvalue(this, base), number)
            context.emit(build_assignment(target, Value(field.type, item)), node.position)
        return
    given = take_arguments(context, arguments)
    functions = Functions(info.node.name, info.constructors, info.scope)
    chosen = choose_function(context, functions, CallOfOwn(node, (), given))
    made = call_candidate(context, chosen, given, node, retype_lvalue(this, base))
    assert isinstance(made, Value)
    context.emit(ast.Expr(made.node), node.position)


def _default_members(context: Context, this: Lvalue, base: StructType, count: int) -> None:
    """Give the members of a base without constructor their initial values."""
    part = retype_lvalue(this, base)
    for number in range(count):
        value = build_default(context, base, number, lambda: part)
        if value is not None:
            _set_member(context, part, number, value, None)


def _set_member(
    context: Context, this: Lvalue, number: int, value: Value, position: tree.Position | None
) -> None:
    target = find_member_lvalue(this, number)
    if isinstance(target.type, ReferenceType):
        target = retype_lvalue(target, value.type)
    context.emit(build_assignment(target, settle(value)), position)


def _holds_one_object(context: Context, members: Sequence[Member]) -> bool:
    """Whether a union has one member, of a class: it shares its place with nothing."""
    types = [complete_type(each.type.type, context.unit.structs) for each in members]
    return len(types) == 1 and isinstance(types[0], StructType)


_NEEDS_PLACE = "a member that is a reference needs a variable"


def _initialize_member(
    context: Context,
    this: Lvalue,
    type_: StructType,
    number: int,
    given: dict[str, tree.MemberInitializer],
    info: ClassInfo,
    function: tree.Function,
) -> None:
    field = type_.fields[number]
    initializer = given.get(field.name)
    field_type = complete_type(field.type, context.unit.structs)
    if field.name.startswith("(") and isinstance(field_type, StructType):
        part = find_member_lvalue(this, number)
        _initialize_unnamed(context, part, field_type, given, function)
        return
    node: tree.Node = function if initializer is None else initializer
    value = None
    if initializer is not None:
        value = _build_member(context, field_type, initializer)
    else:
        # Names in an unnamed struct mean the members of what it stands in.
        object_ = find_this(context, function)
        value = build_default(context, type_, number, lambda: object_)
    if value is None and isinstance(field_type, ReferenceType):
        raise context.error(function, _NEEDS_PLACE)
    if value is None:
        inner = find_info(context, field_type)
        is_made = isinstance(field_type, StructType) and info.node.kind != "union"
        is_tuple = field_type.name.startswith(TUPLE)
        if not is_made or inner is None or not (inner.constructors or is_tuple):
            return
        value = construct(context, field_type, (), node)
    _set_member(context, this, number, value, node.position)


def _initialize_unnamed(
    context: Context,
    this: Lvalue,
    type_: StructType,
    given: dict[str, tree.MemberInitializer],
    function: tree.Function,
) -> None:
    """The members of an unnamed struct or union, which a constructor names like its own."""
    info = context.unit.classes[type_.number]
    numbers: Iterable[int] = range(len(type_.fields))
    if type_.is_union:
        names = [(field.name, *_list_inner(field)) for field in type_.fields]
        named = [number for number in numbers if not given.keys().isdisjoint(names[number])]
        numbers = named or [number for number in numbers if names[number][0] in info.defaults]
    for number in numbers:
        _initialize_member(context, this, type_, number, given, info, function)


def _list_inner(field: Field) -> Iterable[str]:
    if field.name.startswith("(") and isinstance(field.type, StructType):
        return list_members(field.type)
    return ()


def _build_member(context: Context, type_: CType, initializer: tree.MemberInitializer) -> Value:
    arguments = expand_all(context, initializer.arguments)
    node = initializer
    if isinstance(type_, ReferenceType) and len(arguments) == 1:
        return build_field(context, type_, arguments[0])
    if isinstance(type_, ReferenceType):
        raise context.error(node, _NEEDS_PLACE)
    if isinstance(type_, StructType):
        return construct(context, type_, arguments, node, braced=initializer.braced)
    if isinstance(type_, ArrayType) or not arguments:
        elements = tuple(tree.Initializer(each, position=node.position) for each in arguments)
        return build_initial(context, type_, tree.Braces(elements, position=node.position))
    if isinstance(type_, ObjectType) and not _is_object(context, type_, arguments):
        elements = tuple(tree.Initializer(each, position=node.position) for each in arguments)
        return Value(type_, build_object_call(context, type_, elements, None, node))
    if len(arguments) != 1:
        raise context.error(node, f"a member of type '{type_.name}' takes one value")
    braced = initializer.braced
    return build_initial(context, type_, arguments[0], in_braces=braced, is_direct=braced)


def _is_object(context: Context, type_: ObjectType, arguments: Arguments) -> bool:
    """Whether the arguments are an object of a class of the library, which is copied."""
    if len(arguments) != 1 or isinstance(arguments[0], tree.Braces):
        return False
    source = Given(context, arguments[0]).found.type
    return isinstance(source, ObjectType) and source.name == type_.name


# --- Classes --------------------------------------------------------------------------------------


def declare_struct(context: Context, node: tree.Struct) -> None:
    """Compile a class, or a class template, that stands in the scope of the context."""
    path, _, last = node.name.rpartition("::")
    if path and not node.name.startswith("("):
        holder = _find_holder(context, path)
        if holder is None:
            raise context.error(node, f"there is no class or namespace '{path}'")
        within = Context(context.unit, holder, context.handlers)
        declare_struct(within, replace(node, name=last))
        return
    scope, unit = context.scope, context.unit
    unit.add_references(node.definitions)
    known = None if node.name.startswith("(") else scope.symbols.get(node.name)
    if node.specialized is not None:
        _declare_specialization(context, node)
    elif node.template_parameters:
        _declare_template(context, node, known)
    elif not node.is_defined:
        if known is None:
            _reserve(context, node)
    else:
        if known is not None and not _is_incomplete(known):
            raise unit.error(node, f"'{node.name}' is declared twice")
        _define(context, node, known)


def _find_holder(context: Context, path: str) -> Scope | None:
    """The namespace or class of a path, that of the scope of the context if there are several."""
    holders = list(context.unit.find_holders(path, context.scope))
    inner = (each for each in holders if each.outer is context.scope)
    return next(inner, holders[0] if holders else None)


def _is_incomplete(symbol: Symbol) -> bool:
    return isinstance(symbol, StructDefinition) and isinstance(symbol.type, IncompleteType)


def _declare_template(context: Context, node: tree.Struct, known: Symbol | None) -> None:
    symbols = context.scope.symbols
    if isinstance(known, ClassTemplate):
        if node.is_defined and known.definition.is_defined:
            raise context.error(node, f"'{node.name}' is declared twice")
        if node.is_defined:
            known.definition = _keep_defaults(node, known.definition)
        return
    if known is not None:
        raise context.error(node, f"'{node.name}' is declared twice")
    symbols[node.name] = ClassTemplate(node.name, node, context.scope)


def _keep_defaults(node: tree.Struct, before: tree.Struct) -> tree.Struct:
    """A definition with the default arguments of the declaration before it."""
    pairs = zip(node.template_parameters, before.template_parameters, strict=False)
    parameters = tuple(
        each if each.default is not None else replace(each, default=old.default)
        for each, old in pairs
    )
    return replace(node, template_parameters=parameters)


def _declare_specialization(context: Context, node: tree.Struct) -> None:
    template = context.unit.find(node.name, context.scope)
    if not isinstance(template, ClassTemplate):
        raise context.error(node, f"there is no class template '{node.name}' to specialise")
    refuse_repeated(context.unit, node, template.specializations, context.scope)
    template.specializations.append(node)


def _reserve(context: Context, node: tree.Struct) -> int:
    """A number for a class whose members come later."""
    structs = context.unit.structs
    itself = IncompleteType(node.name, len(structs))
    structs.append(itself)
    context.scope.symbols[node.name] = StructDefinition(itself)
    return itself.number


def _define(context: Context, node: tree.Struct, known: Symbol | None) -> None:
    if isinstance(known, StructDefinition) and isinstance(known.type, IncompleteType):
        number = known.type.number
    else:
        number = _reserve(context, node)
    made = define_class(context, node, number, node.name)
    context.scope.symbols[node.name] = StructDefinition(made)


def define_class(
    context: Context,
    node: tree.Struct,
    number: int,
    name: str,
    template: ClassTemplate | None = None,
    arguments: tuple[Symbol, ...] = (),
) -> StructType:
    """The class of a number with all of its members; the context's scope is around it."""
    unit = context.unit
    scope = Scope(context.scope)
    scope.owner = number
    info = ClassInfo(node, scope, template=template, arguments=arguments)
    unit.add_class(number, info)
    if template is not None:
        scope.symbols[node.name] = StructDefinition(unit.structs[number])
    bases = _find_bases(context, node)
    scope.more = tuple(unit.classes[each.number].scope for each in bases)
    inner = Context(unit, scope, context.handlers)
    _declare_members(inner, info, node)
    members = list[Member]()
    for field in node.fields:
        unit.spend(field)
        asked = _find_alignment(inner, field.alignments, field)
        members += (each._replace(alignment=asked) for each in _declare_fields(inner, info, field))
    made = lay_out_struct(
        name,
        number,
        members,
        bases,
        is_union=node.kind == "union" and not _holds_one_object(context, members),
        is_packed=node.is_packed,
        alignment=_find_alignment(inner, node.alignments, node),
    )
    unit.structs[number] = made
    if template is not None:
        scope.symbols[node.name] = StructDefinition(made)
    for each in node.members:
        if isinstance(each, tree.StaticAssert):
            inner.execute(each)
    return made


_MAX_ALIGNMENT = 4096
"""More than anything in a core is aligned to."""


def _find_alignment(
    context: Context, written: Sequence[tree.TemplateArgument], node: tree.Node
) -> int:
    """The strictest alignment that is asked for; 1 without any."""
    alignment = 1
    for each in written:
        is_type = isinstance(each, (tree.NamedType, tree.Pointer, tree.Decltype))
        if isinstance(each, tree.Name):
            is_type = context.unit.find_type(each.text, context.scope) is not None
        value = tree.SizeOf(each, True, position=node.position) if is_type else each
        asked = evaluate_constant(context, cast("tree.Expression", value), "an alignment")
        if asked < 0 or asked & (asked - 1) or asked > _MAX_ALIGNMENT:
            message = f"an alignment is a power of two up to {_MAX_ALIGNMENT}, not {asked}"
            raise context.error(node, message)
        alignment = max(alignment, asked)
    return alignment


def _find_bases(context: Context, node: tree.Struct) -> list[StructType]:
    bases = list[StructType]()
    for each in expand_all(context, node.bases):
        type_ = context.unit.resolve_type(each, context.scope).type
        if isinstance(type_, IncompleteType) or not isinstance(type_, StructType):
            raise context.error(each, f"'{type_.name}' cannot be a base")
        bases.append(type_)
    return bases


def _declare_fields(context: Context, info: ClassInfo, field: tree.Declaration) -> list[Member]:
    """The members that a declaration gives each object."""
    unit = context.unit
    base = unit.resolve_type(field.type, context.scope)
    if not field.declarators:
        assert isinstance(field.type, tree.NamedType)
        _name_inner_fields(context, base.type)
        return [Member(field.type.name, base)]
    members = list[Member]()
    for each in field.declarators:
        type_ = _find_field_type(context, field, each, base)
        unit.spend(each)
        bits = None if each.bits is None else _find_width(context, each, each.bits, type_)
        mutable = "mutable" in field.specifiers
        members.append(Member(each.name, replace(base, type=type_), bits=bits, mutable=mutable))
        if not each.name:
            continue
        if isinstance(context.scope.symbols.get(each.name), FieldName):
            raise unit.error(each, f"'{each.name}' is declared twice")
        context.scope.symbols[each.name] = FieldName(each.name)
        if each.value is not None:
            info.defaults[each.name] = each.value
    return members


def _find_field_type(
    context: Context, field: tree.Declaration, declarator: tree.Declarator, base: QualifiedType
) -> CType:
    # Of a class template that was given a function; members hold pointers.
    type_ = decay_function(context, Value(base.type, code.constant(0)), declarator).type
    for size in reversed(declarator.sizes):
        if size is None:
            raise context.error(declarator, "the size of this array is missing")
        count = evaluate_constant(context, size, "the size of an array")
        if count < 0:
            raise context.error(declarator, f"an array of {count} elements is not supported")
        type_ = ArrayType(type_, count)
    if base.reference:
        is_rvalue = base.reference == "&&"
        type_ = ReferenceType(type_, base.const, base.volatile, is_rvalue=is_rvalue)
    if size_of(type_) is None and not isinstance(type_, ObjectType):
        raise context.error(declarator, f"a member of type '{type_.name}' is not supported")
    return type_


def _find_width(
    context: Context, node: tree.Declarator, written: tree.Expression, type_: CType
) -> int:
    """The width of a bit-field."""
    name = f"the bit-field '{node.name}'" if node.name else "a bit-field without name"
    if not isinstance(type_, IntType):
        raise context.error(node, f"{name} is a number of bits of an integer, not '{type_.name}'")
    width = evaluate_constant(context, written, "the width of a bit-field")
    most = 8 * (size_of(type_) or 0)
    if not bool(node.name) <= width <= most:
        message = f"{name} has {width} bits; '{type_.name}' has 1 to {most}"
        raise context.error(written, message)
    return width


def _name_inner_fields(context: Context, type_: object) -> None:
    """The members of an unnamed struct or union are named as those of the one around it."""
    if not isinstance(type_, StructType):
        return
    for field in type_.fields:
        if field.name.startswith("("):
            _name_inner_fields(context, field.type)
        else:
            context.scope.symbols[field.name] = FieldName(field.name)


def _declare_members(context: Context, info: ClassInfo, node: tree.Struct) -> None:
    """Types, static members and functions; these are compiled when they are used."""
    for each in node.members:
        context.unit.spend(each)
        _declare_member(context, info, each)
    for each in node.members:
        # Those of the class itself come before.
        if isinstance(each, tree.UsingName):
            _inherit_constructors(context, info, each)
            _use_functions(context, each)
    if info.template is not None:
        others = [_pattern_of(each) for each in info.template.specializations if each is not node]
        for function in info.template.methods:
            written = _spell(function.scope)
            if any(re.fullmatch(each, written) for each in others):
                continue  # It is of that specialisation.
            # A specialisation need not have the members of the template.
            if node.specialized is None or _declares(info, function):
                _define_member_function(context, info, function)
        for each in info.template.values:
            define_static_members(info.scope, each)
    if info.has_default and info.constructors:
        # `T() = default;` beside other constructors; without any the class is an aggregate.
        default = tree.Function(node.name, (), tree.Block(), kind="constructor")
        info.constructors = (*info.constructors, replace(default, position=node.position))


def _spell(written: tree.Type | None) -> str:
    """The arguments of a class whose member is defined."""
    return repr(written.template_arguments) if isinstance(written, tree.NamedType) else ""


def _pattern_of(node: tree.Struct) -> str:
    """What `_spell` makes of a specialisation, whose parameters each definition names anew."""
    pattern = re.escape(_spell(tree.NamedType(node.name, node.specialized or ())))
    for number, each in enumerate(node.template_parameters):
        if each.name:
            group = f"(?P<p{number}>'\\w+')"
            pattern = pattern.replace(re.escape(repr(each.name)), group, 1)
            pattern = pattern.replace(re.escape(repr(each.name)), f"(?P=p{number})")
    return pattern


def _declare_member(context: Context, info: ClassInfo, each: tree.ClassMember) -> None:
    match each:
        case tree.Function():
            _declare_member_function(context, info, each)
        case tree.Declaration():
            for declarator in each.declarators:
                late = LateVariable(each, declarator, info.scope)
                context.scope.symbols[declarator.name] = late
        case tree.Struct():
            declare_struct(context, each)
        case tree.Alias(template_parameters=(_, *_)):
            context.scope.symbols[each.name] = AliasTemplate(each, context.scope)
        case tree.Alias() | tree.Enumeration():
            context.execute(each)
        case tree.UsingName(name=name):
            _use_member(context, each, name)
        case tree.StaticAssert():
            pass


def _inherit_constructors(context: Context, info: ClassInfo, node: tree.UsingName) -> None:
    """`using Base::Base;`: constructors that give their arguments to those of a base."""
    path, _, member = node.name.rpartition("::")
    found = context.unit.find_type(path, context.scope) if path else None
    base = None if found is None else find_info(context, found.type)
    if base is None or base.node.name != member:
        return
    position, type_ = node.position, tree.NamedType(path)
    own = [[x.type for x in each.parameters] for each in info.constructors]
    for each in base.constructors:
        if _is_copying(base, each) or [x.type for x in each.parameters] in own:
            continue
        if base.template is not None or each.is_variadic or any(x.is_pack for x in each.parameters):
            message = f"the constructors of '{base.node.name}' are not inherited here"
            raise context.error(node, f"{message}: write one that calls the one of the base")
        parameters = tuple(
            replace(x, name=x.name or f"(argument {i})") for i, x in enumerate(each.parameters)
        )
        given = list[tree.Expression]()
        for parameter in parameters:
            name = tree.Name(parameter.name or "", position=position)
            is_place = isinstance(parameter.type, tree.Reference) and not parameter.type.is_rvalue
            moved = tree.FunctionCall(tree.Name("std::move"), (name,), position=position)
            given.append(name if is_place else moved)
        initializer = tree.MemberInitializer(type_, tuple(given), position=position)
        kept = replace(each, name=info.node.name, parameters=parameters, definition=tree.Block())
        info.constructors = (*info.constructors, replace(kept, initializers=(initializer,)))


def _use_functions(context: Context, node: tree.UsingName) -> None:
    """`using Base::f;`: functions beside those of the class itself, which hide them."""
    member = node.name.rpartition("::")[2]
    used, own = context.unit.find(node.name, context.scope), context.scope.symbols.get(member)
    if node.is_pack or not isinstance(used, Functions):
        return
    if not isinstance(own, Functions):
        context.scope.symbols[member] = used
        return
    hidden = [[each.type for each in one.parameters] for one in own.definitions]
    kept = (each for each in used.definitions if [x.type for x in each.parameters] not in hidden)
    others = (*own.others, replace(used, definitions=tuple(kept)), *used.others)
    context.scope.symbols[member] = replace(own, others=others)


def _use_member(context: Context, node: tree.UsingName, name: str) -> None:
    """`using Base::name;` or `using Bases::name...;`."""
    base, _, member = name.rpartition("::")
    pack = context.scope.find(base) if node.is_pack else None
    if not isinstance(pack, Pack):
        symbol = context.unit.find(name, context.scope)
        if symbol is not None and not isinstance(symbol, Functions):
            context.scope.symbols[member] = symbol
        return
    found = list[Functions]()
    for each in pack.symbols:
        inner = Scope(context.scope)
        inner.symbols[base] = each
        symbol = context.unit.find(name, inner)
        if not isinstance(symbol, Functions):
            raise context.error(node, f"not every class of '{base}' has a function '{member}'")
        found.append(symbol)
    if found:
        first, *others = found
        context.scope.symbols[member] = replace(first, others=(*first.others, *others))


def _declare_member_function(context: Context, info: ClassInfo, function: tree.Function) -> None:
    match function.kind:
        case "constructor":
            _declare_constructor(info, function)
        case "conversion" if not function.is_deleted:
            info.conversions = (*info.conversions, function)
        case "destructor":
            info.destructor = function
        case "function" if "friend" in function.specifiers:
            info.friends = info.friends or Scope(context.scope)
            add_function(info.friends, function)
        case "function":
            add_function(context.scope, function)
        case _:
            pass


def _declare_constructor(info: ClassInfo, function: tree.Function) -> None:
    is_copying = _is_copying(info, function)
    if is_copying:
        first = function.parameters[0].type
        assert isinstance(first, tree.Reference)
        named = first.referent
        takes_const = isinstance(named, tree.NamedType) and "const" in named.qualifiers
        if first.is_rvalue and takes_const:
            info.moves_constants = True
            info.moving = info.moving or function
        elif first.is_rvalue:
            info.moving = function
        else:
            info.copying = function
    if function.is_deleted and not function.parameters:
        info.has_deleted_default = True
    elif function.is_defaulted:
        info.has_default = info.has_default or not function.parameters
    elif not (function.is_deleted and is_copying):
        info.constructors = (*info.constructors, function)


def _is_copying(info: ClassInfo, function: tree.Function) -> bool:
    """Whether a constructor makes an object of another one of its class."""
    if not function.parameters or function.template_parameters:
        return False
    first, *others = function.parameters
    if not isinstance(first.type, tree.Reference) or any(each.default is None for each in others):
        return False
    named = first.type.referent
    return isinstance(named, tree.NamedType) and named.name == info.node.name


def add_function(scope: Scope, function: tree.Function) -> None:
    """Add a function to those of its name."""
    known = scope.symbols.get(function.name)
    before = known.definitions if isinstance(known, Functions) else ()
    scope.symbols[function.name] = Functions(function.name, (*before, function), scope)


def define_outside(context: Context, function: tree.Function) -> None:
    """A member function that is defined outside of its class."""
    scope = function.scope
    assert isinstance(scope, tree.NamedType)
    symbol = context.unit.find(scope.name, context.scope)
    context.unit.add_reference(function.name, function)
    if isinstance(symbol, ClassTemplate):
        symbol.methods.append(function)
        return
    found = context.unit.find_type(scope.name, context.scope)
    number = getattr(None if found is None else found.type, "number", None)
    info = context.unit.classes.get(number) if isinstance(number, int) else None
    if info is None:
        holder = _find_holder(context, scope.name)
        if holder is None:
            message = f"there is no class or namespace '{scope.name}'"
            raise context.error(function, message)
        add_function(holder, replace(function, scope=None))
        return
    inner = Context(context.unit, info.scope, context.handlers)
    _define_member_function(inner, info, function)


def _define_member_function(context: Context, info: ClassInfo, function: tree.Function) -> None:
    """Put a definition in the place of the declaration in the class."""

    def replaced(known: Sequence[tree.Function]) -> tuple[tree.Function, ...]:
        found = False
        result = list[tree.Function]()
        for each in known:
            if not found and each.definition is None and _is_declared_by(each, function):
                found = True
                body = replace(
                    each,
                    definition=function.definition,
                    parameters=_join_parameters(each, function),
                    initializers=function.initializers,
                )
                result.append(body)
            else:
                result.append(each)
        if not found:
            raise context.error(function, f"the class declares no such '{function.name}'")
        return tuple(result)

    if function.kind == "constructor":
        info.constructors = replaced(info.constructors)
        return
    if function.kind == "destructor":
        info.destructor = function
        return
    known = info.scope.symbols.get(function.name)
    if not isinstance(known, Functions):
        raise context.error(function, f"the class declares no '{function.name}'")
    info.scope.symbols[function.name] = replace(known, definitions=replaced(known.definitions))


def _declares(info: ClassInfo, function: tree.Function) -> bool:
    if function.kind == "constructor":
        return bool(info.constructors)
    return function.kind == "destructor" or function.name in info.scope.symbols


def _is_declared_by(declared: tree.Function, defined: tree.Function) -> bool:
    types = [each.type for each in declared.parameters]
    is_same = types == [each.type for each in defined.parameters]
    return is_same and declared.is_const == defined.is_const


def _join_parameters(declared: tree.Function, defined: tree.Function) -> tuple[tree.Parameter, ...]:
    """The names of the definition with the default arguments of the declaration."""
    pairs = zip(declared.parameters, defined.parameters, strict=True)
    return tuple(replace(new, default=old.default or new.default) for old, new in pairs)


# Templates.


def find_class(
    context: Context,
    template: ClassTemplate,
    arguments: Sequence[tree.TemplateArgument],
    node: tree.Node,
) -> QualifiedType:
    """The class that a template makes of arguments, whose names are those of the context."""
    scope = Scope(template.scope)
    parameters = template.definition.template_parameters
    bind_explicit(context, parameters, arguments, scope, template.name)
    bind_defaults(context, parameters, scope, template.name, node)
    return make_class(context, template, scope, node)


def make_class(
    context: Context, template: ClassTemplate, scope: Scope, node: tree.Node
) -> QualifiedType:
    """The class that a template makes of what a scope gives its parameters."""
    unit = context.unit
    parameters = template.definition.template_parameters
    symbols = tuple(
        scope.symbols[each.name or f"(parameter {number})"]
        for number, each in enumerate(parameters)
    )
    key = (id(template), tuple(map(key_of, symbols)))
    known = unit.specializations.get(key)
    if known is not None:
        return QualifiedType(_latest(context, known))
    name = show_arguments(template.name, parameters, scope)
    unit.spend_name(node, name)
    if template.scope in unit.namespaces.values():
        path = next(x for x, each in unit.namespaces.items() if each is template.scope)
        name = f"{path}::{name}" if path == "std" else name
    definition, inner = _choose_specialization(context, template, symbols, scope)
    if name.startswith(TUPLE):
        definition, inner = _define_tuple(definition, symbols, scope)
    if not definition.is_defined:
        raise context.error(node, f"'{name}' is declared but never defined")
    if len(unit.instantiations) >= MAX_CALL_NESTING:
        message = f"'{name}' is the last of {MAX_CALL_NESTING} templates that need each other"
        raise context.error(node, message)
    number = len(unit.structs)
    unit.structs.append(IncompleteType(name, number))
    unit.specializations[key] = QualifiedType(unit.structs[number])
    unit.instantiations.append((lambda: name, node))
    try:
        with within_scope(context, inner):
            made = define_class(context, definition, number, name, template, symbols)
    except Exception:
        del unit.specializations[key]
        raise
    finally:
        unit.instantiations.pop()
    unit.specializations[key] = QualifiedType(made)
    return QualifiedType(made)


def _define_tuple(
    definition: tree.Struct, symbols: Sequence[Symbol], scope: Scope
) -> tuple[tree.Struct, Scope]:
    """A tuple: it has a member for each of its types."""
    (pack,) = symbols
    assert isinstance(pack, Pack)
    inner = Scope(scope)
    fields = list[tree.Declaration]()
    for number, each in enumerate(pack.symbols):
        inner.symbols[f"Type{number}"] = each
        declarator = tree.Declarator(f"element{number}")
        fields.append(tree.Declaration(tree.NamedType(f"Type{number}"), (declarator,)))
    return replace(definition, fields=tuple(fields)), inner


def _latest(context: Context, known: QualifiedType) -> StructType | IncompleteType:
    assert isinstance(known.type, (StructType, IncompleteType))
    return context.unit.structs[known.type.number]


def _choose_specialization(
    context: Context, template: ClassTemplate, symbols: Sequence[Symbol], scope: Scope
) -> tuple[tree.Struct, Scope]:
    """The text of a class for template arguments, with what its own parameters stand for."""
    best: tuple[tree.Struct, Scope] | None = None
    for each in template.specializations:
        assert each.specialized is not None
        inner = Scope(template.scope)
        deduction = Deduction(context, each.template_parameters, inner)
        listed = [one for x in symbols for one in (x.symbols if isinstance(x, Pack) else (x,))]
        if not _matches(context, deduction, each, listed):
            continue
        if best is None or _is_narrower(each, best[0]):
            best = (each, inner)
    return best or (template.definition, scope)


def _matches(
    context: Context, deduction: Deduction, node: tree.Struct, symbols: Sequence[Symbol]
) -> bool:
    assert node.specialized is not None
    try:
        parameters = node.template_parameters
        with context.unit.trying(for_nobody=True):
            if not deduction.match_arguments(node.specialized, symbols):
                return False
            bind_defaults(context, parameters, deduction.scope, node.name, node)
        return all(x.name in deduction.scope.symbols for x in parameters if x.name)
    except CppSyntaxError:
        return False


def _is_narrower(a: tree.Struct, b: tree.Struct) -> bool:
    """Whether a specialisation is for fewer classes than another one."""
    return _measure(a) > _measure(b)


def _measure(node: tree.Struct) -> int:
    names = {each.name for each in node.template_parameters}
    total = -len(names)
    for each in tree.walk(node.specialized):
        match each:
            case tree.NamedType(name=name, qualifiers=qualifiers):
                total += (name not in names) + len(qualifiers)
            case tree.Name(text=name):
                total += name not in names
            case tree.Expansion():
                total -= 1
            case _:
                total += 1
    return total


def find_alias(
    context: Context,
    template: AliasTemplate,
    arguments: Sequence[tree.TemplateArgument],
    node: tree.Node,
) -> QualifiedType:
    """The type that an alias with template parameters means."""
    definition = template.definition
    scope = Scope(template.scope)
    bind_explicit(context, definition.template_parameters, arguments, scope, definition.name)
    bind_defaults(context, definition.template_parameters, scope, definition.name, node)
    if len(context.unit.instantiations) >= MAX_CALL_NESTING:
        raise context.error(node, f"'{definition.name}' needs itself")
    context.unit.instantiations.append((lambda: definition.name, node))
    try:
        return context.unit.resolve_type(definition.type, scope)
    finally:
        context.unit.instantiations.pop()
