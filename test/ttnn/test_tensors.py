"""Tensors: conversion, properties, indexing, printing, moving, layouts, shards."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

from ttmlir import ttnn

DTYPES = {
    torch.float32: "float32",
    torch.bfloat16: "bfloat16",
    torch.float16: "bfloat16",
    torch.int64: "uint32",
    torch.int32: "int32",
    torch.int16: "uint16",
    torch.uint8: "uint8",
    torch.bool: "uint8",
}


@pytest.mark.parametrize("given", DTYPES)
def test_data_types_of_torch_tensors(given: torch.dtype) -> None:
    """Without a type, it follows from the array's; the layout is rows."""
    tensor = ttnn.from_torch(torch.ones(2, 3).to(given))
    assert tensor.dtype == getattr(ttnn, DTYPES[given])
    assert tensor.layout == ttnn.ROW_MAJOR_LAYOUT
    assert tensor.to_list() == [[1, 1, 1], [1, 1, 1]]


def test_types_without_a_data_type() -> None:
    """float64 needs a type."""
    values = torch.rand(3, 4, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="no data type of ttnn stands for float64; give dtype"):
        ttnn.from_torch(values)
    assert torch.equal(ttnn.to_torch(ttnn.from_torch(values, ttnn.float32)), values.float())


@pytest.mark.parametrize("dtype", ["bfloat16", "bfloat8_b", "bfloat4_b", "float32"])
@pytest.mark.parametrize("shape", [(33, 70), (5,), (), (2, 3, 31, 17), (0, 4)])
def test_rounding_of_torch_tensors(dtype: str, shape: tuple[int, ...], device: Any) -> None:
    """Numbers are rounded once, on the host, and come back from a device as they are."""
    values = torch.as_tensor(np.random.default_rng(0).normal(size=shape).astype(np.float32))
    host = ttnn.from_torch(values, getattr(ttnn, dtype))
    back = ttnn.to_torch(host)
    assert back.dtype == (torch.bfloat16 if dtype == "bfloat16" else torch.float32)
    if dtype in ("bfloat16", "float32"):
        assert torch.equal(back, values.to(back.dtype))
    else:
        steps = {"bfloat8_b": 2**-6, "bfloat4_b": 2**-2}
        assert back.shape == values.shape
        assert bool(((back - values).abs() <= steps[dtype] * 4).all())
        assert host.layout == ttnn.TILE_LAYOUT
    moved = ttnn.to_device(ttnn.to_layout(host, ttnn.TILE_LAYOUT), device)
    assert torch.equal(ttnn.to_torch(moved), back)


@pytest.mark.parametrize("dtype", ["bfloat16", "bfloat8_b", "float32", "int32", "uint8", "uint16"])
@pytest.mark.parametrize("layout", ["TILE_LAYOUT", "ROW_MAJOR_LAYOUT"])
@pytest.mark.parametrize("shape", [(33, 70), (2, 3, 31, 17), (5,)])
def test_bytes_hold_the_numbers(
    dtype: str, layout: str, shape: tuple[int, ...], device: Any
) -> None:
    """What is written to the device's memory and read from it are the same numbers."""
    if dtype == "bfloat8_b" and layout == "ROW_MAJOR_LAYOUT":
        return
    values = torch.arange(int(np.prod(shape))).reshape(shape) % 120
    wanted = getattr(ttnn, dtype)
    tensor = ttnn.from_torch(
        values.float() if "float" in dtype else values,
        wanted,
        layout=getattr(ttnn, layout),
        device=device,
    )
    before = ttnn.to_torch(tensor)
    storage = tensor.device_storage()
    storage.write_bytes()
    storage.forget_array()
    assert torch.equal(ttnn.to_torch(tensor), before)


