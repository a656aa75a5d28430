"""What `ttmlir-opt` says about itself: help, version, lists."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.option_values import options_of
from ttmlir.passes.core.base import summary_of
from ttmlir.passes.core.registry import HIDDEN, PASSES, PIPELINES, lookup, names
from ttmlir.tools.command_line import flag_help, help_entry, help_width, spelling_of
from ttmlir.tools.opt.flags import OptFlags
from ttmlir.version import version_text


def information(flags: OptFlags, program: str) -> str:
    """The text that the flags ask for."""
    if flags.version:
        return version_text(program)
    if flags.show_dialects:
        return f"Available Dialects: {','.join(sorted(DIALECTS))}\n"
    if flags.list_passes:
        return "".join(f"{name}\n" for name in names() if name not in HIDDEN)
    return help_text(program, hidden=flags.help_hidden)


def help_text(program: str, *, hidden: bool) -> str:
    """The flags, passes and pipelines."""
    lines = [
        "OVERVIEW: ttmlir optimizer driver",
        "",
        *textwrap.wrap(f"Available Dialects: {', '.join(sorted(DIALECTS))}", help_width()),
        f"USAGE: {program} [options] <input file>",
        "",
        "OPTIONS:",
        "",
        *flag_help(OptFlags, hidden=hidden),
        "",
        "  Compiler passes to run, in the order in which they are given",
        "    Passes:",
        *_entries(PASSES, hidden=hidden),
        "    Pass Pipelines:",
        *_entries(PIPELINES, hidden=hidden),
    ]
    return "\n".join(lines) + "\n"


def _entries(registered: dict[str, str], *, hidden: bool) -> Iterator[str]:
    for name in registered:
        cls = lookup(name)
        if cls is None or (name in HIDDEN and not hidden):
            continue
        yield help_entry(4, f"--{name}", summary_of(cls))
        for option in options_of(cls):
            variable = f" (default: ${option.environment})" if option.environment else ""
            yield help_entry(6, spelling_of(option), option.doc + variable)
            yield from (f"        ={choice}" for choice in option.type.choices)
