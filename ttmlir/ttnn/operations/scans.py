"""Sums of neighbours, averages that follow a row, and rows of which the mean is taken off."""

from __future__ import annotations

from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.arguments import keep, read_number, take_tensors
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_flag,
    common_device,
    is_integer,
    store,
    table_of,
)
from ttmlir.ttnn.operations.signature import fits, spell_value
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType, Layout
from ttmlir.ttnn.types.memory import DRAM_MEMORY_CONFIG

_TILE = 32


def _require_four(tensor: Tensor, name: str = "input_tensor") -> None:
    if len(tensor.shape) != 4:
        raise ArgumentError(
            f"{name} has {tensor.shape}; it has four dimensions; use ttnn.unsqueeze_to_4D"
        )


def _ema(values: dict[str, Any]) -> Tensor:
    """alpha times the average so far, which begins at 0, plus 1 - alpha times each number."""
    (tensor,) = take_tensors(values, "input_tensor")
    _require_four(tensor)
    if tensor.shape[0] != 1:
        raise ArgumentError(f"input_tensor has {tensor.shape}; its first extent is 1")
    alpha = read_number(values["alpha"], "alpha")
    found = np.empty_like(tensor.array)
    average = np.zeros_like(tensor.array[..., 0])
    for place in range(tensor.shape[-1]):
        average = alpha * average + (1 - alpha) * tensor.array[..., place]
        found[..., place] = average
    return keep(found, tensor, values, "out")


def _over_images(values: dict[str, Any], name: str) -> Tensor:
    """Variance or deviation of each image of (n, channels, height, width), or images less it."""
    (tensor,) = take_tensors(values, "input_tensor")
    _require_four(tensor)
    x = tensor.array.astype(np.float64)
    with np.errstate(all="ignore"):
        variance = x.var(axis=(2, 3), keepdims=True)
        match name:
            case "var_hw":
                result = variance
            case "std_hw":
                result = np.sqrt(variance)
            case "normalize_hw":
                result = (x - x.mean(axis=(2, 3), keepdims=True)) / np.sqrt(variance)
            case _:
                result = (x - x.mean()) / x.std()
    return store(
        result,
        (tensor,),
        device=common_device(tensor),
        layout=Layout.TILE,
        memory_config=values["memory_config"],
    )


def _image_operation(name: str) -> Operation:
    def run(values: dict[str, Any]) -> Tensor:
        return _over_images(values, name)

    return Operation(name, run, "input_tensor, *, memory_config=None")


def _reduce_outer(values: dict[str, Any], dims: list[int]) -> tuple[Tensor, Array]:
    (tensor,) = take_tensors(values, "input")
    _require_four(tensor, "input")
    if not dims or not all(is_integer(dim) and dim in (0, 1) for dim in dims):
        raise ArgumentError(f"it reduces dimensions 0 and 1, not {dims}; use ttnn.sum")
    return tensor, tensor.array.sum(axis=tuple(set(dims)), keepdims=True, dtype=np.float64)


def _fast_reduce(values: dict[str, Any]) -> Tensor:
    if not fits(values["dims"], list[int]):
        raise ArgumentTypeError(f"dims is a list of 0 and 1, not {spell_value(values['dims'])}")
    tensor, total = _reduce_outer(values, [*values["dims"]])
    return keep(total, tensor, in_dram(values))


def in_dram(values: dict[str, Any]) -> dict[str, Any]:
    """The arguments with DRAM for the result, if no memory is asked for."""
    config = values["memory_config"]
    return {**values, "memory_config": DRAM_MEMORY_CONFIG if config is None else config}


def _fast_reduce_split(values: dict[str, Any]) -> list[Tensor]:
    """The sum as two tensors: the first columns, and those behind them."""
    tensor, total = _reduce_outer(values, [values["dim"]])
    width = values["split_output_width"]
    if not is_integer(width) or width % _TILE or not 0 < width < total.shape[-1]:
        raise ArgumentError(
            f"split_output_width={width} is no multiple of 32 between 0 and {total.shape[-1]}"
        )
    parts = np.split(total, [width], -1)
    return [keep(part, tensor, in_dram(values)) for part in parts]


def _keep_as(array: Array, tensor: Tensor, values: dict[str, Any]) -> Tensor:
    """A result of the data type that is asked for."""
    return store(
        array,
        (tensor,),
        device=common_device(tensor),
        dtype=values["dtype"],
        memory_config=values["memory_config"],
    )


