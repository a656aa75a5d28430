"""Heads, attention, rotary embeddings and caches against torch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from ttmlir import ttnn


@pytest.fixture
def device(tolerant_device: Any) -> Any:
    """Numbers are compared in float32 and in rows, too, where a card takes others only."""
    return tolerant_device


TYPES = {"bfloat16": 0.999, "float32": 0.9999, "bfloat8_b": 0.99}
"""The least correlation by data type, as ttnn's tests ask for it."""


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    """Random numbers that bfloat16 has."""
    numbers = np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)
    return torch.as_tensor(numbers).bfloat16().float()


def place(values: torch.Tensor, device: Any, dtype: str = "float32", **others: Any) -> Any:
    """A tensor on the device in tiles."""
    others.setdefault("layout", ttnn.TILE_LAYOUT)
    return ttnn.from_torch(values, getattr(ttnn, dtype), device=device, **others)


def check(actual: Any, expected: torch.Tensor, dtype: str = "float32") -> None:
    """Equal shapes, and correlation."""
    result = ttnn.to_torch(actual).double()
    assert result.shape == expected.shape
    pairs = np.corrcoef(result.flatten().numpy(), expected.double().flatten().numpy())
    assert pairs.min() >= TYPES[dtype]
    assert torch.allclose(result, expected.double(), atol=0.05, rtol=0.05)


def split_heads(x: torch.Tensor, heads: int, kv: int) -> list[torch.Tensor]:
    """Heads of query, key and value (B, heads, S, d) of (B, S, columns)."""
    batch, rows, _ = x.shape
    parts = x.reshape(batch, rows, heads + 2 * kv, -1).permute(0, 2, 1, 3)
    return [parts[:, :heads], parts[:, heads : heads + kv], parts[:, heads + kv :]]


@pytest.mark.parametrize("dtype", list(TYPES))
@pytest.mark.parametrize(("heads", "kv"), [(4, None), (4, 2), (6, 1)])
def test_split_heads(dtype: str, heads: int, kv: int | None, device: Any) -> None:
    """Query, key and value stand side by side; keys are turned unless asked otherwise."""
    kv_heads = heads if kv is None else kv
    values = draw(2, 37, (heads + 2 * kv_heads) * 16)
    x = place(values, device, dtype, memory_config=ttnn.L1_MEMORY_CONFIG)
    made = ttnn.transformer.split_query_key_value_and_split_heads(
        x, num_heads=heads, num_kv_heads=kv, memory_config=ttnn.DRAM_MEMORY_CONFIG
    )
    query, key, value = split_heads(values, heads, kv_heads)
    for part, expected in zip(made, (query, key.mT, value), strict=True):
        assert (part.dtype, part.memory_config()) == (x.dtype, ttnn.DRAM_MEMORY_CONFIG)
        check(part, expected, dtype)
    _, straight, _ = ttnn.transformer.split_query_key_value_and_split_heads(
        x, num_heads=heads, num_kv_heads=kv, transpose_key=False
    )
    check(straight, key, dtype)
    joined = ttnn.transformer.concatenate_heads(made[0])
    check(joined, query.permute(0, 2, 1, 3).reshape(2, 37, -1), dtype)


def test_split_heads_of_two_tensors(device: Any) -> None:
    """Keys and values may come from a tensor of their own."""
    q, kv = draw(2, 5, 32), draw(2, 5, 64, seed=1)
    made = ttnn.transformer.split_query_key_value_and_split_heads(
        place(q, device), place(kv, device), num_heads=4
    )
    expected = split_heads(torch.cat([q, kv], -1), 4, 4)
    check(made[2], expected[2])
    with pytest.raises(RuntimeError, match="32 columns cannot be split into 5 heads of the query"):
        ttnn.transformer.split_query_key_value_and_split_heads(place(q, device), num_heads=5)


