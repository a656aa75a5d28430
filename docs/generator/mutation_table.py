"""The lines of docs/developing.md that says what the tests notice, from the last measurement."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from markdown_text import wrap

RESULTS = Path(__file__).resolve().parents[2] / "test" / "mutation" / "results.json"
BEGIN = "<!-- written by `make docs` from test/mutation/results.json -->"
END = "<!-- to here -->"


def with_mutation_table(page: str) -> str:
    """The page with these lines brought up to date."""
    if BEGIN not in page or END not in page:
        raise ValueError(f"docs/developing.md needs the lines '{BEGIN}' and '{END}'")
    table = mutation_table(json.loads(RESULTS.read_text(encoding="utf-8")))
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.S)
    return pattern.sub(lambda _: f"{BEGIN}\n\n{table}\n{END}", page)


def mutation_table(results: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """A sentence with the share of all packages, and of each the noticed ones of its changes."""
    packages = results["packages"]
    noticed = sum(counts["noticed"] for counts in packages.values())
    valid = sum(map(_valid, packages.values()))
    equivalent = sum(counts["equivalent"] for counts in packages.values())
    parts = (
        f"{package} {counts['noticed']}/{_valid(counts)}" for package, counts in packages.items()
    )
    text = (
        f"Noticed are {noticed} of {valid} changes, {100 * noticed / valid:.0f} %, beside "
        f"{equivalent} without effect: {', '.join(parts)}."
    )
    return f"{wrap(text)}\n"


def _valid(counts: Mapping[str, int]) -> int:
    """The changes that have an effect."""
    return counts["noticed"] + counts["missed"]
