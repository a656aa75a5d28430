"""Every key of the results of ttrt, and whole tables of its reports, with figures made by hand."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from running.randomness import TestGenerator
from samples.ttnn_program import ProgramBuilder

from ttmlir.compiler import compile_to_ttm
from ttmlir.runtime import Numerics, read_binary
from ttmlir.runtime.locations import place_in
from ttmlir.runtime.ttrt.reports import (
    KernelRuns,
    Timing,
    TimingObserver,
    perf_summary,
    summary,
    timings_as_csv,
)
from ttmlir.runtime.ttrt.running import RunSettings, run_operations
from ttmlir.tools.ttrt import main

SHAPE = (5, 33)
RANDOM = TestGenerator(__name__)


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in an empty folder with a program `exp.ttnn` of exp and abs."""
    monkeypatch.chdir(tmp_path)
    for name in ("TTRT_LOGGER_LEVEL", "LOGGER_LEVEL"):
        monkeypatch.delenv(name, raising=False)
    Path("exp.ttnn").write_bytes(program())
    return tmp_path


def program(**root: Any) -> bytes:
    """A file with a program of two operations, 165 numbers each."""
    b = ProgramBuilder("forward")
    x = b.to_device(b.input(SHAPE))
    for kind in ("Exp", "Abs"):
        x = b.eltwise(kind, [x], debug_info=f'"ttnn.{kind.lower()}"() loc("{kind}")')
    b.output(x)
    return b.pack(**root)


def run(command: str, *arguments: str) -> tuple[int, list[dict[str, Any]]]:
    """Exit status and results of a command."""
    status = main([command, *arguments, "--result-file", "r.json"])
    return status, json.loads(Path("r.json").read_text())


def accuracy(actual: np.ndarray, expected: np.ndarray) -> dict[str, Any]:
    """What NumPy says about a result, by the keys of the results; approximately."""
    error = np.abs(actual - expected)
    square = np.sqrt(np.mean(error**2))
    return {
        "pcc": pytest.approx(np.corrcoef(actual.ravel(), expected.ravel())[0, 1]),
        "max_absolute_error": pytest.approx(error.max(), abs=1e-6),
        "mean_absolute_error": pytest.approx(error.mean(), abs=1e-6),
        "max_relative_error": pytest.approx((error / np.abs(expected)).max(), abs=1e-6),
        "root_mean_square_error": pytest.approx(square, abs=1e-6),
        "relative_root_mean_square_error": pytest.approx(
            square / np.sqrt(np.mean(expected**2)), abs=1e-6
        ),
        "cosine_similarity": pytest.approx(
            np.sum(actual * expected) / np.linalg.norm(actual) / np.linalg.norm(expected)
        ),
        "allclose": bool(np.allclose(actual, expected, rtol=5e-2, atol=1e-3)),
        "mismatched_specials": 0,
    }


def test_results_of_run() -> None:
    """Each key of an entry: what ran, how long, how exact, in how much memory."""
    x = RANDOM.standard_normal(SHAPE, np.float32)
    right = np.exp(x.astype(np.float64))
    wrong = right + np.linspace(0.5, 1, 165).reshape(SHAPE)
    np.savez("golden.npz", input_0=x, output_0=wrong)
    status, [entry] = run(
        *("run", "exp.ttnn", "--golden", "--golden-file", "golden.npz", "--memory", "--loops", "2"),
        *("--save-artifacts", "--artifact-dir", "out", "--log-file", "log", "--pcc", "0.9999"),
    )
    assert status == 42
    durations = entry.pop("program_results")
    assert [*durations] == ["0", "1"]
    assert all(
        [*each] == ["duration_ns"] and each["duration_ns"] > 0 for each in durations.values()
    )
    [output] = entry.pop("golden_outputs")
    close = {"expected_pcc": 0.9999, "rtol": 5e-2, "atol": 1e-3}
    compared = accuracy(right, wrong)
    assert output == {
        "output": 0,
        "passed": False,
        "actual_pcc": compared["pcc"],
        **close,
        **compared,
    }
    golden = entry.pop("golden_results")
    exact = accuracy(right, right)
    assert golden == [
        {
            "index": index,
            "op": name,
            "loc": f'"{location}"',
            "debug_info": f'"{name}"() loc("{location}")',
            "passed": True,
            "actual_pcc": exact["pcc"],
            **close,
            **exact,
        }
        for index, name, location in ((4, "ttnn.exp", "Exp"), (6, "ttnn.abs", "Abs"))
    ]
    problem = entry.pop("exception")
    assert re.fullmatch(
        r"differs from what its file or --golden-file expects: output 0: pcc 0\.\d{6}, "
        r"max abs error 1, mean abs error 0\.75, 0 infinities or NaNs differ",
        problem,
    )
    assert entry == {
        "file_path": "exp.ttnn",
        "result": "test_error",
        "log_file": "log",
        "artifacts": "out/exp.ttnn",
        "program_index": "0",
        "program_name": "forward",
        "numerics": "exact",
        # The input and the two results, each in two tiles of 32-bit numbers.
        "peak_memory_bytes": {"dram": 3 * 2 * 4096},
    }
    assert json.loads(Path("out/exp.ttnn/run/program_0/golden_report.json").read_text()) == golden


