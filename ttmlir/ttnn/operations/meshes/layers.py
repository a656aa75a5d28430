"""Layers of models over several devices: attention in rings, tokens that go to experts, halos.

Arguments that say how data travel are taken and change nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.optable import collectives
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.attention.transformer import attend, before, scale_of
from ttmlir.ttnn.operations.meshes.collectives import groups_along, store_parts
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_dimension,
    as_places,
    common_device,
    is_integer,
    require_tensor,
    table_of,
)
from ttmlir.ttnn.operations.signature import spell_value
from ttmlir.ttnn.tensor.distribution import Placement, PlacementReplicate, PlacementShard
from ttmlir.ttnn.tensor.tensor import Tensor

Groups = list[list[int]]


def _arrays_of(*tensors: Tensor) -> list[list[Array]]:
    """What each device has of each tensor; RuntimeError unless all are on the same devices."""
    common_device(*tensors)
    return [[part.array for part in each.parts] for each in tensors]


def _place_of(groups: Groups, device: int) -> tuple[list[int], int]:
    """The group of a device, and its place in it."""
    group = next(each for each in groups if device in each)
    return group, group.index(device)


def _stored(
    tensor: Tensor, arrays: Sequence[Array], values: dict[str, Any], axis: Any, place: Placement
) -> Tensor:
    config = values.get("memory_config")
    given = {"memory_config": config, "cluster_axis": axis, "output_tensor": None}
    return store_parts(tensor, arrays, given, place, exact=False)


def _tensors(values: dict[str, Any], *names: str) -> list[Tensor]:
    """Tensors of four dimensions; TypeError and RuntimeError for what is none."""
    found = [require_tensor(values[name], name) for name in names]
    for name, each in zip(names, found, strict=True):
        if len(each.shape) != 4:
            raise ArgumentError(f"{name} has {each.shape}; it must have four dimensions")
    return found


def _integer(values: dict[str, Any], name: str) -> int:
    """An argument that is an integer; TypeError for what is none."""
    if not is_integer(values[name]):
        raise ArgumentTypeError(f"{name} is an integer, not {spell_value(values[name])}")
    return int(values[name])


def _integers(values: dict[str, Any], name: str) -> Sequence[int]:
    """An argument that is a list of integers; TypeError for what is none."""
    given = values[name]
    listed = cast("Sequence[Any]", given) if isinstance(given, list | tuple) else ()
    if not listed or not all(map(is_integer, listed)):
        raise ArgumentTypeError(f"{name} is a list of integers, not {spell_value(values[name])}")
    return listed


def _one_of(values: dict[str, Any], name: str, *known: str) -> str:
    """An argument that is one of some words; RuntimeError for what is none."""
    given = values[name]
    if not isinstance(given, str) or given not in known:
        listed = " or ".join(map(repr, known))
        raise ArgumentError(f"{name} is {listed}, not {spell_value(given)}")
    return given


def _refuse_given(values: dict[str, Any], *names: str) -> None:
    """RuntimeError for arguments with another value than that for their absence."""
    for name in names:
        if not (values[name] is None or (is_integer(values[name]) and values[name] == 0)):
            raise ArgumentError(
                f"{name}={spell_value(values[name])} is not supported; leave it out"
            )


# --- Attention ------------------------------------------------------------------------------------


def _ring_joint(values: dict[str, Any]) -> tuple[Tensor, ...]:
    """Attention of sequences that devices share, and of one behind them that each of them has.

    Also gives what joins parts of keys: the maxima of the scores of rows, and below them the sums
    of exponentials of what scores lack to those.
    """
    return _ring(values, _statistics)


def _exp_ring_joint(values: dict[str, Any]) -> tuple[Tensor, ...]:
    """The same, with the logarithms of the sums of exponentials of scores."""
    return _ring(values, _log_sums)


def _ring(values: dict[str, Any], summarize: Callable[..., Array]) -> tuple[Tensor, ...]:
    _refuse_given(values, *(each for each in _NOT_IN_RINGS if each in values))
    _one_of(values, "joint_strategy", "rear")
    first = _tensors(values, *_INPUTS)
    joint = [values[name] for name in _JOINTS]
    if any(each is None for each in joint) != all(each is None for each in joint):
        raise ArgumentError("the three joint tensors are given together, or none of them")
    causal = bool(values.get("is_causal"))
    if causal and joint[0] is not None:
        raise ArgumentError("causal attention takes no joint tensors; leave them out")
    dim = as_dimension(values["dim"], 4)
    if dim != 2:
        raise ArgumentError(f"dim is that of the sequence, 2, not {dim}")
    groups = groups_along(first[0], values["cluster_axis"])
    queries, keys, numbers = _arrays_of(*first)
    rear = [[None] * len(queries)] * 3
    if joint[0] is not None:
        rear = _arrays_of(*_tensors(values, *_JOINTS))
    length = _length_of(values["logical_n"], keys[0].shape[2] * len(groups[0]))
    whole = [collectives.all_gather(np, each, groups, dim=2) for each in (keys, numbers)]
    results: list[tuple[Array, Array, Array]] = []
    for device, query in enumerate(queries):
        _, place = _place_of(groups, device)
        rows = query.shape[2]
        sides = [each[device][:, :, :length] for each in whole]
        if rear[0][device] is not None:
            query, *sides = (
                np.concatenate([one, cast("Array", other[device])], 2)
                for one, other in zip((query, *sides), rear, strict=True)
            )
        mask = before(_numbers(place * rows, rows), sides[0].shape[2]) if causal else None
        scale = scale_of(values, first[0])
        found = attend(query, sides[0], sides[1], mask, scale).astype(np.float32)
        sums = summarize(query, sides[0], mask, scale)
        results.append((found[:, :, :rows], found[:, :, rows:], sums))
    for buffer, gathered in zip(("k", "v"), whole, strict=True):
        output = values[f"persistent_output_buffer_{buffer}"]
        if output is not None:
            given = {"output_tensor": output}
            store_parts(first[0], gathered, given, PlacementReplicate(), exact=True)
    axis = values["cluster_axis"]
    sequence, behind, sums = (list(each) for each in zip(*results, strict=True))
    placed = (PlacementShard(2), PlacementReplicate(), PlacementShard(2))
    return tuple(
        _stored(first[0], each, {}, axis, place)
        for each, place in zip((sequence, behind, sums), placed, strict=True)
    )


_INPUTS = ("input_tensor_q", "input_tensor_k", "input_tensor_v")
_JOINTS = ("joint_tensor_q", "joint_tensor_k", "joint_tensor_v")
_NOT_IN_RINGS = (
    *("logical_l", "is_balanced", "is_cross", "kv_cache_batch_idx", "kv_actual_isl"),
    *("attention_sink", "sliding_window_size", "circular_kv_cache", "slot_id"),
    *("kv_actual_isl_tensor", "kv_cache_num_layers", "kv_cache_layer_idx", "kv_valid_end_tensor"),
)
"""Arguments of other forms of the same attention."""


def _length_of(given: Any, most: int) -> int:
    """How many keys there are before the padding; RuntimeError for more than devices have."""
    if isinstance(given, Tensor) and given.parts[0].array.size:
        given = int(given.parts[0].array.reshape(-1)[0])
    if not is_integer(given) or not 0 < given <= most:
        raise ArgumentError(
            f"logical_n is from 1 to {most}, what devices have, not {spell_value(given)}"
        )
    return int(given)


def _numbers(start: int, count: int) -> Array:
    """So many numbers from the first one on."""
    return np.arange(start, start + count)


def _statistics(query: Array, key: Array, mask: Array | None, scale: float) -> Array:
    """The maxima of scores, and sums of exponentials less those, one below the other."""
    key = np.repeat(key, query.shape[1] // key.shape[1], 1)
    scores = query.astype(np.float64) @ key.astype(np.float64).swapaxes(2, 3) * scale
    if mask is not None:
        scores = np.where(mask, scores, -math.inf)
    top = scores.max(3, keepdims=True)
    sums = np.exp(scores - top).sum(3, keepdims=True)
    return np.concatenate([top, sums], 2).astype(np.float32)


def _log_sums(query: Array, key: Array, mask: Array | None, scale: float) -> Array:
    """The logarithms of the sums of exponentials of scores."""
    top, sums = np.split(_statistics(query, key, mask, scale), 2, 2)
    return top + np.log(sums)


def _ring_distributed(values: dict[str, Any]) -> Tensor:
    """Causal attention of which a device computes two blocks of rows: an early and a late one."""
    _refuse_given(values, "page_table", "chunk_start_idx")
    given = _tensors(values, *_INPUTS)
    scale = scale_of(values, given[0])
    size = _integer(values, "ring_size")
    ring_id = None if values["ring_id"] is None else _integer(values, "ring_id")
    queries, keys, numbers = _arrays_of(*given)
    rows = queries[0].shape[2]
    if size < 1 or rows % (2 * size):
        raise ArgumentError(
            f"a sequence of {rows} is not divided into two blocks for each of ring_size={size} "
            "devices"
        )
    block = rows // (2 * size)
    results: list[Array] = []
    for device, query in enumerate(queries):
        place = _place_in_ring(given[0], device, size) if ring_id is None else ring_id
        if not 0 <= place < size:
            raise ArgumentError(f"ring_id={place} is not from 0 to {size - 1}")
        starts = (place * block, (2 * size - 1 - place) * block)
        chosen = np.concatenate([_numbers(start, block) for start in starts])
        mask = before(chosen, keys[device].shape[2])
        found = attend(query[:, :, chosen], keys[device], numbers[device], mask, scale)
        results.append(found.astype(np.float32))
    return _stored(given[0], results, values, None, PlacementShard(2))


def _place_in_ring(tensor: Tensor, device: int, size: int) -> int:
    """The place of a device in the ring: along the axis with as many, or among all."""
    shape = tuple(common_device(tensor).shape)
    if math.prod(shape) == size:
        return device
    places = np.unravel_index(device, shape)
    axes = [axis for axis, extent in enumerate(shape) if extent == size]
    if len(axes) != 1:
        raise ArgumentError(f"no axis of {list(shape)} alone has ring_size={size}; give ring_id")
    return int(places[axes[0]])


# --- Experts --------------------------------------------------------------------------------------


def _experts_of(mapping: Array, devices: int) -> list[list[int]]:
    """The experts of each device, by a table of ones and zeros (1, 1, experts, devices)."""
    if mapping.ndim != 4 or mapping.shape[:2] != (1, 1) or mapping.shape[3] != devices:
        raise ArgumentError(
            f"expert_mapping_tensor has {list(mapping.shape)}; it is (1, 1, experts, {devices})"
        )
    return [[int(each) for each in np.flatnonzero(mapping[0, 0, :, d])] for d in range(devices)]


def _dispatch(values: dict[str, Any]) -> tuple[Tensor, Tensor]:
    """Tokens on the devices of their experts, other rows 0, and the experts of all tokens."""
    names = ("input_tensor", "expert_indices_tensor", "expert_mapping_tensor")
    tokens, indices, mapping = _tensors(values, *names)
    axis, dim = values["cluster_axis"], _integer(values, "output_concat_dim")
    groups = groups_along(tokens, axis)
    rows, chosen, tables = _arrays_of(tokens, indices, mapping)
    if rows[0].shape[:3] != chosen[0].shape[:3] or rows[0].shape[1] != 1:
        raise ArgumentError(
            f"tokens have {tokens.shape}, their experts {indices.shape}; they are (B, 1, S, H) and "
            "(B, 1, S, K)"
        )
    if dim not in (1, 2):
        raise ArgumentError(f"output_concat_dim is 1 (batch) or 2 (sequence), not {dim}")
    gathered = [
        collectives.all_gather(np, [each.swapaxes(0, 1) for each in part], groups, dim=dim)
        for part in (rows, chosen)
    ]
    experts = _experts_of(tables[0], len(rows))
    kept = [
        np.where(np.isin(as_places(ids), own).any(-1, keepdims=True), row, 0).astype(row.dtype)
        for row, ids, own in zip(*gathered, experts, strict=True)
    ]
    sparse = _stored(tokens, kept, values, axis, PlacementShard(0))
    return sparse, _stored(indices, gathered[1], values, axis, PlacementReplicate())


def _combine(values: dict[str, Any]) -> Tensor:
    """What experts made of tokens, on the devices of the tokens: a row for each choice of a token.

    Rows of experts that are on none of the devices of the group are 0.
    """
    names = ("input_tensor", "expert_metadata_tensor", "expert_mapping_tensor")
    tokens, metadata, mapping = _tensors(values, *names)
    _refuse_given(values, "local_reduce")
    axis, dim = values["cluster_axis"], _integer(values, "output_shard_dim")
    if axis is None:
        raise ArgumentError("cluster_axis is 0 or 1, not None")
    if dim not in (1, 2):
        raise ArgumentError(f"output_shard_dim is 1 (batch) or 2 (sequence), not {dim}")
    groups = groups_along(tokens, axis)
    made, chosen, tables = _arrays_of(tokens, metadata, mapping)
    experts = _experts_of(tables[0], len(made))
    if chosen[0].shape[:3] != (1, *made[0].shape[1:3]):
        raise ArgumentError(
            f"input_tensor has {tokens.shape}, expert_metadata_tensor {metadata.shape}; they are "
            "(experts of a device, B, S, H) and (1, B, S, K)"
        )
    if any(len(own) != made[0].shape[0] for own in experts):
        raise ArgumentError(
            f"input_tensor has rows of {made[0].shape[0]} experts on each device, "
            "expert_mapping_tensor has others"
        )
    wholes: list[Array] = []
    for device, ids in enumerate(chosen):
        group, _ = _place_of(groups, device)
        ids = np.moveaxis(as_places(ids[0]), 2, 0)
        whole = np.zeros((*ids.shape, made[0].shape[3]), made[0].dtype)
        for other in group:
            for place, expert in enumerate(experts[other]):
                hit = ids == expert
                whole[hit] = np.broadcast_to(made[other][place], whole.shape)[hit]
        wholes.append(whole)
    _require_even(tokens, chosen[0].shape[dim], len(groups[0]), dim)
    parts = collectives.partition(np, wholes, groups, dim=dim)
    values = {**values, "cluster_axis": axis}
    return store_parts(tokens, parts, values, PlacementShard(dim), exact=True)


def _require_even(tensor: Tensor, extent: int, count: int, dim: int) -> None:
    if extent % count:
        raise ArgumentError(
            f"dimension {dim} has {extent} elements, which {count} devices cannot share evenly"
        )


def _remap_experts(values: dict[str, Any]) -> tuple[Tensor, Tensor]:
    """The scores of a device's own experts, and which of them blocks of tokens have."""
    names = ("topk_tensor", "expert_mapping_tensor", "expert_metadata_tensor")
    scores, mapping, metadata = _tensors(values, *names)
    size = _integer(values, "reduction_size")
    listed, tables, chosen = _arrays_of(scores, mapping, metadata)
    if chosen[0].shape[:3] != listed[0].shape[:3]:
        raise ArgumentError(
            f"topk_tensor has {scores.shape}, expert_metadata_tensor {metadata.shape}; they are "
            "(1, B, S, experts) and (1, B, S, K)"
        )
    tokens = math.prod(listed[0].shape[:3])
    if size < 1 or tokens % size:
        raise ArgumentError(f"reduction_size={size} does not divide {tokens} tokens")
    experts = _experts_of(tables[0], len(listed))
    mapped: list[Array] = []
    for part, ids, own in zip(listed, chosen, experts, strict=True):
        is_chosen = (as_places(ids)[..., None] == np.array(own)).any(-2)
        mapped.append(np.where(is_chosen, part[..., own], 0).astype(part.dtype))
    used = [
        (each.reshape(-1, size, each.shape[-1]) != 0).any(1)[None, None].astype(chosen[0].dtype)
        for each in mapped
    ]
    placed = PlacementShard(3)
    own_scores = store_parts(
        scores,
        mapped,
        {**values, "output_tensor": values["optional_output_mapping_tensor"]},
        placed,
        exact=True,
    )
    reduced = store_parts(
        metadata,
        used,
        {**values, "output_tensor": values["optional_output_reduced_tensor"]},
        PlacementShard(3),
        exact=True,
    )
    return own_scores, reduced


