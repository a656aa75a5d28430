"""Softmax, and normalisations along the last dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.elementwise.meanings import meaning_of
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    require_floats,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import Layout

_MASKED = "-inf"
_TAIL = "*, memory_config=None, compute_kernel_config, numeric_stable, program_config=None"
_NORM_TAIL = (
    "*, epsilon=1e-12, weight=None, bias=None, residual_input_tensor=None, memory_config=None, "
    "program_config=None, compute_kernel_config"
)


def _softmax_of(array: Array, dim: int) -> Array:
    if not -array.ndim <= dim < array.ndim:
        raise ArgumentError(f"dimension {dim} is out of range for {array.ndim} dimensions")
    with np.errstate(all="ignore"):
        return meaning_of("softmax")(np, array, dimension=dim)


def _require_tiled_floats(tensor: Tensor) -> None:
    """ValueError for a tensor of integers, or one in rows."""
    require_floats(tensor)
    if tensor.layout is not Layout.TILE:
        raise ArgumentError("input_tensor must be in TILE_LAYOUT; use ttnn.to_layout")


def _softmax(values: dict[str, Any]) -> Tensor:
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    device = common_device(tensor)
    _require_tiled_floats(tensor)
    result = _softmax_of(tensor.array, values["dim"])
    return store(result, (tensor,), device=device, memory_config=values["memory_config"])


def _softmax_in_place(values: dict[str, Any]) -> Tensor:
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    device = common_device(tensor)
    _require_tiled_floats(tensor)
    result = _softmax_of(tensor.array, values["dim"])
    return store(result, (tensor,), device=device, output_tensor=tensor)


def masked_softmax(
    tensor: Tensor, scale: float | None, mask: Tensor | None, *, causal: bool = False
) -> Array:
    """softmax(tensor * scale + mask) along the last dimension; numbers above the diagonal go."""
    array = tensor.array if scale is None else tensor.array * np.float32(scale)
    with np.errstate(all="ignore"):
        if mask is not None:
            array = array + mask.array
        if causal:
            rows, columns = array.shape[-2:]
            array = np.where(np.tri(rows, columns, columns - rows), array, np.float32(_MASKED))
    return _softmax_of(array, -1)


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
    x = tensor.array if residual is None else tensor.array + residual.array
    x = x - np.mean(x, -1, keepdims=True, dtype=np.float64) if centred else x.astype(np.float64)
    size = np.mean(np.square(x), -1, keepdims=True)
    with np.errstate(all="ignore"):
        result = x / np.sqrt(size + values["epsilon"])
    if weight is not None:
        result = result * _along_last(weight, tensor)
    if bias is not None:
        result = result + _along_last(bias, tensor)
    return store(
        result.astype(np.float32), given, device=device, memory_config=values["memory_config"]
    )


def _along_last(parameter: Tensor, tensor: Tensor) -> Array:
    """A parameter for each column, however its numbers are shaped."""
    columns = tensor.shape[-1]
    array = parameter.array.reshape(-1)
    if array.size != columns:
        raise ArgumentError(f"{array.size} parameters for a tensor of {columns} columns")
    return array


def _layer_norm(values: dict[str, Any]) -> Tensor:
    return _normalize(values, centred=True)


def _rms_norm(values: dict[str, Any]) -> Tensor:
    return _normalize(values, centred=False)


_SCALED = "input_tensor, scale=None, mask=None"

OPERATIONS: dict[str, Operation] = table_of(
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
