"""Operations of transformers: attention, caches of keys and values, heads, rotary embeddings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ttmlir.arrays.carriers import array_of
from ttmlir.composites.normalization import repeat_heads, score, weigh
from ttmlir.errors import ArgumentError
from ttmlir.optable.caches import find_pages, find_places, require_below
from ttmlir.optable.op_definition import broadcast_shape
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.normalization import masked_softmax
from ttmlir.ttnn.operations.operation import (
    Operation,
    array_with_kernels,
    as_places,
    common_device,
    is_integer,
    remember_program,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.operations.signature import spell_value
from ttmlir.ttnn.tensor.tensor import Tensor, round_to
from ttmlir.ttnn.types.memory import DRAM_MEMORY_CONFIG

# --- Attention ------------------------------------------------------------------------------------


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


def attend(query: Array, key: Array, value: Array, mask: Array | None, scale: float) -> Array:
    """softmax(query @ key^T * scale + mask) @ value for (B, heads, rows, d).

    A mask of truth values says which keys are seen. Heads of keys and values serve as many heads of
    queries each. Rows that see no key are 0.
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
    given = [array_with_kernels(each).cast("f32") for each in (query, key, value)]
    if heads != kv_heads:
        given[1:] = (repeat_heads(each, heads) for each in given[1:])
    scores, _ = score(given[0], given[1], None if mask is None else array_of(mask), scale)
    return (weigh(scores, scores.ne(-math.inf)) @ given[2]).value


def scale_of(values: dict[str, Any], query: Tensor) -> float:
    """The factor of scores: what is given, or one divided by the root of the columns."""
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


def _finish_attention(result: Array, values: dict[str, Any], given: tuple[Tensor, ...]) -> Tensor:
    device = common_device(*given)
    made = store(
        result.astype(np.float32),
        given,
        device=device,
        memory_config=values["memory_config"],
        output_tensor=values.get("output_tensor"),
    )
    return made


def before(rows: Array, columns: int, window: int | None = None) -> Array:
    """Whether a key is at the row's position or before it, and within a window."""
    places = np.arange(columns)
    seen = places <= rows[..., None]
    return seen if window is None else seen & (places > rows[..., None] - window)


_OPERANDS = ("input_tensor_q", "input_tensor_k", "input_tensor_v")


def _attention(values: dict[str, Any]) -> Tensor:
    given = _operands(values, *_OPERANDS, "attn_mask")
    query, key, value, *masks = given
    causal, window = values["is_causal"], values["sliding_window_size"]
    if causal and masks:
        raise ArgumentError("is_causal and attn_mask exclude each other; give is_causal=False")
    mask = masks[0].array if masks else None
    if causal:
        rows, columns = query.shape[-2], key.shape[-2]
        if rows != columns:
            raise ArgumentError(
                f"causal attention needs as many keys as queries, got {columns} and {rows}; use "
                "attn_mask with is_causal=False"
            )
        mask = before(np.arange(rows), columns, window)
    elif window is not None:
        raise ArgumentError("sliding_window_size without is_causal is not here yet; use attn_mask")
    common_device(*given)
    result = attend(query.array, key.array, value.array, mask, scale_of(values, query))
    # In DRAM, wherever the operands are.
    config = DRAM_MEMORY_CONFIG if values["memory_config"] is None else values["memory_config"]
    return _finish_attention(result, {**values, "memory_config": config}, given)


def _attend_windows(values: dict[str, Any]) -> Tensor:
    """Queries see the keys of their own window alone; windows begin at the numbers of a row."""
    given = _operands(values, *_OPERANDS, "cu_window_seqlens")
    query, key, value, starts = given
    common_device(*given)
    ends = as_places(starts.array.reshape(-1))
    rows, columns = query.shape[-2], key.shape[-2]
    if (
        ends.size < 2
        or ends[0] != 0
        or ends[-1] != rows
        or rows != columns
        or np.diff(ends).min() < 0
    ):
        raise ArgumentError(
            f"cu_window_seqlens is 0, then where windows end, the last at {rows}, as many as there "
            f"are queries and keys ({columns}), not {ends.tolist()}"
        )
    window = np.searchsorted(ends[1:], np.arange(rows), side="right")
    result = attend(
        query.array,
        key.array,
        value.array,
        window[:, None] == window,
        scale_of(values, query),
    )
    return _finish_attention(result, values, given)


