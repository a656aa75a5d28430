"""Attention with states and with chosen keys, against the formulas written in torch."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest
import torch
from oracles.ttnn_oracle import draw

from ttmlir import ttnn

SEEDS = count()


def reals(shape: tuple[int, ...], low: float, high: float) -> Any:
    """Random numbers, others in each call."""
    return draw(shape, low, high, next(SEEDS))


def place(values: Any, device: Any, dtype: Any = ttnn.float32) -> Any:
    """A tensor in tiles, of float32 unless it is said."""
    return ttnn.from_torch(values, dtype, layout=ttnn.TILE_LAYOUT, device=device)


def rows(values: Any, device: Any, dtype: Any = ttnn.bfloat16) -> Any:
    """A tensor in rows."""
    return ttnn.from_torch(values, dtype, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)


def coarse(*shape: int) -> Any:
    """Numbers that bfloat16 holds."""
    return reals(shape, -1, 1).bfloat16().float()


def close(found: Any, expected: Any) -> bool:
    """Whether a result of bfloat16 is the expected one, as far as its bits reach."""
    return torch.allclose(ttnn.to_torch(found).float(), expected, rtol=2**-7, atol=2**-8)


# --- The gated delta rule -------------------------------------------------------------------------


def recur(
    q: Any, k: Any, v: Any, g: Any, beta: Any,
    state: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """The rule, token by token, of one head: (T, K), (T, V), (T,) and a state (K, V)."""
    found: list[Any] = []
    for token in range(len(q)):
        state = state * g[token].exp()
        state = state + torch.outer(k[token], beta[token] * (v[token] - k[token] @ state))
        found.append(q[token] / q.shape[1] ** 0.5 @ state)
    return torch.stack(found), state


def sequences(tokens: int, columns: int, width: int) -> list[Any]:
    """Queries and keys of 2 heads of length 1, values of 4, decays and gates, for 2 sequences."""
    q, k = (torch.nn.functional.normalize(coarse(2, tokens, 2, columns), dim=-1) for _ in "qk")
    v, g = reals((2, tokens, 4, width), -1, 1), reals((2, tokens, 4), -0.5, 0)
    return [q, k, v, g, reals((2, tokens, 4), 0, 1)]


def expected_of(given: list[Any]) -> tuple[Any, Any]:
    """The results (B, T, 4, V) and the last states (B, 4, K, V)."""
    q, k, v, g, beta = given
    found, states = torch.empty_like(v), torch.empty(2, 4, q.shape[-1], v.shape[-1])
    for number in range(2):
        for head in range(4):
            found[number, :, head], states[number, head] = recur(
                q[number, :, head // 2], k[number, :, head // 2], v[number, :, head],
                g[number, :, head], beta[number, :, head], torch.zeros(states.shape[2:]),
            )  # fmt: skip
    return found, states


def test_delta_rule(device: Any) -> None:
    """In chunks and token by token, with the shapes and layouts that ttnn 0.81.1 answers."""
    given = sequences(37, 32, 64)
    expected, last = expected_of(given)
    tensors = [place(each, device) for each in given]
    rule = ttnn.transformer.chunk_gated_delta_rule
    found, nothing = rule(*tensors)
    assert nothing is None
    assert (found.dtype, found.layout) == (ttnn.float32, ttnn.ROW_MAJOR_LAYOUT)
    assert torch.allclose(ttnn.to_torch(found), expected, atol=1e-5)
    found, state = rule(*tensors, output_final_state=True, output_head_major=True)
    assert (found.shape, found.layout) == ([8, 37, 64], ttnn.TILE_LAYOUT)
    assert torch.allclose(
        ttnn.to_torch(found), expected.transpose(1, 2).reshape(8, 37, 64), atol=1e-5
    )
    assert torch.allclose(ttnn.to_torch(state), last, atol=1e-5)
    steps = ttnn.transformer.fused_recurrent_gated_delta_rule
    found, states = steps(*tensors, output_per_token_state=True)
    assert (found.layout, states.shape) == (ttnn.TILE_LAYOUT, [2, 37, 4, 32, 64])
    assert torch.allclose(ttnn.to_torch(found), expected, atol=1e-5)
    assert torch.allclose(ttnn.to_torch(states)[:, -1], last, atol=1e-5)
    # Two halves, of which the second begins with the state of the first.
    halves = [
        [place(each[:, part], device) for each in given] for part in (slice(20), slice(20, None))
    ]
    _, state = steps(*halves[0], output_final_state=True)
    found, _ = steps(*halves[1], initial_state=state)
    assert torch.allclose(ttnn.to_torch(found), expected[:, 20:], atol=1e-5)
    with pytest.raises(RuntimeError, match="divide q and k by their lengths"):
        rule(*tensors, use_qk_l2norm=True)
    with pytest.raises(RuntimeError, match="HV a multiple of H, not q "):
        rule(*(place(torch.zeros(2, 37, 3, 32), device) for _ in "qk"), *tensors[2:])


def test_delta_rule_of_joined_heads(device: Any) -> None:
    """Heads that are side by side are divided by their lengths."""
    given = sequences(32, 32, 32)
    expected, _ = expected_of(given)
    flat = [3 * given[0], 2 * given[1], given[2]]
    tensors = [place(each.flatten(2), device) for each in flat]
    tensors += [place(each, device) for each in given[3:]]
    found, _ = ttnn.transformer.chunk_gated_delta_rule(*tensors, chunk_size=32)
    assert found.shape == [2, 32, 4, 32]
    assert torch.allclose(ttnn.to_torch(found), expected, atol=1e-4)
    with pytest.raises(RuntimeError, match="joined take chunk_size=32"):
        ttnn.transformer.chunk_gated_delta_rule(*tensors)


def test_prepared_chunks(device: Any) -> None:
    """Chunks whose products are made by the caller give what the rule gives."""
    size, chunks = 128, 2
    tokens = size * chunks
    q: Any = torch.nn.functional.normalize(reals((tokens, size), -1, 1), dim=-1)
    k: Any = torch.nn.functional.normalize(reals((tokens, size), -1, 1), dim=-1)
    v: Any = reals((tokens, size), -1, 1)
    g: Any = reals((tokens,), -0.1, 0)
    beta: Any = reals((tokens,), 0.1, 1)
    expected, last = recur(q, k, v, g, beta, torch.zeros(size, size))
    sums = g.reshape(chunks, size).cumsum(-1)
    parts: list[Any] = [each.reshape(chunks, size, size) for each in (q / size**0.5, k, v)]
    q, k, v = parts
    beta = beta.reshape(chunks, size, 1)
    decay = (sums[:, :, None] - sums[:, None]).tril().exp().tril()
    lower = ((beta * k) @ k.mT * decay).tril(-1) + torch.eye(size)
    prepared: list[Any] = [
        lower, beta * v, beta * k * sums.exp()[..., None], q @ k.mT * decay,
        q * sums.exp()[..., None], (k * (sums[:, -1:] - sums).exp()[..., None]).mT,
        sums[:, -1].exp().reshape(chunks, 1, 1), torch.zeros(chunks, size, 32),
    ]  # fmt: skip
    found, state = ttnn.transformer.gated_delta_attn_seq(
        *(place(each[None], device) for each in prepared)
    )
    assert torch.allclose(ttnn.to_torch(found).reshape(tokens, size), expected, atol=1e-4)
    assert torch.allclose(ttnn.to_torch(state)[0], last, atol=1e-4)
    with pytest.raises(RuntimeError, match=r"dl_exp has Shape\(\[1, 2, 128, 128\]\)"):
        ttnn.transformer.gated_delta_attn_seq(*[place(lower[None], device)] * 8)


# --- Chosen keys ----------------------------------------------------------------------------------


def test_scores(device: Any) -> None:
    """Positive products by gates, or products of groups, of the keys before each query."""
    q, k, w = coarse(1, 4, 64, 128), coarse(1, 1, 128, 128), coarse(1, 1, 64, 4)
    given = [place(each, device, ttnn.bfloat16) for each in (q, k, w)]
    products = q @ k.mT
    keys, queries = torch.arange(128), torch.arange(64)[:, None]

    def masked(scores: Any, ends: Any) -> Any:
        return scores.masked_fill(keys >= ends, -torch.inf)

    gated = torch.einsum("bhst,bsh->bst", products.relu(), w[:, 0])[:, None]
    score = ttnn.experimental.indexer_score_dsa
    found = score(*given)
    assert (found.shape, found.layout) == ([1, 1, 64, 128], ttnn.ROW_MAJOR_LAYOUT)
    assert close(found, masked(gated, queries + 65))
    found = score(*given, chunk_start_idx=200, key_compression_ratio=4, kv_len=64)
    assert close(found, masked(gated, torch.minimum((queries + 201) // 4, torch.tensor(64))))
    groups = ttnn.experimental.indexer_score_msa
    sums = 0.25 * products.reshape(1, 2, 2, 64, 128).sum(2)
    found = groups(*given[:2], num_groups=2, scale=0.25, chunk_start_idx=3)
    assert close(found, masked(sums, queries + 4))
    found = groups(*given[:2], num_groups=2, scale=0.25, chunk_start_idx=3, block_size=32)
    assert close(found, masked(sums, queries + 4).reshape(1, 2, 64, 4, 32).amax(-1))
    with pytest.raises(RuntimeError, match="num_groups=3 does not divide 4 heads"):
        groups(*given[:2], num_groups=3)
    with pytest.raises(RuntimeError, match="for caches over several devices"):
        score(*given, block_cyclic_sp_axis=0, block_cyclic_chunk_local=32)


def test_attention_to_rows(device: Any) -> None:
    """Softmax over the rows that are named, with a sink that has no value."""
    q, kv, sink = coarse(1, 32, 5, 64), coarse(1, 1, 96, 64), coarse(1, 1, 1, 32)
    indices = torch.stack([torch.randperm(96)[:32] for _ in range(5)])
    indices[1:, 20:] = -1
    given = [rows(q, device), rows(kv, device), rows(indices[None, None], device, ttnn.uint32)]
    kind = ttnn.SparseKVFormat.BF16
    for more in ({}, {"attention_sink": sink}):
        expected = torch.empty(1, 32, 5, 48)
        for query in range(5):
            keys = kv[0, 0][indices[query][indices[query] >= 0]]
            scores = q[0, :, query] @ keys.T / 8
            if more:
                scores = torch.cat([scores, sink.reshape(32, 1) / 8], 1)
            weights = scores.softmax(-1)[:, : len(keys)]
            expected[0, :, query] = weights @ keys[:, :48]
        options = {name: rows(each, device) for name, each in more.items()}
        found = ttnn.transformer.sparse_sdpa(*given, 48, kv_format=kind, **options)
        assert close(found, expected)
    with pytest.raises(RuntimeError, match=r"kv_format is ttnn\.SparseKVFormat\.BF16"):
        ttnn.transformer.sparse_sdpa(*given, 48, kv_format=ttnn.SparseKVFormat.FP8_E4M3)
    few = rows(kv[:, :, :64], device)
    with pytest.raises(RuntimeError, match="indices name others than the 64"):
        ttnn.transformer.sparse_sdpa(given[0], few, given[2], 48, kv_format=kind)


def test_attention_to_blocks(device: Any) -> None:
    """Blocks of keys, of each head of keys its own, and none behind a query."""
    q, k, v = coarse(1, 32, 6, 64), coarse(2, 2, 256, 64), coarse(2, 2, 256, 96)
    chosen = torch.stack([torch.randperm(8)[:3] for _ in range(12)]).reshape(1, 2, 6, 3)
    # Each query sees its own block, of keys 64 to 95.
    chosen[..., 0] = 2
    chosen[:, :, 4:, 2] = -1
    given = [rows(q, device), *(place(each, device, ttnn.bfloat16) for each in (k, v))]
    given.append(rows(chosen, device, ttnn.uint32))
    seen = torch.zeros(2, 6, 8, dtype=torch.bool)
    for head, query, block in np.ndindex(2, 6, 3):
        if chosen[0, head, query, block] >= 0:
            seen[head, query, chosen[0, head, query, block]] = True
    seen = seen.repeat_interleave(32, -1)
    for start in (None, 70):
        mask = (
            seen if start is None else seen & (torch.arange(256) <= 70 + torch.arange(6)[:, None])
        )
        expected = torch.nn.functional.scaled_dot_product_attention(
            q[0].reshape(2, 16, 6, 64), k[1][:, None], v[1][:, None], mask[:, None]
        )
        found = ttnn.transformer.sparse_sdpa_msa(
            *given, block_size=32, cache_batch_idx=1, chunk_start_idx=start
        )
        assert close(found, expected.reshape(1, 32, 6, 96))
    with pytest.raises(RuntimeError, match="cache_batch_idx=2 is none of k's 2"):
        ttnn.transformer.sparse_sdpa_msa(*given, block_size=32, cache_batch_idx=2)


def test_windows(device: Any) -> None:
    """Queries see the keys of their window: as a mask of blocks."""
    q, k, v = (coarse(2, 3, 40, 32) for _ in "qkv")
    starts = torch.tensor([0, 7, 7, 33, 40], dtype=torch.int32)
    window = torch.repeat_interleave(torch.arange(4), starts.diff())
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, window[:, None] == window)
    given = [place(each, device, ttnn.bfloat16) for each in (q, k, v)]
    attend = ttnn.transformer.windowed_scaled_dot_product_attention
    assert close(attend(*given, rows(starts, device, ttnn.int32)), expected)
    with pytest.raises(RuntimeError, match=r"cu_window_seqlens is 0, .* not \[0, 7\]"):
        attend(*given, rows(starts[:2], device, ttnn.int32))


def test_written_rows(device: Any) -> None:
    """Rows of two caches; places below 0 and beyond the caches are left out."""
    caches = [coarse(4, 3, 32, 64) for _ in range(2)]
    packed = [coarse(1, 3, 5, 64) for _ in range(2)]
    places = torch.tensor([[70, -1, 3, 1000, 127, 9]], dtype=torch.int32)
    given = [
        place(each, device, ttnn.bfloat16)
        for pair in zip(caches, packed, strict=True)
        for each in pair
    ]
    found = ttnn.experimental.indexed_fused_update_cache(*given, rows(places, device, ttnn.int32))
    for tensor, result, cache, part in zip(given[::2], found, caches, packed, strict=True):
        for row, at in ((0, 70), (2, 3), (4, 127)):
            cache[at // 32, :, at % 32] = part[0, :, row]
        assert torch.equal(ttnn.to_torch(result).float(), cache)
        assert torch.equal(ttnn.to_torch(tensor).float(), cache)


# --- Experts --------------------------------------------------------------------------------------


def test_router(device: Any) -> None:
    """The experts of each row, and shares of their products."""
    x, weight, bias = coarse(5, 256), coarse(256, 128), coarse(5, 128)
    given = [place(each, device, ttnn.bfloat16) for each in (x, weight, bias)]
    experts, shares = ttnn.experimental.topk_router_gpt(
        given[0], weight_tensor=given[1], bias_tensor=given[2], k=6
    )
    largest, indices = (x @ weight + bias).topk(6)
    assert (experts.dtype, shares.dtype) == (ttnn.uint16, ttnn.bfloat16)
    assert ttnn.to_torch(experts).tolist() == indices.tolist()
    assert close(shares, largest.softmax(-1))
    with pytest.raises(RuntimeError, match="there are 128 experts"):
        ttnn.experimental.topk_router_gpt(
            given[0], weight_tensor=given[1], bias_tensor=given[2], num_experts=64
        )


def test_rounded_weights(device: Any) -> None:
    """On the host, or where it is said."""
    x = coarse(33, 64)
    rounded = ttnn.to_torch(ttnn.typecast(place(x, device), ttnn.bfloat4_b))
    found = ttnn.experimental.quantize_weights_via_host(
        place(x, device), dtype=ttnn.bfloat4_b, memory_config=None
    )
    assert found.storage_type() == ttnn.StorageType.HOST
    assert torch.equal(ttnn.to_torch(found), rounded)
    found = ttnn.experimental.quantize_weights_via_host(
        place(x, device), dtype=ttnn.bfloat4_b, memory_config=ttnn.L1_MEMORY_CONFIG
    )
    assert found.memory_config() == ttnn.L1_MEMORY_CONFIG
    assert torch.equal(ttnn.to_torch(found), rounded)
