"""Kernels that try to get at more than a core: each is refused where it stands, or only computes.

The place of an attack is its line and column in the body, whose first line is line 3.
"""

from __future__ import annotations

import pytest
from running.confinement import limited_time

from ttmlir.metalium import (
    CircularBufferConfig,
    CoreCoord,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernelFromString,
    CreateProgram,
    DataFormat,
    EnqueueProgram,
    ReaderDataMovementConfig,
)
from ttmlir.sim.errors import SimError

CORE = CoreCoord(0, 0)
GENERATOR = (
    "InterleavedAddrGenFast<true> g = "
    "{.bank_base_address = 1024, .page_size = 2048, .data_format = DataFormat::Float16_b};\n"
)
SECONDS = 20.0
"""What a refusal may take of a processor; each of the bombs took minutes, or all memory."""


def printed(body: str, before: str = "") -> list[str]:
    """What a kernel of these statements prints."""
    device, program = CreateDevice(0, cycle_limit=100_000), CreateProgram()
    for index in (0, 16):
        config = CircularBufferConfig(4096, {index: DataFormat.Float16_b})
        CreateCircularBuffer(program, CORE, config.set_page_size(index, 2048))
    text = f"{before}\nvoid kernel_main() {{\n{body}\n}}\n"
    CreateKernelFromString(program, text, CORE, ReaderDataMovementConfig([4, 5]))
    EnqueueProgram(device.command_queue(), program)
    return [line.partition(": ")[2] for line in device.printed]


def refusal(body: str, before: str = "") -> str:
    """The message that stops a kernel."""
    with limited_time(SECONDS), pytest.raises(SimError) as raised:
        printed(body, before)
    return str(raised.value).splitlines()[0].partition(":")[2]


MEMBERS = "its members are bank_base_address, page_size, data_format"

NAMES = [
    ("auto x = &g.get_noc_addr; (*x).__globals__;", "4:11: error: 'InterleavedAddrGenFast' has no"),
    ("g.__class__;", f"4:1: error: 'InterleavedAddrGenFast' has no member '__class__'; {MEMBERS}"),
    ("auto x = g.get_noc_addr;", "4:10: error: 'InterleavedAddrGenFast' has no member 'get_noc_"),
    ("auto x = g.banks;", "4:10: error: 'InterleavedAddrGenFast' has no member 'banks'"),
    ("auto x = g.pagesize;", "did you mean 'page_size'?"),
    ("g.locate(0);", "4:1: error: 'InterleavedAddrGenFast' has no member function 'locate'"),
    ('g.get_noc_addr.__call__("x");', "has no member 'get_noc_addr'"),
    ("g.page_size = 1;", "4:1: error: this is constant and cannot be changed"),
    ("g.get_noc_addr(1, 2, 3, 4);", "4:1: error: 'get_noc_addr' takes 1 to 3 arguments"),
    ("g.get_noc_addr(g);", "4:16: error: the call takes a number here"),
    ("InterleavedAddrGen<true> h = {.self = 1};", "'InterleavedAddrGen' has no member 'self'"),
    ("InterleavedAddrGen<true> h = {.banks = 1};", "'InterleavedAddrGen' has no member 'banks'"),
    ("InterleavedAddrGen<true> h = {.page_size = 1, .page_size = 2};", "is given twice"),
]


@pytest.mark.parametrize(("body", "message"), NAMES)
def test_members_are_the_declared_ones(body: str, message: str) -> None:
    """Those of Python's objects behind the library's do not exist."""
    assert message in refusal(GENERATOR + body)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "counters",
            "iterations",
            "end",
            "store",
            "load",
            "poll",
            "limited",
            "dprint",
            "move_all",
        ),
        *("eval", "exec", "open", "getattr", "globals", "print", "__import__", "breakpoint"),
        *("__init__", "__class__", "_store_arguments", "_argument", "_load", "_fault", "_put"),
    ],
)
def test_what_is_no_call_of_the_library_does_not_exist(name: str) -> None:
    """Methods of the simulator, functions of Python, and helpers of compiled code."""
    assert f"3:1: error: there is no function '{name}'" in refusal(f"{name}();")


@pytest.mark.parametrize(
    "name",
    [
        *("thread", "core", "l1", "cbs", "api", "self", "options", "scheduler", "network"),
        *("inf", "nan", "None", "_thread", "_FAULTS", "_rounds", "__builtins__", "_error"),
    ],
)
def test_what_is_no_variable_of_the_library_does_not_exist(name: str) -> None:
    """Attributes of the simulator and names of compiled code."""
    assert f"3:10: error: '{name}' is not declared" in refusal(f"auto x = {name};")


