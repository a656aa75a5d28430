"""Softmax, and normalizations: along the last dimension, of channels, of groups, in parts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ttmlir.arrays.array import Array
from ttmlir.arrays.carriers import array_of
from ttmlir.composites.normalization import (
    find_statistics,
    move_average,
    normalize,
    normalize_by,
    rms_norm,
    scale_channels,
)
from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.optable.op_definition import broadcast_shape
from ttmlir.runtime.tensor import Array as Numbers
from ttmlir.sim.machine.card_steps import ROW_STEPS
from ttmlir.ttnn.operations.elementwise.semantics import reference_of
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_dimension,
    common_device,
    is_strict,
    narrow,
    operations_of,
    require_floats,
    require_tensor,
    store,
    table_of,
    widen,
)
from ttmlir.ttnn.operations.signature import spell_value
from ttmlir.ttnn.tensor.tensor import Tensor, round_to
from ttmlir.ttnn.types.enums import DataType, Layout
from ttmlir.ttnn.types.spec import TensorSpec

if TYPE_CHECKING:
    from ttmlir.sim.machine.card_rows import Stored
    from ttmlir.ttnn.device.mesh import MeshDevice

# --- Along the last dimension ---------------------------------------------------------------------

_TAIL = "*, memory_config=None, compute_kernel_config, numeric_stable, program_config=None"
_NORM_TAIL = (
    "*, epsilon=1e-12, weight=None, bias=None, residual_input_tensor=None, memory_config=None, "
    "program_config=None, compute_kernel_config"
)


def _softmax_of(array: Numbers, dim: int) -> Numbers:
    dim = as_dimension(dim, array.ndim)
    with np.errstate(all="ignore"):
        return reference_of("softmax")(np, array, dimension=dim)


def _softmax_on_card(tensor: Tensor, values: dict[str, Any], device: MeshDevice) -> Numbers | None:
    """The bits of a card's softmax along the last dimension, where they are known."""
    if not _has_card_bits(tensor, values, device):
        return None
    if as_dimension(values["dim"], len(tensor.shape)) != len(tensor.shape) - 1:
        return None
    from ttmlir.sim.machine.card_rows import softmax_rows

    stable = values["numeric_stable"] is not False
    return softmax_rows(tensor.array, tensor.dtype.facts.storage, device.arch(), stable=stable)


def _has_card_bits(tensor: Tensor, values: dict[str, Any], device: MeshDevice) -> bool:
    """Whether an operation on rows is computed step by step, as a card does it by default."""
    by_default = values["compute_kernel_config"] is None and values["program_config"] is None
    fits = ROW_STEPS * tensor.array.size <= device.card_steps
    return fits and by_default and bool(tensor.shape) and not tensor.is_sharded()


def _require_tiled_floats(tensor: Tensor) -> None:
    """ValueError for a tensor of integers, or one in rows."""
    require_floats(tensor)
    if tensor.layout is not Layout.TILE:
        raise ArgumentError("input_tensor must be in TILE_LAYOUT; use ttnn.to_layout")


def _softmax(values: dict[str, Any]) -> Tensor:
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    device = common_device(tensor)
    _require_tiled_floats(tensor)
    result = _softmax_on_card(tensor, values, device)
    exact = result is not None
    if result is None:
        result = _softmax_of(tensor.array, values["dim"])
    config = values["memory_config"]
    return store(result, (tensor,), device=device, memory_config=config, exact=exact)


def _softmax_in_place(values: dict[str, Any]) -> Tensor:
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    device = common_device(tensor)
    _require_tiled_floats(tensor)
    result = _softmax_on_card(tensor, values, device)
    exact = result is not None
    if result is None:
        result = _softmax_of(tensor.array, values["dim"])
    return store(result, (tensor,), device=device, output_tensor=tensor, exact=exact)


def masked_softmax(tensor: Tensor, scale: float | None, mask: Tensor | None) -> Numbers:
    """softmax(tensor * scale + mask) along the last dimension."""
    if isinstance(scale, Tensor):
        raise ArgumentTypeError(f"scale is a number, not {spell_value(scale)}")
    if mask is not None and tensor.shape != broadcast_shape(tensor.shape, mask.shape):
        raise ArgumentError(f"a mask of {mask.shape} does not broadcast to {tensor.shape}")
    array = tensor.array if scale is None else tensor.array * np.float32(scale)
    with np.errstate(all="ignore"):
        return _softmax_of(array if mask is None else array + mask.array, -1)


