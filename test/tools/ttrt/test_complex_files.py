"""`ttrt run` and `ttmlir-bisect` take complex arrays for pairs of tensors, and give them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ttmlir
from ttmlir.compiler import lower, write_ttnn
from ttmlir.interpreter.bisection import bisect
from ttmlir.tools.ttrt import main

TEXT = """
func.func @main(%z: tensor<2x3xcomplex<f32>>, %k: tensor<2x3xf32>)
    -> (tensor<2x3xf32>, tensor<2x3xcomplex<f32>>) {
  %0 = stablehlo.multiply %z, %z : tensor<2x3xcomplex<f32>>
  %1 = stablehlo.imag %0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
  %2 = stablehlo.add %1, %k : tensor<2x3xf32>
  return %2, %0 : tensor<2x3xf32>, tensor<2x3xcomplex<f32>>
}
"""
RANDOM = np.random.default_rng(7)
Z = (RANDOM.standard_normal((2, 3)) + 1j * RANDOM.standard_normal((2, 3))).astype(np.complex64)
K = RANDOM.standard_normal((2, 3)).astype(np.float32)


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder with arguments, results, a file of the compiler and one of the tools."""
    monkeypatch.chdir(tmp_path)
    np.save("z.npy", Z)
    np.save("k.npy", K)
    np.savez("golden.npz", input_0=Z, input_1=K, output_0=(Z * Z).imag + K, output_1=Z * Z)
    np.savez("in_order.npz", z=Z, k=K, sum=(Z * Z).imag + K, square=Z * Z)
    ttmlir.compile(TEXT).save("model.ttnn")
    Path("tools.ttnn").write_bytes(write_ttnn(lower(TEXT, "stablehlo-to-ttnn-pipeline")))


def run(*arguments: str) -> int:
    """Exit status of a run."""
    return main(["run", *arguments])


def test_inputs_and_outputs_are_complex() -> None:
    """Files that say how their model is called give complex arrays, others pairs."""
    inputs = ("--inputs", "z.npy", "--inputs", "k.npy")
    assert run(*inputs, "--outputs", "a.npz", "model.ttnn") == 0
    assert run(*inputs, "--outputs", "b.npz", "tools.ttnn") == 0
    with np.load("a.npz") as model, np.load("b.npz") as tools:
        np.testing.assert_allclose(model["output_1"], Z * Z, rtol=1e-6)
        assert sorted(tools) == ["output_0", "output_1", "output_2"]
        np.testing.assert_array_equal(tools["output_1"], model["output_1"].real)
        np.testing.assert_array_equal(tools["output_2"], model["output_1"].imag)


@pytest.mark.parametrize("golden", ["golden.npz", "in_order.npz"])
def test_golden_results_are_complex(golden: str) -> None:
    """Each part is compared."""
    for file in ("model.ttnn", "tools.ttnn"):
        assert run("--golden", "--golden-file", golden, file) == 0
    np.savez("golden.npz", input_0=Z, input_1=K, output_0=(Z * Z).imag + K, output_1=Z)
    assert run("--golden", "--golden-file", "golden.npz", "model.ttnn") == 42


def test_two_many_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    """The message says what a complex array counts as."""
    assert run("--inputs", "z.npy", "--inputs", "z.npy", "model.ttnn") == 1
    assert "takes 3 inputs, got 4; a complex array is two of them" in capsys.readouterr().err


def test_bisection() -> None:
    """With complex arguments and results of a framework."""
    report = bisect(TEXT, [Z, K], framework_results=[(Z * Z).imag + K, Z * Z])
    assert report.agrees
    assert not bisect(TEXT, [Z, K], framework_results=[(Z * Z).imag + K, Z]).agrees
    assert bisect(TEXT).agrees
