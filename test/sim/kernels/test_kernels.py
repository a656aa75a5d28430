"""What a compiled kernel asks of the processor that it runs on, and what it leaves out."""

from __future__ import annotations

import ast
import struct
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np
import pytest
from oracles.kernel_oracle import RecordingApi, run

from ttmlir.cpp.errors import Position
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.kernel_api import kernel_call
from ttmlir.sim.kernels import CompiledKernel, compile_kernel
from ttmlir.sim.kernels.functions import compile_entry
from ttmlir.sim.kernels.python.code import add_clock, clock_costs

KERNELS = Path(__file__).parents[2] / "target" / "cpp" / "kernels"


def compiled(body: str, role: Role = Role.BRISC, **defines: str) -> CompiledKernel:
    """A kernel of these statements."""
    text = f"void kernel_main() {{\n{body}\n}}\n"
    return compile_kernel(text, "kernel.cpp", role, api=RecordingApi, defines=defines)


def body_of(kernel: CompiledKernel) -> list[str]:
    """The statements of the Python function that runs, with their indentation."""
    lines = kernel.python.splitlines()
    start, end = (next(i for i, s in enumerate(lines) if w in s) for w in ("try:", "except"))
    return [line[12:] for line in lines[start + 1 : end]]


def test_waiting_calls_are_asked_until_they_are_done() -> None:
    """The generator yields once for each refusal, and arguments with effects happen once."""
    kernel = compiled("int n = 1; cb_wait_front(n++, 2); note(n);")
    api = RecordingApi()
    api.refusals = 3
    assert len(list(kernel.start(api))) == 3
    assert api.calls == [("cb_wait_front", 1, 2)]
    assert api.noted == [2]


def test_functions_that_wait_wait_in_their_callers() -> None:
    """Waiting passes through calls, and the frames say where."""
    text = """void inner(uint32_t cb) {
    cb_wait_front(cb, 1);
}
uint32_t outer(uint32_t cb) { inner(cb); return cb + 1; }
void kernel_main() { note(outer(4) + outer(5)); }
"""
    kernel = compile_kernel(text, "kernel.cpp", Role.BRISC, api=RecordingApi)
    api = RecordingApi()
    api.refusals = 1
    running = kernel.start(api)
    next(running)
    inner = running.gi_yieldfrom.gi_yieldfrom
    assert (inner.gi_frame.f_lineno, inner.gi_code.co_filename) == (2, "kernel.cpp")
    assert running.gi_yieldfrom.gi_frame.f_lineno == 4
    assert list(running) == []
    assert api.noted == [11]


def test_loops_that_count_are_ranges() -> None:
    """Bounds are evaluated once where nothing changes them."""
    kernel = compiled(
        """uint32_t n = get_arg_val<uint32_t>(0);
        for (uint32_t i = 2; i < n; i++) note(i);
        for (int i = n; i >= 0; i -= 2) note(i);
        for (uint32_t i = 0; i < n; i++) { n--; note(i); }"""
    )
    code = body_of(kernel)
    assert "for v_i in _limited(_range(2, v_n)):" in code
    counts_down = "for v_i_2 in _limited(_range("
    assert any(line.startswith(counts_down) and "-1, -2" in line for line in code)
    assert "for _ in _limited(_rounds):" in code
    api = RecordingApi(5)
    list(kernel.start(api))
    assert api.noted == [2, 3, 4, 5, 3, 1, 0, 1, 2]


def test_spinning_lets_others_run() -> None:
    """A loop that looks at memory polls in each iteration, a loop that counts does not."""
    kernel = compiled(
        """auto flag = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_semaphore(0));
        while (*flag != 2) {}
        do { note(7); } while (flag[1] == 0);
        uint32_t sum = 0;
        for (uint32_t i = 0; i < 2; i++) sum += flag[i];
        note(sum);"""
    )
    api = RecordingApi()
    running = kernel.start(api)
    for _ in range(4):
        next(running)
    assert api.noted == []
    api.store(64, 4, 2)
    next(running)
    api.store(68, 4, 9)
    assert list(running) == []
    assert api.noted == [7, 11]


