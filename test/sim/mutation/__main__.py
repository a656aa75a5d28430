"""Run every mutant, and write docs/mutation.md: `python test/sim/mutation`, some minutes.

`python test/sim/mutation python` runs those of kernels in Python, `fused` those of the direct road
and `cpp` the others; the other parts of the page stay as they are.
"""

from __future__ import annotations

import sys
from multiprocessing import get_context
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "support")]

from detection import Expected, Fate, Verdict, all_mutants, judge  # noqa: E402
from programs import all_workloads  # noqa: E402
from survivors import reason_for  # noqa: E402
from workload import Workload  # noqa: E402

PAGE = HERE.parents[2] / "docs" / "mutation.md"

_HEAD = """# Mutants of kernels

How many mistakes in kernels the simulator finds. Kernels are changed, one thing at a time: calls
are left out, integers, sizes, addresses and indices changed, arguments swapped, comparisons,
operators, flags and enumerators replaced. A mutant is caught if in one of three runs (in order, in
a random order with late copies, in another random order with clocks) the simulator reports
something, deadlocks, or ends with other numbers than NumPy. `python test/sim/mutation` runs all
mutants and writes this page; the test suite runs a sample. `test/sim/mutation/survivors.py` lists
each mutant that is not caught, with the reason.
"""
_FUSED_HEAD = """## Kernels of fused programs

What `ttir-to-ttmetal-pipeline` makes of six small functions is changed in the same way: a chain of
elementwise operations with a row for all, masked sums of squares, a softmax of rows, a product with
a bias whose operands are multicast, a product of views of whole tiles, and elements from parts of
tiles. `python test/sim/mutation fused` runs them alone.
"""
_PYTHON_HEAD = """## Kernels in Python

The kernels of operations in PyKernel (`test/support/samples/pykernel_operations.py`) are changed in
the same way, in their Python. Refused are those that the compiler of kernels refuses, or whose C++
is none. `python test/sim/mutation python` runs them alone.
"""
_HEADS = {"cpp": _HEAD, "fused": _FUSED_HEAD, "python": _PYTHON_HEAD}
"""The parts of the page, in their order, and how each begins."""


def part_of(workload: Workload) -> str:
    """The part of the page that a program belongs to."""
    if workload.is_python:
        return "python"
    return "fused" if workload.name.startswith("fused_") else "cpp"


def verdicts(number: int) -> list[Verdict]:
    """What becomes of all mutants of a program."""
    workload = all_workloads()[number]
    expected = Expected.of(workload)
    return [judge(workload, file, each, expected) for file, each in all_mutants(workload)]


def text_of(found: list[Verdict], part: str) -> str:
    """The part of the page about verdicts on some kernels."""
    language = "kernels" if part == "python" else "C++"
    caught = [each for each in found if each.fate in (Fate.REPORTED, Fate.WRONG)]
    return "\n".join([_HEADS[part], *_shares(found, caught, language), ""])


def _shares(found: list[Verdict], caught: list[Verdict], language: str) -> list[str]:
    """How many mutants are caught, of all that are valid."""
    kernels = {(each.workload, each.kernel) for each in found}
    same = sum(each.fate is Fate.SAME for each in found)
    valid = len(found) - sum(each.fate is Fate.REFUSED for each in found)

    def share(count: int) -> str:
        return f"{count} | {100 * count / valid:.1f} % |"

    other = valid - same
    return [
        f"{len(found)} mutants of {len(kernels)} kernels, {valid} of them valid {language}. Of the "
        f"valid ones {100 * len(caught) / valid:.1f} % are",
        f"caught; of the {other} that make other calls or the same with other arguments, "
        f"{100 * len(caught) / other:.1f} %.",
        "",
        "| Valid mutants | Number | Share |",
        "|---|---|---|",
        f"| caught | {share(len(caught))}",
        f"| not caught: the same calls with the same arguments | {share(same)}",
        f"| not caught, with a reason in survivors.py | {share(other - len(caught))}",
    ]


def _parts(page: str) -> list[str]:
    """The page, divided where its parts begin."""
    places = [page.index(head.partition("\n")[0]) for head in _HEADS.values()]
    return [page[start:end] for start, end in zip(places, [*places[1:], None], strict=True)]


def main(arguments: list[str]) -> int:
    """Run all mutants; returns the exit status, 1 if one survives without a reason."""
    chosen = arguments or list(_HEADS)
    workloads = all_workloads()
    numbers = [i for i, each in enumerate(workloads) if part_of(each) in chosen]
    with get_context("fork").Pool() as pool:
        by_workload = pool.map(verdicts, numbers, 1)
    found = [each for some in by_workload for each in some]
    old = dict(zip(_HEADS, _parts(PAGE.read_text(encoding="utf-8")), strict=True))
    for part in chosen:
        pairs = zip(numbers, by_workload, strict=True)
        mine = [each for i, some in pairs if part_of(workloads[i]) == part for each in some]
        old[part] = text_of(mine, part)
    PAGE.write_text("\n".join(each.strip("\n") + "\n" for each in old.values()), encoding="utf-8")
    missed = [
        each
        for each in found
        if each.fate is Fate.SURVIVED and not reason_for(each.workload, each.key)
    ]
    for each in missed:
        print(f"{each.workload} {each.key}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
