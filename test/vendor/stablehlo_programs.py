"""The corpus of StableHLO programs that the vendor's compiler was asked about, by name.

    python test/vendor/stablehlo_programs.py              # prints the names
    python test/vendor/stablehlo_programs.py add-f32-5x7  # prints the text of one

The modules in `corpus/` define them. Texts are those of the JAX that `versions.json` in an archive
names; another one may lower the same function otherwise, so tests take texts from the archive.
"""

from __future__ import annotations

import sys
from functools import cache

from corpus import (
    attention,
    chlo,
    composites,
    control,
    convolutions,
    elementwise,
    layers,
    models,
    movement,
    products,
    reductions,
    stablehlo,
    training,
)
from corpus.program import Numbers, Program

_FAMILIES = (
    elementwise,
    movement,
    reductions,
    products,
    convolutions,
    control,
    stablehlo,
    chlo,
    composites,
    layers,
    attention,
    models,
    training,
)

# What other boards than the first are asked about: a few of each family, and all whole models.
_FEW = 60


@cache
def programs() -> dict[str, Program]:
    """All programs by name, in the order of their families."""
    found: dict[str, Program] = {}
    for family in _FAMILIES:
        for program in family.PROGRAMS:
            if program.name in found:
                raise ValueError(f"two programs are called {program.name}")
            found[program.name] = program
    return found


def names() -> list[str]:
    """The names of all programs."""
    return list(programs())


def few_names() -> list[str]:
    """The names of about sixty programs from all families, for boards after the first."""
    chosen: list[str] = []
    for family in _FAMILIES:
        count = -(-_FEW // len(_FAMILIES))
        step = max(1, len(family.PROGRAMS) // count)
        chosen += [program.name for program in family.PROGRAMS[::step][:count]]
    return chosen


def text(name: str) -> str:
    """The StableHLO module of a program."""
    return programs()[name].text()


def inputs(name: str) -> list[Numbers]:
    """The numbers of a program's arguments, always the same ones."""
    return programs()[name].inputs()


if __name__ == "__main__":
    print("\n".join(map(text, sys.argv[1:]) if sys.argv[1:] else names()))
