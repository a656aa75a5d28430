"""What devices exchange in a traced program: from torch's groups of processes to axes of a mesh."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ttmlir.frontend.torch.distributed import operations as names
from ttmlir.frontend.torch.distributed.operations import operations, size_of
from ttmlir.frontend.torch.distributed.placing import Devices, Place, is_distributed
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.locations import refuse_node

FROM_OUTSIDE = (
    "a function uses tensors of several devices from outside; give them as arguments, or compile "
    "the module that has them; a module whose tensors are none of DTensors takes mesh=, too"
)
_NAMESPACES = ("_c10d_functional", "_c10d_functional_autograd", "_dtensor", "c10d")


def write_exchanges(graph: Any, devices: Devices) -> None:
    """Name axes of the mesh instead of groups, in all exchanges of a graph."""
    groups = devices.mesh.groups()
    for node in list(graph.graph.nodes):
        namespace = getattr(node.target, "namespace", "")
        if node.op != "call_function" or namespace not in _NAMESPACES:
            continue
        name = node.target._schema.name.partition("::")[2]
        rewrite = _REWRITES.get(name)
        if rewrite is None:
            refuse_node(
                node,
                f"devices exchange by {', '.join(sorted({*_REWRITES} - {'wait_tensor'}))} of "
                "torch.distributed._functional_collectives and by DTensors",
            )
        rewrite(node, groups, list(devices.mesh.extents))
    _leave_out_broadcasts(graph)
    _exchange_in_place(graph)
    graph.graph.lint()
    graph.recompile()


_Groups = Mapping[Place, Place]


def _leave_out_broadcasts(graph: Any) -> None:
    """Send nobody what all have: tensors that a program distributes are mostly such."""
    varies: dict[Any, frozenset[int]] = {}
    for node in list(graph.graph.nodes):
        varies[node] = _varying(node, varies)
        is_broadcast = node.target is operations().mesh_broadcast.default
        if is_broadcast and not varies[node.args[0]] & {*node.args[2]}:
            _leave_out(node)


def _exchange_in_place(graph: Any) -> None:
    """Exchange along other dimensions than the first, where torch moves that to the front."""
    ops = operations()
    for node in list(graph.graph.nodes):
        if node.target is ops.mesh_all_gather.default and len(node.users) == 1:
            [split] = node.users
            moved = _moved_parts(split, node)
            if moved is None or moved[0].args[0] is not node or _dim(split, 2) != 0:
                continue
            x, _, axes, mesh = node.args
            cat = moved[1]
            node.args = (x, _dim(cat, 1) % x.meta["val"].dim(), axes, mesh)
            cat.replace_all_uses_with(node)
            node.meta["val"] = cat.meta["val"]
            _erase(cat, *split.users, split)
        elif node.target is ops.mesh_reduce_scatter.default:
            cat = node.args[0]
            parts = cat.args[0] if cat.target is torch_package().ops.aten.cat.default else [cat]
            moved = _moved_parts(parts[0].args[0], node) if parts[0].args else None
            if moved is None or moved[1] is not cat or _dim(cat, 1) != 0 or len(cat.users) > 1:
                continue
            split = moved[0]
            _, _, kind, axes, mesh = node.args
            x = split.args[0]
            node.args = (x, _dim(split, 2) % x.meta["val"].dim(), kind, axes, mesh)
            _erase(cat, *split.users, split)


def _erase(*nodes: Any) -> None:
    for node in nodes:
        node.graph.erase_node(node)


def _dim(node: Any, number: int) -> int:
    return node.kwargs.get("dim", node.args[number] if len(node.args) > number else 0)


def _moved_parts(split: Any, exchange: Any) -> tuple[Any, Any] | None:
    """What takes a tensor apart for each device, and what joins its parts in their order; None for
    others."""
    aten = torch_package().ops.aten
    if getattr(split, "target", None) not in (aten.split.Tensor, aten.chunk.default):
        return None
    [cat, *others] = {user for part in split.users for user in part.users} or {None}
    if cat is None or others or cat.target is not aten.cat.default:
        return None
    parts = cat.args[0]
    numbers = [each.args[1] for each in parts if each.args[0] is split]
    devices = size_of(*exchange.args[-2:])
    is_whole = len(numbers) == len(parts) == len(split.meta["val"]) == devices
    return (split, cat) if is_whole and numbers == [*range(len(parts))] else None


def _axes(node: Any, group: Any, groups: _Groups) -> list[int]:
    """The axes that a group lies along."""
    distributed: Any = torch_package().distributed
    if isinstance(group, str):
        group = distributed.distributed_c10d._resolve_process_group(group)
    ranks = tuple(distributed.get_process_group_ranks(group))
    if ranks not in groups:
        refuse_node(
            node,
            f"the devices {[*ranks]} are no axis of the mesh and not all of it; give the mesh and "
            "the axis as the group: (mesh, 0)",
        )
    return [*groups[ranks]]


def _become(node: Any, name: str, *args: Any) -> None:
    node.target = getattr(operations(), name).default
    node.args, node.kwargs = args, {}


def _wait(node: Any, groups: _Groups, mesh: list[int]) -> None:
    del groups, mesh
    _leave_out(node)


def _leave_out(node: Any) -> None:
    node.replace_all_uses_with(node.args[0])
    node.graph.erase_node(node)


def _all_reduce(node: Any, groups: _Groups, mesh: list[int]) -> None:
    x, kind, group = node.args
    if axes := _axes(node, group, groups):
        _become(node, names.ALL_REDUCE, x, kind, axes, mesh)
    else:
        _leave_out(node)


def _all_gather(node: Any, groups: _Groups, mesh: list[int]) -> None:
    x, _, group = node.args
    if axes := _axes(node, group, groups):
        _become(node, names.ALL_GATHER, x, 0, axes, mesh)
    else:
        _leave_out(node)


def _reduce_scatter(node: Any, groups: _Groups, mesh: list[int]) -> None:
    x, kind, _, group = node.args
    if axes := _axes(node, group, groups):
        _become(node, names.REDUCE_SCATTER, x, 0, kind, axes, mesh)
    else:
        _leave_out(node)


def _all_to_all(node: Any, groups: _Groups, mesh: list[int]) -> None:
    x, given, taken, group = node.args
    if len({*given}) > 1 or len({*taken}) > 1:
        refuse_node(node, "devices send each other parts of the same size alone")
    if axes := _axes(node, group, groups):
        _become(node, names.ALL_TO_ALL, x, 0, 0, axes, mesh)
    else:
        _leave_out(node)


def _shard_dims(node: Any, groups: _Groups, mesh: list[int]) -> None:
    x, gathered, divided, group = node.args
    if axes := _axes(node, group, groups):
        _become(node, names.ALL_TO_ALL, x, divided, gathered, axes, mesh)
    else:
        _leave_out(node)


def _broadcast(node: Any, groups: _Groups, mesh: list[int]) -> None:
    x, source, group = node.args
    if axes := _axes(node, group, groups):
        _become(node, names.BROADCAST, x, source, axes, mesh)
    else:
        _leave_out(node)


_REWRITES: dict[str, Callable[[Any, _Groups, list[int]], None]] = {
    "all_gather_into_tensor": _all_gather,
    "all_reduce": _all_reduce,
    "all_to_all_single": _all_to_all,
    "broadcast": _broadcast,
    "reduce_scatter_tensor": _reduce_scatter,
    "shard_dim_alltoall": _shard_dims,
    "wait_tensor": _wait,
}


# --- Checks ---------------------------------------------------------------------------------------


def check_alike(graph: Any, other: Any) -> None:
    """Refuse a program of which two devices compute different things.

    Where a device takes its part, the operation that says so is the same on all of them.
    """
    pairs = zip(graph.graph.nodes, other.graph.nodes, strict=False)
    for node, twin in pairs:
        if not _is_alike(node, twin, graph, other):
            refuse_node(
                node,
                "what a device computes here depends on its number, of which the program of all "
                "devices knows nothing; DTensor.redistribute divides tensors by it",
            )


def _is_alike(node: Any, twin: Any, graph: Any, other: Any) -> bool:
    if (node.op, node.name, str(node.args), str(node.kwargs)) != (
        twin.op,
        twin.name,
        str(twin.args),
        str(twin.kwargs),
    ):
        return False
    if node.op != "get_attr":
        return node.target == twin.target
    held, held_there = getattr(graph, node.target), getattr(other, twin.target)
    torch = torch_package()
    if is_distributed(held):
        [user, *_] = node.users
        refuse_node(user, FROM_OUTSIDE)
    if isinstance(held, torch.Tensor):
        return isinstance(held_there, torch.Tensor) and torch.equal(held, held_there)
    return True


def check_results(graph: Any, is_plain: Sequence[bool], state: Sequence[str]) -> None:
    """Refuse results of which devices have different numbers, without a word how they are joined.

    The graph returns the state, then results, of which some are plain tensors. State that is no
    DTensor has to be the same on all devices, too, as what a DTensor says to be so.
    """
    varies: dict[Any, frozenset[int]] = {}
    for node in graph.graph.nodes:
        varies[node] = _varying(node, varies)
    [end] = [node for node in graph.graph.nodes if node.op == "output"]
    results = torch_package().utils._pytree.tree_leaves(end.args)
    for number, node in enumerate(results):
        is_state = number < len(state)
        if not varies.get(node):
            continue
        what = f"'{state[number]}'" if is_state else "a result"
        says = "nothing says how they belong together"
        if not is_state and not is_plain[number - len(state)]:
            says = "a DTensor says that all have the same (Replicate())"
        refuse_node(
            node.args[0] if node.target is operations().mesh_join.default else node,
            f"devices have different numbers of {what}, and {says}: make it a DTensor, such as "
            "DTensor.from_local(y, mesh, [Shard(0)]), or combine them (all_reduce, all_gather)",
        )


def _varying(node: Any, varies: Mapping[Any, frozenset[int]]) -> frozenset[int]:
    """The axes along which devices have different numbers of a value."""
    found = frozenset[int]().union(*(varies[each] for each in node.all_input_nodes))
    ops = operations()
    if node.target is ops.mesh_divide.default:
        return found | {axis for axis, dim in enumerate(node.args[1]) if dim >= 0}
    if node.target is ops.mesh_part.default:
        return found | {node.args[2]}
    if node.target in (ops.mesh_all_reduce.default, ops.mesh_broadcast.default):
        return found - {*node.args[2]}
    if node.target is ops.mesh_all_gather.default:
        return found - {*node.args[2]}
    if node.target is ops.mesh_reduce_scatter.default:
        return found | {*node.args[3]}
    if node.target is ops.mesh_all_to_all.default:
        return found | {*node.args[3]}
    if node.target is ops.mesh_permute.default:
        return found | {*node.args[2]} if found & {*node.args[2]} else found
    if node.target is ops.mesh_join.default:
        return found - {axis for axis, dim in enumerate(node.args[1]) if dim >= 0}
    return found
