"""Why kernels do not compile, counted: messages without what differs from kernel to kernel."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

_QUOTED = re.compile(r"'([^']*)'|\"[^\"]*\"")
_NUMBER = re.compile(r"\b\d+\b")
_MOST_NAMES = 3


@dataclass
class Cause:
    """A message that several kernels have, and the names that stand in it."""

    count: int = 0
    names: Counter[str] = field(default_factory=Counter[str])


def cause_of(message: str) -> tuple[str, str]:
    """A message without its names, numbers and advice, and the first name in it."""
    first_line = message.partition("\n")[0]
    name = _QUOTED.search(first_line)
    bare = _QUOTED.sub("'...'", first_line)
    return _NUMBER.sub("N", bare.partition("; ")[0]), (name and name.group(1)) or ""


def count_causes(messages: Iterable[str]) -> list[tuple[str, Cause]]:
    """The causes of these messages, the most frequent first."""
    causes = dict[str, Cause]()
    for message in messages:
        bare, name = cause_of(message)
        cause = causes.setdefault(bare, Cause())
        cause.count += 1
        if name:
            cause.names[name] += 1
    return sorted(causes.items(), key=lambda each: (-each[1].count, each[0]))


def summarize(messages: Iterable[str], num_kernels: int) -> str:
    """How many kernels compile, and what is wrong with how many of the others."""
    causes = count_causes(messages)
    failed = sum(cause.count for _, cause in causes)
    lines = [f"{num_kernels - failed} of {num_kernels} kernels compile"]
    for bare, cause in causes:
        lines.append(f"{cause.count:6} {bare}{_list_names(cause)}")
    return "\n".join(lines)


def _list_names(cause: Cause) -> str:
    """The most frequent names of a cause, with their counts where some are more frequent."""
    ordered = sorted(cause.names.items(), key=lambda each: (-each[1], each[0]))
    shown = [name if count == 1 else f"{name} x{count}" for name, count in ordered[:_MOST_NAMES]]
    more = ", ..." if ordered[_MOST_NAMES:] else ""
    return f" ({', '.join(shown)}{more})" if shown else ""
