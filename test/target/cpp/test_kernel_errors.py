"""C++ that is wrong or outside of the subset is refused with place, line and advice."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttmlir.cpp.errors import CppSyntaxError, Position
from ttmlir.cpp.parse import parse
from ttmlir.cpp.render import render
from ttmlir.nesting import MAX_NESTING
from ttmlir.sim import errors as sim
from ttmlir.sim.errors import SimError

KERNELS = [
    path.read_text(encoding="utf-8")
    for path in sorted((Path(__file__).parent / "kernels").glob("*.cpp"))
]


def refusal(text: str, **defines: str) -> str:
    """The first line of the error about a text."""
    with pytest.raises(CppSyntaxError) as caught:
        parse(text, "k.cpp", defines=defines)
    return str(caught.value).partition("\n")[0]


def survives(text: str) -> bool:
    """Whether a text is refused with a place, or gives a tree that survives text."""
    try:
        tree = parse(text, "k.cpp")
    except CppSyntaxError as error:
        return str(error).startswith("k.cpp:")
    return parse(render(tree)) == tree


@pytest.mark.parametrize("directive", ["#inline int y;", "#pragma 7", "#pragma 0"])
def test_directive_behind_something_else(directive: str) -> None:
    """A directive begins its line."""
    message = refusal(f"struct A {{ int x; }}; {directive}\n")
    assert message == "k.cpp:1:22: error: a directive stands on a line of its own, which '#' begins"


def test_message_shows_the_line_with_a_caret() -> None:
    """The caret stands below the place, behind tabs too."""
    with pytest.raises(CppSyntaxError) as caught:
        parse("void f() {\n\tthrow 1;\n}\n", "k.cpp")
    assert str(caught.value) == (
        "k.cpp:2:2: error: throw is not supported here; supported are declarations, expressions, "
        "blocks, if, switch, for, while, do, break, continue, return and directives\n"
        "\tthrow 1;\n"
        "\t^"
    )


@pytest.mark.parametrize("before", ["", "\t", "\t".ljust(5000)])
@pytest.mark.parametrize("length", [1 << 10, 1 << 19])
def test_message_shows_a_part_of_a_long_line(before: str, length: int) -> None:
    """What is around the place, with the caret below it."""
    text = f"{before}throw {'1' * length};"
    with pytest.raises(CppSyntaxError) as caught:
        parse("void f() {\n" + text + "\n}\n", "k.cpp")
    heading, line, caret = str(caught.value).splitlines()
    assert heading.startswith(f"k.cpp:2:{len(before) + 1}: error: throw is not supported")
    assert len(line) <= 1006
    assert line.endswith("1...")
    assert line[caret.index("^") :].startswith("throw 1")
    assert caret[:-1].count("\t") == line[: len(caret)].count("\t")


@pytest.mark.parametrize("error", [CppSyntaxError, SimError])
def test_message_with_a_long_name(error: type[CppSyntaxError] | type[SimError]) -> None:
    """It has the beginning of the name, its end and all words around it."""
    advice = f"the kernel's 'type' has {'words ' * 100}and 'others'"
    message = f"'{'a' * 5000}z' has no type; {advice}"
    shown = f"'{'a' * 128}...{'a' * 127}z' has no type; {advice}"
    if error is CppSyntaxError:
        made = CppSyntaxError(message, Position("k.cpp", 1, 1), "int", (f"in {message}",))
        assert str(made) == f"k.cpp:1:1: error: {shown}\nint\n^\nnote: in {shown}"
    else:
        line = " " * 3000 + "int" + " " * 3000
        made = SimError(message, sim.Position("k.cpp", 1, 3001), source_line=line)
        heading, quoted, caret = str(made).splitlines()
        assert heading == f"k.cpp:1:3001: error: {shown}"
        assert quoted == "  ..." + " " * 500 + "int" + " " * 497 + "..."
        assert quoted[caret.index("^") :].startswith("int")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("typedef int a, b;", "declare one name with each typedef"),
        ("typedef int a[3];", "a typedef of an array is not supported"),
        ("x = new int;", "1:16: error: new is not supported here; supported are literals"),
        ("int a; a<int>(3);", "1:19: error: 'a' is a variable, which has no template arguments"),
        ("int a; a * b;", "'a' is a variable; put this expression in parentheses"),
        ("x = a <= b <= c;", "this compares a comparison; put it in parentheses"),
        ("x = s.get<3>(4);", "this compares a comparison; put it in parentheses"),
        ("x = 1.5q;", "a literal with a suffix of its own is not supported here"),
        ("x = 1z;", "'1z' is no number that is supported: integers and fractions"),
        ('x = u8"a";', "strings with a prefix are not supported"),
        ("x = -4[p];", "a number has no elements; write pointer[index]"),
        ("x = static_cast<int>(1, 2);", "a cast takes one value"),
        ("int (*p)[4];", "this declares a pointer to an array or a function"),
        ("_Atomic int a;", "_Atomic is not supported"),
        ("x = 1 +;", "this is no C++, or outside of what kernels are written in"),
        ("f(1)", "expected ';'"),
    ],
)
def test_statements_outside_of_the_subset(body: str, message: str) -> None:
    """What a kernel's body cannot hold is named."""
    assert message in refusal(f"void f() {{ {body} }}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("enum A;", "an enumeration needs its enumerators here"),
        ("x = 1;", "supported are functions, variables, classes, enumerations"),
        ("#include stdint", '1:2: error: expected #include <path> or #include "path"'),
        ("#line 3", "'#line' is not supported; supported are #include, #define"),
        ("#error too few cores", "1:2: error: #error too few cores"),
        ("#endif", "#endif without #if"),
        ("#else", "#else without #if"),
        ("\n#if 1\n", "k.cpp:2:2: error: this conditional has no #endif"),
        ("#if 1\n#else\n#elif 1\n#endif", "k.cpp:3:2: error: #elif after #else"),
        ("#if 1 / 0\n#endif", "1:7: error: division by zero"),
        ("#if 1 +\n#endif", "this condition is incomplete"),
        ("#if (1\n#endif", "1:5: error: this '(' has no ')'"),
        ("#if 1 2\n#endif", "1:7: error: '2' is not expected in this condition"),
        ("#if 1.5\n#endif", "'1.5' is not expected in this condition; it takes integers"),
        ("#if defined 3\n#endif", "'defined' needs the name of a macro"),
        ("#ifdef\n#endif", "#ifdef needs the name of a macro"),
        ("#define 3", "#define needs the name of a macro"),
        ("#define A 1\n#define A 2", "k.cpp:2:9: error: the macro 'A' is defined already"),
        ("#define A(..., x) x", "the parameters of a macro are names between commas"),
        ("#define A(x) __VA_ARGS__", "'__VA_ARGS__' is for macros whose last parameter is '...'"),
        ("#define A(x, x) x", "two parameters have the same name"),
        ("#define A(x", "expected ')' after the macro's parameters"),
        ("#define A(x) #y", "1:14: error: '#' stands before a parameter of the macro"),
        ("#define A(x) x ##", "1:16: error: '##' stands between two tokens of a macro"),
        (
            "#define A(x) x ## 1\nint y = A(+);",
            "k.cpp:1:16: error: '##' makes no token of '+' and '1'",
        ),
        ("#define A(x) x\nint y = A(1, 2);", "the macro 'A' takes 1 argument, got 2"),
        ("#define A(x) x\nint y = A(1;", "the macro 'A' has no closing ')'"),
        ("int x; /* open", "1:8: error: the comment that begins here has no end"),
        ('int x = "open;', "1:9: error: the string that begins here has no end"),
        ("void f() {\n#include <a>\n}", "#include is supported outside of functions only"),
        ("int x =\n#define A 1\n2;", "no C++, or outside of what kernels are written in"),
    ],
)
def test_items_and_directives_outside_of_the_subset(text: str, message: str) -> None:
    """What a source cannot hold outside of functions is named."""
    assert message in refusal(text)


