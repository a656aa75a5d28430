"""Fenced blocks of Markdown documents, and what they ask for.

The words after the language of a block say what it is for:

    ```bash               runs in the document's folder; has to end with status 0
    ```bash exit=1        the same with another status
    ```bash needs=card    does not run: it needs what tests do not have
    ```python             runs in Python
    ```mlir file=a.mlir   becomes a file in the folder
    ```text output        is what the block before printed; `...` stands for any text
    ```text               is for the reader alone

Blocks of a document run in order in one folder, so later ones see the files of earlier ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^(?P<fence>```+)(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence)\s*$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    line: int
    language: str
    words: tuple[str, ...]
    text: str

    def option(self, name: str) -> str | None:
        """The value of `name=value` in the info string."""
        for word in self.words:
            key, equals, value = word.partition("=")
            if equals and key == name:
                return value
        return None


def blocks_of(document: Path) -> Iterator[Block]:
    """The fenced blocks of a document, in order."""
    text = document.read_text(encoding="utf-8")
    for match in _BLOCK.finditer(text):
        language, *words = match["info"].split() or [""]
        line = text.count("\n", 0, match.start()) + 1
        yield Block(line, language, tuple(words), match["body"])


def matches(expected: str, printed: str) -> bool:
    """True if `printed` holds the lines of `expected`, with `...` for any text."""
    pattern = ".*?".join(map(re.escape, expected.strip("\n").split("...")))
    return re.search(rf"^{pattern}$", printed, re.M | re.S) is not None
