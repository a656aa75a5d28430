"""What is wrong with a kernel in Python, at its line."""

from __future__ import annotations

from xdsl.dialects.builtin import LocationAttr

from ttmlir.mlir.reporting.diagnostics import LocatedError, Source, render_all


class PyKernelError(LocatedError):
    """A kernel that cannot be compiled: `file:line:col: error: ...`, the line, a caret."""

    def __init__(self, location: LocationAttr, message: str, file: str, text: str) -> None:
        """An error in a file with this text."""
        super().__init__(location, message)
        self._sources = {file: Source(text)}

    def __str__(self) -> str:
        """The message as it is printed."""
        return render_all(self.diagnostics, self._sources).rstrip("\n")


class KernelTypeError(PyKernelError, TypeError):
    """A call of a kernel with an argument of the wrong kind."""


class KernelValueError(PyKernelError, ValueError):
    """A call of a kernel that lacks an argument, or has one too many."""