def test_nlp_heads(device: Any) -> None:
    """The experimental forms have four dimensions, and one for a token of each user."""
    values = draw(2, 1, 35, 8 * 16)
    x = place(values, device)
    query, key, value = split_heads(values[:, 0], 4, 2)
    made = ttnn.experimental.nlp_create_qkv_heads(
        x, num_heads=4, num_kv_heads=2, transpose_k_heads=False
    )
    for part, expected in zip(made, (query, key, value), strict=True):
        check(part, expected)
    turned = ttnn.experimental.nlp_create_qkv_heads(x, num_heads=4, num_kv_heads=2)[1]
    check(turned, key.mT)
    joined = ttnn.experimental.nlp_concat_heads(made[0])
    check(joined, query.permute(0, 2, 1, 3).reshape(2, 1, 35, 64))
    token = draw(1, 1, 7, 8 * 16)
    made = ttnn.experimental.nlp_create_qkv_heads_decode(
        place(token, device), num_heads=4, num_kv_heads=2
    )
    for part, expected in zip(made, split_heads(token[0], 4, 2), strict=True):
        check(part, expected.permute(0, 2, 1, 3))
    joined = ttnn.experimental.nlp_concat_heads_decode(made[0], num_heads=3)
    assert torch.equal(
        ttnn.to_torch(joined), token[0, 0, :, :64].reshape(7, 4, 16)[:, :3].reshape(1, 1, 7, 48)
    )
    with pytest.raises(RuntimeError, match=r"num_heads=5 of a tensor of Shape\(\[1, 7, 4, 16\]\)"):
        ttnn.experimental.nlp_concat_heads_decode(made[0], num_heads=5)


@pytest.mark.parametrize("dtype", list(TYPES))
def test_attention_softmax(dtype: str, device: Any) -> None:
    """Scores are scaled by the size of a head, then masked."""
    values, mask = draw(2, 3, 33, 40), torch.zeros(2, 1, 1, 40)
    mask[1, ..., 20:] = -1e9
    x, hidden = place(values, device, dtype), place(mask, device, "bfloat16")
    expected = torch.softmax(values / math.sqrt(64) + mask, -1)
    result = ttnn.transformer.attention_softmax(x, head_size=64, attention_mask=hidden)
    check(result, expected, dtype)
    check(x, values, dtype)
    assert ttnn.transformer.attention_softmax_(x, head_size=64, attention_mask=hidden) is x
    check(x, expected, dtype)


@pytest.mark.parametrize("dtype", list(TYPES))
@pytest.mark.parametrize(("heads", "kv_heads"), [(4, 4), (4, 2), (6, 1)])
@pytest.mark.parametrize("causal", [True, False])
def test_attention(dtype: str, heads: int, kv_heads: int, causal: bool, device: Any) -> None:
    """Heads of keys and values serve several heads of queries."""
    q, k, v = draw(2, heads, 45, 32), *(draw(2, kv_heads, 45, 32, seed=s) for s in (1, 2))
    operands = [place(each, device, dtype) for each in (q, k, v)]
    plan = ttnn.SDPAProgramConfig(
        compute_with_storage_grid_size=(8, 8), q_chunk_size=32, k_chunk_size=32
    )
    result = ttnn.transformer.scaled_dot_product_attention(
        *operands, is_causal=causal, program_config=plan
    )
    expected = scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True)
    assert result.dtype == operands[0].dtype
    check(result, expected, dtype)


