"""An attention block, and one token with a cache of keys and values."""

import math

import torch
import ttnn

torch.manual_seed(1)
B, S, H, NH = 2, 64, 256, 8
D = H // NH
device = ttnn.open_device(device_id=0, l1_small_size=8192)
try:
    x = torch.randn(B, S, H)
    wqkv = torch.randn(H, 3 * H) * 0.05
    wo = torch.randn(H, H) * 0.05
    tx = ttnn.from_torch(x, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    tw = ttnn.as_tensor(
        wqkv,
        dtype=ttnn.bfloat16,
        layout=ttnn.TILE_LAYOUT,
        device=device,
        memory_config=ttnn.DRAM_MEMORY_CONFIG,
    )
    two = ttnn.from_torch(wo, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    fused = ttnn.linear(tx, tw, memory_config=ttnn.L1_MEMORY_CONFIG, core_grid=device.core_grid)
    q, k, v = ttnn.transformer.split_query_key_value_and_split_heads(
        fused, memory_config=ttnn.L1_MEMORY_CONFIG, num_heads=NH
    )
    ttnn.deallocate(fused)
    scores = ttnn.matmul(q, k, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat16)
    ttnn.deallocate(q)
    ttnn.deallocate(k)
    mask = torch.triu(torch.full((S, S), float("-inf")), 1)[None, None]
    tm = ttnn.from_torch(mask, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    scores = scores * (1 / math.sqrt(D))
    scores += tm
    probs = ttnn.softmax(scores, dim=-1)
    ctx = ttnn.matmul(probs, v)
    ctx = ttnn.transformer.concatenate_heads(ctx, memory_config=ttnn.L1_MEMORY_CONFIG)
    out = ttnn.linear(ctx, two)
    got = ttnn.to_torch(out)
    qkv = x @ wqkv
    rq, rk, rv = (t.view(B, S, NH, D).transpose(1, 2) for t in qkv.chunk(3, -1))
    ref = (
        torch.nn.functional.scaled_dot_product_attention(rq, rk, rv, is_causal=True)
        .transpose(1, 2)
        .reshape(B, S, H)
        @ wo
    )
    assert ttnn.pearson_correlation_coefficient(ref, got) > 0.99
    # kv cache decode
    MAX = 128
    kc = ttnn.zeros(
        [B, NH, MAX, D],
        dtype=ttnn.bfloat16,
        layout=ttnn.TILE_LAYOUT,
        device=device,
        memory_config=ttnn.DRAM_MEMORY_CONFIG,
    )
    vc = ttnn.zeros([B, NH, MAX, D], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    for b in range(B):
        ttnn.fill_cache(
            kc,
            ttnn.from_torch(
                rk[b : b + 1], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device
            ),
            b,
        )
        ttnn.kv_cache.fill_cache_for_user_(
            vc,
            ttnn.from_torch(
                rv[b : b + 1], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device
            ),
            b,
        )
    new = torch.randn(1, NH, B, D)
    tn = ttnn.from_torch(new, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    ttnn.update_cache(kc, tn, S, batch_offset=0)
    ttnn.update_cache(vc, tn, S)
    qd = torch.randn(1, B, NH, D)
    o = ttnn.transformer.scaled_dot_product_attention_decode(
        ttnn.from_torch(qd, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device),
        kc,
        vc,
        cur_pos=[S] * B,
        scale=1 / math.sqrt(D),
        program_config=ttnn.SDPAProgramConfig(
            compute_with_storage_grid_size=device.compute_with_storage_grid_size(),
            q_chunk_size=0,
            k_chunk_size=0,
        ),
    )
    print(o.shape, o.padded_shape)
    kk = torch.cat([rk, new[0].transpose(0, 1)[:, :, None]], 2)
    vv = torch.cat([rv, new[0].transpose(0, 1)[:, :, None]], 2)
    r = torch.nn.functional.scaled_dot_product_attention(qd[0][:, :, None], kk, vv)[:, :, 0][None]
    assert ttnn.pearson_correlation_coefficient(r, ttnn.to_torch(o)) > 0.99
    cos = torch.randn(1, 1, MAX, D)
    qq = ttnn.from_torch(rq, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    tc = ttnn.from_torch(cos, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    print(ttnn.experimental.rotary_embedding(qq, tc, tc).shape)
    a = ttnn.reshape(qq, (B * NH, S, D))
    a = ttnn.unsqueeze_to_4D(a)
    a = a[:, 0:4, :, :16]
    print(a.shape, ttnn.to_layout(a, ttnn.ROW_MAJOR_LAYOUT).shape)
finally:
    ttnn.close_device(device)
