"""Rules of `convert-ttir-to-ttnn` for what makes tensors of nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, f32, i32

from ttmlir.dialects.ttnn.attrs import ShapeAttr
from ttmlir.ir.constants import constant_elements, number_of_elements
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.passes.ttir.value_rewriting import parameters_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.ir.ttnn_values import TTNNValueBuilder
    from ttmlir.passes.ttnn.conversion.convert_values import Rules, ValueRule


def _constant(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """A tensor of one number is filled with it."""
    result = op.results[0]
    elements = constant_elements(result)
    number = None if elements is None else number_of_elements(elements)
    if number is None or 0 in value_shape(result):
        value = op.properties["value"]
        return [build.create("constant", (build.device(),), result.type, value=value)]
    fill: Attribute
    if isinstance(element_type(result), IntegerType):
        fill = IntegerAttr(int(number), i32)
    else:
        fill = FloatAttr(float(number), f32)
    return [build.full(fill, result.type)]


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
