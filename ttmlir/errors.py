"""What the project raises for what it refuses: one root, and what each error is about.

    try:
        compiled = ttmlir.compile(model, *inputs)
    except ttmlir.Error as error:
        print(error)

Whatever else comes out of a call is a mistake of the project, or of Python: nothing is turned into
one of these but refusals. Each package has classes of its own below these, which are also the
`ValueError`, `RuntimeError` or `TypeError` that Python or ttnn has for the case. `__cause__` is
what led to an error; tools show it where the environment variable `TTMLIR_DEBUG` is set.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from numbers import Integral
from typing import Any

DEBUG_VARIABLE = "TTMLIR_DEBUG"
"""Environment variable that has tools show tracebacks and causes."""


def show_cause(error: BaseException) -> None:
    """Print the traceback of an error with its causes, if the environment asks for that."""
    if os.environ.get(DEBUG_VARIABLE):
        import traceback

        traceback.print_exception(error)


_IRREGULAR = {"entry": "entries", "index": "indices"}


def plural(count: int | str, noun: str) -> str:
    """A count with its noun for a message: `1 array`, `2 arrays`, `at most 1 argument`."""
    *before, last = noun.split(" ")
    if str(count) not in ("1", "at least 1", "at most 1"):
        last = _IRREGULAR.get(last, f"{last}s")
    return " ".join((str(count), *before, last))


def check_whole(name: str, value: Any, low: int, high: int) -> None:
    """Refuse what is no whole number from `low` to `high` for an argument of this name."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ArgumentTypeError(f"{name} is a whole number, not {value!r}")
    if not low <= int(value) <= high:
        raise ArgumentError(f"{name} is from {low} to {high}, not {value}")


class Error(Exception):
    """Something that is refused; the text is a sentence for the user."""


class CompilationError(Error):
    """A program that is not compiled: the place in the user's source, and the reason.

        import jax.numpy as jnp, ttmlir

        ttmlir.compile(lambda x: jnp.fft.fft(x), jnp.ones(8))   # no operation for it

    The message says what is supported instead.
    """

    def __init__(self, message: str = "", diagnostics: Sequence[Any] = ()) -> None:
        """The whole text, and the `Diagnostic`s that it was made of."""
        super().__init__(message)
        self.diagnostics = diagnostics


class InputError(Error):
    """Arguments, options or tensors that do not fit what they are given to."""


class ArgumentError(InputError, ValueError):
    """A value that an argument does not take."""


class ArgumentTypeError(InputError, TypeError):
    """An argument of another type than it takes, or one that a function does not take."""


class IndexRangeError(InputError, IndexError):
    """An index outside of what it is an index of."""


class MissingNameError(InputError, AttributeError):
    """A name that a module or an object does not have."""


class UnknownKeyError(InputError, KeyError):
    """A key that a table of names does not have."""

    def __str__(self) -> str:
        """The sentence; of a KeyError alone it would be shown in quotes."""
        return str(self.args[0])


class UsageError(InputError, RuntimeError):
    """A call that is refused for what it is given or when it comes, such as on a closed device.

    ttnn raises RuntimeError for these.
    """


class NotSupportedError(InputError, NotImplementedError):
    """A call that is valid elsewhere, but not here."""


class ImportOrderError(InputError, ImportError):
    """A package that was imported before what makes it the right one."""


class MissingPackageError(InputError, ImportError):
    """A package that a call needs, and that is not installed."""


class FileError(Error):
    """A file that cannot be read or written, or that is not what it should be."""


class PathError(FileError, OSError):
    """A path that the system does not read or write, with its `errno`, `strerror`, `filename`."""

    def __str__(self) -> str:
        """The path, and what the system says."""
        return f"{self.filename}: {self.strerror}"


class MissingPathError(PathError, FileNotFoundError):
    """A path where there is no file, or no folder for it."""


class ProtectedPathError(PathError, PermissionError):
    """A path that one may not read or write."""


class FolderPathError(PathError, IsADirectoryError):
    """A folder where a file is expected."""


def path_error(path: str | os.PathLike[str], error: OSError) -> PathError:
    """What the system says about a path, as an error of the project."""
    kinds = (MissingPathError, ProtectedPathError, FolderPathError)
    kind = next((each for each in kinds if issubclass(each, type(error))), PathError)
    return kind(error.errno, error.strerror, os.fspath(path))


class ExecutionError(Error):
    """A program that stops on its data, such as an index outside of its table."""


class IterationLimitError(ExecutionError, ValueError):
    """Loops that have made as many iterations as they may."""


class KernelError(Error):
    """A kernel that is wrong, or that does what no chip promises to do as meant."""
