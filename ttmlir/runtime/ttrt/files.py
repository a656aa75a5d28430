"""The files that commands read and write."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TextIO

import numpy as np

from ttmlir.errors import plural
from ttmlir.files import open_replacement, write_file
from ttmlir.runtime.errors import BinaryError, InputError
from ttmlir.runtime.loading import file_bytes, read_stream
from ttmlir.runtime.tensor import Array
from ttmlir.terminal import printable, show_wait

# --- Logger ---------------------------------------------------------------------------------------
# Messages of the commands: to the terminal or to a file.

# --- Progress -------------------------------------------------------------------------------------
# A progress bar for repeated runs: on a terminal, and only if there is something to wait for.


def progress(count: int, title: str, quiet: bool) -> Iterator[int]:
    """Count from 0 to `count` - 1, with a bar on standard error if that is a terminal."""
    with show_wait(title, count if count > 1 else None, quiet=quiet) as advance:
        for number in range(count):
            yield number
            advance()


# --- Logger ---------------------------------------------------------------------------------------

_LEVEL_VARIABLES = ("TTRT_LOGGER_LEVEL", "LOGGER_LEVEL")
_LEVELS = {
    **{name: name for name in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")},
    # The other words of tt-mlir's loggers.
    **{"TRACE": "DEBUG", "FATAL": "CRITICAL"},
}


class _AppendingHandler(logging.Handler):
    """Appends each message to a file; between messages the file is closed."""

    def __init__(self, path: str) -> None:
        """Start with an empty file; InputError if it cannot be written."""
        super().__init__()
        self.path = path
        self._instead: logging.StreamHandler[TextIO] | None = None
        try:
            open(path, "w", encoding="utf-8").close()
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from error

    def emit(self, record: logging.LogRecord) -> None:
        """Write one message; where that fails, this one and all after it go to standard error."""
        if self._instead is None:
            try:
                with open(self.path, "a", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(self.format(record) + "\n")
                return
            except OSError as error:
                self._instead = logging.StreamHandler(sys.stderr)
                self._instead.setFormatter(self.formatter)
                print(
                    f"warning: {self.path}: cannot be written: {error.strerror}; messages follow"
                    " here",
                    file=sys.stderr,
                )
        self._instead.emit(record)


class Logger:
    """Writes messages with their time and level to a file, or to standard error without one.

    The least level shown comes from `TTRT_LOGGER_LEVEL` or `LOGGER_LEVEL`; it is INFO otherwise.
    InputError for what is no level in the first of them; the other may be somebody else's.
    """

    def __init__(self, file_name: str = "", *, quiet: bool = False) -> None:
        """Open the log; an existing file is replaced."""
        self.file_name = file_name
        # Not registered by name: each instance has its own file and level.
        self._logger = logging.Logger("ttrt", "WARNING" if quiet else _level())
        handler = _AppendingHandler(file_name) if file_name else logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(asctime)s - %(levelname)s - %(message)s"))
        self._logger.addHandler(handler)

    def get_logger(self) -> logging.Logger:
        """The standard library's logger behind it."""
        return self._logger

    def debug(self, message: str) -> None:
        """Log at DEBUG."""
        self._logger.debug(printable(message))

    def info(self, message: str) -> None:
        """Log at INFO."""
        self._logger.info(printable(message))

    def warning(self, message: str) -> None:
        """Log at WARNING."""
        self._logger.warning(printable(message))

    def error(self, message: str) -> None:
        """Log at ERROR."""
        self._logger.error(printable(message))

    def output(self, text: str) -> None:
        """Show what was asked for: to the log file if there is one, else to standard output."""
        if self.file_name:
            self._logger.info(text)
        else:
            text = printable(text)
            sys.stdout.write(text if text.endswith("\n") else text + "\n")


def _level() -> str:
    for variable in _LEVEL_VARIABLES:
        level = os.environ.get(variable, "").upper()
        if level in _LEVELS:
            return _LEVELS[level]
        if level and variable == _LEVEL_VARIABLES[0]:
            raise InputError(f"{variable} is '{level}'; supported are {', '.join(_LEVELS)}")
    return "INFO"


