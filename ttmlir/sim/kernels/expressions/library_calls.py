"""Calls of the kernel library, and of its objects."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.standard_headers import is_own_text
from ttmlir.cpp.types import (
    BOOL,
    CHAR,
    FLOAT,
    INT,
    UINT64,
    UNSIGNED,
    VOID,
    ArrayType,
    CType,
    EnumType,
    FloatType,
    IntType,
    ObjectType,
    PointerType,
    StringType,
    StructType,
    complete_type,
    is_scoped,
    size_of,
)
from ttmlir.errors import plural
from ttmlir.optable.kernel import Role, TemplateKind
from ttmlir.optable.kernel.cpp_compute_calls import PREFIX
from ttmlir.optable.kernel.cpp_movement_calls import FIELDS, OWN
from ttmlir.optable.kernel.releases import SINCE, add_defaults, name_in_release
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.accessor_types import find_layout_number, find_layout_type
from ttmlir.sim.kernels.expressions.casts import cast_value
from ttmlir.sim.kernels.expressions.lvalues import (
    convert_implicitly,
    evaluate_constant,
    evaluate_scalar,
    find_elements_of,
    find_lvalue,
    look_at,
    read_lvalue,
    take_memory_address,
)
from ttmlir.sim.kernels.library import LibraryCall, LibraryMethod, ParameterType, strip_namespaces
from ttmlir.sim.kernels.packs import expand_all
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.python.runtime import describe_missing_name
from ttmlir.sim.kernels.scope import Evaluated
from ttmlir.sim.kernels.value import (
    EitherLvalue,
    Lvalue,
    MemoryLvalue,
    Space,
    Value,
    build_node,
    convert,
    convert_to_unsigned,
    make_integer,
    make_value,
    reinterpret_bits,
    settle,
)
from ttmlir.sim.machine.memory import ELSEWHERE

_OWN_CALLS = (PREFIX, "builtin_unpack_", "fabric_mux_", "fabric_packet_", "fabric_router_")
"""How names of calls begin that the package's own headers alone make."""


_INSTEAD = {
    "SFPSHFT2": "call 'subvec_shflror1' or 'subvec_shflshr1'",
    "SFPCONFIG": "assign to 'vConstFloatPrgm0'",
    "SFPLUT": "call 'lut'",
    "SFPLUTFP32": "call 'lut2'",
    "INCRWC": "write 'dst_reg++' or 'dst_reg += n'",
    "SEMWAIT": "call 'tile_regs_wait'",
    "SEMPOST": "call 'tile_regs_commit'",
    "SEMGET": "call 'tile_regs_release'",
    "UNPACR": "call 'copy_tile'",
    "PACR": "call 'pack_tile'",
    "MVMUL": "call 'matmul_tiles'",
    "ELWADD": "call 'add_tiles'",
    "ELWSUB": "call 'sub_tiles'",
    "ELWMUL": "call 'mul_tiles'",
    "MOVA2D": "call 'copy_tile'",
}
"""What kernels write for instructions that are not modelled, by their names without `TTI_`."""


def _describe_instruction(name: str) -> str:
    instead = _INSTEAD.get(name.removeprefix("TTI_"), "call a function of the kernel library")
    return f"the instruction '{name}' is not modelled; {instead} instead"


def call_library(context: Context, node: tree.FunctionCall, name: str) -> Value:
    """The value of a call of the library."""
    meant = name_in_release(strip_namespaces(name), context.unit.release)
    name = meant if meant.endswith(SINCE) else name
    found = context.unit.library.find_call(name)
    if found is None or _is_hidden(found, node):
        near = context.unit.list_nearest_calls(name)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        message = f"there is no function '{name}'{hint}"
        if strip_namespaces(name).startswith("TTI_"):
            message = _describe_instruction(strip_namespaces(name))
        raise context.unit.unknown_name(node, name, message)
    absence = context.unit.library.describe_absence(name)
    if absence:
        raise context.error(node, absence)
    arguments = evaluate_arguments(context, node, name)
    lacking = add_defaults(found.name, len(arguments), context.unit.release)
    arguments += map(code.constant, lacking)
    if not found.acts:
        return _leave_out(context, found, arguments)
    if found.waits and found.result != VOID:
        return _await_result(context, node, found, arguments)
    if found.waits:
        if not found.is_common:
            context.unit.library.is_uneven = True
        raise context.error(node, f"'{found.name}' waits; make the call a statement of its own")
    return _type_result(
        context, build_library_call(context, node, found, arguments), found.result, node
    )


