"""`.ttsys` files of 2026: what the compiler in jax-tt-plugin 0.1.3 writes for two cards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ttmlir.layout.late_machine import (
    any_system_from_table,
    late_board,
    late_system_to_table,
)
from ttmlir.runtime.errors import BinaryError
from ttmlir.runtime.system_desc import comparable_system_desc, find_system
from ttmlir.runtime.ttrt.reports import section_text
from ttmlir.schema import FlatbufferError, load_schema
from ttmlir.schema.versions import (
    LATER_SYSTEM_SCHEMA,
    load_system_desc,
    pack_later_system_desc,
)

INPUTS = Path(__file__).parent / "Inputs"
BOARDS = ["n150", "p150"]


def _bytes(board: str) -> bytes:
    return (INPUTS / f"{board}.ttsys").read_bytes()


@pytest.mark.parametrize("board", BOARDS)
def test_the_file_is_the_same(board: str) -> None:
    """Read as the system that is known here, and written with the same fields."""
    theirs = load_system_desc(_bytes(board), board).root
    assert any_system_from_table(theirs.system_desc) == late_board(board)
    table = late_system_to_table(late_board(board))
    ours = load_system_desc(pack_later_system_desc(table), board).root
    assert ours.as_dict() == theirs.as_dict()
    assert find_system(INPUTS / f"{board}.ttsys") == late_board(board)


def test_sections() -> None:
    """What `ttrt read` says of it."""
    data = _bytes("p150")
    assert "board 'p150', a chip of blackhole with 10x13 cores" in section_text(
        "p150.ttsys", data, "summary"
    )
    assert f"schema hash: {LATER_SYSTEM_SCHEMA.digest}" in section_text("f", data, "version")
    assert '"dram_grid_size"' in section_text("f", data, "system_desc")


def test_a_query_writes_it(tmp_path: Path) -> None:
    """Files of 2026 match it, and the pipeline compiles for it."""
    query = "ttrt query --spelling 2026 --board p150 --quiet --save-artifacts"
    _run(query, tmp_path)
    path = tmp_path / "ttrt-artifacts" / "system_desc.ttsys"
    written = load_system_desc(path.read_bytes(), "written").root
    assert any_system_from_table(written.system_desc) == late_board("p150")
    text = 'func.func @main(%x: tensor<33x70xf32>) -> tensor<33x70xf32> {\n  %0 = "ttir.exp"(%x)'
    text += " : (tensor<33x70xf32>) -> tensor<33x70xf32>\n  return %0 : tensor<33x70xf32>\n}\n"
    (tmp_path / "exp.mlir").write_text(text)
    pipeline = f"--ttir-to-ttnn-backend-pipeline=spelling=2026 system-desc-path={path}"
    command = [
        sys.executable,
        "-m",
        "ttmlir.tools.ttmlir_opt",
        pipeline,
        "exp.mlir",
        "-o",
        "t.mlir",
    ]
    subprocess.run(command, check=True, cwd=tmp_path)
    assert "{arch = <blackhole>, grid = 10x13, " in (tmp_path / "t.mlir").read_text()
    _run("ttmlir-translate --ttnn-to-flatbuffer t.mlir -o t.ttnn", tmp_path)
    found = _run(f"ttrt check --system-desc {path} t.ttnn", tmp_path)
    assert "system description matches" in found
    assert "grid_size" in comparable_system_desc(path)["chip_descs"][0]


def _run(command: str, folder: Path) -> str:
    name, *rest = command.split()
    module = "ttrt" if name == "ttrt" else "ttmlir.tools." + name.replace("-", "_")
    return _run_module(module, rest, folder)


def _run_module(module: str, arguments: list[str], folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    """Impossible chips, missing fields, and another digest."""
    schema = load_schema(LATER_SYSTEM_SCHEMA.path)
    table = late_system_to_table(late_board("p150"))
    table["chip_descs"][0]["grid_size"] = (1 << 30, 1 << 30)
    path = tmp_path / "large.ttsys"
    path.write_bytes(pack_later_system_desc(table))
    with pytest.raises(BinaryError, match="rows of worker cores; supported are 1 to"):
        find_system(path)
    del table["chip_descs"][0]["dram_grid_size"]
    path.write_bytes(pack_later_system_desc(table))
    with pytest.raises(BinaryError, match=r"lacks the field ChipDesc\.dram_grid_size"):
        comparable_system_desc(path)
    other = schema.pack({"version": (0, 0, 0), "schema_hash": "ab" * 32})
    with pytest.raises(FlatbufferError, match="the later schemas that are read are f0b54f1568f8"):
        load_system_desc(other, "other.ttsys")