RESERVED = [
    *("_FAULTS", "_fault", "_error", "_thread", "_load", "_store", "_kernel", "_rounds", "_unset"),
    *("_quotient", "_range", "_", "__builtins__", "__name__", "range", "min", "float32", "inf"),
    *("None", "True", "False", "self", "api", "print", "lambda", "yield", "def", "is", "in"),
    *("pass", "del", "error", "v_x", "t_value", "f_kernel_main", "c_note", "kernel", "import"),
]


@pytest.mark.parametrize("name", RESERVED)
def test_names_of_python_are_names_like_others(name: str) -> None:
    """As local variables that loops change, as global ones and as functions."""
    local = f"int {name} = 3; for (int i = 0; i < 2; i++) {{ {name} += i; }}"
    assert printed(f"{local} DPRINT << {name} << ENDL();") == ["4"]
    body = f"{name}++; DPRINT << {name} / 2 << ENDL();"
    assert printed(body, f"static int {name} = 3;") == ["2"]
    function = f"int {name}(int x) {{ return x + 1; }}"
    assert printed(f"DPRINT << {name}(2) << ENDL();", function) == ["3"]


def test_faults_of_a_kernel_that_takes_every_name_are_found() -> None:
    """The handler of compiled code is none of the kernel's variables."""
    names = " ".join(f"int {name} = 1;" for name in RESERVED)
    message = refusal("int zero = my_x[0] - my_x[0];\nDPRINT << 1 / zero;", names)
    assert message.startswith("4:11: error: division by zero")


CONFUSIONS = [
    ("int x = 1; uint32_t y = reinterpret_cast<uint32_t>(&x);", "address of a local variable is"),
    (
        "int x = 1; uint32_t y = (uint32_t)&x;",
        "3:25: error: the address of a local variable is not",
    ),
    ("int x = 1; uint32_t y = &x;", "a pointer is no 'uint32_t'"),
    ("int x = 1; uint32_t y = (x, &x);", "a pointer is no 'uint32_t'"),
    ("int x = 1; int y = my_x[0] > 0 ? &x : x;", "an integer is no 'int*'"),
    ("uint32_t x = 1; float& f = x;", "a reference to 'float' does not go with 'uint32_t'"),
    ("uint32_t x = 1; float* f = &x;", "'uint32_t*' does not convert to 'float*'"),
    ("std::pair<int, int> x{}; auto p = (uint32_t*)&x;", "local variable of type 'std::pair<int, "),
    ("uint32_t x; auto p = (std::pair<int, int>*)&x;", "cannot be read as 'std::pair<int, int>'"),
    ("uint32_t x; auto y = std::bit_cast<uint64_t>(&x);", "has not the bits of a 'uint64_t'"),
    ("uint32_t x; uint32_t** p = (uint32_t**)1024; *p = &x;", "it cannot be kept in memory"),
    ("uint32_t x; noc_semaphore_set(&x, 1);", "takes no pointer to a local variable"),
    ("uint32_t x; cb_push_back(0, &x);", "takes no pointer to a local variable"),
    (f"{GENERATOR}uint32_t x = g;", "'InterleavedAddrGenFast' does not convert to 'uint32_t'"),
    (f"{GENERATOR}uint32_t x = (uint32_t)g;", "cannot be cast to 'uint32_t'"),
    (f"{GENERATOR}auto x = g + 1;", "'+' does not go with 'InterleavedAddrGenFast' and 'int'"),
    (f"{GENERATOR}if (g) {{}}", "'InterleavedAddrGenFast' is no condition"),
    (f"{GENERATOR}auto x = my_x[0] > 0 ? g : 1;", "does not convert to"),
    (f"{GENERATOR}uint32_t& r = g;", "a reference to 'uint32_t' does not go with"),
    (f"{GENERATOR}auto x = std::bit_cast<uint32_t>(g);", "has not the bits of a 'uint32_t'"),
    (f"{GENERATOR}auto p = (uint32_t*)&g;", "cannot be read as 'uint32_t' through a pointer"),
    (f"{GENERATOR}noc_async_read_shard(0, g, 1024);", "4:25: error: the call takes a tensor acces"),
    ("auto a = TensorAccessorArgs<0>(); noc_async_read_tile(0, a, 1024);", "an address generator"),
    ("InterleavedAddrGenFast<true> g = 5;", "'int' does not convert to 'InterleavedAddrGenFast'"),
    ("auto g = (InterleavedAddrGenFast<true>*)1024; auto x = *g;", "points to nothing that can be"),
    ("auto g = (InterleavedAddrGenFast<true>*)1024; auto x = g->page_size;", "nothing that can be"),
    ('cb_push_back("abc", 1);', "3:14: error: the call takes a number here, not 'const char*'"),
    ('noc_async_read<"abc">(0, 0, 0);', "a template argument is an integer, not 'const char*'"),
    ("noc_async_read<uint32_t>(0, 0, 0);", "the template argument is a number here, not a type"),
    ("uint32_t x = my_x[0]; noc_async_read<x>(0, 0, 0);", "has to be a constant expression"),
    ("auto x = get_arg_val<uint64_t>(0);", "'uint64_t' is no number of 32 bits"),
    ("auto x = get_semaphore<1, 2, 3, 4, 5, 6, 7, 8, 9>(0);", "takes at most 8 template arguments"),
]


