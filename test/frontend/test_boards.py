"""`ttmlir.compile(..., board=...)`, SYSTEM_DESC_PATH, and `estimate` of compiled models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ttmlir
from ttmlir.compiler import compile_to_ttnn
from ttmlir.runtime import InputError, UnsupportedError, read_binary
from ttmlir.tools.ttrt import main

TEXT = """
func.func @forward(%x: tensor<64x96xbf16>) -> tensor<64x96xbf16> {
  %0 = tensor.empty() : tensor<64x96xbf16>
  %1 = "ttir.exp"(%x, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [
      #tt.operand_constraint<any>, #tt.operand_constraint<any>]}>
      : (tensor<64x96xbf16>, tensor<64x96xbf16>) -> tensor<64x96xbf16>
  return %1 : tensor<64x96xbf16>
}
"""


def chips_of(compiled: ttmlir.CompiledModel) -> tuple[str, int]:
    """The generation of the first chip that a model was compiled for, and how many there are."""
    system = compiled.binary.system_desc
    assert system is not None
    return system["chip_descs"][0]["arch"], len(system["chip_desc_indices"])


@pytest.mark.parametrize("target", ["ttnn", "kernels"])
def test_a_board_is_compiled_for(target: str) -> None:
    """By name; the file says so, and an estimate is for it."""
    compiled = ttmlir.compile(TEXT, board="p150", target=target)
    assert chips_of(compiled) == ("Blackhole", 1)
    assert chips_of(ttmlir.compile(TEXT, target=target)) == ("Wormhole_b0", 1)
    if target == "ttnn":
        assert compiled.estimate().board == "p150"
        assert compiled.estimate("n150").board == "n150"
        assert "blackhole" in compiled.text("ttnn")
    else:
        with pytest.raises(UnsupportedError, match="not estimated but simulated"):
            compiled.estimate()


def test_a_description_is_compiled_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the path of a `.ttsys` file, with a blank in it."""
    monkeypatch.chdir(tmp_path)
    assert main(["query", "--board", "n300", "--save-artifacts", "--quiet"]) == 0
    folder = Path("two chips")
    folder.mkdir()
    path = Path("ttrt-artifacts/system_desc.ttsys").rename(folder / "system.ttsys")
    assert chips_of(ttmlir.compile(TEXT, board=path)) == ("Wormhole_b0", 2)
    monkeypatch.setenv("SYSTEM_DESC_PATH", str(path))
    assert chips_of(ttmlir.compile(TEXT)) == ("Wormhole_b0", 2)
    assert chips_of(ttmlir.compile(TEXT, board="p150")) == ("Blackhole", 1)
    system = read_binary(compile_to_ttnn(TEXT), "f.ttnn").system_desc
    assert system is not None
    assert len(system["chip_desc_indices"]) == 2


def test_boards_that_there_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names those that there are."""
    with pytest.raises(InputError, match=r"there is no board 'p15'; supported are default, n150"):
        ttmlir.compile(TEXT, board="p15")
    wrong: tuple[Any, ...] = (3, b"n150")
    for each in wrong:
        message = f"a board is a name or the path of a .ttsys file, got {each!r}; the names are def"
        with pytest.raises(InputError, match=message):
            ttmlir.compile(TEXT, board=each)
        with pytest.raises(InputError, match=message):
            ttmlir.compile(TEXT).estimate(each)
    with pytest.raises(InputError, match="board and system-desc-path both say what to compile for"):
        ttmlir.compile(TEXT, board="p150", options="system-desc-path=n150")
    monkeypatch.setenv("SYSTEM_DESC_PATH", "nowhere.ttsys")
    with pytest.raises(ttmlir.CompilationError, match=r"nowhere\.ttsys.*give the path of a"):
        ttmlir.compile(TEXT)
