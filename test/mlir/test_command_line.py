"""Command lines as LLVM's tools read them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttmlir.mlir.option_values import STRINGS, OptionError
from ttmlir.tools.command_line import flag, flag_help, parse_command_line


class Shape(Enum):
    """A choice."""

    TREE = "tree"
    LIST = "list"


@dataclass(frozen=True)
class Flags:
    """One flag of every kind."""

    input: str = "-"
    output: str = flag("-", "where to", name="o")
    verbose: bool = flag(False, "a switch", aliases=("v",))
    split_at: str = flag("", "a marker", implied="//")
    names: tuple[str, ...] = flag((), "several", type=STRINGS)
    limit: int = flag(-1, "a number", hidden=True)
    shape: Shape = flag(Shape.TREE, "a choice")


def read(*arguments: str) -> Flags:
    """The flags on a command line without passes."""
    return parse_command_line(Flags, arguments, program="tool").flags


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), Flags()),
        (("a",), Flags(input="a")),
        (("-",), Flags(input="-")),
        (("--", "-v"), Flags(input="-v")),
        (("-o", "x", "a"), Flags(output="x", input="a")),
        (("a", "--o=x"), Flags(output="x", input="a")),
        (("-o", "-"), Flags(output="-")),
        (("-o", "--verbose"), Flags(output="--verbose")),
        (("-v",), Flags(verbose=True)),
        (("--verbose", "a"), Flags(verbose=True, input="a")),
        (("-verbose=false",), Flags()),
        (("--verbose", "--verbose=0"), Flags()),
        (("--split-at", "a"), Flags(split_at="//", input="a")),
        (("--split-at=;;",), Flags(split_at=";;")),
        (("--names=a,b", "-names", "c"), Flags(names=("a", "b", "c"))),
        (("--limit", "-3"), Flags(limit=-3)),
        (("--shape=list",), Flags(shape=Shape.LIST)),
    ],
)
def test_flags_are_read(arguments: tuple[str, ...], expected: Flags) -> None:
    """One dash or two, values after `=` or as the next argument, switches turned off."""
    assert read(*arguments) == expected


def test_registered_names_keep_their_order() -> None:
    """Passes may stand anywhere, take text after `=` only, and may come twice."""
    line = parse_command_line(
        Flags, ["--b=x=1 y", "in", "-a", "-v", "--b"], program="tool", named={"a", "b"}
    )
    assert line.named == (("b", "x=1 y"), ("a", ""), ("b", ""))
    assert line.flags == Flags(input="in", verbose=True)
    assert line.given == {"input", "verbose"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--vrebose",), "Unknown command line argument '--vrebose'.  Try: 'tool --help'"),
        (("--verbos=1",), "tool: Did you mean '--verbose'?"),
        (("-o",), "for the -o option: requires a value!"),
        (("--names",), "for the --names option: requires a value!"),
        (("--verbose=perhaps",), "for the --verbose option: 'perhaps' is invalid value for bool"),
        (("--limit=ten",), "for the --limit option: 'ten' value invalid for integer argument!"),
        (("--shape=ring",), "Cannot find option named 'ring'! Supported: tree, list"),
        (("a", "b"), "Too many positional arguments specified!"),
    ],
)
def test_wrong_command_lines_are_refused(arguments: tuple[str, ...], message: str) -> None:
    """The message names the flag and what is wrong with it."""
    with pytest.raises(OptionError) as error:
        read(*arguments)
    assert message in str(error.value)


def test_help_shows_what_flags_take() -> None:
    """Flags are sorted; values, choices and other names are shown; hidden flags are not."""
    lines = [" ".join(line.split()) for line in flag_help(Flags, hidden=False)]
    assert lines == [
        "--names=<string,...> - several",
        "-o <string> - where to",
        "--shape=<value> - a choice",
        "=tree",
        "=list",
        "--split-at[=<string>] - a marker",
        "--verbose - a switch (also -v)",
    ]
    assert any("--limit=<int>" in line for line in flag_help(Flags, hidden=True))


@given(st.lists(st.text("-=abov ", max_size=6), max_size=5))
def test_any_arguments_are_read_or_refused(arguments: list[str]) -> None:
    """No arguments make the reader fail in another way than by a message."""
    with suppress(OptionError):
        read(*arguments)
