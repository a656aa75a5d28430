"""Runs Python programs in children forked from a process that has imported their libraries.

torch takes four seconds to import and as many again for its first trace; a fork of a process that
has done so takes milliseconds. To a program its process looks like that of `python -`: a `__main__`
of its own, its folder, its environment, standard output and error, and an exit status.

The process reads a request in each line (`WarmPython.run`) and answers with the exit status.
"""

from __future__ import annotations

import ast
import atexit
import gc
import json
import os
import sys
import tempfile
import threading
import traceback
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from running.line_process import LineProcess
from running.warm_tools import be_program

PREPARATION = {
    "torch": """
import torch, ttmlir
ttmlir.compile(torch.nn.functional.relu, torch.ones(3, 2))
""",
    # What runs JAX has threads, which a fork would lose; imported, it has none.
    "jax": "import jax, jax.export, jax.numpy",
}
"""What a process runs for programs that import a library, before it is forked."""
OURS = """
import numpy.random, ttmlir.frontend.jax, ttmlir.ttnn
ttmlir.compile(
    "func.func @main(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {"
    " %0 = stablehlo.exponential %x : tensor<3x2xf32> return %0 : tensor<3x2xf32> }"
)
"""
"""What it runs for every program: passes are imported when they first run."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a program ended, and what it wrote to standard output and error."""

    returncode: int
    printed: str


@dataclass
class WarmPython:
    """Processes to fork, one for each set of libraries; close it at the end."""

    _processes: dict[tuple[str, ...], LineProcess] = field(default_factory=dict)

    def run(self, text: str, folder: Path, env: Mapping[str, str], seconds: float) -> Outcome:
        """Run a program as `python -` in a folder would; TimeoutError after `seconds`."""
        return self._run("-", text, folder, env, seconds)

    def run_file(self, name: str, folder: Path, env: Mapping[str, str], seconds: float) -> Outcome:
        """The same as `python NAME` would."""
        text = (folder / name).read_text(encoding="utf-8")
        return self._run(name, text, folder, env, seconds)

    def _run(
        self, name: str, text: str, folder: Path, env: Mapping[str, str], seconds: float
    ) -> Outcome:
        libraries = tuple(name for name in PREPARATION if name in imported_by(text, folder))
        process = self._processes.get(libraries)
        if process is None:
            process = self._processes[libraries] = LineProcess("running.warm_python", *libraries)
        with tempfile.NamedTemporaryFile("r", encoding="utf-8", errors="replace") as output:
            request = {
                "name": name,
                "text": text,
                "folder": str(folder),
                "env": {**env},
                "output": output.name,
            }
            status = int(process.ask(json.dumps(request), seconds))
            return Outcome(returncode=status, printed=output.read())

    def close(self) -> None:
        """End the processes."""
        for process in self._processes.values():
            process.close()


def imported_by(text: str, folder: Path) -> set[str]:
    """The packages that a program imports, also by modules in its folder."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return set()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    for name in sorted(found):
        module = folder / f"{name}.py"
        if module.is_file():
            found |= imported_by(module.read_text(encoding="utf-8"), folder)
    return found


def serve(*libraries: str, requests: IO[str], answers: IO[str]) -> None:
    """Prepare what programs with these libraries need, then run one for each line."""
    for program in (OURS, *(PREPARATION[library] for library in libraries)):
        exec(program, {})
    gc.collect()
    gc.freeze()
    for line in requests:
        answers.write(f"{_run_in_child(**json.loads(line))}\n")
        answers.flush()


def _run_in_child(name: str, text: str, folder: str, env: dict[str, str], output: str) -> int:
    pid = os.fork()
    if pid == 0:
        nothing, written = os.open(os.devnull, os.O_RDONLY), os.open(output, os.O_WRONLY)
        descriptors = (nothing, -1, -1, written, -1, written)
        be_program(lambda _: run_text(name, text), [name], descriptors, folder, env)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def run_text(name: str, text: str) -> int:
    """Be a process in which Python runs a text: a file's, or `-`; gives the exit status."""
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    shown = "<stdin>"
    if name != "-":
        shown = main.__file__ = os.path.abspath(name)
        sys.path[0] = os.path.dirname(shown)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()  # each process has random numbers of its own
    try:
        exec(compile(text, shown, "exec"), main.__dict__)
    except Exception as error:
        own_frame = error.__traceback__
        traceback.print_exception(error.with_traceback(own_frame and own_frame.tb_next))
        return 1
    finally:
        finish_threads()
    return 0


def finish_threads() -> None:
    """Do what Python does at its end, before what is written is flushed."""
    threading._shutdown()
    atexit._run_exitfuncs()
