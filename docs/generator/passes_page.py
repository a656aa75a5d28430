"""The page of passes and pipelines: their names, options and docstrings."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator

from ttmlir.mlir.option_values import options_of
from ttmlir.passes.core.base import Pipeline
from ttmlir.passes.core.nest import nest_implicitly
from ttmlir.passes.core.registry import PASSES, PIPELINES, lookup

INTRODUCTION = """\
# Passes and pipelines

`ttmlir-opt` runs passes and pipelines in the order in which they are named:

```
ttmlir-opt --ttir-load-system-desc --ttir-implicit-device="mesh-shape=1,1" model.mlir
ttmlir-opt --pass-pipeline="builtin.module(ttir-implicit-device{mesh-shape=1,1})" model.mlir
```
"""


_HEADING = re.compile(r"^(Requires|Ensures|Options|Not done here):", re.M)


def passes_page() -> str:
    """The page as Markdown."""
    lines = [INTRODUCTION, "## Pipelines\n"]
    for name in sorted(PIPELINES):
        lines += _pipeline_section(name)
    lines.append("## Passes\n")
    for name in public_passes():
        lines += _pass_section(name)
    return "\n".join(lines).rstrip("\n") + "\n"


def public_passes() -> list[str]:
    """The names of the passes but those that only test the tools."""
    return sorted(name for name in PASSES if not name.startswith("test-"))


def _class_of(name: str) -> type:
    cls = lookup(name)
    assert cls is not None, f"'{name}' is registered"
    return cls


def _pipeline_section(name: str) -> Iterator[str]:
    cls = _class_of(name)
    assert issubclass(cls, Pipeline)
    yield f"### `{name}`\n"
    yield f"{inspect.cleandoc(cls.__doc__ or '')}\n"
    yield from _options(cls)
    yield "With its defaults:\n"
    yield f"    {nest_implicitly('builtin.module', cls().passes())}\n"


def _pass_section(name: str) -> Iterator[str]:
    cls = _class_of(name)
    text = sys.modules[cls.__module__].__doc__ or ""
    yield f"### `{name}`\n"
    yield from _options(cls)
    yield f"{_HEADING.sub(_listed, text.strip())}\n"


def _listed(match: re.Match[str]) -> str:
    return f"- **{match[1]}:**"


def _options(cls: type) -> Iterator[str]:
    options = options_of(cls)
    if not options:
        return
    yield "| Option | Value | Default | |"
    yield "|---|---|---|---|"
    for option in options:
        default = option.type.format(option.default)
        shown = f"`{default}`" if default else ""
        value = option.type.placeholder or "true, false"
        yield f"| `{option.name}` | `{value}` | {shown} | {option.doc} |"
    yield ""
