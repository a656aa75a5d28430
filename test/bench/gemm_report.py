"""Prints how long matrix products take on a chip, and how long they take simulated.

The table of `python test/bench/gemm_report.py` has device cycles. Measured are those of an n150 on
a grid of 8x8 cores: tt-metal, tech_reports/GEMM_FLOPS/GEMM_FLOPS.md, its device-based utilisation
turned into cycles. The program is `examples/metalium/matmul_sharded.py`, whose matrices lie where
the report's do: A and C in shards in L1, B in DRAM.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterator, Sequence
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
}

MEASURED: dict[Shape, tuple[int, int, int, int]] = {
    (512, 512, 512): (9_937, 10_047, 7_838, 7_781),
    (512, 1024, 1024): (26_073, 26_749, 18_631, 17_701),
    (512, 1024, 2048): (48_132, 50_012, 31_727, 29_746),
    (1024, 1024, 1024): (34_283, 42_462, 24_283, 20_624),
    (1024, 2048, 2048): (113_719, 154_148, 83_432, 62_202),
    (2048, 2048, 2048): (202_053, 292_604, 155_483, 111_285),
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


def row(comparison: Comparison) -> str:
    """A row of the table."""
    shape = "x".join(str(extent) for extent in comparison.shape)
    return (
        f"| {shape} | {comparison.case} | {comparison.measured:,} | {comparison.simulated:,} | "
        f"{comparison.ratio:.2f} |"
    )


def main() -> None:
    """Print the table; `--largest` leaves out the products that take long to simulate."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--largest", type=int, default=2048**3, help="of M * K * N")
    largest: int = parser.parse_args().largest
    shapes = [shape for shape in MEASURED if shape[0] * shape[1] * shape[2] <= largest]
    print("| M x K x N | Case | Measured cycles | Simulated | Ratio |")
    print("|---|---|---|---|---|")
    for comparison in compare(shapes, list(CASES)):
        print(row(comparison), flush=True)


if __name__ == "__main__":
    main()
