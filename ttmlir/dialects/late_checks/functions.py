"""Verifiers of 2026: operations that stand for a function, compared with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.func import FuncOp
from xdsl.traits import SymbolTable

from ttmlir.dialects.definition.ods import refuse, text

if TYPE_CHECKING:
    from xdsl.dialects.builtin import SymbolRefAttr
    from xdsl.ir import Operation

    from ttmlir.dialects.late_checks.verified import Verified


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


def check_d2m_subgraph(verified: Verified) -> None:
    """Compare the operation with the function that it stands for."""
    op = verified.op
    symbol = cast("SymbolRefAttr", op.properties["d2m_func"])
    function = _function(op, symbol)
    if function is None:
        name = symbol.root_reference.data
        refuse(f"Could not find D2M function '{name}' in parent module.")
    inputs = [value.type for value in verified.group("inputs")]
    expected = function.function_type
    sides = (
        ("arguments", "argument", inputs, expected.inputs.data),
        ("return values", "return", op.result_types, expected.outputs.data),
    )
    for many, one, types, others in sides:
        if len(types) != len(others):
            refuse(f"D2M function must have {len(types)} {many}, got {len(others)}")
        for number, (type_, other) in enumerate(zip(types, others, strict=True)):
            if type_ != other:
                refuse(
                    f"D2M function {one} type {number} mismatch: expected '{text(type_)}', got "
                    f"'{text(other)}'"
                )
