"""Integers in place of real numbers: real = (integer - zero point) * scale."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ttmlir.composites.quantization import Quantization, dequantize, quantize
from ttmlir.errors import ArgumentError, plural
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    require_tensor,
    store,
    table_of,
    widen,
)
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType


def _quantization(
    values: dict[str, Any], tensor: Tensor, scale: str = "scale", zero: str = "zero_point"
) -> Quantization:
    """Scales and zero points, of the whole tensor or for each place along an axis."""
    numbers = [_numbers(values[name], name, values["axis"], tensor) for name in (scale, zero)]
    axis = None if all(len(each) == 1 for each in numbers) else values["axis"] % len(tensor.shape)
    return Quantization("f64", -math.inf, math.inf, numbers[0], numbers[1], axis)


def _numbers(given: Any, name: str, axis: int | None, tensor: Tensor) -> list[float]:
    array = np.asarray(given.array if isinstance(given, Tensor) else given, np.float64)
    rank = len(tensor.shape)
    if array.size != 1 and (
        axis is None or not -rank <= axis < rank or array.size != tensor.shape[axis]
    ):
        raise ArgumentError(
            f"{name} has {plural(array.size, 'number')} for {tensor.shape}; give one, or one for "
            "each place along axis"
        )
    return array.reshape(-1).tolist()


def _finish(result: Array, values: dict[str, Any], tensor: Tensor, default: DataType) -> Tensor:
    device = common_device(tensor)
    output: Tensor | None = values["output_tensor"]
    dtype: DataType | None = values["dtype"]
    if output is not None:
        wanted = output.dtype
    else:
        # The number of bfloat16 is 0.
        wanted = dtype = default if dtype is None else dtype
    if wanted.facts.is_float:
        result = result.astype(np.float32)
    else:
        limits = np.iinfo(np.int32)
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
    """The nearest integers, the even one of two, of int32."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    found = quantize(widen(tensor), _quantization(values, tensor))
    return _finish(np.nan_to_num(found.value), values, tensor, DataType.INT32)


def _dequantize(values: dict[str, Any]) -> Tensor:
    """The real numbers, of bfloat16."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    found = dequantize(widen(tensor), _quantization(values, tensor))
    return _finish(found.value, values, tensor, DataType.BFLOAT16)


def _requantize(values: dict[str, Any]) -> Tensor:
    """Integers for another scale and zero point."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    old, new = (
        _quantization(values, tensor, f"{side}_scale", f"{side}_zero_point")
        for side in ("in", "out")
    )
    found = quantize(dequantize(widen(tensor), old), new)
    return _finish(np.nan_to_num(found.value), values, tensor, DataType.INT32)


_TAIL = "*, axis=None, dtype=None, memory_config=None, output_tensor=None"

OPERATIONS: dict[str, Operation] = table_of(
    Operation("quantize", _quantize, f"input_tensor, scale, zero_point, {_TAIL}"),
    Operation("dequantize", _dequantize, f"input_tensor, scale, zero_point, {_TAIL}"),
    Operation(
        "requantize",
        _requantize,
        f"input_tensor, in_scale, in_zero_point, out_scale, out_zero_point, {_TAIL}",
    ),
)
