"""The sources that a kernel is made of, for messages: lines to quote, and how one gets to them."""

from __future__ import annotations

from collections.abc import Sequence

from ttmlir.cpp.tree import Include, Position

_MOST_LISTED = 3


class Inclusions:
    """A kernel and the headers that were read for it, by the names that messages call them."""

    def __init__(self, file: str, text: str, includes: Sequence[Include] = ()) -> None:
        """The kernel itself, and its `#include`s."""
        self.file = file
        self.texts = {file: text}
        self.includes = list[Include]()
        """All `#include`s, those of the kernel first."""
        self.missing = list[Include]()
        """The `#include`s that found nothing, those of the kernel first."""
        self._included_at = dict[str, Position]()
        self._lines = dict[str, list[str]]()
        self._add(includes)

    def _add(self, includes: Sequence[Include]) -> None:
        self.includes += includes
        self.missing += [each for each in includes if each.status == "missing"]
        for each in includes:
            header = each.header
            if header is None or header.file in self.texts:
                continue
            self.texts[header.file] = header.text
            if each.position is not None:
                self._included_at[header.file] = each.position
            self._add(header.includes)

    def line(self, position: Position) -> str:
        """The line of a place; empty if it is in none of the sources."""
        file = position.file
        if file not in self._lines:
            self._lines[file] = self.texts.get(file, "").split("\n")
        lines = self._lines[file]
        return lines[position.line - 1].rstrip("\r") if 0 < position.line <= len(lines) else ""

    def notes(self, file: str) -> tuple[str, ...]:
        """How one gets from the kernel to a header; nothing for the kernel."""
        found = list[str]()
        while file in self._included_at:
            position = self._included_at[file]
            found.append(f"in file included from {position}")
            file = position.file
        return tuple(found)

    def describe_missing(self) -> str:
        """Where else a name may come from, to follow a message; empty if all headers were found."""
        missing = self.missing
        if not missing:
            return ""
        listed = ", ".join(map(self._describe, missing[:_MOST_LISTED]))
        more = " and others" if missing[_MOST_LISTED:] else ""
        found = "which was not found" if len(missing) == 1 else "which were not found"
        reasons = {each.reason: None for each in missing if each.reason}
        why = f" ({'; '.join(reasons)})" if reasons else ""
        folders = "its folder" if len(missing) == 1 else "their folders"
        advice = f"give {folders} with -I or include_folders"
        return f"; it may come from {listed}{more}, {found}{why}: {advice}"

    def _describe(self, include: Include) -> str:
        position = include.position
        if position is None:
            return f"'{include.path}'"
        line = f"line {position.line}"
        where = line if position.file == self.file else f"{line} of {position.file}"
        return f"'{include.path}' ({where})"
