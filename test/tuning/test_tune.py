"""`ttmlir-tune`: what it finds, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from distributed import LocalCluster

import ttmlir
from ttmlir.compiler import compile_to_ttnn
from ttmlir.cost import estimate_program
from ttmlir.explorer.overrides import Overrides
from ttmlir.layout.enums import DataType, MathFidelity
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.ttrt.sweeps import Case, make_order, run_case
from ttmlir.tools.ttmlir_opt import main as ttmlir_opt
from ttmlir.tools.ttmlir_tune import main
from ttmlir.tuning import tuning
from ttmlir.tuning.search import Candidate, forget_models
from ttmlir.tuning.tuning import Request, tune

ATTENTION = Path(__file__).parents[1] / "models" / "attention.mlir"
OF_MODELS = (
    "enable-fold-batch-norm=true enable-const-eval=true enable-erase-inverse-ops-pass=true "
    "share-transfers=true spelling=2024 deallocate-above=1073741824"
)
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
    """A model in the current folder, compiled to text of 2024."""
    monkeypatch.setenv("TTMLIR_SPELLING", "2024")
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
    start = f"--stablehlo-to-ttnn-pipeline='{OF_MODELS} system-desc-path=p150"
    assert flags.startswith(f"{start} override-output")
    pipeline, _, options = flags.strip().removeprefix("--").partition("=")
    for chosen, trial in (
        (options.strip("'"), report.best),
        (f"{OF_MODELS} system-desc-path=p150", None),
    ):
        binary = read_binary(compile_to_ttnn(NET, f"{pipeline}{{{chosen}}}"), "net.ttnn")
        expected = (trial or report.default).time
        assert estimate_program(binary.program(0), "p150").total.mid == expected
    assert ttmlir_opt(["@net.overrides", "net.mlir"]) == 0
    assert "ttnn.tanh" in capsys.readouterr().out


def test_programs_of_2026(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As compile makes them: what is written compiles to the program that is reported."""
    monkeypatch.delenv("TTMLIR_SPELLING")
    report = tune(Request("net.mlir", board="p150", budget=20))
    assert report.gain > 1
    estimate = ttmlir.compile("net.mlir", board="p150").estimate()
    assert report.default.time == estimate.total.mid
    pipeline, _, options = report.flags.strip().removeprefix("--").partition("=")
    assert "spelling=2026 optimization-level=3" in options
    text = f"{pipeline}{{{options.strip(chr(39))}}}"
    program = read_binary(compile_to_ttnn(NET, text), "net.ttnn").program(0)
    assert estimate_program(program, "p150").total.mid == report.best.time


INVERSE = """\
#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @net(%x: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %0 = tensor.empty() : tensor<1024x512xf32>
  %1 = "ttir.permute"(%x, %0) <{permutation = array<i64: 1, 0>, operand_constraints = [#any, #any]}>
      : (tensor<512x1024xf32>, tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %2 = tensor.empty() : tensor<512x1024xf32>
  %3 = "ttir.permute"(%1, %2) <{permutation = array<i64: 1, 0>, operand_constraints = [#any, #any]}>
      : (tensor<1024x512xf32>, tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %4 = tensor.empty() : tensor<512x1024xf32>
  %5 = "ttir.exp"(%3, %4) <{operandSegmentSizes = array<i32: 1, 1>,
      operand_constraints = [#any, #any]}> : (tensor<512x1024xf32>, tensor<512x1024xf32>)
      -> tensor<512x1024xf32> loc("exp")
  return %5 : tensor<512x1024xf32>
}
"""


