"""Reads one operation of a program: which definition it is, its operands and its parameters.

Nothing is known here about single operations: the definitions of the operation table say which
field of which flatbuffer table holds what.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ttmlir.errors import plural
from ttmlir.layout.enums import DeviceComputeConfig
from ttmlir.limits import memory_advice, memory_limit
from ttmlir.optable import DEFINITIONS
from ttmlir.optable.op_definition import (
    Family,
    Kind,
    OpDefinition,
    Parameter,
    Shape,
    broadcast_shape,
    spell_shape,
)
from ttmlir.runtime.binary import BinaryProgram, Operation, TensorRef, compute_config_of
from ttmlir.runtime.errors import BinaryError, UnsupportedError
from ttmlir.runtime.tensor import Array, TensorDesc
from ttmlir.terminal import shown_name


def function_of(caller: BinaryProgram, operation: Operation, number: int) -> BinaryProgram:
    """A function of the file that an operation calls; BinaryError if it may not."""
    functions = caller.binary.functions
    most = caller.index if caller.is_function else len(functions)
    if not 0 <= number < len(functions):
        raise BinaryError(
            f"{operation.where}: calls function {number}, but the file has {len(functions)}"
        )
    if number >= most:
        raise BinaryError(
            f"{operation.where}: calls function {number}, which is not before function "
            f"{caller.index}; functions call only those before them, so that none calls itself"
        )
    return functions[number]


def check_call(operation: Operation, callee: BinaryProgram, given: Sequence[TensorDesc]) -> None:
    """Refuse arguments that a function does not take."""
    taken = [ref.desc for ref in callee.inputs]
    _check_tensors(operation, callee, "takes", "input", taken, given)


def check_results(
    operation: Operation,
    callee: BinaryProgram,
    returned: Sequence[TensorDesc],
    wanted: Sequence[TensorDesc],
) -> None:
    """Refuse results that are not those of the operation."""
    _check_tensors(operation, callee, "returns", "output", returned, wanted)


def _check_tensors(
    operation: Operation,
    callee: BinaryProgram,
    verb: str,
    what: str,
    own: Sequence[TensorDesc],
    others: Sequence[TensorDesc],
) -> None:
    where = f"{operation.where}: function {callee.index} '{shown_name(callee.name)}'"
    if len(own) != len(others):
        raise BinaryError(
            f"{where} {verb} {plural(len(own), 'tensor')}, but the operation has {len(others)}"
        )
    for number, (desc, other) in enumerate(zip(own, others, strict=True)):
        if not desc.agrees_with(other):
            differences = "; ".join(desc.differences(other))
            raise BinaryError(f"{where}: {what} {number} has {differences}")


# --- Operations -----------------------------------------------------------------------------------

_INPUTS = "inputs"
_OUTPUT = "output"
_OUTPUTS = "outputs"
_PARAMETERS = "parameters"


@dataclass(frozen=True)
class OperationCall:
    """A computing operation with everything that it is applied to."""

    definition: OpDefinition
    operation: Operation
    operands: tuple[TensorRef | None, ...]
    """In the order of the reference function; None for an absent optional operand."""
    parameters: dict[str, Any]
    outputs: tuple[TensorRef, ...]
    compute_config: DeviceComputeConfig | None = None
    """How the matrix unit computes, if the file says."""
    refuses_outside: bool = False
    """Whether places that a tensor does not have are errors, as they are in torch and ONNX."""

    @property
    def output(self) -> TensorRef:
        """The result, or the first of several."""
        return self.outputs[0]

    @property
    def name(self) -> str:
        """Name of the operation in the IR, e.g. `ttnn.matmul`."""
        return f"ttnn.{self.definition.mnemonic}"


def bind_parameters(call: OperationCall) -> dict[str, Any]:
    """All parameters of a reference function, of which some take a shape or types."""
    parameters = dict(call.parameters)
    if call.definition.family is Family.CREATION:
        parameters["shape"] = call.output.desc.shape
    if call.definition.takes_types:
        source = call.operands[0]
        assert source is not None, "the first operand is not optional"
        types = source.desc.element.host, call.output.desc.element.host
        parameters |= dict(zip(("source", "target"), types, strict=True))
    return parameters


@cache
def _definitions_by_table() -> dict[tuple[str, str | None], OpDefinition]:
    return {
        (definition.flatbuffer.table, definition.flatbuffer.kind): definition
        for definition in DEFINITIONS.values()
        if definition.flatbuffer is not None
    }


def find_definition(operation: Operation) -> OpDefinition:
    """The definition of an operation; UnsupportedError naming it if the table has none."""
    if operation.given is not None:
        return operation.given.definition
    if operation.refusal:
        raise UnsupportedError(operation.refusal)
    definitions = _definitions_by_table()
    definition = definitions.get((operation.table, None))
    if definition is None:
        kind = operation.enumerator("type") if operation.has_enumerator("type") else None
        definition = definitions.get((operation.table, kind))
    if definition is None:
        raise UnsupportedError(
            f"{operation.where}: this runtime has no operation '{operation.title}'; it was written "
            "by a newer compiler, or the file is damaged"
        )
    return definition


def read_call(operation: Operation) -> OperationCall:
    """The operands, parameters and output of a computing operation."""
    definition, given = find_definition(operation), operation.given
    if given is not None:
        _check_arity(definition, operation, given.operands)
        return OperationCall(
            *(definition, operation, given.operands, given.parameters, given.outputs),
            given.compute_config,
        )
    return _read_record(definition, operation)


def _read_record(definition: OpDefinition, operation: Operation) -> OperationCall:
    """The call in a record that has the fields of its definition."""
    assert definition.flatbuffer is not None
    operands: dict[str, tuple[TensorRef | None, ...]] = {}
    parameters: dict[str, Any] = {}
    outputs: tuple[TensorRef, ...] = ()
    declared = {parameter.name: parameter for parameter in definition.parameters}
    optional = {operand.name for operand in definition.operands if operand.optional}
    variadic = {operand.name for operand in definition.operands if operand.variadic}
    for field, filler in definition.flatbuffer.fields:
        if filler == _OUTPUT:
            outputs = (operation.tensor(field),)
        elif filler == _OUTPUTS:
            outputs = operation.tensors(field)
            if len(outputs) != len(definition.results):
                raise BinaryError(
                    f"{operation.where}: field '{field}' has {plural(len(outputs), 'tensor')}; "
                    f"ttnn.{definition.mnemonic} makes {len(definition.results)}"
                )
        elif filler in declared:
            parameters |= _read_parameter(operation, field, declared[filler])
        elif filler == _PARAMETERS:
            parameters |= _read_packed_parameters(operation, field, definition)
        elif filler in variadic or (filler == _INPUTS and definition.family.is_elementwise):
            operands[filler] = operation.tensors(field)
        elif filler in optional and not operation.has(field):
            operands[filler] = (None,)
        elif filler not in ("type", "device"):
            operands[filler] = (operation.tensor(field),)
    assert outputs, "every row has an output"
    flat = tuple(operand for group in operands.values() for operand in group)
    _check_arity(definition, operation, flat)
    return OperationCall(
        definition, operation, flat, parameters, outputs, _read_compute_config(operation)
    )


def _read_compute_config(operation: Operation) -> DeviceComputeConfig | None:
    if not find_definition(operation).multiplies or not operation.has("compute_config"):
        return None
    return compute_config_of(operation.table_field("compute_config"))


def _check_arity(
    definition: OpDefinition, operation: Operation, operands: tuple[TensorRef | None, ...]
) -> None:
    if any(operand.variadic for operand in definition.operands):
        if not operands:
            raise BinaryError(f"{operation.where}: ttnn.{definition.mnemonic} has no operands")
        return
    if len(operands) != len(definition.operands):
        raise BinaryError(
            f"{operation.where}: ttnn.{definition.mnemonic} has "
            f"{plural(len(operands), 'operand')}; "
            f"expected {len(definition.operands)}"
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


def _read_packed_parameters(
    operation: Operation, field: str, definition: OpDefinition
) -> dict[str, Any]:
    values = operation.numbers(field) if operation.has(field) else ()
    if len(values) != len(definition.parameters):
        raise BinaryError(
            f"{operation.where}: field '{field}' has {plural(len(values), 'number')}; "
            f"ttnn.{definition.mnemonic} takes {len(definition.parameters)}"
        )
    return {
        parameter.name: float(value)
        for parameter, value in zip(definition.parameters, values, strict=True)
    }


# --- Shapes ---------------------------------------------------------------------------------------
# What shape an operation produces, and how it is made to fit the tensor that it is stored to.

Fit = Callable[[Array], Array]
_LARGEST_ITEM = 8


def check_shapes(call: OperationCall) -> Fit | None:
    """Check that the operation is defined on its operands and produces its output's shape.

    Returns how the result is reshaped to the output, None if it already has its shape. Raises
    BinaryError otherwise.
    """
    shapes = tuple(operand.desc.shape for operand in call.operands if operand is not None)
    try:
        shape = _result_shape(call, shapes)
    except (ValueError, ArithmeticError, IndexError) as error:
        raise BinaryError(f"{call.operation.where}: {call.name}: {error}") from error
    _check_window(call, shapes)
    for ref in call.outputs[1:]:
        if ref.desc.shape != shape:
            raise BinaryError(
                f"{call.operation.where}: {call.name} makes {spell_shape(shape)}, but one of its "
                f"outputs is {spell_shape(ref.desc.shape)}"
            )
    target = call.output.desc.shape
    if shape == target:
        return None
    family = call.definition.family
    # Window operations flatten images; a total may be kept as a tensor of one element.
    is_free = family is Family.WINDOW or shape == ()
    if is_free and math.prod(shape) == math.prod(target):
        return lambda array: array.reshape(target)
    if family.is_elementwise and broadcasts(shape, target):
        return lambda array: np.broadcast_to(array, target)
    operands = ", ".join(map(spell_shape, shapes))
    raise BinaryError(
        f"{call.operation.where}: {call.name} on operands of shape {operands} makes "
        f"{spell_shape(shape)}, but its output is {spell_shape(target)}"
    )


def _check_window(call: OperationCall, shapes: tuple[Shape, ...]) -> None:
    """Refuse a window operation whose padded image takes more memory than a run may."""
    if call.definition.family is not Family.WINDOW or not shapes:
        return
    values = call.parameters
    bytes_needed = math.prod(shapes[0]) * _LARGEST_ITEM
    for axis, sides in (("height", ("top", "bottom")), ("width", ("left", "right"))):
        extent = max(1, int(values.get(f"input_{axis}", 1)))
        padding = [
            int(values.get(f"padding_{side}", values.get(f"padding_{axis}", 0))) for side in sides
        ]
        kernel = int(values.get(f"kernel_{axis}", 1))
        reach = int(values.get(f"dilation_{axis}", 1)) * kernel
        grown = extent * max(1, int(values.get(f"stride_{axis}", 1))) + sum(padding) + reach
        bytes_needed = bytes_needed * grown // extent
    if bytes_needed > memory_limit():
        raise BinaryError(
            f"{call.operation.where}: {call.name}: the image and its padding take {bytes_needed} "
            f"bytes; {memory_advice()}"
        )


def broadcasts(shape: Shape, target: Shape) -> bool:
    """True if repeating elements along extents of 1 turns one shape into the other."""
    try:
        return broadcast_shape(shape, target) == target
    except ValueError:
        return False


def _result_shape(call: OperationCall, shapes: tuple[Shape, ...]) -> Shape:
    definition = call.definition
    if definition.family.is_elementwise:
        return broadcast_shape(*shapes)
    target = call.output.desc.shape
    if definition.family is Family.CREATION:
        rule = definition.result_shape
        return target if rule is None else rule(shape=target, **call.parameters)
    assert definition.result_shape is not None, (
        f"definition '{definition.mnemonic}' has no shape rule"
    )
    return definition.result_shape(*shapes, **call.parameters)
