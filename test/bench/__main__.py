"""Prints a table of how fast things are: `python test/bench`, which `make bench` calls."""

from __future__ import annotations

from measurements import all_results, row


def main() -> None:
    """Print the rows as they are measured."""
    print("| Measured | Value | Goal |")
    print("|---|---|---|")
    for result in all_results():
        print(row(result), flush=True)


if __name__ == "__main__":
    main()
