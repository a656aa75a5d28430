"""Runs the project's tools in children forked from lit's workers, not in new interpreters.

A Python process that imports the compiler takes a fifth of a second; a fork of one that has
imported it takes two milliseconds. lit keeps its own shell (pipes, redirections, `not`, timeouts);
only the start of a process whose program is one of `TOOLS` is replaced.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import traceback
import types
from collections.abc import Callable
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, NoReturn

REAL_PROCESS = "TTMLIR_TEST_REAL_PROCESS"
"""Environment variable of a test that makes it start real processes."""

TOOLS = {
    "ttmlir-opt": "ttmlir.tools.ttmlir_opt:main",
    "ttmlir-translate": "ttmlir.tools.ttmlir_translate:main",
    "ttrt": "ttmlir.tools.ttrt:main",
    "FileCheck": "ttmlir.tools.llvm_names:filecheck",
}
"""Programs that are forked, and the function of each that takes arguments and gives a status."""

_CLOSED = -1
_WRITTEN = "ttmlir.target.python."
"""Among its modules are texts that are copied into scripts, which import the real ttnn."""


class ForkPopen(subprocess.Popen[Any]):
    """A Popen that forks this process for the programs in `TOOLS`."""

    def _execute_child(self, args: Any, executable: Any, *rest: Any) -> None:
        cwd, env = rest[3], rest[4]
        main = None if REAL_PROCESS in (env or {}) else _main_of(executable or args[0])
        if main is None:
            super()._execute_child(args, executable, *rest)
            return
        descriptors = tuple(rest[8:14])
        pid = os.fork()
        if pid == 0:
            be_program(main, [str(arg) for arg in args], descriptors, cwd, env)
        self._child_created = True
        self.pid = pid
        self._close_descriptors_of_child(descriptors)

    @staticmethod
    def _close_descriptors_of_child(descriptors: tuple[int, ...]) -> None:
        read_in, write_in, read_out, write_out, read_err, write_err = descriptors
        for theirs, ours in ((read_in, write_in), (write_out, read_out), (write_err, read_err)):
            if theirs != _CLOSED and ours != _CLOSED:
                os.close(theirs)


def _main_of(program: str) -> Callable[[list[str]], int] | None:
    location = TOOLS.get(os.path.basename(program))
    if location is None:
        return None
    module, _, function = location.partition(":")
    return getattr(import_module(module), function)


def be_program(
    main: Callable[[list[str]], int],
    args: list[str],
    descriptors: tuple[int, ...],
    cwd: str,
    env: dict[str, str],
) -> NoReturn:
    """Run `main` as the program of this process, which was forked for it, and end the process.

    `descriptors` are those that `subprocess.Popen` hands to a child: what it reads and writes as
    standard input, output and error, each beside its other end, or -1.
    """
    status = 70
    try:
        os.environ.clear()
        os.environ.update(env)
        _connect(descriptors)
        os.chdir(cwd)
        sys.argv = args
        status = _status_of(main, args[1:])
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def _connect(descriptors: tuple[int, ...]) -> None:
    read_in, _, _, write_out, _, write_err = descriptors
    for source, target in ((read_in, 0), (write_out, 1), (write_err, 2)):
        if source not in (_CLOSED, target):
            os.dup2(source, target)
    for descriptor in {*descriptors} - {_CLOSED, 0, 1, 2}:
        os.close(descriptor)
    encoding = os.environ.get("PYTHONIOENCODING", "utf-8")
    kinds = (("r", "strict"), ("w", "strict"), ("w", "backslashreplace"))
    sys.stdin, sys.stdout, sys.stderr = (
        open(fd, mode, encoding=encoding, errors=errors, closefd=False)
        for fd, (mode, errors) in enumerate(kinds)
    )


def _status_of(main: Callable[[list[str]], int], arguments: list[str]) -> int:
    try:
        return main(arguments) or 0
    except SystemExit as exit_request:
        code = exit_request.code
        if code is None or isinstance(code, int):
            return code or 0
        print(code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1


def import_compiler() -> None:
    """Import all that the tools may need: a second once, and no fork imports its part anew."""
    for package in ("dialects", "passes", "runtime", "sim", "target"):
        folder = import_module(f"ttmlir.{package}").__path__
        for found in walk_packages(folder, f"ttmlir.{package}."):
            if not found.name.startswith(_WRITTEN):
                import_module(found.name)


def install(warm_up: tuple[tuple[str, ...], ...]) -> None:
    """Make lit start the tools by forking.

    `warm_up` are commands to run first, in this process: what they import, no fork imports again.
    """
    import lit.TestRunner

    import_compiler()
    for program, *arguments in warm_up:
        main = _main_of(program)
        assert main is not None, f"{program} is not one of the tools"
        main(list(arguments))
    lit.TestRunner.subprocess = types.SimpleNamespace(
        PIPE=subprocess.PIPE,
        STDOUT=subprocess.STDOUT,
        DEVNULL=subprocess.DEVNULL,
        Popen=ForkPopen,
    )
    gc.collect()
    gc.freeze()
