"""What is wrong with a kernel is said where it stands, before it runs or when it happens."""

from __future__ import annotations

import pytest
from oracles.kernel_oracle import RecordingApi, run

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.device_objects import DataMovementApi
from ttmlir.sim.calls.kernel_api import kernel_call
from ttmlir.sim.calls.math_api import MathApi
from ttmlir.sim.errors import SimError
from ttmlir.sim.kernels import compile_kernel
from ttmlir.sim.kernels.python.code import NAMES


def refusal(body: str, before: str = "") -> str:
    """The message about a kernel of these statements."""
    text = f"{before}\nvoid kernel_main() {{\n{body}\n}}\n"
    with pytest.raises(CppSyntaxError) as caught:
        compile_kernel(text, "kernel.cpp", Role.BRISC, api=RecordingApi, compile_time_args=(4, 5))
    return str(caught.value)


def test_message_shows_the_line_with_a_caret() -> None:
    """As compilers write it."""
    expected = (
        "kernel.cpp:3:5: error: there is no function 'cb_pushback'; did you mean 'cb_push_back'?\n"
        "    cb_pushback(0, 1);\n"
        "    ^"
    )
    assert refusal("    cb_pushback(0, 1);").startswith(expected[:70])
    assert refusal("    cb_pushback(0, 1);").splitlines()[1:] == expected.splitlines()[1:]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("note(ntiles);", "'ntiles' is not declared"),
        ("int n_tiles = 1; note(n_tile);", "did you mean 'n_tiles'?"),
        ("{ int inner = 1; } note(inner);", "'inner' is not declared"),
        ("note(tt::CBIndex::c_32);", "there are CBIndex::c_0, CBIndex::c_1"),
        ("uint32 x = 1;", "there is no type 'uint32'; did you mean 'uint32_t'"),
        ("int x = 1; int x = 2;", "'x' is declared twice"),
        ("const int x = 1; x = 2;", "'x' is constant"),
        ("const int x = get_arg_val<int>(0); x++;", "this is constant and cannot be changed"),
        ("const int x;", "'x' is constant and needs a value"),
        ("auto x;", "'auto' needs a value"),
        ("int a[3]; a[3] = 1;", "the index 3 is outside of 'int[3]'"),
        ("int a[2] = {1, 2, 3};", "too many elements for 'int[2]'"),
        ("int n = get_arg_val<int>(0); int a[n][2.5f];", "the size of an array is an integer"),
        ("uint32_t* p = 4096;", "write reinterpret_cast<uint32_t*>(...)"),
        ("uint32_t* p = (uint32_t*)64; uint32_t a = p;", "write reinterpret_cast<uint32_t>(...)"),
        ("uint32_t* p = (uint32_t*)64; uint8_t* q = p;", "'uint32_t*' does not convert to"),
        ("int x = 1; note(*x);", "'int' is no pointer"),
        ("int x = 1; note(x.y);", "'int' has no members"),
        ("int x = 1; x();", "'x' is a variable and cannot be called"),
        ("note(1 / 0);", "division by zero"),
        ("break;", "'break' outside of a loop"),
        ("continue;", "'continue' outside of a loop"),
        ("return 1;", "a function without result returns a value"),
        ("int x = kernel_main();", "this has no value"),
        ("note(get_compile_time_arg_val(2));", "no compile-time argument 2; the kernel has 2"),
        ('note(get_named_compile_time_arg_val("a"));', "argument 'a'; the kernel has none"),
        ("note(get_named_compile_time_arg_val(2));", "takes one name in quotes, or a"),
        ("constexpr int x = get_arg_val<int>(0);", "constexpr, and its value is no constant"),
        ("if constexpr (get_arg_val<int>(0)) {}", "'if constexpr' needs a constant condition"),
        ("cb_wait_front(0);", "'cb_wait_front' does not go with these arguments"),
        ("note(cb_wait_front(0, 1));", "'cb_wait_front' waits; make the call a statement"),
        ("noc_async_write(0, 0, 4);", "the simulator has no 'noc_async_write' on this processor"),
        ("int x = 1; cb_push_back(0, &x);", "takes no pointer to a local variable"),
        ("int x = 1; note((uint32_t)&x);", "the address of a local variable is not known"),
        ("float f = 1; note(f % 2);", "'%' does not go with 'float' and 'int'"),
        ("bool b = true; b++;", "'++' does not go with 'bool'"),
        ("int i; switch (i) { case 1: if (i) break; continue; }", "'continue' in a switch with"),
        ("std::pair<int, int> p{}; auto* q = (uint32_t*)&p;", "only memory and numbers have bytes"),
        ("note(std::bit_cast<uint64_t>(1.5f));", "takes values of equal size"),
        ("DPRINT << noc;", "'noc' is not declared"),
    ],
)  # fmt: skip
def test_mistakes_in_statements(body: str, message: str) -> None:
    """Each message names what is wrong, and where there is something near, that."""
    assert message in refusal(body)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("recip_tile()", "missing arguments; it takes (idst)"),
        ("add_binary_tile(0, 1)", "missing arguments; it takes (idst0, idst1, odst)"),
        ("exp_tile(0, 1, 2, 3)", "too many arguments; it takes (idst)"),
        ("exp_tile_init(0, 1, 2)", "too many arguments; it takes ()"),
    ],
)
def test_arguments_of_tile_calls(call: str, message: str) -> None:
    """They are counted when the kernel is compiled; a mode and a scale may follow."""
    with pytest.raises(CppSyntaxError) as caught:
        compile_kernel(f"void kernel_main() {{ {call}; }}", "k.cpp", Role.MATH, api=MathApi)
    assert f"does not go with these arguments: {message}" in str(caught.value)
    compile_kernel("void kernel_main() { exp_tile(0, 4, 16256); }", "k.cpp", Role.MATH, api=MathApi)


