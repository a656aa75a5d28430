"""Products and convolutions with what is done to their operands and results: rules of
`ttir-fusing`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ttmlir.dialects.definition.ods import SEGMENTS
from ttmlir.ir.tensor_types import tensor_like, value_shape
from ttmlir.passes.ttir.ttir_constant_folding import permutation_of
from ttmlir.passes.ttir.value_rewriting import (
    Shape,
    adapted,
    either_way,
    inputs_of,
    made_by,
    mnemonic_of,
    parameters_of,
    rank_of,
    without,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.dialects.ttir import TTIRTableOp
    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import Rule

_SIDES = ("transpose_a", "transpose_b")


def _transposed_operands(op: Operation, builder: Builder) -> SSAValue | None:
    """Operands whose last two dimensions are exchanged before: the product does it."""
    parameters, operands = parameters_of(op), list(inputs_of(op))
    changed = False
    for number, name in enumerate(_SIDES):
        moved = made_by(operands[number], "permute", "transpose")
        if moved is None or not _exchanges_last(moved):
            continue
        parameters[name] = not parameters.get(name, False)
        operands[number] = inputs_of(moved)[0]
        changed = True
    if not changed:
        return None
    return _again(op, builder, operands, parameters)


def _exchanges_last(op: Operation) -> bool:
    order = permutation_of(cast("TTIRTableOp", op))
    rank = len(order)
    return rank >= 2 and order == (*range(rank - 2), rank - 1, rank - 2)


def _again(
    op: Operation, builder: Builder, operands: list[SSAValue], parameters: dict[str, object]
) -> SSAValue:
    given = cast("dict[str, bool]", parameters)
    made = builder.create(mnemonic_of(op), operands, op.results[0].type, **given)
    if SEGMENTS in op.properties:
        cast("Operation", made.owner).properties[SEGMENTS] = op.properties[SEGMENTS]
    return made


def _linear(op: Operation, builder: Builder) -> SSAValue | None:
    """A product and a bias of its columns."""
    for value, added in either_way(op):
        product, reshape = value, made_by(value, "reshape")
        if reshape is not None and value.has_one_use():
            product = inputs_of(reshape)[0]
        matmul, bias = made_by(product, "matmul"), _bias_of(added)
        if matmul is None or bias is None or not product.has_one_use():
            continue
        columns = value_shape(product)[-1:]
        if value_shape(bias) != columns or value_shape(value)[-1:] != columns:
            continue
        if value_shape(value) != value_shape(op.results[0]):
            continue
        builder.location = op.location
        linear = builder.create(
            "linear", (*inputs_of(matmul), bias), product.type, **parameters_of(matmul)
        )
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


def _bias_of(value: SSAValue) -> SSAValue | None:
    """What is added along the last dimension alone."""
    source = without(value, "broadcast")
    if rank_of(source) > 1 and set(value_shape(source)[:-1]) == {1}:
        reshape = made_by(source, "reshape")
        source = source if reshape is None else inputs_of(reshape)[0]
    return source if rank_of(source) == 1 else None


def _convolution_bias(op: Operation, builder: Builder) -> SSAValue | None:
    """A convolution and a number for each of its channels."""
    for value, added in either_way(op):
        convolution = made_by(value, "conv2d", "conv_transpose2d")
        if convolution is None or len(inputs_of(convolution)) != 2 or not value.has_one_use():
            continue
        parameters = parameters_of(convolution)
        bias = without(added, "broadcast")
        channel = cast("int", parameters.get("channel_dim", 3))
        shape = value_shape(value)
        wanted: Shape = tuple(n if dim == channel else 1 for dim, n in enumerate(shape))
        if value_shape(bias) != wanted or value.type != op.results[0].type:
            continue
        columns = (1, 1, 1, shape[channel])
        if wanted != columns:
            bias = builder.create("reshape", (bias,), tensor_like(bias, columns), shape=columns)
        # An operation without effects may stand where the later of its operands is known.
        made = builder.create(
            mnemonic_of(convolution), (*inputs_of(convolution), bias), value.type, **parameters
        )
        cast("Operation", made.owner).properties.pop(SEGMENTS, None)
        return made
    return None


RULES: Mapping[str, Sequence[Rule]] = adapted(
    {
        "matmul": [_transposed_operands],
        "linear": [_transposed_operands],
        "add": [_convolution_bias, _linear, _add_to_matrix],
    }
)
"""By the operation that comes last."""