def _scaled(values: dict[str, Any], *, in_place: bool) -> Tensor:
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    mask = values["mask"]
    given = (tensor,) if mask is None else (tensor, require_tensor(mask, "mask"))
    device = common_device(*given)
    _require_tiled_floats(tensor)
    result = masked_softmax(tensor, values["scale"], mask)
    output = tensor if in_place else None
    config = None if in_place else values["memory_config"]
    return store(result, given, device=device, memory_config=config, output_tensor=output)


def _scale_mask_softmax(values: dict[str, Any]) -> Tensor:
    return _scaled(values, in_place=False)


def _scale_mask_softmax_in_place(values: dict[str, Any]) -> Tensor:
    return _scaled(values, in_place=True)


def _require_like(residual: Tensor, tensor: Tensor) -> None:
    """ValueError for a residual of another shape than the tensor that it is added to."""
    if residual.shape != tensor.shape:
        raise ArgumentError(f"residual_input_tensor has {residual.shape}, not {tensor.shape}")


def _normalize(values: dict[str, Any], *, centred: bool) -> Tensor:
    """(x - mean) / sqrt(mean square + epsilon) * weight + bias; without the mean if not centred."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    others = [values[name] for name in ("weight", "bias", "residual_input_tensor")]
    given = (tensor, *(require_tensor(each, "an operand") for each in others if each is not None))
    device = common_device(*given)
    if centred:
        require_floats(tensor)
    else:
        _require_tiled_floats(tensor)
    weight, bias, residual = others
    if not tensor.shape:
        raise ArgumentError("input_tensor has no dimensions; its last one is normalised")
    if residual is not None:
        _require_like(residual, tensor)
    epsilon = values["epsilon"]
    on_card = _normalize_on_card(tensor, values, device, centred=centred)
    if on_card is not None:
        config = values["memory_config"]
        return store(on_card, given, device=device, memory_config=config, exact=True)
    x = widen(tensor) if residual is None else widen(tensor) + widen(residual)
    found = normalize(x, (-1,), epsilon)[0] if centred else rms_norm(x, (-1,), epsilon)
    result = _scale_last(found, weight, bias, f"a tensor of {x.shape[-1]} columns")
    return store(result, given, device=device, memory_config=values["memory_config"])


def _normalize_on_card(
    tensor: Tensor, values: dict[str, Any], device: MeshDevice, *, centred: bool
) -> Numbers | None:
    """The bits of a card's norm along the last dimension, where they are known."""
    if not _has_card_bits(tensor, values, device) or tensor.layout is not Layout.TILE:
        return None
    parameters = [values["weight"], values["bias"]]
    width = tensor.shape[-1]
    if any(each is not None and each.array.size != width for each in parameters):
        return None
    from ttmlir.sim.machine import card_rows

    def stored(given: Tensor | None) -> Stored | None:
        if given is None:
            return None
        array = given.array if given is values["residual_input_tensor"] else given.array.reshape(-1)
        return card_rows.Stored(array, given.dtype.facts.storage)

    normalize_rows: Callable[..., Numbers | None] = (
        card_rows.layer_norm_rows if centred else card_rows.rms_norm_rows
    )
    weight, bias = (stored(each) for each in parameters)
    return normalize_rows(
        card_rows.Stored(tensor.array, tensor.dtype.facts.storage),
        device.arch(),
        epsilon=values["epsilon"],
        weight=weight,
        bias=bias,
        residual=stored(values["residual_input_tensor"]),
    )


def _layer_norm(values: dict[str, Any]) -> Tensor:
    return _normalize(values, centred=True)


def _rms_norm(values: dict[str, Any]) -> Tensor:
    return _normalize(values, centred=False)


_SCALED = "input_tensor, scale=None, mask=None"