@pytest.mark.parametrize(("body", "message"), CONFUSIONS)
def test_values_of_a_type_stay_of_the_type(body: str, message: str) -> None:
    """However one is given out for another, the place says so."""
    assert message in refusal(body)


@pytest.mark.parametrize(
    ("before", "body", "message"),
    [
        ("template <typename T> void f(T x) {}", f"{GENERATOR}f<uint32_t>(g);", "does not convert"),
        ("template <typename T> void f(T* x) {}", "float y; f<uint32_t>(&y);", "does not convert"),
        ("void f(float& a) { a = 1; }", "uint32_t x = 1; f(x);", "a reference to 'float' does not"),
        ("uint32_t f() { int x; return &x; }", "f();", "a pointer is no 'uint32_t'"),
        ("void f(uint32_t a) {}", "int x = 1; f(&x);", "a pointer is no 'uint32_t'"),
        ("int y; int f(int a = &y) { return a; }", "f();", "a pointer is no 'int'"),
        ("struct A { int x; }; struct B { float x; };", "A a; B b; a = b;", "'B' does not convert"),
        ("struct A { int x; }; struct B { float x; };", "A a; B* b = &a;", "'A*' does not convert"),
        ("struct S { int a; };", "S s; uint32_t x = s;", "'S' does not convert to 'uint32_t'"),
        ("struct S { int a; };", "S s; auto x = get_arg_val<S>(0);", "'S' is no number of 32 bits"),
        ("struct S { uint32_t a; };", "S s = {1, 2};", "'S' has 1 member only"),
        ("struct S { int* p; };", "S s; s.p = 5;", "an integer is no 'int*'"),
        ("struct S { int a; S s; };", "", "a member of type 'S' is not supported"),
        (
            "struct S { S* s; }; struct T { S* s; };",
            "S s; T t; s.s = &t;",
            "does not convert to 'S*'",
        ),
        ("enum E : uint8_t { A = 256 };", "", "256 is no value of 'uint8_t', which 'E' is made of"),
    ],
)
def test_types_hold_across_functions_and_structs(before: str, body: str, message: str) -> None:
    """By template, reference, result, default argument and member."""
    assert message in refusal(body, before)


