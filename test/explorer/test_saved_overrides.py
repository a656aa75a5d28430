"""Overrides that an earlier explorer has saved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ttmlir.compiler import D2M_PIPELINE, lower, write_ttm
from ttmlir.errors import InputError
from ttmlir.explorer.documents import ModuleDocument, load_overrides, open_documents, overrides_text
from ttmlir.explorer.overrides import Overrides
from ttmlir.explorer.session import Session
from ttmlir.tools.tt_explorer import main as tt_explorer
from ttmlir.tools.ttmlir_opt import main as ttmlir_opt

LAYERS = Path(__file__).parent / "Inputs" / "layers.mlir"
FC1 = "encoder/fc1/linear"
PIPELINE = "--ttir-to-ttnn-backend-pipeline"
OF_MODELS = (
    "enable-fold-batch-norm=true enable-const-eval=true enable-erase-inverse-ops-pass=true "
    "share-transfers=true spelling=2024 deallocate-above=1073741824"
)


def open_layers() -> ModuleDocument:
    """The document of the test file."""
    [document] = open_documents([str(LAYERS)])
    assert isinstance(document, ModuleDocument)
    return document


def test_saved_overrides_are_in_force_again(tmp_path: Path) -> None:
    """With the board; what is saved then is the same text."""
    saved = tmp_path / "layers.overrides"
    text = (
        f"{PIPELINE}='{OF_MODELS} system-desc-path=p150 override-grid-sizes=head/softmax=2x1 "
        f"override-output-layout={FC1}=2x1:l1:height_sharded'\n"
    )
    saved.write_text(text)
    document = open_layers()
    load_overrides(str(saved), [document])
    assert document.settings.board == "p150"
    assert [str(each) for each in document.settings.overrides.layouts.values()] == [
        "2x1",
        "2x1:l1:height_sharded",
    ]
    states = {effect.name: effect.state.value for effect in document.effects}
    assert states == {FC1: "took effect", "head/softmax": "took effect"}
    assert overrides_text(document) == text


def test_grids_alone_are_saved_as_grids(capsys: pytest.CaptureFixture[str]) -> None:
    """`override-grid-sizes` of the pipeline, which moves operands to that grid, too."""
    overrides = Overrides().with_layout(FC1, "2x1")
    assert overrides.options == f"override-grid-sizes={FC1}=2x1"
    assert Overrides.parse(overrides.options) == overrides
    document = open_layers()
    document.change(replace(document.settings, overrides=overrides))
    assert [effect.state.value for effect in document.effects] == ["took effect"]
    assert ttmlir_opt([overrides_text(document).replace("'", "").strip(), str(LAYERS)]) == 0
    assert "<2x1>, memref<17x96xf32, #dram>" in capsys.readouterr().out


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--overrides FILE`; what is wrong with a file is told before anything is shown."""
    saved = tmp_path / "layers.overrides"
    saved.write_text(f"{PIPELINE}=override-output-layout={FC1}=2x1:l1:height_sharded\n")
    arguments = ["--check", "--no-browser", "--overrides"]
    assert tt_explorer([*arguments, str(saved), str(LAYERS)]) == 0
    assert "overrides" in capsys.readouterr().out
    assert tt_explorer([*arguments, str(tmp_path / "none"), str(LAYERS)]) == 1
    assert f"{tmp_path / 'none'}: No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"expected the flag {PIPELINE} with its overrides, and nothing else"),
        ("--canonicalize\n", f"expected the flag {PIPELINE} with its overrides"),
        (f"{PIPELINE} --canonicalize\n", "and nothing else"),
        (f"{PIPELINE}=mesh-shape=1,2\n", "the option mesh-shape cannot be chosen in the page"),
        (f"{PIPELINE}=system-desc-path=x.ttsys\n", "and system-desc-path with the name of a board"),
        (f"{PIPELINE}=override-output-layout=a=moon\n", "Invalid layout parameter: moon"),
        (f"{PIPELINE}=override-grid-sizes=a=0x1\n", "Invalid grid size: 0"),
        (f"{PIPELINE}='open\n", "No closing quotation"),
    ],
)
def test_other_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    """The message names the file and what is supported."""
    saved = tmp_path / "x.overrides"
    saved.write_text(text)
    with pytest.raises(InputError) as refused:
        load_overrides(str(saved), [open_layers()])
    assert str(refused.value).startswith(f"{saved}: ")
    assert message in str(refused.value)


def test_overrides_are_for_one_module(tmp_path: Path) -> None:
    """Of several it is not known which one is meant."""
    saved = tmp_path / "x.overrides"
    saved.write_text(f"{PIPELINE}\n")
    with pytest.raises(InputError, match="one module on its way to ttnn, and 2 are shown"):
        load_overrides(str(saved), [open_layers(), open_layers()])


def test_kernels_are_timed_by_the_simulator(tmp_path: Path) -> None:
    """The panel's estimate of a `.ttm` file: each launch has a time, what binds it and a share."""
    path = tmp_path / "net.ttm"
    path.write_bytes(write_ttm(lower(LAYERS.read_text(), D2M_PIPELINE)))
    session = Session(open_documents([str(path)]))

    def estimate(board: str) -> dict[str, object]:
        return session.run(
            {
                "cmdId": "run",
                "extensionId": "tt_estimate",
                "modelPath": "net.ttm",
                "graphId": "net",
                "configValues": {"board": board},
            }
        )

    answer = estimate("")
    assert answer["error"] == ""
    results = answer["result"]
    assert isinstance(results, list)
    assert [each["name"] for each in results] == [
        *("bound by", "share of the time (%)", "simulated time (us)"),
    ]
    graph = session.documents["net.ttm"].collections()[0].graphs[0]
    launches = {node.id for node in graph.nodes if dict(node.attributes).get("kernels")}
    assert launches
    assert all(set(each["results"]) == launches for each in results)
    times = [each["value"] for each in results[2]["results"].values()]
    assert min(times) > 0
    assert sum(each["value"] for each in results[1]["results"].values()) == pytest.approx(100, 1e-3)
    assert "compile it for p150 to see it there" in str(estimate("p150")["error"])
