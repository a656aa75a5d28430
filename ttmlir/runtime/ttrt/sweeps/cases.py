"""The cases of a sweep: a file, and values of the options that are swept."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from ttmlir.files import safe_file_name
from ttmlir.runtime.errors import BinaryError, InputError
from ttmlir.runtime.loading import announced_bytes, file_bytes
from ttmlir.runtime.ttrt.commands.option import Option, attribute_name

Value = str | int | float
OWN = ("jobs", "cluster", "sweep", "binary", "result_file", "log_file", "artifact_dir")
"""Arguments of the whole sweep, which its cases are not given."""
_ONCE = ("clean_artifacts", "quiet")
_SINGLE = ("inputs", "outputs", "golden_file", "save_outputs")
"""Options that name files for one case."""


@dataclass(frozen=True)
class Case:
    """One file with one combination of values."""

    command_class: tuple[str, str]
    """Module and name of the command's class."""
    path: str
    values: Mapping[str, Value]
    """Of the options that are swept."""
    arguments: Mapping[str, Any] = field(repr=False)
    """All arguments of the command but those in `OWN`."""
    namesake: str = ""
    """Tells a file from others of the same name in other folders."""
    is_text: bool = False
    """The file does not say in its first bytes how long it is: all of it counts."""

    @property
    def content(self) -> bytes:
        """What the file holds; BinaryError if it cannot be read."""
        return bytes(file_bytes(self.path)) if self.is_text else announced_bytes(self.path)

    @cached_property
    def id(self) -> str:
        """The same for the same file, by its bytes, under the same arguments."""
        try:
            digest = sha256(self.content).hexdigest()
        except BinaryError as error:
            digest = str(error)
        given = json.dumps(
            [self.command_class, self.path, digest, dict(self.arguments)], default=str
        )
        return sha256(given.encode()).hexdigest()

    @property
    def label(self) -> str:
        """The values in a few words; empty if nothing is swept."""
        return ",".join(f"{name}={value}" for name, value in self.values.items())

    @property
    def folder(self) -> str:
        """Where the artifacts go; the same as without a sweep if there is no other case."""
        values = "+".join(f"{name}={value}" for name, value in self.values.items())
        parts = [self.namesake, safe_file_name(values) if values else ""]
        return "/".join(part for part in parts if part)


def make_cases(
    command_class: tuple[str, str],
    paths: Sequence[str],
    arguments: Mapping[str, Any],
    options: Sequence[Option],
) -> list[Case]:
    """Every file with every combination; InputError for options that cannot be swept."""
    for name in _SINGLE:
        if arguments.get(name):
            raise InputError(
                f"--{name.replace('_', '-')} is for one run of one file; leave it out of sweeps"
            )
    swept = _swept(arguments["sweep"], options)
    common = {
        name: value for name, value in arguments.items() if name not in OWN and name not in _ONCE
    }
    names = Counter(Path(path).name for path in paths)
    return [
        Case(
            command_class,
            path,
            values,
            {**common, **values},
            safe_file_name(path) if names[Path(path).name] > 1 else "",
        )
        for path in paths
        for combination in itertools.product(*swept.values())
        for values in (dict(zip(swept, combination, strict=True)),)
    ]


def _swept(texts: Sequence[str], options: Sequence[Option]) -> dict[str, list[Value]]:
    """The values of each option that is swept."""
    by_name = {option.attribute: option for option in options}
    swept: dict[str, list[Value]] = {}
    for text in texts:
        name, separator, listed = text.partition("=")
        option = by_name.get(attribute_name(name))
        if not separator or option is None or option.attribute in OWN or option.multiple:
            raise InputError(
                f"--sweep {text}: give an option of the command and its values, as in "
                "numerics=exact,device"
            )
        if option.attribute in swept:
            raise InputError(f"--sweep {text}: the values of {name} were given before")
        swept[option.attribute] = [_value(option, word) for word in listed.split(",")]
    return swept


def _value(option: Option, word: str) -> Value:
    if option.is_flag:
        raise InputError(f"--sweep: {option.name} has no values")
    try:
        value = option.type(word)
    except ValueError:
        raise InputError(f"--sweep: {option.name} must be a number, got '{word}'") from None
    option.check(value)
    return value
