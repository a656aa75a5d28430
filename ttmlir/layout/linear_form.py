"""Affine expressions over bounded dimensions as sums: what is left of them within the bounds.

`linear_form` knows that dimensions go over ranges. So it drops divisions whose quotient does not
change, splits those that a part of the sum divides evenly, and joins quotient and remainder again:
with d0 < 4, (d1 * 8 + d0) floordiv 8 is d1, and (d1 floordiv 4) * 4 + d1 mod 4 is d1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ttmlir.layout.affine import (
    AffineExpr,
    AffineKind,
    BinaryExpr,
    ConstantExpr,
    DimExpr,
    constant,
)
from ttmlir.layout.errors import LayoutError

Bounds = tuple[int, int]
"""The least and the largest value."""


@dataclass(frozen=True)
class LinearForm:
    """A sum of terms, numbers by factors.

    A term is a dimension, or a floor division or remainder by a constant, whose operand is never
    negative, or a product of two terms.
    """

    offset: int = 0
    factors: Mapping[AffineExpr, int] = field(default_factory=dict[AffineExpr, int])

    def __add__(self, other: LinearForm) -> LinearForm:
        """The sum."""
        factors = dict(self.factors)
        for term, factor in other.factors.items():
            factors[term] = factors.get(term, 0) + factor
        kept = {term: factor for term, factor in factors.items() if factor}
        return LinearForm(self.offset + other.offset, kept)

    def __mul__(self, number: int) -> LinearForm:
        """The sum of multiples."""
        if not number:
            return LinearForm()
        factors = {term: factor * number for term, factor in self.factors.items()}
        return LinearForm(self.offset * number, factors)

    def expression(self) -> AffineExpr:
        """The sum as an expression."""
        total: AffineExpr = constant(0)
        for term, factor in self.factors.items():
            total = total + term * factor
        return total + self.offset

    def factor_of(self, position: int) -> int:
        """How often dimension `position` itself is a summand."""
        return self.factors.get(DimExpr(position), 0)

    @property
    def divided_dims(self) -> frozenset[int]:
        """The dimensions that occur in terms that are no dimensions."""
        return frozenset(
            position
            for term in self.factors
            if not isinstance(term, DimExpr)
            for position in term.used_dims()
        )

    def used_dims(self) -> frozenset[int]:
        """The dimensions that the value depends on."""
        return frozenset(position for term in self.factors for position in term.used_dims())


def linear_form(expr: AffineExpr, extents: Sequence[int]) -> LinearForm:
    """An expression in which dimension i goes from 0 to `extents[i]` - 1.

    LayoutError for a division by what is no constant above 0, or by a symbol.
    """
    return _Forms(extents).of(expr)


def bounds_of(form: LinearForm, extents: Sequence[int]) -> Bounds:
    """What the value is at least and at most, as far as the terms tell one by one."""
    return _Forms(extents).bounds(form)


class _Forms:
    def __init__(self, extents: Sequence[int]) -> None:
        self._extents = extents

    def of(self, expr: AffineExpr) -> LinearForm:
        match expr:
            case ConstantExpr():
                return LinearForm(expr.value)
            case DimExpr():
                fixed = self._extents[expr.position] == 1
                return LinearForm() if fixed else LinearForm(0, {expr: 1})
            case BinaryExpr():
                return self._of_binary(expr)
            case _:
                raise LayoutError(f"a symbol in '{expr}' has no bounds")

    def _of_binary(self, expr: BinaryExpr) -> LinearForm:
        lhs, rhs = self.of(expr.lhs), self.of(expr.rhs)
        if expr.kind is AffineKind.ADD:
            return _join(lhs + rhs)
        if expr.kind is AffineKind.MUL:
            return _product(lhs, rhs)
        if rhs.factors or rhs.offset < 1:
            raise LayoutError(f"'{expr}' divides by what is no constant above 0")
        divisor = rhs.offset
        match expr.kind:
            case AffineKind.CEILDIV:
                quotient, _ = self._divide(lhs + LinearForm(divisor - 1), divisor)
                return quotient
            case AffineKind.FLOORDIV:
                return self._divide(lhs, divisor)[0]
            case _:
                return self._divide(lhs, divisor)[1]

    def _divide(self, form: LinearForm, divisor: int) -> tuple[LinearForm, LinearForm]:
        """Quotient and remainder."""
        whole: dict[AffineExpr, int] = {}
        rest: dict[AffineExpr, int] = {}
        for term, factor in form.factors.items():
            quotient, remainder = divmod(factor, divisor)
            if quotient:
                whole[term] = quotient
            if remainder:
                rest[term] = remainder
        # The rest is moved by multiples of the divisor until it begins within 0 .. divisor - 1.
        least, most = self.bounds(LinearForm(form.offset, rest))
        turns = least // divisor
        quotient = LinearForm(turns, whole)
        remainder = LinearForm(form.offset - turns * divisor, rest)
        if most - turns * divisor < divisor:
            return quotient, remainder
        inner, low, common = self._split(remainder, divisor)
        expression = inner.expression()
        floor = BinaryExpr(AffineKind.FLOORDIV, expression, constant(divisor // common))
        modulo = BinaryExpr(AffineKind.MOD, expression, constant(divisor // common))
        return quotient + LinearForm(0, {floor: 1}), LinearForm(0, {modulo: common}) + low

    def _split(self, form: LinearForm, divisor: int) -> tuple[LinearForm, LinearForm, int]:
        """A form as `common` times one, plus one below that; `common` divides the divisor."""
        candidates = {math.gcd(divisor, factor) for factor in form.factors.values()}
        for common in sorted(candidates | {1}, reverse=True):
            high = {t: f // common for t, f in form.factors.items() if not f % common}
            low = {t: f for t, f in form.factors.items() if f % common}
            below = LinearForm(form.offset % common, low)
            least, most = self.bounds(below)
            if high and least >= 0 and most < common:
                return LinearForm(form.offset // common, high), below, common
        raise AssertionError("1 divides every number")

    def bounds(self, form: LinearForm) -> Bounds:
        least = most = form.offset
        for term, factor in form.factors.items():
            ends = sorted(factor * end for end in self._term_bounds(term))
            least += ends[0]
            most += ends[1]
        return least, most

    def _term_bounds(self, term: AffineExpr) -> Bounds:
        match term:
            case DimExpr():
                return 0, self._extents[term.position] - 1
            case BinaryExpr(kind=AffineKind.FLOORDIV, lhs=lhs, rhs=ConstantExpr(value=divisor)):
                least, most = self.bounds(self.of(lhs))
                return least // divisor, most // divisor
            case BinaryExpr(kind=AffineKind.MOD, rhs=ConstantExpr(value=divisor)):
                return 0, divisor - 1
            case BinaryExpr(lhs=lhs, rhs=rhs):
                corners = [
                    first * second
                    for first in self.bounds(self.of(lhs))
                    for second in self.bounds(self.of(rhs))
                ]
                return min(corners), max(corners)
            case _:
                raise LayoutError(f"a symbol in '{term}' has no bounds")


def _product(lhs: LinearForm, rhs: LinearForm) -> LinearForm:
    if not rhs.factors:
        return lhs * rhs.offset
    if not lhs.factors:
        return rhs * lhs.offset
    product = BinaryExpr(AffineKind.MUL, lhs.expression(), rhs.expression())
    return LinearForm(0, {product: 1})


def _join(form: LinearForm) -> LinearForm:
    """The sum with `x floordiv c * c + x mod c` as x."""
    for term, factor in form.factors.items():
        if not isinstance(term, BinaryExpr) or term.kind is not AffineKind.MOD:
            continue
        divisor = term.rhs
        assert isinstance(divisor, ConstantExpr), "terms divide by constants"
        floor = BinaryExpr(AffineKind.FLOORDIV, term.lhs, divisor)
        if form.factors.get(floor) == factor * divisor.value:
            rest = {t: f for t, f in form.factors.items() if t not in (term, floor)}
            whole = _of_sum(term.lhs) * factor
            return _join(LinearForm(form.offset, rest) + whole)
    return form


def _of_sum(expr: AffineExpr) -> LinearForm:
    """The form that a simplified sum was made of."""
    match expr:
        case ConstantExpr():
            return LinearForm(expr.value)
        case BinaryExpr(kind=AffineKind.ADD):
            return _of_sum(expr.lhs) + _of_sum(expr.rhs)
        case BinaryExpr(kind=AffineKind.MUL, rhs=ConstantExpr(value=factor)):
            return _of_sum(expr.lhs) * factor
        case _:
            return LinearForm(0, {expr: 1})
