"""What the panel changes, and what it says became of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ttmlir.errors import InputError
from ttmlir.explorer.documents import Document, open_documents
from ttmlir.explorer.overrides import Overrides
from ttmlir.explorer.session import Session
from ttmlir.runtime.session import submit
from ttmlir.runtime.tensor import Tensor
from ttmlir.tools.ttmlir_opt import main as ttmlir_opt

LAYERS = Path(__file__).parent / "Inputs" / "layers.mlir"
FC1 = "encoder/fc1/linear"
OF_MODELS = (
    "enable-fold-batch-norm=true enable-const-eval=true enable-erase-inverse-ops-pass=true "
    "share-transfers=true spelling=2024 deallocate-above=1073741824"
)
L1 = {"memory_space": "l1", "memory_layout": "height_sharded", "grid": "2x1"}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """The documents of the test file."""
    return Session(open_documents([str(LAYERS)]), str(tmp_path))


def change(session: Session, **values: str) -> dict[str, Any]:
    """Run the panel's entry for overrides."""
    return session.run(
        {
            "cmdId": "run",
            "extensionId": "tt_overrides",
            "modelPath": "layers.mlir",
            "graphId": "net",
            "configValues": values,
        }
    )


def notes(session: Session) -> list[str]:
    """What the page says of the overrides while no node is selected."""
    graph = session.documents["layers.mlir"].collections()[0].graphs[0]
    return [value for key, value in graph.attributes if key.startswith("override")]


def layout(session: Session, name: str) -> dict[str, str]:
    """The attributes of the operation that computes at a location."""
    graph = session.documents["layers.mlir"].collections()[0].graphs[0]
    named = [dict(node.attributes) for node in graph.nodes if "to_" not in node.label]
    return next(each for each in named if each.get("override_name") == name)


def test_an_override_takes_effect(session: Session, tmp_path: Path) -> None:
    """At its operation alone; the page is told to load the graph again."""
    refreshed: list[bool] = []
    session.on_change = lambda: refreshed.append(True)
    answer = change(session, operation=FC1, **L1)
    assert answer["error"] == ""
    assert refreshed
    shown = layout(session, FC1)
    assert (shown["buffer_type"], shown["tensor_memory_layout"]) == ("l1", "height_sharded")
    assert shown["grid_shape"] == "2x1"
    assert shown["override"] == "2x1:l1:height_sharded took effect"
    assert layout(session, "encoder/fc1/bias")["buffer_type"] == "dram"
    expected = (
        f"{FC1} = 2x1:l1:height_sharded took effect: ttnn.matmul: 8x8 dram interleaved "
        "row_major f32 → 2x1 l1 height_sharded row_major f32"
    )
    assert notes(session) == [expected]
    (data,) = answer["result"]
    assert [each["bgColor"] for each in data["results"].values()] == ["#52b788"]


