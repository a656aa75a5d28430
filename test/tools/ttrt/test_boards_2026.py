"""Files of 2026 fit the boards that they are compiled for, as compilers of 2026 describe them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ttmlir.tools.ttmlir_opt import main as opt
from ttmlir.tools.ttmlir_translate import main as translate
from ttmlir.tools.ttrt import main as ttrt

MODULE = """
func.func @main(%x: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = "ttir.exp"(%x) : (tensor<33x70xf32>) -> tensor<33x70xf32>
  return %0 : tensor<33x70xf32>
}
"""


def _compile(system: str) -> str:
    Path("exp.mlir").write_text(MODULE)
    pipeline = "ttir-to-ttnn-backend-pipeline"
    text = f"--{pipeline}=spelling=2026 system-desc-path={system}".rstrip("=")
    assert opt([text, "exp.mlir", "-o", "ttnn.mlir"]) == 0
    assert translate(["--ttnn-to-flatbuffer", "ttnn.mlir", "-o", "exp.ttnn"]) == 0
    return "exp.ttnn"


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("board", ["default", "n150", "n300", "p150", "t3000"])
def test_boards(board: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Boards whose description of 2026 is not known say what they said in 2024."""
    binary = _compile(board)
    assert ttrt(["check", "--board", board, binary]) == 0
    assert ttrt(["run", "--board", board, binary]) == 0
    assert "SKIP" not in capsys.readouterr().out
    other = "p100" if board != "p150" else "n150"
    assert ttrt(["check", "--board", other, binary]) == 1


def test_the_assumed_machine() -> None:
    """Without a description it is that of board 'default', which check compares with."""
    assert ttrt(["check", _compile("")]) == 0


def test_a_description_of_2024() -> None:
    """A file of `ttrt query` serves compilations to either year."""
    assert ttrt(["query", "--quiet", "--save-artifacts", "--board", "n300"]) == 0
    path = "ttrt-artifacts/system_desc.ttsys"
    assert ttrt(["check", "--system-desc", path, _compile(path)]) == 0
