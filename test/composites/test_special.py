"""Special functions on every pipeline, at poles, ends and between, against SciPy and frameworks.

One table: each function with its oracle in SciPy, in double precision, and its names in torch, JAX
and ttnn. At poles SciPy's word is that of torch and ttnn; XLA's own functions are the oracle there
for programs of JAX and for the interpreter of CHLO.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ttmlir
from ttmlir import ttnn
from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.carriers import ShapeCarrier, array_of
from ttmlir.composites import bessel, special
from ttmlir.composites.special import Poles
from ttmlir.dialects import DIALECTS
from ttmlir.interpreter import execute
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module

torch: Any = import_module("torch")
jax: Any = import_module("jax")
scipy_special: Any = import_module("scipy.special")

Numbers = NDArray[Any]
INF, NAN = float("inf"), float("nan")
POLES = np.array([0.0, -0.0, -1.0, -2.0, -7.0], np.float32)
ENDS = np.array([1.0, 1e30, INF, NAN], np.float32)
NEAR_POLES = np.array([-1e-30, 1e-30, -1e-10, -7 + 1e-5, -7 - 1e-5], np.float32)
BETWEEN = np.array([-7.5, -2.25, -0.5, -1e-3, 1e-3, 0.25, 0.5, 1.5, 2.0, 8.0, 20.5], np.float32)
EDGES = np.concatenate([POLES, ENDS, NEAR_POLES, BETWEEN])


@dataclass(frozen=True)
class Function:
    """One function of one argument under its names."""

    oracle: Callable[[Numbers], Numbers]
    torch: Callable[[Any], Any] | None = None
    jax: Callable[[Any], Any] | None = None
    ttnn: str = ""
    chlo: str = ""
    composite: Callable[..., Array] | None = None
    rtol: float = 3e-6
    arguments: tuple[int, ...] = ()
    """Further arguments of ttnn's function."""
    is_wave: bool = False
    """Whether it passes 0 again and again, where no digits are left to compare."""


def _jax_polygamma(order: int, x: Any) -> Any:
    return jax.lax.polygamma(np.full(x.shape, order, np.float32), x)


def _jax_zeta(exponent: float, x: Any) -> Any:
    return jax.lax.zeta(np.full(x.shape, exponent, np.float32), x)


def _multigammaln(x: float) -> float:
    return float(scipy_special.multigammaln(x, 4)) if x > 1.5 and np.isfinite(x) else NAN


def _polygamma(order: int) -> Function:
    return Function(
        partial(scipy_special.polygamma, order),
        partial(torch.polygamma, order),
        partial(_jax_polygamma, order),
        "polygamma",
        composite=partial(special.polygamma, order),
        rtol=1e-5,
        arguments=(order,),
    )


def _zeta(exponent: float) -> Function:
    return Function(
        partial(scipy_special.zeta, exponent),
        partial(torch.special.zeta, exponent),
        partial(_jax_zeta, exponent),
        composite=partial(special.zeta, exponent),
        rtol=1e-5,
    )


def _airy(x: Numbers) -> Numbers:
    """SciPy's is NaN where it is 0."""
    return np.where(x > 1e3, 0.0, scipy_special.airy(x)[0])


def _bessel(name: str, *, is_wave: bool) -> Function:
    names = {"j": "bessel_", "y": "bessel_", "k": "modified_bessel_"}
    own = f"scaled_modified_bessel_{name[:2]}" if name.endswith("e") else names[name[0]] + name
    return Function(
        getattr(scipy_special, name),
        getattr(torch.special, own),
        composite=getattr(bessel, name),
        rtol=1e-5,
        is_wave=is_wave,
    )


