"""Reads one operation of a program: which row it is, its operands and its parameters.

Nothing is known here about single operations: the rows of the operation table say which field of
which flatbuffer table holds what.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from ttmlir.layout.compute_config import DeviceComputeConfig
from ttmlir.layout.enums import MathFidelity
from ttmlir.optable import ROWS
from ttmlir.optable.row import Kind, Parameter, Row
from ttmlir.runtime.binary import Operation, TensorRef
from ttmlir.runtime.errors import BinaryError, UnsupportedError

_INPUTS = "inputs"
_OUTPUT = "output"
_OUTPUTS = "outputs"
_PARAMETERS = "parameters"


@dataclass(frozen=True)
class OperationCall:
    """A computing operation with everything that it is applied to."""

    row: Row
    operation: Operation
    operands: tuple[TensorRef | None, ...]
    """In the order of the reference function; None for an absent optional operand."""
    parameters: dict[str, Any]
    outputs: tuple[TensorRef, ...]
    compute_config: DeviceComputeConfig | None = None
    """How the matrix unit computes, if the file says."""

    @property
    def output(self) -> TensorRef:
        """The result, or the first of several."""
        return self.outputs[0]

    @property
    def name(self) -> str:
        """Name of the operation in the IR, e.g. `ttnn.matmul`."""
        return f"ttnn.{self.row.mnemonic}"


def element_types(call: OperationCall) -> dict[str, Any]:
    """The parameters of a reference function that takes types."""
    source = call.operands[0]
    assert source is not None, "the first operand is not optional"
    return {"source": source.desc.element.host, "target": call.output.desc.element.host}


@cache
def _rows_by_table() -> dict[tuple[str, str | None], Row]:
    return {
        (row.flatbuffer.table, row.flatbuffer.kind): row
        for row in ROWS.values()
        if row.flatbuffer is not None
    }


def find_row(operation: Operation) -> Row:
    """The row of an operation; UnsupportedError naming it if the table has none."""
    rows = _rows_by_table()
    row = rows.get((operation.table, None))
    if row is None:
        kind = operation.enumerator("type") if operation.has_enumerator("type") else None
        row = rows.get((operation.table, kind))
    if row is None:
        raise UnsupportedError(
            f"{operation.where}: this runtime has no operation '{operation.title}'; it was written "
            "by a newer compiler, or the file is damaged"
        )
    return row


def read_call(operation: Operation) -> OperationCall:
    """The operands, parameters and output of a computing operation."""
    row = find_row(operation)
    assert row.flatbuffer is not None
    operands: dict[str, tuple[TensorRef | None, ...]] = {}
    parameters: dict[str, Any] = {}
    outputs: tuple[TensorRef, ...] = ()
    declared = {parameter.name: parameter for parameter in row.parameters}
    optional = {operand.name for operand in row.operands if operand.optional}
    variadic = {operand.name for operand in row.operands if operand.variadic}
    for field, filler in row.flatbuffer.fields:
        if filler == _OUTPUT:
            outputs = (operation.tensor(field),)
        elif filler == _OUTPUTS:
            outputs = operation.tensors(field)
            if len(outputs) != len(row.results):
                raise BinaryError(
                    f"{operation.where}: field '{field}' has {len(outputs)} tensors; "
                    f"ttnn.{row.mnemonic} makes {len(row.results)}"
                )
        elif filler in declared:
            parameters |= _read_parameter(operation, field, declared[filler])
        elif filler == _PARAMETERS:
            parameters |= _read_packed_parameters(operation, field, row)
        elif filler in variadic or (filler == _INPUTS and row.family.is_elementwise):
            operands[filler] = operation.tensors(field)
        elif filler in optional and not operation.has(field):
            operands[filler] = (None,)
        elif filler not in ("type", "device"):
            operands[filler] = (operation.tensor(field),)
    assert outputs, "every row has an output"
    flat = tuple(operand for group in operands.values() for operand in group)
    _check_arity(row, operation, flat)
    return OperationCall(row, operation, flat, parameters, outputs, _read_compute_config(operation))


def _read_compute_config(operation: Operation) -> DeviceComputeConfig | None:
    if not find_row(operation).multiplies or not operation.has("compute_config"):
        return None
    table = operation.table_field("compute_config")
    return DeviceComputeConfig(
        math_fidelity=MathFidelity.from_schema_name(table["math_fidelity"]),
        fp32_dest_acc_en=bool(table["fp32_dest_acc_en"]),
    )


def _check_arity(row: Row, operation: Operation, operands: tuple[TensorRef | None, ...]) -> None:
    if any(operand.variadic for operand in row.operands):
        if not operands:
            raise BinaryError(f"{operation.where}: ttnn.{row.mnemonic} has no operands")
        return
    if len(operands) != len(row.operands):
        raise BinaryError(
            f"{operation.where}: ttnn.{row.mnemonic} has {len(operands)} operands; "
            f"expected {len(row.operands)}"
        )


_SCALAR_READERS: dict[Kind, Callable[[Any], Any]] = {Kind.F32: float, Kind.BOOL: bool}


def _read_parameter(operation: Operation, field: str, parameter: Parameter) -> dict[str, Any]:
    if not parameter.kind.is_list:
        read = _SCALAR_READERS.get(parameter.kind, int)
        return {parameter.name: read(operation.scalar(field))}
    if operation.has(field):
        return {parameter.name: operation.numbers(field)}
    if parameter.optional:
        return {parameter.name: None}
    raise BinaryError(f"{operation.where}: field '{field}' is missing")


def _read_packed_parameters(operation: Operation, field: str, row: Row) -> dict[str, Any]:
    values = operation.numbers(field) if operation.has(field) else ()
    if len(values) != len(row.parameters):
        raise BinaryError(
            f"{operation.where}: field '{field}' has {len(values)} numbers; "
            f"ttnn.{row.mnemonic} takes {len(row.parameters)}"
        )
    return {
        parameter.name: float(value)
        for parameter, value in zip(row.parameters, values, strict=True)
    }
