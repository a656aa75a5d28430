"""Sweeps of which each run of the tests takes a fixed part, and `make test-all` the whole."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest


def sampled(*axes: Iterable[Any]) -> list[Any]:
    """Every combination of values, for `parametrize`; every other one is marked `exhaustive`.

    With two axes or more, each value of each axis is among those that are not marked: of `"ab"` and
    `"xy"` these are `a-x` and `b-y`.
    """
    cases: list[Any] = []
    for places in product(*(enumerate(axis) for axis in axes)):
        odd = sum(place for place, _ in places) % 2
        marks = pytest.mark.exhaustive if odd else ()
        cases.append(pytest.param(*(value for _, value in places), marks=marks))
    return cases
