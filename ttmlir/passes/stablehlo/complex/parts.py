"""Pairs of real tensors, and what arithmetic makes of them.

Absolute values and quotients are scaled, so that squares stay in the range of the elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ComplexType, TensorType, i1
from xdsl.ir import Attribute, SSAValue

from ttmlir.ir.builder import Builder
from ttmlir.ir.tensor_types import element_type, tensor_of, value_shape
from ttmlir.optable.shapes import broadcast_shape

if TYPE_CHECKING:
    from ttmlir.mlir.attributes.elements import ElementsType


def is_complex(type_: Attribute) -> bool:
    """True for tensors of complex numbers."""
    return isinstance(type_, TensorType) and isinstance(
        cast("TensorType[Attribute]", type_).element_type, ComplexType
    )


def real_type(type_: Attribute) -> ElementsType:
    """The type of both parts of a complex tensor."""
    tensor = cast("TensorType[ComplexType]", type_)
    return cast("ElementsType", TensorType(tensor.element_type.element_type, tensor.get_shape()))


@dataclass(frozen=True)
class Parts:
    """A complex tensor: `real + i * imag`."""

    real: SSAValue
    imag: SSAValue

    def map(self, function: Callable[[SSAValue], SSAValue]) -> Parts:
        """What a function makes of both parts."""
        return Parts(function(self.real), function(self.imag))


class Arithmetic:
    """Arithmetic on pairs, by operations that a builder creates."""

    def __init__(self, build: Builder) -> None:
        """Create operations with a builder."""
        self.build = build

    # -- on real tensors -----------------------------------------------------------------------

    def apply(self, mnemonic: str, *operands: SSAValue) -> SSAValue:
        """An elementwise operation on tensors of one element type, which broadcast."""
        return self.build.create(mnemonic, operands, self._joint_type(*operands))

    def _joint_type(self, *operands: SSAValue) -> TensorType[Attribute]:
        shape = broadcast_shape(*map(value_shape, operands))
        return tensor_of(element_type(operands[-1]), shape)

    def number(self, number: float, like: SSAValue) -> SSAValue:
        """A number, for elements like those of a value."""
        return self.build.create_scalar(number, element_type(like))

    def scale(self, value: SSAValue, factor: float) -> SSAValue:
        """A multiple."""
        return self.apply("multiply", value, self.number(factor, value))

    def fill(self, number: float, like: SSAValue) -> SSAValue:
        """A tensor of one number."""
        return self.build.create_splat(number, like.type)

    def compare(self, mnemonic: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """Truth of a comparison."""
        type_ = tensor_of(i1, self._joint_type(a, b).get_shape())
        return self.build.create(mnemonic, (a, b), type_)

    def choose(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """Elements of one of two tensors."""
        return self.apply("where", condition, a, b)

    # -- on pairs ------------------------------------------------------------------------------

    def each(self, mnemonic: str, *operands: Parts) -> Parts:
        """An operation that works on both parts alone."""
        return Parts(
            self.apply(mnemonic, *(each.real for each in operands)),
            self.apply(mnemonic, *(each.imag for each in operands)),
        )

    def multiply(self, x: Parts, y: Parts) -> Parts:
        """The product."""
        return Parts(
            self.apply(
                "subtract",
                self.apply("multiply", x.real, y.real),
                self.apply("multiply", x.imag, y.imag),
            ),
            self.apply(
                "add",
                self.apply("multiply", x.real, y.imag),
                self.apply("multiply", x.imag, y.real),
            ),
        )

    def equal(self, x: Parts, y: Parts, direction: str = "eq") -> SSAValue:
        """Whether both parts are equal, or with "ne" whether one is not."""
        join = "logical_and" if direction == "eq" else "logical_or"
        real = self.compare(direction, x.real, y.real)
        return self.apply(join, real, self.compare(direction, x.imag, y.imag))

    def is_not_zero(self, x: Parts) -> SSAValue:
        """The truth value of each element."""
        return self.equal(x, x.map(lambda part: self.number(0, part)), "ne")

    def is_finite(self, x: Parts) -> SSAValue:
        """Whether both parts are finite."""
        type_ = tensor_of(i1, value_shape(x.real))
        real, imag = (self.build.create("isfinite", (p,), type_) for p in (x.real, x.imag))
        return self.apply("logical_and", real, imag)

    def square(self, x: Parts) -> Parts:
        """The product with itself."""
        return self.multiply(x, x)

    def reciprocal(self, x: Parts) -> Parts:
        """1 over it."""
        return self.divide(Parts(self.fill(1, x.real), self.fill(0, x.real)), x)

    def conjugate(self, x: Parts) -> Parts:
        """The other side of the real axis."""
        return Parts(x.real, self.apply("neg", x.imag))

    def divide(self, x: Parts, y: Parts) -> Parts:
        """The quotient; the divisor is scaled to one whose larger part is 1."""
        largest = self.apply("maximum", self.apply("abs", y.real), self.apply("abs", y.imag))
        divisor = y.map(lambda part: self.apply("div", part, largest))
        above = self.multiply(x, self.conjugate(divisor))
        length = self.apply(
            "add",
            self.apply("multiply", divisor.real, divisor.real),
            self.apply("multiply", divisor.imag, divisor.imag),
        )
        below = self.apply("multiply", length, largest)
        return above.map(lambda part: self.apply("div", part, below))

    def absolute(self, x: Parts) -> SSAValue:
        """The distance from 0."""
        real, imag = self.apply("abs", x.real), self.apply("abs", x.imag)
        largest, least = self.apply("maximum", real, imag), self.apply("minimum", real, imag)
        ratio = self.apply("div", least, largest)
        square = self.apply("multiply", ratio, ratio)
        root = self.apply("sqrt", self.apply("add", square, self.number(1, square)))
        length = self.apply("multiply", largest, root)
        # 0 / 0 and infinite parts have no ratio.
        is_scaled = self.compare("gt", largest, self.fill(0, largest))
        length = self.choose(is_scaled, length, largest)
        is_finite = self.build.create("isfinite", (largest,), is_scaled.type)
        return self.choose(is_finite, length, largest)

    def exponential(self, x: Parts) -> Parts:
        """e to the power of it."""
        power = self.apply("exp", x.real)
        return Parts(
            self.apply("multiply", power, self.apply("cos", x.imag)),
            self.apply("multiply", power, self.apply("sin", x.imag)),
        )

    def logarithm(self, x: Parts) -> Parts:
        """The natural logarithm whose imaginary part is in [-pi, pi]."""
        return Parts(self.apply("log", self.absolute(x)), self.apply("atan2", x.imag, x.real))

    def power(self, x: Parts, y: Parts) -> Parts:
        """e to the power of y * log x; 1 for y = 0, else 0 for x = 0."""
        found = self.exponential(self.multiply(y, self.logarithm(x)))
        zero, one = self.fill(0, x.real), self.fill(1, x.real)
        is_zero = self.compare("eq", self.absolute(x), zero)
        to_zero = self.compare("eq", self.absolute(y), zero)
        found = found.map(lambda part: self.choose(is_zero, zero, part))
        return Parts(self.choose(to_zero, one, found.real), self.choose(to_zero, zero, found.imag))

    def square_root(self, x: Parts) -> Parts:
        """The root with a real part that is not negative; its imaginary part has the sign of x."""
        size = self.absolute(x)
        half = self.scale(self.apply("add", size, self.apply("abs", x.real)), 0.5)
        root = self.apply("sqrt", half)
        zero = self.fill(0, root)
        has_root = self.compare("gt", root, zero)
        double = self.choose(has_root, self.scale(root, 2), self.fill(1, root))
        other = self.apply("div", self.apply("abs", x.imag), double)
        is_right = self.compare("ge", x.real, zero)
        imag = self.choose(is_right, other, root)
        return Parts(
            self.choose(is_right, root, other),
            self.choose(self.is_negative(x.imag), self.apply("neg", imag), imag),
        )

    def is_negative(self, x: SSAValue) -> SSAValue:
        """True for numbers below 0 and for -0, whose reciprocal is below 0."""
        zero = self.number(0, x)
        below = self.compare("lt", x, zero)
        turned = self.compare("lt", self.apply("reciprocal", x), zero)
        return self.apply("logical_or", below, turned)

    def sine(self, x: Parts) -> Parts:
        """sin a cosh b + i cos a sinh b."""
        wide, narrow = self.apply("cosh", x.imag), self.apply("sinh", x.imag)
        return Parts(
            self.apply("multiply", self.apply("sin", x.real), wide),
            self.apply("multiply", self.apply("cos", x.real), narrow),
        )

    def cosine(self, x: Parts) -> Parts:
        """cos a cosh b - i sin a sinh b."""
        wide, narrow = self.apply("cosh", x.imag), self.apply("sinh", x.imag)
        imag = self.apply("multiply", self.apply("sin", x.real), narrow)
        return Parts(
            self.apply("multiply", self.apply("cos", x.real), wide), self.apply("neg", imag)
        )

    def hyperbolic_sine(self, x: Parts) -> Parts:
        """sinh a cos b + i cosh a sin b."""
        return Parts(
            self.apply("multiply", self.apply("sinh", x.real), self.apply("cos", x.imag)),
            self.apply("multiply", self.apply("cosh", x.real), self.apply("sin", x.imag)),
        )

    def hyperbolic_cosine(self, x: Parts) -> Parts:
        """cosh a cos b + i sinh a sin b."""
        return Parts(
            self.apply("multiply", self.apply("cosh", x.real), self.apply("cos", x.imag)),
            self.apply("multiply", self.apply("sinh", x.real), self.apply("sin", x.imag)),
        )

    def tangent(self, x: Parts) -> Parts:
        """-i tanh(i x)."""
        turned = self.hyperbolic_tangent(Parts(self.apply("neg", x.imag), x.real))
        return Parts(turned.imag, self.apply("neg", turned.real))

    def exponential_minus_one(self, x: Parts) -> Parts:
        """exp(x) - 1: (exp a - 1) cos b - 2 sin²(b / 2) + i exp a sin b keeps small digits."""
        less = self.apply("multiply", self.apply("expm1", x.real), self.apply("cos", x.imag))
        half = self.apply("sin", self.scale(x.imag, 0.5))
        square = self.scale(self.apply("multiply", half, half), 2)
        power = self.apply("exp", x.real)
        return Parts(
            self.apply("subtract", less, square),
            self.apply("multiply", power, self.apply("sin", x.imag)),
        )

    def logarithm_plus_one(self, x: Parts) -> Parts:
        """log(1 + x): the real part is log1p(a (a + 2) + b²) / 2."""
        more = self.apply("add", x.real, self.number(2, x.real))
        near = self.apply("multiply", x.real, more)
        square = self.apply("add", near, self.apply("multiply", x.imag, x.imag))
        one = self.apply("add", x.real, self.number(1, x.real))
        return Parts(self.scale(self.apply("log1p", square), 0.5), self.apply("atan2", x.imag, one))

    def reciprocal_root(self, x: Parts) -> Parts:
        """1 over the root."""
        return self.reciprocal(self.square_root(x))

    def hyperbolic_tangent(self, x: Parts) -> Parts:
        """(tanh a + i tan b) / (1 + i tanh a tan b), in a form without large numbers."""
        tangent = self.apply("tanh", x.real)
        sine, cosine = self.apply("sin", x.imag), self.apply("cos", x.imag)
        above = Parts(self.apply("multiply", tangent, cosine), sine)
        below = Parts(cosine, self.apply("multiply", tangent, sine))
        return self.divide(above, below)

    def logistic(self, x: Parts) -> Parts:
        """(1 + tanh(x / 2)) / 2."""
        found = self.hyperbolic_tangent(x.map(lambda part: self.scale(part, 0.5)))
        one = self.number(1, found.real)
        return Parts(
            self.scale(self.apply("add", found.real, one), 0.5), self.scale(found.imag, 0.5)
        )

    def exponential_of_two(self, x: Parts) -> Parts:
        """2 to the power of it."""
        return self.exponential(x.map(lambda part: self.scale(part, math.log(2))))

    def sigmoid_linear_unit(self, x: Parts) -> Parts:
        """It times its logistic function."""
        return self.multiply(x, self.logistic(x))

    def sign(self, x: Parts) -> Parts:
        """Of length 1, or 0."""
        size = self.absolute(x)
        zero = self.fill(0, size)
        divisor = self.choose(self.compare("gt", size, zero), size, self.fill(1, size))
        return x.map(lambda part: self.apply("div", part, divisor))

    # -- inverse functions: W. Kahan, "Branch Cuts for Complex Elementary Functions", 1987 -------

    def _roots(self, x: Parts) -> tuple[Parts, Parts]:
        """The roots of 1 - x and of 1 + x; zeros keep their signs."""
        one = self.number(1, x.real)
        below = Parts(
            self.apply("subtract", self.fill(1, x.real), x.real), self.apply("neg", x.imag)
        )
        return self.square_root(below), self.square_root(
            Parts(self.apply("add", x.real, one), x.imag)
        )

    def _cross(self, x: Parts, y: Parts) -> SSAValue:
        """The imaginary part of conj(x) * y."""
        return self.apply(
            "subtract",
            self.apply("multiply", x.real, y.imag),
            self.apply("multiply", x.imag, y.real),
        )

    def arc_sine(self, x: Parts) -> Parts:
        """The angle whose sine it is, with a real part from -pi / 2 to pi / 2."""
        below, above = self._roots(x)
        cosine = self.multiply(below, above).real
        return Parts(
            self.apply("atan2", x.real, cosine), self.apply("asinh", self._cross(below, above))
        )

    def arc_cosine(self, x: Parts) -> Parts:
        """The angle whose cosine it is, with a real part from 0 to pi."""
        below, above = self._roots(x)
        half = self.apply("atan2", below.real, above.real)
        return Parts(self.scale(half, 2), self.apply("asinh", self._cross(above, below)))

    def hyperbolic_arc_cosine(self, x: Parts) -> Parts:
        """The number whose hyperbolic cosine it is, with a real part that is not negative."""
        one = self.number(1, x.real)
        below = self.square_root(Parts(self.apply("subtract", x.real, one), x.imag))
        above = self.square_root(Parts(self.apply("add", x.real, one), x.imag))
        real = self.apply(
            "add",
            self.apply("multiply", below.real, above.real),
            self.apply("multiply", below.imag, above.imag),
        )
        half = self.apply("atan2", below.imag, above.real)
        return Parts(self.apply("asinh", real), self.scale(half, 2))

    def hyperbolic_arc_tangent(self, x: Parts) -> Parts:
        """log1p(4 a / ((1 - a)² + b²)) / 4 and the angle of (1 - a²  - b², 2 b), halved."""
        one = self.fill(1, x.real)
        sign = self.choose(self.is_negative(x.real), self.fill(-1, x.real), one)
        size = self.apply("abs", x.real)
        away, square = self.apply("subtract", one, size), self.apply("multiply", x.imag, x.imag)
        distance = self.apply("add", self.apply("multiply", away, away), square)
        ratio = self.apply("div", self.scale(size, 4), distance)
        real = self.apply("multiply", self.scale(self.apply("log1p", ratio), 0.25), sign)
        product = self.apply("multiply", away, self.apply("add", size, one))
        rest = self.apply("subtract", product, square)
        angle = self.apply("atan2", self.scale(x.imag, 2), rest)
        return Parts(real, self.scale(angle, 0.5))

    def arc_tangent(self, x: Parts) -> Parts:
        """-i atanh(i x)."""
        return self._turned(self.hyperbolic_arc_tangent, x)

    def hyperbolic_arc_sine(self, x: Parts) -> Parts:
        """-i asin(i x)."""
        return self._turned(self.arc_sine, x)

    def _turned(self, function: Callable[[Parts], Parts], x: Parts) -> Parts:
        found = function(Parts(self.apply("neg", x.imag), x.real))
        return Parts(found.imag, self.apply("neg", found.real))

    # -- products of elements ------------------------------------------------------------------

    def product_of(self, x: Parts, dim: int) -> Parts:
        """The product of the elements along a dimension, which keeps an extent of 1.

        Halves are multiplied with each other until one element is left.
        """
        extent = value_shape(x.real)[dim]
        if not extent:
            shape = [1 if i == dim else n for i, n in enumerate(value_shape(x.real))]
            type_ = tensor_of(element_type(x.real), shape)
            return Parts(self.build.create_splat(1, type_), self.build.create_splat(0, type_))
        while extent > 1:
            half = extent // 2
            cut = [
                x.map(partial(self.build.slice_along, dim=dim, begin=begin, end=end))
                for begin, end in ((0, half), (half, 2 * half), (2 * half, extent))
            ]
            product = self.multiply(cut[0], cut[1])
            rest = [product, cut[2]] if extent % 2 else [product]
            x = Parts(
                self.build.concat([each.real for each in rest], dim),
                self.build.concat([each.imag for each in rest], dim),
            )
            extent -= half
        return x

    def running_product(self, x: Parts, dim: int, *, reverse: bool) -> Parts:
        """The products of each element along a dimension and all in front of it, or behind it.

        Those of 1, 2, 4, ... elements are multiplied with those beside them.
        """
        extent, step = value_shape(x.real)[dim], 1
        while step < extent:
            margins = [(0, 0)] * len(value_shape(x.real))
            margins[dim] = (-step, step) if reverse else (step, -step)
            shifted = Parts(self.build.pad(x.real, margins, 1), self.build.pad(x.imag, margins, 0))
            x = self.multiply(x, shifted)
            step *= 2
        return x
