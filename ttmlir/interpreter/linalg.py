"""The operations of linalg: loops with a body, and those with a name.

A loop runs for all places of its parallel iterators at once, and one after the other for the places
of the others. Loops over tiles, which d2m has, are in `ttmlir.interpreter.d2m`.

Source: the documentation of MLIR's dialect linalg.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, IntegerAttr, IntegerType
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.dialects.linalg.ops import GenericOp, IndexOp
from xdsl.ir import Operation

from ttmlir.dialects.tt.layout import TileType
from ttmlir.interpreter.arrays import element_of_value, in_type
from ttmlir.interpreter.d2m import extents_of, loop_over_tiles
from ttmlir.interpreter.execution import Execution, Function
from ttmlir.mlir.attributes import layout_map
from ttmlir.optable import ROWS
from ttmlir.optable.linalg import CONTRACTIONS, CONVOLUTIONS, DEPTHWISE, ELEMENTWISE, POOLINGS
from ttmlir.runtime.tensor import Array

_Operands = Sequence[Any]


def _generic(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
    assert isinstance(op, GenericOp)
    if isinstance(element_of_value(op.operands[0]), TileType):
        return loop_over_tiles(execution, op, operands)
    maps = [layout_map(each) for each in op.indexing_maps.data]
    arrays = [np.asarray(operand) for operand in operands]
    extents = extents_of(maps, arrays)
    kinds = [kind.data for kind in op.iterator_types.data]
    parallel = [n for n, kind in enumerate(kinds) if kind is IteratorType.PARALLEL]
    others = [n for n, kind in enumerate(kinds) if kind is not IteratorType.PARALLEL]
    point: list[Any] = [0] * len(kinds)
    for axis, iterator in enumerate(parallel):
        shape = [1] * len(parallel)
        shape[axis] = extents[iterator]
        point[iterator] = np.arange(extents[iterator]).reshape(shape)
    inputs = arrays[: len(op.inputs)]
    outs = [np.array(each) for each in arrays[len(op.inputs) :]]
    for places in np.ndindex(*(extents[iterator] for iterator in others)):
        for iterator, place in zip(others, places, strict=True):
            point[iterator] = place
        at = [each.eval(point) for each in maps]
        numbers = [array[index] for array, index in zip((*inputs, *outs), at, strict=True)]
        execution.loops.append(tuple(point))
        results = execution.run_region(op.body, numbers)
        execution.loops.pop()
        for out, index, result in zip(outs, at[len(inputs) :], results, strict=True):
            out[index] = result
    return outs


def _index(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
    assert isinstance(op, IndexOp)
    return (execution.loops[-1][op.dim.value.data],)


def _map(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
    (result,) = execution.run_region(op.regions[0], operands[:-1])
    return (np.broadcast_to(result, operands[-1].shape),)


def _reduce(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
    dims = sorted(_numbers(op, "dimensions"))
    count = len(operands) // 2
    first = [np.moveaxis(each, dims, range(len(dims))) for each in operands[:count]]
    held = [np.array(each) for each in operands[count:]]
    for place in np.ndindex(*(operands[0].shape[dim] for dim in dims)):
        held = list(execution.run_region(op.regions[0], [*(x[place] for x in first), *held]))
    return held


def _numbers(op: Operation, name: str, count: int = 0) -> tuple[int, ...]:
    """Numbers of a property or attribute; ones if it is not there."""
    attr = op.properties.get(name, op.attributes.get(name))
    if attr is None:
        return (1,) * count
    if isinstance(attr, DenseIntOrFPElementsAttr):
        values = tuple(int(value) for value in attr.get_values())
        return values * (count // len(values)) if count else values
    return tuple(cast("DenseArrayBase[IntegerType]", attr).iter_values())


def _fill(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
    return (np.broadcast_to(operands[0], operands[1].shape),)


def _transpose(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
    return (operands[0].transpose(_numbers(op, "permutation")),)


def _broadcast(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
    repeated = np.expand_dims(operands[0], _numbers(op, "dimensions"))
    return (np.broadcast_to(repeated, operands[1].shape),)


def _softmax(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
    dim = cast("IntegerAttr", op.properties["dimension"]).value.data
    powers = np.exp(operands[0] - operands[0].max(dim, keepdims=True))
    return (powers / powers.sum(dim, keepdims=True),)


def _elementwise(mnemonic: str) -> Function:
    def run(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
        inputs = operands[:-1]
        return (ROWS[mnemonic].reference(np, *inputs) if mnemonic else inputs[0],)

    return run


def _in_result_type(op: Operation, operands: _Operands) -> list[Array]:
    """The operands in the type that sums are made in."""
    element = element_of_value(op.results[0])
    return [in_type(each, element) for each in operands]


def _contraction(first: str, second: str, result: str) -> Function:
    def run(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
        left, right, init = _in_result_type(op, operands)
        return (np.einsum(f"{first},{second}->{result}", left, right) + init,)

    return run


def _windows(
    op: Operation, image: Array, dims: str, window: Sequence[int], shape: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], Array]]:
    """For each place in a window, what the windows of all results have there."""
    strides, dilations = (_numbers(op, name, len(window)) for name in ("strides", "dilations"))
    for place in np.ndindex(*window):
        slices = [slice(None)] * len(dims)
        for axis, dim in enumerate(dims):
            if dim.isdigit():
                start = place[int(dim)] * dilations[int(dim)]
                stride = strides[int(dim)]
                slices[axis] = slice(start, start + (shape[axis] - 1) * stride + 1, stride)
        yield place, image[tuple(slices)]


def _window_of(weight: Array, dims: str) -> tuple[list[int], Array]:
    """The extents of a window, and a weight with those dimensions first."""
    axes = [dims.index(dim) for dim in sorted(filter(str.isdigit, dims))]
    return [weight.shape[axis] for axis in axes], np.moveaxis(weight, axes, range(len(axes)))


def _convolution(image: str, weight: str) -> Function:
    """Letters are those of einsum: `f` of the image is `i` of the weight, which gives `o`."""
    letters = {"0": "x", "1": "y", "2": "z", "f": "i"}
    source = "".join(letters.get(dim, dim) for dim in image)
    rest = "".join(dim for dim in weight if not dim.isdigit())
    target = source.replace("i", "o")
    return _sum_over_windows(image, weight, f"{source},{rest}->{target}")


def _depthwise(image: str, weight: str) -> Function:
    letters = {"0": "x", "1": "y", "2": "z", "f": "c"}
    source = "".join(letters.get(dim, dim) for dim in image)
    rest = "".join(dim for dim in weight if not dim.isdigit())
    target = source + rest.replace("c", "")
    return _sum_over_windows(image, weight, f"{source},{rest}->{target}")


def _sum_over_windows(image: str, weight: str, equation: str) -> Function:
    def run(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
        pixels, filters, total = _in_result_type(op, operands)
        window, filters = _window_of(filters, weight)
        for place, part in _windows(op, pixels, image, window, total.shape):
            total = total + np.einsum(equation, part, filters[place])
        return (total,)

    return run


def _pooling(image: str, method: str) -> Function:
    combine: Any = {"sum": np.add, "max": np.maximum, "min": np.minimum}[method]

    def run(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
        pixels, total = _in_result_type(op, (operands[0], operands[2]))
        for _, part in _windows(op, pixels, image, operands[1].shape, total.shape):
            total = combine(total, part)
        return (total,)

    return run


FUNCTIONS: dict[str, Function] = {
    **{f"linalg.{name}": _elementwise(row) for name, row in ELEMENTWISE.items()},
    **{f"linalg.{name}": _contraction(*dims) for name, dims in CONTRACTIONS.items()},
    **{f"linalg.{name}": _convolution(*dims) for name, dims in CONVOLUTIONS.items()},
    **{f"linalg.{name}": _depthwise(*dims) for name, dims in DEPTHWISE.items()},
    **{f"linalg.{name}": _pooling(*dims) for name, dims in POOLINGS.items()},
    "linalg.broadcast": _broadcast,
    "linalg.fill": _fill,
    "linalg.generic": _generic,
    "linalg.index": _index,
    "linalg.map": _map,
    "linalg.reduce": _reduce,
    "linalg.softmax": _softmax,
    "linalg.transpose": _transpose,
}
"""Operations of linalg by name."""