def test_a_loop_without_end_lets_others_run() -> None:
    """`while (true)` without call yields for ever."""
    running = compiled("while (true) {}").start(RecordingApi())
    for _ in range(5):
        next(running)


def test_a_role_keeps_only_its_calls() -> None:
    """The index arithmetic of another processor's calls goes, and loops around nothing."""
    text = (KERNELS / "compute_matmul_blocks.cpp").read_text()
    add = (KERNELS / "compute_add.cpp").read_text()
    packing = compile_kernel(add, "add.cpp", Role.PACK, api=_ComputeApi)
    assert not any("add_tiles(" in line or "cb_wait" in line for line in body_of(packing))
    arguments = (2, 2, 8, 2, 4, 4, 4, 2)
    kernel = compile_kernel(text, "mm.cpp", Role.PACK, api=_ComputeApi, compile_time_args=arguments)
    code = "\n".join(body_of(kernel))
    assert "dst_index" not in code
    assert "inner" not in code
    assert "reload" not in code
    assert "pack_tile" in code


def test_a_call_of_another_role_leaves_the_effects_of_its_arguments() -> None:
    """`n++` happens though the call does not."""
    kernel = compile_kernel(
        "void kernel_main() { int n = 1; pack_tile(n++, 16); copy_tile(0, n, n); }",
        "kernel.cpp",
        Role.MATH,
        api=_ComputeApi,
    )
    api = _ComputeApi()
    list(kernel.start(api))
    assert api.calls == [("copy_tile", 0, 2, 2)]


class _ComputeApi(RecordingApi):
    """Calls of the compute processors, whichever."""


for _name in (
    *("mm_init", "mm_init_short", "copy_tile", "copy_tile_to_dst_init_short", "add_tiles_init"),
    *("binary_op_init_common", "add_tiles", "tile_regs_acquire", "tile_regs_commit"),
    *("tile_regs_wait", "tile_regs_release"),
):

    @kernel_call(waits=_name in ("tile_regs_acquire", "tile_regs_wait"))
    def _call(self: _ComputeApi, *arguments: object, name: str = _name) -> bool:
        self.calls.append((name, *arguments))
        return True

    setattr(_ComputeApi, _name, _call)


def test_the_indices_of_a_blocked_matrix_product() -> None:
    """The tiles that the kernel multiplies are those of the product, block by block."""
    text = (KERNELS / "compute_matmul_blocks.cpp").read_text()
    width, m, n, blocks = 2, 4, 4, 3
    arguments = (width, 2, 2 * width, 2, n, blocks, 2, 2)
    kernel = compile_kernel(text, "mm.cpp", Role.MATH, api=_ComputeApi, compile_time_args=arguments)
    api = _ComputeApi()
    list(kernel.start(api))
    products = [call[3:6] for call in api.calls if call[0] == "matmul_tiles"]
    count = np.zeros((m, width, n), int)
    for a, b, dst in products:
        row, k = divmod(a, width)
        k_again, column = divmod(b, n)
        assert (k, dst) == (k_again, row % 2 * 2 + column % 2)
        count[row, k, column] += 1
    assert (count == blocks).all()


def test_constants_fold() -> None:
    """Arguments that are fixed at compile time decide branches."""
    text = """void kernel_main() {
        constexpr uint32_t n = get_compile_time_arg_val(1) * 2;
        if constexpr (n > 5) { note(1); } else { note(2); }
        const bool large = n > 100;
        if (large) note(3);
        note(tt::CBIndex::c_16 + n);
    }"""
    options = {"api": RecordingApi, "compile_time_args": (0, 4)}
    kernel = compile_kernel(text, "kernel.cpp", Role.BRISC, **options)
    assert body_of(kernel) == ["c_note(1)", "c_note(24)"]


