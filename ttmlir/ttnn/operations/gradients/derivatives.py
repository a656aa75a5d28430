"""Derivatives of operations on elements, by the names of the operations.

Each takes NumPy, the operands and the parameters of its operation in order, and returns the
derivative with respect to the operand, or one for each of several. Where there is none, at a kink
or a step, it is what torch takes for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from ttmlir.arrays.carriers import on_numbers
from ttmlir.composites import bessel, special
from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.optable.elementwise import sigmoid
from ttmlir.ttnn.operations.elementwise import semantics
from ttmlir.ttnn.operations.elementwise.semantics import Reference, reference_of
from ttmlir.ttnn.operations.signature import spell_value
from ttmlir.ttnn.types.enums import GeluVariant

Derivative = Callable[..., Any]
"""`derivative(np, *operands, *parameters)`: the derivative, or one for each operand."""

_digamma = on_numbers(special.digamma)
_i1 = on_numbers(bessel.i1)
_erf = reference_of("erf")


def _one(xp: Any, *operands: Any) -> Any:
    return xp.ones_like(operands[0])


def _zero(xp: Any, *operands: Any) -> Any:
    return xp.zeros_like(operands[0])


def _is_tanh(variant: Any) -> bool:
    """Whether gelu is the approximation by tanh; TypeError for what is no `ttnn.GeluVariant`."""
    if variant is not None and not isinstance(variant, GeluVariant):
        raise ArgumentTypeError(f"variant is a ttnn.GeluVariant, not {spell_value(variant)}")
    return variant is GeluVariant.Tanh


def _gelu(xp: Any, x: Any, by_tanh: bool) -> Any:
    """Of x times the normal distribution, or of its approximation by tanh."""
    if by_tanh:
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2)
        tanh = xp.tanh(inner)
        return 0.5 * (1 + tanh) + 0.5 * x * (1 - tanh**2) * slope
    density = xp.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return 0.5 * (1 + _erf(xp, x / math.sqrt(2))) + x * density


def _silu(xp: Any, x: Any) -> Any:
    share = sigmoid(xp, x)
    return share * (1 + x * (1 - share))


def _sigmoid(xp: Any, x: Any) -> Any:
    share = sigmoid(xp, x)
    return share * (1 - share)


def _within(xp: Any, x: Any, low: Any, high: Any) -> Any:
    """1 from `low` to `high`, either of which may be missing, else 0."""
    inside = xp.ones_like(x, dtype=bool)
    for limit, compare in ((low, xp.greater_equal), (high, xp.less_equal)):
        if limit is not None:
            inside = inside & compare(x, getattr(limit, "array", limit))
    return inside


def _clamp(xp: Any, x: Any, low: Any, high: Any) -> Any:
    semantics.clamp(xp, xp.zeros(0, x.dtype), min=_number(low), max=_number(high))
    return _within(xp, x, low, high)


def _number(limit: Any) -> Any:
    return 0 if hasattr(limit, "array") else limit


def _polygamma(xp: Any, x: Any, n: int) -> Any:
    return semantics.polygamma(xp, x, n + 1)


def _multigammaln(xp: Any, x: Any) -> Any:
    return sum(_digamma(x - half / 2) for half in range(4))


def _logit_within(xp: Any, x: Any, eps: float) -> Any:
    """Of the logarithm of odds; 0 beyond eps and 1 - eps, which is no number if eps is negative."""
    low, high = (eps, 1 - eps)
    return xp.where((x < low) | (x > high), 0.0, 1 / (x * (1 - x)))


def _softplus(xp: Any, x: Any, beta: float, threshold: float) -> Any:
    return xp.where(x * beta > threshold, 1.0, sigmoid(xp, x * beta))


def _power(xp: Any, x: Any, exponent: float) -> Any:
    if exponent < 0:
        raise ArgumentError(f"exponent={exponent} is negative; use ttnn.reciprocal of ttnn.pow")
    return xp.zeros_like(x) if exponent == 0 else exponent * x ** (exponent - 1)


def _divided(xp: Any, x: Any, scalar: float, rounding_mode: Any) -> Any:
    """Of a number by x."""
    semantics.divide(xp, xp.ones(1), xp.ones(1), rounding_mode=rounding_mode)
    return xp.zeros_like(x) if rounding_mode else -scalar / (x * x)


_UNARY: dict[str, Callable[[Any, Any], Any]] = {
    "abs": lambda xp, x: xp.sign(x),
    "acos": lambda xp, x: -1 / xp.sqrt(1 - x * x),
    "acosh": lambda xp, x: 1 / xp.sqrt(x * x - 1),
    "asin": lambda xp, x: 1 / xp.sqrt(1 - x * x),
    "asinh": lambda xp, x: 1 / xp.sqrt(x * x + 1),
    "atan": lambda xp, x: 1 / (1 + x * x),
    "atanh": lambda xp, x: 1 / (1 - x * x),
    "ceil": _zero,
    "cos": lambda xp, x: -xp.sin(x),
    "cosh": lambda xp, x: xp.sinh(x),
    "deg2rad": lambda xp, x: xp.full_like(x, math.pi / 180, dtype=xp.float32),
    "digamma": lambda xp, x: on_numbers(partial(special.polygamma, 1))(x),
    "erf": lambda xp, x: 2 / math.sqrt(math.pi) * xp.exp(-x * x),
    "erfc": lambda xp, x: -2 / math.sqrt(math.pi) * xp.exp(-x * x),
    "erfinv": lambda xp, x: (
        math.sqrt(math.pi) / 2 * xp.exp(xp.square(reference_of("erfinv")(xp, x)))
    ),
    "exp": lambda xp, x: xp.exp(x),
    "exp2": lambda xp, x: math.log(2) * xp.exp2(x),
    "expm1": lambda xp, x: xp.exp(x),
    "fill": _zero,
    "fill_zero": _zero,
    "floor": _zero,
    "frac": _one,
    "hardsigmoid": lambda xp, x: xp.where((x > -3) & (x < 3), 1 / 6, 0.0),
    "hardswish": lambda xp, x: xp.where(x <= -3, 0.0, xp.where(x < 3, x / 3 + 0.5, 1.0)),
    "i0": lambda xp, x: _i1(x),
    "lgamma": lambda xp, x: _digamma(x),
    "log": lambda xp, x: 1 / x,
    "log10": lambda xp, x: 1 / (x * math.log(10)),
    "log1p": lambda xp, x: 1 / (x + 1),
    "log2": lambda xp, x: 1 / (x * math.log(2)),
    "log_sigmoid": lambda xp, x: sigmoid(xp, -x),
    "logit": lambda xp, x: 1 / (x * (1 - x)),
    "multigammaln": _multigammaln,
    "neg": lambda xp, x: -_one(xp, x),
    "rad2deg": lambda xp, x: xp.full_like(x, 180 / math.pi, dtype=xp.float32),
    "reciprocal": lambda xp, x: -1 / (x * x),
    "relu": lambda xp, x: x > 0,
    "relu6": lambda xp, x: (x > 0) & (x < 6),
    "round": _zero,
    "rsqrt": lambda xp, x: -0.5 / (x * xp.sqrt(x)),
    "selu": lambda xp, x: (
        1.0507009873554805 * xp.where(x > 0, 1, 1.6732632423543772 * xp.exp(xp.minimum(x, 0)))
    ),
    "sigmoid": _sigmoid,
    "sign": _zero,
    "silu": _silu,
    "sin": lambda xp, x: xp.cos(x),
    "sinh": lambda xp, x: xp.cosh(x),
    "softsign": lambda xp, x: 1 / xp.square(1 + xp.abs(x)),
    "sqrt": lambda xp, x: 0.5 / xp.sqrt(x),
    "square": lambda xp, x: 2.0 * x,
    "tan": lambda xp, x: 1 + xp.square(xp.tan(x)),
    "tanh": lambda xp, x: 1 - xp.square(xp.tanh(x)),
    "tanhshrink": lambda xp, x: xp.square(xp.tanh(x)),
    "trunc": _zero,
}
_UNARY_WITH_ONE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "celu": lambda xp, x, alpha: xp.where(x > 0, 1, xp.exp(xp.minimum(x, 0) / alpha)),
    "div_no_nan": lambda xp, x, scalar: xp.zeros_like(x) if scalar == 0 else _one(xp, x) / scalar,
    "elu": lambda xp, x, alpha: xp.where(x > 0, 1, alpha * xp.exp(xp.minimum(x, 0))),
    "gelu": lambda xp, x, variant: _gelu(xp, x, by_tanh=_is_tanh(variant)),
    "hardshrink": lambda xp, x, lambd: xp.abs(x) > lambd,
    "leaky_relu": lambda xp, x, negative_slope: xp.where(x > 0, 1, negative_slope),
    "logiteps": _logit_within,
    "polygamma": _polygamma,
    "pow": _power,
    "rpow": lambda xp, x, exponent: xp.log(exponent) * xp.power(float(exponent), x),
    "softshrink": lambda xp, x, lambd: xp.abs(x) > lambd,
}
_UNARY_WITH_TWO: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "clamp": _clamp,
    "clip": _clamp,
    "hardtanh": lambda xp, x, low, high: (x > low) & (x < high),
    "rdiv": _divided,
    "softplus": _softplus,
    "threshold": lambda xp, x, low, high: x > low,
}

UNARY: dict[str, Derivative] = {**_UNARY, **_UNARY_WITH_ONE, **_UNARY_WITH_TWO}
"""Of one operand."""


def _quotient(xp: Any, a: Any, b: Any, rounding_mode: Any) -> Any:
    semantics.divide(xp, xp.ones(1), xp.ones(1), rounding_mode=rounding_mode)
    if rounding_mode:
        return xp.zeros_like(a), xp.zeros_like(b)
    return 1 / b, -a / (b * b)


def _arc(xp: Any, a: Any, b: Any) -> Any:
    square = a * a + b * b
    return b / square, -a / square


def _hypotenuse(xp: Any, a: Any, b: Any) -> Any:
    length = xp.hypot(a, b)
    return a / length, b / length


def _share(function: str) -> Reference:
    """Of the logarithm of a sum of powers: which share each has in the sum."""

    def derivative(xp: Any, a: Any, b: Any) -> Any:
        power = getattr(xp, function)
        return 1 / (1 + power(b - a)), 1 / (1 + power(a - b))

    return derivative


def _extreme(sign: int) -> Reference:
    """Of the larger or the smaller operand; equal ones have half each."""

    def derivative(xp: Any, a: Any, b: Any) -> Any:
        share = (1 + sign * xp.sign(a - b)) / 2
        return share, 1 - share

    return derivative


def _biased_gelu(xp: Any, a: Any, b: Any, variant: Any = None, approximate: Any = None) -> Any:
    if approximate not in (None, "none", "tanh"):
        raise ArgumentError(f"approximate is 'none' or 'tanh', not {spell_value(approximate)}")
    slope = _gelu(xp, a + b, by_tanh=approximate == "tanh" or _is_tanh(variant))
    return slope, slope


def _scaled_power(xp: Any, a: Any, b: Any) -> Any:
    power = xp.exp2(b)
    return power, a * power * math.log(2)


def _logarithm(xp: Any, a: Any, b: Any) -> Any:
    """Of a * ln(b)."""
    return xp.where((a == 0) & (b <= 0), 0.0, xp.log(b)), a / b


def _assigned(xp: Any, *operands: Any) -> Any:
    """Of copies of one or two operands."""
    return tuple(xp.ones_like(each) for each in operands)


_BINARY: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda xp, a, b: (_one(xp, a), _one(xp, b)),
    "assign": _assigned,
    "atan2": _arc,
    "fmod": lambda xp, a, b: (_one(xp, a), -xp.trunc(xp.true_divide(a, b))),
    "hypot": _hypotenuse,
    "ldexp": _scaled_power,
    "logaddexp": _share("exp"),
    "logaddexp2": _share("exp2"),
    "max": _extreme(1),
    "min": _extreme(-1),
    "mul": lambda xp, a, b: (b, a),
    "remainder": lambda xp, a, b: (_one(xp, a), -xp.floor(xp.true_divide(a, b))),
    "rsub": lambda xp, a, b: (-_one(xp, a), _one(xp, b)),
    "squared_difference": lambda xp, a, b: (2.0 * (a - b), 2.0 * (b - a)),
    "sub": lambda xp, a, b: (_one(xp, a), -_one(xp, b)),
    "xlogy": _logarithm,
}
_BINARY_WITH_ONE: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "addalpha": lambda xp, a, b, alpha: (_one(xp, a), alpha * _one(xp, b)),
    "div": _quotient,
    "subalpha": lambda xp, a, b, alpha: (_one(xp, a), -alpha * _one(xp, b)),
}
_BINARY_WITH_TWO: dict[str, Callable[[Any, Any, Any, Any, Any], Any]] = {
    "bias_gelu": _biased_gelu,
}

BINARY: dict[str, Derivative] = {**_BINARY, **_BINARY_WITH_ONE, **_BINARY_WITH_TWO}
"""Of two operands."""

_TERNARY: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "lerp": lambda xp, a, b, c: (1 - c, c, b - a),
    "where": lambda xp, predicate, a, b: (predicate != 0, predicate == 0),
}
_TERNARY_WITH_ONE: dict[str, Callable[[Any, Any, Any, Any, Any], Any]] = {
    "addcdiv": lambda xp, a, b, c, alpha: (_one(xp, a), alpha / c, -alpha * b / (c * c)),
    "addcmul": lambda xp, a, b, c, alpha: (_one(xp, a), alpha * c, alpha * b),
}

TERNARY: dict[str, Derivative] = {**_TERNARY, **_TERNARY_WITH_ONE}
"""Of three operands; of `where`, those behind the predicate."""
