"""All tools end alike: full disks, closed streams, other encodings, interrupts, no tracebacks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running.warm_shell import WarmShell

TOOLS = ("ttmlir-opt", "ttmlir-translate", "ttmlir-bisect", "ttrt")
BIN = Path(sys.executable).parent
ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "test" / "golden" / "add.ttnn"
MODEL = ROOT / "test" / "models" / "mlp.mlir"

PRINTING: dict[str, list[str]] = {
    "ttmlir-opt": [str(MODEL)],
    "ttmlir-translate": ["--ttnn-to-flatbuffer", "ttnn.mlir"],
    "ttmlir-bisect": [str(MODEL)],
    "ttrt": ["read", str(GOLDEN)],
}
"""Arguments with which a tool prints what it was asked for."""


@pytest.fixture(scope="module", autouse=True)
def workspace(tmp_path_factory: pytest.TempPathFactory, shell: WarmShell) -> Iterator[None]:
    """The tests run in a folder with a module in ttnn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("guard"))
        pipeline = "--ttir-to-ttnn-backend-pipeline"
        run("ttmlir-opt", pipeline, str(MODEL), "-o", "ttnn.mlir", shell=shell)
        yield


def run(
    tool: str,
    *arguments: str,
    encoding: str = "",
    closed: str = "",
    shell: WarmShell | None = None,
    **options: Any,
) -> subprocess.CompletedProcess[str]:
    """A tool as a process of its own, which never shows a traceback.

    `closed` is what the shell writes to start it without a stream: `0<&-`, `1>&-` or `2>&-`. In
    `shell` it starts fast, for what does not depend on how it starts.
    """
    environment = {**os.environ, "PYTHONIOENCODING": encoding} if encoding else dict(os.environ)
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    command = [str(BIN / tool), *arguments]
    if shell is not None:
        command, environment = [tool, *arguments], shell.environment(environment)
    if closed:
        command = ["sh", "-c", f'exec "$@" {closed}', "sh", *command]
    done = subprocess.run(command, text=True, errors="replace", env=environment, **options)
    assert "Traceback" not in (done.stderr or "")
    assert "Exception ignored" not in (done.stderr or "")
    return done


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("asks", ["--help", "print"])
def test_a_full_disk_is_an_error(tool: str, asks: str) -> None:
    """What was asked for is lost: one sentence and status 1."""
    arguments = PRINTING[tool] if asks == "print" else [asks]
    with open("/dev/full", "w") as full:
        done = run(tool, *arguments, stdout=full)
    assert done.returncode == 1
    assert f"{tool}: error: standard output: No space left on device" in done.stderr


@pytest.mark.parametrize("tool", TOOLS)
def test_messages_that_nobody_can_read_are_dropped(tool: str) -> None:
    """A full or closed standard error changes no status."""
    with open("/dev/full", "w") as full:
        assert run(tool, "--no-such-flag", stderr=full).returncode == 1
    assert run(tool, "--no-such-flag", closed="2>&-").returncode == 1


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("tool", TOOLS)
def test_a_reader_that_has_seen_enough_changes_nothing(tool: str) -> None:
    """Nothing is said about a broken pipe, and the work ends as without one."""
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as pipe:
        done = run(tool, *PRINTING[tool], stdout=pipe)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("tool", TOOLS)
def test_closed_standard_output(tool: str) -> None:
    """As of GNU's tools: an error only if something is to be printed."""
    done = run(tool, *PRINTING[tool], closed="1>&-")
    assert done.returncode == 1
    assert f"{tool}: error: standard output: Bad file descriptor" in done.stderr


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("ttmlir-opt", []),
        ("ttmlir-translate", ["--ttnn-to-flatbuffer"]),
        ("ttmlir-bisect", ["-"]),
        ("ttrt", ["read", "-"]),
    ],
)
def test_closed_standard_input(tool: str, arguments: list[str]) -> None:
    """It cannot be read, which is an error like a missing file."""
    done = run(tool, *arguments, closed="0<&-")
    assert done.returncode == 1
    assert "Bad file descriptor" in done.stderr
    assert "internal error" not in done.stderr


NAME = "größe 数"
NAMED = f"""func.func @"{NAME}"(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {{
  %0 = tensor.empty() : tensor<3x5xf32>
  %1 = "ttir.exp"(%x, %0) <{{operandSegmentSizes = array<i32: 1, 1>, operand_constraints =
      [#tt.operand_constraint<dram|any_layout>, #tt.operand_constraint<dram|any_layout>]}}>
      : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("{NAME}")
  return %1 : tensor<3x5xf32>
}}
"""


