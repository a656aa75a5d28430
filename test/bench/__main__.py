"""Prints a table of how fast things are: `python test/bench`, which `make bench` calls."""

from __future__ import annotations

from itertools import chain

from direct_to_metal import all_direct_to_metal
from eager import all_eager
from measurements import all_results, row
from models import all_models
from simulation import all_simulations
from torch_models import all_torch_models


def main() -> None:
    """Print the rows as they are measured."""
    print("| Measured | Value | Goal |")
    print("|---|---|---|")
    for result in chain(
        all_results(),
        all_eager(),
        all_models(),
        all_torch_models(),
        all_simulations(),
        all_direct_to_metal(),
    ):
        print(row(result), flush=True)


if __name__ == "__main__":
    main()
