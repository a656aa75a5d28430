"""`ttmlir-tune`: what it finds, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ttmlir.compiler import compile_to_ttnn
from ttmlir.cost import estimate_program
from ttmlir.runtime.loading import read_binary
from ttmlir.tools.ttmlir_opt import main as ttmlir_opt
from ttmlir.tools.ttmlir_tune import main
from ttmlir.tuning import tuning
from ttmlir.tuning.tuning import Request, tune

ATTENTION = Path(__file__).parents[1] / "models" / "attention.mlir"
NET = """\
func.func @net(%x: tensor<512x1056xf32>, %y: tensor<512x1056xf32>) -> tensor<512x1056xf32> {
  %0 = stablehlo.add %x, %y : tensor<512x1056xf32> loc("sum")
  %1 = stablehlo.tanh %0 : tensor<512x1056xf32> loc("body/tanh")
  %2 = stablehlo.multiply %1, %x : tensor<512x1056xf32> loc("product")
  return %2 : tensor<512x1056xf32>
}
"""


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "net.mlir"
    path.write_text(NET)
    return path


def test_a_faster_program_is_found(net: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is written compiles to the program that is reported, which the estimate confirms."""
    report = tune(Request("net.mlir", board="p150", budget=20))
    assert main(["net.mlir", "--board", "p150", "--budget", "20"]) == 0
    printed = capsys.readouterr().out
    assert "net.mlir on p150: 20 candidates, " in printed
    assert "wrote net.overrides: ttmlir-opt @net.overrides net.mlir" in printed
    assert report.gain > 1
    assert f"{report.gain:.2f} times faster by the estimate; the simulator was not asked" in printed
    flags = (net.parent / "net.overrides").read_text()
    assert flags == report.flags
    assert flags.startswith("--stablehlo-to-ttnn-pipeline='system-desc-path=p150 override-output")
    pipeline, _, options = flags.strip().removeprefix("--").partition("=")
    for chosen, trial in ((options.strip("'"), report.best), ("system-desc-path=p150", None)):
        binary = read_binary(compile_to_ttnn(NET, f"{pipeline}{{{chosen}}}"), "net.ttnn")
        expected = (trial or report.default).time
        assert estimate_program(binary.program(0), "p150").total.mid == expected
    assert ttmlir_opt(["@net.overrides", "net.mlir"]) == 0
    assert "ttnn.tanh" in capsys.readouterr().out


def test_the_number_of_processes_changes_nothing(net: Path) -> None:
    """The results file names every candidate in the same order."""
    for jobs in (1, 2):
        request = Request("net.mlir", budget=6, jobs=jobs, result_file=f"{jobs}.json")
        assert tune(request).write(f"{jobs}.overrides")
    one, two = (Path(f"{jobs}.overrides").read_bytes() for jobs in (1, 2))
    assert one == two
    first, second = (json.loads(Path(f"{jobs}.json").read_text()) for jobs in (1, 2))
    assert first == second
    assert len(first) == 6
    assert not list(net.parent.glob("*.journal"))


def test_an_interrupted_search_goes_on(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates that have ended are not tried again, and the result is the same."""
    asked: list[str] = []
    real = tuning.run_case
    most = 4

    def run_case(order: Any) -> dict[str, Any]:
        if len(asked) == most:
            raise KeyboardInterrupt
        asked.append(order["arguments"]["overrides"])
        return real(order)

    monkeypatch.setattr(tuning, "run_case", run_case)
    request = Request("net.mlir", budget=10, result_file="r.json")
    with pytest.raises(KeyboardInterrupt):
        tune(request)
    assert len(asked) == 4
    assert not Path("r.json").exists()
    most = 100
    flags = tune(request).flags
    assert len(asked) == len(set(asked)) == 10
    monkeypatch.undo()
    monkeypatch.chdir(net.parent)
    assert tune(Request("net.mlir", budget=10)).flags == flags


def test_accuracy_is_bounded(net: Path) -> None:
    """No result is rounded to eight bits where that costs too much."""
    exact = tune(Request("net.mlir", budget=20, least_pcc=0.99999))
    loose = tune(Request("net.mlir", budget=20, least_pcc=0.9))
    assert "bfp_bf8" not in exact.flags
    assert "bfp_bf8" in loose.flags
    assert loose.gain > exact.gain
    assert exact.best.pcc is not None
    assert exact.best.pcc >= 0.99999
    kept = tune(Request("net.mlir", budget=20, formats=False))
    assert "bf" not in kept.flags


REFUSED = [
    (["none.mlir"], "cannot open input file 'none.mlir': No such file or directory"),
    (["net.mlir", "--board", "n151"], "n151"),
    (["net.ttnn"], "net.ttnn is no model: give the .mlir file that the program was compiled from"),
    (["-"], "standard input cannot be read by several processes; give a file"),
    (["."], ". is a folder; give one .mlir file"),
    (["net.mlir", "--inputs", "none.npz"], "none.npz"),
    (["net.mlir", "--budget", "1", "-o", "none/x"], "none/x: No such file or directory"),
    (["net.mlir", "-o", "./net.mlir"], "--output would replace ./net.mlir, which is read"),
    (["late.mlir"], "late.mlir is ttnn already; layouts are chosen on the way from ttir"),
    (["net.mlir", "--budget", "0"], "0 is not in the range 1<=x<=100000"),
    (["empty.mlir"], "empty.mlir has no function; give a module with one"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED, ids=lambda each: str(each)[:20])
def test_what_cannot_be_tuned_is_said(
    arguments: list[str], message: str, net: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a sentence, with exit status 1 and no file of overrides."""
    Path("empty.mlir").write_text("module {\n}\n")
    if "late.mlir" in arguments:
        assert ttmlir_opt(["--stablehlo-to-ttnn-pipeline", "net.mlir", "-o", "late.mlir"]) == 0
    assert main(arguments) == 1
    assert message in capsys.readouterr().err
    assert not list(net.parent.glob("*.overrides"))


def test_a_bound_that_the_model_itself_misses_is_said(
    net: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Products of numbers that the device rounds are not exact."""
    Path("short.mlir").write_text(ATTENTION.read_text().replace("xf32", "xbf16"))
    assert main(["short.mlir", "--pcc", "1", "--budget", "2"]) == 1
    assert "give a smaller --pcc than 1.0, or other --inputs" in capsys.readouterr().err


def test_mistakes_in_the_model_are_shown_in_its_text(
    net: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the line and a caret."""
    net.write_text(NET.replace("stablehlo.tanh %0", "stablehlo.tanh %7"))
    assert main(["net.mlir"]) == 1
    heading, source, caret, *_ = capsys.readouterr().err.splitlines()
    assert heading.startswith("net.mlir:3:")
    assert "error: " in heading
    assert source.strip().startswith("%1 = stablehlo.tanh %7")
    assert caret.strip() == "^"
