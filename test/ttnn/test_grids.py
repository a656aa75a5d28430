"""Pixels at places that tensors name, against torch: grids, and attention to places."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest
import torch
from oracles.ttnn_oracle import draw

from ttmlir import ttnn

LEVELS = [(2, 4), (3, 5)]
BATCH, QUERIES, HEADS, POINTS, DEPTH = 2, 7, 3, 4, 32


SEEDS = count()


def reals(shape: tuple[int, ...], low: float, high: float) -> Any:
    """Random numbers, others in each call."""
    return draw(shape, low, high, next(SEEDS))


def rows(values: Any, device: Any, dtype: Any = ttnn.bfloat16) -> Any:
    """A tensor in rows."""
    return ttnn.from_torch(values, dtype, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)


def coarse(*shape: int, low: float = 0.0, high: float = 1.0) -> Any:
    """Numbers that bfloat16 holds, as the tensors have them."""
    return reals(shape, low, high).bfloat16().float()


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("aligned", [False, True])
def test_prepared_grids(mode: str, aligned: bool, device: Any) -> None:
    """A prepared grid gives what the grid itself gives, which is torch's."""
    image, grid = coarse(2, 7, 9, 32), reals((2, 3, 5, 2), -1.3, 1.3)
    given = ttnn.from_torch(grid, ttnn.float32, layout=ttnn.ROW_MAJOR_LAYOUT)
    prepared = ttnn.prepare_grid_sample_grid(given, [2, 7, 9, 32], mode=mode, align_corners=aligned)
    assert prepared.storage_type() == ttnn.StorageType.HOST
    found = ttnn.grid_sample(
        rows(image, device),
        ttnn.to_device(prepared, device),
        mode=mode,
        align_corners=aligned,
        use_precomputed_grid=True,
    )
    expected = torch.nn.functional.grid_sample(
        image.permute(0, 3, 1, 2), grid, mode, align_corners=aligned
    )
    assert torch.allclose(
        ttnn.to_torch(found).float(), expected.permute(0, 2, 3, 1), rtol=2**-6, atol=2**-7
    )


def test_prepared_numbers() -> None:
    """As ttnn 0.81.1 prepares them: rows and columns as bits, and weights of bfloat16."""
    places = [[0.35610038, -0.59855455], [-1.1934688, -1.2570281], [0.8145026, 1.0731645]]
    grid = ttnn.Tensor(
        np.array(places, np.float32).reshape(1, 1, 3, 2), ttnn.float32, None, ttnn.ROW_MAJOR_LAYOUT
    )
    found = ttnn.prepare_grid_sample_grid(grid, [2, 7, 9, 32])
    assert (found.shape, found.dtype) == ([1, 1, 3, 6], ttnn.bfloat16)
    numbers = np.array(found.to_list())[0, 0]
    bits = numbers[:, :2].astype(np.float32).view(np.int32) >> 16
    assert bits.tolist()[0] == [0, 5]
    assert bits.tolist()[1] == [-2, -2]
    assert bits.tolist()[2] == [6, 7]
    assert numbers[:, 2:].tolist() == [
        [0.037841796875, 0.05712890625, 0.359375, 0.546875],
        [0, 0, 0, 0],
        [0.08154296875, 0.162109375, 0, 0],
    ]


def test_batches_of_grids(device: Any) -> None:
    """Places side by side become columns, or channels."""
    image, grid = coarse(2, 7, 9, 32), coarse(2, 3, 5, 8, low=-1, high=1)
    expected = torch.nn.functional.grid_sample(
        image.permute(0, 3, 1, 2), grid.reshape(2, 3, 20, 2), align_corners=False
    ).permute(0, 2, 3, 1)
    wide = ttnn.grid_sample(rows(image, device), rows(grid, device))
    deep = ttnn.grid_sample(rows(image, device), rows(grid, device), batch_output_channels=True)
    assert torch.allclose(ttnn.to_torch(wide).float(), expected, rtol=2**-7, atol=2**-8)
    assert torch.equal(ttnn.to_torch(deep), ttnn.to_torch(wide).reshape(2, 3, 5, 128))


def attend(value: Any, places: Any, weights: Any, *, aligned: bool) -> Any:
    """Deformable attention by torch's grid_sample; places are from 0 to 1."""
    found = torch.zeros(BATCH, QUERIES, HEADS, DEPTH)
    for number in range(BATCH):
        for head in range(HEADS):
            start = 0
            for level, (height, width) in enumerate(LEVELS):
                part = value[number, start : start + height * width, head]
                start += height * width
                sampled = torch.nn.functional.grid_sample(
                    part.T.reshape(1, DEPTH, height, width),
                    2 * places[number, :, head, level][None] - 1,
                    align_corners=aligned,
                )
                weight = weights[number, :, head, level]
                found[number, :, head] += torch.einsum("dqp,qp->qd", sampled[0], weight)
    return found.reshape(BATCH, QUERIES, HEADS * DEPTH)


