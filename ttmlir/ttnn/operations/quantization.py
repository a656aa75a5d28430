"""Integers in place of real numbers: real = (integer - zero point) * scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError, plural
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType, Layout


def _parameter(values: dict[str, Any], name: str, tensor: Tensor) -> Array:
    """A scale or zero point, of the whole tensor or for each place along an axis."""
    given, axis = values[name], values["axis"]
    array = np.asarray(given.array if isinstance(given, Tensor) else given, np.float64)
    if array.size == 1:
        return array.reshape(())
    rank = len(tensor.shape)
    if axis is None or not -rank <= axis < rank or array.size != tensor.shape[axis]:
        raise ArgumentError(
            f"{name} has {plural(array.size, 'number')} for {tensor.shape}; give one, or one for "
            "each index along axis"
        )
    shape = [1] * rank
    shape[axis] = -1
    return array.reshape(shape)


def _finish(
    result: Array, values: dict[str, Any], tensor: Tensor, name: str, default: DataType
) -> Tensor:
    device = common_device(tensor)
    output: Tensor | None = values["output_tensor"]
    dtype: DataType | None = values["dtype"]
    if output is not None:
        wanted = output.dtype
    else:
        # The number of bfloat16 is 0.
        wanted = dtype = default if dtype is None else dtype
    if wanted.facts.is_float:
        with np.errstate(over="ignore"):
            result = result.astype(np.float32)
    else:
        # ttnn makes bytes of real numbers by saturation, but of integers by their low bits.
        limits = np.iinfo(np.uint8 if name == "quantize" and wanted is DataType.UINT8 else np.int32)
        result = np.clip(result, limits.min, limits.max).astype(np.int32)
    return store(
        result,
        (tensor,),
        device=device,
        dtype=dtype,
        memory_config=values["memory_config"],
        output_tensor=output,
    )


def _quantize(values: dict[str, Any]) -> Tensor:
    """The integers nearest to quotient and zero point, the even one of two, of int32."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    scale, zero = (_parameter(values, name, tensor) for name in ("scale", "zero_point"))
    with np.errstate(all="ignore"):
        result = np.rint(tensor.array / scale + zero)
    return _finish(np.nan_to_num(result), values, tensor, "quantize", DataType.INT32)


def _dequantize(values: dict[str, Any]) -> Tensor:
    """The real numbers, of bfloat16."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    scale, zero = (_parameter(values, name, tensor) for name in ("scale", "zero_point"))
    result = (tensor.array - zero) * scale
    return _finish(result, values, tensor, "dequantize", DataType.BFLOAT16)


def _requantize(values: dict[str, Any]) -> Tensor:
    """Integers for another scale and zero point."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    names = ("in_scale", "in_zero_point", "out_scale", "out_zero_point")
    scale, zero, new_scale, new_zero = (_parameter(values, name, tensor) for name in names)
    with np.errstate(all="ignore"):
        result = np.rint((tensor.array - zero) * (scale / new_scale) + new_zero)
    return _finish(np.nan_to_num(result), values, tensor, "requantize", DataType.INT32)


def _round_on_host(values: dict[str, Any]) -> Tensor:
    """Another data type, in tiles: in the memory that is asked for, or else on the host."""
    tensor = require_tensor(values["device_tensor"], "device_tensor")
    device, config = common_device(tensor), values["memory_config"]
    return store(
        tensor.array,
        (tensor,),
        device=None if config is None else device,
        dtype=values["dtype"],
        layout=Layout.TILE,
        memory_config=config,
    )


_TAIL = "*, axis=None, dtype=None, memory_config=None, output_tensor=None"

OPERATIONS: dict[str, Operation] = table_of(
    Operation("quantize", _quantize, f"input_tensor, scale, zero_point, {_TAIL}"),
    Operation(
        "experimental.quantize_weights_via_host",
        _round_on_host,
        "device_tensor, *, dtype, memory_config",
    ),
    Operation("dequantize", _dequantize, f"input_tensor, scale, zero_point, {_TAIL}"),
    Operation(
        "requantize",
        _requantize,
        f"input_tensor, in_scale, in_zero_point, out_scale, out_zero_point, {_TAIL}",
    ),
)