@pytest.mark.parametrize(
    ("before", "inner", "after"),
    [
        ("int x = ", "(", "1"),
        ("int x = ", "- ", "1"),
        ("int x = ", "~", "y++"),
        ("int x = ", "f(", "1"),
        ("int x = ", "1 + ", "1"),
        ("int x[1] = ", "{", "1"),
        ("void f() { g(); ", "{ ", ""),
        ("void f() { ", "if (a) ", "b = 1;"),
        ("void f() { ", "if (a) { } else ", "b = 1;"),
        ("", "namespace a { ", ""),
    ],
)
@pytest.mark.parametrize("depth", [MAX_NESTING + 1, 20_000])
def test_deep_nesting_is_refused(before: str, inner: str, after: str, depth: int) -> None:
    """Nesting ends in a message at any depth, with brackets closed or open."""
    closing = {"(": ")", "{": "}"}.get(inner.strip()[-1], "")
    opened = before + inner * depth + after
    closed = opened + closing * depth + (" }" if before.startswith("void") else ";")
    assert f"nested more than {MAX_NESTING} levels deep" in refusal(closed)
    if closing:
        refusal(opened)


def test_macros_cannot_explode() -> None:
    """Doubling definitions end in a message, and so does a chain of them."""
    doubling = "".join(f"#define A{i} A{i + 1} A{i + 1}\n" for i in range(60))
    assert "macros make more than" in refusal(doubling + "int x = A0;")
    chain = "".join(f"#define A{i} A{i + 1}\n" for i in range(100))
    assert "macros deep" in refusal(chain + "int x = A0;")
    nested = "#define A(x) x\nint x = " + "A(" * 1000 + ")" * 1000
    assert "macros deep" in refusal(nested)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data())
def test_damaged_kernels_are_read_or_refused(data: st.DataObject) -> None:
    """Kernels with pieces cut, doubled or replaced give a tree that survives text, or a message."""
    text = data.draw(st.sampled_from(KERNELS))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 30)))
        pieces = ["", text[start:end] * 2, "(", "}", "<", "#if 1\n", "/*", "'", "\0", "é", "\\\n"]
        text = text[:start] + data.draw(st.sampled_from(pieces)) + text[end:]
    assert survives(text)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text(alphabet="(){}<>[];,#*&=+-! \n\"'/\\?:.aif0", max_size=40))
def test_noise_is_read_or_refused(text: str) -> None:
    """Any text gives a tree that survives text, or a message."""
    assert survives(text)
