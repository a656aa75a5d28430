"""Layers of models over several devices, against torch on whole tensors."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from ttmlir import ttnn

pytestmark = pytest.mark.usefixtures("nothing_open")

FLOATS = {"dtype": ttnn.float32, "layout": ttnn.TILE_LAYOUT}
ROWS = {"layout": ttnn.ROW_MAJOR_LAYOUT}


def on_mesh(mesh: Any, values: torch.Tensor, *dims: int | None, **others: Any) -> Any:
    """A tensor sharded along a dimension over rows and one over columns; None copies."""
    mapper = ttnn.ShardTensor2dMesh(mesh, tuple(mesh.shape), dims)
    return ttnn.from_torch(values, device=mesh, mesh_mapper=mapper, **others)


def parts_of(tensor: Any) -> list[torch.Tensor]:
    """What each device has."""
    return [ttnn.to_torch(each) for each in ttnn.get_device_tensors(tensor)]


def close(found: torch.Tensor, expected: torch.Tensor) -> None:
    """Assert that numbers are those in single precision."""
    torch.testing.assert_close(found, expected.float(), rtol=1e-4, atol=1e-4)


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    """Random numbers in double precision."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def attend(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention, and the logarithms of the sums of exponentials."""
    heads = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(heads, 1), v.repeat_interleave(heads, 1)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ v, scores.logsumexp(-1, keepdim=True)


def ring_arguments(mesh: Any, **others: Any) -> dict[str, Any]:
    """What attention in rings asks for, besides the tensors."""
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1))])
    return {
        "persistent_output_buffer_k": None,
        "persistent_output_buffer_v": None,
        "joint_strategy": "rear",
        "program_config": None,
        "dim": 2,
        "multi_device_global_semaphore": [ttnn.create_global_semaphore(mesh, cores, 0)] * 2,
        "num_links": 1,
        "cluster_axis": 1,
        "mesh_device": mesh,
        "topology": ttnn.Topology.Linear,
        **others,
    }


def test_attention_in_rings(mesh: Any) -> None:
    """Sequences of 29 of 30 tokens on three devices, and 7 tokens behind on each; heads by rows."""
    q, k, v = (random(1, 4, 30, 20, seed=seed) for seed in range(3))
    joints = [random(1, 4, 7, 20, seed=seed) for seed in range(3, 6)]
    shards = [on_mesh(mesh, each, 1, 2, **FLOATS) for each in (q, k, v)]
    behind = [on_mesh(mesh, each, 1, None, **FLOATS) for each in joints]
    buffer = ttnn.zeros((1, 2, 30, 20), ttnn.float32, ttnn.TILE_LAYOUT, mesh)
    ring = ring_arguments(mesh, persistent_output_buffer_k=buffer, ccl_core_grid_offset=(0, 7))
    result, joint, sums = ttnn.transformer.ring_joint_scaled_dot_product_attention(
        *shards, *behind, logical_n=29, **ring
    )
    keys, values = (
        torch.cat([each[:, :, :29], other], 2)
        for each, other in zip((k, v), joints[1:], strict=True)
    )
    whole, logs = attend(torch.cat([q, joints[0]], 2), keys, values)
    for device in range(6):
        row, column = divmod(device, 3)
        heads, rows = slice(2 * row, 2 * row + 2), slice(10 * column, 10 * column + 10)
        close(parts_of(result)[device], whole[:, heads, rows])
        close(parts_of(joint)[device], whole[:, heads, 30:])
        top, total = parts_of(sums)[device].chunk(2, 2)
        both = torch.cat([logs[:, heads, rows], logs[:, heads, 30:]], 2)
        close(top + total.log(), both)
        assert (total >= 1).all(), "the largest score gives 1"
        close(parts_of(buffer)[device], k[:, heads])
    later = ttnn.transformer.exp_ring_joint_scaled_dot_product_attention(
        *shards, *behind, logical_n=29, **ring_arguments(mesh)
    )
    assert torch.equal(parts_of(later[0])[4], parts_of(result)[4])
    last = torch.cat([logs[:, 2:, 20:30], logs[:, 2:, 30:]], 2)
    close(parts_of(later[2])[5], last)


