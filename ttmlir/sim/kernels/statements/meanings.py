"""Statements that say what names mean."""

from __future__ import annotations

from ttmlir.cpp import tree
from ttmlir.cpp.types import INT, EnumType, IntType, QualifiedType
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.evaluating import (
    evaluate_condition,
    evaluate_constant,
    fold_constant,
    is_fixed_by_host,
)
from ttmlir.sim.kernels.scope import Alias, AliasTemplate, NamespaceName, Scope, Symbol, Variable
from ttmlir.sim.kernels.value import make_integer


def declare_alias(context: Context, node: tree.Alias) -> None:
    """Compile `using name = type;`."""
    if node.template_parameters:
        _bind_new_name(context, node, node.name, AliasTemplate(node, context.scope))
        return
    _bind_new_name(
        context, node, node.name, Alias(context.unit.resolve_type(node.type, context.scope))
    )


def use_name(context: Context, node: tree.UsingName) -> None:
    """Compile `using tt::CBIndex;`."""
    last = node.name.rpartition("::")[2]
    symbol = context.unit.find(node.name, context.scope)
    if symbol is not None:
        context.scope.symbols[last] = symbol
    elif not context.unit.is_of_library(node.name, context.scope):
        raise context.unit.unknown_name(node, node.name, f"there is no '{node.name}'")


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
    inner = Scope(context.scope)
    outer, context.scope = context.scope, inner
    number = -1
    for each in node.enumerators:
        known = (
            None if each.value is None else evaluate_constant(context, each.value, "an enumerator")
        )
        number = number + 1 if known is None else known
        if not base.low <= number <= base.high:
            message = f"{number} is no value of '{base.name}', which '{node.name}' is made of"
            raise context.error(each, message)
        _bind_new_name(context, each, each.name, Variable(each.name, make_integer(number, type_)))
    context.scope = outer
    context.unit.namespaces[node.name] = inner
    if not node.is_scoped:
        for name, symbol in inner.symbols.items():
            context.scope.symbols[name] = symbol


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
