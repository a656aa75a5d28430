"""Options of a pass as text: `key=value other="a b" flag list=1,2`.

Entries are separated by blanks; quotes and braces keep blanks together, and one outer pair of them
is taken off a value. Names may be spelled with `-` or `_`. A name alone is `true`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from ttmlir.mlir.option_values import Option, OptionError, OptionValue, options_of

T = TypeVar("T")

_CLOSING = {"{": "}", "[": "]", "(": ")", "<": ">", '"': '"', "'": "'"}


def parse_options(cls: type[T], text: str) -> T:
    """An instance of the dataclass `cls` with the options that `text` gives.

    Raises OptionError in the words of LLVM if there is no such option or value.
    """
    known = {option.name.replace("_", "-"): option for option in options_of(cls)}
    values: dict[str, OptionValue] = {}
    for entry in split_entries(text):
        key, equals, value = entry.partition("=")
        option = known.get(key.replace("_", "-"))
        if option is None:
            raise OptionError(_no_such_option(key, tuple(known)))
        values[option.field] = option.parse(_unwrap(value) if equals else "")
    return cls(**values)


def format_options(instance: object) -> str:
    """The options of an instance as `parse_options` reads them, defaults included."""
    return " ".join(_format_entry(instance, option) for option in options_of(type(instance)))


def _no_such_option(key: str, known: tuple[str, ...]) -> str:
    supported = f"supported: {', '.join(known)}" if known else "the pass has no options"
    return f"<Pass-Options-Parser>: no such option {key}; {supported}"


def _format_entry(instance: object, option: Option) -> str:
    text = option.type.format(getattr(instance, option.field))
    return f"{option.name}={_quote(text)}"


def _quote(text: str) -> str:
    if text and not any(character in ' \t\n{}"' for character in text):
        return text
    return f'"{text}"' if '"' not in text else "{" + text + "}"


def split_entries(text: str) -> Iterator[str]:
    """The entries of an option text; blanks inside quotes and brackets do not separate."""
    start, open_brackets = 0, list[str]()
    for index, character in enumerate(text):
        if open_brackets and character == open_brackets[-1]:
            open_brackets.pop()
        elif open_brackets and open_brackets[-1] in "\"'":
            continue
        elif character in _CLOSING:
            open_brackets.append(_CLOSING[character])
        elif character.isspace() and not open_brackets:
            if start < index:
                yield text[start:index]
            start = index + 1
    if open_brackets:
        raise OptionError(f"missing closing '{open_brackets[-1]}' in pass options '{text}'")
    if start < len(text):
        yield text[start:]


def _unwrap(value: str) -> str:
    for opening, closing in (("{", "}"), ('"', '"'), ("'", "'")):
        if len(value) >= 2 and value[0] == opening and value[-1] == closing:
            return value[1:-1]
    return value
