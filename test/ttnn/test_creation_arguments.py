"""Tensors that a rule, a buffer or another tensor gives, with every argument that says how."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from ttmlir import ttnn

ROWS, TILES = ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT
L1, DRAM = ttnn.L1_MEMORY_CONFIG, ttnn.DRAM_MEMORY_CONFIG


def facts(tensor: Any) -> tuple[Any, ...]:
    """Data type, layout, device and memory."""
    return tensor.dtype, tensor.layout, tensor.device(), tensor.memory_config()


@pytest.mark.parametrize(
    ("name", "number"), [("full_like", 7), ("zeros_like", 0), ("ones_like", 1)]
)
def test_tensors_like_others(name: str, number: int, device: Any) -> None:
    """Everything is the other tensor's, or what the call says instead."""
    given = (number,) if name == "full_like" else ()
    call: Callable[..., Any] = getattr(ttnn, name)
    tiles = ttnn.full((3, 5), 4, ttnn.float32, TILES, device, L1)
    rows = ttnn.full((3, 5), 4, ttnn.uint16, ROWS, device, L1)
    for other in (tiles, rows):
        like = call(other, *given)
        assert facts(like) == facts(other)
        assert like.to_list() == [[number] * 5] * 3
    assert facts(call(tiles, *given, dtype=ttnn.int32)) == (ttnn.int32, TILES, device, L1)
    assert facts(call(tiles, *given, layout=ROWS)) == (ttnn.float32, ROWS, device, L1)
    assert facts(call(tiles, *given, memory_config=DRAM)) == (ttnn.float32, TILES, device, DRAM)
    host = call(ttnn.full((3, 5), 4, ttnn.float32, TILES), *given)
    assert facts(host) == (ttnn.float32, TILES, None, DRAM)
    assert call(ttnn.full((3, 5), 4), *given, device=device).device() is device


def test_full_tensors(device: Any) -> None:
    """Rows of bfloat16 on the host unless something else is said; into a tensor that is there."""
    assert facts(ttnn.full([2], 1)) == (ttnn.bfloat16, ROWS, None, DRAM)
    assert facts(ttnn.full([2], 1, layout=TILES)) == (ttnn.bfloat16, TILES, None, DRAM)
    assert facts(ttnn.ones([2], ttnn.int32, TILES, device, L1)) == (ttnn.int32, TILES, device, L1)
    assert facts(ttnn.zeros([2], ttnn.int32, TILES, device, L1)) == (ttnn.int32, TILES, device, L1)
    assert ttnn.full([2], 1, ttnn.bfloat8_b).layout == TILES
    there = ttnn.zeros([2, 3], ttnn.int32, device=device)
    assert ttnn.full([2, 3], 2.9, ttnn.float32, optional_tensor=there) is there
    assert (there.dtype, there.to_list()) == (ttnn.int32, [[2, 2, 2]] * 2)
    like = ttnn.full_like(there, 5, optional_tensor=there)
    assert like is there
    assert there.to_list() == [[5, 5, 5]] * 2


def test_empty_tensors(device: Any) -> None:
    """On a device in DRAM unless another memory is asked for; there are none on the host."""
    with pytest.raises(TypeError, match=r"ttnn\.zeros makes tensors on the host, too"):
        ttnn.empty([2, 3])
    assert facts(ttnn.empty([2], device=device)) == (ttnn.bfloat16, ROWS, device, DRAM)
    placed = ttnn.empty([2], ttnn.int32, TILES, device, L1)
    assert facts(placed) == (ttnn.int32, TILES, device, L1)
    like = ttnn.empty_like(placed)
    assert (like.shape, *facts(like)) == ((2,), ttnn.int32, TILES, device, L1)
    host = ttnn.zeros((2, 3))
    like = ttnn.empty_like(host, dtype=ttnn.uint32, layout=TILES, device=device, memory_config=L1)
    assert (like.shape, *facts(like)) == ((2, 3), ttnn.uint32, TILES, device, L1)
    with pytest.raises(TypeError, match=r"tensor is a ttnn\.Tensor, not \[2, 3\]"):
        ttnn.empty_like([2, 3])