_NORMALIZATION: dict[str, Operation] = table_of(
    Operation("softmax", _softmax, f"input_tensor, dim=-1, {_TAIL}"),
    Operation("softmax_in_place", _softmax_in_place, f"input_tensor, dim=-1, {_TAIL}"),
    Operation(
        "scale_mask_softmax", _scale_mask_softmax, f"{_SCALED}, {_TAIL}, is_causal_mask=False"
    ),
    Operation(
        "scale_mask_softmax_in_place",
        _scale_mask_softmax_in_place,
        f"{_SCALED}, {_TAIL}, is_causal_mask=False",
    ),
    Operation(
        "scale_causal_mask_hw_dims_softmax_in_place",
        _scale_mask_softmax_in_place,
        f"{_SCALED}, {_TAIL}",
    ),
    Operation("layer_norm", _layer_norm, f"input_tensor, {_NORM_TAIL}"),
    Operation("rms_norm", _rms_norm, f"input_tensor, {_NORM_TAIL}"),
)


# --- Of channels and groups -----------------------------------------------------------------------

_PART = 32
"""Columns of a tile of statistics, of which the first has numbers."""


def _given(values: dict[str, Any], *names: str) -> tuple[Tensor, ...]:
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    others = (values[name] for name in names)
    return (tensor, *(require_tensor(each, "an operand") for each in others if each is not None))


def _per_channel(parameter: Tensor | None, count: int, whole: str = "") -> Array | None:
    """A number for each channel or column of the whole tensor, however they are shaped."""
    if parameter is None:
        return None
    given = math.prod(parameter.shape)
    if given != count:
        raise ArgumentError(f"{given} parameters for {whole or f'{count} channels'}")
    return widen(parameter).reshape((count,))


def _scale_last(x: Array, weight: Tensor | None, bias: Tensor | None, whole: str = "") -> Numbers:
    """x * weight + bias, either of which may be missing, with a number for each last place."""
    count = x.shape[-1]
    scales = _per_channel(weight, count, whole), _per_channel(bias, count, whole)
    return narrow(scale_channels(x, scales[0], scales[1]))


def _batch_norm(values: dict[str, Any]) -> Tensor:
    """(N, C, H, W) scaled to mean 0 and variance 1 of each channel, by given or own statistics."""
    names = ("running_mean", "running_var", "weight", "bias")
    given = _given(values, *names)
    device = common_device(*given)
    tensor = given[0]
    if len(tensor.shape) != 4:
        raise ArgumentError(f"input_tensor has {tensor.shape}; it must be (N, C, H, W)")
    channels = tensor.shape[1]
    mean_tensor, var_tensor, weight, bias = (values[name] for name in names)
    x = widen(tensor)
    if values["training"]:
        mean, variance = find_statistics(x, 1)
        count = math.prod(tensor.shape) // max(1, channels)
        unbiased = variance * (count / max(1, count - 1))
        for running, found in ((mean_tensor, mean), (var_tensor, unbiased)):
            if running is not None:
                _update(running, found, values["momentum"])
    else:
        mean, variance = (_per_channel(each, channels) for each in (mean_tensor, var_tensor))
        if mean is None or variance is None:
            raise ArgumentError("running_mean and running_var are needed where training=False")
    scale, offset = (_per_channel(each, channels) for each in (weight, bias))
    return store(
        narrow(normalize_by(x, scale, offset, mean, variance, 1, values["eps"])),
        given,
        device=device,
        memory_config=values["memory_config"],
        output_tensor=values["output"],
    )


def _update(running: Tensor, found: Array, momentum: float) -> None:
    """Bring a running statistic nearer to the batch's."""
    old = _per_channel(running, found.shape[0])
    assert old is not None, "it is given"
    new = move_average(old, found, momentum).reshape(running.shape)
    store(narrow(new), (running,), device=running.device(), output_tensor=running)


