"""What tools do on a terminal: colours, width, completion; and what they refuse to print there."""

from __future__ import annotations

import os
import pty
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from running.warm_shell import WarmShell

from ttmlir.terminal import show_wait
from ttmlir.tools.ttmlir_opt import main as opt
from ttmlir.tools.ttmlir_translate import main as translate

MODEL = Path(__file__).resolve().parents[1] / "models" / "mlp.mlir"
Capture = pytest.CaptureFixture[str]
Shown = Callable[..., tuple[int, str]]


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs in a folder with a text that is no MLIR."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    Path("wrong.mlir").write_text("func.func @f() {\n  %0 = what\n}\n")


@pytest.fixture
def on_terminal(shell: WarmShell) -> Shown:
    """Exit status and everything that a tool shows on a terminal."""

    def show(*arguments: str, **environment: str) -> tuple[int, str]:
        master, slave = pty.openpty()
        with subprocess.Popen(
            arguments,
            stdout=slave,
            stderr=slave,
            env=shell.environment({**os.environ, **environment}),
        ) as process:
            os.close(slave)
            shown = b""
            while chunk := _read(master):
                shown += chunk
            status = process.wait()
        os.close(master)
        return status, shown.decode().replace("\r\n", "\n")

    return show


def _read(master: int) -> bytes:
    try:
        return os.read(master, 65536)
    except OSError:
        return b""


PLACE, RED, GREEN, END = "\x1b[1m", "\x1b[1;31m", "\x1b[1;32m", "\x1b[0m"


@pytest.mark.parametrize("tool", ["ttmlir-opt", "ttmlir-bisect"])
def test_diagnostics_are_coloured_on_a_terminal(tool: str, on_terminal: Shown) -> None:
    """Place, severity and caret, as clang does; the text itself is as everywhere."""
    status, shown = on_terminal(tool, "wrong.mlir")
    heading, source, caret, *_ = shown.splitlines()
    assert status == 1
    assert heading.startswith(f"{PLACE}wrong.mlir:2:8:{END} {RED}error:{END} ")
    assert source == "  %0 = what"
    assert caret == f"{GREEN}       ^{END}"


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_who_wants_no_colours_gets_none(variables: dict[str, str], on_terminal: Shown) -> None:
    """See https://no-color.org; an explicit flag is stronger."""
    _, plain = on_terminal("ttmlir-opt", "wrong.mlir", **variables)
    assert "\x1b" not in plain
    assert plain.startswith("wrong.mlir:2:8: error: ")
    _, coloured = on_terminal("ttmlir-opt", "--color", "wrong.mlir", **variables)
    assert RED in coloured
    assert "\x1b" not in on_terminal("ttmlir-opt", "--color=false", "wrong.mlir")[1]


def test_pipes_get_no_colours(capsys: Capture) -> None:
    """Unless the flag says so."""
    assert opt(["wrong.mlir"]) == 1
    assert "\x1b" not in capsys.readouterr().err
    assert opt(["--color", "wrong.mlir"]) == 1
    assert RED in capsys.readouterr().err
    for flags in ([], ["--debug", "--debug-only=x"]):
        assert translate(["--mlir-to-cpp", *flags, "wrong.mlir"]) == 1
        assert "\x1b" not in capsys.readouterr().err
    assert translate(["--mlir-to-cpp", "--color", "wrong.mlir"]) == 1
    assert RED in capsys.readouterr().err


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    "command",
    [
        ("ttmlir-opt", "x\x1b[31m.mlir"),
        ("ttmlir-opt", "--x\x1b[31m"),
        ("ttmlir-opt", "--pass-pipeline=builtin.module(x\x1b[31m{a=\x1b[31m})", "wrong.mlir"),
        ("ttmlir-translate", "--mlir-to-cpp", "x\x1b[31m.mlir"),
        ("ttmlir-translate", "--x\x1b[31m"),
        ("ttmlir-bisect", "x\x1b[31m.mlir"),
        ("ttmlir-tune", "x\x1b[31m.mlir"),
        ("ttmlir-host", "x\x1b[31m.cpp"),
        ("ttmlir-kernel", "check", "x\x1b[31m.cpp"),
        ("ttmlir-lsp-server", "--x\x1b[31m"),
    ],
    ids=lambda command: " ".join(command).encode("unicode_escape").decode(),
)
def test_names_do_not_command_the_terminal(command: tuple[str, ...], on_terminal: Shown) -> None:
    """Files, flags and passes whose names a terminal would obey."""
    status, shown = on_terminal(*command, TERM="dumb")
    assert status == 1
    assert "\x1b" not in shown
    assert "\N{REPLACEMENT CHARACTER}[31m" in shown


