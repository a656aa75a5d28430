"""Loads `.ttnn` and `.ttm` files, from paths or from bytes."""

from __future__ import annotations

import mmap
import os
import stat
from pathlib import Path
from typing import BinaryIO

from ttmlir.runtime.binary import Binary
from ttmlir.runtime.errors import BinaryError
from ttmlir.schema import FlatbufferError, identify, versions

_SIZE = 4
"""Bytes of the size that a file begins with."""
_HEAD = _SIZE + 8
"""Bytes up to the end of the identifier."""
_MAPPED_FROM = 1 << 24
"""Bytes of files that are mapped into memory instead of read."""


def load_binary(path: str | os.PathLike[str], *, ignore_version: bool = False) -> Binary:
    """Load a `.ttnn` or `.ttm` file; BinaryError if it cannot be read or is something else.

    Files of other versions are refused if they contradict themselves when read as this version;
    `ignore_version` takes them all.
    """
    return read_binary(file_bytes(path), os.fspath(path), ignore_version=ignore_version)


def read_binary(data: bytes | memoryview, source: str, *, ignore_version: bool = False) -> Binary:
    """Load a `.ttnn` or `.ttm` file from its bytes; `source` names them in messages."""
    identifier = identify(data)
    if identifier == "TTSY":
        problem = "expected a program, got a system description"
        raise BinaryError(f"{source}: {problem}; give a .ttnn or .ttm file")
    try:
        loaded = versions.load(data, source, ignore_version=ignore_version)
    except FlatbufferError as error:
        raise BinaryError(str(error)) from error
    if loaded.identifier == "TTM0":
        return _metal_binary()(source, loaded.root, loaded.warning)
    kind = Binary if loaded.later is None else _later_binary()
    return kind(source, loaded.root, loaded.warning)


def _later_binary() -> type[Binary]:
    # What reads the records of 2026 is loaded only for files that need it.
    from ttmlir.runtime.binary_2026 import Binary2026

    return Binary2026


def _metal_binary() -> type[Binary]:
    # The simulator is loaded only for files that need it.
    from ttmlir.runtime.metal_program import MetalBinary

    return MetalBinary


def read_stream(stream: BinaryIO) -> bytes:
    """What a pipe or a device has to say, which may be without end: no more than its first bytes
    announce and one byte, and these alone if they announce no file of the project."""
    head = stream.read(_HEAD)
    if len(head) < _HEAD or identify(head) is None:
        return head
    size = int.from_bytes(head[:_SIZE], "little")
    return head + stream.read(max(0, _SIZE + size - _HEAD) + 1)


def announced_bytes(path: str | os.PathLike[str]) -> bytes:
    """What a file holds of that which its first bytes announce, as `read_stream`: enough to load
    it, or to say why it cannot be loaded. BinaryError if it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return read_stream(file)
    except OSError as error:
        raise BinaryError(f"{os.fspath(path)}: {error.strerror}") from error


def file_bytes(path: str | os.PathLike[str]) -> bytes | memoryview:
    """What a file holds; BinaryError if it cannot be read.

    Large files are mapped into memory, so that only what is used is read. Replace such a file
    rather than writing into it while it is loaded.
    """
    try:
        with Path(path).open("rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return read_stream(file)
            if status.st_size < _MAPPED_FROM:
                return file.read()
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise BinaryError(f"{os.fspath(path)}: {error.strerror}") from error
