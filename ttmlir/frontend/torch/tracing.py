"""What torch computes at each node of an exported program: the reference of a bisection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.exporting import decompose
from ttmlir.runtime.session import array_of_torch
from ttmlir.runtime.tensor import Array


def trace_nodes(
    exported: Any, leaves: list[Any], buffers: Mapping[str, Any]
) -> list[tuple[str, Array]]:
    """The tensors of all calls, other than complex ones, by the names of their nodes, in order.

    `leaves` are the arguments of the program without containers, `buffers` the values of those
    that it changes.
    """
    torch = torch_package()
    program = decompose(exported)
    found: list[tuple[str, Array]] = []

    interpreter: Any = torch.fx.Interpreter(program.graph_module)
    run_node = interpreter.run_node

    def run_and_note(node: Any) -> Any:
        result = run_node(node)
        if node.op == "call_function":
            for leaf in torch.utils._pytree.tree_leaves(result):
                # Complex ones are pairs in the program.
                if isinstance(leaf, torch.Tensor) and not leaf.is_complex():
                    found.append((node.name, array_of_torch(torch, leaf.clone())))
        return result

    interpreter.run_node = run_and_note
    rest = iter(leaves)
    values: list[Any] = []
    for spec in program.graph_signature.input_specs:
        if spec.kind.name == "USER_INPUT":
            values.append(next(rest))
        elif spec.kind.name == "TOKEN":
            values.append(None)
        elif spec.target in buffers:
            values.append(buffers[spec.target])
        elif spec.target in program.state_dict:
            values.append(program.state_dict[spec.target])
        else:
            values.append(program.constants[spec.target])
    with torch.no_grad():
        interpreter.run(*values)
    return found
