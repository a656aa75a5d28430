"""Kernels with headers: what they compute, and where messages say that something is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from oracles.kernel_oracle import RecordingApi

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.include_path import IncludePath
from ttmlir.metalium import (
    CloseDevice,
    CoreCoord,
    CreateBuffer,
    CreateDevice,
    CreateKernel,
    CreateKernelFromString,
    CreateProgram,
    EnqueueProgram,
    EnqueueReadBuffer,
    InterleavedBufferConfig,
    ReaderDataMovementConfig,
    SetRuntimeArgs,
)
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.device_objects import DataMovementApi
from ttmlir.sim.calls.math_api import MathApi
from ttmlir.sim.calls.unpack_api import UnpackApi
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.program import Kernel, Program
from ttmlir.sim.kernels import CompiledKernel, compile_kernel

CORE = CoreCoord(0, 0)


def write(root: Path, files: dict[str, str]) -> None:
    """Files below a folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def compile_file(root: Path, *folders: str, role: Role = Role.BRISC) -> CompiledKernel:
    """The kernel `k.cpp` of a folder, compiled."""
    path = root / "k.cpp"
    headers = IncludePath.of_kernel(path, tuple(root / each for each in folders))
    text = path.read_text()
    return compile_kernel(text, str(path), role, api=RecordingApi, include_path=headers)


def notes(kernel: CompiledKernel) -> list[int]:
    """What a kernel passes to `note`."""
    api = RecordingApi()
    for _ in kernel.start(api):
        pass
    return api.noted


def error_of(root: Path, *folders: str) -> str:
    """The message about a kernel that does not compile, with names below the folder."""
    with pytest.raises(CppSyntaxError) as caught:
        compile_file(root, *folders)
    return str(caught.value).replace(f"{root}/", "")


def test_kernels_use_what_headers_declare(tmp_path: Path) -> None:
    """Functions, templates, constants, types and macros, also through another header."""
    files = {
        "k.cpp": '#include <tools/inner.hpp>\n#include "outer.hpp"\n'
        "void kernel_main() {\n  Pair p = {3, 4};\n"
        "  note(SQUARE(p.a) + tools::scale<5>(p.b) + LIMIT);\n"
        "  note(static_cast<int>(Mode::slow));\n}\n",
        "outer.hpp": '#pragma once\n#include "tools/inner.hpp"\n'
        "constexpr uint32_t LIMIT = BASE + 1;\n"
        "struct Pair { uint32_t a; uint32_t b; };\nenum class Mode : uint8_t { fast, slow = 7 };\n",
        "inc/tools/inner.hpp": "#pragma once\n#define BASE 100\n#define SQUARE(x) ((x) * (x))\n"
        "namespace tools {\ntemplate <uint32_t N>\n"
        "uint32_t scale(uint32_t x) { return N * x; }\n}\n",
    }  # fmt: skip
    write(tmp_path, files)
    assert notes(compile_file(tmp_path, "inc")) == [9 + 20 + 101, 7]


def test_compute_kernels_use_the_namespace_of_their_headers(tmp_path: Path) -> None:
    """tt-metal's headers say `using namespace ckernel` for all compute kernels, for no others."""
    header = "namespace ckernel {\ninline void note_twice(int x) { note(x); note(2 * x); }\n}\n"
    kernel = '#include "twice.h"\nvoid kernel_main() { note_twice(21); }\n'
    write(tmp_path, {"twice.h": header, "k.cpp": kernel})
    for role in (Role.UNPACK, Role.MATH, Role.PACK):
        assert notes(compile_file(tmp_path, role=role)) == [21, 42]
    with pytest.raises(CppSyntaxError) as refused:
        compile_file(tmp_path)
    assert "there is no function 'note_twice'" in str(refused.value)