@pytest.mark.parametrize(
    ("before", "body", "message"),
    [
        ("int f(int a);", "f(1);", "'f' is declared but never defined"),
        ("int f(int a) { return a; }", "f(1, 2);", "'f' takes 1 argument, not 2"),
        ("void f(int& a) { a = 1; }", "f(3);", "a reference that is not const needs a variable"),
        ("struct S { int a; };", "S s; s.b = 1;", "'S' has no member 'b'; its members are a"),
        ("struct S { int a; };", "S s = {.b = 1};", "'S' has no member 'b'; its members are a"),
        ("struct S { int a; };", "S s; int x = s;", "'S' does not convert to 'int'"),
        ("struct S { int a; };", "S s; if (s) {}", "'S' is no condition"),
        ("int f() { return f(); } int f; ", "f();", "'f'"),
        ("int f(int n) { cb_wait_front(0, 1); return f(n); }", "f(1);", "calls itself and waits"),
        ("int f(int a) { return b; }", "f(1);", "'b' is not declared"),
        ("int f() { return; }", "f();", "'return' needs a value"),
    ],
)
def test_mistakes_around_the_kernel(before: str, body: str, message: str) -> None:
    """Functions and structs are checked as they are used."""
    assert message in refusal(body, before)


def test_a_kernel_needs_an_entry() -> None:
    """The message says how the function is called."""
    with pytest.raises(CppSyntaxError, match="this kernel has no 'void kernel_main\\(\\)'"):
        compile_kernel("int x = 1;", "k.cpp", Role.NCRISC, api=RecordingApi)
    with pytest.raises(CppSyntaxError, match="no 'void MAIN' or 'void kernel_main"):
        compile_kernel("int x = 1;", "k.cpp", Role.MATH, api=RecordingApi)


