"""Which operators can be imported: for messages and for the documentation."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

from ttmlir.frontend.onnx.elements import onnx_package
from ttmlir.frontend.onnx.rules import RULES

_STRINGS = "strings are not supported: devices compute with numbers; do this before the model"
_RANDOM = (
    "random numbers are not supported; draw them outside, and give them to the model as an input"
)

_INSTEAD = {
    **dict.fromkeys(
        ("StringConcat", "StringNormalizer", "StringSplit", "RegexFullMatch"), _STRINGS
    ),
    **dict.fromkeys(
        (
            *("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike"),
            *("RandomUniform", "RandomUniformLike"),
        ),
        _RANDOM,
    ),
    "ImageDecoder": "files of images are not decoded; give the model their pixels",
    "CategoryMapper": _STRINGS,
    **dict.fromkeys(
        ("CastMap", "DictVectorizer"), "maps are not supported; give the model a tensor"
    ),
    "Gradient": "gradients are not derived; export the model with those that it needs",
}
"""What to do instead of operators, by their names."""

LEAST_LIKENESS = 0.7
"""How alike names are that are suggested, as `difflib` measures it."""


@dataclass(frozen=True)
class Support:
    """What becomes of an operator of the standard."""

    domain: str
    name: str
    state: str
    """`rule`; `function`: its body in the standard is imported; or `refused`."""
    reason: str = ""
    """Why it is refused."""


def supported() -> list[Support]:
    """Every operator of the newest version of the standard, by domain and name."""
    defs = onnx_package().defs
    found: list[Support] = []
    for schema in defs.get_all_schemas():
        if schema.deprecated:
            continue
        key = schema.domain, schema.name
        if key in RULES:
            found.append(Support(*key, "rule"))
        elif (reason := instead_of(*key)) is not None:
            found.append(Support(*key, "refused", reason))
        elif schema.has_function or schema.has_context_dependent_function:
            found.append(Support(*key, "function"))
        else:
            found.append(Support(*key, "refused", near(*key)))
    return sorted(found, key=lambda each: (each.domain, each.name))


def instead_of(domain: str, name: str) -> str | None:
    """Why an operator cannot be taken and what to do instead, where that is known."""
    return _INSTEAD.get(name) if not domain or domain.startswith("ai.onnx") else None


def near(domain: str, name: str) -> str:
    """Why an operator is refused: there is no rule, but there are others of a similar name."""
    names = sorted({each for _, each in RULES})
    similar = difflib.get_close_matches(name, names, n=4, cutoff=LEAST_LIKENESS)
    if domain and not domain.startswith("ai.onnx") and not names_of(domain):
        return (
            f"operators of the domain '{domain}' are not supported, unless the model has their "
            "bodies as functions; export with operators of the standard"
        )
    return "this operator is not supported" + (
        f"; the nearest supported ones are {', '.join(similar)}" if similar else ""
    )


def names_of(domain: str) -> Any:
    """The names of the operators of a domain that have rules."""
    return sorted(name for each, name in RULES if each == domain)