def test_roles_see_their_own_side_of_a_header(tmp_path: Path) -> None:
    """What is kept of a header for one processor is not used for another."""
    files = {
        "k.cpp": '#include "a.hpp"\nvoid kernel_main() { note(SIDE); }\n',
        "a.hpp": "#if defined(COMPILE_FOR_NCRISC)\n#define SIDE 2\n#else\n#define SIDE 1\n#endif\n",
    }
    write(tmp_path, files)
    for _ in range(2):
        assert notes(compile_file(tmp_path)) == [1]
        assert notes(compile_file(tmp_path, role=Role.NCRISC)) == [2]


def test_kernels_see_changed_headers(tmp_path: Path) -> None:
    """The same kernel is compiled anew."""
    write(tmp_path, {"k.cpp": '#include "a.hpp"\nvoid kernel_main() { note(A); }\n'})
    write(tmp_path, {"a.hpp": "#define A 1\n"})
    first = compile_file(tmp_path)
    assert compile_file(tmp_path) is first
    write(tmp_path, {"a.hpp": "#define A  22\n"})
    assert notes(compile_file(tmp_path)) == [22]


def test_what_is_not_used_may_be_anything(tmp_path: Path) -> None:
    """Items and bodies outside of the subset, names that nobody knows, text that is no C++."""
    header = (
        "auto strange = [] { return new int; }();\n"
        "void unused() { goto end; end:; }\n"
        "uint32_t unknown() { return not_declared(); }\n"
        "using Unknown = missing::type;\n"
        "int $$$ 3;\n"
        "namespace inner { concept C = true; inline uint32_t good() { return 6; } }\n"
        "uint32_t used() { return inner::good() + 1; }\n"
    )
    write(tmp_path, {"a.hpp": header})
    write(tmp_path, {"k.cpp": '#include "a.hpp"\nvoid kernel_main() { note(used()); }\n'})
    assert notes(compile_file(tmp_path)) == [7]


def test_messages_about_names_that_a_header_declares(tmp_path: Path) -> None:
    """They are about the header, and say how one gets there."""
    files = {
        "k.cpp": '#include "a.hpp"\n\nvoid kernel_main() {\n  note(make());\n}\n',
        "a.hpp": '#include "sub/b.hpp"\n',
        "sub/b.hpp": "int make() {\n  return new int;\n}\n",
    }
    write(tmp_path, files)
    first, *others = error_of(tmp_path).splitlines()
    assert first.startswith("sub/b.hpp:2:10: error: new is not supported here; supported are ")
    assert others == [
        "  return new int;",
        "         ^",
        "note: in file included from a.hpp:1:1",
        "note: in file included from k.cpp:1:1",
        "note: 'make' is used at " + f"{tmp_path}/k.cpp:4:8".replace(f"{tmp_path}/", ""),
    ]


def test_messages_about_items_that_cannot_be_read(tmp_path: Path) -> None:
    """An item that is not supported matters where its name is used."""
    files = {
        "k.cpp": '#include "a.hpp"\nvoid kernel_main() {\n  note(answer);\n}\n',
        "a.hpp": "namespace n { }\n\nint answer = new int;\n",
    }
    write(tmp_path, files)
    assert error_of(tmp_path).splitlines()[1:] == [
        "int answer = new int;",
        "             ^",
        "note: in file included from k.cpp:1:1",
        "note: 'answer' is used at k.cpp:3:8",
    ]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("note(twice(3));", "there is no function 'twice'"),
        ("note(LIMIT);", "'LIMIT' is not declared"),
        ("Thing t = {};", "there is no type 'Thing'"),
        ("using tools::thing;", "there is no 'tools::thing'"),
    ],
)
def test_names_of_headers_that_were_not_found(tmp_path: Path, statement: str, message: str) -> None:
    """The headers are named, with their lines and what to do."""
    text = f'#include "a.hpp"\n#include "far/b.hpp"\nvoid kernel_main() {{\n  {statement}\n}}\n'
    write(tmp_path, {"k.cpp": text, "a.hpp": "\n#include <c.hpp>\n"})
    first = error_of(tmp_path).splitlines()[0]
    assert first.startswith("k.cpp:4:")
    assert first.endswith(
        f"error: {message}; it may come from 'far/b.hpp' (line 2), 'c.hpp' (line 2 of a.hpp), "
        "which were not found: give their folders with -I or include_folders"
    )


