"""Rules of `ttir-decomposition` for general sums of products of 2026.

A general product is one of matrices after its operands are brought to the shape (batch..., rows,
columns). The dimensions change places before they are merged, which later passes fold into what
makes the operands and into the product. Short products of vectors, and those of integers, which the
matrix unit does not have, are sums of elementwise products.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import AnyFloat, TensorType, bf16, f32

from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.optable.contraction import DotDimensions
from ttmlir.passes.ttir.value_rewriting import adapted, parameters_of, reorder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import Rule
    from ttmlir.optable.op_definition import Shape

_SHORT = 32
"""A matrix of at most so many rows or columns times a vector is no product of matrices."""


def _dot_general(op: Operation, builder: Builder) -> SSAValue | None:
    lhs, rhs = op.operands
    said = cast("dict[str, Shape]", parameters_of(op))
    left, right = (
        DotDimensions.of(
            len(value_shape(value)), said[f"batch_dims_{side}"], said[f"contract_dims_{side}"]
        )
        for value, side in ((lhs, "lhs"), (rhs, "rhs"))
    )
    result = op.results[0]
    element = element_type(result)
    terms = math.prod(value_shape(lhs)[dim] for dim in left.contract)
    if terms != 1 and _is_short(lhs, rhs, left, right) and element in (bf16, f32):
        # Sums of 16 bits would round each product.
        if element == f32 or left.batch:
            return _vector_product(builder, (lhs, left), (rhs, right), result)
    sides = (
        (lhs, (left.batch, left.free, left.contract)),
        (rhs, (right.batch, right.contract, right.free)),
    )
    turned = [_turned(builder, value, dims) for value, dims in sides]
    a, b = (
        builder.reshape(each, _matrices(value_shape(value), dims))
        for each, (value, dims) in zip(turned, sides, strict=True)
    )
    shape = (*value_shape(a)[:-1], value_shape(b)[-1])
    if terms == 1:
        product = builder.create("multiply", (a, b), TensorType(element, shape))
    elif isinstance(element, AnyFloat):
        product = builder.create("matmul", (a, b), TensorType(element, shape))
        # What is said of the precision and the formats of a product stays with it.
        cast("Operation", product.owner).attributes.update(op.attributes)
    else:
        product = _integer_product(builder, a, b, element)
    return builder.reshape(product, value_shape(result))


def _is_short(lhs: SSAValue, rhs: SSAValue, left: DotDimensions, right: DotDimensions) -> bool:
    """True for a vector times a vector or a narrow matrix, maybe in batches."""
    rows = math.prod(value_shape(lhs)[dim] for dim in left.free)
    columns = math.prod(value_shape(rhs)[dim] for dim in right.free)
    return max(rows, columns) <= _SHORT and not (left.free and right.free)


def _vector_product(
    builder: Builder,
    lhs: tuple[SSAValue, DotDimensions],
    rhs: tuple[SSAValue, DotDimensions],
    result: SSAValue,
) -> SSAValue:
    """The sum of elementwise products, in the order of the dimensions of the larger operand."""
    (wide, own), (narrow, other) = (lhs, rhs) if lhs[1].free else (rhs, lhs)
    wide, narrow = builder.cast(wide, f32), builder.cast(narrow, f32)
    partner = dict(zip((*own.batch, *own.contract), (*other.batch, *other.contract), strict=True))
    order = [partner[dim] for dim in range(len(value_shape(wide))) if dim in partner]
    narrow = reorder(builder, narrow, order)
    extents = value_shape(wide)
    narrow = builder.reshape(narrow, [n if dim in partner else 1 for dim, n in enumerate(extents)])
    product = builder.create("multiply", (wide, narrow), wide.type)
    kept = [dim for dim in range(len(extents)) if dim not in own.contract]
    type_ = TensorType(f32, [extents[dim] for dim in kept])
    total = builder.create(
        "sum", (product,), type_, dim_arg=tuple(sorted(own.contract)), keep_dim=False
    )
    total = reorder(builder, total, [kept.index(dim) for dim in (*own.batch, *own.free)])
    return builder.cast(total, element_type(result))


def _turned(builder: Builder, value: SSAValue, dims: Sequence[Sequence[int]]) -> SSAValue:
    """The operand with these dimensions (batch, rows, columns) in their order."""
    extents = value_shape(value)
    order = [dim for group in dims for dim in group if extents[dim] != 1]
    if order == sorted(order):
        return value
    # Dimensions of extent 1 stay out of the permutation.
    ranked = sorted(order)
    value = builder.reshape(value, [extents[dim] for dim in ranked])
    return builder.permute(value, [ranked.index(dim) for dim in order])


def _matrices(extents: Shape, dims: Sequence[Sequence[int]]) -> list[int]:
    """The shape of a batch of matrices whose rows and columns are these dimensions."""
    batch, *matrix = dims
    sizes = (math.prod(extents[dim] for dim in group) for group in matrix)
    return [*(extents[dim] for dim in batch), *sizes]


def _integer_product(builder: Builder, a: SSAValue, b: SSAValue, element: Attribute) -> SSAValue:
    """The sum over rows and columns that are multiplied with each other."""
    (*batch, rows, terms), columns = value_shape(a), value_shape(b)[-1]
    a = builder.reshape(builder.cast(a, element), (*batch, rows, terms, 1))
    b = builder.reshape(builder.cast(b, element), (*batch, 1, terms, columns))
    type_ = TensorType(element, (*batch, rows, terms, columns))
    product = builder.create("multiply", (a, b), type_)
    shape = TensorType(element, (*batch, rows, columns))
    return builder.create("sum", (product,), shape, dim_arg=(len(batch) + 1,), keep_dim=False)


RULES: Mapping[str, Sequence[Rule]] = adapted({"dot_general": [_dot_general]})
"""Rules by the name of the operation."""
