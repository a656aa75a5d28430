"""Special functions, in the precision of their arguments: f32 or f64.

Shorter and longer types are for callers to convert. Series are as long as the precision needs.
Functions that have a row of the operation table (erf, erfc, erfinv, lgamma, ...) are not here.

Where frameworks disagree about poles, `Poles` chooses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import Enum
from functools import cache

import numpy as np

from ttmlir.arrays.array import Array


class Poles(Enum):
    """What functions are at their poles."""

    RIGHT = "the limit from the right, as in torch, SciPy and ttnn"
    """digamma is NaN at negative integers all the same, and infinite with the sign that the zero
    says."""
    BOTH_SIDES = "infinite where both limits are the same, else NaN, as in XLA"


# -- series ----------------------------------------------------------------------------------------

# (1 + 2x) erfcx(x) for x from 0, of (x - 3.75) / (x + 3.75), as Shepherd and Laframboise (1981).
_ERFCX = (
    *(1.1775789345674017, -0.004590054580646478, -0.08424913336651792),
    *(0.05920993999819189, -0.026658668435305753, 0.009074997670705265),
    *(-0.002413163540417608, 0.0004907758365258086, -6.916973302501207e-05),
    *(4.13902798607301e-06, 7.74038306619849e-07, -2.1886401049234397e-07),
    *(1.076499946567091e-08, 4.521959811218287e-09, -7.754400208831351e-10),
    *(-6.318088340886684e-11, 2.86879501093067e-11, 1.9455868545777347e-13),
    *(-9.65469674843344e-13, 3.25254814814874e-14, 3.3478119482868056e-14),
    *(-1.864562880419313e-15, -1.2507950530688648e-15, 7.418235256624044e-17),
    5.068148904796111e-17,
)
_ERFCX_MIDDLE = 3.75

_BERNOULLI = tuple(
    float(number) / math.factorial(2 * k)
    for k, number in enumerate(
        (
            *(1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510),
            *(43867 / 798, -174611 / 330, 854513 / 138, -236364091 / 2730),
        ),
        1,
    )
)
"""B(2k) / (2k)! for k from 1."""


def sum_chebyshev(coefficients: Sequence[float], x: Array) -> Array:
    """The Chebyshev series of these coefficients at x from -1 to 1, by Clenshaw's recurrence.

    What is below a thirtieth of the precision of x is left out.
    """
    least = abs(coefficients[0]) * x.epsilon / 30
    *rest, before_last, last = [each for each in coefficients if abs(each) > least]
    double = x * 2
    after: Array | float = last
    here = double * last + before_last
    for coefficient in reversed(rest[1:]):
        after, here = here, double * here - after + coefficient
    return x * here - after + rest[0]


def _evaluate(coefficients: Sequence[float], x: Array) -> Array:
    """The polynomial of these coefficients, the lowest first, by Horner's rule; two at least."""
    *rest, before_last, last = coefficients
    found = x * last + before_last
    for coefficient in reversed(rest):
        found = found * x + coefficient if coefficient else found * x
    return found


# -- the error function -------------------------------------------------------


def erfcx(x: Array) -> Array:
    """exp(x * x) * erfc(x), which is finite where erfc has become 0."""
    size = x.abs()
    # (size - k) / (size + k), which infinity has, too.
    place = 1 - (2 * _ERFCX_MIDDLE) / (size + _ERFCX_MIDDLE)
    right = sum_chebyshev(_ERFCX, place) / (size * 2 + 1)
    return (x < 0).where((x * x).exp() * 2 - right, right)


def ndtri(p: Array) -> Array:
    """Where the normal distribution has this probability; NaN outside of 0 to 1.

    From the start of Abramowitz and Stegun (26.2.23) by Newton's steps on the logarithm, which has
    all digits where probabilities are small.
    """
    tail = p.minimum(1 - p)
    inside = tail > 0
    safe = inside.where(tail, 0.5)
    logarithm = safe.log()
    root = (logarithm * -2).sqrt()
    above = _evaluate([2.515517, 0.802853, 0.010328], root)
    x = root - above / _evaluate([1.0, 1.432788, 0.189269, 0.001308], root)
    for _ in range(_NEWTON_STEPS):
        # x is the distance of the tail: ln(erfcx(x / sqrt(2)) / 2) - x * x / 2 is its logarithm.
        scaled = erfcx(x * math.sqrt(0.5))
        mistake = (scaled * 0.5).log() - x * x * 0.5 - logarithm
        x = x + mistake * scaled * math.sqrt(math.pi / 2)
    # Near the middle differences from a half have the digits.
    missing = 1 - safe * 2 - (x * math.sqrt(0.5)).erf()
    middle = x + missing * (x * x * 0.5).exp() * math.sqrt(math.pi / 2)
    x = (safe > 0.1).where(middle, x)
    found = inside.where(x, tail.eq(0).where(math.inf, tail.fill(math.nan)))
    return (p > 0.5).where(found, -found)


