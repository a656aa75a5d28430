"""What becomes of the operations of linalg that carry a body: generic, map and reduce.

The body computes with numbers; here it computes with tensors over all loops at once. An operand is
brought to the order of the loops, with an extent of 1 where it does not depend on a loop. Sums of
products of two operands become products of matrices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    i1,
    i32,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap

from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import splat_number
from ttmlir.ir.contractions import contract
from ttmlir.ir.identities import identity_of
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import (
    check_static_shape,
    element_type,
    is_boolean,
    is_tensor,
    tensor_of,
    unsigned_type,
    value_shape,
)
from ttmlir.optable import row
from ttmlir.optable.reduction import by_combiner
from ttmlir.optable.row import Row
from ttmlir.optable.shapes import broadcast_shape
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.linalg.convert_arith_to_ttir import NAMED, ON_NUMBERS, ON_TRUTH, compute
from ttmlir.passes.linalg.linalg_choices import Choice, read_choice, read_position
from ttmlir.passes.linalg.scalar_values import as_tensor, number_type

_MAPS = (
    "supported are maps whose results are different dimensions, or 0; for a convolution or pool "
    "write its named operation, such as linalg.conv_2d_nhwc_hwcf or linalg.pooling_nhwc_sum"
)
_COMBINING = {**NAMED, **ON_NUMBERS}


def inputs_and_inits(op: Operation) -> tuple[list[SSAValue], list[SSAValue]]:
    """The operands that are read, and those that results start from."""
    segments = op.properties.get("operandSegmentSizes")
    if segments is None:
        count = len(op.operands) - len(op.results)
    else:
        count = next(iter(cast("DenseArrayBase[IntegerType]", segments).iter_values()))
    return list(op.operands[:count]), list(op.operands[count:])


@dataclass
class _Loops:
    """A body that runs for every place of a space, as operations on tensors over that space."""

    op: Operation
    body: Block
    operands: list[SSAValue]
    maps: list[AffineMap]
    reduced: frozenset[int]
    """The loops that results are combined over."""
    known: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    @cached_property
    def builder(self) -> Builder:
        """Creates operations before the operation."""
        return Builder.before(self.op)

    @cached_property
    def extents(self) -> tuple[int, ...]:
        """Extents of the loops."""
        found: dict[int, int] = {}
        for operand, map_ in zip(self.operands, self.maps, strict=True):
            if not map_.results:
                continue
            check_static_shape(self.op, operand.type)
            for extent, result in zip(value_shape(operand), map_.results, strict=True):
                if isinstance(result, AffineDimExpr):
                    found[result.position] = extent
        count = self.maps[0].num_dims
        if len(found) < count:
            refuse_to_legalize(self.op, f"no operand tells the extents of all loops; {_MAPS}")
        return tuple(found[dim] for dim in range(count))

    def dims(self, number: int) -> list[int | None]:
        """The loop of each dimension of an operand; None for a place that is always 0."""
        dims: list[int | None] = []
        for result in self.maps[number].results:
            if isinstance(result, AffineDimExpr) and result.position not in dims:
                dims.append(result.position)
            elif isinstance(result, AffineConstantExpr) and result.value == 0:
                dims.append(None)
            else:
                refuse_to_legalize(self.op, f"an operand is read at {result}; {_MAPS}")
        return dims

    def result_dims(self, number: int) -> list[int]:
        """The loop of each dimension of a result: every one that is not reduced over."""
        dims = [dim for dim in self.dims(number) if dim is not None]
        written = set(range(len(self.extents))) - self.reduced
        if set(dims) != written or len(dims) != len(self.maps[number].results):
            refuse_to_legalize(
                self.op,
                "supported are results with one dimension for each parallel loop, and none for "
                "reductions",
            )
        return dims

    def _placed(self, number: int) -> SSAValue:
        """An operand over the loops."""
        value = self.operands[number]
        if not is_tensor(value):
            return as_tensor(self.op, value)
        check_static_shape(self.op, value.type)
        dims = self.dims(number)
        extents = value_shape(value)
        ends = [1 if dim is None else extent for dim, extent in zip(dims, extents, strict=True)]
        value = self.builder.slice(value, [0] * len(dims), ends)
        order = sorted(range(len(dims)), key=lambda place: -1 if (d := dims[place]) is None else d)
        value = self.builder.permute(value, order)
        named = {dim for dim in dims if dim is not None}
        shape = [extent if dim in named else 1 for dim, extent in enumerate(self.extents)]
        return self.builder.reshape(value, shape)

    def value(self, number: SSAValue) -> SSAValue:
        """A number of the body over the loops."""
        if number not in self.known:
            self.known[number] = self._computed(number)
        return self.known[number]

    def _computed(self, number: SSAValue) -> SSAValue:
        if isinstance(number, BlockArgument) and number.block is self.body:
            return self._placed(number.index)
        owner = number.owner
        if not isinstance(owner, Operation) or owner.parent is not self.body:
            return as_tensor(self.op, number)
        if owner.name == "linalg.index":
            return self._index(cast("IntegerAttr", owner.properties["dim"]).value.data)
        if owner.name == "arith.constant":
            return as_tensor(self.op, number)
        if owner.name.startswith(("arith.", "math.")) and len(owner.results) == 1:
            operands = [self.value(operand) for operand in owner.operands]
            return compute(self.builder, owner, operands, number_type(number.type))
        if owner.name == "tensor.extract":
            return self._read(owner.operands[0], owner.operands[1:])
        refuse_to_legalize(
            owner,
            "the body of an operation of linalg is converted with operations of arith and math, "
            "linalg.index, tensor.extract and linalg.yield",
        )

    def _read(self, tensor: SSAValue, places: Sequence[SSAValue]) -> SSAValue:
        """The elements of a tensor at computed places."""
        op, builder = self.op, self.builder
        check_static_shape(op, tensor.type)
        extents = value_shape(tensor)
        number: SSAValue = builder.create_numbers([0], tensor_of(i32, (1,) * len(self.extents)))
        for dim, place in enumerate(places):
            step = builder.create_numbers([extents[dim]], tensor_of(i32, ()))
            type_ = tensor_of(i32, value_shape(number))
            number = builder.create("multiply", [number, step], type_) if dim else number
            step = builder.cast(self.value(place), i32)
            shape = broadcast_shape(value_shape(number), value_shape(step))
            number = builder.create("add", [number, step], tensor_of(i32, shape))
        number = self.spread(number)
        count = math.prod(self.extents)
        flat = builder.reshape(tensor, (math.prod(extents),))
        type_ = tensor_of(element_type(tensor), (count,))
        found = builder.create("gather", [flat, builder.reshape(number, (count,))], type_, dim=0)
        return builder.reshape(found, self.extents)

    def _index(self, dim: int) -> SSAValue:
        """The place in a loop."""
        return self.places(frozenset({dim}))

    def places(self, dims: frozenset[int]) -> SSAValue:
        """The number of each iteration of some of the loops, in their order."""
        shape = [extent if dim in dims else 1 for dim, extent in enumerate(self.extents)]
        count = math.prod(shape)
        type_ = tensor_of(i32, (count,))
        numbers = self.builder.create(
            "arange", [], type_, start=0, end=count, step=1, arange_dimension=0
        )
        return self.builder.reshape(numbers, shape)

    def used_loops(self, number: SSAValue) -> frozenset[int]:
        """The loops that a number of the body depends on."""
        if isinstance(number, BlockArgument) and number.block is self.body:
            return frozenset(dim for dim in self.dims(number.index) if dim is not None)
        owner = number.owner
        if not isinstance(owner, Operation) or owner.parent is not self.body:
            return frozenset()
        if owner.name == "linalg.index":
            return frozenset({cast("IntegerAttr", owner.properties["dim"]).value.data})
        return frozenset[int]().union(*(self.used_loops(operand) for operand in owner.operands))

    def spread(self, value: SSAValue) -> SSAValue:
        """The tensor with the extents of all loops."""
        rank = len(self.extents)
        shape = value_shape(value)
        if len(shape) < rank:
            value = self.builder.reshape(value, (1,) * (rank - len(shape)) + shape)
        return self.builder.broadcast(value, self.extents)

    def depends(self, number: SSAValue, on: SSAValue) -> bool:
        """True if a number of the body is computed from another."""
        if number is on:
            return True
        owner = number.owner
        if not isinstance(owner, Operation) or owner.parent is not self.body:
            return False
        return any(self.depends(operand, on) for operand in owner.operands)


def _convert(loops: _Loops, inits: Sequence[SSAValue]) -> None:
    """Replace an operation by what its body yields."""
    yielded = loops.body.last_op
    assert yielded is not None, "a body ends in linalg.yield"
    first = len(loops.operands) - len(inits)
    results: list[SSAValue] = []
    for place, init in enumerate(inits):
        number = yielded.operands[place]
        argument = loops.body.args[first + place]
        dims = loops.result_dims(first + place)
        if loops.reduced:
            result = _reduced(loops, number, argument, init, dims)
        else:
            result = loops.builder.permute(loops.spread(loops.value(number)), dims)
        results.append(loops.builder.cast(result, element_type(init)))
    replace(loops.op, *results)


def _reduced(
    loops: _Loops, number: SSAValue, argument: SSAValue, init: SSAValue, dims: list[int]
) -> SSAValue:
    """The combination of a number over loops, beginning with `init`."""
    op, builder = loops.op, loops.builder
    owner = number.owner
    if number is argument:
        return init
    if any(loops.extents[dim] == 0 for dim in loops.reduced):
        return loops.builder.cast(init, element_type(init))
    found = _combination(loops, owner, argument) if isinstance(owner, Operation) else None
    if found is None:
        if isinstance(owner, Operation):
            choice = read_choice(owner, argument)
            if choice is not None and not loops.depends(choice.taken, argument):
                return _choice(loops, choice, init, dims)
            position = _position(loops, owner, argument, init, dims)
            if position is not None:
                return position
        if isinstance(owner, Operation) and _combines_by_xor(owner):
            refuse_to_legalize(
                op,
                "it combines truth values by exclusive or, which sums of i1 are; supported are "
                "arith.ori and arith.andi, and sums of wider integers (arith.extui)",
            )
        refuse_to_legalize(
            op,
            "it combines elements over a loop in another way than by a sum, product, maximum, "
            "minimum, and, or, or the place of the maximum",
        )
    reduction, term = found
    product = _factors(loops, term) if reduction.mnemonic == "sum" else None
    if product is not None:
        total = _product(loops, *product, dims)
    else:
        total = _over(loops, reduction.mnemonic, loops.value(term), dims, element_type(init))
    identity = row(reduction.combiner).identity
    if identity is not None and math.isfinite(identity) and splat_number(init) == identity:
        return total
    return builder.create(reduction.combiner, [total, init], init.type)


def _over(
    loops: _Loops, reduction: str, value: SSAValue, dims: list[int], element: Attribute
) -> SSAValue:
    """A tensor reduced over the loops, in the order of the result's dimensions."""
    value = loops.spread(value)
    kept = [dim for dim in range(len(loops.extents)) if dim not in loops.reduced]
    if reduction != "argmax":
        element = element_type(value)
    type_ = tensor_of(element, [loops.extents[dim] for dim in kept])
    reduced = tuple(sorted(loops.reduced))
    result = loops.builder.create(reduction, [value], type_, keep_dim=False, dim_arg=reduced)
    return loops.builder.permute(result, [kept.index(dim) for dim in dims])