def _is_hidden(found: LibraryCall, node: tree.FunctionCall) -> bool:
    """Whether a call is one that the package's own headers alone may make."""
    file = "" if node.position is None else node.position.file
    is_written = isinstance(node.callee, tree.Name) and node.callee.text.endswith(SINCE)
    return is_written or (found.name.startswith(_OWN_CALLS) and not is_own_text(file))


def _await_result(
    context: Context, node: tree.FunctionCall, found: LibraryCall, arguments: Sequence[ast.expr]
) -> Value:
    """A call that gives its result when it need not wait any more."""
    context.waits += 1
    call = build_library_call(context, node, found, arguments)
    received = code.name(context.unit.bind("received"))
    awaited = code.call("_awaited", call.func, received, *call.args)
    return make_value(found.result, ast.YieldFrom(awaited))


def build_library_call(
    context: Context, node: tree.FunctionCall, found: LibraryCall, arguments: Sequence[ast.expr]
) -> ast.Call:
    """The call of the simulator's method."""
    if found.is_common:
        return _build_library_call(context, node, found, arguments)
    with context.unit.watching():
        return _build_library_call(context, node, found, arguments)


def _build_library_call(
    context: Context, node: tree.FunctionCall, found: LibraryCall, arguments: Sequence[ast.expr]
) -> ast.Call:
    keywords = dict[str, ast.expr]()
    template = _find_macro_arguments(context, node, found)
    if template:
        keywords["template"] = evaluate_template_arguments(context, found.name, template)
    misfit = context.unit.library.describe_misfit(found.name, len(arguments), keywords)
    if misfit:
        raise context.error(node, misfit)
    return code.call(context.unit.bind(found.name), *arguments, **keywords)


def _find_macro_arguments(
    context: Context, node: tree.FunctionCall, found: LibraryCall
) -> Sequence[tree.TemplateArgument]:
    """The template arguments, and what macros such as `REDUCE_OP` give for those left out."""
    written = node.template_arguments
    if found.name == "reduce_init" and written and isinstance(written[0], tree.Boolean):
        written = written[1:]  # `at_start` of 2024
    defaults = context.unit.library.template_defaults(found.name)[len(written) :]
    if not all(defaults) or not any(each in context.unit.defines for each in defaults):
        return written
    texts = (context.unit.defines.get(each, each) for each in defaults)
    return [
        *written,
        *(
            tree.Boolean(text == "true", position=node.position)
            if text in ("true", "false")
            else tree.Name(text, position=node.position)
            for text in texts
        ),
    ]


def evaluate_arguments(context: Context, node: tree.FunctionCall, name: str) -> list[ast.expr]:
    """The arguments of a call of the library."""
    library = context.unit.library
    return [
        evaluate_argument(context, each, library.find_parameter(name, i))
        for i, each in enumerate(take_plain_arguments(context, node))
    ]


def take_plain_arguments(context: Context, node: tree.FunctionCall) -> list[tree.Expression]:
    """The arguments of a call that takes no braces, with packs expanded."""
    listed = list[tree.Expression]()
    for each in expand_all(context, node.arguments):
        if isinstance(each, tree.Braces):
            raise context.error(each, "the call takes a number here, not braces")
        listed.append(each)
    return listed


def _type_result(
    context: Context, called: ast.Call, result: CType, node: tree.FunctionCall
) -> Value:
    value = make_value(find_layout_type(result, called), called)
    assert isinstance(node.callee, tree.Name)
    if not context.unit.library.is_typed(node.callee.text):
        return value
    match node.template_arguments, result:
        case (tree.NamedType() as wanted,), IntType():
            found = context.unit.find_type(wanted.name, context.scope)
            target = None if found is None else found.type
            if isinstance(target, FloatType):
                return Value(FLOAT, called)
            return value if not isinstance(target, IntType) else convert(value, target)
        case _:
            return value


def _leave_out(context: Context, found: LibraryCall, arguments: Sequence[ast.expr]) -> Value:
    """A call that another processor makes: what its arguments do remains."""
    effects = [each for each in arguments if context.unit.has_effect(each)]
    zero = code.constant(None if found.result == VOID else 0)
    return make_value(found.result, code.last_of(*effects, zero))


