"""Special functions that NumPy lacks, written against an array namespace.

`erf` follows W. J. Cody, "Rational Chebyshev approximations for the error function", Mathematics of
Computation 23 (1969): three intervals, each a ratio of polynomials, correct to double precision.
"""

from __future__ import annotations

import math
from typing import Any

# Coefficients from the highest power down; numerator and denominator of one interval each.
_SMALL_NUM = (
    1.85777706184603153e-1,
    3.16112374387056560e00,
    1.13864154151050156e02,
    3.77485237685302021e02,
    3.20937758913846947e03,
)
_SMALL_DEN = (
    1.0,
    2.36012909523441209e01,
    2.44024637934444173e02,
    1.28261652607737228e03,
    2.84423683343917062e03,
)
_MIDDLE_NUM = (
    2.15311535474403846e-8,
    5.64188496988670089e-1,
    8.88314979438837594e00,
    6.61191906371416295e01,
    2.98635138197400131e02,
    8.81952221241769090e02,
    1.71204761263407058e03,
    2.05107837782607147e03,
    1.23033935479799725e03,
)
_MIDDLE_DEN = (
    1.0,
    1.57449261107098347e01,
    1.17693950891312499e02,
    5.37181101862009858e02,
    1.62138957456669019e03,
    3.29079923573345963e03,
    4.36261909014324716e03,
    3.43936767414372164e03,
    1.23033935480374942e03,
)
_LARGE_NUM = (
    1.63153871373020978e-2,
    3.05326634961232344e-1,
    3.60344899949804439e-1,
    1.25781726111229246e-1,
    1.60837851487422766e-2,
    6.58749161529837803e-4,
)
_LARGE_DEN = (
    1.0,
    2.56852019228982242e00,
    1.87295284992346725e00,
    5.27905102951428412e-1,
    6.05183413124413191e-2,
    2.33520497626869185e-3,
)
_SMALL_LIMIT = 0.46875
_LARGE_LIMIT = 4.0
# erfc underflows in double precision before this argument.
_SATURATION = 27.0


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    result = coefficients[0]
    for coefficient in coefficients[1:]:
        result = result * x + coefficient
    return result


def erf(xp: Any, x: Any) -> Any:
    """The error function 2/sqrt(pi) * integral of exp(-t*t) from 0 to x; odd, in [-1, 1]."""
    x = xp.asarray(x, dtype=xp.float64)
    size = xp.minimum(xp.abs(x), _SATURATION)
    small = xp.minimum(size, _SMALL_LIMIT) ** 2
    near_zero = x * _polynomial(_SMALL_NUM, small) / _polynomial(_SMALL_DEN, small)
    complement = xp.where(size <= _LARGE_LIMIT, _middle(xp, size), _large(xp, size))
    far = xp.sign(x) * (1.0 - complement)
    return xp.where(xp.abs(x) <= _SMALL_LIMIT, near_zero, far)


def erfc(xp: Any, x: Any) -> Any:
    """The complement 1 - erf(x), with all digits where it is small."""
    x = xp.asarray(x, dtype=xp.float64)
    size = xp.minimum(xp.abs(x), _SATURATION)
    complement = xp.where(size <= _LARGE_LIMIT, _middle(xp, size), _large(xp, size))
    far = xp.where(x < 0, 2.0 - complement, complement)
    return xp.where(xp.abs(x) <= _SMALL_LIMIT, 1.0 - erf(xp, x), far)


