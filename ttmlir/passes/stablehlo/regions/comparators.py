"""What the comparators of `stablehlo.sort` order by.

A comparator may be written in many ways: JAX replaces zeros and NaN by one of their kind before it
compares in the total order, and compares further keys where the first ones are equal. Such a body
does nothing but compare, choose and combine truth values, so that its result depends on nothing but
the order of its arguments and of the constants in it. It is computed for arguments in all orders;
what it orders by is what explains all results.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, Region

from ttmlir.ir.constants import splat_number
from ttmlir.ir.tensor_types import element_type
from ttmlir.optable import COMPARISONS, named_on_truth, row
from ttmlir.passes.stablehlo.regions.evaluation import array_type, evaluate

_MOST_KEYS = 8
"""Operands that may be compared: the orders of their elements are tried one by one."""

_ORDERING = (
    *(*COMPARISONS.values(), *named_on_truth("stablehlo").values()),
    *(row("where"), row("neg")),
)
"""Operations that compare and choose, and the one that turns an order around."""


@dataclass(frozen=True)
class SortKey:
    """An operand that elements are ordered by."""

    operand: int
    descending: bool
    is_total: bool = False
    """True if -0 is less than 0, and NaN with a sign less than all."""


def find_keys(comparator: Region) -> list[SortKey] | None:
    """The operands that a comparator orders by, the most important one first.

    None if it does not order by whole operands, or says that equal elements precede each other.
    Arguments 2i and 2i + 1 are elements of operand i.
    """
    arguments = comparator.block.args
    used = sorted({n // 2 for n, argument in enumerate(arguments) if argument.first_use})
    if len(used) > _MOST_KEYS:
        return None
    orders = [*itertools.product(itertools.product((0, 1), repeat=2), repeat=len(used))]
    elements = {n: element_type(arguments[2 * n]) for n in used}
    zeros = {n: np.zeros(len(orders), array_type(elements[n])) for n in used}
    pairs = np.array(orders, dtype=np.int64).reshape(len(orders), len(used), 2)
    given = [
        (zeros[n] + pairs[:, used.index(n), side].astype(zeros[n].dtype))
        if n in zeros
        else np.zeros(len(orders))
        for n in range(len(arguments) // 2)
        for side in (0, 1)
    ]
    precedes = _evaluate(comparator, given)
    if precedes is None:
        return None
    keys = _explain(pairs, precedes, used)
    if keys is None or not _agrees_on_numbers(comparator, keys, elements):
        return None
    return [replace(key, is_total=_is_total(comparator, key, elements)) for key in keys]


def _explain(pairs: Any, precedes: Any, used: Sequence[int]) -> list[SortKey] | None:
    """The keys that explain which elements precede which, `pairs` being (case, operand, side)."""
    first, second = pairs[:, :, 0], pairs[:, :, 1]
    keys: list[SortKey] = []
    # Cases in which all keys that were found are equal.
    open_cases = np.ones(len(pairs), bool)
    rest = list(range(len(used)))
    while rest and precedes[open_cases].any():
        found = None
        for place, descending in itertools.product(rest, (False, True)):
            low, high = first[:, place], second[:, place]
            less = low > high if descending else low < high
            differs = open_cases & (low != high)
            if (precedes[differs] == less[differs]).all():
                found = place, descending
                break
        if found is None:
            return None
        place, descending = found
        keys.append(SortKey(used[place], descending))
        rest.remove(place)
        open_cases &= first[:, place] == second[:, place]
    return None if precedes[open_cases].any() else keys


def _agrees_on_numbers(
    comparator: Region, keys: Sequence[SortKey], elements: dict[int, Attribute]
) -> bool:
    """True if each key is compared as numbers are, whatever constants the body compares with."""
    for key in keys:
        numbers = _samples(comparator, elements[key.operand])
        first: Any = np.repeat(numbers, len(numbers))
        second: Any = np.tile(numbers, len(numbers))
        precedes = _precedes(comparator, key, elements, first, second)
        less = first > second if key.descending else first < second
        # Zeros of both signs count as equal, and so do elements that a later key decides on.
        matters = first != second
        if precedes is None or (precedes[matters] != less[matters]).any():
            return False
    return True


def _precedes(
    comparator: Region, key: SortKey, elements: dict[int, Attribute], first: Any, second: Any
) -> Any:
    """The result of a comparator for elements of a key; those of other operands are equal."""
    given: list[Any] = []
    for n in range(len(comparator.block.args) // 2):
        dtype = array_type(elements[n]) if n in elements else np.dtype(np.float64)
        others: Any = np.zeros(len(first), dtype)
        given += [first, second] if n == key.operand else [others, others]
    return _evaluate(comparator, given)


def _is_total(comparator: Region, key: SortKey, elements: dict[int, Attribute]) -> bool:
    """True if a key is in the total order: zeros and NaN of both signs in their places."""
    if not isinstance(elements[key.operand], AnyFloat):
        return False
    lowest = np.copysign(np.nan, -1.0)
    order: Any = np.array([lowest, -np.inf, -1.0, -0.0, 0.0, 1.0, np.inf, np.nan])
    places = np.arange(len(order))
    first, second = np.repeat(places, len(order)), np.tile(places, len(order))
    precedes = _precedes(comparator, key, elements, order[first], order[second])
    less = first > second if key.descending else first < second
    matters = first != second
    return precedes is not None and bool((precedes[matters] == less[matters]).all())


def _samples(comparator: Region, element: Attribute) -> Any:
    """Numbers of a type around those that a body compares with."""
    dtype = array_type(element)
    if dtype == np.bool_:
        return np.array([False, True])
    if isinstance(element, AnyFloat):
        limits: list[float] = [-np.inf, -1.5, -1.0, 0.0, 1.0, 1.5, np.inf]
    else:
        info = np.iinfo(dtype)
        limits = [info.min, info.min + 1, info.max // 2 - 1, 0, 1, 2, info.max - 1, info.max]
    constants = [
        number
        for op in comparator.block.ops
        if op.name == "stablehlo.constant"
        and element_type(op.results[0]) == element
        and (number := splat_number(op.results[0])) is not None
        and np.isfinite(number)
    ]
    near = [number + step for number in constants for step in (-1, 0, 1)]
    if not isinstance(element, AnyFloat):
        info = np.iinfo(dtype)
        near = [number for number in near if info.min <= number <= info.max]
    return np.unique(np.array([*limits, *near]).astype(dtype))


def _evaluate(comparator: Region, arguments: Sequence[Any]) -> Any:
    """The result of a comparator on arrays; None if it does more than compare and choose."""
    results = evaluate(comparator, arguments, _ORDERING)
    return None if results is None else results[0]
