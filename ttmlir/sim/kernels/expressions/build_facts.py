"""What the build of a kernel knows, as values: formats of circular buffers, settings, arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ttmlir.cpp import tree
from ttmlir.cpp.types import BOOL, INT, UNSIGNED, IntType
from ttmlir.sim.kernels.build import CircularBufferFacts
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.enumerators import ENUM_TYPES, strip_namespaces
from ttmlir.sim.kernels.expressions.evaluating import evaluate_constant
from ttmlir.sim.kernels.expressions.library_calls import call_library, find_compile_time_argument
from ttmlir.sim.kernels.value import Value, make_integer

_TYPES: Mapping[str, IntType] = {
    "DST_ACCUM_MODE": BOOL,
    "APPROX": BOOL,
    "MATH_FIDELITY": INT,
}
"""Of the constants of the build that are no `uint32_t`."""

_TILE_HW = 1024


def find_built_constant(context: Context, name: str) -> Value | None:
    """A number that the build gives a name; None if it does not."""
    bare = strip_namespaces(name)
    number = context.unit.build.find_constant(bare)
    return None if number is None else make_integer(number, _TYPES.get(bare, UNSIGNED))


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
    """`get_tile_hw(cb)`: tiles have 32 rows of 32 numbers."""
    if len(node.arguments) != 1:
        raise context.error(node, "get_tile_hw takes the number of a circular buffer")
    context.evaluate(node.arguments[0])
    return make_integer(_TILE_HW, UNSIGNED)


def _find_circular_buffer(context: Context, node: tree.FunctionCall) -> CircularBufferFacts | None:
    """What the build knows of the circular buffer that a call names by a constant."""
    if len(node.arguments) != 1 or not context.unit.build.circular_buffers:
        return None
    number = context.evaluate(node.arguments[0]).constant
    return None if number is None else context.unit.build.find_circular_buffer(int(number))


def _evaluate_template_argument(context: Context, node: tree.FunctionCall) -> Value:
    """`get_ct_arg<n>()`, a constant."""
    if len(node.template_arguments) != 1 or node.arguments:
        raise context.error(node, "get_ct_arg takes one number in '<' and '>'")
    (written,) = node.template_arguments
    if isinstance(written, (tree.NamedType, tree.Pointer, tree.Reference)):
        raise context.error(node, "get_ct_arg takes a number in '<' and '>', not a type")
    what = "the number of a compile-time argument"
    return find_compile_time_argument(context, node, evaluate_constant(context, written, what))


BUILT: Mapping[str, Callable[[Context, tree.FunctionCall], Value]] = {
    "get_tile_size": _evaluate_tile_size,
    "get_dataformat": _evaluate_data_format,
    "get_tile_hw": _evaluate_tile_hw,
    "get_ct_arg": _evaluate_template_argument,
}
"""Calls whose values the build knows."""
