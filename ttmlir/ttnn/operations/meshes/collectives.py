"""Operations between devices. On one device, what all devices have together is what it has.

What devices have afterwards is said in `ttmlir.optable.collectives`; here are the arguments and the
checks of ttnn. Arguments that say how data travel are taken and change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError, UsageError, plural
from ttmlir.metalium.mesh_shapes import MeshCoordinate, MeshShape
from ttmlir.optable import collectives
from ttmlir.runtime.tensor import Array, Numerics
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_dimension,
    common_device,
    is_integer,
    is_strict,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.operations.signature import Signature, spell_value
from ttmlir.ttnn.tensor.distribution import (
    Placement,
    PlacementReplicate,
    PlacementShard,
    TensorTopology,
)
from ttmlir.ttnn.tensor.tensor import Tensor, round_to
from ttmlir.ttnn.types.enums import DataType, Layout, ReduceType, Topology
from ttmlir.ttnn.types.memory import TILE

Groups = list[list[int]]


# --- Devices of a call ----------------------------------------------------------------------------


def groups_along(tensor: Tensor, axis: Any) -> Groups:
    """The devices of a tensor that exchange what they have: those along an axis, or all.

    RuntimeError for an axis that the mesh does not have, or with one of its several devices.
    """
    mesh = common_device(tensor)
    if axis is None:
        return collectives.groups_of_mesh(tuple(mesh.shape))
    if not (is_integer(axis) and 0 <= axis < mesh.shape.dims()):
        raise ArgumentError(
            f"cluster_axis is 0 (rows), 1 (columns) or None, not {spell_value(axis)}"
        )
    if mesh.is_several and mesh.shape[axis] == 1:
        raise ArgumentError(
            f"cluster_axis={axis} of {mesh.shape} has one device, which has nobody to exchange "
            "data with; it takes two or more"
        )
    return collectives.groups_of_mesh(tuple(mesh.shape), axis)


def require_line(tensor: Tensor, axis: Any) -> None:
    """RuntimeError unless an axis is given, or the devices are in one line."""
    mesh = common_device(tensor)
    if axis is None and sum(extent > 1 for extent in mesh.shape) > 1:
        raise ArgumentError(f"{mesh.shape} is no line of devices; give cluster_axis, 0 or 1")


def place_along(
    topology: TensorTopology, mesh: MeshShape, axis: int | None, placement: Placement
) -> TensorTopology:
    """The topology of a tensor of which the devices along an axis now have these parts."""
    if len(topology.placed) == 1 == sum(extent > 1 for extent in mesh):
        return replace(topology, placed=(placement,))
    if axis is None:
        is_whole = isinstance(placement, PlacementReplicate)
        placed = (placement,) * (mesh.dims() if is_whole else 1)
        shape = mesh if is_whole else MeshShape([mesh.mesh_size()])
        return TensorTopology(shape, placed, topology.coordinates)
    placed = topology.placed
    if len(placed) != mesh.dims():
        placed = (placed[0],) * mesh.dims()
    placed = (*placed[:axis], placement, *placed[axis + 1 :])
    return TensorTopology(mesh, placed, topology.coordinates)


def store_parts(
    tensor: Tensor,
    arrays: Sequence[Array],
    values: dict[str, Any],
    placement: Placement,
    *,
    exact: bool,
) -> Tensor:
    """The result of which the devices of a tensor have these arrays."""
    output, axis = values.get("output_tensor"), values.get("cluster_axis")
    outputs: Sequence[Tensor | None] = [None] * len(arrays)
    if output is not None:
        outputs = require_tensor(output, "output_tensor").parts
        if len(outputs) != len(arrays):
            raise UsageError("output_tensor is on other devices than the input; move one of them")
    parts = [
        store(
            array,
            (part,),
            device=part.device(),
            dtype=values.get("dtype"),
            memory_config=values.get("memory_config"),
            output_tensor=into,
            exact=exact,
        )
        for array, part, into in zip(arrays, tensor.parts, outputs, strict=True)
    ]
    if output is not None:
        return output
    if len(parts) == 1:
        return parts[0]
    mesh = common_device(tensor)
    topology = place_along(tensor.tensor_topology(), mesh.shape, axis, placement)
    return Tensor.divided(parts, mesh, topology)


def _operand(values: dict[str, Any]) -> tuple[Tensor, Groups, list[Array]]:
    """The tensor, the groups of its devices, and what each device has."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    groups = groups_along(tensor, values.get("cluster_axis"))
    return tensor, groups, [each.array for each in tensor.parts]


