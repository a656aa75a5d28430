"""Rules of `ttir-fusing` for norms: division by the root of the mean square, and a weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.passes.ttir.fusing.ttir_fusing_reduction import reduced_dims
from ttmlir.passes.ttir.value_rewriting import made_by, number_known, under

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule


def _rms_norm(op: Operation, rewriter: GreedyRewriter) -> bool:
    """x * rsqrt(mean(x * x) + epsilon) * weight along the last dimension."""
    for index in (0, 1):
        weight = _weight_of(op.operands[1 - index], value_shape(op.results[0]))
        found = None if weight is None else _normalized(op.operands[index])
        if found is None:
            continue
        source, epsilon = found
        if element_type(source) != element_type(op.results[0]):
            continue
        build = rewriter.builder(op)
        shape = value_shape(op.results[0])
        new = build.create_grouped(
            "rms_norm",
            (source, weight, None),
            (op.results[0].type,),
            normalized_shape=shape[-1:],
            epsilon=epsilon,
        )
        rewriter.replace(op, *new)
        return True
    return False


def _weight_of(value: SSAValue, shape: Sequence[int]) -> SSAValue | None:
    """The tensor of one dimension that is repeated along all others."""
    value = under(under(value, "broadcast"), "reshape")
    return value if value_shape(value) == tuple(shape[-1:]) else None


def _normalized(value: SSAValue) -> tuple[SSAValue, float] | None:
    """What is divided by the root of its mean square, and what is added to it."""
    product = made_by(under(value, "typecast"), "multiply")
    if product is None:
        return None
    for index in (0, 1):
        root = made_by(under(product.operands[1 - index], "broadcast"), "rsqrt")
        total = None if root is None else made_by(root.operands[0], "add")
        epsilon = _mean_square_of(total, product.operands[index])
        if epsilon is not None:
            source = product.operands[index]
            if made_by(value, "typecast") is not None:
                source = under(source, "typecast")
            return source, epsilon
    return None


def _mean_square_of(total: Operation | None, source: SSAValue) -> float | None:
    """What is added to the mean square of a tensor along its last dimension."""
    if total is None:
        return None
    for index in (0, 1):
        mean = made_by(total.operands[index], "mean")
        square = None if mean is None else made_by(mean.operands[0], "multiply")
        if mean is None or square is None:
            continue
        if square.operands[0] is not source or square.operands[1] is not source:
            continue
        if reduced_dims(mean) == (len(value_shape(source)) - 1,):
            return number_known(total.operands[1 - index])
    return None


RULES: Mapping[str, Sequence[Rule]] = {"ttir.multiply": (_rms_norm,)}
"""Rules by the name of the operation."""
