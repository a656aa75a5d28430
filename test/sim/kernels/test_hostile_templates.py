"""Classes, templates and constants that would grow without bounds end soon, with a place."""

from __future__ import annotations

import pytest
from oracles.kernel_oracle import RecordingApi

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.optable.kernel import Role
from ttmlir.sim.kernels import compile_kernel

MAIN = "void kernel_main() { %s }"
NESTED = "128 templates that need each other"
CASES = [
    (
        "template <int N> struct A { ~A() { A<N + 1> a; } };",
        "A<0> a;",
        "'~A' is the last of 128 functions that call each other",
    ),
    (
        "struct A { ~A() { note(1); } }; struct B { A a[64]; }; struct C { B b[64]; };\n"
        "struct D { C c[64]; };",
        "D d;",
        "'d' takes 262144 bytes",
    ),
    (
        "struct A { int x; ~A() { note(x); } };",
        "A a{1}; note(" + " + ".join(["A{1}.x"] * 300) + ");",
        "nested more than 256 levels deep",
    ),
    (
        "",
        "int a = 1, b = 2; " + "(a ? a : " * 200 + "b" + ")" * 200 + " = 3;",
        "nested more than 256",
    ),
    ("", "std::make_integer_sequence<uint64_t, 1000000000000> s;", "is the last of 128 templates"),
    ("", "std::tie(std::ignore, std::ignore) = std::make_tuple(1);", "has 1 parts, not 2"),
    (
        "template <int N> struct A : A<N + 1> {};",
        "A<0> a;",
        f"1:29: error: 'A<128>' is the last of {NESTED}",
    ),
    (
        "template <int N> struct A { static constexpr int v = A<N + 1>::v; };",
        "note(A<0>::v);",
        "'v' is the last of 128 constants that need each other",
    ),
    (
        "template <int A, int B> struct F { static constexpr int v = F<A - 1, 2 * B>::v + "
        "F<A - 1, 2 * B + 1>::v; };\ntemplate <int B> struct F<0, B> { "
        "static constexpr int v = 1; };",
        "note(F<25, 0>::v);",
        "the kernel is too large",
    ),
    (
        "template <typename T> struct P { T a, b; };\n"
        "template <int N> struct B { using type = P<typename B<N - 1>::type>; };\n"
        "template <> struct B<0> { using type = int; };",
        "B<40>::type x;",
        "takes 4398046511104 bytes",
    ),
    (
        "template <class A, class B> struct P {};\ntemplate <int N> struct T { "
        "using t = P<typename T<N - 1>::t, typename T<N - 1>::t>; };\n"
        "template <> struct T<0> { using t = int; };",
        "T<100>::t x;",
        "k.cpp:2:39: error: the kernel is too large: the name of a type has more than 16384",
    ),
    (
        "template <int N> struct T { "
        "using t = void (*)(typename T<N - 1>::t, typename T<N - 1>::t); };\n"
        "template <> struct T<0> { using t = int; };",
        "T<100>::t x;",
        "error: the kernel is too large: the name of a type has more than 16384",
    ),
    ("", "std::make_index_sequence<100000> s;", "is the last of 128 templates"),
    ("", "std::array<int, 1000000> a;", "takes 4000000 bytes"),
    (
        "template <typename T> void g(T t) { g([t] { return t; }); }",
        "g(1);",
        "'g' is the last of 128 functions that call each other",
    ),
    (
        "template <typename... T> void f(T... t) { f(t..., 1); }",
        "f();",
        "'f' is the last of 128 functions that call each other",
    ),
    (
        "constexpr int f() { int i = 0; while (i >= 0) { i = i ^ 1; } return i; }",
        "constexpr int x = f();",
        "the constants of this kernel take more than 100000 steps",
    ),
    (
        "constexpr int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }",
        "constexpr int x = f(40);",
        "the constants of this kernel take more than 100000 steps",
    ),
    ("constexpr int f(int n) { return f(n + 1); }", "constexpr int x = f(0);", "is no constant"),
    ("struct A { A(A a) {} };", "A a{A{1}};", "nested too deeply"),
    ("struct S { S s; };", "S s;", "a member of type 'S' is not supported"),
    ("struct A { int x; int x; };", "", "1:23: error: 'x' is declared twice"),
    ("template <typename T> using L = L<T>;", "L<int> x;", "'L' needs itself"),
    ("", "auto [a, b] = 3;", "'int' has no parts to name"),
    ("template <int N> struct A {};", "A<int[2]> a;", "this is no value"),
    ("", "int x = this->y;", "there is no object here"),
    ("", "std::tuple<int> t; note(std::get<5>(t));", "'std::tuple<int>' has no element 5"),
]


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("before", "body", "message"), CASES)
def test_growth_is_bounded(before: str, body: str, message: str) -> None:
    """By the nesting of templates, and by the steps that the compiler takes."""
    with pytest.raises(CppSyntaxError) as caught:
        compile_kernel(f"{before}\n{MAIN % body}", "k.cpp", Role.BRISC, api=RecordingApi)
    assert message in str(caught.value).splitlines()[0]


def test_errors_name_the_templates_around_them() -> None:
    """The innermost first, each with the place that needs it."""
    text = (
        "template <typename T> T inner(T t) { return t.missing; }\n"
        "template <typename T> T outer(T t) { return inner(t); }\n"
        "struct S { int a; };\nvoid kernel_main() { S s{1}; outer(s); }\n"
    )
    with pytest.raises(CppSyntaxError) as caught:
        compile_kernel(text, "k.cpp", Role.BRISC, api=RecordingApi)
    assert str(caught.value).splitlines() == [
        "k.cpp:1:45: error: 'S' has no member 'missing'; its members are a",
        text.splitlines()[0],
        " " * 44 + "^",
        "note: k.cpp:2:45: in instantiation of 'inner<S>' required here",
        "note: k.cpp:4:30: in instantiation of 'outer<S>' required here",
    ]