def test_a_binary_is_not_written_to_a_terminal(on_terminal: Shown) -> None:
    """It would show as garbage and could change the terminal; text may go there."""
    assert opt(["--ttir-to-ttnn-backend-pipeline", str(MODEL), "-o", "ttnn.mlir"]) == 0
    status, shown = on_terminal(
        "ttmlir-translate", "--ttnn-to-flatbuffer", "ttnn.mlir", TERM="dumb"
    )
    assert (status, shown) == (
        1,
        "ttmlir-translate: the output is binary, and standard output is a terminal; write it to a"
        " file with -o FILE, or into a pipe\n",
    )
    assert opt(["--convert-ttnn-to-emitc", "ttnn.mlir", "-o", "emitc.mlir"]) == 0
    status, shown = on_terminal("ttmlir-translate", "--mlir-to-cpp", "emitc.mlir")
    assert status == 0
    assert "ttnn::matmul(" in shown


def test_waits_are_lines_in_logs(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """They say how long it takes and how much is done, less and less often; if wanted."""
    monkeypatch.setattr("ttmlir.terminal.PATIENCE_OF_LOGS", 0.02)
    with show_wait("writing \x1b[31m", 3) as advance, show_wait("inside"):
        advance()
        time.sleep(0.3)
        advance()
    shown = capsys.readouterr().err.splitlines()
    assert set(shown) == {"writing \N{REPLACEMENT CHARACTER}[31m: 1 of 3, 0 s"}
    assert 1 < len(shown) < 6
    with show_wait("quiet", quiet=True):
        time.sleep(0.05)
    monkeypatch.setattr("ttmlir.terminal.PATIENCE_OF_LOGS", 10)
    with show_wait("short"):
        pass
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("columns", [70, 80, 100, 160])
@pytest.mark.parametrize("main", [opt, translate])
def test_help_fits_the_terminal(
    main: object, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """No line is longer than the terminal is wide, and wide ones are used."""
    monkeypatch.setenv("COLUMNS", str(columns))
    assert callable(main)
    assert main(["--help-hidden"]) == 0
    longest = max(map(len, capsys.readouterr().out.splitlines()))
    assert columns - 30 <= longest <= columns


def test_debug_counts_operations(capsys: Capture) -> None:
    """Each pass says which operations have become more or fewer, on standard error only."""
    Path("twice.mlir").write_text(
        "func.func @f(%a: i32) -> (i32, i32) {\n"
        "  %0 = arith.addi %a, %a : i32\n  %1 = arith.addi %a, %a : i32\n"
        "  return %0, %1 : i32, i32\n}\n"
    )
    assert opt(["--cse", "--symbol-dce", "twice.mlir"]) == 0
    quiet = capsys.readouterr()
    assert quiet.err == ""
    assert opt(["--debug", "--cse", "--symbol-dce", "twice.mlir"]) == 0
    shown = capsys.readouterr()
    assert shown.out == quiet.out
    assert shown.err == (
        "ttmlir-opt: debug: cse on 'builtin.module': arith.addi 2 -> 1\n"
        "ttmlir-opt: debug: symbol-dce on 'builtin.module': as many operations of each kind as"
        " before\n"
    )
    only = "--debug-only=symbol-dce,dialect-conversion"
    assert opt([only, "--cse", "--symbol-dce", "twice.mlir"]) == 0
    assert capsys.readouterr().err.startswith("ttmlir-opt: debug: symbol-dce on ")
    assert opt(["--debug", "--test-pass-failure", "twice.mlir"]) == 1
    assert "debug: test-pass-failure on 'builtin.module': failed\n" in capsys.readouterr().err


COMPLETIONS = [
    ("ttmlir-opt", "--ttir-la", "--ttir-layout"),
    ("ttmlir-opt", "--mlir-timing-display tr", "tree"),
    ("ttmlir-translate", "--ttm", "--ttmetal-to-flatbuffer"),
    ("ttmlir-bisect", "--numerics dev", "device"),
    ("ttmlir-host", "--max", "--max-findings"),
    ("ttmlir-kernel", "check --ro", "--role"),
    ("ttmlir-tune", "--keep", "--keep-formats"),
    ("ttrt", "qu", "query"),
    ("ttrt", "run --gol", "--golden --golden-file"),
]


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("tool", "typed", "expected"), COMPLETIONS)
def test_bash_completes(tool: str, typed: str, expected: str, shell: WarmShell) -> None:
    """The script that a tool prints, run by bash as if the user had pressed the tab key."""
    variable = f"_{tool.replace('-', '_').upper()}_COMPLETE"
    words = [tool, *typed.split()]
    script = f"""
        eval "$({variable}=bash_source {tool})"
        COMP_WORDS=({" ".join(words)}) COMP_CWORD={len(words) - 1}
        _{tool.replace("-", "_")}_completion {tool}
        echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        env=shell.environment(os.environ),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == expected.split(), done.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_script(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """It asks the tool for the words, in the way of the shell."""
    monkeypatch.setenv("_TTMLIR_OPT_COMPLETE", f"{shell}_source")
    assert opt([]) == 0
    assert f"_TTMLIR_OPT_COMPLETE={shell}_complete" in capsys.readouterr().out
