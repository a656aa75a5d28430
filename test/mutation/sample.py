"""Draws mutants: of each package as many as its size says, and of each kind by its weight."""

from __future__ import annotations

import random
from collections.abc import Iterator

from changes import KINDS
from mutant import Mutant, make_mutant, sites_of_package
from product import source_files

_LEAST = 6
"""Mutants of the smallest package."""


def draw(count: int, seed: int) -> list[Mutant]:
    """A sample of `count` mutants or, for the sake of small packages, a few more."""
    return [
        mutant
        for package, share in shares(count).items()
        for mutant in draw_of_package(package, share, seed)
    ]


def shares(count: int) -> dict[str, int]:
    """How many mutants of each package: by the square root of its size."""
    sizes: dict[str, int] = {}
    for source in source_files():
        sizes[source.package] = sizes.get(source.package, 0) + len(source.read())
    roots = {package: size**0.5 for package, size in sizes.items() if size > 2000}
    total = sum(roots.values())
    return {
        package: max(_LEAST, round(count * root / total)) for package, root in sorted(roots.items())
    }


def draw_of_package(package: str, count: int, seed: int) -> Iterator[Mutant]:
    """The sample of one package, which does not depend on the others."""
    source = random.Random(f"{package} {seed}")
    found = {name: sites for name, sites in sites_of_package(package).items() if sites}
    weights = [kind.weight for kind in KINDS if kind.name in found]
    seen: set[str] = set()
    while len(seen) < count:
        [kind] = source.choices(list(found), weights)
        mutant = make_mutant(source.choice(found[kind]))
        if mutant and mutant.key not in seen:
            seen.add(mutant.key)
            yield mutant
