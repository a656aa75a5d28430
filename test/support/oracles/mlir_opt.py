"""LLVM's `mlir-opt` as an oracle, and our reader and printer in the same shape."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

import pytest

from ttmlir.mlir.context import make_context
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError, Source, render_all
from ttmlir.mlir.verifier import verify_module

FILE = "test.mlir"


@cache
def _program() -> str | None:
    return shutil.which("mlir-opt-19") or shutil.which("mlir-opt")


def mlir_opt(text: str, *flags: str, file: str = FILE) -> str:
    """What mlir-opt prints, errors included; skips the test if it is not installed."""
    program = _program()
    if program is None:
        pytest.skip("mlir-opt is not installed")
    run = subprocess.run(
        [program, "--allow-unregistered-dialect", *flags],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    return (run.stdout + run.stderr).replace("<stdin>", file).replace('"-":', f'"{file}":')


def ours(text: str, *, file: str = FILE, **options: object) -> str:
    """What our reader, verifier and printer make of a text, errors included."""
    try:
        module = parse_module(text, file, make_context(allow_unregistered=True))
        diagnostics = verify_module(module)
        if diagnostics:
            raise DiagnosticError(*diagnostics)
    except DiagnosticError as error:
        return render_all(error.diagnostics, {file: Source(text)})
    return print_module(module, **options)