def test_bytes_of_tiles(device: Any) -> None:
    """A tile is four faces of 16x16, bfloat16 two bytes each; pages go round the banks."""
    values = torch.arange(64 * 64).reshape(64, 64).float() % 256
    tensor = ttnn.from_torch(values, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    storage = tensor.device_storage()
    storage.write_bytes()
    data = np.frombuffer(storage.buffer.read(), ml_dtypes.bfloat16).reshape(4, 4, 16, 16)
    # The second page is the tile at columns 32 to 63; its third face begins at row 16.
    assert np.array_equal(data[1, 2].astype(np.float32), values[16:32, 32:48].numpy())
    channel, address = storage.buffer.pages.locate(1)
    assert channel is device.simulated.network.dram[1]
    assert address == tensor.buffer_address()


@pytest.mark.parametrize("strategy", ["HEIGHT", "WIDTH", "BLOCK"])
@pytest.mark.parametrize("orientation", ["ROW_MAJOR", "COL_MAJOR"])
def test_shards(strategy: str, orientation: str, device: Any) -> None:
    """Each core's L1 holds its shard at the tensor's address."""
    values = torch.arange(192 * 384).reshape(192, 384).float()
    config = ttnn.create_sharded_memory_config(
        (192, 384),
        ttnn.CoreGrid(y=2, x=3),
        getattr(ttnn.ShardStrategy, strategy),
        getattr(ttnn.ShardOrientation, orientation),
    )
    tensor = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)
    assert tensor.is_sharded()
    storage = tensor.device_storage()
    storage.write_bytes()
    # The core in column 1 and row 1, and the first number of its shard.
    by_row = orientation == "ROW_MAJOR"
    first = {
        "HEIGHT": values[32 * (4 if by_row else 3), 0],
        "WIDTH": values[0, 64 * (4 if by_row else 3)],
        "BLOCK": values[96, 128] if by_row else values[64, 192],
    }
    number = bytes(device.simulated.core(1, 1).l1.read(tensor.buffer_address(), 4))
    assert np.frombuffer(number, np.float32)[0] == first[strategy].item()
    storage.forget_array()
    assert torch.equal(ttnn.to_torch(tensor), values)


@pytest.mark.parametrize(
    ("shape", "shard", "layout", "message"),
    [
        ((64, 64), (40, 64), "HEIGHT_SHARDED", "whole tiles of 32x32"),
        ((64, 64), (32, 32), "HEIGHT_SHARDED", "shards of its width"),
        ((64, 64), (32, 32), "WIDTH_SHARDED", "shards of its height"),
        ((96, 64), (32, 64), "HEIGHT_SHARDED", "are 3, but the grid .* has 2 cores"),
        ((64, 128), (32, 32), "BLOCK_SHARDED", "2x4 shards need 4 columns and 2 rows of cores"),
    ],
)
def test_shards_that_do_not_fit(
    shape: tuple[int, int], shard: tuple[int, int], layout: str, message: str, device: Any
) -> None:
    """Shards are whole tiles, cover the tensor, and have a core each."""
    grid = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 1))])
    spec = ttnn.ShardSpec(grid, shard, ttnn.ShardOrientation.ROW_MAJOR)
    config = ttnn.MemoryConfig(getattr(ttnn.TensorMemoryLayout, layout), ttnn.BufferType.L1, spec)
    with pytest.raises(RuntimeError, match=message):
        ttnn.zeros(shape, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)


@pytest.mark.parametrize("layout", ["HEIGHT", "WIDTH", "BLOCK"])
def test_shards_that_an_operation_chooses(layout: str, device: Any) -> None:
    """A sharded memory configuration without shards gets some for the tensor and the device."""
    config = getattr(ttnn, f"L1_{layout}_SHARDED_MEMORY_CONFIG")
    tensor = ttnn.ones((100, 300), layout=ttnn.TILE_LAYOUT, device=device)
    moved = ttnn.to_memory_config(tensor, config)
    expected = {"HEIGHT": (32, 320), "WIDTH": (128, 32), "BLOCK": (32, 64)}
    assert moved.memory_config().shard_spec.shape == expected[layout]
    assert torch.equal(ttnn.to_torch(moved), ttnn.to_torch(tensor))


def test_block_floats_by_rows() -> None:
    """Block floats exist in tiles only."""
    with pytest.raises(RuntimeError, match="Layout must be Layout::TILE for bfloat8_b or"):
        ttnn.from_torch(torch.rand(3, 4), ttnn.bfloat8_b, layout=ttnn.ROW_MAJOR_LAYOUT)


