"""What CHLO's inverse trigonometric and hyperbolic functions of complex numbers have in common.

For z = x + iy the kernel is sqrt(a*a - x*x) + i * acosh(a), a being half of the sum of the
distances of |x| + i|y| from -1 and from 1, so that asin(z) is atan2(x, real) + i * imag for y >= 0.

Source: T. E. Hull, T. F. Fairgrieve and P. T. P. Tang, "Implementing the complex arcsine and
arccosine functions using exception handling", ACM TOMS 23 (1997).
"""

from __future__ import annotations

import math
from typing import cast

from xdsl.dialects.builtin import ComplexType, TensorType
from xdsl.ir import Operation

from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import replace
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.complex.parts import Arithmetic, Parts
from ttmlir.passes.stablehlo.specification.numbers import Number
from ttmlir.passes.stablehlo.specification.writer import Writer

_LARGE = 1e9
"""Where 1 is less than half of the last bit of float32."""


def _kernel(op: Operation) -> None:
    (operand,) = op.operands
    element = cast("ComplexType", element_type(operand)).element_type
    type_ = TensorType(element, value_shape(operand))
    write, do = Writer(op), Arithmetic(Builder.before(op))
    x, y = (
        Number(do, write.create(part, (operand,), type_)).apply("abs") for part in ("real", "imag")
    )

    def length(a: Number, b: Number) -> Number:
        return Number(do, do.absolute(Parts(a.value, b.value)))

    from_left, from_right = x + 1, x - 1
    left, right = length(from_left, y), length(from_right, y)
    half_sum = (left + right) * 0.5
    squared = y * y
    # Differences of numbers that are nearly equal are written as quotients.
    left_part = squared / (left + from_left)
    inner = ((left_part + (right - from_right)) * 0.5 * (half_sum + x)).apply("sqrt")
    half = (half_sum + x) * 0.5
    outer = (half / (left + from_left) + half / (right + from_right)).apply("sqrt") * y
    real = inner.where(x.is_true("gt", 1), outer)
    above_one = (left_part + (right + from_right)).where(
        x.is_true("lt", 1), left_part + squared / (right - from_right)
    )
    above_one = above_one * 0.5
    imag = (above_one + (above_one * (half_sum + 1)).apply("sqrt")).apply("log1p")
    is_large = x.apply("maximum", y).is_true("gt", _LARGE)
    far = length(x, y).apply("log") + math.log(2)
    parts = (real.where(is_large, y).value, imag.where(is_large, far).value)
    replace(op, write.create("complex", parts, op.results[0].type))


RULES: dict[str, ConversionRule] = {"chlo._asin_acos_kernel": _kernel}
"""Rules by the full name of the operation."""
