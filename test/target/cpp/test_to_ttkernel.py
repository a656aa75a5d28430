"""C++ kernels as IR: what they compute, where they stand, and back to the same text."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr, StringAttr

from ttmlir.dialects.ttkernel import CBType
from ttmlir.frontend.cpp_to_ttkernel import read_kernel
from ttmlir.layout.enums import CBPort
from ttmlir.mlir.reporting import DiagnosticError, file_line_col
from ttmlir.schema.versions import load
from ttmlir.target.cpp.from_ttkernel import write_kernels

KERNELS = Path(__file__).parent / "kernels"
GOLDEN = Path(__file__).parents[2] / "golden"
COMPILER = shutil.which("g++")
SHOWING = """
#include <cstdio>
#include <cstdint>
static int64_t get_noc_addr(int32_t x, int32_t y, int32_t address) { return 0; }
static void noc_async_write(uint32_t value, int64_t to, int32_t size) {
  std::printf("%u\\n", value);
}
template <typename T> T get_arg_val(uint32_t index) { return T(index * 2654435761u); }
"""
"""An API in which a write shows its source address, and arguments are large numbers."""


def again(text: str) -> str:
    """A text after the way to the IR and back."""
    return write_kernels(read_kernel(text, "k.cpp"))


def shown(text: str, folder: Path) -> list[str]:
    """What a compiled kernel shows."""
    (folder / "dataflow_api.h").write_text(SHOWING)
    program = folder / "program"
    source = f"{text}\nint main() {{ kernel_main(); }}\n"
    command = [str(COMPILER), "-std=c++17", "-w", "-fwrapv", "-I", str(folder), "-x", "c++", "-"]
    subprocess.run([*command, "-o", str(program)], input=source, text=True, check=True)
    result = subprocess.run([program], text=True, check=True, capture_output=True, timeout=20)
    return result.stdout.split()


def kernel(body: str) -> str:
    """A data movement kernel, its body from line 8 on; `show(x);//` shows a number."""
    text = body.replace("show(", "noc_async_write(").replace(");//", ", to, 0);")
    return f"""#include "dataflow_api.h"
