"""What convolutions, pools and reductions of ttnn want of their tensors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerType, Signedness, bf16, f16, f32

from ttmlir.ir.tensor_types import element_type
from ttmlir.layout.enums import BufferType
from ttmlir.passes.ttnn.workarounds.ttnn_workarounds import Want, Wants

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.ir import Operation

    from ttmlir.passes.ttnn.workarounds.ttnn_workarounds import Wanting

_ROWS = Want(tiled=False)
_HOST_ROWS = Want(tiled=False, buffer=BufferType.SYSTEM_MEMORY)
_PLACES = IntegerType(16, Signedness.UNSIGNED)
_INDICES = Want(tiled=False, element=IntegerType(32, Signedness.UNSIGNED))


def _convolution(op: Operation) -> Wants:
    """Images by rows; weights and biases are prepared on the host."""
    weights = len(op.operands) - 2
    return Wants(operands=(_ROWS, *((_HOST_ROWS,) * weights)))


def _volumes(op: Operation) -> Wants:
    """Volumes of bfloat16 by rows; the weight, before it is prepared, is one of the host."""
    return Wants(
        operands=(Want(tiled=False, element=bf16), replace(_HOST_ROWS, element=bf16)),
        results=(Want(tiled=False, element=bf16),),
        in_order=True,
    )


def _max_pool(op: Operation) -> Wants:
    """Images of bfloat16 by rows."""
    want = Want(tiled=False, element=bf16)
    return Wants(operands=(want,), results=(want,))


def _max_pool_with_indices(op: Operation) -> Wants:
    """The same, and places of 16 bits by rows."""
    want = Want(tiled=False, element=bf16)
    return Wants(operands=(want,), results=(want, Want(tiled=False, element=_PLACES)))


def _avg_pool(op: Operation) -> Wants:
    """Images by rows."""
    return Wants(operands=(_ROWS,), results=(_ROWS,))


def _argmax(op: Operation) -> Wants:
    """Numbers by rows, and positions without a sign."""
    return Wants(operands=(_ROWS,), results=(_INDICES,))


def _reduction(op: Operation) -> Wants:
    """Sums of half precision are those of float32."""
    want = Want(element=f32 if element_type(op.operands[0]) == f16 else None)
    return Wants(operands=(want,), results=(want,))


def _page_table(op: Operation) -> Wants:
    """Numbers of pages by rows."""
    others = len(op.operands) - 2
    return Wants(operands=(Want(), Want(), *((_ROWS,) * others)))


WANTS: Mapping[str, Wanting] = {
    "ttnn.conv1d": _convolution,
    "ttnn.conv2d": _convolution,
    "ttnn.conv3d": _volumes,
    "ttnn.conv_transpose2d": _convolution,
    "ttnn.max_pool2d": _max_pool,
    "ttnn.max_pool2d_with_indices": _max_pool_with_indices,
    "ttnn.avg_pool2d": _avg_pool,
    "ttnn.argmax": _argmax,
    "ttnn.paged_fill_cache": _page_table,
    **{f"ttnn.{name}": _reduction for name in ("sum", "mean", "max", "min", "prod")},
}
"""What operations want, by their names."""
