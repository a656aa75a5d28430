"""NumPy kernel of the largest and smallest numbers, which sorts no more than it has to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ttmlir.optable import definition
from ttmlir.optable.ordering import order_places
from ttmlir.runtime.tensor import Array

_FEW = 8
"""Where fewer than one in so many numbers are taken, they are found before they are sorted."""


def _topk(
    xp: Any, input: Array, *, k: int, dim: int, largest: bool, sorted: bool
) -> tuple[Array, Array]:
    extent = input.shape[dim]
    has_nan = input.dtype.kind == "f" and bool(np.isnan(input).any())
    if has_nan or not k or not input.size or k * _FEW > extent:
        reference = definition("topk").reference
        return reference(xp, input, k=k, dim=dim, largest=largest, sorted=sorted)
    rows = np.moveaxis(input, dim, -1)
    # The last number that is taken; of those that equal it, the first ones.
    place = extent - k if largest else k - 1
    last = np.partition(rows, place, axis=-1)[..., place : place + 1]
    better, equal = (rows > last if largest else rows < last), rows == last
    missing = k - better.sum(-1, keepdims=True)
    taken = better | (equal & (np.cumsum(equal, -1) <= missing))
    places = np.nonzero(taken)[-1].reshape(*rows.shape[:-1], k)
    values = np.take_along_axis(rows, places, -1)
    order = order_places(np, values, -1, descending=largest)
    found = (np.take_along_axis(each, order, -1) for each in (values, places))
    values, places = (np.moveaxis(each, -1, dim) for each in found)
    return values, places


KERNELS: dict[str, Callable[..., Any]] = {"topk": _topk}
"""Kernels by mnemonic, called like the definition's reference function."""
