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
        self._errors = 0
        self._seen: set[tuple[str, str, int, int, str]] = set()

    def begin(self) -> None:
        """Start with the next program."""
        self.findings = []
        self._errors = 0
        self._seen.clear()

    def report(self, finding: Finding) -> None:
        """Keep a finding; SanitizerError if it is the error that stops the program."""
        place = (finding.rule, finding.file, finding.line, finding.column, finding.role)
        if finding.rule in self.leniencies or (finding.file and place in self._seen):
            return
        self._seen.add(place)
        self.findings.append(finding)
        if finding.severity != "error":
            return
        self._errors += 1
        if self._errors == self._limit:
            raise SanitizerError.of(finding)
