"""The errors of estimates in docs/cost.md, beside public figures: `test/bench/cost_report.py`."""

from __future__ import annotations

import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "test" / "bench"
END = "<!-- to here -->"


def with_cost_tables(page: str) -> str:
    """The page with the errors of each table as they are now, between two comments."""
    sys.path.insert(0, str(BENCH))
    from cost_report import tables

    for name, lines in tables().items():
        begin = f"<!-- written by `make docs`: {name} -->"
        before, found, rest = page.partition(begin)
        _, ended, after = rest.partition(END)
        if not found or not ended:
            raise ValueError(f"the page has no place for the table of {name}")
        # The last line sums the table up; the report prints all of it.
        page = f"{before}{begin}\n\n{lines[-1]}\n\n{END}{after}"
    return page