def test_enumerators_are_their_numbers() -> None:
    """Qualified in any way, with the numbers of tt-metal's headers."""
    api = run(
        """void kernel_main() {
        note(tt::CBIndex::c_3); note(::tt::CB::c_in2); note(tt::CB::c_out1);
        note(CBIndex::c_31); note((uint32_t)DataFormat::Float16_b);
        note((int)tt::DataFormat::Bfp8_b);
        note(VALID + INVALID); note(ReduceDim::REDUCE_COL); note(PoolType::MAX); note(ELWADD);
        note((int)BroadcastType::COL); note(noc_index); note(my_x[noc_index]);
        DataFormat f = DataFormat::Float32; if (f == DataFormat::Float32) note(7);
        }"""
    )
    assert api.noted == [3, 2, 17, 31, 5, 6, 1, 1, 2, 2, 1, 1, 2, 7]


def test_objects_of_the_kernel_library() -> None:
    """Designated members and template arguments become keywords; methods are called on them."""
    api = run(
        """void kernel_main() {
        uint32_t address = get_arg_val<uint32_t>(0);
        const InterleavedAddrGenFast<true> s = {
            .bank_base_address = address, .page_size = 2048, .data_format = DataFormat::Float16_b};
        note(s.get_noc_addr(3)); note(s.page_size);
        }""",
        4096,
    )
    fields = {"bank_base_address": 4096, "page_size": 2048, "data_format": 5}
    assert api.calls == [("InterleavedAddrGenFast", (True,), fields)]
    assert api.noted == [6144, 2048]


def test_memory_through_pointers() -> None:
    """Sizes and signs are those of the pointer's type; structs have the layout of the C++ ABI."""
    api = run(
        """struct Header { uint8_t kind; uint32_t size; int16_t offsets[2]; };
        void kernel_main() {
        auto words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(1024);
        words[0] = 0x80FF7F01; *(words + 1) = words[0] >> 4; words++; note(*words);
        auto bytes = (int8_t*)1024; note(bytes[3]); note(bytes[1]); bytes[4] -= 1;
        note(*(uint16_t*)(1024 + 2)); note((uint32_t)words - 1024); note(*words & 0xFF);
        Header* header = (Header*)2048;
        header->kind = 3; header->size = 77; header->offsets[1] = -2;
        Header copy = *header; copy.size++; note(copy.size + header->size); note(copy.offsets[1]);
        auto* raw = (uint8_t*)2048; note(raw[4]); note(raw[10]); note(sizeof(Header));
        uint64_t* wide = (uint64_t*)4096; *wide = 1ull << 40; note(((uint32_t*)wide)[1]);
        note(words == nullptr); note(words != nullptr && words > (uint32_t*)16);
        }"""
    )
    expected = [0x80FF7F01 >> 4, -128, 0x7F, 0x80FF, 4, 0xEF, 155, -2, 77, 0xFE, 12, 256, 0, 1]
    assert api.noted == expected


def test_the_bits_of_numbers() -> None:
    """A `float` and an integer of the same size can be read as each other."""
    api = run(
        """void kernel_main() { float f = 1.5f; uint32_t one = 0x3F800000;
        note(*reinterpret_cast<uint32_t*>(&f)); note(*(int*)&f + 1);
        note(std::bit_cast<uint32_t>(f * 2)); note(*(float*)&one * 3 == 3.0f);
        note(std::bit_cast<float>(one) == 1.0f); }"""
    )
    assert api.noted == [0x3FC00000, 0x3FC00001, 0x40400000, 1, 1]


def test_arguments_have_the_types_of_parameters() -> None:
    """As in C++, where a parameter of 32 bits takes the lower half of a wider number."""
    api = run(
        """void kernel_main() { uint64_t wide = get_arg_val<uint32_t>(0) + 0x100000010ull;
        cb_push_back(wide, 2.9f); noc_semaphore_inc(wide, 1); }""",
        1,
    )
    assert api.calls == [("cb_push_back", 17, 2), ("noc_semaphore_inc", 0x100000011, 1)]


