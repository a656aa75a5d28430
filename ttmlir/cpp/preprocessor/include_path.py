"""Where headers are looked for, and the only place in which they are opened.

Kernels come from strangers: a header is opened only if it is a plain file of bounded size whose
real path lies in one of the given folders, in the folder of the kernel, or in the package's own
`headers`.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from functools import cache, cached_property

from ttmlir.cpp.preprocessor.built_in_headers import BuiltInHeader, find_built_in_header
from ttmlir.cpp.preprocessor.tokens import SourceText
from ttmlir.cpp.tree import IncludeStatus
from ttmlir.files import decode_text, read_stream
from ttmlir.limits import MAX_SOURCE_LENGTH

HOME_VARIABLE = "TT_METAL_HOME"

_HOME_FOLDERS = (
    *("", "ttnn", "ttnn/cpp", "tt_metal", "tt_metal/include", "tt_metal/hw/inc"),
    *("tt_metal/hostdevcommon/api", "tt_metal/hw/inc/debug", "tt_metal/api", "cpp"),
)
"""Where tt-metal's compiler of kernels looks below its root, in its order."""

_SILICON = re.compile(
    r"tt_metal/(hw|include|hostdevcommon|api|third_party|tools/profiler|soc_descriptors)/"
)
"""Folders of tt-metal whose headers program the chip; the simulator has its own of them."""

_MAX_NAME = 512
_MAX_SIZE = 4 * MAX_SOURCE_LENGTH  # of UTF-8


@dataclass(frozen=True)
class Found:
    """What became of the search for a header; `header` is there if it can be read."""

    status: IncludeStatus
    header: HeaderText | None = None
    reason: str = ""
    """Why a file of the name was not opened."""


class HeaderText(SourceText):
    """A header with the real path of its file; the package's own have none."""

    def __init__(self, text: str, file: str, path: str = "") -> None:
        """The text of a header; `file` is what messages call it."""
        super().__init__(text, file)
        self.path = path
        self.identity = path or file
        """What `#pragma once` knows it by."""


@dataclass(frozen=True)
class IncludePath:
    """The folders in which headers may be; without any, only the package's own are read."""

    folders: tuple[str, ...] = ()
    """Searched in this order."""
    home: str = ""
    """The root of a tree of tt-metal, whose folders are searched last."""
    kernel: str = ""
    """The file of the kernel: its folder is searched first for quoted names."""

    @classmethod
    def of_kernel(
        cls,
        kernel: str | os.PathLike[str],
        folders: tuple[str | os.PathLike[str], ...] = (),
        home: str | os.PathLike[str] = "",
    ) -> IncludePath:
        """The path for a kernel in a file."""
        listed = tuple(os.fspath(each) for each in folders)
        return cls(listed, os.fspath(home), os.fspath(kernel))

    def find(self, name: str, *, is_quoted: bool, includer: SourceText) -> Found:
        """The header of a name in an `#include` of a source.

        A file beside the source comes before the package's own headers, these before all others.
        """
        if not _is_plain_name(name):
            return Found("missing", reason="its name is no relative path")
        beside = self._folder_of(includer) if is_quoted else None
        found = None if beside is None else self._look(beside, name)
        if found is None or found.header is None:
            built_in = find_built_in_header(name)
            if built_in is not None:
                return Found("built-in", _own_header(built_in) if built_in.text else None)
        reason = found.reason if found is not None else ""
        folders = iter(self._listed)
        while found is None or found.status == "missing":
            folder = next(folders, None)
            if folder is None:
                return Found("missing", reason=reason)
            found = self._look(folder, name)
            reason = reason or (found.reason if found is not None else "")
        return found

    def _folder_of(self, includer: SourceText) -> str | None:
        """The folder in which a source stands, as messages show it."""
        if isinstance(includer, HeaderText):
            return os.path.dirname(includer.file) if includer.path else None
        return os.path.dirname(self.kernel) if self.kernel else None

    @cached_property
    def _listed(self) -> tuple[str, ...]:
        below = _HOME_FOLDERS if self.home else ()
        # tt-metal looks into the folder of the kernel last, for names in angle brackets, too.
        last = (os.path.dirname(self.kernel),) if self.kernel else ()
        return (*self.folders, *(os.path.join(self.home, each) for each in below), *last)

    @cached_property
    def _roots(self) -> tuple[str, ...]:
        """Real paths of the folders that headers may be opened in."""
        given = (*self.folders, *((self.home,) if self.home else ()))
        own = (os.path.dirname(self.kernel),) if self.kernel else ()
        return tuple(os.path.realpath(each or os.curdir) for each in (*given, *own))

    def _look(self, folder: str, name: str) -> Found | None:
        """The header of a name in a folder; None if there is no such file."""
        shown = os.path.normpath(os.path.join(folder, name))
        try:
            facts = os.stat(shown)
        except (OSError, ValueError):
            return None
        if stat.S_ISDIR(facts.st_mode):
            return None
        real = os.path.realpath(shown)
        if not any(real.startswith(os.path.join(root, "")) for root in self._roots):
            return Found("missing", reason=f"'{shown}' lies outside of the given folders")
        if _SILICON.search(real):
            return Found("built-in")
        stamp = (real, shown, facts.st_mtime_ns, facts.st_size, facts.st_ino)
        if stamp not in _HEADERS:
            made = _open(real, shown)
            if isinstance(made, str):
                return Found("missing", reason=f"'{shown}' {made}")
            if len(_HEADERS) >= _MAX_HEADERS:
                _HEADERS.clear()
            _HEADERS[stamp] = made
        return Found("read", _HEADERS[stamp])


_HEADERS = dict[tuple[str, str, int, int, int], HeaderText]()
"""What was read in this process."""
_MAX_HEADERS = 4096


@cache
def _own_header(header: BuiltInHeader) -> HeaderText:
    return HeaderText(header.text, f"<{header.name}>")


def _is_plain_name(name: str) -> bool:
    is_printable = name.isprintable() and "\\" not in name
    return 0 < len(name) <= _MAX_NAME and is_printable and not os.path.isabs(name)


def _open(real: str, shown: str) -> HeaderText | str:
    """A header from its file, or why it is not read."""
    # Nobody writes to a pipe that a kernel names, so opening one must not wait.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        with os.fdopen(os.open(real, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                return "is no plain file"
            if facts.st_size > _MAX_SIZE:
                return f"has more than {MAX_SOURCE_LENGTH} characters, the most that are read"
            text = decode_text(read_stream(file))
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        return "is no UTF-8 text"
    if len(text) > MAX_SOURCE_LENGTH:
        return f"has more than {MAX_SOURCE_LENGTH} characters, the most that are read"
    return HeaderText(text, shown, real)
