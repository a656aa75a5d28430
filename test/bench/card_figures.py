"""Prints figures that were measured on cards, and what the simulator's clock makes of them.

`python test/bench/card_figures.py` prints a row for each sweep, and then how far off the values of
each kind are. Figures have the names of docs/timing.md, which says which of them set a parameter.
"""

from __future__ import annotations

import argparse

from figures import network
from figures.comparison import Comparison, rows, summary


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="*", default=[], help="names that figures begin with")
    only: list[str] = parser.parse_args().only
    found: list[Comparison] = []
    print("| Figure | Simulated of measured | Unit | Median error | Worst |")
    print("|---|---|---|---|---|")
    for figure in network.FIGURES:
        if not only or figure.name.split(":")[0] in only:
            values = list(network.compare(figure))
            found += values
            for line in rows(figure.name, values):
                print(line, flush=True)
    print()
    for line in summary(found):
        print(line)


if __name__ == "__main__":
    main()
