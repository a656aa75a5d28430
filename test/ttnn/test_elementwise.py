"""Operations on elements against torch, over data types, layouts, memories and shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from ttmlir import ttnn

Memory = Callable[[tuple[int, ...]], Any]


def _shards(strategy: Any) -> Memory:
    """Shards on 2x3 cores for tensors of 192x384 elements, interleaved L1 for others."""

    def config(shape: tuple[int, ...]) -> Any:
        if shape[-2:] != (192, 384):
            return ttnn.L1_MEMORY_CONFIG
        return ttnn.create_sharded_memory_config(shape, ttnn.CoreGrid(y=2, x=3), strategy)

    return config


MEMORIES: dict[str, Memory] = {
    "dram": lambda shape: ttnn.DRAM_MEMORY_CONFIG,
    "l1": lambda shape: ttnn.L1_MEMORY_CONFIG,
    "height": _shards(ttnn.ShardStrategy.HEIGHT),
    "width": _shards(ttnn.ShardStrategy.WIDTH),
    "block": _shards(ttnn.ShardStrategy.BLOCK),
}
SHAPES = ((192, 384), (33, 70), (1, 2, 5, 31), (7,))
FLOATS = ("bfloat16", "float32", "bfloat8_b")
LAYOUTS = ("TILE_LAYOUT", "ROW_MAJOR_LAYOUT")
TORCH = {
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "bfloat8_b": torch.bfloat16,
    "int32": torch.int32,
}
LIMITS = {"bfloat16": 0.01, "float32": 2e-6, "bfloat8_b": 0.03}
"""Errors relative to the largest number: a rounding of the type, with room for block floats."""


def cases(names: Iterable[str], dtypes: Sequence[str]) -> list[tuple[Any, ...]]:
    """Every name with every type; layouts, memories and shapes take turns."""
    turns = enumerate(product(names, dtypes))
    return [
        (*each, LAYOUTS[i % 2], tuple(MEMORIES)[i % 5], SHAPES[(i + i // 5) % 4])
        for i, each in turns
    ]


CASE = ("name", "dtype", "layout", "memory", "shape")


def draw(shape: Sequence[int], low: float, high: float, seed: int = 0) -> torch.Tensor:
    """Random numbers."""
    numbers = np.random.default_rng(seed).uniform(low, high, tuple(shape))
    return torch.as_tensor(numbers.astype(np.float32))


def place(values: torch.Tensor, dtype: str, layout: str, memory: str, device: Any) -> Any:
    """A tensor on the device; block floats are always in tiles."""
    chosen = "TILE_LAYOUT" if dtype == "bfloat8_b" else layout
    config = MEMORIES[memory](tuple(values.shape))
    if config.is_sharded() and memory == "height":
        config = ttnn.create_sharded_memory_config(
            tuple(values.shape), ttnn.CoreGrid(y=2, x=3), ttnn.ShardStrategy.HEIGHT
        )
    return ttnn.from_torch(
        values,
        getattr(ttnn, dtype),
        layout=getattr(ttnn, chosen),
        device=device,
        memory_config=config,
    )


def check(actual: Any, expected: torch.Tensor, dtype: str) -> None:
    """Equal shapes, and numbers within the roundings of a type."""
    result = ttnn.to_torch(actual).to(torch.float64)
    expected = expected.to(torch.float64)
    assert result.shape == expected.shape
    assert torch.equal(torch.isnan(result), torch.isnan(expected))
    known = torch.isfinite(expected)
    assert torch.equal(torch.isfinite(result), known)
    error = (result - expected)[known].abs()
    scale = expected[known].abs() if dtype != "bfloat8_b" else expected[known].abs().max()
    assert bool((error <= LIMITS[dtype] * scale + LIMITS[dtype] * 1e-2).all())


UNARY: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], float, float]] = {
    "abs": (torch.abs, -3, 3),
    "acos": (torch.acos, -0.9, 0.9),
    "acosh": (torch.acosh, 1.2, 9),
    "asin": (torch.asin, -0.9, 0.9),
    "asinh": (torch.asinh, -5, 5),
    "atan": (torch.atan, -5, 5),
    "atanh": (torch.atanh, -0.9, 0.9),
    "cbrt": (lambda x: x.sign() * x.abs() ** (1 / 3), 0.1, 9),
    "ceil": (torch.ceil, -5, 5),
    "cos": (torch.cos, -1, 1),
    "cosh": (torch.cosh, -4, 4),
    "deg2rad": (torch.deg2rad, -180, 180),
    "digamma": (torch.digamma, 0.1, 9),
    "eqz": (lambda x: x == 0, -1, 1),
    "erf": (torch.erf, -2, 2),
    "erfc": (torch.erfc, -2, 2),
    "erfinv": (torch.erfinv, -0.9, 0.9),
    "exp": (torch.exp, -4, 4),
    "exp2": (torch.exp2, -4, 4),
    "expm1": (torch.expm1, -4, 4),
    "floor": (torch.floor, -5, 5),
    "frac": (torch.frac, -5, 5),
    "gelu": (torch.nn.functional.gelu, -3, 3),
    "gez": (lambda x: x >= 0, -1, 1),
    "gtz": (lambda x: x > 0, -1, 1),
    "hardmish": (lambda x: x * (x + 2).clamp(0, 2) / 2, -4, 4),
    "hardsigmoid": (torch.nn.functional.hardsigmoid, -5, 5),
    "hardswish": (torch.nn.functional.hardswish, -5, 5),
    "i0": (torch.i0, -4, 4),
    "i1": (torch.special.i1, -4, 4),
    "isfinite": (torch.isfinite, -1, 1),
    "isinf": (torch.isinf, -1, 1),
    "isnan": (torch.isnan, -1, 1),
    "lez": (lambda x: x <= 0, -1, 1),
    "lgamma": (torch.lgamma, 0.1, 9),
    "log": (torch.log, 0.1, 9),
    "log10": (torch.log10, 0.1, 9),
    "log1p": (torch.log1p, -0.5, 9),
    "log2": (torch.log2, 0.1, 9),
    "log_sigmoid": (torch.nn.functional.logsigmoid, -4, 4),
    "logical_not": (torch.logical_not, -1, 1),
    "ltz": (lambda x: x < 0, -1, 1),
    "mish": (torch.nn.functional.mish, -4, 4),
    "multigammaln": (lambda x: torch.special.multigammaln(x, 4), 1.7, 9),
    "neg": (torch.neg, -4, 4),
    "nez": (lambda x: x != 0, -1, 1),
    "rad2deg": (torch.rad2deg, -4, 4),
    "reciprocal": (torch.reciprocal, 0.1, 9),
    "relu": (torch.relu, -4, 4),
    "relu6": (torch.nn.functional.relu6, -9, 9),
    "rsqrt": (torch.rsqrt, 0.1, 9),
    "sigmoid": (torch.sigmoid, -4, 4),
    "sigmoid_accurate": (torch.sigmoid, -4, 4),
    "sign": (torch.sign, -4, 4),
    "signbit": (torch.signbit, -4, 4),
    "silu": (torch.nn.functional.silu, -4, 4),
    "sin": (torch.sin, -4, 4),
    "sinh": (torch.sinh, -4, 4),
    "softsign": (torch.nn.functional.softsign, -4, 4),
    "sqrt": (torch.sqrt, 0.1, 9),
    "square": (torch.square, -4, 4),
    "swish": (torch.nn.functional.silu, -4, 4),
    "tan": (torch.tan, -1, 1),
    "tanh": (torch.tanh, -4, 4),
    "tanhshrink": (torch.nn.functional.tanhshrink, 1, 4),
    "trunc": (torch.trunc, -4, 4),
}
"""Functions without parameters, and numbers on which they are smooth enough to compare."""


@pytest.mark.parametrize(CASE, cases(UNARY, FLOATS))
def test_unary(
    name: str, dtype: str, layout: str, memory: str, shape: tuple[int, ...], device: Any
) -> None:
    """The result is torch's on the rounded operand, rounded once; all else is the operand's."""
    function, low, high = UNARY[name]
    values = draw(shape, low, high).to(TORCH[dtype])
    x = place(values, dtype, layout, memory, device)
    y = getattr(ttnn, name)(x)
    assert (y.dtype, y.layout, y.memory_config()) == (x.dtype, x.layout, x.memory_config())
    check(y, function(ttnn.to_torch(x).to(torch.float64)), dtype)


PARAMETERS: dict[
    str, tuple[tuple[Any, ...], dict[str, Any], Callable[[torch.Tensor], torch.Tensor]]
] = {
    "heaviside": ((0.5,), {}, lambda x: torch.heaviside(x, torch.tensor(0.5, dtype=x.dtype))),
    "leaky_relu": ((0.1,), {}, lambda x: torch.nn.functional.leaky_relu(x, 0.1)),
    "relu_max": ((1.5,), {}, lambda x: x.clamp(0, 1.5)),
    "relu_min": ((-1.5,), {}, lambda x: x.clamp(min=-1.5)),
    "rpow": ((2.0,), {}, lambda x: 2.0**x),
    "fill": ((3.0,), {}, lambda x: torch.full_like(x, 3)),
    "threshold": ((1.0, 5.0), {}, lambda x: torch.nn.functional.threshold(x, 1.0, 5.0)),
    "rdiv": ((3.0,), {}, lambda x: 3.0 / x),
    "elu": ((0.5,), {}, lambda x: torch.nn.functional.elu(x, 0.5)),
    "celu": ((), {"alpha": 0.5}, lambda x: torch.nn.functional.celu(x, 0.5)),
    "selu": ((), {}, torch.nn.functional.selu),
    "hardtanh": ((), {"min_val": -0.5}, lambda x: torch.nn.functional.hardtanh(x, -0.5, 1.0)),
    "softplus": ((), {"beta": 2.0}, lambda x: torch.nn.functional.softplus(x, 2.0)),
    "hardshrink": ((), {"lambd": 0.7}, lambda x: torch.nn.functional.hardshrink(x, 0.7)),
    "softshrink": ((), {"lambd": 0.7}, lambda x: torch.nn.functional.softshrink(x, 0.7)),
    "round": ((), {"decimals": 1}, lambda x: torch.round(x, decimals=1)),
    "tril": ((), {"diagonal": 3}, lambda x: torch.tril(x, 3)),
    "triu": ((), {"diagonal": -2}, lambda x: torch.triu(x, -2)),
    "clamp": ((-1.0,), {"max": 2.0}, lambda x: x.clamp(-1, 2)),
    "clip": ((None, 2.0), {}, lambda x: x.clamp(max=2)),
    "glu": ((-1,), {}, torch.nn.functional.glu),
    "pow": ((3,), {}, lambda x: x**3),
    "polyval": (([2.0, 0.0, 3.0],), {}, lambda x: 2 * x * x + 3),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters(name: str, device: Any) -> None:
    """Parameters mean what torch's mean, by position and by keyword."""
    args, kwargs, function = PARAMETERS[name]
    x = place(draw((33, 70), -3, 3), "float32", "TILE_LAYOUT", "dram", device)
    check(getattr(ttnn, name)(x, *args, **kwargs), function(ttnn.to_torch(x)), "float32")


