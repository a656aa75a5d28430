"""What operations a program calls, with their tensors and their buffers: `ttnn.graph`."""

from __future__ import annotations

import re
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

from ttmlir.errors import ArgumentError, UsageError
from ttmlir.metalium.enums import BufferType, NamedNumber
from ttmlir.ttnn.operations.operation import OBSERVERS, Call, Observer, Operation, tensors_of
from ttmlir.ttnn.tensor.tensor import DeviceStorage, Tensor
from ttmlir.ttnn.tracer import write_picture
from ttmlir.ttnn.types.memory import Shape

Node = dict[str, Any]


class RunMode(NamedNumber):
    """Whether operations are computed while they are captured; here they always are."""

    NORMAL = 0
    NO_DISPATCH = 1


class Graph(Observer):
    """Nodes in the order of what happens; each names those that follow from it."""

    def __init__(self) -> None:
        """The node of the beginning."""
        self.nodes: list[Node] = []
        self._tensors: dict[int, Node] = {}
        self._inside = self.add("capture_start")

    def add(self, kind: str, **params: str) -> Node:
        """A new node."""
        node: Node = {
            "counter": len(self.nodes),
            "node_type": kind,
            "params": params,
            "connections": [],
        }
        self.nodes.append(node)
        return node

    def begin(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """The operation begins; its operands lead to it."""
        operands = [each for value in (*args, *kwargs.values()) for each in tensors_of(value)]
        nodes = [self._node_of(each) for each in operands]
        function = self.add(
            "function_start", name=operation.__name__.replace(".", "::"), inputs=str(len(operands))
        )
        self._inside["connections"].append(function["counter"])
        for node in nodes:
            node["connections"].append(function["counter"])
        self._function = function
        if operation.name == "deallocate":
            for each in operands:
                if each.is_allocated():
                    self._connect(function, self.add("buffer_deallocate", **_buffer(each)))

    def end(self, call: Call) -> None:
        """The operation ends; its results follow from it."""
        made = tensors_of(call.result)
        buffers: list[tuple[Node, Tensor]] = []
        for tensor in made:
            if tensor.tensor_id not in self._tensors and tensor.device() is not None:
                buffers.append((self.add("buffer_allocate", **_buffer(tensor)), tensor))
                self._connect(self._function, buffers[-1][0])
        end = self.add("function_end", name=self._function["params"]["name"])
        self._connect(self._function, end)
        for tensor in made:
            self._connect(end, self._node_of(tensor))
        for buffer, tensor in buffers:
            self._connect(buffer, self._node_of(tensor))

    def finish(self) -> list[Node]:
        """All nodes, with that of the end."""
        self._connect(self._inside, self.add("capture_end"))
        return self.nodes

    def _node_of(self, tensor: Tensor) -> Node:
        if tensor.tensor_id not in self._tensors:
            self._tensors[tensor.tensor_id] = self.add(
                "tensor", tensor_id=str(tensor.tensor_id), shape=f"ttnn.{tensor.shape}"
            )
        return self._tensors[tensor.tensor_id]

    @staticmethod
    def _connect(node: Node, other: Node) -> None:
        node["connections"].append(other["counter"])


def _buffer(tensor: Tensor) -> dict[str, str]:
    """The memory of a tensor on a device."""
    storage = tensor.parts[0].storage
    if not isinstance(storage, DeviceStorage):
        return {}
    is_dram = tensor.memory_config().buffer_type == BufferType.DRAM
    return {
        "address": str(storage.address),
        "layout": tensor.memory_config().memory_layout.name,
        "size": str(storage.spec.size_bytes),
        "type": "DRAM" if is_dram else "L1",
    }


_captures: ContextVar[tuple[Graph, ...]] = ContextVar("graph_captures", default=())
"""Those of this thread, which do not see what others do."""


def begin_graph_capture(run_mode: RunMode = RunMode.NORMAL) -> None:
    """Keep the operations that follow, in a graph."""
    graph = Graph()
    _captures.set((*_captures.get(), graph))
    OBSERVERS.add(graph)


def end_graph_capture() -> list[Node]:
    """The nodes of the graph that was begun last."""
    if not _captures.get():
        raise UsageError("no graph is captured; call ttnn.graph.begin_graph_capture first")
    *others, graph = _captures.get()
    _captures.set(tuple(others))
    OBSERVERS.remove(graph)
    return graph.finish()


def _of_kind(trace: list[Node], kind: str) -> list[Node]:
    return [node for node in trace if node["node_type"] == kind]


def extract_calltrace(trace: list[Node]) -> list[str]:
    """The names of the operations, in the order of their calls."""
    return [node["params"]["name"] for node in _of_kind(trace, "function_start")]


def extract_peak_L1_memory_usage(trace: list[Node]) -> int:
    """The most bytes of L1 that results took at a time, as far as the program freed them."""
    used = peak = 0
    for node in trace:
        params = node["params"]
        if params.get("type") == "L1":
            size = int(params["size"])
            used += size if node["node_type"] == "buffer_allocate" else -size
            peak = max(peak, used)
    return peak


def _results(trace: list[Node]) -> list[Node]:
    """Nodes of tensors that operations made."""
    made = {number for node in _of_kind(trace, "function_end") for number in node["connections"]}
    return [node for node in _of_kind(trace, "tensor") if node["counter"] in made]


def extract_output_tensors(trace: list[Node]) -> list[Node]:
    """The results that no other operation takes."""
    return [node for node in _results(trace) if not node["connections"]]


class TensorInfo(NamedTuple):
    """A result: its shape, its bytes, and the memory that it is in."""

    shape: Shape
    size: int
    type: BufferType


def extract_output_info(trace: list[Node]) -> list[TensorInfo]:
    """What is known of the results on a device that no other operation takes."""
    buffers = {
        number: node["params"]
        for node in _of_kind(trace, "buffer_allocate")
        for number in node["connections"]
    }
    return [
        TensorInfo(
            _shape_of(node),
            int(buffers[node["counter"]]["size"]),
            BufferType[buffers[node["counter"]]["type"]],
        )
        for node in extract_output_tensors(trace)
        if node["counter"] in buffers
    ]


def _shape_of(node: Node) -> Shape:
    return Shape([int(extent) for extent in re.findall(r"\d+", node["params"]["shape"])])


def extract_levelized_graph(trace: list[Node], max_level: int = 1) -> list[Node]:
    """Tensors, then operations, each with those before and behind it.

    Operations do not call others here: all are of level 1, and have no internals.
    """
    if max_level < 1:
        raise ArgumentError(f"max_level is at least 1, not {max_level}")
    tensors, functions = (_of_kind(trace, kind) for kind in ("tensor", "function_start"))
    numbers = {node["counter"]: number for number, node in enumerate([*tensors, *functions])}
    levelized: list[Node] = [
        {
            "arguments": [],
            "counter": numbers[node["counter"]],
            "in_edges": [],
            "internals": [],
            "name": _name_of(node),
            "out_edges": [],
            "output_info": [],
            "output_shape": [str(_shape_of(node))] if node["node_type"] == "tensor" else [],
            "stacking_level": 1,
        }
        for node in [*tensors, *functions]
    ]

    def connect(first: Node, second: Node) -> None:
        first["out_edges"].append(second["counter"])
        second["in_edges"].append(first["counter"])

    for node in tensors:
        for number in node["connections"]:
            connect(levelized[numbers[node["counter"]]], levelized[numbers[number]])
    for node in functions:
        function = levelized[numbers[node["counter"]]]
        end = trace[int(node["connections"][-1])]
        for each in end["connections"]:
            made = levelized[numbers[int(each)]]
            connect(function, made)
            function["output_shape"] += made["output_shape"]
    return levelized


def _name_of(node: Node) -> str:
    params = node["params"]
    if node["node_type"] == "tensor":
        return f"tensor[{params['tensor_id']}]"
    return params.get("name", node["node_type"])


def count_intermediate_and_output_tensors(trace: list[Node]) -> tuple[int, int]:
    """How many results other operations take, and how many are left."""
    left = len(extract_output_tensors(trace))
    return len(_results(trace)) - left, left


def pretty_print(trace: list[Node]) -> None:
    """Print a line for each node."""
    for node in trace:
        params = ", ".join(f"{name}={value}" for name, value in node["params"].items())
        print(f"{node['counter']:4} {node['node_type']} {params}".rstrip())


def visualize(captured_graph: list[Node], *, file_name: str | Path | None = None) -> str:
    """The nodes of a graph and what follows from them, as text of Graphviz' `dot`.

    It is written to the file, whose ending becomes `.dot` if it is that of a picture.
    """
    lines = ["digraph {", "  node [shape=box];"]
    for node in captured_graph:
        facts = [f"{name}={value}" for name, value in node["params"].items() if name != "name"]
        label = "\\n".join([_name_of(node), node["node_type"], *facts])
        lines.append(f'  n{node["counter"]} [label="{label}"];')
        lines += [f"  n{node['counter']} -> n{each};" for each in node["connections"]]
    return write_picture(lines, file_name)
