"""What stops a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ttmlir.errors import KernelError
from ttmlir.terminal import cut_names, excerpt

# --- Findings -------------------------------------------------------------------------------------
# What the simulator has to say about a place in a kernel, and how it reads.

PROFILES = {"tt-metal": frozenset(("cb-pop-unwaited", "uninitialised-read"))}
"""Rules that programs break which run right on cards: those of ttnn free whole blocks of which they
waited for a part, and read whole tiles of which they use a column that was written."""

LENIENCIES = (
    *("aliased-cbs", "pop-unfilled", "noc-alignment"),
    *("cb-not-empty", "cb-page-size", "cb-producers", "cb-consumers", "cb-push-unreserved"),
    *("cb-pop-unwaited", "cb-unreserved-write", "cb-unwaited-read", "cb-straddle"),
    *("race", "missing-barrier", "read-before-barrier", "write-before-barrier"),
    *("reuse-before-barrier", "atomic-open", "uninitialised-read", "out-of-bounds"),
    *("unallocated-write", "semaphore-race"),
    *("dst-acquire", "dst-wait", "format", "init", "semaphore-address"),
    *PROFILES,
)
"""Rules that can be suppressed, and profiles; the first two are no findings but looser forms of
some."""


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
    device: int | None = None
    """The number of the chip, where several run together."""
    detail: tuple[str, ...] = ()
    source_line: str = ""
    severity: str = "error"
    related: tuple[Finding, ...] = ()
    """Notes that have a place of their own: the other side of a race, who else waits."""

    def text(self) -> str:
        """The message as compilers write it: place, message, source line, caret, notes."""
        rule = f" [{self.rule}]" if self.rule else ""
        lines = [f"{self._place()}{self.severity}: {cut_names(self.message)}{rule}"]
        if self.source_line:
            shown, caret = excerpt(self.source_line, max(0, self.column - 1))
            lines.append(f"  {shown}")
            if self.column:
                lines.append(f"  {caret}")
        if self.core is not None or self.role:
            lines.append(f"  note: on {thread_name(self.core, self.role, self.device)}")
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


def thread_name(core: tuple[int, int] | None, role: str, device: int | None = None) -> str:
    """How messages name a thread: `core (0, 0) BRISC`."""
    chip = "" if device is None else f"device {device} "
    where = "" if core is None else f"core ({core[0]}, {core[1]})"
    return f"{chip}{where} {role}".strip()


# --- Errors ---------------------------------------------------------------------------------------


class SimError(KernelError):
    """A program, a kernel or a call of the host that cannot go on.

    `str()` gives the whole text: `file:line:col: error: ...`, the source line with a caret, the
    core and the role, and notes, as far as they are known.
    """

    def __init__(
        self,
        message: str,
        position: Position | None = None,
        core: tuple[int, int] | None = None,
        role: str = "",
        *,
        rule: str = "",
        detail: tuple[str, ...] = (),
        source_line: str = "",
        related: tuple[Finding, ...] = (),
        others: tuple[Finding, ...] = (),
        device: int | None = None,
    ) -> None:
        """Keep the parts; the text is made when asked for.

        `others` are findings that were made in the same run.
        """
        super().__init__(message)
        self.message = message
        self.position = position
        self.core = core
        self.role = role
        self.device = device
        self.rule = rule
        self.detail = detail
        self.source_line = source_line
        self.related = related
        self.others = others

    @classmethod
    def of(cls, finding: Finding, others: tuple[Finding, ...] = ()) -> SimError:
        """The error that stops a program at a finding, with the other findings of the run."""
        position = Position(finding.file, finding.line, finding.column) if finding.file else None
        return cls(
            finding.message,
            position,
            finding.core,
            finding.role,
            rule=finding.rule,
            detail=finding.detail,
            source_line=finding.source_line,
            related=finding.related,
            others=others,
            device=finding.device,
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The error and the other findings of the run."""
        return (self.finding, *self.others)

    @property
    def finding(self) -> Finding:
        """The error as a finding."""
        file, line, column = self.position or ("", 0, 0)
        return Finding(
            message=self.message,
            rule=self.rule,
            file=file,
            line=line,
            column=column,
            core=self.core,
            role=self.role,
            device=self.device,
            detail=self.detail,
            source_line=self.source_line,
            related=self.related,
        )

    def __str__(self) -> str:
        """The texts of all findings."""
        return "\n".join(finding.text() for finding in self.findings)


class DeadlockError(SimError):
    """Threads wait and none is left that could wake them."""


class CycleLimitError(SimError):
    """A program runs longer than the options allow."""


class AllocationError(SimError):
    """A buffer or a circular buffer does not fit into the memory it belongs to."""


# --- Reporting ------------------------------------------------------------------------------------
# Collects findings; by default the first error stops the program.


class SanitizerError(SimError):
    """A program did what no chip promises to do as meant; the text is that of the finding."""


class Reporter:
    """The findings of one program, in the order in which they were made.

    A mistake in a loop, or on every core, is reported once.
    """

    def __init__(self, leniencies: frozenset[str], limit: int) -> None:
        """Drop findings of the rules in `leniencies`; stop at the error with number `limit`."""
        self.leniencies = leniencies
        self.findings: list[Finding] = []
        self._limit = limit
        self._seen: set[tuple[str, str, int, int, str]] = set()

    def begin(self) -> None:
        """Start with the next program."""
        self.findings = []
        self._seen.clear()

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that forbid to go by the results of the program."""
        return tuple(each for each in self.findings if each.severity == "error")

    def report(self, finding: Finding) -> None:
        """Keep a finding; SanitizerError with all errors if it is the last one to be collected."""
        place = (finding.rule, finding.file, finding.line, finding.column, finding.role)
        if finding.rule in self.leniencies or (finding.file and place in self._seen):
            return
        self._seen.add(place)
        self.findings.append(finding)
        if finding.severity == "error" and len(self.errors) == self._limit:
            self.stop()

    def stop(self) -> None:
        """SanitizerError with all errors so far, if there are any."""
        if errors := self.errors:
            raise SanitizerError.of(errors[0], errors[1:])
