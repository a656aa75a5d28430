"""What the build of a kernel knows, as values: formats of circular buffers, settings, arguments."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ttmlir.cpp import tree
from ttmlir.cpp.types import BOOL, INT, UINT8, UNSIGNED, IntType, ObjectType, StructType
from ttmlir.sim.kernels.build import CircularBufferFacts, ScratchpadNames, TensorNames
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.accessor_types import SPEC_FACTS, find_accessor_flag
from ttmlir.sim.kernels.expressions.library_calls import (
    call_library,
    evaluate_compile_time_argument,
    evaluate_template_number,
    find_compile_time_argument,
    take_plain_arguments,
)
from ttmlir.sim.kernels.expressions.lvalues import look_at
from ttmlir.sim.kernels.library import ENUM_TYPES, strip_namespaces
from ttmlir.sim.kernels.value import Value, make_integer
from ttmlir.sim.machine.numerics import TILE_VOLUME

_TYPES: Mapping[str, IntType] = {
    "DST_ACCUM_MODE": BOOL,
    "APPROX": BOOL,
    "MATH_FIDELITY": INT,
    "noc_index": UINT8,
}
"""Of the constants of the build that are no `uint32_t`."""

_BINDING = re.compile(r"(?:dfb|sem)::\w+")
"""Names of circular buffers and semaphores."""
_ASSUMED_SCRATCHPAD = ScratchpadNames(address=0, size=1024)


def find_built_constant(context: Context, name: str) -> Value | None:
    """A number that the build gives a name; None if it does not."""
    bare = strip_namespaces(name)
    bound = context.unit.build.names.find_number(bare)
    if bound is not None:
        return make_integer(bound, UNSIGNED)
    assumed = context.unit.assumed
    if assumed is not None and _BINDING.fullmatch(bare):
        is_buffer = bare.startswith("dfb::")
        take = assumed.take_circular_buffer if is_buffer else assumed.take_named_number
        return make_integer(take(bare), UNSIGNED)
    token = _find_token(context, bare)
    if token is not None:
        return context.evaluate(token)
    fact = find_accessor_fact(context, name)
    if fact is not None:
        return fact
    number = context.unit.build.find_constant(bare)
    return None if number is None else make_integer(number, _TYPES.get(bare, UNSIGNED))


def _find_token(context: Context, name: str) -> tree.Expression | None:
    """What `scratch::name`, `tensor::name` or the name of several tensors stands for."""
    kind, _, last = name.partition("::")
    names, assumed = context.unit.build.names, context.unit.assumed
    at = context.unit.last.position if context.unit.last is not None else None
    if kind == "scratch":
        scratchpad = dict(names.scratchpads).get(last)
        if scratchpad is None and assumed is not None:
            assumed.names.add(name)
            scratchpad = _ASSUMED_SCRATCHPAD
        if scratchpad is None:
            return None
        numbers = (scratchpad.address, scratchpad.size)
        values = tuple(tree.Initializer(tree.Integer(str(each), position=at)) for each in numbers)
        return tree.Construct(tree.NamedType("ScratchpadBindingToken"), values, position=at)
    if kind != "tensor":
        return None
    tensors = dict(names.tensors)
    if last in tensors:
        where = tensors[last]
        numbers = (where.layout, where.address, where.common_layout)
        arguments = tuple(tree.Integer(str(each), position=at) for each in numbers)
        return tree.Construct(tree.NamedType(_TOKEN, arguments, position=at), (), position=at)
    listed = dict(names.tensor_lists).get(last)
    if listed is None:
        return None
    tokens = tuple(tree.Name(f"tensor::{each}", position=at) for each in listed)
    return tree.FunctionCall(tree.Name("std::make_tuple", position=at), tokens, position=at)


_TOKEN = "TensorBindingToken"


def _evaluate_tile_size(context: Context, node: tree.FunctionCall) -> Value:
    """`get_tile_size(cb)`, a constant where it has to be one."""
    facts = _find_circular_buffer(context, node)
    if facts is None:
        return call_library(context, node, "get_tile_size")
    return make_integer(facts.tile_size, UNSIGNED)


def _evaluate_data_format(context: Context, node: tree.FunctionCall) -> Value:
    """`get_dataformat(cb)`, a constant where it has to be one."""
    facts = _find_circular_buffer(context, node)
    if facts is None:
        return call_library(context, node, "get_dataformat")
    return make_integer(facts.data_format, ENUM_TYPES["DataFormat"])


def _evaluate_tile_hw(context: Context, node: tree.FunctionCall) -> Value:
    """`get_tile_hw(cb)`, likewise; of whole tiles where the build does not know them."""
    facts = _find_circular_buffer(context, node)
    if not context.unit.build.circular_buffers:
        return make_integer(TILE_VOLUME, UNSIGNED)
    if facts is None:
        return call_library(context, node, "get_tile_hw")
    return make_integer(facts.tile_volume, UNSIGNED)


def _find_circular_buffer(context: Context, node: tree.FunctionCall) -> CircularBufferFacts | None:
    """What the build knows of the circular buffer that a call names by a constant."""
    arguments = take_plain_arguments(context, node)
    if len(arguments) != 1 or not context.unit.build.circular_buffers:
        return None
    number = context.evaluate(arguments[0]).constant
    return None if number is None else context.unit.build.find_circular_buffer(int(number))


def _evaluate_template_argument(context: Context, node: tree.FunctionCall) -> Value:
    """`get_ct_arg<n>()`, a constant."""
    if len(node.template_arguments) != 1 or node.arguments:
        raise context.error(node, "get_ct_arg takes one number in '<' and '>'")
    (written,) = node.template_arguments
    number = evaluate_template_number(context, written, "the number of a compile-time argument")
    return find_compile_time_argument(context, node, number)


def _evaluate_further_constant(context: Context, node: tree.FunctionCall) -> Value:
    """`get_compile_time_vararg<i>()`, or with the number in parentheses."""
    if not node.template_arguments:
        return evaluate_compile_time_argument(context, node)
    return _evaluate_template_argument(context, node)


def _evaluate_named_argument(context: Context, node: tree.FunctionCall) -> Value:
    """`get_arg(args::name)`: an argument by the name that the host program gives it."""
    match node.arguments:
        case (tree.Name(text=text),) if text.startswith("args::"):
            name = text.removeprefix("args::")
        case _:
            raise context.error(node, "get_arg takes a name of the host program: args::name")
    names = context.unit.build.names
    constants = dict(names.constants)
    if name in constants:
        return make_integer(constants[name], UNSIGNED)
    for call, listed in (
        ("get_arg_val", names.arguments),
        ("get_common_arg_val", names.common_arguments),
    ):
        if name in listed:
            return _call_with_number(context, node, call, listed.index(name))
    if context.unit.assumed is not None:
        return make_integer(context.unit.assumed.take_named_number(f"args::{name}"), UNSIGNED)
    known = (*names.arguments, *names.common_arguments, *constants)
    there = ", ".join(f"args::{each}" for each in known) or "none"
    near = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean 'args::{near[0]}'?" if near else ""
    raise context.error(
        node, f"the host program names no argument '{name}'; there are {there}{hint}"
    )


def _evaluate_further_argument(context: Context, node: tree.FunctionCall) -> Value:
    """`get_vararg(i)`: a run-time argument after those that have names."""
    return _shift_number(context, node, "get_arg_val", context.unit.build.names.arguments)


def _evaluate_further_common_argument(context: Context, node: tree.FunctionCall) -> Value:
    """`get_common_vararg(i)`: likewise one that all cores have in common."""
    names = context.unit.build.names.common_arguments
    return _shift_number(context, node, "get_common_arg_val", names)


def _shift_number(
    context: Context, node: tree.FunctionCall, call: str, named: Sequence[str]
) -> Value:
    arguments = take_plain_arguments(context, node)
    if len(arguments) != 1:
        raise context.error(node, "this call takes the number of an argument")
    first = tree.Integer(str(len(named)), position=node.position)
    number = tree.BinaryOperation("+", arguments[0], first, position=node.position)
    return _call_argument(context, node, call, number)


def _call_with_number(context: Context, node: tree.FunctionCall, call: str, number: int) -> Value:
    return _call_argument(context, node, call, tree.Integer(str(number), position=node.position))


def _call_argument(
    context: Context, node: tree.FunctionCall, call: str, number: tree.Expression
) -> Value:
    word = tree.NamedType("uint32_t", position=node.position)
    callee = tree.Name(call, position=node.position)
    called = tree.FunctionCall(callee, (number,), (word,), position=node.position)
    return context.evaluate(called)


def _evaluate_accessor(context: Context, node: tree.FunctionCall) -> Value:
    """`TensorAccessor(tensor::name)`, and those of arguments, address and page size."""
    match node.arguments:
        case (tree.Name(text=text),) if text.startswith("tensor::"):
            tensors = dict(context.unit.build.names.tensors)
            name = text.removeprefix("tensor::")
        case _:
            where = _find_tensor(context, node)
            if where is None:
                return _type_accessor(context, node)
            return _make_accessor(context, node, where)
    if name not in tensors and context.unit.assumed is not None:
        # Behind all that is given, where layouts are assumed.
        where = TensorNames(layout=len(context.unit.compile_time_args), address=0)
        context.unit.assumed.names.add(f"tensor::{name}")
    elif name not in tensors:
        there = ", ".join(f"tensor::{each}" for each in tensors) or "none"
        raise context.error(node, f"the host program names no tensor '{name}'; there are {there}")
    else:
        where = tensors[name]
    return _make_accessor(context, node, where)


def _find_tensor(context: Context, node: tree.FunctionCall) -> TensorNames | None:
    """The tensor whose token is the only argument of a call."""
    arguments = take_plain_arguments(context, node)
    type_ = look_at(context, arguments[0]).type if len(arguments) == 1 else None
    if not isinstance(type_, StructType) or not type_.name.startswith(f"{_TOKEN}<"):
        return None
    layout, address, common = map(int, re.findall(r"\d+", type_.name))
    return TensorNames(layout=layout, address=address, common_layout=common)


def _make_accessor(context: Context, node: tree.FunctionCall, where: TensorNames) -> Value:
    """The accessor of a tensor with a name."""
    at = node.position
    layout = tree.FunctionCall(
        tree.Name("TensorAccessorArgs", position=at),
        (),
        tuple(tree.Integer(str(each), position=at) for each in (where.layout, where.common_layout)),
        position=at,
    )
    address = tree.FunctionCall(
        tree.Name("get_common_arg_val", position=at),
        (tree.Integer(str(where.address), position=at),),
        (tree.NamedType("uint32_t", position=at),),
        position=at,
    )
    return _type_accessor(context, tree.FunctionCall(node.callee, (layout, address), position=at))


def _type_accessor(context: Context, node: tree.FunctionCall) -> Value:
    """An accessor, whose type says which layout it has, where the arguments' type says it."""
    made = call_library(context, node, "TensorAccessor")
    arguments = take_plain_arguments(context, node)
    given = look_at(context, arguments[0]).type if arguments else None
    if not isinstance(given, ObjectType) or not isinstance(made.type, ObjectType):
        return made
    return replace(made, type=ObjectType(made.type.name, given.arguments))


def find_accessor_fact(context: Context, name: str) -> Value | None:
    """`T::DSpec::is_interleaved` and the like of an accessor's type; None for other names."""
    holder, _, member = name.rpartition("::DSpec::")
    is_fact = bool(holder) and member in SPEC_FACTS
    found = context.unit.find_type(holder, context.scope) if is_fact else None
    if found is None or not isinstance(found.type, ObjectType):
        return None
    known = find_accessor_flag(context, found.type, member)
    return None if known is None else make_integer(int(known), BOOL)


BUILT: Mapping[str, Callable[[Context, tree.FunctionCall], Value]] = {
    "get_tile_size": _evaluate_tile_size,
    "get_dataformat": _evaluate_data_format,
    "get_tile_hw": _evaluate_tile_hw,
    "get_ct_arg": _evaluate_template_argument,
    "get_compile_time_vararg": _evaluate_further_constant,
    "get_arg": _evaluate_named_argument,
    "get_vararg": _evaluate_further_argument,
    "get_common_vararg": _evaluate_further_common_argument,
    "TensorAccessor": _evaluate_accessor,
}
"""Calls whose values the build knows."""