STOPPED = [
    ("uint32_t a[2] = {1, 2}; uint32_t* p = a; p += 5; DPRINT << *p;", "outside of the array"),
    ("uint32_t a[2] = {1, 2}; uint32_t* p = a; p--; DPRINT << *p;", "-1 lies before the start"),
    ("uint32_t a[2] = {1, 2}; uint32_t* p = &a[1]; p[1] = 5;", "outside of the array"),
    ("uint32_t x = 1; uint32_t* p = &x; DPRINT << p[1];", "outside of the array"),
    ("S s = {1, 2}; float* q = &s.f; DPRINT << q[1];", "outside of the array"),
    ("S x = {}; void* p = &x; auto q = (float*)p; DPRINT << *q;", "cannot be read as another type"),
    ("uint32_t x; auto p = (uint8_t*)&x; DPRINT << p[1];", "was never set"),
    ("float x; auto p = (uint32_t*)&x; DPRINT << *p;", "was never set"),
    ("struct A { int x; ~A() { A a{1}; } }; A a{1};", "this function calls itself without end"),
    ("struct A { int x; ~A() { x = x / (x - x); } }; A a{1};", "division by zero"),
    ("uint32_t a[0]; uint32_t* p = a; DPRINT << p[0];", "outside of the array"),
    ("uint16_t x[3] = {}; auto p = (uint32_t*)x; DPRINT << p[1];", "outside of the array"),
    ("uint16_t x[3] = {}; auto p = (uint8_t*)x; p[6] = 1;", "outside of the array"),
    ("uint16_t x[3] = {}; auto p = (uint8_t*)&x[1]; DPRINT << p[-3];", "before the start"),
    ("uint16_t x[4] = {}; auto p = (uint32_t*)&x[1];  DPRINT << *p;", "not aligned to the type"),
    ("uint32_t x = 7; uint32_t* p = nullptr; if (my_x[0] > 0) p = &x; DPRINT << (uint32_t)p;",
     "the address of a local variable is not known"),
    ("S x = {}; S* p[2] = {&x, &x}; auto q = (float*)p[my_x[0] & 1]; DPRINT << *q;",
     "cannot be read as another type"),
    ("uint32_t x = 7; uint32_t* p = my_x[0] > 99 ? (uint32_t*)1024 : &x; noc_semaphore_set(p, 1);",
     "the address of a local variable is not known"),
    ("S s; uint32_t* p = nullptr; if (my_x[0] > 99) p = &s.n; DPRINT << *p;", "null pointer"),
    ("uint32_t a[2]; cb_push_back(0, a[1]);", "was never set"),
    ("InterleavedAddrGenFast<true> g[2]; noc_async_read_tile(0, g[1], 1024);", "was never set"),
    ("S s; DPRINT << s.f;", "was never set"),
    ("int i = -1; DPRINT << my_x[i];", "-1 lies before the start"),
    ("DPRINT << my_x[7];", "outside of the array"),
    ("float f = my_x[0] * 1e38f; f = f * 100; DPRINT << (int)f;", "no value of the integer type"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "message"), STOPPED)
def test_what_only_shows_when_it_runs_stops_there(body: str, message: str) -> None:
    """Pointers know what they point into, and variables whether they are set."""
    found = refusal(body, "struct S { float f; uint32_t n; };")
    assert message in found
    assert found.startswith("3:")


