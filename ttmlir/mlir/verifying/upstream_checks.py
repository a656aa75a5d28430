"""MLIR's words for what is wrong with a function, its return or a call.

xDSL finds these faults but describes them in its own way; the verifier asks here first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import FunctionType, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation
from xdsl.traits import SymbolTable

from ttmlir.mlir.printing.printer import show_attribute


def _quote(type: Attribute) -> str:
    return f"'{show_attribute(type)}'"


def _signature(function: Operation) -> FunctionType | None:
    type = function.properties.get("function_type")
    return type if isinstance(type, FunctionType) else None


def _function(op: Operation) -> str | None:
    type = _signature(op)
    entry = op.regions[0].blocks.first if op.regions else None
    if type is None or entry is None:
        return None
    if len(entry.args) != len(type.inputs):
        return f"entry block must have {len(type.inputs)} arguments to match function signature"
    for index, (argument, expected) in enumerate(zip(entry.args, type.inputs, strict=True)):
        if argument.type != expected:
            return (
                f"type of entry block argument #{index}({_quote(argument.type)}) must match the "
                f"type of the corresponding argument in function signature({_quote(expected)})"
            )
    return None


def _return(op: Operation) -> str | None:
    function = op.parent_op()
    type = _signature(function) if function is not None else None
    if function is None or type is None:
        return None
    name = cast(StringAttr, function.properties["sym_name"]).data
    results = type.outputs.data
    if len(op.operands) != len(results):
        return f"has {len(op.operands)} operands, but enclosing function (@{name}) returns " + str(
            len(results)
        )
    for index, (operand, expected) in enumerate(zip(op.operands, results, strict=True)):
        if operand.type != expected:
            return (
                f"!type of return operand {index} ({_quote(operand.type)}) doesn't match function "
                f"result type ({_quote(expected)}) in function @{name}"
            )
    return None


def _call(op: Operation) -> str | None:
    callee = op.properties.get("callee")
    if not isinstance(callee, SymbolRefAttr):
        return None
    function = SymbolTable.lookup_symbol(op, callee)
    type = _signature(function) if function is not None else None
    if type is None:
        return f"'{callee.root_reference.data}' does not reference a valid function"
    return _mismatch(
        "operand", type.inputs.data, op.operand_types, "operands for callee"
    ) or _mismatch("result", type.outputs.data, op.result_types, "results for callee")


def _mismatch(
    what: str, expected: Sequence[Attribute], given: Sequence[Attribute], all_of_them: str
) -> str | None:
    if len(expected) != len(given):
        return f"incorrect number of {all_of_them}"
    for index, (wanted, got) in enumerate(zip(expected, given, strict=True)):
        if wanted != got:
            return (
                f"{what} type mismatch: expected {what} type {_quote(wanted)}, but provided "
                f"{_quote(got)} for {what} number {index}"
            )
    return None


MESSAGES: Mapping[str, Callable[[Operation], str | None]] = {
    "func.call": _call,
    "func.func": _function,
    "func.return": _return,
}
"""By operation: the message for its own fault, or None. A `!` at its start means that MLIR does not
put the operation's name before it."""
