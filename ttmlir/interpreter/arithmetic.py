"""The operations of arith and math, on numbers and on tensors, in place by place.

Numbers inside of loops are arrays too: of all places of the loop at once. Operations that are rows
mean what the row says; casts, comparisons and roundings are written down here.

Source: the documentation of MLIR's dialects arith and math.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, TensorType
from xdsl.ir import Attribute, Operation

from ttmlir.interpreter.execution import Execution, Function, compute_dtype, convert_to
from ttmlir.interpreter.structure import constant
from ttmlir.optable import named_in, named_on_truth, named_unsigned
from ttmlir.optable.row import Row
from ttmlir.runtime.tensor import Array

_Meaning = Callable[..., Any]


def element_of(type_: Attribute) -> Attribute:
    """The type of the numbers in a tensor, or of a number."""
    if isinstance(type_, TensorType):
        return cast("TensorType[Attribute]", type_).element_type
    return type_


def in_type(value: Any, element: Attribute) -> Array:
    """Numbers in the type that stands for one of the IR."""
    array = np.asarray(value)
    if isinstance(element, IndexType):
        return array.astype(np.int64)
    converted = convert_to(array, element)
    if converted is None:
        raise TypeError(f"numbers of type '{element}' cannot be computed with")
    return converted


def _unsigned(value: Array) -> Array:
    """The same bits as numbers without sign."""
    if value.dtype.kind != "i":
        return value
    return value.view(np.dtype(f"u{value.dtype.itemsize}"))


def _function(meaning: _Meaning) -> Function:
    """A function of the operation and its operands, in the type of its result."""

    def run(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
        arrays = [np.asarray(value) for value in operands]
        return (in_type(meaning(op, *arrays), element_of(op.results[0].type)),)

    return run


def _is_truth(op: Operation) -> bool:
    element = element_of(op.results[0].type)
    return isinstance(element, IntegerType) and cast("IntegerType", element).width.data == 1


def _row(row: Row, on_truth: Row | None) -> _Meaning:
    def meaning(op: Operation, *operands: Array) -> Any:
        meant = on_truth if on_truth is not None and _is_truth(op) else row
        return meant.reference(np, *operands)

    return meaning


def _row_without_sign(row: Row) -> _Meaning:
    def meaning(op: Operation, *operands: Array) -> Any:
        if _is_truth(op) and op.name in _ON_TRUTH:
            return _ON_TRUTH[op.name].reference(np, *operands)
        return _signed(row.reference(np, *map(_unsigned, operands)))

    return meaning


def _signed(value: Any) -> Array:
    array = np.asarray(value)
    return array.view(np.dtype(f"i{array.dtype.itemsize}")) if array.dtype.kind == "u" else array


def _select(op: Operation, condition: Array, first: Array, second: Array) -> Any:
    return np.where(condition.astype(np.bool_), first, second)


def _keep(op: Operation, value: Array) -> Array:
    return value


def _extend(op: Operation, value: Array) -> Array:
    """Of one bit with a sign, the set one is -1."""
    return -value.astype(np.int8) if value.dtype.kind == "b" else value


def _from_unsigned(op: Operation, value: Array) -> Array:
    return _unsigned(value)


def _truncate(op: Operation, value: Array) -> Array:
    """An integer of fewer bits, or truth: the lowest bit."""
    return (value & 1).astype(np.bool_) if _is_truth(op) else value


def _bitcast(op: Operation, value: Array) -> Array:
    dtype = compute_dtype(element_of(op.results[0].type))
    if dtype is None or dtype.itemsize != value.dtype.itemsize:
        raise TypeError("bits can be taken for numbers of the same size only")
    return value.view(dtype)


def _compare_floats(op: Operation, first: Array, second: Array) -> Any:
    predicate = cast("IntegerAttr", op.properties["predicate"]).value.data
    unordered = np.isnan(first) | np.isnan(second)
    if predicate in (0, 15):
        return np.full(unordered.shape, predicate == 15)
    if predicate in (7, 14):
        return ~unordered if predicate == 7 else unordered
    names = ("eq", "gt", "ge", "lt", "le", "ne")
    holds = _COMPARISONS[names[(predicate - 1) % 7]](first, second)
    return holds | unordered if predicate > 7 else holds & ~unordered


def _compare_integers(op: Operation, first: Array, second: Array) -> Any:
    predicate = cast("IntegerAttr", op.properties["predicate"]).value.data
    names = ("eq", "ne", "lt", "le", "gt", "ge", "lt", "le", "gt", "ge")
    if predicate > 5:
        first, second = _unsigned(first), _unsigned(second)
    return _COMPARISONS[names[predicate]](first, second)


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _divide_up(op: Operation, first: Array, second: Array) -> Any:
    return np.floor_divide(first, second) + (np.mod(first, second) != 0)


def _round(op: Operation, value: Array) -> Any:
    """Halves go away from 0."""
    return np.trunc(value + np.copysign(0.5, value))


def _array_function(function: Callable[..., Any]) -> _Meaning:
    def meaning(op: Operation, *operands: Array) -> Any:
        return function(*operands)

    return meaning


def _multiply_add(first: Array, second: Array, third: Array) -> Any:
    return first * second + third


def _integer_power(base: Array, exponent: Array) -> Any:
    return np.power(base, exponent.astype(base.dtype))


_OWN: dict[str, _Meaning] = {
    **dict.fromkeys(("arith.extf", "arith.index_cast", "arith.truncf"), _keep),
    **dict.fromkeys(("arith.extsi", "arith.sitofp"), _extend),
    **dict.fromkeys(("arith.extui", "arith.uitofp"), _from_unsigned),
    "arith.bitcast": _bitcast,
    "arith.ceildivsi": _divide_up,
    "arith.cmpf": _compare_floats,
    "arith.cmpi": _compare_integers,
    "arith.floordivsi": _array_function(np.floor_divide),
    "arith.fptosi": _array_function(np.trunc),
    "arith.fptoui": _array_function(np.trunc),
    "arith.maxnumf": _array_function(np.fmax),
    "arith.minnumf": _array_function(np.fmin),
    "arith.select": _select,
    "arith.trunci": _truncate,
    "math.copysign": _array_function(np.copysign),
    "math.fma": _array_function(_multiply_add),
    "math.fpowi": _array_function(_integer_power),
    "math.log10": _array_function(np.log10),
    "math.log2": _array_function(np.log2),
    "math.round": _round,
}
_ON_TRUTH = named_on_truth("arith")
_NAMED = named_in("arith", "math")
_WITHOUT_SIGN = named_unsigned("arith")

ARITH_AND_MATH: dict[str, Function] = {
    **{name: _function(_row(row, _ON_TRUTH.get(name))) for name, row in _NAMED.items()},
    **{name: _function(_row_without_sign(row)) for name, row in _WITHOUT_SIGN.items()},
    **{name: _function(meaning) for name, meaning in _OWN.items()},
    "arith.constant": constant,
}
