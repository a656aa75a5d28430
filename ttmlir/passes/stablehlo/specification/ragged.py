"""Products whose rows, or terms, stand in groups of sizes that are numbers of the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import TensorType, i32
from xdsl.ir import Attribute, Operation

from ttmlir.dialects.stablehlo.attrs import DotDimensionNumbersAttr, RaggedDotDimensionNumbersAttr
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.linear_algebra.tensors import Body, Tensor


def _ragged_dot(op: Operation) -> None:
    """Multiply with zeros for what is of other groups.

    In groups are rows of the left side, each of which meets the matrix of its group; or the terms
    of the sums, with one product for each group; or batches, which need no groups.
    """
    numbers = cast("RaggedDotDimensionNumbersAttr", op.properties["ragged_dot_dimension_numbers"])
    assert op.parent is not None, "operations are in blocks"
    body = Body(op.parent, op.location, before=op)
    lhs, rhs, sizes = (Tensor(body, value) for value in op.operands)
    result = cast("TensorType[Attribute]", op.results[0].type)
    if len(numbers.lhs_ragged_dimensions) != 1:
        refuse_to_legalize(op, "one dimension of the left side has to be in groups")
    (ragged,) = numbers.lhs_ragged_dimensions
    batches = numbers.lhs_batching_dimensions
    terms = numbers.lhs_contracting_dimensions
    if ragged in batches:
        replace(op, _product(numbers, lhs, rhs, result).value)
        return
    before = [
        dim for dim in range(ragged) if dim not in batches and (dim in terms) == (ragged in terms)
    ]
    masked = _masked(lhs, sizes.cast(i32), ragged, [*batches, *before])
    if ragged in terms:
        shape = result.get_shape()
        count = len(batches)
        made = [*shape[1 : count + 1], shape[0], *shape[count + 1 :]]
        found = _product(numbers, masked, rhs, TensorType(result.element_type, made), moved=1)
        order = [count, *range(count), *range(count + 1, len(made))]
        replace(op, found.permute(order).value)
        return
    (group,) = numbers.rhs_group_dimensions
    replace(op, _product(numbers, masked, rhs, result, moved=1, group=group).value)


def _masked(lhs: Tensor, sizes: Tensor, ragged: int, prefix: Sequence[int]) -> Tensor:
    """The left side for each group, which are a first dimension, with zeros for other groups.

    `prefix` are the dimensions of the left side that the sizes have before that of the groups.
    """
    body, groups = lhs.body, sizes.shape[-1]
    square = [*sizes.shape, groups]
    counted = [body.count(square, dim) for dim in (-1, -2)]
    rows = sizes.reshape([*sizes.shape[:-1], 1, groups]).broadcast(square)
    is_before = counted[0].compare("LE", counted[1])
    ends = is_before.where(rows, 0).sum(-1).reshape(sizes.shape)
    extents = [groups, *lhs.shape]
    if len(sizes.shape) == 1:
        placed = [groups, *(1 for _ in lhs.shape)]
        spread = [each.reshape(placed) for each in (ends - sizes, ends)]
    else:
        last = len(sizes.shape) - 1
        order = [last, *sorted(range(last), key=lambda place: prefix[place])]
        placed = [groups, *(n if dim in prefix else 1 for dim, n in enumerate(lhs.shape))]
        spread = [each.permute(order).reshape(placed) for each in (ends - sizes, ends)]
    starts, ends = (each.broadcast(extents) for each in spread)
    place = body.count(extents, ragged + 1)
    is_inside = place.compare("GE", starts) & place.compare("LT", ends)
    return is_inside.where(lhs.broadcast(extents), 0)


def _product(
    numbers: RaggedDotDimensionNumbersAttr,
    lhs: Tensor,
    rhs: Tensor,
    type_: TensorType[Attribute],
    *,
    moved: int = 0,
    group: int | None = None,
) -> Tensor:
    """The products; dimensions of the left side stand `moved` places later than `numbers` says.

    With `group`, sums go over the groups, too, which are that dimension of the right side.
    """
    groups = () if group is None else (group,)
    dims = DotDimensionNumbersAttr.of(
        lhs_batching_dimensions=[dim + moved for dim in numbers.lhs_batching_dimensions],
        rhs_batching_dimensions=numbers.rhs_batching_dimensions,
        lhs_contracting_dimensions=[
            *(0 for _ in groups),
            *(dim + moved for dim in numbers.lhs_contracting_dimensions),
        ],
        rhs_contracting_dimensions=[*groups, *numbers.rhs_contracting_dimensions],
    )
    [found] = lhs.body.create("dot_general", [lhs, rhs], [type_], dot_dimension_numbers=dims)
    return found


RULES: dict[str, ConversionRule] = {"chlo.ragged_dot": _ragged_dot}
"""Rules by the full name of the operation."""