def test_attention_with_masks(device: Any) -> None:
    """Masks are added; windows hide keys that are far before; a row may see no key."""
    q, k, v = draw(1, 2, 9, 16), draw(1, 2, 13, 16, seed=1), draw(1, 2, 13, 16, seed=2)
    mask = draw(1, 1, 9, 13, seed=3)
    operands = [place(each, device) for each in (q, k, v)]
    attention = ttnn.transformer.scaled_dot_product_attention
    result = attention(*operands, attn_mask=place(mask, device), is_causal=False, scale=0.3)
    check(result, scaled_dot_product_attention(q, k, v, mask, scale=0.3))
    same = [operands[0], *(place(each[:, :, :9], device) for each in (k, v))]
    near = torch.ones(9, 9).tril().triu(-3).bool()
    result = attention(*same, sliding_window_size=4)
    check(result, scaled_dot_product_attention(q, k[:, :, :9], v[:, :, :9], near))
    nothing = torch.full((1, 1, 9, 13), -math.inf)
    result = attention(*operands, attn_mask=place(nothing, device), is_causal=False)
    assert not ttnn.to_torch(result).any()
    with pytest.raises(RuntimeError, match="is_causal and attn_mask exclude each other; give is_c"):
        attention(*operands, attn_mask=place(mask, device))
    with pytest.raises(
        RuntimeError, match="causal attention needs as many keys as queries, got 13 and 9;"
    ):
        attention(*operands)
    with pytest.raises(RuntimeError, match="do not go together: the heads of the query are a mult"):
        attention(place(draw(1, 3, 9, 16), device), *operands[1:], is_causal=False)


def test_attention_of_one_token(device: Any) -> None:
    """Each user sees the keys up to a position of its own; pages may stand anywhere."""
    users, heads, kv_heads, rows, size = 3, 4, 2, 12, 16
    q = draw(1, users, heads, size)
    k, v = (draw(users, kv_heads, rows, size, seed=s) for s in (1, 2))
    positions = [0, 7, 11]
    expected = torch.zeros(1, users, heads, size)
    for user, last in enumerate(positions):
        keys, values = (each[user : user + 1, :, : last + 1] for each in (k, v))
        query = q[0, user][None, :, None]
        found = scaled_dot_product_attention(query, keys, values, enable_gqa=True)
        expected[0, user] = found[0, :, 0]
    operands = [place(each, device) for each in (q, k, v)]
    decode = ttnn.transformer.scaled_dot_product_attention_decode
    check(decode(*operands, cur_pos=positions), expected)
    where = ttnn.from_torch(torch.tensor(positions).int(), device=device)
    check(decode(*operands, cur_pos_tensor=where), expected)
    with pytest.raises(
        RuntimeError, match="there are 0 current positions for 3 users; give cur_po"
    ):
        decode(*operands)
    check(
        decode(*operands, is_causal=False),
        scaled_dot_product_attention(q[0][:, :, None], k, v, enable_gqa=True)[:, :, 0][None],
    )

    table = torch.tensor([[8, 1, 4], [0, 7, 2], [5, 3, 6]])
    pages = [torch.zeros(9, kv_heads, 4, size) for _ in range(2)]
    for user, block in np.ndindex(3, 3):
        for page, whole in zip(pages, (k, v), strict=True):
            page[table[user, block]] = whole[user, :, 4 * block : 4 * block + 4]
    numbers = ttnn.from_torch(table.int(), device=device)
    paged = [place(each, device) for each in pages]
    found = ttnn.transformer.paged_scaled_dot_product_attention_decode(
        operands[0], *paged, numbers, cur_pos_tensor=where
    )
    check(found, expected)
    chunk = draw(users, heads, 5, size, seed=5)
    found = ttnn.transformer.chunked_scaled_dot_product_attention(
        place(chunk, device), *paged, numbers, 4
    )
    seen = torch.ones(5, 12).tril(4).bool()
    check(found, scaled_dot_product_attention(chunk, k, v, seen, enable_gqa=True))
    wrong = ttnn.from_torch((table + 1).int(), device=device)
    with pytest.raises(RuntimeError, match="page 9 of a cache of 9 pages"):
        ttnn.transformer.paged_scaled_dot_product_attention_decode(
            operands[0], *paged, wrong, cur_pos_tensor=where
        )


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_rotary_embedding(dtype: str, device: Any) -> None:
    """Halves of rows are turned, by the cosines and sines of the first positions, or of one."""
    x, cos, sin = draw(2, 3, 21, 64), draw(1, 1, 40, 64, seed=1), draw(1, 1, 40, 64, seed=2)
    turned = torch.cat([-x[..., 32:], x[..., :32]], -1)
    operands = [place(each, device, dtype) for each in (x, cos, sin)]
    rotate = ttnn.experimental.rotary_embedding
    assert torch.equal(ttnn.to_torch(ttnn.experimental.rotate_half(operands[0])).float(), turned)
    check(rotate(*operands), x * cos[:, :, :21] + turned * sin[:, :, :21], dtype)
    check(rotate(*operands, 5), x * cos[:, :, 5:6] + turned * sin[:, :, 5:6], dtype)
    with pytest.raises(RuntimeError, match="positions 40 to 40 of caches of 40 rows"):
        rotate(*operands, 40)


