"""The functions that tt-metal's headers of kernels declare, from `Inputs/header_functions.txt`.

    python test/vendor/header_functions.py ROOT VERSION

ROOT is the folder of ttnn's package, below which the headers are. What is recorded are the names of
functions of namespaces, not of members of classes, of `api/compute` without `experimental` and the
headers that only a debugger reads, and of `dataflow_api.h`: a line for each header.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

PATH = Path(__file__).resolve().parent / "Inputs" / "header_functions.txt"
_LEFT_OUT = ("experimental", "sentinel", "debug")
_LEFT_OUT_TEXT = (
    re.compile(r"//[^\n]*|/\*.*?\*/|\\\n", re.DOTALL),
    re.compile(r"^\s*(?:#.*|TT_\w+\(.*\)\s*)$", re.MULTILINE),
    re.compile(r"\[\[.*?\]\]|\b(?:template|namespace\s+[\w:]*\s*\{)", re.DOTALL),
    re.compile(r"__attribute__\(\(.*?\)\)"),
)


def functions() -> dict[str, list[str]]:
    """Names by header."""
    lines = PATH.read_text().splitlines()[1:]
    listed = (line.split() for line in lines)
    return {header: names for header, *names in listed}


def find_functions(text: str) -> Iterator[str]:
    """The names of the functions of namespaces that a header defines."""
    for left_out in _LEFT_OUT_TEXT:
        text = left_out.sub("", text)
    for innermost, mark in ((re.compile(r"<[^<>(){};]*>"), ""), (re.compile(r"\{[^{}]*\}"), "@")):
        count = 1
        while count:
            text, count = innermost.subn(mark, text)
    for written in re.findall(r"[^;@}]*@", text):
        found = re.match(r"\s*(?!struct|class|enum|union|using)[^=()]*?\b(\w+)\s*\(", written)
        if found is not None:
            yield found[1]


def main(root: str, version: str) -> None:
    """Record the functions of headers."""
    api = Path(root) / "tt_metal" / "hw" / "inc" / "api"
    headers = [*sorted((api / "compute").rglob("*.h")), api / "dataflow" / "dataflow_api.h"]
    lines = [f"# tt-metal {version}"]
    for path in headers:
        header = str(path.relative_to(api))
        names = sorted({*find_functions(path.read_text(errors="replace"))})
        if names and not any(each in header for each in _LEFT_OUT):
            lines.append(" ".join([header, *names]))
    PATH.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
