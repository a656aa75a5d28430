"""Normalisations of batches, of groups and of rows in parts against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from ttmlir import ttnn


@pytest.fixture
def device(tolerant_device: Any) -> Any:
    """Numbers are compared in float32 and in rows, too, where a card takes others only."""
    return tolerant_device


LIMITS = {"bfloat16": 0.05, "float32": 1e-4, "bfloat8_b": 0.12}


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    """Random numbers that bfloat16 has."""
    numbers = np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)
    return torch.as_tensor(numbers).bfloat16().float()


def place(values: torch.Tensor, device: Any, dtype: str = "float32") -> Any:
    """A tensor on the device in tiles."""
    return ttnn.from_torch(values, getattr(ttnn, dtype), layout=ttnn.TILE_LAYOUT, device=device)


def check(actual: Any, expected: torch.Tensor, dtype: str = "float32") -> None:
    """Equal shapes, and near numbers."""
    result = ttnn.to_torch(actual).float()
    assert result.shape == expected.shape
    assert torch.allclose(result, expected, atol=LIMITS[dtype])


@pytest.mark.parametrize("dtype", list(LIMITS))
@pytest.mark.parametrize("affine", [True, False])
def test_batch_norm(dtype: str, affine: bool, device: Any) -> None:
    """By given statistics, or by the batch's, which then move the given ones."""
    x, mean, var = draw(3, 5, 7, 6), draw(5, seed=1), draw(5, seed=2).abs() + 0.5
    weight, bias = (draw(5, seed=3), draw(5, seed=4)) if affine else (None, None)
    kept: dict[str, Any] = {
        name: None if each is None else place(each.reshape(1, 5, 1, 1), device)
        for name, each in (
            *(("running_mean", mean), ("running_var", var)),
            *(("weight", weight), ("bias", bias)),
        )
    }
    own = place(x, device, dtype)
    expected = functional.batch_norm(x, mean, var, weight, bias)
    check(ttnn.batch_norm(own, **kept), expected, dtype)
    expected = functional.batch_norm(x, mean, var, weight, bias, training=True, momentum=0.3)
    check(ttnn.batch_norm(own, training=True, momentum=0.3, **kept), expected, dtype)
    # torch has moved its statistics, too.
    check(kept["running_mean"], mean.reshape(1, 5, 1, 1), dtype)
    check(kept["running_var"], var.reshape(1, 5, 1, 1), dtype)
    with pytest.raises(RuntimeError) as error:
        ttnn.batch_norm(own)
    message = "ttnn.batch_norm: running_mean and running_var are needed where training=False"
    assert message in str(error.value)


@pytest.mark.parametrize("dtype", list(LIMITS))
@pytest.mark.parametrize(("channels", "groups"), [(64, 8), (40, 5), (6, 1)])
def test_group_norm(dtype: str, channels: int, groups: int, device: Any) -> None:
    """Groups of channels of all pixels of an image."""
    x = draw(2, channels, 7, 5)
    weight, bias = draw(channels, seed=1), draw(channels, seed=2)
    expected = functional.group_norm(x, groups, weight, bias, eps=1e-5)
    rows = [ttnn.create_group_norm_weight_bias_rm(each, channels, 1) for each in (weight, bias)]
    result = ttnn.group_norm(
        place(x.permute(0, 2, 3, 1).reshape(2, 1, 35, channels), device, dtype),
        num_groups=groups,
        epsilon=1e-5,
        weight=ttnn.from_torch(rows[0], device=device),
        bias=ttnn.from_torch(rows[1], device=device),
        memory_config=ttnn.L1_MEMORY_CONFIG,
        output_layout=ttnn.ROW_MAJOR_LAYOUT if dtype == "float32" else None,
        core_grid=ttnn.CoreGrid(y=1, x=1),
    )
    assert result.memory_config() == ttnn.L1_MEMORY_CONFIG
    wanted = ttnn.ROW_MAJOR_LAYOUT if dtype == "float32" else ttnn.TILE_LAYOUT
    assert result.layout == wanted
    check(result, expected.permute(0, 2, 3, 1).reshape(2, 1, 35, channels), dtype)
    with pytest.raises(RuntimeError, match=f"{channels} channels cannot be split into 7 groups"):
        ttnn.group_norm(result, num_groups=7)


def test_rows_in_parts(device: Any) -> None:
    """Statistics of parts of rows, side by side, are those of the whole rows."""
    x, weight, bias = draw(1, 1, 33, 96) + 0.3, draw(96, seed=1), draw(96, seed=2)
    parts = [x[..., :48], x[..., 48:]]
    root = functional.rms_norm(x, (96,), weight, 1e-6)
    layer = functional.layer_norm(x, (96,), weight, bias, 1e-6)
    for kind, expected, shift in (("rms", root, None), ("layer", layer, bias)):
        before = getattr(ttnn, f"{kind}_norm_pre_all_gather")
        after = getattr(ttnn, f"{kind}_norm_post_all_gather")
        found = [before(place(part, device), dtype=ttnn.float32) for part in parts]
        assert before(place(parts[0], device)).dtype == ttnn.bfloat16
        stats = ttnn.concat(found, -1)
        for number, part in enumerate(parts):
            columns = slice(48 * number, 48 * number + 48)
            result = after(
                place(part, device),
                stats,
                epsilon=1e-6,
                weight=place(weight[columns].reshape(1, 1, 1, 48), device),
                bias=None if shift is None else place(shift[columns].reshape(1, -1), device),
            )
            check(result, expected[..., columns])
    with pytest.raises(RuntimeError, match=r"stats has .*; its width is a multiple of 64"):
        ttnn.layer_norm_post_all_gather(place(parts[0], device), place(draw(1, 1, 33, 32), device))


