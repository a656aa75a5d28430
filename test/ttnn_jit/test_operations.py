"""Compiled functions compute what torch computes, for every operation, dtype, shape and layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from running.sampling import sampled

from ttmlir import ttnn, ttnn_jit

Tensor = Any
BF16, F32, BFP8 = ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b
TILE, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT


def uniform(*shape: int, low: float = 0.1, high: float = 2.0) -> torch.Tensor:
    """Numbers of which none is near 0."""
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.rand(*shape, generator=generator) * (high - low) + low


def integers(*shape: int, high: int = 1 << 20) -> torch.Tensor:
    """Integers from 0 on."""
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randint(0, high, shape, dtype=torch.int32, generator=generator)


def place(values: torch.Tensor, device: Any, dtype: Any = BF16, **where: Any) -> Any:
    """A tensor on the device."""
    dtype = ttnn.int32 if values.dtype == torch.int32 else dtype
    return ttnn.from_torch(values, dtype=dtype, device=device, **{"layout": TILE, **where})


def numbers(tensor: Any) -> torch.Tensor:
    """The numbers of a tensor."""
    return ttnn.to_torch(tensor).float()


def check(
    function: Callable[..., Any],
    reference: Callable[..., torch.Tensor],
    *tensors: Any,
    tolerance: float = 0.01,
) -> None:
    """A function, compiled, gives what torch makes of the same numbers; so does plain ttnn's."""
    wanted = reference(*(ttnn.to_torch(each) for each in tensors)).float()
    result = ttnn_jit.jit(max_grid=(7, 7))(function)(*tensors)
    torch.testing.assert_close(
        numbers(result), wanted, rtol=tolerance, atol=tolerance * float(wanted.abs().max())
    )
    # The same type, layout and memory as without compiling.
    assert result.spec == function(*tensors).spec


UNARY: dict[str, Callable[..., torch.Tensor]] = {
    **{name: getattr(torch, name) for name in ("abs", "exp", "neg", "sqrt", "rsqrt", "log", "cos")},
    **{name: getattr(torch, name) for name in ("erf", "erfc", "sign", "sin", "ceil", "floor")},
    **{name: getattr(torch, name) for name in ("tanh", "tan", "sigmoid", "relu", "reciprocal")},
    "hardsigmoid": torch.nn.functional.hardsigmoid,
    "gelu": torch.nn.functional.gelu,
    "silu": torch.nn.functional.silu,
    "logical_not": torch.logical_not,
    "square": torch.square,
    "log2": torch.log2,
    "log10": torch.log10,
    "softplus": torch.nn.functional.softplus,
    "mish": torch.nn.functional.mish,
}


@pytest.mark.parametrize("name", UNARY)
def test_unary(device: Any, name: str) -> None:
    """Operations on one tensor."""
    high = 1.2 if name == "tan" else 2.0
    call = getattr(ttnn, name)
    x = place(uniform(40, 70, high=high), device)
    check(lambda x: call(x), lambda x: UNARY[name](x.float()), x, tolerance=0.02)


def test_clamp(device: Any) -> None:
    """Limits are numbers."""
    x = place(uniform(33, 70), device)
    check(lambda x: ttnn.clamp(x, 0.5, 1.25), lambda x: x.clamp(0.5, 1.25), x)


@pytest.mark.parametrize(
    ("name", "dtype"),
    sampled(["softplus", "mish", "log_sigmoid", "elu", "softsign"], [BF16, F32]),
)
def test_activations_far_from_zero(device: Any, name: str, dtype: Any) -> None:
    """Nothing overflows, and small results keep their digits."""
    x = place(torch.tensor([[-80.0, -9.0, -1.0, 0.0, 1.0, 19.0, 21.0, 90.0]]), device, dtype)
    result = numbers(ttnn_jit.jit()(getattr(ttnn, name))(x))
    function = "logsigmoid" if name == "log_sigmoid" else name
    wanted = getattr(torch.nn.functional, function)(ttnn.to_torch(x).float())
    torch.testing.assert_close(result, wanted, rtol=0.02, atol=1e-30)


