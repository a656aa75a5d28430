"""What operations on elements compute that only ttnn has: functions as the reference of a row.

They take NumPy, then arrays or numbers, then parameters by name.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any

from ttmlir.arrays import array
from ttmlir.arrays.carriers import on_numbers
from ttmlir.composites import bessel, special
from ttmlir.errors import ArgumentError, plural
from ttmlir.optable import DEFINITIONS
from ttmlir.optable.elementwise import sigmoid
from ttmlir.optable.op_definition import Family
from ttmlir.optable.special import gelu, log_sigmoid, mish, softsign, take_fraction
from ttmlir.runtime.execution.kernels import KERNELS
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.signature import spell_value


class Takes(Enum):
    """The numbers that ttnn has an operation for."""

    ALL = "all"
    FLOATS = "floating point"
    INTEGERS = "integers"


Reference = Callable[..., Array]
"""`reference(np, *arrays, **parameters)`, as the reference function of a row."""


def reference_of(mnemonic: str) -> Reference:
    """What the runtime computes for a row."""
    return KERNELS.get(mnemonic, DEFINITIONS[mnemonic].reference)


UNARY_OPERATIONS = tuple(
    definition.mnemonic
    for definition in DEFINITIONS.values()
    if definition.family is Family.UNARY
    and not definition.parameters
    and not definition.takes_types
)
"""Rows of functions of one operand without parameters."""


def celu(xp: Any, x: Any, *, alpha: float) -> Any:
    """x, or alpha * (exp(x / alpha) - 1) below 0."""
    return xp.where(x >= 0, x, alpha * xp.expm1(xp.minimum(x, 0) / alpha))


def logit(xp: Any, x: Any, *, eps: float | None) -> Any:
    """ln(x / (1 - x)), of x limited to [eps, 1 - eps] if there is an eps."""
    inside = x if eps is None else xp.clip(x, eps, 1 - eps)
    return xp.log(inside / (1 - inside))


def clamp(xp: Any, x: Any, *, min: Any, max: Any) -> Any:
    """The nearest number within the limits, either of which may be missing; both are wrong."""
    if min is None and max is None:
        raise ArgumentError("only one of 'min' and 'max' may be None")
    result = x if min is None else xp.maximum(x, xp.asarray(min, x.dtype))
    return result if max is None else xp.minimum(result, xp.asarray(max, x.dtype))


def _require_rank(x: Any, rank: int) -> None:
    """ValueError for fewer dimensions."""
    if x.ndim < rank:
        raise ArgumentError(f"it takes at least {plural(rank, 'dimension')}, not {x.ndim}")


def triangle(function: str) -> Any:
    """The lower or upper triangle of matrices, 0 elsewhere."""

    def reference(xp: Any, x: Any, *, diagonal: int) -> Any:
        _require_rank(x, 1)
        # A vector is the row of a matrix.
        rows = x[None] if x.ndim == 1 else x
        return getattr(xp, function)(rows, diagonal).reshape(x.shape)

    return reference


def rotate90(xp: Any, x: Any) -> Any:
    """Pairs (a, b) along the last dimension become (-b, a)."""
    _require_rank(x, 1)
    if x.shape[-1] % 2:
        raise ArgumentError(f"the last extent, {x.shape[-1]}, is odd: it makes no pairs")
    pairs = x.reshape(*x.shape[:-1], x.shape[-1] // 2, 2)
    return xp.stack([-pairs[..., 1], pairs[..., 0]], axis=-1).reshape(x.shape)


def _special(function: Callable[..., array.Array]) -> Callable[[Any, Any], Any]:
    """A function of `ttmlir.composites`, computed in f64."""
    on_arrays = on_numbers(function)
    return lambda xp, x: on_arrays(x)


def polygamma(xp: Any, x: Any, k: Any) -> Any:
    """The derivative of digamma of an order from 1 to 11, as many as a card has."""
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= 11:
        raise ArgumentError(f"k is an order from 1 to 11, not {k!r}; ttnn.digamma has order 0")
    return on_numbers(partial(special.polygamma, k))(x)


def glu(activation: str) -> Any:
    """The first half along a dimension times a function of the second."""

    def reference(xp: Any, x: Any, *, dim: int) -> Any:
        if not -x.ndim <= dim < x.ndim:
            raise ArgumentError(
                f"dimension {dim} is out of range for {plural(x.ndim, 'dimension')}"
            )
        if x.shape[dim] % 2:
            raise ArgumentError(
                f"dimension {dim} has {x.shape[dim]} elements, which make no halves"
            )
        first, second = xp.split(x, 2, axis=dim)
        match activation:
            case "sigmoid":
                return first * sigmoid(xp, second)
            case "relu":
                return first * xp.maximum(second, 0)
            case "gelu":
                return first * gelu(xp, second)
            case _:
                return first * second * sigmoid(xp, second)

    return reference


def relu_min(xp: Any, x: Any, lower_limit: float) -> Any:
    """x, or the limit below it."""
    return xp.maximum(x, lower_limit)


def raise_number(xp: Any, x: Any, exponent: float) -> Any:
    """A number, which ttnn calls exponent, to the power of x."""
    return xp.power(x.dtype.type(exponent), x)


def fill(xp: Any, x: Any, fill_value: float) -> Any:
    """One number everywhere."""
    return xp.full_like(x, fill_value)


def threshold(xp: Any, x: Any, threshold: float, value: float) -> Any:
    """x where it is above the threshold, else `value`."""
    return xp.where(x > threshold, x, value)


def hardtanh(xp: Any, x: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """x within limits."""
    return xp.clip(x, min_val, max_val)


def hardshrink(xp: Any, x: Any, lambd: float = 0.5) -> Any:
    """x, but 0 where it is at most `lambd` in size; NaN stays."""
    return xp.where(xp.abs(x) <= lambd, 0, x)


def sign(xp: Any, x: Any) -> Any:
    """-1, 0 or 1; 0 of NaN, as in torch, of which compiled programs keep NaN."""
    return xp.where(xp.isnan(x), xp.zeros_like(x), xp.sign(x))


def softshrink(xp: Any, x: Any, lambd: float = 0.5) -> Any:
    """x nearer to 0 by `lambd`."""
    return xp.sign(x) * xp.maximum(xp.abs(x) - lambd, 0)


def softcap(xp: Any, x: Any, beta: float) -> Any:
    """x, which nears `beta` and -`beta` and never passes them."""
    return beta * xp.tanh(x / beta)


def xielu(xp: Any, x: Any, alpha_p: float, alpha_n: float) -> Any:
    """The integral of an exponential linear unit: a parabola above 0, near a line below."""
    below = alpha_n * (xp.expm1(xp.minimum(x, -1e-6)) - x)
    return xp.where(x > 0, alpha_p * xp.square(x), below) + 0.5 * x


def snake(xp: Any, x: Any, alpha: Any, beta: Any) -> Any:
    """x + sin(alpha * x)^2 / beta."""
    return x + xp.square(xp.sin(alpha * x)) / beta


def clamped_silu_glu(xp: Any, gate: Any, up: Any, limit: float) -> Any:
    """silu of the gate, which `limit` bounds above, times the other, which it bounds twice."""
    gate = xp.minimum(gate, limit)
    return gate * sigmoid(xp, gate) * xp.clip(up, -limit, limit)


def situ_glu(xp: Any, gate: Any, up: Any, beta1: float, beta2: float) -> Any:
    """Both operands capped, and the sigmoid of the gate: their product."""
    return softcap(xp, gate, beta1) * sigmoid(xp, gate) * softcap(xp, up, beta2)


def divide_number(xp: Any, x: Any, value: float, rounding_mode: str | None = None) -> Any:
    """A number divided by x."""
    return divide(xp, xp.full_like(x, value), x, rounding_mode=rounding_mode)


APPROXIMATED: dict[str, Callable[[Any, Any], Any]] = {
    "log10": lambda xp, x: xp.log10(x),
    "log2": lambda xp, x: xp.log2(x),
    "tanhshrink": lambda xp, x: x - xp.tanh(x),
}
"""Functions of floating point that a card can approximate, as the next."""
PLAIN: dict[Takes, dict[str, Callable[[Any, Any], Any]]] = {
    Takes.FLOATS: {
        "rad2deg": lambda xp, x: xp.rad2deg(x),
        "deg2rad": lambda xp, x: xp.deg2rad(x),
        "alt_complex_rotate90": rotate90,
        "digamma": _special(special.digamma),
        "frac": take_fraction,
        "hardmish": lambda xp, x: x * xp.clip(x + 2, 0, 2) / 2,
        "hardswish": lambda xp, x: x * xp.clip(x + 3, 0, 6) / 6,
        "i0": _special(bessel.i0),
        "i1": _special(bessel.i1),
        "isinf": lambda xp, x: xp.isinf(x),
        "isnan": lambda xp, x: xp.isnan(x),
        "isneginf": lambda xp, x: xp.isneginf(x),
        "isposinf": lambda xp, x: xp.isposinf(x),
        "log_sigmoid": log_sigmoid,
        "mish": mish,
        "multigammaln": _special(partial(special.multigammaln, dimension=4)),
        "sign": sign,
        "softsign": softsign,
    },
    Takes.ALL: {
        "eqz": lambda xp, x: x == 0,
        "gez": lambda xp, x: x >= 0,
        "gtz": lambda xp, x: x > 0,
        "identity": lambda xp, x: x,
        "lez": lambda xp, x: x <= 0,
        "ltz": lambda xp, x: x < 0,
        "nez": lambda xp, x: x != 0,
        "relu6": lambda xp, x: xp.clip(x, 0, 6),
        "signbit": lambda xp, x: xp.signbit(x),
    },
}
"""Functions of one operand that have no definition in `optable` and no parameters, by name."""


# Two operands.


def divide(xp: Any, a: Any, b: Any, *, rounding_mode: Any = None) -> Any:
    """Quotient, rounded toward 0 by `trunc` and down by `floor`; of integers, a fraction."""
    if rounding_mode is not None and not (
        isinstance(rounding_mode, str) and rounding_mode in ("trunc", "floor")
    ):
        raise ArgumentError(
            f"rounding_mode is None, 'trunc' or 'floor', not {spell_value(rounding_mode)}"
        )
    a = a if a.dtype.kind == "f" else a.astype(xp.float64)
    quotient = xp.true_divide(a, b)
    if rounding_mode is None:
        return quotient
    return xp.trunc(quotient) if rounding_mode == "trunc" else xp.floor(quotient)


def divide_no_nan(xp: Any, a: Any, b: Any) -> Any:
    """Quotient, and 0 where the divisor is 0."""
    return xp.where(b == 0, 0, xp.true_divide(a, b))


def xlogy(xp: Any, a: Any, b: Any) -> Any:
    """a * ln(b), 0 where a is 0; NaN where b is negative or NaN."""
    return xp.where((a == 0) & ~xp.isnan(b), 0, a * xp.log(b))


def isclose(xp: Any, a: Any, b: Any, *, rtol: float, atol: float, equal_nan: bool) -> Any:
    """1 where numbers differ by atol + rtol * |b| at most, else 0."""
    return xp.isclose(a, b, rtol, atol, equal_nan)


def polyval(xp: Any, a: Any, *, coeffs: Any) -> Any:
    """The value of the polynomial whose coefficients these are, the highest first."""
    if not len(coeffs):
        raise ArgumentError("coeffs is empty; a polynomial has at least one coefficient")
    result = xp.zeros_like(a)
    for coefficient in coeffs:
        result = result * a + coefficient
    return result


def outer(xp: Any, a: Any, b: Any) -> Any:
    """All products of an element of one vector and one of another; other dimensions broadcast."""
    if not a.ndim or not b.ndim:
        raise ArgumentError("it takes vectors, not tensors without dimensions")
    return a[..., None] * b[..., None, :]


def add_scaled(xp: Any, a: Any, b: Any, *, alpha: float) -> Any:
    """a + alpha * b."""
    return a + alpha * b


def subtract_scaled(xp: Any, a: Any, b: Any, *, alpha: float) -> Any:
    """a - alpha * b."""
    return a - alpha * b


PLAIN_BINARY: dict[str, Callable[[Any, Any, Any], Any]] = {
    "bias_gelu": lambda xp, a, b: gelu(xp, a + b),
    "div_no_nan": divide_no_nan,
    "floor_div": lambda xp, a, b: xp.floor(xp.true_divide(a, b)),
    "gcd": lambda xp, a, b: xp.gcd(a, b),
    "hypot": lambda xp, a, b: xp.hypot(a, b),
    "lcm": lambda xp, a, b: xp.lcm(a, b),
    "ldexp": lambda xp, a, b: a * xp.exp2(b),
    "logaddexp": lambda xp, a, b: xp.logaddexp(a, b),
    "logaddexp2": lambda xp, a, b: xp.logaddexp2(a, b),
    "nextafter": lambda xp, a, b: xp.nextafter(a, b),
    "outer": outer,
    "remainder": lambda xp, a, b: xp.remainder(a, b),
    "rsub": lambda xp, a, b: b - a,
    "squared_difference": lambda xp, a, b: xp.square(a - b),
    "xlogy": xlogy,
}
"""Functions of two operands that have no definition in `optable` and no parameters, by name."""