BINARY: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "add": torch.add,
    "subtract": torch.sub,
    "sub": torch.sub,
    "multiply": torch.mul,
    "mul": torch.mul,
    "divide": torch.div,
    "div": torch.div,
    "div_no_nan": torch.div,
    "floor_div": torch.floor_divide,
    "rsub": lambda a, b: b - a,
    "eq": torch.eq,
    "ne": torch.ne,
    "lt": torch.lt,
    "le": torch.le,
    "gt": torch.gt,
    "ge": torch.ge,
    "logical_and": torch.logical_and,
    "logical_or": torch.logical_or,
    "logical_xor": torch.logical_xor,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "squared_difference": lambda a, b: (a - b) ** 2,
    "ldexp": torch.ldexp,
    "logaddexp": torch.logaddexp,
    "logaddexp2": torch.logaddexp2,
    "bias_gelu": lambda a, b: torch.nn.functional.gelu(a + b),
    "xlogy": torch.xlogy,
    "hypot": torch.hypot,
    "atan2": torch.atan2,
    "fmod": torch.fmod,
    "remainder": torch.remainder,
    "pow": torch.pow,
    "addalpha": torch.add,
    "subalpha": torch.sub,
}


@pytest.mark.parametrize(CASE, cases(BINARY, FLOATS[:2]))
def test_binary(
    name: str, dtype: str, layout: str, memory: str, shape: tuple[int, ...], device: Any
) -> None:
    """The result is torch's on the rounded operands, rounded once; all else is the first's."""
    values = (draw(shape, 0.5, 4.5), draw(shape, 0.5, 2.5, seed=1))
    a, b = (place(each, dtype, layout, memory, device) for each in values)
    result = getattr(ttnn, name)(a, b)
    assert (result.dtype, result.layout) == (a.dtype, a.layout)
    assert result.memory_config() == a.memory_config()
    operands = (ttnn.to_torch(each).to(torch.float64) for each in (a, b))
    check(result, BINARY[name](*operands), dtype)


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
    a = place(left, "float32", "TILE_LAYOUT", "dram", device)
    b = right
    if isinstance(right, torch.Tensor):
        b = place(right, "float32", "TILE_LAYOUT", "dram", device)
    for name, function in (("add", torch.add), ("mul", torch.mul), ("sub", torch.sub)):
        result = ttnn.to_torch(getattr(ttnn, name)(a, b))
        assert torch.equal(result, function(left, right))