def test_parameters_of_activations(device: Any) -> None:
    """Parameters are those of the call, not the defaults."""
    functional = torch.nn.functional
    x = place(uniform(40, 70, low=-2.0), device, F32)
    check(
        lambda x: ttnn.softplus(x, beta=2.0, threshold=1.0),
        lambda x: functional.softplus(x, beta=2.0, threshold=1.0),
        x,
    )
    check(
        lambda x: ttnn.leaky_relu(x, negative_slope=0.3),
        lambda x: functional.leaky_relu(x, 0.3),
        x,
    )


@pytest.mark.parametrize("name", ["eqz", "nez", "gtz", "gez", "ltz", "lez"])
def test_comparisons_with_zero(device: Any, name: str) -> None:
    """Truth values are numbers."""
    compare = getattr(torch, name[:-1])
    x = place(torch.tensor([[-2.0, -0.0, 0.0, 0.5]]), device)
    call = getattr(ttnn, name)
    check(lambda x: call(x), lambda x: compare(x, torch.zeros(())), x, tolerance=0)


@pytest.mark.parametrize("name", ["relu6", "hardswish", "hardtanh"])
def test_activations_with_corners(device: Any, name: str) -> None:
    """Limits are numbers."""
    call = getattr(ttnn, name)
    x = place(uniform(40, 70, low=-4.0, high=8.0), device)
    check(lambda x: call(x), lambda x: getattr(torch.nn.functional, name)(x.float()), x)


LIMITS: dict[str, tuple[Any, Any]] = {
    "both": (lambda x, low, high: ttnn.clamp(x, low, high), torch.clamp),
    "lower": (lambda x, low, high: ttnn.clamp(x, min=low), lambda x, low, high: x.clamp(low)),
    "upper": (
        lambda x, low, high: ttnn.clamp(x, max=high),
        lambda x, low, high: x.clamp(max=high),
    ),
    "number": (
        lambda x, low, high: ttnn.clamp(x, 0.75, high),
        lambda x, low, high: x.clamp(0.75).clamp(max=high),
    ),
}


@pytest.mark.parametrize("name", LIMITS)
def test_clamp_with_tensors(device: Any, name: str) -> None:
    """Limits are tensors, of the same shape or a row, or a tensor and a number."""
    function, reference = LIMITS[name]
    low, high = uniform(40, 70, high=1.0), uniform(1, 70, low=1.0)
    tensors = [place(each, device, F32) for each in (uniform(40, 70).flip(0), low, high)]
    check(function, reference, *tensors, tolerance=1e-6)


def test_bitwise_not(device: Any) -> None:
    """Bits of integers."""
    check(ttnn.bitwise_not, torch.bitwise_not, place(integers(40, 70), device), tolerance=0)


BINARY: dict[str, Callable[..., torch.Tensor]] = {
    **{name: getattr(torch, name) for name in ("add", "multiply", "subtract", "divide", "div")},
    **{name: getattr(torch, name) for name in ("eq", "ne", "gt", "ge", "lt", "le", "pow")},
    **{name: getattr(torch, name) for name in ("maximum", "minimum", "hypot")},
    "rsub": lambda x, y: y - x,
    "squared_difference": lambda x, y: (x - y) ** 2,
}


@pytest.mark.parametrize("name", BINARY)
def test_binary(device: Any, name: str) -> None:
    """Operations on two tensors."""
    call = getattr(ttnn, name)
    x, y = place(uniform(40, 70), device), place(uniform(70, 40).T.contiguous(), device)
    check(lambda x, y: call(x, y), lambda x, y: BINARY[name](x.float(), y.float()), x, y)


TERNARY: dict[str, tuple[Any, Any]] = {
    "addcmul": (
        lambda x, y, z: ttnn.addcmul(x, y, z, value=2.0),
        lambda x, y, z: torch.addcmul(x, y, z, value=2.0),
    ),
    "addcdiv": (ttnn.addcdiv, torch.addcdiv),
    "mac": (ttnn.mac, lambda x, y, z: x * y + z),
    "lerp": (ttnn.lerp, torch.lerp),
    "lerp by a number": (
        lambda x, y, z: ttnn.lerp(x, y, 0.25),
        lambda x, y, z: torch.lerp(x, y, 0.25),
    ),
    "rdiv": (lambda x, y, z: 3.0 / x, lambda x, y, z: 3.0 / x),
}


