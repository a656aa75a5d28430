"""What is wrong with what the tool was given."""

from __future__ import annotations


class KernelToolError(Exception):
    """A file, an option or a specification that cannot be used; the message is complete."""
