"""Norms, the largest numbers and repetitions, spelled out: rules of `ttir-fusing`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType

from ttmlir.ir.rewriting import replace
from ttmlir.ir.tensor_types import element_type, tensor_like, value_shape
from ttmlir.passes.ttir.value_rewriting import (
    Shape,
    adapted,
    either_way,
    inputs_of,
    is_number,
    made_by,
    mnemonic_of,
    number_of,
    only_user,
    parameters_of,
    rank_of,
    without,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import Rule


def _dims_of(reduction: Operation) -> tuple[int, ...]:
    """The dimensions that are reduced, in order."""
    rank = rank_of(inputs_of(reduction)[0])
    dims = parameters_of(reduction).get("dim_arg", tuple(range(rank)))
    return tuple(sorted(dim % rank for dim in cast("Shape", dims)))


def _keeps(reduction: Operation) -> bool:
    return bool(parameters_of(reduction)["keep_dim"])


# --- root mean square norms -----------------------------------------------------------------------


def _rms_norm(op: Operation, builder: Builder) -> SSAValue | None:
    """x * rsqrt(mean(x^2) + epsilon) * weight, along the last dimension."""
    for normal, weight in either_way(op):
        source = _weight_of(weight)
        inner = normal
        cast_ = made_by(normal, "typecast")
        if cast_ is not None and normal.has_one_use():
            inner = inputs_of(cast_)[0]
        found = None if source is None else _normalized(inner)
        if source is None or found is None:
            continue
        x, epsilon = found
        x = _before_cast(x, normal)
        if x is None or x.type != op.results[0].type:
            continue
        if value_shape(source) != value_shape(x)[-1:]:
            continue
        return builder.create_grouped(
            "rms_norm",
            (x, source, None),
            (op.results[0].type,),
            normalized_shape=value_shape(x)[-1:],
            epsilon=epsilon,
        )[0]
    return None


def _weight_of(value: SSAValue) -> SSAValue | None:
    """What is multiplied along the last dimension alone."""
    source = without(value, "broadcast")
    shape = value_shape(source)
    if len(shape) != 1 and set(shape[:-1]) <= {1}:
        reshape = made_by(source, "reshape")
        source = source if reshape is None else inputs_of(reshape)[0]
    return source if rank_of(source) == 1 else None


def _before_cast(x: SSAValue, result: SSAValue) -> SSAValue | None:
    """The value itself, in the elements of a result."""
    if element_type(x) == element_type(result):
        return x
    cast_ = made_by(x, "typecast")
    source = None if cast_ is None else inputs_of(cast_)[0]
    return source if source is not None and element_type(source) == element_type(result) else None


def _normalized(value: SSAValue) -> tuple[SSAValue, float] | None:
    """The x of x * rsqrt(mean(x^2) + epsilon), and epsilon."""
    product = made_by(value, "multiply")
    for x, scale in () if product is None else either_way(product):
        rsqrt = made_by(without(scale, "broadcast"), "rsqrt")
        added = None if rsqrt is None else made_by(inputs_of(rsqrt)[0], "add")
        for mean, number in () if added is None else either_way(added):
            epsilon = number_of(number)
            if epsilon is not None and _is_mean_square(mean, x):
                return x, float(epsilon)
    return None


def _is_mean_square(value: SSAValue, x: SSAValue) -> bool:
    mean = made_by(value, "mean")
    if mean is None or _dims_of(mean) != (rank_of(x) - 1,) or not _keeps(mean):
        return False
    square = made_by(inputs_of(mean)[0], "multiply", "square", "pow")
    match None if square is None else (mnemonic_of(square), *inputs_of(square)):
        case ("multiply", first, second):
            return first is x and second is x
        case ("square", first):
            return first is x
        case ("pow", first, exponent):
            return first is x and is_number(exponent, 2)
        case _:
            return False


# --- the largest numbers --------------------------------------------------------------------------


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
        "multiply": [_rms_norm],
        "sort": [_top],
    }
)
"""By the operation that comes last, or that is used alone."""
