"""The operations of linalg: loops with a body, and those with a name.

A loop runs for all places of its parallel iterators at once, and one after the other for the places
of the others. Loops over tiles, which d2m has, are in `ttmlir.interpreter.d2m`.

Source: the documentation of MLIR's dialect linalg.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.dialects.linalg.ops import GenericOp, IndexOp
from xdsl.ir import Operation

from ttmlir.dialects.tt.layout import TileType
from ttmlir.interpreter.arrays import array_for, element_of_value
from ttmlir.interpreter.d2m import loop_over_tiles, points_of
from ttmlir.interpreter.execution import Execution, Function
from ttmlir.mlir.attributes import layout_map
from ttmlir.passes.convert_linalg_to_ttir import NAMED_FUNCTIONS, NamedFunction

_Operands = Sequence[Any]


def _generic(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
    assert isinstance(op, GenericOp)
    if isinstance(element_of_value(op.operands[0]), TileType):
        return loop_over_tiles(execution, op, operands)
    maps = [layout_map(each) for each in op.indexing_maps.data]
    arrays = [np.asarray(operand) for operand in operands]
    inputs = arrays[: len(op.inputs)]
    outs = [np.array(each) for each in arrays[len(op.inputs) :]]
    for point in points_of(op, maps, arrays):
        at = [each.eval(point) for each in maps]
        numbers = [array[index] for array, index in zip((*inputs, *outs), at, strict=True)]
        results = execution.run_iteration(op.body, numbers, point)
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
    dims = sorted(cast("DenseArrayBase[IntegerType]", op.properties["dimensions"]).iter_values())
    count = len(operands) // 2
    first = [np.moveaxis(each, dims, range(len(dims))) for each in operands[:count]]
    held = [np.array(each) for each in operands[count:]]
    for place in np.ndindex(*(operands[0].shape[dim] for dim in dims)):
        held = list(execution.run_region(op.regions[0], [*(x[place] for x in first), *held]))
    return held


def _named(function: NamedFunction) -> Function:
    def run(execution: Execution, op: Operation, operands: _Operands) -> _Operands:
        *inputs, init = (array_for(*pair) for pair in zip(op.operands, operands, strict=True))
        return (function(op, inputs, init).value,)

    return run


FUNCTIONS: dict[str, Function] = {
    **{name: _named(function) for name, function in NAMED_FUNCTIONS.items()},
    "linalg.generic": _generic,
    "linalg.index": _index,
    "linalg.map": _map,
    "linalg.reduce": _reduce,
}
"""Operations of linalg by name."""