def test_memory_is_bounded(device: Any) -> None:
    """Tensors take the memory of their banks, and give it back."""
    view = device.get_memory_view(ttnn.BufferType.L1)
    free = view.largest_contiguous_bytes_free_per_bank
    # 64 banks; each page is a row of 4096 bytes.
    rows = free // 4096 * 64
    full = ttnn.empty(
        [rows, 1024], ttnn.float32, device=device, memory_config=ttnn.L1_MEMORY_CONFIG
    )
    with pytest.raises(RuntimeError, match="4096 bytes per bank do not fit into L1"):
        ttnn.empty([1, 1024], ttnn.float32, device=device, memory_config=ttnn.L1_MEMORY_CONFIG)
    ttnn.deallocate(full)
    assert device.get_memory_view(ttnn.BufferType.L1) == view


def test_use_after_deallocate(device: Any) -> None:
    """A deallocated tensor cannot be used, and says so when it is printed."""
    tensor = ttnn.ones([2, 3], device=device)
    tensor.deallocate()
    tensor.deallocate()
    assert not tensor.is_allocated()
    assert str(tensor) == (
        "ttnn.Tensor(<buffer is not allocated>, shape=Shape([2, 3]), dtype=DataType::BFLOAT16, "
        "layout=Layout::ROW_MAJOR)"
    )
    with pytest.raises(RuntimeError, match="the buffer is not allocated"):
        ttnn.exp(tensor)


def test_tensors_that_nobody_has_give_memory_back(device: Any) -> None:
    """The memory of a tensor is free when the last reference to it is gone."""
    before = device.get_memory_view(ttnn.BufferType.DRAM)
    tensor = ttnn.ones([64, 64], device=device)
    assert device.get_memory_view(ttnn.BufferType.DRAM) != before
    del tensor
    assert device.get_memory_view(ttnn.BufferType.DRAM) == before


def test_properties(device: Any) -> None:
    """What ttnn says of a tensor of 33x70 in tiles."""
    tensor = ttnn.from_torch(
        torch.rand(2, 33, 70), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device
    )
    assert tensor.shape == ttnn.Shape([2, 33, 70]) == [2, 33, 70]
    assert tensor.padded_shape == (2, 64, 96)
    assert tensor.volume() == 2 * 64 * 96
    assert tensor.logical_volume() == 2 * 33 * 70
    assert tensor.storage_type() == ttnn.StorageType.DEVICE
    assert tensor.device() is device
    assert tensor.cpu().device() is None
    assert tensor.tile.tile_shape == (32, 32)
    assert ttnn.has_tile_padding(tensor)
    assert not ttnn.has_tile_padding(tensor, dim=0)
    assert ttnn.from_torch(torch.rand(5), layout=ttnn.TILE_LAYOUT).padded_shape == (32, 32)
    with pytest.raises(RuntimeError, match=r"Tensor\.to_torch: it takes a tensor on the host"):
        tensor.to_torch()
    assert torch.equal(tensor.cpu().to_torch(), ttnn.to_torch(tensor))
    assert tensor.cpu().to_numpy().dtype == ml_dtypes.bfloat16


def test_constructor() -> None:
    """Tensors of arrays, of lists with a shape, of tensors."""
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert ttnn.Tensor(array).to_list() == array.tolist()
    assert ttnn.Tensor(torch.ones(2), ttnn.bfloat16).dtype == ttnn.bfloat16
    listed = ttnn.Tensor([1, 2, 3, 4], [2, 2], ttnn.uint16, ttnn.ROW_MAJOR_LAYOUT)
    assert (listed.dtype, listed.to_list()) == (ttnn.uint16, [[1, 2], [3, 4]])
    assert ttnn.Tensor(listed).to_list() == listed.to_list()
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        ttnn.Tensor(array, colour=1)


def test_host_arrays_are_copied() -> None:
    """What the program does to its array later does not change the tensor."""
    values = torch.zeros(2, 3)
    tensor = ttnn.from_torch(values)
    values += 1
    assert tensor.to_list() == [[0.0] * 3] * 2


def test_indexing(device: Any) -> None:
    """Integers, slices with steps and one ellipsis, as in torch."""
    values = torch.arange(2 * 5 * 7).reshape(2, 5, 7).float()
    tensor = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)
    for index in (
        *(0, -1, (1, 2), (0, slice(1, 4)), (..., 3), (slice(None), slice(0, 5, 2))),
        *((1, ..., slice(2, 5)), (1, 4, 6), slice(-1, None)),
    ):
        assert torch.equal(ttnn.to_torch(tensor[index]), values[index])
    for wrong, kind in ((2, IndexError), ((0, 0, 0, 0), IndexError), (None, TypeError)):
        with pytest.raises(kind):
            tensor[wrong]
    with pytest.raises(RuntimeError, match="slices of tensors on the host have step 1"):
        tensor.cpu()[0:2:2]