_NEWTON_STEPS = 3


# -- the gamma function's logarithm and its derivatives --------------------------------------------


def _extents(x: Array) -> tuple[int, int]:
    """How many steps reach the place where series hold, and how many terms of them there are."""
    return (10, 12) if x.dtype == "f64" else (8, 4)


def multigammaln(x: Array, dimension: int) -> Array:
    """ln of the multivariate gamma function of a dimension."""
    total = x.lgamma()
    for index in range(1, dimension):
        total = total + (x - 0.5 * index).lgamma()
    return total + 0.25 * dimension * (dimension - 1) * math.log(math.pi)


def digamma(x: Array, poles: Poles = Poles.RIGHT) -> Array:
    """The derivative of lgamma, by its asymptotic series; reflected below a half."""
    steps, terms = _extents(x)
    is_left = x < 0.5
    up = is_left.where(1 - x, x)
    far = up + steps
    inverse = 1 / far
    # B(2k) / (2k) over the powers of the square.
    series = [each * math.factorial(2 * k) / (2 * k) for k, each in enumerate(_BERNOULLI, 1)]
    square = inverse * inverse
    found = far.log() - inverse * 0.5 - _evaluate([0.0, *series[:terms]], square)
    for step in range(steps):
        found = found - 1 / (up + step)
    # psi(1 - x) - psi(x) = pi / tan(pi * x), of the part of x that is not whole.
    part = x - (x + 0.5).floor()
    found = is_left.where(found - math.pi / (part * math.pi).tan(), found)
    # Infinity to the left is a whole number, too.
    found = ((x <= 0) & x.eq(x.floor())).where(math.nan, found)
    return x.eq(0).where(-1 / x, found) if poles is Poles.RIGHT else found


def igamma(a: Array, x: Array) -> Array:
    """The regularized lower incomplete gamma function; NaN where a or x is negative."""
    return _incomplete_gamma(a, x)[0]


def igammac(a: Array, x: Array) -> Array:
    """The regularized upper incomplete gamma function; NaN where a or x is negative."""
    return _incomplete_gamma(a, x)[1]


_LARGE_SHAPE = 20.0
"""From here on the incomplete gamma function is an integral of a hill."""


def _incomplete_gamma(a: Array, x: Array) -> tuple[Array, Array]:
    """Both parts, of which the smaller one is computed.

    By the series left of a + 1, by Legendre's continued fraction right of it; for large a by a
    quadrature of Gauss and Legendre of what lies beyond x (Numerical Recipes, 6.2).
    """
    inside = (a > 0) & (x > 0) & x.ne(math.inf) & a.ne(math.inf)
    shape, at = inside.where(a, 1), inside.where(x, 1)
    is_left = at < shape + 1
    is_large = shape > _LARGE_SHAPE
    low = is_large.where(_LARGE_SHAPE, shape)
    height = (low * at.log() - at - low.lgamma()).exp()
    lower = _sum_lower_gamma(low, is_left.where(at.minimum(low + 1), 1)) * height
    upper = _continue_upper_gamma(low, at.maximum(low + 1)) * height
    high = is_large.where(shape, _LARGE_SHAPE)
    rest, is_right = _integrate_gamma(high, at)
    lower = is_large.where(is_right.where(1 - rest, rest), is_left.where(lower, 1 - upper))
    upper = is_large.where(is_right.where(rest, 1 - rest), is_left.where(1 - lower, upper))
    # At the ends: all lies above 0, none above infinity; of shape 0 all lies at 0.
    is_all = x.eq(math.inf) | a.eq(0)
    wrong = (a < 0) | (x < 0) | a.ne(a) | x.ne(x) | (a.eq(0) & x.eq(0))
    wrong = wrong | (a.eq(math.inf) & x.eq(math.inf))

    def end(found: Array, full: float) -> Array:
        return wrong.where(math.nan, inside.where(found, is_all.where(full, found.fill(1 - full))))

    return end(lower, 1.0), end(upper, 0.0)


def _sum_lower_gamma(a: Array, x: Array) -> Array:
    """1 / a + x / (a (a + 1)) + ..., for x up to a + 1."""
    term = 1 / a
    total = term
    for step in range(1, 75 if x.dtype == "f64" else 40):
        term = term * (x / (a + step))
        total = total + term
    return total


