"""What the runtime refuses, by whose fault it is.

Every message is one sentence that names the file, program, operation or field concerned and, where
there is a way out, what to do. Nothing else is raised for bad files or bad arguments.
"""

from __future__ import annotations

from ttmlir.errors import ExecutionError as ExecutionError
from ttmlir.errors import FileError
from ttmlir.errors import InputError as InputError


class BinaryError(FileError):
    """A file is not a program that can run: damaged, of another kind, or inconsistent."""


class UnsupportedError(FileError):
    """The file is valid, but needs something that this runtime does not do."""
