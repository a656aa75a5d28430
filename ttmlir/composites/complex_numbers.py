"""Complex numbers as pairs of real arrays.

Absolute values and quotients are scaled, so that squares stay in the range of the elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ttmlir.arrays.array import Array, Number, concatenate


@dataclass(frozen=True)
class Complex:
    """An array of complex numbers: `real + i * imag`."""

    real: Array
    imag: Array

    def map(self, function: Callable[[Array], Array]) -> Complex:
        """What a function makes of both parts."""
        return Complex(function(self.real), function(self.imag))

    def turn(self) -> Complex:
        """It times i."""
        return Complex(-self.imag, self.real)

    def turn_back(self) -> Complex:
        """It times -i."""
        return Complex(self.imag, -self.real)

    def conjugate(self) -> Complex:
        """The other side of the real axis."""
        return Complex(self.real, -self.imag)

    def where(self, condition: Array, real: Number) -> Complex:
        """A real number where a condition is true, else this."""
        return Complex(condition.where(real, self.real), condition.where(0, self.imag))

    def __add__(self, other: Complex) -> Complex:
        """The sum."""
        return Complex(self.real + other.real, self.imag + other.imag)

    def __sub__(self, other: Complex) -> Complex:
        """The difference."""
        return Complex(self.real - other.real, self.imag - other.imag)

    def __neg__(self) -> Complex:
        """The opposite."""
        return self.map(Array.__neg__)

    def __mul__(self, other: Complex) -> Complex:
        """The product."""
        return Complex(
            self.real * other.real - self.imag * other.imag,
            self.real * other.imag + self.imag * other.real,
        )

    def __truediv__(self, other: Complex) -> Complex:
        """The quotient; the divisor is scaled to one whose larger part is 1."""
        largest = other.real.abs().maximum(other.imag.abs())
        divisor = other.map(lambda part: part / largest)
        above = self * divisor.conjugate()
        below = (divisor.real * divisor.real + divisor.imag * divisor.imag) * largest
        return above.map(lambda part: part / below)


def is_equal(x: Complex, y: Complex) -> Array:
    """Whether both parts are equal."""
    return x.real.eq(y.real) & x.imag.eq(y.imag)


def is_other(x: Complex, y: Complex) -> Array:
    """Whether one part is not equal."""
    return x.real.ne(y.real) | x.imag.ne(y.imag)


def is_not_zero(x: Complex) -> Array:
    """The truth value of each element."""
    return x.real.ne(0) | x.imag.ne(0)


def is_finite(x: Complex) -> Array:
    """Whether both parts are finite."""
    return x.real.isfinite() & x.imag.isfinite()


def square(x: Complex) -> Complex:
    """The product with itself."""
    return x * x


def reciprocal(x: Complex) -> Complex:
    """1 over it."""
    return Complex(x.real.fill(1), x.real.fill(0)) / x


def absolute(x: Complex) -> Array:
    """The distance from 0."""
    real, imag = x.real.abs(), x.imag.abs()
    largest, least = real.maximum(imag), real.minimum(imag)
    ratio = least / largest
    length = largest * (ratio * ratio + 1).sqrt()
    # 0 / 0 and infinite parts have no ratio.
    return largest.isfinite().where((largest > 0).where(length, largest), largest)


def exponential(x: Complex) -> Complex:
    """e to the power of it."""
    power = x.real.exp()
    return Complex(power * x.imag.cos(), power * x.imag.sin())


def logarithm(x: Complex) -> Complex:
    """The natural logarithm whose imaginary part is in [-pi, pi]."""
    return Complex(absolute(x).log(), x.imag.atan2(x.real))


def power(x: Complex, y: Complex) -> Complex:
    """e to the power of y * log x; 1 for y = 0, else 0 for x = 0."""
    found = exponential(y * logarithm(x))
    return found.where(absolute(x).eq(0), 0).where(absolute(y).eq(0), 1)


def square_root(x: Complex) -> Complex:
    """The root with a real part that is not negative; its imaginary part has the sign of x."""
    root = ((absolute(x) + x.real.abs()) * 0.5).sqrt()
    other = x.imag.abs() / (root > 0).where(root * 2, 1)
    is_right = x.real >= 0
    imag = is_right.where(other, root)
    return Complex(is_right.where(root, other), _is_negative(x.imag).where(-imag, imag))


def _is_negative(x: Array) -> Array:
    """True for numbers below 0 and for -0, whose reciprocal is below 0."""
    return (x < 0) | (x.reciprocal() < 0)


def sine(x: Complex) -> Complex:
    """sin a cosh b + i cos a sinh b."""
    return Complex(x.real.sin() * x.imag.cosh(), x.real.cos() * x.imag.sinh())


def cosine(x: Complex) -> Complex:
    """cos a cosh b - i sin a sinh b."""
    return Complex(x.real.cos() * x.imag.cosh(), -(x.real.sin() * x.imag.sinh()))


def hyperbolic_sine(x: Complex) -> Complex:
    """sinh a cos b + i cosh a sin b."""
    return Complex(x.real.sinh() * x.imag.cos(), x.real.cosh() * x.imag.sin())


def hyperbolic_cosine(x: Complex) -> Complex:
    """cosh a cos b + i sinh a sin b."""
    return Complex(x.real.cosh() * x.imag.cos(), x.real.sinh() * x.imag.sin())


def tangent(x: Complex) -> Complex:
    """-i tanh(i x)."""
    return hyperbolic_tangent(x.turn()).turn_back()


def exponential_minus_one(x: Complex) -> Complex:
    """exp(x) - 1: (exp a - 1) cos b - 2 sin²(b / 2) + i exp a sin b keeps small digits."""
    half = (x.imag * 0.5).sin()
    return Complex(x.real.expm1() * x.imag.cos() - half * half * 2, x.real.exp() * x.imag.sin())


def logarithm_plus_one(x: Complex) -> Complex:
    """log(1 + x): the real part is log1p(a (a + 2) + b²) / 2."""
    less = x.real * (x.real + 2) + x.imag * x.imag
    return Complex(less.log1p() * 0.5, x.imag.atan2(x.real + 1))


def reciprocal_root(x: Complex) -> Complex:
    """1 over the root."""
    return reciprocal(square_root(x))


def hyperbolic_tangent(x: Complex) -> Complex:
    """(tanh a + i tan b) / (1 + i tanh a tan b), in a form without large numbers."""
    tangent, sine, cosine = x.real.tanh(), x.imag.sin(), x.imag.cos()
    return Complex(tangent * cosine, sine) / Complex(cosine, tangent * sine)


def logistic(x: Complex) -> Complex:
    """(1 + tanh(x / 2)) / 2."""
    found = hyperbolic_tangent(x.map(lambda part: part * 0.5))
    return Complex((found.real + 1) * 0.5, found.imag * 0.5)


def exponential_of_two(x: Complex) -> Complex:
    """2 to the power of it."""
    return exponential(x.map(lambda part: part * math.log(2)))


def sigmoid_linear_unit(x: Complex) -> Complex:
    """It times its logistic function."""
    return x * logistic(x)


def sign(x: Complex) -> Complex:
    """Of length 1, or 0."""
    size = absolute(x)
    divisor = (size > 0).where(size, 1)
    return x.map(lambda part: part / divisor)


# -- inverse functions: W. Kahan, "Branch Cuts for Complex Elementary Functions", 1987 -------------


def _roots(x: Complex) -> tuple[Complex, Complex]:
    """The roots of 1 - x and of 1 + x; zeros keep their signs."""
    return square_root(Complex(1 - x.real, -x.imag)), square_root(Complex(x.real + 1, x.imag))


def _cross(x: Complex, y: Complex) -> Array:
    """The imaginary part of conj(x) * y."""
    return x.real * y.imag - x.imag * y.real


def arc_sine(x: Complex) -> Complex:
    """The angle whose sine it is, with a real part from -pi / 2 to pi / 2."""
    below, above = _roots(x)
    cosine = below.real * above.real - below.imag * above.imag
    return Complex(x.real.atan2(cosine), _cross(below, above).asinh())


def arc_cosine(x: Complex) -> Complex:
    """The angle whose cosine it is, with a real part from 0 to pi."""
    below, above = _roots(x)
    return Complex(below.real.atan2(above.real) * 2, _cross(above, below).asinh())


def hyperbolic_arc_cosine(x: Complex) -> Complex:
    """The number whose hyperbolic cosine it is, with a real part that is not negative."""
    below, above = (square_root(Complex(x.real + step, x.imag)) for step in (-1, 1))
    real = below.real * above.real + below.imag * above.imag
    return Complex(real.asinh(), below.imag.atan2(above.real) * 2)


def hyperbolic_arc_tangent(x: Complex) -> Complex:
    """log1p(4 a / ((1 - a)² + b²)) / 4 and the angle of (1 - a²  - b², 2 b), halved."""
    sign = _is_negative(x.real).where(x.real.fill(-1), 1)
    size = x.real.abs()
    away, square = 1 - size, x.imag * x.imag
    ratio = size * 4 / (away * away + square)
    angle = (x.imag * 2).atan2(away * (size + 1) - square)
    return Complex(ratio.log1p() * 0.25 * sign, angle * 0.5)


def arc_tangent(x: Complex) -> Complex:
    """-i atanh(i x)."""
    return hyperbolic_arc_tangent(x.turn()).turn_back()


def hyperbolic_arc_sine(x: Complex) -> Complex:
    """-i asin(i x)."""
    return arc_sine(x.turn()).turn_back()


_LARGE = 1e9
"""Where 1 is less than half of the last bit of f32."""


def arc_kernel(x: Complex) -> Complex:
    """sqrt(a*a - x*x) + i * acosh(a), which the inverse functions of CHLO have in common.

    a is half of the sum of the distances of |x| + i|y| from -1 and from 1, so that asin(x + iy) is
    atan2(x, real) + i * imag for y >= 0. Source: T. E. Hull, T. F. Fairgrieve and P. T. P. Tang,
    "Implementing the complex arcsine and arccosine functions using exception handling", ACM TOMS 23
    (1997).
    """
    a, b = x.real.abs(), x.imag.abs()
    from_left, from_right = a + 1, a - 1
    left, right = absolute(Complex(from_left, b)), absolute(Complex(from_right, b))
    half_sum = (left + right) * 0.5
    squared = b * b
    # Differences of numbers that are nearly equal are written as quotients.
    left_part = squared / (left + from_left)
    inner = ((left_part + (right - from_right)) * 0.5 * (half_sum + a)).sqrt()
    half = (half_sum + a) * 0.5
    outer = (half / (left + from_left) + half / (right + from_right)).sqrt() * b
    real = (a > 1).where(outer, inner)
    below_one = left_part + squared / (right - from_right)
    above_one = (a < 1).where(below_one, left_part + (right + from_right)) * 0.5
    imag = (above_one + (above_one * (half_sum + 1)).sqrt()).log1p()
    is_large = a.maximum(b) > _LARGE
    far = absolute(Complex(a, b)).log() + math.log(2)
    return Complex(is_large.where(b, real), is_large.where(far, imag))


FUNCTIONS: dict[str, Callable[..., Complex | Array]] = {
    "abs": absolute,
    "acos": arc_cosine,
    "acosh": hyperbolic_arc_cosine,
    "add": Complex.__add__,
    "asin": arc_sine,
    "asinh": hyperbolic_arc_sine,
    "atan": arc_tangent,
    "atanh": hyperbolic_arc_tangent,
    "cos": cosine,
    "cosh": hyperbolic_cosine,
    "div": Complex.__truediv__,
    "eq": is_equal,
    "exp": exponential,
    "exp2": exponential_of_two,
    "expm1": exponential_minus_one,
    "isfinite": is_finite,
    "log": logarithm,
    "log1p": logarithm_plus_one,
    "multiply": Complex.__mul__,
    "ne": is_other,
    "neg": Complex.__neg__,
    "pow": power,
    "reciprocal": reciprocal,
    "rsqrt": reciprocal_root,
    "sigmoid": logistic,
    "sign": sign,
    "silu": sigmoid_linear_unit,
    "sin": sine,
    "sinh": hyperbolic_sine,
    "sqrt": square_root,
    "square": square,
    "subtract": Complex.__sub__,
    "tan": tangent,
    "tanh": hyperbolic_tangent,
}
"""What elementwise rows mean of complex numbers."""


# -- products of elements --------------------------------------------------------------------------


def multiply_along(x: Complex, dim: int) -> Complex:
    """The product of the elements along a dimension, which keeps an extent of 1.

    Halves are multiplied with each other until one element is left.
    """
    extent = x.real.shape[dim]
    if not extent:
        shape = [1 if i == dim else n for i, n in enumerate(x.real.shape)]
        return Complex(x.real.fill(1, shape), x.real.fill(0, shape))
    while extent > 1:
        half = extent // 2
        first, second, rest = (
            x.map(lambda part, begin=begin, end=end: part.cut(dim, begin, end))
            for begin, end in ((0, half), (half, 2 * half), (2 * half, extent))
        )
        product = first * second
        x = Complex(
            concatenate([product.real, rest.real], dim), concatenate([product.imag, rest.imag], dim)
        )
        extent -= half
    return x


def multiply_up_to(x: Complex, dim: int, *, reverse: bool) -> Complex:
    """The products of each element along a dimension and all in front of it, or behind it.

    Those of 1, 2, 4, ... elements are multiplied with those beside them.
    """
    step = 1
    while step < x.real.shape[dim]:
        margins = [(0, 0)] * x.real.rank
        margins[dim] = (-step, step) if reverse else (step, -step)
        x = x * Complex(x.real.pad(margins, 1), x.imag.pad(margins, 0))
        step *= 2
    return x
