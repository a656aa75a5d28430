"""Prints how long public models take on a card by the estimate, for each optimization level.

`python test/bench/levels.py` prints the table of docs/speed.md; `--parts` what takes most of the
time. Models are shapes alone. Weights and caches are resident: what follows from them alone is done
before the first call, and transfers over PCIe stand apart.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

import ttmlir
from ttmlir.cost import Estimate

sys.path.insert(0, str(Path(__file__).parent))

from level_models import CASES, Case

NARROW = (
    "experimental-weight-dtype=bfp_bf8 experimental-activation-dtype=bfp_bf8 "
    "experimental-kv-cache-dtype=bfp_bf8 compute-cfg-math-fidelity=lofi"
)
"""Numbers in blocks of 8 bits, caches too, and products at LoFi, as models by hand have them."""

FASTER = {"n150": (1.0, 1.0), "p150": (130 * 1.35 / 64, 512 / 288)}
"""How many times faster than those of an n150 all cores of a board are (130 of 1.35 GHz instead of
64 of 1 GHz), and its DRAM (512 instead of 288 GB/s). Nobody published times of these models there.
"""


@dataclass(frozen=True)
class Way:
    """How a model is compiled."""

    name: str
    level: int = 0
    spelling: str | None = None
    options: str = ""


WAYS = (
    Way("2024", 0, "2024"),
    *(Way(f"2026, level {level}", level, "2026") for level in range(4)),
    Way("2026, level 3 in bfp8", 3, "2026", NARROW),
)


def estimate(case: Case, way: Way, board: str) -> Estimate:
    """How long a call of a model takes."""
    with torch.device("meta"):
        model = case.make().eval().bfloat16()
        arguments = case.arguments()
    compiled = ttmlir.compile(
        model,
        *arguments,
        board=board,
        weights="arguments",
        spelling=way.spelling,
        optimization_level=way.level,
        options=way.options,
        **case.more,
    )
    return compiled.estimate()


def parts_of(found: Estimate) -> Iterator[str]:
    """What takes most of the time, by operation: how often, and microseconds."""
    times, counts = Counter[str](), Counter[str]()
    for row in found.operations:
        if row.time.mid and not row.on_host:
            times[row.name] += row.time.mid / 1e3
            counts[row.name] += 1
    for name, time in times.most_common(12):
        yield f"    {name:36} {counts[name]:5} {time:12,.1f}"


def main() -> None:
    """Print a row for each model and board."""
    parser = argparse.ArgumentParser(description="Estimated times by optimization level.")
    parser.add_argument("--parts", action="store_true", help="what takes most of the time")
    parser.add_argument("--boards", default="n150,p150", help="boards")
    parser.add_argument("--model", default="", help="part of the name of a model")
    parser.add_argument("--way", default="", help="part of the name of a way to compile")
    given = parser.parse_args()
    ways = [way for way in WAYS if given.way in way.name]
    print("| Model | Board |", " | ".join(way.name for way in ways), "| By hand | Roofline |")
    print("|---|---|", "---|" * len(ways), "---|---|", sep="")
    for case in CASES:
        if given.model not in case.name:
            continue
        for board in given.boards.split(","):
            found = [estimate(case, way, board) for way in ways]
            times = [f"{each.total.mid / 1e3:,.0f}" for each in found]
            by_cores, by_dram = FASTER.get(board, (math.nan, math.nan))
            by_hand = f"{case.by_hand_us / (by_dram if case.is_bound_by_dram else by_cores):,.0f}"
            least = f"{found[-1].total.low / 1e3:,.0f}"
            print("|", " | ".join((case.name, board, *times, by_hand, least)), "|", flush=True)
            if given.parts:
                for way, each in zip(ways, found, strict=True):
                    print(f"  {way.name}: transfers {each.transfers.mid / 1e3:,.0f} us")
                    print(*parts_of(each), sep="\n", flush=True)


if __name__ == "__main__":
    main()
