"""Statistics of tensors, and how far two are apart."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation

from ttmlir.mlir.reporting import name_of
from ttmlir.runtime.golden import Accuracy, Tolerance, compare
from ttmlir.runtime.tensor import Array

# --- Traces ---------------------------------------------------------------------------------------
# What a run of a program at some level computed, by the operations of the source.

_NAME = re.compile(r'"operation#(\d+)"')


def number_in(text: str | None) -> int | None:
    """The number of the operation that a location's name says; None if it says none."""
    match = _NAME.search(text or "")
    return None if match is None else int(match[1])


def number_of(op: Operation) -> int | None:
    """The number of the operation of the source that an operation comes from."""
    name = name_of(op.location)
    return None if name is None else number_in(f'"{name}"')


MOST_RESULTS = 1024
"""Results of an operation that are kept."""


@dataclass
class Trace:
    """What a run computed: the results of the program, and those of its operations by number."""

    outputs: list[Array] = field(default_factory=list[Array])
    values: dict[int, list[Array]] = field(default_factory=dict[int, list[Array]])
    """For each operation of the source the results of what it became, in order of execution."""

    def note(self, number: int | None, value: Any) -> None:
        """Add a result of an operation; those of the first iterations of a loop are enough."""
        if number is not None and isinstance(value, np.ndarray):
            values = self.values.setdefault(number, [])
            if len(values) < MOST_RESULTS:
                values.append(cast("Array", value))


# --- Statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """A tensor in a few numbers; those of the finite elements are None if there are none."""

    shape: tuple[int, ...]
    dtype: str
    least: float | None
    greatest: float | None
    mean: float | None
    nans: int
    infinities: int

    @classmethod
    def of(cls, array: Array) -> Statistics:
        """The statistics of an array; of complex numbers, those of the absolute values."""
        values = _real(np.asarray(array))
        finite = values[np.isfinite(values)]
        has_some = bool(finite.size)
        return cls(
            shape=tuple(array.shape),
            dtype=str(array.dtype),
            least=float(finite.min()) if has_some else None,
            greatest=float(finite.max()) if has_some else None,
            mean=float(finite.mean()) if has_some else None,
            nans=int(np.count_nonzero(np.isnan(values))),
            infinities=int(np.count_nonzero(np.isinf(values))),
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "shape": [*self.shape],
            "dtype": self.dtype,
            "min": self.least,
            "max": self.greatest,
            "mean": self.mean,
            "nans": self.nans,
            "infinities": self.infinities,
        }

    def __str__(self) -> str:
        """One line: `f32 (3, 5), min -1.2, max 2, mean 0.1, 0 NaNs, 0 infinities`."""
        numbers = ", ".join(
            f"{name} {value:.6g}"
            for name, value in (("min", self.least), ("max", self.greatest), ("mean", self.mean))
            if value is not None
        )
        return (
            f"{self.dtype} {self.shape}{', ' if numbers else ''}{numbers}, {self.nans} NaNs, "
            f"{self.infinities} infinities"
        )


def accuracy_of(expected: Array, actual: Array, tolerance: Tolerance) -> Accuracy | None:
    """How close a tensor is to the expected one; None if their shapes differ."""
    if expected.shape != actual.shape:
        return None
    if expected.dtype.kind == "c" or actual.dtype.kind == "c":
        expected, actual = _parts(expected), _parts(actual)
    return compare(actual, expected, rtol=tolerance.rtol, atol=tolerance.atol)


def _real(values: Array) -> Array:
    wide = np.abs(values) if values.dtype.kind == "c" else values
    return np.asarray(wide, np.float64)


def _parts(values: Array) -> Array:
    return np.stack([np.real(values), np.imag(values)])
