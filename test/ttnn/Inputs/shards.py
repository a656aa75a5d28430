"""Memory and program configurations with shards."""

import torch
import ttnn

torch.manual_seed(3)
with ttnn.manage_device(device_id=0) as device:
    M, K, N = 256, 512, 256
    a = torch.randn(1, 1, M, K)
    b = torch.randn(1, 1, K, N)
    grid = ttnn.CoreGrid(x=8, y=8)
    cfg = ttnn.create_sharded_memory_config(
        shape=(1, 1, M, K),
        core_grid=grid,
        strategy=ttnn.ShardStrategy.BLOCK,
        orientation=ttnn.ShardOrientation.ROW_MAJOR,
    )
    ta = ttnn.from_torch(
        a, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=cfg
    )
    tb = ttnn.from_torch(b, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    pc = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=(8, 8),
        in0_block_w=2,
        out_subblock_h=1,
        out_subblock_w=1,
        per_core_M=1,
        per_core_N=1,
        transpose_mcast=False,
        fused_activation=None,
    )
    out = ttnn.matmul(
        ta,
        tb,
        program_config=pc,
        memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG,
        dtype=ttnn.bfloat16,
        compute_kernel_config=ttnn.WormholeComputeKernelConfig(
            math_fidelity=ttnn.MathFidelity.LoFi
        ),
    )
    print(out.memory_config())
    assert ttnn.pearson_correlation_coefficient(a @ b, ttnn.to_torch(out)) > 0.99
    shard_grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 0))})
    spec = ttnn.ShardSpec(shard_grid, [32, K], ttnn.ShardOrientation.ROW_MAJOR)
    hs = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)
    th = ttnn.to_memory_config(ttnn.to_memory_config(ta, ttnn.DRAM_MEMORY_CONFIG), hs)
    ln = ttnn.layer_norm(
        th,
        program_config=ttnn.LayerNormShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=[8, 1],
            subblock_w=4,
            block_h=1,
            block_w=16,
            inplace=False,
        ),
        memory_config=hs,
        epsilon=1e-5,
    )
    print(ln.is_sharded(), ln.shape)
    th2 = ttnn.interleaved_to_sharded(ttnn.sharded_to_interleaved(th), hs)
    th3 = ttnn.reshard(th2, cfg)
    print(ttnn.to_torch(ttnn.add(th3, ta)).shape, th3.memory_config() == cfg)
    dram = ttnn.CoreRangeSet(
        {ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(device.dram_grid_size().x - 1, 0))}
    )
    dcfg = ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout.WIDTH_SHARDED,
        ttnn.BufferType.DRAM,
        ttnn.ShardSpec(dram, [K, 32], ttnn.ShardOrientation.ROW_MAJOR),
    )
    td = ttnn.from_torch(
        b, dtype=ttnn.bfloat8_b, layout=ttnn.TILE_LAYOUT, device=device, memory_config=dcfg
    )
    print(td.memory_config(), td.buffer_address())
    nd = ttnn.MemoryConfig(
        buffer_type=ttnn.BufferType.L1, nd_shard_spec=ttnn.NdShardSpec([1, 1, 32, K], shard_grid)
    )
    tn = ttnn.from_torch(
        a, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=nd
    )
    print(tn.memory_config())
    spec = ttnn.TensorSpec((1, 1, 256, 512), ttnn.bfloat16, ttnn.TILE_LAYOUT).height_sharded(
        shard_grid
    )
    print(ttnn.from_torch(a.bfloat16(), spec=spec, device=device).memory_config().shard_spec)