def test_the_saved_file_does_the_same(
    session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`ttmlir-opt @FILE` puts the result and the board where the page did."""
    change(session, operation=FC1, board="p150", **L1)
    change(session, operation="head/softmax", data_type="bf16")
    saved = tmp_path / "layers.overrides"
    assert saved.read_text() == (
        f"--ttir-to-ttnn-backend-pipeline='{OF_MODELS} system-desc-path=p150 "
        f"override-output-layout={FC1}=2x1:l1:height_sharded,head/softmax=bf16'\n"
    )
    capsys.readouterr()
    assert ttmlir_opt([f"@{saved}", str(LAYERS)]) == 0
    text = capsys.readouterr().out
    assert text.count("height_sharded") == 1
    assert "blackhole" in text


def test_results_stay_right(session: Session) -> None:
    """The program with overrides computes what the one without does, as NumPy says."""
    change(session, operation=FC1, **L1)
    change(session, operation="head/fc2/linear", data_type="bf16")
    binary = session.documents["layers.mlir"].binary
    assert binary is not None
    rng = np.random.default_rng(3)
    shapes = ((33, 70), (70, 96), (1, 96), (96, 5))
    x, w1, b1, w2 = (rng.standard_normal(each).astype(np.float32) for each in shapes)
    from ttmlir.runtime.tensor import open_device

    inputs = [Tensor.from_numpy(each) for each in (x, w1, b1, w2)]
    (result,) = submit(open_device(), binary, 0, inputs)
    logits = np.maximum(x @ w1 + b1, 0) @ w2
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    expected = exponentials / exponentials.sum(-1, keepdims=True)
    np.testing.assert_allclose(result.to_numpy(), expected, atol=1e-4)


def test_refused_overrides_leave_the_others_in_force(session: Session) -> None:
    """Each with its own reason."""
    change(session, operation=FC1, **L1)
    change(session, operation="encoder/relu", grid="9x9")
    change(session, operation="encoder/fc1/bias", memory_layout="block_sharded", grid="2x2")
    change(session, operation="nobody/at/home", memory_space="l1")
    first, grid, memory, nobody = notes(session)
    assert first.startswith(f"{FC1} = 2x1:l1:height_sharded took effect")
    assert "refused: " in grid
    assert grid.endswith("gives it: the device has 8x8 = 64 cores")
    assert memory.endswith("block_sharded tensors are in l1: add l1, or interleaved")
    assert nobody == (
        "nobody/at/home = l1 found no operation: the compiled program has no operation of this "
        "name, or it became part of another"
    )


def test_what_is_there_already_changes_nothing(session: Session) -> None:
    """That is said, too."""
    change(session, operation=FC1, memory_space="dram")
    (note,) = notes(session)
    assert note == f"{FC1} = dram changed nothing: the result is there without it, too"


def test_names_that_are_like_another(session: Session) -> None:
    """A slip of the pen gets a hint."""
    change(session, operation="encoder/fc1/linaer", memory_space="l1")
    (note,) = notes(session)
    assert "; did you mean encoder/fc1/linear or " in note


def test_overrides_are_removed(session: Session) -> None:
    """One, then all."""
    change(session, operation=FC1, **L1)
    change(session, operation="head/softmax", data_type="bf16")
    change(session, operation=FC1, action="remove")
    assert [note.partition(" ")[0] for note in notes(session)] == ["head/softmax"]
    change(session, action="clear")
    assert notes(session) == []
    assert layout(session, FC1)["buffer_type"] == "dram"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"operation": FC1}, f"choose what is to be different for '{FC1}'"),
        ({"memory_space": "l1"}, "choose the operation that is to be different"),
        ({"operation": FC1, "memory_space": "attic"}, "Invalid layout parameter: attic"),
        ({"operation": "a,b", "memory_space": "l1"}, "without commas, quotes, braces"),
        ({"operation": 'a"} b', "memory_space": "l1"}, "without commas, quotes, braces"),
        ({"operation": FC1, "grid": "8x8:l1:dram"}, "Multiple layout parameters of one kind"),
        ({"operation": FC1, "action": "remove"}, f"there is no override for '{FC1}'"),
        ({"board": "x86"}, "board is 'x86'; it is one of"),
        ({"action": "explode"}, "action is 'explode'; it is one of set, remove, clear"),
    ],
)
def test_choices_that_make_no_sense(session: Session, values: dict[str, str], message: str) -> None:
    """They are refused with what is possible, and change nothing."""
    assert message in change(session, **values)["error"]
    assert notes(session) == []


def test_a_board_is_chosen(session: Session) -> None:
    """The program is compiled for its grid."""

    def board(document: Document) -> str:
        return dict(document.collections()[0].graphs[0].attributes)["board"]

    assert change(session, board="p150")["error"] == ""
    assert board(session.documents["layers.mlir"]) == "p150"
    assert layout(session, FC1)["grid_shape"] == "10x11"


def test_compiled_files_are_not_changed(tmp_path: Path) -> None:
    """The message says what to open instead."""
    from ttmlir.compiler import compile_to_ttnn

    path = tmp_path / "layers.mlir.ttnn"
    path.write_bytes(compile_to_ttnn(LAYERS.read_text()))
    session = Session(open_documents([str(path)]))
    answer = session.run(
        {
            "cmdId": "run",
            "extensionId": "tt_overrides",
            "modelPath": path.name,
            "graphId": "net",
            "configValues": {"operation": FC1, "memory_space": "l1"},
        }
    )
    assert "is compiled already: open the .mlir file that it comes from" in answer["error"]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """Is named, with what to do."""
    session = Session(open_documents([str(LAYERS)]), str(tmp_path / "missing"))
    error = change(session, operation=FC1, **L1)["error"]
    assert "the overrides are in force, but cannot be saved as " in error
    assert "layers.overrides: No such file or directory; choose another --save-folder" in error


def test_the_number_of_overrides_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """A replaced one does not count."""
    monkeypatch.setattr("ttmlir.explorer.overrides.MAX_OVERRIDES", 1)
    overrides = Overrides().with_layout("a", "l1").with_layout("a", "dram")
    with pytest.raises(InputError, match="there are 1 overrides already"):
        overrides.with_layout("b", "l1")
