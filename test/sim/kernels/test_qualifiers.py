"""What is `const` stays as it is, and scoped enumerators stay enumerators: g++ is the judge."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from oracles.kernel_oracle import RecordingApi, noted, noted_by_gcc, refused_by_gcc, run

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.optable.kernel import Role
from ttmlir.sim.errors import SimError
from ttmlir.sim.kernels import compile_kernel
from ttmlir.sim.kernels.python import code

STRUCT = "struct S { int a; const int b = 3; int* p; int c[2]; };\n"
TAKES = "void take(int* p) { *p = 1; }\nvoid refer(int& r) { r = 1; }\n"
ENUMS = "enum class E { A, B = 4 };\nenum F { C, D = 4 };\nenum class G : uint8_t { H };\n"

CALLED = """void number(int n) { note(n); }
int count(const S& r, S& s) { int k = 0; for (int i = 0; i < r.a; i++) { s.a--; k++; } return k; }
"""

CONSTANT = [
    "int x = 1; const int* p = &x;\n*p = 2;",
    "int x = 1; const int* p = &x;\np[0] = 2;",
    "int x = 1; const int* p = &x;\n++*p;",
    "int x = 1; const int* p = &x;\np[0] += 2;",
    "int x = 1; const int* p = &x;\nint* q = p;",
    "int x = 1; const int* p = &x;\nint* q; q = p;",
    "int x = 1; const int* p = &x;\nint* q = static_cast<int*>(p);",
    "int x = 1; const int* p = &x;\nauto q = reinterpret_cast<int*>(p);",
    "int x = 1; const int* p = &x;\nauto q = reinterpret_cast<unsigned char*>(p);",
    "int x = 1; const int* p = &x;\nvoid* q = p;",
    "int x = 1; const int* p = &x;\ntake(p);",
    "int x = 1; const int* p = &x;\nrefer(*p);",
    "int x = 1; const int* p = &x;\nint& r = *p;",
    "int x = 1; const int* p = &x;\nauto q = p; *q = 1;",
    "int x = 1; const int* p = &x;\nauto* q = p; *q = 1;",
    "int x = 1; const int* p = &x;\nauto& r = *p; r = 1;",
    "int x = 1; const int* p = &x; int y = 2; int* q = &y;\n*(x ? p : q) = 1;",
    "int x = 1; const int* p = &x; int y = 2; int* q = &y;\n*(x ? q : p) = 1;",
    "int x = 1; const int* p = &x; int y = 2; int* q = &y;\nq = x ? q : p;",
    "int x = 1; const auto* p = &x;\n*p = 1;",
    "int x = 1; int* const p = &x;\np = nullptr;",
    "int x = 1; int* const p = &x;\np++;",
    "int x = 1; int* p = &x;\nconst int** q = &p;",
    "int x = 1; int* p = &x; int* const* q = &p;\n*q = p;",
    "int x = 1; const int* p = &x;\nint*& r = p;",
    "int x = 1; const int& r = x;\nr = 2;",
    "int x = 1; const int& r = x;\nint* p = &r;",
    "int x = 1; const int& r = x;\nrefer(r);",
    "const int x = 1;\nx = 2;",
    "const int x = 1;\nx++;",
    "const int x = 1;\nint* p = &x;",
    "const int x = 1;\nint& r = x;",
    "const int x = 1;\nauto& r = x; r = 2;",
    "const int x = 1;\nrefer(x);",
    "const int a[2] = {1, 2};\na[1] = 2;",
    "const int a[2] = {1, 2};\nint* p = a;",
    "const int a[2] = {1, 2};\ntake(a);",
    "const int a[2][2] = {{1, 2}, {3, 4}};\na[1][0] = 2;",
    "static const int a[2] = {1, 2};\na[1] = 2;",
    "constexpr int a[2] = {1, 2};\nint* p = &a[1];",
    "using C = const int; C x = 1;\nx = 2;",
    "using C = const int; int x = 1; C* p = &x;\n*p = 2;",
    "typedef int* P; int x = 1; const P p = &x;\np = nullptr;",
    "for (const int i = 0; i < 3;\ni++) {}",
    "auto p = reinterpret_cast<const volatile uint32_t*>(4096);\n*p = 2;",
    "auto p = reinterpret_cast<const uint32_t*>(4096);\np[3] = 2;",
    "auto p = reinterpret_cast<const uint32_t*>(4096);\nuint32_t* q = p + 1;",
    "int& r =\n5;",
    "S s = {};\ns.b = 1;",
    "S s = {};\nint* p = &s.b;",
    "const S s = {};\ns.a = 1;",
    "const S s = {};\ns.c[1] = 1;",
    "const S s = {};\ns.p = nullptr;",
    "const S s = {}; const S* p = &s;\np->a = 1;",
    "const S s = {}; const S* p = &s;\nint* q = p->c;",
    "const S s = {};\nS* p = &s;",
    "const S s = {};\nS& r = s;",
    "auto p = reinterpret_cast<const S*>(4096);\np->a = 1;",
    "auto p = reinterpret_cast<const S*>(4096);\np->c[1] = 1;",
]
"""Statements with a fault in the second line."""

CONSTANT_FUNCTIONS = [
    "int* f(const int* p) {\nreturn p; }\nvoid kernel_main() { int x = 1; f(&x); }",
    "void f(const int n) {\nn = 2; }\nvoid kernel_main() { f(1); }",
    "void f(const int& n) {\nn = 2; }\nvoid kernel_main() { f(1); }",
    "void f(const int* p) {\n*p = 2; }\nvoid kernel_main() { int x = 1; f(&x); }",
    "void f(int* const p) {\np = nullptr; }\nvoid kernel_main() { int x = 1; f(&x); }",
    "void f(const int p[]) {\np[1] = 2; }\nvoid kernel_main() { int x[2] = {}; f(x); }",
    "template <typename T> void f(T* p) {\n*p = 2; }\n"
    "void kernel_main() { const int x = 1; f(&x); }",
    "template <typename T> void f(T& r) {\nr = 2; }\n"
    "void kernel_main() { const int x[1] = {1}; f(x[0]); }",
    "struct S { int a; };\nvoid f(const S& s) {\ns.a = 2; }\n"
    "void kernel_main() { S s = {}; f(s); }",
    "const int n = 4;\nvoid kernel_main() {\nn = 5; }",
    "const int n[1] = {4};\nvoid kernel_main() {\nn[0] = 5; }",
]

ENUMERATIONS = [
    "int x =\nE::A;",
    "uint32_t x; x =\nE::B;",
    "note(1 +\n0 * (E::A + 1));",
    "note((int)\n(E::A == 0));",
    "note(\n~E::A);",
    "note(\n-E::A);",
    "note((int)\n!E::A);",
    "if (\nE::A) {}",
    "while (\nE::A) {}",
    "int a[\nE::B] = {};",
    "E e =\n4;",
    "E e = E::A; e =\n1;",
    "E e = E::A;\ne++;",
    "E e = E::A; G g =\nG::H; e = g;",
    "F f =\n4;",
    "F f = C; f =\n1;",
    "bool b =\nE::A;",
    "float f =\nE::A;",
    "uint8_t x =\nG::H;",
    "number(\nE::A);",
    "E e = E::A; int& r =\ne;",
    "F f = C; int& r =\nf;",
    "switch (E::A) { case\n1: break; }",
    "int x = 1; note(x ? 1 :\nE::A);",
]
"""Statements of which the first line is in order."""

ALLOWED = [
    "int x = 1; const int* p = &x; x = 2; note(*p); note(p[0] + 1);",
    "int x = 1; int* p = &x; const int* q = p; *p = 3; note(*q);",
    "int x = 1; const int* p = &x; *const_cast<int*>(p) = 2; note(x);",
    "int x = 1; const int* p = &x; *(int*)p = 2; note(x);",
    "int x = 1, y = 5; const int* p = &x; p = &y; p++; p--; note(*p);",
    "int x = 1; int* const p = &x; *p = 2; note(x);",
    "int x = 1; int* p = &x; int* const* q = &p; **q = 4; note(x);",
    "int x = 1; int* p = &x; const int* const* q = &p; note(**q);",
    "int x = 1; const int* p = &x; const void* q = p; note(q == p);",
    "int x = 1; int* p = &x; const int* q = nullptr; q = x ? p : q; note(*q); note(p == q);",
    "int x = 1; const int& r = x; x = 2; note(r);",
    "int x = 1; const auto& r = x; x = 5; note(r); const int* p = &r; note(*p);",
    "const int x = 1; auto y = x; y = 2; note(y);",
    "const int x = 3; const auto& r = x; auto& s = x; note(r + s);",
    "const int x = 3; int* p = nullptr; const int* q = &x; note(*q); note(p == nullptr);",
    "const int a[2] = {1, 2}; const int* p = a; note(p[1]); int b = a[1]; b++; note(b);",
    "using P = const int*; int x = 1; P p = &x; p = nullptr; note(p == nullptr);",
    "S s = {}; s.a = 2; s.c[1] = 4; note(s.a + s.b + s.c[1]);",
    "const S s = {.a = 1}; const S t = s; note(t.a + t.b);",
    "int y = 1; const S s = {.a = 1, .p = &y}; *s.p = 7; note(y);",
    "int n = 9; const int& limit = n; int k = 0;"
    "for (int i = 0; i < limit; i++) { n--; k++; } note(k);",
    "S s = {.a = 9}; const S& r = s; int k = 0;"
    "for (int i = 0; i < r.a; i++) { s.a--; k++; } note(k);",
    "S s = {.a = 9}; const S* r = &s; int k = 0;"
    "for (int i = 0; i < r->a; i++) { s.a--; k++; } note(k);",
    "S s = {.a = 9}; note(count(s, s));",
    "int n[2] = {9, 0}; const int* p = n; int k = 0;"
    "for (int i = 0; i < p[0]; i++) { n[0]--; k++; } note(k);",
    "note((int)E::B); note(static_cast<uint32_t>(E::B)); note(int(G::H)); note((int)(E)4);",
    "E e = E::A; e = E::B; note(e == E::B); note(e != E::A); note(E::A < E::B);",
    "E e = static_cast<E>(4); switch (e) { case E::A: note(1); break; case E::B: note(2); }",
    "F f = D; note(f); note(f + 1); note(C); note(~D); note(f == 4); int x = D; note(x);",
    "F f = (F)4; int a[5] = {1, 2, 3, 4, 5}; note(a[f]); if (f) note(7); note(f ? 1 : 2);",
    "note(sizeof(E)); note(sizeof(G)); E e = E::A; E g = 1 ? e : E::B; note((int)g);",
]


def kernel(body: str) -> str:
    """A kernel of these statements, which begin after its first lines."""
    return f"{STRUCT}{TAKES}{ENUMS}{CALLED}void kernel_main() {{\n{body}\n}}"


REFUSED = [*map(kernel, (*CONSTANT, *ENUMERATIONS)), *CONSTANT_FUNCTIONS]


@cache
def places() -> list[tuple[int, int] | None]:
    """Where g++ refuses each kernel."""
    return refused_by_gcc(REFUSED)


@pytest.mark.parametrize("number", range(len(REFUSED)), ids=lambda number: REFUSED[number][-40:])
def test_refused_where_gcc_refuses(number: int) -> None:
    """At the line and column of what would change a constant, or needs a cast."""
    expected = places()[number]
    assert expected is not None
    with pytest.raises(CppSyntaxError) as caught:
        compile_kernel(REFUSED[number], "kernel.cpp", Role.BRISC, api=RecordingApi)
    position = caught.value.position
    assert (position.line, position.column) == expected, str(caught.value)


def test_allowed_where_gcc_allows(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What only reads constants, or casts, notes the numbers that g++ finds."""
    texts = [kernel(body) for body in ALLOWED]
    expected = noted_by_gcc(texts, tmp_path_factory.mktemp("gcc"))
    assert [noted(text) for text in texts] == expected


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "int x = 1; const int* p = &x; int* q = p;",
            "'const int*' does not convert to 'int*', through which what is const could be "
            "changed; declare the pointer with const, or use const_cast",
        ),
        (
            "int x = 1; const int* p = &x; auto q = static_cast<int*>(p);",
            "static_cast from 'const int*' to 'int*' casts const away; keep the const, or use "
            "const_cast",
        ),
        (
            "const int x[1] = {}; int& r = x[0];",
            "a reference to 'int' could change what is const here; declare it 'const int&'",
        ),
        ("S s = {}, t = {}; s = t;", "'S' has a constant member; assign the other members"),
        ("int x = E::A;", "'E' does not convert to 'int'; write static_cast<int>(...)"),
        ("E e = 1;", "'int' does not convert to 'E'; write static_cast<E>(...)"),
        ("int x = 1; note(x ? 1 : E::A);", "'int' and 'E' have no type in common; cast one"),
        ("note(E::A + 1);", "'+' does not go with 'E' and 'int'"),
        ("int a[2] = {}; note(a[E::A]);", "an index is an integer, not 'E'"),
        ("DPRINT << E::A;", "DPRINT does not print 'E'; cast it to a number"),
        ("int a[2][3] = {}; a[2][0] = 1;", "the index 2 is outside of 'int[2][3]'"),
    ],
)
def test_messages(body: str, message: str) -> None:
    """They say what is const and what to do."""
    with pytest.raises(CppSyntaxError) as caught:
        compile_kernel(kernel(body), "kernel.cpp", Role.BRISC, api=RecordingApi)
    assert message in str(caught.value)


