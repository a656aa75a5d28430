"""Each ATen operation against torch itself, many in one program: tracing is the slow part."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from running.sampling import sampled
from samples.torch_programs import check_all

import ttmlir

torch: Any = import_module("torch")

SHAPES = [(), (1,), (33, 70), (5, 1, 7)]


def numbers(*shape: int, dtype: Any = torch.float32, seed: int = 0) -> Any:
    """Numbers of both signs that are not whole, or small integers."""
    generator = torch.Generator().manual_seed(seed)
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) > 0.5
    values = torch.randn(shape, generator=generator) * 3
    return values.to(dtype)


FUNCTIONS = """
    torch.abs(x)
    torch.ceil(x)
    torch.floor(x)
    torch.trunc(x)
    torch.neg(x)
    torch.sign(x)
    torch.square(x)
    torch.exp(x)
    torch.exp2(x)
    torch.expm1(x)
    torch.sin(x)
    torch.cos(x)
    torch.tanh(x)
    torch.atan(x)
    torch.erf(x)
    torch.erfc(x)
    torch.sigmoid(x)
    torch.isnan(x)
    torch.isinf(x)
    torch.isfinite(x)
    torch.logical_not(x)
    torch.reciprocal(x)
    F.relu(x)
    F.relu6(x)
    F.gelu(x)
    F.silu(x)
    F.mish(x)
    F.selu(x)
    F.celu(x)
    F.elu(x)
    F.softplus(x)
    F.softsign(x)
    F.hardswish(x)
    F.hardsigmoid(x)
    F.hardtanh(x)
    F.hardshrink(x)
    F.softshrink(x)
    F.tanhshrink(x)
    F.logsigmoid(x)
    F.gelu(x, approximate="tanh")
    F.leaky_relu(x, 0.3)
    F.elu(x, 0.7)
    F.threshold(x, 0.1, 20.0)
    torch.log(x.abs() + 1)
    torch.log1p(x.abs())
    torch.log2(x.abs() + 1)
    torch.log10(x.abs() + 1)
    torch.sqrt(x.abs())
    torch.rsqrt(x.abs() + 0.5)
    x.clamp(-1.0, 0.5)
    x.clamp(min=0.25)
    x.clamp(max=0.25)
    x**2
    x**0
    x**1
    x.abs() ** 0.5
    x.abs() ** 1.7
    (x.abs() + 1) ** -0.5
    2.0**x
    x.clone().detach()
    x.nan_to_num()
    torch.where(x > 0, float("inf"), x).isinf()
"""
PRECISE = """
    torch.asin(x.tanh() * 0.9)
    torch.acos(x.tanh() * 0.9)
    torch.atanh(x.tanh() * 0.9)
    torch.sinh(x / 3)
    torch.cosh(x / 3)
    torch.asinh(x)
    torch.acosh(x.abs() + 1)
    torch.erfinv(x.tanh() * 0.9)
    torch.lgamma(x.abs() + 0.5)
    torch.round(x)
    torch.round(x, decimals=1)
    torch.frac(x)
    torch.sgn(x)
    torch.logit(x.sigmoid())
    torch.sinc(x)
    torch.special.entr(x.abs())
    torch.rad2deg(x)
    torch.heaviside(x, torch.tensor(0.5))
    F.glu(x.reshape(-1).repeat(2), 0)
    torch.tan(x)
    x**3
    x**-1.0
    F.prelu(x, torch.tensor([0.2]))
    F.tanhshrink(x)
