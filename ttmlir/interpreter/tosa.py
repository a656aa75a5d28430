"""The operations of tosa, as far as the compiler takes them: zero points are 0, NaN is kept.

Operations on elements, and reductions, are rows; what has axes and windows is written down here.

Source: the TOSA specification, version 1.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, TensorType
from xdsl.ir import Attribute, Operation

from ttmlir.interpreter.execution import Execution, Function, compute_dtype, constant_array
from ttmlir.interpreter.structure import run_if, run_while
from ttmlir.optable import named_in
from ttmlir.optable.row import Family, Row
from ttmlir.passes.tosa.tosa_operands import number, numbers
from ttmlir.runtime.tensor import Array

Operands = Sequence[Any]


def _result_type(op: Operation) -> TensorType[Attribute]:
    return cast("TensorType[Attribute]", op.results[0].type)


def _shape(op: Operation) -> tuple[int, ...]:
    return tuple(_result_type(op).get_shape())


def _by_row(row: Row) -> Function:
    def run(execution: Execution, op: Operation, operands: Operands) -> Operands:
        return (row.reference(np, *operands),)

    return run


def _reduce(row: Row) -> Function:
    def run(execution: Execution, op: Operation, operands: Operands) -> Operands:
        dims = (number(op, "axis"),)
        return (row.reference(np, operands[0], dim_arg=dims, keep_dim=True),)

    return run


def _of_arrays(meaning: Callable[..., Any]) -> Function:
    """A function of the operation and its operands' arrays."""

    def run(execution: Execution, op: Operation, operands: Operands) -> Operands:
        return (meaning(op, *operands),)

    return run


def _constant(op: Operation) -> Array:
    value = op.properties.get("value")
    return constant_array(op, op.properties["values"] if value is None else value)


def _clamp(op: Operation, value: Array) -> Array:
    names = ("min_val", "max_val") if "min_val" in op.properties else ("min_fp", "max_fp")
    if "min_int" in op.properties and value.dtype.kind != "f":
        names = ("min_int", "max_int")
    low, high = (cast("FloatAttr | IntegerAttr", op.properties[name]).value.data for name in names)
    return np.minimum(np.maximum(value, low), high)


def _multiply(op: Operation, first: Array, second: Array, *shift: Array) -> Array:
    # Narrow integers make wide products.
    dtype = compute_dtype(_result_type(op).element_type)
    return first.astype(dtype) * second.astype(dtype)


def _pad(op: Operation, value: Array, *given: Array) -> Array:
    padding = np.asarray(numbers(op, "padding", 1)).reshape(-1, 2)
    fill = given[1].reshape(-1)[0] if len(given) > 1 else 0
    return np.pad(value, padding, constant_values=fill)


def _slice(op: Operation, value: Array, *given: Array) -> Array:
    starts = zip(numbers(op, "start", 1), _shape(op), strict=True)
    return value[tuple(slice(start, start + extent) for start, extent in starts)]


