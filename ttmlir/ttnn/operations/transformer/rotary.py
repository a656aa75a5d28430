"""Rotary embeddings: pairs of columns turned by an angle that the position gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.tensor.tensor import Tensor


def _swap_halves(array: Array) -> Array:
    """(a, b) becomes (-b, a) for the halves of each row."""
    first, second = np.split(array, 2, axis=-1)
    return np.concatenate([-second, first], axis=-1)


def _require_even(tensor: Tensor, multiple: int) -> None:
    if tensor.shape[-1] % multiple:
        raise ArgumentError(f"the last extent of {tensor.shape} is not a multiple of {multiple}")


def _rotate_half(values: dict[str, Any]) -> Tensor:
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    _require_even(tensor, 2)
    device = common_device(tensor)
    result = _swap_halves(tensor.array)
    config = values["memory_config"]
    return store(result, (tensor,), device=device, memory_config=config, exact=True)


def _finish(result: Array, values: dict[str, Any], given: tuple[Tensor, ...], name: str) -> Tensor:
    if result.shape != given[0].shape:
        shapes = " and ".join(str(each.shape) for each in given[1:3])
        raise ArgumentError(f"cosines and sines of {shapes} are for no tensor of {given[0].shape}")
    device = common_device(*given)
    made = store(result, given, device=device, memory_config=values["memory_config"])
    return made


def _rotary_embedding(values: dict[str, Any]) -> Tensor:
    """x * cos + (the swapped halves of x) * sin, for the first rows of cos and sin, or one row."""
    names = ("input_tensor", "cos_cache", "sin_cache")
    given = tuple(require_tensor(values[name], name) for name in names)
    tensor, cos, sin = given
    common_device(*given)
    _require_even(tensor, 2)
    token, rows = values["token_index"], tensor.shape[-2]
    most = min(cos.shape[-2], sin.shape[-2])
    first, last = (0, rows) if token is None else (token, token + 1)
    if not 0 <= first < last <= most:
        raise ArgumentError(f"positions {first} to {last - 1} of caches of {most} rows")
    x = tensor.array
    cosines, sines = cos.array[..., first:last, :], sin.array[..., first:last, :]
    return _finish(x * cosines + _swap_halves(x) * sines, values, given, "rotary_embedding")


def _rotary_embedding_llama(values: dict[str, Any]) -> Tensor:
    """x * cos + (x @ trans_mat) * sin, where trans_mat stands for each of its widths in a row."""
    names = ("input_tensor", "cos_cache", "sin_cache", "trans_mat")
    given = tuple(require_tensor(values[name], name) for name in names)
    tensor, cos, sin, matrix = given
    common_device(*given)
    square = matrix.array.reshape(-1, *matrix.shape[-2:])[0]
    width = square.shape[0]
    if square.shape != (width, width):
        raise ArgumentError(f"trans_mat has {matrix.shape}; its last two extents must be equal")
    _require_even(tensor, width)
    x = tensor.array
    turned = (x.reshape(*x.shape[:-1], -1, width) @ square).reshape(x.shape)
    rows = slice(None) if values["is_decode_mode"] else slice(x.shape[-2])
    result = x * cos.array[..., rows, :] + turned * sin.array[..., rows, :]
    return _finish(result, values, given, "rotary_embedding_llama")


_TAIL = "memory_config=None, compute_kernel_config"

OPERATIONS: dict[str, Operation] = table_of(
    Operation("experimental.rotate_half", _rotate_half, "input_tensor, *, memory_config=None"),
    Operation(
        "experimental.rotary_embedding",
        _rotary_embedding,
        f"input_tensor, cos_cache, sin_cache, token_index=None, *, {_TAIL}",
    ),
    Operation(
        "experimental.rotary_embedding_llama",
        _rotary_embedding_llama,
        f"input_tensor, cos_cache, sin_cache, trans_mat, *, is_decode_mode=False, {_TAIL}",
    ),
)
