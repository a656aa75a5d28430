"""Making tensors, filling those that are there, and asking where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from ttmlir import ttnn

DTYPES = ("bfloat16", "float32", "bfloat8_b", "int32", "uint32", "uint16", "uint8")
SHAPES = ((33, 70), (7,), (2, 3, 5, 31), ())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("memory", ["DRAM_MEMORY_CONFIG", "L1_MEMORY_CONFIG"])
def test_constants(dtype: str, shape: tuple[int, ...], memory: str, device: Any) -> None:
    """One number everywhere, of the type, layout and memory asked for, or those of a tensor."""
    kept = ttnn.TILE_LAYOUT if dtype == "bfloat8_b" else ttnn.ROW_MAJOR_LAYOUT
    asked = (getattr(ttnn, dtype), kept, device, getattr(ttnn, memory))
    made = {
        0: [ttnn.zeros(shape, *asked), ttnn.full(shape, 0, *asked)],
        1: [ttnn.ones(shape, *asked)],
        3: [ttnn.full(shape, 3, *asked)],
    }
    like = made[1][0]
    made[0].append(ttnn.zeros_like(like))
    made[1].append(ttnn.ones_like(like))
    made[3].append(ttnn.full_like(like, 3))
    made[3].append(ttnn.full_like(ttnn.zeros(shape), 3, *asked))
    given = ttnn.zeros(shape, *asked)
    assert ttnn.full(shape, 3, optional_tensor=given) is given
    made[3].append(given)
    for number, tensors in made.items():
        for tensor in tensors:
            assert (tensor.dtype, tensor.layout, tensor.device()) == asked[:3]
            assert (tensor.memory_config(), tensor.shape) == (asked[3], list(shape))
            assert np.array_equal(ttnn.to_numpy(tensor).astype(int), np.full(shape, number))
    unwritten = ttnn.empty(shape, *asked)
    same = ttnn.empty_like(unwritten, dtype=asked[0], layout=kept, memory_config=asked[3])
    assert unwritten.spec == same.spec == like.spec
    assert ttnn.empty_like(unwritten).spec == like.spec


def test_constants_without_choices() -> None:
    """Rows of bfloat16 on the host."""
    for made in (ttnn.zeros([3, 4]), ttnn.ones([3, 4]), ttnn.full([3, 4], 2)):
        facts = (made.dtype, made.layout, made.device())
        assert facts == (ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, None)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "int32", "uint16"])
def test_sequences(dtype: str, device: Any) -> None:
    """Numbers at equal distances, and of a list."""
    chosen = getattr(ttnn, dtype)
    assert ttnn.arange(2, 11, 3, dtype=chosen).to_list() == [2, 5, 8]
    assert ttnn.arange(3, dtype=chosen, device=device).to_list() == [0, 1, 2]
    assert ttnn.arange(1, 3, dtype=chosen).to_list() == [1, 2]
    made = ttnn.from_buffer(list(range(6)), [2, 3], chosen, device, ttnn.TILE_LAYOUT)
    assert made.to_list() == [[0, 1, 2], [3, 4, 5]]
    assert (made.dtype, made.layout, made.device()) == (chosen, ttnn.TILE_LAYOUT, device)


def test_random_numbers(device: Any) -> None:
    """Numbers within bounds; a seed gives the same ones again."""
    drawn = ttnn.to_torch(ttnn.rand((64, 64), device, low=2.0, high=3.0, seed=7)).float()
    assert 2 <= drawn.min() < 2.1
    assert 2.9 < drawn.max() <= 3
    again = ttnn.rand((64, 64), device, low=2.0, high=3.0, seed=7)
    assert torch.equal(drawn, ttnn.to_torch(again).float())
    ttnn.manual_seed(5)
    first = ttnn.to_torch(ttnn.rand((3, 40), device))
    second = ttnn.to_torch(ttnn.rand((3, 40), device))
    assert not torch.equal(first, second)
    ttnn.manual_seed(5)
    assert torch.equal(ttnn.to_torch(ttnn.rand((3, 40), device)), first)
    x = ttnn.zeros((64, 64), ttnn.float32, device=device)
    assert ttnn.uniform(x, -1.0, 1.0, seed=3) is x
    numbers = ttnn.to_torch(x)
    assert numbers.min() < -0.9
    assert 0.9 < numbers.max() <= 1
    ttnn.uniform(x, **{"from": 4.0, "to": 5.0})
    assert 4 <= ttnn.to_torch(x).min() < 4.1
    normal = ttnn.to_torch(ttnn.randn((64, 64), device, dtype=ttnn.float32, seed=7))
    assert abs(normal.mean()) < 0.05
    assert abs(normal.std() - 1) < 0.05
    # A tenth of a percent of the numbers is beyond 3.29, about 4 of 4,096.
    assert 0 < int((normal.abs() > 3.29).sum()) < 20
    again = ttnn.randn((64, 64), dtype=ttnn.float32, seed=7)
    assert (again.layout, again.device()) == (ttnn.TILE_LAYOUT, None)
    assert torch.equal(ttnn.to_torch(again), normal)
    assert not torch.equal(ttnn.to_torch(ttnn.randn((64, 64), dtype=ttnn.float32)), normal)
    with pytest.raises(RuntimeError, match="are floating point, not DataType"):
        ttnn.randn((3, 4), dtype=ttnn.int32)
    with pytest.raises(TypeError, match="unexpected keyword argument 'frm'"):
        ttnn.uniform(x, frm=4.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'sead'"):
        ttnn.manual_seed(sead=1)


def test_tensors_to_be_filled(device: Any) -> None:
    """Memory first, numbers later; both tensors have one shape and one type."""
    values = torch.arange(33 * 70).reshape(33, 70).float()
    host = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT)
    spec = ttnn.TensorSpec((33, 70), ttnn.float32, ttnn.TILE_LAYOUT)
    for tensor in (
        ttnn.allocate_tensor_on_device(spec, device),
        ttnn.allocate_tensor_on_device((33, 70), ttnn.float32, ttnn.TILE_LAYOUT, device),
    ):
        assert tensor.device() is device
        ttnn.copy_host_to_device_tensor(host, tensor)
        assert torch.equal(ttnn.to_torch(tensor), values)
        other = ttnn.allocate_tensor_on_host(spec)
        assert other.device() is None
        ttnn.copy_device_to_host_tensor(tensor, other)
        assert torch.equal(ttnn.to_torch(other), values)
    with pytest.raises(RuntimeError, match=r"Shape\(\[2\]\), .* cannot be copied to one of Shape"):
        ttnn.copy_host_to_device_tensor(ttnn.zeros([2]), tensor)


@pytest.mark.parametrize("dtype", DTYPES)
def test_where_tensors_are(dtype: str, device: Any) -> None:
    """On the host or on a device, in a memory, with padding."""
    values = torch.arange(32 * 33).reshape(32, 33) % 200
    host = ttnn.Tensor(values.numpy(), getattr(ttnn, dtype), None, ttnn.TILE_LAYOUT)
    x = ttnn.to_device(host, device, ttnn.L1_MEMORY_CONFIG)
    assert not ttnn.is_tensor_storage_on_device(host)
    assert ttnn.is_tensor_storage_on_device(x)
    assert ttnn.has_storage_type_of(host, ttnn.StorageType.HOST)
    assert ttnn.has_storage_type_of(x, ttnn.StorageType.DEVICE)
    assert ttnn.get_memory_config(x) == ttnn.L1_MEMORY_CONFIG
    assert ttnn.get_memory_config(host) is None
    assert not ttnn.is_sharded(x)
    assert ttnn.has_tile_padding(x)
    assert not ttnn.has_tile_padding(x, dim=0)
    assert ttnn.pad_to_tile_shape([1, 2, 32, 33]) == [1, 2, 32, 64]
    back = ttnn.from_device(x)
    assert (back.device(), back.dtype) == (None, x.dtype)
    assert np.array_equal(ttnn.to_numpy(back), ttnn.to_numpy(host))
    wide = ttnn.to_dtype(back, ttnn.float32)
    assert wide.dtype == ttnn.float32
    assert np.array_equal(ttnn.to_numpy(wide), ttnn.to_numpy(host).astype(np.float32))
    ttnn.deallocate(x)
    assert not x.is_allocated()