def test_causal_attention_in_rings(mesh: Any) -> None:
    """Tokens see those before them, on whatever device; two heads of queries share a key."""
    q, k, v = random(2, 4, 30, 20), random(2, 2, 30, 20, seed=1), random(2, 2, 30, 20, seed=2)
    whole, _ = attend(q, k, v, torch.ones(30, 30, dtype=torch.bool).tril())
    shards = [on_mesh(mesh, each, None, 2, **FLOATS) for each in (q, k, v)]
    ring = ring_arguments(mesh, ccl_core_grid_offset=(0, 7))
    result, _, _ = ttnn.transformer.ring_joint_scaled_dot_product_attention(
        *shards, logical_n=30, is_causal=True, **ring
    )
    for device, part in enumerate(parts_of(result)):
        close(part, whole[:, :, 10 * (device % 3) : 10 * (device % 3) + 10])
    copies = [on_mesh(mesh, each, None, None, **FLOATS) for each in (q, k, v)]
    result = ttnn.transformer.ring_distributed_scaled_dot_product_attention(*copies, 3)
    for device, part in enumerate(parts_of(result)):
        place = device % 3
        early, late = slice(5 * place, 5 * place + 5), slice(25 - 5 * place, 30 - 5 * place)
        close(part, torch.cat([whole[:, :, early], whole[:, :, late]], 2))
    chosen = ttnn.transformer.ring_distributed_scaled_dot_product_attention(*copies, 3, 2)
    close(parts_of(chosen)[0], whole[:, :, 10:20])


EXPERTS = torch.tensor([3, 0, 5, 1, 2, 4, 0, 3, 1, 5, 4, 2])
"""The devices of twelve experts, two on each."""
TABLE = torch.nn.functional.one_hot(EXPERTS, 6).reshape(1, 1, 12, 6)


def choose_experts(*shape: int) -> torch.Tensor:
    """Two different experts for each token."""
    order = torch.rand((*shape, 12), generator=torch.Generator().manual_seed(2)).argsort(-1)
    return order[..., :2]


@pytest.mark.parametrize("dim", [1, 2])
def test_tokens_of_experts(mesh: Any, dim: int) -> None:
    """Tokens go to the devices of their experts in the row, and what those make comes back."""
    shape = (3, 4) if dim == 1 else (4, 3)
    tokens, ids = random(shape[0], 1, shape[1], 8), choose_experts(shape[0], 1, shape[1])
    table = on_mesh(mesh, TABLE, None, None, dtype=ttnn.uint16, **ROWS)
    sparse, metadata = ttnn.all_to_all_dispatch(
        on_mesh(mesh, tokens, None, 2 * dim - 2, dtype=ttnn.float32, **ROWS),
        on_mesh(mesh, ids, None, 2 * dim - 2, dtype=ttnn.uint16, **ROWS),
        table,
        cluster_axis=1,
        output_concat_dim=dim,
    )
    whole, chosen = tokens.float().swapaxes(0, 1), ids.swapaxes(0, 1)
    for device in range(6):
        is_here = (EXPERTS[chosen] == device).any(-1, keepdim=True)
        assert torch.equal(parts_of(metadata)[device].long(), chosen)
        assert torch.equal(parts_of(sparse)[device], whole * is_here)
    made = random(12, *shape, 8, seed=9).float()
    order = torch.cat([(EXPERTS == device).nonzero()[:, 0] for device in range(6)])
    mapper = ttnn.ShardTensorToMesh(mesh, 0)
    result = ttnn.all_to_all_combine(
        ttnn.from_torch(made[order], device=mesh, mesh_mapper=mapper, **ROWS),
        metadata,
        table,
        cluster_axis=1,
        output_shard_dim=dim,
    )
    for device, part in enumerate(parts_of(result)):
        row, column = divmod(device, 3)
        expected = torch.zeros(2, *shape, 8)
        for k in range(2):
            for b in range(shape[0]):
                for s in range(shape[1]):
                    expert = int(chosen[0, b, s, k])
                    if int(EXPERTS[expert]) // 3 == row:
                        expected[k, b, s] = made[expert, b, s]
        assert torch.equal(part, expected.chunk(3, dim)[column])


def test_scores_of_own_experts(mesh: Any) -> None:
    """A device keeps the scores of its experts, where tokens chose them; weights go by number."""
    scores, ids = random(1, 2, 6, 12).float().abs(), choose_experts(1, 2, 6)
    mapped, reduced = ttnn.moe_expert_token_remap(
        on_mesh(mesh, scores, None, None, **ROWS),
        on_mesh(mesh, TABLE, None, None, dtype=ttnn.uint16, **ROWS),
        on_mesh(mesh, ids, None, None, dtype=ttnn.uint16, **ROWS),
        reduction_size=4,
    )
    for device in range(6):
        own = (EXPERTS == device).nonzero()[:, 0]
        is_chosen = (ids[..., None] == own).any(-2)
        expected = scores[..., own] * is_chosen
        assert torch.equal(parts_of(mapped)[device], expected)
        blocks = (expected.reshape(1, 1, 3, 4, 2) != 0).any(3)
        assert torch.equal(parts_of(reduced)[device].bool(), blocks)
    weights = torch.tensor([[0.0, 0, 1, 0, 2, 0, 3, 4, 0, 5, 6, 0]])
    tensor = on_mesh(mesh, weights, None, None, **ROWS)
    routed = ttnn.moe_routing_remap(tensor, 6, 3, 1)
    for device, part in enumerate(parts_of(routed)):
        low = 2 * (device % 3)
        assert torch.equal(part, torch.where((weights > low) & (weights <= low + 2), weights, 0))


