"""`llvm-lit` and `FileCheck`: the Python packages lit and filecheck by the names LLVM gives them.

Suites that are written for LLVM's build of these tools run with them as they are. The packages come
with the extra `test`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec

from ttmlir.tools.start_up import run_once


def llvm_lit() -> int:
    """Run lit on the command line's arguments; the exit status."""
    if _is_missing("llvm-lit", "lit"):
        return 1
    # lit has worker processes and an end of its own, so it is not wrapped in anything.
    return import_module("lit.main").main()


def filecheck(arguments: list[str] | None = None) -> int:
    """Run FileCheck; the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    if _is_missing("FileCheck", "filecheck"):
        return 1
    return run_once("FileCheck", lambda: _check(given))


def _check(arguments: list[str]) -> int:
    from ttmlir.tools.filecheck import run_filecheck

    return run_filecheck(arguments)


def _is_missing(program: str, package: str) -> bool:
    if find_spec(package) is not None:
        return False
    print(
        f"{program}: error: the Python package {package} is not installed; install it with"
        f" pip install {package}, or the project with its extra: pip install 'ttmlir-py[test]'",
        file=sys.stderr,
    )
    return True
