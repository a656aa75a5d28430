"""Figures of whole operations whose kernels have counterparts here: those of the other reports.

Products of matrices are the smaller ones of `gemm_report`, the vector functions those of
`eltwise_report`, SiLU as tt-metal PR 41949 left it. Other operations were measured with kernels, or
with settings, that are not public or not here.
"""

from __future__ import annotations

from collections.abc import Iterator

import eltwise_report
import gemm_report
import numpy as np
from figures.comparison import Comparison

OPERATIONS = "operations"

NUMBERS = frozenset({"GEMM", "SiLU"})
"""Figures that are compared here."""


def compare_all() -> Iterator[Comparison]:
    """Every value: device cycles of products, nanoseconds of kernels."""
    shapes = [shape for shape in gemm_report.MEASURED if shape[0] * shape[1] * shape[2] <= 2**29]
    for each in gemm_report.compare(shapes, list(gemm_report.CASES)):
        name = f"GEMM: {'x'.join(map(str, each.shape))}"
        yield Comparison(name, OPERATIONS, each.case, each.measured, each.simulated)
    for case in eltwise_report.CASES:
        if case.operation == "silu":
            zeros = np.zeros((case.rows, case.columns), np.float32)
            _, times = eltwise_report.simulate(case, (zeros, zeros))
            size = f"{case.rows}x{case.columns}"
            fastest = case.measured_ns[0]
            yield Comparison(
                "SiLU: tiles in DRAM", OPERATIONS, size, fastest, times.kernel_ns, "ns"
            )
