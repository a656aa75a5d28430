"""Declarations of variables."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.types import (
    INT,
    INT64,
    UINT64,
    UNSIGNED,
    VOID,
    ArrayType,
    CType,
    EnumType,
    FloatType,
    FunctionType,
    IntType,
    MemberPointerType,
    ObjectType,
    PointerType,
    QualifiedType,
    StructType,
    complete_type,
    count_of,
    has_mutable_member,
    is_deduced,
    refers_to_copy,
    size_of,
    tag_of,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.destructors import (
    FullExpression,
    end_with_block,
    keep_array,
    refuse_destructor,
    take_over,
)
from ttmlir.sim.kernels.expressions.build_facts import BUILT
from ttmlir.sim.kernels.expressions.copies import copy_struct
from ttmlir.sim.kernels.expressions.initial_values import (
    build_initial,
    build_object_call,
    build_unset,
    build_zero,
    check_reference,
    find_list_type,
    has_constructors,
    is_list,
    names_variable,
    spell_characters,
)
from ttmlir.sim.kernels.expressions.last_places import look_at_last
from ttmlir.sim.kernels.expressions.lvalues import (
    convert_implicitly,
    decay_function,
    evaluate_condition,
    evaluate_constant,
    evaluate_number,
    evaluate_scalar,
    find_pointee,
    fold_constant,
    has_address,
    is_fixed_by_host,
    look_at,
    retype_lvalue,
    take_address,
)
from ttmlir.sim.kernels.expressions.static_functions import (
    note_static_functions,
    refuse_large_table,
    refuse_static_functions,
)
from ttmlir.sim.kernels.limits import MAX_CALL_NESTING, STACK_BYTES
from ttmlir.sim.kernels.packs import expand_all, expand_elements
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.python.code import is_literal
from ttmlir.sim.kernels.python.runtime import describe_shift
from ttmlir.sim.kernels.scope import (
    Alias,
    AliasTemplate,
    ClassTemplate,
    Evaluated,
    LateVariable,
    NamespaceName,
    Scope,
    StructDefinition,
    Symbol,
    Variable,
    define_static_members,
)
from ttmlir.sim.kernels.statements import emit_setup
from ttmlir.sim.kernels.value import (
    BitsLvalue,
    EitherLvalue,
    ItemLvalue,
    LocalLvalue,
    Lvalue,
    MemoryLvalue,
    PointedLvalue,
    Space,
    Value,
    make_integer,
    protect_lvalue,
    settle,
    width_of,
)

_OBJECT_BYTES = 16
"""An address generator, about."""


def execute_declaration(context: Context, node: tree.Declaration) -> None:
    """Compile a declaration."""
    if node.template_parameters and isinstance(node.scope, tree.NamedType):
        template = context.unit.find(node.scope.name, context.scope)
        if not isinstance(template, ClassTemplate):
            raise context.error(node, f"there is no class template '{node.scope.name}'")
        template.values.append(node)
        return
    if node.template_parameters:
        for each in node.declarators:
            late = LateVariable(node.alone(each), each, context.scope)
            context.scope.symbols[each.name] = late
        return
    if node.scope is not None:
        _define_static_member(context, node)
        return
    for each in node.declarators:
        with FullExpression(context):
            declare_variable(context, node.alone(each), each)


def _define_static_member(context: Context, node: tree.Declaration) -> None:
    """`int A::count = 0;`: the value of a member that a class, or a namespace, declares."""
    assert node.scope is not None
    match node.scope:
        case tree.NamedType(name=name, template_arguments=()):
            holders = context.unit.find_holders(name, context.scope)
            holder = next((each for each in holders if each.owner is None), None)
        case _:
            holder = None
    if holder is not None:
        inner = Context(context.unit, holder, context.handlers, in_function=False)
        execute_declaration(inner, replace(node, scope=None))
        return
    type_ = context.unit.resolve_type(node.scope, context.scope).type
    for scope in context.unit.find_members(type_):
        define_static_members(scope, node)


def declare_late(context: Context, late: LateVariable, node: tree.Node) -> Symbol:
    """Declare a static member or a variable template that is needed now."""
    name = late.declarator.name
    unit = context.unit
    if any(each is late for each in unit.declaring):
        raise context.error(node, f"the value of '{name}' needs itself")
    if len(unit.declaring) >= MAX_CALL_NESTING:
        message = f"'{name}' is the last of {MAX_CALL_NESTING} constants that need each other"
        raise context.error(node, message)
    unit.declaring.append(late)
    inner = Scope(late.scope)
    inner_context = Context(unit, inner, context.handlers, in_function=False)
    plain = late.declaration
    if plain.template_parameters or plain.scope is not None:
        plain = replace(plain, template_parameters=(), scope=None)
    try:
        declare_variable(inner_context, plain, late.declarator)
    finally:
        unit.declaring.pop()
    symbol = inner.symbols[name]
    if late.scope.symbols.get(name) is late:
        late.scope.symbols[name] = symbol
    return symbol


def declare_variable(context: Context, node: tree.Declaration, declarator: tree.Declarator) -> None:
    """Compile the declaration of one variable."""
    _declare(context, node, declarator)
    variable = context.scope.symbols.get(declarator.name)
    if "constexpr" in node.specifiers or not isinstance(variable, Variable):
        return
    qualifiers = node.type.qualifiers if isinstance(node.type, tree.NamedType) else ()
    is_number = isinstance(variable.storage.type, (IntType, FloatType))
    is_fixed = "const" in qualifiers and "volatile" not in qualifiers
    written = (declarator.value, *(declarator.arguments or ()))
    if not (is_fixed and is_number) or any(names_variable(context, each) for each in written):
        context.scope.symbols[declarator.name] = replace(variable, is_plain=True)


def find_written_reference(context: Context, written: tree.Type) -> tree.Reference | None:
    """The reference that a type is, or that a name or `decltype` means."""
    if isinstance(written, tree.Reference):
        return written
    match written:
        case tree.NamedType(name=name, scope=None) if isinstance(
            context.unit.find(name, context.scope), (StructDefinition, ClassTemplate)
        ):
            return None  # The arguments of a template may follow from the initial value.
        case tree.NamedType() | tree.Decltype() if not is_deduced(written):
            found = context.unit.resolve_type(written, context.scope).reference
        case _:
            return None
    return tree.Reference(written, found == "&&", position=written.position) if found else None


def _declare(context: Context, node: tree.Declaration, declarator: tree.Declarator) -> None:
    reference = find_written_reference(context, node.type)
    if reference is not None:
        _declare_reference(context, reference, declarator)
        return
    declared, value = find_declared(context, node, declarator)
    type_, is_const = declared.type, declared.const
    if "extern" in node.specifiers and declarator.value is None and declarator.arguments is None:
        return  # Its definition, which stands in a namespace, declares it.
    if is_const and value is None and not isinstance(type_, (ObjectType, StructType)):
        message = f"'{declarator.name}' is constant and needs a value"
        raise context.error(declarator, message)
    if "static" in node.specifiers or not context.in_function:
        if value is not None and "constexpr" in node.specifiers:
            value = _find_constant(context, node, value, declarator)
        _declare_static(context, type_, value, declarator, is_const)
        _note_volatile(context, declared, declarator)
        return
    unchanging = (is_const or declarator.name not in context.changed) and not declared.volatile
    if value is not None and (is_const or isinstance(value.type, FunctionType)):
        value = _find_constant(context, node, value, declarator)
    if value is not None and value.constant is not None and unchanging:
        if declarator.name not in context.shared:
            bind_variable(context, declarator, value)
            return
    _declare_local(context, type_, value, declarator, is_const)
    _note_volatile(context, declared, declarator)


def _note_volatile(context: Context, type_: QualifiedType, declarator: tree.Declarator) -> None:
    """Note a volatile variable, whose reading and writing a compiler leaves as they are."""
    match context.scope.symbols[declarator.name]:
        case Variable(
            storage=LocalLvalue(identifier=identifier)
            | ItemLvalue(container=ast.Name(id=identifier))
        ) if type_.volatile:
            context.unit.volatile.add(identifier)
        case _:
            pass


def _find_constant(
    context: Context, node: tree.Declaration, value: Value, declarator: tree.Declarator
) -> Value:
    """The value of a constant, computed now if that is possible."""
    is_required = "constexpr" in node.specifiers
    if is_required or isinstance(value.type, (StructType, ArrayType)):
        value = fold_constant(context, value)
    if is_required and isinstance(value.type, (IntType, FloatType)) and value.constant is None:
        if not is_fixed_by_host(context, value):
            reason = _find_undefined(value) or "its value is no constant"
            raise context.error(declarator, f"'{declarator.name}' is constexpr, and {reason}")
    return value


def _find_undefined(value: Value) -> str:
    """The shift of constants that makes a value undefined, in words, if there is one."""
    for node in ast.walk(value.node):
        match node:
            case ast.Call(
                ast.Name("_shift_count"), [ast.Constant(int(count)), ast.Constant(int(bits))]
            ):
                return describe_shift(count, bits)
            case _:
                pass
    return ""


def find_declared(
    context: Context, node: tree.Declaration, declarator: tree.Declarator
) -> tuple[QualifiedType, Value | None]:
    """The type of a variable and its initial value."""
    initial = declarator.value
    if declarator.arguments is not None:
        return _find_constructed(context, node, declarator, declarator.arguments)
    if is_deduced(node.type):
        if isinstance(initial, tree.Braces) and not declarator.is_direct:
            return _declare_list(context, node, initial)
        if isinstance(initial, tree.Braces) and len(initial.elements) == 1:
            only = initial.elements[0].value
            initial = None if isinstance(only, tree.Braces) else only
        if initial is None or isinstance(initial, tree.Braces):
            raise context.error(declarator, "'auto' needs a value to take its type from")
        value = copy_struct(context, evaluate_scalar(context, initial), initial)
        if _is_chosen_late(context, node, declarator):
            value = _choose_late(context, value, initial)
        declared = context.unit.resolve_declared_type(node.type, context.scope, value.type)
        value = settle(convert_implicitly(context, value, declared.type, initial))
    else:
        declared = _resolve_declared(context, node, declarator)
        type_, value = _find_initial(context, node, declarator, declared.type)
        declared = QualifiedType(type_, declared.const, declared.volatile)
    type_ = declared.type if value is None else value.type
    is_const = declared.const or "constexpr" in node.specifiers
    return QualifiedType(type_, is_const, declared.volatile), value


def _choose_late(context: Context, value: Value, node: tree.Node) -> Value:
    """A function as a pointer; one of several, or of a template, stays what it is."""
    try:
        with context.unit.trying():
            return decay_function(context, value, node)
    except CppSyntaxError:
        return value


def _is_chosen_late(context: Context, node: tree.Declaration, declarator: tree.Declarator) -> bool:
    """Whether a variable may come to point to another function than that which it starts with."""
    name = declarator.name
    may_change = name in context.changed or name in context.shared or not context.in_function
    return may_change or isinstance(node.type, tree.Pointer)


def _declare_list(
    context: Context, node: tree.Declaration, braces: tree.Braces
) -> tuple[QualifiedType, Value]:
    """`auto name = {1, 2}`."""
    type_ = find_list_type(context, braces)
    declared = context.unit.resolve_declared_type(node.type, context.scope, type_)
    value = build_initial(context, type_, braces)
    return replace(declared, const=declared.const or "constexpr" in node.specifiers), value


def _resolve_declared(
    context: Context, node: tree.Declaration, declarator: tree.Declarator
) -> QualifiedType:
    """The written type of a variable, whose template arguments may follow from its value."""
    written = node.type
    if not isinstance(written, tree.NamedType) or written.template_arguments or written.scope:
        deduced = _find_member_pointer(context, written, declarator)
        return deduced or context.unit.resolve_type(written, context.scope)
    symbol = context.unit.find(written.name, context.scope)
    if not isinstance(symbol, ClassTemplate):
        return context.unit.resolve_type(written, context.scope)
    initial = declarator.value
    if declarator.arguments is not None:
        values = declarator.arguments
    elif isinstance(initial, tree.Braces):
        values = tuple(each.value for each in initial.elements)
    else:
        values = () if initial is None else (initial,)
    elements = tuple(tree.Initializer(each, position=node.position) for each in values)
    type_ = context.handlers.find_constructed(context, written, elements, declarator)
    return QualifiedType(type_, "const" in written.qualifiers)


def _find_member_pointer(
    context: Context, written: tree.Type, declarator: tree.Declarator
) -> QualifiedType | None:
    """The type of a pointer to a member: that of the member."""
    match written:
        case tree.Pointer(holder=tree.NamedType()):
            pass
        case _:
            return None
    if declarator.value is None or isinstance(declarator.value, tree.Braces):
        return None
    if declarator.sizes or declarator.name in context.changed | context.shared:
        return None
    if not context.in_function:
        return None
    found = evaluate_scalar(context, declarator.value).type
    if not isinstance(found, MemberPointerType):
        return None
    return context.unit.resolve_declared_type(written, context.scope, found)


def _find_constructed(
    context: Context,
    node: tree.Declaration,
    declarator: tree.Declarator,
    arguments: Sequence[tree.Expression | tree.Braces],
) -> tuple[QualifiedType, Value | None]:
    """`T name(arguments)`."""
    if is_deduced(node.type):
        if len(arguments) != 1 or isinstance(arguments[0], tree.Braces):
            raise context.error(declarator, "'auto' needs a value to take its type from")
        value = copy_struct(context, evaluate_scalar(context, arguments[0]), arguments[0])
        declared = context.unit.resolve_declared_type(node.type, context.scope, value.type)
    else:
        declared = _resolve_declared(context, node, declarator)
        type_ = complete_type(declared.type, context.unit.structs)
        if isinstance(type_, ObjectType) and type_.name in BUILT:
            made = tree.FunctionCall(
                tree.Name(type_.name, position=declarator.position),
                tuple(arguments),
                _written_arguments(node.type),
                position=declarator.position,
            )
            value = context.evaluate(made)
        elif isinstance(type_, ObjectType):
            elements = tuple(
                tree.Initializer(each, position=each.position)
                for each in expand_all(context, arguments)
            )
            made = build_object_call(context, type_, elements, node.type, declarator)
            value = Value(type_, made)
        else:
            value = context.handlers.construct(context, type_, arguments, declarator)
    _reserve_stack(context, value.type, declarator)
    const = declared.const or "constexpr" in node.specifiers
    return QualifiedType(value.type, const, declared.volatile), settle(value)


def _written_arguments(type_: tree.Type) -> tuple[tree.TemplateArgument, ...]:
    return tuple(type_.template_arguments) if isinstance(type_, tree.NamedType) else ()


def _find_initial(
    context: Context, node: tree.Declaration, declarator: tree.Declarator, base: CType
) -> tuple[CType, Value | None]:
    """The type of a variable with its sizes, and its initial value."""
    if declarator.sizes and declarator.value is not None:
        spelled = spell_characters(context, base, declarator.value)
        declarator = replace(declarator, value=spelled)
    initial = declarator.value
    if base == VOID:
        raise context.error(declarator, "a variable cannot be 'void'")
    extended = _find_late_array(context, base, declarator) if context.in_function else None
    if extended is not None and initial is None and "static" not in node.specifiers:
        return extended.type, extended
    type_ = _apply_sizes(context, base, declarator)
    if initial is None and has_constructors(context, type_):
        return type_, context.handlers.construct(context, type_, (), declarator)
    if initial is None:
        if isinstance(type_, ObjectType):
            return type_, Value(type_, build_object_call(context, type_, (), node.type, declarator))
        return type_, None
    if isinstance(type_, ArrayType) and not isinstance(initial, tree.Braces):
        raise context.error(initial, "an array is initialised with braces")
    is_direct = declarator.is_direct
    return type_, settle(build_initial(context, type_, initial, node.type, is_direct=is_direct))


def _find_late_array(context: Context, element: CType, declarator: tree.Declarator) -> Value | None:
    """A pointer to an array whose sizes only the running kernel knows; None for other variables.

    Compilers add such arrays to C++. Those of several dimensions point to arrays here.
    """
    sizes = [x for x in declarator.sizes if x is not None]
    if not sizes or len(sizes) < len(declarator.sizes):
        return None
    counts = [evaluate_number(context, each, "the size of an array") for each in sizes]
    if all(fold_constant(context, each).constant is not None for each in counts):
        return None
    if not isinstance(element, (IntType, FloatType, PointerType)):
        message = f"an array of '{element.name}' has a size that is known when it is compiled"
        raise context.error(declarator, f"{message}; others hold numbers or pointers")
    tags = list[ast.expr]()
    size, type_ = size_of(element), element
    for _ in counts:
        tags.insert(0, code.constant(tag_of(type_)))
        type_ = PointerType(type_)
    most = code.constant(STACK_BYTES // (size or 1))
    numbers = code.tuple_of(*(each.node for each in counts))
    made = code.call("_late_array", numbers, code.tuple_of(*tags), most)
    return Value(type_, made, space=Space.LOCAL)


def _apply_sizes(context: Context, type_: CType, declarator: tree.Declarator) -> CType:
    for number, size in reversed(list(enumerate(declarator.sizes))):
        if size is not None:
            count = evaluate_constant(context, size, "the size of an array")
        elif number == 0 and isinstance(declarator.value, tree.Braces):
            count = len(expand_elements(context, declarator.value.elements))
        else:
            raise context.error(declarator, "the size of this array is missing")
        if count < 0:
            raise context.error(declarator, f"an array of {count} elements is not supported")
        type_ = ArrayType(type_, count)
    _reserve_stack(context, type_, declarator)
    return type_


def _reserve_stack(context: Context, type_: CType, declarator: tree.Declarator) -> None:
    """Count what a variable takes of the memory of the processor, and refuse what cannot end."""
    if not isinstance(type_, (ArrayType, StructType)):
        return
    size = size_of(type_)
    if size is None:
        size = count_of(type_) * _OBJECT_BYTES
    context.stack += size
    if context.stack > STACK_BYTES:
        message = f"'{declarator.name}' takes {size} bytes, and the variables of this function"
        raise context.error(
            declarator, f"{message} have {STACK_BYTES}; a circular buffer has room for more"
        )
    context.unit.spend(declarator, count_of(type_))


def _declare_local(
    context: Context, type_: CType, value: Value | None, declarator: tree.Declarator, is_const: bool
) -> None:
    if value is not None:
        refuse_large_table(context, value, declarator)
        value = take_over(context, value)
        if is_list(type_):
            keep_array(context, value)
    identifier = context.unit.create_name(declarator.name)
    in_list = isinstance(type_, (StructType, ArrayType, FunctionType))
    if declarator.name in context.shared and not in_list and not isinstance(type_, ObjectType):
        start = code.name("_unset") if value is None else value.node
        context.emit(code.assign(code.name(identifier), code.list_of([start])), declarator.position)
        lvalue: Lvalue = ItemLvalue(type_, code.name(identifier), code.constant(0), is_const)
    else:
        if value is None and in_list:
            _refuse_deleted(context, type_, declarator)
            value = build_unset(context, type_)
        lvalue = LocalLvalue(type_, identifier, is_const=is_const, origin=declarator)
        if isinstance(type_, PointerType):
            lvalue = replace(lvalue, space=_find_space(context, declarator, value))
        if value is not None:
            context.emit(code.assign(code.name(identifier), value.node), declarator.position)
            if declarator.name not in context.changed and isinstance(type_, IntType):
                lvalue = replace(lvalue, low=value.low, high=value.high)
    end_with_block(context, lvalue, declarator)
    known = _keep_known(context, identifier, value) if is_const else None
    if isinstance(type_, ObjectType) and value is not None:
        if declarator.name not in context.changed:
            context.unit.known_values[identifier] = value.node
    bind_variable(context, declarator, lvalue, known=known)


def _keep_known(context: Context, identifier: str, value: Value | None) -> Value | None:
    """The value of a constant, if it is known."""
    if value is None or value.constant is not None:
        return value
    element = value.type.element if isinstance(value.type, ArrayType) else value.type
    if not isinstance(value.type, (StructType, ArrayType, PointerType)):
        return None
    is_written = is_literal(value.node)
    may_be_known = is_written or isinstance(element, (StructType, PointerType))
    if may_be_known and not has_mutable_member(value.type):
        # Layouts of tensors and pointers are no literals, but what stands beside them, and what
        # they point to, may be known.
        context.unit.known_values[identifier] = value.node
    return value if is_written else None


def _find_space(context: Context, origin: tree.Node, value: Value | None) -> Space:
    """Where a pointer may point to: where it points at first, until it is known better."""
    if context.wide is None or id(origin) in context.wide:
        return Space.ANY
    return Space.MEMORY if value is None else value.space


def _declare_static(
    context: Context, type_: CType, value: Value | None, declarator: tree.Declarator, is_const: bool
) -> None:
    """A variable of the whole kernel: a list of one element around the functions."""
    refuse_destructor(context, type_, declarator)
    value = build_zero(context, type_) if value is None else value
    if is_const or context.in_function:
        value = fold_constant(context, value)
    if context.in_function:
        _refuse_late_value(context, value, declarator)
    if is_const and value.constant is not None and declarator.name not in context.shared:
        bind_variable(context, declarator, value, is_global=True)
        return
    if not is_const:
        refuse_static_functions(context, value, declarator)
    identifier = context.unit.create_name(declarator.name)
    note_static_functions(context, identifier, value, declarator)
    in_list = isinstance(type_, (StructType, ArrayType, ObjectType))
    node = value.node if in_list else code.list_of([value.node])
    context.unit.add_global(code.assign(code.name(identifier), node), declarator.position)
    if in_list:
        lvalue: Lvalue = LocalLvalue(type_, identifier, is_const=is_const)
    else:
        lvalue = ItemLvalue(type_, code.name(identifier), code.constant(0), is_const)
    known = _keep_known(context, identifier, value) if is_const else None
    bind_variable(context, declarator, lvalue, is_global=True, known=known)


def _refuse_late_value(context: Context, value: Value, declarator: tree.Declarator) -> None:
    """Refuse what would be set when a function is called first."""
    if isinstance(value.type, ObjectType) or is_literal(value.node):
        return
    names = {each.id for each in ast.walk(value.node) if isinstance(each, ast.Name)}
    known = (node for each in context.unit.globals for node in ast.walk(each))
    names -= {each.id for each in known if isinstance(each, ast.Name)}
    if any(each.startswith("v_") for each in names):
        message = f"'{declarator.name}' is static and starts with what only a call knows"
        raise context.error(
            declarator, f"{message}, which tt-metal's compiler refuses; assign it in a statement"
        )


def _declare_reference(
    context: Context, type_: tree.Reference, declarator: tree.Declarator
) -> None:
    initial = declarator.value
    if initial is None or isinstance(initial, tree.Braces):
        raise context.error(declarator, "a reference needs a variable that it refers to")
    initial = _choose_extreme(context, initial)
    setup = list[ast.expr]()
    found = look_at_last(context, initial, setup)
    emit_setup(context, setup, declarator)
    is_place = not type_.is_rvalue
    if isinstance(found, Value):
        is_const = isinstance(initial, tree.Name) or found.is_const
        known = cast("tree.Expression", Evaluated(found, position=initial.position))
        _declare_copy(context, type_, known, declarator, is_const=is_const)
    else:
        is_place = is_place or (is_deduced(type_) and not found.is_over)
        declare_reference_to(context, type_, found, declarator, initial)
    variable = context.scope.symbols[declarator.name]
    if isinstance(variable, Variable):
        kept = replace(variable, reference="&" if is_place else "&&")
        context.scope.symbols[declarator.name] = kept


def _choose_extreme(context: Context, node: tree.Expression) -> tree.Expression:
    """`std::min` and `std::max` of two places as the choice of one of them; others as they are."""
    match node:
        case tree.FunctionCall(
            callee=tree.Name(text="std::min" | "std::max" as name),
            arguments=(tree.Node() as a, tree.Node() as b),
            template_arguments=(),
        ) if not (isinstance(a, tree.Braces) or isinstance(b, tree.Braces)):
            pass
        case _:
            return node
    acting = (tree.FunctionCall, tree.Assign, tree.Update, tree.Expansion)
    if context.unit.find(name, context.scope) or any(
        isinstance(each, acting) for part in (a, b) for each in tree.walk(part)
    ):
        return node
    with context.unit.looking():
        found = [look_at(context, each) for each in (a, b)]
    if not all(map(has_address, found)) or found[0].type != found[1].type:
        return node
    left, right = (a, b) if name == "std::max" else (b, a)
    test = tree.BinaryOperation("<", left, right, position=node.position)
    return tree.Conditional(test, b, a, position=node.position)


def declare_reference_to(
    context: Context,
    type_: tree.Reference,
    lvalue: Lvalue,
    declarator: tree.Declarator,
    node: tree.Expression,
) -> None:
    """Let a reference refer to a place."""
    resolve = context.unit.resolve_declared_type
    target = resolve(type_.referent, context.scope, lvalue.type, lvalue.is_const)
    is_other = width_of(lvalue) or refers_to_copy(target.type, lvalue.type)
    if target.const and _is_number(target.type) and is_other:
        known = cast("tree.Expression", Evaluated(lvalue, position=node.position))
        _declare_copy(context, type_, known, declarator)
        return
    check_reference(context, target, lvalue, node)
    setup = list[ast.expr]()
    if target.type != lvalue.type and isinstance(target.type, StructType):
        lvalue = retype_lvalue(lvalue, target.type)
    lvalue = _fix_lvalue(context, lvalue, setup)
    emit_setup(context, setup, declarator)
    if target.const:
        lvalue = protect_lvalue(lvalue)
    bind_variable(context, declarator, replace(lvalue, is_over=False), is_reference=True)


def _declare_copy(
    context: Context,
    type_: tree.Reference,
    initial: tree.Expression,
    declarator: tree.Declarator,
    *,
    is_const: bool = False,
) -> None:
    """What a constant reference refers to that is made for it: a value of its type."""
    value = settle(evaluate_scalar(context, initial))
    resolve = context.unit.resolve_declared_type
    target = resolve(type_.referent, context.scope, value.type, is_const)
    if isinstance(value.type, ObjectType) and target.type == value.type:
        _declare_local(context, value.type, value, declarator, is_const=target.const)
        return
    if not target.const and not type_.is_rvalue and not isinstance(value.type, FunctionType):
        message = "a reference that is not const needs a variable here"
        raise context.error(initial, message)
    value = settle(convert_implicitly(context, value, target.type, initial))
    is_fixed = not type_.is_rvalue or target.const
    declare_value = _declare_local if context.in_function else _declare_static
    declare_value(context, value.type, value, declarator, is_const=is_fixed)


def _is_number(type_: CType) -> bool:
    return isinstance(type_, (IntType, FloatType))


def _fix_lvalue(context: Context, lvalue: Lvalue, setup: list[ast.expr]) -> Lvalue:
    """The same place whatever happens to the variables that it was found with."""

    def kept(node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Constant):
            return node
        identifier = context.unit.create_name("reference", "t")
        setup.append(code.walrus(identifier, node))
        return code.name(identifier)

    match lvalue:
        case ItemLvalue():
            return replace(lvalue, container=kept(lvalue.container), index=kept(lvalue.index))
        case PointedLvalue():
            pointer, offset = kept(lvalue.pointer), kept(lvalue.offset)
            return replace(lvalue, pointer=pointer, offset=offset)
        case MemoryLvalue():
            address = settle(lvalue.address)
            return replace(lvalue, address=replace(address, node=kept(address.node)))
        case BitsLvalue():
            shift = settle(lvalue.shift)
            fixed = replace(shift, node=kept(shift.node))
            return replace(lvalue, holder=kept(lvalue.holder), shift=fixed)
        case EitherLvalue():
            return _fix_either(context, lvalue, setup)
        case _:
            return lvalue


def _fix_either(context: Context, lvalue: EitherLvalue, setup: list[ast.expr]) -> EitherLvalue:
    """The same place as what its address points to: one pointer that is kept."""
    pointer = take_address(context, lvalue, tree.Null())
    identifier = context.unit.create_name("reference", "t")
    setup.append(code.walrus(identifier, pointer.node))
    kept = replace(pointer, node=code.name(identifier))
    fixed = find_pointee(context, kept, tree.Null())
    assert isinstance(fixed, EitherLvalue)
    return fixed


def _refuse_deleted(context: Context, type_: CType, node: tree.Node) -> None:
    """Refuse an object without initial value where no constructor makes one."""
    info = context.unit.classes.get(type_.number) if isinstance(type_, StructType) else None
    if info is not None and info.has_deleted_default:
        message = f"'{type_.name}' is made with arguments only: its default constructor is deleted"
        raise context.error(node, message)


def bind_variable(
    context: Context,
    declarator: tree.Declarator,
    storage: Lvalue | Value,
    *,
    is_global: bool = False,
    known: Value | None = None,
    is_reference: bool = False,
) -> None:
    """Bind a declared name."""
    if declarator.name in context.scope.symbols:
        raise context.error(declarator, f"'{declarator.name}' is declared twice")
    context.scope.symbols[declarator.name] = Variable(
        declarator.name, storage, is_global, known, is_reference
    )


# --- Name declarations ----------------------------------------------------------------------------
# Statements that declare names: aliases, `using`, enumerations and assertions.


def declare_alias(context: Context, node: tree.Alias) -> None:
    """Compile `using name = type;`."""
    if node.template_parameters:
        _bind_new_name(context, node, node.name, AliasTemplate(node, context.scope))
        return
    alias = Alias(context.unit.resolve_type(node.type, context.scope))
    _bind_new_name(context, node, node.name, alias)


def use_name(context: Context, node: tree.UsingName) -> None:
    """Compile `using tt::CBIndex;`."""
    last = node.name.rpartition("::")[2]
    symbol = context.unit.find(node.name, context.scope)
    if node.is_enumeration:
        _use_enumerators(context, node, symbol)
    elif symbol is not None:
        context.scope.symbols[last] = symbol
    elif not context.unit.is_of_library(node.name, context.scope):
        raise context.unit.unknown_name(node, node.name, f"there is no '{node.name}'")


def _use_enumerators(context: Context, node: tree.UsingName, symbol: Symbol | None) -> None:
    """Compile `using enum K;`."""
    if not isinstance(symbol, Alias) or not isinstance(symbol.type.type, EnumType):
        raise context.unit.unknown_name(node, node.name, f"there is no enumeration '{node.name}'")
    inner = context.unit.namespaces[symbol.type.type.name]
    for name, each in inner.symbols.items():
        _bind_new_name(context, node, name, each)


def use_namespace(context: Context, node: tree.UsingNamespace) -> None:
    """Compile `using namespace name;`."""
    context.unit.load_namespace(node.name)
    for each in context.unit.find_holders(node.name, context.scope):
        if context.scope is context.unit.root:
            context.unit.used.append(each)
        else:
            context.scope.more = (*context.scope.more, each)


def name_namespace(context: Context, node: tree.NamespaceAlias) -> None:
    """Compile `namespace name = target;`."""
    first = node.target.partition("::")[0]
    known = context.scope.find(first)
    target = node.target
    if isinstance(known, NamespaceName):
        target = known.path + node.target.removeprefix(first)
    context.scope.symbols[node.name] = NamespaceName(target.removeprefix("::"))


def execute_assembly(context: Context, node: tree.Assembly) -> None:
    """Compile `asm("nop")`: nothing."""


def declare_enumeration(context: Context, node: tree.Enumeration) -> None:
    """Compile an enumeration: its type, and its enumerators as constants."""
    base = INT if node.base is None else context.unit.resolve_type(node.base, context.scope).type
    if not isinstance(base, IntType):
        raise context.error(node, f"'{base.name}' cannot hold an enumeration")
    type_ = EnumType(node.name, base.bits, base.signed, node.is_scoped)
    _bind_new_name(context, node, node.name, Alias(QualifiedType(type_)))
    is_fixed = node.base is not None or node.is_scoped
    inner = Scope(context.scope)
    outer, context.scope = context.scope, inner
    numbers = dict[str, int]()
    number = -1
    for each in node.enumerators:
        known = (
            None if each.value is None else evaluate_constant(context, each.value, "an enumerator")
        )
        number = number + 1 if known is None else known
        if is_fixed and not base.low <= number <= base.high:
            message = f"{number} is no value of '{base.name}', which '{node.name}' is made of"
            raise context.error(each, message)
        # Until its brace closes, an enumeration that names no type has none.
        own = type_ if is_fixed else _find_underlying(context, each, (number,), (INT, UNSIGNED))
        _bind_new_name(context, each, each.name, Variable(each.name, make_integer(number, own)))
        numbers[each.name] = number
    context.scope = outer
    if not is_fixed and numbers:
        base = _find_underlying(context, node, numbers.values(), (UNSIGNED, INT))
        fits_int = INT.low <= min(numbers.values()) and max(numbers.values()) <= INT.high
        type_ = EnumType(node.name, base.bits, base.signed, fits_int=fits_int, is_open=True)
        outer.symbols[node.name] = Alias(QualifiedType(type_))
        for name, number in numbers.items():
            inner.symbols[name] = Variable(name, make_integer(number, type_))
    context.unit.add_namespace(node.name, inner)
    if not node.is_scoped:
        for name, symbol in inner.symbols.items():
            context.scope.symbols[name] = symbol


def _find_underlying(
    context: Context, node: tree.Node, numbers: Collection[int], first: tuple[IntType, ...]
) -> IntType:
    """The first type that has some numbers, as g++ takes it."""
    for each in (*first, INT64, UINT64):
        if each.low <= min(numbers) and max(numbers) <= each.high:
            return each
    raise context.error(node, f"no integer type has both {min(numbers)} and {max(numbers)}")


def _bind_new_name(context: Context, node: tree.Node, name: str, symbol: Symbol) -> None:
    if name in context.scope.symbols and not name.startswith("("):
        raise context.error(node, f"'{name}' is declared twice")
    context.scope.symbols[name] = symbol


def check_static_assert(context: Context, node: tree.StaticAssert) -> None:
    """Compile a `static_assert`."""
    condition = fold_constant(context, evaluate_condition(context, node.condition))
    if condition.constant is None:
        if is_fixed_by_host(context, condition):
            return
        raise context.error(node.condition, "static_assert needs a constant condition")
    if not condition.constant:
        message = "" if node.message is None else f": {node.message}"
        raise context.error(node, f"static_assert failed{message}")
