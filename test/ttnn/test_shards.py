"""Shards of any rank, shards in DRAM, and specifications by their parts."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from ttmlir import ttnn

ROW = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (7, 0))])
BLOCK = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (2, 1))])


def place(shape: tuple[int, ...], spec: Any, device: Any) -> tuple[torch.Tensor, Any]:
    """Numbers, and a tensor of them in L1 with shards of any rank."""
    values = torch.arange(torch.tensor(shape).prod()).reshape(shape).float()
    config = ttnn.MemoryConfig(ttnn.BufferType.L1, spec)
    made = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)
    assert made.memory_config() == config
    assert made.is_sharded()
    return values, made


@pytest.mark.parametrize(
    ("shape", "shard", "grid", "layout", "flat"),
    [
        ((2, 96, 64), (1, 32, 64), ROW, "HEIGHT_SHARDED", (32, 64)),
        ((2, 96, 64), (1, 96, 64), ROW, "HEIGHT_SHARDED", (96, 64)),
        ((2, 2, 64, 96), (1, 2, 64, 96), ROW, "HEIGHT_SHARDED", (128, 96)),
        ((64, 96), (64, 32), ROW, "WIDTH_SHARDED", (64, 32)),
        ((2, 64, 96), (64, 32), BLOCK, "BLOCK_SHARDED", (64, 32)),
        ((3, 33, 64), (1, 64, 64), ROW, "HEIGHT_SHARDED", (64, 64)),
    ],
)
def test_shards_of_any_rank(
    shape: Any, shard: Any, grid: Any, layout: str, flat: Any, device: Any
) -> None:
    """Each core's L1 has the numbers of its shard."""
    values, made = place(shape, ttnn.NdShardSpec(shard, grid), device)
    config = made.memory_config()
    assert config.memory_layout == ttnn.TensorMemoryLayout[layout]
    assert config.shard_spec == ttnn.ShardSpec(grid, flat)
    assert torch.equal(ttnn.to_torch(made), values)
    assert torch.equal(ttnn.to_torch(ttnn.add(made, 1)), values + 1)
    assert ttnn.add(made, 1).memory_config() == config
    address, storage = made.buffer_address(), made.device_storage()
    storage.write_bytes()
    first = device.simulated.core(0, 0).l1.read(address, 4 * 32 * 32)
    tile = torch.frombuffer(bytearray(first), dtype=torch.float32)[:16]
    assert torch.equal(tile, values.reshape(-1, shape[-1])[0, :16])


@pytest.mark.parametrize(
    ("shape", "shard", "grid", "message"),
    [
        ((2, 96, 64), (2, 32, 64), ROW, "the rows of a shard must follow each other in the tensor"),
        ((64, 96), (1, 64, 96), ROW, r"the tensor of \[64, 96\] has fewer dimensions"),
        ((2, 96, 64), (1, 32, 32), ROW, "12 shards for 8 cores; here each core holds one"),
        ((2, 64, 96), (64, 32), ROW, "must be one rectangle of 3 columns and 2 rows"),
        ((2, 64, 96), (32, 96), BLOCK, None),
    ],
)
def test_shards_of_any_rank_that_cannot_be(
    shape: Any, shard: Any, grid: Any, message: str | None, device: Any
) -> None:
    """Rectangles of rows and columns, of which each core has one."""
    spec = ttnn.NdShardSpec(shard, grid)
    if message is None:
        place(shape, spec, device)
        return
    with pytest.raises(RuntimeError, match=message):
        place(shape, spec, device)
    with pytest.raises(RuntimeError, match=r"extents of a shard are at least 1, got \[0, 3\]"):
        ttnn.NdShardSpec((0, 3), ROW)


