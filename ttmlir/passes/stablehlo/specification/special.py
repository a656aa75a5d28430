"""Functions of CHLO that no row has, in terms of those that rows have.

They are computed in float32. Values outside of the domains are those of XLA.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import AnyFloat, ComplexType, IntegerType, Signedness, f32, i32
from xdsl.ir import Operation, SSAValue

from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import element_type, tensor_of, value_shape
from ttmlir.optable.series import BERNOULLI, I1_LARGE, I1_SMALL
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.complex.parts import Arithmetic
from ttmlir.passes.stablehlo.specification.numbers import Number

_STEPS = 8
"""Steps up to where the asymptotic series hold."""


def _in_float32(function: Callable[..., Number]) -> ConversionRule:
    """The rule of a function, whose operands are converted to float32 and its result back."""

    def rule(op: Operation) -> None:
        if isinstance(element_type(op.operands[0]), ComplexType):
            refuse_to_legalize(op, "it is supported for real numbers only")
        build = Builder.before(op)
        do = Arithmetic(build)
        found = function(*(Number(do, build.cast(value, f32)) for value in op.operands))
        replace(op, build.cast(found.value, element_type(op.results[0])))

    return rule


def _series(coefficients: Sequence[float], x: Number) -> Number:
    """The Chebyshev series of these coefficients, by Clenshaw's recurrence."""
    after, here = x.fill(0), x.fill(0)
    double = x * 2
    for coefficient in reversed(coefficients[1:]):
        after, here = here, double * here - after + coefficient
    return x * here - after + coefficients[0]


def _bessel_i1e(x: Number) -> Number:
    """exp(-|x|) times the modified Bessel function of the first kind and order 1."""
    size = x.apply("abs")
    near = _series(I1_SMALL, size.apply("minimum", 8) * 0.25 - 1) * x
    outside = size.apply("maximum", 8)
    far = _series(I1_LARGE, outside.fill(16) / outside - 1) / outside.apply("sqrt")
    return near.where(size.is_true("gt", 8), far * x.apply("sign"))


def _digamma(x: Number) -> Number:
    """The derivative of lgamma, by its asymptotic series; reflected below a half."""
    is_left = x.is_true("lt", 0.5)
    one = x.fill(1)
    up = x.where(is_left, one - x)
    far = up + _STEPS
    square = one / (far * far)
    tail = (square * (-1 / 240) + 1 / 252) * square - 1 / 120
    tail = (tail * square + 1 / 12) * square
    found = far.apply("log") - one / (far * 2) - tail
    for step in range(_STEPS):
        found = found - one / (up + step)
    # psi(1 - x) - psi(x) = pi / tan(pi * x), of the part of x that is not whole.
    part = x - (x + 0.5).apply("floor")
    found = found.where(is_left, found - x.fill(math.pi) / (part * math.pi).apply("tan"))
    is_pole = _both(x.is_true("le", 0), x.is_true("eq", x.apply("floor")), x)
    return found.where(is_pole, math.nan)


def _both(a: SSAValue, b: SSAValue, like: Number) -> SSAValue:
    return like.do.build.create("logical_and", (a, b), a.type)


def _zeta(s: Number, q: Number) -> Number:
    """The sum of (q + k) ** -s over k from 0, by Euler's and Maclaurin's formula."""
    down = s * -1
    far = q + _STEPS
    power = far.apply("pow", down)
    total = power * far / (s - 1) + power * 0.5
    for step in range(_STEPS):
        total = total + (q + step).apply("pow", down)
    rising = s
    for number, coefficient in enumerate(BERNOULLI):
        power = power / far
        total = total + rising * power * coefficient
        power = power / far
        rising = rising * (s + (2 * number + 1)) * (s + (2 * number + 2))
    is_left = q.is_true("le", 0)
    total = total.where(_both(is_left, s.is_true("ne", s.apply("floor")), s), math.nan)
    total = total.where(_both(is_left, q.is_true("eq", q.apply("floor")), s), math.inf)
    return total.where(s.is_true("lt", 1), math.nan).where(s.is_true("eq", 1), math.inf)