def test_rotary_embedding_of_pairs(device: Any) -> None:
    """The form of Llama turns neighbours, by a matrix."""
    x, cos, sin = draw(1, 3, 21, 64), draw(1, 1, 40, 64, seed=1), draw(1, 1, 40, 64, seed=2)
    matrix = torch.zeros(1, 1, 32, 32)
    for i in range(0, 32, 2):
        matrix[..., i, i + 1], matrix[..., i + 1, i] = 1, -1
    turned = torch.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)
    operands = [place(each, device) for each in (x, cos, sin, matrix)]
    result = ttnn.experimental.rotary_embedding_llama(*operands)
    check(result, x * cos[:, :, :21] + turned * sin[:, :, :21])
    token = x.permute(0, 2, 1, 3)
    operands = [
        place(e, device)
        for e in (
            token,
            cos[:, :21].reshape(1, 40, 1, 64)[:, :21],
            sin[:, :21].reshape(1, 40, 1, 64)[:, :21],
            matrix,
        )
    ]
    result = ttnn.experimental.rotary_embedding_llama(*operands, is_decode_mode=True)
    check(
        result,
        (x * cos[:, :, :21] + turned * sin[:, :, :21]).permute(0, 2, 1, 3),
    )


@pytest.mark.parametrize("dtype", list(TYPES))
def test_caches(dtype: str, device: Any) -> None:
    """Operations write a cache in place and give it back."""
    old = draw(4, 2, 40, 32)
    cache = place(old, device, dtype)
    address = cache.buffer_address()
    expected = ttnn.to_torch(cache).float().clone()
    filled = draw(1, 2, 33, 32, seed=1)
    assert ttnn.kv_cache.fill_cache_for_user_(cache, place(filled, device, dtype), 2) is cache
    expected[2, :, :33] = filled[0]
    check(cache, expected, dtype)
    token = draw(1, 2, 6, 32, seed=2)
    ttnn.update_cache(cache, place(token, device, dtype), 39, batch_offset=1)
    expected[:, :, 39] = token[0, :, 1:5].swapaxes(0, 1)
    check(cache, expected, dtype)
    each = draw(1, 4, 8, 32, seed=3)
    ttnn.experimental.paged_update_cache(
        cache, place(each, device, dtype), update_idxs=[0, -1, 5, 38]
    )
    for user, position in ((0, 0), (2, 5), (3, 38)):
        expected[user, :, position] = each[0, user, :2]
    check(cache, expected, dtype)
    assert cache.buffer_address() == address

    def update(rows: Any, positions: list[int], **options: Any) -> Any:
        return ttnn.experimental.paged_update_cache(cache, rows, update_idxs=positions, **options)

    ttnn.fill_cache(cache, place(filled, device, dtype), batch_idx=0)
    expected[0, :, :33] = filled[0]
    check(cache, expected, dtype)
    for call, message in (
        (lambda: ttnn.fill_cache(cache, place(filled, device), 4), "user 4 of a cache that has 4"),
        (
            lambda: ttnn.update_cache(cache, place(token, device), 40),
            "position 40 of a cache that has 40",
        ),
        (
            lambda: ttnn.fill_cache(cache, place(draw(1, 2, 8, 31), device), 0),
            "rows of 31 numbers do not fit a cache of rows of 32",
        ),
        (
            lambda: ttnn.fill_cache(cache, place(draw(2, 8, 32), device), 0),
            r"Shape\(\[2, 8, 32\]\); it must have four dimensions",
        ),
        (
            lambda: ttnn.fill_cache(cache, place(draw(1, 3, 8, 32), device), 0),
            r"rows of Shape\(\[1, 3, 8, 32\]\) do not fit a user of a cache of Shape",
        ),
        (
            lambda: ttnn.update_cache(cache, place(token, device), 0, batch_offset=3),
            r"from 3 on are not \(1, heads, users, d\) for a cache of Shape\(\[4, 2, 40, 32\]\)",
        ),
        (
            lambda: ttnn.update_cache(cache, place(token, device), 0, batch_offset=-1),
            r"from -1 on are not \(1, heads, users, d\)",
        ),
        (lambda: update(place(each, device), [0, 1, 2]), "3 positions for rows of Shape"),
        (lambda: update(place(each[:, :, :1], device), [0] * 4), "4 positions for rows of Shape"),
        (lambda: update(place(each, device), [0, 1, 2, 40]), "position 40 of a cache that has 40"),
        (
            lambda: update(place(each, device), [0] * 4, batch_offset=1),
            "batch_offset other than 0 is not here yet",
        ),
        (
            lambda: update(place(draw(1, 5, 8, 32), device), [0] * 5),
            "user 4 of a cache that has 4",
        ),
    ):
        with pytest.raises(RuntimeError, match=message):
            call()