NULLS = [
    "int x =\nnullptr;",
    "uint32_t x; x =\nnullptr;",
    "note(1 +\n0 * -nullptr);",
    "note(\n~nullptr);",
    "note(\n!nullptr);",
    "int x = 1; int* p = &x; note((p\n+ nullptr) == p);",
    "float f =\nnullptr;",
    "int a[2] = {}; note(\na[nullptr]);",
    "number(\nnullptr);",
    "int x = 1; note(x ? x :\nnullptr);",
    "switch (\nnullptr) {}",
    "uint8_t a[1] = {\nnullptr};",
]
"""`nullptr` where a number has to be, in the second line."""

NULLS_ALLOWED = [
    "int* p = nullptr; note(p == nullptr); int x = 1; p = &x; note(nullptr != p); note(!p);",
    "int x = 1; int* p = x ? &x : nullptr; int* q = x ? nullptr : &x; note(*p); note(q == p);",
    "auto n = nullptr; int* p = n; note(p == nullptr); note(n == nullptr);",
    "note(nullptr ? 1 : 2); if (nullptr) note(3);",
    "int* p = static_cast<int*>(nullptr); int* q = (int*)nullptr; note(!p); note(q == p);",
    "S s = {.p = nullptr}; note(s.p == nullptr); const void* v = nullptr; note(v == nullptr);",
    "note(sizeof(nullptr) == sizeof(void*));",
]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("body", NULLS)
def test_null_is_no_number(body: str) -> None:
    """It is refused on the line where g++ refuses it, and the message says what it is."""
    (expected,) = refused_by_gcc([kernel(body)])
    assert expected is not None
    with pytest.raises(CppSyntaxError, match=r"nullptr|'std::nullptr_t'") as caught:
        compile_kernel(kernel(body), "kernel.cpp", Role.BRISC, api=RecordingApi)
    assert caught.value.position.line == expected[0]