def _tile(op: Operation, value: Array, *given: Array) -> Array:
    return np.tile(
        value, [to // max(1, of) for to, of in zip(_shape(op), value.shape, strict=True)]
    )


def _fully_connected(op: Operation, value: Array, weight: Array, bias: Array) -> Array:
    dtype = compute_dtype(_result_type(op).element_type)
    return value.astype(dtype) @ weight.astype(dtype).T + bias.astype(dtype)


def _matrix_product(op: Operation, first: Array, second: Array, *zero_points: Array) -> Array:
    dtype = compute_dtype(_result_type(op).element_type)
    return first.astype(dtype) @ second.astype(dtype)


def _array(op: Operation, name: str, default: Sequence[int] = ()) -> tuple[int, ...]:
    attr = op.properties.get(name)
    if attr is None:
        return tuple(default)
    return tuple(cast("DenseArrayBase[Any]", attr).iter_values())


def _windows(
    op: Operation, image: Array, kernel: Sequence[int], fill: float
) -> Iterator[tuple[int, int, Array]]:
    """For each place in a window, what the windows of all results have there: NHWC."""
    top, bottom, left, right = _array(op, "pad")
    padded = np.pad(
        image, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=cast("Any", fill)
    )
    strides, dilations = _array(op, "stride"), _array(op, "dilation", (1, 1))
    _, height, width, _ = _shape(op)
    for y, x in np.ndindex(*kernel):
        rows = slice(y * dilations[0], y * dilations[0] + (height - 1) * strides[0] + 1, strides[0])
        columns = x * dilations[1]
        last = columns + (width - 1) * strides[1] + 1
        yield y, x, padded[:, rows, columns : last : strides[1]]


def _conv2d(op: Operation, image: Array, weight: Array, bias: Array, *zero: Array) -> Array:
    dtype = compute_dtype(_result_type(op).element_type)
    total = np.zeros(_shape(op), dtype)
    for y, x, part in _windows(op, image.astype(dtype), weight.shape[1:3], 0):
        total += part @ weight[:, y, x].astype(dtype).T
    return total + bias.astype(dtype)


def _depthwise(op: Operation, image: Array, weight: Array, bias: Array, *zero: Array) -> Array:
    dtype = compute_dtype(_result_type(op).element_type)
    total = np.zeros(_shape(op), dtype)
    for y, x, part in _windows(op, image.astype(dtype), weight.shape[:2], 0):
        total += (part[..., None] * weight[y, x].astype(dtype)).reshape(total.shape)
    return total + bias.astype(dtype)


def _max_pool(op: Operation, image: Array, *zero: Array) -> Array:
    is_float = image.dtype.kind == "f"
    fill = -np.inf if is_float else np.iinfo(image.dtype).min
    parts = [part for _, _, part in _windows(op, image, _array(op, "kernel"), fill)]
    return np.max(parts, axis=0)


def _average_pool(op: Operation, image: Array, *zero: Array) -> Array:
    kernel = _array(op, "kernel")
    total = sum(part for _, _, part in _windows(op, image, kernel, 0))
    count = sum(part for _, _, part in _windows(op, np.ones_like(image), kernel, 0))
    return np.asarray(total) / np.asarray(count)


def _argmax(op: Operation, value: Array) -> Array:
    return np.argmax(value, axis=number(op, "axis"))


def _cast(op: Operation, value: Array) -> Array:
    dtype = compute_dtype(_result_type(op).element_type)
    is_rounded = value.dtype.kind == "f" and dtype is not None and dtype.kind in "iu"
    return np.rint(value) if is_rounded else value


def _concat(op: Operation, *values: Array) -> Array:
    return np.concatenate(values, number(op, "axis"))


def _keep(op: Operation, value: Array) -> Array:
    return value


def _negate(op: Operation, value: Array, *zero: Array) -> Array:
    return -value


def _no_value(op: Operation) -> None:
    """Shapes are read where they are used."""


def _reshape(op: Operation, value: Array, *shape: Array) -> Array:
    return value.reshape(_shape(op))


def _reverse(op: Operation, value: Array) -> Array:
    return np.flip(value, number(op, "axis"))


def _transpose(op: Operation, value: Array, *order: Array) -> Array:
    return value.transpose(numbers(op, "perms", 1))


_OWN: dict[str, Callable[..., Any]] = {
    "tosa.argmax": _argmax,
    "tosa.avg_pool2d": _average_pool,
    "tosa.cast": _cast,
    "tosa.clamp": _clamp,
    "tosa.concat": _concat,
    "tosa.const": _constant,
    "tosa.const_shape": _no_value,
    "tosa.conv2d": _conv2d,
    "tosa.depthwise_conv2d": _depthwise,
    "tosa.fully_connected": _fully_connected,
    "tosa.identity": _keep,
    "tosa.matmul": _matrix_product,
    "tosa.max_pool2d": _max_pool,
    "tosa.mul": _multiply,
    "tosa.negate": _negate,
    "tosa.pad": _pad,
    "tosa.reshape": _reshape,
    "tosa.reverse": _reverse,
    "tosa.slice": _slice,
    "tosa.tile": _tile,
    "tosa.transpose": _transpose,
}

FUNCTIONS: dict[str, Function] = {
    **{
        name: _reduce(row) if row.family is Family.REDUCTION else _by_row(row)
        for name, row in named_in("tosa").items()
        if row.family is Family.REDUCTION or row.family.is_elementwise
    },
    **{name: _of_arrays(meaning) for name, meaning in _OWN.items()},
    "tosa.cond_if": run_if,
    "tosa.while_loop": run_while,
}
"""Operations of tosa by name."""


def can_interpret(op: Operation) -> bool:
    """False for what is written down here for floating point only."""
    if op.name != "tosa.avg_pool2d":
        return True
    dtype = compute_dtype(_result_type(op).element_type)
    return dtype is not None and dtype.kind == "f"
