"""Rules of `convert-ttir-to-ttnn` for norms."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.dialects.builtin import FloatAttr
    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.ttnn_values import TTNNValueBuilder
    from ttmlir.passes.ttnn.convert_values import Rules


def _batch_norm(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """The statistics come first; each operand is optional in the library."""
    value, scale, offset, mean, variance = op.operands
    epsilon = cast("FloatAttr", op.properties["epsilon"]).value.data
    groups = (value, mean, variance, scale, offset)
    return build.create_grouped(
        "batch_norm_inference", groups, op.result_types, epsilon=epsilon
    ).results


RULES: Rules = {"batch_norm_inference": _batch_norm}
"""Rules by mnemonic."""