def test_results_of_other_commands(workspace: Path) -> None:
    """Each key of the entries of read, check, query and perf, and of an error."""
    artifacts = str(workspace / "ttrt-artifacts")
    common = {
        "file_path": "exp.ttnn",
        "result": "pass",
        "exception": "",
        "log_file": "",
        "artifacts": f"{artifacts}/exp.ttnn",
        "program_index": "",
    }
    assert run("read", "exp.ttnn", "--section", "inputs") == (0, [{**common, "section": "inputs"}])
    matches = {"system_desc": "board 'default'", "differences": []}
    assert run("check", "exp.ttnn") == (0, [{**common, **matches}])
    status, [entry] = run("check", "exp.ttnn", "--board", "n300")
    assert status == 1
    assert [*entry] == [*common, *matches]
    assert entry["system_desc"] == "board 'n300'"
    assert "system_desc.chip_desc_indices: expected 2 entries, got 1" in entry["differences"]
    status, [entry] = run("query", "--board", "p150")
    assert (status, entry["board"], entry["artifacts"]) == (0, "p150", "")
    assert [*entry] == [*common, "board", "system_desc"]
    status, [entry] = run("perf", "exp.ttnn", "--quiet")
    csv_path = f"{artifacts}/exp.ttnn/perf/ops_perf_results.csv"
    assert (status, entry["perf_csv"]) == (0, csv_path)
    assert [*entry] == [*common, "program_name", "program_results", "numerics", "perf_csv"]
    status, [entry] = run("run", "no.ttnn")
    problem = "no.ttnn: No such file or directory"
    missing = {"file_path": "no.ttnn", "artifacts": f"{artifacts}/no.ttnn"}
    assert (status, entry) == (1, {**common, **missing, "result": "error", "exception": problem})


def test_the_junit_report() -> None:
    """The whole document: one case for each program or file, one of each outcome."""
    b = ProgramBuilder("other")
    b.output(b.eltwise("Abs", [b.to_device(b.input((3, 4)))]))
    Path("two.ttnn").write_bytes(b.pack(system="n300"))
    Path("cut.ttnn").write_bytes(program()[:64])
    status, entries = run(
        "run", "exp.ttnn", "cut.ttnn", "two.ttnn", "--identity", "--board", "n150"
    )
    assert [each["result"] for each in entries] == ["skip", "error", "skip"]
    assert status == 1
    status, entries = run("run", "exp.ttnn", "cut.ttnn", "two.ttnn", "--identity", "--init", "ones")
    assert status == 1
    messages = [each["exception"] for each in entries]
    assert Path("ttrt_report.xml").read_text() == (
        "<?xml version='1.0' encoding='utf-8'?>\n"
        "<testsuites>\n"
        '  <testsuite name="ttrt run" tests="3" failures="1" errors="1" skipped="0">\n'
        '    <testcase classname="ttrt.run" name="exp.ttnn program 0">\n'
        f'      <failure message="{messages[0]}" />\n'
        "    </testcase>\n"
        '    <testcase classname="ttrt.run" name="cut.ttnn">\n'
        f'      <error message="{messages[1]}" />\n'
        "    </testcase>\n"
        '    <testcase classname="ttrt.run" name="two.ttnn program 0" />\n'
        "  </testsuite>\n"
        "</testsuites>\n"
    )
    # exp(1) - 1
    assert messages[0] == "output 0 differs from input 0 by up to 1.71828"


