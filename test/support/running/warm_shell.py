"""Runs shell commands in which Python and the project's tools start in milliseconds.

The tools and the interpreter that the shell finds are small programs that hand what they were
started with (arguments, folder, environment, standard input, output and error) to a process that
has imported the compiler; that process forks for each, and they end as the fork does. Scripts that
import torch are forks of another one, which has done so. How tools are started without this is what
`test/tools/real_process` tries.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import IO, TypeAlias

from running.line_process import LineProcess
from running.warm_python import OURS, finish_threads, imported_by, run_text
from running.warm_tools import be_program

Tool: TypeAlias = Callable[[list[str]], int | None]

_ADDRESS = "TTMLIR_TEST_WARM_SHELL"
_GROUP = "console_scripts"
_PYTHON = "python"
_LIT = "llvm-lit"
"""Has worker processes and an end of its own, and reads the command line itself."""
_MOST_DESCRIPTORS = 16
_START = """#!/bin/sh
exec '{python}' -IS '{stand_in}' {name} "$@"
"""
_STAND_IN = """
import json, os, socket, struct, sys
name, *arguments = sys.argv[1:]
first = arguments[0] if arguments else ""
is_plain = name != "python" or first.endswith(".py") or arguments[:2] == ["-m", "ttmlir"]
if not is_plain or "PYTHONPATH" in os.environ:
    program = sys.executable if name == "python" else os.path.dirname(sys.executable) + "/" + name
    os.execv(program, [program, *arguments])
connection = socket.socket(socket.AF_UNIX)
connection.connect(os.environ["TTMLIR_TEST_WARM_SHELL"])
own = [int(each) for each in os.listdir("/dev/fd")]
given = [each for each in own if os.path.exists(f"/dev/fd/{each}") and os.get_inheritable(each)]
request = json.dumps([name, arguments, os.getcwd(), dict(os.environ), given]).encode()
socket.send_fds(connection, [struct.pack("!I", len(request))], given)
connection.sendall(request)
answer = connection.recv(4)
status = struct.unpack("!i", answer)[0] if answer else 70
if status < 0:
    os.kill(os.getpid(), -status)
sys.exit(status)
"""
"""What stands in for a program; it imports as little as it can."""


class WarmShell:
    """A process to fork, and the programs that ask it to; close it at the end."""

    def __init__(self) -> None:
        """Nothing runs before the first command."""
        self._folder = tempfile.TemporaryDirectory()
        self._address = Path(self._folder.name) / "socket"
        self._process = LineProcess("running.warm_shell", self._address)
        self._is_ready = False

    def run(
        self, script: str, folder: Path, env: Mapping[str, str], seconds: float
    ) -> subprocess.CompletedProcess[str]:
        """Run a script as bash does, up to the first command that fails.

        Standard error is in the standard output. Raises TimeoutExpired after `seconds`.
        """
        return subprocess.run(
            ["bash", "-euo", "pipefail"],
            input=script,
            cwd=folder,
            env=self.environment(env),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=seconds,
            check=False,
        )

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """An environment in which programs are found by name that start in milliseconds."""
        if not self._is_ready:
            self._prepare()
        path = os.pathsep.join([self._folder.name, str(Path(sys.executable).parent), env["PATH"]])
        return {**env, "PATH": path, _ADDRESS: str(self._address)}

    def _prepare(self) -> None:
        folder = Path(self._folder.name)
        (folder / "stand_in").write_text(_STAND_IN, encoding="utf-8")
        for name in (_PYTHON, *_tools()):
            text = _START.format(python=sys.executable, stand_in=folder / "stand_in", name=name)
            program = folder / name
            program.write_text(text, encoding="utf-8")
            program.chmod(0o755)
        self._process.ask("")
        self._is_ready = True

    def close(self) -> None:
        """End the process and whatever it still runs."""
        self._process.close()
        self._folder.cleanup()


def _tools() -> dict[str, Tool]:
    """The functions of the project's programs, by name; each is imported when it is called."""
    found = entry_points(group=_GROUP)
    return {
        each.name: lambda arguments, each=each: each.load()(arguments)
        for each in found
        if each.module.startswith("ttmlir.") and each.name != _LIT
    }


