"""The tables of `docs/card.md`: verdicts of the real library on the scripts of programs."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

from markdown_text import wrap

_INPUTS = Path(__file__).resolve().parents[2] / "test" / "vendor" / "Inputs"
_CALLS = {
    "own": "here",
    "shapes n150": "shapes, n150",
    "shapes p150": "shapes, p150",
    "sim n150": "numbers, n150",
    "sim p150": "numbers, p150",
    "sim p150, lifted": "numbers, p150, one check of the simulator lifted",
}
_KERNELS = {"own": "here", "n150 sim": "numbers, n150", "p150 sim": "numbers, p150"}
_EXAMPLES = {"own": "here", "sim n150": "numbers, n150", "sim p150": "numbers, p150"}
_TABLES = {
    "results": ("card.json", _CALLS),
    "results of kernels": ("kernel_card.json", _KERNELS),
    "results of examples": ("metalium_card.json", _EXAMPLES),
}
"""The file and the columns of each table by its marker."""
_STOPS = "the simulator stops: "
_UNKNOWN = (_STOPS, "not run: ")
_NAMED = 3
"""Names of programs that are listed; more of them are counted."""


def with_card_table(old: str) -> str:
    """The page with today's tables."""
    for marker, (file, columns) in _TABLES.items():
        begin, end = f"<!-- {marker} -->", f"<!-- end of {marker} -->"
        before, _, rest = old.partition(begin)
        _, _, after = rest.partition(end)
        old = f"{before}{begin}\n{_table(file, columns)}{end}{after}"
    begin, end = "<!-- results of models -->", "<!-- end of results of models -->"
    before, _, rest = old.partition(begin)
    return f"{before}{begin}\n{_models()}{end}{rest.partition(end)[2]}"


def _models() -> str:
    """Public models by their libraries, and those at which ttnn stops, by what it says."""
    record: dict[str, str] = json.loads((_INPUTS / "card_zoo.json").read_text(encoding="utf-8"))
    lines = ["| Library | Scripts | Pass | ttnn stops |", "|---|---:|---:|---:|"]
    verdicts: dict[str, list[bool]] = defaultdict(list)
    for key, verdict in record.items():
        verdicts[key.partition("/")[0]].append(verdict == "right")
    verdicts["all"] = [each for found in verdicts.values() for each in found]
    for library, found in verdicts.items():
        lines.append(f"| {library} | {len(found)} | {sum(found)} | {len(found) - sum(found)} |")
    reasons: dict[str, list[str]] = defaultdict(list)
    for key, verdict in record.items():
        if verdict != "right":
            words = next((each for each in _WORDS if each in verdict), verdict)
            reasons[_WORDS.get(words, words)].append(f"`{key}`")
    for reason, names in sorted(reasons.items()):
        lines += ["", wrap(f"{reason}: {', '.join(names)}.")]
    return "\n".join((*lines, ""))


_WORDS = {
    "Auto slice": "No slices of a convolution fit its L1",
    "Reader indices": "A table of a convolution is larger than its buffer",
    "beyond max L1": "Buffers do not fit its L1",
    "exceeds per-core L1": "Rows that are joined do not fit its L1",
    "Out of Memory": "Weights that the model computes, in tiles, do not fit its DRAM",
}
"""What ttnn says, and what that means."""


def _table(file: str, columns: dict[str, str]) -> str:
    record = json.loads((_INPUTS / file).read_text(encoding="utf-8"))
    refused = [name for name, each in record["programs"].items() if "refused" in " ".join(each)]
    programs = {name: each for name, each in record["programs"].items() if name not in refused}
    lines = [
        f"{len(programs)} programs, {record['versions']}:"
        if not refused
        else f"{len(programs)} programs, and {len(refused)} refused, {record['versions']}:",
        "",
        "| Run | Right | Unknown | Wrong |",
        "|---|---:|---:|---:|",
    ]
    reasons: dict[str, list[str]] = defaultdict(list)
    for key, title in columns.items():
        found = {name: each[key] for name, each in programs.items() if key in each}
        right = sum(verdict == "right" for verdict in found.values())
        unknown = sum(verdict.startswith(_UNKNOWN) for verdict in found.values())
        lines.append(f"| {title} | {right} | {unknown} | {len(found) - right - unknown} |")
        for name, verdict in found.items():
            if verdict != "right":
                text = re.sub(r": [^:]*=.*", "", verdict.removeprefix(_STOPS))
                reasons[f"{title}: {text}"].append(name)
    if reasons:
        lines += ["", "What is not right, by its reason:", ""]
    for reason, names in sorted(reasons.items()):
        listed = ", ".join(f"`{name}`" for name in names)
        lines.append(f"- {reason}: {listed if len(names) <= _NAMED else len(names)}")
    return "\n".join((*lines, ""))