def test_names_that_the_terminal_cannot_show(shell: WarmShell) -> None:
    """Files and functions may be called anything; escapes stand for what cannot be shown."""
    folder = Path(f"{NAME}")
    folder.mkdir()
    source, ttnn, binary = (f"{folder}/{NAME}{end}" for end in (".mlir", ".ttnn.mlir", ".ttnn"))
    Path(source).write_text(NAMED, encoding="utf-8")
    for tool, *arguments in (
        ("ttmlir-opt", "--ttir-to-ttnn-backend-pipeline", source, "-o", ttnn),
        ("ttmlir-translate", "--ttnn-to-flatbuffer", ttnn, "-o", binary),
        ("ttmlir-bisect", source),
        ("ttrt", "run", "--golden", "--print-input-output-tensors", binary),
        ("ttrt", "run", "--log-file", f"{folder}/log", binary),
        ("ttrt", "run", "--result-file", f"{folder}/r.json", binary),
        ("ttrt", "perf", binary),
        ("ttrt", "check", binary),
        ("ttrt", "read", "--section", "mlir", binary),
        ("ttrt", "read", str(folder)),
    ):
        done = run(tool, *arguments, encoding="ascii", shell=shell)
        assert done.returncode == 0, (tool, arguments, done.stderr)
    shown = run("ttrt", "read", "--section", "mlir", binary, encoding="ascii").stdout
    assert r"gr\xf6\xdfe \u6570" in shown


def test_paths_that_are_no_text(shell: WarmShell) -> None:
    """Bytes that are no UTF-8 in a path are bytes of the path."""
    path = os.fsdecode(b"\xff\xfe model.mlir")
    Path(path).write_text(NAMED, encoding="utf-8")
    assert run("ttmlir-opt", "--mlir-print-debuginfo", path, shell=shell).returncode == 0
    binary = os.fsdecode(b"\xff.ttnn")
    Path(binary).write_bytes(GOLDEN.read_bytes())
    options = ["--log-file", os.fsdecode(b"\xff.log"), "--result-file", os.fsdecode(b"\xff.json")]
    assert run("ttrt", "run", *options, "--save-artifacts", binary, shell=shell).returncode == 0
    assert run("ttrt", "read", binary, binary, shell=shell).returncode == 0
    wrong = os.fsdecode(b"\xff.mlir")
    Path(wrong).write_text("what", encoding="utf-8")
    assert run("ttmlir-opt", wrong, shell=shell).returncode == 1
    assert run("ttmlir-bisect", wrong, shell=shell).returncode == 1


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("tool", TOOLS)
def test_an_interrupt_ends_with_130(tool: str) -> None:
    """Ctrl-C while the input is awaited."""
    arguments = {"ttmlir-translate": ["--ttnn-to-flatbuffer", "-"], "ttrt": ["run", "-"]}
    process = subprocess.Popen(
        [BIN / tool, *arguments.get(tool, ["-"])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    _wait_until_it_reads(process.pid)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors


def _wait_until_it_reads(pid: int) -> None:
    """Return once a process waits for its standard input, or after some seconds."""
    for _ in range(400):
        try:
            waits_in = Path(f"/proc/{pid}/wchan").read_text()
        except OSError:
            waits_in = ""
        if "pipe" in waits_in:
            return
        time.sleep(0.025)


@pytest.mark.parametrize("options", [["--seed", "-1"], ["--schedule-seed", "-2"]])
def test_negative_seeds_are_refused(options: list[str], shell: WarmShell) -> None:
    """NumPy takes none."""
    done = run("ttrt", "run", *options, str(GOLDEN), shell=shell)
    assert done.returncode == 1
    assert f"{options[0]} must be at least 0, got {options[1]}" in done.stderr
    if options[0] == "--seed":
        done = run("ttmlir-bisect", *options, str(MODEL), shell=shell)
        assert done.returncode == 1
        assert "Invalid value for '--seed': -1 is not in the range x>=0" in done.stderr


def test_a_log_file_that_fills_the_disk(shell: WarmShell) -> None:
    """Messages go to standard error instead, and the work is done."""
    done = run("ttrt", "run", "--log-file", "/dev/full", str(GOLDEN), shell=shell)
    assert done.returncode == 0
    assert "/dev/full: cannot be written: No space left on device; messages follow" in done.stderr
    assert "pass" in done.stderr


def test_python_dash_m_ttrt() -> None:
    """The package is the tool, too."""
    done = subprocess.run(
        [sys.executable, "-m", "ttrt", "read", "--section", "version", str(GOLDEN)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("version: ")


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("tool", "arguments", "status"),
    [
        ("ttmlir-opt", ["/dev/zero"], 1),
        ("ttmlir-opt", ["--ttir-load-system-desc=path=/dev/zero", str(MODEL)], 1),
        ("ttmlir-translate", ["--ttnn-to-flatbuffer", "/dev/zero"], 1),
        ("ttmlir-bisect", ["/dev/zero"], 1),
        ("FileCheck", ["/dev/zero"], 2),
    ],
    ids=["opt", "system_desc", "translate", "bisect", "filecheck"],
)
def test_endless_input_is_an_error(
    tool: str, arguments: list[str], status: int, shell: WarmShell
) -> None:
    """Reading a device stops at a limit, which bounds memory and time."""
    done = run(tool, *arguments, stdin=subprocess.DEVNULL, shell=shell)
    assert done.returncode == status
    assert "has more than 268435456 bytes" in done.stderr
