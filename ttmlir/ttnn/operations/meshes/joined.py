"""Operations that join an exchange between devices with what is computed.

On a card both go on at a time; the numbers are those of one after the other, which is done here.
Arguments that say how data travel, and buffers for data on the way, are taken and change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.ttnn.operations.meshes.collectives import (
    all_gather,
    all_reduce,
    groups_along,
    reduce_scatter,
)
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_dimension,
    is_integer,
    require_tensor,
    table_of,
)
from ttmlir.ttnn.operations.signature import spell_value
from ttmlir.ttnn.registry import find_operation
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType, Layout, Topology
from ttmlir.ttnn.types.memory import DRAM_MEMORY_CONFIG, TILE

# --- Products -------------------------------------------------------------------------------------


def _multiply(values: dict[str, Any], tensor: Tensor, config: str) -> Tensor:
    """The product with the weights, by `matmul` or `linear`."""
    names = ("transpose_a", "transpose_b", "dtype", "program_config", "activation", "core_grid")
    given = {name: values[name] for name in names}
    given["memory_config"] = values[config]
    weights = require_tensor(values["weight_tensor"], "weight_tensor")
    if values["bias"] is None:
        return find_operation("matmul")(tensor, weights, **given)
    return find_operation("linear")(tensor, weights, bias=values["bias"], **given)


def _gather(
    values: dict[str, Any], dim: Any, config: str = "memory_config_ag", name: str = "input_tensor"
) -> Tensor:
    """What devices have together."""
    return all_gather(
        {
            "input_tensor": values[name],
            "dim": dim,
            "cluster_axis": values.get("cluster_axis"),
            "memory_config": values[config],
            "output_tensor": values.get("persistent_output_buffer"),
        }
    )


def _scatter(values: dict[str, Any], tensor: Tensor, config: str, output: str) -> Tensor:
    """The sum over devices, of which each has a block."""
    return reduce_scatter(
        {
            "input_tensor": tensor,
            "dim": values["dim"],
            "cluster_axis": values.get("cluster_axis"),
            "memory_config": values[config],
            "output_tensor": values.get(output),
        }
    )


def _gather_and_multiply(values: dict[str, Any]) -> list[Tensor]:
    """What devices have together, and its product with the weights."""
    whole = _gather(values, values["dim"])
    return [whole, _multiply(values, whole, "memory_config_mm")]


def _multiply_and_scatter(values: dict[str, Any]) -> list[Tensor]:
    """The product with the weights, and the sum over devices of which each has a block."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    product = _multiply(values, tensor, "memory_config_mm")
    return [product, _scatter(values, product, "memory_config_rs", "persistent_output_buffer")]


def _gather_and_multiply_for_llama(values: dict[str, Any]) -> Tensor:
    """The product of what devices have together."""
    whole = _gather(values, values["dim"], "ag_memory_config", "input_tensor0")
    return find_operation("matmul")(
        whole,
        require_tensor(values["input_tensor1"], "input_tensor1"),
        dtype=values["dtype"],
        memory_config=values["mm_memory_config"],
        program_config=values["program_config"],
    )


def _minimal(
    values: dict[str, Any], tensor: Tensor, config: str, added: tuple[str, str, str], bias: str
) -> list[Tensor]:
    """The product of `minimal_matmul`, in so many parts, or added to a tensor.

    `added` are the names of a scale, of what the product is added to, and of what it is scaled by.
    """
    scale, base, gate = (values[name] for name in added)
    given = {
        "bias_tensor": values[bias],
        "memory_config": values[config],
        "dtype": values.get("dtype"),
        "config": values["config"],
    }
    weight, activation = values["weight_tensor"], values["fused_activation"]
    chunks, swiglu = values.get("chunks", 1), values.get("fuse_swiglu", False)
    if any(each is not None for each in (scale, base, gate)):
        if any(each is None for each in (base, gate)) or chunks != 1 or activation or swiglu:
            raise ArgumentError(
                f"{added[1]} and {added[2]} are given together, without an activation and chunks"
            )
        fused = find_operation("experimental.dit_minimal_matmul_addcmul_fused")
        return [fused(tensor, weight, 1.0 if scale is None else scale, base, gate, **given)]
    given |= {"fused_activation": activation, "fuse_swiglu": swiglu}
    if chunks == 1:
        return [find_operation("experimental.minimal_matmul")(tensor, weight, **given)]
    split = find_operation("experimental.minimal_matmul_split")
    return split(tensor, weight, chunks=chunks, **given)