def test_shards_in_dram(device: Any) -> None:
    """Weights may be sharded over the banks of DRAM; kernels do not see them."""
    banks = device.dram_grid_size().x
    grid = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (banks - 1, 0))])
    config = ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout.WIDTH_SHARDED,
        ttnn.BufferType.DRAM,
        ttnn.ShardSpec(grid, (64, 32)),
    )
    values = torch.rand(64, 32 * banks - 5)
    weight = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)
    assert weight.memory_config() == config
    assert weight.buffer_address() > 0
    a = ttnn.ones((32, 64), ttnn.float32, ttnn.TILE_LAYOUT, device)
    assert torch.allclose(ttnn.to_torch(ttnn.matmul(a, weight))[3], values.sum(0), rtol=1e-5)
    empty = ttnn.empty(values.shape, ttnn.float32, ttnn.TILE_LAYOUT, device, config)
    assert torch.isnan(ttnn.to_torch(empty)).all()
    with pytest.raises(RuntimeError, match="kernels do not see shards in DRAM here; use an interl"):
        ttnn.TensorAccessorArgs(weight)
    ttnn.deallocate(weight)


def test_specifications_by_parts() -> None:
    """A buffer type, a memory layout with shards, or shards of any rank, and a tile."""
    kind = ((64, 96), ttnn.bfloat16, ttnn.TILE_LAYOUT)
    assert ttnn.TensorSpec(*kind).memory_config == ttnn.DRAM_MEMORY_CONFIG
    assert ttnn.TensorSpec(*kind, ttnn.BufferType.L1).memory_config == ttnn.L1_MEMORY_CONFIG
    named = ttnn.TensorSpec(*kind, buffer_type=ttnn.BufferType.L1)
    assert named.memory_config == ttnn.L1_MEMORY_CONFIG
    shards = ttnn.ShardSpec(ROW, (32, 96))
    high = ttnn.TensorMemoryLayout.HEIGHT_SHARDED
    spec = ttnn.TensorSpec(*kind, high, shards, ttnn.BufferType.L1)
    assert spec.memory_config == ttnn.MemoryConfig(high, ttnn.BufferType.L1, shards)
    nd = ttnn.TensorSpec(*kind, ttnn.NdShardSpec((32, 96), ROW), ttnn.BufferType.L1)
    assert nd.memory_config.shard_spec == shards
    assert ttnn.TensorSpec(*kind, ttnn.BufferType.L1, ttnn.Tile((16, 32))).tile.tile_shape == (
        16,
        32,
    )
    with pytest.raises(TypeError, match="a TensorSpec takes no colour=3"):
        ttnn.TensorSpec(*kind, colour=3)
    with pytest.raises(TypeError, match="a TensorSpec takes no 'L1' for its memory"):
        ttnn.TensorSpec(*kind, "L1")
    with pytest.raises(TypeError, match="takes nothing else but a tile"):
        ttnn.TensorSpec(*kind, ttnn.L1_MEMORY_CONFIG, ttnn.BufferType.L1)


def test_specifications_with_shards(device: Any) -> None:
    """Rows, columns or both are cut for the cores, in whole tiles."""
    spec = ttnn.TensorSpec((3, 96, 200), ttnn.float32, ttnn.TILE_LAYOUT, ttnn.BufferType.L1)
    values = torch.rand(3, 96, 200)
    for made, layout, shape in (
        (spec.height_sharded(ROW), "HEIGHT_SHARDED", (64, 224)),
        (spec.width_sharded(ROW), "WIDTH_SHARDED", (288, 32)),
        (spec.block_sharded(BLOCK), "BLOCK_SHARDED", (160, 96)),
        (spec.block_sharded(BLOCK.ranges()[0]), "BLOCK_SHARDED", (160, 96)),
        (spec.sharded((1, 96, 224), ROW), "HEIGHT_SHARDED", (96, 224)),
    ):
        config = made.memory_config
        assert config.memory_layout == ttnn.TensorMemoryLayout[layout]
        assert config.shard_spec.shape == shape
        tensor = ttnn.from_torch(values, spec=made, device=device)
        assert torch.equal(ttnn.to_torch(tensor), values)
        assert tensor.memory_config() == config
