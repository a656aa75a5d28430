"""Means, softmax, norms and the largest numbers, spelled out: rules of `ttir-fusing`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import AnyFloat, TensorType

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

_REDUCTIONS = (
    *("sum", "mean", "max", "min", "prod", "argmax"),
    *("reduce_and", "reduce_or", "reduce_bitwise_and", "reduce_bitwise_or", "reduce_bitwise_xor"),
)
_NEAR = 1e-6


def _dims_of(reduction: Operation) -> tuple[int, ...]:
    """The dimensions that are reduced, in order."""
    rank = rank_of(inputs_of(reduction)[0])
    dims = parameters_of(reduction).get("dim_arg", tuple(range(rank)))
    return tuple(sorted(dim % rank for dim in cast("Shape", dims)))


def _keeps(reduction: Operation) -> bool:
    return bool(parameters_of(reduction)["keep_dim"])


def _kept_shape(reduction: Operation) -> Shape:
    dims = _dims_of(reduction)
    shape = value_shape(inputs_of(reduction)[0])
    return tuple(1 if dim in dims else extent for dim, extent in enumerate(shape))


def _keep_dims(op: Operation, builder: Builder) -> SSAValue | None:
    """A reshape that puts the reduced dimensions back: the reduction keeps them."""
    reduction = made_by(inputs_of(op)[0], *_REDUCTIONS)
    if reduction is None or _keeps(reduction) or not reduction.results[0].has_one_use():
        return None
    if value_shape(op.results[0]) != _kept_shape(reduction):
        return None
    parameters = {**parameters_of(reduction), "keep_dim": True}
    builder.location = reduction.location
    return builder.create(
        mnemonic_of(reduction), inputs_of(reduction), op.results[0].type, **parameters
    )


def _mean(op: Operation, builder: Builder) -> SSAValue | None:
    """A sum by the number of its terms."""
    for value, number in either_way(op) if op.name == "ttir.multiply" else (inputs_of(op),):
        total, by = made_by(value, "sum"), number_of(number)
        if total is None or not by or not total.results[0].has_one_use():
            continue
        source = inputs_of(total)[0]
        if value.type != op.results[0].type or not isinstance(element_type(source), AnyFloat):
            continue
        terms = math.prod(value_shape(source)[dim] for dim in _dims_of(total))
        factor = by if op.name == "ttir.multiply" else 1 / by
        if terms and math.isclose(factor * terms, 1, rel_tol=_NEAR):
            return builder.create("mean", (source,), value.type, **parameters_of(total))
    return None


# --- softmax --------------------------------------------------------------------------------------


def _softmax(op: Operation, builder: Builder) -> SSAValue | None:
    """exp(x) by its sum along a dimension."""
    numerator, denominator = inputs_of(op)
    exp = made_by(numerator, "exp")
    total = made_by(without(denominator, "broadcast"), "sum")
    if exp is None or total is None or inputs_of(total)[0] is not numerator:
        return None
    users = {use.operation for use in numerator.uses}
    if users != {op, total} or not _keeps(total) or len(_dims_of(total)) != 1:
        return None
    if numerator.type != op.results[0].type or not total.results[0].has_one_use():
        return None
    [dim] = _dims_of(total)
    return builder.create("softmax", inputs_of(exp), op.results[0].type, dimension=dim)


def _stable_softmax(op: Operation, builder: Builder) -> SSAValue | None:
    """A softmax of numbers below their maximum, which it subtracts itself."""
    parameters = parameters_of(op)
    difference = made_by(inputs_of(op)[0], "subtract")
    if parameters.get("numericStable") or difference is None:
        return None
    x, largest = inputs_of(difference)
    rank = rank_of(x)
    dim = cast("int", parameters["dimension"]) % rank
    if not difference.results[0].has_one_use() or not _is_maximum(largest, x, dim):
        return None
    changed = {**parameters, "numericStable": True}
    return builder.create("softmax", (x,), op.results[0].type, **changed)


def _is_maximum(value: SSAValue, x: SSAValue, dim: int) -> bool:
    """True for the maximum of x along a dimension, which may be that with -inf, too."""
    value = without(value, "broadcast")
    if value_shape(value) != tuple(1 if n == dim else e for n, e in enumerate(value_shape(x))):
        return False
    reshape = made_by(value, "reshape")
    if reshape is not None and dim == rank_of(x) - 1:
        value = inputs_of(reshape)[0]
    maximum = made_by(value, "maximum")
    if maximum is not None:
        values = [each for each, low in either_way(maximum) if number_of(low) == -math.inf]
        value = values[0] if values else value
    reduction = made_by(value, "max")
    return reduction is not None and inputs_of(reduction)[0] is x and _dims_of(reduction) == (dim,)


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
        "reshape": [_keep_dims, _interleave],
        "div": [_mean, _softmax],
        "multiply": [_mean, _rms_norm],
        "softmax": [_stable_softmax],
        "sort": [_top],
    }
)
"""By the operation that comes last, or that is used alone."""
