"""What operations on elements have in common: broadcasting, numbers, activations, results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from ttmlir import ttnn


def draw(shape: Sequence[int], low: float, high: float, seed: int = 0) -> torch.Tensor:
    """Random numbers."""
    numbers = np.random.default_rng(seed).uniform(low, high, tuple(shape))
    return torch.as_tensor(numbers.astype(np.float32))


def place(values: torch.Tensor, device: Any, dtype: str = "float32") -> Any:
    """A tensor on the device in tiles."""
    kept = ttnn.TILE_LAYOUT
    return ttnn.from_torch(values, getattr(ttnn, dtype), layout=kept, device=device)


@pytest.mark.parametrize(
    ("shapes", "number"),
    [(((33, 70), (1, 70)), None), (((2, 1, 5, 7), (3, 5, 1)), None), (((33, 70), ()), 1.5)],
)
def test_broadcasting(
    shapes: tuple[tuple[int, ...], ...], number: float | None, device: Any
) -> None:
    """Extents of 1 repeat, on both sides, and numbers stand for tensors."""
    left = draw(shapes[0], -3, 3)
    right = draw(shapes[1], -3, 3, seed=1) if number is None else number
    a = place(left, device)
    b = right
    if isinstance(right, torch.Tensor):
        b = place(right, device)
    for name, function in (("add", torch.add), ("mul", torch.mul), ("sub", torch.sub)):
        result = ttnn.to_torch(getattr(ttnn, name)(a, b))
        assert torch.equal(result, function(left, right))


def test_numbers_in_place_of_tensors(device: Any) -> None:
    """Exponents and bases may be numbers; a function may have a parameter of whole numbers."""
    a = draw((33, 70), -3, 3)
    x = place(a, device)
    for result, expected in (
        (ttnn.pow(x, 3), a**3),
        (ttnn.pow(2.0, x), 2.0**a),
        (ttnn.round(x, decimals=1), a.round(decimals=1)),
        (ttnn.div_(place(a, device), 2.0, rounding_mode="floor"), (a / 2).floor()),
    ):
        assert torch.allclose(ttnn.to_torch(result), expected)


def test_functions_of_nan(device: Any) -> None:
    """As torch's, which are ttnn's golden functions: hardshrink keeps NaN, sign makes it 0."""
    values = torch.tensor([torch.nan, -torch.nan, torch.inf, -torch.inf, 0.5, -0.5, 2.0, 0.0])
    x = place(values, device)
    for name, function in (("hardshrink", torch.nn.functional.hardshrink), ("sign", torch.sign)):
        result = ttnn.to_torch(getattr(ttnn, name)(x))
        assert torch.equal(result.nan_to_num(9), function(values).nan_to_num(9)), name


def test_floor_div_of_large_integers(device: Any) -> None:
    """The floor of the exact quotient, in float32: as ttnn 0.81.1 on Tenstorrent's simulator."""
    a = torch.tensor([2**24 + 1, 2**25 + 1, -(2**24) - 1, 2**31 - 1, -(2**31), 7, -7])
    x = place(a.int(), device, "int32")
    result = ttnn.floor_div(x, 3)
    assert result.dtype == ttnn.float32
    expected = [5592405.0, 11184811.0, -5592406.0, 715827904.0, -715827904.0, 2.0, -3.0]
    assert ttnn.to_torch(result).tolist() == expected
    threes = place(torch.full_like(a, 3).int(), device, "int32")
    assert ttnn.to_torch(ttnn.floor_div(x, threes)).tolist() == expected


@pytest.mark.parametrize("number", [3, -7, 2**24 + 1])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "rsub"])
def test_integers_and_integer_numbers_wrap(name: str, number: int, device: Any) -> None:
    """All 32 bits are computed, without rounding or limits, as torch does."""
    values = torch.tensor([[2**31 - 1, -(2**31), 2**24 + 1, -(2**24) - 3, 7]], dtype=torch.int32)
    result = ttnn.to_torch(getattr(ttnn, name)(place(values, device, "int32"), number))
    expected = getattr(torch, name)(values, number)
    assert torch.equal(result, expected)