def erfinv(xp: Any, x: Any) -> Any:
    """The number whose error function is x: infinite at -1 and 1, NaN outside.

    Starts from S. Winitzki's formula (2008), whose relative error is below 0.004, and takes
    Halley's steps, which triple the number of digits; they use the complement, which stays exact
    where the error function comes close to 1.
    """
    x = xp.asarray(x, dtype=xp.float64)
    size = xp.abs(x)
    rest = xp.where(size < 1.0, 1.0 - size, 0.5)
    log = xp.log(rest) + xp.log1p(1.0 - rest)
    half = 2.0 / (math.pi * 0.147) + log / 2.0
    root = xp.sqrt(xp.sqrt(half * half - log / 0.147) - half)
    for _ in range(3):
        error = (rest - erfc(xp, root)) / (2.0 / math.sqrt(math.pi) * xp.exp(-root * root))
        root = root - error / (1.0 + root * error)
    # Near 0 the complement has lost the digits of x.
    near = xp.minimum(size, 0.5)
    step = near * math.sqrt(math.pi) / 2.0
    for _ in range(4):
        error = (erf(xp, step) - near) / (2.0 / math.sqrt(math.pi) * xp.exp(-step * step))
        step = step - error / (1.0 + step * error)
    found = xp.copysign(xp.where(size <= 0.5, step, root), x)
    edge = xp.where(size == 1.0, xp.copysign(xp.inf, x), xp.nan)
    return xp.where(size < 1.0, found, edge)


# P. Godfrey's coefficients of C. Lanczos' series for g = 7.
_LANCZOS = (
    0.99999999999980993,
    676.5203681218851,
    -1259.1392167224028,
    771.32342877765313,
    -176.61502916214059,
    12.507343278686905,
    -0.13857109526572012,
    9.9843695780195716e-6,
    1.5056327351493116e-7,
)


def lgamma(xp: Any, x: Any) -> Any:
    """ln(|gamma(x)|): infinite at 0, at negative integers and at both infinities."""
    x = xp.asarray(x, dtype=xp.float64)
    finite = xp.where(xp.isfinite(x), x, 1.0)
    # Euler's reflection: gamma(x) * gamma(1 - x) = pi / sin(pi * x).
    is_left = finite < 0.5
    z = xp.where(is_left, 1.0 - finite, finite) - 1.0
    series = _LANCZOS[0] + sum(c / (z + i) for i, c in enumerate(_LANCZOS[1:], 1))
    base = z + 7.5
    right = 0.5 * math.log(2.0 * math.pi) + (z + 0.5) * xp.log(base) - base + xp.log(series)
    # From the nearest integer, which floor is not: what is above it would round -1e-30 to 1.
    distance = xp.abs(finite - xp.rint(finite))
    sine = xp.sin(math.pi * xp.where(is_left, distance, 0.5))
    with_pole = xp.where(sine == 0.0, 1.0, sine)
    left = xp.where(sine == 0.0, xp.inf, math.log(math.pi) - xp.log(with_pole) - right)
    result = xp.where(is_left, left, right)
    return xp.where(xp.isnan(x), xp.nan, xp.where(xp.isinf(x), xp.inf, result))


def _middle(xp: Any, size: Any) -> Any:
    clipped = xp.minimum(size, _LARGE_LIMIT)
    return (
        xp.exp(-clipped * clipped)
        * _polynomial(_MIDDLE_NUM, clipped)
        / _polynomial(_MIDDLE_DEN, clipped)
    )


def _large(xp: Any, size: Any) -> Any:
    clipped = xp.maximum(size, _LARGE_LIMIT)
    inverse = 1.0 / (clipped * clipped)
    tail = inverse * _polynomial(_LARGE_NUM, inverse) / _polynomial(_LARGE_DEN, inverse)
    return xp.exp(-clipped * clipped) * (1.0 / math.sqrt(math.pi) - tail) / clipped


def gelu(xp: Any, x: Any) -> Any:
    """x * Phi(x), Phi being the normal distribution: the exact form, not the tanh approximation."""
    return 0.5 * x * (1.0 + erf(xp, x / math.sqrt(2.0)))


