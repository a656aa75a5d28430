"""What a kernel computes, noted on its dispatch, so that runs can be compared with a reference.

    ttmetal.reference = {mnemonic = "clamp", operands = [0], max = 1.0 : f64, min = -0.5 : f64}

`operands` are numbers of operands of the dispatch or, with a type f64, constants; other entries are
parameters of the operation. Kernels of operations that tt-mlir knows say it by their calls.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    f64,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, SSAValue

from ttmlir.dialects import ttir
from ttmlir.ir.constants import number_of_elements
from ttmlir.mlir.attributes.elements import Elements

MNEMONIC, OPERANDS = "mnemonic", "operands"


def reference_of(op: ttir.GenericOp) -> DictionaryAttr | None:
    """The note for a generic with one elementwise operation in its body; None for other bodies."""
    computing = [each for each in op.body.block.ops if isinstance(each, ttir.ElementwiseOp)]
    others = [each for each in op.body.block.ops if not isinstance(each, ttir.ElementwiseOp)]
    if len(computing) != 1 or any(_is_arithmetic(each.name) for each in others):
        return None
    (body,) = computing
    operands = [_operand(value) for value in body.inputs]
    if None in operands:
        return None
    parameters = {
        parameter.name: value
        for parameter in body.ROW.ttir_signature
        if (value := _number(body.properties.get(parameter.name))) is not None
    }
    return DictionaryAttr(
        {
            MNEMONIC: StringAttr(body.ROW.mnemonic),
            OPERANDS: ArrayAttr(operand for operand in operands if operand is not None),
            **parameters,
        }
    )


def _is_arithmetic(name: str) -> bool:
    return name.startswith("arith.")


def _operand(value: SSAValue) -> Attribute | None:
    if isinstance(value, BlockArgument):
        return IntegerAttr(value.index, i64)
    if isinstance(value.owner, ttir.ConstantOp):
        number = number_of_elements(cast("Elements", value.owner.properties["value"]))
        if number is not None:
            return FloatAttr(float(number), f64)
    return None


def _number(attr: Attribute | None) -> Attribute | None:
    match attr:
        case FloatAttr():
            return FloatAttr(attr.value.data, f64)
        case IntegerAttr():
            return FloatAttr(float(attr.value.data), f64)
        case _:
            return None
