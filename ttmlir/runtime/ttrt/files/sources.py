"""The files that a command works on: those that are named, those in folders, standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cached_property

from ttmlir.runtime.errors import BinaryError, InputError
from ttmlir.runtime.loading import file_bytes, read_stream
from ttmlir.runtime.ttrt.files.file_manager import FileManager

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
