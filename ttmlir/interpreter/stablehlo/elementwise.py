"""Operations on each element by itself, most of them by the rows of the operation table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ComplexType, FloatAttr, IntegerAttr, TensorType
from xdsl.ir import Attribute, Operation

from ttmlir import optable
from ttmlir.dialects.stablehlo.enums import EnumAttr
from ttmlir.dialects.stablehlo.text.form import integer
from ttmlir.interpreter.execution import Execution
from ttmlir.interpreter.values import Function, constant_array, host_dtype, runtime_element
from ttmlir.optable.row import Row
from ttmlir.runtime.element import Array, cast_rounding, convert

Meaning = Callable[..., Any]

_NAMED = optable.named_in("stablehlo", "chlo")
_ON_TRUTH = optable.named_on_truth("stablehlo")


def element_type(op: Operation, *, result: bool = True) -> Attribute:
    """The element type of an operation's first result, or of its first operand."""
    type = op.results[0].type if result else op.operands[0].type
    return cast("TensorType[Attribute]", type).element_type


def elementwise(meaning: Meaning) -> Function:
    """A function of the operands' arrays as that of an operation."""

    def run(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
        return (meaning(*operands),)

    return run


def _by_row(row: Row, truth: Row | None) -> Function:
    def run(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
        is_truth = truth is not None and operands[0].dtype.kind == "b"
        return ((truth if truth is not None and is_truth else row).reference(np, *operands),)

    return run


def _compare(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    direction = cast("EnumAttr", op.properties["comparison_direction"]).data
    kind = op.properties.get("compare_type")
    if isinstance(kind, EnumAttr) and kind.data == "TOTALORDER":
        operands = tuple(_total_order(operand) for operand in operands)
    return (optable.COMPARISONS[direction].reference(np, *operands),)


def _total_order(array: Array) -> Array:
    """Integers in the order -NaN, -inf, ..., -0, 0, ..., inf, NaN."""
    bits = array.view(f"i{array.dtype.itemsize}")
    lowest = np.iinfo(bits.dtype).min
    return np.where(bits < 0, lowest - bits - 1, bits)


def _convert(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    type = element_type(op)
    is_complex = operands[0].dtype.kind == "c" and type.name != ComplexType.name
    value: Array = operands[0].real if is_complex else operands[0]
    target = runtime_element(type)
    if target is None:
        return (value,)
    converted = convert(value, target.compute)
    rounding = cast_rounding(target)
    return (converted if rounding is None else rounding(converted),)


def _bitcast(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    (value,) = operands
    source = _storage(element_type(op, result=False))
    target = _storage(element_type(op))
    data = np.ascontiguousarray(value.astype(source))
    shape = cast("TensorType[Attribute]", op.results[0].type).get_shape()
    return (np.frombuffer(data.tobytes(), target).reshape(shape),)


def _storage(type: Attribute) -> np.dtype[Any]:
    """The type that has the bits of an element type."""
    dtype = host_dtype(type)
    if dtype is None or dtype.kind == "b":
        raise ValueError(f"the bits of '{type}' cannot be looked at")
    return dtype


def _reduce_precision(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    """Round to nearest even at the mantissa, overflow to infinity, underflow to zero."""
    exponent_bits, mantissa_bits = integer(op, "exponent_bits"), integer(op, "mantissa_bits")
    value = np.asarray(operands[0], np.float64)
    bias = (1 << (exponent_bits - 1)) - 1
    fraction, exponent = np.frexp(value)
    steps = float(1 << (mantissa_bits + 1))
    rounded = np.ldexp(np.rint(fraction * steps) / steps, exponent)
    largest = np.ldexp(2.0 - 2.0**-mantissa_bits, bias)
    rounded = np.where(np.abs(rounded) > largest, np.copysign(np.inf, value), rounded)
    rounded = np.where(np.abs(rounded) < np.ldexp(1.0, 1 - bias), np.copysign(0.0, value), rounded)
    return (np.where(np.isfinite(value), rounded, value),)


def _shift_right(value: Array, amount: Array) -> Array:
    """Arithmetic shift; by as many bits as there are, or more, only signs are left."""
    bits = value.dtype.itemsize * 8
    signed = value.view(f"i{value.dtype.itemsize}")
    too_far = (amount < 0) | (amount >= bits)
    shifted = signed >> np.where(too_far, bits - 1, amount).astype(signed.dtype)
    return shifted.view(value.dtype)


def _round_away(value: Array) -> Array:
    """To the nearest whole number, halves away from zero."""
    whole = np.trunc(value)
    return np.where(np.abs(value - whole) >= 0.5, whole + np.sign(value), whole)


def _clamp(low: Array, value: Array, high: Array) -> Array:
    return np.minimum(np.maximum(value, low), high)


def _constant(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (constant_array(op, op.properties["value"]),)


def _constant_like(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    number = cast("IntegerAttr | FloatAttr", op.properties["value"]).value.data
    return (np.full(operands[0].shape, number, operands[0].dtype),)


def _iota(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    shape = cast("TensorType[Attribute]", op.results[0].type).get_shape()
    dimension = integer(op, "iota_dimension")
    numbers = np.arange(shape[dimension])
    places = [1] * len(shape)
    places[dimension] = shape[dimension]
    return (np.broadcast_to(numbers.reshape(places), shape),)


def _sign(value: Array) -> Array:
    if np.iscomplexobj(value):
        size = np.abs(value)
        return np.where(size == 0, 0, value / np.where(size == 0, 1, size))
    return np.sign(value)


_DIGAMMA_SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
_DIGAMMA_STEPS = 10


def _digamma(value: Array) -> Array:
    """The asymptotic series of large numbers, reached by steps; reflected below a half."""
    x = np.asarray(value, np.float64)
    z = np.where(x < 0.5, 1 - x, x)
    large = z + _DIGAMMA_STEPS
    result = np.log(large) - 0.5 / large
    for step in range(_DIGAMMA_STEPS):
        result = result - 1 / (z + step)
    for power, factor in enumerate(_DIGAMMA_SERIES):
        result = result - factor / large ** (2 * power + 2)
    reflected = result - np.pi / np.tan(np.pi * x)
    is_pole = (x <= 0) & (x == np.floor(x))
    return np.where(is_pole, np.nan, np.where(x < 0.5, reflected, result))


def _logistic(value: Array) -> Array:
    """The row is for real numbers only."""
    if np.iscomplexobj(value):
        return 1 / (1 + np.exp(-value))
    return _NAMED["stablehlo.logistic"].reference(np, value)


def _complex(real: Array, imaginary: Array) -> Array:
    return real + 1j * imaginary


def _is_positive_infinity(value: Array) -> Array:
    return value == np.inf


def _is_negative_infinity(value: Array) -> Array:
    return value == -np.inf


_OWN: dict[str, Function] = {
    "chlo.conj": elementwise(np.conj),
    "chlo.constant": _constant,
    "chlo.constant_like": _constant_like,
    "chlo.digamma": elementwise(_digamma),
    "chlo.is_inf": elementwise(np.isinf),
    "chlo.is_neg_inf": elementwise(_is_negative_infinity),
    "chlo.is_pos_inf": elementwise(_is_positive_infinity),
    "chlo.next_after": elementwise(np.nextafter),
    "stablehlo.bitcast_convert": _bitcast,
    "stablehlo.clamp": elementwise(_clamp),
    "stablehlo.compare": _compare,
    "stablehlo.complex": elementwise(_complex),
    "stablehlo.constant": _constant,
    "stablehlo.convert": _convert,
    "stablehlo.imag": elementwise(np.imag),
    "stablehlo.iota": _iota,
    "stablehlo.logistic": elementwise(_logistic),
    "stablehlo.real": elementwise(np.real),
    "stablehlo.reduce_precision": _reduce_precision,
    "stablehlo.round_nearest_afz": elementwise(_round_away),
    "stablehlo.select": elementwise(np.where),
    "stablehlo.shift_right_arithmetic": elementwise(_shift_right),
    "stablehlo.sign": elementwise(_sign),
}

ELEMENTWISE: dict[str, Function] = {
    **{name: _by_row(row, _ON_TRUTH.get(name)) for name, row in _NAMED.items()},
    **_OWN,
}
"""Operations of this module by name; arrays of any one shape may be given to those that compute."""
