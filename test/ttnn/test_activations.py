"""Unary functions by name, with parameters, in chains, and golden functions against torch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from ttmlir import ttnn
from ttmlir.ttnn.operations.elementwise.activations import activation_of, apply_activations


@pytest.fixture
def device(tolerant_device: Any) -> Any:
    """Numbers are compared in float32 and in rows, too, where a card takes others only."""
    return tolerant_device


F = torch.nn.functional
X = torch.tensor([-3.0, -1.5, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 25.0])
P = X.abs() + 0.25
U = torch.tensor([0.1, 0.25, 0.5, 0.75, 0.9])

Case = tuple[torch.Tensor, Callable[[torch.Tensor], torch.Tensor], tuple[Any, ...]]
FUNCTIONS: dict[str, Case] = {
    "abs": (X, torch.abs, ()),
    "abs_int32": (X, torch.abs, ()),
    "add_unary_sfpu": (X, lambda x: x + 2.5, (2.5,)),
    "sub_unary_sfpu": (X, lambda x: x - 2.5, (2.5,)),
    "mul_unary_sfpu": (X, lambda x: x * 2.5, (2.5,)),
    "div_unary_sfpu": (X, lambda x: x / 2.5, (2.5,)),
    "rsub": (X, lambda x: 2.5 - x, (2.5,)),
    "rdiv": (P, lambda x: 2.5 / x, (2.5,)),
    "power": (P, lambda x: x**2.5, (2.5,)),
    "power_iterative": (X, lambda x: x**3, (3,)),
    "rpow": (X, lambda x: 2.0**x, (2.0,)),
    "unary_eq": (X, lambda x: (x == 0.5).float(), (0.5,)),
    "unary_ne": (X, lambda x: (x != 0.5).float(), (0.5,)),
    "unary_gt": (X, lambda x: (x > 0.5).float(), (0.5,)),
    "unary_lt": (X, lambda x: (x < 0.5).float(), (0.5,)),
    "unary_ge": (X, lambda x: (x >= 0.5).float(), (0.5,)),
    "unary_le": (X, lambda x: (x <= 0.5).float(), (0.5,)),
    "maximum": (X, lambda x: x.clamp(min=0.5), (0.5,)),
    "minimum": (X, lambda x: x.clamp(max=0.5), (0.5,)),
    "fmod": (X, lambda x: torch.fmod(x, 0.75), (0.75,)),
    "remainder": (X, lambda x: torch.remainder(x, 0.75), (0.75,)),
    "prelu_sfpu": (X, lambda x: F.prelu(x, torch.tensor([0.3])), (0.3,)),
    "celu": (X, F.celu, ()),
    "celu of 2": (X, lambda x: F.celu(x, 2.0), (2.0,)),
    "elu": (X, F.elu, ()),
    "elu of 2": (X, lambda x: F.elu(x, 2.0), (2.0,)),
    "selu": (X, F.selu, ()),
    "softplus": (X, F.softplus, ()),
    "softplus of 2": (X, lambda x: F.softplus(x, 2.0, 3.0), (2.0, 3.0)),
    "leaky_relu": (X, F.leaky_relu, ()),
    "leaky_relu of 0.2": (X, lambda x: F.leaky_relu(x, 0.2), (0.2,)),
    "clamp_tss": (X, lambda x: x.clamp(-0.5, 1.0), (-0.5, 1.0)),
    "hardtanh": (X, F.hardtanh, ()),
    "hardtanh of 2": (X, lambda x: F.hardtanh(x, -0.5, 2.0), (-0.5, 2.0)),
    "hardshrink": (X, F.hardshrink, ()),
    "hardshrink of 1": (X, lambda x: F.hardshrink(x, 1.0), (1.0,)),
    "softshrink": (X, F.softshrink, ()),
    "softshrink of 1": (X, lambda x: F.softshrink(x, 1.0), (1.0,)),
    "threshold": (X, lambda x: F.threshold(x, 0.5, 7.0), (0.5, 7.0)),
    "heaviside": (X, lambda x: torch.heaviside(x, torch.tensor(0.3)), (0.3,)),
    "fill": (X, lambda x: torch.full_like(x, 4.0), (4.0,)),
    "relu_max": (X, lambda x: x.clamp(0, 1.25), (1.25,)),
    "relu_min": (X, lambda x: x.clamp(min=0.75), (0.75,)),
    "gelu_approx": (X, F.gelu, ()),
    "logical_not_unary": (X, lambda x: (x == 0).float(), ()),
    "logsigmoid": (X, F.logsigmoid, ()),
    "log_sigmoid": (X, F.logsigmoid, ()),
    "recip": (P, torch.reciprocal, ()),
    "sigmoid_approx": (X, torch.sigmoid, ()),
    "alt_complex_rotate90": (X, lambda x: torch.stack([-x[1::2], x[::2]], -1).reshape(-1), ()),
    "deg2rad": (X, torch.deg2rad, ()),
    "rad2deg": (X, torch.rad2deg, ()),
    "digamma": (torch.cat([P, torch.tensor([-0.3, -1.7])]), torch.digamma, ()),
    "eqz": (X, lambda x: (x == 0).float(), ()),
    "nez": (X, lambda x: (x != 0).float(), ()),
    "gez": (X, lambda x: (x >= 0).float(), ()),
    "gtz": (X, lambda x: (x > 0).float(), ()),
    "lez": (X, lambda x: (x <= 0).float(), ()),
    "ltz": (X, lambda x: (x < 0).float(), ()),
    "frac": (X + 0.3, torch.frac, ()),
    "hardmish": (X, lambda x: x * (x + 2).clamp(0, 2) / 2, ()),
    "hardswish": (X, F.hardswish, ()),
    "i0": (X[:-1], torch.special.i0, ()),
    "i1": (X[:-1], torch.special.i1, ()),
    "identity": (X, lambda x: x, ()),
    "log10": (P, torch.log10, ()),
    "log2": (P, torch.log2, ()),
    "mish": (X, F.mish, ()),
    "multigammaln": (P + 1.75, lambda x: torch.special.multigammaln(x, 4), ()),
    "relu6": (X, F.relu6, ()),
    "signbit": (X, lambda x: torch.signbit(x).float(), ()),
    "softsign": (X, F.softsign, ()),
    "tanhshrink": (X, F.tanhshrink, ()),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_by_name(name: str) -> None:
    """By the name alone, as a member of the enumeration, with parameters."""
    values, function, parameters = FUNCTIONS[name]
    plain = name.partition(" ")[0]
    member = getattr(ttnn.UnaryOpType, plain.upper())
    expected = function(values).numpy()
    given: Any = parameters[0] if len(parameters) == 1 else parameters or None
    for activation in (
        ttnn.UnaryWithParam(member, given),
        ttnn.UnaryWithParam(member, list(parameters)),
        *(() if parameters else (plain, member)),
    ):
        found = activation_of(activation)(values.numpy())
        np.testing.assert_allclose(found.astype(np.float32), expected, rtol=2e-5, atol=2e-6)
    found = member.function(np, values.numpy(), *parameters)
    np.testing.assert_allclose(found.astype(np.float32), expected, rtol=2e-5, atol=2e-6)


def test_parameters_that_choose_a_speed() -> None:
    """A flag for a faster function of the card, also in a pair: functions are exact here."""
    kinds = ttnn.UnaryOpType
    values = torch.linspace(0.25, 2, 7)
    for member, parameters, function in (
        (kinds.GELU, True, F.gelu),
        (kinds.EXP, False, torch.exp),
        (kinds.RSQRT, 1.0, torch.rsqrt),
        (kinds.SIGMOID, [4, True], torch.sigmoid),
    ):
        pair = () if isinstance(parameters, list) else ((member, parameters),)
        for activation in (ttnn.UnaryWithParam(member, parameters), *pair):
            found = apply_activations(values.numpy(), activation)
            np.testing.assert_allclose(found, function(values).numpy(), rtol=2e-5)
    found = apply_activations(values.numpy(), (kinds.POWER, 3.0))
    np.testing.assert_allclose(found, values.numpy() ** 3, rtol=1e-6)
    found = apply_activations(values.numpy(), (kinds.RELU, kinds.EXP))
    np.testing.assert_allclose(found, torch.exp(values).numpy(), rtol=2e-5)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("power", [], r"'power' are \(exponent\), but 0 were given; .*UnaryOpType\.POWER, \["),
        ("relu", [1.0], r"'relu' are \(\), but 1 were given"),
        ("softplus", [1.0, 2.0, 3.0], r"'softplus' are \(beta, threshold\), but 3 were given"),
        ("gelu", [1.0, 2.0], r"'gelu' are \(\), but 2 were given"),
    ],
)
def test_wrong_numbers_of_parameters(name: str, parameters: list[float], message: str) -> None:
    """Too few and too many are refused before anything is computed."""
    with pytest.raises(ValueError, match=message):
        activation_of(ttnn.UnaryWithParam(getattr(ttnn.UnaryOpType, name.upper()), parameters))


def test_special_numbers() -> None:
    """Infinities and NaN are told apart."""
    values = np.array([np.inf, -np.inf, np.nan, 1.0], np.float32)
    expected = {
        "isinf": [1, 1, 0, 0],
        "isnan": [0, 0, 1, 0],
        "isposinf": [1, 0, 0, 0],
        "isneginf": [0, 1, 0, 0],
    }
    for name, numbers in expected.items():
        assert activation_of(name)(values).astype(int).tolist() == numbers


def test_chains(device: Any) -> None:
    """One function after another; a single one needs no list."""
    values = X.numpy()
    np.testing.assert_array_equal(apply_activations(values, "relu"), np.maximum(values, 0))
    chain = ["relu", ttnn.UnaryWithParam(ttnn.UnaryOpType.RSUB, 1.0)]
    np.testing.assert_array_equal(apply_activations(values, chain), 1 - np.maximum(values, 0))
    np.testing.assert_array_equal(
        apply_activations(values, tuple(reversed(chain))), np.maximum(1 - values, 0)
    )
    x = ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT, device=device)
    assert ttnn.unary_chain(x, chain).to_list() == (1 - X.relu()).tolist()
    with pytest.raises(ValueError, match="unknown activation 'no'; known are abs, abs_int32, acos"):
        activation_of("no")


def test_functions_with_parameters() -> None:
    """Equal if function and parameters are; printed as the call that makes them."""
    kinds = ttnn.UnaryOpType
    power = ttnn.UnaryWithParam(kinds.POWER, 2.0)
    assert repr(power) == "UnaryWithParam(UnaryOpType.POWER, 2.0)"
    assert repr(ttnn.UnaryWithParam(kinds.RELU)) == "UnaryWithParam(UnaryOpType.RELU)"
    assert (power.op_type, power.params) == (kinds.POWER, (2.0,))
    assert ttnn.UnaryWithParam(kinds.CLAMP_TSS, (0, 1)).params == (0, 1)
    assert power == ttnn.UnaryWithParam(kinds.POWER, [2.0])
    assert hash(power) == hash(ttnn.UnaryWithParam(kinds.POWER, [2.0]))
    assert power != ttnn.UnaryWithParam(kinds.POWER, 3.0)
    assert power != ttnn.UnaryWithParam(kinds.RSUB, 2.0)
    assert power != "power"


@pytest.mark.parametrize("eps", [None, 0.2])
def test_logit(eps: float | None, device: Any) -> None:
    """Of numbers that are limited, if there is an eps."""
    x = ttnn.from_torch(U, layout=ttnn.TILE_LAYOUT, device=device)
    found = ttnn.to_torch(ttnn.logit(x) if eps is None else ttnn.logit(x, eps=eps))
    torch.testing.assert_close(found, torch.logit(U, eps), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["glu", "reglu", "geglu", "swiglu"])
@pytest.mark.parametrize("dim", [-1, 3])
def test_gated_units(name: str, dim: int, device: Any) -> None:
    """The first half times a function of the second, neither of them whole numbers."""
    values = torch.linspace(-2.7, 3.1, 2 * 3 * 8).reshape(1, 2, 3, 8)
    first, second = values.chunk(2, dim)
    gate = {"glu": torch.sigmoid, "reglu": torch.relu, "geglu": F.gelu, "swiglu": F.silu}[name]
    x = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)
    found = ttnn.to_torch(getattr(ttnn, name)(x, dim))
    torch.testing.assert_close(found, first * gate(second), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("weights", [[0.25], [0.1, 0.5, 2.0]])
def test_prelu(weights: list[float], device: Any) -> None:
    """One weight, or one for each channel, which is the second dimension."""
    values = torch.linspace(-3, 3, 2 * 3 * 4).reshape(2, 3, 4)
    x = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)
    expected = F.prelu(values, torch.tensor(weights))
    weight = ttnn.from_torch(torch.tensor(weights), layout=ttnn.TILE_LAYOUT, device=device)
    torch.testing.assert_close(ttnn.to_torch(ttnn.prelu(x, weight)), expected)


def test_comparisons_within_tolerances(device: Any) -> None:
    """As torch's isclose, with NaN equal to itself if that is asked for."""
    a = torch.tensor([1.0, 1.0, 1.0, math.nan, 100.0, 0.0])
    b = torch.tensor([1.0, 1.05, 1.5, math.nan, 104.0, 0.04])
    x, y = (ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in (a, b))
    for options in (
        {},
        {"rtol": 0.1, "atol": 0.0},
        {"rtol": 0.0, "atol": 0.06},
        {"equal_nan": True},
    ):
        found = ttnn.to_torch(ttnn.isclose(x, y, **options))
        assert found.tolist() == torch.isclose(a, b, **options).float().tolist()


