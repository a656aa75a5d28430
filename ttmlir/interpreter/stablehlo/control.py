"""Loops, branches, calls, tuples and tokens, after the StableHLO specification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import StringAttr, SymbolRefAttr
from xdsl.ir import Operation

from ttmlir.dialects.stablehlo.text.form import integer
from ttmlir.interpreter.execution import Execution
from ttmlir.interpreter.kernels import call_target, can_call
from ttmlir.interpreter.structure import run_if, run_while
from ttmlir.interpreter.values import Function
from ttmlir.mlir.reporting.diagnostics import OpError
from ttmlir.program.custom_kernel import TARGET


def _case(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    index, count = int(operands[0]), len(op.regions)
    return execution.run_region(op.regions[index if 0 <= index < count else count - 1], ())


def _same(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return operands


def _tuple(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (tuple(operands),)


def _get_tuple_element(
    execution: Execution, op: Operation, operands: Sequence[Any]
) -> Sequence[Any]:
    return (operands[0][integer(op, "index")],)


def _token(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (None,)


def _composite(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    function = cast("SymbolRefAttr", op.properties["decomposition"]).root_reference.data
    return execution.call(function, operands, caller=op)


_PLACEMENT = (
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "annotate_device_placement",
)


def _custom_call(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    name = cast("StringAttr", op.properties["call_target_name"]).data
    if can_call(name):
        return call_target(op, name, operands)
    if name in _PLACEMENT:
        return operands
    raise OpError(
        op,
        f"calls '{name}', which only the framework's own runtime has; ttmlir.register_custom_call("
        f"'{name}', numpy=...) says what it computes; without that, calls of '{TARGET}' and those "
        f"that say where tensors lie ({', '.join(_PLACEMENT)}) can be interpreted",
    )


CONTROL: dict[str, Function] = {
    "stablehlo.after_all": _token,
    "stablehlo.case": _case,
    "stablehlo.composite": _composite,
    "stablehlo.create_token": _token,
    "stablehlo.custom_call": _custom_call,
    "stablehlo.get_tuple_element": _get_tuple_element,
    "stablehlo.if": run_if,
    "stablehlo.optimization_barrier": _same,
    "stablehlo.tuple": _tuple,
    "stablehlo.while": run_while,
    "sdy.reshard": _same,
    "sdy.sharding_constraint": _same,
}
"""Operations of this module by name."""
