"""xDSL's tensor dialect, with paddings that are given by operands though the result is static."""

from __future__ import annotations

from xdsl.dialects import tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Dialect
from xdsl.utils.exceptions import VerifyException


class PadOp(tensor.PadOp):
    """A tensor with more elements around it.

    MLIR writes constants as operands where nothing has folded them; xDSL then asks for a result of
    unknown extents.
    """

    def verify_(self) -> None:
        """Count the paddings."""
        result = self.results[0].type
        if not (isinstance(result, TensorType) and result.has_static_shape()):
            super().verify_()
            return
        rank = len(result.get_shape())
        if not len(self.static_low) == len(self.static_high) == rank:
            raise VerifyException(f"gives another number of paddings than {rank} on a side")


TENSOR = Dialect(
    "tensor",
    [PadOp, *(op for op in tensor.Tensor.operations if op.name != PadOp.name)],
    list(tensor.Tensor.attributes),
)
"""The dialect, for an xDSL context."""