_ADDCMUL = ("addcmul_input_tensor1", "addcmul_input_tensor2")


def _gather_and_multiply_minimal(values: dict[str, Any]) -> list[Tensor]:
    """The product of rows that devices share; the columns of all of them are put together."""
    for name in ("fsdp_cluster_axis", "persistent_weight_buffer", "fsdp_topology"):
        if values[name] is not None:
            raise ArgumentError(f"{name} is not supported; gather the weights before the call")
    if values["chunk_sizes"] is not None:
        raise ArgumentError("chunk_sizes are not supported; chunks are parts of one size")
    whole = _gather(values, -1, "memory_config")
    return _minimal(values, whole, "memory_config", ("scalar", *_ADDCMUL), "bias_tensor")


def _gather_and_multiply_strided(values: dict[str, Any]) -> list[Tensor]:
    """What devices have together, and its product, in one or more parts."""
    whole = _gather(values, values["dim"])
    names = ("fused_ternary_scalar", "fused_ternary_input_a", "fused_ternary_input_b")
    return [whole, *_minimal(values, whole, "memory_config_mm", names, "bias")]


def _multiply_minimal_and_scatter(values: dict[str, Any]) -> list[Tensor]:
    """The product, of a tensor or of two beside each other, and its sum over devices in blocks."""
    given = values["input_tensor"]
    if isinstance(given, list | tuple):
        listed = cast("Sequence[Any]", given)
        if len(listed) != 2:
            raise ArgumentError(f"input_tensor is one tensor or two, not {len(listed)}")
        tensor = find_operation("concat")([*listed], -1)
    else:
        tensor = require_tensor(given, "input_tensor")
    names = ("fused_ternary_scalar", *_ADDCMUL)
    [product] = _minimal(values, tensor, "memory_config_mm", names, "bias")
    return [
        product,
        _scatter(values, product, "rs_output_mem_config", "optional_rs_output_tensor"),
    ]


# --- Heads ----------------------------------------------------------------------------------------


def _reduce_and_split(values: dict[str, Any]) -> tuple[Tensor, ...]:
    """The sum over devices, and query, key and value of one token for each user of it."""
    total = all_reduce(values)
    heads = find_operation("experimental.nlp_create_qkv_heads_decode")
    names = ("num_heads", "num_kv_heads", "batch_offset", "slice_size")
    parts = heads(
        total,
        memory_config=values["final_memory_config"],
        **{name: values[name] for name in names},
    )
    if values["dtype"] is not None:
        parts = [find_operation("typecast")(each, values["dtype"]) for each in parts]
    return (total, *parts)


def _gather_and_join(values: dict[str, Any]) -> Tensor:
    """Heads of all users, side by side."""
    whole = all_gather({**values, "memory_config": None, "output_tensor": None})
    join = find_operation("experimental.nlp_concat_heads_decode")
    return join(whole, num_heads=values["num_heads"], memory_config=values["memory_config"])


# --- Norms ----------------------------------------------------------------------------------------


def _norm_rows(values: dict[str, Any]) -> Tensor:
    """`rms_norm` of rows that devices share, with a weight of 32 columns in a row."""
    if values["residual_input_tensor"] is not None:
        raise ArgumentError("residual_input_tensor is not supported; add it before the call")
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    weight = require_tensor(values["weight"], "weight")
    if len(weight.shape) != 2 or weight.shape[-1] != TILE:
        raise ArgumentError(f"weight has {weight.shape}; it is (columns / {TILE}, {TILE})")
    stats = find_operation("rms_norm_pre_all_gather")(tensor, dtype=DataType.FLOAT32)
    whole = all_gather({"input_tensor": stats, "dim": -1, "cluster_axis": values["cluster_axis"]})
    return find_operation("rms_norm_post_all_gather")(
        tensor,
        whole,
        epsilon=values["epsilon"],
        weight=find_operation("reshape")(weight, (1, 1, -1, TILE)),
        dtype=values["dtype"],
        memory_config=values["memory_config"],
    )


# --- Exchanges ------------------------------------------------------------------------------------


