"""What `d2m.reference`s say, computed by the reader and the functions that golden runs use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.tt.layout import element_of
from ttmlir.dialects.ttcore import metal_layout_of
from ttmlir.interpreter import execute
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.layout.data_format import SCHEMA_NAMES
from ttmlir.passes.d2m.references import REFERENCE
from ttmlir.runtime.binary import Operation as ProgramOperation
from ttmlir.runtime.binary import TensorRef
from ttmlir.runtime.execution.operations import OperationCall
from ttmlir.runtime.golden import reference_function
from ttmlir.runtime.metal_program import Reference, ReferenceRow, read_reference
from ttmlir.runtime.tensor import ELEMENT_TYPES, ElementType, host_desc
from ttmlir.target.flatbuffer.ttmetal import fused_reference

Array = np.ndarray[Any, Any]


def read(op: d2m.GenericOp) -> Reference:
    """The reference of a generic, as a file would have it."""
    attr = op.attributes[REFERENCE]
    assert isinstance(attr, DictionaryAttr)
    table = fused_reference(op, attr, len(op.operands))
    for row in table["rows"]:
        row["parameters"] = [{"text": None, "numbers": None, **each} for each in row["parameters"]]
    reference = read_reference(table, len(op.operands), "test")
    assert reference is not None
    return reference


def _element(value: SSAValue) -> ElementType:
    return ELEMENT_TYPES[SCHEMA_NAMES[element_of(element_type(value)).scalar.keyword]]


def _store(values: Any, element: ElementType) -> Array:
    return np.asarray(values).astype(np.float64 if element.is_float else element.compute)


def _compute_row(
    row: ReferenceRow, values: Mapping[int, Array], elements: Mapping[int, ElementType]
) -> Array:
    assert row.shape is not None
    assert row.element is not None
    numbers = [each for each in row.operands if isinstance(each, int)]
    constant = elements[numbers[-1]] if numbers else row.element
    operands = [
        (values[each], elements[each])
        if isinstance(each, int)
        else (_store(each, constant), constant)
        for each in row.operands
    ]
    operation: Any = ProgramOperation(0, f"ttir.{row.mnemonic}", "", cast("Any", None), {})
    call = OperationCall(
        definition=row.definition,
        operation=operation,
        operands=tuple(TensorRef(0, host_desc(each.shape, kind)) for each, kind in operands),
        parameters=dict(row.parameters),
        outputs=(TensorRef(0, host_desc(row.shape, row.element)),),
    )
    with np.errstate(all="ignore"):
        result = reference_function(call)(*(each for each, _ in operands))
    return _store(np.broadcast_to(np.asarray(result), row.shape), row.element)


def golden_results(module: ModuleOp, inputs: Sequence[Array]) -> list[Array]:
    """The results of the only function by the references of its generics alone."""
    values: dict[SSAValue, Array] = {}
    elements: dict[SSAValue, ElementType] = {}
    found: list[Array] = []

    def watch(op: Operation, operands: Sequence[Any], results: Sequence[Any]) -> None:
        if op.name == "arith.constant":
            values[op.results[0]] = results[0]

    execute(module, inputs, observer=watch)
    (function,) = (op for op in module.walk() if op.name == "func.func")
    block = function.regions[0].block
    values.update(zip(block.args, inputs, strict=True))
    for op in block.ops:
        match op:
            case d2m.ToLayoutOp() if metal_layout_of(op.results[0].type) is None:
                shape = value_shape(op.results[0])
                values[op.results[0]] = values[op.input].reshape(shape)
            case d2m.ToLayoutOp():
                values[op.results[0]] = _store(values[op.input], _element(op.input))
                elements[op.results[0]] = _element(op.input)
            case d2m.ViewLayoutOp() | d2m.ViewElementsOp() | d2m.ViewNumberedOp():
                # The generic that reads it says what the view is.
                values[op.results[0]] = values[op.input]
                elements[op.results[0]] = elements[op.input]
            case d2m.GenericOp():
                _compute_generic(op, values, elements)
            case ReturnOp():
                found = [values[each] for each in op.operands]
            case _:
                pass
    return found


def _compute_generic(
    op: d2m.GenericOp, values: dict[SSAValue, Array], elements: dict[SSAValue, ElementType]
) -> None:
    reference = read(op)
    operands = list(enumerate(op.operands))
    known = {number: values[each] for number, each in operands if each in values}
    kinds = {number: elements[each] for number, each in operands if each in elements}
    for number, row in enumerate(reference.rows, len(op.operands)):
        known[number] = _compute_row(row, known, kinds)
        assert row.element is not None
        kinds[number] = row.element
    for output in reference.outputs:
        result = op.results[output.operand - len(op.inputs)]
        assert output.shape is not None
        values[result] = np.broadcast_to(known[output.value], output.shape)
        elements[result] = kinds[output.value]