"""


@pytest.mark.parametrize("shape", sampled(SHAPES), ids=str)
def test_functions_of_one_tensor(shape: tuple[int, ...]) -> None:
    """Every shape, from a number to three dimensions."""
    check_all(FUNCTIONS + PRECISE, x=numbers(*shape))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64], ids=str)
def test_functions_of_other_floating_point_types(dtype: Any) -> None:
    """Rounding after each operation, as torch does, differs from rounding once."""
    precise = dtype == torch.float64
    check_all(FUNCTIONS, x=numbers(5, 7, dtype=dtype), tolerance=1e-5 if precise else 5e-2)


ARITHMETIC = """
    torch.add(x, y)
    torch.sub(x, y)
    torch.mul(x, y)
    torch.div(x, y)
    torch.maximum(x, y)
    torch.minimum(x, y)
    torch.eq(x, y)
    torch.ne(x, y)
    torch.ge(x, y)
    torch.gt(x, y)
    torch.le(x, y)
    torch.lt(x, y)
    torch.logical_and(x, y)
    torch.logical_or(x, y)
    torch.logical_xor(x, y)
    torch.add(x, y, alpha=3)
    torch.sub(x, y, alpha=2)
    torch.rsub(x, y)
    x + 2
    2 - x
    x * 3
    x / 4
    4 / y
    x == 1
    x > 0.5
    torch.where(x > y, x, y)
    torch.where(x > y, x, 0)
    x.masked_fill(x > y, 7)
    torch.fmod(x, y)
    torch.remainder(x, y)
    torch.floor_divide(x, y)
    torch.div(x, y, rounding_mode="floor")
    torch.div(x, y, rounding_mode="trunc")
    x % 3
    x // 3
    x.clamp(y, y + 1)
    x.clamp(max=y)
    x.clamp(0, 1)
    torch.fmax(x, y)
    torch.fmin(x, y)
"""
REAL = """
    torch.atan2(x, y)
    torch.hypot(x, y)
    torch.logaddexp(x, y)
    torch.lerp(x, y, 0.3)
    torch.addcmul(x, x, y, value=2)
    torch.addcdiv(x, x, y, value=2)
    torch.pow(x.abs(), y)
    torch.xlogy(x, y.abs())
"""


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("first", "second"), [((), ()), ((33, 70), (70,)), ((5, 4, 7), (4, 1)), ((2, 3), ())], ids=str
)
def test_functions_of_two_tensors(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    """Shapes that broadcast."""
    check_all(ARITHMETIC + REAL, x=numbers(*first), y=_divisor(*second))


def test_whole_quotients_that_rounding_would_miss() -> None:
    """Tenths of tenths, one less where the divisor is larger than a tenth; infinities."""
    edges = torch.tensor([torch.inf, -torch.inf, torch.nan, 2.0**24 - 1])
    check_all(
        "x // 0.1\nx // -0.1\nx // 0\nx.double() // 0.1\nx.half() // 0.5\n1 // x\nx // x.flip(0)",
        x=torch.cat([torch.arange(-9, 40) * 0.1, edges]),
    )


def test_the_sign_of_nan_is_0() -> None:
    """In torch, for `sign` and `sgn`."""
    x = torch.tensor([[float("nan"), 2.5, -0.0], [-3.0, 0.0, float("inf")]])
    signs = "torch.sign(x)\ntorch.sgn(x)\ntorch.sign(y)\ntorch.sign(z)"
    check_all(signs, x=x, y=x.bfloat16(), z=torch.tensor([-7, 0, 2]))


def test_extremes_skip_nan() -> None:
    """The number, where the other one is none; `maximum` does not."""
    nan = float("nan")
    x = torch.tensor([1.0, nan, 2.0, nan, -3.0])
    y = torch.tensor([nan, 1.0, 3.0, nan, -4.0])
    check_all("torch.fmax(x, y)\ntorch.fmin(x, y)\ntorch.maximum(x, y)", x=x, y=y)


def _divisor(*shape: int) -> Any:
    values = numbers(*shape, seed=1)
    return torch.where(values.abs() < 0.5, 0.7, values)


BITS = """
    x << 2
    x >> 1
    x.bitwise_left_shift(y.abs() % 3)
    x & y
    x | y
    x ^ y
    ~x
    x & 3
    x.abs()
    x.exp()
    x.sum()
    x.prod(0)
    x.float().mean()
    x.clamp(-1, 2)
    x.amax(1)
    x**2
    x.mean(dtype=torch.float32)
    x.bool()