@pytest.mark.parametrize(
    ("bounds", "named", "expected"),
    [
        ((4,), {}, [0, 1, 2, 3]),
        ((2, 5), {}, [2, 3, 4]),
        ((2, 11, 3), {}, [2, 5, 8]),
        ((), {"end": 3}, [0, 1, 2]),
        ((), {"start": 1, "end": 7, "step": 2}, [1, 3, 5]),
        ((5, 0, -2), {}, [5, 3, 1]),
        ((3,), {"start": 1}, [1, 2]),
    ],
)
def test_sequences(bounds: tuple[int, ...], named: dict[str, int], expected: list[int]) -> None:
    """By position or by name."""
    found = ttnn.arange(*bounds, **named)
    assert facts(found) == (ttnn.bfloat16, ROWS, None, DRAM)
    assert found.to_list() == expected


def test_sequences_that_are_none(device: Any) -> None:
    """Too many bounds, or none; data type and place are those that are given."""
    with pytest.raises(TypeError, match="arange takes end, or start, end and step"):
        ttnn.arange(1, 2, 3, 4)
    with pytest.raises(TypeError, match="arange is missing argument 'end'"):
        ttnn.arange()
    placed = ttnn.arange(3, dtype=ttnn.int32, layout=TILES, device=device, memory_config=L1)
    assert facts(placed) == (ttnn.int32, TILES, device, L1)


def test_random_numbers(device: Any) -> None:
    """Seeds begin a sequence of their own; without one the sequence of the process goes on."""
    options = {"device": device, "dtype": ttnn.float32, "low": -2.0, "high": 6.0}
    seeded = ttnn.rand((500,), seed=5, **options).to_list()
    assert seeded == ttnn.rand((500,), seed=5, **options).to_list()
    expected = np.random.default_rng(5).random(500, np.float32) * 8 - 2
    np.testing.assert_allclose(seeded, expected, rtol=1e-6)
    ttnn.manual_seed(3)
    first, second = ttnn.rand((500,), **options).to_list(), ttnn.rand((500,), **options).to_list()
    assert first != second
    ttnn.manual_seed(seeds=3)
    assert ttnn.rand((500,), **options).to_list() == first
    assert min(first) < -1.8
    assert max(first) > 5.8
    plain = ttnn.rand((2, 3), device)
    assert facts(plain) == (ttnn.bfloat16, TILES, device, DRAM)
    numbers = ttnn.rand((1000,), device, dtype=ttnn.float32, seed=1).array
    assert 0 <= numbers.min() < 0.1
    assert 0.9 < numbers.max() < 1
    there = ttnn.zeros((200,), ttnn.float32, device=device)
    assert ttnn.uniform(there, 3.0, 5.0, seed=2) is there
    drawn = np.random.default_rng(2).random(200, np.float32) * 2 + 3
    np.testing.assert_allclose(there.array, drawn, rtol=1e-6)
    ttnn.uniform(there, seed=4)
    assert 0 <= there.array.min() < there.array.max() < 1


SPEC = ttnn.TensorSpec((3, 5), ttnn.int32, TILES, L1)


def test_specifications(device: Any) -> None:
    """A specification says everything at once, and nothing beside it may say it again."""
    values = torch.arange(15).reshape(3, 5)
    tensor = ttnn.from_torch(values, spec=SPEC, device=device)
    assert facts(tensor) == (ttnn.int32, TILES, device, L1)
    assert tensor.to_list() == values.tolist()
    for more in (
        *({"dtype": ttnn.int32}, {"layout": TILES}, {"memory_config": L1}),
        {"tile": ttnn.Tile((32, 32))},
    ):
        with pytest.raises(RuntimeError, match="spec excludes dtype, layout, memory_config and"):
            ttnn.from_torch(values, spec=SPEC, device=device, **more)
    message = r"spec is for Shape\(\[3, 5\]\), the tensor has \[5, 3\]"
    with pytest.raises(RuntimeError, match=message):
        ttnn.from_torch(values.T, spec=SPEC)
    with pytest.raises(RuntimeError, match="a sharded memory_config needs its shard_spec to place"):
        ttnn.from_torch(values, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG, device=device)
    assert ttnn.from_torch(None) is None
    allocated = ttnn.allocate_tensor_on_device(SPEC, device)
    assert (allocated.shape, *facts(allocated)) == ((3, 5), ttnn.int32, TILES, device, L1)
    named = ttnn.allocate_tensor_on_device(SPEC, device=device)
    assert named.spec == SPEC
    with pytest.raises(TypeError, match="allocate_tensor_on_device takes a device"):
        ttnn.allocate_tensor_on_device(SPEC)
    host = ttnn.allocate_tensor_on_host(SPEC)
    assert (host.device(), host.to_list()) == (None, [[0] * 5] * 3)
    host = ttnn.allocate_tensor_on_host((2,), ttnn.uint16, ROWS)
    assert (facts(host)[:3], host.to_list()) == ((ttnn.uint16, ROWS, None), [0, 0])
    assert ttnn.allocate_tensor_on_host((2,), ttnn.uint16).layout == TILES


