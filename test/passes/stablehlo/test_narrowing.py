"""f64 that devices keep as f32: said once per module, at the first place, and nothing refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from ttmlir.mlir.reporting import listening
from ttmlir.tools.opt.driver import run_opt
from ttmlir.tools.ttmlir_translate import main as translate

STABLEHLO = """\
func.func @f(%a: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = stablehlo.convert %a : (tensor<3x5xf32>) -> tensor<3x5xf64>
  %1 = stablehlo.abs %0 : tensor<3x5xf64>
  %2 = stablehlo.convert %1 : (tensor<3x5xf64>) -> tensor<3x5xf32>
  return %2 : tensor<3x5xf32>
}
"""
TOSA = """\
func.func @f(%a: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %0 = "tosa.abs"(%a) : (tensor<3x5xf64>) -> tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}
"""
LINALG = """\
func.func @f(%a: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %0 = math.absf %a : tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}
"""
MESSAGE = (
    "warning: tensors of f64 are kept as f32 on the device; the numerics 'exact' compute them in 64"
    " bits\n"
)


@pytest.mark.parametrize(
    ("text", "flag", "place"),
    [
        (STABLEHLO, "--stablehlo-to-ttnn-pipeline", "2:8"),
        (STABLEHLO, "--convert-stablehlo-to-ttir=spelling=2024", "2:8"),
        (TOSA, "--convert-tosa-to-ttir=spelling=2024", "1:1"),
        (LINALG, "--convert-linalg-to-ttir", "1:1"),
        (LINALG, "--convert-arith-to-ttir", "1:1"),
        (LINALG, "--linalg-to-ttnn-pipeline", "1:1"),
    ],
)
def test_the_command_line_warns_once(
    text: str, flag: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At the first tensor of f64, and the exit status stays 0."""
    file = tmp_path / "model.mlir"
    file.write_text(text)
    assert run_opt([flag, str(file)]) == 0
    seen = capsys.readouterr()
    assert seen.err.startswith(f"{file}:{place}: {MESSAGE}"), seen.err
    assert seen.err.count("warning") == 1
    assert "ttir." in seen.out or "ttnn." in seen.out


def test_writing_a_binary_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Unless warnings are not wanted."""
    source, lowered, binary = (tmp_path / name for name in ("f.mlir", "ttnn.mlir", "f.ttnn"))
    source.write_text(LINALG)
    assert run_opt(["--linalg-to-ttnn-pipeline", str(source), "-o", str(lowered)]) == 0
    assert capsys.readouterr().err.count(MESSAGE) == 1
    assert translate(["--ttnn-to-flatbuffer", str(lowered), "-o", str(binary)]) == 0
    assert capsys.readouterr().err.count(MESSAGE) == 1
    assert binary.stat().st_size > 0
    quiet = ["--ttnn-to-flatbuffer", "--error-diagnostics-only", str(lowered), "-o", str(binary)]
    assert translate(quiet) == 0
    assert capsys.readouterr().err == ""


def test_warnings_can_be_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By comments with `--verify-diagnostics`, in each part of a text."""
    expecting = f"// expected-warning @+2 {{{{tensors of f64 are kept as f32}}}}\n{STABLEHLO}"
    file = tmp_path / "model.mlir"
    file.write_text(f"{expecting}// -----\n{STABLEHLO}")
    flags = [
        "--split-input-file",
        "--verify-diagnostics",
        "--stablehlo-to-ttir-pipeline=spelling=2024",
    ]
    assert run_opt([*flags, str(file), "-o", "-"]) == 1
    assert f"{file}:10:8: error: unexpected warning: tensors of f64" in capsys.readouterr().err
    file.write_text(expecting)
    assert run_opt([*flags, str(file)]) == 0


def test_nothing_is_said_without_f64_or_without_listeners() -> None:
    """A library that is called from Python prints nothing."""
    from ttmlir.compiler import lower

    with listening() as warnings:
        _ = lower(STABLEHLO.replace("f64", "bf16"), "stablehlo-to-ttnn-pipeline")
    assert warnings == {}
    _ = lower(STABLEHLO, "stablehlo-to-ttnn-pipeline")