def test_the_default_is_what_compile_makes(net: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two permutations that undo each other take no time, and the flags of the report say so."""
    net.write_text(INVERSE)
    report = tune(Request("net.mlir", board="n150", budget=1))
    compiled = ttmlir.compile(INVERSE, board="n150")
    assert report.default.time == compiled.estimate("n150").total.mid
    report.write("net.overrides")
    assert ttmlir_opt(["@net.overrides", "net.mlir"]) == 0
    text = capsys.readouterr().out
    assert "ttnn.exp" in text
    assert "ttnn.permute" not in text
    assert "ttnn.transpose" not in text


@pytest.mark.exhaustive
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
    monkeypatch.setenv("TTMLIR_SPELLING", "2024")
    monkeypatch.chdir(net.parent)
    assert tune(Request("net.mlir", budget=10)).flags == flags


@pytest.mark.exhaustive
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


PRODUCTS = """\
#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @net(%x: tensor<512x1024xf32>, %w: tensor<1024x1056xf32>) -> tensor<512x1056xf32> {
  %0 = tensor.empty() : tensor<512x1056xf32>
  %1 = "ttir.matmul"(%x, %w, %0) <{operand_constraints = [#any, #any, #any]}>
      : (tensor<512x1024xf32>, tensor<1024x1056xf32>, tensor<512x1056xf32>)
      -> tensor<512x1056xf32> loc("fc")
  return %1 : tensor<512x1056xf32>
}
"""


def test_weights_and_fidelity_are_chosen_within_the_bound(net: Path) -> None:
    """Weights of 8 bits take less time to move, and LoFi less to multiply, but both round."""
    net.write_text(PRODUCTS)
    loose = tune(Request("net.mlir", budget=12, least_pcc=0.9))
    assert loose.best.overrides.weights["fc"].keyword.startswith("bfp")
    assert loose.best.overrides.fidelities["fc"].keyword == "lofi"
    exact = tune(Request("net.mlir", budget=12, least_pcc=0.999999))
    assert not exact.best.overrides.weights
    assert exact.gain < loose.gain
    assert "override-weight-dtype=fc=bfp" in loose.flags
    assert "override-math-fidelity=fc=lofi" in loose.flags
    assert "  fc: " in str(loose)
    assert loose.write("fc.overrides")
    assert ttmlir_opt(["@fc.overrides", "net.mlir", "-o", "out.mlir"]) == 0
    text = Path("out.mlir").read_text()
    assert "math_fidelity = lofi" in text
    assert "!tt.tile<32x32, bfp_bf" in text


def test_block_floats_run_with_the_fidelity_that_the_library_takes(net: Path) -> None:
    """The estimate takes LoFi for two operands in block floats, and so does the run: LoFi drops
    three of the seven bits of a weight."""
    text = PRODUCTS.replace('"ttir.matmul"(%x', '"ttir.matmul"(%2').replace(
        "  %0 = tensor",
        """  %e = tensor.empty() : tensor<512x1024xf32>
  %2 = "ttir.relu"(%x, %e) <{operandSegmentSizes = array<i32: 1, 1>,
      operand_constraints = [#any, #any]}> : (tensor<512x1024xf32>, tensor<512x1024xf32>)
      -> tensor<512x1024xf32> loc("relu")
  %0 = tensor""",
    )
    net.write_text(text)
    blocks = Overrides().with_layout("relu", "bfp_bf8").with_weight("fc", DataType.BFP_BF8)
    lofi = blocks.with_fidelity("fc", MathFidelity.LOFI)
    hifi = blocks.with_fidelity("fc", MathFidelity.HIFI4)
    forget_models()
    found: list[dict[str, Any]] = []
    for overrides in (blocks, lofi, hifi):
        case = Case(
            (Candidate.__module__, Candidate.__qualname__),
            "net.mlir",
            {},
            {"board": "n150", "overrides": overrides.options, "seed": 0},
            is_text=True,
        )
        [result] = run_case(make_order(case, None))["results"]
        found.append(result["details"])
    assert found[0]["pcc"] == found[1]["pcc"] < found[2]["pcc"]
    assert found[0]["time"] == found[1]["time"] < found[2]["time"]


def test_an_old_result_is_not_that_of_a_new_model(net: Path) -> None:
    """All of the text counts, not only its first bytes."""
    tune(Request("net.mlir", budget=2, result_file="r.json"))
    old = json.loads(Path("r.json").read_text())
    cases = [Case(("m", "C"), "net.mlir", {}, {}, is_text=True).id]
    net.write_text(NET.replace("stablehlo.tanh", "stablehlo.abs"))
    cases.append(Case(("m", "C"), "net.mlir", {}, {}, is_text=True).id)
    assert cases[0] != cases[1]
    tune(Request("net.mlir", budget=2, result_file="r.json"))
    assert json.loads(Path("r.json").read_text()) != old


def test_compiled_models_are_tuned(net: Path) -> None:
    """What is found compiles the same function, with the time that is reported."""

    def network(x: jax.Array, w: jax.Array) -> jax.Array:
        return jax.nn.relu(x @ w)

    inputs = (jnp.ones((257, 320)), jnp.full((320, 161), 0.5))
    compiled = ttmlir.compile(network, *inputs)
    report = ttmlir.tune(
        compiled, budget=14, board="p150", pcc=0.9, inputs=[*map(np.asarray, inputs)]
    )
    assert report.gain > 1
    again = ttmlir.compile(network, *inputs, board="p150", options=report.options)
    assert again.estimate("p150").total.mid == report.best.time
    np.testing.assert_array_equal(again(*inputs), compiled(*inputs))
    with pytest.raises(InputError, match="a int is no model: give what ttmlir"):
        ttmlir.tune(3)
    kernels = ttmlir.compile(network, *inputs, target="kernels")
    with pytest.raises(InputError, match="is no ttnn program with its source"):
        ttmlir.tune(kernels)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pcc": 3}, "pcc is a correlation from 0 to 1, not 3"),
        ({"pcc": "0.9"}, "pcc is a correlation from 0 to 1, not '0.9'"),
        ({"budget": "9"}, "budget is a whole number, not '9'"),
        ({"simulate": -1}, "simulate is from 0 to 100000, not -1"),
        ({"inputs": "a"}, "inputs are arrays, or names of files, in a list, not a str"),
        ({"result_file": 3}, "result_file= takes the path of a file, not a int"),
    ],
)
def test_options_of_another_form(options: dict[str, Any], message: str) -> None:
    """Before the model is looked at."""
    with pytest.raises(InputError, match=message):
        ttmlir.tune("none.mlir", **options)


def test_inputs_are_the_arguments_of_a_call(net: Path) -> None:
    """Trees of arrays, of bfloat16, too; the state of the model is filled in."""

    class Scaled(torch.nn.Module):
        """Keeps a sum."""

        def __init__(self) -> None:
            """It begins with ones."""
            super().__init__()
            self.register_buffer("sum", torch.ones(64, 128, dtype=torch.bfloat16))

        def forward(self, pair: dict[str, torch.Tensor]) -> torch.Tensor:
            """Add to it."""
            self.sum += pair["a"]
            return torch.tanh(self.sum) * pair["b"]

    a = torch.linspace(-1, 1, 64 * 128).reshape(64, 128).to(torch.bfloat16)
    pair = {"b": a.flip(0) + 2, "a": a}
    compiled = ttmlir.compile(Scaled(), pair)
    assert ttmlir.tune(compiled, budget=3, pcc=0.9, inputs=[pair]).default.pcc > 0.99
    with pytest.raises(InputError, match="pair"):
        ttmlir.tune(compiled, budget=3, inputs=[a])


def test_interrupted_searches_of_compiled_models_go_on(net: Path) -> None:
    """The model is beside the results; a path is tuned, too."""
    compiled = ttmlir.compile(lambda x: jnp.tanh(x) * x, jnp.ones((320, 161)))
    first = ttmlir.tune(compiled, budget=3, result_file="r.json")
    assert Path("r.mlir").read_text().count("stablehlo.tanh") == 1
    assert ttmlir.tune(Path("r.mlir"), budget=3).options == first.options


def test_candidates_that_kernels_have_no_form_for_are_told(net: Path) -> None:
    """The others have a time."""
    net.write_text(PRODUCTS.replace("512", "33").replace("1024", "70").replace("1056", "45"))
    report = tune(Request("net.mlir", budget=12, least_pcc=0.9, simulate=12))
    default, *others = report.simulated
    assert default.time is not None
    assert str(default) == f"default: {default.time / 1000:,.1f} us"
    [lofi] = [each for each in others if each.overrides.options == "override-math-fidelity=fc=lofi"]
    assert lofi.time is not None
    assert lofi.time < default.time
    assert any("no form in kernels: they take one fidelity" in str(each) for each in others)
    assert "the simulator was not asked" not in str(report)


@pytest.mark.filterwarnings("ignore")
def test_candidates_on_a_cluster(net: Path) -> None:
    """What is found is the same, on workers that do not have the file."""
    alone = tune(Request("net.mlir", budget=3))
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        request = Request("net.mlir", budget=3, cluster=cluster.scheduler_address)
        assert tune(request).flags == alone.flags
    with pytest.raises(InputError, match="workers of a cluster are sent the model alone"):
        tune(Request("net.mlir", cluster="tcp://nowhere:1", inputs=("x.npz",)))


REFUSED = [
    (["none.mlir"], "cannot open input file 'none.mlir': No such file or directory"),
    (["net.mlir", "--board", "n151"], "n151"),
    (["net.ttnn"], "net.ttnn is no model: give the .mlir file that the program was compiled from"),
    (["-"], "standard input cannot be read by several processes; give a file"),
    (["."], ". is a folder; give one .mlir file"),
    (["net.mlir", "--inputs", "none.npz"], "none.npz"),
    (["none.mlir", "-o", "none/x"], "none/x: No such file or directory"),
    (["none.mlir", "--result-file", "net.mlir/x"], "net.mlir/x: Not a directory"),
    (["none.mlir", "--shardings", "-o", "x.txt"], "x.txt: shardings are written as .py or .mlir"),
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
    assert "short.mlir: without overrides its results have a PCC of 0." in capsys.readouterr().err
    message = r"^attention: .* already; ask for a smaller one than 1, or give other inputs$"
    with pytest.raises(InputError, match=message):
        ttmlir.tune(ttmlir.compile("short.mlir"), pcc=1, budget=1)


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