TABLE: dict[str, Function] = {
    **{name: _bessel(name, is_wave=True) for name in ("j0", "j1", "y0", "y1")},
    **{name: _bessel(name, is_wave=False) for name in ("k0", "k1", "k0e", "k1e")},
    "airy_ai": Function(_airy, torch.special.airy_ai, composite=bessel.airy_ai, rtol=2e-5),
    "spherical_j0": Function(
        partial(scipy_special.spherical_jn, 0),
        torch.special.spherical_bessel_j0,
        composite=bessel.spherical_j0,
        is_wave=True,
    ),
    "ndtri": Function(scipy_special.ndtri, torch.special.ndtri, composite=special.ndtri),
    "digamma": Function(
        scipy_special.digamma,
        torch.digamma,
        jax.lax.digamma,
        "digamma",
        "digamma",
        special.digamma,
        1e-5,
    ),
    "lgamma": Function(
        scipy_special.gammaln, torch.lgamma, jax.lax.lgamma, "lgamma", "lgamma", rtol=2e-5
    ),
    "erfinv": Function(
        scipy_special.erfinv, torch.erfinv, jax.lax.erf_inv, "erfinv", "erf_inv", rtol=1e-5
    ),
    "erf": Function(scipy_special.erf, torch.erf, jax.lax.erf, "erf", "erf"),
    "erfc": Function(scipy_special.erfc, torch.erfc, jax.lax.erfc, "erfc", "erfc", rtol=1e-5),
    "i0": Function(scipy_special.i0, torch.i0, None, "i0", composite=bessel.i0),
    "i0e": Function(scipy_special.i0e, torch.special.i0e, None, composite=bessel.i0e),
    "i1": Function(scipy_special.i1, torch.special.i1, None, "i1", composite=bessel.i1),
    "i1e": Function(
        scipy_special.i1e,
        torch.special.i1e,
        jax.lax.bessel_i1e,
        chlo="bessel_i1e",
        composite=bessel.i1e,
    ),
    "erfcx": Function(
        scipy_special.erfcx, torch.special.erfcx, None, composite=special.erfcx, rtol=1e-5
    ),
    "multigammaln": Function(
        np.vectorize(_multigammaln),
        None,
        None,
        "multigammaln",
        composite=partial(special.multigammaln, dimension=4),
        rtol=2e-5,
    ),
    **{f"polygamma_{order}": _polygamma(order) for order in range(1, 5)},
    **{f"zeta_{exponent}": _zeta(exponent) for exponent in (2.0, 3.0, 1.0, 0.5, 7.25)},
}


def expected_of(function: Function, x: Numbers, *, xla: bool) -> Numbers:
    """SciPy's numbers in double precision; at poles XLA's own where they are asked for."""
    with np.errstate(all="ignore"):
        found = np.asarray(function.oracle(x.astype(np.float64)), np.float64)
        if xla:
            assert function.jax is not None, "a function of JAX"
            own = np.asarray(function.jax(x), np.float64)
            found = np.where(np.isin(x, POLES), own, found)
        return found.astype(np.float32).astype(np.float64)


def compare(name: str, found: Any, x: Numbers, *, xla: bool = False) -> None:
    """The same numbers, infinities with their signs, and NaN, at every place."""
    function = TABLE[name]
    expected = expected_of(function, x, xla=xla)
    np.testing.assert_allclose(
        np.asarray(found, np.float64), expected, function.rtol, 3e-6, err_msg=name
    )


def _points(name: str) -> Numbers:
    """Those that SciPy has a number for."""
    return EDGES[(EDGES > 1.75) & (EDGES < 1e20)] if name == "multigammaln" else EDGES


def test_torch() -> None:
    """All functions of torch in one program."""
    functions = {name: each.torch for name, each in TABLE.items() if each.torch}

    def model(x: Any) -> Any:
        return [function(x) for function in functions.values()]

    x = torch.from_numpy(EDGES)
    for name, found in zip(functions, ttmlir.compile(model, x)(x), strict=True):
        compare(name, found, EDGES)


def test_jax() -> None:
    """All functions of JAX in one program."""
    functions = {name: each.jax for name, each in TABLE.items() if each.jax}

    def model(x: Any) -> Any:
        return [function(x) for function in functions.values()]

    for name, found in zip(functions, ttmlir.compile(model, EDGES)(EDGES), strict=True):
        compare(name, found, EDGES, xla=True)


@pytest.mark.parametrize("name", [name for name, each in TABLE.items() if each.ttnn])
def test_ttnn(name: str) -> None:
    """ttnn's own functions, on tensors of float32."""
    points, function = _points(name), TABLE[name]
    device = ttnn.open_device(device_id=0)
    try:
        x = ttnn.from_torch(
            torch.from_numpy(points).reshape(1, -1), layout=ttnn.TILE_LAYOUT, device=device
        )
        found = ttnn.to_torch(getattr(ttnn, function.ttnn)(x, *function.arguments))
    finally:
        ttnn.close_device(device)
    compare(name, found.reshape(-1).numpy(), points)


