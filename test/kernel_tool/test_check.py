"""`ttmlir-kernel check`: verdicts, messages, summaries and roles."""

from __future__ import annotations

import json
import os
import re
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from ttmlir.kernel_tool import checking
from ttmlir.kernel_tool.checking import MACRO_DEFAULTS, KernelRole, find_cause, find_role, summarize
from ttmlir.optable.kernel import ALL_CALLS, Role
from ttmlir.sim.kernels import CompiledKernel
from ttmlir.sim.kernels.library import find_constant
from ttmlir.tools.ttmlir_kernel import main

Capture = pytest.CaptureFixture[str]

READER = """\
#include "dataflow_api.h"
void kernel_main() {
    constexpr uint32_t cb = get_compile_time_arg_val(0);
    constexpr auto layout = TensorAccessorArgs<1>();
    const auto source = TensorAccessor(layout, get_arg_val<uint32_t>(0), get_tile_size(cb));
    cb_reserve_back(cb, get_compile_time_arg_val(layout.next_compile_time_args_offset()));
    noc_async_read_page(0, source, get_write_ptr(cb));
    noc_async_read_barrier();
    cb_push_back(cb, 1);
}
"""
COMPUTE = """\
#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"
#include "compute_kernel_api/tile_move_copy.h"
namespace NAMESPACE {
void MAIN {
    unary_op_init_common(0, 16);
    cb_wait_front(0, 1);
    tile_regs_acquire();
    copy_tile(0, 0, 0);
    tile_regs_commit();
    tile_regs_wait();
    pack_tile(0, 16);
    tile_regs_release();
}
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, in which nothing is set."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TT_METAL_HOME", raising=False)
    return tmp_path


def check(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    """Exit status, output and errors."""
    status = main(["check", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def check_json(capsys: Capture, *arguments: str) -> list[dict[str, Any]]:
    """What `--json` prints."""
    return [json.loads(line) for line in check(capsys, "--json", *arguments)[1].splitlines()]


def test_kernels_in_folders_compile(folder: Path, capsys: Capture) -> None:
    """All `.cpp` files below a folder that have an entry; other files are no kernels."""
    inner = folder / "kernels" / "inner"
    inner.mkdir(parents=True)
    (folder / "kernels" / "take.cpp").write_text(READER)
    (inner / "copy.cpp").write_text(COMPUTE)
    (inner / "host.cpp").write_text("int main() { return 0; }")
    (inner / "text.txt").write_text("void kernel_main() {")
    status, printed, errors = check(capsys, "kernels")
    assert (status, errors) == (0, "")
    assert printed == (
        "2 of 2 kernels compile\n"
        "note: 1 kernel compiles with compile-time arguments that were not given, taken as 1; give "
        "them by --compile-args and --named-compile-args\n"
    )
    take, copy = check_json(capsys, "kernels")
    assert (take["role"], take["verdict"]) == ("reader", "compiles")
    assert take["assumed_args"] == [0, 1, 2]
    assert take["message"] is None
    assert take["line"] is None
    assert take["seconds"] > 0
    assert copy["file"] == os.path.join("kernels", "inner", "copy.cpp")
    assert (copy["role"], copy["assumed_args"]) == ("compute", [])


def test_errors_are_those_of_a_compiler(folder: Path, capsys: Capture) -> None:
    """Place, message, line, caret; then how many, and why."""
    (folder / "a.cpp").write_text(READER)
    (folder / "b.cpp").write_text("void kernel_main() {\n    uint32_t x = nothing + 1;\n}\n")
    (folder / "c.cpp").write_text("void kernel_main() { other(); }\n")
    status, printed, errors = check(capsys, "a.cpp", "b.cpp", "c.cpp")
    assert status == 1
    assert errors.startswith(
        "b.cpp:2:18: error: 'nothing' is not declared\n"
        "    uint32_t x = nothing + 1;\n"
        "                 ^\n"
        "c.cpp:1:22: error: there is no function 'other'"
    )
    assert printed.splitlines()[:3] == [
        "1 of 3 kernels compile",
        "     1 'nothing' is not declared",
        "     1 there is no function 'other'",
    ]
    _, wrong, _ = check_json(capsys, "a.cpp", "b.cpp", "c.cpp")
    assert wrong["verdict"] == "error"
    assert wrong["message"] == "'nothing' is not declared"
    assert (wrong["message_file"], wrong["line"], wrong["column"]) == ("b.cpp", 2, 18)


def test_a_mistake_in_a_template_is_said_once(folder: Path, capsys: Capture) -> None:
    """Whichever of the checks of templates that are not used finds it."""
    text = (
        "template <class T> void never() { nothing(3); }\n"
        "template <class T> struct Z { void f() { missing(1); other(2); } };\n"
        "void kernel_main() {}\n"
    )
    (folder / "a.cpp").write_text(text)
    errors = check(capsys, "a.cpp")[2].splitlines()
    assert [each for each in errors if "error:" in each] == [
        "a.cpp:1:35: error: 'nothing' is not declared",
        "a.cpp:2:42: error: 'missing' is not declared",
    ]


def test_a_kernel_that_the_build_would_call(folder: Path, capsys: Capture) -> None:
    """It is found in a folder, and its `kernel_main` is missed."""
    (folder / "one").mkdir()
    (folder / "one" / "a.cpp").write_text(
        '#include "experimental/kernel_args.h"\nTT_KERNEL void reader(uint32_t n) {}\n'
    )
    status, printed, errors = check(capsys, "one")
    assert (status, printed.splitlines()[0]) == (1, "0 of 1 kernel compiles")
    message = "this kernel has no 'void kernel_main()'; none is made for a TT_KERNEL, so write one"
    assert message in errors


def test_kernels_that_are_too_large_are_errors(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where nothing else is wrong, and all errors are wanted."""
    monkeypatch.setattr("ttmlir.sim.kernels.unit.MAX_STEPS", 9)
    (folder / "a.cpp").write_text(READER + "// Compiled nowhere else.\n")
    status, printed, errors = check(capsys, "a.cpp")
    assert status == 1
    assert re.match(r"a\.cpp:\d+:\d+: error: the kernel is too large: it has more than 9 ", errors)
    assert printed.startswith("0 of 1 kernel compiles")


