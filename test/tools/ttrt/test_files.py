"""Which files ttrt takes and leaves: several at a time, standard input, nothing unasked."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from samples.ttnn_program import ProgramBuilder

import ttmlir
from ttmlir.tools.ttrt import main

Capture = pytest.CaptureFixture[str]
GOLDEN = Path(__file__).resolve().parents[2] / "golden"


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs in an empty folder with the programs `exp.ttnn` and `deep/abs.ttnn`."""
    monkeypatch.chdir(tmp_path)
    for name in ("TTRT_LOGGER_LEVEL", "LOGGER_LEVEL"):
        monkeypatch.delenv(name, raising=False)
    Path("deep").mkdir()
    Path("exp.ttnn").write_bytes(program("Exp"))
    Path("deep/abs.ttnn").write_bytes(program("Abs"))
    return tmp_path


def program(kind: str) -> bytes:
    """A file with a program of one operation."""
    b = ProgramBuilder("forward")
    b.output(b.eltwise(kind, [b.to_device(b.input((5, 33)))]))
    return b.pack()


def run(*arguments: str) -> int:
    """Exit status of the command."""
    return main(list(arguments))


def pipe(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let bytes arrive on standard input."""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_nothing_is_left_unasked(quiet: list[str], workspace: Path) -> None:
    """Without options that name files, the folder stays as it was."""
    before = sorted(workspace.rglob("*"))
    for command in ("run", "read", "check"):
        assert run(command, *quiet, "exp.ttnn") == 0
        assert run(command, *quiet, str(GOLDEN / "chain.ttm")) == 0
    assert run("query", *quiet) == 0
    assert sorted(workspace.rglob("*")) == before


def test_a_folder_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """The work is what counts; where the times of perf cannot be kept, that is a warning."""
    file = str(Path("exp.ttnn").resolve())
    monkeypatch.chdir("/proc/self")  # Nobody can write here, not even root.
    for arguments in (["run", file], ["read", file], ["query"], ["check", file]):
        assert run(*arguments) == 0
    capsys.readouterr()
    assert run("perf", file) == 0
    shown = capsys.readouterr()
    assert "ttnn.exp" in shown.out
    assert "WARNING" in shown.err
    assert "--artifact-dir names another folder for the times" in shown.err
    assert run("perf", file, "--save-artifacts") == 1


def test_results_that_cannot_be_written(capsys: Capture) -> None:
    """That is said before anything runs, which may take hours."""
    Path("folder").mkdir()
    for options, message in (
        (("--result-file", "exp.ttnn/r.json"), "exp.ttnn/r.json: cannot be written: Not a dir"),
        (("--result-file", "folder"), "folder: cannot be written: Is a directory"),
        (("--outputs", "exp.ttnn/y.npy"), "exp.ttnn/y.npy: cannot be written: Not a directory"),
        (("--result-file", "exp.ttnn/r.json", "--jobs", "2"), "r.json: cannot be written: Not a"),
    ):
        assert run("run", "exp.ttnn", "deep", *options) == 1
        shown = capsys.readouterr().err
        assert message in shown
        assert "program 0" not in shown
    assert run("run", "exp.ttnn", "--result-file", "new/folder/r.json") == 0
    assert Path("new/folder/r.json").exists()


def test_several_files() -> None:
    """Files and folders in the order given, for every command that takes one."""
    for command in ("run", "read", "check", "perf"):
        assert run(command, "exp.ttnn", "deep", "--result-file", "r.json") == 0
        entries = json.loads(Path("r.json").read_text())
        assert [entry["file_path"] for entry in entries] == ["exp.ttnn", "deep/abs.ttnn"]


@pytest.mark.parametrize("option", ["--inputs", "--outputs", "--golden-file"])
def test_options_for_a_single_file(option: str, capsys: Capture) -> None:
    """One array file goes with one program file."""
    assert run("run", option, "x.npz", "exp.ttnn", "deep") == 1
    assert f"{option} needs a single file, got 2" in capsys.readouterr().err


def test_files_of_one_name_have_folders_of_their_own() -> None:
    """The second `exp.ttnn` does not overwrite what was saved of the first."""
    Path("deep/exp.ttnn").write_bytes(program("Neg"))
    assert run("run", "exp.ttnn", "deep/exp.ttnn", "--save-artifacts", "--artifact-dir", "a") == 0
    for folder, source in (("exp.ttnn", "exp.ttnn"), ("exp.ttnn.2", "deep/exp.ttnn")):
        assert Path("a", folder, "exp.ttnn").read_bytes() == Path(source).read_bytes()
        assert Path("a", folder, "run/program_0/program_0_output_0.npy").exists()


@pytest.mark.parametrize("command", ["run", "read", "check", "perf"])
def test_standard_input(command: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A dash stands for it, and messages call it stdin."""
    pipe(program("Exp"), monkeypatch)
    assert run(command, "-", "--save-artifacts", "--artifact-dir", "a") == 0
    assert Path("a/stdin/stdin").read_bytes() == program("Exp")
    pipe(b"nonsense", monkeypatch)
    assert run(command, "-") == 1
    assert "stdin: " in capsys.readouterr().err
    assert run(command, "-", "-") == 1
    assert "standard input was given more than once" in capsys.readouterr().err


def test_a_folder_is_one_json_document(capsys: Capture) -> None:
    """An object with an entry for each file, even if there is one; damaged ones are left out."""
    assert run("read", "--section", "inputs", "exp.ttnn") == 0
    alone = json.loads(capsys.readouterr().out)
    assert run("read", "--section", "inputs", "exp.ttnn", "deep") == 0
    both = json.loads(capsys.readouterr().out)
    assert list(both) == ["exp.ttnn", "deep/abs.ttnn"]
    assert both["exp.ttnn"] == alone
    Path("deep/cut.ttnn").write_bytes(program("Abs")[:99])
    for section in ("all", "system_desc", "outputs", "op_stats", "mesh_shape"):
        assert run("read", "--section", section, "deep") == 1
        assert list(json.loads(capsys.readouterr().out)) == ["deep/abs.ttnn"]
    assert run("read", "--section", "inputs", "deep/cut.ttnn", "deep/cut.ttnn") == 1
    assert json.loads(capsys.readouterr().out) == {}


def test_plain_sections_of_several_files_stand_under_their_names(capsys: Capture) -> None:
    """Kernels and modules are no JSON."""
    assert run("read", "--section", "version", "exp.ttnn", "deep") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "exp.ttnn:"
    assert lines[3] == "deep/abs.ttnn:"
    assert lines[1] == lines[4]
    assert lines[1].startswith("version: ")


def test_control_characters_in_a_report() -> None:
    """XML has no characters for them; a name with them is a name with replacements."""
    name = "e\x01x\x1bp\ufffe.ttnn"
    Path(name).write_bytes(program("Exp"))
    Path("\x02.ttnn").write_bytes(b"")
    assert run("run", name, "\x02.ttnn", "--result-file", "r.json") == 1
    cases = ElementTree.parse("ttrt_report.xml").getroot()[0]
    assert [case.get("name") for case in cases] == [
        "e\ufffdx\ufffdp\ufffd.ttnn program 0",
        "\ufffd.ttnn",
    ]
    assert json.loads(Path("r.json").read_text())[0]["file_path"] == name


@pytest.mark.parametrize("command", [["read"], ["read", "--section", "mlir"], ["run"], ["perf"]])
def test_names_of_programs_that_forge_lines(command: list[str], capsys: Capture) -> None:
    """What a terminal obeys is replaced, in pipes too; a long name is shown in part."""
    name = "evil\\00\\0A\\1B[31m" + "x" * 5000
    text = f"""
    func.func @"{name}"(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {{
      %0 = stablehlo.exponential %x : tensor<2x3xf32>
      return %0 : tensor<2x3xf32>
    }}"""
    Path("forged.ttnn").write_bytes(ttmlir.compile(text).to_bytes())
    assert run(*command, "forged.ttnn") == 0
    shown = "".join(capsys.readouterr())
    assert "evil" in shown
    assert not {"\0", "\x1b"} & set(shown)
    assert "\n\ufffd[31m" not in shown
    if "mlir" not in command:
        assert "x" * 300 not in shown


def test_check_against_a_board(capsys: Capture) -> None:
    """By its name, without a file of its description."""
    assert run("check", "exp.ttnn", "--board", "default") == 0
    assert "matches board 'default'" in capsys.readouterr().err
    assert run("check", "exp.ttnn", "--board", "n300") == 1
    assert (
        "does not match board 'n300'; compile the program again for it, with the option "
        "system-desc-path=n300 of ttmlir-opt's pipeline or board='n300' of ttmlir.compile, or "
    ) in capsys.readouterr().err
    assert run("check", "exp.ttnn", "--board", "n300", "--system-desc", "deep") == 1
    assert "--board and --system-desc both say what to compare with" in capsys.readouterr().err
    assert run("check", "exp.ttnn", "--board", "n1") == 1
    assert "'n1' is not one of 'default'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rtol", "nan"], "--rtol must be at least 0, got nan"),
        (["--atol", "-1"], "--atol must be at least 0, got -1.0"),
        (["--rtol-allclose", "inf"], "--rtol-allclose must be at least 0, got inf"),
        (["--atol-allclose", "nan"], "--atol-allclose must be at least 0, got nan"),
        (["--pcc", "nan"], "--pcc must lie between 0 and 1, got nan"),
        (["--seed", "-1"], "--seed must be at least 0, got -1"),
        (["--schedule-seed", "-1"], "--schedule-seed must be at least 0, got -1"),
        (["--cycle-limit", "0"], "--cycle-limit must be at least 1, got 0"),
        (
            ["--lenient", "race", "--lenient", "rase"],
            "--lenient: there is no finding 'rase'; supported are aliased-cbs, pop-unfilled,",
        ),
    ],
)
def test_numbers_and_names_that_mean_nothing(
    options: list[str], message: str, capsys: Capture
) -> None:
    """NaN would accept nothing, or everything; an unknown name would change nothing."""
    for command in ("run", "perf"):
        assert run(command, "exp.ttnn", *options) == 1
        assert message in capsys.readouterr().err


