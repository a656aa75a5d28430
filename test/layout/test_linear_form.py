"""Sums over bounded dimensions against the values of the expressions that they are made of."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttmlir.layout.affine import (
    AffineExpr,
    bounds_of,
    constant,
    dims,
    linear_form,
    parse_affine_map,
)
from ttmlir.layout.errors import LayoutError

EXTENTS = (3, 4, 1, 6)


def expressions() -> st.SearchStrategy[AffineExpr]:
    """Sums, multiples, quotients and remainders of four dimensions."""
    leaves = st.one_of(st.sampled_from(dims(len(EXTENTS))), st.integers(-5, 9).map(constant))

    def nodes(inner: st.SearchStrategy[AffineExpr]) -> st.SearchStrategy[AffineExpr]:
        divisors = st.integers(1, 12)
        return st.one_of(
            st.tuples(inner, inner).map(lambda p: p[0] + p[1]),
            st.tuples(inner, st.integers(-4, 8)).map(lambda p: p[0] * p[1]),
            st.tuples(inner, divisors).map(lambda p: p[0] // p[1]),
            st.tuples(inner, divisors).map(lambda p: p[0] % p[1]),
            st.tuples(inner, divisors).map(lambda p: p[0].ceildiv(p[1])),
        )

    return st.recursive(leaves, nodes, max_leaves=8)


@given(expressions())
def test_values_are_those_of_the_expression(expr: AffineExpr) -> None:
    """At every point; and the bounds hold."""
    form = linear_form(expr, EXTENTS)
    whole = form.expression()
    least, most = bounds_of(form, EXTENTS)
    for point in itertools.product(*map(range, EXTENTS)):
        value = expr.eval(point)
        assert whole.eval(point) == value
        assert least <= value <= most


@pytest.mark.parametrize(
    ("text", "extents", "expected"),
    [
        ("(d0, d1) -> ((d0 * 4 + d1) floordiv 4)", (5, 4), "d0"),
        ("(d0, d1) -> ((d0 * 4 + d1) mod 4)", (5, 4), "d1"),
        ("(d0, d1) -> ((d0 * 4 + d1) floordiv 6 * 6 + (d0 * 4 + d1) mod 6)", (5, 4), "d0 * 4 + d1"),
        ("(d0, d1) -> ((d0 * 8 + d1 * 2 + 1) floordiv 4)", (5, 2), "d0 * 2"),
        ("(d0, d1) -> ((d0 * 2 + d1) floordiv 4)", (5, 2), "d0 floordiv 2"),
        ("(d0, d1) -> ((d1 - 8) floordiv 4)", (1, 12), "d1 floordiv 4 - 2"),
        ("(d0, d1) -> (d0 + d1)", (1, 12), "d1"),
    ],
)
def test_divisions_that_vanish(text: str, extents: tuple[int, ...], expected: str) -> None:
    """What the bounds of the dimensions tell."""
    [result] = parse_affine_map(text).results
    assert str(linear_form(result, extents).expression()) == expected


def test_divisions_by_variables_are_refused() -> None:
    """They are no maps of memory."""
    first, second, *_ = dims(4)
    with pytest.raises(LayoutError, match="divides by what is no constant above 0"):
        linear_form(first // second, EXTENTS)
