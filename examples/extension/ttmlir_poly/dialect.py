"""The dialect `poly`, with one operation."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, TensorType
from xdsl.ir import Dialect
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class EvaluateOp(IRDLOperation):
    """The value of a polynomial at each element of a tensor.

    `coefficients` are those of the powers 0, 1, 2 and so on; there is at least one.
    """

    name = "poly.evaluate"
    input = operand_def(TensorType)
    coefficients = prop_def(ArrayAttr[FloatAttr])
    result = result_def(TensorType)

    def verify_(self) -> None:
        """The result is like the input, and there is a coefficient."""
        if self.input.type != self.result.type:
            raise VerifyException("input and result have different types")
        if not self.coefficients.data:
            raise VerifyException("a polynomial has at least one coefficient")


POLY = Dialect("poly", [EvaluateOp])
"""What the entry point names."""
