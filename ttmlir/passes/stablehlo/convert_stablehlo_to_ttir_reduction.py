"""Rules of StableHLO's reductions, for `convert-stablehlo-to-ttir`.

A reduction whose body is one operation becomes the reduction of ttir that repeats it; one that
keeps a number with its position becomes `ttir.argmax`. Any other body of elementwise operations is
applied to neighbours, all pairs at once, until one element is left along each dimension; one that
is not associative to one element after the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    TensorType,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue

from ttmlir.arrays.array import Array
from ttmlir.composites import normalization
from ttmlir.composites.folds import Step, fold_in_order, fold_neighbours
from ttmlir.composites.ordering import in_opposite_order, sort_by
from ttmlir.dialects.definition.table_ops import TableOperation
from ttmlir.dialects.stablehlo.form import integer, integers
from ttmlir.ir.builder import Builder, TTIRCarrier, array_in
from ttmlir.ir.constants import identity_of, logic_of, splat_number
from ttmlir.ir.late_movement import permute_late, reshape_late
from ttmlir.ir.rewriting import erase, refuse_to_legalize, replace
from ttmlir.ir.tensor_types import (
    check_static_shape,
    check_static_shapes,
    element_type,
    tensor_like,
    value_shape,
)
from ttmlir.optable import definition
from ttmlir.optable.op_definition import OpDefinition
from ttmlir.optable.reduction import by_combiner
from ttmlir.passes.core.ttir_conversion import ArrayFunction, ConversionRule, computes
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_movement import broadcast_late
from ttmlir.passes.stablehlo.stablehlo_bodies import (
    apply,
    can_be_applied,
    combiners,
    operations_of,
    picks_extreme,
)

if TYPE_CHECKING:
    from xdsl.dialects.builtin import FloatAttr

    from ttmlir.passes.stablehlo.regions import SortKey


Shape = tuple[int, ...]

_MOST_ALONG, _MOST_IN_ORDER = 32, 256
"""Elements of a dimension, and in all, that are folded one after the other. XLA folds windows of 32
elements of longer dimensions first, each from the initial value."""

_SUPPORTED = (
    "supported are bodies of elementwise operations, and the largest or smallest number with its "
    "position (argmax, argmin)"
)


def _reduce(op: Operation) -> None:
    for value in op.operands:
        check_static_shape(op, value.type)
    count = len(op.results)
    combining = combiners(op.regions[0])
    reductions = [_reduction(*pair) for pair in zip(combining or (), op.operands, strict=False)]
    if combining is not None and None not in reductions:
        rows = cast("list[OpDefinition]", reductions)
        triples = zip(rows, op.operands[:count], op.operands[count:], strict=True)
        replace(op, *(_reduced(op, *triple) for triple in triples))
        return
    shape = value_shape(op.operands[0])
    if any(shape[dim] == 0 for dim in integers(op, "dimensions")):
        replace(op, *_initial_values(op))
        return
    found = _extreme_and_position(op) if count == 2 and combining is None else None
    replace(op, *(found or _by_pairs(op)))


def _reduction(combining: OpDefinition, value: SSAValue) -> OpDefinition | None:
    """The reduction that repeats an operation on two values; None if there is none."""
    return by_combiner(logic_of(combining, element_type(value)))


def _initial_values(op: Operation) -> list[SSAValue]:
    """What a reduction of no elements leaves."""
    builder = Builder.before(op)
    inits = op.operands[len(op.results) :]
    return [
        builder.broadcast(init, value_shape(result))
        for init, result in zip(inits, op.results, strict=True)
    ]


def _by_pairs(op: Operation) -> list[SSAValue]:
    """The body applied to neighbours along the last dimension, then the one before, in order."""
    builder = Builder.before(op)
    body, count = op.regions[0], len(op.results)
    dims = integers(op, "dimensions")
    if not can_be_applied(body):
        _refuse_body(op)
    combining = combiners(body)
    if combining is None and dims and not _is_associative(body):
        return _one_by_one(op)
    arrays: Sequence[Array] = [array_in(builder, value) for value in op.operands[:count]]
    for dim in sorted(dims, reverse=True):
        arrays = fold_neighbours(arrays, dim, _step_of(op))
    pairs = zip(arrays, op.results, strict=True)
    values = [each.reshape(value_shape(result)).value for each, result in pairs]
    inits = op.operands[count:]
    # XLA leaves tensors alone of which no dimension is reduced, whatever the initial value is.
    if not dims or (combining is not None and all(map(_changes_no_bits, combining, inits))):
        return values
    return _check_types(op, apply(op, body, [*inits, *values]))


def _step_of(op: Operation) -> Step:
    """The body of a reduction on arrays."""

    def step(arguments: Sequence[Array]) -> Sequence[Array]:
        found = apply(op, op.regions[0], [each.value for each in arguments])
        return [array_in(Builder.before(op), value) for value in found]

    return step


def _check_types(op: Operation, values: list[SSAValue]) -> list[SSAValue]:
    if any(a.type != b.type for a, b in zip(values, op.results, strict=True)):
        refuse_to_legalize(op, "its body does not use its arguments")
    return values


def _is_associative(body: Region) -> bool:
    # NumPy is loaded only for bodies that are no single operation.
    from ttmlir.passes.stablehlo.regions import is_associative

    return is_associative(body)


def _one_by_one(op: Operation) -> list[SSAValue]:
    """The elements folded into the initial values one after the other, as XLA does it."""
    builder = Builder.before(op)
    count, dims = len(op.results), sorted(integers(op, "dimensions"))
    shape = value_shape(op.operands[0])
    length = math.prod(shape[dim] for dim in dims)
    if length > _MOST_IN_ORDER or any(shape[dim] > _MOST_ALONG for dim in dims):
        body = ", ".join(operations_of(op.regions[0]))
        refuse_to_legalize(
            op,
            f"its body computes {body}, which is not associative: the result depends on the order "
            f"of {length} elements; supported are up to {_MOST_IN_ORDER}, {_MOST_ALONG} along a "
            "dimension, one after the other, or a body that gives the same for every grouping",
        )
    arrays = [array_in(builder, value) for value in op.operands]
    found = fold_in_order(arrays[:count], dims, arrays[count:], _step_of(op))
    return _check_types(op, [each.value for each in found])


def _changes_no_bits(combining: OpDefinition, init: SSAValue) -> bool:
    return combining.takes_bits and splat_number(init) == identity_of(combining, element_type(init))


def _refuse_body(op: Operation) -> None:
    body = ", ".join(operations_of(op.regions[0])) or "no operation"
    refuse_to_legalize(op, f"its body computes {body}; {_SUPPORTED}")


def _reduced(op: Operation, reduction: OpDefinition, value: SSAValue, init: SSAValue) -> SSAValue:
    result = _over_dimensions(op, reduction.mnemonic, value)
    # XLA leaves tensors alone of which no dimension is reduced, whatever the initial value is.
    neutral = identity_of(definition(reduction.combiner), element_type(init))
    if result is value or splat_number(init) == neutral:
        return result
    return Builder.before(op).create(reduction.combiner, [result, init], result.type)


def _over_dimensions(op: Operation, mnemonic: str, value: SSAValue) -> SSAValue:
    builder = Builder.before(op)
    dims = integers(op, "dimensions")
    if not dims:
        return value
    shape = tuple(n for dim, n in enumerate(value_shape(value)) if dim not in dims)
    type_ = TensorType(element_type(value), shape)
    return builder.create(mnemonic, [value], type_, keep_dim=False, dim_arg=dims)


def _extreme_and_position(op: Operation) -> tuple[SSAValue, SSAValue] | None:
    """The largest or smallest number and its position; None if the reduction is not for these."""
    builder = Builder.before(op)
    values, positions, init, _ = op.operands
    dims = integers(op, "dimensions")
    body = op.regions[0]
    largest = picks_extreme(body, largest=True)
    if not largest and not picks_extreme(body, largest=False):
        return None
    if len(dims) != 1 or not counts_along(positions, dims[0]):
        return None
    extreme = definition("maximum" if largest else "minimum")
    reduction = _reduction(extreme, values)
    # Any other number to start with could be the one that is kept.
    if reduction is None or splat_number(init) != identity_of(extreme, element_type(values)):
        return None
    best = _over_dimensions(op, reduction.mnemonic, values)
    ordered = values if largest else in_opposite_order(array_in(builder, values)).value
    type_ = op.results[1].type
    found = builder.create("argmax", [ordered], type_, keep_dim=False, dim_arg=dims)
    return best, found


def counts_along(positions: SSAValue, dim: int) -> bool:
    """True for a tensor whose elements are their places along a dimension, in ttir."""
    owner = positions.owner
    if not isinstance(owner, Operation):
        return False
    if owner.name not in ("ttir.broadcast", "ttir.arange"):
        return False
    parameters = cast("TableOperation", owner).parameters()
    if owner.name == "ttir.broadcast":
        placed = cast("tuple[int, ...]", parameters["dimension"])
        small = owner.operands[0]
        if (
            dim not in placed
            or value_shape(small)[placed.index(dim)] != value_shape(positions)[dim]
        ):
            return False
        return counts_along(small, placed.index(dim))
    return (parameters["start"], parameters["step"], parameters["arange_dimension"]) == (0, 1, dim)


# -- sorting -----------------------------------------------------------------------------------


TOP_K = "mhlo.topk"
"""The custom call for an operation of MHLO that StableHLO does not have."""


def _sort(op: Operation) -> None:
    check_static_shapes(op)
    shape = value_shape(op.operands[0])
    dim = integer(op, "dimension") if "dimension" in op.properties else -1
    if not shape or shape[dim] < 2:
        replace(op, *op.operands)
        return
    # NumPy is loaded only for programs that sort.
    from ttmlir.passes.stablehlo.regions import find_keys

    keys = find_keys(op.regions[0])
    if keys is None:
        body = ", ".join(operations_of(op.regions[0])) or "no operation"
        refuse_to_legalize(
            op,
            f"its comparator computes {body}; supported are comparators that order by operands as "
            "numbers, ascending (LT) or descending (GT), by one or by several of them in turn",
        )
    dim %= len(shape)
    carrier = TTIRCarrier(Builder.before(op))
    arrays = [array_in(carrier, operand) for operand in op.operands]
    counts = [counts_along(operand, dim) for operand in op.operands]
    replace(op, *(each.value for each in sort_by(arrays, keys, dim, counts)))


def _top_k(op: Operation) -> None:
    _take_best(op, integer(op, "k"), largest=True)


def _take_best(op: Operation, count: int, *, largest: bool) -> None:
    check_static_shapes(op)
    [operand] = op.operands
    results = Builder.before(op).create_several(
        "topk",
        (operand,),
        [result.type for result in op.results],
        k=count,
        dim=-1,
        largest=largest,
        sorted=True,
    )
    replace(op, *results)


def convert_top_k_call(op: Operation) -> None:
    """Convert the custom call that stands for `mhlo.topk`."""
    given = op.attributes.get("mhlo.attributes")
    attributes: Mapping[str, Attribute] = given.data if isinstance(given, DictionaryAttr) else {}
    count = _number(attributes.get("k"))
    largest = _number(attributes.get("largest", IntegerAttr(1, i1)))
    if None in (count, largest) or len(op.operands) != 1 or len(op.results) != 2:
        refuse_to_legalize(
            op,
            f"'{TOP_K}' takes one operand, has two results and says how many elements it takes: "
            "mhlo.attributes = {k = 3 : i64, largest = true}",
        )
    assert count is not None, "tested above"
    _take_best(op, count, largest=bool(largest))


def _number(attribute: Attribute | None) -> int | None:
    if not isinstance(attribute, IntegerAttr):
        return None
    return cast("IntegerAttr", attribute).value.data


# -- normalization -----------------------------------------------------------------------------


def _features(op: Operation) -> tuple[int, float]:
    """The dimension of the features, and what is added to their variances."""
    return integer(op, "feature_index"), cast("FloatAttr", op.properties["epsilon"]).value.data


def _batch_norm_inference(
    op: Operation, x: Array, scale: Array, offset: Array, mean: Array, variance: Array
) -> Array:
    dim, epsilon = _features(op)
    return normalization.normalize_by(x, scale, offset, mean, variance, dim, epsilon)


def _batch_norm_training(op: Operation, x: Array, scale: Array, offset: Array) -> Sequence[Array]:
    dim, epsilon = _features(op)
    mean, variance = normalization.find_statistics(x, dim)
    found = normalization.normalize_by(x, scale, offset, mean, variance, dim, epsilon)
    return found, mean, variance


def _batch_norm_grad(
    op: Operation, x: Array, scale: Array, mean: Array, variance: Array, gradient: Array
) -> Sequence[Array]:
    dim, epsilon = _features(op)
    return normalization.differentiate_batch_norm(gradient, x, scale, mean, variance, dim, epsilon)


FUNCTIONS: dict[str, ArrayFunction] = {
    "stablehlo.batch_norm_grad": _batch_norm_grad,
    "stablehlo.batch_norm_inference": _batch_norm_inference,
    "stablehlo.batch_norm_training": _batch_norm_training,
}
"""Functions by the full name of the operation."""
RULES: dict[str, ConversionRule] = {
    "stablehlo.reduce": _reduce,
    "chlo.top_k": _top_k,
    "stablehlo.sort": _sort,
    **{name: computes(function) for name, function in FUNCTIONS.items()},
}
"""Rules by the full name of the operation."""


# -- 2026 --------------------------------------------------------------------------------------


def _late_reduce(op: Operation) -> None:
    """Reductions from their identity, and places of extremes; others are as before."""
    count, dims = len(op.results), integers(op, "dimensions")
    body, builder = op.regions[0], Builder.before(op)
    combining = combiners(body)
    mnemonics = [_late_reduction(*pair) for pair in zip(combining or (), op.operands, strict=False)]
    if mnemonics and None not in mnemonics:
        assert combining is not None, "mnemonics are those of combiners"
        if count == 1 and _is_from_identity(op, combining):
            found = _late_reduced(
                builder, mnemonics[0] or "", op.operands[0], op.results[0].type, dims
            )
            replace(op, found)
            return
        if count > 1:
            replace(op, *_late_reduce_from(op, builder, combining, mnemonics))
            return
    if combining is None and count == 2 and len(dims) == 1:
        largest = picks_extreme(body, largest=True)
        if largest or picks_extreme(body, largest=False):
            _late_extreme(op, dims[0], largest=largest)
            return
    _reduce(op)


def _late_reduce_from(
    op: Operation,
    builder: Builder,
    combining: Sequence[OpDefinition],
    mnemonics: Sequence[str | None],
) -> list[SSAValue]:
    """Reductions of several tensors, combined with what each starts from."""
    dims, count = integers(op, "dimensions"), len(op.results)
    found: list[SSAValue] = []
    for number, result in enumerate(op.results):
        value, init = op.operands[number], op.operands[count + number]
        shape = value_shape(result)
        first = broadcast_late(builder, builder.reshape(init, (1,) * len(shape)), shape)
        reduced = _late_reduced(builder, mnemonics[number] or "", value, result.type, dims)
        name = logic_of(combining[number], element_type(value)).mnemonic
        found.append(builder.create(name, [reduced, first], result.type))
    return found


def _is_from_identity(op: Operation, combining: Sequence[OpDefinition]) -> bool:
    element = element_type(op.operands[0])
    number = splat_number(op.operands[1])
    return number is not None and number == identity_of(logic_of(combining[0], element), element)


def _late_extreme(op: Operation, dim: int, *, largest: bool) -> None:
    builder = Builder.before(op)
    value = op.operands[0]
    results: list[SSAValue] = [*op.results]
    if op.results[0].first_use is not None:
        mnemonic = "max" if largest else "min"
        results[0] = _late_reduced(builder, mnemonic, value, op.results[0].type, (dim,))
    else:
        results[0] = value
    if not largest:
        is_integer = isinstance(element_type(value), IntegerType)
        value = builder.create("bitwise_not" if is_integer else "neg", [value], value.type)
    results[1] = _late_reduced(builder, "argmax", value, op.results[1].type, (dim,))
    for result, found in zip(op.results, results, strict=True):
        result.replace_all_uses_with(found)
    erase(op)


def _late_sort(op: Operation, *, wide: bool = False) -> None:
    """The first operand in order, and the others in its order; of 64 bits all, if `wide`."""
    from ttmlir.passes.stablehlo.regions import find_keys

    keys = find_keys(op.regions[0])
    shape = value_shape(op.operands[0])
    if keys is None or not shape or not _has_plain_order(op, keys):
        _sort(op)
        return
    dim = integer(op, "dimension") % len(shape) if "dimension" in op.properties else len(shape) - 1
    builder = Builder.before(op)
    if len(keys) > 1 or keys[0].operand or isinstance(element_type(op.operands[0]), IntegerType):
        numbers = [each.operand for each in keys]
        _late_sort_rows(op, builder, numbers, dim, keys[0].descending, wide=wide)
        return
    key = op.operands[0]
    parameters = {
        "dim": dim,
        "descending": keys[0].descending,
        "stable": bool(integer(op, "is_stable")) if "is_stable" in op.properties else False,
    }
    counted = [value for value in op.operands[1:] if late_counts_along(value, dim)]
    types = (key.type, counted[0].type if counted else TensorType(i32, shape))
    values, places = builder.create_several("sort", [key], types, **parameters)
    found = [values]
    rows = None
    for other in op.operands[1:]:
        if late_counts_along(other, dim):
            found.append(places)
            continue
        rows = _to_rows(builder, places, dim) if rows is None else rows
        found.append(_take_from_rows(builder, other, rows, dim))
    replace(op, *found)


def _has_plain_order(op: Operation, keys: Sequence[SortKey]) -> bool:
    """True for the first operand alone, and for integers that all ascend or all descend."""
    if len(keys) == 1 and not keys[0].operand:
        return True
    elements = [element_type(op.operands[key.operand]) for key in keys]
    return len({key.descending for key in keys}) == 1 and all(
        isinstance(element, IntegerType) for element in elements
    )


def late_counts_along(positions: SSAValue, dim: int) -> bool:
    """True for a tensor whose elements are their places along a dimension."""
    owner = positions.owner
    if not isinstance(owner, Operation) or owner.name not in (
        "ttir.broadcast",
        "ttir.reshape",
        "ttir.arange",
    ):
        return False
    if owner.name == "ttir.arange":
        parameters = cast("TableOperation", owner).parameters()
        return (parameters["start"], parameters["step"]) == (0, 1)
    if owner.name == "ttir.broadcast":
        if value_shape(owner.operands[0])[dim] != value_shape(positions)[dim]:
            return False
        return late_counts_along(owner.operands[0], dim)
    shape = value_shape(positions)
    return shape[dim] == math.prod(shape) and late_counts_along(owner.operands[0], 0)


def _order_of(rank: int, dim: int) -> list[int]:
    """The dimensions with one of them last."""
    return [*(n for n in range(rank) if n != dim), dim]


def _to_rows(builder: Builder, value: SSAValue, dim: int) -> SSAValue:
    """A matrix whose rows run along a dimension."""
    shape = value_shape(value)
    moved = permute_late(builder, value, _order_of(len(shape), dim))
    return reshape_late(builder, moved, (math.prod(shape) // shape[dim], shape[dim]))


def _from_rows(builder: Builder, rows: SSAValue, shape: Shape, dim: int) -> SSAValue:
    order = _order_of(len(shape), dim)
    whole = reshape_late(builder, rows, [shape[n] for n in order])
    return permute_late(builder, whole, [order.index(n) for n in range(len(shape))])


def _take_from_rows(builder: Builder, value: SSAValue, places: SSAValue, dim: int) -> SSAValue:
    rows = _to_rows(builder, value, dim)
    found = _gather_rows(builder, rows, places)
    return _from_rows(builder, found, value_shape(value), dim)


def _gather_rows(builder: Builder, rows: SSAValue, places: SSAValue) -> SSAValue:
    """The elements of each row at the places in a row; floats are looked up in a table."""
    count, length = value_shape(rows)
    if isinstance(element_type(rows), IntegerType):
        return builder.create("gather", [rows, places], rows.type, dim=1)
    table = reshape_late(builder, rows, (count * length, 1))
    parameters = {"start": 0, "end": count * length, "step": length, "arange_dimension": 0}
    first = builder.create("arange", (), places.type, **parameters)
    numbers = builder.create("add", [first, places], places.type)
    shape = (count, length, 1)
    return builder.create("embedding", [numbers, table], tensor_like(rows, shape))


_LOW_BITS = 16
"""Bits of integers that are sorted at once, as floats."""


def _late_sort_rows(
    op: Operation,
    builder: Builder,
    keys: Sequence[int],
    dim: int,
    descending: bool,
    *,
    wide: bool,
) -> None:
    """Integers are ordered by their lower bits, then by their upper ones."""
    rows = {number: _to_rows(builder, op.operands[number], dim) for number in keys}
    order: SSAValue | None = None
    for number in reversed(keys):
        order = _order_integers(builder, rows[number], order, descending, wide=wide)
    assert order is not None, "there are keys"
    found: list[SSAValue] = []
    for number, value in enumerate(op.operands):
        shape = value_shape(value)
        if late_counts_along(value, dim):
            places = builder.cast(order, element_type(value))
            found.append(_from_rows(builder, places, shape, dim))
            continue
        row = rows[number] if number in rows else _to_rows(builder, value, dim)
        found.append(_from_rows(builder, _gather_rows(builder, row, order), shape, dim))
    replace(op, *found)


def _parts_of(builder: Builder, rows: SSAValue, *, wide: bool) -> Iterator[SSAValue]:
    """The bits of integers, some at a time, the lowest first; floats hold each part."""
    element = element_type(rows)
    width = cast("IntegerType", element).width.data if isinstance(element, IntegerType) else 0
    if 0 < width < _LOW_BITS:
        rows = builder.cast(rows, i32)
    full = {"shape": value_shape(rows)}
    mask = builder.create("full", (), rows.type, fill_value=(1 << _LOW_BITS) - 1, **full)
    low = builder.create("bitwise_and", [rows, mask], rows.type)
    bits = builder.create("full", (), rows.type, fill_value=_LOW_BITS, **full)
    high = builder.create("right_shift", [rows, bits], rows.type)
    yield low
    for _ in range(2 if wide and width == 64 else 0):
        yield builder.create("bitwise_and", [high, mask], rows.type)
        high = builder.create("right_shift", [high, bits], rows.type)
    yield high


def _order_integers(
    builder: Builder,
    rows: SSAValue,
    order: SSAValue | None,
    descending: bool,
    *,
    wide: bool,
) -> SSAValue:
    shape = value_shape(rows)
    for part in [builder.cast(each, f32) for each in [*_parts_of(builder, rows, wide=wide)]]:
        types = (part.type, TensorType(i32, shape))
        if order is not None:
            part = builder.create("gather", [part, order], part.type, dim=1)
        parameters = {"dim": 1, "descending": descending, "stable": True}
        places = builder.create_several("sort", [part], types, **parameters)[1]
        if order is None:
            order = places
        else:
            order = builder.create("gather", [order, places], order.type, dim=1)
    assert order is not None, "there are parts"
    return order


def _late_reduction(combining: OpDefinition, value: SSAValue) -> str | None:
    """The mnemonic of the reduction that repeats an operation on two values."""
    combining = logic_of(combining, element_type(value))
    found = by_combiner(combining)
    if found is not None:
        return found.mnemonic
    return f"reduce_{combining.mnemonic}" if combining.mnemonic.startswith("bitwise_") else None


def _late_reduced(
    builder: Builder, mnemonic: str, value: SSAValue, type_: Attribute, dims: Sequence[int]
) -> SSAValue:
    """The reduction; bits of narrower integers are those of 32-bit ones."""
    parameters = {"dim_arg": tuple(dims), "keep_dim": False}
    element = element_type(value)
    is_bitwise = mnemonic.startswith("reduce_bitwise")
    if is_bitwise and cast("IntegerType", element).width.data < 32:
        value = builder.cast(value, _UI32)
        shape = cast("TensorType[Attribute]", type_).get_shape()
        found = builder.create(mnemonic, [value], TensorType(_UI32, shape), **parameters)
        return builder.cast(found, element)
    return builder.create(mnemonic, [value], type_, **parameters)


_UI32 = IntegerType(32, Signedness.UNSIGNED)


def _late_batch_norm_training(op: Operation) -> None:
    dim, epsilon = _features(op)
    builder = Builder.before(op)
    groups = [*op.operands, None, None]
    parameters = {"dimension": dim, "epsilon": epsilon, "momentum": 1.0}
    results = [result.type for result in op.results]
    replace(op, *builder.create_grouped("batch_norm_training", groups, results, **parameters))


def _late_batch_norm_grad(
    op: Operation, x: Array, scale: Array, mean: Array, variance: Array, gradient: Array
) -> Sequence[Array]:
    """The gradients as the specification of StableHLO writes them."""
    dim, epsilon = _features(op)
    rest = tuple(n for n in range(x.rank) if n != dim)

    def spread(each: Array) -> Array:
        placed = each.reshape([n if d == dim else 1 for d, n in enumerate(x.shape)])
        return placed.broadcast(x.shape)

    def total(each: Array) -> Array:
        parameters = {"dim_arg": rest, "keep_dim": False}
        return each.create("sum", shape=(x.shape[dim],), parameters=parameters)

    scale, mean, variance = spread(scale), spread(mean), spread(variance)
    small = _everywhere(x, epsilon)
    centered = x - mean
    widened = variance + small
    deviation = widened.apply("sqrt")
    normal = centered / deviation
    count = _everywhere(x, math.prod(x.shape) // x.shape[dim])
    weighted = gradient * count
    sums = total(gradient)
    spread_sums = spread(sums)
    products = total(gradient * centered)
    correction = spread(products) * centered / widened
    inner = weighted - spread_sums - correction
    outer = scale / deviation / count
    return outer * inner, total(gradient * normal), sums


def _everywhere(x: Array, number: float) -> Array:
    """One number in the shape of an array, from a constant without dimensions."""
    return x.fill(float(number), ()).reshape((1,) * x.rank).broadcast(x.shape)


WIDE_RULES: dict[str, ConversionRule] = {"stablehlo.sort": partial(_late_sort, wide=True)}
"""Rules of 2026 that lose nothing of numbers of 64 bits."""
LATE_RULES: dict[str, ConversionRule] = {
    "stablehlo.batch_norm_grad": computes(_late_batch_norm_grad),
    "stablehlo.batch_norm_training": _late_batch_norm_training,
    "stablehlo.reduce": _late_reduce,
    "stablehlo.sort": _late_sort,
}
"""Rules of 2026, where they differ."""
