"""`ttrt run --golden` compares outputs with those of the framework that a program comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.randomness import TestGenerator

from ttmlir.compiler import lower, write_ttnn
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.runtime import load_binary
from ttmlir.target.flatbuffer.tensors import Golden
from ttmlir.tools.ttrt import main

Capture = pytest.CaptureFixture[str]
CONSTRAINT = "#tt.operand_constraint<dram|l1|scalar|tile|any_layout|any_device|any_device_tile>"
TEXT = f"""
func.func @main(%a: tensor<3x5xf32>, %b: tensor<5xf32>) -> tensor<3x5xf32> {{
  %0 = tensor.empty() : tensor<3x5xf32>
  %1 = "ttir.subtract"(%a, %b, %0) <{{operandSegmentSizes = array<i32: 2, 1>,
      operand_constraints = [{CONSTRAINT}, {CONSTRAINT}, {CONSTRAINT}]}}>
      : (tensor<3x5xf32>, tensor<5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return %1 : tensor<3x5xf32>
}}
"""
RANDOM = TestGenerator(__name__)
A = RANDOM.standard_normal((3, 5)).astype(np.float32)
B = RANDOM.standard_normal(5).astype(np.float32)


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in an empty folder with a program and one that holds golden results."""
    monkeypatch.chdir(tmp_path)
    module = lower(TEXT)
    Path("plain.ttnn").write_bytes(write_ttnn(module))
    golden = Golden(inputs=[A, B], outputs=[A - B])
    Path("golden.ttnn").write_bytes(write_ttnn(module, golden=golden))
    Path("wrong.ttnn").write_bytes(write_ttnn(module, golden=Golden(inputs=[A, B], outputs=[A])))
    return tmp_path


def run(*arguments: str) -> int:
    """Exit status of a run whose results `outputs_of` reads."""
    return main(["run", "--result-file", "run_results.json", *arguments])


def outputs_of(path: str = "run_results.json") -> list[dict[str, Any]]:
    """What a run found about its outputs."""
    return json.loads(Path(path).read_text())[0]["golden_outputs"]


@pytest.mark.parametrize("numerics", ["exact", "device"])
def test_the_results_in_a_file_are_compared(numerics: str, capsys: Capture) -> None:
    """Right results pass, others end with status 42 and say how far they are off."""
    assert run("--golden", "--numerics", numerics, "golden.ttnn") == 0
    assert "golden ok  output 0: pcc 1.000000, max abs error" in capsys.readouterr().err
    [found] = outputs_of()
    assert found["passed"] is True
    assert found["output"] == 0
    assert run("--golden", "--numerics", numerics, "wrong.ttnn") == 42
    assert "differs from what its file or --golden-file expects: output 0" in (
        capsys.readouterr().err
    )
    [found] = outputs_of()
    assert found["max_absolute_error"] == pytest.approx(np.abs(B).max(), rel=1e-5)


def test_other_inputs_are_not_compared_with_the_file() -> None:
    """Without --golden, or with inputs of the user's, the file's results say nothing."""
    assert main(["run", "wrong.ttnn"]) == 0
    assert main(["run", "--golden", "--init", "ones", "wrong.ttnn"]) == 0
    assert main(["run", "--golden", "--seed", "1", "wrong.ttnn"]) == 0


@pytest.mark.parametrize(
    "entries",
    [
        {"input_0": A, "input_1": B, "output_0": A - B},
        {"output0": A - B, "input1": B, "input0": A},
        {"a": A, "b": B, "c": A - B},
    ],
    ids=["names", "any order", "no names"],
)
def test_a_golden_file_gives_inputs_and_outputs(entries: dict[str, Any]) -> None:
    """Arrays are told by their names, or by their order if no name says anything."""
    np.savez("golden.npz", **entries)
    assert run("--golden", "--golden-file", "golden.npz", "plain.ttnn") == 0
    assert outputs_of()[0]["actual_pcc"] == pytest.approx(1)
    np.savez("golden.npz", **{**entries, next(k for k in entries if k[0] in "oc"): A + B})
    assert main(["run", "--golden-file", "golden.npz", "plain.ttnn"]) == 42


def test_outputs_alone_go_with_given_inputs() -> None:
    """Expected outputs can be checked for inputs of another file."""
    np.savez("inputs.npz", a=A, b=B)
    np.savez("outputs.npz", output_0=A - B)
    given = ["--inputs", "inputs.npz", "--golden-file", "outputs.npz"]
    assert main(["run", *given, "plain.ttnn"]) == 0
    np.savez("outputs.npz", output_0=B - A)
    assert main(["run", *given, "plain.ttnn"]) == 42


@pytest.mark.parametrize(
    ("entries", "options", "message"),
    [
        ({"output_0": A}, [], "has no inputs; give them with --inputs"),
        ({"input_0": A, "input_1": B}, [], "there are no expected outputs; call them output_0"),
        ({"input_0": A, "x": B, "output_0": A}, [], "x are neither inputs nor outputs"),
        ({"input_0": A, "input_1": B, "output_0": B}, [], "expected were [(5,)]"),
        ({"input_0": A, "output_0": A}, [], "takes 2 inputs, got 1"),
        (
            {"input_0": A, "input_1": B, "output_0": A},
            ["--inputs", "golden.npz"],
            "has inputs of its own; leave --inputs out",
        ),
    ],
)
def test_refusals(
    entries: dict[str, Any], options: list[str], message: str, capsys: Capture
) -> None:
    """A file that does not fit is a failure, not a wrong number."""
    np.savez("golden.npz", **entries)
    assert main(["run", "--golden-file", "golden.npz", *options, "plain.ttnn"]) == 1
    assert message in capsys.readouterr().err


def test_every_element_type_survives() -> None:
    """Arrays are read as they were written, those of bfloat16 and without elements included."""
    dtypes = (*("f4", "f2", "f8", "?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8"),)
    for dtype in (*map(np.dtype, dtypes), np.dtype(ml_dtypes.bfloat16)):
        array = RANDOM.integers(0, 2, (3, 5)).astype(dtype)
        module = lower(TEXT)
        golden = Golden(inputs=[A.T.copy().T, B], outputs=[array], function="main")
        Path("file.ttnn").write_bytes(write_ttnn(module, golden=golden))
        read = load_binary("file.ttnn").programs[0].golden
        assert read is not None
        assert read.outputs[0].dtype == dtype
        np.testing.assert_array_equal(read.outputs[0], array)
        np.testing.assert_array_equal(read.inputs[0], A)


@pytest.mark.parametrize(
    ("golden", "message"),
    [
        (Golden(inputs=[A], outputs=[A]), "golden inputs have the shapes [(3, 5)]; those of"),
        (Golden(inputs=[A, B], outputs=[B]), "golden outputs have the shapes [(5,)]; those of"),
        (Golden(inputs=[A, B], outputs=[A], function="f"), "name one of main"),
        (
            Golden(inputs=[A, B], outputs=[A.astype(np.complex64)]),
            "output_0 has element type complex64; supported are float32",
        ),
    ],
)
def test_golden_results_that_do_not_fit(golden: Golden, message: str) -> None:
    """The writer refuses results of another program."""
    with pytest.raises(DiagnosticError) as caught:
        write_ttnn(lower(TEXT), golden=golden)
    assert message in str(caught.value)
