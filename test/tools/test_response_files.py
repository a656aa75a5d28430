"""`@FILE` on a command line stands for the arguments in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from ttmlir.mlir.option_values import OptionError
from ttmlir.tools.command_line import expand_response_files
from ttmlir.tools.ttmlir_opt import main as ttmlir_opt


def test_arguments_of_a_file_take_its_place(tmp_path: Path) -> None:
    """With the quotes of a shell, and comments; other files in it are not looked for."""
    path = tmp_path / "flags"
    path.write_text("--a='x y' # why\n\"--b=1\"\n@other\n")
    assert list(expand_response_files(["-o", f"@{path}", "-"])) == [
        *("-o", "--a=x y", "--b=1", "@other", "-")
    ]


def test_what_names_no_file_stays(tmp_path: Path) -> None:
    """As LLVM's tools do it."""
    assert list(expand_response_files([f"@{tmp_path}/none", "@"])) == [f"@{tmp_path}/none", "@"]


@pytest.mark.parametrize("content", [b"--a='x", b"\xff\xfe"])
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes) -> None:
    """An open quote, and what is no text."""
    path = tmp_path / "flags"
    path.write_bytes(content)
    with pytest.raises(OptionError, match="such a file holds flags as a shell takes them"):
        list(expand_response_files([f"@{path}"]))
    with pytest.raises(OptionError, match="cannot read arguments from"):
        list(expand_response_files([f"@{tmp_path}"]))


def test_a_tool_takes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Flags of the tool and passes alike."""
    flags, module = tmp_path / "flags", tmp_path / "m.mlir"
    flags.write_text("--cse --mlir-print-op-generic\n")
    module.write_text("func.func @f() { return }\n")
    assert ttmlir_opt([f"@{flags}", str(module)]) == 0
    assert '"func.func"()' in capsys.readouterr().out