def _combination(
    loops: _Loops, owner: Operation, argument: SSAValue
) -> tuple[Row, SSAValue] | None:
    """The reduction that combines a number with the accumulated one, and what is combined."""
    reduction = _reduction(owner)
    if reduction is not None and argument in owner.operands:
        terms = [operand for operand in owner.operands if operand is not argument]
        if len(terms) == 1 and not loops.depends(terms[0], argument):
            return reduction, terms[0]
    return None


def _means(owner: Operation, mnemonic: str) -> bool:
    """True for an operation of arith that means what a row means."""
    named = _COMBINING.get(owner.name)
    return named is not None and named.mnemonic == mnemonic


def _reduction(owner: Operation) -> Row | None:
    """The reduction that repeats an operation of arith on two numbers."""
    is_truth = is_boolean(owner.results[0].type)
    named = ON_TRUTH if is_truth else _COMBINING
    combining = named.get(owner.name)
    return None if combining is None else by_combiner(combining)


def _combines_by_xor(owner: Operation) -> bool:
    """True for an operation on truth values that is 1 where they differ: sums wrap around."""
    is_truth = is_boolean(owner.results[0].type)
    return is_truth and ON_TRUTH.get(owner.name) == row("logical_xor")


def _choice(loops: _Loops, choice: Choice, init: SSAValue, dims: list[int]) -> SSAValue:
    """The number that is left after all choices, beginning with `init`."""
    builder = loops.builder
    value = loops.value(choice.taken)
    combiner = row("maximum" if choice.largest else "minimum")
    element = element_type(value)
    if is_boolean(element):
        # As a signed number, true is -1.
        flips = not choice.without_order
        combiner = row(row("minimum" if choice.largest == flips else "maximum").on_truth)
    elif choice.is_float:
        value, init = _without_nan(loops, choice, value, init, dims)
    elif choice.without_order:
        value, init = (builder.cast(each, unsigned_type(element)) for each in (value, init))
    reduction = by_combiner(combiner)
    assert reduction is not None, "extremes are repeated by reductions"
    total = _over(loops, reduction.mnemonic, value, dims, element_type(value))
    return builder.cast(builder.create(combiner.mnemonic, [total, init], total.type), element)


