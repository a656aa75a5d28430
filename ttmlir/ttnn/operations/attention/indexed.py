"""Attention to the keys that indices name, the scores that choose them, and rows of caches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.arguments import take_tensors
from ttmlir.ttnn.operations.attention.transformer import before
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    is_integer,
    is_strict,
    store,
    table_of,
)
from ttmlir.ttnn.operations.signature import spell_value
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType, Layout, SparseKVFormat

_TILE = 32
_NONE = 0xFFFFFFFF
"""An index that names no key."""


def _require_rank(tensor: Tensor, name: str, form: str) -> None:
    if len(tensor.shape) != 4:
        raise ArgumentError(f"{name} has {tensor.shape}; it is {form}")


def _read_slot(values: dict[str, Any], cache: Tensor, name: str) -> Array:
    """The keys or values of the slot of a cache that is asked for."""
    slot, count = values["cache_batch_idx"], cache.shape[0]
    if slot is None:
        return cache.array
    if not is_integer(slot) or not 0 <= slot < count:
        raise ArgumentError(f"cache_batch_idx={spell_value(slot)} is none of {name}'s {count}")
    return cache.array[slot : slot + 1]


def _refuse_stripes(values: dict[str, Any]) -> None:
    """ArgumentError for caches whose rows are not in order, as several devices have them."""
    for name in ("block_cyclic_sp_axis", "block_cyclic_chunk_local", "cluster_axis"):
        if values.get(name) is not None:
            raise ArgumentError(f"{name} is for caches over several devices; leave it out")
    if values.get("seq_shard_axes"):
        raise ArgumentError("seq_shard_axes is for queries over several devices; leave it out")


def _in_rows(array: Array, given: tuple[Tensor, ...]) -> Tensor:
    return store(
        array,
        given,
        device=common_device(*given),
        dtype=DataType.BFLOAT16,
        layout=Layout.ROW_MAJOR,
    )


# --- Scores ---------------------------------------------------------------------------------------


def _read_scores(values: dict[str, Any], *more: str) -> tuple[Array, tuple[Tensor, ...]]:
    """Products (B, heads, Sq, T) of queries with the keys of all heads."""
    given = take_tensors(values, "q", "k", *more)
    query, key = given[:2]
    _require_rank(query, "q", "(B, heads, Sq, D)")
    _require_rank(key, "k", "(B, 1, T, D)")
    _refuse_stripes(values)
    keys = _read_slot(values, key, "k")
    batch, _, _, depth = query.shape
    if (len(keys) != 1 and len(keys) != batch) or tuple(keys.shape[1::2]) != (1, depth):
        raise ArgumentError(f"k has {key.shape}; for q of {query.shape} it is (1, 1, T, {depth})")
    if is_strict(query) and len(keys) != 1:
        raise ArgumentError(f"k has {key.shape}; of several slots name one by cache_batch_idx")
    products = query.array.astype(np.float64) @ keys.astype(np.float64).swapaxes(-1, -2)
    return products, given


def _mask_later(scores: Array, values: dict[str, Any], ratio: int = 1) -> Array:
    """Scores of keys behind each query, or beyond those that are valid, as -inf."""
    queries, keys = scores.shape[-2:]
    start: Any = values["chunk_start_idx"]
    valid: Any = values["kv_len"]
    start = keys * ratio - queries if start is None else start
    if not is_integer(start) or start < 0:
        raise ArgumentError(f"chunk_start_idx={spell_value(start)} is no integer from 0 on")
    valid = keys if valid is None else valid
    if not is_integer(valid) or not 0 < valid <= keys or valid % _TILE:
        raise ArgumentError(f"kv_len={spell_value(valid)} is no multiple of 32 up to {keys}")
    # Keys that a query sees, counted in tokens: those before the end of its own.
    ends = [min((int(start) + 1 + query) // ratio, int(valid)) for query in range(queries)]
    return np.where(before(np.array(ends) - 1, keys), scores, -np.inf)


def _score_by_gates(values: dict[str, Any]) -> Tensor:
    """Sums over heads of positive products times the gates of a query."""
    products, given = _read_scores(values, "weights")
    batch, heads, queries, _ = products.shape
    if tuple(given[2].shape) != (batch, 1, queries, heads):
        raise ArgumentError(f"weights has {given[2].shape}; it is ({batch}, 1, {queries}, {heads})")
    ratio = values["key_compression_ratio"]
    if not is_integer(ratio) or ratio < 1:
        raise ArgumentError(f"key_compression_ratio={spell_value(ratio)} is no positive integer")
    gates = given[2].array[:, 0].astype(np.float64)
    scores = np.einsum("bhst,bsh->bst", np.maximum(products, 0), gates)[:, None]
    return _in_rows(_mask_later(scores, values, ratio), given)


def _score_groups(values: dict[str, Any]) -> Tensor:
    """Sums of products over the heads of a group, and the largest of each block of keys."""
    products, given = _read_scores(values)
    batch, heads, queries, keys = products.shape
    groups, size = values["num_groups"], values["block_size"]
    if not is_integer(groups) or groups < 1 or heads % groups:
        raise ArgumentError(f"num_groups={spell_value(groups)} does not divide {heads} heads")
    if not is_integer(size) or size < 0 or size % _TILE or (size and keys % size):
        raise ArgumentError(
            f"block_size={spell_value(size)} is no multiple of 32 that divides {keys} keys"
        )
    sums = products.reshape(batch, groups, -1, queries, keys).sum(2) * float(values["scale"])
    scores = _mask_later(sums, values)
    if size:
        scores = scores.reshape(*scores.shape[:-1], -1, size).max(-1)
    return _in_rows(scores, given)


# --- Attention ------------------------------------------------------------------------------------


def _weigh(scores: Array, seen: Array, sink: Array | None) -> Array:
    """Softmax over what is seen; a sink is one more score, which has no value."""
    masked = np.where(seen, scores, -np.inf)
    largest = masked.max(-1, keepdims=True, initial=-np.inf)
    if sink is not None:
        largest = np.maximum(largest, sink)
    largest = np.where(np.isfinite(largest), largest, 0)
    powers = np.exp(masked - largest)
    total = powers.sum(-1, keepdims=True)
    if sink is not None:
        total = total + np.exp(sink - largest)
    return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)


def _scale_of(values: dict[str, Any], depth: int) -> float:
    return 1 / math.sqrt(depth) if values["scale"] is None else float(values["scale"])


def _read_indices(indices: Tensor, heads: int, queries: int) -> tuple[Array, Array]:
    """The indices of each query, and whether they name something."""
    if tuple(indices.shape[:3]) != (1, heads, queries):
        raise ArgumentError(f"indices has {indices.shape}; it is (1, {heads}, {queries}, k)")
    numbers = indices.array[0].astype(np.int64)
    return numbers, numbers != _NONE


def _require_below(numbers: Array, named: Array, count: int) -> None:
    if named.any() and not 0 <= numbers[named].min() <= numbers[named].max() < count:
        raise ArgumentError(f"indices name others than the {count} that there are")


def _attend_rows(values: dict[str, Any]) -> Tensor:
    """Each query attends to rows of one cache, whose first columns are the values."""
    if values["kv_format"] is not SparseKVFormat.BF16:
        raise ArgumentError(
            f"kv_format is ttnn.SparseKVFormat.BF16, not {spell_value(values['kv_format'])}: "
            "there are no floats of 8 bits here"
        )
    given = take_tensors(values, "q", "kv", "indices", optional=("attention_sink",))
    query, cache, indices, *sink = given
    _require_rank(query, "q", "(1, heads, S, K)")
    _require_rank(cache, "kv", "(1, 1, T, K)")
    _refuse_stripes(values)
    _, heads, queries, depth = query.shape
    rows, width = _read_slot(values, cache, "kv"), values["v_dim"]
    if not is_integer(width) or not 0 < width <= depth:
        raise ArgumentError(f"v_dim={spell_value(width)} is none of the {depth} columns")
    if query.shape[0] != 1 or rows.shape[:2] != (1, 1) or rows.shape[3] != depth:
        raise ArgumentError(
            f"q has {query.shape} and kv {cache.shape}: (1, heads, S, K), (1, 1, T, K)"
        )
    numbers, named = (each[0] for each in _read_indices(indices, 1, queries))
    _require_below(numbers, named, rows.shape[2])
    keys = rows[0, 0].astype(np.float64)[np.where(named, numbers, 0)]
    scores = np.einsum("hsd,std->hst", query.array[0].astype(np.float64), keys)
    ends: Array | None = None
    if sink:
        if tuple(sink[0].shape) != (1, 1, 1, heads):
            raise ArgumentError(f"attention_sink has {sink[0].shape}; it is (1, 1, 1, {heads})")
        ends = sink[0].array.reshape(heads, 1, 1).astype(np.float64)
    scale = _scale_of(values, depth)
    weights = _weigh(scores * scale, named, None if ends is None else ends * scale)
    return _in_rows(np.einsum("hst,std->hsd", weights, keys[..., :width])[None], given)


def _attend_blocks(values: dict[str, Any]) -> Tensor:
    """Each query attends to blocks of keys, of each head of keys its own."""
    given = take_tensors(values, "q", "k", "v", "indices")
    query, key, value, indices = given
    for name, each in zip("qkv", given, strict=False):
        _require_rank(each, name, "(1, heads, rows, columns)")
    _refuse_stripes(values)
    _, heads, queries, depth = query.shape
    keys, others = _read_slot(values, key, "k"), _read_slot(values, value, "v")
    kv_heads, count = keys.shape[1:3]
    fit = query.shape[0] == len(keys) == 1 and keys.shape[:3] == others.shape[:3]
    if not fit or keys.shape[3] != depth or not kv_heads or heads % kv_heads:
        raise ArgumentError(
            f"q has {query.shape}, k {key.shape} and v {value.shape}, which do not go together"
        )
    size = values["block_size"]
    if not is_integer(size) or size < 1 or size % _TILE or count % size:
        raise ArgumentError(
            f"block_size={spell_value(size)} is no multiple of 32 that divides {count} keys"
        )
    numbers, named = _read_indices(indices, kv_heads, queries)
    _require_below(numbers, named, count // size)
    seen: Array = np.zeros((kv_heads, queries, count // size), bool)
    head, row, _ = np.nonzero(named)
    seen[head, row, numbers[named]] = True
    seen = np.repeat(seen, size, -1)
    start = values["chunk_start_idx"]
    if start is not None:
        if not is_integer(start) or start < 0:
            raise ArgumentError(f"chunk_start_idx={spell_value(start)} is no integer from 0 on")
        seen = seen & before(start + np.arange(queries), count)
    grouped = query.array[0].astype(np.float64).reshape(kv_heads, -1, queries, depth)
    scores = grouped @ keys[0].astype(np.float64).swapaxes(-1, -2)[:, None]
    weights = _weigh(scores * _scale_of(values, depth), seen[:, None], None)
    found = weights @ others[0].astype(np.float64)[:, None]
    return _in_rows(found.reshape(1, heads, queries, -1), given)


# --- Caches ---------------------------------------------------------------------------------------


def _write_rows(values: dict[str, Any]) -> tuple[Tensor, Tensor]:
    """Rows of two tensors at places of two caches, which are changed; others are left out."""
    names = [f"{kind}_tensor{number}" for number in (1, 2) for kind in ("cache", "input")]
    given = take_tensors(values, *names, "physical_update_idxs_tensor")
    for name, each in zip(names, given, strict=False):
        _require_rank(each, name, "(pages, heads, rows, columns)")
    if given[0] is given[2]:
        raise ArgumentError("cache_tensor1 and cache_tensor2 are one tensor; they are two")
    places = given[-1].array.reshape(-1).astype(np.int64)
    for name, cache, packed in zip(names[::2], given[0:4:2], given[1:4:2], strict=True):
        pages, heads, rows, columns = cache.shape
        count = packed.shape[2]
        if tuple(packed.shape) != (1, heads, count, columns) or count > places.size:
            raise ArgumentError(
                f"{name} has {cache.shape} and what is written {packed.shape}; it is (1, {heads}, "
                f"rows, {columns}), with a place for each row"
            )
        written = cache.array.copy()
        for row, place in enumerate(places[:count]):
            if 0 <= place < pages * rows:
                written[place // rows, :, place % rows] = packed.array[0, :, row]
        store(
            written,
            (cache, packed),
            device=common_device(*given),
            output_tensor=cache,
            exact=True,
        )
    return given[0], given[2]


_STRIPES = (
    "block_cyclic_sp_axis=None, block_cyclic_chunk_local=None, block_cyclic_cache_tp_sharded=False"
)
_INDEXER = (
    "program_config=None, compute_kernel_config, cache_batch_idx=None, kv_len=None, "
    f"seq_shard_axes=None, {_STRIPES}"
)

OPERATIONS: dict[str, Operation] = table_of(
    Operation(
        "experimental.indexer_score_dsa",
        _score_by_gates,
        f"q, k, weights, *, chunk_start_idx=None, key_compression_ratio=1, {_INDEXER}",
    ),
    Operation(
        "experimental.indexer_score_msa",
        _score_groups,
        "q, k, *, num_groups, chunk_start_idx=None, scale=1.0, block_size=0, " + _INDEXER,
    ),
    Operation(
        "transformer.sparse_sdpa",
        _attend_rows,
        "q, kv, indices, v_dim, *, kv_format, scale=None, k_chunk_size=128, compute_kernel_config, "
        f"cache_batch_idx=None, {_STRIPES}, attention_sink=None",
    ),
    Operation(
        "transformer.sparse_sdpa_msa",
        _attend_blocks,
        "q, k, v, indices, *, scale=None, block_size=128, compute_kernel_config, "
        "cache_batch_idx=None, chunk_start_idx=None, cluster_axis=None, block_cyclic_sp_axis=None, "
        "block_cyclic_chunk_local=None, enable_kv_block_cache=False",
    ),
    Operation(
        "experimental.indexed_fused_update_cache",
        _write_rows,
        "cache_tensor1, input_tensor1, cache_tensor2, input_tensor2, physical_update_idxs_tensor",
    ),
)