@pytest.mark.parametrize(("channels", "groups", "cores"), [(320, 32, 1), (96, 6, 2), (40, 5, 1)])
def test_masks_of_groups(channels: int, groups: int, cores: int, device: Any) -> None:
    """A mask has 1 where the columns of a group are, in the tiles that it spans on its core."""
    size, on_core = channels // groups, channels // cores
    mask = ttnn.create_group_norm_input_mask(channels, groups, cores)
    inverse = ttnn.create_group_norm_input_negative_mask(channels, groups, cores)
    assert torch.equal(mask + inverse, torch.ones_like(mask))
    for group in range(groups):
        whole = torch.zeros(-(-channels // 32) * 32 + 32)
        start = group * size % on_core
        whole[start : start + size] = 1
        tile = start // 32 * 32
        wanted = whole[tile : tile + mask.shape[-1]]
        assert torch.equal(mask[0, group, :, : wanted.numel()], wanted.expand(32, -1))
        assert mask[0, group, 0].sum() == size
    assert tuple(mask.shape[:3]) == (1, groups, 32)
    kept = ttnn.create_group_norm_input_mask(channels, groups, cores, ttnn.bfloat8_b)
    assert (kept.dtype, kept.layout, kept.device()) == (ttnn.bfloat8_b, ttnn.TILE_LAYOUT, None)
    assert torch.equal(ttnn.to_torch(ttnn.to_device(kept, device)).float(), mask)
    with pytest.raises(RuntimeError, match="40 channels, 6 groups and 1 cores do not divide each"):
        ttnn.create_group_norm_input_mask(40, 6, 1)


def test_statistics_of_shards(device: Any) -> None:
    """Of shards, statistics are means, those of squares last; a residual is added in place.

    So ttnn 0.81.1 has it on Tenstorrent's simulator of a Wormhole chip.
    """
    x, residual = draw(2, 1, 1, 32, 128).bfloat16()
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 0))])
    shards = ttnn.ShardSpec(cores, [32, 64], ttnn.ShardOrientation.ROW_MAJOR)
    layout = ttnn.TensorMemoryLayout.WIDTH_SHARDED
    memory = ttnn.MemoryConfig(layout, ttnn.BufferType.L1, shards)

    def spread(values: torch.Tensor, config: Any = memory) -> Any:
        return ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)

    tensor = spread(x)
    made = ttnn.to_torch(ttnn.layer_norm_pre_all_gather(tensor)).float()
    wide = x.double()
    expected = torch.stack([wide.mean(-1), wide.square().mean(-1)], -1)
    assert torch.allclose(made[..., ::32].double(), expected, rtol=0.01, atol=1e-2)
    squares = ttnn.to_torch(ttnn.rms_norm_pre_all_gather(tensor)).double()
    assert squares.shape[-1] == 32
    assert torch.allclose(squares[..., 0], expected[..., 1], rtol=0.01)

    added = spread(residual)
    ttnn.layer_norm_pre_all_gather(tensor, residual_input_tensor=added)
    assert torch.equal(ttnn.to_torch(tensor), (x.float() + residual.float()).bfloat16())
    assert torch.equal(ttnn.to_torch(added), residual)

    # The means of two parts, side by side as all_gather has them.
    whole = spread(x)
    parts = [part.double() for part in x.chunk(2, -1)]
    stats = torch.zeros(1, 1, 32, 128)
    for number, part in enumerate(parts):
        stats[..., 64 * number] = part.mean(-1)
        stats[..., 64 * number + 32] = part.square().mean(-1)
    one = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.INTERLEAVED, ttnn.BufferType.L1)
    gathered = ttnn.typecast(spread(stats, one), ttnn.float32)
    result = ttnn.layer_norm_post_all_gather(whole, gathered, epsilon=1e-5)
    assert result.memory_config() == memory
    expected = torch.nn.functional.layer_norm(wide, [128], eps=1e-5)
    assert torch.allclose(ttnn.to_torch(result).double(), expected, rtol=0.02, atol=0.02)
    expected = wide / (wide.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    squares = torch.cat([each[..., 32:64] for each in stats.chunk(2, -1)], -1)
    result = ttnn.rms_norm_post_all_gather(whole, spread(squares, one), epsilon=1e-5)
    assert torch.allclose(ttnn.to_torch(result).double(), expected, rtol=0.02, atol=0.02)
