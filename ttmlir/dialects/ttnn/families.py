"""The abstract classes of ttnn: what the operations of a family have in common.

Until 2025 operations wrote to a destination that was handed to them; since then they make their
results. Both forms are one class: in the later one, `inits` is empty.
"""

from __future__ import annotations

from functools import cache
from typing import ClassVar

from xdsl.ir import Attribute, SSAValue

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.dps import DestinationStyleOp
from ttmlir.dialects.definition.ods import (
    SEGMENTS,
    ODSOperation,
    Property,
    Signature,
    ValueGroup,
    check_structure,
    refuse,
    text,
)
from ttmlir.dialects.definition.row_ops import RowOperation
from ttmlir.mlir.syntax.core_prefix import TTCORE, core_prefix
from ttmlir.mlir.xdsl_internals import operands_of

DEVICE_OPERAND = ValueGroup("device", ods.DEVICE)
"""The device that an operation runs on."""


DTYPE = Property("dtype", ods.named_attr("tt.supportedDataTypes"), optional=True)
"""The data type of the result, which its layout says, too."""
MEMORY_CONFIG = Property("memory_config", ods.named_attr("ttnn.memory_config"), optional=True)
"""The memory of the result, which its layout says, too."""
COMPUTE_CONFIG = Property(
    "compute_config", ods.named_attr("ttnn.device_compute_kernel_config"), optional=True
)
"""How the matrix unit computes; without it, as the library likes."""


class TTNNOp(ODSOperation):
    """An operation of the ttnn library."""

    LATE_PROPERTIES: ClassVar[tuple[Property, ...]] = ()
    """Optional properties of the later form; in the earlier one they are not kept."""

    @property
    def device(self) -> SSAValue | None:
        """The device operand, None for an operation without one; it is always the last operand."""
        operands = self.form().operands
        return operands_of(self)[-1] if operands and operands[-1] is DEVICE_OPERAND else None

    @classmethod
    def convert_properties(
        cls, properties: dict[str, Attribute] | None, attributes: dict[str, Attribute]
    ) -> dict[str, Attribute]:
        """Keep what only the later form has, where that is read."""
        result = super().convert_properties(properties, attributes)
        if core_prefix() == TTCORE:
            for each in cls.LATE_PROPERTIES:
                if (attr := (properties or {}).get(each.name)) is None:
                    continue
                if not each.constraint.storage(attr):
                    shown = text(attr)
                    refuse(f"invalid attribute `{each.name}` in property conversion: {shown}")
                result[each.name] = attr
        return result


class TTNNRowOp(TTNNOp, DestinationStyleOp, RowOperation):
    """An operation that has a row, and writes to a destination or makes its result."""

    LATE_PROPERTIES: ClassVar = (DTYPE, MEMORY_CONFIG)

    @classmethod
    def convert_properties(
        cls, properties: dict[str, Attribute] | None, attributes: dict[str, Attribute]
    ) -> dict[str, Attribute]:
        """Take the later form for one without sizes of operand groups, where that is read."""
        has_sizes = SEGMENTS in (properties or {}) or SEGMENTS in attributes
        result = super().convert_properties(properties, attributes)
        if core_prefix() == TTCORE and cls.SIGNATURE.has_segments and not has_sizes:
            del result[SEGMENTS]
        return result

    @property
    def has_destination(self) -> bool:
        """False in the later form."""
        signature = self.SIGNATURE
        if signature.has_segments:
            return SEGMENTS in self.properties
        operands = operands_of(self)
        if all(group.is_single or group.name == signature.init for group in signature.operands):
            return len(operands) >= len(signature.operands)
        # With a group of any size, the type tells a destination from another operand.
        last = len(operands) - (2 if signature.operands[-1] is DEVICE_OPERAND else 1)
        return last < 0 or not self.results or operands[last].type == self.results[0].type

    def form(self) -> Signature:
        """The signature with a destination, or without."""
        return self.SIGNATURE if self.has_destination else _value_form(type(self))

    @property
    def init_range(self) -> tuple[int, int]:
        """First and one past the last operand number of the inits, none in the later form."""
        if self.has_destination:
            return super().init_range
        end = len(operands_of(self)) - (self.device is not None)
        return end, end

    @property
    def output(self) -> SSAValue:
        """The destination; in the later form the result, which has its type."""
        return super().output if self.has_destination else self.results[0]

    @property
    def written_results(self) -> dict[int, SSAValue]:
        """The results by the number of the operand that is their destination."""
        return super().written_results if self.has_destination else {}

    def verify_(self) -> None:
        """Check the operation, in the form that the module around it is read in."""
        if not self.has_destination and core_prefix() != TTCORE:
            check_structure(self, self.SIGNATURE)
            refuse("writes to an operand of another type than its result")
        super().verify_()

    def verify_op(self) -> None:
        """Check the number of operands, which the later form does not say, and what the row says.

        C1: as many operands as the row has.
        """
        count, expected = len(operands_of(self)), len(self.ROW.operands)
        if self.SIGNATURE.has_segments and not self.has_destination and count != expected:
            refuse(f"expected {expected} operands, but found {count}")
        super().verify_op()

    def verify_interfaces(self) -> None:
        """Compare the results with the inits."""
        if self.has_destination:
            super().verify_interfaces()


@cache
def _value_form(cls: type[TTNNRowOp]) -> Signature:
    """The signature without a destination."""
    signature = cls.SIGNATURE
    return Signature(
        operands=tuple(group for group in signature.operands if group.name != signature.init),
        results=signature.results,
        properties=(*signature.properties, *cls.LATE_PROPERTIES),
    )


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


class OrderingOp(TTNNRowOp):
    """Numbers in order along a dimension, and their places."""


class CreationOp(TTNNOp, RowOperation):
    """Operation that makes a tensor on a device from nothing but parameters."""