uint32_t mix(uint32_t a, uint32_t b) {{
  uint32_t sum = a * 31u;
  sum ^= b >> 3;
  return sum + 1;
}}
void kernel_main() {{ int64_t to = get_noc_addr(0, 0, 0);
{text}
}}
"""


COMPUTED = """
uint32_t a = get_arg_val<uint32_t>(3);
int32_t b = get_arg_val<int32_t>(5);
show(a / 7);//
show(b / 7);//
show(a % 10);//
show(b % 10);//
show(a >> 3);//
show(b >> 3);//
show(b << 2);//
show(a < b ? 1 : 2);//
show((int32_t)a < b ? 3 : 4);//
show(-b + ~a);//
show((uint8_t)b);//
show((int8_t)a);//
show((int16_t)(b >> 7) * 3);//
show((uint64_t)a * (uint64_t)a >> 40);//
show(!a);//
show((a > 5) + (b != 0));//
show(a > 5 && b > 5 || a == 0);//
bool set = a & 4;
show(set);//
uint32_t total = 0;
for (uint32_t i = 2; i < 9; i += 3) {
  total += i * a;
  if (total & 1) {
    total ^= 0x55;
  } else if (total % 3 == 0) {
    total--;
    b = -b;
  }
}
show(total);//
show(b);//
int n = 20, steps = 0;
while (n != 1) {
  n = n % 2 ? 3 * n + 1 : n / 2;
  ++steps;
}
show(steps);//
uint32_t x = 5, y = 7;
do {
  uint32_t old = x;
  x = y;
  y = mix(old, y);
} while (x < 3000000000u && y > 9);
show(x);//
show(y);//
for (int i = 10; i >= 0; i -= 4) {
  show(i);//
}
uint32_t at;
for (at = 1; at < 6; at += 2) {
  show(at * a);//
}
show(at);//
for (; at < 40; at = at * 2 + 1) {
  show(at);//
}
for (; at > 30;) {
  at -= 7;
}
show(at);//
uint32_t p = 3;
show(p++ * 2 + p);//
show(--p);//
{
  uint32_t inner = mix(p, a), other = inner;
  other -= 5;
  show(inner - other);//
}
uint32_t unset;
if (a) unset = 4; else unset = 5;
show(unset);//
while (true) {
  uint32_t next = p * p;
  if (next > 1000) { break; }
  p = next + 1;
  show(next);//
}
show(p);//
"""


LITERALS = """
uint32_t a = get_arg_val<uint32_t>(3);
int32_t b = get_arg_val<int32_t>(5);
show('A');//
show('z' - b);//
show(-1 < 0x80000000);//
show(-1 < 2147483648);//
show(-1 < 4294967295);//
show(-1 < 4294967295u);//
show(-1 < 0xFFFFFFFF);//
show(b < 0x100000000);//
show(a * 3000000000 >> 33);//
show(010 + 0b11);//
show(sizeof(uint8_t) + sizeof(int16_t) * 10 + sizeof(uint32_t) * 100);//
show(sizeof(uint64_t) + sizeof(bool) * 10);//
show(a ? b : a);//
show((a > 5 ? a : b) / 2);//
show(a > 5 ? 'a' : 7);//
uint32_t c = (b++, b + 1);
show(c);//
c = 3 * (b = 12, c += b, b + 1);
show(c);//
show((b = 7, mix((c = 2, b), c)));//
int64_t wide = a ? b - 1ll : c;
show(wide >> 1);//
const uint32_t kept = a;
uint32_t changed = kept;
changed++;
show(changed);//
if (true) { show(1);//
}
if (false) { show(2);//
} else { show(3);//
}
if (0) { show(4);//
}
float f = 2.5f;
float g = -f * 1.5f + 7.0f / f;
show((int32_t)(g * 100.0f));//
show((int32_t)-f);//
show((uint32_t)(f - 0.75f));//
float h = a;
float i = b;
show((uint32_t)(h / 1024.0f));//
show((int32_t)(i / 3.0f));//
"""


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
@pytest.mark.parametrize("body", [COMPUTED, LITERALS], ids=["computed", "literals"])
def test_kernels_compute_the_same_after_the_way_through_the_ir(body: str, tmp_path: Path) -> None:
    """Two programs of a C++ compiler agree: the text, and the text from its IR."""
    text = kernel(body)
    there = again(text)
    first, second = shown(text, tmp_path), shown(there, tmp_path)
    assert len(first) > 20
    assert first == second
    assert again(there) == there


def test_printed_text_has_places_for_values() -> None:
    """A chain of `<<` is one operation: pieces of text, values and ends of lines in order."""
    pieces = '"a\\t" << n << 7 << " of" << n << ENDL()'
    body = f"uint32_t n = get_arg_val<uint32_t>(0);\nDPRINT << {pieces};"
    [op] = [each for each in read_kernel(kernel(body), "k.cpp").walk() if "dprint" in each.name]
    [text] = [each.data for each in op.properties.values() if isinstance(each, StringAttr)]
    assert text == "a\t{}{} of{}\n"
    first, number, second = op.operands
    assert first is second
    assert isinstance(number.owner, ConstantOp)
    assert isinstance(number.owner.value, IntegerAttr)
    assert number.owner.value.value.data == 7


def test_a_bound_in_memory_is_read_in_each_turn() -> None:
    """A loop up to a number that others may change is no counted loop."""
    body = """auto* words = (volatile tt_l1_ptr uint32_t*) 4096;
