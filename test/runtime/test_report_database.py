"""Reports as ttnn writes them: `db.sqlite`, with the tables that ttnn-visualizer reads."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from samples.ttnn_program import ProgramBuilder

from ttmlir.cost import estimate_program
from ttmlir.runtime import read_binary
from ttmlir.runtime import report_database as reports
from ttmlir.runtime.report_database import report_database


def program() -> Any:
    """exp and abs of 640x1024 numbers of bf16."""
    b = ProgramBuilder()
    x = b.to_device(b.input((640, 1024), "bf16"))
    b.output(b.eltwise("Abs", [b.eltwise("Exp", [x], debug_info='%1 loc("net.py":12:3)')]))
    return read_binary(b.pack(), "exp.ttnn").program(0)


def database(found: bytes, path: Path) -> sqlite3.Connection:
    """The file, opened by SQLite."""
    path.write_bytes(found)
    return sqlite3.connect(path)


def test_operations_tensors_and_buffers(tmp_path: Path) -> None:
    """640 tiles of 2 KiB are 54 in each of 12 channels at most; both tensors live at `Abs`."""
    estimate = estimate_program(program(), "n150")
    timed = {each.index: (each.name, each.time.mid / 1e9) for each in estimate.operations}
    found = report_database(program(), estimate.machine.chip, timed)
    assert found == report_database(program(), estimate.machine.chip, timed)
    with database(found, tmp_path / "db.sqlite") as opened:
        names = [row[0] for row in opened.execute("SELECT name FROM operations")]
        assert {"ttnn.exp", "ttnn.abs"} <= set(names)
        number = names.index("ttnn.exp")
        [(duration,)] = opened.execute(
            "SELECT duration FROM operations WHERE operation_id = ?", (number,)
        )
        assert duration == timed[number][1] > 0
        sizes = opened.execute(
            "SELECT address, max_size_per_bank, buffer_type FROM buffers WHERE operation_id = ?",
            (names.index("ttnn.abs"),),
        ).fetchall()
        share = 54 * 2048
        assert sizes[:2] == [(0, share, 0), (share, share, 0)]
        [(line,)] = opened.execute(
            "SELECT stack_trace FROM stack_traces WHERE operation_id = ?", (number,)
        )
        assert line == 'File "net.py", line 12'
        described = opened.execute(
            "SELECT shape, dtype, layout, memory_config, storage_type FROM tensors"
        ).fetchall()
        assert ("Shape([640, 1024])", "DataType.BFLOAT16", "Layout.ROW_MAJOR", None, "HOST") in [
            *described
        ]
        placed = (
            "MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,"
            "buffer_type=BufferType::DRAM,shard_spec=std::nullopt)"
        )
        assert (
            *("Shape([640, 1024])", "DataType.BFLOAT16", "Layout.TILE", placed, "DEVICE"),
        ) in described
        [(version,)] = opened.execute("SELECT value FROM report_metadata")
        assert version == "3.5"


def test_the_columns_of_ttnn(tmp_path: Path) -> None:
    """Names in the order in which ttnn 0.81.1 makes them."""
    chip = estimate_program(program(), "n150").machine.chip
    with database(report_database(program(), chip, {}), tmp_path / "db.sqlite") as opened:
        columns = {
            table: [row[1] for row in opened.execute(f"PRAGMA table_info({table})")]
            for table in ("operations", "tensors", "buffers", "input_tensors")
        }
    assert columns == {
        "operations": ["operation_id", "name", "duration", "rank"],
        "tensors": [
            *("tensor_id", "shape", "dtype", "layout", "memory_config", "device_id", "address"),
            *("buffer_type", "rank", "storage_type"),
        ],
        "buffers": [
            *("operation_id", "device_id", "address", "max_size_per_bank", "buffer_type"),
            *("buffer_layout", "rank"),
        ],
        "input_tensors": ["operation_id", "input_index", "tensor_id", "rank"],
    }


def test_buffers_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of many operations with many tensors do not fill the disk."""
    monkeypatch.setattr(reports, "MAX_BUFFER_ROWS", 1)
    chip = estimate_program(program(), "n150").machine.chip
    with database(report_database(program(), chip, {}), tmp_path / "db.sqlite") as opened:
        [(count,)] = opened.execute("SELECT COUNT(*) FROM buffers")
    assert count == 1


def test_tensors_without_elements_have_no_buffers(tmp_path: Path) -> None:
    """Two of them do not share an address, by which one would be freed twice."""
    b = ProgramBuilder()
    for _ in range(2):
        b.output(b.to_device(b.input((0, 64), "bf16")))
    made = read_binary(b.pack(), "empty.ttnn").program(0)
    chip = estimate_program(program(), "n150").machine.chip
    with database(report_database(made, chip, {}), tmp_path / "db.sqlite") as opened:
        assert opened.execute("SELECT COUNT(*) FROM buffers").fetchone() == (0,)
        assert opened.execute("SELECT COUNT(*) FROM device_tensors").fetchone() == (0,)