def _continue_upper_gamma(a: Array, x: Array) -> Array:
    """1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), for x from a + 1."""
    depth = 110 if x.dtype == "f64" else 32
    base = x - a
    found = base + (2 * depth + 1)
    for step in range(depth, 0, -1):
        found = base + (2 * step - 1) - (step - a) * step / found
    return 1 / found


@cache
def _place_gauss(count: int) -> list[tuple[float, float]]:
    """Gauss's and Legendre's places from 0 to 1, with their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return [(float(x + 1) / 2, float(w) / 2) for x, w in zip(nodes, weights, strict=True)]


def _integrate_gamma(a: Array, x: Array) -> tuple[Array, Array]:
    """What lies beyond x on its side of the top, and which side that is."""
    top = a - 1
    width = top.sqrt()
    from_top = x - top
    is_right = from_top > 0
    farthest = (width * 11.5).maximum(from_top + width * 6)
    nearest = (width * -7.5).minimum(from_top - width * 5).maximum(-top)
    length = is_right.where(farthest, nearest) - from_top
    inverse = 1 / top
    total = x.fill(0)
    for node, weight in _place_gauss(48 if x.dtype == "f64" else 18):
        depth = _log1p_less_itself((from_top + length * node) * inverse)
        total = total + (depth * top).exp() * weight
    # Stirling's series of the hill's height.
    square = inverse * inverse
    series = _evaluate([1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188], square)
    scale = (series * -inverse).exp() / (top * (2 * math.pi)).sqrt()
    return (total * length * scale).abs(), is_right


def _log1p_less_itself(u: Array) -> Array:
    """ln(1 + u) - u, with all digits where it is small."""
    v = u / (u + 2)
    terms = 14 if u.dtype == "f64" else 7
    square = v * v
    odd = _evaluate([2 / (2 * k + 3) for k in range(terms)], square)
    return (u.abs() > 0.5).where((u + 1).log() - u, square * v * odd - u * v)


def zeta(s: Array | float, q: Array, poles: Poles = Poles.RIGHT) -> Array:
    """Hurwitz's sum of (q + k) ** -s over k from 0, by Euler's and Maclaurin's formula.

    NaN for s below 1, and for s that is not whole where q is negative; infinite for s = 1. Of one
    whole s it is reflected left of 0; of an array of them, q below -5 loses digits.
    """
    if not isinstance(s, Array) and s <= 1:
        return q.fill(math.inf if s == 1 else math.nan)
    is_left = q <= 0
    is_pole = is_left & q.eq(q.floor())
    if isinstance(s, Array):
        total = _sum_zeta(s, q)
        is_broken = is_left & s.ne(s.floor())
        if poles is Poles.RIGHT:
            total = is_pole.where(math.inf, is_broken.where(math.nan, total))
        else:
            half = s * 0.5
            pole = half.eq(half.floor()).where(math.inf, s.fill(math.nan))
            total = is_broken.where(math.nan, is_pole.where(pole, total))
        return s.eq(1).where(math.inf, (s < 1).where(math.nan, total))
    if s != math.floor(s):
        found = is_left.where(math.nan, _sum_zeta(s, q))
        return is_pole.where(math.inf, found) if poles is Poles.RIGHT else found
    found = is_left.where(*_reflect_zeta(int(s), q)) if s <= _LARGEST_ORDER else _sum_zeta(s, q)
    return is_pole.where(math.inf if poles is Poles.RIGHT or s % 2 == 0 else math.nan, found)


_LARGEST_ORDER = 30
"""Factorials of larger ones leave the range of f32."""


def _reflect_zeta(s: int, q: Array) -> tuple[Array, Array]:
    """The sum for q on the left and on the right of 0.

    (-1)^s zeta(s, 1 - q) + zeta(s, q) is the sum over all integers, a derivative of pi / tan(pi q).
    """
    sign = -1.0 if s % 2 == 0 else 1.0
    right = _sum_zeta(s, (q <= 0).where(1 - q, q))
    if s == 2:
        root = math.pi / (_part(q) * math.pi).sin()
        return root * root - right, right
    scale = sign * math.pi**s / math.factorial(s - 1)
    bent = _evaluate([each * scale for each in _derive_cotangent(s - 1)], _cotangent(_part(q)))
    return bent + right * sign, right


def _sum_zeta(s: Array | float, q: Array) -> Array:
    steps, terms = _extents(q)
    down, last = -s, 1 - s
    far = q + steps
    # Of infinite q all of this is 0.
    tail = far.pow(last)
    power = tail / far
    total = tail / (s - 1) + power * 0.5
    for step in range(steps):
        total = total + (q + step if step else q).pow(down)
    square = far * far
    term = power * s / far
    for k, coefficient in enumerate(_BERNOULLI[:terms], 1):
        total = total + term * coefficient
        if k < terms:
            term = term * ((s + (2 * k - 1)) * (s + 2 * k)) / square
    return total


def polygamma(order: Array | int, x: Array, poles: Poles = Poles.RIGHT) -> Array:
    """The derivative of digamma of an order that is a whole number from 0; NaN for others.

    Of an array of orders, numbers below -5 lose digits.
    """
    if isinstance(order, Array):
        return _polygamma_of_orders(order, x, poles)
    if order == 0:
        return digamma(x, poles)
    sign = 1.0 if order % 2 else -1.0
    return zeta(order + 1, x, poles) * (sign * math.factorial(order))


def _part(x: Array) -> Array:
    """What is left of a whole number, from -0.5 to 0.5."""
    return x - (x + 0.5).floor()


def _cotangent(part: Array) -> Array:
    """The cotangent of pi times a number; where it is small, the tangent of the other angle."""
    turned = part.sign() * ((0.5 - part.abs()) * math.pi).tan()
    return (part.abs() > 0.25).where(turned, 1 / (part * math.pi).tan())


def _derive_cotangent(order: int) -> list[float]:
    """The n-th derivative of the cotangent as a polynomial in it, the lowest power first."""
    found = [0, 1]
    for _ in range(order):
        # The derivative of a power of the cotangent c: -k * c ** (k - 1) * (1 + c * c).
        after = [0] * (len(found) + 1)
        for power, each in enumerate(found):
            if power:
                after[power - 1] -= power * each
                after[power + 1] -= power * each
        found = after
    return [*map(float, found)]


def _polygamma_of_orders(order: Array, x: Array, poles: Poles) -> Array:
    up = order + 1
    half = order * 0.5
    sign = half.ne(half.floor()).where(1, order.fill(-1))
    found = sign * up.lgamma().exp() * zeta(up, x, poles)
    found = order.eq(0).where(digamma(x, poles), found)
    is_wrong = order.ne(order.floor()) | (order < 0)
    return is_wrong.where(math.nan, found)


# -- orthogonal polynomials ------------------------------------------------------------------------

Step = Callable[[int, Array, Array, Array], Array]
"""The polynomial of degree k + 1 from k, the argument, and those of degrees k and k - 1."""


def _step_chebyshev(k: int, x: Array, here: Array, before: Array) -> Array:
    del k
    return x * 2 * here - before


_CHEBYSHEV: dict[str, Callable[[Array], Array]] = {
    "t": lambda x: x,
    "u": lambda x: x * 2,
    "v": lambda x: x * 2 - 1,
    "w": lambda x: x * 2 + 1,
}
"""Chebyshev's polynomials of degree 1, by their kinds."""
_FAMILIES: dict[str, tuple[Callable[[Array], Array], Step]] = {
    **{
        f"chebyshev_polynomial_{kind}": (first, _step_chebyshev)
        for kind, first in _CHEBYSHEV.items()
    },
    "hermite_polynomial_h": (
        lambda x: x * 2,
        lambda k, x, here, before: x * 2 * here - before * (2 * k),
    ),
    "hermite_polynomial_he": (lambda x: x, lambda k, x, here, before: x * here - before * k),
    "laguerre_polynomial_l": (
        lambda x: 1 - x,
        lambda k, x, here, before: ((2 * k + 1 - x) * here - before * k) / (k + 1),
    ),
    "legendre_polynomial_p": (
        lambda x: x,
        lambda k, x, here, before: (x * (2 * k + 1) * here - before * k) / (k + 1),
    ),
}
POLYNOMIALS = (*_FAMILIES, *(f"shifted_chebyshev_polynomial_{kind}" for kind in _CHEBYSHEV))
"""Names of families of orthogonal polynomials; shifted ones are those of 2x - 1."""


def evaluate_polynomial(family: str, degree: int, x: Array) -> Array:
    """The polynomial of a degree, by the recurrence of its family; 0 for degrees below 0."""
    if degree < 0:
        return x.fill(0)
    plain = family.removeprefix("shifted_")
    first, step = _FAMILIES[plain]
    if plain != family:
        x = x * 2 - 1
    before = x.fill(1)
    if degree == 0:
        return before
    here = first(x)
    for k in range(1, degree):
        before, here = here, step(k, x, here, before)
    return here