"""


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8], ids=str)
def test_integers(dtype: Any) -> None:
    """Division, remainder and bits of integers of both signs."""
    divisor = numbers(4, 5, dtype=dtype, seed=2)
    divisor = torch.where(divisor == 0, 2, divisor)
    check_all(ARITHMETIC + BITS, x=numbers(4, 5, dtype=dtype), y=divisor)


def test_booleans() -> None:
    """Truth values, and what becomes of them among numbers."""
    cases = """
        torch.logical_and(x, y)
        x & y
        x | y
        x ^ y
        ~x
        x == y
        x + y
        x * y
        torch.maximum(x, y)
        x.any()
        x[:0].any(0)
        x.all()
        x[:0].all()
        x.any(0)
        x.all(1, keepdim=True)
        x.sum(1)
        x.float()
        x + 1
        x * 2.5
        x.amax(0)
        torch.where(x, y, x)
    """
    x, y = (numbers(33, 7, dtype=torch.bool, seed=seed) for seed in (0, 1))
    check_all(cases, x=x, y=y)


def test_promotion() -> None:
    """Operands of different types."""
    types = ["float32", "bfloat16", "float16", "int64", "int32", "bool"]
    cases = [f"x.to(torch.{name})" for name in types]
    for function in ("add", "mul", "div", "gt"):
        cases += [
            f"torch.{function}(x.to(torch.{a}), y.to(torch.{b}))"
            for a in types
            for b in types
            if a != b
        ]
    x = torch.tensor([[0.0, 1.5, -2.25, 3.0]])
    check_all("\n".join(cases), x=x, y=torch.tensor([[1.0], [-2.0]]), tolerance=2e-2)


REDUCTIONS = """
    x.sum()
    x.sum(0)
    x.sum(-1, keepdim=True)
    x.sum((0, -1))
    x.mean()
    x.mean((0, 1))
    x.amax()
    x.amax((0,))
    x.amin(-1)
    x.max()
    x.min()
    x.max(0).values
    x.min(1, keepdim=True).values
    (x / 4 + 1).prod()
    x.prod(1)
    x.var((0, 1), unbiased=False, keepdim=True)
    x.std(unbiased=False)
    x.norm()
    x.norm(1, 0)
    x.norm(3, 1)
    torch.linalg.vector_norm(x, float("inf"), 1)
    torch.linalg.vector_norm(x, -float("inf"), 1)
    torch.linalg.vector_norm(x, 0, 1)
    F.normalize(x, dim=1)
    x.logsumexp(0)
    x.softmax(0)
    x.softmax(-1)
    x.log_softmax(1)
    F.softmin(x, 1)
    x.any()
    (x > 0).all(1)
    (x > 0).any((0, 1))
    torch.count_nonzero(x > 1)
    F.cosine_similarity(x, x * x, 0)
    x.nansum(0)
"""
DEVIATIONS = """
    x.var()
    x.var(0)
    x.std(-1)
    torch.var_mean(x, 0)
    torch.std_mean(x, 1)
    x.var(0, correction=2)
