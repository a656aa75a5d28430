"""What a terminal is shown of a text from somebody else."""

from __future__ import annotations

import re

_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, which a terminal obeys, and those that turn the direction of writing."""


def printable(text: str) -> str:
    """The text with a replacement character for each that a terminal obeys; lines and tabs stay."""
    return _COMMANDS.sub("\N{REPLACEMENT CHARACTER}", text)
