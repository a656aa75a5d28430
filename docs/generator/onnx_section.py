"""The part of the page of frontends about ONNX: operators, and the tests of its package."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from markdown_text import wrap

from ttmlir.frontend.onnx import supported
from ttmlir.frontend.onnx.rules import RULES

SUPPORT = Path(__file__).resolve().parents[2] / "test" / "support"


def onnx_section() -> Iterator[str]:
    """Its lines."""
    yield "## ONNX\n"
    yield "Operators of the newest version of the standard in the package `onnx` of the tests;"
    yield "models may be of any version of the operator set from 13 on.\n"
    operators = [each for each in supported() if not each.domain]
    yield f"### `ai.onnx`, {len(operators)} operators\n"
    for state, title in _TITLES.items():
        names = [f"`{each.name}`" for each in operators if each.state == state]
        yield wrap(f"**{title}** ({len(names)}): {' '.join(names)}") + "\n"
    yield wrap(
        "Functions of a model are imported by their bodies, from any domain. Of other domains, "
        + _others()
    )
    yield "\nWhat is refused, and what to do instead:\n"
    reasons: dict[str, list[str]] = defaultdict(list)
    for each in operators:
        if each.state == "refused":
            reasons[each.reason].append(f"`{each.name}`")
    yield from (f"- {' '.join(names)}: {reason}" for reason, names in reasons.items())
    yield "\n### Models\n"
    yield from _models()
    yield "### Tests of the package\n"
    yield from _tests()


_TITLES = {
    "rule": "Converted",
    "function": "Replaced by the function that the standard gives",
    "refused": "Not converted",
}


def _others() -> str:
    found: dict[str, set[str]] = defaultdict(set)
    for each in supported():
        if each.domain and each.state != "refused":
            found[each.domain].add(each.name)
    # Operators that the package knows no longer, or never knew.
    for domain, name in RULES:
        if domain:
            found[domain].add(name)
    listed = (
        f"`{domain}`: {' '.join(f'`{n}`' for n in sorted(found[domain]))}"
        for domain in sorted(found)
    )
    return "; ".join(listed) + "."


def _models() -> Iterator[str]:
    """What became of public models that torch's exporter wrote."""
    exported: Any = _import("model_zoo.exported")
    record = exported.read_record()
    yield wrap(
        f"{len(record)} of the {exported.count_right()} public models of torch that are right as "
        "modules ([models_table.md](models_table.md)), exported by `torch.onnx.export` and "
        "compared with the modules, within a thousandth of the greatest number (`make "
        "onnx-models`):"
    )
    ways = Counter(each["message"] for each in record.values() if each["state"] == "right")
    states = Counter(each["state"] for each in record.values())
    yield ""
    yield "| | models |"
    yield "|---|---|"
    yield from (f"| right, by `dynamo={exported.WAYS[way]}` | {ways[way]} |" for way in ways)
    yield f"| refused | {states['refused']} |"
    yield f"| other numbers | {states['wrong']} |"
    yield f"| the exporter fails | {states['broken']} |\n"
    for state, title in (("refused", "Refused"), ("wrong", "Other"), ("broken", "Not exported")):
        names = [key for key, each in record.items() if each["state"] == state]
        if names:
            yield wrap(f"{title}: {', '.join(names)}.") + "\n"


def _import(name: str) -> Any:
    sys.path.insert(0, str(SUPPORT))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(SUPPORT))


def _tests() -> Iterator[str]:
    """The recorded verdicts as a table."""
    runner: Any = _import("running.onnx_backend")
    totals, others = runner.read_record()
    yield "`make onnx-tests` compiles and runs what `onnx.backend.test` has, and compares the"
    yield "results with those that it expects, by its tolerances:\n"
    yield "| | tests | right | refused | other numbers |"
    yield "|---|---|---|---|---|"
    counts = Counter((each.kind, each.state) for each in others)
    for kind, total in totals.items():
        refused, other = (counts[kind, state] for state in (runner.REFUSED, runner.OTHER))
        right = total - refused - other
        share = f"{100 * right / total:.1f}".removesuffix(".0")
        yield f"| {kind} | {total} | {right} ({share} %) | {refused} | {other} |"
    yield ""
    yield wrap(
        "Other numbers: attention in bf16, which is rounded after other operations, and zeros of "
        "an inverse transform, which are expected as what is left of rounding."
    )
    yield "\n| refused | tests |"
    yield "|---|---|"
    reasons = Counter(each.reason for each in others if each.state == runner.REFUSED)
    for reason, count in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"| {reason} | {count} |"
    yield ""
