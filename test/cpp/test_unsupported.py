"""Constructs of C++ that kernels cannot use are called by their names."""

from __future__ import annotations

import pytest

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.parse import parse

IN_FUNCTIONS = {
    "delete x;": "delete",
    "x = new int;": "new",
    "throw 1;": "throw",
    "try { } catch (int e) { }": "try",
    "x = 1_km;": "a literal with a suffix of its own",
    "template <int N> void g() { }": "a template",
    "co_return 1;": "co return statement",
}
OUTSIDE = {
    "enum E { A } __attribute__((packed));": "a packed enumeration",
    "enum E : int { A } __attribute__((packed));": "a packed enumeration",
    "void f() try { } catch (int e) { }": "try",
}


@pytest.mark.parametrize(
    ("text", "name"),
    [*((f"void f() {{ {body} }}", name) for body, name in IN_FUNCTIONS.items()), *OUTSIDE.items()],
)
def test_constructs_are_named(text: str, name: str) -> None:
    """The message says what is not supported and what is."""
    with pytest.raises(CppSyntaxError) as caught:
        parse(text, "k.cpp")
    assert f" error: {name} is not supported here; supported are " in str(caught.value)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("int (*f)(int, ...);", "1:15", "'...' is not supported; name each parameter"),
        ("auto f = [](...) { };", "1:13", "'...' is not supported; name each parameter"),
        ("void f() { x = L'a'; }", "1:16", "characters with a prefix are not supported"),
        (
            "void f() { thread_local int a; }",
            "1:12",
            "'thread_local' is not supported in a declaration",
        ),
        ("void f() { case 1: x; }", "1:12", "'case' and 'default' stand in a switch"),
        (
            "void f() { switch (1) { int x = 2; case 1: x; } }",
            "1:25",
            "a jump to a case crosses the initialization of 'x'; declare it before the switch",
        ),
        (
            "void f() { switch (x) { int x; case 1: x; } }",
            "1:25",
            "the condition of the switch means another variable",
        ),
        ("#define A 1\n#undef A B", "2:10", "#undef takes one name"),
        ("#if defined(A\n#endif", "1:5", "expected ')' after 'defined(NAME'"),
    ],
)
def test_other_refusals(text: str, place: str, message: str) -> None:
    """What would read as something else is refused at its place."""
    with pytest.raises(CppSyntaxError) as caught:
        parse(text, "k.cpp")
    assert str(caught.value).startswith(f"k.cpp:{place}: error: {message}")


def test_texts_have_a_limit() -> None:
    """What is longer than any kernel is refused before it is read."""
    with pytest.raises(CppSyntaxError) as error:
        parse("// first\n" + "\n" * (1 << 20), "k.cpp")
    assert str(error.value) == (
        "k.cpp:1:1: error: the text has 1048585 characters; at most 1048576 are read\n// first\n^"
    )
