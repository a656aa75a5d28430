"""Prints how long matrix products take simulated, and how long they take on a chip.

The table of `python test/bench/gemm_report.py` has device cycles: simulated ones, measured ones,
their ratio. Measured are those of an n150 on a grid of 8x8 cores: tt-metal,
tech_reports/GEMM_FLOPS/GEMM_FLOPS.md, its device-based utilisation turned into cycles. The program
is `examples/metalium/matmul_sharded.py`, whose matrices lie where the report's do: A and C in
shards in L1, B in DRAM.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ttmlir.layout.enums import MathFidelity
from ttmlir.metalium import DataFormat

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "metalium"

Shape = tuple[int, int, int]
"""M, K, N."""

CASES = {
    "bf16 HiFi2": (DataFormat.Float16_b, MathFidelity.HIFI2),
    "bf16 HiFi4": (DataFormat.Float16_b, MathFidelity.HIFI4),
    "bfp8 HiFi2": (DataFormat.Bfp8_b, MathFidelity.HIFI2),
    "bfp8 LoFi": (DataFormat.Bfp8_b, MathFidelity.LOFI),
    "bfp4 LoFi": (DataFormat.Bfp4_b, MathFidelity.LOFI),
}

MEASURED: dict[Shape, tuple[int, int, int, int, int]] = {
    (512, 512, 512): (9_937, 10_047, 7_838, 7_781, 7_121),
    (512, 1024, 1024): (26_073, 26_749, 18_631, 17_701, 15_053),
    (512, 1024, 2048): (48_132, 50_012, 31_727, 29_746, 23_480),
    (1024, 1024, 1024): (34_283, 42_462, 24_283, 20_624, 16_110),
    (1024, 2048, 2048): (113_719, 154_148, 83_432, 62_202, 46_387),
    (2048, 2048, 2048): (202_053, 292_604, 155_483, 111_285, 83_157),
}
"""Device cycles, in the order of `CASES`."""


@dataclass(frozen=True)
class Comparison:
    """One cell of the table."""

    shape: Shape
    case: str
    measured: int
    simulated: int

    @property
    def ratio(self) -> float:
        """Simulated by measured."""
        return self.simulated / self.measured


def compare(shapes: Sequence[Shape], cases: Sequence[str]) -> Iterator[Comparison]:
    """Simulate products, exactly and unchecked: neither changes their times."""
    sys.path.insert(0, str(EXAMPLES))
    program = importlib.import_module("matmul_sharded")
    options = importlib.import_module("matrix_options")
    for shape in shapes:
        for measured, (case, (data_format, fidelity)) in zip(
            MEASURED[shape], CASES.items(), strict=True
        ):
            if case in cases:
                m, k, n = shape
                outcome = program.run(
                    options.MatrixOptions(
                        m=m,
                        k=k,
                        n=n,
                        fidelity=fidelity,
                        data_format=data_format,
                        numerics="exact",
                        sanitize=False,
                    )
                )
                yield Comparison(shape, case, measured, outcome.times.cycles)


def row(shape: Shape, comparisons: Iterable[Comparison]) -> str:
    """A row of the table."""
    cells = (f"{each.simulated:,} of {each.measured:,}: {each.ratio:.2f}" for each in comparisons)
    return f"| {' | '.join(['x'.join(map(str, shape)), *cells])} |"


def main() -> None:
    """Print the table; `--largest` leaves out the products that take long to simulate."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--largest", type=int, default=2048**3, help="of M * K * N")
    largest: int = parser.parse_args().largest
    print(f"| {' | '.join(['M x K x N', *CASES])} |")
    print("|---" * (1 + len(CASES)) + "|")
    for shape in MEASURED:
        if shape[0] * shape[1] * shape[2] <= largest:
            print(row(shape, compare([shape], list(CASES))), flush=True)


if __name__ == "__main__":
    main()
