"""Verifiers of 2026: operations that stand for a function, compared with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.func import CallOp, FuncOp
from xdsl.traits import SymbolTable

from ttmlir.dialects.definition.ods import refuse, text
from ttmlir.dialects.late_checks.placement import on_host
from ttmlir.dialects.late_checks.verified import Verified, require, spell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.dialects.builtin import SymbolRefAttr
    from xdsl.ir import Attribute, Operation


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
        refuse(f"Could not find D2M function '@{name}' in parent module.")
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


# --- Traces ---------------------------------------------------------------------------------------
# A trace is a function that one call records and all later calls replay. Its tensors are slots:
# memory that keeps its place, into which inputs are copied and from which results are read.


def check_capture_or_execute_trace(op: Verified) -> None:
    """Functions that allocate slots, record the trace and replay it, whose types fit the call."""
    inputs, semaphores = op.group("inputs"), op.group("semaphores")
    results, resident = op.op.results, op.integer("device_resident_input_count")
    if not 0 <= resident <= len(inputs):
        refuse(f"Device-resident input count {resident} is out of range")
    name, slots = _callee(op, "allocate_slots_callee")
    taken, given = slots.function_type.inputs.data, slots.function_type.outputs.data
    require(
        len(taken) == resident,
        f"Slot allocation function '{name}' must take {resident} arguments (the device-resident "
        f"inputs), but has {len(taken)}",
    )
    require(
        len(given) == len(inputs) + len(results),
        f"Slot allocation function '{name}' must return {len(inputs) + len(results)} slots "
        f"({len(inputs)} input slots + {len(results)} output slots), but returns {len(given)}",
    )
    for number, (result, slot) in enumerate(zip(results, given[len(inputs) :], strict=True)):
        _compare(f"Slot allocation function output slot {number}", result.type, slot)
    _check_capture(op, given, len(semaphores))
    name, replay = _callee(op, "execute_callee")
    taken = replay.function_type.inputs.data
    require(
        len(taken) == 1,
        f"Execute function '{name}' must take exactly one trace_id argument, but has {len(taken)} "
        "arguments",
    )
    require(_is_trace_id(taken[0]), f"Execute function '{name}' argument must be {_TRACE_ID}")


_TRACE_ID = "a trace_id tensor (scalar ui32 with TraceIdAttr encoding)"


def _is_trace_id(type_: Attribute) -> bool:
    return getattr(getattr(type_, "encoding", None), "name", "") == "ttnn.trace_id"


def _callee(op: Verified, name: str) -> tuple[str, FuncOp]:
    symbol = cast("SymbolRefAttr", op.op.properties[name])
    said, function = symbol.root_reference.data, _function(op.op, symbol)
    if function is None:
        refuse(f"'{said}' does not reference a function")
    return said, function


def _compare(place: str, expected: Attribute, found: Attribute, source: str = "") -> None:
    require(
        expected == found,
        f"{place} type mismatch: expected {spell(expected)}{source}, but got {spell(found)}",
    )


def _check_capture(op: Verified, slots: Sequence[Attribute], semaphores: int) -> None:
    """The function that records takes inputs of the host, slots and semaphores."""
    name, capture = _callee(op, "capture_callee")
    taken, given = capture.function_type.inputs.data, capture.function_type.outputs.data
    inputs = op.group("inputs")
    staged = len(inputs) - op.integer("device_resident_input_count")
    count = staged + len(slots) + semaphores
    require(
        len(taken) == count,
        f"Capture function '{name}' must take {count} arguments ({staged} host-staged inputs + "
        f"{len(slots)} slots + {semaphores} semaphores), but has {len(taken)}",
    )
    # What another recording leaves on the device may be given to one that says the host's type.
    from_host = inputs[len(inputs) - staged :]
    for number, (value, type_) in enumerate(zip(from_host, taken[:staged], strict=False)):
        if on_host(value) is not False:
            place = f"Capture function host-staged input argument {number}"
            _compare(place, value.type, type_)
    source = " from slot allocation function"
    for number, (slot, type_) in enumerate(zip(slots, taken[staged:], strict=False)):
        _compare(f"Capture function slot argument {number}", slot, type_, source)
    require(
        len(given) == 1,
        f"Capture function '{name}' must return exactly one trace_id value, but returns "
        f"{len(given)}",
    )
    require(_is_trace_id(given[0]), f"Capture function '{name}' must return {_TRACE_ID}")
    calls = [inner for inner in capture.walk() if isinstance(inner, CallOp)]
    require(bool(calls), "No trace function found in capture function")
    traced = _function(op.op, calls[0].callee)
    said = calls[0].callee.root_reference.data
    if traced is None:
        refuse(f"'{said}' does not reference a function")
    if traced.body.blocks:
        require(
            not any(on_host(argument) for argument in traced.args),
            "All input arguments of trace function must be on device.",
        )
    require(
        not traced.function_type.outputs.data,
        f"Trace function '{said}' must return no results; it stores its outputs into the output "
        "slot arguments",
    )
    for inner in traced.walk():
        if inner.name in _NOT_TRACED:
            refuse(f"{_NOT_TRACED[inner.name]} op must not be nested within trace function")


_NOT_TRACED = {
    "ttnn.capture_or_execute_trace": "CaptureOrExecuteTraceOp",
    "ttcore.load_cached": "LoadCached",
}
"""What a trace cannot hold, as the message calls it."""
