"""Moves between memories, layouts and shards, and what tensors say of themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from ttmlir import ttnn

ROWS, TILES = ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT
L1, DRAM = ttnn.L1_MEMORY_CONFIG, ttnn.DRAM_MEMORY_CONFIG
VALUES = torch.arange(64 * 96).reshape(64, 96).float() % 251


def placed(device: Any, **options: Any) -> Any:
    """64x96 numbers in tiles."""
    return ttnn.from_torch(VALUES, **{"layout": TILES, "device": device, **options})


def same(tensor: Any, values: Any = VALUES) -> bool:
    """Whether a tensor holds numbers of torch."""
    return torch.equal(ttnn.to_torch(tensor).float(), values)


def test_what_is_there_already(device: Any) -> None:
    """Nothing is moved to where it is."""
    x = placed(device)
    assert ttnn.to_device(x, device) is x
    assert ttnn.to_device(x, device, DRAM) is x
    assert ttnn.to_layout(x, TILES) is x
    assert ttnn.to_memory_config(x, DRAM) is x
    host = ttnn.from_device(x)
    assert ttnn.from_device(host) is host
    # What is on the device stays where it is, and what is in tiles stays as it is.
    assert ttnn.to_device(x, device, L1) is x
    assert ttnn.to_layout(x, TILES, ttnn.bfloat16) is x
    assert ttnn.to_layout(x, TILES, memory_config=L1).memory_config() == L1
    assert ttnn.to_memory_config(x, DRAM, ttnn.bfloat16) is x
    assert ttnn.to_memory_config(x, L1, ttnn.bfloat16).dtype == ttnn.bfloat16
    there = ttnn.empty((64, 96), ttnn.float32, TILES, device)
    assert ttnn.to_memory_config(x, DRAM, output_tensor=there) is there
    assert same(there)
    with pytest.raises(TypeError, match=r"layout is a ttnn\.Layout, such as .*, not 'tile'"):
        ttnn.to_layout(x, "tile")


def test_data_types(device: Any) -> None:
    """On the host, on a device, and as bits."""
    host = ttnn.from_torch(VALUES + 0.75)
    whole = ttnn.to_dtype(host, ttnn.int32)
    assert (whole.dtype, whole.layout, whole.device()) == (ttnn.int32, ROWS, None)
    assert same(whole)
    block = ttnn.to_dtype(host, ttnn.bfloat8_b)
    assert (block.dtype, block.layout) == (ttnn.bfloat8_b, TILES)
    x = placed(device)
    message = r"input_dtype is DataType\.INT32, but the tensor has DataType\.FLOAT32"
    with pytest.raises(RuntimeError, match=message):
        ttnn.typecast(x, ttnn.int32, ttnn.bfloat16)
    bits = ttnn.bitcast(x, ttnn.int32)
    assert ttnn.to_torch(bits).equal(VALUES.view(torch.int32))
    half = ttnn.bitcast(ttnn.typecast(x, ttnn.bfloat16), ttnn.uint16)
    assert np.array_equal(half.array, VALUES.bfloat16().view(torch.uint16).numpy())
    message = r"bitcast of DataType\.FLOAT32 to DataType\.UINT16: the numbers differ in size"
    with pytest.raises(RuntimeError, match=message):
        ttnn.bitcast(x, ttnn.uint16)
    with pytest.raises(RuntimeError, match="the numbers differ in size"):
        ttnn.bitcast(placed(device, dtype=ttnn.bfloat8_b), ttnn.uint8)


def test_copies(device: Any) -> None:
    """Into a tensor that is there, or into a new one."""
    x = placed(device)
    there = ttnn.zeros((64, 96), ttnn.float32, TILES, device)
    assert ttnn.copy(x, there) is there
    assert same(there)
    for call in (
        lambda target: ttnn.assign(x, target),
        lambda target: ttnn.assign(x, output_tensor=target),
    ):
        target = ttnn.zeros((64, 96), ttnn.float32, TILES, device)
        assert call(target) is target
        assert same(target)
    for made, memory in (
        (ttnn.assign(x), DRAM),
        (ttnn.assign(x, L1), L1),
        (ttnn.assign(x, memory_config=L1), L1),
        (ttnn.clone(x, memory_config=L1), L1),
    ):
        assert made is not x
        assert made.memory_config() == memory
        assert same(made)
    assert ttnn.clone(x, dtype=ttnn.bfloat16).dtype == ttnn.bfloat16
    moved = ttnn.move(x, memory_config=L1)
    assert (moved.memory_config(), x.is_allocated()) == (L1, False)
    assert same(moved)


CORES = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 1))])
HEIGHT = ttnn.MemoryConfig(
    ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, ttnn.ShardSpec(CORES, (32, 96))
)


def test_shards_and_back(device: Any) -> None:
    """A configuration of shards, or its parts; then interleaved again."""
    x = placed(device)
    scheme, orientation = ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.ShardOrientation.ROW_MAJOR
    for sharded in (
        ttnn.interleaved_to_sharded(x, HEIGHT),
        ttnn.interleaved_to_sharded(x, CORES, (32, 96), scheme, orientation),
        ttnn.interleaved_to_sharded(x, CORES, (32, 96), scheme),
        ttnn.interleaved_to_sharded(x, ttnn.CoreCoord(1, 2), [32, 96], scheme, orientation),
    ):
        assert sharded.memory_config() == HEIGHT
        assert ttnn.is_sharded(sharded)
        assert same(sharded)
        back = ttnn.sharded_to_interleaved(sharded)
        assert back.memory_config() == DRAM
        assert same(back)
    assert ttnn.interleaved_to_sharded(x, HEIGHT, ttnn.bfloat16).dtype == ttnn.bfloat16
    typed = ttnn.interleaved_to_sharded(x, CORES, (32, 96), scheme, output_dtype=ttnn.bfloat16)
    assert typed.dtype == ttnn.bfloat16
    assert ttnn.sharded_to_interleaved(typed, L1, ttnn.float32).dtype == ttnn.float32
    assert ttnn.sharded_to_interleaved(typed, L1).memory_config() == L1
    block = ttnn.reshard(typed, ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG)
    assert block.memory_config().memory_layout == ttnn.TensorMemoryLayout.BLOCK_SHARDED
    for call, kind, message in (
        (lambda: ttnn.interleaved_to_sharded(x, 3), TypeError, "grid is a CoreCoord or a CoreRan"),
        (lambda: ttnn.interleaved_to_sharded(x, CORES), TypeError, "takes grid, shard_shape, sha"),
        (
            lambda: ttnn.interleaved_to_sharded(x, CORES, (32, 96)),
            TypeError,
            "interleaved_to_sharded takes grid, shard_shape, shard_scheme, orientation",
        ),
        (
            lambda: ttnn.sharded_to_interleaved(block, HEIGHT),
            RuntimeError,
            "sharded_to_interleaved takes an interleaved memory_config",
        ),
    ):
        with pytest.raises(kind, match=message):
            call()


def test_tiles_and_rows(device: Any) -> None:
    """Whole tiles, tiles that are filled up, and parts of them in rows."""
    rows = placed(device, layout=ROWS)
    tiles = ttnn.tilize(rows, memory_config=L1, dtype=ttnn.bfloat16)
    assert (tiles.layout, tiles.dtype, tiles.memory_config()) == (TILES, ttnn.bfloat16, L1)
    assert same(tiles)
    for shape in ((64, 95), (63, 96), (96,)):
        odd = ttnn.zeros(shape, device=device)
        with pytest.raises(
            RuntimeError, match=r"tilize takes whole tiles, got .*; use ttnn.tilize_"
        ):
            ttnn.tilize(odd)
    back = ttnn.untilize(tiles, memory_config=DRAM)
    assert (back.layout, back.dtype, back.memory_config()) == (ROWS, ttnn.bfloat16, DRAM)
    plain = ttnn.untilize(placed(device, dtype=ttnn.bfloat8_b))
    assert (plain.layout, plain.dtype) == (ROWS, ttnn.bfloat16)
    small = ttnn.from_torch(VALUES[:3, :5].contiguous(), device=device)
    filled = ttnn.tilize_with_val_padding(
        small, (32, 64), 7.0, memory_config=L1, output_dtype=ttnn.bfloat16
    )
    expected = torch.full((32, 64), 7.0)
    expected[:3, :5] = VALUES[:3, :5]
    assert (filled.layout, filled.dtype, filled.memory_config()) == (TILES, ttnn.bfloat16, L1)
    # Upstream's padding is no part of the logical shape (ttnn 0.81.1).
    assert (filled.shape, filled.padded_shape) == ((3, 5), (32, 64))
    assert same(filled, VALUES[:3, :5])
    assert filled.cpu().to_torch_with_padded_shape().float().equal(expected)
    zeros = ttnn.tilize_with_zero_padding(small)
    assert (zeros.shape, zeros.padded_shape) == ((3, 5), (32, 32))
    padded = zeros.cpu().to_torch_with_padded_shape()
    assert padded.equal(torch.where(expected == 7, 0, expected)[:, :32])
    ones = ttnn.fill_implicit_tile_padding(ttnn.to_layout(small, TILES), 1)
    padded = ones.cpu().to_torch_with_padded_shape()
    assert padded.equal(torch.where(expected == 7, 1, expected)[:, :32])
    for wrong in ((3, 5), (32, 40), (32, 0), (2, 32, 32)):
        with pytest.raises(RuntimeError, match=r"padded shape|divisible by the tile of 32x32"):
            ttnn.tilize_with_val_padding(small, wrong, 7.0)
    part = ttnn.untilize_with_unpadding(filled, (3, 10), memory_config=DRAM)
    assert (part.layout, part.dtype, part.memory_config()) == (ROWS, ttnn.bfloat16, DRAM)
    assert same(part, expected[:4, :11])


def test_facts(device: Any) -> None:
    """Where a tensor is, how it is kept, whether it has padding."""
    x, host = placed(device, memory_config=L1), ttnn.from_torch(VALUES[:33])
    assert ttnn.is_tensor_storage_on_device(x)
    assert not ttnn.is_tensor_storage_on_device(host)
    for tensor, kind, other in (
        (x, ttnn.StorageType.DEVICE, ttnn.StorageType.HOST),
        (host, ttnn.StorageType.HOST, ttnn.StorageType.DEVICE),
    ):
        assert ttnn.has_storage_type_of(tensor, kind)
        assert not ttnn.has_storage_type_of(tensor, other)
        assert tensor.storage_type() == kind
    assert (ttnn.get_memory_config(x), ttnn.get_memory_config(host)) == (L1, None)
    assert not ttnn.is_sharded(x)
    assert (x.devices(), host.devices()) == ([device], [])
    odd = ttnn.to_layout(host, TILES)
    assert [ttnn.has_tile_padding(odd, dim=dim) for dim in (0, 1, -2)] == [True, False, True]
    assert not ttnn.has_tile_padding(x)
    assert ttnn.pad_to_tile_shape((2, 3, 33, 64)) == [2, 3, 64, 64]
    assert ttnn.pad_to_tile_shape((1, 32)) == [32, 32]
    assert ttnn.unsqueeze_to_4D(ttnn.ones((1, 2, 3, 4))).shape == (1, 2, 3, 4)
    with pytest.raises(RuntimeError, match="Tensor cannot have more than 4 dimensions!"):
        ttnn.unsqueeze_to_4D(ttnn.ones((1, 1, 1, 1, 2)))
    padded = ttnn.fill_implicit_tile_padding(ttnn.to_device(odd, device), 3.0)
    assert (padded.pad_value, padded.memory_config()) == (3.0, DRAM)
    assert [each.element_size() for each in (x, ttnn.ones((2,)), ttnn.ones((2,), ttnn.uint8))] == [
        *(4, 2, 1)
    ]
    assert (x.get_dtype(), x.get_layout(), x.get_tile()) == (x.dtype, x.layout, x.tile)
    assert (len(host), host.physical_volume(), host.logical_volume()) == (33, 33 * 96, 33 * 96)
    assert [row.to_list() for row in ttnn.ones((2, 1))] == [[1.0], [1.0]]
    assert ttnn.full((1, 1), 5, ttnn.int32).item() == 5
    with pytest.raises(RuntimeError, match=r"item: it takes a tensor of one element, not of Shape"):
        host.item()
    with pytest.raises(RuntimeError, match=r"on the host; move it with ttnn\.to_device first"):
        host.buffer_address()
    for name in ("to_torch", "to_numpy"):
        with pytest.raises(
            RuntimeError, match=rf"Tensor\.{name}: it takes a tensor on the host; use"
        ):
            getattr(x, name)()


def test_methods(device: Any) -> None:
    """Moves and padding by methods of a tensor on the host."""
    host = ttnn.from_torch(VALUES[:3, :5].contiguous())
    assert host.to(TILES).layout == TILES
    assert host.to(device, mem_config=L1).memory_config() == L1
    assert host.to(device, L1).memory_config() == L1
    assert host.to(device).cpu().device() is None
    padded = host.pad((4, 7), (1, 2), 9)
    expected = torch.full((4, 7), 9.0)
    expected[1:, 2:] = VALUES[:3, :5]
    assert same(padded, expected)
    assert same(padded.unpad((1, 2), (4, 7)), VALUES[:3, :5])
    assert same(padded.unpad((0, 2), (2, 3)), expected[0:2, 2:3])
    tile = host.pad_to_tile(4.0)
    assert (tile.shape, tile.to_list()[31][31], tile.to_list()[2][4]) == ((32, 32), 4.0, 196.0)
    assert host.pad_to_tile().to_list()[3][0] == 0
    assert same(tile.unpad_from_tile((3, 5)), VALUES[:3, :5])
    assert host.to_torch_with_padded_shape().shape == (3, 5)
    whole = host.to(TILES).to_torch_with_padded_shape()
    assert whole.shape == (32, 32)
    assert (whole[:3, :5].equal(VALUES[:3, :5]), whole[3:].sum().item()) == (True, 0)
    x = host.to(device)
    for shape in ((5, 3), (15,), (1, -1)):
        assert same(x.reshape(*shape), VALUES[:3, :5].reshape(shape))
        assert same(x.reshape(shape), VALUES[:3, :5].reshape(shape))
        assert same(x.reshape(list(shape)), VALUES[:3, :5].reshape(shape))
    assert same(x.reshape(15), VALUES[:3, :5].reshape(15))


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
}


@pytest.mark.parametrize("symbol", OPERATORS)
def test_operators(symbol: str, device: Any) -> None:
    """Tensor and tensor, tensor and number, number and tensor."""
    apply = OPERATORS[symbol]
    a, b = torch.tensor([[1.0, 2, 3], [4, 5, 6]]), torch.tensor([[1.0, 3, 2], [4, 7, 2]])
    x, y = (ttnn.from_torch(each, layout=TILES, device=device) for each in (a, b))
    assert same(apply(x, y), apply(a, b).float())
    assert same(apply(x, 4.0), apply(a, 4.0).float())
    if symbol != "-":
        torch.testing.assert_close(ttnn.to_torch(apply(4.0, x)).float(), apply(4.0, a).float())


@pytest.mark.parametrize(
    ("index", "kind", "message"),
    [
        ((..., ...), IndexError, "a tensor's index has one ellipsis at most"),
        ((0, 0, 0), IndexError, r"3 indices for a tensor of Shape\(\[3, 5\]\)"),
        ((0, 0, 0, ...), IndexError, r"4 indices for a tensor|3 indices for a tensor"),
        (3, IndexError, "index 3 is out of range for an extent of 3"),
        (-4, IndexError, "index -4 is out of range for an extent of 3"),
        (None, TypeError, "a tensor's index has integers, slices and an ellipsis"),
        (True, TypeError, "a tensor's index has integers, slices and an ellipsis"),
        ("a", TypeError, "a tensor's index has integers, slices and an ellipsis"),
        (slice(None, None, -1), RuntimeError, "the step of a slice is positive, got -1"),
    ],
)
def test_indices_that_are_none(index: Any, kind: type[Exception], message: str) -> None:
    """Outside of the tensor, or of another type."""
    with pytest.raises(kind, match=message):
        ttnn.zeros((3, 5))[index]


def test_parts_of_shards(device: Any) -> None:
    """They are interleaved, in the memory of the whole; edges can be asked for."""
    sharded = ttnn.to_memory_config(placed(device), HEIGHT)
    part = sharded[1:3, ::2]
    assert part.memory_config() == L1
    assert same(part, VALUES[1:3, ::2])
    host = ttnn.from_torch(VALUES)
    assert same(host[-64], VALUES[0])
    assert same(host[63:64, ..., -1], VALUES[63:64, -1])
    assert same(host[...], VALUES)


def test_integers_of_numpy_are_integers(device: Any) -> None:
    """Dimensions, sizes of parts and extents of windows may come from arrays."""
    values = torch.arange(2 * 3, dtype=torch.float32).reshape(2, 3)
    x = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)
    one, two = np.arange(1, 3)
    assert torch.equal(ttnn.to_torch(ttnn.sum(x, dim=one)), values.sum(1))
    assert torch.equal(ttnn.to_torch(ttnn.prod(x, one)), values.prod(1))
    assert torch.equal(ttnn.to_torch(ttnn.squeeze(x[:1], one - 1)), values[0])
    for part, expected in zip(ttnn.split(x, two, one), (values[:, :2], values[:, 2:]), strict=True):
        assert torch.equal(ttnn.to_torch(part), expected)
    image = ttnn.from_torch(values.reshape(1, 2, 3, 1), dtype=ttnn.bfloat16, device=device)
    wide = ttnn.to_torch(ttnn.upsample(image, two)).float()
    assert torch.equal(wide[0, ..., 0], values.repeat_interleave(2, 0).repeat_interleave(2, 1))


def test_views_of_a_single_number(device: Any) -> None:
    """A tensor without dimensions fills a tile as one with extents of 1 does."""
    x = ttnn.from_torch(torch.tensor(2.5), layout=ttnn.TILE_LAYOUT, device=device)
    for shape in ((), (1,), (1, 1)):
        assert torch.equal(ttnn.to_torch(ttnn.view(x, shape)), torch.full(shape, 2.5))
    with pytest.raises(RuntimeError, match="the last dimension cannot change in a view, from 3"):
        ttnn.view(ttnn.ones((0, 3), layout=ttnn.TILE_LAYOUT, device=device), [0, 2])
