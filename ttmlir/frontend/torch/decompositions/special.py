"""Special functions of each element, and the signs and exponents of numbers.

The series are Chebyshev expansions to a relative error of 2e-9, which is below the rounding of
float32, in which they are computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ttmlir.frontend.torch.elements import torch_package
from ttmlir.optable.series import BERNOULLI, I1_LARGE, I1_SMALL

# exp(-x) I0(x) from 0 to 8, of x / 4 - 1; and times sqrt(x) beyond, of 16 / x - 1.
_I0_SMALL = (
    *(3.3839763720e-01, -3.0468267234e-01, 1.7162090152e-01, -9.4901097048e-02),
    *(4.9305284240e-02, -2.3737414806e-02, 1.0546460395e-02, -4.3243099951e-03),
    *(1.6394756169e-03, -5.7637557454e-04, 1.8850288510e-04, -5.7541950101e-05),
    *(1.6448448071e-05, -4.4167383582e-06, 1.1173875373e-06, -2.6707937369e-07),
    *(6.0469873520e-08, -1.2999764554e-08, 2.6568688805e-09, -5.0171142796e-10),
)
_I0_LARGE = (
    *(4.0224520551e-01, 3.3691164779e-03, 6.8897582761e-05, 2.8913723112e-06),
    *(2.0490507298e-07, 2.2698189388e-08, 3.3843432818e-09),
)
# (1 + 2x) erfcx(x) for x from 0, of (x - 3.75) / (x + 3.75), as Shepherd and Laframboise (1981).
_ERFCX = (
    *(1.1775789346e00, -4.5900545806e-03, -8.4249133367e-02, 5.9209939998e-02),
    *(-2.6658668435e-02, 9.0749976707e-03, -2.4131635404e-03, 4.9077583653e-04),
    *(-6.9169733057e-05, 4.1390279536e-06, 7.7403927285e-07, -2.1886420500e-07),
    *(1.0736312823e-08, 4.5851407909e-09),
)
_ERFCX_MIDDLE = 3.75


def _series(coefficients: Sequence[float], x: Any) -> Any:
    """The Chebyshev series of these coefficients, by Clenshaw's recurrence."""
    after: Any = 0.0
    here: Any = 0.0
    for coefficient in reversed(coefficients[1:]):
        after, here = here, coefficient + 2 * x * here - after
    return coefficients[0] + x * here - after