def test_null_is_a_pointer(tmp_path: Path) -> None:
    """Pointers take it and are compared with it."""
    texts = [kernel(body) for body in NULLS_ALLOWED]
    assert [noted(text) for text in texts] == noted_by_gcc(texts, tmp_path)


OPEN = [
    "template <typename T> int f(int n) { return n; }\nvoid kernel_main() {\nnote(f(1)); }",
    "template <int N> int f(int n) { return n; }\nvoid kernel_main() {\nnote(f(1)); }",
    "template <typename T, typename U> T f(T n) { return n; }\nvoid kernel_main() {\nnote(f(1)); }",
    "template <typename T, typename U> U f(T n) { return n; }\n"
    "void kernel_main() {\nnote(f<int>(1)); }",
    "template <typename T> void f() {}\nvoid kernel_main() {\nf(); }",
]


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("text", OPEN)
def test_what_a_template_leaves_open_is_refused(text: str) -> None:
    """Where g++ finds no function to call, with what to write."""
    (expected,) = refused_by_gcc([text])
    with pytest.raises(CppSyntaxError, match=r"nothing says what '\w+' of 'f' is; write") as caught:
        compile_kernel(text, "kernel.cpp", Role.BRISC, api=RecordingApi)
    assert (caught.value.position.line, caught.value.position.column) == expected


