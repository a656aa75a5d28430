"""Canonical forms of ttir operations that make their results, for the pass `canonicalize`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import IntegerType, TensorType, i1

from ttmlir.dialects.ttir import ElementwiseOp
from ttmlir.ir.constants import attr_numbers, number_of_elements
from ttmlir.ir.tensor_types import element_type, is_tensor, limits_of, tensor_of, value_shape
from ttmlir.mlir.attributes import (
    ElementsType,
    elements_attr,
    elements_of,
    raw_bytes,
    splat_bytes,
)
from ttmlir.passes.ttir import ttir_value_forms_elementwise, ttir_value_forms_movement
from ttmlir.passes.ttir.constants.ttir_constant_folding import LARGEST
from ttmlir.passes.ttir.ttir_value_forms_elementwise import fold_repeated
from ttmlir.passes.ttir.value_rewriting import elements_known, made_by, parameters_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule


def fold(op: Operation) -> SSAValue | Attribute | None:
    """What the result of an operation is without it; None if it is needed."""
    if not op.operands or len(op.results) != 1:
        return None
    if op.operands[0].type == op.results[0].type:
        if op.name in _VANISHES_WHERE_EQUAL or _is_identity(op):
            return op.operands[0]
    if op.name in _MOVES:
        return _fold_moved(op)
    if op.name == "ttir.where":
        return _fold_where(op)
    if op.name == "ttir.get_dimension_size":
        return _fold_size(op)
    if op.name in _TRUTHS:
        return _fold_truth(op)
    if op.name == "ttir.sum":
        return _fold_sum(op)
    if op.name in _DECIDED and op.operands[0] is not op.operands[1]:
        return _fold_logical(op)
    repeated = fold_repeated(op)
    return _fold_elementwise(op) if repeated is None else repeated


_MOVES = frozenset(
    f"ttir.{name}"
    for name in ("reshape", "broadcast", "permute", "repeat", "repeat_interleave", "slice")
)


_VANISHES_WHERE_EQUAL = frozenset(
    f"ttir.{name}" for name in ("reshape", "broadcast", "typecast", "repeat", "slice", "concat")
)
"""Operations that change nothing where the types of operand and result are equal."""


def _is_identity(op: Operation) -> bool:
    """True for what leaves its operand as it is, though the types alone do not say so."""
    said = parameters_of(op)
    match op.name:
        case "ttir.permute":
            order: tuple[int, ...] = said["permutation"]
            return order == tuple(range(len(order)))
        case "ttir.repeat_interleave":
            return bool(said["repeats"] == 1)
        case "ttir.sum":
            # A sum over dimensions of extent 1 stays.
            return not value_shape(op.operands[0])
        case "ttir.collective_broadcast":
            # Groups of one device, which has what it would get.
            return bool(said["replica_groups"].type.get_shape()[-1] == 1)
        case "ttir.max_pool2d" | "ttir.avg_pool2d":
            windows = (said[name] for name in ("kernel", "stride", "dilation"))
            return all(_are(1, window) for window in windows) and _are(0, said["padding"])
        case _:
            return False


def _are(number: int, said: int | tuple[int, ...]) -> bool:
    return {said} == {number} if isinstance(said, int) else set(said) == {number}


_DECIDED = {"ttir.logical_and": False, "ttir.logical_or": True}
"""The truth that decides an operation, whatever the other operand is."""


def _fold_logical(op: Operation) -> SSAValue | Attribute | None:
    """A constant decides the result, or leaves a truth value as it is."""
    decisive, result = _DECIDED[op.name], op.results[0]
    for value, other in zip(op.operands, reversed(op.operands), strict=True):
        number = _number_of(value)
        if number is None:
            continue
        if bool(number) == decisive:
            element = element_type(result)
            truth = int(decisive) if isinstance(element, IntegerType) else float(decisive)
            return elements_of(cast("ElementsType", result.type), [truth])
        if element_type(result) == i1 and other.type == result.type:
            return other
    return None


def _fold_sum(op: Operation) -> Attribute | None:
    """As often the number of a constant as elements are added."""
    number = _number_of(op.operands[0])
    if number is None:
        return None
    type_ = cast("ElementsType", op.results[0].type)
    total = number * (math.prod(value_shape(op.operands[0])) // math.prod(type_.get_shape()))
    element = type_.get_element_type()
    if not isinstance(element, IntegerType):
        return elements_of(type_, [float(total)])
    if element == i1:
        return elements_of(type_, [int(total != 0)])
    low, high = limits_of(element)
    return elements_of(type_, [int(total)]) if low <= total <= high else None


def _fold_where(op: Operation) -> SSAValue | None:
    """The one value that a choice leaves."""
    condition, first, second = op.operands
    if first is not second:
        number = _number_of(condition)
        if number is None:
            return None
        first = first if number else second
    return first if first.type == op.results[0].type else None


def _fold_size(op: Operation) -> Attribute:
    """The extent of a dimension is known."""
    type_ = cast("ElementsType", op.results[0].type)
    dim: int = parameters_of(op)["dimension"]
    return elements_of(type_, [value_shape(op.operands[0])[dim]])


def _fold_moved(op: Operation) -> Attribute | None:
    """A constant of one number in another shape is a constant; so is one that is reshaped."""
    elements = elements_known(op.operands[0])
    if elements is None:
        return None
    number = splat_bytes(elements)
    if number is None and op.name == "ttir.reshape":
        number = raw_bytes(elements)
    if number is None:
        return None
    shape = value_shape(op.results[0])
    return elements_attr(
        cast("ElementsType", TensorType(elements.get_element_type(), shape)), number
    )


def _fold_elementwise(op: Operation) -> Attribute | None:
    """What is computed of constants of one number is such a constant."""
    if not is_tensor(op.results[0]):
        return None
    if op.name not in _OF_INTEGERS and isinstance(element_type(op.results[0]), IntegerType):
        return _fold_integers(op)
    if op.name not in _COMPUTED or not isinstance(op, ElementwiseOp):
        return None
    numbers: list[float] = []
    for operand in op.operands:
        number = _number_of(operand)
        if number is None:
            return None
        numbers.append(number)
    element = element_type(op.results[0])
    if op.name in _DIVISIONS and numbers[-1] == 0:
        return None
    if op.name == "ttir.clamp" and element_type(op.operands[0]) != element_type(op.results[0]):
        return None
    found = _compute(op, numbers)
    if found is None or (isinstance(element, IntegerType) and not math.isfinite(found)):
        return None
    type_ = cast("ElementsType", tensor_of(element_type(op.results[0]), value_shape(op.results[0])))
    return elements_of(type_, [_in_type(found, type_, element_type(op.operands[0]))])


def _in_type(number: float, type_: ElementsType, source: Attribute) -> float:
    """A finite number as an element: integers keep their lower bits, others go to the limit."""
    if not isinstance(type_.get_element_type(), IntegerType):
        return float(number)
    if isinstance(source, IntegerType):
        return _wrap(int(number), type_)
    low, high = limits_of(type_.get_element_type())
    return int(min(max(number, low), high))


def _fold_integers(op: Operation) -> Attribute | None:
    """What is computed of constant integers of one type, which begin anew beyond their range."""
    compute = _INTEGERS.get(op.name)
    result = op.results[0].type
    if op.name == "ttir.bitwise_xor" and op.operands[0] is op.operands[1]:
        return elements_of(cast("ElementsType", result), [0])
    if compute is None or any(value.type != result for value in op.operands):
        return None
    constants = [elements_known(value) for value in op.operands]
    known = [elements for elements in constants if elements is not None]
    if len(known) != len(constants):
        return None
    type_ = cast("ElementsType", result)
    splats = [number_of_elements(elements) for elements in known]
    if None not in splats:
        rows: Sequence[Sequence[float]] = [[number for number in splats if number is not None]]
    elif math.prod(type_.get_shape()) <= LARGEST:
        lists = [attr_numbers(elements) or () for elements in known]
        whole = math.prod(type_.get_shape())
        rows = [*zip(*(each * whole if len(each) == 1 else each for each in lists), strict=True)]
    else:
        return None
    bits = cast("IntegerType", type_.get_element_type()).width.data
    found = [compute(bits, int(row[0]), int(row[-1])) for row in rows]
    wrapped = [_wrap(n, type_) for n in found if n is not None]
    return elements_of(type_, wrapped) if len(wrapped) == len(found) else None


def _wrap(number: int, type_: ElementsType) -> int:
    """The element with an integer's lower bits; of truth values whether it is not 0."""
    element = type_.get_element_type()
    low = int(limits_of(element)[0])
    bits = cast("IntegerType", element).width.data
    return int(number != 0) if element == i1 else (number - low) % 2**bits + low


