"""Operations that single models use: random choices, shards, caches, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from oracles.ttnn_oracle import draw

from ttmlir import ttnn


def place(values: Any, device: Any, dtype: Any = None, layout: Any = None) -> Any:
    """A tensor on the device, in tiles of bfloat16 unless something else is said."""
    array = np.asarray(values, np.float32 if dtype is None else None)
    layout = ttnn.TILE_LAYOUT if layout is None else layout
    return ttnn.Tensor(array, dtype or ttnn.bfloat16, device, layout)


def rows(values: Any, device: Any, dtype: Any = None) -> Any:
    """A tensor on the device in rows."""
    return place(values, device, dtype, ttnn.ROW_MAJOR_LAYOUT)


def test_chance(device: Any) -> None:
    """As often as is asked for, the same for a seed, and never or always at the ends."""
    half = place(np.full((4, 32, 250), 0.5), device)
    drawn = ttnn.to_torch(ttnn.bernoulli(half, 7))
    assert set(drawn.flatten().tolist()) == {0, 1}
    # 32,000 draws are within 5 standard deviations of one half.
    assert abs(drawn.mean() - 0.5) < 5 * 0.5 / 32000**0.5
    assert torch.equal(drawn, ttnn.to_torch(ttnn.bernoulli(half, 7)))
    ends = place([[0.0, 1.0]], device)
    assert ttnn.bernoulli(ends, dtype=ttnn.bfloat16).to_list() == [[0, 1]]
    ones = place(np.ones((4, 32, 250)), device)
    kept = ttnn.to_torch(ttnn.experimental.dropout(ones, 0.25, 1.5, 3))
    assert set(kept.flatten().tolist()) == {0, 1.5}
    assert abs((kept == 0).double().mean() - 0.25) < 5 * (0.25 * 0.75 / 32000) ** 0.5
    assert ttnn.experimental.dropout(ends, 0.0, 2.0, 1).to_list() == [[0, 2]]
    assert ttnn.experimental.dropout(ends, 1.0, 2.0, 1).to_list() == [[0, 0]]


def test_sampling(device: Any) -> None:
    """One choice of each user: the largest alone, within a mass, or by chance among a few."""
    users, width = 32, 64
    values = np.tile(np.arange(width, dtype=np.float32) / 8, (1, 1, users, 1))
    names = np.tile(np.arange(width, dtype=np.int32) + 100, (1, 1, users, 1))

    def sample(k: int, p: float, temp: float = 1.0) -> list[int]:
        result = ttnn.sampling(
            place(values, device),
            rows(names, device, ttnn.int32),
            rows(np.full(users, k, np.uint32), device, ttnn.uint32),
            rows(np.full(users, p, np.float32), device),
            rows(np.full(users, temp, np.float32), device),
            seed=5,
        )
        assert (result.shape, result.dtype) == ([1, 1, 1, users], ttnn.uint32)
        return result.to_list()[0][0][0]

    assert sample(1, 1.0) == [163] * users
    assert sample(width, 0.0) == [163] * users
    assert set(sample(3, 1.0)) == {161, 162, 163}
    # The shares of the largest are 0.12, 0.10 and 0.09, so two make up 0.2.
    assert set(sample(width, 0.2)) == {162, 163}
    assert min(sample(width, 1.0, 100.0)) < 130


def test_weight_of_an_expert(device: Any) -> None:
    """The formula of ttnn's documentation, in torch."""
    values, k = draw((1, 1, 32, 64), -2, 2).bfloat16().float(), 32
    mask = torch.zeros(1, 1, 1, 64)
    mask[..., 40:] = -torch.inf
    most = torch.zeros(1, 1, 1, 32)
    most[..., 2:] = -torch.inf
    found = ttnn.moe(*(place(each, device) for each in (values, mask, most)), k)
    top, index = torch.topk(values + mask, k)
    expected = torch.sum(torch.softmax(top + most, -1) * (index == 0), -1, keepdim=True)
    assert expected.count_nonzero()
    assert torch.allclose(ttnn.to_torch(found).float(), expected, rtol=2**-7)