INTEGERS: dict[str, Callable[..., torch.Tensor]] = {
    "add": torch.add,
    "subtract": torch.sub,
    "multiply": torch.mul,
    "bitwise_and": torch.bitwise_and,
    "bitwise_or": torch.bitwise_or,
    "bitwise_xor": torch.bitwise_xor,
    "eq": torch.eq,
    "lt": torch.lt,
    "maximum": torch.maximum,
    "gcd": torch.gcd,
    "lcm": torch.lcm,
}


@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name: str, device: Any) -> None:
    """Integers are exact, and wrap."""
    high = 40000 if name == "lcm" else 2**31 - 1
    drawn = np.random.default_rng(2).integers(1, high, (2, 33, 70), np.int32)
    a, b = torch.as_tensor(drawn[0]), torch.as_tensor(drawn[1])
    x, y = (place(each, "int32", "TILE_LAYOUT", "dram", device) for each in (a, b))
    result = ttnn.to_torch(getattr(ttnn, name)(x, y))
    assert torch.equal(result, INTEGERS[name](a, b).to(torch.int32))


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
    check(result, torch.relu(a**2 + b.exp()), "float32")
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
    for wrong in (lambda: 1 - x, lambda: x @ x, lambda: x**2, lambda: -x, lambda: x // 2):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.parametrize("shape", [(363, 365), (2, 300, 301)])
def test_large_tensors(shape: tuple[int, ...], device: Any) -> None:
    """Tensors that are computed in parts have the same numbers, also with numbers and choices."""
    a, b = (draw(shape, -3, 3, seed).bfloat16() for seed in (0, 1))
    x, y = (place(each, "bfloat16", "TILE_LAYOUT", "dram", device) for each in (a, b))
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