def _sum_groups(values: dict[str, Any]) -> Tensor:
    """Sums of 32 neighbours each along the last dimension."""
    (tensor,) = take_tensors(values, "input")
    if not tensor.shape or tensor.shape[-1] % (_TILE * _TILE):
        raise ArgumentError(f"the last extent of {tensor.shape} is no multiple of 1024")
    groups = tensor.array.reshape(*tensor.shape[:-1], -1, _TILE)
    return _keep_as(groups.sum(-1, dtype=np.float64), tensor, values)


def _multiply_groups(values: dict[str, Any]) -> Tensor:
    """All products of the 32 numbers of a row of `a` with those of a row of `b`."""
    a, b = take_tensors(values, "a", "b")
    if a.shape == b.shape:
        raise ArgumentError(f"a and b have {a.shape}; of one shape, use ttnn.mul")
    left, right = a.array, b.array
    if left.shape[-1] == _TILE:
        left = np.tile(left, right.shape[-1])
    if right.shape[-1] * _TILE == left.shape[-1]:
        right = np.repeat(right, _TILE, axis=-1)
    if left.shape != right.shape:
        raise ArgumentError(
            f"a has {a.shape} and b {b.shape}: a has 32 columns, or 32 times those of b"
        )
    return _keep_as(left * right, a, values)


def _prefix_scan(values: dict[str, Any]) -> Tensor:
    """States h of a sequence: each is a * the one before + bx, beginning at `h_prev`."""
    a, bx, first = take_tensors(values, "a", "bx", "h_prev")
    if a.shape != bx.shape or first.array.size != a.shape[-1]:
        raise ArgumentError(
            f"a has {a.shape}, bx {bx.shape} and h_prev {first.shape}; a and bx are "
            "(1, 1, length, states), h_prev (1, 1, 1, states)"
        )
    rows = [each.array.reshape(-1, a.shape[-1]) for each in (a, bx)]
    state, found = first.array.reshape(-1), np.empty_like(rows[0])
    for place, (factor, added) in enumerate(zip(*rows, strict=True)):
        state = factor * state + added
        found[place] = state
    return _keep_as(found.reshape(a.array.shape), a, values)


def _integral(values: dict[str, Any]) -> Tensor:
    """For each pixel of (1, height, width, channels) the sum of all above and left of it."""
    (tensor,) = take_tensors(values, "input_tensor")
    _require_four(tensor)
    return keep(tensor.array.astype(np.float64).cumsum(1).cumsum(2), tensor, values)


def _isin(values: dict[str, Any]) -> Tensor:
    """All bits where a number is among others, and with `invert` where it is not."""
    elements, others = take_tensors(values, "elements", "test_elements")
    inverts = as_flag(values["invert"], "invert")
    found = np.isin(elements.array, others.array, invert=inverts)
    return store(
        np.where(found, np.uint32(0xFFFFFFFF), np.uint32(0)),
        (elements,),
        device=common_device(elements),
        dtype=DataType.UINT32,
        output_tensor=values["out"],
    )


_TAIL = "memory_config=None, compute_kernel_config"

OPERATIONS: dict[str, Operation] = table_of(
    Operation("ema", _ema, f"input_tensor, alpha, *, out=None, core_grid, {_TAIL}"),
    (_image_operation(name) for name in ("normalize_global", "normalize_hw", "std_hw", "var_hw")),
    Operation(
        "experimental.fast_reduce_nc",
        _fast_reduce,
        f"input, *, dims=[], output=None, {_TAIL}, sub_core_grids",
    ),
    Operation(
        "experimental.fast_reduce_nc_split",
        _fast_reduce_split,
        f"input, *, dim, split_output_width, {_TAIL}",
    ),
    Operation(
        "experimental.hc_sum_reduce",
        _sum_groups,
        "input, *, memory_config=None, dtype=None, math_fidelity=None",
    ),
    Operation(
        "experimental.repeat_and_interleave_eltwise_mul",
        _multiply_groups,
        "a, b, *, memory_config=None, dtype=None, math_fidelity=None",
    ),
    Operation(
        "experimental.prefix_scan",
        _prefix_scan,
        "a, bx, h_prev, *, memory_config=None, dtype=None, math_fidelity=None",
    ),
    Operation("experimental.intimg", _integral, "input_tensor"),
    Operation(
        "experimental.isin",
        _isin,
        "elements, test_elements, *, assume_unique=False, invert=False, out=None",
    ),
)