def test_quotients_of_integers_are_fractions(device: Any) -> None:
    """int32 / int32 is float32; with a rounding mode, too."""
    a = ttnn.from_torch(
        torch.tensor([[7, -7]], dtype=torch.int32), layout=ttnn.TILE_LAYOUT, device=device
    )
    quotient = ttnn.div(a, 2)
    assert quotient.dtype == ttnn.float32
    assert quotient.to_list() == [[3.5, -3.5]]
    assert ttnn.div(a, 2, rounding_mode="trunc").to_list() == [[3.0, -3.0]]
    assert ttnn.div(a, 2, rounding_mode="floor").to_list() == [[3.0, -4.0]]


def test_signs_of_remainders(device: Any) -> None:
    """`remainder` has the sign of the divisor, `fmod` that of the dividend."""
    a = ttnn.from_torch(torch.tensor([[5.0, -5.0]]), layout=ttnn.TILE_LAYOUT, device=device)
    assert ttnn.remainder(a, 3.0).to_list() == [[2.0, 1.0]]
    assert ttnn.fmod(a, 3.0).to_list() == [[2.0, -2.0]]


def test_in_place_operations(device: Any) -> None:
    """Names that end with `_` store in the first operand and return it, at the same address."""
    a = ttnn.from_torch(torch.ones(33, 70), layout=ttnn.TILE_LAYOUT, device=device)
    address = a.buffer_address()
    assert ttnn.add_(a, 2) is a
    assert ttnn.mul_(a, a) is a
    assert a.buffer_address() == address
    assert torch.equal(ttnn.to_torch(a), torch.full((33, 70), 9.0))


def test_activations(device: Any) -> None:
    """Functions by name, type and type with parameters, on operands and on the result."""
    a, b = draw((33, 70), -2, 2), draw((33, 70), -2, 2, seed=1)
    x, y = (ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in (a, b))
    result = ttnn.add(
        x,
        y,
        activations=["relu"],
        input_tensor_a_activations=[ttnn.UnaryWithParam(ttnn.UnaryOpType.POWER, 2.0)],
        input_tensor_b_activations=[ttnn.UnaryOpType.EXP],
    )
    assert torch.allclose(ttnn.to_torch(result), torch.relu(a**2 + b.exp()))
    with pytest.raises(RuntimeError, match="unknown activation 'reluu'; known are"):
        ttnn.add(x, y, activations=["reluu"])


def test_data_type_and_output_tensor(device: Any) -> None:
    """`dtype` is that of the result, `output_tensor` takes it and brings its memory."""
    x = ttnn.from_torch(torch.full((33, 70), 1 / 3), layout=ttnn.TILE_LAYOUT, device=device)
    narrow = ttnn.add(x, x, dtype=ttnn.bfloat16, memory_config=ttnn.L1_MEMORY_CONFIG)
    assert (narrow.dtype, narrow.memory_config()) == (ttnn.bfloat16, ttnn.L1_MEMORY_CONFIG)
    assert torch.equal(ttnn.to_torch(narrow), torch.full((33, 70), 2 / 3, dtype=torch.bfloat16))
    output = ttnn.zeros_like(narrow)
    assert ttnn.add(x, x, output_tensor=output) is output
    assert torch.equal(ttnn.to_torch(output), ttnn.to_torch(narrow))
    with pytest.raises(RuntimeError, match="output tensor provided dtype should match"):
        ttnn.add(x, x, dtype=ttnn.float32, output_tensor=output)
    with pytest.raises(RuntimeError, match=r"output_tensor has Shape\(\[2\]\)"):
        ttnn.add(x, x, output_tensor=ttnn.zeros([2], device=device))


def test_mixed_layouts_give_tiles(device: Any) -> None:
    """Rows and tiles make tiles."""
    rows = ttnn.ones([33, 70], device=device)
    tiles = ttnn.to_layout(rows, ttnn.TILE_LAYOUT)
    assert ttnn.add(rows, rows).layout == ttnn.ROW_MAJOR_LAYOUT
    assert ttnn.add(rows, tiles).layout == ttnn.TILE_LAYOUT


def test_exact_numerics() -> None:
    """On a device of exact numerics, results keep all digits of their computation."""
    device = ttnn.open_device(device_id=0, numerics="exact")
    try:
        x = ttnn.from_torch(
            torch.full((2, 2), 3.0), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device
        )
        third = ttnn.reciprocal(x)
        assert third.array[0, 0] == pytest.approx(1 / 3, rel=1e-7)
        assert ttnn.to_torch(third).dtype == torch.bfloat16
    finally:
        ttnn.close_device(device)


