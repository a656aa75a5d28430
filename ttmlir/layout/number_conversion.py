"""What a number becomes in another element type: the rule that everything here obeys.

- Integer to integer keeps the lower bits (it wraps), as in StableHLO, NumPy and C++.
- Floating point to integer drops the fraction; what does not fit becomes the nearest limit of the
  type, and NaN becomes 0. StableHLO leaves this open; it is what JAX computes on CPUs.
- Integer to floating point, and between floating point types, goes to the nearest number, ties to
  even; what is too large becomes infinite.
- To a boolean: whether the number is not 0, which NaN is.
- Booleans are 0 and 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def convert(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The array with another element type; no copy if it has it already."""
    import numpy as np

    if array.dtype == dtype:
        return array
    if dtype.kind == "b":
        return array != 0
    if dtype.kind in "iu" and array.dtype.kind not in "biu":
        return _truncate(array, dtype)
    with np.errstate(over="ignore"):
        return array.astype(dtype)


def _truncate(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    import numpy as np

    wide = np.nan_to_num(array.astype(np.float64), nan=0.0)
    limits = np.iinfo(dtype)
    inside = wide.clip(limits.min, limits.max)
    with np.errstate(invalid="ignore"):
        result = np.asarray(inside.astype(dtype))
    # The largest 64-bit integers have no float64 of their own: the clip rounds up out of range.
    return np.where(wide >= float(limits.max), dtype.type(limits.max), result)