def test_errors_in_headers_name_them(folder: Path, capsys: Capture) -> None:
    """A header beside the kernel, one of `-I`, and one that is not there."""
    (folder / "headers").mkdir()
    (folder / "headers" / "sum.h").write_text("inline uint32_t sum() { return missing; }\n")
    (folder / "k.cpp").write_text('#include "sum.h"\nvoid kernel_main() { uint32_t x = sum(); }\n')
    status, _, errors = check(capsys, "k.cpp")
    assert status == 1
    assert "it may come from 'sum.h' (line 1), which was not found" in errors
    (found,) = check_json(capsys, "-I", "headers", "k.cpp")
    assert found["message"] == "'missing' is not declared"
    assert found["message_file"] == os.path.join("headers", "sum.h")
    assert (found["line"], found["column"]) == (1, 32)


def test_compile_time_arguments(folder: Path, capsys: Capture) -> None:
    """Given ones decide; of others, a message says what they were taken as."""
    (folder / "k.cpp").write_text(
        "void kernel_main() {\n"
        "    constexpr uint32_t n = get_compile_time_arg_val(3);\n"
        '    constexpr uint32_t m = get_named_compile_time_arg_val("m");\n'
        "    static_assert(n * m == 12);\n"
        "}\n"
    )
    status, _, errors = check(capsys, "k.cpp")
    assert status == 1
    assert "k.cpp:4:5: error: " in errors
    assert errors.endswith(
        "note: compile-time arguments 3, 'm' are not given and taken as 1, layouts of tensors as "
        "interleaved in DRAM\n"
    )
    given = ("--compile-args", "0,0,0,0x4", "--named-compile-args", "m=3")
    status, printed, _ = check(capsys, *given, "k.cpp")
    assert (status, printed) == (0, "1 of 1 kernel compiles\n")


