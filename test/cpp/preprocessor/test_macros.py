"""What macros expand to, held against the preprocessor of g++."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.preprocess import MAX_EXPANSION, preprocess
from ttmlir.cpp.tokens import BLANK, MAX_TOKEN, SourceText, split_tokens

CASES = {
    "objects": "#define A 1 + B\n#define B (2)\nA B A",
    "calls": "#define F(x, y) (x) < (y)\nF(1, (2, 3)) F(F(1, 2), 3) F (4,\n 5) F",
    "no parameters": "#define F() 7\nF() F( ) F",
    "empty arguments": "#define F(x, y) [x|y]\nF(,) F(1,) F(,2)",
    "rescanning finds calls": "#define F(x) x * 2\n#define G F\nG(1) G (2) G",
    "a call that ends behind the macro": "#define F(x) x + G\n#define G(y) <y>\nF(1)(2)",
    "itself": "#define A A + 1\nA",
    "each other": "#define A B + a\n#define B A + b\nA | B",
    "itself as a call": "#define F(x) F(x + 1)\nF(F(1))",
    "itself in an argument": "#define A(x) x B\n#define B A\nA(A(1))",
    "strings": '#define S(x) #x\nS(a  +   b) S("q\\n") S(\'"\') S() S( a ) S(f(x, y)) S(a /* */ b)',
    "strings of macros": "#define S(x) #x\n#define T(x) S(x)\n#define A 12\nS(A) T(A)",
    "pasting": (
        "#define P(x, y) x ## y\nP(a, b) P(a, 1) P(1, 2) P(<, <=) P(, b) P(a, ) P(,) P(0x, ff)"
    ),
    "pasting of macros": (
        "#define P(x, y) x##y\n#define Q(x, y) P(x, y)\n#define A 1\nP(A, A) Q(A, A)"
    ),
    "pasting makes a macro": "#define P(x, y) x##y\n#define ab (12)\nP(a, b)",
    "pasting three": "#define P(x, y, z) x##y##z\nP(a, b, c) P(a,,c) P(,b,) P(,,)",
    "pasting in objects": "#define A a ## b\n#define ab 3\nA",
    "pasting of many tokens": "#define P(x, y) x##y\nP(1 a, b 2)",
    "variadic": "#define V(...) f(__VA_ARGS__)\nV() V(1) V(1, 2) V((1, 2), 3)",
    "variadic with others": "#define V(x, ...) x: __VA_ARGS__;\nV(1, 2, 3) V(1, ) V(1)",
    "variadic as string": "#define V(...) #__VA_ARGS__\nV(a,  b,c) V()",
    "comma and pasting": "#define V(x, ...) f(x, ##__VA_ARGS__)\nV(1, 2) V(1,) V(1, 2, 3)",
    "optional": "#define V(x, ...) f(x __VA_OPT__(, __VA_ARGS__))\nV(1) V(1, ) V(1, 2) V(1, 2, 3)",
    "optional of macros": "#define E\n#define V(...) g(__VA_OPT__(a))\nV(E) V(E, ) V(1)",
    "optional with pasting": "#define V(x, ...) x ## __VA_OPT__(b c) d\nV(a, 1) V(a)",
    "counting": (
        "#define CAT(a, b) CAT_(a, b)\n#define CAT_(a, b) a##b\n"
        "#define COUNT(...) COUNT_(__VA_ARGS__, 3, 2, 1, 0)\n#define COUNT_(a, b, c, n, ...) n\n"
        "#define SUM_1(a) a\n#define SUM_2(a, b) a + b\n#define SUM_3(a, b, c) a + b + c\n"
        "#define SUM(...) CAT(SUM_, COUNT(__VA_ARGS__))(__VA_ARGS__)\nSUM(1) SUM(1, 2) SUM(x, y, z)"
    ),
    "is empty": (
        "#define THIRD(a, b, c, ...) c\n#define CAT(a, b) a##b\n"
        "#define IS_EMPTY(...) THIRD(__VA_ARGS__ PROBE, 0, 1, )\n#define COMMA() ,\n"
        "#define HAS(x) CAT(HAS_, x)\n#define HAS_A 1\n#define HAS_B 0\n"
        "#if HAS(A) or HAS(B)\nyes\n#endif\n#if HAS(A) and HAS(B)\nno\n#endif\nIS_EMPTY(1)"
    ),
    "macros in conditions": (
        "#define ON(x) (x == 2)\n#define V 2\n"
        "#if ON(V) && defined V && not defined(W)\nyes\n#endif\n"
        "#if defined ON and V bitand 2 and compl 0 != 0 xor 0\nyes\n#endif"
    ),
    "lines": "#define L __LINE__\nL\n\nL __LINE__\n#if __LINE__ == 5\nfive\n#endif",
    "counter": "#define N __COUNTER__\nN __COUNTER__ N",
    "undefined": "#define A 1\n#undef A\n#define A 2\nA\n#undef B\nA",
    "continued lines": "#define A 1 + \\\n  2\nA // comment \\\nstill comment\nB",
    "comments": "#define A(x) x/**/x\nA(1) /* a\n b */ c",
    "numbers": "1'000 0x1p-3f 1.5e+3 .5f 1..2 0b1'1",
    "operators": "#define A -\n-A a+++b a->*b ... :: <<= a<::b",
    "strings hold no macros": '#define a 1\n"a" \'a\' L"a" a',
    "nested calls": "#define F(x) (x)\n" + "F(" * 20 + "1" + ")" * 20,
    "hidden in arguments": "#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)",
    "of the standard": (
        "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n"
        "#define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n#define p() int\n"
        "#define q(x) x\n#define r(x,y) x ## y\n#define str(x) # x\n"
        "f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m\n(f)^m(m);\n"
        "p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\nstr(hello) str()"
    ),
    "more of the standard": (
        "#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n"
        "#define join(c, d) in_between(c hash_hash d)\njoin(x, y)\n"
        "#define t(x,y,z) x ## y ## z\nint j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), "
        "t(,11,), t(,,12), t(,,) };"
    ),
}  # fmt: skip
"""Texts in which macros do what [cpp] says."""


def words(text: str) -> list[str]:
    """The tokens of a text."""
    tokens = split_tokens(SourceText(text, "expected"))
    return [token.text for token in tokens if token.kind not in BLANK]


def expand(text: str) -> list[str]:
    """The tokens that the preprocessor leaves of a text, without its directives."""
    left = preprocess(SourceText(text, "k.cpp"), {}).text
    return words(re.sub(r"^[ \t]*#pragma \d+$", "", left, flags=re.MULTILINE))


def expand_by_gxx(texts: list[str]) -> list[list[str]]:
    """What g++ leaves of each text."""
    found = list[list[str]]()
    for text in texts:
        command = ["g++", "-E", "-P", "-w", "-std=c++2a", "-x", "c++", "-"]
        run = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        found.append(words(run.stdout))
    return found


@pytest.mark.skipif(not shutil.which("g++"), reason="g++ is missing")
@pytest.mark.parametrize("name", CASES)
def test_expansion_is_that_of_gxx(name: str) -> None:
    """The same tokens in the same order."""
    [expected] = expand_by_gxx([CASES[name]])
    assert expand(CASES[name]) == expected


def random_texts(seed: int, count: int) -> Iterator[str]:
    """Sources of macros that mention each other, without recursion that grows."""
    chance = random.Random(seed)
    for _ in range(count):
        lines = list[str]()
        atoms = [
            "A",
            "B",
            "C",
            "F(1)",
            "F(A)",
            "G(B, 2)",
            "G(,C)",
            "V(1, A)",
            "V()",
            "x",
            "y1",
            "+",
        ]
        for head, parameters in (("A", ()), ("B", ()), ("C", ()), ("F", ("p",)), ("G", ("p", "q"))):
            body = [chance.choice([*atoms, *parameters * 3]) for _ in range(chance.randrange(4))]
            if parameters and chance.random() < 0.5:
                body.append(f"#{chance.choice(parameters)}")
            if len(parameters) == 2 and chance.random() < 0.5:
                body += ["z_", "##", chance.choice(parameters)]
            written = f"({', '.join(parameters)})" if parameters else ""
            lines.append(f"#define {head}{written} {' '.join(body)}")
        lines.append(f"#define V(...) {chance.choice(['<__VA_ARGS__>', '#__VA_ARGS__', 'B'])}")
        lines += [" ".join(chance.choice(atoms) for _ in range(5)) for _ in range(3)]
        yield "\n".join(lines)


@pytest.mark.skipif(not shutil.which("g++"), reason="g++ is missing")
def test_random_macros_expand_as_in_gxx() -> None:
    """In one run of g++: every text undefines its macros again."""
    texts = list(random_texts(7, 150))
    undefine = "".join(f"\n#undef {name}" for name in "ABCFGV")
    together = "".join(f"{text}{undefine}\nNEXT\n" for text in texts)
    [expected] = expand_by_gxx([together])
    ends = [i for i, word in enumerate(expected) if word == "NEXT"]
    start = 0
    for text, end in zip(texts, ends, strict=True):
        assert expand(text) == expected[start:end], text
        start = end + 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#define F(x) x\nF(1", "2:1: error: the macro 'F' has no closing ')'"),
        ("#define F(x, ...) x\nF", ""),
        ("#define F(x, y, ...) x\nF(1)", "2:1: error: the macro 'F' takes at least 2 argu"),
        ("#define F() 1\nF(1)", "2:1: error: the macro 'F' takes 0 arguments, got 1"),
        ("#define A ## b", "1:11: error: '##' stands between two tokens of a macro"),
        ("#define V(...) __VA_OPT__ x", "1:16: error: '__VA_OPT__' stands before parentheses"),
        ("#define V(...) __VA_OPT__(x\nV(1)", "1:16: error: '__VA_OPT__' has no closing ')'"),
        ("#define P(x, y) x##y\nP(/, /)", "1:18: error: '##' makes no token of '/' and '/'"),
        ('auto x = R"(never ends', "1:10: error: the string that begins here has no end"),
        ("_Pragma x", "1:1: error: _Pragma takes a string in parentheses"),
        ("#if 'ab' == 1\n#endif", "1:5: error: the character 'ab' is not supported in a condition"),
        ("#include_next <a>", "1:2: error: '#include_next' is not supported; supported are"),
    ],
)  # fmt: skip
def test_mistakes_are_named_where_they_are(text: str, message: str) -> None:
    """The place is that of the macro's body or of its call."""
    if not message:
        assert expand(text) == ["F"]
        return
    with pytest.raises(CppSyntaxError) as caught:
        expand(text)
    assert str(caught.value).startswith(f"k.cpp:{message}")