def pages_of(cache: Array, table: Array) -> Array:
    """The rows (B, heads, S, d) of a cache of blocks (blocks, heads, rows, d), by a table (B, n).

    ValueError for blocks that the cache does not have.
    """
    blocks = as_places(table)
    if blocks.ndim != 2:
        raise ArgumentError(f"page_table_tensor has {list(table.shape)}; it must be (B, blocks)")
    # Entries that are not in use are -1; their rows are behind the current position.
    if blocks.size and blocks.max() >= cache.shape[0]:
        raise ArgumentError(f"page {blocks.max()} of a cache of {cache.shape[0]} pages")
    found = cache[np.maximum(blocks, 0)].swapaxes(1, 2)
    users, heads, count, rows, columns = found.shape
    return found.reshape(users, heads, count * rows, columns)


def decode(values: dict[str, Any], *, paged: bool) -> Tensor:
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
        mask = before(_positions(values, shape[1]), keys.shape[2], values["sliding_window_size"])
        mask = mask[:, None, None, :]
    else:
        # (B, 1, heads, S) becomes (B, heads, 1, S).
        mask = None if mask is None else mask.array.swapaxes(1, 2)
    rows = query.array[0][:, :, None, :]
    result = attend(rows, keys, numbers, mask, scale_of(values, query))
    return _finish_attention(result[:, :, 0][None], values, given)


def _positions(values: dict[str, Any], users: int) -> Array:
    given = values["cur_pos_tensor"]
    listed: Array = np.asarray(values["cur_pos"] or () if given is None else given.to_list())
    if listed.size != users:
        raise ArgumentError(
            f"there are {listed.size} current positions for {users} users; give cur_pos or "
            "cur_pos_tensor"
        )
    return as_places(listed)


def _decode_plain(values: dict[str, Any]) -> Tensor:
    return decode(values, paged=False)


def _decode_paged(values: dict[str, Any]) -> Tensor:
    return decode(values, paged=True)


def attend_chunk(values: dict[str, Any]) -> Tensor:
    """Causal attention of queries from a position on, with keys in pages."""
    given = _operands(values, *_OPERANDS, "page_table_tensor")
    query, key, value, table = given
    common_device(*given)
    keys, numbers = pages_of(key.array, table.array), pages_of(value.array, table.array)
    rows = np.arange(query.shape[-2]) + int(values["chunk_start_idx"])
    mask = before(rows, keys.shape[2])
    return _finish_attention(
        attend(query.array, keys, numbers, mask, scale_of(values, query)), values, given
    )


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

_ATTENTION: dict[str, Operation] = table_of(
    Operation("transformer.attention_softmax", _softmax_new, _SOFTMAX),
    Operation("transformer.attention_softmax_", _softmax_in_place, _SOFTMAX),
    Operation(
        "transformer.scaled_dot_product_attention",
        _attention,
        f"{_QKV}, *, attn_mask=None, is_causal=True, scale=None, sliding_window_size=None, {_REST}",
    ),
    Operation(
        "transformer.windowed_scaled_dot_product_attention",
        _attend_windows,
        f"{_QKV}, cu_window_seqlens, *, scale=None, {_REST}",
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
        attend_chunk,
        f"{_QKV}, page_table_tensor, chunk_start_idx, *, scale=None, {_REST}",
    ),
)


# --- Caches ---------------------------------------------------------------------------------------


def _pair(values: dict[str, Any]) -> tuple[Tensor, Tensor]:
    cache = require_tensor(values["cache"], "cache")
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    device = common_device(cache, tensor)
    for each, name in ((cache, "cache"), (tensor, "input_tensor")):
        if len(each.shape) != 4:
            raise ArgumentError(f"{name} has {each.shape}; it must have four dimensions")
    if cache.shape[3] != tensor.shape[3]:
        raise ArgumentError(
            f"rows of {tensor.shape[3]} numbers do not fit a cache of rows of {cache.shape[3]}"
        )
    remember_program(device)
    return cache, tensor


def _write(cache: Tensor, places: Any, numbers: Array) -> Tensor:
    """The cache, with numbers at places."""
    array = cache.array.copy()
    array[places] = round_to(numbers, cache.dtype)
    cache.storage.array = array
    return cache


