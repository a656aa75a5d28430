"""A figure that was measured on a card, and what the simulator makes of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

Window = tuple[float, float]
"""The least and the most that counts as right: what a test of the source accepts."""


@dataclass(frozen=True)
class Comparison:
    """One value of a figure."""

    figure: str
    """Its name in the table, with the sweep that it belongs to."""
    kind: str
    case: str
    """What is different from the other values of the sweep."""
    measured: float | Window
    simulated: float
    unit: str = "cycles"

    @property
    def number(self) -> str:
        """The name without what it is about: `C1`."""
        return self.figure.partition(":")[0]

    @property
    def error(self) -> float:
        """How much larger it is simulated, as a share of what was measured; 0 in a window."""
        low, high = self.window
        if low <= self.simulated <= high:
            return 0.0
        return self.simulated / (low if self.simulated < low else high) - 1

    @property
    def window(self) -> Window:
        """The least and the most that were measured."""
        if isinstance(self.measured, tuple):
            return self.measured
        return self.measured, self.measured


def write_row(sweep: Sequence[Comparison]) -> str:
    """The row of a sweep in the table."""
    cells = (f"{each.case}: {_number(each.simulated)} of {_measured(each)}" for each in sweep)
    errors = [abs(each.error) for each in sweep]
    first = sweep[0]
    return (
        f"| {first.figure} | {'; '.join(cells)} | {first.unit} | "
        f"{median(errors):.0%} | {max(errors):.0%} |"
    )


def summarize(values: Iterable[Comparison]) -> Iterator[str]:
    """How far off the values of each kind are, in the median and at worst."""
    by_kind: dict[str, list[Comparison]] = {}
    for each in values:
        by_kind.setdefault(each.kind, []).append(each)
    yield "| Kind | Values | Median error | Worst | Where |"
    yield "|---|---|---|---|---|"
    for kind, members in by_kind.items():
        worst = max(members, key=lambda each: abs(each.error))
        middle = median(abs(each.error) for each in members)
        yield (
            f"| {kind} | {len(members)} | {middle:.1%} | {worst.error:+.0%} | "
            f"{worst.figure}, {worst.case} |"
        )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}".rstrip("0").rstrip(".")


def _measured(value: Comparison) -> str:
    low, high = value.window
    return _number(low) if low == high else f"{_number(low)} to {_number(high)}"
