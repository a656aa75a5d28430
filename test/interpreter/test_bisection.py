"""Wrong rules are found, by the operation that they were applied to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ttmlir.compiler import parse
from ttmlir.dialects import d2m, ttnn
from ttmlir.dialects.definition.ods import SEGMENTS
from ttmlir.interpreter.bisection import bisect, bisect_module
from ttmlir.interpreter.file_levels import KernelFile
from ttmlir.interpreter.levels import name_operations, source_dialect
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import replace
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.passes.stablehlo import convert_stablehlo_to_ttir
from ttmlir.passes.ttir.decomposition import ttir_decomposition_contraction
from ttmlir.passes.ttnn.conversion import convert_ttir_to_ttnn
from ttmlir.runtime.tensor import Numerics
from ttmlir.tools.ttmlir_bisect import main

MODELS = Path(__file__).resolve().parents[1] / "models"
MLP = (MODELS / "mlp.mlir").read_text()

ATTENTION = """module {
  func.func private @scores(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>) -> tensor<2x3x5xf32> {
    %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2]
        : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
    return %0 : tensor<2x3x5xf32>
  }
  func.func @main(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>) -> tensor<2x3xf32> {
    %0 = call @scores(%q, %k) : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
    %1 = stablehlo.tanh %0 : tensor<2x3x5xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %low) applies stablehlo.maximum across dimensions = [2]
        : (tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x3xf32>
    %3 = stablehlo.negate %2 : tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}
"""


ENDS_IN_ACTIVATION = """
func.func @main(%x: tensor<3x5xf32>, %y: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<3x5xf32>
  %1 = stablehlo.maximum %0, %y : tensor<3x5xf32>
  %2 = stablehlo.add %1, %x : tensor<3x5xf32>
  %3 = stablehlo.logistic %2 : tensor<3x5xf32>
  return %3 : tensor<3x5xf32>
}
"""
"""The sum and its function are one operation of the library."""


@pytest.mark.parametrize("numerics", list(Numerics))
@pytest.mark.parametrize("source", [MLP, ATTENTION, ENDS_IN_ACTIVATION])
def test_right_programs_agree(source: str, numerics: Numerics) -> None:
    """All levels compute the same, and most operations are compared in the file, too."""
    report = bisect(source, numerics=numerics, seed=7)
    assert report.agrees, str(report)
    assert [level.level for level in report.levels][-2:] == ["ttir decomposed", "ttnn"]
    assert report.levels[-1].compared >= 3
    assert report.levels[-1].worst_pcc > 0.99
    assert "reference: " in str(report)


def test_a_wrong_rule_from_ttir_to_ttnn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rectifier becomes an absolute value: what follows is off as well, but comes later."""
    rule_for = convert_ttir_to_ttnn._Conversion._rule_for

    def wrong(self: Any, op: Any) -> Any:
        if op.name == "ttir.relu":
            return lambda op: self._replace_by(
                op, ttnn.op_class("abs"), {SEGMENTS: op.properties[SEGMENTS]}
            )
        return rule_for(self, op)

    monkeypatch.setattr(convert_ttir_to_ttnn._Conversion, "_rule_for", wrong)
    report = bisect_module(parse(MLP, file_name="mlp.mlir"), seed=1, options="spelling=2024")
    first = report.first
    assert first is not None
    assert first.level == "ttnn"
    assert '"ttir.relu"' in first.op
    line = next(i for i, text in enumerate(MLP.split("\n"), 1) if "ttir.relu" in text)
    assert first.location == f"mlp.mlir:{line}:13"
    assert first.expected.least == 0.0
    assert first.actual.least is not None
    assert first.accuracy is not None
    assert first.accuracy.max_absolute_error > 1
    assert len(report.levels[-1].differences) == 4
    assert report.levels[-1].outputs
    assert report.levels[0].agrees