def _in_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function on the first argument in float32, or in float64; integers become real."""

    def decomposition(x: Any, *args: Any) -> Any:
        torch = torch_package()
        target = x.dtype if x.is_floating_point() else torch.get_default_dtype()
        wide = torch.float64 if target == torch.float64 else torch.float32
        return function(x.to(wide), *args).to(target)

    return decomposition


def _scaled_bessel(small: Sequence[float], large: Sequence[float], order: int) -> Any:
    """exp(-|x|) times the modified Bessel function of the first kind."""

    def function(x: Any) -> Any:
        torch = torch_package()
        size = x.abs()
        near = _series(small, torch.clamp(size, max=8.0) / 4 - 1)
        if order:
            near = near * x
        outside = torch.clamp(size, min=8.0)
        far = _series(large, 16 / outside - 1) / outside.sqrt()
        if order:
            far = far * torch.sign(x)
        return torch.where(size <= 8, near, far)

    return function


_i0e = _scaled_bessel(_I0_SMALL, _I0_LARGE, 0)
_i1e = _scaled_bessel(I1_SMALL, I1_LARGE, 1)


def _unscaled(function: Callable[..., Any]) -> Callable[..., Any]:
    # In two factors: the function is finite where exp(x) is no longer.
    def decomposition(x: Any) -> Any:
        half = (x.abs() / 2).exp()
        return function(x) * half * half

    return decomposition


def _erfcx(x: Any) -> Any:
    """exp(x * x) * erfc(x)."""
    torch = torch_package()
    size = torch.clamp(x.abs(), max=1e30)
    above = _series(_ERFCX, (size - _ERFCX_MIDDLE) / (size + _ERFCX_MIDDLE)) / (1 + 2 * size)
    found = torch.where(x < 0, 2 * (x * x).exp() - above, above)
    return torch.where(x.isnan(), x, found)


_SHIFTS = 8
"""Steps up to where the asymptotic series hold."""


def _digamma(x: Any) -> Any:
    """The derivative of lgamma: NaN at negative integers, infinite at 0."""
    torch = torch_package()
    is_left = x < 0.5
    up = torch.where(is_left, 1 - x, x)
    total: Any = 0.0
    for step in range(_SHIFTS):
        total = total - 1 / (up + step)
    far = up + _SHIFTS
    square = 1 / (far * far)
    tail = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    right = total + far.log() - 0.5 / far - tail
    # psi(1 - x) - psi(x) = pi / tan(pi * x), of the part of x that is not whole.
    part = x - x.round()
    left = right - math.pi / torch.tan(math.pi * part)
    found = torch.where(is_left, left, right)
    found = torch.where(torch.logical_and(x < 0, part == 0), torch.nan, found)
    found = torch.where(x == 0, torch.copysign(torch.full_like(x, torch.inf), -x), found)
    return torch.where(x == -torch.inf, torch.nan, found)


def _zeta(s: Any, q: Any) -> Any:
    """The sum of (q + k) ** -s over k from 0, by Euler's and Maclaurin's formula; q above 0."""
    torch = torch_package()
    count = _SHIFTS
    total: Any = 0.0
    for step in range(count):
        total = total + (q + step).pow(-s)
    far = q + count
    power = far.pow(-s)
    total = total + power * far / (s - 1) + 0.5 * power
    rising: Any = s
    for number, coefficient in enumerate(BERNOULLI):
        power = power / far
        total = total + coefficient * rising * power
        power = power / far
        rising = rising * (s + 2 * number + 1) * (s + 2 * number + 2)
    return torch.where(q > 0, total, torch.nan)


def _hurwitz(s: Any, q: Any) -> Any:
    torch = torch_package()
    s, q = (each if hasattr(each, "dim") else torch.full((), float(each)) for each in (s, q))
    found = _zeta(s, q)
    found = torch.where(s == 1, torch.inf, torch.where(s < 1, torch.nan, found))
    return torch.where(torch.logical_and(q == 0, s > 1), torch.inf, found)


def _polygamma(n: int, x: Any) -> Any:
    """The n-th derivative of digamma."""
    return _in_float32(_digamma if n == 0 else partial(_derivative, n))(x)


def _derivative(n: int, x: Any) -> Any:
    torch = torch_package()
    sign = 1.0 if n % 2 else -1.0
    if n > 1:
        return _higher_derivative(n, sign, x)
    # psi'(1 - x) + psi'(x) = (pi / sin(pi * x)) ** 2.
    is_left = x < 0.5
    right = _zeta(2.0, torch.where(is_left, 1 - x, x))
    sine = torch.sin(math.pi * (x - x.round()))
    return torch.where(is_left, (math.pi / sine).square() - right, right)


def _higher_derivative(n: int, sign: float, x: Any) -> Any:
    torch = torch_package()
    is_left = x < 0
    size = math.factorial(n)
    right = sign * size * _hurwitz(float(n + 1), torch.where(is_left, 1 - x, x))
    # (-1)^n psi_n(1 - x) - psi_n(x) is the n-th derivative of pi / tan(pi * x), a polynomial in it.
    coefficients = [0, 1]
    for _ in range(n):
        # The derivative of a power of the cotangent c: -k * c ** (k - 1) * (1 + c * c).
        after = [0] * (len(coefficients) + 1)
        for power, each in enumerate(coefficients):
            if power:
                after[power - 1] -= power * each
                after[power + 1] -= power * each
        coefficients = after
    part = x - x.round()
    # Where the cotangent is small, it is the tangent of the rest of a right angle.
    turned = torch.sign(part) * torch.tan(math.pi * (0.5 - part.abs()))
    cotangent = torch.where(part.abs() > 0.25, turned, 1 / torch.tan(math.pi * part))
    bent: Any = 0.0
    for each in reversed(coefficients):
        bent = bent * cotangent + float(each)
    left = (-sign) * right - math.pi ** (n + 1) * bent
    pole = torch.logical_and(is_left, part == 0)
    return torch.where(pole, sign * torch.inf, torch.where(is_left, left, right))


# -- signs and exponents -----------------------------------------------------------------------

_BITS = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}


def _signbit(x: Any) -> Any:
    torch = torch_package()
    if not x.is_floating_point():
        return x < 0 if x.dtype != torch.bool else torch.zeros_like(x)
    return x.view(getattr(torch, _BITS[x.dtype.itemsize])) < 0


def _copysign(x: Any, other: Any) -> Any:
    """The size of one number with the sign of another, that of zeros and NaN included."""
    torch = torch_package()
    if not hasattr(other, "dim"):
        other = torch.full((), float(other))
    dtype = torch.result_type(x, other)
    if not dtype.is_floating_point:
        dtype = torch.get_default_dtype()
    size = x.to(dtype).abs()
    return torch.where(_signbit(other.to(dtype)), -size, size)


def _ldexp(x: Any, other: Any) -> Any:
    # In two factors: one alone may be too large, or too small, for the type.
    torch = torch_package()
    half = torch.div(other, 2, rounding_mode="floor")
    return x * torch.exp2(half.to(torch.float32)) * torch.exp2((other - half).to(torch.float32))


def _rrelu(
    x: Any,
    noise: Any,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> Any:
    torch = torch_package()
    if training:
        # It is random, and stays an operation that draws from a seed.
        return NotImplemented
    return torch.nn.functional.leaky_relu(x, (lower + upper) / 2), noise


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "copysign": _copysign,
    "digamma": _in_float32(_digamma),
    "i0": _in_float32(_unscaled(_i0e)),
    "ldexp": _ldexp,
    "polygamma": _polygamma,
    "rrelu_with_noise_functional": _rrelu,
    "signbit": _signbit,
    "special_erfcx": _in_float32(_erfcx),
    "special_i0e": _in_float32(_i0e),
    "special_i1": _in_float32(_unscaled(_i1e)),
    "special_i1e": _in_float32(_i1e),
    "special_modified_bessel_i0": _in_float32(_unscaled(_i0e)),
    "special_modified_bessel_i1": _in_float32(_unscaled(_i1e)),
    "special_zeta": _hurwitz,
}
"""Functions in torch by the names of operations."""
