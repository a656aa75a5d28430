"""File operations of the commands."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from ttmlir.files import open_replacement, write_file
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.ttrt.reports.logger import Logger

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
