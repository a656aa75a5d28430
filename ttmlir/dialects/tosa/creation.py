"""The constants of tosa."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import traits_def
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, HasFolder, Pure

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import Property, Signature, ValueGroup, refuse
from ttmlir.dialects.tosa.attrs import ShapeType
from ttmlir.dialects.tosa.forms import NUMBERS, SHAPE, FormedOp, TosaOp


class _ConstantFolds(HasFolder):
    @classmethod
    def fold(cls, op: Operation) -> Sequence[SSAValue | Attribute]:
        return (cast("ConstOp", op).value,)


class ConstOp(FormedOp):
    """A constant tensor, which MLIR writes in the generic form.

    C1: value and result have the same shape.
    """

    name = "tosa.const"
    FORMS: ClassVar = tuple(
        Signature(
            results=(ValueGroup("output", NUMBERS),), properties=(Property(name, ods.ELEMENTS),)
        )
        for name in ("value", "values")
    )
    traits = traits_def(Pure(), ConstantLike(), _ConstantFolds())

    @property
    def value(self) -> Attribute:
        """The elements."""
        return next(iter(self.properties.values()))

    def verify_op(self) -> None:
        """Compare the shapes (C1)."""
        value = cast("DenseIntOrFPElementsAttr", self.value)
        result = cast("TensorType[Attribute]", self.results[0].type)
        if value.type.get_shape() != result.get_shape():
            refuse("failed to verify that all of {value, output} have same shape")


class ConstShapeOp(TosaOp):
    """Numbers that are known when the program is compiled: extents, paddings, multiples.

    C1: as many numbers as the type says; a shape of rank 0 is written as one number.
    """

    name = "tosa.const_shape"
    FORMS: ClassVar = (
        Signature(
            results=(ValueGroup("output", SHAPE),), properties=(Property("values", ods.ELEMENTS),)
        ),
    )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_operation_type(self)

    def verify_op(self) -> None:
        """Count the numbers (C1)."""
        count = cast("DenseIntOrFPElementsAttr", self.properties["values"]).type.get_shape()[0]
        expected = cast("ShapeType", self.results[0].type).rank.data
        if count != max(1, expected):
            refuse(
                f"expect number of elements in attribute values ({count}) to be equal to the "
                f"rank ({expected}) for the result shape type"
            )


OPERATIONS: Sequence[type[FormedOp]] = (ConstOp, ConstShapeOp)
"""The operations of this module."""
