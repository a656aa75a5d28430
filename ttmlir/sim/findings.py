"""What the simulator has to say about a place in a kernel, and how it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

LENIENCIES = (
    *("aliased-cbs", "pop-unfilled", "noc-alignment"),
    *("cb-not-empty", "cb-page-size", "cb-producers", "cb-consumers", "cb-push-unreserved"),
    *("cb-pop-unwaited", "cb-unreserved-write", "cb-unwaited-read", "cb-straddle"),
    *("race", "missing-barrier", "read-before-barrier", "write-before-barrier"),
    *("reuse-before-barrier", "atomic-open", "uninitialised-read", "out-of-bounds"),
    *("unallocated-write", "semaphore-race"),
    *("dst-acquire", "dst-wait", "format", "init", "semaphore-address"),
)
"""Findings that can be let pass; the first two are no findings but looser forms of some."""


class Position(NamedTuple):
    """A place in a kernel's text: line and column count from 1; column 0 is the whole line."""

    file: str
    line: int
    column: int


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One message about a program.

    `rule` names what was broken, `detail` holds further lines (the state of a circular buffer),
    `source_line` is the text at the position.
    """

    message: str
    rule: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    core: tuple[int, int] | None = None
    """Logical (x, y)."""
    role: str = ""
    detail: tuple[str, ...] = ()
    source_line: str = ""
    severity: str = "error"
    related: tuple[Finding, ...] = ()
    """Notes that have a place of their own: the other side of a race, who else waits."""

    def text(self) -> str:
        """The message as compilers write it: place, message, source line, caret, notes."""
        rule = f" [{self.rule}]" if self.rule else ""
        lines = [f"{self._place()}{self.severity}: {self.message}{rule}"]
        if self.source_line:
            lines.append(f"  {self.source_line}")
            if self.column:
                lines.append("  " + _blank(self.source_line[: self.column - 1]) + "^")
        if self.core is not None or self.role:
            lines.append(f"  note: on {thread_name(self.core, self.role)}")
        lines += [f"  note: {line}" for line in self.detail]
        lines += [each.text() for each in self.related]
        return "\n".join(lines)

    def _place(self) -> str:
        if not self.file:
            return ""
        parts = [self.file]
        if self.line:
            parts.append(str(self.line))
            if self.column:
                parts.append(str(self.column))
        return ":".join(parts) + ": "


def thread_name(core: tuple[int, int] | None, role: str) -> str:
    """How messages name a thread: `core (0, 0) BRISC`."""
    where = "" if core is None else f"core ({core[0]}, {core[1]})"
    return f"{where} {role}".strip()


def _blank(text: str) -> str:
    """As wide as the text, tabs kept, so that a caret stands below what follows it."""
    return "".join("\t" if character == "\t" else " " for character in text)