@pytest.mark.parametrize("mode", ["zeros", "replicate"])
def test_rows_of_neighbors(mesh: Any, mode: str) -> None:
    """Images in blocks of rows and columns get what is around them; then other blocks of rows."""
    image = torch.arange(8 * 12.0).reshape(1, 8, 12, 1)
    tensor = on_mesh(mesh, image, 1, 2, **ROWS)
    word = ring_arguments(mesh)["multi_device_global_semaphore"]
    padded = ttnn.experimental.neighbor_pad_async(
        tensor, [1, 2], [1, 2], [2, 1], mode, [0, 1], word, word
    )
    pad_mode = "constant" if mode == "zeros" else mode
    planes = torch.nn.functional.pad(image.permute(0, 3, 1, 2), (2, 1, 1, 2), mode=pad_mode)
    planes = planes.permute(0, 2, 3, 1)
    for device, part in enumerate(parts_of(padded)):
        row, column = divmod(device, 3)
        expected = planes[:, 4 * row : 4 * row + 7, 4 * column : 4 * column + 7]
        assert torch.equal(part, expected)
    cut = ttnn.experimental.slice_reshard_async(tensor, 2, 2, 9, 1, word[0], word[0])
    for device, part in enumerate(parts_of(cut)):
        row, column = divmod(device, 3)
        start = 2 + 3 * column
        assert torch.equal(part, image[:, 4 * row : 4 * row + 4, start : start + 3])


def test_refusals_of_layers(mesh: Any) -> None:
    """What does not fit, or is another form of an operation, is refused at the line."""
    q = on_mesh(mesh, random(1, 2, 30, 20), None, 2, **FLOATS)
    ring = ring_arguments(mesh, ccl_core_grid_offset=(0, 7))
    attention = ttnn.transformer.ring_joint_scaled_dot_product_attention
    split = ttnn.transformer.ring_distributed_scaled_dot_product_attention
    tokens = on_mesh(mesh, random(3, 1, 4, 8), None, 0, dtype=ttnn.bfloat16, **ROWS)
    ids = on_mesh(mesh, choose_experts(3, 1, 4), None, 0, dtype=ttnn.uint16, **ROWS)
    table = on_mesh(mesh, TABLE, None, None, dtype=ttnn.uint16, **ROWS)
    word = ring["multi_device_global_semaphore"]
    pad = ttnn.experimental.neighbor_pad_async
    calls: list[tuple[str, Any]] = [
        (
            "is_balanced=True is not supported",
            lambda: attention(q, q, q, logical_n=30, is_balanced=True, **ring),
        ),
        ("logical_n is from 1 to 30", lambda: attention(q, q, q, logical_n=31, **ring)),
        ("joint tensors are given together", lambda: attention(q, q, q, q, logical_n=30, **ring)),
        (
            "a sequence of 10 is not divided into two blocks for each of ring_size=3",
            lambda: split(q, q, q, 3),
        ),
        ("ring_id=3 is not from 0 to 0", lambda: split(q, q, q, 1, 3)),
        ("no axis of .2, 3. alone has ring_size=5", lambda: split(q, q, q, 5)),
        (
            "expert_mapping_tensor has .1, 1, 4, 2.; it is .1, 1, experts, 6.",
            lambda: ttnn.all_to_all_dispatch(tokens, ids, ids, cluster_axis=1),
        ),
        ("cluster_axis is 0 or 1, not None", lambda: ttnn.all_to_all_combine(tokens, ids, table)),
        (
            "local_reduce=True is not supported",
            lambda: ttnn.all_to_all_combine(tokens, ids, table, local_reduce=True, cluster_axis=1),
        ),
        (
            "expert_parallel_size=2 is the 3 devices",
            lambda: ttnn.moe_routing_remap(tokens, 8, 2, 1),
        ),
        (
            "padding_mode is 'zeros' or 'replicate', not 'mirror'",
            lambda: pad(q, [2], [1], [1], "mirror", [1], word, word),
        ),
        (
            "paddings of 11 and 1 rows are not in the 10",
            lambda: pad(q, [2], [11], [1], "zeros", [1], word, word),
        ),
        (
            "rows 25 to 34 are not in the 30",
            lambda: ttnn.experimental.slice_reshard_async(q, 2, 25, 9, 1, word[0], word[0]),
        ),
    ]
    for message, call in calls:
        with pytest.raises(
            (RuntimeError, TypeError), match=rf"test_mesh_layers.py:\d+:\d+: error: .*{message}"
        ):
            call()