_INTEGERS: Mapping[str, Callable[[int, int, int], int | None]] = {
    "ttir.abs": lambda _, a, __: abs(a),
    "ttir.neg": lambda _, a, __: -a,
    "ttir.sign": lambda _, a, __: (a > 0) - (a < 0),
    "ttir.bitwise_not": lambda bits, a, _: a ^ (2**bits - 1),
    "ttir.add": lambda _, a, b: a + b,
    "ttir.subtract": lambda _, a, b: a - b,
    "ttir.multiply": lambda _, a, b: a * b,
    "ttir.div": lambda _, a, b: None if b == 0 else abs(a) // abs(b) * (-1 if a * b < 0 else 1),
    "ttir.remainder": lambda _, a, b: None if b == 0 else abs(a) % abs(b) * (-1 if a < 0 else 1),
    "ttir.maximum": lambda _, a, b: max(a, b),
    "ttir.minimum": lambda _, a, b: min(a, b),
    "ttir.bitwise_and": lambda _, a, b: a & b,
    "ttir.bitwise_or": lambda _, a, b: a | b,
    "ttir.bitwise_xor": lambda _, a, b: a ^ b,
    "ttir.logical_left_shift": lambda bits, a, b: a << b if 0 <= b < bits else 0,
    "ttir.logical_right_shift": lambda bits, a, b: a % 2**bits >> b if 0 <= b < bits else 0,
}
"""What is computed of the width of the type and one or two integers; None for no result.

Powers and arithmetic shifts stay, as in tt-mlir.
"""

