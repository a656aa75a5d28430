"""Losses, operands that are repeated, quantized numbers, bits, and fallback functions."""

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


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    """Random numbers."""
    numbers = np.random.default_rng(seed).uniform(-2, 2, shape).astype(np.float32)
    return torch.as_tensor(numbers)


def place(values: torch.Tensor, device: Any) -> Any:
    """A tensor on the device in tiles."""
    return ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)


@pytest.mark.parametrize("name", ["l1_loss", "mse_loss"])
def test_losses(name: str, device: Any) -> None:
    """As torch's, with each reduction."""
    a, b = draw(3, 33, 7), draw(3, 33, 7, seed=1)
    operands = place(a, device), place(b, device)
    for mode in ttnn.LossReductionMode:
        expected = getattr(functional, name)(a, b, reduction=mode.name.lower())
        result = getattr(ttnn, name)(*operands, reduction=mode)
        assert result.shape == list(expected.shape)
        assert torch.allclose(ttnn.to_torch(result), expected, rtol=1e-5)
    few = getattr(ttnn, name)(operands[0], operands[1][:1])
    expected = getattr(functional, name)(a, b[:1].expand_as(a), reduction="none")
    assert torch.allclose(ttnn.to_torch(few), expected, rtol=1e-5)
    with pytest.raises(RuntimeError, match=r"Shape\(\[3, 33, 7\]\) and Shape\(\[3, 32, 7\]\)"):
        getattr(ttnn, name)(operands[0], operands[1][:, :32])


def test_bcast(device: Any) -> None:
    """A row, a column or a number, as the dimension says."""
    a = draw(2, 3, 33, 40)
    x = place(a, device)
    for dim, shape in (("H", (2, 3, 1, 40)), ("W", (2, 3, 33, 1)), ("HW", (1, 1, 1, 1))):
        b = draw(*shape, seed=1)
        for name, expected in (("ADD", a + b), ("SUB", a - b), ("MUL", a * b)):
            where = getattr(ttnn.BcastOpDim, dim)
            result = ttnn.bcast(x, place(b, device), getattr(ttnn.BcastOpMath, name), where)
            assert torch.equal(ttnn.to_torch(result), expected)
    with pytest.raises(RuntimeError) as error:
        ttnn.bcast(x, place(a, device), ttnn.BcastOpMath.ADD, ttnn.BcastOpDim.W)
    assert (
        "ttnn.bcast: input_tensor_b has Shape([2, 3, 33, 40]); its last extents must be [33, 1] "
        "for BcastOpDim.W"
    ) in str(error.value)


def test_quantized_numbers(device: Any) -> None:
    """Integers of a scale and a zero point, of the tensor or of each channel."""
    values = draw(5, 7)
    x = place(values, device)
    scale, zero = 0.031, 7
    whole = ttnn.quantize(x, scale, zero)
    assert whole.dtype == ttnn.int32
    expected = torch.round(values / scale).int() + zero
    assert torch.equal(ttnn.to_torch(whole), expected)
    held = torch.fake_quantize_per_tensor_affine(values, scale, zero, -1000, 1000)
    back = ttnn.dequantize(whole, scale, zero, dtype=ttnn.float32)
    assert torch.allclose(ttnn.to_torch(back), held)
    assert ttnn.dequantize(whole, scale, zero).dtype == ttnn.bfloat16
    other = ttnn.requantize(whole, scale, zero, 0.25, -3)
    assert torch.equal(ttnn.to_torch(other), torch.round(held / 0.25).int() - 3)
    scales, zeros = draw(5, seed=1).abs() + 0.1, torch.arange(5)
    found = ttnn.quantize(x, place(scales, device), place(zeros.int(), device), axis=0)
    expected = torch.round(values / scales[:, None]).int() + zeros[:, None]
    assert torch.equal(ttnn.to_torch(found), expected.int())
    with pytest.raises(
        RuntimeError, match=r"scale has 5 numbers for .*; give one, or one for each"
    ):
        ttnn.quantize(x, place(scales, device), 0, axis=1)