def timings() -> list[Timing]:
    """What a clock saw that took 300 ns for exp, 100 for abs, 600 for all other operations."""
    observer = TimingObserver()
    binary = read_binary(program(), "exp.ttnn")
    settings = RunSettings(numerics=Numerics.EXACT)
    run_operations(binary.programs[0], [np.ones(SHAPE, np.float32)], settings, lambda: observer)
    spent = {"ttnn.exp": 300, "ttnn.abs": 100}
    assert len(observer.timings) == 8
    return [
        replace(each, start=1000 * number, end=1000 * number + spent.get(each.code, 100))
        for number, each in enumerate(observer.timings)
    ]


def test_boards_are_looked_up_before_files(capsys: pytest.CaptureFixture[str]) -> None:
    """A board that there is not is said, whatever else is wrong."""
    assert main(["run", "nothing.ttnn", "--board", "nope"]) == 1
    errors = capsys.readouterr().err
    assert "there is no board 'nope'; supported are default, n150, n300" in errors
    assert "nothing.ttnn" not in errors


def test_the_summary_of_operations() -> None:
    """The whole table: kinds by the time that they take, shares of the sum."""
    assert summary("exp.ttnn", timings()) == (
        "exp.ttnn: 0.001 ms of host time, on this computer's CPU, in 8 operations; --device "
        "estimates the device's\n"
        "operation                          calls     host ms  mean host us   share\n"
        "ttnn.exp                               1       0.000           0.3   30.0%\n"
        "ttnn.empty                             2       0.000           0.1   20.0%\n"
        "ttnn.get_device                        1       0.000           0.1   10.0%\n"
        "ttnn.to_layout                         1       0.000           0.1   10.0%\n"
        "ttnn.to_device                         1       0.000           0.1   10.0%\n"
        "ttnn.abs                               1       0.000           0.1   10.0%\n"
        "ttnn.to_memory_config                  1       0.000           0.1   10.0%"
    )


def test_the_summary_has_ten_kinds_of_operations() -> None:
    """Those that take most time, although there are more; shares are of all of it."""
    made: list[Any] = [
        Timing(cast("Any", SimpleNamespace(call=SimpleNamespace(name=f"op{n}"))), (), 0, 1000 * n)
        for n in range(1, 13)
    ]
    title, _, *lines = summary("x.ttnn", made).splitlines()
    assert title.startswith("x.ttnn: 0.078 ms of host time, on this computer's CPU, in 12 oper")
    assert [line.split()[0] for line in lines] == [f"op{n}" for n in range(12, 2, -1)]
    assert [line.split()[-1] for line in lines[:2]] == ["15.4%", "14.1%"]


COLUMNS = (
    "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE ARCH,ATTRIBUTES,MATH FIDELITY,CORE COUNT,"
    "AVAILABLE WORKER CORE COUNT,PARALLELIZATION STRATEGY,HOST START TS,HOST END TS,"
    "HOST DURATION [ns],DEVICE FW START CYCLE,DEVICE FW END CYCLE,OP TO OP LATENCY [ns],"
    "DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns],"
    "DEVICE BRISC KERNEL DURATION [ns],DEVICE NCRISC KERNEL DURATION [ns],"
    "DEVICE TRISC0 KERNEL DURATION [ns],DEVICE TRISC1 KERNEL DURATION [ns],"
    "DEVICE TRISC2 KERNEL DURATION [ns],DEVICE ERISC KERNEL DURATION [ns],"
    "DEVICE COMPUTE CB WAIT FRONT [ns],DEVICE COMPUTE CB RESERVE BACK [ns],"
    "INPUT_0_W_PAD[LOGICAL],INPUT_0_Z_PAD[LOGICAL],INPUT_0_Y_PAD[LOGICAL],INPUT_0_X_PAD[LOGICAL],"
    "INPUT_0_LAYOUT,INPUT_0_DATATYPE,INPUT_0_MEMORY,"
    "INPUT_1_W_PAD[LOGICAL],INPUT_1_Z_PAD[LOGICAL],INPUT_1_Y_PAD[LOGICAL],INPUT_1_X_PAD[LOGICAL],"
    "INPUT_1_LAYOUT,INPUT_1_DATATYPE,INPUT_1_MEMORY,"
    "OUTPUT_0_W_PAD[LOGICAL],OUTPUT_0_Z_PAD[LOGICAL],OUTPUT_0_Y_PAD[LOGICAL],"
    "OUTPUT_0_X_PAD[LOGICAL],OUTPUT_0_LAYOUT,OUTPUT_0_DATATYPE,OUTPUT_0_MEMORY,"
    "METAL TRACE ID,METAL TRACE REPLAY SESSION ID,COMPUTE KERNEL SOURCE,COMPUTE KERNEL HASH,"
    "DATA MOVEMENT KERNEL SOURCE,DATA MOVEMENT KERNEL HASH,PM IDEAL [ns],PM COMPUTE [ns],"
    "PM BANDWIDTH [ns],PM REQ I BW,PM REQ O BW,LOC"
)


