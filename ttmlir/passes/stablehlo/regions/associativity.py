"""Whether the body of a reduction gives the same for every grouping of its elements.

XLA folds one element after the other into the initial value. Only an associative body may be
applied to neighbours, all pairs at once, instead. That cannot be read off a body, but tried: with
triples of numbers that are not whole, and of few whole ones, among which there are equal ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, Region

from ttmlir.ir.tensor_types import element_type
from ttmlir.passes.stablehlo.regions.evaluation import array_type, evaluate

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
