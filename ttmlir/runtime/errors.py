"""What the runtime refuses, by whose fault it is.

Every message is one sentence that names the file, program, operation or field concerned and, where
there is a way out, what to do. Nothing else is raised for bad files or bad arguments.
"""

from __future__ import annotations


class RuntimeFailure(Exception):
    """Base of all errors that the runtime reports to its user."""


class BinaryError(RuntimeFailure):
    """A file is not a program that can run: damaged, of another kind, or inconsistent."""


class UnsupportedError(RuntimeFailure):
    """The file is valid, but needs something that this runtime does not do."""


class InputError(RuntimeFailure):
    """Tensors or arguments given by the caller do not fit the program or the device."""


class ExecutionError(RuntimeFailure):
    """An operation failed on its data, for example an index outside of its table."""
