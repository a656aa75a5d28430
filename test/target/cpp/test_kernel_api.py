"""Kernels for tt-metal of 2026, from modules that give those of 2024, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from ttmlir.compiler import write_kernels
from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.tools.ttmlir_translate import main

HEAD = """
!cb = !ttkernel.cb<cb_out1, 4096, memref<1x1x!tt.tile<32x32, f32>, #tt.memory_space<l1>>, 4096, 1>
func.func @kernel(%cb: !cb) attributes {{ttkernel.thread = #ttkernel.thread<{thread}>}} {{
  %i = arith.constant 3 : i32
"""


def module(*lines: str, thread: str = "tensix") -> str:
    """The text of a kernel with circular buffer 17 and the number 3."""
    body = (*lines, '"ttkernel.return"() : () -> ()', "}")
    return HEAD.format(thread=thread) + "\n".join(body)


def written(*lines: str, thread: str = "tensix", api: str = "2026") -> str:
    """The C++ of that kernel."""
    text = module(*lines, thread=thread)
    return write_kernels(parse_module(text, "k.mlir", make_context(DIALECTS)), kernel_api=api)


def test_compute_kernel() -> None:
    """It is a plain function; circular buffers are numbers; it names the headers of its calls."""
    assert (
        written('"ttkernel.copy_tile_init"(%cb) : (!cb) -> ()')
        == """#include <cstdint>
#include "api/compute/common.h"
#include "api/compute/tile_move_copy.h"
void kernel_main() {
  constexpr uint32_t v1 = 17;
  int32_t v2 = 3;
  copy_init(v1);
  return;
}

"""
    )


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (
            '"ttkernel.mm_init"(%cb, %cb, %cb, %i) : (!cb, !cb, !cb, i32) -> ()',
            "compute_kernel_hw_startup<SrcOrder::Reverse>(v1, v1, v1);\n  matmul_init(v1, v1, v2);",
        ),
        (
            '"ttkernel.binary_op_init_common"(%cb, %cb, %cb) : (!cb, !cb, !cb) -> ()',
            "compute_kernel_hw_startup(v1, v1, v1);",
        ),
        (
            '"ttkernel.left_shift_tile"(%i, %i) : (i32, i32) -> ()',
            "left_shift_tile<DataFormat::Int32>(v2, v2);",
        ),
        (
            '"ttkernel.add_tiles_init"(%cb, %cb) : (!cb, !cb) -> ()',
            "add_init(v1, v1);",
        ),
        (
            '"ttkernel.transpose_wh_init"(%cb, %cb) : (!cb, !cb) -> ()',
            "compute_kernel_hw_startup(v1, v1);\n  transpose_init(v1);",
        ),
        (
            '"ttkernel.logical_not_tile_int32"(%i) : (i32) -> ()',
            "logical_not_tile<DataFormat::Int32>(v2);",
        ),
        (
            '"ttkernel.binary_dest_reuse_tiles_init"(%cb) <{eltwise_binary_type = "ELWMUL", '
            'reuse_type = "DEST_TO_SRCB"}> : (!cb) -> ()',
            "mul_reuse_dest_init<EltwiseBinaryReuseDestType::DEST_TO_SRCB>(v1);",
        ),
        (
            "%0 = arith.cmpi slt, %i, %i : i32",
            "bool v3 = false;",
        ),
    ],
)
def test_calls(op: str, expected: str) -> None:
    """Calls have today's names and operands; a comparison with itself would be a warning."""
    assert f"  {expected}\n  return;" in written(op)


def test_printing() -> None:
    """Texts are formatted; braces that are no places are doubled."""
    text = written('"ttkernel.dprint"(%i) <{fmt = "{a} {}\\n"}> : (i32) -> ()', thread="noc")
    assert '#include "api/dataflow/dataflow_api.h"\n#include "api/debug/device_print.h"\n' in text
    assert '  DEVICE_PRINT("{{a}} {}\\n", v2);\n' in text


def test_2024() -> None:
    """The other form is as it was."""
    text = written('"ttkernel.copy_tile_init"(%cb) : (!cb) -> ()', api="2024")
    assert "  ::tt::CB v1 = ::tt::CB::c_out1;\n" in text
    assert "  copy_tile_init(v1);\n" in text
    assert text == write_kernels(
        parse_module(
            module('"ttkernel.copy_tile_init"(%cb) : (!cb) -> ()'),
            "k.mlir",
            make_context(DIALECTS),
        )
    )


def test_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The tool takes the year; another one is refused."""
    path = tmp_path / "k.mlir"
    path.write_text(module())
    assert main(["--ttkernel-to-cpp", "--kernel-api=2026", str(path)]) == 0
    assert "constexpr uint32_t v1 = 17;" in capsys.readouterr().out
    assert main(["--ttkernel-to-cpp", "--kernel-api=2023", str(path)]) == 1
    assert "'2023' is no form of kernels; write 2024 or 2026" in capsys.readouterr().err