# --- Files ----------------------------------------------------------------------------------------

# --- File manager ---------------------------------------------------------------------------------
# File operations of the commands.

TTNN_EXTENSION = ".ttnn"
TTMETAL_EXTENSION = ".ttm"
TTSYS_EXTENSION = ".ttsys"


class FileManager:
    """Creates, copies, removes and finds files; failures are InputErrors that name the path."""

    def __init__(self, logger: Logger | None = None) -> None:
        """Use a logger for what is done to files, at DEBUG."""
        self.logger = logger or Logger()

    def create_file(self, path: str) -> None:
        """Make an empty file and its folders."""
        self.write_bytes(path, b"")

    def write_bytes(self, path: str, data: bytes) -> None:
        """Write a file and make its folders."""
        self.logger.debug(f"writing {path}")
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            write_file(path, data)
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from error

    def create_directory(self, path: str) -> None:
        """Make a folder and those above it."""
        try:
            Path(path).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _failure(path, error) from error

    def remove_file(self, path: str) -> None:
        """Remove a file if it exists."""
        self.logger.debug(f"removing {path}")
        try:
            Path(path).unlink(missing_ok=True)
        except OSError as error:
            raise _failure(path, error) from error

    def remove_directory(self, path: str) -> None:
        """Remove a folder and all it holds, if it exists."""
        if not self.check_directory_exists(path):
            return
        self.logger.debug(f"removing {path}")
        try:
            shutil.rmtree(path)
        except OSError as error:
            raise _failure(path, error) from error

    def copy_file(self, dest_file_path: str, src_file_path: str) -> None:
        """Copy a file and make the folders of its destination."""
        try:
            Path(dest_file_path).parent.mkdir(parents=True, exist_ok=True)
            with Path(src_file_path).open("rb") as source, open_replacement(dest_file_path) as copy:
                shutil.copyfileobj(source, copy)
        except OSError as error:
            raise _failure(src_file_path, error) from error

    def copy_directory(self, dest_directory_path: str, src_directory_path: str) -> None:
        """Copy a folder and all it holds."""
        try:
            shutil.copytree(src_directory_path, dest_directory_path, dirs_exist_ok=True)
        except OSError as error:
            raise _failure(src_directory_path, error) from error

    def check_file_exists(self, path: str) -> bool:
        """True for an existing file or folder."""
        return Path(path).exists()

    def check_directory_exists(self, path: str) -> bool:
        """True for an existing folder."""
        return Path(path).is_dir()

    def is_file(self, path: str) -> bool:
        """True for an existing file."""
        return Path(path).is_file()

    def is_directory(self, path: str) -> bool:
        """True for an existing folder."""
        return Path(path).is_dir()

    def get_file_name(self, path: str) -> str:
        """Last part of a path."""
        return Path(path).name

    def get_file_extension(self, path: str) -> str:
        """Extension with its dot; empty if there is none."""
        return Path(path).suffix

    def find_ttnn_binary_paths(self, path: str) -> list[str]:
        """The `.ttnn` file, or those in a folder and below it, sorted."""
        return self.find_paths(path, TTNN_EXTENSION)

    def find_ttmetal_binary_paths(self, path: str) -> list[str]:
        """The `.ttm` file, or those in a folder and below it, sorted."""
        return self.find_paths(path, TTMETAL_EXTENSION)

    def find_ttsys_binary_paths(self, path: str) -> list[str]:
        """The `.ttsys` file, or those in a folder and below it, sorted."""
        return self.find_paths(path, TTSYS_EXTENSION)

    def find_paths(self, path: str, extension: str) -> list[str]:
        """The file if it has the extension, or those in a folder and below it, sorted."""
        root = Path(path)
        if root.is_file():
            return [path] if root.suffix == extension else []
        return sorted(str(found) for found in root.rglob(f"*{extension}") if found.is_file())


