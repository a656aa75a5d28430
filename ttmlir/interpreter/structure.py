"""Calls, loops, branches and constants: what surrounds the operations that compute."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects import affine, scf
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, Region
from xdsl.ir.affine import AffineConstraintKind, AffineMap

from ttmlir.dialects.definition.control import CaseOp, WhileOp
from ttmlir.errors import IterationLimitError
from ttmlir.interpreter.execution import Execution, Function, compute_dtype, constant_array
from ttmlir.limits import ITERATIONS_VARIABLE, iteration_limit


def _call(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    callee = cast("Any", op.properties["callee"]).root_reference.data
    return execution.call(callee, operands, caller=op)


def constant(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    """A constant of arith."""
    value: Attribute = op.properties["value"]
    if isinstance(value, IntegerAttr | FloatAttr):
        scalar = cast("IntegerAttr | FloatAttr", value)
        return (np.asarray(scalar.value.data, compute_dtype(scalar.type)),)
    return (constant_array(op, value),)


def _while(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    assert isinstance(op, WhileOp)
    values, count = list(operands), len(op.results)
    iterations = 0
    while _goes_on(execution, op, values, iterations):
        values[:count] = execution.call(op.body, values, caller=op)
        iterations += 1
    return values[:count]


def _goes_on(execution: Execution, op: WhileOp, values: Sequence[Any], iterations: int) -> bool:
    if op.condition is None:
        return iterations < (op.trip_count or 0)
    _check_iterations(iterations)
    [answer] = execution.call(op.condition, values, caller=op)
    return _is_true(answer)


def _check_iterations(iterations: int) -> None:
    if iterations > iteration_limit():
        raise IterationLimitError(
            f"the loop has made {iterations} iterations; {ITERATIONS_VARIABLE} sets another limit"
        )


def _is_true(value: Any) -> bool:
    """Whether the one element of a tensor, or a number, is true."""
    return bool(np.asarray(value).reshape(()))


def _case(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    assert isinstance(op, CaseOp)
    names, index = op.callees(), int(np.asarray(operands[0]).reshape(()))
    name = names[index if 0 <= index < len(names) else -1]
    return execution.call(name, operands[1:], caller=op)


# -- loops and branches of regions ----------------------------------------------------------------


def run_while(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    """What a loop carries after it: the first region gives its condition, the second the rest."""
    condition, body = op.regions
    values, iterations = operands, 0
    while _is_true(execution.run_region(condition, values)[0]):
        values = execution.run_region(body, values)
        iterations += 1
        _check_iterations(iterations)
    return values


def run_if(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    """The results of the first region if the first operand is true, else of the second.

    Both take the other operands. A region without a block has no results.
    """
    condition, *values = operands
    chosen = op.regions[0 if _is_true(condition) else 1]
    return execution.run_region(chosen, values) if chosen.blocks else ()


def _scf_while(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    condition, body = op.regions
    goes_on, *values = execution.run_region(condition, operands)
    iterations = 0
    while _is_true(goes_on):
        goes_on, *values = execution.run_region(condition, execution.run_region(body, values))
        iterations += 1
        _check_iterations(iterations)
    return values


def _count(
    execution: Execution, body: Region, places: Sequence[int], carried: Sequence[Any]
) -> Sequence[Any]:
    """What a region carries after it ran for each place."""
    for iterations, place in enumerate(places):
        _check_iterations(iterations)
        carried = execution.run_region(body, [np.asarray(place), *carried])
    return carried


def _scf_for(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    first, end, step = map(int, operands[:3])
    return _count(execution, op.regions[0], range(first, end, step), operands[3:])


def _index_switch(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    assert isinstance(op, scf.IndexSwitchOp)
    regions = dict(zip(op.cases.iter_values(), op.case_regions, strict=True))
    return execution.run_region(regions.get(int(operands[0]), op.default_region), ())


def _execute_region(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return execution.run_region(op.regions[0], ())


def _map_results(map: AffineMap, operands: Sequence[Any]) -> Sequence[int]:
    """What a map makes of its dimensions and, after them, its symbols."""
    numbers = [int(each) for each in operands]
    return map.eval(numbers[: map.num_dims], numbers[map.num_dims :])


def _affine_for(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    assert isinstance(op, affine.ForOp)
    lower, upper = len(op.lowerBoundOperands), len(op.upperBoundOperands)
    first = max(_map_results(op.lowerBoundMap.data, operands[:lower]))
    end = min(_map_results(op.upperBoundMap.data, operands[lower : lower + upper]))
    places = range(first, end, op.step.value.data)
    return _count(execution, op.body, places, operands[lower + upper :])


def _affine_if(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    assert isinstance(op, affine.IfOp)
    conditions = op.condition.data
    numbers = [int(each) for each in operands]
    dims, symbols = numbers[: conditions.num_dims], numbers[conditions.num_dims :]
    holds = all(
        _HOLDS[each.kind](each.lhs.eval(dims, symbols), each.rhs.eval(dims, symbols))
        for each in conditions.constraints
    )
    return run_if(execution, op, (holds,))


_HOLDS: dict[AffineConstraintKind, Callable[[int, int], bool]] = {
    AffineConstraintKind.eq: operator.eq,
    AffineConstraintKind.ge: operator.ge,
    AffineConstraintKind.le: operator.le,
}


def _affine_apply(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    assert isinstance(op, affine.ApplyOp)
    return _map_results(op.map.data, operands)


def _affine_min(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    assert isinstance(op, affine.MinOp)
    return (min(_map_results(op.map.data, operands)),)


AFFINE: dict[str, Function] = {
    "affine.apply": _affine_apply,
    "affine.for": _affine_for,
    "affine.if": _affine_if,
    "affine.min": _affine_min,
}
"""Operations of affine by name."""
SCF: dict[str, Function] = {
    "scf.execute_region": _execute_region,
    "scf.for": _scf_for,
    "scf.if": run_if,
    "scf.index_switch": _index_switch,
    "scf.while": _scf_while,
}
"""Operations of scf by name."""
CONTROL: dict[str, Function] = {"ttir.case": _case, "ttir.while": _while}
"""Loops and branches of ttir by name."""
FUNCTIONS: dict[str, Function] = {"func.call": _call}
"""Operations of func by name."""
