"""Reproducers: the input of a failed run with the pipeline that failed, in one file.

The pipeline stands after the IR, in the section of external resources, as in MLIR:

    {-#
      external_resources: {
        mlir_reproducer: {
          pipeline: "builtin.module(canonicalize)",
          disable_threading: true,
          verify_each: true
        }
      }
    #-}
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from ttmlir.mlir.option_values import OptionError
from ttmlir.passes.core.nest import Nest

_SECTION = re.compile(
    r"\{-#\s*external_resources\s*:\s*\{\s*mlir_reproducer\s*:\s*\{(?P<entries>.*?)\}\s*\}\s*#-\}",
    re.DOTALL,
)
_ENTRY = re.compile(r'(?P<key>\w+)\s*:\s*(?P<value>"(?:[^"\\]|\\.)*"|true|false)')


@dataclass(frozen=True)
class Reproducer:
    """What a reproducer says about the run, and the IR without it."""

    text: str
    pipeline: str
    verify_each: bool


def reproducer_text(source: str, nest: Nest, *, verify_each: bool) -> str:
    """The IR in `source` followed by a section that says how it was run."""
    pipeline = json.dumps(str(nest), ensure_ascii=False)
    return (
        f"{_SECTION.sub('', source).rstrip()}\n\n"
        "{-#\n"
        "  external_resources: {\n"
        "    mlir_reproducer: {\n"
        f"      pipeline: {pipeline},\n"
        "      disable_threading: true,\n"
        f"      verify_each: {'true' if verify_each else 'false'}\n"
        "    }\n"
        "  }\n"
        "#-}\n"
    )


def read_reproducer(source: str) -> Reproducer:
    """The parts of a reproducer; OptionError if `source` is none."""
    section = _SECTION.search(source)
    entries = dict(_ENTRY.findall(section["entries"])) if section else {}
    if section is None or "pipeline" not in entries:
        raise OptionError(
            "the input is no reproducer: expected a section `mlir_reproducer` with a `pipeline`"
        )
    # Blank lines in its place keep the line numbers of what follows.
    blank = "\n" * section[0].count("\n")
    return Reproducer(
        text=source[: section.start()] + blank + source[section.end() :],
        pipeline=json.loads(entries["pipeline"]),
        verify_each=entries.get("verify_each", "true") == "true",
    )