def check_writable(path: str) -> None:
    """Raise InputError if a file cannot be written, with its folders; nothing is created."""
    target = Path(path)
    folder = next((each for each in target.absolute().parents if os.path.lexists(each)), None)
    problem = 0
    if target.is_dir():
        problem = errno.EISDIR
    elif folder is None or not folder.is_dir():
        problem = errno.ENOTDIR
    elif not os.access(target if target.exists() else folder, os.W_OK):
        problem = errno.EACCES
    if problem:
        raise InputError(f"{path}: cannot be written: {os.strerror(problem)}")


def _failure(path: str, error: OSError) -> InputError:
    return InputError(f"{error.filename or path}: {error.strerror or error}")


# --- Array files ----------------------------------------------------------------------------------
# Arrays as `.npy` and `.npz` files.


def write_arrays(path: str, arrays: Mapping[str, Array]) -> None:
    """Write a `.npz` file with the arrays by their names, or a `.npy` file with the only one.

    Arrays of bfloat16, which NumPy's file formats lack, become float32, which holds them exactly.
    Raises InputError if the file cannot be written, or is a `.npy` file for several arrays.
    """
    stored = {name: _storable(array) for name, array in arrays.items()}
    if path.endswith(".npy") and len(stored) != 1:
        raise InputError(
            f"{path}: a .npy file holds one array, the programs have "
            f"{plural(len(stored), 'output')}; give a "
            ".npz file"
        )
    try:
        with open_replacement(path) as file:
            if path.endswith(".npy"):
                np.save(file, *stored.values(), allow_pickle=False)
            else:
                np.savez(file, allow_pickle=False, **stored)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error


def _storable(array: Array) -> Array:
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


# --- Sources --------------------------------------------------------------------------------------
# The files that a command works on: those that are named, those in folders, standard input.

STANDARD_INPUT = "-"


class Source:
    """A file, or what arrives on standard input."""

    def __init__(self, path: str) -> None:
        """Name a file; nothing is read yet."""
        self.path = path

    @property
    def name(self) -> str:
        """What messages and results call it."""
        return "stdin" if self.is_standard_input else self.path

    @property
    def is_standard_input(self) -> bool:
        """True for what arrives on standard input."""
        return self.path == STANDARD_INPUT

    @cached_property
    def content(self) -> bytes | memoryview:
        """All bytes; BinaryError if they cannot be read."""
        if not self.is_standard_input:
            return file_bytes(self.path)
        try:
            return read_stream(sys.stdin.buffer)
        except OSError as error:
            raise BinaryError(f"{self.name}: {error.strerror}") from error


def find_sources(
    given: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    extensions: Sequence[str],
    file_manager: FileManager,
) -> list[Source]:
    """The files to work on, in the order given; InputError if there are none.

    A file is taken whatever its extension says; a folder is searched for the extensions.
    """
    found: list[Source] = []
    for path in list_paths(given):
        if path != STANDARD_INPUT:
            _check_exists(path)
        if os.path.isdir(path):
            inside = [p for ext in extensions for p in file_manager.find_paths(path, ext)]
            if not inside:
                raise InputError(f"{path}: the folder holds no {' or '.join(extensions)} files")
            found += map(Source, inside)
        else:
            found.append(Source(path))
    if not found:
        raise InputError("no file or folder was given")
    if sum(source.is_standard_input for source in found) > 1:
        raise InputError("standard input was given more than once; it can be read only once")
    return found


def _check_exists(path: str) -> None:
    try:
        os.stat(path)
    except OSError as error:
        raise InputError(f"{path or repr(path)}: {error.strerror}") from error
    except ValueError as error:  # A NUL in the path.
        raise InputError(f"{path!r}: {error}") from error


def is_collection(given: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> bool:
    """True if the argument may stand for several files, however many they are."""
    paths = list_paths(given)
    return len(paths) > 1 or any(os.path.isdir(path) for path in paths)


def list_paths(given: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    """One path or several as a list."""
    if isinstance(given, str | os.PathLike):
        return [os.fspath(given)] if os.fspath(given) else []
    return [os.fspath(path) for path in given]
