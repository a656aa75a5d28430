"""The ttrt command: options, results, artifacts and exit statuses."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from samples.ttnn_program import ProgramBuilder

import ttmlir
from ttmlir.runtime.ttrt.files import Logger, progress
from ttmlir.runtime.ttrt.reports import Result, results_as_json
from ttmlir.tools.ttrt import main

Capture = pytest.CaptureFixture[str]
SHAPE = (5, 33)


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in an empty folder with a program `exp.ttnn` of exp and abs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TTRT_LOGGER_LEVEL", raising=False)
    monkeypatch.delenv("LOGGER_LEVEL", raising=False)
    Path("exp.ttnn").write_bytes(program("Exp", "Abs").pack())
    return tmp_path


def program(*kinds: str, name: str = "forward", element: str = "f32") -> ProgramBuilder:
    """Unary operations one after the other."""
    b = ProgramBuilder(name)
    x = b.to_device(b.input(SHAPE, element))
    for kind in kinds:
        x = b.eltwise(kind, [x], debug_info=f'"ttnn.{kind.lower()}"() loc("{kind}")')
    b.output(x)
    return b


def run(*arguments: str) -> int:
    """Exit status of the command."""
    return main(list(arguments))


def record(*arguments: str) -> int:
    """The same, with the results in a file that `results` reads."""
    return run(*arguments, "--result-file", f"{arguments[0]}_results.json")


def results(command: str) -> list[dict[str, object]]:
    """The JSON results of a command."""
    return json.loads(Path(f"{command}_results.json").read_text())


# --- read ---------------------------------------------------------------------------------------


def test_read_all_is_json(capsys: Capture) -> None:
    """The whole file on standard output, nothing else."""
    assert run("read", "--section", "all", "exp.ttnn") == 0
    content = json.loads(capsys.readouterr().out)
    assert content["programs"][0]["name"] == "forward"
    assert len(content["programs"][0]["operations"]) == 8


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("version", "version: 0.0.227"),
        ("system_desc", '"arch": "Wormhole_b0"'),
        ("mlir", "program[0]: forward\n[ttnn]\nmodule {}"),
        ("cpp", "program[0]: forward\n[cpp]\n// none"),
        ("inputs", '"global_id": 1'),
        ("outputs", '"forward"'),
        ("op_stats", '"EltwiseOp Abs": 1'),
        ("mesh_shape", '"chip_ids"'),
    ],
)
def test_read_sections(section: str, expected: str, capsys: Capture) -> None:
    """Each section shows its part."""
    assert run("read", "exp.ttnn", "--section", section) == 0
    assert expected in capsys.readouterr().out


def test_read_system_description(capsys: Capture) -> None:
    """A .ttsys file has three sections."""
    assert run("query", "--save-artifacts", "--quiet") == 0
    path = "ttrt-artifacts/system_desc.ttsys"
    assert run("read", path, "--section", "system_desc") == 0
    assert json.loads(capsys.readouterr().out)["chip_desc_indices"] == [0]
    assert run("read", path, "--section", "mlir") == 1
    assert "no section 'mlir'; it has summary, all, version, system_desc" in capsys.readouterr().err


# --- run ----------------------------------------------------------------------------------------


def test_run_golden_and_check_from_a_clean_folder() -> None:
    """With its artifacts, run leaves the description that check compares with."""
    assert run("read", "--section", "all", "exp.ttnn") == 0
    assert record("run", "--golden", "--save-artifacts", "exp.ttnn") == 0
    assert run("check", "exp.ttnn", "--system-desc", "ttrt-artifacts/system_desc.ttsys") == 0
    [entry] = results("run")
    assert (entry["result"], entry["program_index"]) == ("pass", "0")
    golden = entry["golden_results"]
    assert isinstance(golden, list)
    assert [(g["op"], g["loc"], g["passed"]) for g in golden] == [
        ("ttnn.exp", '"Exp"', True),
        ("ttnn.abs", '"Abs"', True),
    ]


def test_inputs_and_outputs_are_arrays() -> None:
    """What is given is computed on, what comes out is saved."""
    x = np.linspace(-2, 2, 165, dtype=np.float32).reshape(SHAPE)
    np.save("x.npy", x)
    assert run("run", "exp.ttnn", "--inputs", "x.npy", "--outputs", "y.npz") == 0
    with np.load("y.npz") as saved:
        np.testing.assert_allclose(saved["output_0"], np.exp(x), rtol=1e-6)
    np.savez("x.npz", input_0=x.astype(np.float64))
    assert run("run", "exp.ttnn", "--inputs", "x.npz", "--save-outputs", "y.npy") == 0
    np.testing.assert_allclose(np.load("y.npy"), np.exp(x), rtol=1e-6)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((33, 5), np.float32), "input 0 has shape (33, 5) instead of (5, 33)"),
        (np.zeros(SHAPE, np.complex64), "takes 1 input, got 2; a complex array is two of them"),
    ],
)
def test_wrong_inputs_leave_no_output(array: np.ndarray, message: str, capsys: Capture) -> None:
    """Shape and element type are checked; status 1."""
    np.save("x.npy", array)
    assert record("run", "exp.ttnn", "--inputs", "x.npy", "--outputs", "y.npz") == 1
    assert message in capsys.readouterr().err
    assert not Path("y.npz").exists()
    assert results("run")[0]["result"] == "error"


def test_wrong_number_of_inputs(capsys: Capture) -> None:
    """Two arrays for one input."""
    np.save("x.npy", np.zeros(SHAPE, np.float32))
    assert run("run", "exp.ttnn", "--inputs", "x.npy", "--inputs", "x.npy") == 1
    assert "takes 1 input, got 2" in capsys.readouterr().err


def test_input_files_that_are_no_arrays(capsys: Capture) -> None:
    """Missing files and other contents."""
    Path("x.npy").write_text("hello")
    assert run("run", "exp.ttnn", "--inputs", "x.npy") == 1
    assert (
        "x.npy: not a .npy or .npz file of numbers; write one with numpy.save"
        in capsys.readouterr().err
    )
    assert run("run", "exp.ttnn", "--inputs", "y.npy") == 1
    assert "y.npy: No such file" in capsys.readouterr().err


@pytest.mark.parametrize("shape", ["(True, True)", f"({10**25},)", "(2, 3", "(-1,)"])
def test_headers_of_arrays_that_nobody_wrote(shape: str, capsys: Capture) -> None:
    """NumPy has a word of its own for each of them."""
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    header = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()
    Path("x.npy").write_bytes(header + b"\0" * 64)
    assert run("run", "exp.ttnn", "--inputs", "x.npy") == 1
    assert "x.npy: not a .npy or .npz file of numbers" in capsys.readouterr().err


def test_integers_that_do_not_fit_are_refused(capsys: Capture) -> None:
    """int64 numbers are taken as i32 if all of them fit."""
    Path("abs.ttnn").write_bytes(program("Abs", element="i32").pack())
    np.save("x.npy", np.full(SHAPE, -7))
    assert run("run", "abs.ttnn", "--inputs", "x.npy", "--outputs", "y.npy") == 0
    assert (np.load("y.npy") == 7).all()
    np.save("x.npy", np.full(SHAPE, 2**40))
    assert run("run", "abs.ttnn", "--inputs", "x.npy") == 1
    assert "numbers that do not fit into element type i32" in capsys.readouterr().err


def test_seed_decides_the_inputs() -> None:
    """The same seed gives the same result, another one another."""
    outputs = []
    for seed in ("1", "1", "2"):
        assert run("run", "exp.ttnn", "--seed", seed, "--outputs", "y.npy", "--quiet") == 0
        outputs.append(np.load("y.npy"))
    np.testing.assert_array_equal(outputs[0], outputs[1])
    assert not np.array_equal(outputs[0], outputs[2])


@pytest.mark.parametrize(
    ("init", "expected"),
    [
        ("zeros", np.zeros(SHAPE)),
        ("ones", np.ones(SHAPE)),
        ("arange", np.arange(165).reshape(SHAPE)),
    ],
)
def test_initializers(init: str, expected: np.ndarray) -> None:
    """Those without chance give known inputs."""
    Path("abs.ttnn").write_bytes(program("Abs").pack())
    assert run("run", "abs.ttnn", "--init", init, "--outputs", "y.npy") == 0
    np.testing.assert_array_equal(np.load("y.npy"), expected)


def test_identity_and_non_zero_fail_with_42(capsys: Capture) -> None:
    """Wrong numbers are another status than broken files."""
    assert record("run", "exp.ttnn", "--identity") == 42
    assert "output 0 differs from input 0 by up to" in capsys.readouterr().err
    assert record("run", "exp.ttnn", "--identity", "--rtol", "1", "--atol", "100") == 0
    Path("abs.ttnn").write_bytes(program("Abs").pack())
    assert record("run", "abs.ttnn", "--identity", "--init", "rand") == 0
    assert record("run", "abs.ttnn", "--init", "zeros", "--non-zero") == 42
    assert "output 0 is all zeros" in capsys.readouterr().err
    assert results("run")[0]["result"] == "test_error"


def test_identity_compares_the_pairs_that_there_are(capsys: Capture) -> None:
    """As the book runs a sum of two inputs; without a pair there is nothing to compare."""
    b = ProgramBuilder()
    x, y = (b.to_device(b.input(SHAPE)) for _ in range(2))
    b.output(b.eltwise("Add", [x, y]))
    Path("add.ttnn").write_bytes(b.pack())
    np.save("x.npy", np.ones(SHAPE, np.float32))
    np.save("zero.npy", np.zeros(SHAPE, np.float32))
    assert run("run", "add.ttnn", "--identity", "--inputs", "x.npy", "--inputs", "zero.npy") == 0
    assert run("run", "add.ttnn", "--identity", "--inputs", "zero.npy", "--inputs", "x.npy") == 42
    assert "output 0 differs from input 0 by up to 1" in capsys.readouterr().err
    assert run("run", "add.ttnn", "--identity", "--rtol", "1", "--atol", "9") == 0
    b = ProgramBuilder()
    b.input(SHAPE)
    Path("none.ttnn").write_bytes(b.pack())
    assert run("run", "none.ttnn", "--identity") == 42
    assert "identity compares inputs with outputs; there are 1 input and 0" in (
        capsys.readouterr().err
    )


def test_a_mesh_is_refused(capsys: Capture) -> None:
    """Programs run on one chip: nothing is said to pass that another chip has to do."""
    b = program("Exp")
    b.operations[0]["type"] |= {"mesh": (1, 2), "chip_ids": [0, 1], "mesh_shape": [1, 2]}
    Path("mesh.ttnn").write_bytes(b.pack())
    assert record("run", "mesh.ttnn") == 1
    assert results("run")[0]["result"] == "error"
    assert (
        'operation 0 (GetDeviceOp, loc("GetDeviceOp")): the program is for a mesh of 2 chips, '
        "[0, 1]; programs run here on one chip: compile the model for a mesh of one, or run the "
        "file on cards"
    ) in capsys.readouterr().err


def test_loops_are_bounded(capsys: Capture) -> None:
    """Each leaves something in the results."""
    assert run("run", "exp.ttnn", "--loops", "1000001") == 1
    assert "--loops must lie between 1 and 1000000, got 1000001" in capsys.readouterr().err


def test_the_reference_counts_as_memory(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps numbers of 64 bits beside those of the run."""
    b = ProgramBuilder()
    x = b.to_device(b.input((1024, 4096)))
    b.output(b.eltwise("Exp", [b.eltwise("Abs", [x])]))
    Path("large.ttnn").write_bytes(b.pack())
    monkeypatch.setenv("TTMLIR_MEMORY_GIB", "0.08")
    assert run("run", "large.ttnn") == 0
    assert run("run", "large.ttnn", "--golden") == 1
    assert "comparing with its reference takes " in capsys.readouterr().err


