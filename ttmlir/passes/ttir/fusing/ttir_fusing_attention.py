"""Rules of `ttir-fusing` for attention: softmax(query * key^T * scale + mask) * value."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.passes.ttir.value_rewriting import (
    adapted,
    either_way,
    inputs_of,
    made_by,
    number_known,
    parameters_of,
    transposes_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import Rule

_LAST_SWAPPED = (0, 1, 3, 2)


def _attention(op: Operation, builder: Builder) -> SSAValue | None:
    """A product of the softmax of products, of tensors [batch, heads, positions, size]."""
    weights, value = inputs_of(op)
    softmax = made_by(weights, "softmax")
    if softmax is None or not weights.has_one_use() or transposes_of(op) != (False, False):
        return None
    if len(value_shape(weights)) != 4 or parameters_of(softmax)["dimension"] % 4 != 3:
        return None
    mask, scores = _without_mask(inputs_of(softmax)[0])
    scale, scores = _without_scale(scores)
    product = made_by(scores, "matmul")
    key = None if product is None else _key_of(product)
    if product is None or key is None or not scores.has_one_use():
        return None
    query_scale, query = _without_scale(inputs_of(product)[0])
    key_scale, key = _without_scale(key)
    if value_shape(key) != value_shape(value) or value_shape(query) != value_shape(op.results[0]):
        return None
    if len({element_type(each) for each in (query, key, value, op.results[0])}) != 1:
        return None
    key, value = _without_repetition(key, value)
    [result] = builder.create_grouped(
        "scaled_dot_product_attention",
        (query, key, value, mask, None),
        (op.results[0].type,),
        is_causal=False,
        scale=float(scale * query_scale * key_scale),
    )
    return result


def _without_mask(value: SSAValue) -> tuple[SSAValue | None, SSAValue]:
    """What is added to scores, of a mask for each position of queries and keys; and the scores."""
    total = made_by(value, "add")
    if total is None or not value.has_one_use():
        return None, value
    batch, heads, *positions = value_shape(value)
    for scores, mask in either_way(total):
        shape = value_shape(mask)
        is_mask = len(shape) == 4 and [*shape[2:]] == positions
        if is_mask and shape[0] in (1, batch) and shape[1] in (1, heads) and _is_scaled(scores):
            return mask, scores
    return None, value


def _is_scaled(value: SSAValue) -> bool:
    return made_by(_without_scale(value)[1], "matmul") is not None


def _without_scale(value: SSAValue) -> tuple[np.float32, SSAValue]:
    """The number that all elements are multiplied with, and what is multiplied."""
    op = made_by(value, "multiply", "div")
    if op is None or not value.has_one_use():
        return np.float32(1), value
    ways = either_way(op) if made_by(value, "multiply") else [inputs_of(op)]
    for scaled, factor in ways:
        number = number_known(factor)
        is_whole = value_shape(scaled) == value_shape(value)
        if number is not None and number != 0 and is_whole:
            exact = np.float32(number)
            return (exact if made_by(value, "multiply") else np.float32(1) / exact), scaled
    return np.float32(1), value


def _key_of(product: Operation) -> SSAValue | None:
    """The right operand before it was transposed."""
    key = inputs_of(product)[1]
    turned = made_by(key, "permute")
    if transposes_of(product) == (False, True):
        return key
    if turned is None or transposes_of(product) != (False, False):
        return None
    order = tuple(cast("Sequence[int]", parameters_of(turned)["permutation"]))
    return inputs_of(turned)[0] if order == _LAST_SWAPPED else None


def _without_repetition(key: SSAValue, value: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Keys and values of heads that several heads of queries share."""
    repeated = [made_by(each, "repeat_interleave") for each in (key, value)]
    if None in repeated:
        return key, value
    first, second = (parameters_of(cast("Operation", each)) for each in repeated)
    if first != second or first["dim"] % 4 != 1:
        return key, value
    return inputs_of(cast("Operation", repeated[0]))[0], inputs_of(cast("Operation", repeated[1]))[
        0
    ]


RULES: Mapping[str, Sequence[Rule]] = adapted({"matmul": [_attention]})
"""Rules by the name of the operation."""
