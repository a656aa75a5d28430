"""Command lines of MLIR tools: flags with one or two dashes, and pass flags that keep their order.

A tool's flags are the fields of a frozen dataclass, declared with `flag`. The rules are those of
LLVM's command-line library: `-x` and `--x` are the same, a value follows after `=` or as the next
argument, a switch is turned off by `--x=false`, `--` ends the flags. A registered name that is not
a flag of the tool, such as a pass, takes a value after `=` only.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from ttmlir.files import read_file
from ttmlir.mlir.option_values import (
    BOOLEAN,
    Option,
    OptionError,
    OptionValue,
    ValueType,
    option_of,
)

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Flag:
    """One flag of a tool."""

    option: Option
    aliases: tuple[str, ...]
    """Other names of the flag."""
    implied: str | None
    """The value where none follows; None if one has to follow."""
    repeatable: bool
    """True if the values of several occurrences are joined."""
    hidden: bool
    """True if only `--help-hidden` shows the flag."""
    joined: bool
    """True if the value may follow the name at once, as in `-Ifolder`."""


class NamedArgument(NamedTuple):
    """A registered name on the command line with the text after its `=`."""

    name: str
    value: str


@dataclass(frozen=True)
class CommandLine(Generic[T]):
    """What the arguments of a tool say."""

    flags: T
    named: tuple[NamedArgument, ...]
    """Passes, pipelines or translations, in the order given."""
    given: frozenset[str]
    """Names of the fields of `flags` that the command line sets."""


def flag(
    default: T,
    doc: str,
    *,
    name: str = "",
    type: ValueType | None = None,
    aliases: tuple[str, ...] = (),
    implied: str | None = None,
    hidden: bool = False,
    joined: bool = False,
) -> T:
    """Declare a dataclass field as a flag.

    The flag is called like the field, with dashes, unless `name` says otherwise. `implied` is the
    text that stands for a missing value, if the value may be missing.
    """
    metadata = {
        "doc": doc,
        "type": type,
        "name": name,
        "aliases": aliases,
        "implied": implied,
        "hidden": hidden,
        "joined": joined,
    }
    return dataclasses.field(default=default, metadata=metadata)


def flags_of(command: type) -> tuple[Flag, ...]:
    """The flags of a dataclass, in declaration order; the field `input` is the positional."""
    return tuple(_flag_of(field) for field in dataclasses.fields(command) if field.name != "input")


def _flag_of(field: dataclasses.Field[OptionValue]) -> Flag:
    option = option_of(field)
    return Flag(
        option=option,
        aliases=field.metadata["aliases"],
        implied="" if option.type is BOOLEAN else field.metadata["implied"],
        repeatable=isinstance(field.default, tuple),
        hidden=field.metadata["hidden"],
        joined=field.metadata["joined"],
    )


def parse_command_line(
    command: type[T], arguments: Sequence[str], *, program: str, named: Collection[str] = ()
) -> CommandLine[T]:
    """Read `arguments` into an instance of the dataclass `command`.

    `named` are registered names that are collected in order. Raises OptionError for an unknown
    argument, a bad or missing value, or more than one positional argument. `@FILE` stands for the
    arguments that a file holds.
    """
    reader = _Reader(flags_of(command), program, named)
    reader.read(list(expand_response_files(arguments)))
    flags = command(**reader.values)
    return CommandLine(flags, tuple(reader.named), frozenset(reader.values))


def expand_response_files(arguments: Sequence[str]) -> Iterator[str]:
    """The arguments, and in the place of each `@FILE` those that the file holds.

    Blanks and line ends part them; quotes and backslashes are those of a shell. As in LLVM, what
    names no file stays as it is. Files that are named in the file are not looked for. Raises
    OptionError for a file that cannot be read.
    """
    for argument in arguments:
        if not argument.startswith("@") or not os.path.exists(argument[1:]):
            yield argument
            continue
        # Few command lines have such a file.
        import shlex

        try:
            yield from shlex.split(read_file(argument[1:]).decode("utf-8"), comments=True)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise OptionError(
                f"cannot read arguments from '{argument[1:]}': {reason}; such a file holds flags "
                "as a shell takes them"
            ) from error


class _Reader:
    def __init__(self, flags: tuple[Flag, ...], program: str, named: Collection[str]):
        self.by_name = {name: f for f in flags for name in (f.option.name, *f.aliases)}
        self.program = program
        self.registered = named
        self.values: dict[str, OptionValue] = {}
        self.named: list[NamedArgument] = []

    def read(self, arguments: Sequence[str]) -> None:
        pending = iter(arguments)
        for argument in pending:
            if argument == "--":
                break
            if argument == "-" or not argument.startswith("-"):
                self.positional(argument)
            else:
                self.read_dashed(argument, pending)
        for argument in pending:
            self.positional(argument)

    def positional(self, argument: str) -> None:
        if "input" in self.values:
            raise OptionError(
                "Too many positional arguments specified!\n"
                f"Can specify at most 1 positional arguments: See: {self.program} --help"
            )
        self.values["input"] = argument

    def read_dashed(self, argument: str, pending: Iterator[str]) -> None:
        spelled, equals, text = argument.partition("=")
        name = spelled.lstrip("-")
        if found := self.by_name.get(name):
            self.flag(found, text if equals else _missing_value(found, pending))
        elif name in self.registered:
            self.named.append(NamedArgument(name, text))
        elif (joined := self.by_name.get(argument[1])) and joined.joined:
            self.flag(joined, argument[2:])
        else:
            raise OptionError(self.unknown(spelled))

    def flag(self, found: Flag, text: str) -> None:
        field, value = found.option.field, found.option.parse(text)
        self.values[field] = self.values.get(field, ()) + value if found.repeatable else value

    def unknown(self, spelled: str) -> str:
        message = f"Unknown command line argument '{spelled}'.  Try: '{self.program} --help'"
        close = self.closest(spelled.lstrip("-"))
        return f"{message}\n{self.program}: Did you mean '{close}'?" if close else message

    def closest(self, name: str) -> str:
        import difflib

        known = (*self.by_name, *self.registered)
        return next((dash(match) for match in difflib.get_close_matches(name, known, 1)), "")


def _missing_value(found: Flag, pending: Iterator[str]) -> str:
    if found.implied is not None:
        return found.implied
    value = next(pending, None)
    if value is None:
        raise OptionError(f"for the {found.option.flag} option: requires a value!")
    return value


def dash(name: str) -> str:
    """A flag's name with the dashes that it is usually given."""
    return f"-{name}" if len(name) == 1 else f"--{name}"