def _polygamma(order: Number, x: Number) -> Number:
    """The derivative of digamma of an order that is a whole number."""
    up = order + 1
    half = order * 0.5
    is_odd = half.is_true("ne", half.apply("floor"))
    sign = x.fill(-1).where(is_odd, 1)
    found = sign * up.apply("lgamma").apply("exp") * _zeta(up, x)
    found = found.where(order.is_true("eq", 0), _digamma(x))
    is_wrong = order.is_true("ne", order.apply("floor"))
    return found.where(is_wrong, math.nan).where(order.is_true("lt", 0), math.nan)


def _next_after(op: Operation) -> None:
    """The next number in the direction of another, by the order of the bits."""
    build = Builder.before(op)
    do = Arithmetic(build)
    x, y = (Number(do, value) for value in op.operands)
    width = 8 * cast("AnyFloat", element_type(x.value)).size
    if width > 32:
        refuse_to_legalize(op, "numbers of 64 bits have no neighbours on a device; use f32")
    integers = tensor_of(IntegerType(width), value_shape(x.value))
    bits = Number(do, build.create("bitcast_convert", (x.value,), integers))
    is_up = y.is_true("gt", x)
    # Away from 0 the bits grow; the least numbers besides 0 have the bits 1 and the sign.
    grow, fall = bits + 1, bits - 1
    right = fall.where(is_up, grow)
    left = grow.where(is_up, fall)
    least = bits.fill(1 - (1 << (width - 1))).where(is_up, 1)
    moved = left.where(x.is_true("gt", 0), right).where(x.is_true("eq", 0), least)
    found = Number(do, build.create("bitcast_convert", (moved.value,), x.value.type))
    found = found.where(x.is_true("eq", y), y)
    found = found.where(x.is_true("ne", x), x).where(y.is_true("ne", y), y)
    replace(op, found.value)


def _mulhi(op: Operation) -> None:
    """The upper half of the bits of a product, from products of halves."""
    build = Builder.before(op)
    do = Arithmetic(build)
    integer = cast("IntegerType", element_type(op.results[0]))
    width = integer.width.data
    if width not in (8, 16, 32):
        refuse_to_legalize(op, f"products of integers of {width} bits have no place on a device")
    type_ = tensor_of(i32, value_shape(op.results[0]))
    is_unsigned = integer.signedness.data is Signedness.UNSIGNED
    if width < 32:
        a, b = (Number(do, build.cast(value, i32)) for value in op.operands)
        shift = "logical_right_shift" if is_unsigned else "right_shift"
        replace(op, build.cast((a * b).apply(shift, width).value, integer))
        return
    mnemonic = "bitcast_convert"
    values = [
        build.create(mnemonic, (value,), type_) if is_unsigned else value for value in op.operands
    ]
    a, b = (Number(do, value) for value in values)

    def upper(number: Number) -> Number:
        return number.apply("logical_right_shift", 16)

    def lower(number: Number) -> Number:
        return number.apply("bitwise_and", 0xFFFF)

    middle = upper(a) * lower(b) + upper(lower(a) * lower(b))
    other = lower(a) * upper(b) + lower(middle)
    found = upper(a) * upper(b) + upper(middle) + upper(other)
    if is_unsigned:
        replace(op, build.create(mnemonic, (found.value,), op.results[0].type))
        return
    for sign, factor in ((a, b), (b, a)):
        found = found.where(sign.is_true("lt", 0), found - factor)
    replace(op, found.value)


RULES: dict[str, ConversionRule] = {
    "chlo.bessel_i1e": _in_float32(_bessel_i1e),
    "chlo.digamma": _in_float32(_digamma),
    "chlo.mulhi": _mulhi,
    "chlo.next_after": _next_after,
    "chlo.polygamma": _in_float32(_polygamma),
    "chlo.zeta": _in_float32(_zeta),
}
"""Rules by the full name of the operation."""
