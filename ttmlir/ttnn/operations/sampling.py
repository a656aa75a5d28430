"""Operations that draw random numbers, or choose among the largest."""

from __future__ import annotations

from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.arguments import keep, read_number, take_tensors
from ttmlir.ttnn.operations.elementwise.semantics import reference_of
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_places,
    common_device,
    is_integer,
    store,
    table_of,
)
from ttmlir.ttnn.tensor.conversion import random_numbers
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType, Layout


def _softmax(array: Array) -> Array:
    return reference_of("softmax")(np, array.astype(np.float64), dimension=array.ndim - 1)


def _seed(values: dict[str, Any]) -> int:
    seed = values["seed"] or 0
    if not is_integer(seed) or seed < 0:
        raise ArgumentError(f"seed={seed!r} is no integer from 0 on")
    return int(seed)


def _bernoulli(values: dict[str, Any]) -> Tensor:
    """1 with the probability that stands at each place, else 0."""
    (tensor,) = take_tensors(values, "input")
    drawn = random_numbers(_seed(values)).random(tensor.array.shape)
    return store(
        (drawn < tensor.array).astype(np.float32),
        (tensor,),
        device=common_device(tensor),
        dtype=DataType.FLOAT32 if values["dtype"] is None else values["dtype"],
        memory_config=values["memory_config"],
        output_tensor=values["output"],
    )


def _dropout(values: dict[str, Any]) -> Tensor:
    """0 with a probability, else the number times `scale`."""
    (tensor,) = take_tensors(values, "input_tensor")
    probability = read_number(values["probability"], "probability")
    if not 0 <= probability <= 1:
        raise ArgumentError(f"probability={probability} is not from 0 to 1")
    stays = random_numbers(_seed(values)).random(tensor.array.shape) >= probability
    scale = read_number(values["scale"], "scale")
    return keep(np.where(stays, tensor.array * scale, 0), tensor, values, "output_tensor")


def _sampling(values: dict[str, Any]) -> Tensor:
    """One number of each user's indices, by the softmax of the user's values.

    Of the `k` largest values those count that make up the probability `p`; `temp` divides values.
    """
    names = ("input_values_tensor", "input_indices_tensor", "k", "p", "temp")
    tensor, indices, *parameters = take_tensors(values, *names)
    if len(tensor.shape) != 4 or tensor.shape != indices.shape or list(tensor.shape[:2]) != [1, 1]:
        raise ArgumentError(
            f"values have {tensor.shape} and indices {indices.shape}; both are (1, 1, users, "
            "choices)"
        )
    users, choices = tensor.shape[-2:]
    for name, each in zip(names[2:], parameters, strict=True):
        if each.array.size != users:
            raise ArgumentError(f"{name} has {each.shape}; it has a number for each of {users}")
    counts, masses, divisors = (each.array.reshape(-1) for each in parameters)
    numbers = tensor.array.reshape(users, choices)
    drawn = random_numbers(_seed(values)).random(users)
    found = np.zeros(users, np.int64)
    for user in range(users):
        order = np.argsort(-numbers[user], kind="stable")
        order = order[: max(1, min(int(counts[user]), choices))]
        with np.errstate(all="ignore"):
            share = _softmax(numbers[user][order] / max(float(divisors[user]), 1e-9))
        before = np.cumsum(share) - share
        share = np.where(before < max(float(masses[user]), 1e-9), share, 0)
        place = int(np.sum(np.cumsum(share) <= drawn[user] * share.sum()))
        found[user] = order[min(place, len(order) - 1)]
    places = as_places(indices.array).reshape(users, choices)
    return store(
        places[np.arange(users), found].reshape(1, 1, 1, users),
        (indices,),
        device=common_device(tensor),
        dtype=DataType.UINT32,
        layout=Layout.ROW_MAJOR,
        output_tensor=values["output_tensor"],
    )


_WIDTH = 32


def _moe(values: dict[str, Any]) -> Tensor:
    """The weight of expert 0: its share among the 32 largest, 0 if it is none of them."""
    tensor, experts, most = take_tensors(
        values, "input_tensor", "expert_mask_tensor", "topk_mask_tensor"
    )
    if values["k"] != _WIDTH:
        raise ArgumentError(f"k is 32, not {values['k']}; mask the rest with -inf")
    shape = tuple(tensor.shape)
    if len(shape) != 4 or shape[-1] < 2 * _WIDTH or shape[-1] & (shape[-1] - 1):
        raise ArgumentError(
            f"input_tensor has {tensor.shape}; it has four dimensions, the last a power of 2 from "
            "64 on"
        )
    for name, mask, width in (
        ("expert_mask_tensor", experts, shape[-1]),
        ("topk_mask_tensor", most, _WIDTH),
    ):
        if mask.array.size != width or mask.shape[-1] != width:
            raise ArgumentError(f"{name} has {mask.shape}; it has Shape([1, 1, 1, {width}])")
    masked = tensor.array + experts.array
    places = np.argsort(-masked, axis=-1, kind="stable")[..., :_WIDTH]
    largest = np.take_along_axis(masked, places, -1) + most.array
    share = (_softmax(largest) * (places == 0)).sum(-1, keepdims=True)
    return keep(share, tensor, values, "output_tensor")


OPERATIONS: dict[str, Operation] = table_of(
    Operation(
        "bernoulli",
        _bernoulli,
        "input, seed=0, *, output=None, dtype=None, memory_config=None, compute_kernel_config",
    ),
    Operation(
        "experimental.dropout",
        _dropout,
        "input_tensor, probability, scale, seed, *, use_per_device_seed=True, memory_config=None, "
        "output_tensor=None",
    ),
    Operation(
        "sampling",
        _sampling,
        "input_values_tensor, input_indices_tensor, k, p, temp, *, seed=None, sub_core_grids, "
        "output_tensor=None",
    ),
    Operation(
        "moe",
        _moe,
        "input_tensor, expert_mask_tensor, topk_mask_tensor, k=32, *, memory_config=None, "
        "output_tensor=None",
    ),
)