def test_headers_outside_say_why_they_are_not_read(tmp_path: Path) -> None:
    """A path with `..` that leaves the folders needs another folder."""
    write(
        tmp_path,
        {
            "a.hpp": "#define A 1\n",
            "in/k.cpp": '#include "../a.hpp"\nvoid kernel_main() { note(A); }\n',
        },
    )
    root = tmp_path / "in"
    first = error_of(root).splitlines()[0]
    assert first == (
        "k.cpp:2:27: error: 'A' is not declared; it may come from '../a.hpp' (line 1), which was "
        f"not found ('{tmp_path}/a.hpp' lies outside of the given folders): give its folder with "
        "-I or include_folders"
    )
    assert notes(compile_file(root, "..")) == [1]


def test_a_kernel_alone_needs_no_header(tmp_path: Path) -> None:
    """A header that is not found is no error as long as nothing of it is used."""
    write(tmp_path, {"k.cpp": '#include "far.hpp"\nvoid kernel_main() { note(5); }\n'})
    assert notes(compile_file(tmp_path)) == [5]


EXP = """#include "{}"
#include <cstdint>
void kernel_main() {{
  exp_tile_init();
  exp_tile(0);
}}
"""


@pytest.mark.parametrize(
    ("header", "is_warned"),
    [
        ("compute_kernel_api/eltwise_unary/exp.h", False),
        ("api/compute/eltwise_unary/exp.h", False),
        ("compute_kernel_api.h", False),
        ("compute_kernel_api/eltwise_unary/sfpu_split_includes.h", False),
        ("compute_kernel_api/layernorm.h", False),
        ("compute_kernel_api/common.h", True),
        ("api/compute/matmul.h", True),
    ],
)
def test_calls_without_their_header(header: str, is_warned: bool) -> None:
    """A warning where no header is included that could declare the call."""
    kernel = compile_kernel(EXP.format(header), "k.cpp", Role.MATH, api=MathApi)
    expected = (
        "k.cpp:4:3: warning: 'exp_tile_init' is declared in "
        "'compute_kernel_api/eltwise_unary/exp.h', which this kernel does not include\n"
        "  exp_tile_init();\n  ^"
    )
    assert [str(each) for each in kernel.warnings] == [expected] * is_warned


def test_headers_that_are_not_found() -> None:
    """A warning at the include; calls may come from them, so nothing is said of these."""
    kernel = compile_kernel(EXP.format("not_found.h"), "k.cpp", Role.MATH, api=MathApi)
    first, *others = map(str, kernel.warnings)
    assert first.startswith(
        "k.cpp:1:1: warning: 'not_found.h' was not found; give its folder with -I or "
        'include_folders\n#include "not_found.h"'
    )
    assert others == []


def test_calls_that_all_headers_bring() -> None:
    """Circular buffers come with every header for compute kernels, and with none elsewhere."""
    text = '#include "{}"\nvoid kernel_main() {{ cb_wait_front(0, 1); cb_pop_front(0, 1); }}\n'
    for header, count in (
        ("compute_kernel_api/matmul.h", 0),
        ("cstdint", 1),
        ("dataflow_api.h", 1),
    ):
        kernel = compile_kernel(text.format(header), "k.cpp", Role.UNPACK, api=UnpackApi)
        assert len(kernel.warnings) == count
    kernel = compile_kernel(text.format("cstdint"), "k.cpp", Role.BRISC, api=DataMovementApi)
    assert not kernel.warnings


def run(kernel: Kernel, program: Program, count: int = 16) -> np.ndarray:
    """What a kernel writes to a page in DRAM."""
    device = CreateDevice(0)
    page = InterleavedBufferConfig(device=device, size=4 * count, page_size=4 * count)
    buffer = CreateBuffer(page)
    SetRuntimeArgs(program, kernel, CORE, [buffer])
    queue = device.command_queue()
    try:
        EnqueueProgram(queue, program)
        return EnqueueReadBuffer(queue, buffer)
    finally:
        CloseDevice(device)


