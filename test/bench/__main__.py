"""Prints a table of how fast things are: `python test/bench`, which `make bench` calls."""

from __future__ import annotations

from measurements import Result, all_results


def main() -> None:
    """Print the rows as they are measured."""
    print("| Measured | Value | Goal |")
    print("|---|---|---|")
    for result in all_results():
        print(row(result), flush=True)


def row(result: Result) -> str:
    """A row of a Markdown table."""
    goal = "" if result.goal is None else f"≤ {result.goal:g}"
    missed = "" if result.is_met else " (missed)"
    return f"| {result.what} | {result.value:.3g} {result.unit} | {goal}{missed} |"


if __name__ == "__main__":
    main()