_TRUTHS = frozenset(("ttir.eq", "ttir.ne", "ttir.logical_not"))
"""What is true or false of constants of one number; orders of numbers stay, as in tt-mlir."""


def _fold_truth(op: Operation) -> Attribute | None:
    """Whether constants of one number are equal, and equal integers are."""
    numbers = [_number_of(value) for value in op.operands]
    if None not in numbers:
        is_equal = numbers[0] == (0 if op.name == "ttir.logical_not" else numbers[1])
    elif op.operands[0] is op.operands[-1] and op.name != "ttir.logical_not":
        if not isinstance(element_type(op.operands[0]), IntegerType):
            # NaN is not equal to itself.
            return None
        is_equal = True
    else:
        return None
    type_ = cast("ElementsType", op.results[0].type)
    truth = int(is_equal != (op.name == "ttir.ne"))
    is_whole = isinstance(type_.get_element_type(), IntegerType)
    return elements_of(type_, [truth if is_whole else float(truth)])


def _number_of(value: SSAValue) -> float | None:
    """The one number of a constant; None for other values."""
    elements = elements_known(value)
    return None if elements is None else number_of_elements(elements)


_DIVISIONS = frozenset(("ttir.div", "ttir.reciprocal", "ttir.rsqrt"))
"""What stays where it would divide by zero."""
_OF_INTEGERS = frozenset(("ttir.typecast", "ttir.clamp"))
_COMPUTED = _OF_INTEGERS | frozenset(
    f"ttir.{name}"
    for name in (
        *("abs", "atan", "cbrt", "ceil", "cos", "exp", "expm1", "floor", "log", "log1p", "neg"),
        *("reciprocal", "rsqrt", "sign", "sin", "sqrt", "tan"),
        *("add", "atan2", "div", "maximum", "minimum", "multiply", "pow", "remainder", "subtract"),
    )
)
"""What is computed of constants; others, such as tanh and sigmoid, stay, as in tt-mlir."""


def _compute(op: ElementwiseOp, numbers: Sequence[float]) -> float | None:
    """The number that the operation makes of numbers, in 64 bits."""
    import numpy as np

    if op.name == "ttir.typecast":
        return numbers[0]
    arrays: list[Any] = [np.asarray(number, "f8") for number in numbers]
    with np.errstate(all="ignore"):
        try:
            return float(op.DEFINITION.reference(np, *arrays, **op.parameters()))
        except (TypeError, ValueError):
            return None


def _reshape(op: Operation, rewriter: GreedyRewriter) -> bool:
    """A reshape after another is one."""
    inner = op.operands[0].owner
    if getattr(inner, "name", "") != "ttir.reshape":
        return False
    rewriter.set_operand(op, 0, cast("Operation", inner).operands[0])
    rewriter.add(cast("Operation", inner))
    return True


def _topk(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Of one number, it is the largest, at place 0."""
    source, (numbers, places) = op.operands[0], op.results
    if value_shape(source)[parameters_of(op)["dim"]] != 1 or source.type != numbers.type:
        return False
    shape = value_shape(places)
    zeros = rewriter.builder(op).create("zeros", (), places.type, shape=shape)
    rewriter.replace(op, source, zeros)
    return True


def _without_last_one(op: Operation, rewriter: GreedyRewriter) -> bool:
    """An order between reshapes that put in and take out a last dimension of extent 1."""
    moved = made_by(op.operands[0], "permute")
    grown = None if moved is None else made_by(moved.operands[0], "reshape")
    if moved is None or grown is None:
        return False
    order = cast("tuple[int, ...]", tuple(parameters_of(moved)["permutation"]))
    shape, wide = value_shape(grown.operands[0]), value_shape(grown.results[0])
    if wide != (*shape, 1) or order[-1] != len(shape):
        return False
    # That order and the reshape are an operation: the concatenation of heads.
    if order == (0, 2, 1, 3):
        return False
    if (*value_shape(op.results[0]), 1) != value_shape(moved.results[0]):
        return False
    rewriter.replace(op, rewriter.builder(op).permute(grown.operands[0], order[:-1]))
    return True


RULES: Mapping[str, Sequence[Rule]] = {
    "ttir.reshape": (_reshape, _without_last_one),
    "ttir.topk": (_topk,),
    **ttir_value_forms_elementwise.RULES,
    **ttir_value_forms_movement.RULES,
}
"""Rules by the name of the operation."""