@pytest.mark.parametrize("name", [name for name, each in TABLE.items() if each.chlo])
def test_interpreter(name: str) -> None:
    """Operations of CHLO as bisection computes them."""
    type_ = f"tensor<{EDGES.size}xf32>"
    text = (
        f"func.func @main(%x: {type_}) -> {type_} {{\n"
        f"  %0 = chlo.{TABLE[name].chlo} %x : {type_} -> {type_}\n  return %0 : {type_}\n}}"
    )
    module = parse_module(text, "program.mlir", make_context(DIALECTS))
    (found,) = execute(module, [EDGES])
    compare(name, found, EDGES, xla=True)


@pytest.mark.parametrize("name", ["polygamma", "zeta"])
def test_interpreter_of_two_operands(name: str) -> None:
    """Orders and exponents that are tensors, at poles as XLA has them."""
    x = np.concatenate([POLES, BETWEEN[4:]])
    pairs = np.array([(n, each) for n in (1, 2, 3) for each in x], np.float32)
    first, second = pairs[:, 0].copy(), pairs[:, 1].copy()
    type_ = f"tensor<{first.size}xf32>"
    text = (
        f"func.func @main(%n: {type_}, %x: {type_}) -> {type_} {{\n"
        f"  %0 = chlo.{name} %n, %x : {type_}, {type_} -> {type_}\n  return %0 : {type_}\n}}"
    )
    (found,) = execute(parse_module(text, "p.mlir", make_context(DIALECTS)), [first, second])
    expected = getattr(jax.lax, name)(first, second)
    np.testing.assert_allclose(found, expected, 2e-5, 1e-6)


@pytest.mark.parametrize("name", [name for name, each in TABLE.items() if each.composite])
@pytest.mark.parametrize(("dtype", "rtol"), [("f32", 5e-6), ("f64", 3e-15)])
def test_precision_is_that_of_the_argument(name: str, dtype: str, rtol: float) -> None:
    """On the host, f64 has all digits that f64 has."""
    function = TABLE[name]
    assert function.composite is not None
    random = np.random.default_rng(3)
    x = np.concatenate([random.uniform(0.2, 40, 200), np.geomspace(1e-4, 80, 60)])
    if name == "multigammaln":
        # Sums of logarithms with and without signs: the row for lgamma has f64 less three digits.
        x, rtol = x[x > 3], max(rtol, 1e-12)
    if name == "digamma":
        # It is 0 at 1.46163.
        x = x[abs(x - 1.46163) > 0.1]
        rtol *= 4
    if name in ("airy_ai", "k0", "k1"):
        # Powers of e lose as many digits as they are large.
        x, rtol = x[x < 10], 20 * rtol
    array = array_of(x, dtype)
    found = function.composite(array)
    assert found.dtype == dtype
    assert found.shape == x.shape
    with np.errstate(all="ignore"):
        expected = np.asarray(function.oracle(array.value.astype(np.float64)))
    inside = np.isnan(expected) | (np.abs(expected) < np.finfo(array.value.dtype).max / 1e20)
    np.testing.assert_allclose(
        found.value[inside], expected[inside], rtol, rtol if function.is_wave else 1e-37
    )


@pytest.mark.parametrize("name", [name for name, each in TABLE.items() if each.composite])
def test_shapes_alone(name: str) -> None:
    """Every function can be followed without numbers, and asks for as many operations."""
    composite = TABLE[name].composite
    assert composite is not None
    carrier = ShapeCarrier()
    found = composite(Array(carrier, None, (3, 5), "f32"))
    assert (found.shape, found.dtype) == ((3, 5), "f32")
    wide = ShapeCarrier()
    composite(Array(wide, None, (3, 5), "f64"))
    assert sum(wide.counts.values()) >= sum(carrier.counts.values())


@pytest.mark.parametrize(("dtype", "atol"), [("f32", 5e-6), ("f64", 2e-12)])
def test_incomplete_gamma_functions(dtype: str, atol: float) -> None:
    """Small and large shapes, near the middle and far from it, and what is outside."""
    random = np.random.default_rng(5)
    a = 10 ** random.uniform(-2, 5, 4000)
    spread = np.where(random.random(a.size) < 0.5, 1.0, 1 / np.sqrt(a))
    x = a * np.exp(random.normal(size=a.size) * spread)
    ends = np.array([(0, 1), (1, 0), (0, 0), (2, INF), (INF, 2), (-1, 2), (2, -1), (NAN, 1)])
    shape, at = (array_of(np.append(*each), dtype) for each in ((a, ends[:, 0]), (x, ends[:, 1])))
    wide = [each.value.astype(np.float64) for each in (shape, at)]
    for function, oracle in (
        (special.igamma, scipy_special.gammainc),
        (special.igammac, scipy_special.gammaincc),
    ):
        found = function(shape, at)
        assert found.dtype == dtype
        np.testing.assert_allclose(found.value, oracle(*wide), 0, atol)


