"""What is wrong with functions that nobody calls is found where it stands, as compilers do it."""

from __future__ import annotations

import pytest
from oracles.kernel_oracle import noted

from ttmlir.cpp.errors import CppSyntaxError

MAIN = "\nvoid kernel_main() { note(1); }"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("void f() { undeclared(3); }", "1:12", "there is no function 'undeclared'"),
        ("void f() { uint32_t x = nullptr; }", "1:25", "nullptr is a pointer and no 'uint32_t'"),
        ("void one(int) {} void f() { one(1, 2); }", "1:29", "'one' takes 1 argument, not 2"),
        ("struct S { void f() { missing = 3; } };", "1:23", "'missing' is not declared"),
        ("struct S { int v; void f() const { v = 3; } };", "1:36", "this is constant and"),
        ("namespace n { void f(float& x) { x = y; } }", "1:38", "'y' is not declared"),
        ("template <typename T> void f(T x) { x = missing; }", "1:41", "'missing' is not declared"),
        ("template <typename T> void f(T x) { missing(3); }", "1:37", "'missing' is not declared"),
        ("template <int N> void f() { missing(N); }", "1:29", "'missing' is not declared"),
        ("template <typename T> void f(T x) { Missing y; }", "1:37", "there is no type 'Missing'"),
        ("template <class T> struct S { void f() { missing(3); } };", "1:42", "'missing' is not"),
        (
            "template <class T> struct B { void b() {} };\n"
            "template <class T> struct D : B<T> { void m() { b(); } };",
            "2:49",
            "'b' is not declared",
        ),
        (
            "template <class T> void f(T x) { if constexpr (sizeof(T) > 1) missing(); }",
            "1:63",
            "'missing' is not declared",
        ),
        ("auto l = [](auto x) { return missing(3); };", "1:30", "'missing' is not declared"),
        (
            "void g(int) {} template <class T> void f(T x) { g(); }",
            "1:49",
            "takes 1 argument, not 0",
        ),
        ("struct S {}; template <class T> void f(T x) { S s; s.b = 1; }", "1:52", "has no member"),
        ("template <class T> void f(T x) { int y = 1; y(2); }", "1:45", "and cannot be called"),
        (
            "template <class T> void f(T x) { int y = 1; int y = 2; }",
            "1:49",
            "'y' is declared twice",
        ),
        ("template <class T> void f(T x) { if (x) break; }", "1:41", "'break' outside of a loop"),
        ("template <class T> void f(int k, T) { for (T i : k) k.z(); }", "1:53", "has no member"),
        ("void g(int) {} template <int N> struct A { void m() { g(); } };", "1:55", "not 0"),
        ("template <class T> void f(T x) { return 1; }", "1:34", "a function without result"),
        (
            "template <class T> class A { static constexpr int K = 4; }; int k = A<int>::K;",
            "1:69",
            "'K' is private in 'A<int>'",
        ),
        ("template <class T> class A { using U = int; }; A<int>::U k;", "1:48", "'U' is private"),
    ],
)
def test_mistakes_of_unused_functions(text: str, place: str, message: str) -> None:
    """g++ refuses all of these; what depends on arguments of templates is not looked up."""
    with pytest.raises(CppSyntaxError) as caught:
        noted(text + MAIN)
    assert str(caught.value).startswith(f"kernel.cpp:{place}: error: ")
    assert message in str(caught.value)


def test_what_depends_on_arguments_is_left_open() -> None:
    """Members, calls with arguments of unknown types, and what is declared in templates."""
    text = """
template <typename T> void f(T x) {
    x.foo(); T::bar(); g(x); typename T::type y; y.z(); auto k = x; h(k);
}
template <typename T, typename... A> void all(T t, A... a) {
    (t(a), ...); auto [b, c] = t.pair(); p(b);
}
template <typename T> struct Q {
    T t; void m() { t.x(); this->zz(); n(t); later(); } void later() {}
};
template <typename T> struct Base { uint32_t v; };
template <typename T> struct D : Base<T> { void m() { this->b(); Base<T>::c(); } };
uint32_t declared(uint32_t);
uint32_t uses(uint32_t* p, const float& x, uint32_t (*g)(uint32_t)) {
    return declared(*p) + g(x);
}
void waits(uint32_t cb) { cb_wait_front(cb, 1); waits(cb); }
uint32_t of_reference(uint32_t (&g)(uint32_t), uint32_t x) { return g(x); }
struct Later;
bool of_incomplete(Later& x) { return &x == nullptr; }
template <typename T> bool named(T x) { return __func__ != nullptr; }
bool named_here() { return __PRETTY_FUNCTION__ != nullptr; }
uint32_t of_length(uint32_t n) { uint32_t a[n]; a[0] = n; return a[0]; }
template <typename T> T sum(T x, uint32_t k) {
    T y = x; const uint32_t c = k; auto z = c;
    for (T i = 0; i < x; ++i) { if (i > 3) continue; y += k; }
    while (k) { if (k > 2) break; --k; }
    z.q(); int c2 = sizeof(T); c2 += 1; return y;
}
struct S {
    static uint32_t s() { return 1; } uint32_t v = 3; uint32_t get() const { return v + s(); }
};
"""
    assert noted(text + MAIN) == [1]


@pytest.mark.parametrize(("count", "is_found"), [(2, True), (40, False)])
def test_unused_functions_are_bounded_together(
    count: int, is_found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short text can ask for as many instances as it likes, which no kernel needs."""
    for module in ("unit", "unused"):
        monkeypatch.setattr(f"ttmlir.sim.kernels.{module}.MAX_STEPS", 600)
    text = "template <int N> int g(int x) { x += 1; x += 2; x += 3; return x; }\n"
    text += "".join(f"int f{i}(int x) {{ return g<{i}>(x); }}\n" for i in range(count))
    text += "void wrong() { missing(); }"
    if is_found:
        with pytest.raises(CppSyntaxError, match="there is no function 'missing'"):
            noted(text + MAIN)
    else:
        assert noted(text + MAIN) == [1]
