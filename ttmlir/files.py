"""Files: how those that the project writes are named and written, and how small ones are read.

What is read as a whole is read by `read_file`, which comes to an end with pipes and devices, too.

A name from a file of somebody else becomes part of a path only through `safe_file_name`, where it
is written, and `path_below`, where it is read. Whatever
is written goes through `open_replacement` or `write_file`, so that a file appears as a whole or not
at all.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from errno import EACCES, EFBIG, ENOENT, ENOTDIR
from io import BytesIO
from pathlib import Path
from tokenize import TokenError
from typing import BinaryIO, cast

from ttmlir.errors import ArgumentError, ArgumentTypeError, path_error
from ttmlir.limits import MAX_TEXT_LENGTH

MAX_FILE_NAME = 128
"""Longest name that `safe_file_name` gives, in characters."""

PACKAGE_FOLDER = os.path.dirname(__file__) + os.sep
"""Where the package's own Python files stand: frames in them are none of the user's."""

_CHUNK = 1 << 20
_HASH_DIGITS = 32
_MARK = "~"
"""Stands before the hash; no name that is kept has it."""
_UNSAFE = r"(?a)[^\w.+@=-]"
_RESERVED = r"(?ai)(con|prn|aux|nul|com\d|lpt\d)(\..*)?"
"""Names of devices on Windows, whatever follows a dot."""


def safe_file_name(name: str) -> str:
    """A file name without folders for something of any name; different for different names.

    Names of ASCII letters, digits and `_.+@=-` are kept, unless they are long, begin or end with a
    dot or are names of devices. Others lose what is not allowed and get a hash.
    """
    kept = re.sub(_UNSAFE, "_", name)
    is_safe = kept == name and 0 < len(name) <= MAX_FILE_NAME and name.strip(".-") == name
    if is_safe and not re.fullmatch(_RESERVED, name):
        return name
    from hashlib import sha256

    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]
    start = kept[: MAX_FILE_NAME - _HASH_DIGITS - len(_MARK)].strip(".-")
    return f"{'_' if re.fullmatch(_RESERVED, start) else ''}{start or '_'}{_MARK}{digest}"


def path_below(folder: str | os.PathLike[str], name: str) -> str:
    """The path of a file in a folder, by a name that somebody else's file gives; it may be missing.

    Raises OSError for absolute names, for those that lead out of the folder, also by links, and for
    those with control characters.
    """
    path = os.path.join(folder, name)
    root = os.path.join(os.path.realpath(folder or os.curdir), "")
    parts = name.replace("\\", "/").split("/")
    is_plain = name.isprintable() and not os.path.isabs(name) and ".." not in parts
    if not (name and is_plain and os.path.realpath(path).startswith(root)):
        raise PermissionError(EACCES, "this name is no relative path to a file in the same folder")
    return path


def require_path(path: object, taker: str) -> None:
    """Refuse what names no file for a function of the user's, `taker`.

    ArgumentTypeError for what is no path, ArgumentError for one that no system has.
    """
    try:
        name = os.fsencode(cast("str | os.PathLike[str]", path))
    except TypeError:
        name = None
    except UnicodeEncodeError:
        name = b"\0"
    if name is None or isinstance(path, bytes):
        raise ArgumentTypeError(f"{taker} takes the path of a file, not a {type(path).__name__}")
    if b"\0" in name:
        raise ArgumentError(f"{taker} takes the path of a file, and no system has one of {path!a}")


def read_file(path: str | os.PathLike[str]) -> bytes:
    """What a file holds. Raises OSError, also for more than `MAX_TEXT_LENGTH` bytes.

    The size that a file announces decides nothing: devices and pipes announce none.
    """
    _require_name(path)
    with Path(path).open("rb") as file:
        return read_stream(file)


def read_stream(stream: BinaryIO) -> bytes:
    """What a file, a pipe or a device holds; OSError for more than `MAX_TEXT_LENGTH` bytes."""
    # Less is asked for than allowed: a pipe's reader may reserve all of it at once.
    buffer = BytesIO()
    while chunk := stream.read(_CHUNK):
        buffer.write(chunk)
        if buffer.tell() > MAX_TEXT_LENGTH:
            raise too_large(f"it has more than {MAX_TEXT_LENGTH} bytes, the most that are read")
    return buffer.getvalue()


NO_ARRAY = (ValueError, EOFError, OverflowError, TypeError, SyntaxError, TokenError)
"""What `numpy.load` raises of files that NumPy has not written."""


def read_text(path: str | os.PathLike[str]) -> str:
    """What a file says in UTF-8, its line ends as LF.

    Raises OSError as `read_file` does, and UnicodeDecodeError.
    """
    return decode_text(read_file(path))


def decode_text(data: bytes) -> str:
    """A text in UTF-8 with its line ends as LF; UnicodeDecodeError if it is none.

    The mark that some editors put in front of a text is none of it.
    """
    return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def too_large(reason: str) -> OSError:
    """The error for a file that has more than is read of it."""
    return OSError(EFBIG, reason)


@contextmanager
def open_replacement(path: str | os.PathLike[str]) -> Generator[BinaryIO]:
    """A file to write to, which is found at `path` once the body has ended without an exception.

    Until then it stands in the same folder under another name; an exception leaves what was there
    before. The permissions of a file that is replaced are kept, links to it are followed. Devices
    and pipes, such as `/dev/stdout`, get what was written when the body ends. An empty path names
    no file. Raises OSError.
    """
    _require_name(path)
    target = Path(os.path.realpath(path))
    mode = _mode_of(target)
    if mode is not None and not stat.S_ISREG(mode):
        buffer = BytesIO()
        yield buffer
        with target.open("wb") as device:
            device.write(buffer.getbuffer())
        return
    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(EACCES, os.strerror(EACCES), str(path))
    neighbour = target.with_name(f".ttmlir-{os.urandom(8).hex()}")
    try:
        with _naming(path):
            file = neighbour.open("xb")
        with file:
            yield file
        if mode is not None:
            neighbour.chmod(stat.S_IMODE(mode))
        neighbour.replace(target)
    except BaseException:
        with suppress(OSError):
            neighbour.unlink()
        raise


def write_file(path: str | os.PathLike[str], data: bytes | memoryview | Iterable[bytes]) -> None:
    """Write a file from bytes, or from chunks of them; see `open_replacement`.

    Raises `ttmlir.errors.PathError` if that is impossible.
    """
    chunks = [data] if isinstance(data, bytes | memoryview) else data
    try:
        _require_name(path)
        mode = _mode_of(Path(path))
        is_device = mode is not None and not stat.S_ISREG(mode)
        # Chunks may be more than memory holds: none are kept for a device.
        with Path(path).open("wb") if is_device else open_replacement(path) as file:
            file.writelines(chunks)
    except OSError as error:
        raise path_error(path, error) from error


def require_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a path that `write_file` could not write to for its folder, before there are bytes."""
    folder = Path(path).absolute().parent
    problem = 0 if folder.is_dir() else ENOTDIR if folder.exists() else ENOENT
    if not problem and not os.access(folder, os.W_OK):
        problem = EACCES
    if problem:
        raise path_error(path, OSError(problem, os.strerror(problem)))


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Generator[None]:
    """Let an error name the file that was asked for."""
    try:
        yield
    except OSError as error:
        error.filename = os.fspath(path)
        raise


def _require_name(path: str | os.PathLike[str]) -> None:
    if not os.fspath(path):
        # To `Path` it is the current folder.
        raise FileNotFoundError(ENOENT, os.strerror(ENOENT), "")


def _mode_of(path: Path) -> int | None:
    """Kind and permissions of a file; None if there is none."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None
