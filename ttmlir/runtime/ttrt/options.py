"""Options of the commands, each declared once for the command line and the Python interface."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ttmlir.errors import UnknownKeyError
from ttmlir.runtime.errors import InputError

SUMMARIES = {
    "read": "Show sections of a binary or of a system description.",
    "run": "Run binaries on the CPU.",
    "query": "Describe a simulated board, or save its description for the compiler.",
    "perf": "Time operations, estimated on the device or measured here, or simulate kernels.",
    "check": "Check that binaries were compiled for a system.",
}
"""What the commands do, in the order of the help; `Read` is the class of `read`."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """An argument of a command.

    `name` starts with dashes for options and without for positional arguments. A flag has the type
    `bool` and the default False.
    """

    name: str
    type: type
    default: Any = None
    help: str = ""
    choices: tuple[str, ...] | None = None
    least: float | None = None
    most: float | None = None
    multiple: bool = False
    aliases: tuple[str, ...] = ()
    api_only: bool = False
    """True for arguments that only the Python interface has."""

    @property
    def attribute(self) -> str:
        """Name of the attribute that holds the value: `clean_artifacts` for `--clean-artifacts`."""
        return attribute_name(self.name)

    @property
    def is_flag(self) -> bool:
        """True for options without a value."""
        return self.type is bool

    @property
    def is_positional(self) -> bool:
        """True for arguments that are given without their name."""
        return not self.name.startswith("-")

    def check(self, value: Any) -> None:
        """Raise InputError for a value that is none of the choices or out of range."""
        if value is None:
            return
        if self.choices is not None and value not in self.choices:
            raise InputError(
                f"{self.name} is '{value}'; supported are {', '.join(map(repr, self.choices))}"
            )
        if self.type in (int, float) and not isinstance(value, int | float):
            raise InputError(f"{self.name} must be a number, got {value!r}")
        if self.least is None and self.most is None:
            return
        least = -math.inf if self.least is None else self.least
        most = math.inf if self.most is None else self.most
        if not (least <= value <= most and math.isfinite(value)):
            if self.most is None:
                raise InputError(f"{self.name} must be at least {self.least}, got {value}")
            raise InputError(
                f"{self.name} must lie between {self.least} and {self.most}, got {value}"
            )


def attribute_name(key: str) -> str:
    """The attribute for any spelling of an argument: `a-b`, `--a-b` and `a_b` are the same."""
    return key.lstrip("-").replace("-", "_")


def resolve(options: tuple[Option, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """Values by attribute name: those given and the defaults of the rest.

    None counts as not given, and so do values that are an `Option` themselves, so that a dictionary
    of registered arguments can be filled in and passed. A single value may be given for an option
    that takes several. Raises KeyError naming an argument that does not exist.
    """
    by_name = {attribute_name(name): o for o in options for name in (o.name, *o.aliases)}
    values = {option.attribute: option.default for option in options}
    for key, value in given.items():
        option = by_name.get(attribute_name(key))
        if option is None:
            known = ", ".join(option.name for option in options)
            raise UnknownKeyError(f"there is no argument '{key}'; supported are {known}")
        if value is None or isinstance(value, Option):
            continue
        takes_several = option.multiple and not option.is_positional
        if takes_several and isinstance(value, str | os.PathLike):
            values[option.attribute] = (value,)
        else:
            values[option.attribute] = value
    return values


COMMON_OPTIONS = (
    Option(
        name="--clean-artifacts",
        type=bool,
        default=False,
        help="Delete the artifacts folder first.",
    ),
    Option(
        name="--save-artifacts",
        type=bool,
        default=False,
        help="Save binaries, tensors and descriptions below the artifacts folder.",
    ),
    Option(
        name="--log-file",
        type=str,
        default="",
        help="Write messages to this file instead of the terminal.",
    ),
    Option(
        name="--artifact-dir",
        type=str,
        default="",
        help="Artifacts folder; default: ttrt-artifacts in the folder of the environment variable "
        "TT_MLIR_HOME, or in the current one.",
    ),
    Option(name="--quiet", type=bool, default=False, help="Print nothing but warnings and errors."),
)
BINARY = Option(
    name="binary",
    type=str,
    default=(),
    multiple=True,
    help="Files, folders that are searched for files by extension, or - for standard input.",
)


def result_file(command: str) -> Option:
    """The option for the JSON file with the results of a command."""
    return Option(
        name="--result-file",
        type=str,
        default="",
        help=f"JSON file for the results of {command}, such as {command}_results.json; a JUnit "
        "report, ttrt_report.xml, is written beside it. Default: none.",
    )
