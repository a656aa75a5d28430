"""Operations that put numbers in order along a dimension, and say where they came from.

NaN is larger than every number, whatever its sign, and -0 equals 0, as in torch and NumPy and in
the comparators of JAX. Equal numbers keep their order, in both directions, also where the program
does not ask for it.
"""

from __future__ import annotations

from typing import Any

from ttmlir.errors import ArgumentError
from ttmlir.optable.op_definition import (
    Domain,
    Family,
    Flatbuffer,
    Kind,
    OpDefinition,
    Operand,
    Parameter,
    Shape,
    check_dimension,
)

_LATER = "2026-08"
_RESULTS = ("values", "indices")


def sorted_shape(input: Shape, *, dim: int, descending: bool, stable: bool) -> Shape:
    """The shape of the input, which has the dimension."""
    check_dimension(dim, len(input))
    return input


def topk_shape(input: Shape, *, k: int, dim: int, largest: bool, sorted: bool) -> Shape:
    """The shape of the input with `k` elements along the dimension."""
    axis = check_dimension(dim, len(input))
    if not 0 <= k <= input[axis]:
        raise ArgumentError(
            f"k is {k}, and dimension {axis} has {input[axis]} elements; k is from 0 to that."
        )
    return (*input[:axis], k, *input[axis + 1 :])


def order_places(xp: Any, array: Any, dim: int, *, descending: bool) -> Any:
    """Places of the numbers in order; equal numbers keep their order, and NaN is the largest."""
    if not descending:
        return xp.argsort(array, axis=dim, kind="stable")
    # The order of the numbers from back to front, from back to front.
    backwards = xp.argsort(xp.flip(array, dim), axis=dim, kind="stable")
    return array.shape[dim] - 1 - xp.flip(backwards, dim)


def _sort(xp: Any, input: Any, *, dim: int, descending: bool, stable: bool) -> tuple[Any, Any]:
    places = order_places(xp, input, dim, descending=descending)
    return xp.take_along_axis(input, places, axis=dim), places


def _topk(xp: Any, input: Any, *, k: int, dim: int, largest: bool, sorted: bool) -> tuple[Any, Any]:
    places = xp.take(order_places(xp, input, dim, descending=largest), range(k), axis=dim)
    return xp.take_along_axis(input, places, axis=dim), places


_DIM = Parameter(name="dim", kind=Kind.SI32, doc="Dimension along which numbers are ordered.")

DEFINITIONS = (
    OpDefinition(
        mnemonic="sort",
        summary="Numbers in ascending or descending order along a dimension, and their indices.",
        formula="values[i] <= values[i + 1], values[i] = input[indices[i]], for dimension 0",
        family=Family.ORDERING,
        operands=(Operand(name="input"),),
        results=_RESULTS,
        parameters=(
            _DIM,
            Parameter(name="descending", kind=Kind.BOOL, doc="The largest number comes first."),
            Parameter(
                name="stable",
                kind=Kind.BOOL,
                doc="The program relies on equal numbers keeping their order.",
            ),
        ),
        reference=_sort,
        result_shape=sorted_shape,
        domains=(Domain.SPECIAL,),
        flatbuffer=Flatbuffer(
            table="SortOp",
            fields=(
                ("in", "input"),
                ("dim", "dim"),
                ("descending", "descending"),
                ("stable", "stable"),
                ("outputs", "outputs"),
            ),
        ),
        since=_LATER,
    ),
    OpDefinition(
        mnemonic="topk",
        summary="The k largest or smallest numbers along a dimension in order, and their indices.",
        formula="the first k of sort(input, descending=largest)",
        family=Family.ORDERING,
        operands=(Operand(name="input"),),
        results=_RESULTS,
        parameters=(
            Parameter(name="k", kind=Kind.SI32, doc="How many numbers are taken."),
            _DIM,
            Parameter(name="largest", kind=Kind.BOOL, doc="The largest ones, else the smallest."),
            Parameter(
                name="sorted", kind=Kind.BOOL, doc="The program relies on the order of the results."
            ),
        ),
        reference=_topk,
        result_shape=topk_shape,
        domains=(Domain.SPECIAL,),
        flatbuffer=Flatbuffer(
            table="TopKOp",
            fields=(
                ("in", "input"),
                ("k", "k"),
                ("dim", "dim"),
                ("largest", "largest"),
                ("sorted", "sorted"),
                ("outputs", "outputs"),
            ),
        ),
        since=_LATER,
    ),
)
