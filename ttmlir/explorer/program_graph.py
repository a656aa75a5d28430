"""Graphs of `.ttnn` files: what runs, as the file itself says it, not the text that it carries.

What only makes room or asks for the device is no node, nor are constants: the operations that use
them say so. Inputs and results are nodes in layers of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from ttmlir.explorer.graph import Attributes, Edge, Graph, Node, check_size
from ttmlir.explorer.scopes import Scope, scope_of
from ttmlir.layout.element_type import is_block_float
from ttmlir.runtime.binary import BinaryProgram, Operation, TensorRef
from ttmlir.runtime.errors import UnsupportedError
from ttmlir.runtime.execution.operations import find_row
from ttmlir.runtime.memory import results_of
from ttmlir.runtime.tensor import TensorDesc

INPUTS, RESULTS = "Inputs", "Results"
"""Layers of what a function takes and returns."""

FOLDED = {"EmptyOp", "GetDeviceOp", "DeallocOp", "DeallocateOp"}
"""Operations that only make room, free it or name the device."""
CONSTANTS = {"ConstantOp", "FullOp", "OnesOp", "ZerosOp"}

_RESULT_FIELDS = ("out", "output", "outputs")
_MAX_FIELD = 64
"""Bytes of a list that are shown."""


def node_id(operation: Operation) -> str:
    """The name of the node of an operation."""
    return f"op{operation.index}"


def operation_name(operation: Operation) -> str:
    """Name of the operation in the IR, such as `ttnn.matmul`, by its row if there is one."""
    try:
        return f"ttnn.{find_row(operation).mnemonic}"
    except UnsupportedError:
        return operation.ir_name


def inputs_of(operation: Operation) -> tuple[TensorRef, ...]:
    """The tensors that an operation reads, in the order of the file's fields."""
    written = {ref.global_id for ref in results_of(operation)}
    return tuple(
        ref
        for name, refs in operation.tensor_fields.items()
        for ref in refs
        if ref.global_id not in written and name not in _RESULT_FIELDS
    )


def build_program_graph(
    program: BinaryProgram,
    graph_id: str,
    *,
    notes: Attributes = (),
    node_notes: Mapping[int, Attributes] | None = None,
) -> Graph:
    """The graph of a program.

    `notes` are attributes of the whole graph; `node_notes` of operations, by their index.
    """
    return _Building(program, node_notes or {}).build(graph_id, notes)


class _Building:
    def __init__(self, program: BinaryProgram, notes: Mapping[int, Attributes]) -> None:
        self._program = program
        self._notes = notes
        self._makers: dict[int, Edge] = {}
        self._constants: dict[int, TensorRef] = {}
        self._nodes: list[Node] = []

    def build(self, graph_id: str, notes: Attributes) -> Graph:
        program = self._program
        check_size(len(program.operations) + len(program.inputs) + len(program.outputs))
        for number, ref in enumerate(program.inputs):
            self._add(
                Node(
                    id=f"input{number}",
                    label=f"input {number}",
                    layers=(INPUTS,),
                    outputs=(describe_tensor(ref.desc),),
                    attributes=describe_layout(ref.desc),
                ),
                (ref,),
            )
        for operation in program.operations:
            self._add_operation(operation)
        for number, ref in enumerate(program.outputs):
            self._add(
                Node(
                    id=f"result{number}",
                    label=f"result {number}",
                    layers=(RESULTS,),
                    inputs=tuple(self._edges((ref,))),
                    attributes=describe_layout(ref.desc),
                ),
                (),
            )
        return Graph(id=graph_id, nodes=self._nodes, attributes=notes)

    def _add(self, node: Node, outputs: Iterable[TensorRef]) -> None:
        self._nodes.append(node)
        for number, ref in enumerate(outputs):
            self._makers[ref.global_id] = Edge(node.id, number)

    def _add_operation(self, operation: Operation) -> None:
        outputs = results_of(operation)
        if operation.table in CONSTANTS:
            self._constants.update((ref.global_id, ref) for ref in outputs)
        if operation.table in CONSTANTS | FOLDED:
            return
        scope = scope_of(operation.location)
        inputs = inputs_of(operation)
        node = Node(
            id=node_id(operation),
            label=operation_name(operation).removeprefix("ttnn."),
            layers=scope.layers,
            attributes=(
                ("operation", operation_name(operation)),
                *describe_scope(scope, operation.location),
                ("schedule", str(operation.index)),
                *self._notes.get(operation.index, ()),
                *(pair for ref in outputs[:1] for pair in describe_layout(ref.desc)),
                *_describe_fields(operation.plain_fields(_MAX_FIELD)),
                *self._describe_constants(inputs),
            ),
            inputs=tuple(self._edges(inputs)),
            outputs=tuple(describe_tensor(ref.desc) for ref in outputs),
        )
        self._add(node, outputs)

    def _edges(self, refs: Iterable[TensorRef]) -> Iterable[Edge]:
        found = (self._makers.get(ref.global_id) for ref in refs)
        return (edge for edge in found if edge is not None)

    def _describe_constants(self, inputs: Iterable[TensorRef]) -> Iterable[tuple[str, str]]:
        for number, ref in enumerate(inputs):
            if ref.global_id in self._constants:
                yield f"operand {number}", f"constant {shape_text(ref.desc)}"


def describe_scope(scope: Scope, location: str) -> Attributes:
    """Where in the user's model an operation comes from."""
    return (
        ("override_name", scope.override_name),
        ("named_location", scope.name),
        ("place", scope.place),
        ("full_location", location if scope.name else ""),
    )


def shape_text(desc: TensorDesc) -> str:
    """`33x96xf32`."""
    return "x".join((*map(str, desc.shape), str(desc.element)))


def describe_tensor(desc: TensorDesc) -> Attributes:
    """What is shown at an edge: the shape, and what is hidden until one asks."""
    return (
        ("shape", shape_text(desc)),
        ("rank", str(len(desc.shape))),
        ("place", str(desc).partition(", ")[2]),
        ("bytes", f"{desc.size_in_bytes:,}"),
    )


def describe_layout(desc: TensorDesc) -> Attributes:
    """The layout of a tensor, under the names of tt-explorer."""
    grid = "x".join(map(str, grid_of(desc)))
    unit = " tiles" if desc.is_tiled else ""
    precise = "" if not is_block_float(desc.data_type) else ", one exponent for 16 numbers"
    return (
        ("shape", "x".join(map(str, desc.shape))),
        ("dtype", str(desc.element)),
        ("rank", str(len(desc.shape))),
        ("buffer_type", desc.memory_space.keyword),
        ("tensor_memory_layout", desc.memory_layout.keyword),
        ("memory_layout", "tile" if desc.is_tiled else "row_major"),
        ("data_type", desc.data_type.keyword + precise),
        ("grid_shape", grid if desc.is_on_device else ""),
        ("shard_shape", "x".join(map(str, desc.shard)) + unit if desc.shard else ""),
        ("bytes", f"{desc.size_in_bytes:,}"),
    )


def grid_of(desc: TensorDesc) -> tuple[int, int]:
    """Rows and columns of the cores that a tensor's layout names."""
    if len(desc.core_ranges) == 1:
        _, _, height, width = desc.core_ranges[0]
        return height, width
    return 1, sum(height * width for _, _, height, width in desc.core_ranges)


def _describe_fields(fields: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for field, value in fields.items():
        name = f"{field} (field)" if field in ("shape", "dtype") else field
        if isinstance(value, list | tuple):
            yield name, ", ".join(map(str, cast("Sequence[object]", value)))
        else:
            yield name, str(value)
