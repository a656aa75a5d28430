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

import re
from dataclasses import dataclass

from ttmlir.mlir.option_values import OptionError
from ttmlir.mlir.printing.text import quote
from ttmlir.passes.core.nest import Nest

# Neither looks at a character more than a few times, whatever the file contains: a section ends
# before the next begins, and what has matched is not given back.
_SECTION = re.compile(
    r"\{-#\s*+external_resources\s*+:\s*+\{\s*+mlir_reproducer\s*+:\s*+\{"
    r"(?P<entries>(?:(?!\{-#).)*?)\}\s*+\}\s*+#-\}",
    re.DOTALL,
)
_ENTRY = re.compile(
    r'(?<!\w)(?P<key>\w++)\s*+:\s*+(?:"(?P<text>(?:[^"\\\n]|\\.)*+)"|(?P<word>true|false))'
)


@dataclass(frozen=True)
class Reproducer:
    """What a reproducer says about the run, and the IR without it."""

    text: str
    pipeline: str
    verify_each: bool


def reproducer_text(source: str, nest: Nest, *, verify_each: bool) -> str:
    """The IR in `source` followed by a section that says how it was run."""
    pipeline = quote(str(nest).encode("utf-8", "surrogateescape"))
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
    from ttmlir.mlir.reading.lexer import unescape

    section = _SECTION.search(source)
    found = list(_ENTRY.finditer(section["entries"])) if section else []
    texts = {entry["key"]: entry["text"] for entry in found if entry["text"] is not None}
    words = {entry["key"]: entry["word"] for entry in found}
    if section is None or "pipeline" not in texts:
        raise OptionError(
            "the input is no reproducer: expected a section `mlir_reproducer` with a `pipeline`"
        )
    # Blank lines in its place keep the line numbers of what follows.
    blank = "\n" * section[0].count("\n")
    return Reproducer(
        text=source[: section.start()] + blank + source[section.end() :],
        pipeline=unescape(f'"{texts["pipeline"]}"').decode("utf-8", "replace"),
        verify_each=words.get("verify_each", "true") == "true",
    )