def _fill(values: dict[str, Any]) -> Tensor:
    """The first positions of a user: rows (1, heads, S, d)."""
    cache, tensor = _pair(values)
    user = values["batch_index"]
    require_below(user, cache.shape[0], "user")
    _, heads, rows, _ = tensor.shape
    if tensor.shape[0] != 1 or heads != cache.shape[1] or rows > cache.shape[2]:
        raise ArgumentError(f"rows of {tensor.shape} do not fit a user of a cache of {cache.shape}")
    return _write(cache, (user, slice(None), slice(rows)), tensor.array[0])


def _update(values: dict[str, Any]) -> Tensor:
    """One position of all users: rows (1, heads, users, d), from the user `batch_offset` on."""
    cache, tensor = _pair(values)
    position = values["update_index"]
    require_below(position, cache.shape[2], "position")
    first, users = values["batch_offset"], cache.shape[0]
    one, heads, rows, _ = tensor.shape
    if one != 1 or heads != cache.shape[1] or not 0 <= first <= rows - users:
        raise ArgumentError(
            f"rows of {tensor.shape} from {first} on are not (1, heads, users, d) for a cache of "
            f"{cache.shape}"
        )
    numbers = tensor.array[0, :, first : first + users].swapaxes(0, 1)
    return _write(cache, (slice(None), slice(None), position), numbers)


def update_each(values: dict[str, Any]) -> Tensor:
    """A position of its own for each user: rows (1, B, heads, d), of which the first heads count.

    With a page table the cache is (pages, heads, rows, d); positions of -1 change nothing.
    """
    cache, tensor = _pair(values)
    given = values["update_idxs_tensor"]
    listed = given.array.reshape(-1).tolist() if given is not None else values["update_idxs"] or ()
    places = [int(place) for place in listed]
    one, users, rows, _ = tensor.shape
    heads = cache.shape[1]
    if one != 1 or len(places) != users or rows < heads:
        raise ArgumentError(
            f"{len(places)} positions for rows of {tensor.shape}, which are (1, users, heads, d) "
            f"for a cache of {cache.shape}"
        )
    if values["batch_offset"]:
        raise ArgumentError("batch_offset other than 0 is not here yet")
    table = values["page_table"]
    pages = None if table is None else _page_numbers(table)
    used, blocks, offsets = find_places(np, cache.shape, places, pages)
    numbers = tensor.array[0, used, :heads]
    return _write(cache, (blocks, slice(None), offsets), numbers)


def _page_numbers(table: Any) -> Array:
    """The pages of each user; ValueError for what is no table of users and pages."""
    pages = require_tensor(table, "page_table")
    if len(pages.shape) != 2:
        raise ArgumentError(f"page_table has {pages.shape}; it must be (users, pages)")
    return as_places(pages.array)