def test_paths_that_lead_nowhere(capsys: Capture) -> None:
    """The system's own reason, for any kind of path."""
    Path("circle").symlink_to("circle")
    for path, message in (
        ("circle", "circle: Too many levels of symbolic links"),
        ("exp.ttnn/x", "exp.ttnn/x: Not a directory"),
        ("", "'': No such file or directory"),
        ("x" * 300, "File name too long"),
    ):
        for command in ("run", "read", "check", "perf"):
            assert run(command, path) == 1
            assert message in capsys.readouterr().err


def test_files_of_another_kind_are_told_alike(capsys: Capture) -> None:
    """Empty files, and text that is called a binary, in every command."""
    Path("empty.ttnn").touch()
    Path("text.ttnn").write_text("func.func @f() { return }")
    for command in ("run", "read", "check", "perf"):
        for name in ("empty.ttnn", "text.ttnn"):
            assert run(command, name) == 1
            assert (
                f"{name}: neither a TTNN nor a TTMetal program nor a system description; give a"
                " .ttnn, .ttm or .ttsys file"
            ) in capsys.readouterr().err


def test_outputs_are_arrays(capsys: Capture) -> None:
    """Another extension would promise another format; it is refused before anything runs."""
    assert run("run", "exp.ttnn", "--outputs", "y.txt") == 1
    shown = capsys.readouterr().err
    assert "--outputs must be a .npz or .npy file, got 'y.txt'" in shown
    assert "pass" not in shown
    assert not Path("y.txt").exists()