for (uint32_t i = 0; i < words[2]; i++) { noc_async_read_barrier(); }
for (uint32_t i = 0; i < my_x[1]; i++) { noc_async_read_barrier(); }"""
    loops = [op for op in read_kernel(kernel(body), "k.cpp").walk() if op.name.startswith("scf.")]
    assert [op.name for op in loops if op.regions] == ["scf.while", "scf.for"]
    loads = [op for op in loops[0].walk() if op.name == "ttkernel.load_from_l1"]
    assert len(loads) == 1


NAMES = ("a", "b", "c")
ATOMS = st.sampled_from([*NAMES, "1", "2", "7", "0x80000000u", "(uint32_t) b", "(int8_t) c"])
OPERATORS = st.sampled_from(["+", "-", "*", "/ 3 +", "% 5u -", "<", "==", "&", "^", ">> 2 |"])
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.builds("({} {} {})".format, inner, OPERATORS, inner),
    max_leaves=4,
)
SIMPLE = st.builds(
    "{} {} {};".format, st.sampled_from(NAMES), st.sampled_from(["=", "+="]), EXPRESSIONS
)
STATEMENTS = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.builds("if ({}) {{ {} }} else {{ {} }}".format, EXPRESSIONS, inner, inner),
        st.builds("if ({}) {{ {} }}".format, EXPRESSIONS, inner),
        st.builds(
            "for (int {0} = 0; {0} < {1}; {0}++) {{ {2} }}".format,
            st.uuids().map(lambda uuid: f"i{uuid.hex}"),
            st.integers(0, 3),
            inner,
        ),
        st.builds("{} {}".format, inner, inner),
    ),
    max_leaves=6,
)


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
@settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(bodies=st.lists(STATEMENTS, min_size=12, max_size=12))
def test_generated_kernels_compute_the_same(bodies: list[str], tmp_path: Path) -> None:
    """Nested loops and branches over signed, unsigned and narrow variables."""
    start = "int32_t a = -9; uint32_t b = 4000000000u; int16_t c = -300;"
    shows = "show(a);//\nshow(b);//\nshow(c);//"
    text = kernel("\n".join(f"{{\n{start}\n{body}\n{shows}\n}}" for body in bodies))
    assert shown(text, tmp_path) == shown(again(text), tmp_path)


def golden_kernels() -> list[str]:
    """The sources of all kernels in the files that tt-mlir has written."""
    return [
        each.kernel.source
        for path in sorted(GOLDEN.glob("*.ttm"))
        for program in load(path.read_bytes(), path.name).root.programs
        for command in program.device_programs[0].command_queues[0].commands
        if command.type_type == "EnqueueProgramCommand"
        for each in command.type.program.kernels
    ]


@pytest.mark.parametrize("text", golden_kernels(), ids=lambda text: f"{len(text)} characters")
def test_kernels_of_tt_mlir_come_back_letter_by_letter(text: str) -> None:
    """What the compiler has written is read as what it was written from."""
    assert again(text) == text


@pytest.mark.parametrize(
    "name", ["compute_add", "compute_matmul_blocks", "generated_multiply", "reader_add"]
)
def test_hand_written_kernels_settle_after_one_way(name: str) -> None:
    """The text from the IR is the text of its own IR."""
    text = again((KERNELS / f"{name}.cpp").read_text())
    assert again(text) == text


@pytest.mark.parametrize(("given", "kept"), [(", true", ", true"), (", false", ""), ("", "")])
def test_linked_multicasts_are_attributes(given: str, kept: str) -> None:
    """The way stays reserved only where the text says so."""
    text = f"""#include "dataflow_api.h"
void kernel_main() {{
  uint64_t to = get_noc_multicast_addr(1, 1, 4, 1, 4096);
  noc_async_write_multicast(4096, to, 32, 3{given});
  noc_semaphore_set_multicast(4096, to, 3{given});
}}
"""
    written = " ".join(again(text).split())
    for call in ("noc_async_write_multicast", "noc_semaphore_set_multicast"):
        arguments = re.search(rf"{call}\(([^)]*)\)", written)
        assert arguments is not None
        assert arguments[1].endswith(kept)
        assert ("true" in arguments[1]) == bool(kept)


def test_operations_stand_where_the_text_does() -> None:
    """Locations are file, line and column in the C++ text."""
    text = (KERNELS / "compute_add.cpp").read_text()
    module = read_kernel(text, "k.cpp")
    lines = text.splitlines()
    calls = [op for op in module.walk() if op.name.startswith("ttkernel.")][:-1]
    assert calls
    for call in calls:
        place = file_line_col(call.location)
        assert place is not None
        assert place.file == "k.cpp"
        rest = lines[place.line - 1][place.column - 1 :]
        assert rest.startswith(call.name.removeprefix("ttkernel."))


def test_headers_that_are_missing_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A warning on standard error; the kernel is translated."""
    text = '#include "a_header_of_the_translation.h"\nvoid kernel_main() { cb_push_back(0, 1); }'
    assert "cb_push_back" in str(read_kernel(text, "k.cpp"))
    message = "k.cpp:1:1: warning: 'a_header_of_the_translation.h' was not found; give its folder"
    assert capsys.readouterr().err.startswith(message)