def test_golden_products() -> None:
    """Transposed operands, a bias, an activation; factors of a sum."""
    a, b, c = (torch.randn(*shape) for shape in ((3, 5), (5, 2), (2,)))
    linear = ttnn.get_golden_function(ttnn.linear)
    torch.testing.assert_close(linear(a, b), a @ b)
    torch.testing.assert_close(linear(a, b, bias=c), a @ b + c)
    torch.testing.assert_close(linear(a, b, bias=c, activation="relu"), (a @ b + c).relu())
    torch.testing.assert_close(linear(a.T, b, transpose_a=True), a @ b)
    matmul = ttnn.get_golden_function(ttnn.matmul)
    torch.testing.assert_close(matmul(a, b.T, transpose_b=True), a @ b)
    torch.testing.assert_close(matmul(a.T, b.T, transpose_a=True, transpose_b=True), a @ b)
    addmm = ttnn.get_golden_function(ttnn.addmm)
    added = torch.randn(3, 2)
    torch.testing.assert_close(addmm(added, a, b, alpha=2, beta=3), 3 * added + 2 * (a @ b))
    torch.testing.assert_close(addmm(added, a, b), added + a @ b)


def test_golden_norms_and_reductions() -> None:
    """Weights, biases and residuals; one dimension or all."""
    x, y, w, b = (torch.randn(*shape) for shape in ((3, 8), (3, 8), (1, 8), (1, 8)))
    layer = ttnn.get_golden_function(ttnn.layer_norm)
    norm = F.layer_norm
    torch.testing.assert_close(layer(x), norm(x, (8,), eps=1e-12))
    full = layer(x, epsilon=1e-3, weight=w, bias=b, residual_input_tensor=y)
    torch.testing.assert_close(full, norm(x + y, (8,), w[0], b[0], 1e-3))
    rms = ttnn.get_golden_function(ttnn.rms_norm)
    plain = x / (x.pow(2).mean(-1, keepdim=True) + 1e-3).sqrt()
    torch.testing.assert_close(rms(x, epsilon=1e-3), plain)
    torch.testing.assert_close(rms(x, epsilon=1e-3, weight=w, bias=b), plain * w + b)
    for name in ("mean", "sum", "prod", "argmax"):
        golden, function = ttnn.get_golden_function(getattr(ttnn, name)), getattr(torch, name)
        torch.testing.assert_close(golden(x), function(x))
        torch.testing.assert_close(golden(x, 1), function(x, 1))
        torch.testing.assert_close(golden(x, 1, True), function(x, 1, keepdim=True))
    for name in ("var", "std"):
        golden, function = ttnn.get_golden_function(getattr(ttnn, name)), getattr(torch, name)
        torch.testing.assert_close(golden(x), function(x))
        torch.testing.assert_close(golden(x, correction=False), function(x, correction=0))
        torch.testing.assert_close(golden(x, 0, correction=False), function(x, 0, correction=0))


