"""How long passes take, and the reports of `--mlir-timing` and `--mlir-pass-statistics`."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from time import perf_counter
from typing import TYPE_CHECKING

from ttmlir.passes.core.base import Pass
from ttmlir.passes.core.manager import Instrument, title
from ttmlir.passes.core.nest import Nest

if TYPE_CHECKING:
    from xdsl.ir import Operation

RULE = f"==={'-' * 73}==="


class TimingDisplay(Enum):
    """How times are shown."""

    LIST = "list"
    """By name, the longest first."""
    TREE = "tree"
    """Nested, in the order in which they began."""


class StatisticsDisplay(Enum):
    """How statistics are shown."""

    LIST = "list"
    """By name of the pass, those of the same name added up."""
    PIPELINE = "pipeline"
    """Nested as the passes are."""


@dataclass
class Timer:
    """Wall time under one name; seconds."""

    name: str
    seconds: float = 0.0
    children: dict[Hashable, Timer] = field(default_factory=dict[Hashable, "Timer"])

    def child(self, name: str, key: Hashable = None) -> Timer:
        """The timer called `name` inside this one; the same for the same name or key."""
        return self.children.setdefault(key or name, Timer(name))

    @contextmanager
    def running(self) -> Generator[Timer]:
        """Add the time that the body takes."""
        start = perf_counter()
        try:
            yield self
        finally:
            self.seconds += perf_counter() - start


class PassTimer(Instrument):
    """Times every pass of a run under a root timer."""

    def __init__(self, root: Timer):
        """`root` gets a child for every pass and every nest."""
        self.stack = [root]
        self.starts: list[float] = []

    def before_nest(self, nest: Nest, op: Operation) -> None:
        """Begin the time of a nest."""
        self._begin(f"'{nest.anchor}' Pipeline", nest)

    def after_nest(self, nest: Nest, op: Operation) -> None:
        """End the time of a nest."""
        self._end()

    def before_pass(self, step: Pass, op: Operation) -> None:
        """Begin the time of a pass."""
        self._begin(title(step), step)

    def after_pass(self, step: Pass, op: Operation) -> None:
        """End the time of a pass."""
        self._end()

    def after_failure(self, step: Pass, op: Operation) -> None:
        """End the time of a pass."""
        self._end()

    def _begin(self, name: str, item: Pass | Nest) -> None:
        # The same pass twice in a pipeline has two times, over all functions that it runs on.
        self.stack.append(self.stack[-1].child(name, id(item)))
        self.starts.append(perf_counter())

    def _end(self) -> None:
        self.stack.pop().seconds += perf_counter() - self.starts.pop()


def timing_report(root: Timer, display: TimingDisplay) -> str:
    """The report on the timers inside `root`, whose own time is the total."""
    rows = list(_tree(root, 0) if display is TimingDisplay.TREE else _flat(root))
    rest = root.seconds - sum(child.seconds for child in root.children.values())
    rows += [("Rest", rest), ("Total", root.seconds)]
    lines = [
        *_heading("Execution time"),
        f"  Total Execution Time: {root.seconds:.4f} seconds",
        "",
        "  ----Wall Time----  ----Name----",
        *(_time_row(name, seconds, root.seconds) for name, seconds in rows),
    ]
    return "\n".join(lines) + "\n"


def _heading(subject: str) -> list[str]:
    return [RULE, f"... {subject} report ...".center(len(RULE)).rstrip(), RULE]


def _time_row(name: str, seconds: float, total: float) -> str:
    share = 100 * seconds / total if total else 0.0
    return f"  {seconds:8.4f} ({share:5.1f}%)  {name}"


def _tree(timer: Timer, depth: int) -> Iterator[tuple[str, float]]:
    for child in timer.children.values():
        yield "  " * depth + child.name, child.seconds
        yield from _tree(child, depth + 1)


def _flat(root: Timer) -> list[tuple[str, float]]:
    seconds: dict[str, float] = {}
    for name, spent in _tree(root, 0):
        seconds[name.lstrip()] = seconds.get(name.lstrip(), 0.0) + spent
    return sorted(seconds.items(), key=lambda row: -row[1])


def statistics_report(nest: Nest, display: StatisticsDisplay) -> str:
    """The report on what the passes of a nest counted."""
    body = _list_statistics(nest) if display is StatisticsDisplay.LIST else _nested(nest, 0)
    return "\n".join([*_heading("Pass statistics"), *body]) + "\n"


def _list_statistics(nest: Nest) -> Iterator[str]:
    merged: dict[str, dict[str, int]] = {}
    for step in nest.passes():
        counts = merged.setdefault(title(step), {})
        for statistic, amount in step.statistics.items():
            counts[statistic] = counts.get(statistic, 0) + amount
    for name in sorted(name for name, counts in merged.items() if counts):
        yield name
        yield from _counts(merged[name], 1)


def _nested(nest: Nest, depth: int) -> Iterator[str]:
    yield f"{'  ' * depth}'{nest.anchor}' Pipeline"
    for item in nest.items:
        if isinstance(item, Nest):
            yield from _nested(item, depth + 1)
            continue
        yield f"{'  ' * (depth + 1)}{title(item)}"
        yield from _counts(item.statistics, depth + 2)


def _counts(counts: dict[str, int], depth: int) -> Iterator[str]:
    for statistic in sorted(counts):
        yield f"{'  ' * depth}(S) {counts[statistic]:8} {statistic}"