def test_the_table_of_operations() -> None:
    """All columns in tt-metal's order, and whole rows."""
    header, *lines = timings_as_csv(timings()).splitlines()
    assert header == COLUMNS
    assert len(lines) == 8
    tensor = "1[1],1[1],32[5],64[33],TILE,FLOAT32,DEV_0_DRAM_INTERLEAVED"
    assert lines[4] == (
        "ttnn.exp,host,4,,,,,1,,,4000,4300,300,,,,,,,,,,,,,,"
        f'{tensor},,,,,,,,{tensor},,,,,,,,,,,,"""Exp"""'
    )
    rows = list(csv.DictReader(io.StringIO("\n".join((header, *lines)))))
    assert [row["OP CODE"] for row in rows] == [
        *("ttnn.get_device", "ttnn.to_layout", "ttnn.to_device", "ttnn.empty", "ttnn.exp"),
        *("ttnn.empty", "ttnn.abs", "ttnn.to_memory_config"),
    ]
    assert [row["GLOBAL CALL COUNT"] for row in rows] == [str(i) for i in range(8)]
    assert [row["HOST START TS"] for row in rows] == [str(1000 * i) for i in range(8)]
    assert {row["INPUT_0_LAYOUT"] for row in rows if row["OP CODE"] == "ttnn.empty"} == {""}


def test_outer_dimensions_are_folded_in_the_table() -> None:
    """Four columns for a shape of five dimensions: 2x3 in the first."""
    b = ProgramBuilder("forward")
    b.output(b.eltwise("Abs", [b.to_device(b.input((2, 3, 4, 5, 6)))]))
    observer = TimingObserver()
    binary = read_binary(b.pack(), "abs.ttnn")
    inputs = [np.ones((2, 3, 4, 5, 6), np.float32)]
    settings = RunSettings(numerics=Numerics.EXACT)
    run_operations(binary.programs[0], inputs, settings, lambda: observer)
    rows = list(csv.DictReader(io.StringIO(timings_as_csv(observer.timings))))
    row = next(row for row in rows if row["OP CODE"] == "ttnn.abs")
    for tensor in ("INPUT_0", "OUTPUT_0"):
        extents = [row[f"{tensor}_{axis}_PAD[LOGICAL]"] for axis in "WZYX"]
        assert extents == ["6[6]", "4[4]", "32[5]", "32[6]"]


KERNELS = """
#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @forward(%x: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = tensor.empty() : tensor<33x70xf32>
  %1 = "ttir.exp"(%x, %0) <{operandSegmentSizes = array<i32: 1, 1>,
      operand_constraints = [#any, #any]}> : (tensor<33x70xf32>, tensor<33x70xf32>)
      -> tensor<33x70xf32>
  return %1 : tensor<33x70xf32>
}
"""