def _gather_into(values: dict[str, Any]) -> Tensor:
    """What devices have together, in a tensor that is given."""
    names = ("input_batch_index", "gathered_dim_size", "input_batch_index_tensor")
    names += ("gathered_prefix_tensor", "batch_slot_num_layers", "batch_slot_layer_idx")
    for name in (*names, "gathered_slab_global"):
        usual = {"batch_slot_num_layers": 1}.get(name, 0)
        if values[name] not in (None, usual):
            raise ArgumentError(f"{name} is not supported; it takes whole tensors")
    return all_gather(values)


def _reduce_and_scatter(values: dict[str, Any]) -> Tensor:
    """The sum over devices, of which each has a block, in the first of two buffers."""
    buffers = values["persistent_buffers"]
    is_list = isinstance(buffers, (list, tuple))
    given = cast("Sequence[object]", buffers if is_list else (buffers,))
    if buffers is not None and not all(isinstance(each, Tensor) for each in given):
        raise ArgumentTypeError("persistent_buffers is a list of tensors")
    return reduce_scatter({**values, "output_tensor": given[0] if given else None})


# --- Buffers --------------------------------------------------------------------------------------
# What a card keeps on the way has a form of its own there; nothing is written to it here.


def _staging(tensor: Tensor, dtype: DataType = DataType.UINT8) -> Tensor:
    return find_operation("zeros")(
        (1, 1, TILE, TILE), dtype, Layout.ROW_MAJOR, tensor.device(), DRAM_MEMORY_CONFIG
    )


def _staging_of(values: dict[str, Any]) -> Tensor:
    """The buffer for what is on the way in `reduce_scatter_minimal_direct`."""
    return _staging(require_tensor(values["input_tensor"], "input_tensor"))


def _output_and_staging(values: dict[str, Any]) -> list[Tensor]:
    """The result of `reduce_scatter_minimal_direct` before it is computed, and such a buffer."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    dim, count = as_dimension(values["dim"], len(tensor.shape)), _devices(tensor, values)
    shape = [*tensor.shape]
    if shape[dim] % count:
        raise ArgumentError(
            f"dimension {dim} of {tensor.shape} has {shape[dim]} elements, which {count} devices "
            "cannot share evenly"
        )
    shape[dim] //= count
    output = find_operation("zeros")(
        shape, tensor.dtype, tensor.layout, tensor.device(), DRAM_MEMORY_CONFIG
    )
    return [output, _staging(tensor)]


def _intermediates(values: dict[str, Any]) -> list[Tensor]:
    """Buffers for what is on the way in `reduce_scatter_minimal_async`."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    dim = as_dimension(values["dim"], len(tensor.shape))
    if values["topology"] is Topology.Linear or dim == 0:
        raise ArgumentError(
            "buffers of this form are for rings and dimensions after the first; others have the "
            "shape of the tensor"
        )
    return [_staging(tensor, tensor.dtype), _staging(tensor, tensor.dtype)]


