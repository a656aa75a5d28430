"""The operations of ttir by the reference functions of their definitions.

The runtime's faster kernels are not used, so that the two can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.arrays.carriers import compute_reference
from ttmlir.dialects import ttir
from ttmlir.dialects.definition.table_ops import TableOperation
from ttmlir.interpreter import kernels, structure
from ttmlir.interpreter.execution import Execution, Function, constant_array, runtime_element
from ttmlir.interpreter.tensors import empty_tensor
from ttmlir.runtime.tensor import Array, ElementType, cast_rounding, convert


def _run_reference(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    assert isinstance(op, TableOperation)
    definition, shape = op.DEFINITION, _shape(op.results[0])
    inputs = _inputs(op, operands)
    types: tuple[Any, Any] = (None, None)
    if definition.takes_types:
        types = _element(op.operands[0]).host, _element(op.results[0]).host
    result = compute_reference(definition, inputs, shape, types, op.parameters())
    if len(definition.results) > 1:
        return tuple(map(np.asarray, result))
    result = np.asarray(result)
    if definition.mnemonic == "typecast":
        result = _round(result, _element(op.results[0]))
    return (result.reshape(shape) if result.shape == () else result,)


def _inputs(op: Operation, operands: Sequence[Any]) -> list[Any]:
    """The operands other than destinations; None for an absent optional one."""
    assert isinstance(op, TableOperation)
    form = op.form()
    destination = form.init
    inputs: list[Any] = []
    for value in form.operands:
        if value.name == destination:
            continue
        first, end = op.group_range(value.name)
        inputs += operands[first:end]
        if value.optional and first == end:
            inputs.append(None)
    return inputs


def _round(result: Array, element: ElementType) -> Array:
    """What a cast makes of numbers: the program asks for the rounding."""
    rounding = cast_rounding(element)
    return result if rounding is None else rounding(convert(result, element.compute))


def _element(value: SSAValue) -> ElementType:
    element = runtime_element(cast("TensorType[Attribute]", value.type).element_type)
    assert element is not None, "tensors of the runtime have elements of its types"
    return element


def _shape(value: SSAValue) -> tuple[int, ...]:
    return tuple(cast("TensorType[Attribute]", value.type).get_shape())


# Structure.


def _constant(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (constant_array(op, op.properties["value"]),)


def _to_layout(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return (operands[0],)


def _nothing(execution: Execution, op: Operation, operands: Sequence[Any]) -> Sequence[Any]:
    return ()


def _table_functions() -> dict[str, Function]:
    return {
        cls.name: _run_reference for cls in ttir.TTIR.operations if issubclass(cls, TableOperation)
    }


FUNCTIONS: dict[str, Function] = {
    **_table_functions(),
    **kernels.FUNCTIONS,
    **structure.CONTROL,
    "ttir.alloc": empty_tensor,
    "ttir.constant": _constant,
    "ttir.dealloc": _nothing,
    "ttir.to_layout": _to_layout,
}
"""Operations of ttir by name."""
