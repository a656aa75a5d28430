"""`ttrt` on `.ttm` files: programs of kernels on the simulator."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from ttmlir.compiler import compile_to_ttm
from ttmlir.tools.ttrt import main

Capture = pytest.CaptureFixture[str]
GOLDEN = Path(__file__).resolve().parents[2] / "golden"

MODEL = """
#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @forward(%x: tensor<33x70xf32>, %b: tensor<1x70xf32>) -> tensor<33x70xf32> {
  %0 = tensor.empty() : tensor<33x70xf32>
  %1 = "ttir.clamp"(%x, %0) <{max = 1.0 : f32, min = -0.5 : f32, operand_constraints = [#any, #any],
      operandSegmentSizes = array<i32: 1, 1>}>
      : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  %2 = tensor.empty() : tensor<33x70xf32>
  %3 = "ttir.subtract"(%1, %b, %2) <{operand_constraints = [#any, #any, #any],
      operandSegmentSizes = array<i32: 2, 1>}>
      : (tensor<33x70xf32>, tensor<1x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %3 : tensor<33x70xf32>
}
"""


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in an empty folder with a program `model.ttm`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TTRT_LOGGER_LEVEL", raising=False)
    monkeypatch.delenv("LOGGER_LEVEL", raising=False)
    Path("model.ttm").write_bytes(compile_to_ttm(MODEL))
    return tmp_path


def run(*arguments: str) -> int:
    """Exit status of the command."""
    return main(list(arguments))


def test_given_inputs_give_numpys_outputs() -> None:
    """Inputs from files, outputs to a file."""
    rng = np.random.default_rng(4)
    x = rng.standard_normal((33, 70)).astype(np.float32)
    b = rng.standard_normal((1, 70)).astype(np.float32)
    np.savez("inputs.npz", x, b)
    assert run("run", "--inputs", "inputs.npz", "--outputs", "y.npy", "model.ttm") == 0
    np.testing.assert_allclose(np.load("y.npy"), np.clip(x, -0.5, 1) - b, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("numerics", ["exact", "device"])
def test_golden_run_names_every_program(numerics: str, capsys: Capture) -> None:
    """Each program of kernels is compared with what it means."""
    assert run("run", "--golden", "--numerics", numerics, "model.ttm") == 0
    shown = capsys.readouterr().err
    for name in ("ttir.clamp", "ttir.subtract", "tilize", "untilize"):
        assert f" {name} loc(" in shown


def test_golden_run_follows_rows_that_are_repeated() -> None:
    """Rows of the smaller operand are repeated in groups, by a kernel that only moves numbers."""
    shapes = "(tensor<5x7x45xf32>, tensor<5x1x45xf32>, tensor<5x7x45xf32>) -> tensor<5x7x45xf32>"
    source = (
        MODEL.partition("func.func")[0]
        + f"""
    func.func @f(%x: tensor<5x7x45xf32>, %y: tensor<5x1x45xf32>) -> tensor<5x7x45xf32> {{
      %0 = tensor.empty() : tensor<5x7x45xf32>
      %1 = "ttir.add"(%x, %y, %0) <{{operand_constraints = [#any, #any, #any],
          operandSegmentSizes = array<i32: 2, 1>}}> : {shapes}
      return %1 : tensor<5x7x45xf32>
    }}"""
    )
    Path("rows.ttm").write_bytes(compile_to_ttm(source))
    assert run("run", "--golden", "--outputs", "y.npy", "rows.ttm") == 0


@pytest.mark.parametrize("name", ["chain", "multiply_3d", "dram_to_l1", "one_core_to_four"])
def test_files_of_tt_mlir_run_golden(name: str) -> None:
    """Their kernels say by their calls what they compute."""
    assert run("run", "--golden", str(GOLDEN / f"{name}.ttm")) == 0


def test_golden_refuses_kernels_without_a_reference(capsys: Capture) -> None:
    """Calls that tt-mlir's kernels do not make, in a file that does not say what they mean."""
    data = (GOLDEN / "multiply_3d.ttm").read_bytes()
    Path("other.ttm").write_bytes(data.replace(b"mul_tiles", b"sub_tiles"))
    assert run("run", "other.ttm") == 0
    assert run("run", "--golden", "other.ttm") == 1
    assert "the file does not say what its kernels compute" in capsys.readouterr().err


def test_golden_finds_a_wrong_kernel(capsys: Capture) -> None:
    """The file says `subtract`, its kernel adds."""
    data = Path("model.ttm").read_bytes()
    assert b"sub_binary_tile(" in data
    Path("wrong.ttm").write_bytes(data.replace(b"sub_binary_tile", b"add_binary_tile"))
    assert run("run", "--golden", "wrong.ttm") == 42
    assert "(ttir.subtract) at loc(" in capsys.readouterr().err


def test_kernels_of_tt_mlir_use_tensors_in_place() -> None:
    """Without their leniency as well: pages of a tensor need no wait, they hold its numbers."""
    assert run("run", "--lenient", "cb-not-empty", "model.ttm") == 0
    assert run("run", "--lenient", "cb-not-empty", "--no-sanitize", "model.ttm") == 0


def test_schedules_and_late_copies_change_nothing() -> None:
    """A seed and delayed copies leave the results of sound kernels as they are."""
    for extra in ((), ("--schedule-seed", "5"), ("--delay-copies",)):
        assert run("run", *extra, "--outputs", "y.npz", "model.ttm") == 0
        with np.load("y.npz") as outputs:
            y = outputs["output_0"]
        if not extra:
            expected = y
        np.testing.assert_array_equal(y, expected)


def test_cycle_limit_stops_a_program(capsys: Capture) -> None:
    """With the limit in the message, and what still ran."""
    assert run("run", "--cycle-limit", "10", "model.ttm") == 1
    assert "takes more than 10 cycles" in capsys.readouterr().err
    assert run("run", "--cycle-limit", "0", "model.ttm") == 1
    assert "--cycle-limit must be at least 1, got 0" in capsys.readouterr().err


def test_perf_writes_tables_and_a_trace(capsys: Capture) -> None:
    """A row per program, a row per thread, a track per core and thread."""
    assert run("perf", "model.ttm") == 0
    assert "bound by" in capsys.readouterr().out
    folder = Path("ttrt-artifacts/model.ttm/perf")
    with (folder / "ops_perf_results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["OP CODE"].split()[-1] for row in rows if row["OP CODE"].startswith("forward")][
        :2
    ] == ["tilize", "clamp"]
    assert all(int(row["DEVICE KERNEL DURATION [ns]"]) > 0 for row in rows)
    with (folder / "threads.csv").open() as file:
        threads = list(csv.DictReader(file))
    assert {row["thread"] for row in threads} == {"UNPACK", "MATH", "PACK"}
    trace = json.loads((folder / "trace_0_forward.json").read_text())
    names = [e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"]
    assert names == ["UNPACK", "MATH", "PACK"]


def test_read_shows_kernels_and_module(capsys: Capture) -> None:
    """The C++ of every kernel, and the module that they were made from."""
    assert run("read", "--section", "cpp", "model.ttm") == 0
    assert "sub_binary_tile(" in capsys.readouterr().out
    assert run("read", "--section", "mlir", "model.ttm") == 0
    assert "ttmetal.dispatch" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["x/../../../../../escaped", "..\\\\escaped", "\\00", "a\\0Ab"])
def test_perf_writes_inside_its_folder_whatever_a_program_is_called(
    name: str, workspace: Path
) -> None:
    """The name of a program is no path, and a NUL or a line break in it does no harm."""
    folder = workspace / "a" / "b"
    folder.mkdir(parents=True)
    model = folder / "model.ttm"
    model.write_bytes(compile_to_ttm(MODEL.replace("@forward", f'@"{name}"')))
    artifacts = folder / "artifacts"
    assert run("perf", "--artifact-dir", str(artifacts), str(model)) == 0
    [trace] = artifacts.rglob("trace_0_*.json")
    assert trace.parent == artifacts / "model.ttm" / "perf"
    assert [path for path in workspace.rglob("*") if "trace" in path.name] == [trace]
    assert not [path for path in workspace.rglob("*") if "escaped" in path.name and path != trace]
