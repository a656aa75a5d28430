"""Images of other sizes, and turned ones; the last dimension is the channels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ttmlir.arrays import array
from ttmlir.arrays.carriers import array_of
from ttmlir.composites import interpolation
from ttmlir.composites.interpolation import Kernel
from ttmlir.errors import ArgumentError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.operations.window.extents import as_pair
from ttmlir.ttnn.tensor.tensor import Tensor


def _image(values: dict[str, Any]) -> Tensor:
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    if len(tensor.shape) != 4:
        raise ArgumentError(f"input_tensor has {tensor.shape}; it must be (N, H, W, C)")
    return tensor


def _between(array: Array, axis: int, scale: int) -> Array:
    """Each extent times `scale`, by straight lines between the centres of pixels."""
    extent = array.shape[axis]
    places: Array = np.arange(extent * scale, dtype=np.float64)
    centres: Array = np.clip((places + 0.5) / scale - 0.5, 0, extent - 1)
    low = np.floor(centres).astype(np.int64)
    high = np.minimum(low + 1, extent - 1)
    shape = [1] * array.ndim
    shape[axis] = -1
    weight = (centres - low).reshape(shape)
    return array.take(low, axis) * (1 - weight) + array.take(high, axis) * weight


def _upsample(values: dict[str, Any]) -> Tensor:
    """Height and width times whole numbers."""
    tensor = _image(values)
    device = common_device(tensor)
    given, mode = values["scale_factor"], values["mode"]
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    scales = as_pair(given, "scale_factor")
    if min(scales) < 1:
        raise ArgumentError(f"scale_factor is at least 1, got {list(scales)}")
    result = tensor.array
    for axis, scale in enumerate(scales, 1):
        match mode:
            case "nearest":
                result = np.repeat(result, scale, axis)
            case "bilinear":
                result = _between(result, axis, scale)
            case _:
                raise ArgumentError(f"mode is 'nearest' or 'bilinear', not {mode!r}")
    return store(
        result,
        (tensor,),
        device=device,
        memory_config=values["memory_config"],
        exact=mode == "nearest",
    )


_KERNELS = {"nearest": Kernel.NEAREST, "bilinear": Kernel.LINEAR}


def _channels_first(image: Array) -> array.Array:
    return array_of(np.moveaxis(image, -1, 1), "f64")


def _channels_last(image: array.Array) -> Array:
    return np.moveaxis(image.value, 1, -1)


def _rotate(values: dict[str, Any]) -> Tensor:
    """The image turned counter-clockwise by an angle in degrees, in its own extents."""
    tensor = _image(values)
    device = common_device(tensor)
    mode = values["interpolation_mode"]
    if mode not in ("nearest", "bilinear"):
        raise ArgumentError(f"interpolation_mode is 'nearest' or 'bilinear', not {mode!r}")
    if values["expand"]:
        raise ArgumentError("expand=True is not supported; the result has the input's extents")
    _, height, width, _ = tensor.shape
    middle = ((width - 1) / 2, (height - 1) / 2)
    given = values["center"]
    x0, y0 = middle if given is None else (float(given[0]), float(given[1]))
    angle = math.radians(values["angle"])
    cosine, sine = math.cos(angle), math.sin(angle)
    whole: Array = np.indices((height, width), np.float64)
    y, x = whole
    columns = (x - x0) * cosine - (y - y0) * sine + x0
    rows = (x - x0) * sine + (y - y0) * cosine + y0
    # Angles such as 90 degrees have no exact cosine; their places are whole numbers.
    places: Array = np.round([rows, columns], 6)[:, None]
    image, rows_columns = _channels_first(tensor.array), [array_of(each) for each in places]
    found = interpolation.sample_at(image, rows_columns, _KERNELS[mode], values["fill"])
    return store(
        _channels_last(found), (tensor,), device=device, memory_config=values["memory_config"]
    )


def _grid_sample(values: dict[str, Any]) -> Tensor:
    """Pixels at the places (x, y) of a grid (N, h, w, 2), from -1 to 1; 0 outside."""
    tensor = _image(values)
    grid = require_tensor(values["grid"], "grid")
    device = common_device(tensor, grid)
    mode = values["mode"]
    if mode not in ("nearest", "bilinear"):
        raise ArgumentError(f"mode is 'nearest' or 'bilinear', not {mode!r}")
    if values["padding_mode"] != "zeros":
        raise ArgumentError(f"padding_mode is 'zeros', not {values['padding_mode']!r}")
    if len(grid.shape) != 4 or grid.shape[0] != tensor.shape[0] or grid.shape[3] != 2:
        raise ArgumentError(f"grid has {grid.shape}; it must be ({tensor.shape[0]}, h, w, 2)")
    found = interpolation.sample_grid(
        _channels_first(tensor.array),
        array_of(grid.array, "f64"),
        _KERNELS[mode],
        interpolation.Outside.ZEROS,
        align_corners=values["align_corners"],
    )
    return store(
        _channels_last(found), (tensor,), device=device, memory_config=values["memory_config"]
    )


OPERATIONS: dict[str, Operation] = table_of(
    Operation(
        "upsample",
        _upsample,
        "input_tensor, scale_factor, *, mode='nearest', memory_config=None, compute_kernel_config",
    ),
    Operation(
        "rotate",
        _rotate,
        "input_tensor, angle, *, center=None, fill=0.0, expand=False, "
        "interpolation_mode='nearest', memory_config=None",
    ),
    Operation(
        "grid_sample",
        _grid_sample,
        "input_tensor, grid, *, mode='bilinear', padding_mode='zeros', align_corners=False, "
        "memory_config=None",
    ),
)