ROWS = 7


@pytest.mark.parametrize("init", ["randn", "rand", "arange", "zeros", "ones"])
@pytest.mark.parametrize("element", ["i64", "i32", "ui32", "bf16", "f32"])
@pytest.mark.parametrize("rows", [1, ROWS, 100])
def test_made_up_row_numbers_are_in_the_table(init: str, element: str, rows: int) -> None:
    """Also behind moves, changes of the shape and arithmetic of integers."""
    b = ProgramBuilder()
    numbers = b.to_device(b.input((6, 50), element))
    numbers = b.compute(
        "ReshapeOp", (300,), element, out_field="out", **{"in": numbers, "shape": [300]}
    )
    if element == "i32":
        numbers = b.eltwise("Abs", [numbers], element=element)
    table = b.to_device(b.input((rows, 32)))
    b.output(b.compute("EmbeddingOp", (300, 32), out_field="output", input=numbers, weight=table))
    Path("rows.ttnn").write_bytes(b.pack())
    assert run("run", "rows.ttnn", "--init", init) == 0


def test_the_largest_bf16_row_number_is_in_the_table() -> None:
    """511 is no bf16 number, and 512 would be no row."""
    b = ProgramBuilder()
    numbers = b.to_device(b.input((4000,), "bf16"))
    table = b.to_device(b.input((512, 32)))
    b.output(b.compute("EmbeddingOp", (4000, 32), out_field="output", input=numbers, weight=table))
    Path("rows.ttnn").write_bytes(b.pack())
    assert run("run", "rows.ttnn") == 0


