"""How far a result is from the expected one."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from ttmlir.runtime.element import Array


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """Comparison of two tensors; a number that is not finite where the other is counts fully."""

    pcc: float
    """Pearson correlation, 1 for tensors that are equal up to a scale and an offset."""
    max_absolute_error: float
    mean_absolute_error: float
    max_relative_error: float
    """Largest error divided by the expected number, where that is not 0."""
    root_mean_square_error: float
    relative_root_mean_square_error: float
    """The root mean square error divided by the root mean square of the expected numbers."""
    cosine_similarity: float
    allclose: bool
    """All errors at most atol + rtol * |expected|."""
    mismatched_specials: int
    """Positions where one tensor has an infinity or NaN that the other has not."""

    def as_dict(self) -> dict[str, float | bool | int | None]:
        """For JSON, in which infinite errors are null."""
        return {
            name: value if isinstance(value, bool | int) or math.isfinite(value) else None
            for name, value in asdict(self).items()
        }


def compare(actual: Array, expected: Array, *, rtol: float, atol: float) -> Accuracy:
    """Compare a result with the expected numbers, which have the same shape."""
    x = np.asarray(actual, dtype=np.float64).ravel()
    y = np.asarray(expected, dtype=np.float64).ravel()
    finite = np.isfinite(x) & np.isfinite(y)
    specials = int(np.count_nonzero(~finite & ~_same_special(x, y)))
    x, y = x[finite], y[finite]
    error = np.abs(x - y)
    nonzero = y != 0
    relative = error[nonzero] / np.abs(y[nonzero])
    failed = math.inf if specials else 0.0
    with np.errstate(over="ignore"):
        mean_square, expected_square = _mean(error**2), _mean(y**2)
    relative_square = mean_square / expected_square if expected_square else math.inf
    return Accuracy(
        pcc=0.0 if specials else _correlation(x, y),
        max_absolute_error=max(_max(error), failed),
        mean_absolute_error=max(_mean(error), failed),
        max_relative_error=max(_max(relative), failed),
        root_mean_square_error=max(math.sqrt(mean_square), failed),
        relative_root_mean_square_error=max(
            math.sqrt(relative_square) if mean_square else 0.0, failed
        ),
        cosine_similarity=0.0 if specials else _cosine(x, y),
        allclose=not specials and bool(np.all(error <= atol + rtol * np.abs(y))),
        mismatched_specials=specials,
    )


def _same_special(x: Array, y: Array) -> Array:
    return (np.isnan(x) & np.isnan(y)) | (x == y)


def _max(values: Array) -> float:
    return float(values.max()) if values.size else 0.0


def _mean(values: Array) -> float:
    return float(values.mean()) if values.size else 0.0


def _correlation(x: Array, y: Array) -> float:
    """Pearson correlation; for a constant tensor, whether the two are close."""
    if np.array_equal(x, y):
        return 1.0
    x, y = _scale(x), _scale(y)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return 1.0 if np.allclose(x, y, rtol=1e-2, atol=1e-6) else 0.0
    return _cosine(x - x.mean(), y - y.mean())


def _cosine(x: Array, y: Array) -> float:
    if np.array_equal(x, y):
        return 1.0
    x, y = _scale(x), _scale(y)
    norm = math.sqrt(float(x @ x)) * math.sqrt(float(y @ y))
    return float(np.clip(x @ y / norm, -1.0, 1.0)) if norm else 0.0


def _scale(values: Array) -> Array:
    """The values divided by the power of two of the largest, so that squares stay finite.

    Both tensors are of similar size, or their comparison fails anyway.
    """
    largest = _max(np.abs(values))
    return values / 2.0 ** math.frexp(largest)[1] if largest > 1e100 else values
