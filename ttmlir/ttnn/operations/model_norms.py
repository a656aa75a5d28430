"""Norms of single models: with an activation, with heads and rotary embeddings, over devices."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.elementwise.activations import apply_activations
from ttmlir.ttnn.operations.meshes.calls import MeshCall
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    is_integer,
    operations_of,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.operations.signature import spell_value
from ttmlir.ttnn.registry import find_operation
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType
from ttmlir.ttnn.types.memory import TILE


def _per_column(parameter: Tensor | None, tensor: Tensor, neutral: float) -> Array | float:
    """A number for each column; RuntimeError for more or fewer."""
    if parameter is None:
        return neutral
    columns = tensor.shape[-1]
    numbers = require_tensor(parameter, "a parameter").array
    if numbers.size != columns:
        raise ArgumentError(f"{numbers.size} parameters for {columns} columns")
    return numbers.reshape(columns).astype(np.float64)


def _norm_and_activate(values: dict[str, Any]) -> Tensor:
    """`rms_norm` of a tensor, or of its sum with a residual, through an activation."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    residual, given = values["residual_input_tensor"], [tensor]
    x = tensor.array.astype(np.float64)
    if residual is not None:
        if require_tensor(residual, "residual_input_tensor").shape != tensor.shape:
            raise ArgumentError(f"the residual has {residual.shape}, the tensor {tensor.shape}")
        given.append(residual)
        x = x + residual.array
    device = common_device(*given)
    scale, shift = (_per_column(values[n], tensor, z) for n, z in (("weight", 1), ("bias", 0)))
    square = np.square(x).mean(-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        x = (x / np.sqrt(square + values["epsilon"]) * scale + shift).astype(np.float32)
    if values["activation"] is not None:
        x = apply_activations(x, values["activation"])
    return store(x, tuple(given), device=device, memory_config=values["memory_config"])


def _divide_heads(values: dict[str, Any], x: Array) -> Array:
    """(1, 1, rows, columns) as heads, rotated if angles are given."""
    heads = values["num_heads_per_device"]
    if not is_integer(heads) or heads < 1 or x.shape[-1] % heads:
        raise ArgumentError(
            f"{x.shape[-1]} columns are not divided into num_heads_per_device={spell_value(heads)}"
        )
    *outer, rows, columns = x.shape
    if heads > 1:
        if outer[-1:] != [1]:
            raise ArgumentError(f"heads are made of (B, 1, rows, columns), not of {list(x.shape)}")
        x = x.reshape(*outer[:-1], rows, heads, columns // heads).swapaxes(-3, -2)
    names = ("transformation_mat", "rope_cos", "rope_sin")
    angles = [values[name] for name in names]
    if all(each is None for each in angles):
        return x
    matrix, cos, sin = (
        require_tensor(each, name).array.astype(np.float64)
        for each, name in zip(angles, names, strict=True)
    )
    if matrix.shape[-2:] != (TILE, TILE) or x.shape[-1] % TILE:
        raise ArgumentError(
            f"transformation_mat has {list(matrix.shape)}; it turns columns of heads in groups of "
            f"{TILE}"
        )
    groups = x.reshape(*x.shape[:-1], -1, TILE)
    turned = (groups @ matrix.reshape(-1, TILE, TILE)[0]).reshape(x.shape)
    try:
        return x * cos + turned * sin
    except ValueError as error:
        raise ArgumentError(f"angles do not fit heads of {list(x.shape)}: {error}") from error


def _norm_with_heads(values: dict[str, Any], *, is_centered: bool = False) -> Tensor:
    """`rms_norm_post_all_gather`, or that of `layer_norm`; then heads with rotary embeddings."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    stats = require_tensor(values["stats"], "stats")
    device = common_device(tensor, stats)
    if stats.shape[:-1] != tensor.shape[:-1] or not stats.shape[-1] or stats.shape[-1] % TILE:
        raise ArgumentError(f"stats has {stats.shape}, which is not of the rows of {tensor.shape}")
    sums, step = stats.array.astype(np.float64), TILE * (1 + is_centered)
    count = tensor.shape[-1] * sums.shape[-1] // step
    mean = sums[..., TILE::step].sum(-1, keepdims=True) / count if is_centered else 0
    square = sums[..., ::step].sum(-1, keepdims=True) / count - np.square(mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        x = (tensor.array - mean) / np.sqrt(square + values["epsilon"])
        x = x * _per_column(values["weight"], tensor, 1)
    x = x + _per_column(values.get("bias"), tensor, 0)
    return store(
        _divide_heads(values, x).astype(np.float32),
        (tensor,),
        device=device,
        dtype=values["dtype"],
        memory_config=values["memory_config"],
    )


def _norm_over_devices(values: dict[str, Any], kind: str = "rms_norm") -> Tensor:
    """Rows that devices share along an axis, by the statistics of whole rows."""
    if values.get("per_head_norm") or values.get("affine_tile_row_map") is not None:
        raise ArgumentError(
            "per_head_norm and affine_tile_row_map are not supported; leave them out"
        )
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    stats = find_operation(f"{kind}_pre_all_gather")(tensor, dtype=DataType.FLOAT32)
    # Without an axis each device has rows of its own.
    if (axis := values["cluster_axis"]) is not None:
        stats = find_operation("all_gather")(stats, -1, cluster_axis=axis)
    given = {**values, "input_tensor": tensor, "stats": stats}
    norm = partial(_norm_with_heads, is_centered=kind == "layer_norm")
    call = MeshCall.of((tensor, stats), {})
    return norm(given) if call is None else call.run(lambda _, parts: norm(parts), (), given)


def _statistics(values: dict[str, Any]) -> Tensor:
    """As `rms_norm_pre_all_gather`."""
    tensor = values.pop("input_tensor")
    return find_operation("rms_norm_pre_all_gather")(tensor, **values)


def _sums_first(values: dict[str, Any]) -> Tensor:
    """As `layer_norm_pre_all_gather`, with sums before those of squares."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    found = find_operation("layer_norm_pre_all_gather")(
        tensor, dtype=values["dtype"], memory_config=values["memory_config"]
    )
    return _swap_tiles(found)


def _swap_tiles(stats: Tensor) -> Tensor:
    """Statistics of which each two tiles change places."""
    array = stats.array
    pairs = array.reshape(*array.shape[:-1], -1, 2, TILE)[..., ::-1, :]
    return store(pairs.reshape(array.shape), (stats,), device=common_device(stats), exact=True)


def _norm_by_sums(values: dict[str, Any]) -> Tensor:
    """As `layer_norm_post_all_gather`, of statistics with sums first."""
    tensor = require_tensor(values.pop("input_tensor"), "input_tensor")
    stats = require_tensor(values.pop("stats"), "stats")
    width = stats.shape[-1] if stats.shape else 0
    if not width or width % (2 * TILE):
        raise ArgumentError(f"stats has {stats.shape}; its width is a multiple of {2 * TILE}")
    if values["bias"] is None and values["weight"] is not None:
        raise ArgumentError("a weight takes a bias, too")
    return find_operation("layer_norm_post_all_gather")(tensor, _swap_tiles(stats), **values)


def composite_example(input_tensor: Tensor) -> Tensor:
    """A tensor of its own with the same numbers."""
    common_device(require_tensor(input_tensor, "input_tensor"))
    return find_operation("clone")(input_tensor)


def composite_example_multiple_return(
    input_tensor: Tensor, return_output1: bool = True, return_output2: bool = True
) -> list[Tensor | None]:
    """Two of those, or None in the place of one; RuntimeError for none."""
    if not return_output1 and not return_output2:
        raise ArgumentError("at least one output is returned; both arguments are False")
    wanted = (return_output1, return_output2)
    return [composite_example(input_tensor) if each else None for each in wanted]


_TURNED = "transformation_mat=None, rope_cos=None, rope_sin=None"
_PLAN = "memory_config=None, compute_kernel_config"

OPERATIONS: dict[str, Operation] = {
    **operations_of(composite_example, composite_example_multiple_return),
    **table_of(
        Operation(
            "experimental.dit_rms_norm_unary_fused",
            _norm_and_activate,
            "input_tensor, epsilon=1e-05, weight=None, bias=None, residual_input_tensor=None, *, "
            f"program_config=None, activation=None, {_PLAN}",
        ),
        Operation(
            "experimental.wan_fused_rmsnorm_pre_allgather",
            _statistics,
            f"input_tensor, *, dtype=None, {_PLAN}",
        ),
        Operation(
            "experimental.wan_fused_rmsnorm_post_allgather",
            _norm_with_heads,
            "input_tensor, stats, *, epsilon=1e-05, num_heads_per_device=1, weight=None, "
            f"{_TURNED}, dtype=None, {_PLAN}",
        ),
        Operation(
            "experimental.dit_layernorm_pre_allgather",
            _sums_first,
            f"input_tensor, recip_tensor, *, dtype=None, {_PLAN}",
        ),
        Operation(
            "experimental.dit_layernorm_post_allgather",
            _norm_by_sums,
            f"input_tensor, stats, *, epsilon=1e-05, weight=None, bias=None, dtype=None, {_PLAN}",
        ),
        Operation(
            "experimental.dit_fused_distributed_rmsnorm",
            _norm_over_devices,
            "input_tensor, cluster_axis, mesh_device, multi_device_global_semaphore, *, topology, "
            "epsilon=1e-05, num_heads_per_device=1, per_head_norm=False, weight=None, bias=None, "
            f"{_TURNED}, dtype=None, persistent_output_buffer=None, num_preferred_links, "
            f"subdevice_id, affine_tile_row_map=None, {_PLAN}",
            crosses_devices=True,
        ),
        Operation(
            "experimental.dit_fused_distributed_layernorm",
            partial(_norm_over_devices, kind="layer_norm"),
            "input_tensor, cluster_axis, mesh_device, multi_device_global_semaphore, *, topology, "
            f"epsilon=1e-05, num_heads_per_device=1, weight=None, bias=None, {_TURNED}, "
            "dtype=None, persistent_output_buffer=None, num_preferred_links, subdevice_id, "
            f"reciprocals, {_PLAN}",
            crosses_devices=True,
        ),
    ),
}
