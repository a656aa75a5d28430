"""Special functions, in the precision of their arguments: f32 or f64.

Shorter and longer types are for callers to convert. Series are as long as the precision needs.
Functions that have a row of the operation table (erf, erfc, erfinv, lgamma, ...) are not here.

Where frameworks disagree about poles, `Poles` chooses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import Enum

from ttmlir.arrays.array import Array


class Poles(Enum):
    """What functions are at their poles."""

    RIGHT = "the limit from the right, as in torch, SciPy and ttnn"
    """digamma is NaN at negative integers all the same, and infinite with the sign that the zero
    says."""
    BOTH_SIDES = "infinite where both limits are the same, else NaN, as in XLA"


# -- series ----------------------------------------------------------------------------------------

# Coefficients of Chebyshev's series, which mpmath computed with 40 digits.
# exp(-x) I0(x) from 0 to 8, of x / 4 - 1; and times sqrt(x) beyond, of 16 / x - 1.
_I0_SMALL = (
    *(0.33839763720473803, -0.3046826723431984, 0.17162090152220877),
    *(-0.09490109704804764, 0.04930528423967071, -0.02373741480589947),
    *(0.010546460394594998, -0.004324309995050576, 0.0016394756169413357),
    *(-0.0005763755745385824, 0.00018850288509584165, -5.754195010082104e-05),
    *(1.6448448070728896e-05, -4.4167383584587505e-06, 1.1173875391201037e-06),
    *(-2.670793853940612e-07, 6.046995022541919e-08, -1.300025009986248e-08),
    *(2.6598237246823866e-09, -5.189795601635263e-10, 9.675809035373237e-11),
    *(-1.726826291441556e-11, 2.95505266312964e-12, -4.856446783111929e-13),
    *(7.676185498604936e-14, -1.1685332877993451e-14, 1.715391285555133e-15),
    *(-2.431279846547955e-16, 3.3307945188222384e-17),
)
_I0_LARGE = (
    *(0.4022452055070544, 0.0033691164782556943, 6.889758346916825e-05),
    *(2.8913705208347567e-06, 2.0489185894690638e-07, 2.266668990498178e-08),
    *(3.3962320257083865e-09, 4.94060238822497e-10, 1.1889147107846439e-11),
    *(-3.1499165279632416e-11, -1.3215811840447713e-11, -1.7941785315068062e-12),
    *(7.180124451383666e-13, 3.8527783827421426e-13, 1.54008621752141e-14),
    *(-4.150569347287222e-14, -9.554846698828307e-15, 3.8116806693526224e-15),
    *(1.7725601330565263e-15, -3.425485619677219e-16, -2.8276239805165836e-16),
    *(3.461222867697461e-17, 4.46562142029676e-17),
)
# exp(-x) I1(x) / x from 0 to 8; and exp(-x) I1(x) sqrt(x) beyond.
_I1_SMALL = (
    *(0.12629359322181682, -0.17641651835783406, 0.1026436586898471),
    *(-0.05294598120809499, 0.024726449030626516, -0.010564084894626197),
    *(0.004156422944312888, -0.0015135724506312532, 0.0005122859561685758),
    *(-0.00016176081582589674, 4.781565107550054e-05, -1.3273163656039436e-05),
    *(3.4702513081376785e-06, -8.568720264695455e-07, 2.0032947535521353e-07),
    *(-4.445059128796328e-08, 9.381537386495773e-09, -1.8872497517228294e-09),
    *(3.625590281552117e-10, -6.663489723502027e-11, 1.1736186298890901e-11),
    *(-1.9839743977649436e-12, 3.223793365945575e-13, -5.042185504727912e-14),
    *(7.600684294735408e-15, -1.1055969477353862e-15, 1.5536319577362005e-16),
)
_I1_LARGE = (
    *(0.38928811750914005, -0.009761097491361469, -0.00011058893876262371),
    *(-3.882564808877691e-06, -2.512236237870209e-07, -2.6314688468895196e-08),
    *(-3.835380385964237e-09, -5.589743462196584e-10, -1.8974958123505413e-11),
    *(3.2526035830154884e-11, 1.4125807436613782e-11, 2.0356285441470896e-12),
    *(-7.198551776245908e-13, -4.0835511110921974e-13, -2.1015418427726643e-14),
    *(4.272440016711951e-14, 1.0420276984128802e-14, -3.8144030724370075e-15),
    *(-1.8803547755107825e-15, 3.3082023109209285e-16, 2.96262899764595e-16),
    *(-3.209525921993424e-17, -4.6503053684893586e-17),
)
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


# -- Bessel functions and the error function -------------------------------------------------------


def _scaled_bessel(small: Sequence[float], large: Sequence[float], *, odd: bool, x: Array) -> Array:
    size = x.abs()
    near = sum_chebyshev(small, size.minimum(8) * 0.25 - 1)
    outside = size.maximum(8)
    far = sum_chebyshev(large, 16 / outside - 1) / outside.sqrt()
    if odd:
        near, far = near * x, far * x.sign()
    return (size > 8).where(far, near)


def i0e(x: Array) -> Array:
    """exp(-|x|) times the modified Bessel function of the first kind and order 0."""
    return _scaled_bessel(_I0_SMALL, _I0_LARGE, odd=False, x=x)


def i1e(x: Array) -> Array:
    """exp(-|x|) times the modified Bessel function of the first kind and order 1."""
    return _scaled_bessel(_I1_SMALL, _I1_LARGE, odd=True, x=x)


def i0(x: Array) -> Array:
    """The modified Bessel function of the first kind and order 0; NaN at both infinities."""
    return _unscale(i0e(x), x)


def i1(x: Array) -> Array:
    """The modified Bessel function of the first kind and order 1; NaN at both infinities."""
    return _unscale(i1e(x), x)


def _unscale(found: Array, x: Array) -> Array:
    # In two factors: the function is finite where exp(x) is no longer.
    root = (x.abs() * 0.5).exp()
    return found * root * root


def erfcx(x: Array) -> Array:
    """exp(x * x) * erfc(x), which is finite where erfc has become 0."""
    size = x.abs()
    # (size - k) / (size + k), which infinity has, too.
    place = 1 - (2 * _ERFCX_MIDDLE) / (size + _ERFCX_MIDDLE)
    right = sum_chebyshev(_ERFCX, place) / (size * 2 + 1)
    return (x < 0).where((x * x).exp() * 2 - right, right)


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
