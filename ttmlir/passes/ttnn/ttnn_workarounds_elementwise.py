"""What elementwise operations of ttnn want of their tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerType, Signedness, bf16

from ttmlir.dialects import ttnn
from ttmlir.ir.tensor_types import element_type
from ttmlir.passes.ttnn.convert_values import has_activations
from ttmlir.passes.ttnn.ttnn_workarounds import ANYTHING, Want, Wants

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.ir import Operation, SSAValue

    from ttmlir.passes.ttnn.ttnn_workarounds import Wanting

SI32 = IntegerType(32, Signedness.SIGNED)
_WIDE = Want(element=SI32)
_REAL = Want(element=bf16)


def _widen_bytes(op: Operation) -> Wants:
    """Bytes are computed with as integers of 32 bits."""
    return Wants(
        tuple(_wide(value) for value in op.operands), tuple(_wide(value) for value in op.results)
    )


def _wide(value: SSAValue) -> Want:
    return _WIDE if str(element_type(value)) == "ui8" else ANYTHING


def _reals(op: Operation) -> Wants:
    """Integers are computed with as bf16."""
    return Wants(
        tuple(_real(value) for value in op.operands), tuple(_real(value) for value in op.results)
    )


def _real(value: SSAValue) -> Want:
    return _REAL if isinstance(element_type(value), IntegerType) else ANYTHING


WANTS: Mapping[str, Wanting] = {
    **{cls.name: _widen_bytes for cls in ttnn.TTNN.operations if has_activations(cls)},
    "ttnn.where": _widen_bytes,
    "ttnn.sign": _reals,
}
"""What operations want, by their names."""