def _statistics(values: dict[str, Any]) -> Tensor | None:
    """The buffer for statistics of rows; None where devices exchange none."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    is_alone = values["cluster_axis"] is None or values.get("per_head_norm")
    if is_alone or _devices(tensor, values) == 1:
        return None
    return _staging(tensor, DataType.FLOAT32)


def _devices(tensor: Tensor, values: dict[str, Any]) -> int:
    """How many devices exchange something."""
    return len(groups_along(tensor, values["cluster_axis"])[0])


# --- Prefetching ----------------------------------------------------------------------------------


def _prefetch(values: dict[str, Any]) -> Tensor:
    """Nothing but the checks: products read their weights themselves."""
    from ttmlir.metalium.global_buffers import GlobalCircularBuffer

    given = values["tensors"]
    if not isinstance(given, list | tuple):
        raise ArgumentTypeError(f"tensors is a list of tensors, not {spell_value(given)}")
    tensors = [require_tensor(each, "tensors") for each in cast("Sequence[Any]", given)]
    if len(tensors) < 2:
        raise ArgumentError("tensors are one weight or more, and the tensor of their addresses")
    *weights, addresses = tensors
    if values["prefetcher_pipes"]:
        raise ArgumentError("prefetcher_pipes are not supported; give a global_cb")
    if not isinstance(values["global_cb"], GlobalCircularBuffer):
        raise ArgumentError("global_cb is missing: ttnn.create_global_circular_buffer makes one")
    layers = values["num_layers"]
    if not is_integer(layers) or layers < 1:
        raise ArgumentError(f"num_layers is a number from 1 on, not {spell_value(layers)}")
    if addresses.dtype is not DataType.UINT32 or addresses.layout is not Layout.ROW_MAJOR:
        raise ArgumentError(
            "the last of the tensors has the addresses of the others: it is uint32 in rows, not "
            f"{addresses.dtype} in {addresses.layout}"
        )
    if addresses.shape[-1] < layers * len(weights):
        raise ArgumentError(
            f"each row of the tensor of addresses has {addresses.shape[-1]}, for {layers} layers "
            f"of {len(weights)} tensors"
        )
    return find_operation("zeros")(
        (TILE, TILE), DataType.BFLOAT16, Layout.TILE, weights[0].device(), DRAM_MEMORY_CONFIG
    )


# --- Signatures -----------------------------------------------------------------------------------

_TRAVEL = "subdevice_id, num_links, topology"
_SEMAPHORE = "multi_device_global_semaphore"
_WORKERS = "num_workers_per_link, num_buffers_per_channel"
_PRODUCT = (
    "transpose_a=False, transpose_b=False, dtype=None, program_config=None, activation=None, "
    f"compute_kernel_config, core_grid=None, barrier_semaphore, {_TRAVEL}"
)
_TERNARY = "fused_ternary_scalar=None"
_ADDED = "addcmul_input_tensor1=None, addcmul_input_tensor2=None"
_MINIMAL = "fused_activation=None, config=None, compute_kernel_config"
_BUFFER = "input_tensor, cluster_axis, mesh_device, *, num_heads_per_device=1, num_links"
_ROTATED = "weight=None, transformation_mat=None, rope_cos=None, rope_sin=None"
_SIGNATURES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "experimental.all_gather_matmul_async": (
        _gather_and_multiply,
        f"input_tensor, weight_tensor, persistent_output_buffer=None, *, dim, {_SEMAPHORE}, "
        "all_gather_core_grid_offset=None, bias=None, memory_config_ag=None, "
        f"memory_config_mm=None, {_PRODUCT}, chunks_per_sync, {_WORKERS}",
    ),
    "experimental.matmul_reduce_scatter_async": (
        _multiply_and_scatter,
        "input_tensor, weight_tensor, persistent_intermediate_buffer, persistent_output_buffer, "
        f"dim, {_SEMAPHORE}, reduce_scatter_core_grid_offset, *, bias=None, memory_config_rs=None, "
        f"intermediate_memory_config_rs=None, memory_config_mm=None, {_PRODUCT}",
    ),
    "experimental.llama_all_gather_matmul_async": (
        _gather_and_multiply_for_llama,
        "input_tensor0, input_tensor1, intermediate_tensor, dim, cluster_axis, mesh_device, "
        f"topology, {_SEMAPHORE}, *, num_links, ag_memory_config=None, mm_memory_config=None, "
        "subdevice_id, program_config=None, compute_kernel_config, dtype=None, global_cb=None",
    ),
    "experimental.all_gather_minimal_matmul_async": (
        _gather_and_multiply_minimal,
        f"input_tensor, weight_tensor, *, bias_tensor=None, scalar=None, {_ADDED}, {_MINIMAL}, "
        f"{_SEMAPHORE}, memory_config=None, dtype=None, persistent_output_buffer=None, "
        f"num_links, topology, cluster_axis=None, barrier_semaphore, force_transpose=True, "
        f"{_WORKERS}, chunks=1, dim=-1, fsdp_cluster_axis=None, "
        "fsdp_multi_device_global_semaphore=None, persistent_weight_buffer=None, "
        "fsdp_topology=None, fuse_swiglu=False, chunk_sizes=None",
    ),
    "experimental.strided_all_gather_minimal_matmul_async": (
        _gather_and_multiply_strided,
        f"input_tensor, weight_tensor, persistent_output_buffer, dim, {_SEMAPHORE}, "
        "strided_all_gather_core_grid_offset, *, num_links, memory_config_ag=None, topology, "
        f"cluster_axis=None, bias=None, {_MINIMAL}, memory_config_mm=None, {_WORKERS}, "
        "read_local_slice_from_input=None, fused_ternary_input_a=None, "
        f"fused_ternary_input_b=None, {_TERNARY}, chunks=1, mm_signal_aggregator_mode=None, "
        "fuse_swiglu=False",
    ),
    "experimental.minimal_matmul_strided_reduce_scatter_async": (
        _multiply_minimal_and_scatter,
        f"input_tensor, weight_tensor, dim, {_SEMAPHORE}, reduce_scatter_core_grid_offset, *, "
        f"{_MINIMAL}, num_links, memory_config_mm=None, rs_output_mem_config=None, "
        "rs_intermediate_mem_config=None, topology, cluster_axis=None, bias=None, "
        f"barrier_semaphore, using_persistent_buffers=False, sub_device_id, {_WORKERS}, "
        f"chunk_width_in_mm_blocks=None, optional_rs_output_tensor=None, {_TERNARY}, {_ADDED}, "
        "dtype=None, mm_progress_counters=None, mm_window_blocks=None, mm_credit_counters=None",
    ),
    "experimental.all_reduce_create_qkv_heads": (
        _reduce_and_split,
        "input_tensor, buffer_tensor, batch_offset, cluster_axis, mesh_device, "
        f"{_SEMAPHORE}, num_heads, *, memory_config=None, {_TRAVEL}, num_kv_heads=None, "
        "slice_size=None, final_memory_config=None, dtype=None, use_noc1_only",
    ),
    "experimental.all_gather_concat": (
        _gather_and_join,
        f"input_tensor, buffer_tensor, dim, cluster_axis, mesh_device, {_SEMAPHORE}, num_heads, "
        f"memory_config, *, use_noc1_only, {_TRAVEL}",
    ),
    "fused_rms_minimal": (
        _norm_rows,
        "input_tensor, program_config, cluster_axis, mesh_device, global_semaphore, *, "
        f"persistent_output_tensor=None, {_TRAVEL}, dtype=None, compute_kernel_config, "
        "memory_config=None, residual_input_tensor=None, epsilon=1e-12, weight=None, stats=None, "
        "use_noc1_only",
    ),
    "experimental.llama_reduce_scatter": (
        reduce_scatter,
        "input_tensor, intermediate_packet_buffer, dim, cross_device_semaphore, subdevice_id, "
        "cluster_axis, mesh_device, *, num_links, memory_config=None, topology, use_noc1_only",
    ),
    "experimental.high_bw_all_gather": (
        _gather_into,
        f"input_tensor, dim, output_tensor, *, cluster_axis, {_TRAVEL}, sub_core_grids, "
        "input_batch_index=None, gathered_dim_size=None, input_batch_index_tensor=None, "
        "batch_slot_num_layers=1, batch_slot_layer_idx=0, gathered_prefix_tensor=None, "
        "gathered_slab_global=0, ready_semaphore=None, data_valid_semaphore=None",
    ),
    "experimental.reduce_scatter_minimal_direct": (
        _reduce_and_scatter,
        "input_tensor, dim, *, cluster_axis=None, memory_config=None, persistent_buffers=None, "
        f"sub_core_grid=None, {_TRAVEL}",
    ),
    "experimental.reduce_scatter_minimal_direct_create_persistent_buffers": (
        _output_and_staging,
        "input_tensor, dim, *, cluster_axis=None",
    ),
    "experimental.reduce_scatter_minimal_direct_create_staging_buffer": (
        _staging_of,
        "input_tensor, dim, *, cluster_axis=None",
    ),
    "experimental.reduce_scatter_minimal_async_create_intermediate_buffer": (
        _intermediates,
        "input_tensor, dim, *, topology, cluster_axis=None, compute_kernel_config",
    ),
    "experimental.dit_fused_distributed_rmsnorm_create_stats_buffer": (
        _statistics,
        f"{_BUFFER}, per_head_norm=False, {_ROTATED}",
    ),
    "experimental.dit_fused_distributed_layernorm_create_stats_buffer": (
        _statistics,
        f"{_BUFFER}, {_ROTATED}",
    ),
    "dram_prefetcher": (
        _prefetch,
        "tensors, num_layers, global_cb=None, *, enable_performance_mode=False, "
        "prefetcher_pipes=None",
    ),
}

OPERATIONS: dict[str, Operation] = table_of(
    Operation(name, function, text, crosses_devices=True)
    for name, (function, text) in _SIGNATURES.items()
)
