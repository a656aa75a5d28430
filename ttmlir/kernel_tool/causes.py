"""Why kernels do not compile, counted: messages without what differs from kernel to kernel."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_PART = re.compile(r"'[^']*'|\"[^\"]*\"|\b\d+\b")
"""A name or a number in a message."""
_MOST_NAMES = 3


class _Cause:
    """A message that several kernels have, but for its names and numbers."""

    def __init__(self) -> None:
        """No kernel has it yet."""
        self.parts = list[list[str]]()
        """The names and numbers of each message, in order."""

    def text(self, bare: str) -> str:
        """The message with the parts that all kernels agree in, and the most frequent names."""
        columns = [list(each) for each in zip(*self.parts, strict=True)]
        parts = iter(columns)

        def fill(found: re.Match[str]) -> str:
            values = next(parts)
            if len({*values}) == 1:
                return values[0]
            return "N" if found[0].isdigit() else found[0]

        shown = _PART.sub(fill, bare)
        varied = next((each for each in columns if len({*each}) > 1), None)
        return shown if varied is None else f"{shown} ({_list_names(varied)})"


def _list_names(parts: list[str]) -> str:
    counts = Counter(each.strip("'\"") for each in parts)
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    shown = [name if count == 1 else f"{name} x{count}" for name, count in ordered[:_MOST_NAMES]]
    return ", ".join(shown) + (", ..." if ordered[_MOST_NAMES:] else "")


def find_cause(message: str) -> tuple[str, list[str]]:
    """A message without its names, numbers and advice; the names and numbers that it had."""
    parts = list[str]()

    def cut(found: re.Match[str]) -> str:
        parts.append(found[0])
        return "0" if found[0].isdigit() else "'...'"

    bare = _PART.sub(cut, message.partition("\n")[0]).partition("; ")[0]
    return bare, parts[: len(_PART.findall(bare))]


def summarize(messages: Iterable[str], num_kernels: int) -> str:
    """How many kernels compile, and what is wrong with how many of the others."""
    causes = dict[str, _Cause]()
    for message in messages:
        bare, parts = find_cause(message)
        causes.setdefault(bare, _Cause()).parts.append(parts)
    failed = sum(len(each.parts) for each in causes.values())
    ordered = sorted(causes.items(), key=lambda each: (-len(each[1].parts), each[0]))
    noun = "kernel compiles" if num_kernels == 1 else "kernels compile"
    lines = [f"{num_kernels - failed} of {num_kernels} {noun}"]
    lines += [f"{len(cause.parts):6} {cause.text(bare)}" for bare, cause in ordered]
    return "\n".join(lines)
