"""Names that mean values."""

from __future__ import annotations

from ttmlir.cpp import tree
from ttmlir.cpp.types import UINT8, UNSIGNED, IntType
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.enumerators import find_constant, list_enumerators
from ttmlir.sim.kernels.expressions.build_facts import find_built_constant
from ttmlir.sim.kernels.expressions.own_calls import make_function_value
from ttmlir.sim.kernels.expressions.places import find_own_member, find_symbol, read_place
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import FieldName, Functions, Pack, Variable
from ttmlir.sim.kernels.spelling import list_alike
from ttmlir.sim.kernels.value import Value, make_integer, make_value


def evaluate_name(context: Context, node: tree.Name) -> Value:
    """The value that a name means."""
    symbol = find_symbol(context, node)
    if isinstance(symbol, Variable):
        meaning = symbol.meaning
        return meaning if isinstance(meaning, Value) else read_place(context, meaning)
    if isinstance(symbol, FieldName):
        return read_place(context, find_own_member(context, symbol, node))
    if isinstance(symbol, Functions):
        return make_function_value(context, symbol, node.template_arguments)
    if isinstance(symbol, Pack):
        raise context.error(node, f"'{node.text}' is a parameter pack; expand it with '...'")
    if symbol is not None:
        raise context.error(node, f"'{node.text}' is no variable")
    built = find_built_constant(context, node.text)
    if built is not None:
        return built
    known = find_constant(node.text)
    if known is not None:
        number, type_ = known
        assert isinstance(type_, IntType)
        return make_integer(number, type_)
    return _evaluate_library_name(context, node)


def _evaluate_library_name(context: Context, node: tree.Name) -> Value:
    bare = node.text.removeprefix("::")
    if context.unit.library.is_variable(bare):
        return make_value(UINT8, code.name(context.unit.bind(bare)))
    constant = context.unit.library.find_constant(bare)
    if constant is not None:
        return make_integer(constant, UNSIGNED)
    raise context.unit.unknown_name(node, node.text, _describe_unknown(context, node.text))


def _describe_unknown(context: Context, name: str) -> str:
    siblings = list_enumerators(name)
    if siblings:
        listed = ", ".join(siblings[:16])
        return f"there is no '{name}'; there are {listed}{' ...' if siblings[16:] else ''}"
    own, library = sorted(set(context.scope.visible())), sorted(set(context.unit.list_names()))
    near = list_alike(name, own) or list_alike(name, library)
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    return f"'{name}' is not declared{hint}"