def evaluate_argument(
    context: Context, node: tree.Expression, parameter: ParameterType
) -> ast.expr:
    """An argument of the library: an integer, an address or an object.

    A number is converted to the type of the parameter where that loses something of it.
    """
    table = _find_table(context, node) if parameter.may_be_array else None
    if table is not None:
        return table
    value = _find_whole_object(context, node) or evaluate_scalar(context, node)
    if _is_page(value.type) and parameter.may_be_memory:
        address = code.subscript(value.node, code.constant(0))
        return code.binary("|", address, code.constant(ELSEWHERE))
    value = _find_address(value, parameter)
    if isinstance(value.type, ObjectType) or parameter.is_object:
        return _pass_object(context, node, value, parameter)
    if isinstance(value.type, StructType) and parameter.number is not None:
        value = _convert_object(context, value, parameter.number, node)
    type_ = value.type
    if not isinstance(type_, (IntType, FloatType, PointerType)) or is_scoped(type_):
        raise context.error(node, f"the call takes a number here, not '{type_.name}'")
    if isinstance(type_, PointerType):
        if value.space is Space.LOCAL:
            message = "the kernel library takes no pointer to a local variable"
            raise context.error(node, message)
        return take_memory_address(context, value)
    if parameter.number is not None and _loses(type_, parameter.number):
        value = convert(value, parameter.number)
    return settle(value).node


def _convert_object(
    context: Context, value: Value, number: IntType | FloatType, node: tree.Expression
) -> Value:
    """An object as the number that it converts to; one that converts to none as it is."""
    try:
        return convert_implicitly(context, value, number, node)
    except CppSyntaxError:
        return value


def _pass_object(
    context: Context, node: tree.Expression, value: Value, parameter: ParameterType
) -> ast.expr:
    """An object where the call takes one of its kind."""
    type_ = value.type
    if not isinstance(type_, ObjectType) or type_.name not in parameter.objects:
        message = f"the call takes {parameter.wanted} here, not '{type_.name}'"
        raise context.error(node, message)
    return value.node


def _find_table(context: Context, node: tree.Expression) -> ast.expr | None:
    """The elements of an array; of one in memory its address, and how many there are."""
    array = find_elements_of(context, look_at(context, node))
    if isinstance(array, MemoryLvalue) and isinstance(array.type, ArrayType):
        return code.tuple_of(settle(array.address).node, code.constant(array.type.count))
    if array is None or isinstance(array, (MemoryLvalue, EitherLvalue)):
        return None
    return build_node(array)


def _is_page(type_: CType) -> bool:
    """Whether a value is a page of a tensor, which has its address on the network."""
    return isinstance(type_, StructType) and type_.name == "Page"


def _find_address(value: Value, parameter: ParameterType) -> Value:
    """What an object of memory or of a tensor holds where that is taken; else the value itself."""
    type_ = value.type
    if not isinstance(type_, StructType):
        return value
    if type_.name == "AbstractTensorAccessorWrapper":
        return Value(type_.fields[0].type, code.subscript(value.node, code.constant(0)))
    if not parameter.may_be_memory:
        return value
    if not type_.name.startswith(("CoreLocalMem<", "Scratchpad<", "LocalTensorAccessor<")):
        return value
    return make_value(UNSIGNED, code.subscript(value.node, code.constant(0)))


def _find_whole_object(context: Context, node: tree.Expression) -> Value | None:
    if isinstance(node, tree.Unary) and node.operator == "&":
        lvalue = find_lvalue(context, node.operand)
        if isinstance(lvalue.type, ObjectType) and not isinstance(
            lvalue, (MemoryLvalue, EitherLvalue)
        ):
            return Value(lvalue.type, build_node(lvalue))
    return None


def evaluate_template_arguments(
    context: Context, name: str, template: Sequence[tree.TemplateArgument]
) -> ast.expr:
    """The template arguments of a call as a tuple."""
    kinds = context.unit.library.template_kinds(name)
    if len(template) > len(kinds):
        count = f"at most {len(kinds)}" if kinds else "no"
        raise context.error(template[0], f"'{name}' takes {plural(count, 'template argument')}")
    return code.tuple_of(*map(partial(_evaluate_template_argument, context), template, kinds))