@pytest.mark.parametrize(
    ("use", "number"),
    [
        ("static_assert(n % 32 == 0);", 32),
        ('static_assert(n > 2, "more"); static_assert(n < 8);', 4),
        ("uint32_t x = 5 / (n - 1);", 2),
        ("uint32_t x[2]; x[2 - n] = 0; static_assert(n != 1);", 2),
    ],
)
def test_arguments_that_have_to_be_more_than_one(
    use: str, number: int, folder: Path, capsys: Capture
) -> None:
    """The first number that makes nothing wrong, and the summary says which."""
    entry = "void kernel_main() {{ constexpr uint32_t n = get_compile_time_arg_val({}); {} }}\n"
    (folder / "k.cpp").write_text(entry.format(1, use))
    (folder / "l.cpp").write_text(entry.format(0, ""))
    status, printed, errors = check(capsys, "k.cpp", "l.cpp")
    assert (status, errors) == (0, "")
    assert f"were not given, taken as 1 (x1), {number} (x1); give them by --comp" in printed
    first, second = check_json(capsys, "k.cpp", "l.cpp")
    assert (first["assumed_args"], first["assumed_number"]) == ([1], number)
    assert (second["assumed_args"], second["assumed_number"]) == ([0], 1)


def test_errors_are_those_with_the_first_number(folder: Path, capsys: Capture) -> None:
    """Where no number helps."""
    (folder / "k.cpp").write_text(
        "void kernel_main() { static_assert(get_compile_time_arg_val(0) == 3); }\n"
    )
    status, _, errors = check(capsys, "k.cpp")
    assert status == 1
    assert "compile-time argument 0 is not given and taken as 1, layouts" in errors


def test_boards_and_macros(folder: Path, capsys: Capture) -> None:
    """Both decide what is compiled."""
    (folder / "k.cpp").write_text(
        "#if !defined(ARCH_BLACKHOLE) || WIDTH != 7 || !NEEDED\n"
        '#error "not for this board"\n'
        "#endif\n"
        "void kernel_main() {}\n"
    )
    defines = ("-D", "WIDTH=7", "-DNEEDED")
    assert check(capsys, "k.cpp", *defines)[0] == 1
    assert check(capsys, "k.cpp", *defines, "--board", "p150")[0] == 0


def test_compute_kernels_compile_for_three_processors(folder: Path, capsys: Capture) -> None:
    """What only one of them sees is an error, too, with its name."""
    text = COMPUTE.replace("    pack_tile", "    MATH((nothing = 1));\n    pack_tile")
    (folder / "k.cpp").write_text(text)
    status, _, errors = check(capsys, "k.cpp")
    assert status == 1
    assert "error: 'nothing' is not declared" in errors
    assert errors.endswith("note: compiled for MATH\n")


def test_roles_can_be_given(folder: Path, capsys: Capture) -> None:
    """A compute kernel is none for a reader."""
    (folder / "k.cpp").write_text(COMPUTE)
    assert check(capsys, "--role", "compute", "k.cpp")[0] == 0
    (found,) = check_json(capsys, "--role", "reader", "k.cpp")
    assert (found["role"], found["verdict"]) == ("reader", "error")


@pytest.mark.parametrize(
    ("path", "text", "role"),
    [
        ("k.cpp", READER, KernelRole.READER),
        ("writer_k.cpp", READER, KernelRole.WRITER),
        ("writer_reader.cpp", READER, KernelRole.WRITER),
        ("reader.cpp", COMPUTE, KernelRole.COMPUTE),
        ("k.cpp", "void kernel_main() { noc_async_write(a, b, 32); }", KernelRole.WRITER),
        ("k.cpp", "void kernel_main() { /* noc_async_read(a) */ mul_tiles(0, 1, 0, 0, 0); }",
         KernelRole.COMPUTE),
        ("k.cpp", '#include "api/compute/pack.h"\nvoid kernel_main() {}', KernelRole.COMPUTE),
        ("compute/mover.cpp", '#include "api/dataflow/dataflow_api.h"\nvoid kernel_main() {}',
         KernelRole.READER),
        ("compute/a.cpp", "void kernel_main() {}", KernelRole.COMPUTE),
        ("dataflow/a.cpp", "void kernel_main() {}", KernelRole.READER),
    ],
)  # fmt: skip
def test_roles_are_found(path: str, text: str, role: KernelRole) -> None:
    """By the entry, the calls, the headers, the name, in this order."""
    assert find_role(text, path) is role


