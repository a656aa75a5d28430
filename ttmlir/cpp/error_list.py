"""All errors of a text, not only the first one: what follows from an error before is left out."""

from __future__ import annotations

from collections.abc import Iterable

from ttmlir.cpp.errors import CppSyntaxError


class TooManyErrorsError(CppSyntaxError):
    """The list is full; its text is that of the last error."""


class ErrorList:
    """Errors in the order in which they are found, each once."""

    def __init__(self, limit: int) -> None:
        """Nothing is wrong yet; the list holds so many errors."""
        self.errors = list[CppSyntaxError]()
        self._limit = limit
        self._unknown = set[str]()
        """Names whose declarations are wrong."""

    def add(
        self, error: CppSyntaxError, used: Iterable[str] = (), declared: Iterable[str] = ()
    ) -> None:
        """Add the error of a statement that uses and declares some names.

        One that uses what a wrong statement declares is no error of its own. Raises
        TooManyErrorsError if the list is full.
        """
        if isinstance(error, TooManyErrorsError):
            raise error
        follows = not self._unknown.isdisjoint(used)
        self._unknown.update(declared)
        known = any(
            each.position == error.position and each.message == error.message
            for each in self.errors
        )
        if follows or known:
            return
        self.errors.append(error)
        if len(self.errors) >= self._limit:
            raise TooManyErrorsError(error.message, error.position, error.line, error.notes)

    def add_note(self, note: str) -> None:
        """Add a note behind the last error; an empty one is none."""
        if self.errors and note:
            self.errors[-1] = self.errors[-1].with_notes(note)