def test_raw_strings_are_strings() -> None:
    """With the quotes, backslashes and lines that they hold."""
    assert expand('R"(a"b\\c\nd)" R"x()")x" b') == ['"a\\"b\\\\c\\nd"', '")\\""', "b"]


def test_words_are_operators() -> None:
    """Behind the preprocessor the words of [lex.digraph] are gone."""
    text = "a and b or not c bitand d bitor compl e xor f not_eq g and_eq h or_eq i xor_eq j"
    assert expand(text) == "a && b || ! c & d | ~ e ^ f != g &= h |= i ^= j".split()


def test_places_of_strings() -> None:
    """`__FILE__` is what messages call the source."""
    assert expand("__FILE__") == ['"k.cpp"']


@pytest.mark.parametrize(
    "text",
    [
        "#define A(x) x x x\n" + "A(" * 40 + "1" + ")" * 40,
        "#define A(x) #x #x\n#define B(x) A(x) A(x)\n" + "B(" * 40 + "1" + ")" * 40,
        "#define V(...) __VA_OPT__(__VA_ARGS__ __VA_ARGS__)\n" + "V(" * 40 + "1" + ")" * 40,
    ],
)
def test_macros_that_grow_without_bounds_end_soon(text: str) -> None:
    """They make a bounded number of tokens, of bounded length."""
    limits = f"macros make (more than {MAX_EXPANSION} tokens|a token of more than {MAX_TOKEN} char)"
    with pytest.raises(CppSyntaxError, match=limits):
        expand(text)
