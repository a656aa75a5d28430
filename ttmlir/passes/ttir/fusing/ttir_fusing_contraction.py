"""Rules of `ttir-fusing` for products of matrices and what is added to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import bf16, f32

from ttmlir.ir.tensor_types import element_type, tensor_like, value_shape
from ttmlir.passes.ttir.value_rewriting import (
    adapted,
    either_way,
    inputs_of,
    made_by,
    parameters_of,
    rank_of,
    under,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import Rule


def _linear(op: Operation, builder: Builder) -> SSAValue | None:
    """A product and a bias of its columns."""
    for value, added in either_way(op):
        product, reshape = value, made_by(value, "reshape")
        if reshape is not None and value.has_one_use():
            product = inputs_of(reshape)[0]
        matmul, bias = made_by(product, "matmul"), _bias_of(added, value_shape(op.results[0]))
        if matmul is None or bias is None or not product.has_one_use():
            continue
        if value_shape(value)[-1:] != value_shape(product)[-1:]:
            continue
        if value_shape(value) != value_shape(op.results[0]):
            continue
        builder.location = op.location
        # The bias may have more dimensions than the product, and the result has them, too.
        wider = (1,) * (rank_of(bias) - rank_of(product))
        type_ = tensor_like(product, (*wider, *value_shape(product))) if wider else product.type
        operands = (*inputs_of(matmul), bias)
        linear = builder.create("linear", operands, type_, **parameters_of(matmul))
        return builder.reshape(linear, value_shape(op.results[0]))
    return None


def _add_to_matrix(op: Operation, builder: Builder) -> SSAValue | None:
    """A product whose result gets more dimensions to be added: the sum repeats them."""
    for value, other in either_way(op):
        reshape = made_by(value, "reshape")
        product = value if reshape is None else inputs_of(reshape)[0]
        if product is value or made_by(product, "matmul") is None or not value.has_one_use():
            continue
        shape = value_shape(op.results[0])
        if (
            value_shape(other)
            == shape
            == (*(1,) * (len(shape) - rank_of(product)), *value_shape(product))
        ):
            return builder.create("add", (product, other), op.results[0].type)
    return None


def _bias_of(value: SSAValue, shape: Sequence[int]) -> SSAValue | None:
    """The tensor of one dimension that is repeated along all others; None for other values."""
    value = under(value, "broadcast")
    inner = made_by(value, "reshape")
    if inner is not None and _is_row(inner.operands[0], shape):
        value = inner.operands[0]
    return value if _is_row(value, shape) else None


def _is_row(value: SSAValue, shape: Sequence[int]) -> bool:
    """Whether a tensor has one row, as long as the rows of another shape."""
    extents = value_shape(value)
    return bool(shape) and extents[-1:] == shape[-1:] and set(extents[:-1]) <= {1}


def _without_cast(op: Operation, builder: Builder) -> SSAValue | None:
    """One matrix that was bfloat16 beside one that was not: products take both."""
    operands = list(inputs_of(op))
    sources = [under(each, "typecast") for each in operands]
    was_narrow = [element_type(each) == bf16 for each in sources]
    if was_narrow.count(True) != 1 or any(element_type(each) != f32 for each in operands):
        return None
    at = was_narrow.index(True)
    operands[at] = sources[at]
    return builder.create("matmul", operands, op.results[0].type, **parameters_of(op))


RULES: Mapping[str, Sequence[Rule]] = adapted(
    {"add": [_linear, _add_to_matrix], "matmul": [_without_cast]}
)
"""Rules by the name of the operation."""
