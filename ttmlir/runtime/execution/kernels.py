"""NumPy kernels that are faster or more exact than a row's reference function.

Operations that are not listed in `KERNELS` run their reference function. Kernels take the same
arguments. Sums of floating point numbers accumulate in float64, so that the result is the float32
nearest to the sum, or its neighbour, whatever the order of the elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttmlir.runtime.execution import (
    contraction_kernels,
    elementwise_kernels,
    indexing_kernels,
    normalization_kernels,
    ordering_kernels,
    reduction_kernels,
    window_kernels,
)

KERNELS: dict[str, Callable[..., Any]] = {
    **elementwise_kernels.KERNELS,
    **indexing_kernels.KERNELS,
    **reduction_kernels.KERNELS,
    **window_kernels.KERNELS,
    **contraction_kernels.KERNELS,
    **normalization_kernels.KERNELS,
    **ordering_kernels.KERNELS,
}
"""Kernels by mnemonic, called like the definition's reference function."""