def test_norms_by_sums(tolerant_device: Any) -> None:
    """Statistics with sums in front of those of squares, and rows normalized by them."""
    x = random(1, 1, 10, 96)
    rows = ttnn.from_torch(x.float(), layout=ttnn.TILE_LAYOUT, device=tolerant_device)
    wide = {"dtype": ttnn.float32}
    stats = ttnn.experimental.dit_layernorm_pre_allgather(rows, rows, **wide)
    sums = ttnn.to_torch(stats)
    close(sums[..., 0], x.sum(-1))
    close(sums[..., 32], x.square().sum(-1))
    found = ttnn.experimental.dit_layernorm_post_allgather(rows, stats, **wide)
    close(ttnn.to_torch(found), torch.layer_norm(x, (96,), eps=1e-5))


def test_norms_of_models(mesh: Any) -> None:
    """Rows over three devices are scaled by all of their columns, then divided into heads."""
    x, weight, bias = random(1, 1, 10, 192), random(1, 192, seed=1), random(1, 192, seed=2)
    residual = random(1, 1, 10, 192, seed=3)
    matrix = torch.zeros(32, 32, dtype=torch.float64)
    matrix[range(0, 32, 2), range(1, 32, 2)] = 1
    matrix[range(1, 32, 2), range(0, 32, 2)] = -1
    cos, sin = random(1, 1, 10, 32, seed=4), random(1, 1, 10, 32, seed=5)

    def norm(values: torch.Tensor) -> torch.Tensor:
        square = values.square().mean(-1, keepdim=True)
        return values / (square + 1e-5).sqrt() * weight + bias

    parts = [on_mesh(mesh, each, None, -1, **FLOATS) for each in (x, weight, bias)]
    angles = [on_mesh(mesh, each, None, None, **FLOATS) for each in (matrix[None, None], cos, sin)]
    result = ttnn.experimental.dit_fused_distributed_rmsnorm(
        parts[0],
        1,
        mesh,
        ring_arguments(mesh)["multi_device_global_semaphore"],
        topology=ttnn.Topology.Linear,
        num_heads_per_device=2,
        weight=parts[1],
        bias=parts[2],
        transformation_mat=angles[0],
        rope_cos=angles[1],
        rope_sin=angles[2],
    )
    heads = norm(x).reshape(1, 10, 6, 32).swapaxes(1, 2)
    turned = torch.stack([-heads[..., 1::2], heads[..., ::2]], -1).flatten(-2)
    whole = heads * cos + turned * sin
    for device, part in enumerate(parts_of(result)):
        place = device % 3
        close(part, whole[:, 2 * place : 2 * place + 2])
    copies = [
        on_mesh(mesh, each, None, None, **FLOATS)
        for each in (x, weight[None, None], bias[None, None], residual)
    ]
    fused = ttnn.experimental.dit_rms_norm_unary_fused(
        *copies[:1], 1e-5, *copies[1:], activation="silu"
    )
    close(parts_of(fused)[5], torch.nn.functional.silu(norm(x + residual)))
    stats = ttnn.experimental.wan_fused_rmsnorm_pre_allgather(copies[0], dtype=ttnn.float32)
    alone = ttnn.experimental.wan_fused_rmsnorm_post_allgather(copies[0], stats, weight=copies[1])
    close(parts_of(alone)[2], norm(x) - bias)
    one = ttnn.composite_example(copies[0])
    two, none = ttnn.composite_example_multiple_return(copies[0], True, False)
    assert none is None
    assert torch.equal(parts_of(one)[1], parts_of(two)[1])
    with pytest.raises(RuntimeError, match="at least one output is returned"):
        ttnn.composite_example_multiple_return(copies[0], False, False)
    with pytest.raises(
        RuntimeError, match="192 columns are not divided into num_heads_per_device=5"
    ):
        ttnn.experimental.wan_fused_rmsnorm_post_allgather(copies[0], stats, num_heads_per_device=5)
