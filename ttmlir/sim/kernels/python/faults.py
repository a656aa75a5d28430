"""What Python raises for undefined behaviour of a kernel, as errors at its place in the source."""

from __future__ import annotations

from types import CodeType, TracebackType

from ttmlir.sim.errors import SimError
from ttmlir.sim.findings import Position
from ttmlir.sim.kernels.python import runtime
from ttmlir.sim.kernels.python.runtime import OUTSIDE, UNSET_READ, KernelFault

FAULTS = (
    *(KernelFault, ZeroDivisionError, IndexError, NameError, TypeError, RecursionError),
    *(OverflowError, ValueError),
)
"""The exceptions that code of a kernel raises itself."""


def translate_fault(error: Exception, thread: object) -> Exception:
    """The error to raise instead: the same one, if it comes from outside of the kernel."""
    place = _place(error.__traceback__, through_calls=isinstance(error, KernelFault))
    if place is None:
        return error
    message = _message(error)
    kernel = getattr(thread, "kernel", None)
    core = getattr(getattr(thread, "core", None), "logical", None)
    place = place if kernel is None else kernel.position(place.line, place.column)
    line = kernel.line(place) if kernel is not None else ""
    role = getattr(thread, "role_name", "")
    raised = SimError(message, place, core, role, rule="undefined", source_line=line)
    raised.__suppress_context__ = True
    return raised


def _message(error: Exception) -> str:
    match error:
        case ZeroDivisionError():
            return "division by zero"
        case IndexError():
            return OUTSIDE
        case NameError() | TypeError():
            return UNSET_READ
        case RecursionError():
            return "this function calls itself without end"
        case _:
            return str(error)


def _place(traceback: TracebackType | None, *, through_calls: bool) -> Position | None:
    """The innermost place in the kernel; None if the exception comes from what it called.

    With `through_calls` what it called is not to blame.
    """
    entry = traceback.tb_frame.f_code.co_filename if traceback is not None else ""
    found: Position | None = None
    while traceback is not None:
        frame = traceback.tb_frame.f_code
        if frame.co_filename == entry:
            found = _position(frame, traceback)
        elif frame.co_filename != runtime.__file__ and not through_calls:
            return None
        traceback = traceback.tb_next
    return found


def _position(frame: CodeType, traceback: TracebackType) -> Position:
    positions = list(frame.co_positions())
    _, _, column, _ = positions[traceback.tb_lasti // 2]
    return Position(frame.co_filename, traceback.tb_lineno, 1 if column is None else column + 1)
