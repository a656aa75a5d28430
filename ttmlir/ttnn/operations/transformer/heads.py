"""Operations that split the last dimension into heads, and join them again."""

from __future__ import annotations

from collections.abc import Sequence
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


def _split(values: dict[str, Any], *, transposed: str, rank: int) -> tuple[Tensor, ...]:
    """Query, key and value (B, heads, S, d) of (B, S, heads * d), one after another per row.

    With `rank` 4 the rows have an extent of 1 in front of them. `transposed` is the argument that
    says whether keys become (B, heads, d, S).
    """
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    others = values["kv_input_tensor"]
    given = (tensor,) if others is None else (tensor, require_tensor(others, "kv_input_tensor"))
    device = common_device(*given)
    array = _rows(tensor, "input_tensor", rank)
    if others is not None:
        array = np.concatenate([array, _rows(others, "kv_input_tensor", rank)], axis=-1)
    query, key, value = _deal(array, values["num_heads"], values["num_kv_heads"])
    if transposed == "always" or values.get(transposed):
        key = key.swapaxes(-1, -2)
    made = tuple(
        store(
            part,
            (tensor,),
            device=device,
            memory_config=values["memory_config"],
            exact=True,
        )
        for part in (query, key, value)
    )
    return made


def _rows(tensor: Tensor, name: str, rank: int) -> Array:
    """The numbers as (B, S, columns)."""
    shape = tensor.shape
    if len(shape) == 4 and shape[1] == 1:
        return tensor.array.reshape(shape[0], shape[2], shape[3])
    if len(shape) == rank == 3:
        return tensor.array
    wanted = "(B, S, columns)" if rank == 3 else "(B, 1, S, columns)"
    raise ArgumentError(f"{name} has {shape}; it must be {wanted}")


def _deal(array: Array, heads: int, kv_heads: int | None) -> tuple[Array, Array, Array]:
    """The columns of (B, S, columns) as heads of query, key and value."""
    kv_heads = heads if kv_heads is None else kv_heads
    count = heads + 2 * kv_heads
    batch, rows, columns = array.shape
    if heads < 1 or kv_heads < 1 or columns % count:
        raise ArgumentError(
            f"{columns} columns cannot be split into {heads} heads of the query and {kv_heads} "
            "each of key and value"
        )
    split = array.reshape(batch, rows, count, columns // count).transpose(0, 2, 1, 3)
    return split[:, :heads], split[:, heads : heads + kv_heads], split[:, heads + kv_heads :]


def _split_three(values: dict[str, Any]) -> tuple[Tensor, ...]:
    return _split(values, transposed="transpose_key", rank=3)


def _split_four(values: dict[str, Any]) -> tuple[Tensor, ...]:
    return _split(values, transposed="transpose_k_heads", rank=4)


def _split_fixed(values: dict[str, Any]) -> tuple[Tensor, ...]:
    others = {"kv_input_tensor": None, "num_kv_heads": None}
    return _split({**values, **others}, transposed="always", rank=4)


def _split_decode(values: dict[str, Any]) -> tuple[Tensor, ...]:
    """Query, key and value (1, B, heads, d) of one token for each user, (1, 1, B, columns)."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    device = common_device(tensor)
    array = _rows(tensor, "input_tensor", 4)
    if array.shape[0] != 1:
        raise ArgumentError(f"input_tensor has {tensor.shape}; it must be (1, 1, B, columns)")
    parts = _deal(array, values["num_heads"], values["num_kv_heads"])
    return tuple(
        store(
            part.transpose(0, 2, 1, 3),
            (tensor,),
            device=device,
            memory_config=values["memory_config"],
            exact=True,
        )
        for part in parts
    )


def _join(values: dict[str, Any], shape: Sequence[int], array: Array) -> Tensor:
    tensor = values["input_tensor"]
    device = common_device(tensor)
    made = store(
        array.reshape(tuple(shape)),
        (tensor,),
        device=device,
        memory_config=values["memory_config"],
        exact=True,
    )
    return made


def _heads(values: dict[str, Any]) -> tuple[Tensor, tuple[int, ...]]:
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    if len(tensor.shape) != 4:
        raise ArgumentError(f"input_tensor has {tensor.shape}; it must be (B, heads, S, d)")
    return tensor, tensor.shape


def _join_three(values: dict[str, Any]) -> Tensor:
    """Heads (B, heads, S, d) side by side: (B, S, heads * d)."""
    tensor, (batch, heads, rows, columns) = _heads(values)
    return _join(values, (batch, rows, heads * columns), tensor.array.transpose(0, 2, 1, 3))


def _join_four(values: dict[str, Any]) -> Tensor:
    """Heads (B, heads, S, d) side by side: (B, 1, S, heads * d)."""
    tensor, (batch, heads, rows, columns) = _heads(values)
    return _join(values, (batch, 1, rows, heads * columns), tensor.array.transpose(0, 2, 1, 3))


def _join_decode(values: dict[str, Any]) -> Tensor:
    """The first heads of (1, B, heads, d) side by side: (1, 1, B, heads * d)."""
    tensor, (one, users, heads, columns) = _heads(values)
    wanted = values["num_heads"]
    if one != 1 or not 1 <= wanted <= heads:
        raise ArgumentError(f"num_heads={wanted} of a tensor of {tensor.shape}, (1, B, heads, d)")
    return _join(values, (1, 1, users, wanted * columns), tensor.array[:, :, :wanted])


_MEMORY = "memory_config=None"

OPERATIONS: dict[str, Operation] = table_of(
    Operation(
        "transformer.split_query_key_value_and_split_heads",
        _split_three,
        "input_tensor, kv_input_tensor=None, *, num_heads, num_kv_heads=None, transpose_key=True, "
        f"{_MEMORY}",
    ),
    Operation("transformer.concatenate_heads", _join_three, f"input_tensor, *, {_MEMORY}"),
    Operation(
        "experimental.nlp_create_qkv_heads",
        _split_four,
        "input_tensor, kv_input_tensor=None, *, num_heads, num_kv_heads=None, "
        f"transpose_k_heads=True, {_MEMORY}",
    ),
    Operation(
        "experimental.nlp_create_qkv_heads_decode",
        _split_decode,
        "input_tensor, *, num_heads, num_kv_heads=None, overlap_qk_coregrid, " + _MEMORY,
    ),
    Operation(
        "experimental.split_query_key_value_and_split_heads",
        _split_fixed,
        f"input_tensor, compute_with_storage_grid_size=None, *, num_heads=16, {_MEMORY}",
    ),
    Operation("experimental.nlp_concat_heads", _join_four, f"input_tensor, *, {_MEMORY}"),
    Operation(
        "experimental.nlp_concat_heads_decode",
        _join_decode,
        f"input_tensor, *, num_heads, {_MEMORY}, sub_core_grids",
    ),
    Operation(
        "experimental.concatenate_heads",
        _join_four,
        f"input_tensor, compute_with_storage_grid_size=None, *, {_MEMORY}",
    ),
)