def _evaluate_template_argument(
    context: Context, node: tree.TemplateArgument, kind: TemplateKind
) -> ast.expr:
    if kind is TemplateKind.TYPE:
        type_ = context.unit.resolve_type(node, context.scope).type
        if not isinstance(type_, (IntType, FloatType)) or (size_of(type_) or 0) > 4:
            message = f"the template argument '{type_.name}' is no number of 32 bits"
            raise context.error(node, message)
        return code.constant(type_.name)
    if isinstance(node, (tree.NamedType, tree.Pointer, tree.Reference, tree.Decltype)):
        raise context.error(node, "the template argument is a number here, not a type")
    if isinstance(node, (tree.ArrayOf, tree.FunctionOf)):
        raise context.error(node, "the template argument is a number here, not a type")
    match node:
        case tree.FunctionCall(callee=tree.Member() as callee):
            base = look_at(context, callee.base)
            if isinstance(base.type, ObjectType):
                if _find_method(context, callee, base)[1].is_constant:
                    return context.evaluate(node).node
        case _:
            pass
    return code.constant(evaluate_constant(context, node, "a template argument"))


def call_method(
    context: Context, node: tree.FunctionCall, callee: tree.Member, found: Lvalue | Value
) -> Value:
    """A call of a member function of one of the library's objects, or of an array's `size()`."""
    if isinstance(found.type, ArrayType) and callee.member == "size" and not node.arguments:
        return make_integer(found.type.count, UNSIGNED)
    base, method = _find_method(context, callee, found)
    if node.template_arguments and not method.most_templates:
        raise context.error(callee, f"'{callee.member}' takes no template arguments")
    least, most = len(method.parameters) - method.optional, len(method.parameters)
    if not least <= len(expand_all(context, node.arguments)) <= most:
        count = str(most) if least == most else f"{least} to {most}"
        raise context.error(node, f"'{callee.member}' takes {plural(count, 'argument')}")
    if method.is_constant and isinstance(base.type, ObjectType):
        known = find_layout_number(context, node, base.type, callee.member)
        if known is not None:
            return make_integer(known, UNSIGNED)
    pairs = zip(expand_all(context, node.arguments), method.parameters, strict=False)
    arguments = [_evaluate_given(context, each, parameter) for each, parameter in pairs]
    function = code.attribute(base.node, callee.member)
    keywords = dict[str, ast.expr]()
    if node.template_arguments:
        flags = [
            evaluate_template_number(context, each, "an option") for each in node.template_arguments
        ]
        keywords["template"] = code.tuple_of(*map(code.constant, flags))
    if not method.waits:
        return make_value(method.result, code.call(function, *arguments, **keywords))
    context.waits += 1
    received = code.name(context.unit.bind("received"))
    awaited = code.call("_awaited", function, received, *arguments, **keywords)
    return make_value(method.result, ast.YieldFrom(awaited))


def evaluate_template_number(context: Context, node: tree.TemplateArgument, what: str) -> int:
    """A template argument that has to be a number."""
    types = (tree.NamedType, tree.Pointer, tree.Reference, tree.ArrayOf, tree.FunctionOf)
    if isinstance(node, (*types, tree.Decltype)):
        raise context.error(node, f"{what} is a number, not a type")
    return evaluate_constant(context, node, what)


def _evaluate_given(
    context: Context, node: tree.Expression | tree.Braces, parameter: ParameterType
) -> ast.expr:
    """An argument that may be a list in braces: a tuple of names and values."""
    if not isinstance(node, tree.Braces):
        members = _find_members_of(context, node) if parameter.may_be_braces else None
        return members or evaluate_argument(context, node, parameter)
    if not parameter.may_be_braces:
        raise context.error(node, "no list in braces is taken here")
    pairs = list[ast.expr]()
    for each in node.elements:
        if each.member is None or isinstance(each.value, tree.Braces):
            raise context.error(each, "write '.name = value' in these braces")
        if each.member not in FIELDS:
            near = difflib.get_close_matches(each.member, FIELDS, 1)
            hint = f"; did you mean '.{near[0]}'?" if near else ""
            raise context.error(each, f"no arguments of a transfer have '.{each.member}'{hint}")
        number = UINT64 if each.member == "noc_addr" else UNSIGNED
        value = evaluate_argument(context, each.value, ParameterType(number))
        pairs.append(code.tuple_of(code.constant(each.member), value))
    return code.tuple_of(*pairs)


def _find_members_of(context: Context, node: tree.Expression) -> ast.expr | None:
    """The members of an object of `noc_traits_t` as a list in braces would give them."""
    found = look_at(context, node)
    type_ = complete_type(found.type, context.unit.structs)
    if not isinstance(type_, StructType) or not all(each.name in FIELDS for each in type_.fields):
        return None
    value = found if isinstance(found, Value) else read_lvalue(context, found)
    if not isinstance(value.node, ast.Name):
        holder = context.unit.create_name("members", "t")
        first: ast.expr = code.walrus(holder, value.node)
        rest: ast.expr = code.name(holder)
    else:
        first = rest = value.node
    return code.tuple_of(
        *(
            code.tuple_of(
                code.constant(field.name),
                code.subscript(rest if number else first, code.constant(number)),
            )
            for number, field in enumerate(type_.fields)
        )
    )


