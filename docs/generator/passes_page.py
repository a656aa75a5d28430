"""The page of passes and pipelines: their names, options and docstrings."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from itertools import takewhile

from ttmlir.mlir.option_values import Option, options_of
from ttmlir.passes.core.base import Pipeline
from ttmlir.passes.core.registry import PASSES, PIPELINES, lookup
from ttmlir.tools.opt.help import pass_help

INTRODUCTION = """\
# Passes and pipelines

`ttmlir-opt` runs passes and pipelines in the order in which they are named; `--dump-pass-pipeline`
prints what it runs, with the value of every option:

```
ttmlir-opt --ttir-load-system-desc --ttir-implicit-device="mesh-shape=1,1" model.mlir
ttmlir-opt --pass-pipeline="builtin.module(ttir-implicit-device{mesh-shape=1,1})" model.mlir
```

Options are listed as `name=value` with the default in parentheses; a flag, by its name alone, is
`name=true` or `name=false`, which is the default unless `true` follows.

## Options of several passes or pipelines
"""


_PARTS = re.compile(r"^(Before|After|Requires|Ensures|Options|Not done here):", re.M)
_SAME_END = 5
"""So many passes at the end of two pipelines are listed once."""
_COMMON = 2
"""Options of so many passes and pipelines are listed once."""


def passes_page() -> str:
    """The page as Markdown."""
    common = _common_options()
    lines = [INTRODUCTION, *_list(common), "## Pipelines\n"]
    written: dict[str, str] = {}
    for name in sorted(PIPELINES):
        lines += _pipeline_section(name, common, written)
    lines.append("## Passes\n")
    for name in public_passes():
        lines += _pass_section(name, common)
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


def _common_options() -> list[str]:
    """Entries of options that several passes or pipelines have alike."""
    names = [*sorted(PIPELINES), *public_passes()]
    entries = [entry for name in names for entry in map(_entry, options_of(_class_of(name)))]
    return [entry for entry, count in Counter(entries).items() if count >= _COMMON]


def _pipeline_section(name: str, common: Container[str], written: dict[str, str]) -> Iterator[str]:
    """What the pipeline is for, its options and passes.

    `written` has pipelines that have only shared options, by the list of these.
    """
    cls = _class_of(name)
    assert issubclass(cls, Pipeline)
    yield f"### `{name}`\n"
    yield f"{inspect.cleandoc(cls.__doc__ or '')}\n"
    shared, own = _split_options(cls, common)
    like = written.get(shared) if shared else None
    yield from _shared(f"those of `{like}`" if like else shared)
    if not own:
        written.setdefault(shared, name)
    yield from _list(own)
    yield f"Passes: {_passes_of(name, [each.name for each in cls().passes()])}.\n"


def _passes_of(name: str, passes: list[str]) -> str:
    """The passes of a pipeline; those that end it as they end an earlier one by a reference."""
    for earlier in (each for each in sorted(PIPELINES) if each < name):
        cls = _class_of(earlier)
        assert issubclass(cls, Pipeline)
        other = [each.name for each in cls().passes()]
        pairs = zip(reversed(passes), reversed(other), strict=False)
        count = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        if count >= _SAME_END:
            own = ", ".join(f"`{each}`" for each in passes[:-count])
            return f"{own}, then those of `{earlier}` from `{passes[-count]}` on"
    return ", ".join(f"`{each}`" for each in passes)


def _pass_section(name: str, common: Container[str]) -> Iterator[str]:
    """What the module says first, its options, and what it leaves to others."""
    cls = _class_of(name)
    parts = _PARTS.split((sys.modules[cls.__module__].__doc__ or "").strip())
    others = dict(zip(parts[1::2], parts[2::2], strict=True))
    path = cls.__module__.replace(".", "/")
    yield f"### [`{name}`](../{path}.py)\n"
    yield f"{parts[0].strip()}\n"
    shared, own = _split_options(cls, common)
    yield from _shared(shared)
    yield from _list(own)
    left = " ".join(others.get("Not done here", "").split())
    if left and not left.startswith(("nothing", "-")):
        yield f"*Not done:* {left}\n"


def _split_options(cls: type, common: Container[str]) -> tuple[str, list[str]]:
    """The names of the options that are listed once, and the entries of the others."""
    options = options_of(cls)
    shared = ", ".join(f"`{each.name}`" for each in options if _entry(each) in common)
    return shared, [entry for entry in map(_entry, options) if entry not in common]


def _shared(names: str) -> Iterator[str]:
    if names:
        yield f"Options: {names}.\n"


def _entry(option: Option) -> str:
    default = option.type.format(option.default)
    shown = f" (`{default}`)" if default and default != "false" else ""
    value = f"={option.type.placeholder}" if option.type.placeholder else ""
    return f"- `{option.name}{value}`{shown}: {option.doc}."


def _list(entries: Iterable[str]) -> Iterator[str]:
    listed = list(entries)
    yield from listed
    if listed:
        yield ""
