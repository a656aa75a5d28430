"""The operations of the tensor dialect: memory, shapes, parts, and numbers in and out.

Source: the documentation of MLIR's dialect tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerAttr, IntegerType
from xdsl.ir import Operation

from ttmlir.interpreter.execution import Execution, Function, compute_dtype, tensor_type
from ttmlir.mlir.reporting import OpError
from ttmlir.runtime.tensor import Array

_Operands = Sequence[Any]


def empty_tensor(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
    """Memory of a result that is not read before it is written, without memory for each element."""
    type_ = tensor_type(op.results[0].type)
    if type_ is None:
        raise OpError(op, "the shape of its result is not known; give tensors static shapes")
    return (np.broadcast_to(np.zeros((), compute_dtype(type_.element_type)), type_.get_shape()),)


def _shape(op: Operation) -> tuple[int, ...]:
    type_ = tensor_type(op.results[0].type)
    if type_ is None:
        raise OpError(op, "the shape of its result is not known; give tensors static shapes")
    return tuple(type_.get_shape())


def _integers(op: Operation, name: str) -> tuple[int, ...]:
    return tuple(cast("DenseArrayBase[IntegerType]", op.properties[name]).iter_values())


def _numbers(op: Operation, name: str, operands: Iterator[Any]) -> list[int]:
    """Those of a property, with operands where it leaves numbers open."""
    return [
        int(next(operands)) if number == DYNAMIC_INDEX else number
        for number in _integers(op, f"static_{name}")
    ]


def _part(op: Operation, operands: _Operands) -> tuple[tuple[slice, ...], list[int]]:
    """Where a slice is in the whole tensor, and how large it is in each of its dimensions."""
    given = iter(operands)
    starts, sizes, steps = (_numbers(op, name, given) for name in ("offsets", "sizes", "strides"))
    slices = tuple(
        slice(start, start + (size - 1) * step + 1, step)
        for start, size, step in zip(starts, sizes, steps, strict=True)
    )
    return slices, sizes


def _pad(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
    given = iter(operands[1:])
    low, high = _numbers(op, "low", given), _numbers(op, "high", given)
    shape = tuple(np.add(operands[0].shape, np.add(low, high)))
    points = np.indices(shape, sparse=True)
    (fill,) = execution.run_region(op.regions[0], points)
    result = np.array(np.broadcast_to(fill, shape), operands[0].dtype)
    inner = zip(low, operands[0].shape, strict=True)
    result[tuple(slice(start, start + extent) for start, extent in inner)] = operands[0]
    return (result,)


def _of_arrays(reference: Callable[..., Any]) -> Function:
    def run(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
        return (reference(op, *operands),)

    return run


def _cast(op: Operation, value: Array) -> Array:
    return value


def _reshape(op: Operation, value: Array, *shape: Any) -> Array:
    return value.reshape(_shape(op))


def _concat(op: Operation, *values: Array) -> Array:
    return np.concatenate(values, cast("IntegerAttr", op.properties["dim"]).value.data)


def _extract_slice(op: Operation, whole: Array, *numbers: Any) -> Array:
    slices, _ = _part(op, numbers)
    return whole[slices].reshape(_shape(op))


def _insert_slice(op: Operation, part: Array, whole: Array, *numbers: Any) -> Array:
    slices, sizes = _part(op, numbers)
    result = np.array(whole)
    result[slices] = part.reshape(sizes)
    return result


def _splat(op: Operation, value: Any, *extents: Any) -> Array:
    return np.broadcast_to(np.asarray(value), _shape(op))


def _from_elements(op: Operation, *values: Any) -> Array:
    return np.asarray([np.asarray(value).reshape(()) for value in values]).reshape(_shape(op))


def _extract(op: Operation, whole: Array, *place: Any) -> Array:
    return whole[tuple(np.asarray(index) for index in place)]


def _insert(op: Operation, value: Any, whole: Array, *place: Any) -> Array:
    result = np.array(whole)
    result[tuple(np.asarray(index) for index in place)] = value
    return result


FUNCTIONS: dict[str, Function] = {
    "tensor.cast": _of_arrays(_cast),
    "tensor.collapse_shape": _of_arrays(_reshape),
    "tensor.concat": _of_arrays(_concat),
    "tensor.empty": empty_tensor,
    "tensor.expand_shape": _of_arrays(_reshape),
    "tensor.extract": _of_arrays(_extract),
    "tensor.extract_slice": _of_arrays(_extract_slice),
    "tensor.from_elements": _of_arrays(_from_elements),
    "tensor.insert": _of_arrays(_insert),
    "tensor.insert_slice": _of_arrays(_insert_slice),
    "tensor.pad": _pad,
    "tensor.reshape": _of_arrays(_reshape),
    "tensor.splat": _of_arrays(_splat),
}
"""Operations of tensor by name."""