def test_artifacts_are_below_the_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As the book has it; a folder that is given comes first."""
    monkeypatch.setenv("TT_MLIR_HOME", str(tmp_path / "home"))
    assert run("run", "exp.ttnn", "--save-artifacts") == 0
    assert (tmp_path / "home" / "ttrt-artifacts" / "exp.ttnn" / "exp.ttnn").exists()
    assert not Path("ttrt-artifacts").exists()
    assert run("run", "exp.ttnn", "--save-artifacts", "--artifact-dir", "own") == 0
    assert Path("own/exp.ttnn/exp.ttnn").exists()


def test_the_runtime_says_what_it_executes(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the variable of tt-mlir's runtime."""
    said = dict[str, str]()
    for level in ("Trace", "debug", "Info"):
        monkeypatch.setenv("TTMLIR_RUNTIME_LOGGER_LEVEL", level)
        assert run("run", "exp.ttnn", "--golden") == 0
        said[level] = capsys.readouterr().err
    start = " | DEBUG | Runtime | Starting execution of program: forward\n"
    operation = ' | TRACE | Runtime | Executing operation: "ttnn.exp"() loc("Exp")\n'
    assert [start in text for text in said.values()] == [True, True, False]
    assert [operation in text for text in said.values()] == [True, False, False]
    monkeypatch.setenv("TTMLIR_RUNTIME_LOGGER_LEVEL", "loud")
    assert run("run", "exp.ttnn") == 1
    assert "TTMLIR_RUNTIME_LOGGER_LEVEL is 'LOUD'; supported are TRACE," in capsys.readouterr().err