BOMBS = [
    ("int f(int a = f()) { return a; }", "f();", "the default argument of 'a' needs itself"),
    ("int g(int a); int f(int a = g(1)) { return a; } int g(int a) { return f(); }", "f();",
     "1:21: error: the default argument of 'a' needs itself"),
    ("\n".join(f"int f{i}(int a = f{i + 1}() + f{i + 1}()) {{ return a; }}" for i in range(40))
     + "int f40() { return 1; }", "f0();", "the kernel is too large"),
    ("template <int N> int f() { return f<N + 1>(); }", "f<0>();", "these are nested too deeply"),
    ("template <int N> int f() { return f<2 * N>() + f<2 * N + 1>(); }", "f<1>();", "too deeply"),
    ("template <typename T> int f(T* x) { T* y = x; return f(&y); }", "int x; f(&x);", "deeply"),
    ("template <int N> int f() { return " + "(" * 90 + "f<N + 1>()" + ")" * 90 + "; }", "f<0>();",
     "nested too deeply"),
    ("constexpr int f(int n) { return f(n + 1); }", "constexpr int x = f(0);", "is no constant"),
    ("constexpr int f(int n) { return f(n + 1); } constexpr int x = f(0);", "DPRINT << x;",
     "1:59: error: 'x' is constexpr, and its value is no constant"),
    ("int f(int n) { return f(n + 1) + 1; }", "f(1);", "this function calls itself without end"),
    ("int f(int n) { return f(n + 1) + 1; } int x = f(1);", "DPRINT << x;",
     "1:23: error: this function calls itself without end"),
    ("#define A0 1+1\n" + "\n".join(f"#define A{i} A{i - 1}+A{i - 1}" for i in range(1, 40)),
     "int x = A39;", "macros make more than"),
    ("#define A(x) x x", f"int x = {'A(' * 30}1{')' * 30};", "macros make more than"),
    ("#define A A", "int x = A;", "'A' is not declared"),
    ("", "int a[65536][65536];", "'a' takes 17179869184 bytes"),
    ("", "uint8_t a[5000]; uint8_t b[5000]; a[0] = b[0] = 1;", "'b' takes 5000 bytes"),
    ("struct S { int a[65536]; }; struct T { S a[65536]; };", "T t;", "'t' takes 17179869184 by"),
    ("struct S { int a[65536]; }; struct T { S a[65536]; };", "auto t = T{};", "takes 17179869184"),
    ("struct S { int a[65536]; };", "auto s = *(S*)1024;", "a copy of 'S' takes 262144 bytes"),
    ("struct S { uint8_t a[4000]; };", "S* p = (S*)1024; S s = *p;" + "s = *p;" * 300, "too large"),
    ("struct S { int a[-5]; };", "S s;", "an array of -5 elements is not supported"),
    ("", "int a[-1];", "an array of -1 elements is not supported"),
    ("", "DPRINT << SETW(1000000000) << 1 << ENDL();", "a width of 1000000000; SETW takes"),
    ("", "DPRINT << SETW() << 1 << ENDL();", "SETW takes one number"),
    ("", f"int x = {'(' * 3000}1{')' * 3000};", "nested more than 256 levels deep"),
    ("", f"{'{' * 300}{'}' * 300}", "nested more than 256 levels deep"),
    ("", f"{'A<' * 3000}int{'>' * 3000} x;", "nested more than 256 levels deep"),
    ("", f"int x = my_x[0]{' + my_x[0]' * 5000};", "nested more than 256 levels deep"),
    ("", "int x = my_x[0]; switch (x) {" + "".join(f"case {i}: x++;" for i in range(999)) + "}",
     "a switch of more than 256 cases"),
    ("", "int x = my_x[0];" + "switch (x) { case 0: x = 1; case 1: " * 20 + "x = 3;" + "}" * 20,
     "the kernel is too large"),
    ("", "int n = my_x[0];" + "".join(f"for (int i{i} = 0; i{i} < n; i{i}++) {{" for i in range(30))
     + "DPRINT << n;" + "}" * 30, "nested too deeply"),
    ("struct S0 { int a, b; };\n"
     + "\n".join(f"struct S{i + 1} {{ S{i} a; S{i} b; }};" for i in range(30))
     + "template <typename T> void f(T p) {}",
     "auto p = (S29*)64; f(p); *p = *p;", "a copy of 'S29' takes"),
    ("", 'while (true) { DPRINT << "' + "a" * 4000 + '"; }', "prints more than 4194304 characters"),
]  # fmt: skip


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("before", "body", "message"), BOMBS)
def test_kernels_that_grow_without_bounds_end_soon(before: str, body: str, message: str) -> None:
    """What text, templates, macros, arrays and printing may take is limited."""
    assert message in refusal(body, before)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "uint32_t a[4] = {1, 2, 3, 4}; uint32_t* p = nullptr;\n"
            "for (uint32_t i = 0; i < 4; i++) { if (i == 2) p = a;\n"
            "if (p != nullptr) DPRINT << p[1] + i << ENDL(); }",
            ["4", "5"],
        ),
        ("int a[2] = {5, 6}; int* p; if (my_x[0] > 0) p = a; DPRINT << p[1] << ENDL();", ["6"]),
        (
            "cb_reserve_back(0, 1); uint32_t l1 = get_write_ptr(0);\n"
            "uint32_t x = 3; uint32_t* p = (uint32_t*)l1; *p = 40;\n"
            "for (int i = 0; i < 2; i++) { DPRINT << *p << ENDL(); *p += 1; p = &x; }\n"
            "DPRINT << *p << ' ' << *(uint32_t*)l1 << ENDL();",
            ["40", "3", "4 41"],
        ),
        ("uint32_t x = 7; void* p = &x; DPRINT << *(uint32_t*)p << ENDL();", ["7"]),
        ("int x = 5; int* p = &x; int** q = &p; **q = 6; DPRINT << x << ENDL();", ["6"]),
        (
            "int a[3] = {1, 2, 3}; int* p = a; int* end = a + 3; int s = 0;\n"
            "while (p != end) s += *p++; DPRINT << s << ' ' << (int)(end - a) << ENDL();",
            ["6 3"],
        ),
        (
            "S s; s.p = &s.n; *s.p = 4; S* q = &s; q->n += 1; DPRINT << s.n << ENDL();\n"
            "S* r = nullptr; if (my_x[0] > 0) r = q; r->a[2] = 9; DPRINT << s.a[2] << ENDL();",
            ["5", "9"],
        ),
        ("float f = 1.5f; DPRINT << *(uint32_t*)&f << ENDL();", ["1069547520"]),
    ],
)
def test_pointers_of_c_plus_plus_work(body: str, expected: list[str]) -> None:
    """To variables, into memory, and to one or the other."""
    assert printed(body, "struct S { uint32_t n; uint32_t* p; uint32_t a[3]; };") == expected


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("int x = my_x[0]; switch (x) { case 1: break; case 1: break; }", "case 1 stands twice"),
        (
            "int x = my_x[0]; switch (x) { default: break; default: break; }",
            "'default' stands twice",
        ),
    ],
)
def test_cases_stand_once(body: str, message: str) -> None:
    """As in C++."""
    assert message in refusal(body)
