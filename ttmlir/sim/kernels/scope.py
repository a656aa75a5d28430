"""What names mean where, and which names a piece of source changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias, cast

from ttmlir.cpp import tree
from ttmlir.cpp.types import IncompleteType, QualifiedType, StructType
from ttmlir.sim.kernels.place import Place
from ttmlir.sim.kernels.value import Value


@dataclass(frozen=True)
class Variable:
    """A variable: where it is, or, of a constant, what it is."""

    name: str
    meaning: Place | Value
    is_global: bool = False
    elements: tuple[Value, ...] | None = None
    """Those of an array of constants."""
    is_reference: bool = False
    """Whether it is another name of something that changes under its own name."""


@dataclass(frozen=True)
class Functions:
    """The functions of one name."""

    name: str
    definitions: tuple[tree.Function, ...]
    scope: Scope
    """The namespace that they stand in."""


@dataclass(frozen=True)
class StructDefinition:
    """A struct with the initial values of its members."""

    type: StructType | IncompleteType
    defaults: Mapping[str, tree.Expression | tree.Braces] = field(
        default_factory=dict[str, "tree.Expression | tree.Braces"]
    )


@dataclass(frozen=True)
class Alias:
    """Another name of a type."""

    type: QualifiedType


Symbol: TypeAlias = Variable | Functions | StructDefinition | Alias


class Scope:
    """Names in a block; those of the blocks around it are seen through it."""

    def __init__(self, outer: Scope | None = None) -> None:
        """An empty scope in another one."""
        self.outer = outer
        self.symbols = dict[str, Symbol]()

    def find(self, name: str) -> Symbol | None:
        """What an unqualified name means here."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.symbols:
                return scope.symbols[name]
            scope = scope.outer
        return None

    def visible(self) -> Iterator[str]:
        """All names that can be used here."""
        scope: Scope | None = self
        while scope is not None:
            yield from scope.symbols
            scope = scope.outer


class Identifiers:
    """Names of Python's variables: each belongs to one variable of C++."""

    def __init__(self) -> None:
        """Nothing is given out yet."""
        self._taken = set[str]()
        self._numbers = dict[str, int]()

    def create_name(self, base: str) -> str:
        """A new identifier that begins with a text."""
        candidate, number = base, self._numbers.get(base, 1)
        while candidate in self._taken:
            number += 1
            candidate = f"{base}_{number}"
        self._numbers[base] = number
        self._taken.add(candidate)
        return candidate


@cache
def _names_of_fields(node: type[tree.Node]) -> tuple[str, ...]:
    """Those of a node, the last one first."""
    return tuple(each.name for each in reversed(dataclasses.fields(node)))


def walk(node: object) -> Iterator[tree.Node]:
    """All nodes of a tree, outer ones first."""
    pending = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, tuple):
            pending.extend(reversed(cast("tuple[object, ...]", each)))
        elif isinstance(each, tree.Node):
            yield each
            pending.extend(getattr(each, name) for name in _names_of_fields(type(each)))


def root_name(node: tree.Expression | tree.Braces | None) -> str | None:
    """The variable that a place is a part of: `a` of `a.b[1]`."""
    while isinstance(node, (tree.Index, tree.Member)):
        node = node.base
    return node.text if isinstance(node, tree.Name) else None


def find_changed_names(node: object, references: Mapping[str, frozenset[int]]) -> frozenset[str]:
    """The names of variables that a piece of source may change.

    `references` says of functions which of their parameters are references.
    """
    return frozenset(name for each in walk(node) for name in _changes(each, references))


def _changes(node: tree.Node, references: Mapping[str, frozenset[int]]) -> Iterator[str]:
    match node:
        case tree.Assign(target=place) | tree.Update(operand=place):
            yield from _known(root_name(place))
        case _:
            yield from shared_by(node, references)


def find_shared_names(node: object, references: Mapping[str, frozenset[int]]) -> frozenset[str]:
    """The names of variables whose address or reference is taken."""
    return frozenset(name for each in walk(node) for name in shared_by(each, references))


def shared_by(node: tree.Node, references: Mapping[str, frozenset[int]]) -> Iterator[str]:
    """The variables that a node takes the address or a reference of."""
    match node:
        case tree.Unary(operator="&", operand=place):
            yield from _known(root_name(place))
        case tree.FunctionCall(callee=tree.Name(text=name), arguments=arguments):
            taken = references.get(name.rpartition("::")[2], frozenset())
            for number in sorted(taken):
                if number < len(arguments):
                    yield from _known(root_name(arguments[number]))
        case tree.Declaration(type=tree.Reference(), declarators=declarators):
            for each in declarators:
                yield from _known(root_name(each.value))
        case _:
            return


def _known(name: str | None) -> Iterator[str]:
    if name is not None:
        yield name