def _fill_pages(values: dict[str, Any]) -> Tensor:
    """The first positions of a user whose pages a table names: rows (1, heads, S, d)."""
    cache, tensor = _pair(values)
    pages = _page_numbers(values["page_table"])
    given = values["batch_idx_tensor"]
    user = int(given.array.reshape(-1)[0]) if given is not None else values["batch_idx"]
    require_below(user, pages.shape[0], "user")
    one, heads, rows, _ = tensor.shape
    size = cache.shape[2]
    count = -(-rows // size)
    if one != 1 or heads != cache.shape[1] or count > pages.shape[1]:
        raise ArgumentError(
            f"rows of {tensor.shape} do not fit the pages of a user of {cache.shape}"
        )
    blocks, offsets = find_pages(np, cache.shape, pages[user], rows)
    return _write(cache, (blocks, slice(None), offsets), tensor.array[0].swapaxes(0, 1))


_FILL = "cache, input_tensor, batch_index"
_UPDATE = "cache, input_tensor, update_index, batch_offset=0, compute_kernel_config=None"

_CACHES: dict[str, Operation] = table_of(
    Operation("fill_cache", _fill, _FILL),
    Operation("update_cache", _update, _UPDATE),
    Operation("kv_cache.fill_cache_for_user_", _fill, _FILL),
    Operation("kv_cache.update_cache_for_token_", _update, _UPDATE),
    Operation(
        "experimental.paged_update_cache",
        update_each,
        "cache, input_tensor, *, update_idxs=None, update_idxs_tensor=None, share_cache=None, "
        "page_table=None, batch_offset=0, compute_kernel_config",
    ),
    Operation(
        "experimental.paged_fill_cache",
        _fill_pages,
        "cache, input_tensor, page_table, *, batch_idx_tensor=None, batch_idx=0, "
        "compute_kernel_config",
    ),
)


# --- Heads ----------------------------------------------------------------------------------------


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
    array = _some_users(values, array)
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


def _some_users(values: dict[str, Any], array: Array) -> Array:
    """The rows of the users from an offset on, which a tensor of one number says."""
    offset, size = values["batch_offset"], values["slice_size"]
    if (offset is None) != (size is None):
        raise ArgumentError("batch_offset and slice_size are given together")
    if offset is None:
        return array
    numbers = as_places(require_tensor(offset, "batch_offset").array).reshape(-1)
    if numbers.size < 1 or not is_integer(size) or size < 1:
        raise ArgumentError(
            f"batch_offset has {numbers.size} numbers, of which the first counts, and slice_size "
            f"is a number from 1 on, not {spell_value(size)}"
        )
    first, users = int(numbers[0]), array.shape[-2]
    if not 0 <= first <= users - size:
        raise ArgumentError(f"users {first} to {first + size} are not in the {users} of the tensor")
    return array[..., first : first + size, :]


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

_HEADS: dict[str, Operation] = table_of(
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
        "input_tensor, *, num_heads, num_kv_heads=None, overlap_qk_coregrid, batch_offset=None, "
        f"slice_size=None, {_MEMORY}",
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


# --- Rotary embeddings ----------------------------------------------------------------------------


def swap_halves(array: Array) -> Array:
    """(a, b) becomes (-b, a) for the halves of each row."""
    first, second = np.split(array, 2, axis=-1)
    return np.concatenate([-second, first], axis=-1)


def _require_even(tensor: Tensor, multiple: int) -> None:
    if not tensor.shape or tensor.shape[-1] % multiple:
        raise ArgumentError(f"the last extent of {tensor.shape} is not a multiple of {multiple}")


def _rotate_half(values: dict[str, Any]) -> Tensor:
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    _require_even(tensor, 2)
    device = common_device(tensor)
    result = swap_halves(tensor.array)
    config = values["memory_config"]
    return store(result, (tensor,), device=device, memory_config=config, exact=True)


def _finish_rotary(
    result: Array, values: dict[str, Any], given: tuple[Tensor, ...], name: str
) -> Tensor:
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
    for name, each in zip(names, given, strict=True):
        if len(each.shape) < 2:
            raise ArgumentError(f"{name} has {each.shape}; it has rows and columns")
    token, rows = values["token_index"], tensor.shape[-2]
    most = min(cos.shape[-2], sin.shape[-2])
    first, last = (0, rows) if token is None else (token, token + 1)
    if not 0 <= first < last <= most:
        raise ArgumentError(f"positions {first} to {last - 1} of caches of {most} rows")
    x = tensor.array
    cosines, sines = cos.array[..., first:last, :], sin.array[..., first:last, :]
    for name, each in zip(names[1:], (cosines, sines), strict=True):
        if broadcast_shape(x.shape, each.shape) != x.shape:
            raise ArgumentError(f"{name} of {each.shape} is for no tensor of {tensor.shape}")
    return _finish_rotary(x * cosines + swap_halves(x) * sines, values, given, "rotary_embedding")


def rotary_embedding_llama(values: dict[str, Any]) -> Tensor:
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
    return _finish_rotary(result, values, given, "rotary_embedding_llama")


_TAIL = "memory_config=None, compute_kernel_config"

_ROTARY: dict[str, Operation] = table_of(
    Operation("experimental.rotate_half", _rotate_half, "input_tensor, *, memory_config=None"),
    Operation(
        "experimental.rotary_embedding",
        _rotary_embedding,
        f"input_tensor, cos_cache, sin_cache, token_index=None, *, {_TAIL}",
    ),
    Operation(
        "experimental.rotary_embedding_llama",
        rotary_embedding_llama,
        f"input_tensor, cos_cache, sin_cache, trans_mat, *, is_decode_mode=False, {_TAIL}",
    ),
)


OPERATIONS: dict[str, Operation] = {**_ATTENTION, **_CACHES, **_HEADS, **_ROTARY}
