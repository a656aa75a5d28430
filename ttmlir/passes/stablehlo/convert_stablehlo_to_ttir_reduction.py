"""Rules of StableHLO's reductions, for `convert-stablehlo-to-ttir`.

A reduction whose body is one operation becomes the reduction of ttir that repeats it; one that
keeps a number with its position becomes `ttir.argmax`. Any other body of elementwise operations is
applied to neighbours, all pairs at once, until one element is left along each dimension.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects.definition.row_ops import RowOperation
from ttmlir.dialects.stablehlo.text.form import integers
from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import splat_number
from ttmlir.ir.identities import identity_of, logic_of
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import check_static_shape, element_type, value_shape
from ttmlir.optable import row
from ttmlir.optable.reduction import by_combiner
from ttmlir.optable.row import Row
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.stablehlo_bodies import combiners, operations_of, picks_extreme
from ttmlir.passes.stablehlo.stablehlo_body_application import apply, can_be_applied

Shape = tuple[int, ...]

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
        rows = cast("list[Row]", reductions)
        triples = zip(rows, op.operands[:count], op.operands[count:], strict=True)
        replace(op, *(_reduced(op, *triple) for triple in triples))
        return
    shape = value_shape(op.operands[0])
    if any(shape[dim] == 0 for dim in integers(op, "dimensions")):
        replace(op, *_initial_values(op))
        return
    found = _extreme_and_position(op) if count == 2 and combining is None else None
    replace(op, *(found or _by_pairs(op)))


def _reduction(combining: Row, value: SSAValue) -> Row | None:
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
    dims, values = integers(op, "dimensions"), list(op.operands[:count])
    if not can_be_applied(body):
        _refuse_body(op)
    for dim in sorted(dims, reverse=True):
        values = _fold(op, values, dim)
    values = [
        builder.reshape(value, value_shape(result))
        for value, result in zip(values, op.results, strict=True)
    ]
    combining = combiners(body)
    inits = op.operands[count:]
    # XLA leaves tensors alone of which no dimension is reduced, whatever the initial value is.
    if not dims or (combining is not None and all(map(_changes_no_bits, combining, inits))):
        return values
    values = apply(op, body, [*inits, *values])
    if any(a.type != b.type for a, b in zip(values, op.results, strict=True)):
        refuse_to_legalize(op, "its body does not use its arguments")
    return values


def _fold(op: Operation, values: list[SSAValue], dim: int) -> list[SSAValue]:
    """The values with one element along a dimension, all of theirs in order."""
    builder = Builder.before(op)
    extent = value_shape(values[0])[dim]
    if extent == 1:
        return values
    even = extent - extent % 2
    firsts = [builder.slice_along(value, dim, 0, even, 2) for value in values]
    seconds = [builder.slice_along(value, dim, 1, even, 2) for value in values]
    folded = _fold(op, apply(op, op.regions[0], [*firsts, *seconds]), dim)
    if extent == even:
        return folded
    last = [builder.slice_along(value, dim, even, extent) for value in values]
    return apply(op, op.regions[0], [*folded, *last])


def _changes_no_bits(combining: Row, init: SSAValue) -> bool:
    return combining.takes_bits and splat_number(init) == identity_of(combining, element_type(init))


def _refuse_body(op: Operation) -> None:
    body = ", ".join(operations_of(op.regions[0])) or "no operation"
    refuse_to_legalize(op, f"its body computes {body}; {_SUPPORTED}")


def _reduced(op: Operation, reduction: Row, value: SSAValue, init: SSAValue) -> SSAValue:
    result = _over_dimensions(op, reduction.mnemonic, value)
    # XLA leaves tensors alone of which no dimension is reduced, whatever the initial value is.
    neutral = identity_of(row(reduction.combiner), element_type(init))
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
    extreme = row("maximum" if largest else "minimum")
    reduction = _reduction(extreme, values)
    # Any other number to start with could be the one that is kept.
    if reduction is None or splat_number(init) != identity_of(extreme, element_type(values)):
        return None
    best = _over_dimensions(op, reduction.mnemonic, values)
    ordered = values if largest else _in_opposite_order(builder, values)
    type_ = op.results[1].type
    found = builder.create("argmax", [ordered], type_, keep_dim=False, dim_arg=dims)
    return best, found


def _in_opposite_order(builder: Builder, values: SSAValue) -> SSAValue:
    """Numbers of which the largest is where the smallest was, NaN where it was."""
    is_float = isinstance(element_type(values), AnyFloat)
    return builder.create("neg" if is_float else "bitwise_not", [values], values.type)


def counts_along(positions: SSAValue, dim: int) -> bool:
    """True for a tensor whose elements are their places along a dimension, in ttir."""
    owner = positions.owner
    if not isinstance(owner, Operation):
        return False
    if owner.name not in ("ttir.broadcast", "ttir.arange"):
        return False
    parameters = cast("RowOperation", owner).parameters()
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


RULES: dict[str, ConversionRule] = {"stablehlo.reduce": _reduce}
"""Rules by the full name of the operation."""