def test_the_level_of_the_log(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """In any case of letters, with the words of tt-mlir's loggers; other words are refused."""
    for level, is_said in (("Debug", True), ("TRACE", True), ("Info", False)):
        monkeypatch.setenv("TTRT_LOGGER_LEVEL", level)
        assert run("run", "exp.ttnn", "--save-artifacts") == 0
        assert (" - DEBUG - " in capsys.readouterr().err) == is_said
    monkeypatch.setenv("TTRT_LOGGER_LEVEL", "loud")
    assert run("run", "exp.ttnn") == 1
    assert "TTRT_LOGGER_LEVEL is 'LOUD'; supported are DEBUG," in capsys.readouterr().err


def test_golden_names_the_first_operation_that_is_off(capsys: Capture) -> None:
    """In device numerics a sine of large bf16 numbers has little to do with the exact one."""
    b = ProgramBuilder()
    x = b.to_device(b.input((64, 64)))
    y = b.eltwise("Multiply", [x, x], element="bf16", debug_info='"ttnn.multiply"() loc("square")')
    for i in range(6):
        y = b.eltwise("Multiply", [y, y], element="bf16", debug_info=f'"x"() loc("power{i}")')
    b.output(b.eltwise("Sin", [y], element="f32", debug_info='"ttnn.sin"(%9) loc("far.py":7:2)'))
    Path("sine.ttnn").write_bytes(b.pack())
    options = ("run", "sine.ttnn", "--golden", "--init", "rand", "--seed", "3")
    assert run(*options) == 0
    capsys.readouterr()
    code = run(*options, "--numerics", "device", "--pcc", "0.999999999", "--rtol-allclose", "0")
    assert code == 42
    error = capsys.readouterr().err
    assert "is the first that differs from its reference: pcc" in error
    assert 'ttnn.multiply) at loc("square")' in error


def test_random_inputs_that_are_no_places(capsys: Capture) -> None:
    """The message says that inputs of a call are wanted; with these there is no such hint."""
    torch: Any = pytest.importorskip("torch")
    examples = torch.ones(3, 4), torch.zeros(3, 2, dtype=torch.int64)
    ttmlir.compile(lambda x, i: torch.gather(x, 1, i), *examples).save("pick.ttnn")
    assert run("run", "--golden", "pick.ttnn") == 1
    error = capsys.readouterr().err
    assert (
        "picked from a dimension of 4.; these are random inputs (--init randn): --inputs" in error
    )
    for place, status in ((9, 1), (3, 0)):
        inputs = np.ones((3, 4), np.float32), np.full((3, 2), place, np.int32)
        np.savez("inputs.npz", *inputs)
        assert run("run", "--inputs", "inputs.npz", "pick.ttnn") == status
        assert "random inputs" not in capsys.readouterr().err


def test_loops_and_programs() -> None:
    """Every loop has its duration; one program can be chosen."""
    other = ProgramBuilder("other", first_id=100)
    other.output(other.eltwise("Neg", [other.to_device(other.input((3, 4)))]))
    Path("two.ttnn").write_bytes(program("Exp").pack(other))
    assert record("run", "two.ttnn", "--loops", "3") == 0
    assert [entry["program_index"] for entry in results("run")] == ["0", "1"]
    durations = results("run")[0]["program_results"]
    assert isinstance(durations, dict)
    assert list(durations) == ["0", "1", "2"]
    assert all(value["duration_ns"] > 0 for value in durations.values())
    assert record("run", "two.ttnn", "--program-index", "1", "--outputs", "y.npz") == 0
    with np.load("y.npz") as saved:
        assert saved["output_0"].shape == (3, 4)
    assert record("run", "two.ttnn", "--outputs", "y.npz") == 0
    with np.load("y.npz") as saved:
        assert set(saved) == {"program_0_output_0", "program_1_output_0"}


def test_a_broken_program_does_not_keep_the_others_from_running(capsys: Capture) -> None:
    """The first of two programs uses a tensor that nothing computes."""
    broken = ProgramBuilder("broken", first_id=100)
    broken.output(broken.eltwise("Neg", [broken.ref((3, 4), "f32", "DeviceDRAM", tiled=True)]))
    Path("two.ttnn").write_bytes(broken.pack(program("Exp")))
    assert record("run", "two.ttnn") == 1
    assert "tensor 100 is used before it is computed" in capsys.readouterr().err
    assert [entry["result"] for entry in results("run")] == ["error", "pass"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--program-index", "1"), "exp.ttnn: there is no program 1; the file has 1"),
        (("--program-index", "x"), "--program-index must be 'all' or a number, got 'x'"),
        (("--loops", "0"), "--loops must lie between 1 and 1000000, got 0"),
        (("--pcc", "2"), "--pcc must lie between 0 and 1"),
        (("--pcc", "-0.1"), "--pcc must lie between 0 and 1, got -0.1"),
        (("--board", "n1"), "there is no board 'n1'; supported are default, n150"),
        (("--init", "torch"), "'torch' is not one of"),
        (("--nonsense",), "No such option"),
    ],
)
def test_bad_options(options: Sequence[str], message: str, capsys: Capture) -> None:
    """Status 1 and a sentence."""
    assert run("run", "exp.ttnn", *options) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "options", [("--pcc", "0"), ("--pcc", "1"), ("--loops", "1"), ("--program-index", "0")]
)
def test_options_at_the_ends_of_their_ranges(options: Sequence[str]) -> None:
    """The ends belong to the range."""
    assert run("run", "exp.ttnn", *options) == 0


