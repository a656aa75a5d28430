"""Commands that a server runs in forks of itself are the tools."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

OWNER = """
import sys
from ttmlir.tools.serving import serve_tools
print(serve_tools(), flush=True)
sys.stdin.read()
"""
SUM = """\
func.func @sum(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  return %x : tensor<3x5xf32>
}
"""


@pytest.fixture(scope="module", name="folder")
def started() -> Iterator[Path]:
    """The commands of a server, which has ended with the process that asked for it."""
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        folder = Path(owner.stdout.readline().rstrip("\n"))
        assert folder.stat().st_mode & 0o777 == 0o700
        yield folder
        assert owner.stdin is not None
        owner.stdin.close()
    wait_until(lambda: not folder.exists())


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Fail if something is not so in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "took too long"
        time.sleep(0.02)


def run(folder: Path, command: str, **given: Any) -> subprocess.CompletedProcess[str]:
    """A shell's command with the served tools in front of PATH."""
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    words = ["/bin/sh", "-c", command]
    return subprocess.run(
        words, check=False, capture_output=True, text=True, env=environment, **given
    )


def test_streams_folder_and_status(folder: Path, tmp_path: Path) -> None:
    """Files by relative names, pipes, both outputs and the statuses of failures."""
    (tmp_path / "sum.mlir").write_text(SUM, encoding="utf-8")
    ended = run(folder, "ttmlir-opt sum.mlir", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "func.func @sum(%arg0: tensor<3x5xf32>)" in ended.stdout
    piped = run(folder, "ttmlir-opt --mlir-print-op-generic | grep -c func.func", input=SUM)
    assert (piped.returncode, piped.stdout) == (0, "1\n")
    failed = run(folder, "ttmlir-opt missing.mlir -o out.mlir", cwd=tmp_path)
    assert failed.returncode == 1
    assert failed.stderr.startswith("ttmlir-opt: cannot open input file 'missing.mlir'")
    assert not (tmp_path / "out.mlir").exists()


def test_commands_that_end_at_once(folder: Path) -> None:
    """The server goes on, whether their tools have begun or not."""
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    for number in range(12):
        with subprocess.Popen(["ttmlir-opt"], stdin=subprocess.PIPE, env=environment) as command:
            time.sleep(0.002 * number)
            command.kill()
    assert "func.func" in run(folder, "ttmlir-opt", input=SUM).stdout


def test_environment(folder: Path) -> None:
    """Variables of the command, not those of the server."""
    command = "TTMLIR_DEBUG=1 ttmlir-opt --test-pass-failure"
    assert "Traceback" in run(folder, command, input=SUM).stderr
    assert "Traceback" not in run(folder, "ttmlir-opt --test-pass-failure", input=SUM).stderr


def test_closed_streams(folder: Path) -> None:
    """What is closed for the command is closed for the tool."""
    ended = run(folder, "ttmlir-opt --version >&-")
    assert ended.returncode == 1
    assert ended.stderr == "ttmlir-opt: error: standard output: Bad file descriptor\n"
    assert run(folder, "ttmlir-opt - <&-").returncode == 1


def test_several_at_once(folder: Path) -> None:
    """Each command has its own status, in any order."""
    commands = [
        f"sleep 0.{number}; ttmlir-opt --{'version' if number % 2 else 'wrong'}; echo {number}=$?"
        for number in range(4)
    ]
    ended = run(folder, "".join(f"({each}) & " for each in commands) + "wait")
    statuses = sorted(line for line in ended.stdout.splitlines() if "=" in line)
    assert statuses == ["0=1", "1=0", "2=1", "3=0"]


def test_what_ends_a_command_ends_its_tool(folder: Path) -> None:
    """A command that waits for its input is interrupted; its tool does not wait on."""
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    reader, writer = os.pipe()
    with subprocess.Popen(["ttmlir-opt"], stdin=reader, env=environment) as command:
        os.close(reader)
        time.sleep(0.3)
        command.send_signal(signal.SIGINT)
        assert command.wait(60) == 130

    def has_no_reader() -> bool:
        try:
            os.write(writer, b"\n")
        except BrokenPipeError:
            return True
        return False

    wait_until(has_no_reader)
    os.close(writer)


def test_folders_that_are_gone(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """What goes wrong around a tool is said, and ends its process alone."""
    ended = run(folder, "mkdir gone; cd gone; rmdir ../gone; ttmlir-opt --version", cwd=tmp_path)
    assert ended.returncode == 1
    assert "ttmlir-opt: error: the current folder: No such file or directory\n" in ended.stderr
    from ttmlir.tools import served_command

    monkeypatch.setattr(os, "getcwdb", lambda: os.fsencode(tmp_path / "missing"))
    socket = str(folder / "socket")
    assert served_command.run_command(socket, "ttmlir-opt", ["--version"]) == 70
    assert "FileNotFoundError: " in capfd.readouterr().err
    assert (folder / "ttmlir-opt").exists()


def test_a_server_that_has_ended(tmp_path: Path) -> None:
    """Its commands say so."""
    from ttmlir.tools import served_command

    client = served_command.__file__
    command = [sys.executable, "-IS", client, str(tmp_path / "socket"), "ttmlir-opt", "--version"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr == (
        "ttmlir-opt: error: the server of this command has ended; start it again\n"
    )


def test_an_environment_without_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources that are not installed have none."""
    from ttmlir.tools import serving

    monkeypatch.setattr(serving, "_installed_tools", dict)
    with pytest.raises(serving.ServingError, match="not served: that needs the installed package"):
        serving.serve_tools.__wrapped__()


def test_a_folder_for_temporary_files_that_takes_no_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Addresses of sockets have about a hundred bytes."""
    from ttmlir.tools import serving

    deep = tmp_path / ("deep" * 30)
    deep.mkdir()
    monkeypatch.setattr(serving, "_installed_tools", lambda: {"ttmlir-opt": "ttmlir.tools:main"})
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    with pytest.raises(serving.ServingError, match="too long; let TMPDIR name another folder"):
        serving.serve_tools.__wrapped__()
    assert not list(deep.iterdir())
