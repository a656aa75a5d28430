"""The table of `docs/card.md`: verdicts of the real library on the scripts of programs."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

_VERDICTS = Path(__file__).resolve().parents[2] / "test" / "vendor" / "Inputs" / "card.json"
_BEGIN, _END = "<!-- results -->", "<!-- end of results -->"
_COLUMNS = {
    "own": "here",
    "shapes n150": "shapes, n150",
    "shapes p150": "shapes, p150",
    "sim n150": "numbers, n150",
    "sim p150": "numbers, p150",
    "sim p150, lifted": "numbers, p150, one check of the simulator lifted",
}
_STOPS = "the simulator stops: "
_NAMED = 3
"""Names of programs that are listed; more of them are counted."""


def with_card_table(old: str) -> str:
    """The page with today's table."""
    before, _, rest = old.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{_table()}{_END}{after}"


def _table() -> str:
    record = json.loads(_VERDICTS.read_text(encoding="utf-8"))
    programs = {name: each for name, each in record["programs"].items() if "refused" not in each}
    lines = [
        f"{len(programs)} programs, {record['versions']}:",
        "",
        "| Run | Right | Unknown | Wrong |",
        "|---|---:|---:|---:|",
    ]
    reasons: dict[str, list[str]] = defaultdict(list)
    for key, title in _COLUMNS.items():
        found = {name: each[key] for name, each in programs.items() if key in each}
        right = sum(verdict == "right" for verdict in found.values())
        unknown = sum(verdict.startswith(_STOPS) for verdict in found.values())
        lines.append(f"| {title} | {right} | {unknown} | {len(found) - right - unknown} |")
        for name, verdict in found.items():
            if verdict != "right":
                text = re.sub(r": [^:]*=.*", "", verdict.removeprefix(_STOPS))
                reasons[f"{title}: {text}"].append(name)
    lines += ["", "What is not right, by its reason:", ""]
    for reason, names in sorted(reasons.items()):
        listed = ", ".join(f"`{name}`" for name in names)
        lines.append(f"- {reason}: {listed if len(names) <= _NAMED else len(names)}")
    return "\n".join((*lines, ""))