def _require_divisible(tensor: Tensor, dim: int, groups: Groups) -> None:
    extent, count = tensor.shape[dim], len(groups[0])
    if extent % count:
        raise ArgumentError(
            f"dimension {dim} of {tensor.shape} has {extent} elements, which {count} devices "
            f"cannot share evenly; pad it to a multiple of {count}"
        )


def _require_whole_tiles(tensor: Tensor, dim: int, groups: Groups) -> None:
    """RuntimeError for blocks of tiles that begin within a tile, which a card refuses."""
    block, count = tensor.shape[dim] // len(groups[0]), len(groups[0])
    is_inner = tensor.layout is Layout.TILE and dim >= len(tensor.shape) - 2
    if count > 1 and is_inner and is_strict(tensor) and block % TILE:
        raise ArgumentError(
            f"blocks of {block} along dimension {dim} begin within tiles; use blocks of a multiple "
            f"of {TILE}, or ttnn.to_layout(tensor, ttnn.ROW_MAJOR_LAYOUT) first"
        )


def added(tensor: Tensor) -> Callable[[Array, Array], Array]:
    """How devices add two arrays: each sum is rounded as the tensor is, block floats as bfloat16.

    With exact numerics nothing is rounded.
    """
    device = common_device(tensor)
    dtype = DataType.BFLOAT16 if tensor.dtype.facts.is_block else tensor.dtype
    if device.numerics is Numerics.EXACT:
        return np.add
    return lambda one, other: round_to(one + other, dtype, own=True)


# --- Operations -----------------------------------------------------------------------------------


def all_gather(values: dict[str, Any]) -> Tensor:
    """The parts of a group, one after another along a dimension, on each of its devices."""
    tensor, groups, arrays = _operand(values)
    dim = as_dimension(values["dim"], len(tensor.shape))
    if values.get("is_reversed"):
        groups = [group[::-1] for group in groups]
    whole = collectives.all_gather(np, arrays, groups, dim=dim)
    return store_parts(tensor, whole, values, PlacementReplicate(), exact=True)


def reduce_scatter(values: dict[str, Any]) -> Tensor:
    """The sum of a group, of which each device has its block along a dimension."""
    tensor, groups, arrays = _operand(values)
    dim = as_dimension(values["dim"], len(tensor.shape))
    _require_divisible(tensor, dim, groups)
    sums = collectives.reduce_scatter(np, arrays, groups, dim=dim, combine=added(tensor))
    return store_parts(tensor, sums, values, PlacementShard(dim), exact=False)


def all_reduce(values: dict[str, Any]) -> Tensor:
    """The sum of a group on each of its devices."""
    tensor, groups, arrays = _operand(values)
    if values.get("math_op", ReduceType.Sum) not in (None, ReduceType.Sum):
        raise ArgumentError(f"math_op is ttnn.ReduceType.Sum, not {values['math_op']}")
    sums = collectives.all_reduce(arrays, groups, combine=added(tensor))
    return store_parts(tensor, sums, values, PlacementReplicate(), exact=False)


def all_broadcast(values: dict[str, Any]) -> list[Tensor]:
    """The parts of a group as a list of tensors, all of them on each device."""
    tensor, groups, arrays = _operand(values)
    require_line(tensor, values.get("cluster_axis"))
    return [
        store_parts(tensor, each, values, PlacementReplicate(), exact=True)
        for each in collectives.all_broadcast(np, arrays, groups)
    ]


