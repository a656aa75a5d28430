"""Collects findings; by default the first error stops the program."""

from __future__ import annotations

from ttmlir.sim.errors import SimError
from ttmlir.sim.findings import Finding


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
