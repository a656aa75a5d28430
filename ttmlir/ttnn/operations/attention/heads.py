"""Heads of queries, keys and values in the forms of single models, and attention over them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.metalium.cores import num_cores_to_corerangeset
from ttmlir.metalium.enums import BufferType, ShardOrientation, TensorMemoryLayout
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.arguments import keep, take_tensors
from ttmlir.ttnn.operations.attention.transformer import (
    attend,
    attend_chunk,
    before,
    decode,
    rotary_embedding_llama,
    scale_of,
    swap_halves,
    update_each,
)
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_flag,
    common_device,
    is_integer,
    is_strict,
    store,
    table_of,
)
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.memory import DRAM_MEMORY_CONFIG, MemoryConfig, ShardSpec

# --- Heads ----------------------------------------------------------------------------------------


def _keep(array: Array, tensor: Tensor, values: dict[str, Any]) -> Tensor:
    return store(
        np.ascontiguousarray(array),
        (tensor,),
        device=common_device(tensor),
        memory_config=values["memory_config"],
        exact=True,
    )


def _take_rows(values: dict[str, Any], widths: int, model: str) -> tuple[Tensor, Array]:
    """The rows (B, S, columns) of (B, 1, S, columns), of as many columns as a model has."""
    (tensor,) = take_tensors(values, "input")
    shape = tensor.shape
    if len(shape) != 4 or shape[1] != 1 or shape[3] % widths:
        raise ArgumentError(f"input has {shape}; of {model} it is (B, 1, S, {widths})")
    return tensor, tensor.array[:, 0]


_HEAD = 64


def _falcon(values: dict[str, Any]) -> list[Tensor]:
    """71 heads of queries, one of keys and one of values, of 64 numbers each."""
    tensor, rows = _take_rows(values, 73 * _HEAD, "Falcon 7B")
    if rows.shape[-1] != 73 * _HEAD:
        raise ArgumentError(f"input has {tensor.shape}; of Falcon 7B it has {73 * _HEAD} columns")
    heads = rows.reshape(*rows.shape[:2], 73, _HEAD).swapaxes(1, 2)
    return [_keep(each, tensor, values) for each in np.split(heads, [71, 72], 1)]


def _vit(values: dict[str, Any]) -> list[Tensor]:
    """12 heads each of queries, keys and values, of 64 numbers."""
    tensor, rows = _take_rows(values, 36 * _HEAD, "ViT")
    if rows.shape[-1] != 36 * _HEAD:
        raise ArgumentError(f"input has {tensor.shape}; of ViT it has {36 * _HEAD} columns")
    heads = rows.reshape(*rows.shape[:2], 3, 12, _HEAD).transpose(2, 0, 3, 1, 4)
    return [_keep(each, tensor, values) for each in heads]


_SEGMENT = 32


def _segformer(values: dict[str, Any]) -> list[Tensor]:
    """Heads of 32 numbers, three times the same."""
    tensor, rows = _take_rows(values, _SEGMENT, "Segformer")
    heads = rows.reshape(*rows.shape[:2], -1, _SEGMENT).swapaxes(1, 2)
    return [_keep(heads, tensor, values) for _ in range(3)]


def _boltz(values: dict[str, Any]) -> list[Tensor]:
    """Of pairs (1, N, N, columns): heads (heads, N, N, d); those of keys are transposed."""
    tensor, *others = take_tensors(values, "input", optional=("input_kv",))
    heads, kv_heads = values["num_heads"], values["num_kv_heads"]
    kv_heads = heads if kv_heads is None else kv_heads
    if len(tensor.shape) != 4 or tensor.shape[0] != 1 or others or kv_heads != heads:
        raise ArgumentError(
            f"input has {tensor.shape}; it is (1, N, N, columns), without input_kv, and has as "
            "many heads of keys as of queries"
        )
    columns = tensor.shape[-1]
    if not is_integer(heads) or heads < 1 or columns % (3 * heads):
        raise ArgumentError(f"{columns} columns do not make 3 times num_heads={heads} heads")
    parts = tensor.array[0].reshape(*tensor.shape[1:3], 3, heads, -1).transpose(2, 3, 0, 1, 4)
    query, key, value = parts
    if as_flag(values["transpose_k_heads"], "transpose_k_heads"):
        key = key.swapaxes(-1, -2)
    return [_keep(each, tensor, values) for each in (query, key, value)]


def _join_boltz(values: dict[str, Any]) -> Tensor:
    """(heads, N, N, d) as (1, N, N, heads * d)."""
    (tensor,) = take_tensors(values, "input_tensor")
    if len(tensor.shape) != 4:
        raise ArgumentError(f"input_tensor has {tensor.shape}; it is (heads, N, N, d)")
    joined = tensor.array.transpose(1, 2, 0, 3).reshape(1, *tensor.shape[1:3], -1)
    return keep(joined, tensor, values, "output_tensor")


def _in_groups(values: dict[str, Any]) -> list[Tensor]:
    """Heads of rows in block shards, which hold queries, keys and values of each group of heads.

    Keys and values may be rows of another tensor.
    """
    tensor, *others = take_tensors(values, "input", optional=("input_kv",))
    heads, groups = values["num_heads"], values["num_kv_heads"]
    groups = heads if groups is None else groups
    if not all(is_integer(each) and each > 0 for each in (heads, groups)) or heads % groups:
        raise ArgumentError(f"num_heads={heads} is no multiple of num_kv_heads={groups}")
    count = heads // groups
    parts: list[Array] = []
    sizes = [(tensor, [count] if others else [count, 1, 1]), *((each, [1, 1]) for each in others)]
    for each, widths in sizes:
        if len(each.shape) != 4 or each.shape[1] != 1 or each.shape[3] % (groups * sum(widths)):
            raise ArgumentError(
                f"a tensor of {each.shape} is not (B, 1, S, columns) of {groups} groups of "
                f"{sum(widths)} heads"
            )
        split = each.array[:, 0].reshape(each.shape[0], each.shape[2], groups, sum(widths), -1)
        for part in np.split(split, np.cumsum(widths)[:-1], 3):
            dealt = part.reshape(*part.shape[:2], -1, part.shape[-1])
            parts.append(dealt.swapaxes(1, 2))
    if as_flag(values["transpose_k_heads"], "transpose_k_heads"):
        parts[1] = parts[1].swapaxes(-1, -2)
    return [_keep_by_head(each, tensor, values) for each in parts]


def _keep_by_head(array: Array, tensor: Tensor, values: dict[str, Any]) -> Tensor:
    """Heads in shards of the same cores, as many for one as for another."""
    spec, config = tensor.memory_config().shard_spec, values["memory_config"]
    if spec is None:
        if is_strict(tensor):
            raise ArgumentError("input is not in block shards; use ttnn.to_memory_config")
    elif config is None or config.shard_spec is None:
        height = int(np.prod(array.shape[:3])) // spec.grid.num_cores()
        shards = ShardSpec(spec.grid, (height, array.shape[3]), spec.orientation)
        config = MemoryConfig(TensorMemoryLayout.HEIGHT_SHARDED, BufferType.L1, shards)
    return _keep(array, tensor, {"memory_config": config})


def _split_queries(values: dict[str, Any]) -> list[Tensor]:
    """Heads of queries as two tensors: the first columns of each head, and the rest."""
    tensor, rows = _take_rows(values, 1, "any model")
    heads, first = values["num_heads"], values["split_head_dim"]
    columns = rows.shape[-1]
    if not is_integer(heads) or heads < 1 or columns % heads:
        raise ArgumentError(f"{columns} columns do not make num_heads={heads} heads")
    size = columns // heads
    if not is_integer(first) or first % 32 or not 0 < first < size:
        raise ArgumentError(f"split_head_dim={first} is no multiple of 32 between 0 and {size}")
    split = rows.reshape(*rows.shape[:2], heads, size).swapaxes(1, 2)
    return [_keep(each, tensor, values) for each in np.split(split, [first], -1)]


def _load_rows(values: dict[str, Any]) -> Tensor:
    """Rows of a cache (B, heads, S, d), in shards of one head each."""
    (tensor,) = take_tensors(values, "input_tensor")
    first, last = values["seq_len_start"], values["seq_len_end"]
    if len(tensor.shape) != 4:
        raise ArgumentError(f"input_tensor has {tensor.shape}; it is (B, heads, S, d)")
    users, heads, rows, columns = tensor.shape
    if not all(is_integer(each) and each % 32 == 0 for each in (first, last)) or not (
        0 <= first < last <= rows
    ):
        raise ArgumentError(
            f"seq_len_start={first} and seq_len_end={last} are multiples of 32 in order, up to "
            f"{rows}"
        )
    device = common_device(tensor)
    grid = device.compute_with_storage_grid_size()
    cores = num_cores_to_corerangeset(users * heads, grid, row_wise=True)
    spec = ShardSpec(cores, (last - first, columns), ShardOrientation.ROW_MAJOR)
    config = MemoryConfig(TensorMemoryLayout.HEIGHT_SHARDED, BufferType.L1, spec)
    return store(
        np.ascontiguousarray(tensor.array[:, :, first:last]),
        (tensor,),
        device=device,
        memory_config=config,
        output_tensor=values["output_tensor"],
        exact=True,
    )


# --- Rotary embeddings, caches --------------------------------------------------------------------


def _rotate_each(values: dict[str, Any]) -> Tensor:
    """x * cos + (the swapped halves of x) * sin; each user has its own row when decoding."""
    tensor, cos, sin = take_tensors(values, "input_tensor", "cos_cache", "sin_cache")
    x, turns = tensor.array, [cos.array, sin.array]
    if any(len(each.shape) != 4 for each in (tensor, cos, sin)) or x.shape[-1] % 2:
        raise ArgumentError(
            f"input_tensor has {tensor.shape}, cos_cache {cos.shape} and sin_cache {sin.shape}; "
            "they have four dimensions, the last even"
        )
    if not as_flag(values["is_decode_mode"], "is_decode_mode"):
        turns = [each[:, :, : x.shape[2]] for each in turns]
    for name, each in zip(("cos_cache", "sin_cache"), turns, strict=True):
        if any(own not in (1, extent) for own, extent in zip(each.shape, x.shape, strict=True)):
            raise ArgumentError(f"{name} is read as {list(each.shape)} for {tensor.shape}")
    return keep(x * turns[0] + swap_halves(x) * turns[1], tensor, values)


def _rotate_both(values: dict[str, Any]) -> list[Tensor]:
    """The rotary embeddings of queries and keys, each by its own rows of the same tables."""
    shared = {name: values[name] for name in ("cos_cache", "sin_cache", "trans_mat")}
    options = {"is_decode_mode": True, "memory_config": None}
    return [
        rotary_embedding_llama({"input_tensor": values[name], **shared, **options})
        for name in ("q_input_tensor", "k_input_tensor")
    ]


def _update_both(values: dict[str, Any]) -> list[Tensor]:
    """One position of each user in two caches."""
    return [
        update_each(
            {
                **values,
                "cache": values[f"cache_tensor{number}"],
                "input_tensor": values[f"input_tensor{number}"],
            }
        )
        for number in (1, 2)
    ]


# --- Attention ------------------------------------------------------------------------------------


def _keep_attention(result: Array, given: tuple[Tensor, ...], config: Any) -> Tensor:
    return store(
        result.astype(np.float32),
        given,
        device=common_device(*given),
        memory_config=DRAM_MEMORY_CONFIG if config is None else config,
    )


def _latent(values: dict[str, Any]) -> Tensor:
    """Attention whose values are the first columns of the keys, if they are not given."""
    third = values["head_dim_v"]
    names = ("input_tensor_q", "input_tensor_k")
    if isinstance(third, Tensor):
        values = {**values, "input_tensor_v": third}
    given = take_tensors(values, *names, optional=("input_tensor_v", "attn_mask"))
    query, key, *rest = given
    numbers = values["input_tensor_v"]
    if len(key.shape) != 4:
        raise ArgumentError(f"input_tensor_k has {key.shape}; it is (B, heads, S, d)")
    if numbers is None:
        if not is_integer(third) or not 0 < third <= key.shape[-1]:
            raise ArgumentError(f"head_dim_v={third} of keys of {key.shape[-1]} columns")
        value = key.array[..., :third]
    else:
        value = rest[0].array
    mask = None if values["attn_mask"] is None else values["attn_mask"].array
    if as_flag(values["is_causal"], "is_causal"):
        if mask is not None:
            raise ArgumentError("is_causal and attn_mask exclude each other; give is_causal=False")
        mask = before(np.arange(query.shape[-2]), key.shape[-2])
    scale = scale_of(values, query)
    result = attend(query.array, key.array, value, mask, scale)
    return _keep_attention(result, given, values["memory_config"])


def _with_values(values: dict[str, Any]) -> dict[str, Any]:
    """The arguments with the first columns of the keys as values, if those are not given."""
    key, *_ = take_tensors(values, "input_tensor_k", optional=("input_tensor_v",))
    width = values["head_dim_v"]
    if not key.shape or not is_integer(width) or not 0 < width <= key.shape[-1]:
        raise ArgumentError(f"head_dim_v={width} of keys of {key.shape}")
    if values["input_tensor_v"] is not None:
        return values
    numbers = np.ascontiguousarray(key.array[..., :width])
    found = store(numbers, (key,), device=common_device(key), exact=True)
    return {**values, "input_tensor_v": found}


def _latent_decode(values: dict[str, Any], *, paged: bool) -> Tensor:
    """Attention of one query for each user, whose values are part of the keys."""
    return decode(_with_values(values), paged=paged)


def _latent_chunk(values: dict[str, Any]) -> Tensor:
    """Causal attention of queries from a position on, whose values are part of the keys."""
    return attend_chunk(_with_values({**values, "input_tensor_v": None}))


def _joint(values: dict[str, Any]) -> list[Tensor]:
    """Attention of two sequences, one behind the other, as two tensors."""
    names = [f"{kind}_tensor_{letter}" for kind in ("input", "joint") for letter in "qkv"]
    given = take_tensors(values, *names)
    if values["joint_strategy"] != "rear":
        raise ArgumentError(f"joint_strategy is 'rear', not {values['joint_strategy']!r}")
    for name, each in zip(names, given, strict=True):
        if len(each.shape) != 4:
            raise ArgumentError(f"{name} has {each.shape}; it is (B, heads, S, d)")
        if is_strict(each) and each.memory_config().buffer_type is not BufferType.DRAM:
            raise ArgumentError(f"{name} is not in DRAM; use ttnn.to_memory_config")
    parts: list[Array] = []
    for first, second in zip(given[:3], given[3:], strict=True):
        if first.shape[:2] != second.shape[:2] or first.shape[3] != second.shape[3]:
            raise ArgumentError(
                f"sequences of {first.shape} and {second.shape} are not joined: they differ in "
                "more than their length"
            )
        parts.append(np.concatenate([first.array, second.array], 2))
    query, key, value = parts
    result = attend(query, key, value, None, scale_of(values, given[0]))
    split = np.split(result, [given[0].shape[2]], 2)
    return [_keep_attention(each, given, None) for each in split]


_MEMORY = "memory_config=None"
_LATENT = "input_tensor_q, input_tensor_k, input_tensor_v=None, head_dim_v=None"
_DECODE = (
    "is_causal=True, attn_mask=None, cur_pos=None, cur_pos_tensor=None, scale=None, "
    "sliding_window_size=None, memory_config=None, program_config=None, compute_kernel_config"
)
_NAMES = ", ".join(f"{kind}_tensor_{letter}" for kind in ("input", "joint") for letter in "qkv")

OPERATIONS: dict[str, Operation] = table_of(
    (
        Operation(f"experimental.nlp_create_qkv_heads_{name}", function, f"input, *, {_MEMORY}")
        for name, function in (("falcon7b", _falcon), ("vit", _vit), ("segformer", _segformer))
    ),
    (
        Operation(
            f"experimental.create_qkv_heads{name}",
            _in_groups,
            f"input, {others}, *, num_heads, num_kv_heads=None, transpose_k_heads=True, {_MEMORY}",
        )
        for name, others in (("", "input_kv=None"), ("_from_separate_tensors", "input_kv"))
    ),
    Operation(
        "experimental.nlp_create_qkv_heads_boltz",
        _boltz,
        f"input, input_kv=None, *, num_heads, num_kv_heads=None, transpose_k_heads=True, {_MEMORY}",
    ),
    Operation(
        "experimental.nlp_concat_heads_boltz",
        _join_boltz,
        f"input_tensor, *, {_MEMORY}, output_tensor=None",
    ),
    Operation(
        "experimental.nlp_create_q_heads_split",
        _split_queries,
        f"input, *, num_heads, split_head_dim, {_MEMORY}",
    ),
    Operation(
        "experimental.nlp_kv_cache_load_slice",
        _load_rows,
        f"input_tensor, *, seq_len_start, seq_len_end, {_MEMORY}, output_tensor=None",
    ),
    Operation(
        "experimental.rotary_embedding_hf",
        _rotate_each,
        "input_tensor, cos_cache, sin_cache, *, is_decode_mode=False, memory_config=None, "
        "compute_kernel_config",
    ),
    Operation(
        "experimental.rotary_embedding_llama_fused_qk",
        _rotate_both,
        "q_input_tensor, k_input_tensor, cos_cache, sin_cache, trans_mat, *, compute_kernel_config",
    ),
    Operation(
        "experimental.paged_fused_update_cache",
        _update_both,
        "cache_tensor1, input_tensor1, cache_tensor2, input_tensor2, *, update_idxs=[], "
        "update_idxs_tensor=None, share_cache=None, page_table=None, batch_offset=0, "
        "compute_kernel_config, mesh_coords=None",
    ),
    Operation(
        "transformer.flash_mla_prefill",
        _latent,
        "input_tensor_q, input_tensor_k, head_dim_v=None, *, input_tensor_v=None, attn_mask=None, "
        "is_causal=True, scale=None, memory_config=None, program_config=None, "
        "compute_kernel_config",
    ),
    Operation(
        "transformer.flash_multi_latent_attention_decode",
        partial(_latent_decode, paged=False),
        f"{_LATENT}, *, {_DECODE}",
    ),
    Operation(
        "transformer.paged_flash_multi_latent_attention_decode",
        partial(_latent_decode, paged=True),
        f"{_LATENT}, page_table_tensor=None, *, {_DECODE}",
    ),
    Operation(
        "transformer.chunked_flash_mla_prefill",
        _latent_chunk,
        "input_tensor_q, input_tensor_k, head_dim_v, page_table_tensor, chunk_start_idx, *, "
        "scale=None, memory_config=None, program_config=None, compute_kernel_config",
    ),
    Operation(
        "transformer.joint_scaled_dot_product_attention",
        _joint,
        f"{_NAMES}, *, joint_strategy, program_config=None, scale=None, compute_kernel_config",
    ),
)
