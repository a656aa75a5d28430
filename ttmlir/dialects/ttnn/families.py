"""The abstract classes of ttnn: what the operations of a family have in common."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.dps import DestinationStyleOp
from ttmlir.dialects.definition.ods import ODSOperation, ValueGroup
from ttmlir.dialects.definition.row_ops import RowOperation
from ttmlir.mlir.xdsl_internals import operands_of

DEVICE_OPERAND = ValueGroup("device", ods.DEVICE)
"""The device that an operation runs on."""


class TTNNOp(ODSOperation):
    """An operation of the ttnn library."""

    @property
    def device(self) -> SSAValue | None:
        """The device operand, None for an operation without one; it is always the last operand."""
        operands = self.SIGNATURE.operands
        return operands_of(self)[-1] if operands and operands[-1] is DEVICE_OPERAND else None


class TTNNRowOp(TTNNOp, DestinationStyleOp, RowOperation):
    """An operation in destination-passing style that has a row."""


class ElementwiseOp(TTNNRowOp):
    """Inputs, outputs and results are variadic; shapes are not compared."""


class UnaryOp(ElementwiseOp):
    """Elementwise operation of one input."""


class BinaryOp(ElementwiseOp):
    """Elementwise operation of two inputs."""


class TernaryOp(ElementwiseOp):
    """Elementwise operation of three inputs."""


class ReductionOp(TTNNRowOp):
    """Reduction over the dimensions `dim_arg`, or all of them."""


class MovementOp(TTNNRowOp):
    """Operation that moves elements without computing on them."""


class ContractionOp(TTNNRowOp):
    """Sum of products."""


class WindowOp(TTNNRowOp):
    """Operation on the windows of an image."""


class NormalizationOp(TTNNRowOp):
    """Operation that scales elements by a function of their neighbours along a dimension."""


class LookupOp(TTNNRowOp):
    """Rows of a table by their number."""


class CreationOp(TTNNOp, RowOperation):
    """Operation that makes a tensor on a device from nothing but parameters."""