def _sum_of_gammainc(x: Any, a: Any) -> Any:
    return torch.special.gammainc(a, x).sum()


@pytest.mark.exhaustive
def test_incomplete_gamma_functions_of_torch() -> None:
    """Of shapes that are broadcast, with the gradient along x."""
    a, x = torch.rand(4, 1) * 9, torch.rand(5) * 9
    for function in (torch.special.gammainc, torch.special.gammaincc):
        found = ttmlir.compile(function, a, x)(a, x)
        torch.testing.assert_close(found, function(a, x), rtol=1e-5, atol=1e-5)
    gradient = torch.func.grad(_sum_of_gammainc)
    torch.testing.assert_close(
        ttmlir.compile(gradient, x, a)(x, a), gradient(x, a), rtol=1e-4, atol=1e-5
    )


def test_poles_are_a_parameter() -> None:
    """Where torch and XLA say different things of one function."""
    x = array_of(np.array([0.0, -0.0, -3.0, 2.0]))
    right = special.digamma(x).value
    np.testing.assert_array_equal(right[:3], [-INF, INF, NAN])
    both = special.digamma(x, Poles.BOTH_SIDES).value
    np.testing.assert_array_equal(both[:3], [NAN, NAN, NAN])
    assert right[3] == both[3]
    np.testing.assert_array_equal(special.zeta(3.0, x).value[:3], [INF, INF, INF])
    found = special.zeta(3.0, x, Poles.BOTH_SIDES).value
    np.testing.assert_array_equal(found[:3], [NAN, NAN, NAN])


def test_arrays_follow_numpy() -> None:
    """Operators, broadcasting and movement of the vocabulary, on the carrier of NumPy."""
    random = np.random.default_rng(4)
    a, b = random.normal(size=(3, 4)).astype(np.float32), random.normal(size=4).astype(np.float32)
    x, y = array_of(a), array_of(b)
    np.testing.assert_array_equal((1 - x * y / 2 + 3).value, 1 - a * b / 2 + 3)
    np.testing.assert_array_equal((x > y).where(x, 0).value, np.where(a > b, a, 0))
    np.testing.assert_array_equal((-x).abs().sqrt().value, np.sqrt(np.abs(a)))
    np.testing.assert_array_equal(x.transpose().value, a.T)
    np.testing.assert_array_equal(x.pad([(1, 0), (-1, 2)], 7).value, _padded(a))
    np.testing.assert_array_equal(x.cut(1, 1, 3).value, a[:, 1:3])
    np.testing.assert_array_equal(x.reverse(1).value, a[:, ::-1])
    np.testing.assert_array_equal(y.broadcast((3, 4)).value, np.broadcast_to(b, (3, 4)))
    np.testing.assert_array_equal(x.max(0).value, a.max(0, keepdims=True))
    np.testing.assert_allclose((x @ x.transpose()).value, a @ a.T, rtol=1e-6)
    np.testing.assert_array_equal(concatenate([x, x], 1).value, np.concatenate([a, a], 1))
    np.testing.assert_array_equal(x.count(1).value, np.indices(a.shape, np.int32)[1])
    bits = array_of(np.array([0x80000001, 7], np.uint32))
    np.testing.assert_array_equal(((bits << 1) | (bits >> 31)).value, np.array([3, 14], np.uint32))
    np.testing.assert_array_equal(x.bitcast("i32").value, a.view(np.int32))
    assert (x.cast("bf16").dtype, (x > 0).dtype, x.reshape((12,)).shape) == ("bf16", "i1", (12,))
    with pytest.raises(AttributeError, match="no elementwise operation 'sinn'"):
        x.sinn()


def _padded(a: Numbers) -> Numbers:
    wide = np.full((4, 5), 7, np.float32)
    wide[1:, :3] = a[:, 1:]
    return wide