WRITER = """#include "dataflow_api.h"
#include "numbers.hpp"

void kernel_main() {
  fill(get_arg_val<uint32_t>(0));
}
"""
NUMBERS = """#pragma once
inline void fill(uint32_t target) {
  volatile tt_l1_ptr uint32_t* p = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(MEM_ZEROS_BASE);
  noc_async_write(MEM_ZEROS_BASE, get_noc_addr_from_bank_id<true>(0, target), 64);
  noc_async_write_barrier();
}
"""


def test_programs_find_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the folder of the kernel, in those that the host gives, below TT_METAL_HOME."""
    write(
        tmp_path, {"near/w.cpp": WRITER, "near/numbers.hpp": NUMBERS, "home/kernels/v.cpp": WRITER}
    )
    write(tmp_path, {"home/ttnn/cpp/numbers.hpp": NUMBERS})
    config = ReaderDataMovementConfig()
    folder = tmp_path / "near"
    program = CreateProgram()
    kernel = CreateKernel(program, folder / "w.cpp", CORE, config)
    assert not run(kernel, program).any()
    program = CreateProgram()
    text = CreateKernelFromString(program, WRITER, CORE, config, include_folders=[folder])
    assert not run(text, program).any()
    monkeypatch.setenv("TT_METAL_HOME", str(tmp_path / "home"))
    program = CreateProgram()
    assert not run(CreateKernel(program, "kernels/v.cpp", CORE, config), program).any()


def test_texts_read_no_headers_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel in a string has no folder, whatever the current one is."""
    write(tmp_path, {"numbers.hpp": NUMBERS})
    monkeypatch.chdir(tmp_path)
    program = CreateProgram()
    kernel = CreateKernelFromString(program, WRITER, CORE, ReaderDataMovementConfig())
    with pytest.raises(SimError) as caught:
        run(kernel, program)
    assert str(caught.value).startswith(
        "kernel_0.cpp:5:3: error: there is no function 'fill'; it may come from 'numbers.hpp' "
        "(line 2), which was not found"
    )


@pytest.mark.parametrize(
    ("body", "message", "column"),
    [
        (
            "  uint32_t zero = target - target;\n  noc_async_write(4 / zero, 0, 64);\n",
            "division by",
            19,
        ),
        ("  noc_async_write(3, get_noc_addr_from_bank_id<true>(0, target), 64);\n", "", 3),
    ],
)
def test_findings_in_headers(tmp_path: Path, body: str, message: str, column: int) -> None:
    """What goes wrong while a program runs is at the line of the header."""
    text = f"#pragma once\n\ninline void fill(uint32_t target) {{\n  uint32_t note = 0;\n{body}}}\n"
    write(tmp_path, {"w.cpp": WRITER, "numbers.hpp": text})
    program = CreateProgram()
    kernel = CreateKernel(program, tmp_path / "w.cpp", CORE, ReaderDataMovementConfig())
    with pytest.raises(SimError) as caught:
        run(kernel, program)
    lines = str(caught.value).splitlines()
    line = 4 + len(body.splitlines())
    assert lines[0].startswith(f"{tmp_path}/numbers.hpp:{line}:{column}: error: {message}")
    assert lines[1] == "  " + text.splitlines()[line - 1]
    assert lines[2] == " " * (column + 1) + "^"


def test_errors_of_programs_keep_their_notes(tmp_path: Path) -> None:
    """The way from the kernel to the header is in the message of the host."""
    write(tmp_path, {"w.cpp": WRITER, "numbers.hpp": "void fill(uint32_t x) { new int; }\n"})
    program = CreateProgram()
    kernel = CreateKernel(program, tmp_path / "w.cpp", CORE, ReaderDataMovementConfig())
    with pytest.raises(SimError) as caught:
        run(kernel, program)
    assert str(caught.value).splitlines()[-2:] == [
        f"  note: in file included from {tmp_path}/w.cpp:2:1",
        f"  note: 'fill' is used at {tmp_path}/w.cpp:5:3",
    ]