@pytest.mark.parametrize(
    ("body", "place", "message"),
    [
        ("int a = 5;\n  note(a / (int)get_arg_val<int>(0));", "4:8", "division by zero"),
        ("int a = -5;\nnote(1 +\n  a % n);", "5:3", "division by zero"),
        ("note(1 << (n + 32));", "3:6", "a shift by 32 places of a type of 32 bits"),
        ("int a[4] = {};\nnote(a[n + 4]);", "4:6", "outside of the array"),
        ("int a[4] = {};\na[n - 1] = 3;", "4:1", "-1 lies before the start of the array"),
        ("int x;\nif (n) x = 1;\nnote(x + 1);", "5:6", "was never set"),
        ("int a[2];\na[0] = 1;\nnote(a[n + 1] + 1);", "5:6", "was never set"),
        ("auto p = reinterpret_cast<uint32_t*>(n);\n*p = 1;", "4:1", "null pointer"),
        ("int (*f)(int) = n > 9 ? down : nullptr;\nnote(f(n));", "4:6", "a null pointer to a"),
        (
            "auto f = reinterpret_cast<int (*)(int)>(n + 9);\nnote(f(n));",
            "4:6",
            "no function of its",
        ),
        ("note(down(n));", "2:31", "calls itself without end"),
        ("note(nothing(n));", "1:1", "'nothing' ends without returning a value"),
        ("int a[2], b[2];\nnote(&a[n] < &b[0]);", "4:6", "point into different variables"),
        ("int a[2];\nnote(&a[n] - (int*)64);", "4:6", "point into different variables"),
        ("int a[2] = {1, 2}; int* p = &a[0];\nnote(p[n - 1]);", "4:6", "index -1 lies before"),
        ("int a[2];\nnote((uint32_t)(n ? nullptr : &a[0]));", "4:6", "is not known to the"),
        ("float z = n;\nnote((int)(1 / z));", "4:6", "inf is no value of the integer type"),
        (
            "note((uint8_t)(300.0f + n));",
            "3:6",
            "300.0 is no value of the integer type that it is converted to",
        ),
    ],
)
def test_undefined_behaviour_stops_where_it_happens(body: str, place: str, message: str) -> None:
    """The error has the position in the C++ text."""
    text = f"""int nothing(int n) {{ if (n) return 1; }}
int down(int n) {{ return 1 + (down(n + 1)); }} void kernel_main() {{ int n = get_arg_val<int>(0);
{body}
}}
"""
    with pytest.raises(SimError) as caught:
        run(text, 0)
    assert message in caught.value.message
    position = caught.value.position
    assert position is not None
    assert f"{position.line}:{position.column}" == place


