"""`ttrt` on `.ttnn` files with programs of kernels among their operations."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from samples.control_programs import function, packed
from samples.generic_modules import generic_module, tiled_type
from samples.generic_programs import EXP, EXP_OF_TWO, exp_program

from ttmlir.compiler import write_ttnn
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.program import ProgramDescription
from ttmlir.tools.ttrt import main

Capture = pytest.CaptureFixture[str]
CONTEXT = make_context({"tt": "ttmlir.dialects.tt:TT", "ttnn": "ttmlir.dialects.ttnn:TTNN"})


def write(program: ProgramDescription, outputs: int = 1) -> None:
    """The program as `model.ttnn`, on a tensor of 5x70 numbers."""
    text = generic_module(program, tiled_type((5, 70)), outputs)
    Path("model.ttnn").write_bytes(write_ttnn(parse_module(text, "x.mlir", CONTEXT)))


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in an empty folder with a program `model.ttnn`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TTRT_LOGGER_LEVEL", raising=False)
    monkeypatch.delenv("LOGGER_LEVEL", raising=False)
    write(exp_program(3))
    return tmp_path


def table(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    return list(csv.DictReader(io.StringIO(path.read_text())))


def run(*arguments: str) -> int:
    """Exit status of the command."""
    return main(list(arguments))


def test_run_says_what_kernels_took(capsys: Capture) -> None:
    """Cycles and cores in the log and in the results; outputs are NumPy's."""
    x = np.random.default_rng(4).uniform(-1, 1, (5, 70)).astype(np.float32)
    np.save("x.npy", x)
    options = ("--inputs", "x.npy", "--outputs", "y.npy", "--result-file", "results.json")
    assert run("run", *options, "model.ttnn") == 0
    np.testing.assert_allclose(np.load("y.npy"), np.exp(x), rtol=1e-6)
    (result,) = json.loads(Path("results.json").read_text())
    (kernels,) = result["kernels"]
    assert (kernels["index"], kernels["name"]) == (2, "exp")
    assert kernels["cycles"] == result["cycles"] > 1000
    printed = capsys.readouterr()
    line = f"operation 2 (exp): {kernels['cycles']:,} cycles on 2 cores"
    assert line in printed.out + printed.err


@pytest.mark.parametrize("outputs", [1, 2])
def test_golden_runs_pass_by_what_has_no_reference(outputs: int, capsys: Capture) -> None:
    """Only operations of the library are judged, and the log says so."""
    if outputs == 2:
        write(EXP_OF_TWO, 2)
    assert run("run", "--golden", "--memory", "model.ttnn") == 0
    printed = capsys.readouterr()
    line = "golden --  operation 2 ttnn.generic (exp): kernels have no reference; the later"
    assert outputs == 2 or line in printed.out + printed.err
    assert "golden --" in printed.out + printed.err


def test_golden_runs_say_that_loops_are_not_judged(capsys: Capture) -> None:
    """A program that is one loop passes, and the log says what that does not mean."""
    Path("loop.ttnn").write_bytes(packed(function("f"), body=0, trip_count=7))
    assert run("run", "--golden", "loop.ttnn") == 0
    printed = capsys.readouterr()
    [line] = [
        line for line in (printed.out + printed.err).splitlines() if "have no reference" in line
    ]
    assert re.search(r"golden --  operation \d+ ttnn\.while.*: loops, branches and what", line)


def test_perf_shows_kernels_and_operations(capsys: Capture) -> None:
    """Times on the host in one table, cycles in another, and a trace."""
    assert run("perf", "model.ttnn") == 0
    folder = Path("ttrt-artifacts/model.ttnn/perf")
    operations = table(folder / "ops_perf_results.csv")
    assert [row["OP CODE"] for row in operations][-1] == "ttnn.generic"
    (kernels,) = table(folder / "kernels_perf_results.csv")
    assert kernels["OP CODE"] == "main 2 exp"
    assert kernels["MATH FIDELITY"] == "HiFi4"
    # On each of two cores, two processors that move data and three that compute.
    threads = [row for row in table(folder / "threads.csv") if row["core"] != "all"]
    assert len(threads) == 10
    assert json.loads((folder / "trace_0_main.json").read_text())["traceEvents"]
    assert "main 2 exp" in capsys.readouterr().out


def test_read_shows_the_texts_of_kernels(capsys: Capture) -> None:
    """Behind the C++ of the host, each under the name of its kernel."""
    assert run("read", "--section", "cpp", "model.ttnn") == 0
    printed = capsys.readouterr().out
    assert "// program[0] operation 2: kernel exp\n" + EXP.strip() in printed
    assert printed.index("kernel reader") < printed.index("kernel writer")
    assert run("read", "--section", "op_stats", "model.ttnn") == 0
    assert json.loads(capsys.readouterr().out)["main"]["GenericOp"] == 1


def test_options_of_the_simulator_hold_for_kernels(capsys: Capture) -> None:
    """A limit of cycles, and findings that are let pass."""
    assert run("run", "--cycle-limit", "100", "model.ttnn") == 1
    assert "cycles" in capsys.readouterr().err
    program = exp_program(3)
    reader = program.kernels[0]
    text = reader.source.replace("        noc_async_read_barrier();\n", "")
    write(replace(program, kernels=(replace(reader, source=text), *program.kernels[1:])))
    assert run("run", "model.ttnn") == 1
    assert "reader.cpp:13:9: error: cb_push_back hands over pages" in capsys.readouterr().err
    assert run("run", "--no-sanitize", "model.ttnn") == 0
