"""Bodies of linalg that keep one of two numbers by comparing them: `select(cmp(x, acc), x, acc)`.

Comparison and choice may be turned around; what counts is when the new number is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from ttmlir.optable import named_in

# Which predicates ask for the larger number, and which also hold where a number is NaN (cmpf) or
# compare numbers without sign (cmpi).
_FLOATS = {
    **dict.fromkeys((2, 3), (True, False)),
    **dict.fromkeys((4, 5), (False, False)),
    **dict.fromkeys((9, 10), (True, True)),
    **dict.fromkeys((11, 12), (False, True)),
}
_INTEGERS = {
    **dict.fromkeys((2, 3), (False, False)),
    **dict.fromkeys((4, 5), (True, False)),
    **dict.fromkeys((6, 7), (False, True)),
    **dict.fromkeys((8, 9), (True, True)),
}
_CHOICES = {name for name, row in named_in("arith").items() if row.mnemonic == "where"}
_STRICT = {"arith.cmpf": (2, 4), "arith.cmpi": (2, 4)}


@dataclass(frozen=True)
class Choice:
    """When a number is taken instead of the accumulated one."""

    taken: SSAValue
    largest: bool
    """Taken if it is larger; else if it is smaller."""
    is_float: bool
    without_order: bool
    """Of floats: taken if one of the two is NaN, which is kept otherwise; of integers: compared as
    numbers without sign."""


def read_choice(owner: Operation, accumulated: SSAValue) -> Choice | None:
    """The choice that an `arith.select` makes; None if it is none between two numbers."""
    if owner.name not in _CHOICES:
        return None
    condition, chosen, other = owner.operands
    taken = chosen if other is accumulated else other
    compare = condition.owner
    if not isinstance(compare, Operation) or {chosen, other} != {taken, accumulated}:
        return None
    if set(compare.operands) != {taken, accumulated} or taken is accumulated:
        return None
    found = _meaning_of(compare)
    if found is None:
        return None
    largest, without_order = found
    is_float = compare.name == "arith.cmpf"
    if compare.operands[0] is accumulated:
        largest = not largest
    if chosen is accumulated:
        # Taken if the comparison does not hold: "not greater" is less or equal, or without order.
        largest = not largest
        without_order = without_order != is_float
    return Choice(taken, largest, is_float, without_order)


def read_position(owner: Operation, position: SSAValue) -> tuple[SSAValue, SSAValue, int] | None:
    """A number, what it has to exceed, and the loop whose place is kept where it does.

    None for an operation that keeps something else.
    """
    if owner.name not in _CHOICES or owner.operands[2] is not position:
        return None
    compare, place = owner.operands[0].owner, owner.operands[1].owner
    if isinstance(place, Operation) and place.name == "arith.index_cast":
        place = place.operands[0].owner
    if not (isinstance(place, Operation) and place.name == "linalg.index"):
        return None
    if not isinstance(compare, Operation) or _predicate(compare) not in _STRICT.get(
        compare.name, ()
    ):
        return None
    found = _meaning_of(compare)
    assert found is not None, "every strict predicate has a meaning"
    larger, smaller = compare.operands if found[0] else compare.operands[::-1]
    return larger, smaller, cast("IntegerAttr", place.properties["dim"]).value.data


def _predicate(compare: Operation) -> int | None:
    attr = compare.properties.get("predicate")
    return attr.value.data if isinstance(attr, IntegerAttr) else None


def _meaning_of(compare: Operation) -> tuple[bool, bool] | None:
    tables = {"arith.cmpf": _FLOATS, "arith.cmpi": _INTEGERS}
    predicate = _predicate(compare)
    return None if predicate is None else tables.get(compare.name, {}).get(predicate)
