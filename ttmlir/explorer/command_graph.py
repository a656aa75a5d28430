"""Graphs of `.ttm` files: kernel launches and copies, in the order of the queue."""

from __future__ import annotations

from collections.abc import Iterable

from ttmlir.explorer.graph import Attributes, Edge, Graph, Node, check_size
from ttmlir.explorer.program_graph import (
    INPUTS,
    RESULTS,
    describe_layout,
    describe_scope,
    describe_tensor,
)
from ttmlir.explorer.scopes import scope_of
from ttmlir.program.description import list_cores
from ttmlir.runtime.metal.program import (
    CREATE,
    DEALLOCATE,
    READ,
    WRITE,
    Command,
    MetalProgram,
    MetalTensor,
)

_LABELS = {WRITE: "write to device", READ: "read from device"}


def command_id(command: Command) -> str:
    """The name of the node of a command."""
    return f"command{command.index}"


def build_command_graph(program: MetalProgram, graph_id: str, *, notes: Attributes = ()) -> Graph:
    """The graph of a program of kernels."""
    commands = program.commands
    check_size(len(commands) + len(program.input_tensors) + len(program.output_tensors))
    makers: dict[int, Edge] = {}
    nodes: list[Node] = []

    def edges(tensors: Iterable[MetalTensor]) -> tuple[Edge, ...]:
        return tuple(makers[tensor.id] for tensor in tensors if tensor.id in makers)

    for number, tensor in enumerate(program.input_tensors):
        nodes.append(
            Node(
                id=f"input{number}",
                label=f"input {number}",
                layers=(INPUTS,),
                attributes=describe_layout(tensor.ref.desc),
                outputs=(describe_tensor(tensor.ref.desc),),
            )
        )
        makers[tensor.id] = Edge(nodes[-1].id)
    for command in commands:
        if command.kind in (CREATE, DEALLOCATE) or not command.tensors:
            continue
        written = _written(command)
        read = [tensor for tensor in command.tensors if tensor not in written]
        scope = scope_of(command.location)
        nodes.append(
            Node(
                id=command_id(command),
                label=_LABELS.get(command.kind, command.meaning),
                layers=scope.layers,
                attributes=(
                    ("command", command.kind.removesuffix("Command")),
                    *describe_scope(scope, command.location),
                    ("schedule", str(command.index)),
                    *_describe_kernels(command),
                    *(pair for tensor in written[:1] for pair in describe_layout(tensor.ref.desc)),
                ),
                inputs=edges(read),
                outputs=tuple(describe_tensor(tensor.ref.desc) for tensor in written),
            )
        )
        makers.update((each.id, Edge(nodes[-1].id, i)) for i, each in enumerate(written))
    for number, tensor in enumerate(program.output_tensors):
        nodes.append(
            Node(
                id=f"result{number}",
                label=f"result {number}",
                layers=(RESULTS,),
                attributes=describe_layout(tensor.ref.desc),
                inputs=edges((tensor,)),
            )
        )
    return Graph(id=graph_id, nodes=nodes, attributes=notes)


def _written(command: Command) -> list[MetalTensor]:
    """The tensors that a command writes: those its reference names, or else the last one."""
    if command.reference is not None and command.reference.outputs:
        numbers = dict.fromkeys(output.operand for output in command.reference.outputs)
        return [command.tensors[number] for number in numbers]
    return [command.tensors[-1]]


def _describe_kernels(command: Command) -> Attributes:
    description = command.description
    fidelity = () if command.fidelity is None else (("math_fidelity", command.fidelity.keyword),)
    if description is None:
        cores = {core for kernel in command.kernels for core in kernel.cores}
        count = len(command.kernels)
        buffers = max((len(kernel.circular_buffers) for kernel in command.kernels), default=0)
    else:
        cores = {core for kernel in description.kernels for core in list_cores(kernel.core_ranges)}
        count, buffers = len(description.kernels), len(description.circular_buffers)
    if not command.is_launch:
        return fidelity
    return (
        ("kernels", str(count)),
        ("cores", str(len(cores))),
        ("circular_buffers", str(buffers)),
        *fidelity,
    )