def test_copies_between_host_and_device(device: Any) -> None:
    """Of equal shape and type, both ways."""
    source = ttnn.arange(6, dtype=ttnn.int32)
    placed = ttnn.empty([6], ttnn.int32, device=device)
    ttnn.copy_host_to_device_tensor(source, placed)
    back = ttnn.zeros([6], ttnn.int32)
    ttnn.copy_device_to_host_tensor(placed, back)
    assert placed.to_list() == back.to_list() == [*range(6)]
    message = (
        r"a tensor of Shape\(\[6\]\), DataType.INT32 cannot be copied to one of Shape\(\[5\]\), "
        r"DataType.INT32"
    )
    with pytest.raises(RuntimeError, match=message):
        ttnn.copy_host_to_device_tensor(source, ttnn.empty([5], ttnn.int32, device=device))
    with pytest.raises(RuntimeError, match=r"DataType\.INT32 cannot be copied to"):
        ttnn.copy_device_to_host_tensor(placed, ttnn.zeros([6], ttnn.uint32))


def test_buffers(device: Any) -> None:
    """Numbers one after another."""
    tensor = ttnn.from_buffer([1, 2, 3, 4, 5, 6], (2, 3), ttnn.uint16)
    assert facts(tensor) == (ttnn.uint16, ROWS, None, DRAM)
    assert tensor.to_list() == [[1, 2, 3], [4, 5, 6]]
    placed = ttnn.from_buffer([1.5, 2], (2,), ttnn.float32, device, TILES, L1)
    assert facts(placed) == (ttnn.float32, TILES, device, L1)
    assert placed.to_list() == [1.5, 2.0]


class Exported:
    """An array that only says so by DLPack."""

    def __init__(self, array: Any) -> None:
        """Export an array."""
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        """The array's capsule."""
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        """Where the array is."""
        return self.array.__dlpack_device__()


def test_arguments_of_the_constructor(device: Any) -> None:
    """An array, then type, device, layout and memory in ttnn's orders."""
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    for made in (
        ttnn.Tensor(array, ttnn.bfloat16, device, TILES, L1),
        ttnn.Tensor(array, ttnn.bfloat16, layout=TILES, device=device, memory_config=L1),
        ttnn.Tensor(array, ttnn.bfloat16, device, TILES, mem_config=L1),
        ttnn.Tensor([*range(6)], (2, 3), ttnn.bfloat16, TILES, device, L1),
    ):
        assert facts(made) == (ttnn.bfloat16, TILES, device, L1)
        assert made.to_list() == array.tolist()
    assert facts(ttnn.Tensor(array, None, device)) == (ttnn.float32, ROWS, device, DRAM)
    assert ttnn.Tensor(array, pad_value=2.0).pad_value == 2.0
    assert ttnn.Tensor(array).pad_value == 0.0
    assert ttnn.Tensor(array, tile=ttnn.Tile((16, 32)), layout=TILES).tile.tile_shape == (16, 32)
    assert ttnn.Tensor(Exported(array)).to_list() == array.tolist()
    large = np.array([2**32 - 1, 7], np.int64)
    assert ttnn.from_torch(torch.as_tensor(large)).to_list() == [2**32 - 1, 7]


def test_ranks_of_torch_tensors() -> None:
    """Leading extents of 1 are dropped, others are not; the data type may be another one."""
    tensor = ttnn.ones((1, 1, 2, 3), ttnn.float32)
    assert ttnn.to_torch(tensor, torch_rank=2).shape == (2, 3)
    assert ttnn.to_torch(tensor, torch_rank=3).shape == (1, 2, 3)
    assert ttnn.to_torch(tensor, torch_rank=5).shape == (1, 1, 2, 3)
    assert ttnn.to_torch(tensor, dtype=torch.int16).dtype == torch.int16
    with pytest.raises(RuntimeError, match=r"Shape\(\[1, 1, 2, 3\]\) has no rank 1"):
        ttnn.to_torch(tensor, torch_rank=1)


def test_arrays_are_the_callers_own() -> None:
    """What is done to an array that came out does not change the tensor."""
    tensor = ttnn.arange(3, dtype=ttnn.float32)
    for array in (tensor.to_numpy(), ttnn.to_torch(tensor)):
        array[:] = 9
    assert tensor.to_list() == [0, 1, 2]
