"""Commands of the tools that start at once, for suites that start them thousands of times.

`serve_tools` starts a server that has the compiler in memory. Each command is a small program that
hands its command line to the server, which runs the tool in a fork of itself: with the streams,
folder and environment of the command, and its exit status.

The server and the folder of the commands belong to the process that asked for them, and end with
it. Nobody else can reach them: the folder is the user's alone.
"""

from __future__ import annotations

import gc
import os
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import NoReturn

from ttmlir.errors import InputError
from ttmlir.files import write_file

_SOCKET = "socket"
_MOST = 1 << 26
"""Bytes of a request: command lines and environments are smaller on all systems."""

_WARM_UP = """\
func.func @warm_up(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = tensor.empty() : tensor<32x32xf32>
  %1 = "ttir.relu"(%x, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [
      #tt.operand_constraint<any_device>, #tt.operand_constraint<any_device>]}>
      : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %1 : tensor<32x32xf32>
}
"""


class ServingError(InputError):
    """The tools cannot be served here."""


# --- The side that asks ---------------------------------------------------------------------------


@cache
def serve_tools() -> str:
    """Start a server; the folder with the commands `ttmlir-opt`, `FileCheck` and the others.

    For the front of PATH. Server and folder are there until this process ends. Raises ServingError
    where the package is not installed, or the system has no processes that fork.
    """
    tools = _installed_tools()
    if not tools or not hasattr(os, "fork"):
        raise ServingError(
            "the tools are not served: that needs the installed package, and a system with fork;"
            " use the tools themselves"
        )
    folder = Path(tempfile.mkdtemp(prefix="ttmlir-"))  # which only its owner may enter
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(str(folder / _SOCKET))
    except OSError as error:
        listener.close()
        folder.rmdir()
        raise ServingError(
            f"{folder}: a socket cannot be made there: {error}; let TMPDIR name another folder"
        ) from error
    listener.listen(128)
    client = Path(__file__).with_name("served_command.py")
    for name in tools:
        words = (sys.executable, "-IS", str(client), str(folder / _SOCKET), name)
        command = folder / name
        write_file(command, f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n'.encode())
        command.chmod(0o700)
    with listener:
        server = subprocess.Popen(
            [sys.executable, "-m", __name__, str(folder), str(listener.fileno())],
            stdin=subprocess.PIPE,
            pass_fds=(listener.fileno(),),
            start_new_session=True,
        )
    _servers.append(server)
    return str(folder)


_servers: list[subprocess.Popen[bytes]] = []
"""Each ends when the pipe to its standard input is closed, which the end of this process does."""


@cache
def _installed_tools() -> Mapping[str, str]:
    """The commands that this package installs, and where their functions are."""
    points = entry_points(group="console_scripts")
    return {each.name: each.value for each in points if each.value.startswith("ttmlir.")}


# --- The server -----------------------------------------------------------------------------------


class _Server:
    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._running: dict[int, socket.socket] = {}
        """The connection of each command by the process that runs it."""
        self._woken, waking = os.pipe()
        os.set_blocking(waking, False)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)

    def run(self) -> None:
        """Serve until standard input ends."""
        while True:
            connections = list(self._running.values())
            ready, _, _ = select.select([0, self._listener, self._woken, *connections], [], [])
            if self._woken in ready:
                os.read(self._woken, 4096)
                self._report_ended()
            if 0 in ready:
                break
            for pid, connection in list(self._running.items()):
                if connection in ready:
                    # The command has been ended, and with it what it started.
                    _kill(pid)
                    self._running.pop(pid).close()
            if self._listener in ready:
                self._accept()
        for pid in self._running:
            _kill(pid)

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        descriptors: list[int] = []
        try:
            request = _receive(connection, descriptors)
        except (OSError, ServingError):
            connection.close()
        else:
            pid = os.fork()
            if pid == 0:
                os.setpgid(0, 0)
                for each in (self._listener, connection, *self._running.values()):
                    each.close()
                _become(request, descriptors)
            with suppress(OSError):
                # The child does it, too: whoever is first. It may have ended already.
                os.setpgid(pid, pid)
            self._running[pid] = connection
        for each in descriptors:
            os.close(each)

    def _report_ended(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            connection = self._running.pop(pid, None)
            if connection is None:
                continue
            with connection:
                try:
                    connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
                except OSError:
                    pass  # The command has ended before its tool.


def _kill(pid: int) -> None:
    """End a process, and those of its group."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _receive(connection: socket.socket, descriptors: list[int]) -> list[bytes]:
    """The fields of a request; adds the streams that came with it to `descriptors`."""
    start, received, _, _ = socket.recv_fds(connection, 1 << 16, 3)
    descriptors += received
    content = bytearray(start)
    while len(content) < 8:
        content += _more(connection)
    size = int.from_bytes(content[:8], "little")
    if size > _MOST:
        raise ServingError("a request is too long")
    while len(content) < 8 + size:
        content += _more(connection)
    return bytes(content[8:]).split(b"\0")


def _more(connection: socket.socket) -> bytes:
    data = connection.recv(1 << 16)
    if not data:
        raise ServingError("a request ends early")
    return data


def _become(request: list[bytes], descriptors: list[int]) -> NoReturn:
    """Run a request as the program of this process, and end the process."""
    status = 70
    try:
        streams, umask, folder, count, *rest = request
        words = [os.fsdecode(each) for each in rest[: int(count)]]
        _connect(streams.decode(), descriptors)
        os.umask(int(umask))
        os.chdir(folder)
        os.environ.clear()
        for variable in rest[int(count) :]:
            name, _, value = variable.partition(b"=")
            os.environb[name] = value
        for number, handler in _DEFAULTS.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(-1)
        sys.argv = words
        status = _status_of(_load(words[0]))
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        status = status or 70
        sys.stderr.flush()
    finally:
        os._exit(status)  # What follows is the server's.


_DEFAULTS = {signal.SIGINT: signal.default_int_handler, signal.SIGCHLD: signal.SIG_DFL}


def _connect(streams: str, descriptors: list[int]) -> None:
    """Let standard streams be those of the command, or closed as they are there."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if str(number) not in streams:
            os.close(number)
            setattr(sys, name, None)
            continue
        os.dup2(descriptors[streams.index(str(number))], number)
        opened = open(
            number,
            "w" if number else "r",
            buffering=1 if number and os.isatty(number) else -1,
            encoding="utf-8",
            errors="backslashreplace" if number == 2 else "surrogateescape",
            closefd=False,
        )
        setattr(sys, name, opened)
    for each in descriptors:
        if each > 2:
            os.close(each)


def _load(tool: str) -> Callable[[], int]:
    module, _, function = _installed_tools()[tool].partition(":")
    return getattr(import_module(module), function)


def _status_of(main: Callable[[], int]) -> int:
    try:
        return main() or 0
    except SystemExit as request:
        if request.code is None or isinstance(request.code, int):
            return request.code or 0
        print(request.code, file=sys.stderr)
        return 1


def _warm_up(folder: Path) -> None:
    """Import what most commands need."""
    for name in ("FileCheck", "ttmlir-opt", "ttmlir-translate", "ttrt"):
        _load(name)
    from ttmlir.tools.ttmlir_opt import main as run_opt
    from ttmlir.tools.ttmlir_translate import main as run_translate

    source, ttnn, binary = (folder / f"warm_up.{end}" for end in ("ttir", "mlir", "ttnn"))
    write_file(source, _WARM_UP.encode())
    run_opt(["--ttir-to-ttnn-backend-pipeline", "--cse", str(source), "-o", str(ttnn)])
    run_translate(["--ttnn-to-flatbuffer", str(ttnn), "-o", str(binary)])
    try:
        import_module("ttmlir.tools.filecheck")
    except ImportError:
        pass  # The package filecheck is optional.
    gc.collect()
    gc.freeze()


def _main(folder: Path, descriptor: int) -> None:
    try:
        with socket.socket(fileno=descriptor) as listener:
            _warm_up(folder)
            _Server(listener).run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    _main(Path(sys.argv[1]), int(sys.argv[2]))