@pytest.mark.parametrize(
    "loop",
    [
        "while (x != 6) x += 2;",
        "do { x += 2; note(x); } while (x != 6);",
        "for (; x != 6; x += 2) {}",
        "for (;;) { x++; for (int i = 0; i < 3; i++) { if (i > x) return; } }",
    ],
)
def test_loops_without_end_stop(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that neither waits nor looks at memory goes round a limited number of times."""
    monkeypatch.setitem(NAMES, "_rounds", range(1000))
    text = f"void kernel_main() {{ int x = 1;\n{loop}\nnote(x); }}"
    with pytest.raises(SimError, match="goes round without end") as caught:
        run(text)
    assert caught.value.position is not None
    assert caught.value.position.line == 2


def test_errors_of_the_library_pass_through() -> None:
    """What a call raises is not taken for a mistake of the kernel."""

    class Broken(RecordingApi):
        @kernel_call()
        def note(self, value: int) -> None:
            raise IndexError("of the library")

    kernel = compile_kernel("void kernel_main() { note(1); }", "k.cpp", Role.BRISC, api=Broken)
    with pytest.raises(IndexError, match="of the library"):
        list(kernel.start(Broken()))


_GUARD = "struct A { A(int x) {} ~A() { note(1); } bool go() { return 0; } };"
_RANGE = (
    "struct R { int v[2]; ~R() { note(1); } int* begin() { return v; } int* end() { return v; } };"
)


@pytest.mark.parametrize(
    ("before", "body", "name"),
    [
        ("struct A { ~A() { note(1); } };", "static A a;", "A"),
        (f"{_GUARD} A a(1);", "", "A"),
        (_GUARD, "while (A(1).go()) { }", "A"),
        (_GUARD, "do { } while (A(1).go());", "A"),
        (_GUARD, "for (int i = 0; A(1).go(); ++i) { }", "A"),
        (_RANGE, "for (auto x : R{{1, 2}}) { note(x); }", "R"),
    ],
)
def test_objects_whose_end_is_not_compiled_are_refused(before: str, body: str, name: str) -> None:
    """Those of the whole kernel, in the conditions of loops, and without a name of their own."""
    message = refusal(body, before)
    assert f"error: the destructor of '{name}' would run at the end of this object" in message


@pytest.mark.parametrize(
    ("before", "body", "message"),
    [
        ("struct A { ~A(); };", "A a;", "the destructor of 'A' is never defined"),
        ("struct A { ~A() { note(1); } };", "A a[65];", "an array of more than 64 objects"),
        (
            "struct A { A() {} A(const A&) = delete; int x; };",
            "A a; A b = a;",
            "'A' cannot be copied: its copying is deleted",
        ),
        (
            "struct A { A() {} A(const A& o) : x(o.x + 1) {} int x = 1; }; struct B { A a[65]; };",
            "B a; B b(a);",
            "this copies an array of 65 objects by their own constructor; at most 64 are copied so",
        ),
        (
            "struct A { A() {} A(A&& o) : x(o.x + 1) {} int x = 1; };\nstruct B { A a; };",
            "B a; B b = a;",
            "'A' cannot be copied: its copying is deleted; write std::move(...) around it",
        ),
        (
            "struct A { A() {} A(const A&) {} A(A&&) = delete; int x = 1; };",
            "A a; A b = std::move(a);",
            "'A' cannot be moved: its moving is deleted",
        ),
        ("int f(int&& x) { return x; }", "int a = 1; f(a);", "'int&&' takes what nobody needs any"),
        ("int f(int& x) { return x; }", "int a = 1; f(std::move(a));", "here, not what is moved"),
    ],
)
def test_other_objects_are_refused(before: str, body: str, message: str) -> None:
    """Copies within others are made member by member only, and no object is moved."""
    assert message in refusal(body, before)


def test_destructors_that_do_nothing_are_no_matter() -> None:
    """Defaulted ones, empty ones, also outside of the class, and those of unused classes."""
    text = (
        "struct A { ~A() = default; int x; }; struct B { B() {} ~B(); int x = 2; }; B::~B() {}\n"
        "struct C { ~C() { note(9); } };\n"
        "void kernel_main() { A a{1}; B b; note(a.x); note(b.x); }"
    )
    assert run(text).noted == [1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "uint32_t x = (0, 3);",
            "the left operand of ',' has no effect, which tt-metal's compiler",
        ),
        ("CircularBuffer a(0, 1);", "'CircularBuffer' does not go with these arguments"),
        ("DataflowBuffer a(0, 1);", "'DataflowBuffer' does not go with these arguments"),
        ("Semaphore<> a(0, 1);", "'Semaphore' does not go with these arguments"),
        ("const const uint32_t x = 3;", "'const' is written twice"),
        ("nowhere::C x;", "there is no type 'nowhere::C'"),
    ],
)
def test_what_tt_metal_refuses(text: str, message: str) -> None:
    """Kernels are compiled with all warnings as errors for a card."""
    with pytest.raises(CppSyntaxError) as caught:
        compile_kernel(f"void kernel_main() {{ {text} }}", "k.cpp", Role.BRISC, api=DataMovementApi)
    assert message in str(caught.value)


def test_classes_of_namespaces_that_are_not_there() -> None:
    """A definition outside needs the namespace."""
    for text in ("struct away::C {};", "uint32_t away::f() { return 1; }"):
        with pytest.raises(CppSyntaxError, match="there is no class or namespace 'away'"):
            compile_kernel(
                f"{text} void kernel_main() {{}}", "k.cpp", Role.BRISC, api=DataMovementApi
            )


CLOSED = """
struct Base { int x; int f() { return x; } static int g() { return 1; } };
class Closed : Base {
    struct Part { int n; };
    enum Kind { small, large };
    enum class Size { one, two };
    using Number = int;
    static constexpr int count = 3;
    static int twice(int x) { return 2 * x; }
    Closed(int n) {}
  public:
    static Closed make() { return Closed(1); }
  protected:
    int get() { return 1; }
};
"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("Closed c(3);", "'Closed' is private in 'Closed'"),
        ("Closed::Part p;", "'Part' is private in 'Closed'"),
        ("Closed::Part* p = nullptr;", "'Part' is private in 'Closed'"),
        ("note(Closed::large);", "'large' is private in 'Closed'"),
        ("note((int)Closed::Size::two);", "'Size' is private in 'Closed'"),
        ("Closed::Number n = 1;", "'Number' is private in 'Closed'"),
        ("note(Closed::count);", "'count' is private in 'Closed'"),
        ("note(Closed::twice(2));", "'twice' is private in 'Closed'"),
        ("auto c = Closed::make(); note(c.x);", "'x' is private in 'Closed'"),
        ("auto c = Closed::make(); note(c.f());", "'f' is private in 'Closed'"),
        ("auto c = Closed::make(); note(c.get());", "'get' is protected in 'Closed'"),
    ],
)
def test_what_classes_keep_to_themselves(body: str, message: str) -> None:
    """g++ refuses the same."""
    assert message in refusal(body, CLOSED)