PRINTED = """\
ttnn.Tensor([[[[ 0.0000,  0.5000,  ...,  2.5000,  3.0000],
               [ 3.5000,  4.0000,  ...,  6.0000,  6.5000],
               ...,
               [14.0000, 14.5000,  ..., 16.5000, 17.0000],
               [17.5000, 18.0000,  ..., 20.0000, 20.5000]],

              [[21.0000, 21.5000,  ..., 23.5000, 24.0000],
               [24.5000, 25.0000,  ..., 27.0000, 27.5000],
               ...,
               [35.0000, 35.5000,  ..., 37.5000, 38.0000],
               [38.5000, 39.0000,  ..., 41.0000, 41.5000]]]], shape=Shape([1, 2, 6, 7]), \
dtype=DataType::FLOAT32, layout=Layout::ROW_MAJOR)"""


def test_printing(device: Any) -> None:
    """Numbers and what they are, as of ttnn 0.81.1, also on a device."""
    tensor = ttnn.from_torch(torch.arange(84).reshape(1, 2, 6, 7) / 2)
    assert str(tensor) == PRINTED
    on_device = ttnn.to_device(tensor, device)
    assert str(on_device) == PRINTED
    tail = "dtype=DataType::FLOAT32, layout=Layout::ROW_MAJOR)"
    wide = ttnn.from_torch(torch.tensor([1e-3, 2.0, 3000.0]))
    line = "[ 1.0000e-03,  2.0000e+00,  3.0000e+03], shape=Shape([3])"
    assert str(wide) == f"ttnn.Tensor({line}, {tail}"
    numbers = ttnn.from_torch(torch.tensor([[1, -20]], dtype=torch.int32))
    assert str(numbers) == (
        "ttnn.Tensor([[    1,   -20]], shape=Shape([1, 2]), dtype=DataType::INT32, "
        "layout=Layout::ROW_MAJOR)"
    )


def test_print_options() -> None:
    """`empty`, `short` and `full`, in any case; others are refused."""
    tensor = ttnn.from_torch(torch.arange(6).float())
    tail = "shape=Shape([6]), dtype=DataType::FLOAT32, layout=Layout::ROW_MAJOR)"
    try:
        ttnn.set_printoptions(profile="EMPTY")
        assert str(tensor) == f"ttnn.Tensor(..., {tail}"
        ttnn.set_printoptions(profile="full", precision=1, sci_mode=False)
        assert str(tensor) == f"ttnn.Tensor([ 0.0,  1.0,  2.0,  3.0,  4.0,  5.0], {tail}"
        with pytest.raises(RuntimeError, match="profile is one of empty, short, full, not 'long'"):
            ttnn.set_printoptions(profile="long")
    finally:
        ttnn.set_printoptions(profile="short")


def test_moves_keep_numbers(device: Any) -> None:
    """Layouts, memories and copies hold the same numbers; types round them."""
    values = torch.randn(33, 70)
    tensor = ttnn.from_torch(values, device=device)
    tiles = ttnn.to_layout(tensor, ttnn.TILE_LAYOUT)
    moved = ttnn.to_memory_config(tiles, ttnn.L1_MEMORY_CONFIG)
    assert moved.memory_config() == ttnn.L1_MEMORY_CONFIG
    assert torch.equal(ttnn.to_torch(ttnn.clone(moved)), values)
    cast = ttnn.typecast(moved, ttnn.bfloat16)
    assert torch.equal(ttnn.to_torch(cast), values.bfloat16())
    back = ttnn.typecast(cast, ttnn.bfloat16, ttnn.int32)
    assert torch.equal(ttnn.to_torch(back), values.bfloat16().to(torch.int32))
    again = ttnn.reallocate(moved)
    assert torch.equal(ttnn.to_torch(again), values)
    assert not moved.is_allocated()
    host = ttnn.from_device(again)
    other = ttnn.allocate_tensor_on_device(
        ttnn.Shape([33, 70]), ttnn.float32, ttnn.TILE_LAYOUT, device
    )
    ttnn.copy_host_to_device_tensor(host, other)
    assert torch.equal(ttnn.to_torch(other), values)
    padded = ttnn.tilize_with_zero_padding(tensor)
    assert (padded.shape, padded.padded_shape) == ((33, 70), (64, 96))
    assert torch.equal(ttnn.to_torch(padded), values)
    part = ttnn.untilize_with_unpadding(tiles, [31, 69])
    assert (part.layout, part.shape) == (ttnn.ROW_MAJOR_LAYOUT, (32, 70))


