"""Checks of shapes and element types that many operations of StableHLO have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import NoReturn, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Operation

from ttmlir.dialects.definition.ods import refuse, text
from ttmlir.dialects.quant import uniform_of

Shape = tuple[int, ...]
DYNAMIC = DYNAMIC_INDEX


def shaped(type: Attribute) -> TensorType[Attribute]:
    """A type that the constraints have found to be a tensor."""
    return cast("TensorType[Attribute]", type)


def shape_of(type: Attribute) -> Shape:
    """The extents of a tensor."""
    return shaped(type).get_shape()


def element_of(type: Attribute) -> Attribute:
    """The element type of a tensor."""
    return shaped(type).element_type


def elements_agree(a: Attribute, b: Attribute) -> bool:
    """True for equal element types, and for quantized ones that differ in scales alone."""
    if a == b:
        return True
    first, second = uniform_of(a), uniform_of(b)
    return first is not None and second is not None and first.kind == second.kind


def extents_agree(a: Shape, b: Shape) -> bool:
    """True if the shapes are equal as far as their extents are known."""
    return len(a) == len(b) and all(x == y or DYNAMIC in (x, y) for x, y in zip(a, b, strict=True))


def shape_text(shape: Sequence[int]) -> str:
    """`[2, 3]` with `?` for an unknown extent."""
    return "[" + ", ".join("?" if extent == DYNAMIC else str(extent) for extent in shape) + "]"


SAME_SHAPE = "requires the same shape for all operands and results"


def check_shapes_agree(types: Sequence[Attribute], words: str = SAME_SHAPE) -> None:
    """Refuse tensors of different shapes."""
    first = shape_of(types[0])
    if not all(extents_agree(first, shape_of(type)) for type in types[1:]):
        refuse(words)


def check_compatible(
    types: Sequence[Attribute],
    words: str = "requires compatible types for all operands and results",
) -> None:
    """Refuse tensors of different shapes or element types."""
    first = types[0]
    for type in types[1:]:
        if type is first:
            continue
        same = elements_agree(element_of(type), element_of(first))
        if not same or not extents_agree(shape_of(type), shape_of(first)):
            refuse(words)


def refuse_inferred(op: Operation, inferred: Sequence[Attribute]) -> NoReturn:
    """Refuse result types that are not those that the operands determine."""
    expected = ", ".join(f"'{text(type)}'" for type in inferred)
    got = ", ".join(f"'{text(result.type)}'" for result in op.results)
    refuse(f"inferred type(s) {expected} are incompatible with return type(s) of operation {got}")


_INFERRED: ContextVar[list[Attribute] | None] = ContextVar("_INFERRED", default=None)
"""Where checks leave the types that they find, instead of comparing them with the results."""


def infer_types(check: Callable[[], None]) -> Sequence[Attribute]:
    """The types of results that the check of an operation finds from its operands.

    None at all if the check compares no types. Raises what the check raises.
    """
    found: list[Attribute] = []
    token = _INFERRED.set(found)
    try:
        check()
    finally:
        _INFERRED.reset(token)
    return found


def leave_inferred(*inferred: Attribute) -> bool:
    """True if the types are asked for, and not to be compared."""
    wanted = _INFERRED.get()
    if wanted is not None:
        wanted += inferred
    return wanted is not None


def check_inferred(op: Operation, *inferred: Attribute) -> None:
    """Compare the results with the types that the operands determine."""
    if leave_inferred(*inferred):
        return
    for result, type in zip(op.results, inferred, strict=True):
        got = result.type
        if got == type:
            continue
        same = elements_agree(element_of(got), element_of(type))
        if not same or not extents_agree(shape_of(got), shape_of(type)):
            refuse_inferred(op, inferred)
