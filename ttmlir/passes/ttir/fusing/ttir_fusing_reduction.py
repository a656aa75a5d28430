"""Rules of `ttir-fusing` for reductions: kept dimensions, means, softmax, norms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, TensorType

from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.passes.ttir.value_rewriting import made_by, number_known, under

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule

_REDUCTIONS = tuple(
    f"ttir.{name}"
    for name in ("sum", "mean", "max", "min", "prod", "reduce_and", "reduce_or", "argmax")
)


def reduced_dims(op: Operation) -> tuple[int, ...]:
    """The dimensions that a reduction reduces, counted from the first."""
    rank = len(value_shape(op.operands[0]))
    attr = op.properties.get("dim_arg")
    if attr is None:
        return tuple(range(rank))
    return tuple(each.value.data % rank for each in cast("ArrayAttr[IntegerAttr]", attr))


def _keeps(op: Operation) -> bool:
    return bool(cast("IntegerAttr", op.properties["keep_dim"]).value.data)


def _kept_shape(op: Operation) -> tuple[int, ...]:
    dims = reduced_dims(op)
    return tuple(
        1 if dim in dims else extent for dim, extent in enumerate(value_shape(op.operands[0]))
    )


def _with_operand(
    op: Operation, rewriter: GreedyRewriter, at: Operation, name: str, *, keep: bool
) -> SSAValue:
    """The reduction under a name, which keeps dimensions or not, made before another operation."""
    shape = _kept_shape(op) if keep else value_shape(op.results[0])
    type_ = TensorType(element_type(op.results[0]), shape)
    parameters: dict[str, bool | tuple[int, ...]] = {"keep_dim": keep}
    if "dim_arg" in op.properties:
        attr = cast("ArrayAttr[IntegerAttr]", op.properties["dim_arg"])
        parameters["dim_arg"] = tuple(each.value.data for each in attr)
    build = rewriter.builder(at, op.location)
    return build.create(name, (op.operands[0],), type_, **parameters)


def _keep(op: Operation, rewriter: GreedyRewriter) -> bool:
    """A reduction whose dimensions are put back keeps them."""
    inner = op.operands[0].owner
    if getattr(inner, "name", "") not in _REDUCTIONS or not op.operands[0].has_one_use():
        return False
    reduction = cast("Operation", inner)
    if _keeps(reduction) or _kept_shape(reduction) != value_shape(op.results[0]):
        return False
    name = reduction.name.removeprefix("ttir.")
    rewriter.replace(op, _with_operand(reduction, rewriter, reduction, name, keep=True))
    return True


def _mean_of_division(op: Operation, rewriter: GreedyRewriter) -> bool:
    """A sum that is divided by the number of its terms."""
    total = made_by(op.operands[0], "sum")
    if total is None or not op.operands[0].has_one_use():
        return False
    return number_known(op.operands[1]) == _terms(total) and _replace_by_mean(op, total, rewriter)


def _mean_of_product(op: Operation, rewriter: GreedyRewriter) -> bool:
    """A sum that is multiplied by the inverse of the number of its terms."""
    for index in (0, 1):
        total = made_by(op.operands[index], "sum")
        factor = number_known(op.operands[1 - index])
        if total is None or factor is None or not op.operands[index].has_one_use():
            continue
        if math.isclose(factor * _terms(total), 1, rel_tol=1e-6):
            return _replace_by_mean(op, total, rewriter)
    return False


def _terms(total: Operation) -> int:
    shape = value_shape(total.operands[0])
    return math.prod(shape[dim] for dim in reduced_dims(total))


def _replace_by_mean(op: Operation, total: Operation, rewriter: GreedyRewriter) -> bool:
    if total.results[0].type != op.results[0].type:
        return False
    rewriter.replace(op, _with_operand(total, rewriter, op, "mean", keep=_keeps(total)))
    return True


# --- Softmax --------------------------------------------------------------------------------------


def _broadcast_reduction(value: SSAValue, name: str) -> Operation | None:
    """The reduction along one dimension that is repeated along it, to the shape of its operand."""
    shape = value_shape(value)
    value = under(value, "broadcast")
    inner = made_by(value, name)
    if inner is None:
        value = under(value, "reshape")
        inner = made_by(value, name)
    if inner is None or len(reduced_dims(inner)) != 1 or value_shape(inner.operands[0]) != shape:
        return None
    return inner


def _softmax(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Exponentials divided by their sum."""
    grown = made_by(op.operands[0], "exp")
    total = _broadcast_reduction(op.operands[1], "sum")
    if grown is None or total is None or total.operands[0] is not op.operands[0]:
        return False
    if len({use.operation for use in op.operands[0].uses}) != 2:
        return False
    dim = reduced_dims(total)[0]
    build = rewriter.builder(op)
    result = op.results[0]
    parameters = {"dimension": dim, "numericStable": False}
    rewriter.replace(op, build.create("softmax", (grown.operands[0],), result.type, **parameters))
    return True


def _stable_softmax(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Softmax of numbers less their maximum."""
    if cast("IntegerAttr", op.properties["numericStable"]).value.data:
        return False
    difference = made_by(op.operands[0], "subtract")
    if difference is None or not op.operands[0].has_one_use():
        return False
    largest = _maximum_of(difference.operands[1])
    if largest is None or largest.operands[0] is not difference.operands[0]:
        return False
    dim = cast("IntegerAttr", op.properties["dimension"]).value.data
    if reduced_dims(largest) != (dim,):
        return False
    build = rewriter.builder(op)
    parameters = {"dimension": dim, "numericStable": True}
    new = build.create("softmax", (difference.operands[0],), op.results[0].type, **parameters)
    rewriter.replace(op, new)
    return True


def _maximum_of(value: SSAValue) -> Operation | None:
    """The maximum along a dimension; along the last it may say that it is at least -infinity."""
    found = _broadcast_reduction(value, "max")
    if found is not None:
        return found
    shape = value_shape(value)
    inner = under(under(value, "broadcast"), "reshape")
    bounded = made_by(inner, "maximum")
    if bounded is None:
        return None
    for index in (0, 1):
        if number_known(bounded.operands[1 - index]) != -math.inf:
            continue
        largest = made_by(under(bounded.operands[index], "reshape"), "max")
        if largest is None or len(reduced_dims(largest)) != 1:
            continue
        if value_shape(largest.operands[0]) == shape and reduced_dims(largest) == (len(shape) - 1,):
            return largest
    return None


RULES: Mapping[str, Sequence[Rule]] = {
    "ttir.reshape": (_keep,),
    "ttir.div": (_mean_of_division, _softmax),
    "ttir.multiply": (_mean_of_product,),
    "ttir.softmax": (_stable_softmax,),
}
"""Rules by the name of the operation."""