@pytest.mark.parametrize("name", TERNARY)
def test_ternary(device: Any, name: str) -> None:
    """Operations on three tensors, and a number divided by one."""
    function, reference = TERNARY[name]
    values = uniform(40, 70), uniform(70, 40).T.contiguous(), uniform(1, 70)
    tensors = [place(each, device, F32) for each in values]
    check(lambda x, y, z: function(x, y, z), reference, *tensors, tolerance=1e-5)


@pytest.mark.parametrize("name", ["rsub", "squared_difference"])
def test_numbers_as_second_operand(device: Any, name: str) -> None:
    """The number is the second operand, as in ttnn."""
    call = getattr(ttnn, name)
    check(
        lambda x: call(x, 1.5),
        lambda x: BINARY[name](x.float(), torch.tensor(1.5)),
        place(uniform(40, 70), device, F32),
    )


def test_numbers_beyond_the_type(device: Any) -> None:
    """A number that 32 bits do not hold is infinite, an integer its low bits: as not compiled."""
    x, whole = place(uniform(32, 70), device, F32), place(integers(32, 70), device)
    for tensor, function in (
        (x, lambda x: ttnn.add(x, 1e300)),
        (x, lambda x: ttnn.add(x, -1e300)),
        (x, lambda x: ttnn.clamp(x, -1e300, 1e300)),
        (whole, lambda x: ttnn.add(x, 2**40 + 5)),
    ):
        result = numbers(ttnn_jit.jit()(function)(tensor))
        assert torch.equal(result, numbers(function(tensor)))


def test_hypot_of_extremes(device: Any) -> None:
    """Squares would overflow or vanish; zeros and infinities divide by nothing."""
    inf = float("inf")
    first = torch.tensor([[0.0, 3e30, 3e-30, inf, inf, -3.0]])
    second = torch.tensor([[0.0, 4e30, 4e-30, 1.0, inf, 4.0]])
    check(
        lambda x, y: ttnn.hypot(x, y),
        torch.hypot,
        *(place(each[:, :3], device, F32) for each in (first / 1e10, second / 1e10)),
    )
    tensors = [place(each, device, F32) for each in (first, second)]
    result = numbers(ttnn_jit.jit()(ttnn.hypot)(*tensors))
    torch.testing.assert_close(result, torch.hypot(first, second), rtol=1e-5, atol=0)


@pytest.mark.parametrize(
    ("name", "reference"), [("remainder", torch.remainder), ("fmod", torch.fmod)]
)
def test_remainders(device: Any, name: str, reference: Any) -> None:
    """`remainder` has the sign of the divisor, `fmod` that of the dividend."""
    call = getattr(ttnn, name)
    x = place(torch.tensor([[5.5, -5.5, 5.5, -5.5, 4.0, -4.0, 0.0]]), device, F32)
    y = place(torch.tensor([[3.0, 3.0, -3.0, -3.0, 2.0, 2.0, -2.0]]), device, F32)
    check(lambda x, y: call(x, y), reference, x, y, tolerance=1e-6)


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor"])
def test_bits(device: Any, name: str) -> None:
    """Operations on the bits of two tensors."""
    x, y = place(integers(40, 70), device), place(integers(70, 40).T.contiguous(), device)
    check(getattr(ttnn, name), getattr(torch, name), x, y, tolerance=0)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("shape", [(1, 70), (40, 1), (1, 1)])
def test_broadcasts(device: Any, shape: tuple[int, int]) -> None:
    """A row, a column or a number is repeated."""
    x, y = place(uniform(40, 70), device), place(uniform(*shape), device)
    check(lambda x, y: ttnn.exp(x) * y, lambda x, y: x.float().exp() * y, x, y)


def cut(values: torch.Tensor) -> torch.Tensor:
    """What a DST of 16 bits keeps of what the vector unit stores."""
    return (values.view(torch.int32) & -(1 << 16)).view(torch.float32)


def rounded_up(values: torch.Tensor) -> torch.Tensor:
    """Positive numbers to bfloat16 as the matrix unit rounds them: halves away from zero."""
    return cut((values.view(torch.int32) + (1 << 15)).view(torch.float32))