def test_circular_buffers_are_arguments() -> None:
    """In the order in which the text mentions them; rows where they are tilized."""
    text = """#include "compute_kernel_api/tilize.h"
namespace NAMESPACE { void MAIN {
  constexpr auto out = tt::CBIndex::c_17;
  constexpr uint32_t in = 2;
  tilize_init(in, 3, out);
  tilize_block(in, 3, out);
} }"""
    function = next(op for op in read_kernel(text, "k.cpp").walk() if op.name == "func.func")
    types = [argument.type for argument in function.regions[0].block.args]
    assert all(isinstance(each, CBType) for each in types)
    assert [str(each.memref.element_type) for each in types if isinstance(each, CBType)] == [
        "f32",
        "!tt.tile<32x32, f32>",
    ]
    ports = [each.buffer.data.port for each in types if isinstance(each, CBType)]
    assert ports == [CBPort.IN2, CBPort.OUT1]


@pytest.mark.parametrize("calls", [1, 2])
def test_calls_that_double_are_refused_soon(calls: int) -> None:
    """Functions are put in the place of their calls, up to a limit."""
    functions = [f"void f{i}() {{ {f'f{i + 1}(); ' * calls}}}" for i in range(80)]
    text = "\n".join([*functions, "void f80() {}", "void kernel_main() { f0(); }"])
    with pytest.raises(DiagnosticError, match="the IR has no functions, and a kernel at most 4096"):
        read_kernel(text, "k.cpp")


def test_products_of_known_numbers_stay_numbers_of_their_type() -> None:
    """They do not grow with each of sixty squares; the last one is as in C++."""
    squares = "n = n * n;" * 60
    text = f"void kernel_main() {{ uint64_t n = 3; {squares} cb_push_back(n * 0 + 1, 1); }}"
    assert "cb_push_back" in str(read_kernel(text, "k.cpp"))


L1_WORDS = "volatile tt_l1_ptr uint32_t*"

