"""What the C++ printer raises."""

from __future__ import annotations


class CannotEmitError(Exception):
    """A type, attribute or operation that has no C++ form; the message says which."""