def test_artifacts(workspace: Path) -> None:
    """Copies, tensors and descriptions have their places; cleaning removes the old ones."""
    stale = Path("ttrt-artifacts/stale.txt")
    stale.parent.mkdir()
    stale.touch()
    options = ("--clean-artifacts", "--save-artifacts", "--save-golden-tensors")
    assert record("run", "exp.ttnn", *options) == 0
    found = {str(p.relative_to(workspace)) for p in Path(workspace).rglob("*") if p.is_file()}
    folder = "ttrt-artifacts/exp.ttnn"
    assert found == {
        "exp.ttnn",
        "run_results.json",
        "ttrt_report.xml",
        "ttrt-artifacts/system_desc.ttsys",
        f"{folder}/exp.ttnn",
        f"{folder}/system_desc.ttsys",
        f"{folder}/run/program_0/program_0_input_0.npy",
        f"{folder}/run/program_0/program_0_output_0.npy",
        f"{folder}/run/program_0/program_0_golden_4.npy",
        f"{folder}/run/program_0/program_0_golden_6.npy",
        f"{folder}/run/program_0/golden_report.json",
    }
    x = np.load(f"{folder}/run/program_0/program_0_input_0.npy")
    golden = np.load(f"{folder}/run/program_0/program_0_golden_4.npy")
    np.testing.assert_allclose(golden, np.exp(x.astype(np.float64)))
    assert Path(f"{folder}/exp.ttnn").read_bytes() == Path("exp.ttnn").read_bytes()