def test_what_a_template_is_told_is_not_open(tmp_path: Path) -> None:
    """By arguments in angle brackets, by arguments of the call, or by both."""
    texts = [
        "template <typename T> int f(int n) { return n + sizeof(T); }\n"
        "void kernel_main() { note(f<uint16_t>(1)); note(f<int>(2)); }",
        "template <int N, typename T> T f(T n) { return n + N; }\n"
        "void kernel_main() { note(f<3>(1)); note(f<4, uint8_t>(2)); }",
        "template <typename U, typename T> U f(T* p) { return *p; }\n"
        "void kernel_main() { int x = 300; note(f<uint8_t>(&x)); }",
    ]
    assert [noted(text) for text in texts] == noted_by_gcc(texts, tmp_path)


ENDLESS = "kernel.cpp:{}: error: this loop goes round without end"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("void kernel_main() { volatile int x = 0; while (x == 0) { x = 0; } }", "1:42"),
        ("volatile int x = 0; void kernel_main() { while (x == 0) {} }", "1:42"),
        ("void kernel_main() { volatile int a[2] = {1, 0}; while (a[1] == 0) {} }", "1:50"),
        (
            "void wait(volatile uint32_t& x) { while (x == 0) {} }\n"
            "void kernel_main() { volatile uint32_t x = 0; wait(x); }",
            "1:35",
        ),
    ],
)
def test_loops_that_wait_for_volatile_variables_stay(
    text: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C++ lets no compiler leave them out; nobody else changes such a variable, so none ends."""
    monkeypatch.setitem(code.NAMES, "_rounds", range(10))
    with pytest.raises(SimError) as caught:
        run(text)
    assert str(caught.value).startswith(ENDLESS.format(place))


@pytest.mark.parametrize(
    "loop",
    [
        "for (volatile int i = 0; i < ROUNDS; i++) {}",
        "volatile int i = ROUNDS; while (i > 0) { i = i - 1; }",
        "volatile int n = ROUNDS; for (int i = 0; i < n; i++) {}",
    ],
)
def test_delays_take_time(loop: str) -> None:
    """Every round reads, compares and jumps: three instructions at least."""
    clocks = [
        run(f"void kernel_main() {{ {loop.replace('ROUNDS', rounds)} }}", timed=True).thread.clock
        for rounds in ("100", "300")
    ]
    assert clocks[1] - clocks[0] >= 3 * 200
