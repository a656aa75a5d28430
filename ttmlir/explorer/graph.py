"""Graphs in the JSON of Model Explorer.

Texts of graphs come from files of strangers and are shown by a page: `clean_text` takes what could
disguise or swell them, and names that JavaScript objects have by nature are changed, as the page
keeps nodes and layers in objects under their names.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

MAX_NODES = 1 << 17
"""Most nodes of what is shown at once; browsers come to an end before."""
MAX_LABEL = 120
MAX_VALUE = 2000
"""Most characters of a label, and of the value of an attribute."""
MAX_LAYERS = 24
"""Deepest nesting of layers that is shown."""

_CONTROL = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Categories of characters that are not seen, or that reorder those that are."""
_JAVASCRIPT = {
    *("__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__"),
    *("__lookupSetter__", "constructor", "hasOwnProperty", "isPrototypeOf"),
    *("propertyIsEnumerable", "toLocaleString", "toString", "valueOf"),
}

_SLASH = "\u2215"
"""Looks like a slash and divides no layers."""

Json = dict[str, Any]


def clean_text(text: str, limit: int = MAX_VALUE) -> str:
    """A text without control and direction characters, at most `limit` characters long."""
    short = text[: limit + 1]
    shown = "".join(
        " " if letter in "\n\t" else "�" if unicodedata.category(letter) in _CONTROL else letter
        for letter in short
    )
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def clean_name(text: str) -> str:
    """A text as the name of a node, a layer or a graph: no slashes, never empty."""
    name = clean_text(text, MAX_LABEL).replace("/", _SLASH).strip()
    return f"{name}_" if name in _JAVASCRIPT else name or "_"


def namespace(layers: Iterable[str]) -> str:
    """The layers that a node is in, outermost first, as one text."""
    return "/".join(clean_name(layer) for layer in list(layers)[:MAX_LAYERS])


Attributes = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Edge:
    """A value on its way from an output of another node."""

    source: str
    output: int = 0


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node: an operation, a kernel launch, an input or the results of a function."""

    id: str
    label: str
    layers: tuple[str, ...] = ()
    attributes: Attributes = ()
    inputs: tuple[Edge, ...] = ()
    outputs: tuple[Attributes, ...] = ()
    """What is known of each value that the node makes, first of all its shape."""

    def as_json(self) -> Json:
        """The node as the page reads it."""
        return {
            "id": self.id,
            "label": clean_name(self.label),
            "namespace": namespace(self.layers),
            "attrs": _pairs(self.attributes),
            "incomingEdges": [
                {
                    "sourceNodeId": edge.source,
                    "sourceNodeOutputId": str(edge.output),
                    "targetNodeInputId": str(number),
                }
                for number, edge in enumerate(self.inputs)
            ],
            "outputsMetadata": [
                {"id": str(number), "attrs": _pairs(attributes)}
                for number, attributes in enumerate(self.outputs)
            ],
        }


@dataclass(frozen=True, kw_only=True)
class Graph:
    """A function or a program."""

    id: str
    nodes: Sequence[Node]
    attributes: Attributes = ()
    """What the page shows of the graph while no node is selected."""

    def as_json(self) -> Json:
        """The graph as the page reads it."""
        shown: Json = {"id": self.id, "nodes": [node.as_json() for node in self.nodes]}
        if self.attributes:
            pairs = _pairs(self.attributes)
            shown["groupNodeAttributes"] = {"": {pair["key"]: pair["value"] for pair in pairs}}
        return shown


@dataclass(frozen=True)
class Collection:
    """The graphs of one level of a program, such as ttir or ttnn."""

    label: str
    graphs: Sequence[Graph] = field(repr=False)

    def as_json(self) -> Json:
        """The collection as the page reads it."""
        return {
            "label": self.label,
            "graphs": [graph.as_json() for graph in self.graphs],
            "graphSorting": "node_count_desc",
        }


def _pairs(attributes: Attributes) -> list[dict[str, str]]:
    return [
        {"key": clean_name(key), "value": clean_text(value)} for key, value in attributes if value
    ]


class TooLargeError(ValueError):
    """A program of more nodes than are shown."""


def check_size(nodes: int) -> None:
    """Raises TooLargeError for more nodes than are shown."""
    if nodes > MAX_NODES:
        raise TooLargeError(
            f"it has more than {MAX_NODES} operations, which no page shows; show a part of it"
        )


def unique_names(names: Iterable[str]) -> list[str]:
    """Names of graphs, as the page needs them: clean, and each one once."""
    given: dict[str, int] = {}
    result: list[str] = []
    for name in names:
        clean = clean_name(name)
        number = given[clean] = given.get(clean, 0) + 1
        unique = clean if number == 1 else f"{clean} ({number})"
        while unique in given and number > 1:
            number += 1
            unique = f"{clean} ({number})"
        given.setdefault(unique, 1)
        result.append(unique)
    return result
