"""The largest numbers, repetitions and parts, spelled out: rules of `ttir-fusing`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ttmlir.ir.rewriting import replace
from ttmlir.ir.tensor_types import tensor_like, value_shape
from ttmlir.passes.ttir.value_rewriting import (
    Shape,
    adapted,
    inputs_of,
    made_by,
    mnemonic_of,
    only_user,
    parameters_of,
    rank_of,
    reduced_dims,
    under,
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
    if others or not count or count == shape[dim]:
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
    found = _put_in(op)
    if found is None:
        return None
    x, at, times = found
    shape = value_shape(x)
    if at == 0 or value_shape(op.results[0]) != _multiplied(shape, at - 1, times):
        return None
    return builder.create("repeat_interleave", (x,), op.results[0].type, repeats=times, dim=at - 1)


def _repeat(op: Operation, builder: Builder) -> SSAValue | None:
    """A dimension that is put in, repeated, and merged with the one after it."""
    found = _put_in(op)
    if found is None:
        return None
    x, at, times = found
    shape = value_shape(x)
    if at == len(shape) or value_shape(op.results[0]) != _multiplied(shape, at, times):
        return None
    counts = _multiplied((1,) * len(shape), at, times)
    return builder.create("repeat", (x,), op.results[0].type, repeat_dimensions=counts)


def _put_in(op: Operation) -> tuple[SSAValue, int, int] | None:
    """What a reshape had before a dimension was put in and repeated; where, and how often."""
    broadcast = made_by(inputs_of(op)[0], "broadcast")
    if broadcast is None or only_user(broadcast.results[0]) is not op:
        return None
    source, wide = inputs_of(broadcast)[0], value_shape(broadcast.results[0])
    inserted = made_by(source, "reshape")
    narrow = value_shape(source)
    changed = [n for n, (a, b) in enumerate(zip(narrow, wide, strict=True)) if a != b]
    if inserted is None or len(changed) != 1:
        return None
    [at] = changed
    x = inputs_of(inserted)[0]
    return (x, at, wide[at]) if value_shape(x) == (*narrow[:at], *narrow[at + 1 :]) else None


def _multiplied(shape: Shape, dim: int, times: int) -> Shape:
    return (*shape[:dim], shape[dim] * times, *shape[dim + 1 :])


def _renormalize(op: Operation, builder: Builder) -> SSAValue | None:
    """The largest of a softmax, divided by their sum, are the softmax of the largest."""
    values, total = inputs_of(op)
    largest = made_by(values, "topk")
    added = made_by(under(total, "broadcast"), "sum")
    if largest is None or added is None or inputs_of(added)[0] is not values:
        return None
    if len({use.operation for use in values.uses}) != 2 or values is not largest.results[0]:
        return None
    softmax = made_by(inputs_of(largest)[0], "softmax")
    said, rank = parameters_of(largest), rank_of(values)
    dim = cast("int", said["dim"]) % rank
    if softmax is None or not said["largest"] or reduced_dims(added) != [dim]:
        return None
    weights = parameters_of(softmax)
    if not weights["numericStable"]:
        # The rule for that comes first.
        return None
    if cast("int", weights["dimension"]) % rank != dim or not softmax.results[0].has_one_use():
        return None
    builder.location = largest.location
    types = [result.type for result in largest.results]
    top, places = builder.create_several("topk", inputs_of(softmax), types, **said)
    largest.results[1].replace_all_uses_with(places)
    builder.location = op.location
    return builder.create("softmax", (top,), op.results[0].type, **weights)


def _adjacent(op: Operation, builder: Builder) -> SSAValue | None:
    """Parts of a tensor side by side, one after the other as they were: one part."""
    parts = [made_by(each, "slice", "slice_static") for each in inputs_of(op)]
    if not parts or None in parts:
        return None
    slices = cast("list[Operation]", parts)
    if len({inputs_of(each)[0] for each in slices}) != 1:
        return None
    dim = cast("int", parameters_of(op)["dim"]) % rank_of(op.results[0])
    said = [parameters_of(each) for each in slices]
    begins, ends, steps = (
        [tuple(cast("Shape", each[name])) for each in said] for name in ("begins", "ends", "step")
    )
    if any(set(each) != {1} for each in steps):
        return None
    if any(a[dim] != b[dim] for a, b in zip(ends, begins[1:], strict=False)):
        return None
    others = (
        {tuple(each[d] for d in range(len(each)) if d != dim) for each in begins},
        {tuple(each[d] for d in range(len(each)) if d != dim) for each in ends},
    )
    if any(len(each) != 1 for each in others):
        return None
    return builder.create(
        "slice",
        inputs_of(slices[0]),
        op.results[0].type,
        begins=begins[0],
        ends=ends[-1],
        step=steps[0],
    )


RULES: Mapping[str, Sequence[Rule]] = adapted(
    {
        "reshape": [_interleave, _repeat],
        "sort": [_top],
        "div": [_renormalize],
        "concat": [_adjacent],
    }
)
"""By the operation that comes last, or that is used alone."""
