"""Values of options as text: the one place that says how `true`, `1,2` or `dram` are read.

Pass options and command-line flags are both fields of frozen dataclasses. `option` declares such a
field; its default value decides how text becomes a value, unless a `ValueType` is named. Messages
are those of LLVM's command-line library, which users of MLIR tools know.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from ttmlir.errors import InputError

OptionValue = Any
"""A value of an option: what its `ValueType` makes of text."""

T = TypeVar("T")


class OptionError(InputError):
    """An option that does not exist or a value that it cannot take."""


@dataclass(frozen=True, kw_only=True)
class ValueType:
    """How the text of an option becomes a value and a value becomes text again."""

    placeholder: str
    """What help shows for the value, e.g. `<int>`; empty for a flag that needs none."""
    parse: Callable[[str], OptionValue]
    """Text to value; raises ValueError with the end of the message."""
    format: Callable[[OptionValue], str] = str
    """Value to the text that `parse` reads."""
    choices: tuple[str, ...] = ()
    """Keywords that are accepted, if these are all."""


_BOOLEANS = {
    **dict.fromkeys(("true", "TRUE", "True", "1", ""), True),
    **dict.fromkeys(("false", "FALSE", "False", "0"), False),
}


def _parse_boolean(text: str) -> bool:
    if text not in _BOOLEANS:
        raise ValueError(f"'{text}' is invalid value for boolean argument! Try 0 or 1")
    return _BOOLEANS[text]


def _parse_integer(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise ValueError(f"'{text}' value invalid for integer argument!") from None


def _parse_float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"'{text}' value invalid for floating point argument!") from None


def list_of(element: ValueType) -> ValueType:
    """Values of one type, separated by commas; a tuple in Python, empty text is the empty tuple."""

    def parse(text: str) -> tuple[OptionValue, ...]:
        return tuple(element.parse(part) for part in text.split(",")) if text else ()

    def format_all(values: tuple[OptionValue, ...]) -> str:
        return ",".join(element.format(value) for value in values)

    placeholder = element.placeholder.replace(">", ",...>")
    return ValueType(placeholder=placeholder, parse=parse, format=format_all)


def keyword_of(enumeration: type[Enum]) -> ValueType:
    """A member of an enumeration by its `keyword`, or by its value where it has none.

    The name that files have for it is taken, too: options of tt-mlir are spelled either way.
    """
    members = {_keyword(member): member for member in enumeration}
    spelled = {getattr(member, "schema_name", ""): member for member in enumeration} | members

    def parse(text: str) -> Enum:
        if not text or text not in spelled:
            allowed = ", ".join(members)
            raise ValueError(f"Cannot find option named '{text}'! Supported: {allowed}")
        return spelled[text]

    return ValueType(placeholder="<value>", parse=parse, format=_keyword, choices=tuple(members))


def _keyword(member: Enum) -> str:
    return str(getattr(member, "keyword", member.value))


BOOLEAN = ValueType(
    placeholder="", parse=_parse_boolean, format=lambda value: "true" if value else "false"
)
TRISTATE = ValueType(
    placeholder="<value>",
    parse=lambda text: None if text == "unset" else _parse_boolean(text),
    format=lambda value: "unset" if value is None else BOOLEAN.format(value),
)
"""True, false, or nothing said, as `unset`."""
INTEGER = ValueType(placeholder="<int>", parse=_parse_integer)
FLOAT = ValueType(placeholder="<number>", parse=_parse_float, format=repr)
STRING = ValueType(placeholder="<string>", parse=str)
INTEGERS = list_of(INTEGER)
STRINGS = list_of(STRING)


def read_entries(text: str, read: Callable[[str], tuple[str, T]]) -> tuple[tuple[str, T], ...]:
    """Names and values between commas; ValueError for a name that is there twice."""
    found: dict[str, T] = {}
    for entry in text.split(",") if text else ():
        name, value = read(entry)
        if name in found:
            raise ValueError(f"'{name}' is there twice: leave one of them out")
        found[name] = value
    return tuple(found.items())


def option(
    default: T, doc: str, *, type: ValueType | None = None, name: str = "", environment: str = ""
) -> T:
    """Declare a dataclass field as an option.

    The type of `default` decides how text is read: bool, int, float, str, a member of an
    enumeration, or a tuple of integers; `type` says so where that is not enough. The option is
    called like the field, with dashes, unless `name` says otherwise. `environment` names a variable
    that the tools take the value from where the option has its default.
    """
    metadata = {"doc": doc, "type": type, "name": name, "environment": environment}
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option of a class whose fields are options."""

    name: str
    field: str
    doc: str
    type: ValueType
    default: OptionValue
    environment: str = ""
    """The environment variable that tools take the value from in place of the default."""

    def parse(self, text: str) -> OptionValue:
        """The value that `text` stands for; OptionError names the option if there is none."""
        try:
            return self.type.parse(text)
        except ValueError as error:
            raise OptionError(f"for the {self.flag} option: {error}") from error

    @property
    def flag(self) -> str:
        """The option as it is spelled on the command line."""
        return f"-{self.name}" if len(self.name) == 1 else f"--{self.name}"


def options_of(cls: type) -> tuple[Option, ...]:
    """The options of a dataclass, in declaration order."""
    return tuple(
        option_of(field)
        for field in dataclasses.fields(cls)
        if field.init and field.default is not dataclasses.MISSING
    )


def option_of(field: dataclasses.Field[OptionValue]) -> Option:
    """What the declaration of one field says."""
    return Option(
        name=field.metadata.get("name") or field.name.replace("_", "-"),
        field=field.name,
        doc=field.metadata.get("doc", ""),
        type=field.metadata.get("type") or type_of_default(field.default),
        default=field.default,
        environment=field.metadata.get("environment", ""),
    )


def type_of_default(default: OptionValue) -> ValueType:
    """The value type that a default value implies."""
    match default:
        case bool():
            return BOOLEAN
        case Enum():
            return keyword_of(type(default))
        case int():
            return INTEGER
        case float():
            return FLOAT
        case tuple():
            return INTEGERS
        case _:
            return STRING