def test_golden_movements() -> None:
    """Torch's functions of the same name."""
    x = torch.rand(1, 4, 6)
    golden = ttnn.get_golden_function
    assert golden(ttnn.concat)([x, x], 1).equal(torch.cat([x, x], 1))
    assert [each.shape for each in golden(ttnn.split)(x, 4, 2)] == [(1, 4, 4), (1, 4, 2)]
    assert golden(ttnn.squeeze)(x).shape == golden(ttnn.squeeze)(x, 0).shape == (4, 6)
    torch.testing.assert_close(golden(ttnn.logit)(x, eps=0.1), torch.logit(x, 0.1))


def test_fallback_functions(device: Any) -> None:
    """Tensors go to torch and come back in their layout and memory."""
    x = ttnn.from_torch(X, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    found = ttnn.get_fallback_function(ttnn.abs)(x)
    assert (found.dtype, found.layout, found.device()) == (ttnn.bfloat16, x.layout, device)
    assert found.to_list() == X.abs().tolist()
    parts = ttnn.get_fallback_function(ttnn.split)(x, 5, 0)
    assert [each.shape for each in parts] == [(5,), (5,), (2,)]
    with pytest.raises(RuntimeError, match=r"a fallback function takes at least one ttnn\.Tensor"):
        ttnn.get_fallback_function(ttnn.abs)(X)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1, 2, 3], [1, 2, 3], 1.0),
        ([1, 2, 3], [3, 2, 1], -1.0),
        ([math.nan, math.nan], [math.nan, math.nan], 1.0),
        ([math.nan, math.nan], [1, 2], 0.0),
        ([1, 2], [math.nan, math.nan], 0.0),
        ([0, 0, 0], [1, 2, 3], 0.0),
        ([1, math.inf, 3], [1, -math.inf, 3], 1.0),
        ([1, 2, 3, 5], [1, 2, 4, 4], 6.75 / math.sqrt(8.75 * 6.75)),
    ],
)
def test_correlations(first: list[float], second: list[float], expected: float) -> None:
    """Equal numbers correlate, nothing and something do not."""
    found = ttnn.pearson_correlation_coefficient(torch.tensor(first), torch.tensor(second))
    assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("reduce", [None, "add", "multiply", "amax", "amin"])
