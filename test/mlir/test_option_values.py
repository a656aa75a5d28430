"""Options as fields: what a declaration says, and how text becomes a value and text again."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import pytest

from ttmlir.mlir.option_values import (
    BOOLEAN,
    FLOAT,
    INTEGER,
    INTEGERS,
    STRING,
    STRINGS,
    OptionError,
    ValueType,
    keyword_of,
    option,
    options_of,
)


class Color(Enum):
    """Members that are known by their values."""

    RED = "red"
    DARK_BLUE = "dark-blue"


class Space(Enum):
    """Members that are known by keywords."""

    L1 = 1
    DRAM = 2

    @property
    def keyword(self) -> str:
        """The name in lower case."""
        return self.name.lower()


@dataclass(frozen=True)
class Declared:
    """A field of every kind."""

    positional: int
    plain: int = 3
    is_on: bool = option(False, "a switch")
    tile_size: int = option(32, "a number", name="tile")
    scale: float = option(0.5, "a fraction")
    label: str = option("x", "a text", environment="LABEL_PATH")
    grid: tuple[int, ...] = option((1, 2), "numbers")
    names: tuple[str, ...] = option(("a",), "texts", type=STRINGS, name="n")
    color: Color = option(Color.RED, "a choice")
    space: Space = option(Space.DRAM, "another choice")
    inner: str = field(default="", init=False)


def test_declarations_say_what_options_are() -> None:
    """Name, field, default, help, and the variable of the environment; others are no options."""
    assert [
        (each.name, each.field, each.default, each.doc, each.environment, each.flag)
        for each in options_of(Declared)
    ] == [
        ("plain", "plain", 3, "", "", "--plain"),
        ("is-on", "is_on", False, "a switch", "", "--is-on"),
        ("tile", "tile_size", 32, "a number", "", "--tile"),
        ("scale", "scale", 0.5, "a fraction", "", "--scale"),
        ("label", "label", "x", "a text", "LABEL_PATH", "--label"),
        ("grid", "grid", (1, 2), "numbers", "", "--grid"),
        ("n", "names", ("a",), "texts", "", "-n"),
        ("color", "color", Color.RED, "a choice", "", "--color"),
        ("space", "space", Space.DRAM, "another choice", "", "--space"),
    ]


def test_defaults_say_how_text_is_read() -> None:
    """The placeholder is what help shows, choices are all that is accepted."""
    types = {each.field: each.type for each in options_of(Declared)}
    assert {name: (type.placeholder, type.choices) for name, type in types.items()} == {
        "plain": ("<int>", ()),
        "is_on": ("", ()),
        "tile_size": ("<int>", ()),
        "scale": ("<number>", ()),
        "label": ("<string>", ()),
        "grid": ("<int,...>", ()),
        "names": ("<string,...>", ()),
        "color": ("<value>", ("red", "dark-blue")),
        "space": ("<value>", ("l1", "dram")),
    }


@pytest.mark.parametrize(
    ("type", "text", "value", "printed"),
    [
        *((BOOLEAN, text, True, "true") for text in ("true", "TRUE", "True", "1", "")),
        *((BOOLEAN, text, False, "false") for text in ("false", "FALSE", "False", "0")),
        (INTEGER, "-12", -12, "-12"),
        (INTEGER, "0x1F", 31, "31"),
        (INTEGER, "0b101", 5, "5"),
        (FLOAT, "1e-3", 0.001, "0.001"),
        (FLOAT, "2", 2.0, "2.0"),
        (STRING, " a b ", " a b ", " a b "),
        (INTEGERS, "", (), ""),
        (INTEGERS, "7", (7,), "7"),
        (INTEGERS, "3,0x10,-1", (3, 16, -1), "3,16,-1"),
        (STRINGS, "a,,b c", ("a", "", "b c"), "a,,b c"),
        (keyword_of(Color), "dark-blue", Color.DARK_BLUE, "dark-blue"),
        (keyword_of(Space), "l1", Space.L1, "l1"),
    ],
)
def test_text_becomes_a_value_and_text_again(
    type: ValueType, text: str, value: Any, printed: str
) -> None:
    """A value has one type; what is printed is read as the same value."""
    read = type.parse(text)
    assert read == value
    assert read.__class__ is value.__class__
    assert type.format(value) == printed
    assert type.parse(printed) == value


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("is_on", "yes", "--is-on option: 'yes' is invalid value for boolean argument! Try 0 or 1"),
        ("tile_size", "1.5", "--tile option: '1.5' value invalid for integer argument!"),
        ("tile_size", "", "--tile option: '' value invalid for integer argument!"),
        ("scale", "half", "--scale option: 'half' value invalid for floating point argument!"),
        ("grid", "1,x", "--grid option: 'x' value invalid for integer argument!"),
        ("grid", "1,", "--grid option: '' value invalid for integer argument!"),
        ("color", "RED", "--color option: Cannot find option named 'RED'! Supported: red, dark-b"),
        ("space", "1", "--space option: Cannot find option named '1'! Supported: l1, dram"),
    ],
)
def test_other_text_is_refused(field: str, text: str, message: str) -> None:
    """The message names the option as it is spelled on the command line."""
    [declared] = [each for each in options_of(Declared) if each.field == field]
    with pytest.raises(OptionError) as error:
        declared.parse(text)
    assert str(error.value).startswith(f"for the {message}")
    assert isinstance(error.value.__cause__, ValueError)
