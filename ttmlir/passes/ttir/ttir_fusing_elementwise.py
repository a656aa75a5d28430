"""Rules of `ttir-fusing` for elementwise operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ttmlir.ir.constants import splat_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule


def number_of(value: SSAValue) -> float | None:
    """The one number that a tensor is filled with; None for others."""
    owner = value.owner
    name = getattr(owner, "name", "")
    if name == "ttir.full":
        return cast(
            "float", cast("Operation", owner).properties["fill_value"].value.data
        )
    if name in ("ttir.zeros", "ttir.ones"):
        return float(name == "ttir.ones")
    if name in ("ttir.broadcast", "ttir.reshape"):
        return number_of(cast("Operation", owner).operands[0])
    return splat_number(value)


def _relu(op: Operation, rewriter: GreedyRewriter) -> bool:
    """The maximum of a tensor and 0."""
    for index, operand in enumerate(op.operands):
        other = op.operands[1 - index]
        if number_of(operand) == 0 and other.type == op.results[0].type:
            build = rewriter.builder(op)
            rewriter.replace(op, build.create("relu", (other,), op.results[0].type))
            return True
    return False


RULES: Mapping[str, Sequence[Rule]] = {"ttir.maximum": (_relu,)}
"""Rules by the name of the operation."""
