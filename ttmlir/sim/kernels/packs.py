"""Parameter packs: what is written once and meant for each element."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar, cast

from ttmlir.cpp import tree
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.limits import MAX_PACK
from ttmlir.sim.kernels.scope import InScope, Pack, Scope

NodeT = TypeVar("NodeT", bound=tree.Node)


def find_packs(context: Context, pattern: tree.Node) -> dict[str, Pack]:
    """The packs that a pattern names."""
    found = dict[str, Pack]()
    for each in tree.walk(pattern):
        match each:
            case tree.Name(text=text) | tree.NamedType(name=text):
                first = text.partition("::")[0]
                symbol = context.scope.find(first)
                if isinstance(symbol, Pack):
                    found[first] = symbol
            case _:
                pass
    return found


def expand_all(context: Context, nodes: Sequence[NodeT]) -> tuple[NodeT, ...]:
    """Arguments, elements or types with each expansion written out."""
    if not any(isinstance(each, tree.Expansion) for each in nodes):
        return tuple(nodes)
    return tuple(one for each in nodes for one in _expand(context, each))


def _expand(context: Context, node: NodeT) -> Iterator[NodeT]:
    if not isinstance(node, tree.Expansion):
        yield node
        return
    for each in expand_pattern(context, node.pattern, node):
        yield cast("NodeT", each)


def expand_pattern(context: Context, pattern: tree.Node, node: tree.Node) -> Iterator[InScope]:
    """A pattern once for each element of its packs."""
    packs = find_packs(context, pattern)
    counts = {len(each.symbols) for each in packs.values()}
    if len(counts) != 1:
        problem = "packs of different lengths" if counts else "no parameter pack"
        raise context.error(node, f"what stands before '...' names {problem}")
    count = counts.pop()
    if count > MAX_PACK:
        raise context.error(node, f"a pack of {count} elements; at most {MAX_PACK} are supported")
    for number in range(count):
        context.unit.spend(node)
        scope = Scope(context.scope)
        for name, pack in packs.items():
            scope.symbols[name] = pack.symbols[number]
        inner = cast("tree.Expression", pattern)
        yield InScope(inner, scope, position=node.position)


def expand_elements(
    context: Context, elements: Sequence[tree.Initializer]
) -> tuple[tree.Initializer, ...]:
    """The elements of braces with each expansion written out."""
    if not any(isinstance(each.value, tree.Expansion) for each in elements):
        return tuple(elements)
    return tuple(
        tree.Initializer(cast("tree.Expression", one), each.member, position=each.position)
        for each in elements
        for one in _expand(context, each.value)
    )


def read_as_value(node: tree.TemplateArgument) -> tree.Expression:
    """A template argument as an expression, which may read as a type."""
    if isinstance(node, tree.NamedType):
        return tree.Name(node.name, node.template_arguments, node.scope, position=node.position)
    return cast("tree.Expression", node)
