"""Options of products: formats of weights and fidelities, for all of them or by location.

`compute-cfg-math-fidelity=lofi` is for every product, `override-math-fidelity=fc1=hifi4,fc2=hifi2`
for those at these locations.
"""

from __future__ import annotations

from ttmlir.layout.enums import DataType, KeywordEnum, MathFidelity
from ttmlir.mlir.option_values import ValueType

WEIGHT_DTYPES = (DataType.BF16, DataType.BFP_BF8, DataType.BFP_BF4)
"""What weights can be turned into."""

WeightDtypes = tuple[tuple[str, DataType], ...]
MathFidelities = tuple[tuple[str, MathFidelity], ...]
"""Pairs of a location name and the choice there, in the order given."""


def _keyword(choices: tuple[KeywordEnum, ...]) -> ValueType:
    """One of a few words, or none."""
    by_word = {each.keyword: each for each in choices}

    def parse(text: str) -> KeywordEnum | None:
        if not text:
            return None
        return _find(by_word, text)

    return ValueType(
        placeholder="<value>",
        parse=parse,
        format=lambda value: "" if value is None else value.keyword,
        choices=tuple(by_word),
    )


def _by_name(choices: tuple[KeywordEnum, ...], example: str) -> ValueType:
    """Such words by the names of locations: `fc1=bfp_bf8,fc2=bf16`."""
    by_word = {each.keyword: each for each in choices}

    def parse(text: str) -> tuple[tuple[str, KeywordEnum], ...]:
        return tuple(entry(part) for part in text.split(",")) if text else ()

    def entry(part: str) -> tuple[str, KeywordEnum]:
        name, separator, word = part.rpartition("=")
        if not separator or not name:
            raise ValueError(f"'{part}' is no name and value: give both, as in fc1={example}")
        return name, _find(by_word, word)

    def form(pairs: tuple[tuple[str, KeywordEnum], ...]) -> str:
        return ",".join(f"{name}={value.keyword}" for name, value in pairs)

    return ValueType(placeholder=f"<name={example},...>", parse=parse, format=form)


def _find(by_word: dict[str, KeywordEnum], text: str) -> KeywordEnum:
    if text not in by_word:
        raise ValueError(f"Cannot find option named '{text}'! Supported: {', '.join(by_word)}")
    return by_word[text]


WEIGHT_DTYPE = _keyword(WEIGHT_DTYPES)
MATH_FIDELITY = _keyword(tuple(MathFidelity))
WEIGHT_DTYPES_BY_NAME = _by_name(WEIGHT_DTYPES, "bfp_bf8")
MATH_FIDELITIES_BY_NAME = _by_name(tuple(MathFidelity), "hifi2")