@pytest.mark.parametrize("aligned", [False, True])
def test_attention_to_places(aligned: bool, device: Any) -> None:
    """The formula of ttnn's documentation, packed and not, with places or offsets."""
    pixels = sum(height * width for height, width in LEVELS)
    value = coarse(BATCH, pixels, HEADS, DEPTH)
    shape = (BATCH, QUERIES, HEADS, len(LEVELS), POINTS)
    weights = coarse(*shape)
    # Multiples of 1/256 above 1/2 are bfloat16, and so are twice their distances from 1/2.
    places = (coarse(*shape, 2) * 128).round() / 128
    expected = attend(value, places, weights, aligned=aligned)
    options = {"align_corners": aligned}

    def check(found: Any) -> None:
        assert torch.allclose(ttnn.to_torch(found).float(), expected, rtol=2**-6, atol=2**-6)

    sample = ttnn.experimental.fused_msda
    given = [rows(each, device) for each in (value, places, weights)]
    check(sample(*given, LEVELS, **options))
    packed = [
        rows(value.reshape(BATCH, pixels, -1), device),
        rows((2 * places - 1).reshape(BATCH, QUERIES, HEADS, -1), device),
        rows(weights.reshape(BATCH, QUERIES, HEADS, -1), device),
    ]
    check(sample(*packed, LEVELS, locations_in_grid_space=True, **options))
    # Offsets of the same places, from a point of each level, or of each other point.
    extents = torch.tensor([[width, height] for height, width in LEVELS]) - int(aligned)
    for mode, number in (("level", len(LEVELS)), ("pillar", 2)):
        points = torch.full((BATCH, QUERIES, number, 2), 0.5)
        offsets = (places - 0.5) * extents[:, None]
        found = ttnn.experimental.fused_msda_from_offsets(
            given[0],
            rows(points, device, ttnn.float32),
            rows(offsets, device, ttnn.float32),
            given[2],
            LEVELS,
            reference_mode=mode,
            **options,
        )
        check(found)
    with pytest.raises(RuntimeError, match="R is the number of levels"):
        ttnn.experimental.fused_msda_from_offsets(
            given[0], rows(torch.zeros(BATCH, QUERIES, 3, 2), device), packed[1], given[2], LEVELS
        )
    with pytest.raises(RuntimeError, match=r"for these levels it is \(2, 6, 3, D\)"):
        sample(given[0], *given[1:], [(1, 2), (2, 2)])


def test_attention_to_one_level(device: Any) -> None:
    """Heads are images of their own."""
    value, weights = coarse(6, 5, 7, 32), coarse(6, 3, 4)
    grid = coarse(6, 12, 1, 2, low=-1)
    sampled = torch.nn.functional.grid_sample(
        value.permute(0, 3, 1, 2), grid.reshape(6, 3, 4, 2), align_corners=False
    )
    expected = torch.einsum("ndqp,nqp->nqd", sampled, weights)
    found = ttnn.experimental.multi_scale_deformable_attn(
        rows(value, device), rows(grid, device), rows(weights, device)
    )
    assert torch.allclose(ttnn.to_torch(found).float(), expected, rtol=2**-6, atol=2**-6)


def test_refused_grids(device: Any) -> None:
    """What the library refuses, with what to do."""
    grid = torch.zeros(2, 3, 5, 2)
    given = ttnn.from_torch(grid, ttnn.float32, layout=ttnn.ROW_MAJOR_LAYOUT)
    with pytest.raises(RuntimeError, match=r"prepared on the host: ttnn\.from_device"):
        ttnn.prepare_grid_sample_grid(rows(grid, device, ttnn.float32), [2, 7, 9, 32])
    with pytest.raises(RuntimeError, match=r"output_dtype is ttnn\.bfloat16"):
        ttnn.prepare_grid_sample_grid(given, [2, 7, 9, 32], output_dtype=ttnn.float32)
    with pytest.raises(RuntimeError, match=r"grid has .*; it must be \(2, h, w, 6\)"):
        ttnn.grid_sample(
            rows(torch.zeros(2, 7, 9, 32), device), rows(grid, device), use_precomputed_grid=True
        )
