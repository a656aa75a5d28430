"""Sweeps of which each run of the tests takes a fixed part, and `make test-all` the whole."""

from __future__ import annotations

import os
import zlib
from collections.abc import Hashable, Iterable
from itertools import product
from typing import Any

import pytest


def sampled(*axes: Iterable[Any], every: int = 2) -> list[Any]:
    """Every combination of values, for `parametrize`; all but every other are marked `exhaustive`.

    With two axes or more, each value of each axis is among those that are not marked: of `"ab"` and
    `"xy"` these are `a-x` and `b-y`. Of a single one that takes long, `every` may be more than 2.
    """
    cases: list[Any] = []
    for places in product(*(enumerate(axis) for axis in axes)):
        is_left = sum(place for place, _ in places) % every
        marks = pytest.mark.exhaustive if is_left else ()
        cases.append(pytest.param(*(value for _, value in places), marks=marks))
    return cases


def leave_out(items: Iterable[pytest.Item]) -> None:
    """Mark what `pytest.mark.sampled` leaves to runs of whole sweeps `exhaustive`.

    `@pytest.mark.sampled(every=3)` above a test that is parametrized runs a third of its cases:
    those whose indices have a sum that 3 divides, as with `sampled`.
    """
    axes: dict[tuple[str, str], dict[Hashable, int]] = {}
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark is None or not isinstance(item, pytest.Function):
            continue
        test = item.nodeid.partition("[")[0]
        values = {name: id(value) for name, value in item.callspec.params.items()}
        total = 0
        for parameters in item.iter_markers("parametrize"):
            # Names that are given together are one axis.
            names = parameters.args[0]
            case = values.pop(names) if isinstance(names, str) else (*map(values.pop, names),)
            places = axes.setdefault((test, str(names)), {})
            total += places.setdefault(case, len(places))
        for name, value in values.items():
            places = axes.setdefault((test, name), {})
            total += places.setdefault(value, len(places))
        if total % mark.kwargs["every"]:
            item.add_marker("exhaustive")


_is_whole = False


def register(config: pytest.Config) -> None:
    """Learn whether this run takes the whole of each sweep."""
    global _is_whole
    _is_whole = "not exhaustive" not in config.option.markexpr


def is_among(every: int) -> bool:
    """True in one of so many tests, always in the same ones; in all if sweeps are run whole."""
    name = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
    return _is_whole or zlib.crc32(name.encode()) % every == 0