def test_membership(device: Any) -> None:
    """All bits where a number is among others."""
    x, others = (rows(np.array(each, np.int32), device, ttnn.int32) for each in ([1, 5, 3], [3, 1]))
    assert ttnn.experimental.isin(x, others).to_list() == [2**32 - 1, 0, 2**32 - 1]
    assert ttnn.experimental.isin(x, others, invert=True).to_list() == [0, 2**32 - 1, 0]


def test_corners(device: Any) -> None:
    """One number in the upper left, another elsewhere."""
    like = rows(np.zeros((1, 32)), device)
    found = ttnn.fill_rm(2, 1, 3, 5, 2, 4, like, 7.0, -1.0)
    assert found.layout == ttnn.ROW_MAJOR_LAYOUT
    expected = [[7, 7, 7, 7, -1], [7, 7, 7, 7, -1], [-1] * 5]
    assert found.to_list() == [[expected], [expected]]
    assert ttnn.fill_ones_rm(1, 1, 2, 3, 1, 2, like).to_list() == [[[[1, 1, 0], [0, 0, 0]]]]


def test_largest(device: Any) -> None:
    """Places in order, of the first columns alone if it is said, and all bits for -inf."""
    # No number is there twice.
    values = torch.randperm(192, generator=torch.Generator().manual_seed(0)).reshape(3, 64).float()
    values[1, 15:] = -torch.inf
    x = rows(values, device)
    found = np.asarray(ttnn.experimental.topk_large_indices(x, k=16).to_list())
    assert found[0].tolist() == values[0].topk(16).indices.tolist()
    assert found[1, :15].tolist() == values[1, :15].topk(15).indices.tolist()
    assert found[1, 15] == 2**32 - 1
    short = ttnn.experimental.topk_large_indices(x, k=16, valid_length=32).to_list()
    assert short[0] == values[0, :32].topk(16).indices.tolist()


def test_written_slices(device: Any) -> None:
    """A slice with steps of the output tensor, which is returned."""
    output, part = rows(np.zeros((1, 5, 3, 32)), device), rows(np.ones((1, 2, 3, 16)), device)
    found = ttnn.experimental.slice_write(part, output, [0, 1, 0, 0], [1, 4, 3, 32], [1, 2, 1, 2])
    assert found is output
    expected = np.zeros((1, 5, 3, 32))
    expected[:, 1:4:2, :, ::2] = 1
    assert np.array_equal(ttnn.to_numpy(output), expected)