def test_shapes() -> None:
    """Shapes are tuples that print as ttnn's."""
    shape = ttnn.Shape([1, 4, 32])
    *_, height, width = shape
    assert (height, width, shape[-1], shape.rank) == (4, 32, 32, 3)
    assert repr(shape) == "Shape([1, 4, 32])"
    assert shape.to_rank(2) == (4, 32)
    assert shape.to_rank(5) == (1, 1, 1, 4, 32)
    assert shape == torch.Size([1, 4, 32])
    with pytest.raises(RuntimeError, match="only leading ones can be dropped"):
        shape.to_rank(1)


def test_core_ranges() -> None:
    """Sets of cores: boxes, parts, unions."""
    grid = ttnn.CoreRangeSet({ttnn.CoreRange((0, 0), (3, 1)), ttnn.CoreRange((5, 0), (5, 0))})
    assert grid.num_cores() == 9
    assert grid.bounding_box() == ttnn.CoreRange((0, 0), (5, 1))
    assert grid.contains(ttnn.CoreCoord((5, 0)))
    assert not grid.contains(ttnn.CoreRange((4, 0), (5, 0)))
    rest = grid.subtract(ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1))]))
    assert set(rest) == {(2, 0), (3, 0), (2, 1), (3, 1), (5, 0)}
    assert rest.ranges()[0] == ttnn.CoreRange((2, 0), (3, 1))
    assert rest.merge([ttnn.CoreRange((4, 0), (4, 1))]).num_cores() == 7
    assert repr(ttnn.CoreCoord(1, 2)) == "(x=1,y=2)"
    assert ttnn.CoreRangeSet([]).empty()


def test_sharded_configurations() -> None:
    """Shards of equal size, and those that are rounded up; cores that do not divide are refused."""
    grid = ttnn.CoreGrid(y=2, x=4)
    block = ttnn.create_sharded_memory_config((1, 1, 64, 128), grid, ttnn.ShardStrategy.BLOCK)
    assert block.shard_spec.shape == (32, 32)
    column = ttnn.create_sharded_memory_config(
        (64, 128), grid, ttnn.ShardStrategy.BLOCK, ttnn.ShardOrientation.COL_MAJOR
    )
    assert column.shard_spec.shape == (16, 64)
    own = ttnn.create_sharded_memory_config(
        (32, 64), grid, ttnn.ShardStrategy.HEIGHT, use_height_and_width_as_shard_shape=True
    )
    assert own.shard_spec.shape == (32, 64)
    with pytest.raises(RuntimeError, match="Invalid sharding core_grid"):
        ttnn.create_sharded_memory_config((33, 128), grid, ttnn.ShardStrategy.HEIGHT)
    rounded = ttnn.create_sharded_memory_config_(
        (100, 128), grid, ttnn.ShardStrategy.HEIGHT, tile_layout=True
    )
    assert rounded.shard_spec.shape == (32, 128)
    assert ttnn.MemoryConfig.from_json(block.to_json()) == block


def test_enumerations() -> None:
    """Numbers, names and texts of ttnn's enumerations."""
    assert [int(each) for each in ttnn.DataType] == list(range(9))
    assert ttnn.bfloat8_b is ttnn.DataType.BFLOAT8_B
    assert str(ttnn.bfloat16) == "DataType.BFLOAT16"
    assert f"{ttnn.ROW_MAJOR_LAYOUT}" == "Layout.ROW_MAJOR"
    assert str(ttnn.BufferType.L1) == "BufferType.L1"
    assert ttnn.MathFidelity.HiFi4.value == 4
    assert ttnn.Tile((32, 32)).get_tile_size(ttnn.bfloat8_b) == 1088
