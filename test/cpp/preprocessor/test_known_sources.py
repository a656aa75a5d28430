"""Texts that were read before: what is read again, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError, ErrorList
from ttmlir.cpp.include_path import IncludePath
from ttmlir.cpp.parse import parse


def variables(unit: tree.TranslationUnit) -> list[str]:
    """The names of the variables at the top."""
    items = [each for each in unit.items if isinstance(each, tree.Declaration)]
    return [each.declarators[0].name for each in items]


def test_macros_that_do_not_matter_leave_the_tree() -> None:
    """The processors of a kernel share it."""
    text = "int a;\n#ifdef MINE\nint b;\n#endif\n"
    known = parse(text, "k.cpp", defines={"OTHER": "1"})
    assert parse(text, "k.cpp", defines={"ANOTHER": "2"}) is known
    assert variables(known) == ["a"]


def test_macros_that_matter_do_not() -> None:
    """Whether they are defined, and as what."""
    text = "#ifdef MINE\nint NAME;\n#endif\nint b;\n"
    for defines, names in (
        ({"NAME": "x"}, ["b"]),
        ({"NAME": "x", "MINE": "1"}, ["x", "b"]),
        ({"NAME": "y", "MINE": "1"}, ["y", "b"]),
        ({"NAME": "x"}, ["b"]),
        ({"MINE": ""}, ["NAME", "b"]),
    ):
        assert variables(parse(text, "k.cpp", defines=defines)) == names


def test_texts_of_another_name_are_read_again() -> None:
    """Positions hold the name."""
    one, two = (parse("int a;\n", file) for file in ("one.cpp", "two.cpp"))
    assert [one.items[0].position, two.items[0].position] == [
        tree.Position("one.cpp", 1, 1),
        tree.Position("two.cpp", 1, 1),
    ]


def test_headers_that_change_are_read_again(tmp_path: Path) -> None:
    """And such as appear."""
    kernel = tmp_path / "k.cpp"
    text = '#include "a.h"\n#if __has_include("b.h") || VALUE == 2\nint b;\n#endif\n'
    path = IncludePath.of_kernel(str(kernel))
    (tmp_path / "a.h").write_text("#define VALUE 1\n")
    first = parse(text, str(kernel), include_path=path)
    assert parse(text, str(kernel), include_path=path) is first
    assert variables(first) == []
    (tmp_path / "a.h").write_text("#define VALUE 2 // now\n")
    assert variables(parse(text, str(kernel), include_path=path)) == ["b"]
    (tmp_path / "a.h").write_text("#define VALUE 1\n")
    (tmp_path / "b.h").write_text("")
    assert variables(parse(text, str(kernel), include_path=path)) == ["b"]


def test_counters_count_on() -> None:
    """`__COUNTER__` is another number in each kernel, as in each of g++'s runs: from 0."""
    for _ in range(2):
        unit = parse("int a[__COUNTER__ + 1];\n#if __COUNTER__ == 1\nint b;\n#endif\n", "k.cpp")
        assert variables(unit) == ["a", "b"]


def test_errors_are_found_again() -> None:
    """Each time with the statements that are right."""
    text = "void f() { int a = ; return; }\nint b;\n"
    for _ in range(2):
        with pytest.raises(CppSyntaxError):
            parse(text, "k.cpp")
    wrong = "void f() { a = b < c < d; }\n"
    for _ in range(2):
        errors = ErrorList(5)
        parse(wrong, "k.cpp", errors=errors)
        assert len(errors.errors) == 1
