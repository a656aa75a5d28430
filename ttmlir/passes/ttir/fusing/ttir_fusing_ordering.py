"""The largest numbers and repetitions, spelled out: rules of `ttir-fusing`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType

from ttmlir.ir.rewriting import replace
from ttmlir.ir.tensor_types import element_type, tensor_like, value_shape
from ttmlir.passes.ttir.value_rewriting import (
    Shape,
    adapted,
    inputs_of,
    made_by,
    mnemonic_of,
    only_user,
    parameters_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import Rule


def _top(op: Operation, builder: Builder) -> Sequence[SSAValue] | None:
    """Numbers in order of which only the first are used."""
    shape, parameters = value_shape(inputs_of(op)[0]), parameters_of(op)
    dim = cast("int", parameters["dim"]) % len(shape)
    slices = [use.operation for result in op.results for use in result.uses]
    if not slices or any(mnemonic_of(each) != "slice" for each in slices):
        return None
    counts = {_first_along(each, shape, dim) for each in slices}
    [count, *others] = counts
    if others or count is None or count == shape[dim]:
        return None
    extents = (*shape[:dim], count, *shape[dim + 1 :])
    types = [tensor_like(result, extents) for result in op.results]
    made = builder.create_several(
        "topk",
        inputs_of(op),
        types,
        k=count,
        dim=dim,
        largest=parameters["descending"],
        sorted=True,
    )
    for result, new in zip(op.results, made, strict=True):
        for each in [use.operation for use in result.uses]:
            replace(each, new)
    return made


def _first_along(op: Operation, shape: Shape, dim: int) -> int | None:
    """How many elements a slice takes from the beginning along one dimension alone."""
    said = parameters_of(op)
    begins, ends, steps = (cast("Shape", said[name]) for name in ("begins", "ends", "step"))
    whole = all(end == shape[n] for n, end in enumerate(ends) if n != dim)
    return ends[dim] if whole and not any(begins) and set(steps) == {1} else None


def _interleave(op: Operation, builder: Builder) -> SSAValue | None:
    """A dimension that is put in, repeated, and merged with the one before it."""
    broadcast = made_by(inputs_of(op)[0], "broadcast")
    if broadcast is None or only_user(broadcast.results[0]) is not op:
        return None
    source, wide = inputs_of(broadcast)[0], value_shape(broadcast.results[0])
    inserted = made_by(source, "reshape")
    narrow = value_shape(source)
    changed = [n for n, (a, b) in enumerate(zip(narrow, wide, strict=True)) if a != b]
    if inserted is None or len(changed) != 1 or changed == [0]:
        return None
    [at] = changed
    x = inputs_of(inserted)[0]
    if value_shape(x) != (*narrow[:at], *narrow[at + 1 :]):
        return None
    merged = (*wide[: at - 1], wide[at - 1] * wide[at], *wide[at + 1 :])
    if value_shape(op.results[0]) != merged:
        return None
    type_ = TensorType(element_type(x), merged)
    return builder.create("repeat_interleave", (x,), type_, repeats=wide[at], dim=at - 1)


RULES: Mapping[str, Sequence[Rule]] = adapted(
    {
        "reshape": [_interleave],
        "sort": [_top],
    }
)
"""By the operation that comes last, or that is used alone."""
