"""Prints figures that were measured on cards, and what the simulator's clock makes of them.

`python test/bench/card_figures.py` prints a row for each sweep, and then how far off the values of
each kind are. Figures have the names of figures/README.md; docs/timing.md says which of them set a
parameter.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator
from itertools import chain, groupby

from figures import fabric, launch, network, operations, tiles
from figures.comparison import Comparison, summarize, write_row


def compare_all(only: Collection[str] = ()) -> Iterator[Comparison]:
    """All values, or those of figures with these names (C1)."""
    chosen = [figure for figure in network.FIGURES if not only or figure.number in only]
    yield from chain.from_iterable(map(network.compare, chosen))
    for module in (launch, tiles, operations, fabric):
        if not only or not module.NUMBERS.isdisjoint(only):
            found = module.compare_all()
            yield from (each for each in found if not only or each.number in only)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="*", default=[], metavar="C1", help="figures to compare")
    only: list[str] = parser.parse_args().only
    found: list[Comparison] = []
    print("| Figure | Simulated of measured | Unit | Median error | Worst |")
    print("|---|---|---|---|---|")
    for _, values in groupby(compare_all(only), key=lambda each: each.figure):
        sweep = list(values)
        found += sweep
        print(write_row(sweep), flush=True)
    print()
    for line in summarize(found):
        print(line)


if __name__ == "__main__":
    main()
