"""Text that is written from a tree keeps the brackets that it needs."""

from __future__ import annotations

import pytest

from ttmlir.cpp.parse import parse
from ttmlir.cpp.render import render
from ttmlir.cpp.tree import Evaluate, Function

EXPRESSIONS = [
    # In lists of template arguments, `<`, `>` and `>>` would open or close a list.
    "f<(1 < 2)>(x)",
    "f<(1 > 2), 3>(x)",
    "f<(64 >> n)>(x)",
    "f<1 << n>(x)",
    "f<1 + n * 2>(x)",
    "a < (b >> c)",
    "(a < b) >> c",
    "g(a < b, c > d)",
    "g((a < b), (c >> d))",
    "g(a < b, (c > (d)))",
    "S{a < b, c > d}",
    "S{(a < b), (c > (d))}",
    "S{.first = a < b, .second = c >> d}",
    "v[a < b] > c",
    # Operators of the same level are read from the left.
    "a - (b - c)",
    "a - b - c",
    "a / (b * c)",
    "a << (b << c)",
    "(a + b) * c",
    "a + b * c",
    "a & b | c ^ d",
    "a & (b | c)",
    "a && b || c",
    "a && (b || c)",
    "(a == b) == c",
    "a == b && c != d",
    "!(a && b)",
    "!a && b",
    "-(-a)",
    "-(a + b)",
    "~(a | b)",
    "+(+a)",
    "*(p + 1)",
    "(*p).x",
    "p[a + 1]",
    "(a ? b : c) + d",
    "a ? b : c ? d : e",
    "(a ? b : c) ? d : e",
    "a = b = c",
    "a += b ? c : d",
    "a++ + ++b",
    "(a, b)",
    "f((a, b), c)",
    "(int) a + b",
    "(int) (a + b)",
    "static_cast<int>(a + b)",
    "sizeof(int) * n",
    "a.b.c(1)",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions_keep_their_brackets(expression: str) -> None:
    """What is written is read as the same tree, and as written the second time."""
    tree = parse(f"void f() {{ x = {expression}; }}")
    written = render(tree)
    assert parse(written) == tree
    assert render(parse(written)) == written


@pytest.mark.parametrize(
    "expression",
    [
        "a = b = c",
        "a ? b : c",
        "a && b || c",
        "a - (b - c)",
        "-a",
        "f(a)",
        "a < b",
        "a >> 2",
        "a > b",
    ],
)
def test_an_expression_alone_has_no_brackets_around_it(expression: str) -> None:
    """As messages quote it."""
    function = parse(f"void f() {{ {expression}; }}").items[0]
    assert isinstance(function, Function)
    assert function.body is not None
    [statement] = function.body.statements
    assert isinstance(statement, Evaluate)
    assert render(statement.expression) == expression