def test_a_defect_of_the_compiler_stops_no_other_kernel(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said to be one, and the exit status is 1."""

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by 0")

    (folder / "a.cpp").write_text(READER)
    (folder / "b.cpp").write_text(READER)
    monkeypatch.delenv("TTMLIR_DEBUG", raising=False)
    monkeypatch.setattr("ttmlir.kernel_tool.checking.compile_kernel", fail)
    status, printed, errors = check(capsys, "a.cpp", "b.cpp")
    assert status == 1
    assert errors.count("internal error: ZeroDivisionError: by 0") == 2
    assert errors.count("this is a mistake in ttmlir, not in the kernel") == 2
    assert printed.startswith("0 of 2 kernels compile\n     2 internal error")


def test_causes() -> None:
    """Names, numbers and advice do not tell causes apart; what all have is shown."""
    assert find_cause("no 'a' in 3; try 'b'") == ("no '...' in 0", ["'a'", "3"])
    messages = [
        *("there is no 'a'; see 'x'", "there is no 'b'", "there is no 'a'"),
        *("there is no 'c'", "there is no 'd'"),
        *("write '=' at 4", "write '=' at 5"),
        "a union",
    ]
    assert summarize(messages, 20) == (
        "12 of 20 kernels compile\n"
        "     5 there is no '...' (a x2, b, c, ...)\n"
        "     2 write '=' at N (4, 5)\n"
        "     1 a union"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.cpp"], "gone.cpp: error: there is no such file or folder"),
        (["empty"], "empty: error: no kernel is in this folder: no .cpp file below it says"),
        (["--board", "n7", "k.cpp"], "unknown board 'n7'; known are default, n150"),
        (["--compile-args", "1,x", "k.cpp"], "--compile-args takes whole numbers, not 'x'"),
        (["--compile-args", f"{1 << 32}", "k.cpp"], "has more than 32 bits"),
        (["--named-compile-args", "1", "k.cpp"], "--named-compile-args takes NAME=N, not '1'"),
        (["-D", "1=2", "k.cpp"], "-D takes NAME or NAME=VALUE, not '1=2'"),
        (["bytes.cpp"], "bytes.cpp: error: this is no UTF-8 text"),
        (["long.cpp"], "long.cpp: error: a kernel has at most 1048576 characters"),
    ],
)
def test_mistakes(arguments: list[str], message: str, folder: Path, capsys: Capture) -> None:
    """Each is said in a sentence, with status 1."""
    (folder / "empty").mkdir()
    (folder / "k.cpp").write_text("void kernel_main() {}")
    (folder / "bytes.cpp").write_bytes(b"\xff\xfe")
    (folder / "long.cpp").write_text(" " * ((1 << 20) + 1))
    status, _, errors = check(capsys, *arguments)
    assert status == 1
    assert message in errors
    assert "internal error" not in errors


def test_a_folder_is_checked_although_one_file_cannot_be_read(
    folder: Path, capsys: Capture
) -> None:
    """It counts as one that does not compile."""
    (folder / "a.cpp").write_bytes(b"void kernel_main() {} \xff")
    (folder / "b.cpp").write_text("void kernel_main() {}")
    status, printed, errors = check(capsys, ".")
    assert status == 1
    assert "a.cpp: error: this is no UTF-8 text" in errors
    assert printed == "1 of 2 kernels compile\n     1 this is no UTF-8 text\n"


_MISTAKES = """\
template <typename T> T twice(T x) { return nothing(x); }
void kernel_main() {
    uint32_t bad = missing + 1;
    uint32_t follows = bad * 2;
    for (uint32_t i = 0; i < 4; ++i) {
        cb_wait_front(0);
        if (i > follows) { bad++; }
        switch (i) { case 1: wrong(); break; default: break; }
    }
    new uint32_t;
    twice(3);
    auto add = [&](uint32_t x) { return x + unknown; };
    add(3);
}
"""


def test_all_errors_of_a_kernel_are_shown(folder: Path, capsys: Capture) -> None:
    """Statements that are wrong are left out, and what uses their names is no error of its own."""
    (folder / "reader.cpp").write_text(_MISTAKES)
    status, _, errors = check(capsys, "reader.cpp")
    assert status == 1
    places = [line.split(":")[1:3] for line in errors.splitlines() if ": error: " in line]
    assert places == [
        ["10", "5"],
        ["3", "20"],
        ["6", "9"],
        ["8", "30"],
        ["1", "45"],
        ["12", "45"],
    ]


def test_errors_end_with_the_twentieth(folder: Path, capsys: Capture) -> None:
    """In the text and in the JSON."""
    body = "".join(f"note{i}();\n" for i in range(30))
    (folder / "reader.cpp").write_text(f"void kernel_main() {{\n{body}}}\n")
    [found] = check_json(capsys, "reader.cpp")
    assert [each["line"] for each in found["errors"]] == list(range(2, 22))
    assert found["message"] == found["errors"][0]["message"]


def test_errors_say_for_which_processor_they_are(folder: Path, capsys: Capture) -> None:
    """Those of some of the three only."""
    (folder / "sum.cpp").write_text(
        "void kernel_main() {\n    PACK((nothing()));\n    MATH((nobody()));\n    never();\n}\n"
    )
    [found] = check_json(capsys, "--role", "compute", "sum.cpp")
    assert {each["line"]: each["processors"] for each in found["errors"]} == {
        2: ["pack"],
        3: ["math"],
        4: ["unpack", "math", "pack"],
    }
    _, _, errors = check(capsys, "--role", "compute", "sum.cpp")
    assert errors.count("note: compiled for PACK\n") == 1
    assert errors.count("note: compiled for") == 2


_REDUCING = """\
void kernel_main() {
    reduce_init<REDUCE_OP, REDUCE_DIM>(0, 1, 16);
    SFPU_OP_CHAIN_0
    cb_pop_front(0, 1);
}
"""


def test_macros_of_host_programs_have_defaults(folder: Path, capsys: Capture) -> None:
    """Where a kernel needs them; the summary says which, and those that are given hold."""
    (folder / "reduce.cpp").write_text(_REDUCING)
    (folder / "other.cpp").write_text(
        "void kernel_main() {\n#ifdef BCAST_OP\nnever();\n#endif\n}\n"
    )
    assert check(capsys, "--role", "compute", "other.cpp")[0] == 0
    status, summary, _ = check(capsys, "--role", "compute", "reduce.cpp")
    assert status == 0
    assert summary.endswith(
        "note: macros that were not given are assumed; give them by -D: "
        "REDUCE_DIM, REDUCE_OP, SFPU_OP_CHAIN_0\n"
    )
    [found] = check_json(capsys, "-D", "REDUCE_OP=PoolType::MAX", "--role", "compute", "reduce.cpp")
    assert found["assumed_macros"] == {"REDUCE_DIM": "ReduceDim::REDUCE_ROW", "SFPU_OP_CHAIN_0": ""}
    _, _, errors = check(capsys, "-D", "REDUCE_OP=nothing", "--role", "compute", "reduce.cpp")
    assert "error: 'nothing' is not declared" in errors
    assert errors.endswith("note: macros that are not given are taken as SFPU_OP_CHAIN_0\n")


def test_macros_are_noted_in_the_order_of_the_text(folder: Path, capsys: Capture) -> None:
    """Not in that in which they are missed; what only a header needs comes last."""
    (folder / "h.h").write_text("constexpr bool FAST = EXP_APPROX_MODE;\n")
    (folder / "k.cpp").write_text(
        '#include "h.h"\nvoid kernel_main() {\n    constexpr auto dim = REDUCE_DIM;\n'
        "    constexpr bool fast = FAST;\n    constexpr auto op = REDUCE_OP;\n    wrong(1);\n}\n"
    )
    _, _, errors = check(capsys, "--role", "compute", "k.cpp")
    assert errors.endswith(
        "note: macros that are not given are taken as REDUCE_DIM=ReduceDim::REDUCE_ROW, "
        "REDUCE_OP=PoolType::SUM, EXP_APPROX_MODE=false\n"
    ), errors


_REDUCE = "reduce_init<REDUCE_OP, REDUCE_DIM>(0, 1, 16);"


@pytest.mark.parametrize(
    ("line", "compilations", "errors"),
    [
        ("SFPU_OP_CHAIN_0", 2, []),
        (_REDUCE, 2, []),
        (f"MATH(({_REDUCE[:-1]}));", 2, []),
        (f"{_REDUCE} constexpr bool fast = EXP_APPROX_MODE;", 2, []),
        (f"{_REDUCE} wrong(1);", 2, ["there is no function 'wrong'"]),
        (
            "static_assert(get_compile_time_arg_val(0) == 3); wrong(1);",
            1,
            ["static_assert failed", "there is no function 'wrong'"],
        ),
        (f"static_assert(get_compile_time_arg_val(0) != 1); {_REDUCE}", 3, []),
        (
            f"static_assert(get_compile_time_arg_val(0) == 3); {_REDUCE}",
            5,
            ["static_assert failed"],
        ),
    ],
)
def test_macros_are_missed_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, line: str, compilations: int, errors: list[str]
) -> None:
    """Where a processor misses a macro, all are compiled with it only, also with other arguments.

    The first compilation ends there, and finds those that stand beside it.
    """
    kernel = folder / "kernel.cpp"
    text = COMPUTE.replace("pack_tile(0, 16);", f"{line} pack_tile(0, 16);")
    kernel.write_text(f'#include "compute_kernel_api/reduce.h"\n{text}')
    compiled: list[Role] = []
    compile_kernel = checking.compile_kernel

    def count(text: str, file: str, role: Role, **options: Any) -> CompiledKernel:
        compiled.append(role)
        return compile_kernel(text, file, role, **options)

    monkeypatch.setattr(checking, "compile_kernel", count)
    verdict = checking.check_kernel(str(kernel), checking.CheckOptions())
    assert [each.message for each in verdict.mistakes] == errors
    assert compiled == [Role.COMPUTE] * compilations


_SINGLE = """\
#ifdef {macro}
void only() {{ static_assert(get_compile_time_arg_val(0) == {number}); }}
#else
void only() {{}}
#endif
"""


@pytest.mark.parametrize(
    ("macro", "number", "compiled", "wrong"),
    [
        ("TRISC_PACK", 1, "COMPUTE MATH UNPACK PACK", []),
        ("TRISC_PACK", 2, "COMPUTE MATH UNPACK PACK, PACK MATH UNPACK", []),
        ("TRISC_MATH", 4, "COMPUTE MATH, MATH, MATH UNPACK PACK", []),
        ("TRISC_MATH", 3, "COMPUTE MATH, MATH, MATH, MATH, UNPACK PACK", ["MATH"]),
    ],
)
def test_other_arguments_are_compiled_first_where_something_is_wrong(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    macro: str,
    number: int,
    compiled: str,
    wrong: list[str],
) -> None:
    """The other processors follow where nothing is wrong, or with the first number in the end."""
    (folder / "kernel.cpp").write_text(
        _SINGLE.format(macro=macro, number=number)
        + COMPUTE.replace("pack_tile(0, 16);", "only(); pack_tile(0, 16);")
    )
    order: list[tuple[str | None, int]] = []
    compile_kernel = checking.compile_kernel

    def count(text: str, file: str, role: Role, **options: Any) -> CompiledKernel:
        order.append((role.name, options["assume_arguments"]))
        return compile_kernel(text, file, role, **options)

    monkeypatch.setattr(checking, "compile_kernel", count)
    verdict = checking.check_kernel("kernel.cpp", checking.CheckOptions())
    assert [each for mistake in verdict.mistakes for each in mistake.processors] == wrong
    groups = [[name or "" for name, _ in some] for _, some in groupby(order, lambda each: each[1])]
    assert ", ".join(map(" ".join, groups)) == compiled


def test_defaults_of_macros_compile() -> None:
    """Each is one that the table of calls, or of enumerators, has a meaning for."""
    calls = {call.cpp for call in ALL_CALLS}
    for name, each in MACRO_DEFAULTS.items():
        words = re.findall(r"\b[A-Za-z_]\w*(?:::\w+)*", each.value)
        known = [w for w in words if w in ("true", "false") or find_constant(w) or w in calls]
        of_kernels = ("add_tiles_bcast", "fill_tile_with_first_")
        assert words == known or each.value.startswith(of_kernels), name


_PASTED = """\
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define PREPARE(input) PASTE(PREPARE_, input)
#define PREPARE_0 cb_push_back(0, 1)
#define PREPARE_1 cb_push_back(1, 1)
void kernel_main() {
#if SRC_BCAST
    constexpr uint32_t left = 5;
#endif
#if SRC_BCAST_B
    constexpr uint32_t left = 6;
#endif
    cb_wait_front(left, 1);
    PREPARE(BCAST_INPUT);
}
"""


def test_macros_that_declare_or_are_pasted(folder: Path, capsys: Capture) -> None:
    """One of two inputs is broadcast."""
    (folder / "k.cpp").write_text(_PASTED)
    [found] = check_json(capsys, "--role", "reader", "k.cpp")
    assert found["verdict"] == "compiles", found
    assert found["assumed_macros"] == {"BCAST_INPUT": "0", "SRC_BCAST": "1"}
    [found] = check_json(capsys, "--role", "reader", "-D", "SRC_BCAST_B=1", "k.cpp")
    assert found["assumed_macros"] == {"BCAST_INPUT": "0"}


WARNED = """\
#include "compute_kernel_api/common.h"
void kernel_main() {
    exp_tile_init();
}
"""


def test_warnings_are_shown_and_do_not_fail(folder: Path, capsys: Capture) -> None:
    """On stderr as a compiler prints them, once for all processors; in JSON, too."""
    (folder / "warned.cpp").write_text(WARNED)
    (folder / "unfound.cpp").write_text('#include "nowhere.hpp"\nvoid kernel_main() {}\n')
    status, printed, errors = check(capsys, "warned.cpp", "unfound.cpp")
    assert (status, printed.splitlines()[0]) == (0, "2 of 2 kernels compile")
    assert errors == (
        "warned.cpp:3:5: warning: 'exp_tile_init' is declared in "
        "'compute_kernel_api/eltwise_unary/exp.h', which this kernel does not include\n"
        "    exp_tile_init();\n    ^\n"
        "unfound.cpp:1:1: warning: 'nowhere.hpp' was not found; give its folder with -I or "
        'include_folders\n#include "nowhere.hpp"\n^\n'
    )
    status, printed, errors = check(capsys, "--json", "warned.cpp")
    (warning,) = json.loads(printed)["warnings"]
    assert (status, errors) == (0, "")
    assert warning.startswith("warned.cpp:3:5: warning: 'exp_tile_init'")


NAMED = """\
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    constexpr uint32_t count = get_arg(args::count);
    DataflowBuffer in(dfb::in);
    Semaphore<> ready(sem::ready);
    const auto source = TensorAccessor(tensor::source);
    Noc noc;
    in.reserve_back(count);
    noc.async_read(source, in, in.get_entry_size(), {.page_id = get_arg(args::first)}, {});
    noc.async_read_barrier();
    in.push_back(count + get_vararg(0));
}
"""


def test_names_of_a_host_program_are_assumed(folder: Path, capsys: Capture) -> None:
    """They are listed with the arguments that were not given."""
    (folder / "named.cpp").write_text(NAMED)
    status, printed, errors = check(capsys, "--json", "--role", "reader", "named.cpp")
    assert (status, errors) == (0, "")
    assert json.loads(printed)["assumed_args"] == [
        *("args::count", "args::first", "dfb::in", "sem::ready", "tensor::source"),
    ]


def test_folders_of_headers_that_there_are_not(folder: Path, capsys: Capture) -> None:
    """Misspelt folders are errors, for both commands."""
    (folder / "take.cpp").write_text(READER)
    for arguments in (["check", "-I", "incldue", "take.cpp"], ["run", "-I", "take.cpp", "x.toml"]):
        assert main(arguments) == 1
        assert "there is no folder '" in capsys.readouterr().err


DIFFERING = (
    ("undeclared();", "", "UNPACK MATH PACK"),
    ("MATH((undeclared()));", "", "MATH"),
    ("MATH(undeclared();)", "", "MATH"),
    ("uint32_t x = 0; MATH((x = 1)); UNPACK(x += 2;)", "", ""),
    ("UNPACK(uint32_t a = 1;) a + 1;", "", "MATH PACK"),
    ("UNPACK(uint32_t a = 1;) PACK(uint32_t b = a;)", "", "PACK"),
    ("uint32_t x = MATH(1 +) 2;", "", ""),
    ("uint32_t x = MATH(1);", "", "UNPACK PACK"),
    ("MATH(static_assert(false);)", "", "MATH"),
    ("MATH(if (undeclared)) PACK({}) ;", "", "MATH"),
    ("static_assert(PROCESSOR_INDEX == 3);", "", "UNPACK PACK"),
    ("#ifdef TRISC_MATH\nundeclared();\n#endif", "", "MATH"),
    ("#if defined(TRISC_UNPACK)\n#elif defined(TRISC_MATH)\n#else\nbad();\n#endif", "", "PACK"),
    (
        "#if defined(TRISC_UNPACK) || defined(TRISC_MATH) || defined(TRISC_PACK)\nbad();\n#endif",
        "",
        "UNPACK MATH PACK",
    ),
    ("#if PROCESSOR_INDEX == 2\nbad();\n#endif", "", "UNPACK"),
    ("f();", "inline void f() {\n#ifdef TRISC_PACK\nbad();\n#endif\n}", "PACK"),
    ("", "inline void f() {\n#ifdef TRISC_PACK\nbad();\n#endif\n}", ""),
    ("f();", "inline void f() { PACK((bad())); MATH(bad();) }", "MATH PACK"),
    ("f();", "inline void f() {}\n#ifdef TRISC_PACK\n#include <cstdint>\n#endif", ""),
    ("S s; s.m = 1;", "struct S {\n#ifdef TRISC_MATH\nint m;\n#endif\nint n;\n};", "UNPACK PACK"),
    (
        "static_assert(size == 1);",
        "constexpr uint32_t size =\n#ifdef TRISC_UNPACK\n0\n#else\n1\n#endif\n;",
        "UNPACK",
    ),
    (
        "static_assert(size() == 1);",
        "constexpr uint32_t size() {\n#ifdef TRISC_UNPACK\nreturn 0;\n#else\nreturn 1;\n#endif\n}",
        "UNPACK",
    ),
    ("f(1);", "template <class T> void f(T x) { MATH((x.bad())); }", "MATH"),
    ("MATH((f(1)));", "template <class T> void f(T x) { x.bad(); }", "MATH"),
    ("MATH((f()));", "inline void f() { bad(); }", "MATH"),
    ("MATH((f())); f();", "inline void f() { bad(); }", "UNPACK MATH PACK"),
)
"""What is in a kernel and in a header, and the processors for which something is wrong."""


@pytest.mark.parametrize(("body", "header", "wrong"), DIFFERING)
def test_processors_may_differ(folder: Path, body: str, header: str, wrong: str) -> None:
    """What is wrong for some processors only is said of these, and of no others."""
    (folder / "part.hpp").write_text(f"#pragma once\n{header}\n")
    kernel = folder / "kernel.cpp"
    kernel.write_text(f'#include "part.hpp"\nvoid kernel_main() {{\n{body}\n}}\n')
    options = checking.CheckOptions(role=KernelRole.COMPUTE)
    verdict = checking.check_kernel(str(kernel), options)
    found = {name for mistake in verdict.mistakes for name in mistake.processors}
    assert found == set(wrong.split()), verdict.text
    assert verdict.compiles == (not wrong)