def _without_nan(
    loops: _Loops, choice: Choice, value: SSAValue, init: SSAValue, dims: list[int]
) -> tuple[SSAValue, SSAValue]:
    """Numbers and a start whose extreme is what choices leave, although extremes keep NaN.

    NaN is never taken and never left, or it is taken, and left for the next number.
    """
    builder, element = loops.builder, element_type(value)
    worst = builder.create_scalar(-math.inf if choice.largest else math.inf, element)
    if not choice.without_order:
        return builder.create("where", [_is_nan(builder, value), worst, value], value.type), init
    # What counts is from the number after the last NaN on, or the NaN where none follows.
    value = loops.spread(value)
    places = loops.spread(loops.places(loops.reduced))
    none = builder.create_scalar(-1, i32)
    nans = builder.create("where", [_is_nan(builder, value), places, none], places.type)
    extents = [1 if dim in loops.reduced else n for dim, n in enumerate(loops.extents)]
    reduced = tuple(sorted(loops.reduced))
    last = builder.create("max", [nans], tensor_of(i32, extents), keep_dim=True, dim_arg=reduced)
    limit = builder.create_scalar(math.prod(loops.extents[dim] for dim in reduced) - 2, i32)
    last_but_one = builder.create("minimum", [last, limit], last.type)
    counts = builder.create("gt", [places, last_but_one], tensor_of(i1, loops.extents))
    value = builder.create("where", [counts, value, worst], value.type)
    last = _over(loops, "max", nans, dims, i32)
    was_nan = builder.create("gt", [last, none], tensor_of(i1, value_shape(init)))
    is_left = builder.create("logical_or", [was_nan, _is_nan(builder, init)], was_nan.type)
    return value, builder.create("where", [is_left, worst, init], init.type)