def serve(address: str, *, requests: IO[str], answers: IO[str]) -> None:
    """Answer the first line when programs can be run, then run them until the input ends."""
    exec(OURS, {})
    import pykernel  # noqa: F401

    tools = _tools()
    for each in entry_points(group=_GROUP):
        if each.name in tools:
            each.load()
    listening, for_torch = _listen(address), _listen(_with_torch(address))
    gc.collect()
    gc.freeze()
    children = [_fork(_accept, listening, tools), _fork(_accept_torch, for_torch, tools)]
    requests.readline()
    answers.write("\n")
    answers.flush()
    requests.read()
    for child in children:
        os.kill(child, signal.SIGKILL)


def _fork(
    accept: Callable[[socket.socket, Mapping[str, Tool]], None],
    listening: socket.socket,
    tools: Mapping[str, Tool],
) -> int:
    child = os.fork()
    if child == 0:
        accept(listening, tools)
    return child


def _with_torch(address: str) -> str:
    """The socket of the process that has imported torch."""
    return f"{address}_with_torch"


def _listen(address: str) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen(64)
    return listening


def _accept_torch(listening: socket.socket, tools: Mapping[str, Tool]) -> None:
    """The same for scripts that import torch, which is imported when the first one comes."""
    select.select([listening], [], [])
    importlib.import_module("torch")  # few of them compile anything
    gc.collect()
    gc.freeze()
    _accept(listening, tools)


def _accept(listening: socket.socket, tools: Mapping[str, Tool]) -> None:
    while True:
        connection, _ = listening.accept()
        if os.fork() == 0:
            # A child of a child has nobody who waits for it but the one that answers.
            status = 70
            try:
                status = _run(connection, tools)
            finally:
                connection.sendall(struct.pack("!i", status))
                os._exit(0)
        connection.close()
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _run(connection: socket.socket, tools: Mapping[str, Tool]) -> int:
    """The exit status of the program that is asked for; the signal that ended it, below 0."""
    head, descriptors, _, _ = socket.recv_fds(connection, 4, _MOST_DESCRIPTORS)
    (length,) = struct.unpack("!I", head)
    with connection.makefile("rb") as stream:
        request = stream.read(length)
    name, arguments, folder, env, numbers = json.loads(request)
    if name == _PYTHON and "torch" not in sys.modules and _imports_torch(arguments, folder):
        with socket.socket(socket.AF_UNIX) as other:
            other.connect(_with_torch(env[_ADDRESS]))
            socket.send_fds(other, [head], descriptors)
            other.sendall(request)
            (status,) = struct.unpack("!i", other.recv(4))
        return status
    del env[_ADDRESS]
    pid = os.fork()
    if pid == 0:
        connection.close()
        main = _run_python if name == _PYTHON else lambda given: _run_tool(tools[name], given)
        at = dict(zip(numbers, descriptors, strict=True))
        streams = (at.pop(0), -1, -1, at.pop(1), -1, at.pop(2))
        # Others are those of the shell's `<(...)`.
        for number, descriptor in at.items():
            os.dup2(descriptor, number)
            os.close(descriptor)
        be_program(main, [name, *arguments], streams, folder, env)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _imports_torch(arguments: list[str], folder: str) -> bool:
    script = next((Path(folder, each) for each in arguments if each.endswith(".py")), None)
    if script is None or not script.is_file():
        return False
    return "torch" in imported_by(script.read_text(encoding="utf-8"), script.parent)


def _run_tool(main: Tool, arguments: list[str]) -> int:
    try:
        return main(arguments) or 0
    finally:
        finish_threads()


def _run_python(arguments: list[str]) -> int:
    if arguments[0] != "-m":
        sys.argv = arguments
        return run_text(arguments[0], Path(arguments[0]).read_text(encoding="utf-8"))
    _, module, *rest = arguments
    sys.path[0] = os.getcwd()
    sys.argv = [module, *rest]
    # A new process has not imported what it runs.
    sys.modules.pop(f"{module}.__main__", None)
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        finish_threads()
    return 0