def test_scalars_and_operators(device: Any) -> None:
    """Operators are calls, and numbers are tensors of them.

    The vector unit cuts the sum and the quotient to bfloat16, as a card's does; that is more than
    the tolerance where x, which is as large, is subtracted.
    """
    x = place(uniform(40, 70), device)
    check(
        lambda x: (x * 3 + 1) / 2.5 - x,
        lambda x: cut(cut(rounded_up(x.float() * 3) + 1) / 2.5) - x.float(),
        x,
    )


@pytest.mark.parametrize(
    ("first", "second", "keywords"),
    [
        (F32, F32, {}),
        (BFP8, BFP8, {}),
        (BF16, F32, {}),
        (F32, BF16, {}),
        (BF16, BF16, {"dtype": F32}),
    ],
)
def test_dtypes(device: Any, first: Any, second: Any, keywords: dict[str, Any]) -> None:
    """Data types, and several in one operation."""
    x = place(uniform(40, 70), device, first)
    y = place(uniform(70, 40).T.contiguous(), device, second)
    check(
        lambda x, y: ttnn.add(ttnn.exp(x), y, **keywords),
        lambda x, y: x.float().exp() + y.float(),
        x,
        y,
        tolerance=0.03 if BFP8 in (first, second) else 0.01,
    )


def test_typecast(device: Any) -> None:
    """A change of the data type."""
    x = place(uniform(40, 70), device)
    check(lambda x: ttnn.typecast(ttnn.neg(x), F32), lambda x: -x.float(), x)


def test_where(device: Any) -> None:
    """A choice by element."""
    x, y = place(uniform(40, 70), device), place(uniform(70, 40).T.contiguous(), device)
    check(
        lambda x, y: ttnn.where(ttnn.gt(x, y), x, 0.25),
        lambda x, y: torch.where(x > y, x, 0.25),
        x,
        y,
    )


REDUCTIONS: dict[str, Callable[..., torch.Tensor]] = {
    "sum": torch.sum,
    "mean": torch.mean,
    "max": torch.amax,
    "min": torch.amin,
}


@pytest.mark.parametrize(("name", "dim", "keepdim"), sampled(REDUCTIONS, [0, -1], [False, True]))
def test_reductions(device: Any, name: str, dim: int, *, keepdim: bool) -> None:
    """Over rows and over columns, with padding that must not count."""
    call, reference = getattr(ttnn, name), REDUCTIONS[name]
    x = place(-uniform(40, 70), device)
    check(
        lambda x: call(x, dim=dim, keepdim=keepdim),
        lambda x: reference(x.float(), dim=dim, keepdim=keepdim),
        x,
        tolerance=0.02,
    )


