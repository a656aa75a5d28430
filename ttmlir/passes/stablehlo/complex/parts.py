"""Pairs of real tensors, and what arithmetic makes of them.

Absolute values and quotients are scaled, so that squares stay in the range of the elements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType, i1
from xdsl.ir import SSAValue

from ttmlir.ir.builder import Builder
from ttmlir.ir.tensor_types import element_type, value_shape


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
        """An elementwise operation on tensors of one type."""
        return self.build.create(mnemonic, operands, operands[0].type)

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
        return self.build.create(mnemonic, (a, b), TensorType(i1, value_shape(a)))

    def choose(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """Elements of one of two tensors."""
        return self.build.create("where", (condition, a, b), a.type)

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
        """The root with a real part that is not negative."""
        size = self.absolute(x)
        half = self.scale(self.apply("add", size, self.apply("abs", x.real)), 0.5)
        root = self.apply("sqrt", half)
        zero = self.fill(0, root)
        has_root = self.compare("gt", root, zero)
        double = self.choose(has_root, self.scale(root, 2), self.fill(1, root))
        other = self.apply("div", self.apply("abs", x.imag), double)
        is_right = self.compare("ge", x.real, zero)
        is_above = self.compare("ge", x.imag, zero)
        imag = self.choose(is_right, other, root)
        return Parts(
            self.choose(is_right, root, other),
            self.choose(is_above, imag, self.apply("neg", imag)),
        )

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
        one = Parts(self.fill(1, x.real), self.fill(0, x.real))
        return self.divide(one, self.square_root(x))

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

    def sign(self, x: Parts) -> Parts:
        """Of length 1, or 0."""
        size = self.absolute(x)
        zero = self.fill(0, size)
        divisor = self.choose(self.compare("gt", size, zero), size, self.fill(1, size))
        return x.map(lambda part: self.apply("div", part, divisor))