def mesh_partition(values: dict[str, Any]) -> Tensor:
    """The block along a dimension that the place of a device in its group says."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    axis, mesh = values.get("cluster_axis"), common_device(tensor)
    dim = as_dimension(values["dim"], len(tensor.shape))
    if is_integer(axis) and 0 <= axis < mesh.shape.dims() and mesh.shape[axis] == 1:
        return store_parts(tensor, [each.array for each in tensor.parts], values, _COPY, exact=True)
    groups = groups_along(tensor, axis)
    _require_divisible(tensor, dim, groups)
    _require_whole_tiles(tensor, dim, groups)
    arrays = [each.array for each in tensor.parts]
    blocks = collectives.partition(np, arrays, groups, dim=dim)
    return store_parts(tensor, blocks, values, PlacementShard(dim), exact=True)


_COPY = PlacementReplicate()


def broadcast(values: dict[str, Any]) -> Tensor:
    """The part of one device on all that are in its group; elsewhere zeros."""
    tensor, groups, arrays = _operand(values)
    axis = values.get("cluster_axis")
    require_line(tensor, axis)
    sender = _device_at(tensor, values["sender_coord"], "sender_coord")
    [group] = [group for group in groups if sender in group]
    sent = collectives.broadcast(np, arrays, [group], root=group.index(sender))
    return store_parts(tensor, sent, values, PlacementReplicate(), exact=True)


def point_to_point(values: dict[str, Any]) -> Tensor:
    """The part of one device on another one.

    The other devices keep what the output tensor has there; without one they have zeros.
    """
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    common_device(tensor)
    sender = _device_at(tensor, values["sender_coord"], "sender_coord")
    receiver = _device_at(tensor, values["receiver_coord"], "receiver_coord")
    if tensor.is_sharded() and is_strict(tensor):
        raise ArgumentError("it takes interleaved tensors; use ttnn.to_memory_config first")
    arrays = [each.array for each in tensor.parts]
    results = collectives.collective_permute(np, arrays, [(sender, receiver)])
    if (output := values.get("output_tensor")) is not None:
        held = [each.array for each in require_tensor(output, "output_tensor").parts]
        results = [*held[:receiver], results[receiver], *held[receiver + 1 :]]
    topology = tensor.tensor_topology()
    made = store_parts(tensor, results, values, PlacementReplicate(), exact=True)
    if output is None and (divided := made.mesh_storage) is not None:
        divided.topology = topology
    return made


def _device_at(tensor: Tensor, place: Any, name: str) -> int:
    """The number of a device in the mesh of a tensor; RuntimeError if it has none there."""
    mesh = common_device(tensor)
    if not isinstance(place, MeshCoordinate):
        raise ArgumentTypeError(
            f"{name} is a ttnn.MeshCoordinate(row, column), not {spell_value(place)}"
        )
    if place.dims() != mesh.shape.dims() or any(
        index >= extent for index, extent in zip(place, mesh.shape, strict=True)
    ):
        raise ArgumentError(f"{name}={place} is outside of the mesh, which is a {mesh.shape}")
    return mesh.index_of(place)


def all_to_all(values: dict[str, Any]) -> Tensor:
    """A tensor that devices share along `in_dim`, shared along `out_dim` instead."""
    tensor, groups, arrays = _operand(values)
    rank = len(tensor.shape)
    in_dim, out_dim = as_dimension(values["in_dim"], rank), as_dimension(values["out_dim"], rank)
    values = {**values, "output_tensor": values["persistent_output_buffer"]}
    _require_divisible(tensor, out_dim, groups)
    _require_whole_tiles(tensor, out_dim, groups)
    results = collectives.all_to_all(np, arrays, groups, split_dim=out_dim, concat_dim=in_dim)
    return store_parts(tensor, results, values, PlacementShard(out_dim), exact=True)


def gather_each(values: dict[str, Any]) -> list[Tensor]:
    """What `all_gather` makes of each of several tensors, in the buffers that are given."""
    tensors, buffers = values["input_tensor"], values["persistent_output_buffer"]
    for name, each in (("input_tensor", tensors), ("persistent_output_buffer", buffers)):
        if not isinstance(each, list | tuple):
            raise ArgumentTypeError(f"{name} is a list of tensors, not {spell_value(each)}")
    if len(tensors) != len(buffers):
        raise ArgumentError(
            f"input_tensor has {plural(len(tensors), 'tensor')}, persistent_output_buffer "
            f"{len(buffers)}"
        )
    return [
        all_gather({**values, "input_tensor": tensor, "output_tensor": buffer})
        for tensor, buffer in zip(tensors, buffers, strict=True)
    ]


# --- Calls ----------------------------------------------------------------------------------------

_TRAVEL = "subdevice_id, num_links, topology"
_TUNING = "chunks_per_sync, num_workers_per_link, num_buffers_per_channel"
_MEMORY = "cluster_axis=None, memory_config=None"


def _async(
    function: Callable[[dict[str, Any]], Any], name: str, text: str, *needed: str, **more: Any
) -> Operation:
    """An operation whose arguments after the tensor come in several orders: types tell them apart.

    `needed` are arguments that have no default in any order.
    """
    full = f"experimental.{name}"
    signature = Signature(f"ttnn.{full}", f"input_tensor, *, {text}")

    def call(input_tensor: Any, *others: Any, **named: Any) -> Any:
        for value in others:
            if value is None:
                # No buffer: what the call makes without one.
                continue
            key = next(
                (key for key in _arguments_for(value) if key in signature.defaults.keys() - named),
                None,
            )
            if key is None:
                raise ArgumentTypeError(
                    f"the argument {spell_value(value)} is none of those that are left of "
                    f"({signature.text})"
                )
            named[key] = value
        values = signature.bind((input_tensor,), named)
        for each in needed:
            if values[each] is None:
                raise ArgumentTypeError(
                    f"ttnn.{full} is missing argument '{each}'; it takes ({signature.text})"
                )
        output = values.pop("persistent_output_buffer", None)
        output = values.pop("persistent_output_tensor", None) if output is None else output
        buffers = values.pop("persistent_output_buffers", None)
        if buffers:
            output = buffers[-1]
        return function({**values, "output_tensor": output, **more})

    call.__doc__ = f"ttnn.{full}({signature.text})"
    return Operation(full, call, crosses_devices=True)


def _arguments_for(value: Any) -> tuple[str, ...]:
    """The arguments that a positional value may be, by its type."""
    from ttmlir.metalium.buffers import GlobalSemaphore
    from ttmlir.ttnn.device.mesh import MeshDevice

    if isinstance(value, list | tuple):
        first = next(iter(cast("Sequence[Any]", value)), None)
        if isinstance(first, Tensor):
            return ("persistent_output_buffers",)
        value = first
    kinds: list[tuple[type, tuple[str, ...]]] = [
        (Tensor, ("persistent_output_buffer", "buffer_tensor")),
        (MeshDevice, ("mesh_device",)),
        (Topology, ("topology",)),
        (ReduceType, ("math_op",)),
        (GlobalSemaphore, ("multi_device_global_semaphore",)),
    ]
    # Members of enumerations are integers, too.
    numbers = ("dim", "cluster_axis") if is_integer(value) else ()
    return next((names for kind, names in kinds if isinstance(value, kind)), numbers)


def _of_text(name: str, function: Callable[[dict[str, Any]], Any], text: str) -> Operation:
    return Operation(name, function, text, crosses_devices=True)


_GATHER = (
    f"dim, multi_device_global_semaphore=None, mesh_device=None, {_MEMORY}, "
    "persistent_output_buffer=None, persistent_output_tensor=None, use_optimal_ccl_for_llama, "
    f"use_broadcast, barrier_semaphore, sub_core_grids, {_TRAVEL}, {_TUNING}"
)
_SEMAPHORE = "multi_device_global_semaphore"

OPERATIONS: dict[str, Operation] = table_of(
    _of_text(
        "all_gather",
        all_gather,
        f"input_tensor, dim, *, {_MEMORY}, output_tensor=None, sub_core_grids, {_TRAVEL}, "
        f"{_TUNING}, use_l1_small_for_semaphores",
    ),
    _of_text(
        "reduce_scatter",
        reduce_scatter,
        f"input_tensor, dim, *, {_MEMORY}, output_tensor=None, intermediate_memory_config, "
        f"compute_kernel_config, {_TRAVEL}, {_TUNING}, use_l1_small_for_semaphores",
    ),
    _of_text("all_reduce", all_reduce, f"input_tensor, *, {_MEMORY}, {_TRAVEL}"),
    _of_text(
        "all_broadcast",
        all_broadcast,
        f"input_tensor, *, {_MEMORY}, {_TRAVEL}, use_l1_small_for_semaphores",
    ),
    _of_text("broadcast", broadcast, f"input_tensor, sender_coord, *, {_MEMORY}, {_TRAVEL}"),
    _of_text(
        "point_to_point",
        point_to_point,
        "input_tensor, sender_coord, receiver_coord, *, output_tensor=None, intermediate_tensor, "
        "topology",
    ),
    _of_text(
        "mesh_partition",
        mesh_partition,
        "input_tensor, dim, cluster_axis=None, *, memory_config=None",
    ),
    _async(all_gather, "all_gather_async", _GATHER, _SEMAPHORE),
    _async(all_gather, "all_gather_async_reversed", _GATHER, _SEMAPHORE, is_reversed=True),
    _async(
        reduce_scatter,
        "reduce_scatter_minimal_async",
        f"dim, multi_device_global_semaphore=None, {_MEMORY}, persistent_output_buffers=None, "
        f"barrier_semaphore, intermediate_memory_config, compute_kernel_config, {_TRAVEL}, "
        f"{_TUNING}",
        _SEMAPHORE,
    ),
    _async(
        all_gather,
        "strided_all_gather_async",
        f"dim, multi_device_global_semaphore=None, {_MEMORY}, persistent_output_buffer=None, "
        f"mm_cores_y=None, mm_block_ht=None, mm_block_wt=None, {_TRAVEL}, num_workers_per_link, "
        "num_buffers_per_channel",
        _SEMAPHORE,
    ),
    _async(
        reduce_scatter,
        "strided_reduce_scatter_async",
        f"dim, multi_device_global_semaphore=None, {_MEMORY}, persistent_output_buffers=None, "
        "mm_block_ht, mm_block_wt, mm_cores_y=None, mm_N_full_block_wt=None, "
        "chunk_width_in_mm_blocks=None, barrier_semaphore, intermediate_memory_config, "
        f"{_TRAVEL}, num_workers_per_link, num_buffers_per_channel",
        _SEMAPHORE,
    ),
    _async(
        all_reduce,
        "all_reduce_async",
        f"math_op=None, num_devices=None, mesh_device=None, {_MEMORY}, barrier_semaphores, "
        "rs_global_semaphores, ag_global_semaphores, multi_device_global_semaphore, "
        f"buffer_tensor=None, dtype=None, {_TRAVEL}, use_noc1_only, use_optimal_ccl_for_llama, "
        "fp32_dest_acc",
    ),
    _of_text(
        "experimental.all_to_all_async_generic",
        all_to_all,
        f"input_tensor, in_dim, out_dim, *, {_MEMORY}, persistent_output_buffer=None, {_TRAVEL}",
    ),
    _of_text(
        "experimental.all_to_all_async",
        all_to_all,
        "input_tensor, persistent_intermediate_buffer, persistent_output_buffer, in_dim, out_dim, "
        f"multi_device_global_semaphore, *, memory_config=None, {_TRAVEL}",
    ),
    _of_text(
        "experimental.ring_attention_all_gather_async",
        gather_each,
        "input_tensor, persistent_output_buffer, dim, *, multi_device_global_semaphore=None, "
        f"cluster_axis, mesh_device=None, memory_config=None, {_TRAVEL}",
    ),
)
