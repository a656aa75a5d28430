"""What MLIR's tools share: work on each part of the input, and what to do with its diagnostics."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ttmlir.errors import show_cause
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import (
    Diagnostic,
    DiagnosticError,
    LocatedError,
    Source,
    file_line_col,
    listening,
    render_all,
)
from ttmlir.mlir.text_files import Chunk, split_input
from ttmlir.mlir.verifier import verify_module

T = TypeVar("T")


def read_chunk(
    chunk: Chunk, file: str, context: Context, *, implicit_module: bool = True
) -> Operation:
    """The operation that a text spells, verified.

    Operations that stand on their own get a module around them, unless `implicit_module` is false:
    then the text has to be one operation. Raises DiagnosticError for text that is refused.
    """
    module = parse_module(chunk.text, file, context, first_line=chunk.first_line)
    root = module if implicit_module else _single_operation(module)
    verify(root)
    return root


def verify(op: Operation) -> None:
    """Raise DiagnosticError with everything that is wrong with an operation."""
    diagnostics = verify_module(op)
    if diagnostics:
        raise DiagnosticError(*diagnostics)


def _single_operation(module: ModuleOp) -> Operation:
    """The one operation of a text, without the module that reading put around it."""
    place = file_line_col(module.location)
    if place is None or place.line > 0:
        return module
    operations = list(module.ops)
    if len(operations) != 1:
        raise LocatedError(
            module.location,
            f"source must contain a single top-level operation, found: {len(operations)}",
        )
    operations[0].detach()
    return operations[0]


@dataclass(frozen=True)
class Processed(Generic[T]):
    """The results for the parts of an input."""

    results: tuple[T | None, ...]
    """One for each part; None where the part was refused."""
    succeeded: bool
    """True if no part was refused, or all were as the input says they should be."""


def process_chunks(
    text: str,
    name: str,
    process: Callable[[Chunk], T],
    *,
    marker: str = "",
    verify_diagnostics: bool = False,
    errors_only: bool = False,
    show_operations: bool = True,
    coloured: bool = False,
) -> Processed[T]:
    """Apply `process` to each part of a text and print what it raises and warns of.

    With `verify_diagnostics`, diagnostics are not printed but compared with the `expected-*`
    comments of the part; only what differs is printed. With `errors_only`, warnings and remarks
    are dropped. Without `show_operations`, the notes that show an operation are left out.
    With `coloured`, what is printed has the colours of a terminal.
    """
    results: list[T | None] = []
    problems: list[Diagnostic] = []
    for chunk in split_input(text, marker):
        diagnostics: list[Diagnostic] = []
        with listening() as warnings:
            try:
                results.append(process(chunk))
            except DiagnosticError as error:
                show_cause(error)
                diagnostics += error.diagnostics
                results.append(None)
        diagnostics = [
            each
            for each in (*warnings.values(), *diagnostics)
            if each.severity == "error" or not errors_only
        ]
        if verify_diagnostics:
            from ttmlir.mlir.reporting import mismatches

            diagnostics = mismatches(chunk, name, diagnostics)
        problems += diagnostics
    if not show_operations:
        problems = [diagnostic.without_operation() for diagnostic in problems]
    sys.stderr.write(render_all(problems, {name: Source(text)}, coloured=coloured))
    succeeded = all(diagnostic.severity != "error" for diagnostic in problems)
    return Processed(tuple(results), succeeded)