def test_caches_of_pages(device: Any) -> None:
    """A table names the pages of each user."""
    cache = place(torch.zeros(6, 2, 4, 8), device)
    table = torch.tensor([[5, 0], [2, 3]])
    pages = ttnn.from_torch(table.int(), device=device)
    rows = draw(1, 2, 7, 8)
    ttnn.experimental.paged_fill_cache(cache, place(rows, device), pages, batch_idx=1)
    expected = torch.zeros(6, 2, 4, 8)
    expected[2], expected[3, :, :3] = rows[0, :, :4], rows[0, :, 4:]
    assert torch.equal(ttnn.to_torch(cache), expected)
    token = draw(1, 2, 2, 8, seed=1)
    where = ttnn.from_torch(torch.tensor([1, 7]).int(), device=device)
    ttnn.experimental.paged_update_cache(
        cache, place(token, device), update_idxs_tensor=where, page_table=pages
    )
    expected[5, :, 1], expected[3, :, 3] = token[0, 0], token[0, 1]
    assert torch.equal(ttnn.to_torch(cache), expected)
    lost = ttnn.from_torch(torch.tensor([[5, 0], [6, 3]]).int(), device=device)
    with pytest.raises(RuntimeError, match="page 6 of a cache that has 6"):
        ttnn.experimental.paged_update_cache(
            cache, place(token, device), update_idxs=[0, 1], page_table=lost
        )
    with pytest.raises(RuntimeError, match="page 6 of a cache that has 6"):
        ttnn.experimental.paged_fill_cache(cache, place(rows, device), lost, batch_idx=1)
    with pytest.raises(RuntimeError, match=r"rows of Shape\(\[1, 2, 9, 8\]\) do not fit the pages"):
        ttnn.experimental.paged_fill_cache(
            cache, place(draw(1, 2, 9, 8), device), pages, batch_idx=1
        )
    with pytest.raises(RuntimeError, match="position 8 of a cache that has 8"):
        ttnn.experimental.paged_update_cache(
            cache, place(token, device), update_idxs=[0, 8], page_table=pages
        )


def test_missing_names_below_a_dot() -> None:
    """A name that is not here says so, with its whole name and the nearest."""
    with pytest.raises(AttributeError) as error:
        _ = ttnn.transformer.concatenate_head
    assert str(error.value) == (
        "ttnn.transformer.concatenate_head is not here yet; nearest: "
        "ttnn.transformer.concatenate_heads, ttnn.transformer.attention_softmax, "
        "ttnn.transformer.attention_softmax_"
    )
    assert "concatenate_heads" in dir(ttnn.transformer)
    assert "rotary_embedding" in dir(ttnn.experimental)