"""


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("shape", [(1, 1), (33, 70), (5, 1, 7)], ids=str)
def test_reductions(shape: tuple[int, ...]) -> None:
    """Over some and over all dimensions."""
    # The deviation of a single number is not defined, and torch warns.
    check_all(REDUCTIONS if 1 in shape else REDUCTIONS + DEVIATIONS, x=numbers(*shape) / 3)


def test_reductions_of_a_number() -> None:
    """A tensor of no dimension."""
    check_all(
        """
        x.sum()
        x.mean()
        x.amax()
        x.softmax(0)
        x.softmax(-1)
        x.log_softmax(0)
        x.any()
        x.sum(0)
        x.mean(-1)
        x.amin(0)
        x.all(0)
        x.max(0)
        x.min(-1)
        x.argmax(0)
        x.argmin(-1)
        x.cumsum(-1)
        """,
        x=torch.tensor(2.5),
    )


def test_losses() -> None:
    """Losses, which look up the numbers of classes."""
    cases = """
        F.cross_entropy(x, t)
        F.cross_entropy(x, t, label_smoothing=0.1, reduction="sum")
        F.nll_loss(F.log_softmax(x, 1), t)
        F.mse_loss(x, y)
        F.l1_loss(x, y)
        F.huber_loss(x, y)
        F.smooth_l1_loss(x, y)
        F.binary_cross_entropy_with_logits(x, y.sigmoid())
        F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean")
    """
    target = torch.tensor([1, 0, 3, 2, 6])
    check_all(cases, x=numbers(5, 7), y=numbers(5, 7, seed=1), t=target)


def test_indices_out_of_range_are_refused(tmp_path: Path) -> None:
    """As torch does, which does not move them inside; so does a program that is loaded."""
    x, index = torch.arange(20.0).reshape(4, 5), torch.tensor([[3, 0, 1, 2, 3]])
    compiled = ttmlir.compile(lambda x, index: x.gather(0, index), x, index)
    compiled.save(tmp_path / "picked.ttnn")
    loaded = ttmlir.load(tmp_path / "picked.ttnn", framework="torch")
    torch.testing.assert_close(compiled(x, index), x.gather(0, index))
    for call, outside in ((compiled, 4), (compiled, -1), (loaded, 4)):
        with pytest.raises(ttmlir.Error, match=f"Elements {outside} to .* from a dimension of 4"):
            call(x, torch.full((1, 5), outside))
    beside = ttmlir.compile(lambda x, index: x[index[0, :2], index[0, 2:4]], x, index)
    torch.testing.assert_close(beside(x, index), x[[3, 0], [1, 2]])
    for places in ([0, 1, 5, 2, 0], [1, 0, 2, -6, 0], [4, 0, 1, 2, 0]):
        with pytest.raises(ttmlir.Error, match=r" of 20[ .]"):
            beside(x, torch.tensor([places]))
    loss = ttmlir.compile(torch.nn.functional.cross_entropy, x, torch.tensor([1, 0, 4, 2]))
    with pytest.raises(ttmlir.Error, match="from a dimension of 5"):
        loss(x, torch.tensor([1, 0, 5, 2]))


WRITES = {
    "scatter": lambda x, i: x.scatter(1, i.reshape(1, 3), 2.0),
    "scatter_add": lambda x, i: x.scatter_add(1, i.expand(4, 3), x),
    "scatter_reduce": lambda x, i: x.scatter_reduce(1, i.expand(4, 3), x, "mean"),
    "index_add": lambda x, i: x.index_add(1, i, x[:, :3], alpha=2),
    "index_copy": lambda x, i: x.index_copy(1, i, x[:, :3]),
    "index_fill": lambda x, i: x.index_fill(1, i, 2.0),
    "index_put": lambda x, i: x.T.index_put((i,), x.T[:3]),
    "index_put_beside": lambda x, i: x.index_put((torch.tensor(1), i), x[0, :3]),
    "index_put_selected": lambda x, i: x.T.index_put((i[i < 9],), x.T[1]),
    "scatter_selected": lambda x, i: x[0].scatter(0, i[i < 9], 2.0),
    "put": lambda x, i: x[0].put(i, x[1, :3], accumulate=True),
}


@pytest.mark.parametrize("spelling", ["2024", "2026"])
@pytest.mark.parametrize("function", WRITES.values(), ids=WRITES)
def test_writes_out_of_range_are_refused(function: Any, spelling: str) -> None:
    """As torch does, also below 0 where torch does not count from the end."""
    x, index = torch.arange(20.0).reshape(4, 5), torch.tensor([4, 0, 2])
    compiled = ttmlir.compile(function, x, index, options=f"spelling={spelling}")
    torch.testing.assert_close(compiled(x, index), function(x, index))
    for number in (5, -1, -6):
        outside = torch.tensor([1, number, 2])
        try:
            expected = function(x, outside)
        except (RuntimeError, IndexError):
            with pytest.raises(ttmlir.Error, match=r"written to a dimension of \d+"):
                compiled(x, outside)
        else:
            torch.testing.assert_close(compiled(x, outside), expected)
            assert number == -1
