"""`ttrt perf --device`, the memory section of `ttrt read`, and what `ttrt check` says of memory."""

from __future__ import annotations

import csv
import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from samples.ttnn_program import ProgramBuilder

from ttmlir.tools.ttrt import main

Capture = pytest.CaptureFixture[str]
PERF = Path("ttrt-artifacts/exp.ttnn/perf")


@pytest.fixture(autouse=True)
def in_a_folder_with_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """exp.ttnn computes exp of 640x1024 numbers of bf16."""
    monkeypatch.chdir(tmp_path)
    b = ProgramBuilder()
    b.output(b.eltwise("Exp", [b.to_device(b.input((640, 1024), "bf16"))]))
    Path("exp.ttnn").write_bytes(b.pack())


def test_a_table_and_three_files(capsys: Capture) -> None:
    """Nothing runs; the CSV has rows of estimates."""
    assert main(["perf", "--device", "exp.ttnn"]) == 0
    shown = capsys.readouterr().out
    assert "exp.ttnn: estimated for the device" in shown
    assert "forward on n150: " in shown
    assert "tables, JSON and traces of the estimate: " in shown
    with (PERF / "ops_perf_results.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["OP TYPE"] for row in rows} == {"estimated"}
    document = json.loads((PERF / "estimate_0_forward.json").read_text("utf-8"))
    assert document["board"] == "n150"
    assert "traceEvents" in json.loads((PERF / "trace_0_forward.json").read_text("utf-8"))


def test_a_board_is_estimated_whatever_the_file_was_compiled_for(capsys: Capture) -> None:
    """By name, or by the path of a description."""
    assert main(["perf", "--device", "--board", "p150", "exp.ttnn"]) == 0
    assert "forward on p150: " in capsys.readouterr().out
    assert main(["query", "--board", "p100", "--save-artifacts", "--quiet"]) == 0
    path = "ttrt-artifacts/system_desc.ttsys"
    assert main(["perf", "--device", "--board", path, "exp.ttnn"]) == 0
    assert f"forward on {path}: " in capsys.readouterr().out
    assert main(["perf", "--device", "--board", "p15", "exp.ttnn"]) == 1
    assert "there is no board 'p15'" in capsys.readouterr().err
    for command in (["perf", "--device"], ["perf"], ["run"]):
        assert main([*command, "--board", "", "exp.ttnn"]) == 1
        assert "there is no board ''; supported are default, n150" in capsys.readouterr().err


def test_items_per_second(capsys: Capture) -> None:
    """If a batch is named; in the results, too."""
    arguments = ["perf", "--device", "exp.ttnn", "--batch", "8", "--unit", "images"]
    assert main([*arguments, "--result-file", "perf.json"]) == 0
    assert "images per second (" in capsys.readouterr().out
    [result] = json.loads(Path("perf.json").read_text("utf-8"))
    assert result["result"] == "pass"
    assert "images" in json.dumps(result)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--device", "--host-only"), "--device and --host-only say where to time; give one"),
        (("--untraced",), "--untraced says how an estimate launches; give --device, too"),
        (("--batch", "8"), "--batch counts items of an estimate; give --device, too"),
        (("--device", "--batch", "0"), "--batch must be at least 1"),
    ],
)
def test_options_at_odds(arguments: tuple[str, ...], message: str, capsys: Capture) -> None:
    """Each message says what to do."""
    assert main(["perf", "exp.ttnn", *arguments]) == 1
    assert message in capsys.readouterr().err


def test_times_of_the_host_say_so(capsys: Capture) -> None:
    """In the heading, the columns and the CSV; one run before those that count is not in it."""
    assert main(["perf", "exp.ttnn", "--host-only"]) == 0
    shown = capsys.readouterr().out
    assert "ms of host time, on this computer's CPU, in 6 operations" in shown
    assert "host ms" in shown
    with (PERF / "ops_perf_results.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    assert {row["OP TYPE"] for row in rows} == {"host"}


def test_the_memory_section(capsys: Capture) -> None:
    """640 tiles of 2 KiB are 54 in each of 12 channels at most, twice for operand and result."""
    assert main(["read", "--section", "memory", "exp.ttnn"]) == 0
    memory = json.loads(capsys.readouterr().out)["forward"]
    assert memory["dram"]["peak_per_bank"] == 2 * 54 * 2048
    assert memory["l1"]["peak_per_bank"] == 0
    assert memory["does_not_fit"] is None


def test_check_refuses_what_does_not_fit(capsys: Capture) -> None:
    """12 GiB beside each other on a card with 12 GiB less what is reserved."""
    b = ProgramBuilder()
    big = b.empty((3 << 10, 1 << 19))
    b.output(b.eltwise("Abs", [big]), on_device=True)
    Path("big.ttnn").write_bytes(b.pack())
    assert main(["check", "big.ttnn"]) == 1
    errors = capsys.readouterr().err
    assert "big.ttnn: program 0 'forward': operation 2 (EmptyOp" in errors
    assert "does not fit: " in errors
    assert "deallocate tensors earlier" in errors
    assert "(on board 'default')" in errors
    assert main(["check", "exp.ttnn"]) == 0


def test_a_wait_is_shown(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """While a program is estimated: a bar with its name, unless nothing is to be shown."""
    waits: list[tuple[str, bool]] = []

    @contextmanager
    def note_wait(title: str, *, quiet: bool) -> Generator[None]:
        waits.append((title, quiet))
        yield

    monkeypatch.setattr("ttmlir.runtime.ttrt.commands.show_wait", note_wait)
    for flags in ([], ["--quiet"]):
        assert main(["perf", "--device", "exp.ttnn", *flags]) == 0
    assert waits == [("estimating exp.ttnn forward", False), ("estimating exp.ttnn forward", True)]