def shards(rows: int, columns: int, count: int, *, wide: bool = False) -> Any:
    """Shards in the L1 of cores of a row."""
    kind = ttnn.TensorMemoryLayout.WIDTH_SHARDED if wide else ttnn.TensorMemoryLayout.HEIGHT_SHARDED
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (count - 1, 0))])
    spec = ttnn.ShardSpec(cores, [rows, columns], ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(kind, ttnn.BufferType.L1, spec)


def test_slices_in_shards(device: Any) -> None:
    """Slices in the shards that are asked for, or in one for each head."""
    values = draw((1, 3, 64, 32), -2, 2).bfloat16()
    x = ttnn.from_torch(values, device=device)
    config = shards(32, 32, 3)
    found = ttnn.experimental.padded_slice(
        x, [0, 0, 16, 0], [1, 3, 48, 32], [1, 1, 1, 1], memory_config=config
    )
    assert found.memory_config() == config
    assert torch.equal(ttnn.to_torch(found), values[:, :, 16:48])
    tiles = ttnn.to_layout(x, ttnn.TILE_LAYOUT)
    found = ttnn.experimental.nlp_kv_cache_load_slice(tiles, seq_len_start=32, seq_len_end=64)
    assert found.memory_config() == config
    assert torch.equal(ttnn.to_torch(found), values[:, :, 32:])


def test_parts_in_shards(device: Any) -> None:
    """Halves of the rows go to shards one after the other, and back into another tensor."""
    values = draw((1, 1, 128, 64), -2, 2).bfloat16()
    x, cache = place(values.float(), device), place(np.zeros((1, 1, 128, 64)), device)
    for index in range(2):
        part = ttnn.interleaved_to_sharded_partial(
            x,
            ttnn.CoreCoord(2, 1),
            [32, 64],
            2,
            index,
            ttnn.TensorMemoryLayout.HEIGHT_SHARDED,
            ttnn.ShardOrientation.ROW_MAJOR,
        )
        assert part.memory_config() == shards(32, 64, 2)
        assert torch.equal(ttnn.to_torch(part), values[:, :, 64 * index : 64 * (index + 1)])
        assert ttnn.sharded_to_interleaved_partial(part, cache, 2, index) is cache
    assert torch.equal(ttnn.to_torch(cache), values)


def test_orders_of_channels(device: Any) -> None:
    """Channels last in shards of rows, channels first in shards of columns."""
    values = draw((1, 1, 16, 64), -2, 2).bfloat16()
    x = ttnn.from_torch(values, device=device, memory_config=shards(16, 32, 2, wide=True))
    last = ttnn.experimental.convert_to_hwc(x)
    assert last.memory_config() == shards(32, 16, 2)
    assert torch.equal(ttnn.to_torch(last), values.transpose(-1, -2))
    tiles = ttnn.to_layout(ttnn.to_memory_config(last, ttnn.DRAM_MEMORY_CONFIG), ttnn.TILE_LAYOUT)
    first = ttnn.experimental.convert_to_chw(ttnn.to_memory_config(tiles, shards(32, 32, 2)))
    assert first.memory_config() == shards(16, 32, 2, wide=True)
    assert torch.equal(ttnn.to_torch(first), values)


def blocks(rows: int, columns: int) -> Any:
    """Shards of blocks in the L1 of 2x2 cores."""
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1))])
    spec = ttnn.ShardSpec(cores, [rows, columns], ttnn.ShardOrientation.ROW_MAJOR)
    layout = ttnn.TensorMemoryLayout.BLOCK_SHARDED
    return ttnn.MemoryConfig(layout, ttnn.BufferType.L1, spec)


