"""Prints tables of how fast things are: `python test/bench [NAME]...`; `make bench` prints all."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence

from direct_to_metal import all_direct_to_metal
from eager import all_eager
from measurements import Result, all_results, row
from models import all_models
from simulation import SIMULATIONS, all_simulations
from torch_models import all_torch_models

TABLES: Mapping[str, Callable[[], Iterator[Result]]] = {
    "compiler": all_results,
    "eager": all_eager,
    "models": all_models,
    "torch_models": all_torch_models,
    "simulation": all_simulations,
    "direct_to_metal": all_direct_to_metal,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the rows as they are measured."""
    tables = {**TABLES, **SIMULATIONS}
    parser = argparse.ArgumentParser(prog="python test/bench", description=__doc__)
    names = ", ".join(tables)
    parser.add_argument("tables", nargs="*", metavar="NAME", help=f"what to print: {names}")
    chosen: list[str] = parser.parse_args(arguments).tables
    for name in chosen:
        if name not in tables:
            parser.error(f"there is no table {name!r}; there are: {names}")
    print("| Measured | Value | Goal |")
    print("|---|---|---|")
    for name in chosen or TABLES:
        for result in tables[name]():
            print(row(result), flush=True)


if __name__ == "__main__":
    main()