def _remap_routing(values: dict[str, Any]) -> Tensor:
    """Of the weights that are not 0, those that the place of a device says; the others 0."""
    weights = require_tensor(values["routing_weights_tensor"], "routing_weights_tensor")
    count = _integer(values, "non_zero_weight_size")
    parallel = _integer(values, "expert_parallel_size")
    groups = groups_along(weights, values["cluster_axis"])
    if parallel != len(groups[0]) or count % parallel:
        raise ArgumentError(
            f"expert_parallel_size={parallel} is the {len(groups[0])} devices along cluster_axis, "
            f"and divides non_zero_weight_size={count}"
        )
    share = count // parallel
    results: list[Array] = []
    for device, part in enumerate(weights.parts):
        _, place = _place_of(groups, device)
        numbers = part.array
        order = np.cumsum(numbers != 0, axis=-1) - 1
        is_own = (order // share == place) & (numbers != 0)
        results.append(np.where(is_own, numbers, 0).astype(numbers.dtype))
    given = {**values, "output_tensor": values["optional_output_tensor"]}
    return store_parts(weights, results, given, PlacementShard(1), exact=True)


# --- Rows of neighbours ---------------------------------------------------------------------------


def _pad_by_neighbors(values: dict[str, Any]) -> Tensor:
    """The tensor with the last rows of the device before, and the first ones of that behind."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    mode = _one_of(values, "padding_mode", "zeros", "replicate")
    names = ("dim", "padding_left", "padding_right", "cluster_axis")
    lists = [_integers(values, name) for name in names]
    if len({len(each) for each in lists}) != 1:
        raise ArgumentError("dim, paddings and cluster_axis have an entry for each dimension")
    _refuse_given(values, "logical_h", "t_front_pad")
    arrays = [part.array for part in tensor.parts]
    for dim, left, right, axis in zip(*lists, strict=True):
        axis_of = as_dimension(dim, len(tensor.shape))
        if max(left, right) > tensor.shape[axis_of] or min(left, right) < 0:
            raise ArgumentError(
                f"paddings of {left} and {right} rows are not in the {tensor.shape[axis_of]} rows "
                "of a neighbor"
            )
        groups = groups_along(tensor, axis)
        padded: list[Array] = []
        for device, array in enumerate(arrays):
            group, place = _place_of(groups, device)
            previous = arrays[group[place - 1]] if place else None
            following = arrays[group[place + 1]] if place + 1 < len(group) else None
            padded.append(
                np.concatenate(
                    [
                        _edge(array, previous, axis_of, left, mode, is_left=True),
                        array,
                        _edge(array, following, axis_of, right, mode, is_left=False),
                    ],
                    axis_of,
                )
            )
        arrays = padded
    given = {**values, "cluster_axis": None, "output_tensor": values["persistent_output_buffer"]}
    made = store_parts(tensor, arrays, given, PlacementReplicate(), exact=True)
    if (divided := made.mesh_storage) is not None:
        divided.topology = tensor.tensor_topology()
    return made


def _edge(
    array: Array, neighbor: Array | None, axis: int, count: int, mode: str, *, is_left: bool
) -> Array:
    """The rows of a neighbor; where there is none, zeros or the outermost row again."""
    extent = array.shape[axis]
    if neighbor is not None:
        extent = neighbor.shape[axis]
        rows = range(extent - count, extent) if is_left else range(count)
        return neighbor.take(rows, axis)
    rows = array.take([0 if is_left else extent - 1] * count, axis)
    return rows if mode == "replicate" else np.zeros_like(rows)


def _slice_reshard(values: dict[str, Any]) -> Tensor:
    """A part of what devices have together along a dimension, shared evenly again."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    dim, axis = as_dimension(values["dim"], len(tensor.shape)), values["cluster_axis"]
    groups = groups_along(tensor, axis)
    start, extent = _integer(values, "output_dim_offset"), _integer(values, "output_dim_shape")
    whole = collectives.all_gather(np, [part.array for part in tensor.parts], groups, dim=dim)
    if start < 0 or extent < 1 or start + extent > whole[0].shape[dim]:
        raise ArgumentError(
            f"rows {start} to {start + extent} are not in the {whole[0].shape[dim]} of all devices"
        )
    _require_even(tensor, extent, len(groups[0]), dim)
    cut = [each.take(range(start, start + extent), dim) for each in whole]
    parts = collectives.partition(np, cut, groups, dim=dim)
    return store_parts(tensor, parts, values, PlacementShard(dim), exact=True)


# --- Signatures -----------------------------------------------------------------------------------

_TRAVEL = "subdevice_id, num_links, topology"
_SEMAPHORE = "multi_device_global_semaphore"
_RING = (
    f"{', '.join(_INPUTS)}, {', '.join(f'{name}=None' for name in _JOINTS)}, *, "
    "persistent_output_buffer_k, persistent_output_buffer_v, joint_strategy, logical_n, "
    f"program_config, scale=None, compute_kernel_config, dim, {_SEMAPHORE}, cluster_axis, "
    f"mesh_device, {_TRAVEL}"
)


def _crossing(name: str, function: Callable[[dict[str, Any]], Any], text: str) -> Operation:
    return Operation(name, function, text, crosses_devices=True)


OPERATIONS: dict[str, Operation] = table_of(
    _crossing(
        "transformer.ring_joint_scaled_dot_product_attention",
        _ring_joint,
        f"{_RING}, logical_l=0, ccl_core_grid_offset, use_column_major_ccl=False, is_causal=False, "
        "is_balanced=False, is_cross=False, kv_cache_batch_idx=None, kv_actual_isl=None, "
        "attention_sink=None, sliding_window_size=None, circular_kv_cache=False, "
        "persistent_output_buffer_joint_k=None, persistent_output_buffer_joint_v=None, "
        "slot_id=None, kv_actual_isl_tensor=None, kv_cache_num_layers=None, "
        "kv_cache_layer_idx=None, kv_valid_end_tensor=None",
    ),
    _crossing(
        "transformer.exp_ring_joint_scaled_dot_product_attention",
        _exp_ring_joint,
        f"{_RING}, num_workers_per_link, num_buffers_per_channel",
    ),
    _crossing(
        "transformer.ring_distributed_scaled_dot_product_attention",
        _ring_distributed,
        f"{', '.join(_INPUTS)}, ring_size, ring_id=None, *, scale=None, memory_config=None, "
        "program_config=None, compute_kernel_config, page_table=None, chunk_start_idx=None",
    ),
    _crossing(
        "all_to_all_dispatch",
        _dispatch,
        "input_tensor, expert_indices_tensor, expert_mapping_tensor, *, cluster_axis=None, "
        f"output_tensors=None, memory_config=None, output_concat_dim=1, {_TRAVEL}",
    ),
    _crossing(
        "all_to_all_combine",
        _combine,
        "input_tensor, expert_metadata_tensor, expert_mapping_tensor, *, local_reduce=False, "
        f"output_shard_dim=1, cluster_axis=None, memory_config=None, output_tensor=None, {_TRAVEL}",
    ),
    _crossing(
        "moe_expert_token_remap",
        _remap_experts,
        "topk_tensor, expert_mapping_tensor, expert_metadata_tensor, *, memory_config=None, "
        "optional_output_mapping_tensor=None, optional_output_reduced_tensor=None, "
        "reduction_size=16",
    ),
    _crossing(
        "moe_routing_remap",
        _remap_routing,
        "routing_weights_tensor, non_zero_weight_size, expert_parallel_size, cluster_axis, *, "
        "memory_config=None, optional_output_tensor=None",
    ),
    _crossing(
        "experimental.neighbor_pad_async",
        _pad_by_neighbors,
        "input_tensor, dim, padding_left, padding_right, padding_mode, cluster_axis, "
        "neighbor_semaphore, barrier_semaphore, *, num_links, memory_config=None, topology, "
        "persistent_output_buffer=None, logical_h=0, t_front_pad=0",
    ),
    _crossing(
        "experimental.slice_reshard_async",
        _slice_reshard,
        "input_tensor, dim, output_dim_offset, output_dim_shape, cluster_axis, final_semaphore, "
        "barrier_semaphore, *, num_links, memory_config=None, topology",
    ),
)