def fast_exp(xp: Any, x: Any) -> Any:
    """e to the power of x, as the bits of a number whose exponent is x / ln 2 (Schraudolph).

    256 / ln 2 * x, plus 127 * 256 less 11.18 that spreads the error evenly, is rounded to 16 bits
    without sign, which become the upper half of a float32 after its sign. So it is 2 % too small
    at 0 and within 3.2 % from -87.3 to 88.7; at -88.5 and below it is 0, and numbers above 88.7
    have no meaning. Source: tt-llk, ckernel_sfpu_exp.h, with FAST_APPROX and APPROXIMATION_MODE.
    """
    x = xp.where(xp.isnan(x), xp.inf, x).astype(xp.float32)
    scaled = xp.maximum(x, xp.float32(-88.5)) * xp.float32(369.329925537109375)
    rounded = xp.rint(scaled + xp.float32(32500.818359375))
    bits = xp.clip(rounded, 0, 65535).astype(xp.uint32) << xp.uint32(15)
    return bits.view(xp.float32)


# -- functions that no definition has --------------------------------------------------------------
# Kernel calls and ttnn take them with NumPy, frontends with `ttmlir.arrays.namespace.ARRAYS`.


def round_decimals(xp: Any, x: Any, *, decimals: int) -> Any:
    """The nearest number with so many decimals, the even one of two."""
    return xp.round(x, decimals)


def elu(
    xp: Any, x: Any, *, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0
) -> Any:
    """scale * x, or scale * alpha * (exp(input_scale * x) - 1) below 0."""
    below = xp.expm1(_scaled(x, input_scale))
    return xp.where(x > 0, _scaled(x, scale), _scaled(below, alpha * scale))


def selu(xp: Any, x: Any, *, scale: float, alpha: float) -> Any:
    """scale * elu(x)."""
    return elu(xp, x, alpha=alpha, scale=scale)


def _scaled(x: Any, factor: float) -> Any:
    return x if factor == 1 else x * float(factor)


def softsign(xp: Any, x: Any) -> Any:
    """x / (1 + |x|)."""
    return x / (xp.abs(x) + 1)


def log_one_plus_exp(xp: Any, x: Any) -> Any:
    """ln(1 + exp(x)), in which nothing overflows."""
    return xp.maximum(x, 0.0) + xp.log1p(xp.exp(-xp.abs(x)))


def softplus(
    xp: Any,
    x: Any,
    *,
    beta: float = 1.0,
    beta_reciprocal: float | None = None,
    threshold: float = 20.0,
) -> Any:
    """ln(1 + exp(beta * x)) / beta, and x itself where beta * x is above the threshold.

    `beta_reciprocal` is 1 / beta if nothing else is given.
    """
    scaled = _scaled(x, beta)
    curve = log_one_plus_exp(xp, scaled)
    factor = 1 / beta if beta_reciprocal is None else beta_reciprocal
    return xp.where(scaled > float(threshold), x, _scaled(curve, factor))


def mish(xp: Any, x: Any) -> Any:
    """x * tanh(ln(1 + exp(x)))."""
    return x * xp.tanh(log_one_plus_exp(xp, x))


def log_sigmoid(xp: Any, x: Any) -> Any:
    """ln(1 / (1 + exp(-x)))."""
    return -log_one_plus_exp(xp, -x)


def hypot(xp: Any, a: Any, b: Any) -> Any:
    """sqrt(a ** 2 + b ** 2), as the larger one times sqrt(1 + ratio ** 2): no square overflows."""
    a, b = xp.abs(a), xp.abs(b)
    large, small = xp.maximum(a, b), xp.minimum(a, b)
    ratio = xp.where(xp.equal(large, small), 1.0, small / large)
    return large * xp.sqrt(xp.square(ratio) + 1.0)


def take_fraction(xp: Any, x: Any) -> Any:
    """What is behind the point, with the sign of x."""
    return x - xp.trunc(x)


def heaviside(xp: Any, x: Any, value: float) -> Any:
    """0 below 0, `value` at 0, 1 above."""
    return xp.where(x == 0, value, x > 0)


def relu_max(xp: Any, x: Any, upper_limit: float) -> Any:
    """x limited to [0, upper_limit]."""
    return xp.maximum(xp.minimum(x, upper_limit), 0)
