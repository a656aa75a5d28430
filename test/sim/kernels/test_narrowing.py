"""Braces convert numbers where g++ -std=c++17 -Werror=narrowing lets them, and nowhere else.

What a variable without `const` holds is no constant, even where it is known.
"""

from __future__ import annotations

import pytest
from oracles.kernel_oracle import RecordingApi

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.optable.kernel import Role
from ttmlir.sim.kernels import compile_kernel

AROUND = """
enum E { A, B };
enum class F : uint8_t { P, Q };
struct S { uint8_t v; };
struct S2 { int v; };
struct P { uint8_t a; uint16_t b; };
struct Ctor { uint8_t v; Ctor(uint8_t x) : v(x) {} };
int n0 = 4;
const int g0 = 5;
int get() { return 3; }
constexpr int twice(int x) { return 2 * x; } void take(S s) {}
template <int N> void tmpl() { uint8_t x{N}; }
void gl() { uint8_t x{g0}; }
S return_s(const int n) { return S{(uint8_t)n}; }
void kernel_main() { BODY }
"""
REFUSED = (
    "int n = 5; uint8_t x{n};",
    "int n = 5; uint32_t x{n};",
    "const int n = 300; uint8_t x{n};",
    "uint32_t n = 5; int x{n};",
    "float f = 1; int x{f};",
    "const float f = 1; int x{f};",
    "int x{1.0f};",
    "double d = 1; float x{d};",
    "int i = 3; float x{i};",
    "float x{16777217};",
    "int i = 2; double x{i};",
    "int8_t a = 3; uint16_t x{a};",
    "int n = 1; bool x{n};",
    "bool x{2};",
    "const int n = get(); uint8_t x{n};",
    "int n = 5; uint8_t x[] = {n};",
    "int n = 5; S s{n};",
    "int n = 5; S s = {n};",
    "int n = 5; take({n});",
    "int n = 5; auto s = S{n};",
    "int n = 5; std::array<uint8_t, 2> a{n, 1};",
    "uint64_t n = 5; uint32_t x{n};",
    "int n = 5; uint8_t x{n & 7};",
    "uint8_t k = 3; uint8_t x{k + 1};",
    "int x = 3; E e{x};",
    "F h{300};",
    "int n = 4; switch (n) { case 4: { uint8_t x{n}; } }",
    "const int& r = 5; uint8_t x{r};",
    "for (int i = 0; i < 2; i++) { uint8_t x{i}; }",
    "const int a[] = {1, 2}; uint8_t x{a[1]};",
    "const S2 s{4}; uint8_t x{s.v};",
    "int n = 3; uint8_t x{twice(n)};",
    "int n = 3; const int m = n + 1; uint8_t x{m};",
    "int n = 3; n = 4; uint8_t x{n};",
    "int n = 3; auto l = [n] { uint8_t x{n}; return x; }; l();",
    "int n = 3; const auto m = n; uint8_t x{m};",
    "volatile int n = 3; uint8_t x{n};",
    "const volatile int n = 3; uint8_t x{n};",
    "const uint8_t big = 200; int8_t x{big};",
    "const int n = -1; uint32_t x{n};",
    "int n = 65; char c{n};",
    "int n = 5; Ctor c{n};",
    "int n = 5; const S t[] = {{n}, {2}};",
    "uint32_t n = 5; P p{n, n};",
    "int n = 5; std::initializer_list<uint8_t> l{n};",
    "auto f = [](int n) { return S{n}; }; f(3);",
    "int n = 3; P q{.a = n, .b = 2};",
)
"""Statements that g++ 12 refuses."""
TAKEN = (
    "const int n = 5; uint8_t x{n};",
    "constexpr int n = 5; uint8_t x{n};",
    "const uint32_t n = 5; int x{n};",
    "float x{1.5};",
    "const double d = 1.5; float x{d};",
    "const int i = 3; float x{i};",
    "float x{16777216};",
    "uint8_t a = 3; int x{a};",
    "uint8_t a = 3; uint16_t x{a};",
    "bool b = true; int x{b};",
    "bool x{1};",
    "const int n = 5; S s{n};",
    "const int n = 5; std::array<uint8_t, 2> a{{n, 1}};",
    "uint32_t n = 5; uint64_t x{n};",
    "int n = 5; long x{n};",
    "int n = 5; uint8_t x{(uint8_t)n};",
    "int n = 5; uint8_t x{uint8_t(n + 1)};",
    "constexpr uint8_t k = 3; uint8_t x{k + 1};",
    "E e = A; int x{e};",
    "F f = F::P; uint8_t g = 3; F h{g};",
    "F h{3};",
    "static const int n = 5; uint8_t x{n};",
    "uint8_t x{sizeof(int)};",
    "constexpr int a[] = {1, 2}; uint8_t x{a[1]};",
    "constexpr S2 s{4}; uint8_t x{s.v};",
    "uint8_t x{twice(3)};",
    "const int n = 3; uint8_t x{twice(n)};",
    "uint8_t x{true ? 3 : n0};",
    "const int n = 3; const int m = n + 1; uint8_t x{m};",
    "tmpl<3>();",
    "const int n = 3; auto l = [] { uint8_t x{n}; return x; }; l();",
    "const auto m = 3; uint8_t x{m};",
    "int8_t x{'a'};",
    "gl();",
    "const int n{5}; uint8_t x{n};",
    "const int n(5); uint8_t x{n};",
    "const int n = 5; Ctor c{n};",
    "int n = 5; std::pair<uint8_t, int> p{n, n};",
    "const uint32_t n = 5; P p{n, n};",
    "return_s(4);",
)
"""Those that it compiles."""


def compile_body(body: str) -> None:
    """A kernel with some statements."""
    compile_kernel(AROUND.replace("BODY", body), "kernel.cpp", Role.BRISC, api=RecordingApi)


@pytest.mark.parametrize("body", REFUSED)
def test_refused(body: str) -> None:
    """The message says what the type cannot hold."""
    with pytest.raises(CppSyntaxError, match=r"cannot hold|does not convert"):
        compile_body(body)


def test_taken() -> None:
    """All others compile."""
    for body in TAKEN:
        compile_body(body)
