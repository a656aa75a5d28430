"""Verdicts of runs, and the file of results that the documentation prints."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from judge import Fate, Verdict
from mutant import Mutant
from product import CACHE, ROOT

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
EQUIVALENT = HERE / "equivalent.toml"
"""Mutants that do the same as the product: lists of keys by the reason."""
_VERDICTS = CACHE / "verdicts.jsonl"


@cache
def equivalent() -> Mapping[str, str]:
    """Reasons why mutants do the same as the product, by key."""
    entries = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))
    return {key: reason for reason, keys in entries.items() for key in keys}


def remember(mutant: Mutant, verdict: Verdict) -> None:
    """Keep a verdict for later runs."""
    entry = {"name": _name(mutant), "fate": verdict.fate, "by": verdict.by}
    with _VERDICTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def known_verdicts() -> dict[str, Verdict]:
    """Verdicts of earlier runs by the name of the mutant in the file as it was."""
    if not _VERDICTS.exists():
        return {}
    entries = map(json.loads, _VERDICTS.read_text(encoding="utf-8").splitlines())
    return {each["name"]: Verdict(Fate(each["fate"]), each["by"]) for each in entries}


def known_verdict(mutant: Mutant, known: Mapping[str, Verdict]) -> Verdict | None:
    """What an earlier run said about a mutant of the same text."""
    return known.get(_name(mutant))


@cache
def _digest(path: str) -> str:
    return hashlib.sha256((ROOT / path).read_bytes()).hexdigest()[:16]


def _name(mutant: Mutant) -> str:
    return f"{_digest(mutant.path)} {mutant.start} {mutant.key.rpartition('.')[0]}"


def write_results(seed: int, verdicts: Sequence[tuple[Mutant, Verdict]]) -> None:
    """Write the counts by package and what was missed."""
    counts = {mutant.package: Counter[str]() for mutant, _ in verdicts}
    missed: list[dict[str, object]] = []
    for mutant, verdict in verdicts:
        same = verdict.fate is Fate.MISSED and mutant.key in equivalent()
        counts[mutant.package]["equivalent" if same else verdict.fate] += 1
        if verdict.fate is Fate.MISSED and not same:
            missed.append({"mutant": mutant.key, "change": mutant.description})
    packages = {
        package: {name: found[name] for name in ("noticed", "missed", "equivalent")}
        for package, found in sorted(counts.items())
    }
    content = {"seed": seed, "packages": packages, "missed": missed}
    RESULTS.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def share(verdicts: Sequence[tuple[Mutant, Verdict]]) -> float:
    """How many of the mutants that do something else are noticed, in percent."""
    valid = [
        verdict.fate is Fate.NOTICED
        for mutant, verdict in verdicts
        if verdict.fate is Fate.NOTICED or mutant.key not in equivalent()
    ]
    return 100 * sum(valid) / max(1, len(valid))