@pytest.mark.parametrize("dim", [None, (1, 3)])
def test_reductions_of_several_dimensions(device: Any, dim: Any) -> None:
    """Over all, and over some that are not neighbours."""
    x = place(uniform(2, 3, 40, 50), device)
    dims = (0, 1, 2, 3) if dim is None else dim
    check(lambda x: ttnn.sum(x, dim=dim), lambda x: x.float().sum(dims), x, tolerance=0.02)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("first", "second", "keywords"),
    [
        ((40, 70), (70, 50), {}),
        ((64, 96), (128, 96), {"transpose_b": True}),
        ((70, 40), (70, 50), {"transpose_a": True}),
        ((3, 40, 70), (3, 70, 50), {}),
        ((256, 320), (320, 288), {}),
    ],
)
def test_matmul(device: Any, first: Any, second: Any, keywords: dict[str, bool]) -> None:
    """Products, also on many cores, which need semaphores."""
    x, y = place(uniform(*first, low=-1), device), place(uniform(*second, low=-1), device)

    def multiply(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x = x.mT if keywords.get("transpose_a") else x
        return x.float() @ (y.mT if keywords.get("transpose_b") else y).float()

    check(lambda x, y: ttnn.matmul(x, y, **keywords), multiply, x, y, tolerance=0.03)


MOVES: list[tuple[tuple[int, ...], Callable[..., Any], Callable[..., torch.Tensor]]] = [
    ((40, 70), lambda x: ttnn.permute(x, (1, 0)), lambda x: x.T),
    ((3, 40, 70), lambda x: ttnn.permute(x, (2, 0, 1)), lambda x: x.permute(2, 0, 1)),
    ((40, 70), lambda x: ttnn.transpose(x, -2, -1), lambda x: x.T),
    ((40, 70), lambda x: ttnn.reshape(x, (20, 140)), lambda x: x.reshape(20, 140)),
    ((128, 96), lambda x: ttnn.reshape(x, (2, 64, 96)), lambda x: x.reshape(2, 64, 96)),
    ((40, 70), lambda x: ttnn.concat([x, x], dim=0), lambda x: torch.cat([x, x])),
    ((40, 70), lambda x: ttnn.concat([x, x * 2], dim=1), lambda x: torch.cat([x, x * 2], 1)),
    ((40, 70), lambda x: ttnn.repeat(x, (2, 3)), lambda x: x.repeat(2, 3)),
    ((40, 70), lambda x: ttnn.softmax(x, -1), lambda x: x.float().softmax(-1)),
    ((40, 70), lambda x: ttnn.slice(x, (3, -40), (33, 70), (2, 3)), lambda x: x[3:33:2, 30:70:3]),
    ((3, 40, 70), lambda x: x[-1, ..., 5:38], lambda x: x[-1, ..., 5:38]),
    ((3, 40, 70), lambda x: x[1:], lambda x: x[1:]),
    (
        (40, 70),
        lambda x: ttnn.pad(x, [(0, 3), (0, 30)], 2.5),
        lambda x: torch.nn.functional.pad(x, (0, 30, 0, 3), value=2.5),
    ),
    ((40, 70), lambda x: ttnn.stack([x, x * 2], -2), lambda x: torch.stack([x, x * 2], -2)),
    (
        (3, 5, 33),
        lambda x: ttnn.repeat_interleave(x, 4, 1),
        lambda x: x.repeat_interleave(4, 1),
    ),
    ((1, 33), lambda x: ttnn.expand(x, (2, 40, -1)), lambda x: x.expand(2, 40, -1)),
    ((1, 40, 70), lambda x: ttnn.squeeze(x, 0), lambda x: x[0]),
    ((40, 70), lambda x: ttnn.unsqueeze(x, 1), lambda x: x[:, None]),
    ((5, 33), lambda x: ttnn.cumsum(x, 0), lambda x: x.cumsum(0)),
    (
        (3, 40, 70),
        lambda x: ttnn.rearrange(x, "a b c -> c (a b)"),
        lambda x: x.permute(2, 0, 1).reshape(70, 120),
    ),
    (
        (6, 40, 7),
        lambda x: ttnn.rearrange(x, "(a b) c d -> 1 (b c) (a d)", b=3),
        lambda x: x.reshape(2, 3, 40, 7).permute(1, 2, 0, 3).reshape(1, 120, 14),
    ),
]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(("shape", "function", "reference"), MOVES)
def test_moves(device: Any, shape: Any, function: Any, reference: Any) -> None:
    """Operations that move numbers, aligned to tiles or not."""
    check(function, reference, place(uniform(*shape), device), tolerance=0.02)


def test_embedding(device: Any) -> None:
    """Rows of a table."""
    index = ttnn.from_torch(integers(3, 7, high=50), dtype=ttnn.uint32, layout=ROWS, device=device)
    table = place(uniform(50, 64), device, layout=ROWS)
    check(
        lambda index, table: ttnn.embedding(index, table, layout=TILE),
        lambda index, table: table[index.long()],
        index,
        table,
        tolerance=0,
    )


def test_collectives_of_one_device(device: Any) -> None:
    """Among one device they give back what they get."""
    x = place(uniform(40, 70), device)
    check(lambda x: ttnn.all_reduce(ttnn.all_gather(ttnn.exp(x), 0)), lambda x: x.exp(), x)


@pytest.mark.parametrize(
    "strategy", [ttnn.ShardStrategy.BLOCK, ttnn.ShardStrategy.HEIGHT, ttnn.ShardStrategy.WIDTH]
)
def test_shards(device: Any, strategy: Any) -> None:
    """Shards in L1, of the argument and of the result."""
    grid = ttnn.CoreGrid(y=2, x=4)
    config = ttnn.create_sharded_memory_config((256, 256), core_grid=grid, strategy=strategy)
    x = place(uniform(256, 256), device, memory_config=config)
    check(lambda x: ttnn.exp(x) * x, lambda x: x.float().exp() * x, x)


@pytest.mark.parametrize(
    ("shape", "where"),
    [
        ((40, 70), {"layout": ROWS}),
        ((3, 5, 7), {"layout": ROWS}),
        ((40, 70), {"memory_config": ttnn.L1_MEMORY_CONFIG}),
        ((70,), {}),
        ((1, 1), {}),
        ((2, 3, 40, 70), {}),
        ((64, 96), {}),
    ],
)
def test_layouts_and_shapes(device: Any, shape: tuple[int, ...], where: dict[str, Any]) -> None:
    """Rows, L1, and shapes of any rank, aligned to tiles or not."""
    x = place(uniform(*shape), device, **where)
    check(lambda x: ttnn.exp(x) * x, lambda x: x.float().exp() * x, x)


def test_linear(device: Any) -> None:
    """A product and a row that is added."""
    x, w = place(uniform(40, 70, low=-1), device), place(uniform(70, 33, low=-1), device)
    check(
        lambda x, w, b: ttnn.linear(x, w, bias=b),
        lambda x, w, b: x.float() @ w.float() + b,
        *(x, w, place(uniform(1, 33), device)),
        tolerance=0.03,
    )


def test_numbers_beside_masked_sums(device: Any) -> None:
    """A layer norm of rows that end within tiles: its mask and its numbers are both constants."""

    def normalize(x: Any, scale: Any) -> Any:
        centered = x - ttnn.mean(x, dim=-1, keepdim=True)
        variance = ttnn.mean(ttnn.square(centered), dim=-1, keepdim=True)
        return centered * ttnn.rsqrt(variance + 1e-5) * scale

    check(
        normalize,
        lambda x, scale: torch.nn.functional.layer_norm(x.float(), (70,)) * scale,
        *(place(uniform(3, 50, 70), device), place(uniform(70), device)),
        tolerance=0.02,
    )


LISTED = """
    abs exp neg sqrt rsqrt log cos erf erfc sign sin ceil floor tanh tan sigmoid hardsigmoid relu
    reciprocal gelu silu logical_not bitwise_not clamp
    add multiply subtract divide pow_tensor eq ne gt ge lt le bitwise_and bitwise_or bitwise_xor
    maximum minimum div pow
    sum mean max min matmul permute transpose reshape rearrange concat repeat embedding
    all_gather all_reduce reduce_scatter
"""
"""What functions of tt-mlir's ttnn.jit call, in its version of 2026."""


@pytest.mark.parametrize("name", LISTED.split())
def test_listed_functions_are_compiled(device: Any, name: str) -> None:
    """Each has a function in ttnn, and what it computes is compiled."""
    call = getattr(ttnn, name)
    integers_only = name.startswith("bitwise")
    x = place(integers(32, 64) if integers_only else uniform(32, 64), device)
    arguments: dict[str, tuple[Any, ...]] = {
        **dict.fromkeys(("sum", "mean", "max", "min", "all_gather", "reduce_scatter"), (0,)),
        "clamp": (0.5, 1.5),
        "permute": ((1, 0),),
        "transpose": (0, 1),
        "reshape": ((64, 32),),
        "rearrange": ("a b -> b a",),
        "repeat": ((2, 1),),
        "matmul": (ttnn.reshape(x, (64, 32)),),
        "pow": (2.0,),
    }
    unary = name in {"all_reduce", *UNARY, "bitwise_not"}
    function = ttnn_jit.jit(max_grid=(7, 7))(call)
    if name == "concat":
        result, same = (each([x, x], 1) for each in (function, call))
    elif name == "embedding":
        index = ttnn.from_torch(integers(3, 7, high=32), dtype=ttnn.uint32, device=device)
        result, same = (each(index, x) for each in (function, call))
    else:
        rest = () if unary else arguments.get(name, (x,))
        result, same = (each(x, *rest) for each in (function, call))
    assert result.spec == same.spec
    torch.testing.assert_close(numbers(result), numbers(same), rtol=0.03, atol=0.03)
