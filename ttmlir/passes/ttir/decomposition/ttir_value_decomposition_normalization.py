"""Rules of `ttir-decomposition` for norms of 2026."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType

from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.passes.ttir.value_rewriting import adapted, inputs_of, parameters_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import Rule


def _batch_norm(op: Operation, builder: Builder) -> Sequence[SSAValue] | None:
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
    scale, offset, *statistics = vectors
    along = (1, moved[1], 1, 1)
    # The library takes the statistics first.
    statistics = [builder.reshape(each, along) for each in statistics]
    scale, offset = (builder.reshape(each, along) for each in (scale, offset))
    types = [value.type, *(TensorType(element_type(x), along) for x in op.results[1:])]
    mnemonic, parameters = op.name.removeprefix("ttir."), {**parameters, "dimension": 1}
    operands = (value, scale, offset, *statistics)
    if mnemonic == "batch_norm_inference":
        found = builder.create_several(mnemonic, operands, types, **parameters)
    else:
        groups = (*operands, *(None,) * (2 - len(statistics)))
        found = builder.create_grouped(mnemonic, groups, types, **parameters)
    normed = builder.permute(builder.reshape(found[0], moved), order)
    return [normed, *(builder.reshape(each, moved[1:2]) for each in found[1:])]


RULES: Mapping[str, Sequence[Rule]] = adapted(
    {name: [_batch_norm] for name in ("batch_norm_inference", "batch_norm_training")}
)
"""Rules by the name of the operation."""