def _find_method(
    context: Context, callee: tree.Member, found: Lvalue | Value
) -> tuple[Value, LibraryMethod]:
    """An object and the member function of it that is called."""
    base = found if isinstance(found, Value) else read_lvalue(context, found)
    if not isinstance(base.type, ObjectType):
        raise context.error(callee, f"'{base.type.name}' has no member functions")
    methods = context.unit.library.find_methods(base.type.name)
    file = "" if callee.position is None else callee.position.file
    if not is_own_text(file):
        methods = {name: each for name, each in methods.items() if not name.startswith(OWN)}
    method = methods.get(callee.member)
    if method is None:
        near = difflib.get_close_matches(callee.member, methods, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        there = ", ".join(sorted(methods)) or "none"
        name = f"'{base.type.name}' has no member function '{callee.member}'"
        raise context.error(callee, f"{name}; there are {there}{hint}")
    return base, method


def evaluate_compile_time_argument(context: Context, node: tree.FunctionCall) -> Value:
    """`get_compile_time_arg_val(n)`, a constant."""
    if len(node.arguments) != 1 or isinstance(node.arguments[0], tree.Braces):
        raise context.error(node, "get_compile_time_arg_val takes one number")
    what = "the number of a compile-time argument"
    number = evaluate_constant(context, node.arguments[0], what)
    return find_compile_time_argument(context, node, number)


def find_compile_time_argument(context: Context, node: tree.Node, number: int) -> Value:
    """A compile-time argument of the kernel."""
    known, assumed = context.unit.compile_time_args, context.unit.assumed
    if assumed is not None and number >= len(known):
        return make_integer(assumed.take_number(number), UNSIGNED)
    if not 0 <= number < len(known):
        message = f"there is no compile-time argument {number}; the kernel has {len(known)}"
        raise context.error(node, message)
    return make_integer(known[number], UNSIGNED)


_ONE_NAME = "get_named_compile_time_arg_val takes one name in quotes, or a 'const char*'"


def evaluate_named_compile_time_argument(context: Context, node: tree.FunctionCall) -> Value:
    """`get_named_compile_time_arg_val("name")`, a constant, or of a pointer to the characters."""
    known, assumed = context.unit.named_compile_time_args, context.unit.assumed
    arguments = take_plain_arguments(context, node)
    if len(arguments) != 1:
        raise context.error(node, _ONE_NAME)
    if not isinstance(arguments[0], tree.String):
        value = evaluate_scalar(context, arguments[0])
        if isinstance(value.type, IntType):
            raise context.error(node, _ONE_NAME)
        pointer = convert_implicitly(context, value, PointerType(CHAR, const=True), node)
        if assumed is not None:
            return make_integer(assumed.take_named_number("(of a pointer)"), UNSIGNED)
        pairs = (code.tuple_of(*map(code.constant, each)) for each in known.items())
        named = code.call("_named", pointer.node, code.tuple_of(*pairs))
        return make_value(UNSIGNED, named)
    name = arguments[0].text
    if assumed is not None and name not in known:
        return make_integer(assumed.take_named_number(name), UNSIGNED)
    if name not in known:
        raise context.error(node, describe_missing_name(name, tuple(known)))
    return make_integer(known[name], UNSIGNED)


def evaluate_assertion(context: Context, node: tree.FunctionCall) -> Value:
    """`ASSERT(condition, ...)`; what is no expression here is left out, as without the watcher.

    Conditions use names that only exist where the watcher is switched on.
    """
    arguments = take_plain_arguments(context, node)
    if not arguments:
        raise context.error(node, "ASSERT takes a condition")
    try:
        with context.unit.trying():
            context.evaluate(arguments[0])
    except CppSyntaxError:
        return Value(VOID, code.constant(None))
    checked = replace(node, arguments=(arguments[0],))
    return call_library(context, checked, "ASSERT")


def evaluate_extreme(context: Context, node: tree.FunctionCall) -> Value:
    """`std::min` and `std::max`, of two values or of those in braces."""
    assert isinstance(node.callee, tree.Name)
    name = strip_namespaces(node.callee.text)
    match node.arguments:
        case (tree.Braces(elements=(_, *_) as elements),):
            listed = replace(node, arguments=tuple(each.value for each in elements))
            arguments = take_plain_arguments(context, listed)
        case _:
            arguments = take_plain_arguments(context, node)
            if len(arguments) != 2:
                message = f"std::{name} takes two values, or some of one type in braces"
                raise context.error(node, message)
    values = [settle(evaluate_scalar(context, each)) for each in arguments]
    if node.template_arguments:
        target = context.unit.resolve_type(node.template_arguments[0], context.scope).type
        values = [settle(cast_value(context, each, target, node)) for each in values]
    found = values[0]
    for each in values[1:]:
        found = _choose(context, name, found, each, node)
    return found


def _choose(context: Context, name: str, a: Value, b: Value, node: tree.Node) -> Value:
    """The smaller or the larger one of two values."""
    if a.type != b.type or not isinstance(a.type, (IntType, FloatType)):
        message = (
            f"std::{name} takes two values of one type, not '{a.type.name}' and '{b.type.name}'"
            if a.type != b.type
            else f"std::{name} takes numbers here, not values of '{a.type.name}'; compare them by <"
        )
        raise context.error(node, message)
    if isinstance(a.type, EnumType):
        return _choose_enumerator(context, name, a, b, node)
    choose = min if name == "min" else max
    if a.constant is not None and b.constant is not None and isinstance(a.type, IntType):
        return make_integer(choose(int(a.constant), int(b.constant)), a.type)
    called = code.call(f"_{name}", a.node, b.node)
    return Value(a.type, called, choose(a.low, b.low), choose(a.high, b.high))


def _choose_enumerator(context: Context, name: str, a: Value, b: Value, node: tree.Node) -> Value:
    """The same for enumerators, which may have a `<` of their own."""
    held = [context.unit.create_name("enumerator", "t") for _ in "ab"]
    setup = [code.walrus(*each) for each in zip(held, (a.node, b.node), strict=True)]
    kept = (replace(x, node=code.name(y)) for x, y in zip((a, b), held, strict=True))
    first, second = (cast("tree.Expression", Evaluated(x, position=node.position)) for x in kept)
    operands = (first, second) if name == "max" else (second, first)
    is_less = tree.BinaryOperation("<", *operands, position=node.position)
    chosen = context.evaluate(tree.Conditional(is_less, second, first, position=node.position))
    return replace(chosen, node=code.last_of(*setup, chosen.node))


def _loses(given: CType, number: IntType | FloatType) -> bool:
    """Whether a parameter of a type changes the values of another one.

    Signed integers of the same size pass as they are; the calls know them as such.
    """
    match given, number:
        case IntType(bits=bits), IntType(bits=most):
            return bits > most
        case (IntType(), FloatType()) | (FloatType(), IntType()):
            return True
        case FloatType(bits=bits), FloatType(bits=most):
            return bits > most
        case _:
            return False


# --- Printing -------------------------------------------------------------------------------------
# What `DPRINT` and `DEVICE_PRINT` print.

_WIDEST = 255
"""What SETW takes at most: it keeps the width in a `char`."""

_MOST_WORDS = 256
"""How many words U32_ARRAY shows."""

_DPRINT = "DPRINT"
_DEVICE_PRINT = "DEVICE_PRINT"
_ONLY_ON = {
    "UNPACK": Role.UNPACK,
    "MATH": Role.MATH,
    "PACK": Role.PACK,
    "DATA0": Role.BRISC,
    "DATA1": Role.NCRISC,
}
"""Processors by what follows `DEVICE_PRINT_`."""

_BASES = {"HEX": 16, "DEC": 10, "OCT": 8}
_TILES = ("TileSlice", "TSLICE")
_PLACEHOLDER = re.compile(
    r"\{\{|\}\}|\{(?P<number>\d*)(?::(?P<align>(?:[^{}]?[<>^])?[+\- ]?#?0?)"
    r"(?P<width>\d*)(?:\.(?P<precision>\d+))?(?P<kind>[xXodfFgGeEbB]?))?\}|[{}]"
)
"""Braces, and places as in Python: a character to fill with, alignment, sign, `#`, `0`."""


@dataclass
class _Style:
    """How the next values are shown."""

    base: int = 10
    width: int = 0
    fixed: bool = False
    precision: int | None = None
    spec: str = ""
    """How Python formats a value, if it is aligned, or shown with a sign, a prefix or zeros."""


def find_printed(context: Context, node: tree.Expression) -> list[ast.expr] | None:
    """The values that `DPRINT << a << b` or `DEVICE_PRINT` prints; None if it is neither."""
    if isinstance(node, tree.FunctionCall) and isinstance(node.callee, tree.Name):
        return _find_formatted(context, node, node.callee.text)
    parts = list[tree.Expression]()
    while isinstance(node, tree.BinaryOperation) and node.operator == "<<":
        parts.append(node.right)
        node = node.left
    if not isinstance(node, tree.Name) or node.text != _DPRINT:
        return None
    style = _Style()
    return [shown for each in reversed(parts) for shown in _show(context, each, style)]


def _show(context: Context, node: tree.Expression, style: _Style) -> Iterator[ast.expr]:
    """What an operand of `<<` prints; it may only change how the others are shown."""
    if not isinstance(node, tree.FunctionCall) or not isinstance(node.callee, tree.Name):
        yield _show_value(context, evaluate_scalar(context, node), style, node)
        return
    name = strip_namespaces(node.callee.text)
    match name:
        case "HEX" | "DEC" | "OCT":
            style.base = _BASES[name]
        case "ENDL":
            yield code.constant("\n")
        case "SETW":
            style.width = _evaluate_width(context, node, name)
        case "SETPRECISION":
            style.precision = _evaluate_width(context, node, name)
        case "FIXED" | "DEFAULTFLOAT":
            style.fixed = name == "FIXED"
        case "U32_ARRAY":
            yield from _show_words(context, node, style)
        case _ if name in _TILES:
            yield _show_tile(context, node, name)
        case _:
            yield _show_value(context, _evaluate_wrapped(context, node, name), style, node)


def _evaluate_wrapped(context: Context, node: tree.FunctionCall, name: str) -> Value:
    """`F32(x)`, `U32(x)` or `BF16(bits)`, or any other call."""
    if name not in ("F32", "U32", "BF16"):
        return evaluate_scalar(context, node)
    arguments = take_plain_arguments(context, node)
    if len(arguments) != 1:
        raise context.error(node, f"{name} takes one number")
    value = settle(evaluate_scalar(context, arguments[0]))
    if name == "F32":
        return cast_value(context, value, FLOAT, node)
    if not isinstance(value.type, IntType):
        raise context.error(node, f"{name} takes an integer, not '{value.type.name}'")
    bits = convert_to_unsigned(value, 16 if name == "BF16" else 32)
    if name == "U32":
        return bits
    word = Value(convert_to_unsigned(bits, 32).type, _shift(bits.node), 0, 0xFFFF_0000)
    shown = reinterpret_bits(word, FLOAT)
    assert shown is not None, "32 bits are those of a float"
    return shown


def _shift(node: ast.expr) -> ast.expr:
    return code.binary("<<", node, code.constant(16))


def _show_words(context: Context, node: tree.FunctionCall, style: _Style) -> Iterator[ast.expr]:
    """`U32_ARRAY(pointer, count)`: words of memory."""
    arguments = take_plain_arguments(context, node)
    if len(arguments) != 2:
        raise context.error(node, "U32_ARRAY takes a pointer and a number")
    count = evaluate_constant(context, arguments[1], "the number of words")
    if not 0 <= count <= _MOST_WORDS:
        raise context.error(node, f"U32_ARRAY of {count} words; it shows up to {_MOST_WORDS}")
    for number in range(count):
        index = tree.Integer(str(number), position=node.position)
        element = tree.Index(arguments[0], index, position=node.position)
        yield _show_value(context, evaluate_scalar(context, element), style, node)
        yield code.constant(" ")


def _show_tile(context: Context, node: tree.FunctionCall, name: str) -> ast.expr:
    found = context.unit.library.find_call(name)
    assert found is not None, "the table has it"
    return build_library_call(context, node, found, evaluate_arguments(context, node, name))


def _evaluate_width(context: Context, node: tree.FunctionCall, name: str) -> int:
    arguments = take_plain_arguments(context, node)
    if len(arguments) != 1:
        raise context.error(node, f"{name} takes one number")
    width = evaluate_constant(context, arguments[0], "a width")
    if not 0 <= width <= _WIDEST:
        raise context.error(node, f"a width of {width}; {name} takes 0 to {_WIDEST}")
    return width


def _show_formatted(context: Context, value: Value, spec: str, node: tree.Node) -> ast.expr:
    """A number as Python formats it."""
    is_float = isinstance(value.type, FloatType)
    if spec[-1:] in ("xXodb" if is_float else "fFgGeE"):
        raise context.error(node, f"'{spec[-1]}' does not show '{value.type.name}'")
    if "#" in spec and spec.endswith("o"):
        raise context.error(node, "octal numbers are shown without '#'")
    return code.call("_formatted", value.node, code.constant(spec))


def _show_value(context: Context, given: Value, style: _Style, node: tree.Node) -> ast.expr:
    value = settle(given)
    base, width, style.width = style.base, style.width, 0
    match value.type:
        case type_ if is_scoped(type_):
            raise context.error(node, f"DPRINT does not print '{type_.name}'; cast it to a number")
        case IntType() if value.type == CHAR:
            return code.call("_character", value.node)
        case IntType() | FloatType() if style.spec:
            return _show_formatted(context, value, style.spec, node)
        case IntType() if base != 10 or width:
            number = convert_to_unsigned(value, max(value.type.bits, 8)) if base != 10 else value
            return code.call("_printed", number.node, code.constant(base), code.constant(width))
        case IntType() if value.type == BOOL:
            return (
                convert(value, INT).node
                if value.constant is None
                else code.constant(int(value.constant))
            )
        case FloatType() if style.fixed or style.precision is not None:
            precision = 6 if style.precision is None else style.precision
            options = (code.constant(style.fixed), code.constant(precision))
            return code.call("_printed_float", value.node, *options)
        case IntType() | FloatType() | StringType():
            return value.node
        case PointerType() if value.space is not Space.LOCAL:
            return take_memory_address(context, value)
        case type_:
            raise context.error(node, f"DPRINT does not print '{type_.name}'")


# DEVICE_PRINT.


def _find_formatted(context: Context, node: tree.FunctionCall, name: str) -> list[ast.expr] | None:
    """The values that `DEVICE_PRINT("text {}", value)` prints; none on another processor."""
    if name == _DPRINT:
        name = _DEVICE_PRINT  # since 0.81
    if not name.startswith(_DEVICE_PRINT):
        return None
    where = name.removeprefix(_DEVICE_PRINT).removeprefix("_")
    if where and where not in _ONLY_ON:
        return None
    arguments = take_plain_arguments(context, node)
    match arguments[:1]:
        case [tree.String(text=text)]:
            shown = list(_format(context, node, text, arguments[1:]))
        case _:
            raise context.error(node, f"{name} takes a text in quotes, then the values in it")
    return shown if not where or _ONLY_ON[where] == context.unit.library.role else []


def _format(
    context: Context, node: tree.FunctionCall, text: str, values: Sequence[tree.Expression]
) -> Iterator[ast.expr]:
    """The pieces of a text and the values of its placeholders."""
    used = set[int]()
    numbered = set[bool]()
    end = 0
    for found in _PLACEHOLDER.finditer(text):
        if found.start() > end:
            yield code.constant(text[end : found.start()])
        end = found.end()
        if found[0] in ("{{", "}}"):
            yield code.constant(found[0][0])
            continue
        if found[0] in ("{", "}"):
            message = "write {} or {n} for a value, with :x, :o, :d, :f or a width, {{ for a brace"
            raise context.error(node, f"'{found[0]}' in the text stands alone; {message}")
        numbered.add(bool(found["number"]))
        number = int(found["number"]) if found["number"] else len(used)
        used.add(number)
        if number < len(values):
            yield from _show(context, values[number], _style_of(found))
    if text[end:]:
        yield code.constant(text[end:])
    if len(numbered) > 1:
        raise context.error(node, "{} and {n} are not mixed in one text")
    if used != set(range(len(values))):
        message = f"the text has room for {plural(len(used), 'value')}, and there are {len(values)}"
        raise context.error(node, message)


def _style_of(found: re.Match[str]) -> _Style:
    align, kind = found["align"] or "", found["kind"] or ""
    width = min(int(found["width"] or 0), _WIDEST)
    precision = min(int(found["precision"]), _WIDEST) if found["precision"] else None
    if align or kind in ("X", "b", "B", "e", "E", "F", "g", "G"):
        shown = "" if precision is None else f".{precision}"
        kind = "b" if kind == "B" else kind
        return _Style(spec=f"{align}{width or ''}{shown}{kind or ('g' if shown else '')}")
    return _Style(
        base={"x": 16, "o": 8}.get(kind, 10), width=width, fixed=kind == "f", precision=precision
    )
