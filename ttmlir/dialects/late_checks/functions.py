"""Verifiers of 2026: operations that stand for a function, compared with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.func import FuncOp
from xdsl.traits import SymbolTable

from ttmlir.dialects.definition.ods import refuse, text

if TYPE_CHECKING:
    from xdsl.dialects.builtin import SymbolRefAttr
    from xdsl.ir import Operation


def _function(op: Operation, symbol: SymbolRefAttr) -> FuncOp | None:
    """The function that a symbol names where an operation is."""
    found = SymbolTable.lookup_symbol(op, symbol)
    return found if isinstance(found, FuncOp) else None


def check_load_cached(op: Operation) -> None:
    """Compare the operation with its function, if there is one."""
    symbol = cast("SymbolRefAttr", op.properties["callee"])
    function = _function(op, symbol)
    if function is None:
        refuse(f"'{symbol.root_reference.data}' does not reference a function")
    expected = function.function_type
    sides = (
        ("Operand", op.operand_types, expected.inputs.data),
        ("Result", op.result_types, expected.outputs.data),
    )
    for side, types, others in sides:
        if len(types) != len(others):
            refuse(
                f"Incorrect number of {side.lower()}s for callee -- expected {len(others)} but "
                f"got: {len(types)}"
            )
        for number, (type_, other) in enumerate(zip(types, others, strict=True)):
            if type_ != other:
                refuse(
                    f"{side} type mismatch at index {number} -- expected "
                    f"'{text(other)}' but got: '{text(type_)}'"
                )


def check_composite(op: Operation) -> None:
    """Compare the operation with its decomposition."""
    symbol = cast("SymbolRefAttr", op.properties["decomposition"])
    function = _function(op, symbol)
    if function is None:
        name = symbol.root_reference.data
        refuse(f"decomposition function '{name}' not found in parent module")
    expected = function.function_type
    taken, given = expected.inputs.data, expected.outputs.data
    if len(taken) != len(op.operands):
        refuse(
            f"decomposition function expects {len(taken)} arguments, but composite has "
            f"{len(op.operands)} inputs"
        )
    if len(given) != len(op.results):
        refuse(
            f"decomposition function returns {len(given)} results, but composite produces "
            f"{len(op.results)} results"
        )
    sides = (
        ("input", "composite has", op.operand_types, "decomposition expects", taken),
        ("result", "composite produces", op.result_types, "decomposition returns", given),
    )
    for side, own, types, its, others in sides:
        for number, (type_, other) in enumerate(zip(types, others, strict=True)):
            if type_ != other:
                refuse(
                    f"{side} type mismatch at index {number}: {own} '{text(type_)}', {its} "
                    f"'{text(other)}'"
                )
