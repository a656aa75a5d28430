"""What arguments of functions are, as an option: `main=input,parameter;other=constant`."""

from __future__ import annotations

from ttmlir.layout.enums import ArgumentType
from ttmlir.mlir.option_values import ValueType

ArgumentTypes = tuple[tuple[str, tuple[ArgumentType, ...]], ...]
"""What the arguments of each function are."""

_BY_KEYWORD = {kind.keyword: kind for kind in ArgumentType}


def _parse(text: str) -> ArgumentTypes:
    return tuple(_entry(part) for part in text.split(";") if part)


def _entry(text: str) -> tuple[str, tuple[ArgumentType, ...]]:
    name, separator, kinds = text.partition("=")
    if not separator or not name:
        raise ValueError("Invalid format. Expected: function=type1,type2;function=type1,type2")
    if not kinds:
        raise ValueError(f'Provided empty argument list for function name: "{name}"')
    return name, tuple(map(_kind, kinds.split(",")))


def _kind(word: str) -> ArgumentType:
    if word not in _BY_KEYWORD:
        supported = ", ".join(_BY_KEYWORD)
        raise ValueError(f"Invalid argument type: {word}. Supported: {supported}")
    return _BY_KEYWORD[word]


def _format(types: ArgumentTypes) -> str:
    return ";".join(f"{name}={','.join(kind.keyword for kind in kinds)}" for name, kinds in types)


ARGUMENT_TYPES = ValueType(placeholder="<function=type,...;...>", parse=_parse, format=_format)
