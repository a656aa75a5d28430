"""The table of docs/developing.md that says what the tests notice, from the last measurement."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "test" / "mutation" / "results.json"
BEGIN = "<!-- written by `make docs` from test/mutation/results.json -->"
END = "<!-- to here -->"


def with_mutation_table(page: str) -> str:
    """The page with the table brought up to date."""
    if BEGIN not in page or END not in page:
        raise ValueError(f"docs/developing.md needs the lines '{BEGIN}' and '{END}'")
    table = mutation_table(json.loads(RESULTS.read_text(encoding="utf-8")))
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.S)
    return pattern.sub(lambda _: f"{BEGIN}\n\n{table}\n{END}", page)


def mutation_table(results: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """A line for each package and one for all."""
    packages = results["packages"]
    total = {
        name: sum(counts[name] for counts in packages.values())
        for name in ("noticed", "missed", "equivalent")
    }
    lines = [
        "| Package | Changes | Equivalent | Noticed | Missed | Share |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_line(package, counts) for package, counts in packages.items()]
    return "\n".join([*lines, _line("all", total)]) + "\n"


def _line(package: str, counts: Mapping[str, int]) -> str:
    noticed, missed, equivalent = counts["noticed"], counts["missed"], counts["equivalent"]
    valid = noticed + missed
    share = f"{100 * noticed / valid:.0f} %" if valid else ""
    changes = valid + equivalent
    return f"| {package} | {changes} | {equivalent} | {noticed} | {missed} | {share} |"