def test_the_summary_of_kernels() -> None:
    """The lines add up: shares are those of the cycles beside them, cycles those of the table."""
    from ttmlir.runtime.metal_session import TT_MLIR_LENIENCIES
    from ttmlir.runtime.ttrt.running import run_kernels
    from ttmlir.sim.options import SimOptions

    [forward] = read_binary(compile_to_ttm(KERNELS), "exp.ttm").programs
    options = SimOptions(leniencies=TT_MLIR_LENIENCIES)
    settings = RunSettings(numerics=Numerics.EXACT)
    done = run_kernels(forward, [np.ones((33, 70), np.float32)], settings, options)
    runs = KernelRuns.of_run(forward, done)
    assert runs is not None
    assert done.kernels is not None
    heading, columns, *lines = perf_summary("exp.ttm", [runs]).splitlines()
    assert columns.split() == "program cycles share DRAM bytes bound by location".split()
    cycles = {each.command.index: each.report.cycles for each in done.kernels.reports}
    table = re.compile(r"(.{40}) *([\d,]+) +([\d.]+)% +0  (\w+) +<text>:(\d+):\d+")
    rows = [match.groups() for match in map(table.fullmatch, lines[: len(cycles)]) if match]
    assert len(rows) == len(cycles) >= 3
    total = sum(cycles.values())
    shown = [int(count.replace(",", "")) for _, count, *_ in rows]
    assert shown == sorted(cycles.values(), reverse=True)
    for name, count, share, bound, line in rows:
        number = int(count.replace(",", ""))
        assert cycles[int(name.split()[1])] == number
        assert name.startswith("forward ")
        assert share == f"{100 * number / total:.1f}"
        assert bound in ("compute", "unpack", "pack", "latency", "dispatch")
        # Tiles become rows again for the return.
        assert line == ("8" if "untilize" in name else "5")
    clock = done.kernels.reports[0].report.chip.clock_hz
    assert re.fullmatch(
        rf"exp\.ttm: 'forward': {total:,} cycles = {total / clock * 1e6:.1f} us in "
        rf"{len(cycles)} programs, and [\d.]+ us to launch them",
        heading,
    )
    assert lines[len(cycles)].startswith(rows[0][0].rstrip() + ": ")
    assert f"{shown[0]:,} cycles = {shown[0] / clock * 1e6:.1f} us" in lines[len(cycles)]


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ("", ""),
        ('"jit(f)"', ""),
        ('"/a/b/model.mlir":8:5', "model.mlir:8:5"),
        ('"add"("main"("/a \\"b\\".py":12:3))', 'a "b".py:12:3'),
        ('callsite("f"("/x/site-packages/jax/nn.py":1:2) at "g"("m.py":3:4))', "m.py:3:4"),
        ('callsite("f"("/x/site-packages/jax/nn.py":1:2) at "g")', "nn.py:1:2"),
    ],
)
def test_the_place_in_a_location(location: str, place: str) -> None:
    """The innermost one that is no library's, without its folder."""
    assert place_in(location) == place


def test_a_file_without_a_system_description(capsys: pytest.CaptureFixture[str]) -> None:
    """It runs; what is asked about its system is an error that names the field."""
    Path("bare.ttnn").write_bytes(program(system_desc=None))
    missing = "bare.ttnn: field 'system_desc' is missing"
    for section in ("all", "version", "mlir", "cpp", "inputs", "outputs", "op_stats"):
        assert main(["read", "--section", section, "bare.ttnn"]) == 0
    assert main(["run", "--golden", "--save-artifacts", "bare.ttnn"]) == 0
    assert Path("ttrt-artifacts/bare.ttnn/bare.ttnn").exists()
    assert not list(Path("ttrt-artifacts").rglob("*.ttsys"))
    for arguments in (
        ["read", "--section", "system_desc"],
        ["check"],
        ["run", "--board", "n150"],
    ):
        capsys.readouterr()
        assert main([*arguments, "bare.ttnn"]) == 1
        assert missing in capsys.readouterr().err


def test_the_place_stands_apart_from_what_binds(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long its name is."""
    from ttmlir.runtime.metal_session import TT_MLIR_LENIENCIES
    from ttmlir.runtime.ttrt import reports
    from ttmlir.runtime.ttrt.running import run_kernels
    from ttmlir.sim.options import SimOptions

    def bound(times: object) -> str:
        return "data movement processor"

    monkeypatch.setattr(reports, "bound", bound)
    [forward] = read_binary(compile_to_ttm(KERNELS), "exp.ttm").programs
    options = SimOptions(leniencies=TT_MLIR_LENIENCIES)
    settings = RunSettings(numerics=Numerics.EXACT)
    done = run_kernels(forward, [np.ones((33, 70), np.float32)], settings, options)
    runs = KernelRuns.of_run(forward, done)
    assert runs is not None
    _, columns, first, *_ = perf_summary("exp.ttm", [runs]).splitlines()
    assert re.search(r"data movement processor  <text>:\d+:\d+$", first)
    assert columns.index("location") == first.index("<text>")
