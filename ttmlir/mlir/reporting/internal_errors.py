"""Mistakes of the project itself, as a user sees them: what went wrong, and that the input is fine.

A tool turns every exception that no user can cause into such a message; the traceback is shown only
where the environment variable `TTMLIR_DEBUG` is set.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager

from xdsl.dialects.builtin import LocationAttr

from ttmlir.mlir.option_values import OptionError
from ttmlir.mlir.reporting.diagnostics import Diagnostic, DiagnosticError, note
from ttmlir.mlir.reporting.locations import file_location

DEBUG_VARIABLE = "TTMLIR_DEBUG"
"""Environment variable that has the traceback of an internal error shown."""


@contextmanager
def reporting_mistakes(activity: str, file: str, line: int) -> Generator[None]:
    """Turn exceptions of the body that are mistakes in this project into diagnostics."""
    try:
        yield
    except (DiagnosticError, OptionError):
        raise
    except Exception as error:
        raise internal_error(file_location(file, line, 1), activity, error) from error


def internal_error(
    location: LocationAttr, activity: str, error: BaseException, notes: Iterable[Diagnostic] = ()
) -> DiagnosticError:
    """The message for an exception that is a mistake in this project, met during `activity`."""
    if os.environ.get(DEBUG_VARIABLE):
        import traceback

        traceback.print_exception(error, file=sys.stderr)
    text = f"{type(error).__name__}: {error}".removesuffix(": ")
    ours = note(
        location,
        f"this is a mistake in ttmlir, not in the input; {DEBUG_VARIABLE}=1 shows the traceback",
        show_source=False,
    )
    message = f"internal error {activity}: {text}"
    return DiagnosticError(Diagnostic("error", location, message, (ours, *notes)))