def test_heads_in_groups(device: Any) -> None:
    """Where Tenstorrent's simulator finds the columns of each head, by their number over 32."""
    numbers = np.tile(np.arange(512) // 32, (2, 1, 32, 1))
    x = ttnn.to_memory_config(place(numbers, device), blocks(32, 256))
    q, k, v = ttnn.experimental.create_qkv_heads(
        x, num_heads=4, num_kv_heads=2, transpose_k_heads=False
    )
    assert [each.shape for each in (q, k, v)] == [[2, 4, 32, 64], [2, 2, 32, 64], [2, 2, 32, 64]]
    places = [[[0, 1], [2, 3], [8, 9], [10, 11]], [[4, 5], [12, 13]], [[6, 7], [14, 15]]]
    for each, expected in zip((q, k, v), places, strict=True):
        assert ttnn.to_torch(each)[0, :, 0, ::32].tolist() == expected
    assert q.memory_config().shard_spec.shape == [64, 64]
    assert k.memory_config().memory_layout == ttnn.TensorMemoryLayout.HEIGHT_SHARDED
    queries = ttnn.to_memory_config(place(numbers[..., :128], device), blocks(32, 64))
    others = ttnn.to_memory_config(place(numbers[..., :256], device), blocks(32, 128))
    q, k, v = ttnn.experimental.create_qkv_heads_from_separate_tensors(queries, others, num_heads=2)
    assert ttnn.to_torch(q)[1, :, 5, ::32].tolist() == [[0, 1], [2, 3]]
    assert ttnn.to_torch(k)[1, :, ::32, 5].tolist() == [[0, 1], [4, 5]]
    assert ttnn.to_torch(v)[1, :, 5, ::32].tolist() == [[2, 3], [6, 7]]
    with pytest.raises(RuntimeError, match="input is not in block shards"):
        ttnn.experimental.create_qkv_heads(place(numbers, device), num_heads=4, num_kv_heads=2)
    with pytest.raises(RuntimeError, match="num_heads=4 is no multiple of num_kv_heads=3"):
        ttnn.experimental.create_qkv_heads(x, num_heads=4, num_kv_heads=3)


def test_both_caches(device: Any) -> None:
    """Two caches are updated as each is by `paged_update_cache`."""
    caches = [draw((4, 1, 64, 32), -2, 2, i).bfloat16() for i in range(2)]
    new = [draw((1, 4, 1, 32), -2, 2, i).bfloat16() for i in (2, 3)]
    given = [place(each.float(), device) for pair in zip(caches, new, strict=True) for each in pair]
    found = ttnn.experimental.paged_fused_update_cache(*given, update_idxs=[0, 9, 63, 5])
    assert found[0] is given[0]
    for cache, numbers, each in zip(caches, new, found, strict=True):
        for user, position in enumerate([0, 9, 63, 5]):
            cache[user, 0, position] = numbers[0, user, 0]
        assert torch.equal(ttnn.to_torch(each), cache)


def test_both_rotated(device: Any) -> None:
    """Queries and keys, each as by `rotary_embedding_llama` when decoding."""
    q, k = (place(draw((1, 4, heads, 64), -2, 2), device) for heads in (8, 2))
    cos, sin = (place(draw((1, 4, 1, 64), -1, 1, i), device) for i in range(2))
    matrix = place(draw((1, 1, 32, 32), -1, 1), device)
    found = ttnn.experimental.rotary_embedding_llama_fused_qk(q, k, cos, sin, matrix)
    for each, x in zip(found, (q, k), strict=True):
        alone = ttnn.experimental.rotary_embedding_llama(x, cos, sin, matrix, is_decode_mode=True)
        assert torch.equal(ttnn.to_torch(each), ttnn.to_torch(alone))


def test_values_in_keys(device: Any) -> None:
    """Attention whose values are the first columns of the keys, in torch; in pages, too."""
    q, k = draw((1, 2, 32, 96), -2, 2), draw((2, 1, 64, 96), -2, 2, 1)
    query, key = place(q, device), place(k, device)
    q, k = (ttnn.to_torch(each).float() for each in (query, key))
    places = [40, 5]
    expected = torch.stack(
        [
            torch.softmax(q[0, user] @ k[user, 0, : last + 1].T / 96**0.5, -1)
            @ k[user, 0, : last + 1, :40]
            for user, last in enumerate(places)
        ]
    )[None]
    found = ttnn.transformer.flash_multi_latent_attention_decode(
        query, key, head_dim_v=40, cur_pos=places
    )
    assert torch.allclose(ttnn.to_torch(found).float(), expected, atol=0.02)
    pages = torch.tensor([[3, 0], [1, 2]]).int()
    cache = torch.empty(4, 1, 32, 96)
    for user, row in enumerate(pages.tolist()):
        for part, page in enumerate(row):
            cache[page] = k[user, :, 32 * part : 32 * (part + 1)]
    table = rows(pages.numpy(), device, ttnn.int32)
    paged = ttnn.transformer.paged_flash_multi_latent_attention_decode(
        *(query, place(cache, device), None, 40, table),
        cur_pos_tensor=rows(np.array(places, np.int32), device, ttnn.int32),
    )
    assert torch.equal(ttnn.to_torch(paged), ttnn.to_torch(found))
    chunk = place(draw((2, 4, 32, 96), -2, 2, 2), device)
    later = ttnn.transformer.chunked_flash_mla_prefill(chunk, place(cache, device), 40, table, 32)
    heads = k.expand(-1, 4, -1, -1)
    mask = torch.arange(64) <= torch.arange(32)[:, None] + 32
    wanted = torch.nn.functional.scaled_dot_product_attention(
        ttnn.to_torch(chunk).float(), heads, heads[..., :40], mask
    )
    assert torch.allclose(ttnn.to_torch(later).float(), wanted, atol=0.02)
    with pytest.raises(RuntimeError, match="head_dim_v=100 of keys of"):
        ttnn.transformer.flash_multi_latent_attention_decode(
            query, key, head_dim_v=100, cur_pos=places
        )


def test_plans_change_nothing(device: Any) -> None:
    """How a card divides the work does not change the numbers."""
    x, w = (place(draw(shape, 0, 2), device) for shape in ((64, 96), (96, 32)))
    plan = ttnn.MinimalMatmulConfig(M_block_size=2, K_block_size=3, subblock_h=2)
    found = ttnn.experimental.minimal_matmul(x, w, config=plan)
    assert torch.equal(ttnn.to_torch(found), ttnn.to_torch(ttnn.matmul(x, w)))
    volume = rows(draw((1, 1, 2, 3, 32), 0, 2), device)
    given = {"weight_tensor": place(draw((32, 5), 0, 2), device), "output_channels": 5}
    plain = ttnn.experimental.conv3d(input_tensor=volume, kernel_size=[1, 1, 1], **given)
    divided = ttnn.experimental.conv3d(
        input_tensor=volume, kernel_size=[1, 1, 1], config=ttnn.Conv3dConfig(C_in_block=32), **given
    )
    assert torch.equal(ttnn.to_torch(divided), ttnn.to_torch(plain))


def test_prepared_weights(device: Any) -> None:
    """Rows of kernel and inputs, which are as many as a multiple of 32."""
    weight = draw((5, 3, 2, 1, 2), -2, 2).bfloat16()
    host = ttnn.from_torch(weight)
    found = ttnn.experimental.prepare_conv3d_weights(weight_tensor=host, device=device)
    expected = torch.nn.functional.pad(weight.permute(2, 3, 4, 1, 0), (0, 0, 0, 29))
    assert torch.equal(ttnn.to_torch(found), expected.reshape(4 * 32, 5))


def test_several_matrices(device: Any) -> None:
    """Products with each of a list; those of pairs that `sparsity` does not name are 0."""
    a, b = draw((1, 2, 33, 70), 0, 2), draw((1, 3, 70, 40), 0, 2, 1)
    x, w = place(a, device), place(b, device)
    weights = [place(b[:, i : i + 1], device) for i in range(2)]
    found = ttnn.matmul_batched_weights(x, weights, memory_config=ttnn.DRAM_MEMORY_CONFIG)
    kept_a, kept_b = (ttnn.to_torch(each).float() for each in (x, w))
    for each, i in zip(found, range(2), strict=True):
        assert torch.allclose(ttnn.to_torch(each).float(), kept_a @ kept_b[:, i], rtol=2**-7)
    chosen = torch.tensor([[1.0, 0, 1], [0, 1, 0]]).reshape(1, 1, 2, 3)
    result = ttnn.sparse_matmul(x, w, sparsity=rows(chosen, device), nnz=3)
    assert result.shape == [1, 2, 1, 3, 33, 40]
    expected = kept_a[:, :, None, None] @ kept_b[None, None] * chosen.reshape(1, 2, 1, 3, 1, 1)
    assert torch.allclose(ttnn.to_torch(result).float(), expected, rtol=2**-7)
    both = ttnn.sparse_matmul(
        place(draw((1, 3, 33, 70), 0, 2), device),
        w,
        sparsity=rows(torch.tensor([1.0, 0, 1]).reshape(1, 1, 1, 3), device),
        is_input_a_sparse=True,
    )
    assert both.shape == [1, 3, 33, 40]
    assert not ttnn.to_torch(both)[:, 1].any()


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "ema": (lambda x: ttnn.ema(x, 0.5), r"input_tensor has Shape\(\[3, 5\]\); it has four dim"),
    "var_hw": (lambda x: ttnn.var_hw(x), "use ttnn.unsqueeze_to_4D"),
    "fast_reduce_nc": (
        lambda x: ttnn.experimental.fast_reduce_nc(ttnn.unsqueeze_to_4D(x), dims=[3]),
        r"it reduces dimensions 0 and 1, not \[3\]; use ttnn.sum",
    ),
    "hc_sum_reduce": (
        lambda x: ttnn.experimental.hc_sum_reduce(x),
        r"the last extent of Shape\(\[3, 5\]\) is no multiple of 1024",
    ),
    "dropout": (
        lambda x: ttnn.experimental.dropout(x, 1.5, 1.0, 0),
        "probability=1.5 is not from 0 to 1",
    ),
    "seed": (lambda x: ttnn.bernoulli(x, -1), "seed=-1 is no integer from 0 on"),
    "sampling": (lambda x: ttnn.sampling(x, x, x, x, x), r"both are \(1, 1, users, choices\)"),
    "moe": (lambda x: ttnn.moe(x, x, x, 16), "k is 32, not 16; mask the rest with -inf"),
    "indexed_fill": (
        lambda x: ttnn.indexed_fill(place([0], x.device()), x, x),
        r"for 1 numbers along dimension 0 of Shape\(\[3, 5\]\) it has \[1, 5\]",
    ),
    "indexed_fill beyond": (
        lambda x: ttnn.indexed_fill(place([3], x.device()), x, x),
        "indices from 3 to 3 along an extent of 3",
    ),
    "fold": (
        lambda x: ttnn.fold(ttnn.reshape(x, (1, 3, 5, 1)), 2, 1),
        "stride_h=2 does not divide an extent of 3",
    ),
    "conv3d": (
        lambda x: ttnn.experimental.conv3d(
            input_tensor=ttnn.to_layout(ttnn.reshape(x, (1, 1, 3, 5, 1)), ttnn.ROW_MAJOR_LAYOUT),
            weight_tensor=x,
            output_channels=5,
            kernel_size=[1, 1, 1],
        ),
        "1 channels are no multiple of 32; use ttnn.pad",
    ),
    "falcon": (
        lambda x: ttnn.experimental.nlp_create_qkv_heads_falcon7b(ttnn.unsqueeze_to_4D(x)),
        r"of Falcon 7B it is \(B, 1, S, 4672\)",
    ),
    "attn_matmul": (
        lambda x: ttnn.experimental.attn_matmul(x, ttnn.reshape(x, (3, 1, 5, 1))),
        r"input_tensor_a has Shape\(\[3, 5\]\); it is \(1, heads, users, k\)",
    ),
    "sparse_matmul": (
        lambda x: ttnn.sparse_matmul(
            *[ttnn.reshape(x, shape) for shape in ((1, 1, 3, 5), (1, 1, 5, 3))],
            sparsity=place([[1.0]], x.device()),
            nnz=0,
        ),
        "nnz=0, but sparsity has 1 numbers that are not 0",
    ),
    "minimal_matmul": (
        lambda x: ttnn.experimental.minimal_matmul(x, x),
        r"input_tensor has Shape\(\[3, 5\]\) and weight_tensor Shape\(\[3, 5\]\)",
    ),
    "slice_write": (
        lambda x: ttnn.experimental.slice_write(x, x, [0, 0], [2, 5], [1, 1]),
        r"the slice has \[2, 5\] and input_tensor Shape\(\[3, 5\]\)",
    ),
    "padded_slice": (
        lambda x: ttnn.experimental.padded_slice(
            x, [0, 0], [2, 5], memory_config=ttnn.DRAM_MEMORY_CONFIG
        ),
        "memory_config is sharded; use ttnn.slice",
    ),
    "partial": (
        lambda x: ttnn.sharded_to_interleaved_partial(x, x, 1, 0),
        "input_tensor is not sharded",
    ),
    "convert_to_hwc": (
        lambda x: ttnn.experimental.convert_to_hwc(ttnn.unsqueeze_to_4D(x)),
        "WIDTH_SHARDED; use ttnn.to_memory_config",
    ),
    "joint": (
        lambda x: ttnn.transformer.joint_scaled_dot_product_attention(
            *[ttnn.unsqueeze_to_4D(x)] * 6, joint_strategy="front"
        ),
        "joint_strategy is 'rear', not 'front'",
    ),
    "transpose_rm": (lambda x: ttnn.experimental.transpose_rm(x), "in rows; use ttnn.transpose"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, device: Any) -> None:
    """Messages say what is wrong and what to do."""
    call, message = REFUSED[name]
    with pytest.raises((RuntimeError, TypeError), match=message):
        call(place(np.ones((3, 5)), device))
