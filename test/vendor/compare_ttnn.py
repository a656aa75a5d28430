"""How much of the ttnn of the vendor's compiler is made here of its ttir.

    python test/vendor/compare_ttnn.py                    # totals, and programs by first difference
    python test/vendor/compare_ttnn.py NAME ...           # a line for each of these programs
    python test/vendor/compare_ttnn.py --diff NAME ...    # and what is different
    python test/vendor/compare_ttnn.py --stage ttnn_runtime
    python test/vendor/compare_ttnn.py --record           # writes the list of those that are equal

Names may be patterns, such as `add-*`. The list is `Inputs/equal_ttnn.txt`: a program a line, with
` +` where the locations are equal, too.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections import Counter
from fnmatch import fnmatch
from itertools import zip_longest
from typing import TYPE_CHECKING

from answers import INPUTS, Answer, Archive
from equality import BOARD, FILE, Equality, without_locations

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.passes.pipelines.ttir_to_ttnn import (
    TTIRToTTNNCommonPipeline,
    TTNNCommonToRuntimePipeline,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

RECORD = INPUTS / "equal_ttnn.txt"
STAGES = ("ttnn", "ttnn_runtime")


def lower(ttir: str, board: str = BOARD, level: int = 0) -> tuple[str, str]:
    """The text of the module of ttnn, without and with locations."""
    context = make_context(DIALECTS)
    module = parse_module(ttir, FILE, context)
    # The vendor's plugin leaves inverse operations alone.
    common = TTIRToTTNNCommonPipeline(
        system_desc_path=board, enable_erase_inverse_ops_pass=False, optimization_level=level
    )
    for step in (*common.passes(), *TTNNCommonToRuntimePipeline().passes()):
        if step.applies(module):
            step.run(context, module)
    return print_module(module), print_module(module, debuginfo=True)


def compare(
    answer: Answer, stage: str = "ttnn", board: str = BOARD, level: int = 0
) -> tuple[Equality, str, str]:
    """How equal our ttnn is, the first difference, and all of it."""
    expected = answer.ttnn if stage == "ttnn" else answer.ttnn_runtime
    assert expected is not None, "the vendor's compiler has a module of ttnn"
    assert answer.ttir is not None, "it is made of ttir"
    try:
        plain, located = lower(answer.ttir, board, level)
    except DiagnosticError as error:
        return Equality.DIFFERENT, _without_place(str(error)), str(error)
    except Exception as error:
        return Equality.DIFFERENT, f"{type(error).__name__}: {str(error)[:60]}", repr(error)
    if located == expected:
        return Equality.LOCATIONS, "", ""
    expected_located, expected = expected, without_locations(expected)
    if plain == expected:
        return Equality.IR, "", _diff(located, expected_located)
    ours, theirs = _first_difference(plain, expected)
    cause = f"{_kind_of(ours)} instead of {_kind_of(theirs)}"
    return Equality.DIFFERENT, cause, _diff(plain, expected)


def _first_difference(ours: str, theirs: str) -> tuple[str, str]:
    """The first lines that differ in functions, beside numbers of layouts; else, around them."""
    heads: list[str] = []
    bodies: list[str] = []
    for text in (ours, theirs):
        head, function, body = text.partition("      func.func")
        heads.append(head)
        bodies.append(re.sub(r"#ttnn_layout\d*", "#", function + body))
    for pair in (bodies, heads):
        lines = zip_longest(*(text.splitlines() for text in pair), fillvalue="")
        for mine, other in lines:
            if mine != other:
                return mine, other
    return "layouts", "layouts"


def _diff(ours: str, theirs: str) -> str:
    lines = difflib.unified_diff(theirs.splitlines(), ours.splitlines(), "vendor", "here", n=1)
    return "\n".join(line[:300] for line in lines)


def _without_place(message: str) -> str:
    first = message.partition("\n")[0]
    return re.sub(r"^\S*:\d+:\d+: ", "", first)


def _kind_of(line: str) -> str:
    found = re.search(r'"?((?:ttir|ttcore|ttnn|func)\.[a-z_0-9]+)"?[ (]', line)
    name = found[1] if found else line.strip()[:30] or "nothing"
    names = sorted(set(re.findall(r"op_type = (\w+)", line)))
    return name + (f" with {' '.join(names)}" if names else "")


def recorded() -> dict[str, Equality]:
    """The equal programs of the list."""
    ends = {each.value: each for each in (Equality.IR, Equality.LOCATIONS)}
    found: dict[str, Equality] = {}
    for line in RECORD.read_text().splitlines():
        name, space, end = line.partition(" ")
        found[name] = ends[space + end]
    return found


def compared(archive: Archive) -> list[str]:
    """The programs that the vendor's compiler has a module of ttnn for."""
    return [name for name in archive.names() if archive[name].ttnn is not None]


def main(arguments: Sequence[str]) -> int:
    """Compare programs, print what was found, and record it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--stage", choices=STAGES, default="ttnn")
    parser.add_argument("--board", default=BOARD)
    parser.add_argument("--diff", action="store_true", help="print all differences")
    parser.add_argument("--record", action="store_true", help="write the list of equal programs")
    asked = parser.parse_args(arguments)
    archive = Archive(asked.board)
    names = compared(archive)
    if asked.names:
        names = [n for n in names if any(fnmatch(n, pattern) for pattern in asked.names)]
    found: dict[str, Equality] = {}
    causes: dict[str, list[str]] = {}
    for name in names:
        equality, cause, difference = compare(archive[name], asked.stage, asked.board)
        found[name] = equality
        if equality is Equality.DIFFERENT:
            causes.setdefault(cause, []).append(name)
        if asked.names:
            print(f"{name}: {equality.name.lower()} {cause}".rstrip())
        if asked.diff:
            print(difference)
    counts = Counter(found.values())
    located, equal = counts[Equality.LOCATIONS], counts[Equality.IR]
    print(f"{asked.stage}: {located + equal} of {len(names)} equal, {located} with locations")
    for cause, these in sorted(causes.items(), key=lambda pair: -len(pair[1])):
        print(f"{len(these):4} {cause}: {', '.join(these[:4])}")
    if asked.record:
        kept = [f"{n}{e.value}" for n, e in found.items() if e is not Equality.DIFFERENT]
        RECORD.write_text("\n".join(kept) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