def _group_norm(values: dict[str, Any]) -> Tensor:
    """(N, 1, H * W, C) scaled to mean 0 and variance 1 of each group of channels."""
    given = _given(values, "weight", "bias")
    device = common_device(*given)
    tensor = given[0]
    shape, groups = tensor.shape, values["num_groups"]
    if len(shape) != 4 or shape[1] != 1:
        raise ArgumentError(f"input_tensor has {shape}; it must be (N, 1, H * W, C)")
    if values["inplace"] is not False and not tensor.is_sharded() and is_strict(tensor):
        raise ArgumentError("in place it takes shards; pass inplace=False for other tensors")
    channels = shape[3]
    if groups < 1 or channels % groups:
        raise ArgumentError(f"{channels} channels cannot be split into {groups} groups")
    grouped = widen(tensor).reshape((shape[0], shape[2], groups, channels // groups))
    found = normalize(grouped, (1, 3), values["epsilon"])[0].reshape(shape)
    return store(
        _scale_last(found, values["weight"], values["bias"]),
        given,
        device=device,
        dtype=values["dtype"],
        layout=values["output_layout"],
        memory_config=values["memory_config"],
        output_tensor=values["output_tensor"],
    )


def create_group_norm_weight_bias_rm(
    input_tensor: Any, num_channels: int, num_cores_x: int = 1
) -> Any:
    """Parameters of `group_norm` as rows of 32, or as one row; they need no padding here."""
    if not hasattr(input_tensor, "numel"):
        raise ArgumentTypeError(f"input_tensor is a torch.Tensor, not {spell_value(input_tensor)}")
    if input_tensor.numel() != num_channels:
        raise ArgumentError(f"{input_tensor.numel()} parameters for {num_channels} channels")
    return input_tensor.reshape(1, 1, -1, 32 if num_channels % 32 == 0 else num_channels)


def _masks(num_channels: int, num_groups: int, cores: int) -> Numbers:
    """For each group, 1 in the columns that it has of the tiles that it spans on its core."""
    if num_groups < 1 or num_channels % num_groups or cores < 1 or num_groups % cores:
        raise ArgumentError(
            f"{num_channels} channels, {num_groups} groups and {cores} cores do not divide each "
            "other"
        )
    size, on_core = num_channels // num_groups, num_groups // cores
    starts = [group % on_core * size % _PART for group in range(num_groups)]
    tiles = max(-(-(start + size) // _PART) for start in starts)
    mask = np.zeros((1, num_groups, _PART, tiles * _PART), np.float32)
    for group, start in enumerate(starts):
        mask[:, group, :, start : start + size] = 1
    return mask


def _as_mask(array: Numbers, dtype: DataType | None) -> Any:
    """A tensor on the host in tiles; without a type one of torch, as older versions had."""
    if dtype is None:
        from importlib import import_module

        return import_module("torch").from_numpy(array)
    return Tensor.on(None, TensorSpec(array.shape, dtype, Layout.TILE), round_to(array, dtype))


def create_group_norm_input_mask(
    num_channels: int,
    num_groups: int,
    num_cores_across_channel: int,
    data_type: DataType | None = None,
) -> Any:
    """The columns of each group in its tiles, which `group_norm` here needs no mask for."""
    return _as_mask(_masks(num_channels, num_groups, num_cores_across_channel), data_type)


def create_group_norm_input_negative_mask(
    num_channels: int,
    num_groups: int,
    num_cores_across_channel: int,
    data_type: DataType | None = None,
) -> Any:
    """The columns of other groups in the tiles of each group."""
    return _as_mask(1 - _masks(num_channels, num_groups, num_cores_across_channel), data_type)


def _statistics(values: dict[str, Any], *, centred: bool) -> Tensor:
    """Sums of squares of each row, and the rows' sums if `centred`, in the first column of tiles.

    Sums of parts of rows on several devices, side by side, are statistics of the whole rows. Of
    shards, as cards have it, they are means instead, those of squares last, and a residual is added
    to the tensor in place.
    """
    given = _given(values, "residual_input_tensor")
    device = common_device(*given)
    tensor, *residual = given
    x = tensor.array.astype(np.float64)
    if residual:
        _require_like(residual[0], tensor)
        x = x + residual[0].array
    if tensor.is_sharded():
        if residual:
            store(x.astype(np.float32), given, device=device, output_tensor=tensor)
        sums = [x.mean(-1), np.square(x).mean(-1)][0 if centred else 1 :]
    else:
        sums = [np.square(x).sum(-1), x.sum(-1)][: 2 if centred else 1]
    result = np.zeros((*x.shape[:-1], _PART * len(sums)), np.float32)
    for number, total in enumerate(sums):
        result[..., number * _PART] = total
    dtype = values["dtype"]
    return store(
        result,
        given,
        device=device,
        dtype=DataType.BFLOAT16 if dtype is None else dtype,
        layout=Layout.TILE,
        memory_config=values["memory_config"],
    )


def _normalize_by(values: dict[str, Any], *, centred: bool) -> Tensor:
    """Rows normalised by statistics of one or several parts of their width."""
    require_tensor(values["stats"], "stats")
    given = _given(values, "stats", "weight", "bias")
    device = common_device(*given)
    tensor, stats = given[:2]
    kinds = 2 if centred else 1
    width = stats.shape[-1] if stats.shape else 0
    if width == 0 or width % (_PART * kinds):
        raise ArgumentError(f"stats has {stats.shape}; its width is a multiple of {_PART * kinds}")
    if stats.shape[:-1] != tensor.shape[:-1]:
        raise ArgumentError(f"stats has {stats.shape}, which are not the rows of {tensor.shape}")
    columns = tensor.shape[-1]
    sums = stats.array.astype(np.float64)[..., ::_PART]
    parts = width // (_PART * kinds)
    if tensor.is_sharded():
        # Means, of which those of squares come last.
        sums, count = sums.reshape(*sums.shape[:-1], parts, kinds)[..., ::-1], parts
        sums = sums.reshape(*sums.shape[:-2], -1)
    else:
        count = columns * parts
    x = tensor.array.astype(np.float64)
    square = sums[..., ::kinds].sum(-1, keepdims=True) / count
    if centred:
        mean = sums[..., 1::kinds].sum(-1, keepdims=True) / count
        x, square = x - mean, square - np.square(mean)
    found = array_of(x / np.sqrt(square + values["epsilon"]))
    return store(
        _scale_last(found, values["weight"], values["bias"]),
        (tensor,),
        device=device,
        dtype=values["dtype"],
        memory_config=values["memory_config"],
    )


def _rms_statistics(values: dict[str, Any]) -> Tensor:
    return _statistics(values, centred=False)


def _layer_statistics(values: dict[str, Any]) -> Tensor:
    return _statistics(values, centred=True)


def _rms_by(values: dict[str, Any]) -> Tensor:
    return _normalize_by(values, centred=False)


def _layer_by(values: dict[str, Any]) -> Tensor:
    return _normalize_by(values, centred=True)


_PLAN = "memory_config=None, compute_kernel_config"
_BEFORE = f"input_tensor, *, dtype=None, residual_input_tensor=None, program_config=None, {_PLAN}"
_AFTER = (
    "input_tensor, stats, *, epsilon=1e-12, weight=None, bias=None, dtype=None, "
    f"program_config=None, {_PLAN}"
)

_FEATURE_NORMS: dict[str, Operation] = table_of(
    Operation(
        "batch_norm",
        _batch_norm,
        "input_tensor, *, running_mean=None, running_var=None, training=False, eps=1e-05, "
        f"momentum=0.1, weight=None, bias=None, output=None, {_PLAN}",
    ),
    Operation(
        "group_norm",
        _group_norm,
        "input_tensor, *, num_groups, epsilon=1e-12, input_mask, weight=None, bias=None, "
        "reciprocals, dtype=None, core_grid, inplace, output_layout=None, num_out_blocks, "
        f"negative_mask, use_welford, output_tensor=None, {_PLAN}",
    ),
    Operation("rms_norm_pre_all_gather", _rms_statistics, _BEFORE),
    Operation("layer_norm_pre_all_gather", _layer_statistics, _BEFORE),
    Operation("rms_norm_post_all_gather", _rms_by, _AFTER),
    Operation("layer_norm_post_all_gather", _layer_by, _AFTER),
    operations_of(
        create_group_norm_weight_bias_rm,
        create_group_norm_input_mask,
        create_group_norm_input_negative_mask,
    ).values(),
)


OPERATIONS: dict[str, Operation] = {**_NORMALIZATION, **_FEATURE_NORMS}
