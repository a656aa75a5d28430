"""Two programs side by side: which operations correspond, and how much longer they take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ttmlir.cost import estimate_program
from ttmlir.explorer.graph import Graph, node_id, operation_name, scope_of
from ttmlir.explorer.node_data import Combine, NodeData
from ttmlir.runtime.binary import BinaryProgram

_Place = tuple[str, str, int]
"""Location and name of an operation, and how many of this name are before it at this location."""


def match(first: BinaryProgram, second: BinaryProgram) -> dict[str, str]:
    """What the nodes of the second program are called beside the first.

    Operations of one name at one location, in the same order, have the name that the first program
    gives them; those that it lacks have names that it lacks, too.
    """
    nodes = {place: node for node, place in _places(first)}
    return {node: nodes.get(place, f"{node} of the second") for node, place in _places(second)}


def _places(program: BinaryProgram) -> Iterator[tuple[str, _Place | None]]:
    """The nodes of all operations; the place is None for those without a location."""
    counts = Counter[tuple[str, str]]()
    for operation in program.operations:
        scope = scope_of(operation.location)
        # Line and column without the file, as two files are compared.
        location = scope.name or scope.place.partition(":")[2]
        at = location, operation_name(operation)
        yield node_id(operation), (*at, counts[at]) if location else None
        counts[at] += 1


def rename(graph: Graph, names: Mapping[str, str]) -> Graph:
    """A graph whose nodes have other names."""
    nodes = [
        replace(
            node,
            id=names.get(node.id, node.id),
            inputs=tuple(
                replace(edge, source=names.get(edge.source, edge.source)) for edge in node.inputs
            ),
        )
        for node in graph.nodes
    ]
    return replace(graph, nodes=nodes)


def list_difference(
    program: BinaryProgram, board: str | None, other: Mapping[str, float], name: str
) -> NodeData:
    """How many microseconds longer each operation takes than in another program, `name`.

    `other` are the times there, by the names that nodes have here; what is not there took none.
    """
    times = times_of(program, board)
    return NodeData(
        name=f"longer than in {name} (us)",
        values={node: time - other.get(node, 0.0) for node, time in times.items()},
        is_signed=True,
        combine=Combine.SUM,
    )


def times_of(program: BinaryProgram, board: str | None) -> dict[str, float]:
    """The estimate of each operation in microseconds, by its node."""
    operations = estimate_program(program, board).in_call
    return {f"op{each.index}": each.time.mid / 1000 for each in operations}