HELP_COLUMN = 38
"""Column where the descriptions in help begin."""
LEAST_WIDTH = 60


def help_width() -> int:
    """Columns of help: those of the terminal, or of the variable COLUMNS; 100 without either."""
    import shutil

    return max(LEAST_WIDTH, shutil.get_terminal_size((100, 24)).columns)


def help_entry(indent: int, spelled: str, doc: str) -> str:
    """Lines of help: a flag and its description, which starts a line of its own for a long flag."""
    import textwrap

    left = " " * indent + spelled
    lines = textwrap.wrap(doc, help_width() - HELP_COLUMN - 3) or [""]
    first = f"{left:{HELP_COLUMN}} - {lines[0]}"
    if len(left) > HELP_COLUMN:
        first = f"{left}\n{'':{HELP_COLUMN}} - {lines[0]}"
    return "\n".join((first, *(f"{'':{HELP_COLUMN + 3}}{line}" for line in lines[1:])))


def spelling_of(option: Option, *, value_optional: bool = False) -> str:
    """A flag with the placeholder of its value: `--mlir-timing-display=<value>`."""
    placeholder = option.type.placeholder
    if not placeholder:
        return option.flag
    if len(option.name) == 1:
        return f"{option.flag} {placeholder}"
    return f"{option.flag}[={placeholder}]" if value_optional else f"{option.flag}={placeholder}"


def flag_help(command: type, *, hidden: bool) -> list[str]:
    """Lines that describe the flags of a tool, sorted by name."""
    lines: list[str] = []
    for each in sorted(flags_of(command), key=lambda each: each.option.name):
        if each.hidden and not hidden:
            continue
        spelled = spelling_of(each.option, value_optional=each.implied is not None)
        aliases = f" (also {', '.join(map(dash, each.aliases))})" if each.aliases else ""
        lines.append(help_entry(2, spelled, each.option.doc + aliases))
        lines += [f"    ={choice}" for choice in each.option.type.choices]
    return lines
