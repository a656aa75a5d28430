"""Compiles a host program and runs it as a process that speaks to the simulator."""

from __future__ import annotations

import _thread
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

from ttmlir.errors import Error
from ttmlir.host_tool.compiling import compile_host
from ttmlir.host_tool.serving import HostOptions, HostServer

SOCKET_VARIABLE = "TTMLIR_HOST_SOCKET"
"""What tells the program the number of its socket."""

SIGNALLED = 128
"""What shells add to the number of a signal that a program ends by."""


class HostRunError(Error):
    """A host program that did not end by itself."""


@dataclass(frozen=True)
class HostRun:
    """What a host program did."""

    status: int
    """Its exit status."""
    server: HostServer


def run_host(
    source: str,
    arguments: Sequence[str] = (),
    *,
    more_sources: Sequence[str] = (),
    defines: Sequence[str] = (),
    timeout: float | None = None,
    options: HostOptions,
) -> HostRun:
    """Compile a host program and run it with arguments.

    Raises HostCompileError if it does not compile, HostRunError if it is stopped by a signal or
    after `timeout` seconds.
    """
    for each in (source, *more_sources):
        if not Path(each).is_file():
            raise HostRunError(f"error: there is no file '{each}'")
    with tempfile.TemporaryDirectory(prefix="ttmlir-host-") as folder:
        program = compile_host(
            [source, *more_sources],
            Path(folder),
            include_folders=options.include_folders,
            defines=defines,
        )
        return run_program(program, source, arguments, timeout=timeout, options=options)


def run_program(
    program: Path,
    source: str,
    arguments: Sequence[str] = (),
    *,
    timeout: float | None = None,
    options: HostOptions,
) -> HostRun:
    """Run what `compile_host` has made of a source file; HostRunError as for `run_host`."""
    server = HostServer(Path(source), options)
    ours, theirs = socket.socketpair()
    sys.stdout.flush()
    sys.stderr.flush()
    with ours:
        with theirs:
            process = subprocess.Popen(
                [str(program), *arguments],
                pass_fds=[theirs.fileno()],
                env=os.environ | {SOCKET_VARIABLE: str(theirs.fileno())},
            )
        watch = _Watch(process, timeout)
        try:
            with watch:
                server.serve(ours)
                process.wait()
        finally:
            process.kill()
            status = process.wait()
    if watch.is_over:
        reason = f"the program did not end within {timeout:g} seconds (--timeout)"
        raise HostRunError(_describe_end(reason, source, server))
    if status == -signal.SIGPIPE:
        return HostRun(SIGNALLED + signal.SIGPIPE, server)  # The reader has seen enough.
    if status < 0:
        name = signal.Signals(-status).name
        reason = f"the program was stopped by {name} ({signal.strsignal(-status)})"
        raise HostRunError(_describe_end(reason, source, server))
    return HostRun(status, server)


class _Watch:
    """Ends a process, and what this one does for it, when its time is over."""

    def __init__(self, process: subprocess.Popen[bytes], timeout: float | None) -> None:
        self.is_over = False
        self._process = process
        self._timer = None if timeout is None else Timer(timeout, self._end)

    def _end(self) -> None:
        self.is_over = True
        self._process.kill()
        _thread.interrupt_main()

    def __enter__(self) -> None:
        if self._timer is not None:
            self._timer.start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        if self._timer is not None:
            self._timer.cancel()
            try:
                self._timer.join()
                time.sleep(0)  # For an interrupt that has not arrived yet.
            except KeyboardInterrupt:
                if not self.is_over:
                    raise
        return self.is_over and kind is KeyboardInterrupt


def _describe_end(reason: str, source: str, server: HostServer) -> str:
    """A message with the last call that the program made, which is all that one knows."""
    last = server.last
    if last is None:
        return f"{source}: error: {reason}"
    called = last.name.rpartition(".")[2]
    return (
        f"{source}: error: {reason}\n"
        f"{last.file}:{last.line}: note: its last call of the API was {called}"
    )
