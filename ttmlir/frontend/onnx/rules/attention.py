"""Attention as onnxruntime's own operators have it: masks, caches and heads in one node."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.carriers import array_of
from ttmlir.composites import indexing, normalization
from ttmlir.frontend.onnx.call import Call, Rule
from ttmlir.frontend.onnx.rules import quantization
from ttmlir.frontend.onnx.rules.fused import attribute, read_turns, rotate, split_heads
from ttmlir.frontend.onnx.rules.indexing import write_rows

_HIDDEN = -10000.0
"""What onnxruntime adds to the scores of hidden keys."""


def _hidden(call: Call, mask: Array | None, shape: Sequence[int]) -> Array | None:
    """What a mask of keys adds to scores (batch, heads, queries, keys)."""
    if mask is None:
        return None
    batch, _, _, keys = shape
    if mask.rank == 1:
        places = array_of(np.arange(keys)).reshape((1, keys))
        ends = mask.cut(0, 0, batch).cast("i64").reshape((batch, 1))
        is_seen = places < ends
        if mask.shape[0] == 2 * batch:
            is_seen = is_seen & (places >= mask.cut(0, batch, 2 * batch).cast("i64").unsqueeze(1))
        elif mask.shape[0] != batch:
            call.refuse(f"a mask of {mask.shape[0]} numbers for {batch} texts is not supported")
        is_seen = is_seen.unsqueeze(1, 2)
    elif mask.rank in (2, 3):
        is_seen = mask.ne(0).unsqueeze(*((1, 2) if mask.rank == 2 else (1,)))
    else:
        call.refuse(f"a mask of {mask.rank} dimensions is not supported; 1 to 3 are")
    filled = float(attribute(call, "mask_filter_value", _HIDDEN))
    wide = is_seen.cast("f32")
    return is_seen.where(wide.fill(0), wide.fill(filled))


def _attend(
    call: Call, query: Array, key: Array, value: Array, mask: Array | None, *, causal: bool
) -> Array:
    """Attention of (batch, heads, rows, width), with what masks and biases add to scores."""
    scale = float(attribute(call, "scale", 0) or 1 / math.sqrt(query.shape[-1]))
    scores = (query @ key.transpose()) * scale
    for added in (_hidden(call, mask, scores.shape), call.optional("attention_bias")):
        if added is not None:
            scores = scores + added.cast(scores.dtype)
    if causal:
        queries, keys = scores.shape[-2:]
        later = array_of(np.tri(queries, keys, keys - queries, dtype=np.bool_))
        scores = later.where(scores, -math.inf)
    return normalization.softmax(scores, -1) @ value


def _project(call: Call) -> list[Array]:
    """Queries, keys and values that one product gives."""
    x = call.of_rank("input", 3) @ call.of_rank("weights", 2)
    if (bias := call.optional("bias")) is not None:
        x = x + bias
    return _divide(call, x)


def _divide(call: Call, x: Array) -> list[Array]:
    heads = int(call.required("num_heads"))
    sizes = list(call["qkv_hidden_sizes"] or [x.shape[-1] // 3] * 3)
    if len(sizes) != 3 or sum(sizes) != x.shape[-1]:
        call.refuse(f"qkv_hidden_sizes is {sizes}; their sum has to be {x.shape[-1]}")
    ends = np.cumsum([0, *sizes]).tolist()
    parts = [x.cut(2, begin, end) for begin, end in pairwise(ends)]
    return [split_heads(call, each, heads) for each in parts]


def attend_to_itself(call: Call, projected: Array | None = None) -> tuple[Array, ...]:
    """`Attention`, whose projection may be given; its result, and keys and values in one tensor."""
    query, key, value = _project(call) if projected is None else _divide(call, projected)
    for name in ("do_rotary", "past_present_share_buffer"):
        if call[name]:
            call.refuse(f"{name} is not supported")
    if call.has("past"):
        past = call.of_rank("past", 5)
        key, value = (
            concatenate([past.cut(0, place, place + 1).squeeze(0), each], 2)
            for place, each in enumerate((key, value))
        )
    found = _attend(
        call,
        query,
        key,
        value,
        call.optional("mask_index"),
        causal=bool(attribute(call, "unidirectional", 0)),
    )
    if not call.is_used(1):
        return (normalization.join_heads(found),)
    cache = concatenate([each.unsqueeze(0) for each in (key, value)], 0)
    return normalization.join_heads(found), cache


def _multi_head(call: Call) -> tuple[Array, ...]:
    heads = int(call.required("num_heads"))
    for name in ("past_sequence_length", "cache_indirection"):
        if call.has(name):
            call.refuse(f"the input '{name}' is not supported")
    if call.is_used(3):
        call.refuse("scores are not among the results that are supported")
    rows = _unpacked(call)
    if (bias := call.optional("bias")) is not None:
        begin = 0
        for place, each in enumerate(rows):
            if each.rank != 3:
                break
            rows[place] = each + bias.cut(0, begin, begin + each.shape[2])
            begin += each.shape[2]
    query, key, value = (
        each if each.rank == 4 else split_heads(call, each, heads) for each in rows
    )
    if call.has("past_key"):
        key = concatenate([call.of_rank("past_key", 4), key], 2)
        value = concatenate([call.of_rank("past_value", 4), value], 2)
    found = _attend(
        call,
        query,
        key,
        value,
        call.optional("key_padding_mask"),
        causal=bool(attribute(call, "unidirectional", 0)),
    )
    return normalization.join_heads(found), key, value


def _unpacked(call: Call) -> list[Array]:
    """Queries, keys and values, of which several may be packed into one input."""
    query = call.of_rank("query", 3, 5)
    key, value = (
        call.of_rank(name, 3, 4, 5) if call.has(name) else None for name in ("key", "value")
    )
    packed, alone = (query, []) if key is None else (key, [query])
    if packed.rank == 5:
        batch, length, heads, count, width = packed.shape
        parts = [packed.cut(3, place, place + 1) for place in range(count)]
        return [*alone, *(each.reshape((batch, length, heads * width)) for each in parts)]
    if key is None or value is None:
        call.refuse("keys and values are missing; they are inputs, or packed into one with queries")
    return [query, key, value]


_UNSUPPORTED = ("query_seqlens", "sliding_window_cache")


def _grouped(call: Call) -> tuple[Array, Array, Array]:
    """Attention whose queries share keys, with a cache that has another length in each text."""
    for name in _UNSUPPORTED:
        if call.has(name) or (call[name] or 0) > 0:
            call.refuse(f"'{name}' is not supported")
    heads, own = int(call.required("num_heads")), int(call.required("kv_num_heads"))
    packed = call.of_rank("query", 3)
    if own < 1 or heads % own:
        call.refuse(f"{heads} heads of queries cannot share {own} of keys")
    if call.has("key"):
        rows = [packed, call.of_rank("key", 3), call.of_rank("value", 3)]
    else:
        width = packed.shape[-1] // (heads + 2 * own)
        ends = np.cumsum([0, heads, own, own]) * width
        rows = [packed.cut(2, int(a), int(b)) for a, b in pairwise(ends)]
    query, key, value = (
        split_heads(call, each, count) for each, count in zip(rows, (heads, own, own), strict=True)
    )
    query, key = (_normalize(call, each, name) for name, each in (("q", query), ("k", key)))
    batch, _, length, width = query.shape
    total = int(call.number("total_sequence_length"))
    used = call.array("seqlens_k").cast("i64").reshape((batch, 1))
    past = array_of(np.zeros((batch, 1), np.int64)) if total == length else used + (1 - length)
    places = past + array_of(np.arange(length)).reshape((1, length))
    if call["do_rotary"]:
        tables = read_turns(call)
        given = call.optional("position_ids")
        index = places if given is None else given.cast("i64")
        turns = [indexing.take(each, 0, index).unsqueeze(1).cast(query.dtype) for each in tables]
        interleaved = bool(call["rotary_interleaved"])
        query, key = (
            rotate(each, turns[0], turns[1], interleaved=interleaved) for each in (query, key)
        )
    steps = {name: _steps_of_cache(call, name, own) for name in ("key", "value")}
    cached = [
        _extend(call, name, _in_steps(each, steps[name]), past, total)
        for name, each in (("key", key), ("value", value))
    ]
    key, value = (
        each if step is None else each.cast("f32") * step
        for each, step in zip(cached, steps.values(), strict=True)
    )
    keys = array_of(np.arange(key.shape[2])).reshape((1, 1, 1, key.shape[2]))
    mine = places.reshape((batch, 1, length, 1))
    is_seen = keys <= mine if attribute(call, "causal", 1) else keys <= used.unsqueeze(2, 3)
    window = int(attribute(call, "local_window_size", -1))
    if window > 0:
        is_seen = is_seen & (keys > mine - window)
    scale = float(attribute(call, "scale", 0) or 1 / math.sqrt(width))
    scores = (query @ normalization.repeat_heads(key, heads).transpose()) * scale
    if softcap := float(attribute(call, "softcap", 0)):
        scores = (scores / softcap).tanh() * softcap
    if (added := call.optional("attention_bias")) is not None:
        scores = scores + added
    scores = is_seen.where(scores, -math.inf)
    found = _share_with_sinks(call, scores) @ normalization.repeat_heads(value, heads)
    return normalization.join_heads(found), cached[0], cached[1]


def _share_with_sinks(call: Call, scores: Array) -> Array:
    """The softmax of scores of keys and, in each head, of a score that no key has."""
    sinks = call.optional("head_sink")
    batch, heads, length, keys = scores.shape
    if sinks is None and (call["smooth_softmax"] or 0) <= 0:
        return normalization.softmax(scores, -1)
    own = scores.fill(0, (heads,)) if sinks is None else sinks.cast(scores.dtype)
    own = own.reshape((1, heads, 1, 1)).broadcast((batch, heads, length, 1))
    return normalization.softmax(concatenate([scores, own], 3), -1).cut(3, 0, keys)


def _normalize(call: Call, x: Array, name: str) -> Array:
    """Heads of queries or keys divided by the root of their mean square, if there is a weight."""
    weight = call.optional(f"{name}_norm_weight")
    if weight is None:
        return x
    epsilon = attribute(call, f"{name}_norm_epsilon", attribute(call, "qk_norm_epsilon", 1e-6))
    return normalization.rms_norm(x, (x.rank - 1,), float(epsilon)) * weight


def _steps_of_cache(call: Call, name: str, heads: int) -> Array | None:
    """What 1 of a cache of integers stands for; None for caches of other numbers."""
    letter = name[0]
    if (kind := str(attribute(call, f"{letter}_quant_type", "NONE"))) == "NONE":
        return None
    if kind not in ("PER_TENSOR", "PER_CHANNEL"):
        call.refuse(f"{letter}_quant_type is '{kind}'; PER_TENSOR and PER_CHANNEL are supported")
    bits = int(attribute(call, "kv_cache_bit_width", 8))
    if bits != 8 or call.tensor(f"past_{name}").type != "INT8":
        call.refuse("caches of integers other than INT8 are not supported")
    step = call.array(f"{letter}_scale").cast("f32")
    count = math.prod(step.shape)
    if kind == "PER_TENSOR" or count % heads:
        return step.reshape((1,) * 4)
    return step.reshape((1, heads, 1, count // heads))


def _in_steps(x: Array, step: Array | None) -> Array:
    return x if step is None else quantization.round_to_type(x / step, "INT8", None).array


def _extend(call: Call, name: str, rows: Array, past: Array, total: int) -> Array:
    """A cache with new rows, which has room for all of them."""
    batch, own, _, width = rows.shape
    past_name = f"past_{name}"
    has_cache = call.has(past_name)
    cache = call.of_rank(past_name, 4) if has_cache else rows.fill(0, (batch, own, 0, width))
    room = max(total, cache.shape[2])
    if room == rows.shape[2] and not cache.shape[2]:
        return rows
    if cache.shape[2] < room:
        cache = cache.pad([(0, 0), (0, 0), (0, room - cache.shape[2]), (0, 0)], 0)
    return write_rows(cache, rows, 2, past.reshape((batch, 1, 1, 1)))


RULES: dict[str, Rule] = {
    "Attention": attend_to_itself,
    "GroupQueryAttention": _grouped,
    "MultiHeadAttention": _multi_head,
}
"""Rules by the names of operators of the domain `com.microsoft`."""

INPUTS: dict[str, str] = {
    "Attention": "input weights bias mask_index past attention_bias past_sequence_length",
    "GroupQueryAttention": "query key value past_key past_value seqlens_k total_sequence_length "
    "cos_cache sin_cache position_ids attention_bias head_sink k_scale v_scale q_norm_weight "
    "k_norm_weight query_seqlens",
    "MultiHeadAttention": "query key value bias key_padding_mask attention_bias past_key "
    "past_value past_sequence_length cache_indirection",
}
"""Names of inputs, in their order."""
