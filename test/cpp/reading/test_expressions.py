"""Expressions whose reading depends on what their names are."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest
from samples.cpp_expressions import HEAD, PRELUDE, Expression, make_expression

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.parse import parse

_STATEMENTS = ("r = %s;", "bool r = %s;", "bool r = (%s);", "bool r = !(%s);", "return %s;",
               "if (%s) {}", "while (%s) {}", "for (; %s;) {}", "do {} while (%s);", "f(%s);",
               "f(1, %s);", "int r(%s);", "int r[] = {%s, 1};", "arr[%s] = 1;", "a += %s;",
               "switch (%s) { case 1: break; }", "r ? %s : 0;", "auto l = [&]() { return %s; };",
               "static_assert(%s);", "constexpr int r = %s;", "f(%s, a, b), c;")  # fmt: skip


_DECLARES = re.compile(r"int r\((T|K|uint32_t|int|bool)\(+[A-Za-z_]\w*\)+;")
"""What looks like a conversion of a name is a parameter."""


def read(statement: str) -> object:
    """The tree of a function of one statement."""
    head = HEAD.replace("{type}", "void")
    return parse(f"{PRELUDE}{head} {{ {statement} }}", "k.cpp").items[-1]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("bool r = (i < a && b >= c);", "bool r = ((i < a) && (b >= c));"),
        ("bool r = !(i < a && b > (c));", "bool r = !((i < a) && (b > c));"),
        ("return i < a || b >= c;", "return (i < a) || (b >= c);"),
        ("r = (i < a and b >= c) ? 1 : 2;", "r = ((i < a) && (b >= c)) ? 1 : 2;"),
        ("r = (i < a & b >= c);", "r = ((i < a) & (b >= c));"),
        ("bool r = (i) >= (a) && (i) < (b);", "bool r = (i >= a) && (i < b);"),
        ("r = (i) + (a) * (b) - (c) & (i);", "r = ((i + (a * b)) - c) & i;"),
        ("r = (p->x < i && s.y > (c));", "r = (((p->x) < i) && ((s.y) > c));"),
        ("r = (E1 < i && m_ > (c));", "r = ((E1 < i) && (m_ > c));"),
        ("r = (ns::z < i && a > (c));", "r = (((ns::z) < i) && (a > c));"),
        ("r = f(g < true, 2);", "r = f((g < true), 2);"),
        ("int r(a && b);", "int r((a && b));"),
        ("r = (T)-a * b;", "r = ((T)(-a)) * b;"),
        ("r = b << (T)&a;", "r = b << ((T)(&a));"),
        ("r = (f(a)) && b;", "r = f(a) && b;"),
        ("r = sizeof(i * (a));", "r = sizeof((i * a));"),
        ("int f = 1; r = (f < a && b > (c));", "int f = 1; r = ((f < a) && (b > c));"),
    ],
)  # fmt: skip
def test_names_decide(written: str, meant: str) -> None:
    """A variable is no template and no type, a type no operand."""
    assert read(written) == read(meant)


def check(seeds: range) -> None:
    """The tree is that of the text with all brackets."""
    for seed in seeds:
        random = Random(seed)
        expression = make_expression(random, random.randint(1, 4))
        statement = random.choice(_STATEMENTS)
        written = statement % expression.with_few_brackets(random)
        meant = statement % expression.with_all_brackets()
        if _DECLARES.fullmatch(written):
            with pytest.raises(CppSyntaxError, match="this declares a function 'r'"):
                read(written)
        else:
            assert read(written) == read(meant), written


def test_random_expressions() -> None:
    """The same expression with few and with all brackets."""
    check(range(400))


@pytest.mark.exhaustive
@pytest.mark.parametrize("start", range(1, 6))
def test_many_random_expressions(start: int) -> None:
    """The same for 20,000 of them."""
    check(range(start * 100_000, start * 100_000 + 4000))


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_gcc_computes_the_same_of_both_texts(tmp_path: Path) -> None:
    """The brackets are those of C++: both texts have the same value."""
    randoms = [Random(seed) for seed in range(600)]
    made = [(each, make_expression(each, each.randint(1, 4), has_values=True)) for each in randoms]
    functions = [_write_function(number, *each) for number, each in enumerate(made)]
    calls = "".join(f"  if (k{n}<2>(1, 2, 3, s, &s, arr, 1, 8)) return {n + 1};\n"
                    for n in range(len(made)))  # fmt: skip
    source = tmp_path / "same.cpp"
    source.write_text(
        f"#include <cstdint>\n#include <cstdio>\n{PRELUDE}{''.join(functions)}"
        f"int differs() {{ S s{{5, 6, 7}}; int arr[] = {{3, 4}};\n{calls}  return 0; }}\n"
        'int main() { std::printf("%d", differs()); }\n'
    )
    program = tmp_path / "same"
    subprocess.run(["g++", "-w", "-fwrapv", "-o", program, source], check=True)
    result = subprocess.run([program], check=True, capture_output=True, text=True)
    assert result.stdout == "0", functions[int(result.stdout) - 1]


def _write_function(number: int, random: Random, expression: Expression) -> str:
    head = HEAD.replace("{type} k", f"bool k{number}")
    few, full = expression.with_few_brackets(random), expression.with_all_brackets()
    return f"{head} {{ return (long)({few}) != (long)({full}); }}\n"
