"""Kernels with the text of their headers in them, for files that others run."""

from __future__ import annotations

import re

from ttmlir.cpp.preprocessor.include_path import IncludePath
from ttmlir.cpp.preprocessor.preprocess import (
    MAX_INCLUDE_DEPTH,
    MAX_INCLUDED_LENGTH,
    MAX_INCLUDES,
)
from ttmlir.cpp.preprocessor.tokens import SourceText
from ttmlir.sim.errors import SimError

_PARTS = re.compile(
    r"""/\*.*?\*/ | //[^\n]* | R"([^()\\\s]{0,16})\(.*?\)\1" | '(?:\\.|[^'\\\n])*'
    | ^[ \t]*\#[ \t]*include[ \t]*("[^"\n]+"|<[^<>\n]+>)[^\n]* | "(?:\\.|[^"\\\n])*" """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
"""Comments and texts, which are passed over, and includes."""
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b[^\n]*", re.MULTILINE)


def inline_headers(text: str, file: str, include_path: IncludePath) -> str:
    """The text of a kernel with that of every header that is found along the path.

    Headers that are built in stay includes, and so do those that are not found. SimError for more
    text than a kernel may include.
    """
    return _Inliner(file, include_path).read(SourceText(text, file), ())


class _Inliner:
    """What was read for a kernel."""

    def __init__(self, file: str, include_path: IncludePath) -> None:
        self._file = file
        self._include_path = include_path
        self._guards: dict[str, str] = {}
        """Macros of the headers with `#pragma once`, by their identity."""
        self._count = 0
        self._length = 0

    def read(self, source: SourceText, stack: tuple[str, ...]) -> str:
        """A text with its headers; `stack` are those around it."""

        def replace(found: re.Match[str]) -> str:
            name = found[2]
            if name is None:
                return found[0]
            return self._header(found[0], name, source, stack)

        return _PARTS.sub(replace, source.text)

    def _header(self, line: str, name: str, source: SourceText, stack: tuple[str, ...]) -> str:
        """What stands for an include."""
        found = self._include_path.find(name[1:-1], is_quoted=name[0] == '"', includer=source)
        header = found.header
        if header is None or not header.path:
            return line
        if header.identity in stack:
            return ""  # Whatever keeps it from being read again does so here.
        self._count += 1
        self._length += len(header.text)
        if (
            self._count > MAX_INCLUDES
            or self._length > MAX_INCLUDED_LENGTH
            or len(stack) >= MAX_INCLUDE_DEPTH
        ):
            raise SimError(
                f"{self._file}: more than {MAX_INCLUDES} headers, {MAX_INCLUDED_LENGTH} characters "
                f"of them, or {MAX_INCLUDE_DEPTH} levels of headers in each other"
            )
        text = self.read(header, (*stack, header.identity))
        if not _ONCE.search(header.text):
            return f"// {name[1:-1]}\n{text}\n"
        guard = self._guards.setdefault(header.identity, f"TTMLIR_HEADER_{len(self._guards)}")
        text = _ONCE.sub("", text)
        return f"#ifndef {guard}  // {name[1:-1]}\n#define {guard}\n{text}\n#endif\n"