def test_operators(device: Any) -> None:
    """Operators are operations; numbers may stand on both sides of + * /."""
    a = torch.rand(5, 7) + 0.5
    x = ttnn.from_torch(a, layout=ttnn.TILE_LAYOUT, device=device)
    for result, expected in (
        (x + 1, a + 1),
        (1 + x, a + 1),
        (x - x, a - a),
        (1 - x, 1 - a),
        (ttnn.subtract(1, x), 1 - a),
        (ttnn.multiply(2.0, x), a * 2),
        (ttnn.add(1, x), a + 1),
        (ttnn.divide(1, x), 1 / a),
        (x * 2, a * 2),
        (2 * x, a * 2),
        (x / 2, a / 2),
        (2 / x, 2 / a),
        (x == x, torch.ones(5, 7)),
        (x != x, torch.zeros(5, 7)),
        (x > 1, (a > 1).float()),
        (x >= 1, (a >= 1).float()),
        (x < 1, (a < 1).float()),
        (x <= 1, (a <= 1).float()),
    ):
        assert torch.equal(ttnn.to_torch(result), expected)
    product = ttnn.to_torch(x @ ttnn.transpose(x, 0, 1))
    torch.testing.assert_close(product, a @ a.T, rtol=1e-2, atol=0)
    for wrong in (lambda: x**2, lambda: -x, lambda: x // 2):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.parametrize("shape", [(363, 365), (2, 300, 301)])
def test_large_tensors(shape: tuple[int, ...], device: Any) -> None:
    """Tensors that are computed in parts have the same numbers, also with numbers and choices."""
    a, b = (draw(shape, -3, 3, seed).bfloat16() for seed in (0, 1))
    x, y = (place(each, device, "bfloat16") for each in (a, b))
    wide = a.float(), b.float()
    for result, expected in (
        (ttnn.add(x, y), wide[0] + wide[1]),
        (ttnn.multiply(x, 1.7), wide[0] * 1.7),
        (ttnn.where(x, y, 0.5), torch.where(a != 0, wide[1], torch.tensor(0.5))),
        (ttnn.gt(x, y), (a > b).float()),
        (ttnn.add(x, y, activations=["relu"]), (wide[0] + wide[1]).relu()),
    ):
        assert torch.equal(ttnn.to_torch(result), expected.bfloat16())
    transposed = ttnn.transpose(x, -1, -2)
    assert torch.equal(ttnn.to_torch(ttnn.neg(transposed)), -a.transpose(-1, -2))


def test_what_calls_learn_is_for_operands_that_are_alike(device: Any) -> None:
    """Calls again have their own numbers; shapes, types, zeros and the device still tell."""
    left, right = draw((3, 33, 70), 1, 3), draw((3, 33, 70), 1, 3, seed=1)
    for dtype in ("float32", "bfloat16", "bfloat8_b"):
        a, b = place(left, device, dtype), place(right, device, dtype)
        c = ttnn.to_memory_config(b, ttnn.L1_MEMORY_CONFIG)
        for x, y in ((a, b), (b, a), (a, c), (c, b), (b, 2.5), (a, 2.5), (a, 2)):
            first, again = ttnn.multiply(x, y), ttnn.multiply(x, y)
            named = ttnn.multiply(x, input_tensor_b=y)
            assert torch.equal(ttnn.to_torch(again), ttnn.to_torch(named))
            assert first.spec == again.spec == named.spec
    a = place(left, device)
    for zero in (0.0, -0.0, 0.0):
        found = ttnn.to_torch(ttnn.divide(a, zero))
        assert torch.equal(found, left / zero)
    row = place(left[:1, :1], device)
    for other in (row, a, row):
        assert torch.equal(ttnn.to_torch(ttnn.add(a, other)), left + ttnn.to_torch(other))
    ttnn.deallocate(a)
    with pytest.raises(RuntimeError, match="the buffer is not allocated"):
        ttnn.add(a, row)


def test_programs_are_counted_by_calls_again(device: Any) -> None:
    """Also after the cache was cleared."""
    a = place(draw((33, 70), -1, 1), device)
    counts: list[int] = []
    for _ in range(2):
        device.clear_program_cache()
        for _ in range(3):
            ttnn.exp(a)
            counts.append(device.num_program_cache_entries())
    assert counts == [1] * 6