def test_quantized_numbers_beyond_the_type(device: Any) -> None:
    """Bytes of real numbers saturate, those of integers lose the higher bits; int32 has its limits.

    As ttnn 0.81.1's golden functions; a byte's limits are not those of int32.
    """
    values = torch.tensor([0.0, 1.0, 63.5, 200.0, -1000.0, 3e9, -3e9])
    x = place(values, device)
    expected = torch.tensor([0, 2, 127, 400, -2000, 2**31 - 1, -(2**31)], dtype=torch.int32)
    assert torch.equal(ttnn.to_torch(ttnn.quantize(x, 0.5, 0)), expected)
    halves = place(torch.tensor([0.25, 0.75, 1.25, -0.25]), device)
    assert ttnn.to_torch(ttnn.quantize(halves, 0.5, 1)).tolist() == [2, 2, 4, 0]
    bytes_ = ttnn.to_torch(ttnn.quantize(x, 0.5, 0, dtype=ttnn.uint8))
    assert bytes_.tolist() == [0, 2, 127, 255, 0, 255, 0]
    integers = ttnn.from_torch(
        torch.tensor([0, 100, 127, 200, -1000], dtype=torch.int32),
        layout=ttnn.TILE_LAYOUT,
        device=device,
    )
    again = ttnn.requantize(integers, 1.0, 0, 0.5, 0)
    assert ttnn.to_torch(again).tolist() == [0, 200, 254, 400, -2000]
    low = ttnn.requantize(integers, 1.0, 0, 0.5, 0, dtype=ttnn.uint8)
    assert ttnn.to_torch(low).tolist() == [0, 200, 254, 400 % 256, -2000 % 256]


def test_bitcast(device: Any) -> None:
    """The bits stay; both types have one size."""
    values = draw(3, 33)
    bits = ttnn.bitcast(place(values, device), ttnn.int32)
    assert torch.equal(ttnn.to_torch(bits), values.view(torch.int32))
    assert torch.equal(ttnn.to_torch(ttnn.bitcast(bits, ttnn.float32)), values)
    halves = ttnn.bitcast(place(values.bfloat16(), device), ttnn.uint16)
    expected = values.bfloat16().view(torch.int16).numpy().view(np.uint16)
    assert np.array_equal(ttnn.to_numpy(halves), expected)
    with pytest.raises(RuntimeError) as error:
        ttnn.bitcast(halves, ttnn.float32)
    assert ("bitcast of DataType.UINT16 to DataType.FLOAT32: the numbers differ in size") in str(
        error.value
    )


def test_fallback_functions(device: Any) -> None:
    """The golden function, for tensors of ttnn."""
    values = draw(3, 33)
    x = place(values, device)
    result = ttnn.get_fallback_function(ttnn.exp)(x)
    assert result.device() is device
    assert result.layout == ttnn.TILE_LAYOUT
    assert torch.equal(ttnn.to_torch(result), values.exp())
    largest, _ = ttnn.get_fallback_function(ttnn.topk)(x, k=2, dim=-1)
    assert torch.equal(ttnn.to_torch(largest), values.topk(2).values)
    expanded = ttnn.experimental.broadcast_to(x[:1], (4, 33))
    assert torch.equal(ttnn.to_torch(expanded), values[:1].expand(4, 33))


def test_cores_of_ranges() -> None:
    """Cores stand in columns unless rows are asked for."""
    ranges = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1)), ttnn.CoreRange((3, 0), (3, 1))])
    assert ttnn.corerange_to_cores(ranges) == [(0, 0), (0, 1), (1, 0), (1, 1), (3, 0), (3, 1)]
    assert ttnn.corerange_to_cores(ranges, 3, row_wise=True) == [(0, 0), (1, 0), (0, 1)]
    chosen = ttnn.num_cores_to_corerangeset_in_subcoregrids((1, 0), 3, ranges, row_wise=True)
    assert sorted(ttnn.corerange_to_cores(chosen)) == [(0, 1), (1, 0), (1, 1)]
    for start, count, message in (
        ((2, 0), 1, r"start_core \(x=2,y=0\) is none of"),
        ((1, 1), 4, r"target_num_cores=4, but there are 3 from \(x=1,y=1\) on"),
    ):
        with pytest.raises(RuntimeError, match=message):
            ttnn.num_cores_to_corerangeset_in_subcoregrids(start, count, ranges)


def test_reports(device: Any) -> None:
    """Memory views are the device's; the profiler has nothing to read."""
    before = ttnn.get_memory_view(device, ttnn.BufferType.L1)
    x = ttnn.zeros(
        (64, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, memory_config=ttnn.L1_MEMORY_CONFIG
    )
    after = ttnn.get_memory_view(device, ttnn.BufferType.L1)
    assert after.total_bytes_allocated_per_bank > before.total_bytes_allocated_per_bank
    assert x.is_allocated()
    ttnn.ReadDeviceProfiler(device)
    ttnn.close_device(device)
    with pytest.raises(RuntimeError, match="device 0 is closed"):
        ttnn.ReadDeviceProfiler(device)