REFUSALS = [
    ("uint32_t f[2];", "8:10", "arrays such as 'f' have no form in the IR"),
    (
        "for (int i = 0; i < 3; i++) { break; }",
        "8:31",
        "'break' has no form in the IR here; loops end by their condition and kernels at their "
        "end, so put what follows into an 'if'",
    ),
    ("if (1) return;", "8:8", "'return' has no form in the IR here"),
    ("while (true) { get_noc_addr(0, 0, 0); }", "8:1", "this loop does not end"),
    (
        "bool b = 1 && get_arg_val<uint32_t>(0);",
        "8:15",
        "calls, assignments and reads after '&&' have no form in the IR, which computes both "
        "sides; use an 'if'",
    ),
    ("launch(3);", "8:1", "'launch' is no function of this text and no call that the ttkernel"),
    (
        "show(unknown);//",
        "8:17",
        "'unknown' is no variable of the kernel and no name of the library",
    ),
    (
        "cb_push_back(get_arg_val<uint32_t>(0), 1);",
        "8:1",
        "cannot pass 2 arguments of these types to cb_push_back(cb, numPages); circular "
        "buffers have to be known when the kernel is compiled",
    ),
    ("cb_push_back(40, 1);", "8:1", "a circular buffer has to be a number from 0 to 31"),
    (
        "uint32_t c = get_compile_time_arg_val(get_arg_val<uint32_t>(0));",
        "8:14",
        "argument 'arg_index' has to be known when the kernel is compiled",
    ),
    (
        "noc_async_write_multicast(0, to, 32, 3, false, 1);",
        "8:1",
        "parameter 'noc' of noc_async_write_multicast has no form in the IR other than its "
        "default, noc_index; leave it out",
    ),
    (
        "volatile tt_l1_ptr uint16_t* p = (volatile tt_l1_ptr uint16_t*) (4096);",
        "8:28",
        "a value of this type has no form in the IR; it has numbers, bool, circular buffers",
    ),
    ('const char* t = "x";', "8:11", "a value of this type has no form in the IR"),
    ("float f = 1.5f; bool b = f < 2.0f;", "8:26", "comparisons of floating-point numbers"),
    ("uint32_t to = 1;", "8:10", "'to' hides a variable outside; give it another name"),
    ("mix(1);", "8:1", "'mix' takes 2 arguments"),
    ('DPRINT << "\\x4";', "8:11", "the escape '\\x' is not supported"),
    ('DPRINT << "\\ud800";', "8:11", "the escape '\\u' is not supported"),
    ("float f = 1e300;", "8:11", "the number is too large for the IR, which has 'float'"),
    ("uint32_t n = 99999999999999999999;", "8:14", "this number has more than 64 bits"),
    ("uint32_t n = get_compile_time_arg_val(4294967296);", "8:14", "does not fit into the 32 bits"),
    ("const int n = 1;\nn = 2;", "9:1", "this is constant and cannot be changed"),
    ("constexpr auto n = 1;\nn++;", "9:1", "this is constant and cannot be changed"),
    ("const int& n = 1;\nn += 2;", "9:1", "this is constant and cannot be changed"),
    ("for (const int i = 0; i < 3;\ni++) {}", "9:1", "this is constant and cannot be changed"),
    (f"const {L1_WORDS} p = (const {L1_WORDS}) (64);\n*p = 1;", "9:1", "this is constant"),
    (f"auto p = (const {L1_WORDS}) (64);\nauto* q = p; q[1]++;", "9:14", "this is constant"),
    (f"{L1_WORDS} const p = ({L1_WORDS}) (64);\np = p;", "9:1", "this is constant"),
    (
        f"auto p = (const {L1_WORDS}) (64);\n{L1_WORDS} q = p;",
        "9:34",
        "'const volatile uint32_t*' does not convert to 'volatile uint32_t*', through which what "
        "is const could be changed; declare the pointer with const",
    ),
]


@pytest.mark.parametrize(("body", "place", "message"), REFUSALS, ids=lambda value: value[:30])
def test_refusals(body: str, place: str, message: str) -> None:
    """What has no form in the IR is refused where it stands, with what has one."""
    with pytest.raises(DiagnosticError) as error:
        read_kernel(kernel(body), "k.cpp")
    assert str(error.value).startswith(f"k.cpp:{place}: error: ")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("void f() {}", "k.cpp:1:1: error: there is no kernel in this text; a data movement"),
        ("void kernel_main() { for (", "k.cpp:1:"),
        (
            "uint32_t f(uint32_t n) { return f(n); } void kernel_main() { f(1); }",
            "k.cpp:1:33: error: 'f' calls itself, which has no form in the IR",
        ),
    ],
)
def test_refusals_of_whole_texts(text: str, message: str) -> None:
    """A text without a kernel, with no C++, or without an end."""
    with pytest.raises(DiagnosticError) as error:
        read_kernel(text, "k.cpp")
    assert str(error.value).startswith(message)


WHOLE_MESSAGES = (Path(__file__).parent / "Inputs" / "refusals.txt").read_text().split("\n\n")
"""A kernel, then `=> line:column: message`."""


@pytest.mark.parametrize("case", WHOLE_MESSAGES)
def test_whole_messages(case: str) -> None:
    """All of what is said about a kernel that has no form in the IR."""
    text, _, expected = case.strip().rpartition("\n=> ")
    place, _, message = expected.partition(": ")
    with pytest.raises(DiagnosticError) as error:
        read_kernel(text, "k.cpp")
    assert str(error.value).splitlines()[0] == f"k.cpp:{place}: error: {message}"