def test_template_arguments_from_macros() -> None:
    """`reduce_tile` takes what the host defines where it is not told otherwise."""

    class Api(_ComputeApi):
        @kernel_call()
        def reduce_tile(self, *arguments: int, template: tuple[object, ...] = ()) -> None:
            self.calls.append((*arguments, *template))

    text = "void kernel_main() { reduce_tile(0, 1, 0, 0, 0); reduce_tile<MAX, REDUCE_ROW>(0); }"
    defines = {"REDUCE_OP": "PoolType::AVG", "REDUCE_DIM": "ReduceDim::REDUCE_SCALAR"}
    api = Api()
    list(compile_kernel(text, "k.cpp", Role.MATH, api=Api, defines=defines).start(api))
    assert api.calls == [(0, 1, 0, 0, 0, 1, 2, False), (0, 2, 0)]


def test_a_break_inside_of_a_case() -> None:
    """Leaves the switch, not the loop around it; cases fall through as before."""
    api = run(
        """void kernel_main() { for (int n = 0; n < 5; n++) { switch (n) {
            case 3: if (n > get_arg_val<int>(0)) break; note(1); break;
            case 2: { if (n == 1) { break; } note(7); }
            case 4: note(4); break;
            default: note(2);
        } note(10 + n); } }""",
        2,
    )
    assert api.noted == [2, 10, 2, 11, 7, 4, 12, 13, 4, 14]


def test_printing() -> None:
    """The parts of a line in order, numbers in the base that was asked for."""
    api = run(
        """void kernel_main() { uint32_t x = get_arg_val<uint32_t>(0); int8_t y = -1; bool z = x;
        DPRINT << "x = " << x << ' ' << HEX() << x << DEC()
            << " " << y << z << 1.5f << ENDL(); }""",
        255,
    )
    assert api.noted == [("x = ", 255, " ", "ff", " ", -1, 1, 1.5, "\n")]


def test_escapes_of_strings() -> None:
    """Octal digits end after three, hexadecimal ones with the first other character."""
    api = run(r"""void kernel_main() { DPRINT << "\033[31m\1013" << "\x4g\08" << ENDL(); }""")
    assert api.noted == [("\x1b[31mA3", "\x04g\x008", "\n")]


def test_macros_of_the_role() -> None:
    """`MATH((...))` and `#ifdef TRISC_MATH` mean what the headers make of them."""
    text = """#ifdef COMPILE_FOR_NCRISC
    #define WHO 1
    #else
    #define WHO 2
    #endif
    void kernel_main() { note(WHO); MATH((note(3))); SCALE }"""
    assert run(text, role=Role.NCRISC, defines={"SCALE": "note(9);"}).noted == [1, 9]
    assert run(text, role=Role.MATH, defines={"SCALE": ""}).noted == [2, 3]


def test_clock_counts_instructions() -> None:
    """With a clock, time passes in loops in proportion to their iterations."""

    def cycles(n: int) -> int:
        loop = "for (uint32_t i = 0; i < get_arg_val<uint32_t>(0); i++) note(i);"
        text = f"void kernel_main() {{ {loop} }}"
        return run(text, n, timed=True).thread.clock

    assert cycles(20) - cycles(10) == cycles(30) - cycles(20) > 10
    assert run("void kernel_main() { note(1); }").thread.clock == 0


