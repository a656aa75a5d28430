"""Rules of `ttir-fuse-layers` that bring what is done with products beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttmlir.dialects import ttir
from ttmlir.ir.tensor_types import tensor_like, value_shape
from ttmlir.passes.ttir.value_rewriting import (
    adapted,
    inputs_of,
    made_by,
    mnemonic_of,
    number_known,
    only_user,
    parameters_of,
    rank_of,
    transposes_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import Rule

_ACTIVATIONS = ("gelu", "silu", "sigmoid")
"""What products compute of their results."""


def _activation(op: Operation, builder: Builder) -> SSAValue | None:
    """A function of a product in another shape is that of the product, in that shape."""
    value = op.operands[0]
    reshape = made_by(value, "reshape")
    if reshape is None or not value.has_one_use():
        return None
    product = inputs_of(reshape)[0]
    if made_by(product, "matmul", "linear") is None or not product.has_one_use():
        return None
    mnemonic = op.name.removeprefix("ttir.")
    given = parameters_of(op)
    said = {name: number for name, number in given.items() if number is not None}
    made = builder.create(mnemonic, (product,), product.type, **said)
    return builder.reshape(made, value_shape(op.results[0]))


def _choice(op: Operation, builder: Builder) -> SSAValue | None:
    """Rows of weights that are 0 give rows of the product that are 0."""
    chosen = inputs_of(op)[0]
    where = made_by(chosen, "where")
    if where is None or not chosen.has_one_use() or any(transposes_of(op)):
        return None
    condition, weights, other = inputs_of(where)
    rows = value_shape(condition)
    is_of_rows = not rows or (rows[-1] == 1 and len(rows) <= rank_of(weights))
    if not is_of_rows or min(map(rank_of, inputs_of(op))) < 2:
        return None
    if number_known(other) != 0 or made_by(weights, "softmax") is None:
        return None
    if value_shape(weights) != value_shape(chosen):
        return None
    result = op.results[0]
    product = builder.create(
        "matmul", (weights, inputs_of(op)[1]), result.type, **parameters_of(op)
    )
    zero = builder.create_splat(0.0, tensor_like(result, value_shape(result)))
    return builder.create("where", (condition, product, zero), result.type)


def _scores(op: Operation, builder: Builder) -> SSAValue | None:
    """Keys whose heads were moved and that were transposed at once are transposed by the product.

    Then they have the same form as values, as attention takes them.
    """
    query, key = inputs_of(op)
    moved = made_by(key, "permute")
    if moved is None or any(transposes_of(op)) or not _is_weighed(op.results[0]):
        return None
    order = list(parameters_of(moved)["permutation"])
    last = len(order) - 1
    if order[-2] != last or order[:-2] == list(range(last - 1)):
        return None
    order[-2:] = order[:-3:-1]
    heads = builder.permute(inputs_of(moved)[0], order)
    said = {"transpose_a": False, "transpose_b": True}
    return builder.create("matmul", (query, heads), op.results[0].type, **said)


def _is_weighed(value: SSAValue) -> bool:
    """Whether the softmax of a product is taken, which may be scaled and masked before."""
    for _ in range(_STEPS):
        user = only_user(value)
        if user is None or mnemonic_of(user) == "softmax":
            return user is not None
        if not isinstance(user, ttir.ElementwiseOp):
            return False
        value = user.results[0]
    return False


_STEPS = 4
"""Operations at most between a product and its softmax, and that."""


RULES: Mapping[str, Sequence[Rule]] = adapted(
    {**{name: [_activation] for name in _ACTIVATIONS}, "matmul": [_choice, _scores]}
)
"""Rules by the name of the operation."""