def test_artifacts_elsewhere(tmp_path: Path) -> None:
    """--artifact-dir is the artifacts folder itself."""
    assert run("run", "exp.ttnn", "--artifact-dir", "out", "--save-artifacts") == 0
    assert Path("out/exp.ttnn/run/program_0/program_0_output_0.npy").exists()
    assert not Path("ttrt-artifacts").exists()


def test_folders_are_searched_and_errors_do_not_stop_the_rest(capsys: Capture) -> None:
    """One damaged file, one of another kind, one sound: status 1, all reported."""
    Path("all/deep").mkdir(parents=True)
    sound = Path("exp.ttnn").read_bytes()
    Path("all/deep/sound.ttnn").write_bytes(sound)
    Path("all/cut.ttnn").write_bytes(sound[:200])
    Path("all/metal.ttm").write_bytes(sound[:8] + b"TTM0" + sound[12:])
    assert record("run", "all") == 1
    outcome = {str(e["file_path"]): e["result"] for e in results("run")}
    assert outcome == {
        "all/cut.ttnn": "error",
        "all/deep/sound.ttnn": "pass",
        "all/metal.ttm": "error",
    }
    error = capsys.readouterr().err
    assert "all/cut.ttnn: size prefix at byte 0: the file is truncated" in error
    assert "all/metal.ttm: " in error
    suite = ElementTree.parse("ttrt_report.xml").getroot()[0]
    assert suite.attrib == {
        "name": "ttrt run",
        "tests": "3",
        "failures": "0",
        "errors": "2",
        "skipped": "0",
    }
    assert [len(case) for case in suite] == [1, 0, 1]


def test_missing_files(capsys: Capture) -> None:
    """No file, an empty folder, no argument."""
    Path("empty").mkdir()
    assert run("run", "nope.ttnn") == 1
    assert "nope.ttnn: No such file or directory" in capsys.readouterr().err
    assert run("run", "empty") == 1
    assert "the folder holds no .ttnn or .ttm files" in capsys.readouterr().err
    assert run("run") == 1
    assert "Missing argument 'BINARY...'" in capsys.readouterr().err


def test_other_versions_run_with_a_warning(capsys: Capture) -> None:
    """A file that fits is run; --ignore-version says nothing."""
    Path("old.ttnn").write_bytes(program("Exp").pack(version=(0, 0, 200)))
    assert run("run", "old.ttnn") == 0
    assert "written by tt-mlir 0.0.200" in capsys.readouterr().err
    assert run("run", "old.ttnn", "--ignore-version") == 0
    assert "0.0.200" not in capsys.readouterr().err


def test_files_for_another_board_are_skipped_if_a_board_is_asked_for(capsys: Capture) -> None:
    """Without --board, the system that the file was compiled for is simulated."""
    Path("two.ttnn").write_bytes(program("Exp").pack(system="n300"))
    assert record("run", "two.ttnn") == 0
    assert record("run", "two.ttnn", "--board", "n300") == 0
    assert record("run", "two.ttnn", "--board", "n150") == 1
    message = capsys.readouterr().err
    assert "compiled for another system than board 'n150'" in message
    assert (
        "nothing ran; compile the program again for it, with the option system-desc-path=n150"
        in message
    )
    assert "or board='n150' of ttmlir.compile" in message
    assert results("run")[0]["result"] == "skip"


def test_messages_go_to_the_log_file(capsys: Capture) -> None:
    """Then the terminal stays empty; quiet drops what is no warning."""
    assert run("run", "exp.ttnn", "--log-file", "ttrt.log") == 0
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    assert "program 0 'forward': pass" in Path("ttrt.log").read_text()
    assert run("run", "exp.ttnn", "--quiet") == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("option", ["--log-file", "--result-file"])
def test_files_that_cannot_be_written(option: str, capsys: Capture) -> None:
    """A sentence, not a traceback."""
    Path("file").touch()
    assert run("run", "exp.ttnn", option, "file/name") == 1
    assert "file/name: cannot be written: " in capsys.readouterr().err