def test_a_wrong_decomposition(monkeypatch: pytest.MonkeyPatch) -> None:
    """The product of batches takes its operands the wrong way round."""
    rule = ttir_decomposition_contraction.RULES["ttir.dot_general"]

    def wrong(op: Any) -> Any:
        op.operands[0] = Builder.before(op).create("neg", [op.operands[0]], op.operands[0].type)
        return rule(op)

    monkeypatch.setitem(ttir_decomposition_contraction.RULES, "ttir.dot_general", wrong)
    first = bisect(ATTENTION).first
    assert first is not None
    assert first.level == "ttir decomposed"
    assert "stablehlo.dot_general" in first.op


def _named(source: str) -> Any:
    from ttmlir.compiler import parse

    module = parse(source)
    name_operations(module)
    return module


def test_a_wrong_conversion_of_stablehlo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter of StableHLO is the judge of the conversion."""

    def wrong(op: Any) -> None:
        replace(op, Builder.before(op).create("sigmoid", op.operands, op.results[0].type))

    monkeypatch.setitem(convert_stablehlo_to_ttir.CONVERTED, "stablehlo.tanh", wrong)
    report = bisect(ATTENTION)
    assert report.reference == "stablehlo"
    first = report.first
    assert first is not None
    assert (first.level, first.location) == ("ttir", "<text>:9:10")
    assert "stablehlo.tanh" in first.op


def test_results_of_a_framework() -> None:
    """Right results agree at all levels, wrong ones differ from the reference on."""
    rng = np.random.default_rng(0)
    q, k = (rng.standard_normal(shape, np.float32) for shape in ((2, 3, 4), (2, 5, 4)))
    right = -np.tanh(np.einsum("bqd,bkd->bqk", q, k)).max(2)
    report = bisect(ATTENTION, [q, k], framework_results=[right])
    assert report.agrees, str(report)
    wrong = bisect(ATTENTION, [q, k], framework_results=[-right])
    assert wrong.first is not None
    assert (wrong.first.level, wrong.first.op) == (wrong.reference, "output 0")
    with pytest.raises(DiagnosticError, match="2 results of the framework were given"):
        bisect(ATTENTION, [q, k], framework_results=[right, right])
    message = (
        r"error: result 0 of the framework has shape \(2, 2\); that of the program has \(2, 3\)"
    )
    with pytest.raises(DiagnosticError, match=message):
        bisect(ATTENTION, [q, k], framework_results=[right[:, :2]])


def test_the_tool(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table or JSON, and an exit status that says whether all levels agree."""
    monkeypatch.chdir(tmp_path)
    Path("attention.mlir").write_text(ATTENTION)
    assert main(["attention.mlir", "--seed", "4"]) == 0
    shown = capsys.readouterr().out
    assert "level" in shown
    assert "least pcc" in shown
    q, k = np.ones((2, 3, 4), np.float32), np.zeros((2, 5, 4), np.float32)
    np.savez("inputs.npz", input_0=q, input_1=k)
    np.savez("results.npz", output_0=np.full((2, 3), 0.5, np.float32))
    given = ["--inputs", "inputs.npz", "--framework-result", "results.npz", "--json"]
    assert main(["attention.mlir", *given]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["agrees"] is False
    assert found["first"]["op"] == "output 0"
    assert found["first"]["expected"]["mean"] == 0.5
    assert main(["attention.mlir", *given, "--pcc", "0", "--atol", "1"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @f() {", "error: "),
        ("func.func @f() { return }", "there is nothing to compare: no operation of stablehlo"),
        (MLP.replace("-1 : si32", "7 : si32"), "'ttir.softmax' op"),
    ],
)
def test_refusals(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What cannot be read or lowered is said at its place, without a traceback."""
    path = tmp_path / "bad.mlir"
    path.write_text(text)
    assert main([str(path)]) == 1
    shown = capsys.readouterr().err
    assert message in shown
    assert "Traceback" not in shown
    assert main([str(tmp_path / "none.mlir")]) == 1
    assert "cannot open input file" in capsys.readouterr().err


@pytest.mark.parametrize("operation", ["arith.addf %x, %x", "math.exp %x"])
def test_programs_of_elements_alone(
    operation: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Operations of arith and math on tensors are lowered as among those of linalg."""
    path = tmp_path / "elements.mlir"
    path.write_text(
        f"func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {{\n %0 = {operation} : tensor<4xf32>\n"
        " return %0 : tensor<4xf32>\n}"
    )
    assert main([str(path)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("reference: linalg, 1 operation\n")
    assert [line.split()[0] for line in shown.splitlines()[2:]] == ["ttir", "ttir", "ttnn"]


def test_operations_that_end_in_a_function() -> None:
    """The library's subtraction applies the exponential."""
    of_two = "linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = [#p, #p]}"
    report = bisect(
        f"""#all = affine_map<(i, j) -> (i, j)>
        func.func @main(%x: tensor<3x5xf32>, %y: tensor<3x5xf32>) -> tensor<3x5xf32> {{
          %e = tensor.empty() : tensor<3x5xf32>
          %0 = {of_two} ins(%x, %y : tensor<3x5xf32>, tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) {{
          ^bb0(%a: f32, %b: f32, %c: f32):
            %d = arith.subf %a, %b : f32
            %f = math.exp %d : f32
            linalg.yield %f : f32
          }} -> tensor<3x5xf32>
          return %0 : tensor<3x5xf32>
        }}""".replace("#p", '"parallel"'),
        seed=7,
    )
    assert report.agrees, str(report)
    assert report.levels[-1].compared == 1


def test_the_dialect_of_a_program() -> None:
    """It is the one furthest from the file."""
    assert source_dialect(_named(ATTENTION)) == "stablehlo"
    assert source_dialect(_named(MLP)) == "ttir"


NEGATED = """func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = tensor.empty() : tensor<3x5xf32>
  %1 = "ttir.neg"(%x, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints =
      [#tt.operand_constraint<any_device>, #tt.operand_constraint<any_device>]}>
      : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return %1 : tensor<3x5xf32>
}
"""


def test_the_whole_report() -> None:
    """Each key of the JSON and each line of the table, for a result that is off by one."""
    x = np.arange(2, 17, dtype=np.float32).reshape(3, 5)
    report = bisect(NEGATED, [x], framework_results=[1 - x])
    # The reference computes -x = -2 ... -16, the framework -1 ... -15, which is then the reference.
    error = {
        "pcc": pytest.approx(1.0),
        "max_absolute_error": 1.0,
        "mean_absolute_error": 1.0,
        "max_relative_error": 1.0,
        "root_mean_square_error": 1.0,
        "relative_root_mean_square_error": pytest.approx(np.sqrt(15 / np.sum((1 - x) ** 2))),
        "cosine_similarity": pytest.approx(
            np.sum(x * (x - 1)) / np.linalg.norm(x) / np.linalg.norm(x - 1)
        ),
        "allclose": False,
        "mismatched_specials": 0,
    }

    def numbers(least: float, greatest: float, mean: float) -> dict[str, Any]:
        places = {"shape": [3, 5], "dtype": "float32", "nans": 0, "infinities": 0}
        return {**places, "min": least, "max": greatest, "mean": mean}

    framework, ours = numbers(-15.0, -1.0, -8.0), numbers(-16.0, -2.0, -9.0)
    shown = report.as_dict()
    assert [*shown] == [
        *("agrees", "reference", "skipped", "operations", "kernels", "first", "kernel", "levels")
    ]
    assert (shown["agrees"], shown["reference"], shown["skipped"]) == (False, "ttir", [])
    levels = {each["level"]: each for each in shown["levels"]}
    assert [*levels] == ["ttir", "ttir decomposed", "ttnn"]
    for name, level in levels.items():
        compared = 0 if name == "ttir" else level["compared"]
        [output] = level["outputs"]
        actual = output.pop("actual"), output.pop("expected")
        assert actual == (ours, framework)
        assert output == {
            "level": name,
            "op": "output 0",
            "location": "result",
            "number": 0,
            **error,
        }
        assert level == {
            "level": name,
            "compared": compared,
            "differences": [],
            "outputs": [output],
            "worst_pcc": pytest.approx(1.0),
        }
    assert str(report) == (
        f"reference: ttir, {shown['operations']} operations\n"
        "level              compared   differ  outputs  least pcc\n"
        "ttir                      0        0   differ   1.000000\n"
        "ttir decomposed           1        0   differ   1.000000\n"
        "ttnn                      1        0   differ   1.000000\n"
        "first difference:\n"
        "result: output 0\n"
        "  expected: float32 (3, 5), min -15, max -1, mean -8, 0 NaNs, 0 infinities\n"
        "  ttir: float32 (3, 5), min -16, max -2, mean -9, 0 NaNs, 0 infinities\n"
        "  pcc 1.000000, max abs error 1, 0 infinities or NaNs differ"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rtol", "nan"], "nan is not a finite number"),
        (["--atol", "-1"], "-1.0 is not in the range x>=0"),
        (["--pcc", "nan"], "nan is not a finite number"),
        (["--seed", "-1"], "-1 is not in the range x>=0"),
        (["--inputs", "no.npz"], "no.npz: No such file or directory"),
    ],
)
def test_options_that_mean_nothing(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status 1 and a sentence."""
    assert main([str(MODELS / "mlp.mlir"), *options]) == 1
    assert message in capsys.readouterr().err


def test_refusals_show_the_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of ttmlir-opt do; a missing file is named."""
    monkeypatch.chdir(tmp_path)
    Path("wrong.mlir").write_text("func.func @f() {\n  %0 = what\n}\n")
    assert main(["wrong.mlir"]) == 1
    assert capsys.readouterr().err.startswith("wrong.mlir:2:8: error: ")
    assert main(["missing.mlir"]) == 1
    expected = "ttmlir-bisect: error: cannot open input file 'missing.mlir': No such file"
    assert expected in capsys.readouterr().err


GATE = """module {
  func.func @gate(%x: tensor<33x70xf32>, %y: tensor<33x70xf32>) -> tensor<33x70xf32> {
    %0 = stablehlo.negate %x : tensor<33x70xf32>
    %1 = stablehlo.tanh %0 : tensor<33x70xf32>
    %2 = stablehlo.multiply %1, %y : tensor<33x70xf32>
    return %2 : tensor<33x70xf32>
  }
}
"""


@pytest.mark.parametrize("numerics", list(Numerics))
def test_kernels_agree(numerics: Numerics) -> None:
    """Down to the buffers that programs of kernels leave."""
    report = bisect(GATE, target="kernels", numerics=numerics)
    assert report.agrees, str(report)
    levels = ["d2m", "d2m fused", "ttmetal unfused", "ttmetal"]
    assert [level.level for level in report.levels][-4:] == levels
    assert all(level.compared for level in report.levels)


def test_a_wrong_rule_on_the_way_to_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sine for a hyperbolic tangent shows where tiles are interpreted, before it is a kernel."""
    tile_op = d2m.tile_op_of

    def wrong(mnemonic: str) -> Any:
        return d2m.tile_op("tile_sin") if mnemonic == "tanh" else tile_op(mnemonic)

    monkeypatch.setattr(d2m, "tile_op_of", wrong)
    first = bisect(GATE, target="kernels", file_name="gate.mlir").first
    assert first is not None
    assert first.level.startswith("d2m")
    assert "stablehlo.tanh" in first.op
    assert first.location == "gate.mlir:4:10"


def test_a_wrong_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found by what it leaves, with the operation that it was made of.

    In the fused program alone, the last operation would be named.
    """
    write = KernelFile.write
    monkeypatch.setattr(
        KernelFile, "write", lambda self: write(self).replace(b"tanh_tile", b"sinh_tile")
    )
    report = bisect(GATE, target="kernels", file_name="gate.mlir")
    assert [level.agrees for level in report.levels][-3:] == [True, False, False]
    first = report.first
    assert first is not None
    assert first.level == "ttmetal unfused"
    assert "stablehlo.tanh" in first.op
    assert first.location == "gate.mlir:4:10"
    assert report.levels[-1].outputs


def test_the_command_takes_the_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The table names the levels of kernels."""
    path = tmp_path / "gate.mlir"
    path.write_text(GATE)
    assert main([str(path), "--target", "kernels", "--json"]) == 0
    levels = [level["level"] for level in json.loads(capsys.readouterr().out)["levels"]]
    assert levels[:2] == ["ttir", "ttir decomposed"]
    assert levels[-1] == "ttmetal"
