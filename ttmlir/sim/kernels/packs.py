"""Parameter packs: what is written once and meant for each element."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar, cast

from ttmlir.cpp import tree
from ttmlir.cpp.types import is_built_in_type
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.limits import MAX_PACK
from ttmlir.sim.kernels.scope import InScope, Pack, Scope

NodeT = TypeVar("NodeT", bound=tree.Node)


def find_packs(context: Context, pattern: tree.Node) -> dict[str, Pack]:
    """The packs that a pattern names, but for those that it expands itself."""
    known = context.unit.pattern_names.get(id(pattern))
    if known is None or known[0] is not pattern:
        known = pattern, tuple(dict.fromkeys(_list_names(pattern)))
        context.unit.pattern_names[id(pattern)] = known
    found = dict[str, Pack]()
    for name in known[1]:
        symbol = find_pack(context.scope, name)
        if symbol is not None:
            found[name] = symbol
    return found


def _list_names(pattern: tree.Node) -> Iterator[str]:
    """The names in a pattern that may be those of packs which it does not expand itself."""
    inner = set[int]()
    for each in tree.walk(pattern):
        match each:
            case tree.Expansion() | tree.Fold():
                inner.update(id(one) for one in tree.walk(each))
            case tree.Name(text=text) | tree.NamedType(name=text) if id(each) not in inner:
                yield text.partition("::")[0]
            case _:
                pass


def find_pack(scope: Scope, name: str) -> Pack | None:
    """The pack of a name, also where an expansion around has the name stand for an element."""
    symbol = scope.find(name)
    if not isinstance(symbol, Pack):
        symbol = scope.find(_whole(name))
    return symbol if isinstance(symbol, Pack) else None


def _whole(name: str) -> str:
    """What a pack is called where its name stands for one of its elements."""
    return f"{name}..."


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
            scope.symbols[_whole(name)] = pack
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
    match node:
        case tree.ArrayOf(tree.NamedType(name) as element, tree.Node() as size) if (
            not is_built_in_type(name)
        ):
            return tree.Index(read_as_value(element), size, position=node.position)
        case tree.NamedType(name, arguments, _, scope):
            return tree.Name(name, arguments, scope, position=node.position)
        case _:
            return cast("tree.Expression", node)
