"""A Python process that answers each line of its input with a line."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

SUPPORT = Path(__file__).resolve().parents[1]
START = """
import importlib, os, sys
folder, module, *arguments = sys.argv[1:]
sys.path.insert(0, folder)
serve = importlib.import_module(module).serve
del sys.path[0]
with open(os.dup(1), "w") as answers:
    os.dup2(2, 1)  # what libraries print while they are imported must not answer
    serve(*arguments, requests=sys.stdin, answers=answers)
"""
"""What the process runs."""


class LineProcess:
    """A process that runs until it is closed; it starts with the first question."""

    def __init__(self, module: str, *arguments: str | Path) -> None:
        """No process yet; it will call `serve` of `module` with `arguments`."""
        self._module = module
        self._command = [sys.executable, "-c", START, SUPPORT, module, *arguments]
        self._process: subprocess.Popen[str] | None = None

    def ask(self, line: str, seconds: float | None = None) -> str:
        """The answer to a line; without one in time the process ends, and all that it started.

        Raises TimeoutError, and LineProcessError if it ended by itself.
        """
        if self._process is None:
            self._process = self._start()
        try:
            return self._exchange(self._process, line, seconds)
        except BaseException:  # such as a timeout: its answer must not become the next one
            self.close()
            raise

    def _start(self) -> subprocess.Popen[str]:
        # A session of its own, so that what hangs in it ends with it.
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def _exchange(self, process: subprocess.Popen[str], line: str, seconds: float | None) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], seconds)
        if not ready:
            raise TimeoutError(f"no answer in {seconds} seconds")
        answer = process.stdout.readline()
        if not answer:
            raise LineProcessError(f"{self._module} ended with status {process.wait()}")
        return answer

    def close(self) -> None:
        """End the process and whatever it still runs."""
        if self._process is not None:
            with suppress(ProcessLookupError):  # it has ended, and why is being told
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            self._process = None


class LineProcessError(Exception):
    """The process itself broke."""
