"""Where results of compiled functions are, and what programs of 2026 write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import ttnn_jit as public_name
from ttmlir import ttnn, ttnn_jit

MAXIMAL = [
    # The shape, and the columns and rows of cores: 4x6 tiles, 3x5x1, 1x1, and 20x14.
    ((128, 192), (6, 4)),
    ((3, 160, 32), (1, 5)),
    ((32, 32), (1, 1)),
    ((1, 2, 320, 448), (7, 5)),
]


def place(array: torch.Tensor, device: Any, **where: Any) -> Any:
    """A tensor of bfloat16 in tiles."""
    return ttnn.from_torch(
        array, **{"dtype": ttnn.bfloat16, "layout": ttnn.TILE_LAYOUT, "device": device, **where}
    )


def shape_of_grid(config: Any) -> tuple[int, int]:
    """Columns and rows of the cores that hold a tensor."""
    size = config.shard_spec.grid.bounding_box().grid_size()
    return size.x, size.y


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("shape", "grid"), MAXIMAL)
def test_results_are_in_the_largest_blocks(device: Any, shape: Any, grid: tuple[int, int]) -> None:
    """Whatever the argument's memory is; numbers are those of ttnn."""
    numbers = torch.linspace(-1, 1, int(np.prod(shape))).reshape(shape)
    for config in (ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG):
        x = place(numbers, device, memory_config=config)
        result = ttnn_jit.jit()(lambda x: ttnn.add(ttnn.exp(x), x))(x)
        made = result.memory_config()
        assert made.memory_layout == ttnn.TensorMemoryLayout.BLOCK_SHARDED
        assert made.buffer_type == ttnn.BufferType.L1
        assert shape_of_grid(made) == grid
        wanted = ttnn.to_torch(x).float()
        torch.testing.assert_close(
            ttnn.to_torch(result).float(), wanted.exp() + wanted, rtol=0.02, atol=0.02
        )


@pytest.mark.parametrize("strategy", ["HEIGHT", "WIDTH", "BLOCK"])
def test_shards_become_the_largest_blocks(device: Any, strategy: str) -> None:
    """8x8 tiles that lie on 8 cores are on 64 afterwards."""
    config = ttnn.create_sharded_memory_config(
        (256, 256), ttnn.CoreGrid(y=2, x=4), ttnn.ShardStrategy[strategy]
    )
    numbers = torch.linspace(-2, 2, 256 * 256).reshape(256, 256)
    x = place(numbers, device, memory_config=config)
    result = ttnn_jit.jit()(ttnn.abs)(x)
    assert shape_of_grid(result.memory_config()) == (8, 8)
    assert torch.equal(ttnn.to_torch(result), ttnn.to_torch(x).abs())


def test_products_are_in_the_largest_blocks(device: Any) -> None:
    """2x4 tiles of 2x3 and 3x4."""
    a = torch.linspace(-1, 1, 64 * 96).reshape(64, 96)
    b = torch.linspace(-1, 1, 96 * 128).reshape(96, 128).flip(0)
    result = ttnn_jit.jit()(lambda a, b: ttnn.matmul(a, b))(place(a, device), place(b, device))
    assert shape_of_grid(result.memory_config()) == (4, 2)
    wanted = a.bfloat16().float() @ b.bfloat16().float()
    torch.testing.assert_close(ttnn.to_torch(result).float(), wanted, rtol=0.02, atol=0.5)


def test_several_results(device: Any) -> None:
    """Each has blocks of its own; an argument that is returned moves, too."""
    x = place(torch.arange(64.0 * 32).reshape(64, 32) % 7, device)
    first, second = ttnn_jit.jit()(lambda x: (x, ttnn.permute(x, (1, 0))))(x)
    assert shape_of_grid(first.memory_config()) == (1, 2)
    assert shape_of_grid(second.memory_config()) == (2, 1)
    assert torch.equal(ttnn.to_torch(first).T, ttnn.to_torch(second))


@pytest.mark.parametrize(
    ("shape", "where"),
    [
        ((40, 64), {}),
        ((64, 70), {}),
        ((64,), {}),
        ((64, 64), {"layout": ttnn.ROW_MAJOR_LAYOUT}),
        # A prime number of rows of tiles leaves all of them to one core.
        ((32 * 211, 32), {"dtype": ttnn.float32}),
    ],
)
def test_results_without_blocks(device: Any, shape: Any, where: dict[str, Any]) -> None:
    """No whole tiles, rows, or blocks that are too large: as ttnn has it."""
    x = place(torch.ones(shape), device, **where)
    result = ttnn_jit.jit()(lambda x: ttnn.neg(x))(x)
    assert result.memory_config() == ttnn.neg(x).memory_config()


@pytest.mark.parametrize("flags", [{"max_grid": (7, 7)}, {"max_grid": (3, 3), "backend": "ttnn"}])
def test_programs_of_2025(device: Any, flags: dict[str, Any]) -> None:
    """With `max_grid` results have the memory that ttnn gives them."""
    x = place(torch.ones(64, 64), device)
    result = ttnn_jit.jit(**flags)(lambda x: ttnn.neg(x))(x)
    assert result.memory_config() == x.memory_config()


def test_memory_config_comes_first(device: Any) -> None:
    """What is asked for is done."""
    function = ttnn_jit.jit(memory_config=ttnn.DRAM_MEMORY_CONFIG)(lambda x: ttnn.neg(x))
    result = function(place(torch.ones(64, 64), device))
    assert result.memory_config() == ttnn.DRAM_MEMORY_CONFIG


def test_functions_by_the_name_of_the_package(device: Any) -> None:
    """A function that is compiled may call `ttnn_jit.exp` instead of `ttnn.exp`."""

    def swish(x: Any) -> Any:
        return public_name.multiply(x, public_name.sigmoid(x))

    x = place(torch.linspace(-3, 3, 64 * 64).reshape(64, 64), device)
    wanted = ttnn.to_torch(x).float()
    torch.testing.assert_close(
        ttnn.to_torch(public_name.jit()(swish)(x)).float(),
        wanted * wanted.sigmoid(),
        rtol=0.02,
        atol=0.02,
    )
    with pytest.raises(AttributeError, match=r"module 'ttmlir\.ttnn_jit' has no attribute 'expp'"):
        _ = public_name.expp


def test_shards_of_three_dimensions_are_taken(device: Any) -> None:
    """They move before the kernels."""
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 0))])
    config = ttnn.MemoryConfig(
        buffer_type=ttnn.BufferType.L1, nd_shard_spec=ttnn.NdShardSpec([1, 32, 64], cores)
    )
    x = place(torch.linspace(-1, 1, 2 * 32 * 64).reshape(2, 32, 64), device, memory_config=config)
    result = ttnn_jit.jit()(ttnn.abs)(x)
    assert torch.equal(ttnn.to_torch(result), ttnn.to_torch(x).abs())


def test_unknown_backend() -> None:
    """ValueError where the function is decorated."""
    with pytest.raises(ValueError, match="backend is one of ttnn, metal, not 'cuda'"):
        ttnn_jit.jit(backend="cuda")
