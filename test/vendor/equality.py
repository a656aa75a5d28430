"""How much of what the vendor's compiler makes of the corpus is made here, too.

    python test/vendor/equality.py           # counts, and the first difference of the others
    python test/vendor/equality.py --record  # writes the list of those that are equal

The list is `Inputs/equal_ttir.txt`: a program a line, with ` +` where the locations are equal, too.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from enum import Enum
from itertools import zip_longest
from pathlib import Path

from answers import INPUTS, Answer, Archive

from ttmlir.dialects import DIALECTS
from ttmlir.ir.builder import TTIRSpelling
from ttmlir.mlir.context import make_context
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.passes.pipelines.stablehlo import StableHLOToTTIRPipeline
from ttmlir.passes.stablehlo.structure.stablehlo_annotate_arguments import (
    StableHLOAnnotateArgumentsPass,
)

RECORD = INPUTS / "equal_ttir.txt"
BOARD = "p150"
FILE = "-"
"""The name of the file that the vendor's compiler reads."""


class Equality(Enum):
    """How equal two modules are: the members are the ends of lines of the list."""

    DIFFERENT = "-"
    IR = ""
    LOCATIONS = " +"


def lower(given: str) -> tuple[str, str]:
    """The text of the module of ttir, without and with locations."""
    context = make_context(DIALECTS)
    module = parse_module(given, FILE, context)
    pipeline = StableHLOToTTIRPipeline(
        spelling=TTIRSpelling.LATE, enable_aggressive_simplification=True
    )
    steps = (
        StableHLOAnnotateArgumentsPass(),
        *pipeline.passes(),
    )
    for step in steps:
        if step.applies(module):
            step.run(context, module)
    return print_module(module), print_module(module, debuginfo=True)


def without_locations(text: str) -> str:
    """The text of a module that is printed without its locations."""
    return print_module(parse_module(text, FILE, make_context(DIALECTS)))


def compare(answer: Answer) -> tuple[Equality, str]:
    """How equal our ttir of a program is to the vendor's, and what is the first difference."""
    expected = answer.ttir
    assert expected is not None, "the vendor's compiler has a module of ttir"
    try:
        plain, located = lower(answer.given)
    except DiagnosticError as error:
        return Equality.DIFFERENT, str(error).partition("\n")[0]
    if located == expected:
        return Equality.LOCATIONS, ""
    expected = without_locations(expected)
    if plain == expected:
        return Equality.IR, ""
    pairs = zip_longest(plain.splitlines(), expected.splitlines(), fillvalue="")
    ours, theirs = next((a, b) for a, b in pairs if a != b)
    return Equality.DIFFERENT, f"{_kind_of(ours)} instead of {_kind_of(theirs)}"


def _kind_of(line: str) -> str:
    found = re.search(r'"?((?:ttir|ttcore|stablehlo|func)\.[a-z_0-9]+)', line)
    return found[1] if found else line.strip() or "nothing"


def recorded() -> dict[str, Equality]:
    """The equal programs of the list."""
    ends = {each.value: each for each in (Equality.IR, Equality.LOCATIONS)}
    found: dict[str, Equality] = {}
    for line in RECORD.read_text().splitlines():
        name, space, end = line.partition(" ")
        found[name] = ends[space + end]
    return found


def compared(archive: Archive) -> list[str]:
    """The programs that the vendor's compiler has a module of ttir for."""
    return [name for name in archive.names() if archive[name].ttir is not None]


def main() -> int:
    """Compare all programs, print what was found, and record it if asked to."""
    archive = Archive(BOARD)
    names = compared(archive)
    found = {name: compare(archive[name]) for name in names}
    counts = Counter(equality for equality, _ in found.values())
    located, equal = counts[Equality.LOCATIONS], counts[Equality.IR]
    print(f"ttir: {located + equal} of {len(names)} equal, {located} of them with locations")
    causes: dict[str, list[str]] = {}
    for name, (equality, cause) in found.items():
        if equality is Equality.DIFFERENT:
            causes.setdefault(cause, []).append(name)
    for cause, these in sorted(causes.items(), key=lambda pair: -len(pair[1])):
        print(f"{len(these):4} {cause}: {', '.join(these[:4])}")
    if "--record" in sys.argv:
        kept = [f"{n}{e.value}" for n, (e, _) in found.items() if e is not Equality.DIFFERENT]
        Path(RECORD).write_text("\n".join(kept) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
