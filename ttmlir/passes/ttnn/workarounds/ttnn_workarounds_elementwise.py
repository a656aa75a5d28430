"""What elementwise operations of ttnn want of their tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerType, Signedness, bf16, f32

from ttmlir.dialects import ttnn
from ttmlir.ir.ttnn_types import stored_in
from ttmlir.passes.ttnn.conversion.convert_values import has_activations
from ttmlir.passes.ttnn.workarounds.ttnn_workarounds import ANYTHING, Want, Wants

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.passes.ttnn.workarounds.ttnn_workarounds import Wanting

SI32 = IntegerType(32, Signedness.SIGNED)
UI32 = IntegerType(32, Signedness.UNSIGNED)


def _instead(element: Attribute, *others: str) -> Wanting:
    """Elements of the names `others` are computed with as another type."""

    def want(op: Operation) -> Wants:
        return Wants(tuple(map(_want, op.operands)), tuple(map(_want, op.results)))

    def _want(value: SSAValue) -> Want:
        return Want(element=element) if str(stored_in(value.type)) in others else ANYTHING

    return want


def _compare(op: Operation) -> Wants:
    """Bytes are compared as integers, which makes integers."""
    if not any(str(stored_in(value.type)) == "ui8" for value in op.operands):
        return Wants()
    wide = Want(element=SI32)
    return Wants((wide, wide), (wide,))


_INTEGERS = ("ui8", "ui16", "ui32", "si32")
_LOGIC = ("bitwise_and", "bitwise_or", "bitwise_xor")
_COMPARISONS = ("eq", "ne", "gt", "ge", "lt", "le")

WANTS: Mapping[str, Wanting] = {
    **{cls.name: _instead(SI32, "ui8") for cls in ttnn.TTNN.operations if has_activations(cls)},
    **{f"ttnn.{name}": _instead(UI32, "ui8") for name in _LOGIC},
    **{f"ttnn.{name}": _compare for name in _COMPARISONS},
    "ttnn.div": _instead(f32, *_INTEGERS, "f16"),
    "ttnn.pow": _instead(f32, "f16"),
    "ttnn.where": _instead(f32, "ui8"),
    "ttnn.sign": _instead(bf16, *_INTEGERS),
}
"""What operations want, by their names."""
