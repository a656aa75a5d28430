"""Rules of `convert-ttir-to-ttnn` for norms, and the optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ttmlir.dialects import ttnn
from ttmlir.dialects.definition.ods import SEGMENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.dialects.builtin import FloatAttr
    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.ttnn_values import TTNNValueBuilder
    from ttmlir.passes.ttnn.conversion.convert_values import Rules


def _batch_norm(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """The statistics come first; each operand is optional in the library."""
    value, scale, offset, mean, variance = op.operands
    epsilon = cast("FloatAttr", op.properties["epsilon"]).value.data
    groups = (value, mean, variance, scale, offset)
    return build.create_grouped(
        "batch_norm_inference", groups, op.result_types, epsilon=epsilon
    ).results


def _batch_norm_training(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """The statistics that go on come first; those of the batch are results."""
    value, scale, offset, *running = op.operands
    mean, variance = running or (None, None)
    numbers = {
        name: cast("FloatAttr", op.properties[name]).value.data for name in ("epsilon", "momentum")
    }
    groups = (value, mean, variance, scale, offset)
    return build.create_grouped("batch_norm_training", groups, op.result_types, **numbers).results


def _adamw(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """The library writes over the parameters and their moments."""
    properties = {key: value for key, value in op.properties.items() if key != SEGMENTS}
    new = ttnn.op_class("adamw").create(
        operands=op.operands, properties=properties, location=op.location
    )
    build.add(new)
    has_max = len(op.results) > 3
    return [op.operands[n] for n in (0, 2, 3, 4)[: 3 + has_max]]


RULES: Rules = {
    "adamw": _adamw,
    "batch_norm_inference": _batch_norm,
    "batch_norm_training": _batch_norm_training,
}
"""Rules by mnemonic."""
