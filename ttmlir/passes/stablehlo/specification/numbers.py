"""Formulas on real tensors, written with Python's operators."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ttmlir.passes.stablehlo.complex.parts import Arithmetic


class Number:
    """A tensor of real numbers in a formula; its operators create operations of ttir."""

    def __init__(self, do: Arithmetic, value: SSAValue) -> None:
        """A tensor, and what creates operations."""
        self.do = do
        self.value = value

    def apply(self, mnemonic: str, *others: Number | float) -> Number:
        """An elementwise operation on this and others."""
        values = [self._value_of(other) for other in others]
        return Number(self.do, self.do.apply(mnemonic, self.value, *values))

    def fill(self, number: float) -> Number:
        """A tensor of one number, like this one."""
        return Number(self.do, self.do.fill(number, self.value))

    def is_true(self, mnemonic: str, other: Number | float) -> SSAValue:
        """Truth of a comparison: eq, ne, gt, ge, lt, le."""
        right = other if isinstance(other, Number) else self.fill(other)
        return self.do.compare(mnemonic, self.value, right.value)

    def where(self, condition: SSAValue, other: Number | float) -> Number:
        """The other number where the condition is true, else this one."""
        chosen = other if isinstance(other, Number) else self.fill(other)
        return Number(self.do, self.do.choose(condition, chosen.value, self.value))

    def _value_of(self, other: Number | float) -> SSAValue:
        return other.value if isinstance(other, Number) else self.do.number(other, self.value)

    def __add__(self, other: Number | float) -> Number:
        """The sum."""
        return self.apply("add", other)

    def __sub__(self, other: Number | float) -> Number:
        """The difference."""
        return self.apply("subtract", other)

    def __mul__(self, other: Number | float) -> Number:
        """The product."""
        return self.apply("multiply", other)

    def __truediv__(self, other: Number | float) -> Number:
        """The quotient."""
        return self.apply("div", other)

    def __xor__(self, other: Number | float) -> Number:
        """The bits that only one has."""
        return self.apply("bitwise_xor", other)
