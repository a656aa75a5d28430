"""The decorators: what they print, keep and compile again."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest
from running.python_source import load_module

from ttmlir.frontend.pykernel.builder import (
    Arguments,
    CircularBuffer,
    CompiledValue,
    CompileTimeValue,
    TensorAccessorConfig,
)
from ttmlir.frontend.pykernel.compilation import (
    Kernel,
    compute_thread,
    reader_thread,
    ttkernel_compile,
    ttkernel_noc_compile,
    ttkernel_tensix_compile,
    writer_thread,
)
from ttmlir.layout.enums import DataType

NAMES = {
    "CircularBuffer": CircularBuffer,
    "CompiledValue": CompiledValue,
    "compute_thread": compute_thread,
    "reader_thread": reader_thread,
    "ttkernel_compile": ttkernel_compile,
}

EXP = """@compute_thread({options})
def exp(cb_in: CircularBuffer, cb_out: CircularBuffer, count, size: CompiledValue):
    unary_op_init_common(cb_in, cb_out)
    for i in range(0, count, 1):
        cb_reserve_back(cb_out, size)
        for j in range(0, size, 1):
            tile_regs_acquire()
            cb_wait_front(cb_in, 1)
            copy_tile(cb_in, 0, 0)
            exp_tile_init()
            exp_tile(0)
            tile_regs_commit()
            tile_regs_wait()
            pack_tile(0, cb_out, 0)
            cb_pop_front(cb_in, 1)
            tile_regs_release()
        cb_push_back(cb_out, size)
    return
"""


def exp(options: str = "") -> Any:
    """The compute kernel of the guide."""
    return load_module(EXP.format(options=options), "exp.py", **NAMES)["exp"]


def compiled(kernel: Any) -> Kernel:
    """The kernel for two circular buffers."""
    return kernel(CircularBuffer(0), CircularBuffer(16), 4, size=1)


def test_a_call_is_quiet_and_gives_cpp(capsys: pytest.CaptureFixture[str]) -> None:
    """The text of tt-metal: headers, MAIN, calls."""
    text = compiled(exp())
    assert capsys.readouterr() == ("", "")
    assert isinstance(text, str)
    calls = re.findall(r"(\w+)\(", text.partition("void kernel_main() {")[2])
    wanted = [
        *("unary_op_init_common", "cb_reserve_back", "tile_regs_acquire"),
        *("cb_wait_front", "copy_tile", "exp_tile_init", "exp_tile", "tile_regs_commit"),
        *("tile_regs_wait", "pack_tile", "cb_pop_front", "tile_regs_release", "cb_push_back"),
    ]
    assert [each for each in calls if each in wanted] == wanted
    assert '#include "compute_kernel_api/eltwise_unary/exp.h"' in text
    assert "void MAIN { kernel_main(); }" in text
    assert "::tt::CB v2 = ::tt::CB::c_out0;" in text


def test_verbose_prints_the_ir_and_puts_lines_into_the_cpp(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Headers of loops and assignments are comments."""
    text = compiled(exp("verbose=True"))
    printed = capsys.readouterr().out
    assert printed == text.late_ir
    assert 'emitc.verbatim "// for i in range(0, count, 1):"' in printed
    assert "  // for i in range(0, count, 1):\n" in text


def test_a_kernel_without_type_prints_its_ir(capsys: pytest.CaptureFixture[str]) -> None:
    """That is all it is for."""
    module = load_module("@ttkernel_compile()\ndef f():\n    a = 1\n    return\n", **NAMES)
    text = module["f"]()
    assert capsys.readouterr().out == text == text.ir
    assert "func.func @f() {" in text


def test_optimize_leaves_no_constant_twice() -> None:
    """Passes run on the IR."""
    plain, optimized = compiled(exp()).ir, compiled(exp("optimize=True")).ir
    assert plain.count("arith.constant") > optimized.count("arith.constant") > 0


def test_every_line_of_cpp_knows_its_line_of_python() -> None:
    """And the column of the call."""
    text = compiled(exp())
    lines = EXP.splitlines()
    for number, line in enumerate(text.splitlines(), 1):
        call = re.search(r"\b(\w+_\w+)\(", line)
        position = text.source_map.position(number)
        if call is not None and call[1] != "kernel_main" and "get_" not in line:
            assert lines[position.line - 1][position.column - 1 :].startswith(call[1])
        assert position.file == "exp.py"


def test_a_kernel_is_compiled_once_for_each_form_of_its_arguments() -> None:
    """Run-time arguments take no part; constants, formats and kinds of arguments do."""
    kernel = exp()
    first = compiled(kernel)
    assert kernel(CircularBuffer(0), CircularBuffer(16), 99, size=1) is first
    assert kernel(CircularBuffer(0), CircularBuffer(16), 4, size=2) is not first
    assert (
        kernel(CircularBuffer(0, (32, 32), "BFloat16"), CircularBuffer(16), 4, size=1) != first.ir
    )
    per_core = kernel(CircularBuffer(0), CircularBuffer(16), [[4]], size=1)
    assert "get_arg_val<uint32_t>" in per_core
    assert "get_common_arg_val<uint32_t>" in first


