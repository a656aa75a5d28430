"""CHLO's operations that broadcast their operands, and its constants."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ComplexType, FloatAttr, IntegerAttr, TensorType
from xdsl.ir import Attribute, Operation

from ttmlir.dialects.chlo import OPERATIONS as CHLO_OPERATIONS
from ttmlir.dialects.stablehlo.enums import (
    ComparisonDirectionAttr,
    ComparisonTypeAttr,
    EnumAttr,
)
from ttmlir.dialects.stablehlo.text.form import integers
from ttmlir.ir.rewriting import insert_before, refuse_to_legalize, replace
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.mlir.attributes.elements import ElementsType
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.specification.writer import Writer

_PREFIX = "chlo.broadcast_"
_CHLO = {cls.name: cls for cls in CHLO_OPERATIONS}


def _broadcast(op: Operation) -> None:
    """Bring the operands to one shape; then the operation is one of pairs of elements."""
    write = Writer(op)
    shapes = [value_shape(value) for value in op.operands]
    rank = max(map(len, shapes))
    if "broadcast_dimensions" in op.properties:
        given = integers(op, "broadcast_dimensions")
        placed = [given if len(shape) < rank else range(rank) for shape in shapes]
    else:
        placed = [range(rank - len(shape), rank) for shape in shapes]
    extents = [1] * rank
    for shape, dims in zip(shapes, placed, strict=True):
        for extent, dim in zip(shape, dims, strict=True):
            if extent != 1:
                if extents[dim] not in (1, extent):
                    refuse_to_legalize(
                        op,
                        f"extents {extents[dim]} and {extent} of dimension {dim} cannot be "
                        "broadcast; one of them has to be 1, or both the same",
                    )
                extents[dim] = extent
    operands = [
        write.broadcast(value, extents, dims)
        for value, dims in zip(op.operands, placed, strict=True)
    ]
    mnemonic = op.name.removeprefix(_PREFIX)
    type_ = TensorType(element_type(op.results[0]), extents)
    if f"chlo.{mnemonic}" in _CHLO:
        new = _CHLO[f"chlo.{mnemonic}"].create(
            operands=operands, result_types=[type_], location=op.location
        )
        insert_before(op, new)
        replace(op, new.results[0])
        return
    properties: dict[str, Attribute] = {}
    for name, cls in _COMPARED.items():
        if name in op.properties:
            properties[name] = cls(cast("EnumAttr", op.properties[name]).data)
    replace(op, write.create(mnemonic, operands, type_, **properties))


_COMPARED: dict[str, type[EnumAttr]] = {
    "comparison_direction": ComparisonDirectionAttr,
    "compare_type": ComparisonTypeAttr,
}


def _constant(op: Operation) -> None:
    write = Writer(op)
    replace(op, write.create("constant", (), op.results[0].type, value=op.properties["value"]))


def _constant_like(op: Operation) -> None:
    """One number in the shape of the operand."""
    value = op.properties["value"]
    if not isinstance(value, (FloatAttr, IntegerAttr)):
        refuse_to_legalize(op, "the value of a constant has to be one real number")
    number = cast("FloatAttr | IntegerAttr", value).value.data
    (operand,) = op.operands
    write = Writer(op)
    one = write.constant(cast("ElementsType", TensorType(element_type(operand), ())), [number])
    replace(op, write.broadcast(one, value_shape(operand), ()))


def _conj(op: Operation) -> None:
    """Real numbers are their own conjugates."""
    replace(op, op.operands[0])


def is_real_conj(op: Operation) -> bool:
    """True for a conjugate of real numbers; that of complex ones is left as it is."""
    return not isinstance(element_type(op.operands[0]), ComplexType)


RULES: dict[str, ConversionRule] = {
    **{name: _broadcast for name in _CHLO if name.startswith(_PREFIX)},
    "chlo.conj": _conj,
    "chlo.constant": _constant,
    "chlo.constant_like": _constant_like,
}
"""Rules by the full name of the operation."""
