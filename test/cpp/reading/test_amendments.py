"""Comma operators with assignments, which the grammar cannot read without more brackets."""

from __future__ import annotations

import pytest

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.parse import parse


def body(expression: str) -> object:
    """The statements of a function with one expression."""
    return parse(f"void f() {{ a = 1; {expression}; }}", "k.cpp").items


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("c = (b = 12, b + 1)", "c = ((b = 12), b + 1)"),
        ("c=(b+=12,d[1]=2,b)", "c = ((b += 12), (d[1] = 2), b)"),
        ("c = 2 * (b = f(1, 2), b)", "c = 2 * ((b = f(1, 2)), b)"),
        ("f((b = 12, b), (c <<= 1, c))", "f(((b = 12), b), ((c <<= 1), c))"),
        ("c = (b = (d = 1, d), b)", "c = ((b = ((d = 1), d)), b)"),
        ("if ((b = 1, b)) c = 1", "if (((b = 1), b)) c = 1"),
        ("for (int i = 0, j = 1; i < j; (i = 2, j = 3)) {}",
         "for (int i = 0, j = 1; i < j; ((i = 2), (j = 3))) {}"),
        ("c = (b == 12, b = 1, b)", "c = (b == 12, (b = 1), b)"),
        ("c = (b, d = 3)", "c = (b, (d = 3))"),
        ("c = (b = 1, d = f(1, 2))", "c = ((b = 1), (d = f(1, 2)))"),
        ("c = (b, d += (e = 2, f = 1))", "c = (b, (d += ((e = 2), (f = 1))))"),
    ],
)  # fmt: skip
def test_brackets_around_assignments_mean_nothing(written: str, meant: str) -> None:
    """The tree is that of the text with brackets around each assignment."""
    assert body(written) == body(meant)


def test_places_are_those_of_the_source() -> None:
    """Brackets that nobody wrote do not move what stands behind them."""
    unit = parse("void f() {\n  c = (b = 12,\n    g(1), b); }", "k.cpp")
    assert "FunctionCall" in repr(unit)
    with pytest.raises(CppSyntaxError) as caught:
        parse("void f() {\n  c = (b = 12,\n    new int, b); }", "k.cpp")
    assert str(caught.value).startswith("k.cpp:3:5: error: ")


def test_what_is_no_cpp_stays_refused() -> None:
    """With the place in the text as it was written."""
    with pytest.raises(CppSyntaxError) as caught:
        body("c = (b = 12, b + 1))")
    assert caught.value.position.line == 1
    assert "is not expected here" in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        "switch (a) { case 1 ... 4: new int; }",
        "enum : int { A }; new int;",
        "c = (T)-a + (b < a && c >= b); new int;",
    ],
)
def test_places_behind_inserted_words(line: str) -> None:
    """What stands behind an amendment is said to be where it was written."""
    text = f"typedef int T; void f(int a, int b, int c) {{ {line} }}"
    with pytest.raises(CppSyntaxError) as caught:
        parse(text, "k.cpp")
    assert caught.value.position.column == text.index("new") + 1


def test_templates_of_other_headers_are_told_by_their_arguments() -> None:
    """Nothing is compared with `true`, or with a pack before `>::`."""
    one, two = (f"T<E...>::q.{each}[I] == N ? P : T<E...>::q.{each}[I]" for each in "ab")
    written = f"f(s<p<E>, C<true, S, {one}, {two}, H>>(x))"
    known = "template <typename... A> struct T {}; template <bool, typename... B> struct C {};"
    assert body(written) == parse(f"{known} void f() {{ a = 1; {written}; }}", "k.cpp").items[2:]