COSTS = {
    "x = a": 1,
    "x = a + b": 2,
    "x = a << b": 2,
    "x = a * b": 3,
    "x = a // b": 21,
    "x = a % b": 21,
    "x = a / b": 21,
    "x = -a": 2,
    "x = not a": 2,
    "x = a < b": 2,
    "x = a and b": 2,
    "x = a if b else c": 3,
    "x = a[b]": 3,
    "x = a & 255": 1,
    "x = a & 65535": 1,
    "x = a & 4294967295": 1,
    "x = a + 2147483648": 1,
    "x = a - 2147483648": 1,
    "x = a + 255": 2,
    "x = a & 128": 2,
    "x = a | 255": 2,
    "_store(a, b, 4)": 5,
    "x = _load(a, 4, 0)": 9,
    "x = _element_at(p, 0)": 11,
    "_put_at(a, p, 0)": 10,
    "x = _quotient(a, b)": 21,
    "x = _remainder(a, b)": 21,
    "x = _quotient(a, 12)": 7,
    "x = _remainder(a, 16)": 2,
    "x = a * 12": 2,
    "x = a // 12": 7,
    "x = a % 16": 2,
    "x = _float32(a)": 11,
    "x = _point(a, 0, 4, 't')": 1,
    "x = _point_at_one(a, 0, 't')": 1,
    "x = _pointer_to(a, 't')": 1,
    "x = _address(a)": 1,
    "x = _is_local(a)": 1,
    "c_note(a)": 4,
    "c_other(a, b, c)": 6,
    "c_matmul_block(a, b, c, d, e, f, g, h, i)": 2,
    "c_cb_wait_front(a, b)": 5,
    "x = c_get_noc_addr(a, b, c)": 7,
    "x = c_get_noc_addr(a, pages)": 26,
    "x = pages.get_noc_addr(a)": 26,
    "f()": 3,
    "if a < b: f()": 6,
    "for i in _range(a): f()": 6,
    "while a < b: f()": 9,
}
"""Statements of compiled kernels, and the instructions that they stand for.

A multiplication takes 2, by a constant 1; a division 20, by a constant 6 or 1; a call 3 and
one for each argument, one that starts a unit 2; a branch 2 and an iteration of a loop one more.
Masks that only cut numbers to their width take none.
"""


@pytest.mark.parametrize("statement", COSTS)
def test_instructions_are_counted(statement: str) -> None:
    """In all stretches of a statement together."""
    body = add_clock(ast.parse(statement).body, clock_costs("ARCH_WORMHOLE", Role.BRISC))
    module = ast.Module(body, [])
    counted = [each for each in ast.walk(module) if isinstance(each, ast.AugAssign)]
    assert all(ast.unparse(each.target) == "_thread.clock" for each in counted)
    assert sum(ast.literal_eval(each.value) for each in counted) == COSTS[statement]


def test_pages_are_found_faster_on_blackhole() -> None:
    """20.00 cycles are measured there and 29.13 on Wormhole, with what is done to the address."""
    counted: list[int] = []
    for macro in ("ARCH_WORMHOLE", "ARCH_BLACKHOLE"):
        (first, *_) = add_clock(
            ast.parse("pages.get_noc_addr(i)").body, clock_costs(macro, Role.BRISC)
        )
        assert isinstance(first, ast.AugAssign)
        counted.append(ast.literal_eval(first.value))
    assert counted == [25, 16]


def test_a_kernel_compiles_once() -> None:
    """Equal kernels share their code; each start has variables of its own."""
    text = "static uint32_t n = 5; void kernel_main() { note(n++); }"
    kernel = compile_kernel(text, "kernel.cpp", Role.BRISC, api=RecordingApi)
    assert compile_kernel(text, "kernel.cpp", Role.BRISC, api=RecordingApi) is kernel
    assert [run(text).noted for _ in range(2)] == [[5], [5]]


def test_a_text_under_another_name_is_the_kernel_of_that_file() -> None:
    """It is not compiled anew, but for its name it is what it would be compiled to."""
    text = (
        '#include "api/dataflow/dataflow_api.h"\n'
        "template <typename T> T twice(T x) { return 2 * std::max<T>(x, 1); }\n"
        "void kernel_main() { for (uint32_t i = 0; i < 3; ++i) { note(twice(i)); } }\n"
    )
    known = compile_kernel(text, "first.cpp", Role.BRISC, api=RecordingApi)
    renamed = compile_kernel(text, "second.cpp", Role.BRISC, api=RecordingApi)
    assert renamed.module is known.module
    # What the text is compiled to in a process that has not seen it: with a macro that it ignores.
    anew = compile_kernel(text, "second.cpp", Role.BRISC, api=RecordingApi, defines={"UNUSED": "1"})
    assert anew.module is not known.module
    assert renamed.bytecode == anew.bytecode
    assert {each.co_filename for each in all_code(renamed.bytecode)} == {"second.cpp"}
    assert renamed.sources.place(3) == ("second.cpp", 3)
    assert renamed.sources.line("second.cpp", 3).startswith("void kernel_main")
    assert [*renamed.sources.inclusions.texts] == [*anew.sources.inclusions.texts]
    assert renamed.sources.inclusions.includes[0].position == Position("second.cpp", 1, 1)
    api = RecordingApi()
    assert list(renamed.start(api)) == []
    assert api.noted == [2, 2, 4]


