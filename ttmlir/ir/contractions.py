"""Sums of products over named dimensions, as in Einstein's notation."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from xdsl.ir import SSAValue

from ttmlir.ir.builder import Builder
from ttmlir.ir.tensor_types import element_type, tensor_of, value_shape


def contract(
    builder: Builder,
    a: SSAValue,
    a_dims: Sequence[Hashable],
    b: SSAValue,
    b_dims: Sequence[Hashable],
    dims: Sequence[Hashable],
) -> SSAValue:
    """The sum, over the dimensions that are not in `dims`, of the products of `a` and `b`.

    Dimensions are told by any names. What only one operand has and the result has not is summed up
    before.
    """
    a, a_dims = _sum_out(builder, a, a_dims, {*b_dims, *dims})
    b, b_dims = _sum_out(builder, b, b_dims, {*a_dims, *dims})
    batch = [dim for dim in dims if dim in a_dims and dim in b_dims]
    inner = [dim for dim in a_dims if dim in b_dims and dim not in dims]
    rows = [dim for dim in a_dims if dim not in b_dims]
    columns = [dim for dim in b_dims if dim not in a_dims]
    extents = dict(zip((*a_dims, *b_dims), (*value_shape(a), *value_shape(b)), strict=True))
    natural = [*batch, *rows, *columns]
    type_ = tensor_of(element_type(a), [extents[dim] for dim in natural])
    one_each = len(inner) == len(rows) == len(columns) == 1
    if one_each and [*a_dims] == batch + rows + inner and [*b_dims] == batch + inner + columns:
        product = builder.create("matmul", [a, b], type_)
    else:
        product = builder.create(
            "dot_general",
            [a, b],
            type_,
            batch_dims_lhs=tuple(a_dims.index(dim) for dim in batch),
            batch_dims_rhs=tuple(b_dims.index(dim) for dim in batch),
            contract_dims_lhs=tuple(a_dims.index(dim) for dim in inner),
            contract_dims_rhs=tuple(b_dims.index(dim) for dim in inner),
        )
    return builder.permute(product, [natural.index(dim) for dim in dims])


def _sum_out(
    builder: Builder, value: SSAValue, dims: Sequence[Hashable], kept: set[Hashable]
) -> tuple[SSAValue, Sequence[Hashable]]:
    """The tensor and its dimensions after a sum over all others than the kept ones."""
    lost = tuple(place for place, dim in enumerate(dims) if dim not in kept)
    if not lost:
        return value, dims
    left = [place for place in range(len(dims)) if place not in lost]
    type_ = tensor_of(element_type(value), [value_shape(value)[place] for place in left])
    total = builder.create("sum", [value], type_, keep_dim=False, dim_arg=lost)
    return total, [dims[place] for place in left]