def test_a_truth_value_is_another_constant_than_1() -> None:
    """`True == 1` in Python, but they are i1 and i32 in the IR."""
    text = "@reader_thread()\ndef k(flag: CompiledValue):\n    x = flag\n"
    kernel = load_module(text, **NAMES)["k"]
    assert "int32_t v1 = 1;" in kernel(flag=1)
    assert "bool v1 = true;" in kernel(flag=True)


def test_constants_and_functions_of_the_module_are_part_of_the_source() -> None:
    """When they change, the kernel is compiled again, and its hash is another."""
    text = "N = 3\ndef f(x):\n    return x + N\n@reader_thread()\ndef k(p):\n    a = f(p)\n"
    module = load_module(text, **NAMES)
    kernel = module["k"]
    first, first_hash = kernel(1), kernel.source_hash
    assert kernel(1) is first
    module["N"] = 4
    assert "= 4;" in kernel(1)
    assert kernel.source_hash != first_hash
    module["N"] = 3
    assert kernel(1) is first
    other = load_module("def f(x):\n    return x - 1\n", **NAMES)
    module["f"] = other["f"]
    assert kernel(1) != first


def test_the_body_is_never_run() -> None:
    """Compiling reads the source alone."""
    text = "@reader_thread()\ndef k(p):\n    while True:\n        a = p\n"
    assert "while (true)" in load_module(text, **NAMES)["k"](1)


def test_dump(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    """To the terminal and to files; a kernel can be made of a text, too."""
    text = compiled(exp())
    text.dump()
    assert capsys.readouterr().out == text
    assert text.dump_to_file(tmp_path / "sub" / "x.cpp").read_text() == text
    monkeypatch.chdir(tmp_path)
    assert Kernel("../own", "void kernel_main() {}\n").dump_to_file().parent == Path()
    assert len(list(tmp_path.glob("*.cpp"))) == 1


@pytest.mark.parametrize(
    ("decorator", "kind", "thread"),
    [
        (compute_thread, "compute", "compute"),
        (reader_thread, "noc", "reader"),
        (writer_thread, "noc", "writer"),
        (ttkernel_tensix_compile, "compute", "compute"),
        (ttkernel_noc_compile, "noc", ""),
    ],
)
def test_threads(decorator: Any, kind: str, thread: str) -> None:
    """Each decorator has its kind of kernel and its thread."""
    function = load_module("def k():\n    pass\n")["k"]
    kernel = decorator(verbose=False, optimize=True)(function)
    assert (kernel.kernel_type, kernel.thread_type) == (kind, thread)
    assert kernel.__name__ == "k"


def test_circular_buffer() -> None:
    """As in tt-mlir: the shape in tiles, and the type in the IR."""
    cb = CircularBuffer(3, (2, 64, 96), "BFloat16")
    assert (cb.tile_shape, cb.tilized_shape) == (32, [2, 2, 3])
    assert cb.type.buffer.data.page_size == 2048
    assert CircularBuffer(0).tilized_shape == [8, 4, 4]
    assert CircularBuffer(0, (33, 5)).tilized_shape == [2, 1]
    assert CircularBuffer(0, (32, 32), DataType.BFP_BF8.name).dtype == "BFP_BF8"
    with pytest.raises(ValueError, match="circular buffer 32 does not exist"):
        CircularBuffer(32)
    with pytest.raises(ValueError, match="unknown format 'bfloat' of a circular buffer"):
        CircularBuffer(0, dtype="bfloat")
    assert CompiledValue is CompileTimeValue


def test_arguments() -> None:
    """Numbers for each core of a grid."""
    arguments = Arguments(2, 3)
    arguments.set_args_at_core(1, 2, [5])
    arguments.add_args_at_core(1, 2, [6, 7])
    assert arguments.get_args(1, 2) == [5, 6, 7]
    assert arguments.get_all_args() == [[[], [], []], [[], [], [5, 6, 7]]]
    arguments.make_common(4)
    assert (arguments.is_common, arguments.common_idx) == (True, 4)
    with pytest.raises(ValueError, match=r"core \(2, 0\) is outside of the 2x3 cores"):
        arguments.get_args(2, 0)
    assert TensorAccessorConfig.Sharded | TensorAccessorConfig.IsDram == 3


def test_compiling_takes_less_than_50_ms() -> None:
    """The kernel of the guide, the best of several times."""
    times = list[float]()
    for _ in range(5):
        kernel = exp()
        start = time.process_time()
        compiled(kernel)
        times.append(time.process_time() - start)
    assert min(times) < 0.05
