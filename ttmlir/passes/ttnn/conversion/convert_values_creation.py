"""Rules of `convert-ttir-to-ttnn` for what makes tensors of nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    f32,
    f64,
    i32,
)

from ttmlir.dialects.tt import STORED_IN_32_BITS
from ttmlir.dialects.ttnn.attrs import ShapeAttr
from ttmlir.ir.constants import (
    constant_elements,
    find_elements,
    needs_64_bits,
    number_of_elements,
)
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.mlir.attributes import elements_attr, raw_bytes
from ttmlir.passes.ttir.value_rewriting import parameters_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.ir.ttnn_values import TTNNValueBuilder
    from ttmlir.mlir.attributes import ElementsType
    from ttmlir.passes.ttnn.conversion.convert_values import Rules, ValueRule


def _constant(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """A tensor of one number is filled with it."""
    result = op.results[0]
    elements = constant_elements(result)
    number = None if elements is None else number_of_elements(elements)
    element = element_type(result)
    if number is None or 0 in value_shape(result) or needs_64_bits(number, element):
        value = _in_32_bits(op)
        return [build.create("constant", (build.device(),), result.type, value=value)]
    fill: Attribute
    if isinstance(element, IntegerType):
        fill = IntegerAttr(int(number), i32)
    else:
        fill = FloatAttr(float(number), f32)
    return [build.full(fill, result.type)]


def _in_32_bits(op: Operation) -> Attribute:
    """The elements of a constant; those of 64 bits as memory has them, where nothing is lost."""
    value, element = op.properties["value"], element_type(op.results[0])
    if element not in STORED_IN_32_BITS:
        return value
    import numpy as np

    from ttmlir.arrays.carriers import host_dtype

    elements = find_elements(op)
    numbers = np.frombuffer(raw_bytes(elements), host_dtype(str(element)))
    with np.errstate(over="ignore"):
        narrow = numbers.astype(host_dtype(str(STORED_IN_32_BITS[element])))
    if not np.array_equal(narrow, numbers, equal_nan=element == f64):
        return value
    type_ = cast("ElementsType", TensorType(STORED_IN_32_BITS[element], elements.get_shape()))
    return elements_attr(type_, narrow.tobytes())


def _full(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    return [build.full(op.properties["fill_value"], op.results[0].type)]


def _of_shape(mnemonic: str) -> ValueRule:
    """The rule of a tensor whose numbers the name says."""

    def rule(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
        type_ = op.results[0].type
        shape = ShapeAttr.of(value_shape(op.results[0]))
        return [build.create(mnemonic, (build.device(),), type_, shape=shape)]

    return rule


def _arange(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    bounds = {name: op.properties[name] for name in ("start", "end", "step")}
    return [build.create("arange", (build.device(),), op.results[0].type, **bounds)]


def _rand(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    numbers = parameters_of(op)
    size = ShapeAttr.of(value_shape(op.results[0]))
    parameters = {name: numbers[name] for name in ("low", "high", "seed")}
    return [build.create("rand", (build.device(),), op.results[0].type, size=size, **parameters)]


RULES: Rules = {
    "rand": _rand,
    "constant": _constant,
    "full": _full,
    "zeros": _of_shape("zeros"),
    "ones": _of_shape("ones"),
    "arange": _arange,
}
"""Rules by mnemonic."""
