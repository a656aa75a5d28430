"""What `ttmlir-opt` says about itself: help, version, lists.

`passes.json` holds what the classes of passes say: they are not imported to be listed, which would
take longer than all else that help does. `make docs` writes it.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from importlib import resources

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.extensions import declared
from ttmlir.mlir.option_values import OptionError, options_of
from ttmlir.passes.core.base import summary_of
from ttmlir.passes.core.registry import HIDDEN, all_passes, all_pipelines, lookup, names
from ttmlir.tools.command_line import flag_help, help_entry, help_width, spelling_of
from ttmlir.tools.opt.flags import OptFlags
from ttmlir.version import version_text


def information(flags: OptFlags, program: str) -> str:
    """The text that the flags ask for."""
    if flags.version:
        return version_text(program)
    if flags.show_dialects:
        return f"Available Dialects: {','.join(_dialects())}\n"
    if flags.list_passes:
        return "".join(f"{name}\n" for name in names() if name not in HIDDEN)
    return help_text(program, hidden=flags.help_hidden)


def help_text(program: str, *, hidden: bool) -> str:
    """The flags, passes and pipelines."""
    lines = [
        "OVERVIEW: ttmlir optimizer driver",
        "",
        *textwrap.wrap(f"Available Dialects: {', '.join(_dialects())}", help_width()),
        f"USAGE: {program} [options] <input file>",
        "",
        "OPTIONS:",
        "",
        *flag_help(OptFlags, hidden=hidden),
        "",
        "  Compiler passes to run, in the order in which they are given",
        "    Passes:",
        *_entries(all_passes(), hidden=hidden),
        "    Pass Pipelines:",
        *_entries(all_pipelines(), hidden=hidden),
    ]
    return "\n".join(lines) + "\n"


def pass_help(name: str) -> list[list[str]]:
    """The summary of a pass or pipeline; how each option is spelled, what it does, and keywords."""
    cls = lookup(name)
    if cls is None:
        return []
    rows = [[summary_of(cls)]]
    for option in options_of(cls):
        variable = f" (default: ${option.environment})" if option.environment else ""
        rows.append([spelling_of(option), option.doc + variable, *option.type.choices])
    return rows


def _dialects() -> list[str]:
    return sorted({*DIALECTS, *declared("ttmlir.dialects")})


def _entries(registered: dict[str, str], *, hidden: bool) -> Iterator[str]:
    recorded = resources.files("ttmlir.tools.opt").joinpath("passes.json").read_text("utf-8")
    known: dict[str, list[list[str]]] = json.loads(recorded)
    for name in registered:
        if name in HIDDEN and not hidden:
            continue
        try:
            rows = known[name] if name in known else pass_help(name)
        except OptionError as error:
            yield help_entry(4, f"--{name}", str(error))
            continue
        if not rows:
            continue
        (summary,), *options = rows
        yield help_entry(4, f"--{name}", summary)
        for spelled, doc, *choices in options:
            yield help_entry(6, spelled, doc)
            yield from (f"        ={choice}" for choice in choices)