@pytest.mark.parametrize("text", ["__FILE__", "J(__FI, LE__)"])
def test_a_text_that_asks_for_its_name_is_compiled_for_each(text: str) -> None:
    """By the macro, or by one that makes its name of parts."""
    kernel = f"#define J(a, b) a##b\nvoid kernel_main() {{ DPRINT << {text}; }}\n"
    for name in ("a.cpp", "b.cpp"):
        made = compile_kernel(kernel, name, Role.BRISC, api=RecordingApi)
        assert f"'{name}'" in made.python


def all_code(code: CodeType) -> Iterator[CodeType]:
    """A code object and those inside."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from all_code(each)


def test_waiting_spreads_through_pointers_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions that call each other through pointers of types of their own: two rounds do."""
    rounds = list[str]()

    def compile_noted(*given: Any) -> Any:
        rounds.append("")
        return compile_entry(*given)

    monkeypatch.setattr("ttmlir.sim.kernels.compiler.compile_entry", compile_noted)
    count = 12
    text = f"void f{count}({', '.join(['int'] * count)}) {{ cb_wait_front(3, 1); note(7); }}\n"
    for i in reversed(range(count)):
        types, values = ", ".join(["int"] * (i + 1)), ", ".join("1" * (i + 1))
        pointer = f"void (*p)({types}) = nullptr; if (get_arg_val<uint32_t>(0)) p = f{i + 1};"
        text += f"void f{i}({', '.join(['int'] * i)}) {{ {pointer} p({values}); note({i}); }}\n"
    api = run(text + "void kernel_main() { f0(); }", 1)
    assert api.calls == [("cb_wait_front", 3, 1)]
    assert api.noted == [7, *reversed(range(count))]
    assert len(rounds) == 2


def test_objects_are_made_and_assigned_in_memory() -> None:
    """Each member lies where the rules for structs put it: words of 32 bits, little endian."""
    text = """
struct Inner { uint8_t c; uint16_t d[2]; };
union Bits { uint32_t word; float f; };
struct Whole {
    uint32_t a; Inner in; uint64_t big; float f; Bits u; bool ok;
    Whole(uint32_t x) : a(x), big(x), f(1.5f), ok(true) {
        in.c = 7; in.d[0] = 8; in.d[1] = 9; u.f = 2.0f;
    }
};
void kernel_main() {
    Whole* first = new ((void*)1024) Whole(3);
    note(sizeof(Whole)); note(first->in.d[1]); note(first->ok);
    Whole other(20); Whole* second = new ((void*)2048) Whole(*first);
    *first = other; first->in = Inner{1, {2, 3}};
    note(second->a + second->in.c); first->~Whole();
    uint32_t* word = new ((void*)4096) uint32_t(17); *word += 1;
}
"""
    api = run(text)
    assert api.noted == [40, 9, True, 10]
    layout = struct.Struct("<IBxHHxxxxxxQfIBxxxxxxx")
    one = int.from_bytes(np.float32(2).tobytes(), "little")
    first, second = (bytes(api.bytes.get(at + i, 0) for i in range(40)) for at in (1024, 2048))
    assert layout.unpack(first) == (20, 1, 2, 3, 20, 1.5, one, 1)
    assert layout.unpack(second) == (3, 7, 8, 9, 3, 1.5, one, 1)
    assert api.load(4096, 4, False) == 18