def _is_nan(builder: Builder, value: SSAValue) -> SSAValue:
    return builder.create("ne", [value, value], tensor_of(i1, value_shape(value)))


def _position(
    loops: _Loops, owner: Operation, argument: SSAValue, init: SSAValue, dims: list[int]
) -> SSAValue | None:
    """The place of the largest number in the one loop that is reduced; None for anything else."""
    found = read_position(owner, argument)
    if found is None or loops.reduced != frozenset((found[2],)):
        return None
    number, best, _ = found
    yielded = loops.body.last_op
    assert yielded is not None, "a body ends in linalg.yield"
    if not (isinstance(best, BlockArgument) and best.block is loops.body):
        return None
    place = best.index - (len(loops.operands) - len(yielded.operands))
    if place < 0 or not isinstance(keeps := yielded.operands[place].owner, Operation):
        return None
    choice = read_choice(keeps, best)
    is_largest = choice is not None and choice.largest and choice.taken is number
    is_maximum = _means(keeps, "maximum") and set(keeps.operands) == {number, best}
    if not (is_largest or is_maximum) or is_boolean(number.type):
        return None
    if choice is not None and choice.without_order:
        return None
    builder, value = loops.builder, loops.value(number)
    if choice is not None and choice.is_float:
        lowest = builder.create_scalar(-math.inf, element_type(value))
        value = builder.create("where", [_is_nan(builder, value), lowest, value], value.type)
    position = _over(loops, "argmax", value, dims, element_type(init))
    start = loops.operands[best.index]
    lowest = identity_of(row("maximum"), element_type(start))
    if splat_number(init) == 0 and splat_number(start) == lowest:
        return position
    largest = _over(loops, "max", value, dims, element_type(start))
    is_larger = builder.create("gt", [largest, start], tensor_of(i1, value_shape(init)))
    return builder.create("where", [is_larger, position, init], init.type)


