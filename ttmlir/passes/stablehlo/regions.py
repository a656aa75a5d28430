"""What the regions of StableHLO's operations mean, found by computing them on samples."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Attribute, Data, Operation, Region, SSAValue

from ttmlir.composites.ordering import SortKey
from ttmlir.ir.constants import splat_number
from ttmlir.ir.tensor_types import element_type, is_boolean
from ttmlir.optable import COMPARISONS, definition, named_on_truth
from ttmlir.optable.op_definition import OpDefinition
from ttmlir.passes.stablehlo.stablehlo_scalars import elementwise_definition

# --- Evaluation -----------------------------------------------------------------------------------
# Regions of elementwise operations, computed on NumPy arrays while a program is compiled.

_LOGIC = named_on_truth("stablehlo")


def array_type(element: Attribute) -> np.dtype[Any]:
    """What numbers of a type are computed in: floating point ones in float64."""
    if isinstance(element, AnyFloat):
        return np.dtype(np.float64)
    if is_boolean(element):
        return np.dtype(np.bool_)
    integer = cast("IntegerType", element)
    kind = "u" if integer.signedness.data.name == "UNSIGNED" else "i"
    return np.dtype(f"{kind}{max(1, integer.width.data // 8)}")


def evaluate(
    region: Region, arguments: Sequence[Any], allowed: Collection[OpDefinition] | None = None
) -> list[Any] | None:
    """The results of a region on arrays.

    None if it has operations other than constants and elementwise ones, of the `allowed`
    definitions if these are given.
    """
    known: dict[SSAValue, Any] = dict(zip(region.block.args, arguments, strict=True))
    for op in region.block.ops:
        if op.name == "stablehlo.constant":
            number = splat_number(op.results[0])
            if number is None:
                return None
            known[op.results[0]] = np.asarray(number, array_type(element_type(op.results[0])))
            continue
        operands = [_known_or_constant(value, known) for value in op.operands]
        if any(operand is None for operand in operands):
            return None
        if op.name == "stablehlo.return":
            shape = np.shape(arguments[0])
            return [np.broadcast_to(np.asarray(operand), shape) for operand in operands]
        result = compute_elementwise(op, operands, allowed)
        if result is None:
            return None
        known[op.results[0]] = np.asarray(result).astype(array_type(element_type(op.results[0])))
    return None


def _known_or_constant(value: SSAValue, known: dict[SSAValue, Any]) -> Any:
    """What a value is: one of those that are known, or a constant outside; None for others."""
    found = known.get(value)
    if found is None and (number := splat_number(value)) is not None:
        return np.asarray(number, array_type(element_type(value)))
    return found


def compute_elementwise(
    op: Operation, operands: Sequence[Any], allowed: Collection[OpDefinition] | None = None
) -> Any:
    """What an operation on each element makes of arrays; None for other operations.

    Only operations of the `allowed` definitions are computed if these are given.
    """
    if allowed is None and op.name == "stablehlo.convert":
        return operands[0]
    if allowed is None and op.name == "stablehlo.clamp":
        low, inner, high = operands
        return definition("minimum").reference(
            np, definition("maximum").reference(np, low, inner), high
        )
    if is_total_order(op):
        operands = [_in_total_order(operand) for operand in operands]
    is_truth = all(is_boolean(element_type(value)) for value in op.operands)
    found = (_LOGIC.get(op.name) if is_truth else None) or elementwise_definition(op)
    if found is None or found.takes_types or (allowed is not None and found not in allowed):
        return None
    return found.reference(np, *operands)


def is_total_order(op: Operation) -> bool:
    """True for a comparison in which -0 is less than 0, and NaN has a place at both ends."""
    kind = op.properties.get("compare_type")
    return kind is not None and cast("Data[str]", kind).data == "TOTALORDER"


def _in_total_order(array: Any) -> Any:
    """Integers in the order of the bits of float64; other numbers as they are."""
    if array.dtype.kind != "f":
        return array
    bits = np.ascontiguousarray(array).view(np.int64).reshape(array.shape)
    return np.where(bits < 0, np.int64(np.iinfo(np.int64).min) - bits - 1, bits)


# --- Associativity --------------------------------------------------------------------------------
# Whether the body of a reduction gives the same for every grouping of its elements.
#
# XLA folds one element after the other into the initial value. Only an associative body may be
# applied to neighbours, all pairs at once, instead. That cannot be read off a body, but tried: with
# triples of numbers that are not whole, and of few whole ones, among which there are equal ones.

_TRIPLES = 256
_TOLERANCE = 1e-6


def is_associative(body: Region) -> bool:
    """True if f(f(a, b), c) is f(a, f(b, c)) wherever it was tried.

    Arguments i and i + n of the body are values of result i, n being the number of results.
    """
    count = len(body.block.args) // 2
    types = [element_type(argument) for argument in body.block.args[:count]]
    random = np.random.default_rng(0)
    a, b, c = ([_sample(random, each) for each in types] for _ in range(3))
    with np.errstate(all="ignore"):
        first, second = evaluate(body, [*a, *b]), evaluate(body, [*b, *c])
        if first is None or second is None:
            return False
        left, right = evaluate(body, [*first, *c]), evaluate(body, [*a, *second])
    assert left is not None, "evaluated before"
    assert right is not None, "evaluated before"
    return all(map(_are_alike, left, right))


def _sample(random: np.random.Generator, element: Attribute) -> Any:
    """Numbers of a type, half of them from few."""
    few = random.integers(-2, 3, _TRIPLES // 2)
    dtype = array_type(element)
    if isinstance(element, AnyFloat):
        return np.concatenate([few, random.standard_normal(_TRIPLES // 2) * 2]).astype(dtype)
    more = random.integers(-100, 100, _TRIPLES // 2)
    return np.concatenate([few, more]).astype(dtype)


def _are_alike(a: Any, b: Any) -> bool:
    if a.dtype.kind != "f":
        return bool((a == b).all())
    return bool(np.isclose(a, b, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True).all())


# --- Comparators ----------------------------------------------------------------------------------
# What the comparators of `stablehlo.sort` order by.
#
# A comparator may be written in many ways: JAX replaces zeros and NaN by one of their kind before
# it compares in the total order, and compares further keys where the first ones are equal. Such a
# body does nothing but compare, choose and combine truth values, so that its result depends on
# nothing but the order of its arguments and of the constants in it. It is computed for arguments in
# all orders; what it orders by is what explains all results.

_MOST_KEYS = 8
"""Operands that may be compared: the orders of their elements are tried one by one."""

_ORDERING = (
    *(*COMPARISONS.values(), *named_on_truth("stablehlo").values()),
    *(definition("where"), definition("neg")),
)
"""Operations that compare and choose, and the one that turns an order around."""


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
    with np.errstate(invalid="ignore"):
        return np.unique(np.array([*limits, *near]).astype(dtype))


def _evaluate(comparator: Region, arguments: Sequence[Any]) -> Any:
    """The result of a comparator on arrays; None if it does more than compare and choose."""
    results = evaluate(comparator, arguments, _ORDERING)
    return None if results is None else results[0]
