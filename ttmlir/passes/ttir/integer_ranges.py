"""Where integers of 64 bits may be larger than the 32 bits that kernels keep of them.

Bounds of values follow from constants, extents and element types, operation by operation. What
nothing is known of may be anything; what it is cut to is taken for granted afterwards, so that
causes are found and not all that follows from them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, TensorType
from xdsl.ir import Block, BlockArgument

from ttmlir.ir.constants import constant_numbers, splat_number
from ttmlir.ir.rewriting import symbol_visibility
from ttmlir.ir.tensor_types import element_type, limits_of, value_shape
from ttmlir.optable import DEFINITIONS

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation, SSAValue

Range = tuple[float, float]
"""The least and the greatest number."""

_WIDE = 64
_KEPT = 32
_SELECTIONS = frozenset(
    "where maximum minimum max min clamp relu pad mean sort topk embedding gather scatter "
    "scatter_maximum scatter_minimum slice_dynamic slice_write max_pool2d to_layout".split()
)
"""Operations that give elements of their operands, numbers between them, or their own bounds."""
_INDICES = ("index", "begins")
_SMALL = 4096
"""Numbers of a constant that are always looked at."""


def find_cut_integers(module: ModuleOp) -> Iterator[SSAValue]:
    """The values of a module in ttir whose numbers may not fit into 32 bits, at their causes.

    Values that only choose elements, or become integers of 32 bits anyway, are left out. Arguments
    and results of loops and calls are what operations inside of them give.
    """
    known: dict[SSAValue, Range] = {}
    for op in module.walk():
        is_public = op.name == "func.func" and symbol_visibility(op) == "public"
        arguments = op.regions[0].block.args if is_public else ()
        is_computed = op.name.startswith("ttir.") and not op.regions
        for value in (*arguments, *(op.results if is_computed else ())):
            kept = _kept_of(value)
            if kept is None or _is_destination(value):
                continue
            found = _range_of(op, value, known)
            if found is not None and kept[0] <= found[0] and found[1] <= kept[1]:
                known[value] = found
            elif _width(value) == _WIDE and not _is_harmless(value):
                yield value


def _width(value: SSAValue) -> int:
    """The bits of integers in a tensor; 0 for other values."""
    element = element_type(value) if isinstance(value.type, TensorType) else None
    return cast("IntegerType", element).width.data if isinstance(element, IntegerType) else 0


def _kept_of(value: SSAValue) -> Range | None:
    """What kernels keep of integers; None for other values."""
    width = _width(value)
    if width == 0:
        return None
    element = cast("IntegerType", element_type(value))
    return limits_of(IntegerType(min(width, _KEPT), element.signedness.data))


def _is_harmless(value: SSAValue) -> bool:
    """True for numbers of which no more than 32 bits count: places, and what is cut anyway."""
    for use in value.uses:
        op = use.operation
        definition = DEFINITIONS.get(op.name.removeprefix("ttir."))
        if definition is None:
            return False
        names = [operand.name for operand in definition.operands]
        name = names[min(use.index, len(names) - 1)] if names else ""
        is_place = name in _INDICES or (op.name == "ttir.embedding" and use.index == 0)
        is_cut = op.name == "ttir.typecast" and 1 < _width(op.results[0]) <= _KEPT
        if not (is_place or is_cut or (definition.moves and _is_harmless(op.results[0]))):
            return False
    return True


def _range_of(op: Operation, value: SSAValue, known: dict[SSAValue, Range]) -> Range | None:
    """The bounds of a result by those of the operands; None if they are not known."""
    name = op.name.removeprefix("ttir.")
    definition = DEFINITIONS.get(name)
    if isinstance(value, BlockArgument) or (definition is None and name not in _SELECTIONS):
        return None
    inputs = [each for each in op.operands if not _is_destination(each)]

    def range_of(each: SSAValue) -> Range | None:
        return known.get(each, _kept_of(each))

    if name in ("constant", "full", "arange"):
        return _range_of_made(op)
    if name == "argmax" or (name in ("sort", "topk") and value is op.results[1]):
        return 0, math.prod(value_shape(inputs[0])) - 1
    if name in _SELECTIONS or (definition is not None and definition.moves):
        element = element_type(op.results[0])
        inputs = [each for each in inputs if element_type(each) == element]
        ranges = [range_of(each) for each in inputs]
        bounds = [*map(float, _numbers_in(op, "min", "max", "value"))] + [0.0] * (name == "relu")
        return _hull([*ranges, *((each, each) for each in bounds)])
    ranges = [range_of(each) for each in inputs]
    if not ranges or any(each is None for each in ranges):
        return None
    return _range_of_computed(name, op, cast("Sequence[Range]", ranges))


def _range_of_computed(name: str, op: Operation, ranges: Sequence[Range]) -> Range | None:
    (low, high), (least, most) = ranges[0], ranges[-1]
    size = max(abs(low), abs(high))
    match name:
        case "add":
            return low + least, high + most
        case "subtract":
            return low - most, high - least
        case "multiply" | "square":
            products = [a * b for a in (low, high) for b in (least, most)]
            return min(products), max(products)
        case "abs" | "neg":
            return -size, size
        case "div":
            return (min(low / least, 0), max(high / least, 0)) if least > 0 else (-size, size)
        case "remainder":
            rest = max(abs(least), abs(most)) - 1
            return max(-rest, min(low, 0)) if least > 0 else -rest, rest
        case "sum" | "cumsum":
            count = math.prod(value_shape(op.operands[0]))
            if name == "sum":
                count //= max(math.prod(value_shape(op.results[0])), 1)
            return min(low * count, low), max(high * count, high)
        case "scatter_add":
            count = math.prod(value_shape(op.operands[2]))
            return low + min(least * count, 0), high + max(most * count, 0)
        case _:
            return _range_of_bits(name, ranges)


def _range_of_bits(name: str, ranges: Sequence[Range]) -> Range | None:
    low, high = ranges[0]
    if name == "typecast":
        return low, high
    if name == "sign":
        return -1, 1
    if name == "right_shift":
        return min(low, 0), max(high, 0)
    if not name.startswith("bitwise_"):
        return None
    # As many bits as the longest operand has, and a sign if one can have it.
    whole = 2.0 ** max(math.frexp(max(-least - 1, most))[1] for least, most in ranges)
    is_signed = name == "bitwise_not" or min(least for least, _ in ranges) < 0
    return -whole if is_signed else 0, whole - 1


def _is_destination(value: SSAValue) -> bool:
    owner = value.owner
    return not isinstance(owner, Block) and owner.name in ("tensor.empty", "ttir.empty")


def _range_of_made(op: Operation) -> Range | None:
    """The bounds of what has no operands."""
    (value,) = op.results
    if op.name == "ttir.constant":
        splat = splat_number(value)
        # Weights of few bits are many numbers, and fit.
        is_read = _width(value) == _WIDE or math.prod(value_shape(value)) <= _SMALL
        numbers = (splat,) if splat is not None else constant_numbers(value) if is_read else None
    else:
        numbers = _numbers_in(op, "fill_value", "start", "end")
    return (min(numbers), max(numbers)) if numbers else None


def _numbers_in(op: Operation, *names: str) -> list[float]:
    """The finite numbers among properties of these names."""
    found = [op.properties.get(name) for name in names]
    numbers = [each.value.data for each in found if isinstance(each, IntegerAttr | FloatAttr)]
    return [each for each in numbers if math.isfinite(each)]


def _hull(ranges: Sequence[Range | None]) -> Range | None:
    """What holds all of some ranges; None if one of them is not known."""
    whole = [each for each in ranges if each is not None]
    if not whole or len(whole) < len(ranges):
        return None
    return min(each[0] for each in whole), max(each[1] for each in whole)