def _factors(loops: _Loops, term: SSAValue) -> tuple[SSAValue, SSAValue] | None:
    """The two factors of a term if both depend on all loops that are summed over."""
    owner = term.owner
    if not isinstance(owner, Operation) or not _means(owner, "multiply"):
        return None
    if owner.parent is not loops.body or is_boolean(term.type):
        return None
    a, b = owner.operands
    used = [loops.used_loops(factor) for factor in (a, b)]
    if used[0] | used[1] != frozenset(range(len(loops.extents))):
        return None
    # With the same loops in both, nothing is gained.
    return (a, b) if loops.reduced <= used[0] & used[1] and used[0] != used[1] else None


def _product(loops: _Loops, a: SSAValue, b: SSAValue, dims: list[int]) -> SSAValue:
    """The sum of products of two factors."""
    operands: list[tuple[SSAValue, list[int]]] = []
    for factor in (a, b):
        used = sorted(loops.used_loops(factor))
        shape = [loops.extents[dim] for dim in used]
        operands.append((loops.builder.reshape(loops.value(factor), shape), used))
    (left, left_dims), (right, right_dims) = operands
    # The operand with the result's first loops comes first, as in a product of matrices.
    own = [dim for dim in dims if (dim in left_dims) != (dim in right_dims)]
    if own and own[0] in right_dims:
        left, left_dims, right, right_dims = right, right_dims, left, left_dims
    return contract(loops.builder, left, left_dims, right, right_dims, dims)


def _generic(op: Operation) -> None:
    inputs, inits = inputs_and_inits(op)
    maps = cast("ArrayAttr[AffineMapAttr]", op.properties["indexing_maps"])
    iterators = cast("ArrayAttr[Attribute]", op.properties["iterator_types"])
    kinds = [str(kind) for kind in iterators.data]
    reduced = frozenset(dim for dim, kind in enumerate(kinds) if "reduction" in kind)
    _check_tensors(op)
    block = op.regions[0].block
    loops = _Loops(op, block, [*inputs, *inits], [map_.data for map_ in maps.data], reduced)
    _convert(loops, inits)


def _check_tensors(op: Operation) -> None:
    if not op.results:
        refuse_to_legalize(op, "it works on memory; supported are operations on tensors")


def _map(op: Operation) -> None:
    builder = Builder.before(op)
    _check_tensors(op)
    inputs, inits = inputs_and_inits(op)
    rank = len(value_shape(inits[0]))
    identity = AffineMap.identity(rank)
    block = op.regions[0].block
    operands = inputs if len(block.args) == len(inputs) else [*inputs, *inits]
    yielded = block.last_op
    assert yielded is not None, "a body ends in linalg.yield"
    check_static_shape(op, inits[0].type)
    maps = [identity] * (len(operands) or 1)
    loops = _Loops(op, block, operands or inits, maps, frozenset())
    result = loops.spread(loops.value(yielded.operands[0]))
    replace(op, builder.cast(result, element_type(inits[0])))


def _reduce(op: Operation) -> None:
    _check_tensors(op)
    inputs, inits = inputs_and_inits(op)
    check_static_shape(op, inputs[0].type)
    rank = len(value_shape(inputs[0]))
    dimensions = cast("DenseArrayBase[IntegerType]", op.properties["dimensions"])
    reduced = frozenset(dimensions.iter_values())
    kept = tuple(AffineDimExpr(dim) for dim in range(rank) if dim not in reduced)
    maps = [AffineMap.identity(rank)] * len(inputs) + [AffineMap(rank, 0, kept)] * len(inits)
    loops = _Loops(op, op.regions[0].block, [*inputs, *inits], maps, reduced)
    _convert(loops, inits)


RULES: dict[str, ConversionRule] = {
    "linalg.generic": _generic,
    "linalg.map": _map,
    "linalg.reduce": _reduce,
}
"""What becomes of each operation."""