@pytest.mark.parametrize("folder", [".", "..", "deep"])
def test_cleaning_spares_the_users_files(folder: str, workspace: Path, capsys: Capture) -> None:
    """The artifacts folder is deleted only if it holds neither the current one nor an input."""
    before = sorted(workspace.rglob("*"))
    assert run("run", "deep/abs.ttnn", "--clean-artifacts", "--artifact-dir", folder) == 1
    assert "--clean-artifacts would delete " in capsys.readouterr().err
    assert sorted(workspace.rglob("*")) == before


@pytest.mark.parametrize("flag", ["--save-artifacts", "--clean-artifacts"])
@pytest.mark.parametrize("folder", ["notes.txt", "notes.txt/deep", "link"])
def test_artifacts_need_a_folder(flag: str, folder: str, capsys: Capture) -> None:
    """A file where the folder should be is named, and stays."""
    Path("notes.txt").write_text("mine")
    Path("link").symlink_to("notes.txt")
    assert run("run", "exp.ttnn", flag, "--artifact-dir", folder) == 1
    named = "link" if folder == "link" else "notes.txt"
    expected = f"--artifact-dir {folder}: {named} is a file, not a folder"
    assert expected in capsys.readouterr().err
    assert Path("notes.txt").read_text() == "mine"


@pytest.mark.parametrize("option", ["--result-file", "--log-file"])
@pytest.mark.parametrize("as_link", [False, True])
def test_what_is_read_is_not_replaced(
    option: str, as_link: bool, workspace: Path, capsys: Capture
) -> None:
    """Results and messages do not go to the program itself, by whatever name."""
    path = Path("model.ttnn")
    path.write_bytes(program("Exp"))
    name = "link.ttnn" if as_link else "./model.ttnn"
    if as_link:
        Path(name).symlink_to(path)
    assert run("run", option, name, str(path)) == 1
    assert f"{option} would replace {name}, which is read" in capsys.readouterr().err
    assert path.read_bytes() == program("Exp")


@pytest.mark.parametrize("command", ["run", "read"])
def test_endless_devices_are_not_read_to_their_end(command: str, capsys: Capture) -> None:
    """The first bytes say that they are no program."""
    assert run(command, "/dev/zero") == 1
    assert "neither a TTNN nor a TTMetal program" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data + b"x" * 1000, "the file is followed by something else"),
        (lambda data: data[:-1], "the file is truncated"),
        (lambda data: data[:7], "neither a TTNN nor a TTMetal program"),
        (lambda data: b"", "neither a TTNN nor a TTMetal program"),
    ],
    ids=["longer", "shorter", "head", "nothing"],
)
def test_damaged_standard_input(
    change: Callable[[bytes], bytes],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    """A pipe holds what its first bytes announce, and nothing else."""
    pipe(change(program("Exp")), monkeypatch)
    assert run("run", "-") == 1
    assert message in capsys.readouterr().err


def test_a_current_folder_that_is_gone(tmp_path: Path, capsys: Capture) -> None:
    """It is missed only where something is to be written or deleted there."""
    path = tmp_path / "model.ttnn"
    path.write_bytes(program("Exp"))
    gone = tmp_path / "gone"
    gone.mkdir()
    before = Path.cwd()
    os.chdir(gone)
    try:
        gone.rmdir()
        assert run("run", str(path)) == 0
        assert run("run", "--save-artifacts", str(path)) == 1
        assert run("run", "--clean-artifacts", str(path)) == 1
    finally:
        os.chdir(before)
    errors = capsys.readouterr().err
    assert "the current folder: No such file or directory" in errors
    assert "internal error" not in errors
