"""Sorting, the largest numbers, and numbers written at places, against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from ttmlir import ttnn

TYPES = {"bfloat16": torch.bfloat16, "float32": torch.float32, "uint16": torch.int32}
SHAPES = [((33, 70), -1), ((3, 5, 40), 1), ((2, 3, 17, 9), 0)]


def draw(shape: tuple[int, ...], dtype: str) -> torch.Tensor:
    """Numbers of which some are equal."""
    numbers = np.random.default_rng(0).integers(0, 200, shape)
    return torch.as_tensor(numbers).to(TYPES[dtype])


def place(values: torch.Tensor, dtype: str, device: Any) -> Any:
    """A tensor on the device in tiles."""
    return ttnn.from_torch(values, getattr(ttnn, dtype), layout=ttnn.TILE_LAYOUT, device=device)


def read(tensor: Any) -> torch.Tensor:
    """The numbers as torch compares them."""
    return torch.as_tensor(ttnn.to_numpy(tensor).astype(np.float64))


@pytest.mark.parametrize("dtype", list(TYPES))
@pytest.mark.parametrize(("shape", "dim"), SHAPES)
@pytest.mark.parametrize("descending", [True, False])
def test_sort(dtype: str, shape: tuple[int, ...], dim: int, descending: bool, device: Any) -> None:
    """Padding does not take part; equal numbers keep their order."""
    values = draw(shape, dtype)
    expected = torch.sort(values, dim=dim, descending=descending, stable=True)
    x = place(values, dtype, device)
    numbers, places = ttnn.sort(x, dim=dim, descending=descending)
    short = ttnn.uint16 if dtype == "bfloat16" else ttnn.uint32
    assert (numbers.dtype, places.dtype) == (x.dtype, short)
    assert numbers.layout == places.layout == ttnn.TILE_LAYOUT
    assert torch.equal(read(numbers), expected.values.double())
    assert torch.equal(read(places), expected.indices.double())


def test_sort_of_special_numbers(device: Any) -> None:
    """Infinities at the ends; NaN is the largest, as torch has it."""
    values = torch.tensor([[3.0, -torch.inf, torch.nan, torch.inf, 0.0, -2.0]])
    x = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)
    for descending in (True, False):
        expected = torch.sort(values, descending=descending, stable=True)
        numbers, places = ttnn.sort(x, descending=descending)
        assert torch.equal(read(places), expected.indices.double())
        torch.testing.assert_close(read(numbers), expected.values.double(), equal_nan=True)
    outputs = [ttnn.zeros_like(x), ttnn.zeros((1, 6), ttnn.uint32, ttnn.TILE_LAYOUT, device)]
    assert ttnn.sort(x, out=outputs)[1] is outputs[1]
    assert outputs[1].to_list() == [[1, 5, 4, 0, 3, 2]]
    with pytest.raises(RuntimeError) as error:
        ttnn.sort(x, 2)
    message = "ttnn.sort: dimension 2 is out of range for a tensor of rank 2"
    assert message in str(error.value)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize(("shape", "dim"), SHAPES)
@pytest.mark.parametrize("largest", [True, False])
def test_topk(dtype: str, shape: tuple[int, ...], dim: int, largest: bool, device: Any) -> None:
    """The values are torch's; the places lead to them."""
    values = draw(shape, dtype)
    x = place(values, dtype, device)
    count = shape[dim] - 1
    numbers, places = ttnn.topk(x, count, dim=dim, largest=largest, sorted=True)
    expected = torch.topk(values, count, dim, largest).values
    assert torch.equal(read(numbers), expected.double())
    assert places.dtype == (ttnn.uint16 if dtype == "bfloat16" else ttnn.uint32)
    assert torch.equal(values.double().gather(dim, read(places).long()), expected.double())


def test_topk_of_many_and_of_named(device: Any) -> None:
    """Places beyond 16 bits take 32; indices may be given."""
    values = torch.arange(70000).float()[None]
    x = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)
    numbers, places = ttnn.topk(x, 3)
    assert places.dtype == ttnn.uint32
    assert places.to_list() == [[69999, 69998, 69997]]
    few = ttnn.from_torch(values[:, :4], layout=ttnn.TILE_LAYOUT, device=device)
    names = ttnn.from_torch(torch.tensor([[9, 8, 7, 6]]).int(), device=device)
    numbers, places = ttnn.topk(few, 2, indices_tensor=names)
    assert (numbers.to_list(), places.to_list()) == ([[3.0, 2.0]], [[6, 7]])
    with pytest.raises(RuntimeError, match=r"ttnn\.topk: k=32 of 4 numbers along dimension -1"):
        ttnn.topk(few)


def test_plus_one(device: Any) -> None:
    """One more in place, of integers."""
    x = ttnn.from_torch(torch.tensor([3, -1, 0, -7]).int(), device=device)
    assert ttnn.plus_one(x, skip_negative_entries=True) is x
    assert x.to_list() == [4, -1, 1, -7]
    ttnn.plus_one(x)
    assert x.to_list() == [5, 0, 2, -6]
    with pytest.raises(RuntimeError, match=r"it takes int32 or uint32, not DataType\.FLOAT32"):
        ttnn.plus_one(ttnn.from_torch(torch.zeros(3), device=device))


def test_index_fill(device: Any) -> None:
    """One number at some places along a dimension."""
    values = torch.arange(60).reshape(3, 4, 5).float()
    x = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)
    index = ttnn.from_torch(torch.tensor([2, 0]).int(), device=device)
    expected = values.index_fill(-2, torch.tensor([2, 0]), 7.5)
    assert torch.equal(ttnn.to_torch(ttnn.index_fill(x, -2, index, 7.5)), expected)
    with pytest.raises(RuntimeError, match="indices from 0 to 2 along an extent of 2"):
        ttnn.index_fill(x[:2], 0, index, 1.0)


def test_collectives_of_one_device(device: Any) -> None:
    """What all devices have together is what the one has."""
    values = torch.arange(66).reshape(2, 33).float()
    x = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 0))])
    semaphore = ttnn.create_global_semaphore(device, cores, 0)
    for result in (
        ttnn.all_gather(x, dim=-1, num_links=1, topology=ttnn.Topology.Linear),
        ttnn.reduce_scatter(x, dim=0, cluster_axis=1),
        ttnn.all_reduce(x, memory_config=ttnn.L1_MEMORY_CONFIG),
        ttnn.all_broadcast(x)[0],
        ttnn.experimental.all_gather_async(
            x,
            dim=1,
            persistent_output_tensor=ttnn.zeros_like(x),
            multi_device_global_semaphore=semaphore,
        ),
    ):
        assert result is not x
        assert torch.equal(ttnn.to_torch(result), values)
    assert ttnn.all_reduce(x, memory_config=ttnn.L1_MEMORY_CONFIG).memory_config() == (
        ttnn.L1_MEMORY_CONFIG
    )
    with pytest.raises(RuntimeError, match="dimension 2 is out of range for a tensor of rank 2"):
        ttnn.all_gather(x, dim=2)
