"""Attention: weighted means of values, by how near queries come to keys."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.elementwise.meanings import meaning_of
from ttmlir.ttnn.operations.normalization import masked_softmax
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.tensor.tensor import Tensor

_FAR = np.float32("-inf")


def _softmax(values: dict[str, Any], *, in_place: bool) -> Tensor:
    """softmax(x / sqrt(head_size) + mask) along the last dimension."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    mask, size = values["attention_mask"], values["head_size"]
    given = (tensor,) if mask is None else (tensor, require_tensor(mask, "attention_mask"))
    device = common_device(*given)
    if size is not None and size < 1:
        raise ArgumentError(f"head_size is at least 1, got {size}")
    scale = None if size is None else 1.0 / math.sqrt(size)
    result = masked_softmax(tensor, scale, mask)
    return store(
        result,
        given,
        device=device,
        memory_config=None if in_place else values["memory_config"],
        output_tensor=tensor if in_place else None,
    )


def _softmax_new(values: dict[str, Any]) -> Tensor:
    return _softmax(values, in_place=False)


def _softmax_in_place(values: dict[str, Any]) -> Tensor:
    return _softmax(values, in_place=True)


def attend(query: Array, key: Array, value: Array, added: Array | None, scale: float) -> Array:
    """softmax(query @ key^T * scale + added) @ value for (B, heads, rows, d).

    Heads of keys and values serve as many heads of queries each. Rows that see no key are 0.
    """
    for name, other in (("key", key), ("value", value)):
        if other.ndim != 4 or query.ndim != 4 or other.shape[0] != query.shape[0]:
            raise ArgumentError(
                f"query and {name} have {list(query.shape)} and {list(other.shape)}; both must be "
                "(B, heads, rows, d) of one B"
            )
    heads, kv_heads = query.shape[1], key.shape[1]
    if key.shape[:3] != value.shape[:3] or key.shape[3] != query.shape[3] or heads % kv_heads:
        raise ArgumentError(
            f"query {list(query.shape)}, key {list(key.shape)} and value {list(value.shape)} do "
            "not go together: the heads of the query are a multiple of those of key and value, "
            "which have as many rows, and the query's columns are the key's"
        )
    if heads != kv_heads:
        key, value = (np.repeat(each, heads // kv_heads, axis=1) for each in (key, value))
    multiply, soften = meaning_of("matmul"), meaning_of("softmax")
    with np.errstate(all="ignore"):
        scores = multiply(np, query, key.swapaxes(-1, -2)) * np.float32(scale)
        if added is not None:
            scores = scores + added
        blind = np.all(np.isneginf(scores), axis=-1, keepdims=True)
        weights = soften(np, np.where(blind, np.float32(0), scores), dimension=-1)
        return multiply(np, np.where(blind, np.float32(0), weights), value)


def _scale(values: dict[str, Any], query: Tensor) -> float:
    scale = values["scale"]
    return 1.0 / math.sqrt(query.shape[-1]) if scale is None else float(scale)


def _operands(values: dict[str, Any], *names: str) -> tuple[Tensor, ...]:
    """Operands that are given; ArgumentError for those of attention that are not 4-D."""
    listed = {name: values[name] for name in names if values[name] is not None}
    for name, tensor in listed.items():
        rank = len(require_tensor(tensor, name).shape)
        if name in _OPERANDS and rank != 4:
            raise ArgumentError(f"{name} has {tensor.shape}; it must have four dimensions")
    return tuple(listed.values())


def _finish(result: Array, values: dict[str, Any], given: tuple[Tensor, ...]) -> Tensor:
    device = common_device(*given)
    made = store(
        result.astype(np.float32),
        given,
        device=device,
        memory_config=values["memory_config"],
        output_tensor=values.get("output_tensor"),
    )
    return made


def _before(rows: Array, columns: int, window: int | None = None) -> Array:
    """0 where a key is at the row's position or before it, and within a window; else -inf."""
    places = np.arange(columns)
    seen = places <= rows[..., None]
    if window is not None:
        seen &= places > rows[..., None] - window
    return np.where(seen, np.float32(0), _FAR)


_OPERANDS = ("input_tensor_q", "input_tensor_k", "input_tensor_v")


def _attention(values: dict[str, Any]) -> Tensor:
    given = _operands(values, *_OPERANDS, "attn_mask")
    query, key, value, *masks = given
    causal, window = values["is_causal"], values["sliding_window_size"]
    if causal and masks:
        raise ArgumentError("is_causal and attn_mask exclude each other; give is_causal=False")
    added = masks[0].array if masks else None
    if causal:
        rows, columns = query.shape[-2], key.shape[-2]
        if rows != columns:
            raise ArgumentError(
                f"causal attention needs as many keys as queries, got {columns} and {rows}; use "
                "attn_mask with is_causal=False"
            )
        added = _before(np.arange(rows), columns, window)
    elif window is not None:
        raise ArgumentError("sliding_window_size without is_causal is not here yet; use attn_mask")
    common_device(*given)
    result = attend(query.array, key.array, value.array, added, _scale(values, query))
    return _finish(result, values, given)


def pages_of(cache: Array, table: Array) -> Array:
    """The rows (B, heads, S, d) of a cache of blocks (blocks, heads, rows, d), by a table (B, n).

    ValueError for blocks that the cache does not have.
    """
    blocks = table.astype(np.int64)
    if blocks.ndim != 2:
        raise ArgumentError(f"page_table_tensor has {list(table.shape)}; it must be (B, blocks)")
    # Entries that are not in use are -1; their rows are behind the current position.
    if blocks.size and blocks.max() >= cache.shape[0]:
        raise ArgumentError(f"page {blocks.max()} of a cache of {cache.shape[0]} pages")
    found = cache[np.maximum(blocks, 0)].swapaxes(1, 2)
    users, heads, count, rows, columns = found.shape
    return found.reshape(users, heads, count * rows, columns)


def _decode(values: dict[str, Any], *, paged: bool) -> Tensor:
    """Attention of one query for each user: (1, B, heads, d) with keys (B, kv_heads, S, d)."""
    tables = ("page_table_tensor",) if paged else ()
    given = _operands(values, *_OPERANDS, *tables, "attn_mask", "cur_pos_tensor")
    query, key, value = given[:3]
    common_device(*given)
    keys, numbers = key.array, value.array
    if paged:
        table = given[3].array
        keys, numbers = pages_of(keys, table), pages_of(numbers, table)
    shape = query.shape
    if len(shape) != 4 or shape[0] != 1 or shape[1] != keys.shape[0]:
        raise ArgumentError(
            f"the query has {shape}; it must be (1, B, heads, d) with B = {keys.shape[0]}"
        )
    mask = values["attn_mask"]
    if values["is_causal"]:
        if mask is not None:
            raise ArgumentError("is_causal and attn_mask exclude each other; give is_causal=False")
        added = _before(_positions(values, shape[1]), keys.shape[2], values["sliding_window_size"])
        added = added[:, None, None, :]
    else:
        # (B, 1, heads, S) becomes (B, heads, 1, S).
        added = None if mask is None else mask.array.swapaxes(1, 2)
    rows = query.array[0][:, :, None, :]
    result = attend(rows, keys, numbers, added, _scale(values, query))
    return _finish(result[:, :, 0][None], values, given)


def _positions(values: dict[str, Any], users: int) -> Array:
    given = values["cur_pos_tensor"]
    listed: Array = np.asarray(values["cur_pos"] or () if given is None else given.to_list())
    if listed.size != users:
        raise ArgumentError(
            f"there are {listed.size} current positions for {users} users; give cur_pos or "
            "cur_pos_tensor"
        )
    return listed.astype(np.int64)


def _decode_plain(values: dict[str, Any]) -> Tensor:
    return _decode(values, paged=False)


def _decode_paged(values: dict[str, Any]) -> Tensor:
    return _decode(values, paged=True)


def _chunked(values: dict[str, Any]) -> Tensor:
    """Causal attention of queries from a position on, with keys in pages."""
    given = _operands(values, *_OPERANDS, "page_table_tensor")
    query, key, value, table = given
    common_device(*given)
    keys, numbers = pages_of(key.array, table.array), pages_of(value.array, table.array)
    rows = np.arange(query.shape[-2]) + int(values["chunk_start_idx"])
    added = _before(rows, keys.shape[2])
    return _finish(attend(query.array, keys, numbers, added, _scale(values, query)), values, given)


_SOFTMAX = (
    "input_tensor, *, head_size=None, attention_mask=None, program_config=None, "
    "causal_mask=False, memory_config=None"
)
_QKV = ", ".join(_OPERANDS)
_REST = "memory_config=None, program_config=None, compute_kernel_config"
_DECODE = (
    "is_causal=True, attn_mask=None, cur_pos_tensor=None, scale=None, sliding_window_size=None, "
    f"{_REST}"
)

OPERATIONS: dict[str, Operation] = table_of(
    Operation("transformer.attention_softmax", _softmax_new, _SOFTMAX),
    Operation("transformer.attention_softmax_", _softmax_in_place, _SOFTMAX),
    Operation(
        "transformer.scaled_dot_product_attention",
        _attention,
        f"{_QKV}, *, attn_mask=None, is_causal=True, scale=None, sliding_window_size=None, {_REST}",
    ),
    Operation(
        "transformer.scaled_dot_product_attention_decode",
        _decode_plain,
        f"{_QKV}, *, cur_pos=None, {_DECODE}",
    ),
    Operation(
        "transformer.paged_scaled_dot_product_attention_decode",
        _decode_paged,
        f"{_QKV}, page_table_tensor, *, cur_pos=None, {_DECODE}",
    ),
    Operation(
        "transformer.chunked_scaled_dot_product_attention",
        _chunked,
        f"{_QKV}, page_table_tensor, chunk_start_idx, *, scale=None, {_REST}",
    ),
)
