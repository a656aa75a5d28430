"""The abstract classes of ttir: what the operations of a family have in common.

All but a few ttir operations are in destination-passing style and say, in `operand_constraints`,
which layouts each of their operands accepts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.dps import DestinationStyleOp
from ttmlir.dialects.definition.ods import ODSOperation, Property
from ttmlir.dialects.definition.row_ops import RowOperation
from ttmlir.dialects.definition.shape_checks import check_elementwise

if TYPE_CHECKING:
    pass

OPERAND_CONSTRAINTS = Property(
    "operand_constraints",
    ods.array_attr("", lambda item: item.name == "tt.operand_constraint"),
)
"""Layouts that each operand accepts, inputs first; their number is not verified."""


class TTIROp(DestinationStyleOp):
    """An operation in destination-passing style whose operands have layout constraints."""

    @property
    def operand_constraints(self) -> ArrayAttr[Attribute] | None:
        """Layouts that each operand accepts; None for `to_layout`, which takes any."""
        attr = self.properties.get("operand_constraints")
        return cast("ArrayAttr[Attribute] | None", attr)


class GenericRegionOp(ODSOperation):
    """An operation that `ttir-generic` can wrap into a `ttir.generic`."""


class TTIRRowOp(TTIROp, RowOperation):
    """An operation in destination-passing style that has a row."""


class ElementwiseOp(TTIRRowOp):
    """Operands broadcast against each other; inputs, outputs and results are variadic."""

    CHECK = staticmethod(check_elementwise)


class UnaryOp(ElementwiseOp):
    """Elementwise operation of one input."""


class BinaryOp(ElementwiseOp):
    """Elementwise operation of two inputs."""


class TernaryOp(ElementwiseOp):
    """Elementwise operation of three inputs."""


class ReductionOp(TTIRRowOp):
    """Reduction over the dimensions `dim_arg`, or all of them."""


class MovementOp(TTIRRowOp):
    """Operation that moves elements without computing on them."""


class ContractionOp(TTIRRowOp):
    """Sum of products."""


class WindowOp(TTIRRowOp):
    """Operation on the windows of an image."""


class NormalizationOp(TTIRRowOp):
    """Operation that scales elements by a function of their neighbours along a dimension."""


class LookupOp(TTIRRowOp):
    """Rows of a table by their number."""


class OrderingOp(TTIRRowOp):
    """Numbers in order along a dimension, and their places."""
