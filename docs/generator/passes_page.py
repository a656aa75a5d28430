"""The page of passes and pipelines: their names, options and docstrings."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Container, Iterable, Iterator

from ttmlir.mlir.option_values import Option, options_of
from ttmlir.passes.core.base import Pipeline
from ttmlir.passes.core.manager import nest_implicitly
from ttmlir.passes.core.registry import PASSES, PIPELINES, lookup
from ttmlir.tools.opt.help import pass_help

INTRODUCTION = """\
# Passes and pipelines

`ttmlir-opt` runs passes and pipelines in the order in which they are named:

```
ttmlir-opt --ttir-load-system-desc --ttir-implicit-device="mesh-shape=1,1" model.mlir
ttmlir-opt --pass-pipeline="builtin.module(ttir-implicit-device{mesh-shape=1,1})" model.mlir
```
"""


_PARTS = re.compile(r"^(Before|After|Requires|Ensures|Options|Not done here):", re.M)
_COMMON = 3
"""Options of so many pipelines are listed once."""


def passes_page() -> str:
    """The page as Markdown."""
    common = _common_options()
    lines = [INTRODUCTION, "## Pipelines\n", f"Options of {_COMMON} pipelines or more:\n"]
    lines += _table(common.values())
    for name in sorted(PIPELINES):
        lines += _pipeline_section(name, common)
    lines.append("## Passes\n")
    for name in public_passes():
        lines += _pass_section(name)
    return "\n".join(lines).rstrip("\n") + "\n"


def passes_record() -> str:
    """What `ttmlir-opt --help` says of passes and pipelines, as JSON: a line for each."""
    rows = (
        f"{json.dumps(name)}: {json.dumps(pass_help(name), ensure_ascii=False)}"
        for name in (*PASSES, *PIPELINES)
    )
    return "{\n" + ",\n".join(rows) + "\n}\n"


def public_passes() -> list[str]:
    """The names of the passes but those that only test the tools."""
    return sorted(name for name in PASSES if not name.startswith("test-"))


def _class_of(name: str) -> type:
    cls = lookup(name)
    assert cls is not None, f"'{name}' is registered"
    return cls


def _common_options() -> dict[str, str]:
    """Lines of options that several pipelines have alike, by their text."""
    lines = [line for name in sorted(PIPELINES) for line in map(_line, options_of(_class_of(name)))]
    return {line: line for line in lines if lines.count(line) >= _COMMON}


def _pipeline_section(name: str, common: Container[str]) -> Iterator[str]:
    cls = _class_of(name)
    assert issubclass(cls, Pipeline)
    yield f"### `{name}`\n"
    yield f"{inspect.cleandoc(cls.__doc__ or '')}\n"
    options = options_of(cls)
    shared = [f"`{each.name}`" for each in options if _line(each) in common]
    if shared:
        yield f"Options: {', '.join(shared)}.\n"
    own = [line for line in map(_line, options) if line not in common]
    yield from _table(own)
    yield "With its defaults:\n"
    yield f"    {nest_implicitly('builtin.module', cls().passes())}\n"


def _pass_section(name: str) -> Iterator[str]:
    """What the module says first, its options, and what it leaves to others."""
    cls = _class_of(name)
    parts = _PARTS.split((sys.modules[cls.__module__].__doc__ or "").strip())
    others = dict(zip(parts[1::2], parts[2::2], strict=True))
    path = cls.__module__.replace(".", "/")
    yield f"### `{name}`\n"
    yield f"{parts[0].strip()} [Source and example](../{path}.py)\n"
    yield from _table(map(_line, options_of(cls)))
    if "Not done here" in others:
        yield f"Not done here: {others['Not done here'].strip()}\n"


def _line(option: Option) -> str:
    default = option.type.format(option.default)
    shown = f"`{default}`" if default else ""
    value = option.type.placeholder or "true, false"
    return f"| `{option.name}` | `{value}` | {shown} | {option.doc} |"


def _table(lines: Iterable[str]) -> Iterator[str]:
    listed = list(lines)
    if listed:
        yield "| Option | Value | Default | |"
        yield "|---|---|---|---|"
        yield from listed
        yield ""