def test_a_log_that_cannot_be_written_any_more_goes_on_at_standard_error(capsys: Capture) -> None:
    """The reason is said once, and no message is lost."""
    logger = Logger("logs")
    logger.info("first")
    assert Path("logs").read_text().endswith(" - INFO - first\n")
    Path("logs").unlink()
    Path("logs").mkdir()
    logger.info("second")
    Path("logs").rmdir()
    logger.warning("third")
    warning, *messages = capsys.readouterr().err.splitlines()
    assert warning == ("warning: logs: cannot be written: Is a directory; messages follow here")
    assert [each.partition(" - ")[2] for each in messages] == ["INFO - second", "WARNING - third"]
    assert not Path("logs").exists()


def test_results_are_json_that_any_reader_takes() -> None:
    """No NaN, which JSON has not."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        results_as_json([Result(file_path="x", details={"pcc": math.nan})])


SECTIONS_OF_TTM = ("version", "system_desc", "mlir", "cpp", "inputs", "outputs")


def test_sections_of_programs_of_kernels(capsys: Capture) -> None:
    """Each is the part of the whole file that it is named after, indented in the same way."""
    path = str(Path(__file__).parents[2] / "golden" / "multiply_3d.ttm")

    def section(name: str) -> str:
        assert run("read", path, "--section", name) == 0
        return capsys.readouterr().out

    whole = json.loads(section("all"))
    assert section("all") == json.dumps(whole, indent=2) + "\n"
    assert section("system_desc") == json.dumps(whole["system_desc"], indent=2) + "\n"
    [program] = whole["programs"]
    for name in ("inputs", "outputs"):
        assert section(name) == json.dumps({"forward": program[name]}, indent=2) + "\n"
    [device] = program["device_programs"]
    expected = ["program[0]: forward"]
    for command in device["command_queues"][0]["commands"]:
        if command["type_type"] == "EnqueueProgramCommand":
            expected.append("// " + command["debug_info"])
            kernels = command["type"]["program"]["kernels"]
            expected += [each["kernel"]["source"].strip() for each in kernels]
    assert section("cpp") == "\n".join(expected) + "\n"
    numbers = whole["version"]
    version = f"{numbers['major']}.{numbers['minor']}.{numbers['patch']}"
    assert section("version") == (
        f"version: {version}\ntt-mlir git hash: {whole['ttmlir_git_hash']}\n"
    )
    assert run("read", path, "--section", "op_stats") == 1
    available = ", ".join(("summary", "all", *SECTIONS_OF_TTM))
    message = f"{path}: there is no section 'op_stats'; it has {available}\n"
    assert capsys.readouterr().err.endswith(message)


def test_tensors_and_memory_are_shown(capsys: Capture) -> None:
    """On request."""
    assert record("run", "exp.ttnn", "--print-input-output-tensors", "--memory") == 0
    captured = capsys.readouterr()
    assert "input 0: float32 (5, 33)" in captured.out
    assert "output 0: float32 (5, 33)" in captured.out
    # The input and the two results, in two tiles each.
    tiles = 2 * 32 * 32 * 4
    assert results("run")[0]["peak_memory_bytes"] == {"dram": 3 * tiles}


# --- query, check, perf -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("board", "arch", "chips"),
    [("default", "Wormhole_b0", 1), ("n300", "Wormhole_b0", 2), ("p150", "Blackhole", 1)],
)
def test_query_describes_boards(board: str, arch: str, chips: int, capsys: Capture) -> None:
    """JSON on standard output; a file with the artifacts."""
    assert run("query", "--board", board, "--save-artifacts") == 0
    described = json.loads(capsys.readouterr().out)
    assert described["chip_descs"][0]["arch"] == arch
    assert len(described["chip_desc_indices"]) == chips
    assert run("read", "ttrt-artifacts/system_desc.ttsys", "--section", "system_desc") == 0
    assert json.loads(capsys.readouterr().out) == described


def test_check_lists_what_differs(capsys: Capture) -> None:
    """Against a board with two chips, and a folder of descriptions."""
    assert run("check", "exp.ttnn") == 0
    assert run("query", "--board", "n300", "--save-artifacts", "--quiet") == 0
    capsys.readouterr()
    assert run("check", "exp.ttnn", "--system-desc", "ttrt-artifacts") == 1
    error = capsys.readouterr().err
    assert "does not match ttrt-artifacts/system_desc.ttsys" in error
    assert "system_desc.chip_desc_indices: expected 2 entries, got 1" in error
    Path("empty").mkdir()
    assert run("check", "exp.ttnn", "--system-desc", "empty") == 1
    assert "the folder holds no .ttsys files" in capsys.readouterr().err
    assert run("check", "exp.ttnn", "--system-desc", "exp.ttnn") == 1
    assert "expected a system description, got a program (TTNN)" in capsys.readouterr().err


def test_check_takes_programs_of_both_kinds(capsys: Capture) -> None:
    """TTMetal programs have a system as well; system descriptions are no programs."""
    golden = Path(__file__).parents[2] / "golden"
    assert run("check", str(golden / "dram_to_l1.ttm")) == 0
    assert run("check", str(golden / "one_chip.ttsys")) == 1
    assert "expected a program, got a system description" in capsys.readouterr().err


def test_read_shows_the_kernels_of_ttmetal_programs(capsys: Capture) -> None:
    """Section cpp of a .ttm file."""
    golden = Path(__file__).parents[2] / "golden"
    assert run("read", str(golden / "dram_to_l1.ttm"), "--section", "cpp") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("program[0]: ")
    assert "void kernel_main()" in shown


def test_perf_times_every_operation(capsys: Capture) -> None:
    """A CSV row per operation and loop, and a summary."""
    assert run("perf", "exp.ttnn", "--loops", "2", "--host-only") == 0
    assert "ttnn.exp" in capsys.readouterr().out
    with open("ttrt-artifacts/exp.ttnn/perf/ops_perf_results.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 16
    assert {row["OP CODE"] for row in rows} >= {"ttnn.get_device", "ttnn.to_memory_config"}
    row = next(row for row in rows if row["OP CODE"] == "ttnn.exp")
    assert row["LOC"] == '"Exp"'
    extents = (row["INPUT_0_Y_PAD[LOGICAL]"], row["INPUT_0_X_PAD[LOGICAL]"])
    assert (*extents, row["INPUT_0_LAYOUT"]) == ("32[5]", "64[33]", "TILE")
    assert row["OUTPUT_0_DATATYPE"] == "FLOAT32"
    assert row["DEVICE FW DURATION [ns]"] == ""
    start, end = int(row["HOST START TS"]), int(row["HOST END TS"])
    assert int(row["HOST DURATION [ns]"]) == end - start > 0


# --- the tool -----------------------------------------------------------------------------------


def test_real_processes(workspace: Path) -> None:
    """The installed script: status and streams."""
    script = str(Path(sys.executable).with_name("ttrt"))

    def process(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([script, *arguments], capture_output=True, text=True, check=False)

    assert process("--version").stdout.startswith("ttrt, version")
    assert "Time operations" in process("--help").stdout
    done = process("run", "exp.ttnn", "--loops", "20")
    assert done.returncode == 0
    assert "pass" in done.stderr
    assert done.stdout == ""
    assert process("run", "exp.ttnn", "--identity").returncode == 42
    failed = process("run", "nope.ttnn")
    assert failed.returncode == 1
    assert "Traceback" not in failed.stderr


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_progress_counts_all(quiet: bool, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a bar or without."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    assert list(progress(count, "loops", quiet)) == list(range(count))


def test_progress_is_shown_on_a_terminal_only() -> None:
    """A pseudo-terminal gets a bar for what takes longer than the patience of somebody."""

    def shown(*arguments: str, patience: float = 0) -> str:
        script = (
            "import sys, ttmlir.terminal; from ttmlir.tools.ttrt import main\n"
            f"ttmlir.terminal.PATIENCE = {patience}\n"
            "sys.exit(main(sys.argv[1:]))\n"
        )
        command = [sys.executable, "-c", script, *arguments]
        master, slave = pty.openpty()
        with subprocess.Popen(command, stderr=slave, stdout=slave) as process:
            os.close(slave)
            text = b""
            while chunk := _read_terminal(master):
                text += chunk
            assert process.wait() == 0
        os.close(master)
        return text.decode()

    assert "%" in shown("run", "exp.ttnn", "--loops", "3000")
    assert "%" not in shown("run", "exp.ttnn", "--loops", "300", patience=600)
    assert "%" not in shown("run", "exp.ttnn", "--loops", "300", "--quiet")


def _read_terminal(master: int) -> bytes:
    """What the terminal shows next; nothing once the process has closed it."""
    try:
        return os.read(master, 65536)
    except OSError:
        return b""


def test_help_does_not_load_the_runtime() -> None:
    """Listing options of one command needs no NumPy."""
    code = (
        "import sys; from ttmlir.tools.ttrt import main; main(['check', '--help']); "
        "sys.exit('rich' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0
