"""What stops a simulation."""

from __future__ import annotations

from ttmlir.sim.findings import Finding, Position


class SimError(Exception):
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
    ) -> None:
        """Keep the parts; the text is made when asked for.

        `others` are findings that were made in the same run.
        """
        super().__init__(message)
        self.message = message
        self.position = position
        self.core = core
        self.role = role
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
