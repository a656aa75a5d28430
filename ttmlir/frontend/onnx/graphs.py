"""Graphs of ONNX, and calls of operators that have graphs as attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ttmlir.frontend.body import BodyBuilder
from ttmlir.frontend.onnx.bounded import fill
from ttmlir.frontend.onnx.call import Call
from ttmlir.frontend.onnx.elements import Bounded, Tensor, Value


class Walker(Protocol):
    """What reads the nodes of graphs."""

    def walk_body(
        self,
        body: Body,
        arguments: Sequence[Value],
        build: BodyBuilder,
        path: str,
        around: Mapping[str, Value],
    ) -> list[Value]:
        """The results of a graph that a node has."""
        ...


@dataclass
class Scope:
    """What the names in a graph stand for."""

    values: MutableMapping[str, Value]
    opsets: Mapping[str, int]
    path: str = ""
    """Of the nodes around the graph, with a slash at its end."""
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Those of the call of a function, which its nodes refer to."""
    depth: int = 0


@dataclass(frozen=True)
class Body:
    """A graph that is an attribute of a node, with what the names around it stand for."""

    graph: Any
    scope: Scope

    @property
    def inputs(self) -> list[str]:
        """The names of what it takes."""
        return [each.name for each in self.graph.input]

    @property
    def size(self) -> int:
        """How many nodes it has, those of graphs inside included."""
        return sum(1 for _ in nodes_in(self.graph.node))

    def around(self) -> dict[str, Value]:
        """What it takes from around it, by name."""
        names = [name for node in self.graph.node for name in names_in(node)]
        names += [each.name for each in self.graph.output]
        values = self.scope.values
        return {name: values[name] for name in dict.fromkeys(names) if name in values}


@dataclass
class GraphCall(Call):
    """An operator with graphs as attributes."""

    walker: Walker
    path: str

    def walk(
        self,
        body: Body,
        arguments: Sequence[Value],
        build: BodyBuilder | None = None,
        around: Mapping[str, Value] | None = None,
    ) -> list[Value]:
        """The results of a graph for arguments, whose operations are added to a body.

        `around` are values of names around the graph, where they are others in that body.
        """
        build = build or self.build
        outer = build.location
        found = self.walker.walk_body(body, arguments, build, f"{self.path}/", around or {})
        build.location = outer
        return found

    def graph(self, name: str) -> Body:
        """An attribute that is a graph."""
        body = self.required(name)
        if not isinstance(body, Body):
            self.refuse(f"the attribute '{name}' has to be a graph")
        return body


def nodes_in(nodes: Iterable[Any]) -> Iterator[Any]:
    """Nodes, and those of the graphs that they have."""
    pending = list(nodes)
    while pending:
        each = pending.pop()
        yield each
        for graph in _graphs_of(each):
            pending += graph.node


def _graphs_of(node: Any) -> Iterator[Any]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def names_in(node: Any) -> Iterator[str]:
    """What a node takes, and what its graphs may take from around it."""
    for each in nodes_in([node]):
        yield from each.input
        for graph in _graphs_of(each):
            yield from (output.name for output in graph.output)


def leaves(values: Iterable[Value]) -> Iterator[Tensor]:
    """The tensors in values, one after the other.

    A bounded one is the array, 0 where it does not count, then its sizes.
    """
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, Bounded):
            yield Tensor(fill(value, 0), value.type)
            yield from (Tensor(each.count, "INT64") for each in value.sizes.values())
        elif value is not None:
            yield from leaves(value)
