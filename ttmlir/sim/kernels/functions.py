"""Functions of a kernel: one function of Python for each way in which one is called."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.types import (
    UNSIGNED,
    VOID,
    ArrayType,
    CType,
    FunctionType,
    IncompleteType,
    ObjectType,
    PointerType,
    StructType,
    is_deduced,
)
from ttmlir.sim.kernels.classes import initialize_members
from ttmlir.sim.kernels.context import Argument, Context, Handlers
from ttmlir.sim.kernels.destructors import THIS, EndingBlock, end_members, refuse_destructor
from ttmlir.sim.kernels.expressions.function_pointers import describe_argument
from ttmlir.sim.kernels.expressions.lvalues import (
    find_pointee,
    find_this,
    is_function,
    points_to_function,
)
from ttmlir.sim.kernels.expressions.signatures import find_signature
from ttmlir.sim.kernels.expressions.variadic import REST, REST_NAME
from ttmlir.sim.kernels.limits import MAX_CALL_NESTING
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.python.code import remove_dead_code
from ttmlir.sim.kernels.scope import (
    CLOSURE,
    Alias,
    Pack,
    Scope,
    Variable,
    find_reference,
)
from ttmlir.sim.kernels.statements import execute_block
from ttmlir.sim.kernels.templates import find_element_scope, key_of, resolve_result
from ttmlir.sim.kernels.unit import Instance, Unit
from ttmlir.sim.kernels.unknown_names import mentions
from ttmlir.sim.kernels.value import (
    ItemLvalue,
    LocalLvalue,
    Lvalue,
    MemoryLvalue,
    Space,
    Value,
    make_value,
    protect_lvalue,
)

_WHOLE = (StructType, ArrayType, ObjectType, FunctionType)
"""Types of what needs no list of its own to be referred to."""

_ATTEMPTS = 5
"""How often a function is compiled at most to find out where its pointers point."""


def find_instance(
    context: Context,
    function: tree.Function,
    scope: Scope,
    arguments: Sequence[Argument],
    node: tree.Node,
) -> Instance:
    """The function as it is for arguments of these types."""
    unit = context.unit
    unit.read_body(function, node)
    is_template = bool(function.template_parameters) or function.specialized is not None
    names = tuple(map(repr, _find_meanings(scope))) if is_template else ()
    kinds = tuple((each.type, each.mode, each.space, each.is_const) for each in arguments)
    around = scope.outer if is_template else scope
    key = (id(function), id(around), names, kinds)
    known = unit.instances.get(key)
    if known is None:
        known = unit.instances[key] = Instance(unit.create_name(function.name, "f"), VOID)
        if unit.nesting >= MAX_CALL_NESTING:
            message = f"'{function.name}' is the last of {MAX_CALL_NESTING} functions that call"
            raise unit.error(node, f"{message} each other: these are nested too deeply")
        unit.nesting += 1
        try:
            _compile_instance(context.handlers, unit, function, scope, arguments, known)
        except CppSyntaxError:
            # Overload resolution goes on without what cannot be compiled.
            del unit.instances[key]
            raise
        finally:
            unit.nesting -= 1
    elif not known.finished:
        known.called_early = True
        if is_deduced(function.result):
            raise unit.error(node, "a function with result 'auto' cannot call itself")
    return known


def _find_meanings(scope: Scope) -> Iterator[tuple[str, object]]:
    """What template parameters stand for: types and numbers."""
    for name, symbol in scope.symbols.items():
        match symbol:
            case Alias() | Pack() | Variable(storage=Value()):
                yield name, key_of(symbol)
            case _:
                yield name, id(symbol)


def _compile_instance(
    handlers: Handlers,
    unit: Unit,
    function: tree.Function,
    scope: Scope,
    arguments: Sequence[Argument],
    made: Instance,
) -> None:
    """Compile a function for some arguments, and add it to the unit."""
    context, parameters, body = _compile_function(handlers, unit, function, scope, arguments, made)
    made.result = VOID if context.result is None else context.result
    made.is_reference = context.gives_reference
    made.is_over = context.gives_up
    made.is_const = _gives_constant(function, made)
    made.space = context.result_space or Space.ANY
    made.waits = context.waits > 0 and _may_wait(body)
    made.loads = context.loads
    made.finished = True
    if made.waits and made.called_early:
        message = f"'{function.name}' calls itself and waits, which is not supported"
        raise unit.error(function, message)
    if context.makes:
        body.append(_build_return_of_object(unit, function))
    elif not _ends_with_return(body) and made.result != VOID:
        body.append(_build_missing_return(unit, function))
    if not body:
        unit.pure.add(made.identifier)
    unit.add_function(made.identifier, parameters, body, function.position)


def compile_entry(
    handlers: Handlers, unit: Unit, function: tree.Function, scope: Scope
) -> list[ast.stmt]:
    """The body of the function that the processor starts."""
    if function.parameters:
        raise unit.error(function, f"'{function.name}' takes no parameters")
    return _compile_function(handlers, unit, function, scope, (), None)[2]


def _compile_function(
    handlers: Handlers,
    unit: Unit,
    function: tree.Function,
    scope: Scope,
    arguments: Sequence[Argument],
    made: Instance | None,
) -> tuple[Context, list[str], list[ast.stmt]]:
    """A function with its parameters and statements.

    Pointers are taken to point where they point at first. When one turns out to point elsewhere,
    too, the function is compiled anew with that known; after some times with all of them so.
    """
    assert function.body is not None
    wide: frozenset[int] | None = frozenset()
    copies, before = False, len(unit.instances)
    for attempt in range(_ATTEMPTS):
        context = _create_context(handlers, unit, function, scope, wide, copies=copies)
        parameters = [_declare_argument(context, function, each) for each in arguments]
        _declare_empty_packs(context, function)
        if made is not None and context.result is not None:
            made.result = context.result
            made.is_reference = context.gives_reference
            made.is_over = context.gives_up
            made.is_const = _gives_constant(function, made)
        with EndingBlock(context):
            if function.kind == "constructor":
                initialize_members(context, function)
            elif function.kind == "destructor":
                holder = CLOSURE if CLOSURE in context.scope.symbols else "this"
                end_members(context, find_this(context, function, holder), function)
            execute_block(context, function.body)
        if context.temporaries:
            made_here = next(iter(context.temporaries.values()))
            refuse_destructor(context, made_here.lvalue.type, made_here.node)
        if context.copies and not copies:
            copies = True
            for key in list(unit.instances)[before:]:
                del unit.instances[key]  # They may take what this function gives as a reference.
        elif not context.widened:
            body = remove_dead_code(context.out, unit.has_effect, unit.volatile)
            return context, parameters, body
        wide = None if attempt == _ATTEMPTS - 2 else (wide or frozenset()) | context.widened
    raise AssertionError("pointers that point anywhere stay so")


def _gives_constant(function: tree.Function, made: Instance) -> bool:
    """Whether a function gives an object that cannot be changed, `const T`."""
    written = function.result
    is_const = isinstance(written, tree.NamedType) and "const" in written.qualifiers
    return is_const and isinstance(made.result, StructType)


def _create_context(
    handlers: Handlers,
    unit: Unit,
    function: tree.Function,
    scope: Scope,
    wide: frozenset[int] | None,
    *,
    is_open: bool = False,
    copies: bool = False,
) -> Context:
    """What is known before a function that stands in a scope is compiled.

    With `is_open` its result depends on template arguments. One that `copies` gives the number
    that its result, a constant reference, refers to.
    """
    names = unit.find_used_names(function)
    makes = function.kind == "constructor"
    result: CType | None = None
    gives_reference = gives_up = False
    inner = Scope(scope)
    if makes:
        result = VOID
    elif not is_open and not is_deduced(function.result):
        resolved = resolve_result(unit, function, scope)
        result = resolved.type
        if resolved.reference and not (copies or isinstance(resolved.type, FunctionType)):
            gives_reference = True
            gives_up = resolved.reference == "&&"
            result = PointerType(resolved.type, resolved.volatile, resolved.const)
    elif isinstance(function.result, tree.Reference):
        gives_reference = True
    return Context(
        unit,
        inner,
        handlers,
        changed=names.changed,
        shared=names.shared,
        wide=wide,
        result=result,
        gives_reference=gives_reference,
        gives_up=gives_up,
        copies=copies,
        makes=makes,
        function=function,
    )


def open_function(context: Context, function: tree.Function, depending: set[str]) -> Context:
    """The place in the body of a template, for what depends on no argument of it.

    Adds to `depending` the parameters whose types depend on one, or are of the library.
    """
    is_open = mentions((function.result,), depending)
    inner = _create_context(
        context.handlers, context.unit, function, context.scope, None, is_open=is_open
    )
    for number, each in enumerate(function.parameters):
        known: list[Argument] = []
        if not (each.is_pack or is_deduced(each.type) or mentions((each.type,), depending)):
            written = tree.FunctionOf(tree.NamedType("void"), (each,))
            passed = find_signature(context, written).parameters[0]
            if not isinstance(passed.type, (ObjectType, IncompleteType)):
                known.append(describe_argument(passed, number))
        for argument in known:
            _declare_argument(inner, function, argument)
        if not known:
            depending.add(each.name or "")
    return inner


def _declare_argument(context: Context, function: tree.Function, argument: Argument) -> str:
    """Declare what is passed, or the next element of a pack."""
    if argument.number == THIS:
        number = getattr(scope_type(argument), "number", None)
        of_lambda = number in context.unit.closures
        return _declare_parameter(context, _CLOSURE if of_lambda else _THIS, argument)
    if argument.number == REST:
        return _declare_parameter(context, _REST, argument)
    assert argument.number is not None
    parameter = function.parameters[argument.number]
    if not parameter.is_pack or parameter.name is None:
        return _declare_parameter(context, parameter, argument, context.scope)
    symbols = context.scope.symbols
    before = symbols.pop(parameter.name, Pack(()))
    assert isinstance(before, Pack)
    scope = find_element_scope(context.scope, parameter.type, len(before.symbols))
    identifier = _declare_parameter(context, parameter, argument, scope)
    symbols[parameter.name] = Pack((*before.symbols, symbols[parameter.name]))
    return identifier


def _declare_empty_packs(context: Context, function: tree.Function) -> None:
    for each in function.parameters:
        if each.is_pack and each.name is not None:
            context.scope.symbols.setdefault(each.name, Pack(()))


def scope_type(argument: Argument) -> CType:
    """The class of the object that is passed to a member function."""
    type_ = argument.type
    return type_.pointee if isinstance(type_, PointerType) else type_


_REST = tree.Parameter(tree.NamedType("auto"), REST_NAME)
_THIS = tree.Parameter(tree.NamedType("this"), "this")
_CLOSURE = tree.Parameter(tree.NamedType("this"), CLOSURE)


def _declare_parameter(
    context: Context, parameter: tree.Parameter, argument: Argument, scope: Scope | None = None
) -> str:
    """Declare a parameter whose type is meant in a scope; returns its identifier."""
    name = parameter.name or "unused"
    # `this` is no name of another variable, so that it can be the same in all functions.
    identifier = "v_this" if parameter in (_THIS, _CLOSURE) else context.unit.create_name(name)
    type_ = argument.type
    node = code.name(identifier)
    constant = argument.is_const
    if argument.mode == "value" and name in context.changed | context.shared:
        chosen = _choose_late(context, parameter, Value(type_, node), scope)
        type_ = type_ if chosen is None else chosen.type
    match argument.mode:
        case "pair":
            container = code.subscript(node, code.constant(0))
            index = code.subscript(node, code.constant(1))
            lvalue: Lvalue = ItemLvalue(type_, container, index, constant)
        case "address":
            assert isinstance(type_, PointerType)
            lvalue = MemoryLvalue(
                type_.pointee, make_value(UNSIGNED, node), type_.volatile, constant
            )
        case "pointer":
            lvalue = find_pointee(context, Value(type_, node, space=argument.space), parameter)
            lvalue = protect_lvalue(lvalue) if constant else lvalue
        case "value" if name in context.shared and not isinstance(type_, _WHOLE):
            cell = code.assign(node, code.list_of([node]))
            context.emit(cell, parameter.position)
            lvalue = ItemLvalue(type_, node, code.constant(0), constant)
        case _:
            is_wide = context.wide is None or id(parameter) in context.wide
            space = Space.ANY if is_wide else argument.space
            lvalue = LocalLvalue(
                type_, identifier, is_const=constant, space=space, origin=parameter
            )
    written = parameter.type
    referred = written.referent if isinstance(written, tree.Reference) else written
    if isinstance(referred, tree.NamedType) and "volatile" in referred.qualifiers:
        context.unit.volatile.add(identifier)
    if parameter.name is not None:
        if name in context.scope.symbols:
            raise context.error(parameter, f"two parameters are called '{name}'")
        is_reference = argument.mode != "value"
        reference = "" if scope is None else find_reference(parameter.type, scope)
        context.scope.symbols[name] = Variable(
            name, lvalue, is_reference=is_reference, reference=reference
        )
    return identifier


def _choose_late(
    context: Context, parameter: tree.Parameter, value: Value, scope: Scope | None
) -> Value | None:
    """A function that a written pointer starts with, which may come to point to another one."""
    is_closure = isinstance(value.type, StructType) and value.type.number in context.unit.closures
    if is_deduced(parameter.type) or not (is_closure or is_function(value.type)):
        return None
    target = context.unit.resolve_type(parameter.type, scope or context.scope).type
    if not isinstance(target, PointerType) or not points_to_function(target):
        return None
    pointer = context.handlers.point_at(context, value, target, parameter)
    context.emit(code.assign(value.node, pointer.node), parameter.position)
    return pointer


def _build_return_of_object(unit: Unit, function: tree.Function) -> ast.stmt:
    """The end of a constructor, which gives its object."""
    node = ast.Return(code.name("v_this"))
    unit.locate(node, function.position)
    return node


def _may_wait(body: Sequence[ast.stmt]) -> bool:
    return any(
        isinstance(each, (ast.Yield, ast.YieldFrom)) for node in body for each in code.walk(node)
    )


def _ends_with_return(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return)


def _build_missing_return(unit: Unit, function: tree.Function) -> ast.stmt:
    """The end of a function that should not be reached."""
    message = f"'{function.name}' ends without returning a value"
    node = ast.Return(code.call("_missing", code.constant(message)))
    unit.locate(node, function.position)
    return node
