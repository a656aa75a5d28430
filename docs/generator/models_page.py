"""The page of public models, from what was found of them last."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parents[2] / "test" / "model_zoo" / "results.json"

INTRODUCTION = """\
# Public models

What `ttmlir.compile(model, ...)` makes of public architectures, called as their libraries call
them. Configurations are tiny, weights random and the same in every run: what counts is which
operations a model has, and not how large it is. Networks of torchvision and timm are whole, their
images small. `make docs-models` writes this page; `test/support/model_zoo` has the models.

A model is right if all its results have the framework's shapes and types, whole numbers are equal,
and others correlate (PCC) to 0.9999 and differ by at most a thousandth of the greatest number, in
exact numerics. With the device's numerics most models keep that PCC; where a model chooses, as an
expert by the greatest score, it may choose another. `test/model_zoo/results.json` has the figures
of each model.
"""

_REASONS = (
    (r"complex64", "complex numbers"),
    (r"the shape .* (depends on the numbers|is not known)", "shapes depend on data"),
    (r"what it does depends on the numbers", "Python decides by data"),
    (r"cannot trace this: (.*)", "not traceable by torch: {}"),
    (r"the numbers of torch\.export", "torch.export of it gives other numbers, too"),
    (r"different trace level", "the library cannot be traced by JAX here"),
    (r"TimeoutError", "takes too long to compile"),
)
"""Patterns of messages, and what the page says of them."""
MOST_WORDS = 70
"""Characters of a reason."""


def models_page() -> str:
    """The page."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    models: Mapping[str, Mapping[str, Any]] = results["models"]
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    libraries = sorted({key.partition("/")[0] for key in models})
    parts = [
        INTRODUCTION,
        f"{_counts(models)}\n",
        f"Versions: {versions}.\n",
    ]
    for library in libraries:
        parts += _library(library, _of(models, library))
    return "\n".join(parts).rstrip() + "\n"


def _of(models: Mapping[str, Mapping[str, Any]], library: str) -> dict[str, Mapping[str, Any]]:
    split = ((key.partition("/"), model) for key, model in models.items())
    return {name: model for (owner, _, name), model in split if owner == library}


def _sorted(
    models: Mapping[str, Mapping[str, Any]],
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield from sorted(models.items(), key=lambda item: item[0].lower())


def _counts(models: Mapping[str, Mapping[str, Any]]) -> str:
    states = Counter(model["state"] for model in models.values())
    counts = ", ".join(f"{states[state]} {state}" for state in ("right", "refused", "wrong"))
    return f"{len(models)} models: {counts}."


def _library(library: str, models: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The models that are right, and a table of the others with the reasons."""
    right = [name for name, model in _sorted(models) if model["state"] == "right"]
    yield f"## {library}: {len(right)} of {len(models)}\n"
    yield f"Right: {', '.join(right)}.\n"
    others = [(name, model) for name, model in _sorted(models) if model["state"] != "right"]
    if others:
        yield "| Model | Kind | State |"
        yield "|---|---|---|"
        yield from (_row(name, model) for name, model in others)
        yield ""


def _row(name: str, model: Mapping[str, Any]) -> str:
    state = model["state"]
    if "message" in model:
        state += f": {reason(model['message'])}"
    elif "pcc" in model:
        state += f": PCC {model['pcc']:.7f}, difference {model['difference']:.0e}"
    return f"| {name} | {model['kind']} | {state} |"


def reason(message: str) -> str:
    """The few words for a message."""
    for pattern, words in _REASONS:
        if found := re.search(pattern, message):
            return _short(words.format(*found.groups()))
    first = re.sub(r"^.*? error: |^\w+: ", "", message.split("\n")[0])
    return _short(first)


def _short(text: str) -> str:
    text = text.replace("|", "\\|").replace("<", "\\<").replace("_", "\\_")
    return text if len(text) <= MOST_WORDS else f"{text[: MOST_WORDS - 3].rsplit(' ', 1)[0]} ..."