def test_scattered_numbers(reduce: str | None, device: Any) -> None:
    """Several at one place are combined; without a way to, there is one at each."""
    values, source = torch.rand(3, 4) + 1, torch.rand(3, 5) + 0.5
    index = torch.tensor([[0, 2], [3, 1], [2, 0]] if reduce is None else [[0, 0], [3, 3], [2, 0]])
    x, s = (ttnn.from_torch(t, layout=ttnn.TILE_LAYOUT, device=device) for t in (values, source))
    i = ttnn.from_torch(index, ttnn.uint32, layout=ttnn.TILE_LAYOUT, device=device)
    found = ttnn.to_torch(ttnn.scatter(x, 1, i, s, reduce=reduce))
    names = {"add": "sum", "multiply": "prod", "amax": "amax", "amin": "amin"}
    if reduce is None:
        expected = values.scatter(1, index, source)
    else:
        expected = values.scatter_reduce(1, index, source, names[reduce])
    torch.testing.assert_close(found, expected)


def test_orders_of_polygamma(device: Any) -> None:
    """Those from 1 to 11."""
    x = ttnn.full((2, 3), 2.5, ttnn.float32, ttnn.TILE_LAYOUT, device)
    for order in (1, 5, 10, 11):
        found = ttnn.to_torch(ttnn.polygamma(x, k=order)).double()
        expected = torch.polygamma(order, torch.full((2, 3), 2.5, dtype=torch.float64))
        assert torch.allclose(found, expected, rtol=1e-5)
    for wrong in (0, 12, 1.5, True):
        with pytest.raises(RuntimeError, match="k is an order from 1 to 11"):
            ttnn.polygamma(x, wrong)
