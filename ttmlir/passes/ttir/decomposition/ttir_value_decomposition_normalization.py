"""Rules of `ttir-decomposition` for norms of 2026."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from ttmlir.ir.tensor_types import value_shape
from ttmlir.passes.ttir.value_rewriting import adapted, inputs_of, parameters_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import Rule


def _batch_norm(op: Operation, builder: Builder) -> SSAValue | None:
    """Of tensors of four dimensions, the second of which are the channels."""
    value, *vectors = inputs_of(op)
    if any(len(value_shape(each)) != 1 for each in vectors):
        return None
    parameters = parameters_of(op)
    dim = cast("int", parameters["dimension"])
    order = [*range(len(value_shape(value)))]
    order[1], order[dim] = order[dim], order[1]
    value = builder.permute(value, order)
    moved = value_shape(value)
    value = builder.reshape(value, (*moved[:2], *(moved[2:3] or (1,)), math.prod(moved[3:])))
    scale, offset, mean, variance = vectors
    # The library takes the statistics first.
    mean, variance, scale, offset = (
        builder.reshape(each, (1, moved[1], 1, 1)) for each in (mean, variance, scale, offset)
    )
    found = builder.create(
        "batch_norm_inference",
        (value, scale, offset, mean, variance),
        value.type,
        **{**parameters, "dimension": 1},
    )
    return builder.permute(builder.reshape(found, moved), order)


RULES: Mapping[str, Sequence[Rule]] = adapted({"batch_norm_inference": [_batch_norm]})
"""Rules by the name of the operation."""
