"""Turn operations of linalg, tensor, arith and math on tensors into ttir operations.

Named operations are converted by what they compute, `linalg.generic`, `map` and `reduce` by their
body: elementwise computations, reductions, and sums of products, which become products of matrices.

Before:

    func.func @layer(%x: tensor<33x70xf32>, %w: tensor<70x5xf32>) -> tensor<33x5xf32> {
      %zero = arith.constant 0.0 : f32
      %0 = tensor.empty() : tensor<33x5xf32>
      %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<33x5xf32>) -> tensor<33x5xf32>
      %2 = linalg.matmul ins(%x, %w : tensor<33x70xf32>, tensor<70x5xf32>)
          outs(%1 : tensor<33x5xf32>) -> tensor<33x5xf32>
      %3 = linalg.exp ins(%2 : tensor<33x5xf32>) outs(%0 : tensor<33x5xf32>) -> tensor<33x5xf32>
      return %3 : tensor<33x5xf32>
    }

After:

    #any_device_tile = #tt.operand_constraint<dram|l1|tile|...>
    module {
      func.func @layer(%arg0: tensor<33x70xf32>, %arg1: tensor<70x5xf32>) -> tensor<33x5xf32> {
        %0 = tensor.empty() : tensor<33x5xf32>
        %1 = "ttir.matmul"(%arg0, %arg1, %0) <{operand_constraints =
            [#any_device_tile, #any_device_tile, #any_device_tile]}>
            : (tensor<33x70xf32>, tensor<70x5xf32>, tensor<33x5xf32>) -> tensor<33x5xf32>
        %2 = tensor.empty() : tensor<33x5xf32>
        %3 = "ttir.exp"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>,
            operand_constraints = [#any_device_tile, #any_device_tile]}>
            : (tensor<33x5xf32>, tensor<33x5xf32>) -> tensor<33x5xf32>
        return %3 : tensor<33x5xf32>
      }
    }

Requires: static shapes; numbers outside of tensors are constants or computed from constants and
elements of tensors.
Ensures: no operation of linalg is left, nor one of tensor, arith or math with a tensor as result,
but for `tensor.empty`; constants and numbers that are not used any more are gone.
Options: none.
Not done here: operations on memory, computed shapes, convolutions as `linalg.generic`. Operations
of other dialects stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
    i32,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap

from ttmlir.arrays.array import TRUTH, Array, concatenate, contract
from ttmlir.dialects.definition.ods import warn_of_narrowing
from ttmlir.ir.builder import Builder, TTIRCarrier, array_in
from ttmlir.ir.constants import constant_numbers, identity_of, splat_number
from ttmlir.ir.rewriting import erase_unused, refuse_to_legalize, replace
from ttmlir.ir.tensor_types import (
    check_static_shape,
    dtype_of,
    element_type,
    is_boolean,
    is_tensor,
    tensor_of,
    value_shape,
)
from ttmlir.optable import definition, named_in
from ttmlir.optable.linalg import CONTRACTIONS, CONVOLUTIONS, DEPTHWISE, ELEMENTWISE, POOLINGS
from ttmlir.optable.op_definition import OpDefinition
from ttmlir.optable.reduction import by_combiner
from ttmlir.optable.window import COMBINERS
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.core.ttir_conversion import ConversionRule, convert_inside
from ttmlir.passes.linalg.convert_arith_to_ttir import (
    NAMED,
    ON_NUMBERS,
    ON_TRUTH,
    compute,
    convert_tensor_arithmetic,
)

if TYPE_CHECKING:
    from xdsl.context import Context


# --- Scalar values --------------------------------------------------------------------------------
# Numbers of a program as tensors without dimensions, which ttir computes with.


def number_type(type: Attribute) -> Attribute:
    """The type of the elements that hold a number; places are 32-bit integers."""
    return i32 if isinstance(type, IndexType) else type


def as_tensor(site: Operation, value: SSAValue) -> SSAValue:
    """A tensor without dimensions that holds a number of the program.

    New operations stand in front of `site`. Numbers are followed back to constants, elements of
    tensors and what arith and math compute from them; others are refused.
    """
    builder = Builder.before(site)
    owner = value.owner
    if isinstance(owner, Operation):
        if owner.name == "arith.constant":
            found = constant_numbers(value)
            assert found is not None, "the constant is a number"
            return builder.create_numbers(found, tensor_of(number_type(value.type), ()))
        if owner.name == "tensor.extract":
            return _element(builder, owner)
        if owner.name.startswith(("arith.", "math.")):
            operands = [as_tensor(site, operand) for operand in owner.operands]
            return _compute(builder, owner, operands).value
    refuse_to_legalize(
        site,
        f"it uses a number of type {value.type} that comes from elsewhere; supported are "
        "constants, elements of tensors, and what arith and math compute from "
        "them",
    )


def _compute(builder: Builder, op: Operation, operands: Sequence[SSAValue]) -> Array:
    """What an operation of arith or math makes of tensors."""
    carrier = TTIRCarrier(builder)
    arrays = [array_in(carrier, value) for value in operands]
    return compute(op, arrays, dtype_of(number_type(op.results[0].type)))


def places_as_tensor(site: Operation, places: Sequence[SSAValue | int]) -> SSAValue:
    """Places along the dimensions of a tensor, which are numbers or computed, as one tensor."""
    builder = Builder.before(site)
    parts = [
        builder.create_splat(place, tensor_of(i32, (1,)))
        if isinstance(place, int)
        else builder.reshape(builder.cast(as_tensor(site, place), i32), (1,))
        for place in places
    ]
    return builder.concat(parts, 0)


def _element(builder: Builder, op: Operation) -> SSAValue:
    """The element of a tensor at a place."""
    tensor, *places = op.operands
    if len(places) != len(value_shape(tensor)):
        refuse_to_legalize(op, "it has another number of indices than the tensor has dimensions")
    known = [constant_numbers(place) for place in places]
    if any(found is None for found in known):
        begins = places_as_tensor(op, places)
        part = builder.create_inferred("slice_dynamic", tensor, begins, sizes=(1,) * len(places))
    else:
        starts = [int(found[0]) for found in known if found is not None]
        part = builder.slice(tensor, starts, [start + 1 for start in starts])
    element = builder.reshape(part, ())
    return builder.cast(element, number_type(op.results[0].type))


# --- Convert linalg to ttir generic ---------------------------------------------------------------
# What becomes of the operations of linalg that carry a body: generic, map and reduce.
#
# The body computes with numbers; here it computes with tensors over all loops at once. An operand
# is brought to the order of the loops, with an extent of 1 where it does not depend on a loop. Sums
# of products of two operands become products of matrices.

# --- Linalg choices -------------------------------------------------------------------------------
# Bodies of linalg that keep one of two numbers by comparing them: `select(cmp(x, acc), x, acc)`.
#
# Comparison and choice may be turned around; what counts is when the new number is taken.

# Which predicates ask for the larger number, and which also hold where a number is NaN (cmpf) or
# compare numbers without sign (cmpi).
_FLOATS = {
    **dict.fromkeys((2, 3), (True, False)),
    **dict.fromkeys((4, 5), (False, False)),
    **dict.fromkeys((9, 10), (True, True)),
    **dict.fromkeys((11, 12), (False, True)),
}
_INTEGERS = {
    **dict.fromkeys((2, 3), (False, False)),
    **dict.fromkeys((4, 5), (True, False)),
    **dict.fromkeys((6, 7), (False, True)),
    **dict.fromkeys((8, 9), (True, True)),
}
_CHOICES = {
    name for name, definition in named_in("arith").items() if definition.mnemonic == "where"
}
_STRICT = {"arith.cmpf": (2, 4), "arith.cmpi": (2, 4)}


@dataclass(frozen=True)
class Choice:
    """When a number is taken instead of the accumulated one."""

    taken: SSAValue
    largest: bool
    """Taken if it is larger; else if it is smaller."""
    is_float: bool
    without_order: bool
    """Of floats: taken if one of the two is NaN, which is kept otherwise; of integers: compared as
    numbers without sign."""


def read_choice(owner: Operation, accumulated: SSAValue) -> Choice | None:
    """The choice that an `arith.select` makes; None if it is none between two numbers."""
    if owner.name not in _CHOICES:
        return None
    condition, chosen, other = owner.operands
    taken = chosen if other is accumulated else other
    compare = condition.owner
    if not isinstance(compare, Operation) or {chosen, other} != {taken, accumulated}:
        return None
    if set(compare.operands) != {taken, accumulated} or taken is accumulated:
        return None
    found = _meaning_of(compare)
    if found is None:
        return None
    largest, without_order = found
    is_float = compare.name == "arith.cmpf"
    if compare.operands[0] is accumulated:
        largest = not largest
    if chosen is accumulated:
        # Taken if the comparison does not hold: "not greater" is less or equal, or without order.
        largest = not largest
        without_order = without_order != is_float
    return Choice(taken, largest, is_float, without_order)


def read_position(owner: Operation, position: SSAValue) -> tuple[SSAValue, SSAValue, int] | None:
    """A number, what it has to exceed, and the loop whose place is kept where it does.

    None for an operation that keeps something else.
    """
    if owner.name not in _CHOICES or owner.operands[2] is not position:
        return None
    compare, place = owner.operands[0].owner, owner.operands[1].owner
    if isinstance(place, Operation) and place.name == "arith.index_cast":
        place = place.operands[0].owner
    if not (isinstance(place, Operation) and place.name == "linalg.index"):
        return None
    if not isinstance(compare, Operation) or _predicate(compare) not in _STRICT.get(
        compare.name, ()
    ):
        return None
    found = _meaning_of(compare)
    assert found is not None, "every strict predicate has a meaning"
    larger, smaller = compare.operands if found[0] else compare.operands[::-1]
    return larger, smaller, cast("IntegerAttr", place.properties["dim"]).value.data


def _predicate(compare: Operation) -> int | None:
    attr = compare.properties.get("predicate")
    return attr.value.data if isinstance(attr, IntegerAttr) else None


def _meaning_of(compare: Operation) -> tuple[bool, bool] | None:
    tables = {"arith.cmpf": _FLOATS, "arith.cmpi": _INTEGERS}
    predicate = _predicate(compare)
    return None if predicate is None else tables.get(compare.name, {}).get(predicate)


# --- Convert linalg to ttir generic ---------------------------------------------------------------

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
    known: dict[SSAValue, Array] = field(default_factory=dict[SSAValue, Array])

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
            refuse_to_legalize(self.op, f"no operand gives the extents of all loops; {_MAPS}")
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

    def array(self, value: SSAValue) -> Array:
        """A tensor as an array whose operations are created here."""
        return array_in(self.builder, value)

    def _placed(self, number: int) -> Array:
        """An operand over the loops."""
        value = self.operands[number]
        if not is_tensor(value):
            return self.array(as_tensor(self.op, value))
        check_static_shape(self.op, value.type)
        dims = self.dims(number)
        x = self.array(value)
        ends = [1 if dim is None else extent for dim, extent in zip(dims, x.shape, strict=True)]
        order = sorted(range(len(dims)), key=lambda place: -1 if (d := dims[place]) is None else d)
        named = {dim for dim in dims if dim is not None}
        shape = [extent if dim in named else 1 for dim, extent in enumerate(self.extents)]
        return x.slice([0] * len(dims), ends).permute(order).reshape(shape)

    def value(self, number: SSAValue) -> Array:
        """A number of the body over the loops."""
        if number not in self.known:
            self.known[number] = self._computed(number)
        return self.known[number]

    def _computed(self, number: SSAValue) -> Array:
        if isinstance(number, BlockArgument) and number.block is self.body:
            return self._placed(number.index)
        owner = number.owner
        if not isinstance(owner, Operation) or owner.parent is not self.body:
            return self.array(as_tensor(self.op, number))
        if owner.name == "linalg.index":
            return self.places(frozenset({_index_of(owner)}))
        if owner.name == "arith.constant":
            return self.array(as_tensor(self.op, number))
        if owner.name.startswith(("arith.", "math.")) and len(owner.results) == 1:
            operands = [self.value(operand).value for operand in owner.operands]
            return _compute(self.builder, owner, operands)
        if owner.name == "tensor.extract":
            return self._read(owner.operands[0], owner.operands[1:])
        refuse_to_legalize(
            owner,
            "the body of an operation of linalg is converted with operations of arith and math, "
            "linalg.index, tensor.extract and linalg.yield",
        )

    def _read(self, tensor: SSAValue, places: Sequence[SSAValue]) -> Array:
        """The elements of a tensor at computed places."""
        check_static_shape(self.op, tensor.type)
        x = self.array(tensor)
        ones = (1,) * len(self.extents)
        number = self.array(self.builder.create_numbers([0], tensor_of(i32, ones)))
        for dim, place in enumerate(places):
            step = self.array(self.builder.create_numbers([x.shape[dim]], tensor_of(i32, ())))
            number = (number * step if dim else number) + self.value(place).cast("i32")
        count = math.prod(self.extents)
        number = self.spread(number).reshape((count,))
        flat = x.reshape((math.prod(x.shape),))
        found = flat.create("gather", number, shape=(count,), parameters={"dim": 0})
        return found.reshape(self.extents)

    def places(self, dims: frozenset[int]) -> Array:
        """The number of each iteration of some of the loops, in their order."""
        shape = [extent if dim in dims else 1 for dim, extent in enumerate(self.extents)]
        count = math.prod(shape)
        parameters = {"start": 0, "end": count, "step": 1, "arange_dimension": 0}
        numbers = self.builder.create("arange", [], tensor_of(i32, (count,)), **parameters)
        return self.array(numbers).reshape(shape)

    def used_loops(self, number: SSAValue) -> frozenset[int]:
        """The loops that a number of the body depends on."""
        if isinstance(number, BlockArgument) and number.block is self.body:
            return frozenset(dim for dim in self.dims(number.index) if dim is not None)
        owner = number.owner
        if not isinstance(owner, Operation) or owner.parent is not self.body:
            return frozenset()
        if owner.name == "linalg.index":
            return frozenset({_index_of(owner)})
        return frozenset[int]().union(*(self.used_loops(operand) for operand in owner.operands))

    def spread(self, x: Array) -> Array:
        """The array with the extents of all loops."""
        return x.broadcast(self.extents)

    def depends(self, number: SSAValue, on: SSAValue) -> bool:
        """True if a number of the body is computed from another."""
        if number is on:
            return True
        owner = number.owner
        if not isinstance(owner, Operation) or owner.parent is not self.body:
            return False
        return any(self.depends(operand, on) for operand in owner.operands)


def _index_of(op: Operation) -> int:
    """The loop whose place a `linalg.index` is."""
    return cast("IntegerAttr", op.properties["dim"]).value.data


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
            result = loops.spread(loops.value(number)).permute(dims)
        results.append(result.cast(dtype_of(element_type(init))).value)
    replace(loops.op, *results)


def _reduced(
    loops: _Loops, number: SSAValue, argument: SSAValue, start: SSAValue, dims: list[int]
) -> Array:
    """The combination of a number over loops, beginning with `start`."""
    owner, init = number.owner, loops.array(start)
    if number is argument or any(loops.extents[dim] == 0 for dim in loops.reduced):
        return init
    found = _combination(loops, owner, argument) if isinstance(owner, Operation) else None
    if found is None:
        if isinstance(owner, Operation):
            choice = read_choice(owner, argument)
            if choice is not None and not loops.depends(choice.taken, argument):
                return _choice(loops, choice, init, dims)
            position = _position(loops, owner, argument, init, dims)
            if position is not None:
                return position
            folded = _folded(loops, owner, argument, init, dims)
            if folded is not None:
                return folded
        refuse_to_legalize(
            loops.op,
            "it combines elements over a loop in another way than by a sum, product, maximum, "
            "minimum, and, or, exclusive or, or the index of the maximum",
        )
    reduction, term = found
    product = _factors(loops, term) if reduction.mnemonic == "sum" else None
    if product is not None:
        total = _product(loops, *product, dims)
    else:
        total = _over(loops, reduction.mnemonic, loops.value(term), dims)
    identity = definition(reduction.combiner).identity
    if identity is not None and math.isfinite(identity) and splat_number(start) == identity:
        return total
    return _create_like(init, reduction.combiner, total, init)


def _over(loops: _Loops, reduction: str, x: Array, dims: list[int], dtype: str = "") -> Array:
    """An array reduced over the loops, in the order of the result's dimensions."""
    kept = [dim for dim in range(len(loops.extents)) if dim not in loops.reduced]
    shape = [loops.extents[dim] for dim in kept]
    parameters = {"keep_dim": False, "dim_arg": tuple(sorted(loops.reduced))}
    result = loops.spread(x).create(reduction, shape=shape, dtype=dtype, parameters=parameters)
    return result.permute([kept.index(dim) for dim in dims])


def _combination(
    loops: _Loops, owner: Operation, argument: SSAValue
) -> tuple[OpDefinition, SSAValue] | None:
    """The reduction that combines a number with the accumulated one, and what is combined."""
    reduction = _reduction(owner)
    if reduction is not None and argument in owner.operands:
        terms = [operand for operand in owner.operands if operand is not argument]
        if len(terms) == 1 and not loops.depends(terms[0], argument):
            return reduction, terms[0]
    return None


def _means(owner: Operation, mnemonic: str) -> bool:
    """True for an operation of arith that means what a definition means."""
    named = _COMBINING.get(owner.name)
    return named is not None and named.mnemonic == mnemonic


def _reduction(owner: Operation) -> OpDefinition | None:
    """The reduction that repeats an operation of arith on two numbers."""
    is_truth = is_boolean(owner.results[0].type)
    named = ON_TRUTH if is_truth else _COMBINING
    combining = named.get(owner.name)
    return None if combining is None else by_combiner(combining)


def _folded(
    loops: _Loops, owner: Operation, argument: SSAValue, init: Array, dims: list[int]
) -> Array | None:
    """A number combined by halves, for what no reduction repeats; None for other operations."""
    terms = [operand for operand in owner.operands if operand is not argument]
    named = (ON_TRUTH if is_boolean(owner.results[0].type) else _COMBINING).get(owner.name)
    # Sums of truth values wrap around.
    folds = named is not None and (named.mnemonic in _BITS or named == definition("logical_xor"))
    if not (folds or owner.name in _EXTREMES) or len(terms) != 1:
        return None
    if loops.depends(terms[0], argument):
        return None

    def combine(a: Array, b: Array) -> Array:
        return _compute(loops.builder, owner, [a.value, b.value])

    count = math.prod(loops.extents[dim] for dim in loops.reduced)
    x = loops.spread(loops.value(terms[0])).permute([*dims, *sorted(loops.reduced)])
    x = x.reshape((*init.shape, count))
    last = init.rank
    while count > 1:
        half, rest = divmod(count, 2)
        found = combine(x.cut(last, 0, half), x.cut(last, half, 2 * half))
        x = concatenate([found, x.cut(last, 2 * half, count)], last) if rest else found
        count = half + rest
    return combine(x.reshape(init.shape), init)


_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor")
"""Operations that combine many in any order."""
_EXTREMES = ("arith.maxui", "arith.minui")
"""Such operations of arith that are several of ttir."""


def _choice(loops: _Loops, choice: Choice, init: Array, dims: list[int]) -> Array:
    """The number that is left after all choices, beginning with `init`."""
    x = loops.value(choice.taken)
    dtype = x.dtype
    combiner = definition("maximum" if choice.largest else "minimum")
    if dtype == TRUTH:
        # As a signed number, true is -1.
        flips = not choice.without_order
        combiner = definition(
            definition("minimum" if choice.largest == flips else "maximum").on_truth
        )
    elif choice.is_float:
        x, init = _without_nan(loops, choice, x, init, dims)
    elif choice.without_order:
        x, init = (each.cast(f"u{dtype}") for each in (x, init))
    reduction = by_combiner(combiner)
    assert reduction is not None, "extremes are repeated by reductions"
    total = _over(loops, reduction.mnemonic, x, dims)
    return _create_like(total, combiner.mnemonic, total, init).cast(dtype)


def _without_nan(
    loops: _Loops, choice: Choice, x: Array, init: Array, dims: list[int]
) -> tuple[Array, Array]:
    """Numbers and a start whose extreme is what choices leave, although extremes keep NaN.

    NaN is never taken and never left, or it is taken, and left for the next number.
    """
    worst = x.fill(-math.inf if choice.largest else math.inf, ())
    if not choice.without_order:
        return x.is_nan().where(worst, x), init
    # What counts is from the number after the last NaN on, or the NaN where none follows.
    x = loops.spread(x)
    places = loops.spread(loops.places(loops.reduced))
    none = places.fill(-1, ())
    nans = x.is_nan().where(places, none)
    last = nans.max(*sorted(loops.reduced))
    limit = math.prod(loops.extents[dim] for dim in loops.reduced) - 2
    x = (places > last.minimum(limit)).where(x, worst)
    was_nan = _over(loops, "max", nans, dims) > none
    return x, (was_nan | init.is_nan()).where(worst, init)


def _position(
    loops: _Loops, owner: Operation, argument: SSAValue, init: Array, dims: list[int]
) -> Array | None:
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
    x = loops.value(number)
    if choice is not None and choice.is_float:
        lowest = x.fill(-math.inf, ())
        x = x.is_nan().where(lowest, x)
    position = _over(loops, "argmax", x, dims, init.dtype)
    start = loops.operands[best.index]
    least = identity_of(definition("maximum"), element_type(start))
    if splat_number(init.value) == 0 and splat_number(start) == least:
        return position
    return (_over(loops, "max", x, dims) > loops.array(start)).where(position, init)


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


def _product(loops: _Loops, a: SSAValue, b: SSAValue, dims: list[int]) -> Array:
    """The sum of products of two factors."""
    operands: list[tuple[Array, list[int]]] = []
    for factor in (a, b):
        used = sorted(loops.used_loops(factor))
        shape = [loops.extents[dim] for dim in used]
        operands.append((loops.value(factor).reshape(shape), used))
    (left, left_dims), (right, right_dims) = operands
    # The operand with the result's first loops comes first, as in a product of matrices.
    own = [dim for dim in dims if (dim in left_dims) != (dim in right_dims)]
    if own and own[0] in right_dims:
        left, left_dims, right, right_dims = right, right_dims, left, left_dims
    return contract(left, left_dims, right, right_dims, dims)


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
    replace(op, result.cast(dtype_of(element_type(inits[0]))).value)


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


GENERIC_RULES: dict[str, ConversionRule] = {
    "linalg.generic": _generic,
    "linalg.map": _map,
    "linalg.reduce": _reduce,
}
"""What becomes of each operation."""


# --- Convert linalg to ttir named -----------------------------------------------------------------
# What becomes of the named operations of linalg.


NamedFunction = Callable[[Operation, Sequence[Array], Array], Array]
"""What a named operation computes, of its inputs and the tensor that it begins with."""


def _named(function: NamedFunction) -> ConversionRule:
    """The rule of a named operation; those on memory or without static shapes are refused."""

    def rule(op: Operation) -> None:
        inputs, inits = inputs_and_inits(op)
        _check_tensors(op)
        for value in (*inputs, *inits):
            if is_tensor(value) or value is inits[0]:
                check_static_shape(op, value.type)
        carrier = TTIRCarrier(Builder.before(op))
        arrays = [
            array_in(carrier, value if is_tensor(value) else as_tensor(op, value))
            for value in inputs
        ]
        replace(op, function(op, arrays, array_in(carrier, inits[0])).value)

    return rule


def _create_like(like: Array, mnemonic: str, *operands: Array, **parameters: Any) -> Array:
    """The result of a definition, in the shape and type of another array."""
    x, *others = operands
    return x.create(mnemonic, *others, shape=like.shape, dtype=like.dtype, parameters=parameters)


def _elementwise(mnemonic: str) -> NamedFunction:
    def function(op: Operation, inputs: Sequence[Array], init: Array) -> Array:
        if mnemonic == "where":
            return _create_like(init, mnemonic, *inputs)
        operands = [each.cast(init.dtype) for each in inputs]
        return _create_like(init, mnemonic, *operands) if mnemonic else operands[0]

    return function


def _fill(op: Operation) -> None:
    [value, init] = op.operands
    found = constant_numbers(value)
    if found is None or not op.results:
        _named(_fill_computed)(op)
        return
    check_static_shape(op, init.type)
    replace(op, Builder.before(op).create_numbers(found, init.type))


def _fill_computed(op: Operation, inputs: Sequence[Array], init: Array) -> Array:
    return inputs[0].cast(init.dtype).broadcast(init.shape)


def _accumulate(total: Array, init: Array, combine: str = "add") -> Array:
    """A sum, added to what it began with."""
    start: object = init.value
    if combine == "add" and isinstance(start, SSAValue):
        if splat_number(cast("SSAValue", start)) == 0:
            return total
    return _create_like(init, combine, total, init)


def _contraction(a: str, b: str, result: str) -> NamedFunction:
    def function(op: Operation, inputs: Sequence[Array], init: Array) -> Array:
        left, right = (each.cast(init.dtype) for each in inputs)
        return _accumulate(contract(left, a, right, b, result), init)

    return function


def _transpose(op: Operation, inputs: Sequence[Array], init: Array) -> Array:
    return inputs[0].permute(_numbers(op, "permutation"))


def _broadcast(op: Operation, inputs: Sequence[Array], init: Array) -> Array:
    added = _numbers(op, "dimensions")
    ones = [1 if dim in added else extent for dim, extent in enumerate(init.shape)]
    return inputs[0].reshape(ones).broadcast(init.shape)


def _softmax(op: Operation, inputs: Sequence[Array], init: Array) -> Array:
    dim = cast("IntegerAttr", op.properties["dimension"]).value.data
    return _create_like(init, "softmax", *inputs, dimension=dim)


def _numbers(op: Operation, name: str, count: int = 0) -> tuple[int, ...]:
    """Numbers of a property or attribute; ones if it is not there."""
    attr = op.properties.get(name, op.attributes.get(name))
    if attr is None:
        return (1,) * count
    if isinstance(attr, DenseIntOrFPElementsAttr):
        values = tuple(int(value) for value in attr.get_values())
        return values * (count // len(values)) if count else values
    return tuple(cast("DenseArrayBase[IntegerType]", attr).iter_values())


def _dimension_text(image: str, weight: str) -> str:
    side = f"[{', '.join(image)}]"
    return f"{side}x[{', '.join(weight)}]->{side}"


def _reached(
    op: Operation, image: Array, dims: str, window: Sequence[int], result: Sequence[int]
) -> Array:
    """The part of an image that its windows reach; linalg lets the rest be any number of elements.

    A rest that is shorter than a stride is left to the operation in ttir.
    """
    count = len(window)
    strides, dilations = (_numbers(op, name, count) for name in ("strides", "dilations"))
    ends = list(image.shape)
    for place, dim in enumerate(dims):
        if dim.isdigit():
            stride = strides[int(dim)]
            reach = (window[int(dim)] - 1) * dilations[int(dim)] + 1
            if (ends[place] - reach) // stride + 1 != result[place]:
                ends[place] = (result[place] - 1) * stride + reach
    return image.slice((0,) * len(ends), ends)


def _convolve(
    op: Operation,
    image: Array,
    weight: Array,
    shape: Sequence[int],
    dims: tuple[str, str],
    groups: int = 1,
) -> Array:
    count = len(dims[0]) - 2
    extents = dict(zip(dims[1], weight.shape, strict=True))
    window = [extents[str(dim)] for dim in range(count)]
    parameters: dict[str, Any] = {
        "dimension_numbers": _dimension_text(*dims),
        "window_strides": _numbers(op, "strides", count),
        "padding": (0,) * (2 * count),
        "input_dilation": (1,) * count,
        "weight_dilation": _numbers(op, "dilations", count),
        "window_reversal": (False,) * count,
        "feature_group_count": groups,
        "batch_group_count": 1,
    }
    image = _reached(op, image, dims[0], window, shape)
    return image.create("convolution", weight, shape=shape, parameters=parameters)


def _convolution(*dims: str) -> NamedFunction:
    def function(op: Operation, inputs: Sequence[Array], init: Array) -> Array:
        image, weight = (each.cast(init.dtype) for each in inputs)
        return _accumulate(_convolve(op, image, weight, init.shape, (dims[0], dims[1])), init)

    return function


def _depthwise(image: str, weight: str) -> NamedFunction:
    def function(op: Operation, inputs: Sequence[Array], init: Array) -> Array:
        pixels, filters = (each.cast(init.dtype) for each in inputs)
        extents = dict(zip(weight, filters.shape, strict=True))
        groups = extents["c"]
        outer = groups * extents.get("m", 1)
        # Each group has one input feature: i takes the place in front of the output features.
        digits = "".join(dim for dim in weight if dim.isdigit())
        spatial = [extents[dim] for dim in digits]
        is_last = weight.index("c") > 0
        filters = filters.reshape([*spatial, 1, outer] if is_last else [outer, 1, *spatial])
        dims = image, digits + "io" if is_last else "oi" + digits
        flat = [*init.shape[:-2], outer] if "m" in weight else init.shape
        result = _convolve(op, pixels, filters, flat, dims, groups)
        return _accumulate(result.reshape(init.shape), init)

    return function


def _pooling(image: str, method: str) -> NamedFunction:
    def function(op: Operation, inputs: Sequence[Array], init: Array) -> Array:
        pixels, window = inputs
        extents = window.shape
        count = len(extents)

        def over_all(numbers: Sequence[int]) -> tuple[int, ...]:
            return tuple(numbers[int(dim)] if dim.isdigit() else 1 for dim in image)

        result = _create_like(
            init,
            "pooling",
            _reached(op, pixels.cast(init.dtype), image, extents, init.shape),
            pooling_method=method,
            window_dimensions=over_all(extents),
            window_strides=over_all(_numbers(op, "strides", count)),
            base_dilations=(1,) * len(image),
            window_dilations=over_all(_numbers(op, "dilations", count)),
            padding=(0,) * (2 * len(image)),
        )
        return _accumulate(result, init, COMBINERS[method])

    return function


NAMED_FUNCTIONS: dict[str, NamedFunction] = {
    **{f"linalg.{name}": _elementwise(definition) for name, definition in ELEMENTWISE.items()},
    **{f"linalg.{name}": _contraction(*dims) for name, dims in CONTRACTIONS.items()},
    **{f"linalg.{name}": _convolution(*dims) for name, dims in CONVOLUTIONS.items()},
    **{f"linalg.{name}": _depthwise(*dims) for name, dims in DEPTHWISE.items()},
    **{f"linalg.{name}": _pooling(*definition) for name, definition in POOLINGS.items()},
    "linalg.broadcast": _broadcast,
    "linalg.fill": _fill_computed,
    "linalg.softmax": _softmax,
    "linalg.transpose": _transpose,
}
"""What each operation computes."""
NAMED_RULES: dict[str, ConversionRule] = {
    **{name: _named(function) for name, function in NAMED_FUNCTIONS.items()},
    "linalg.fill": _fill,
}
"""What becomes of each operation."""


# --- Convert linalg to ttir tensor ----------------------------------------------------------------
# What becomes of the operations of the tensor dialect that stand around linalg.


def _reshape(op: Operation) -> None:
    builder = Builder.before(op)
    check_static_shape(op, op.operands[0].type)
    check_static_shape(op, op.results[0].type)
    replace(op, builder.reshape(op.operands[0], value_shape(op.results[0])))


def _cast(op: Operation) -> None:
    if op.operands[0].type != op.results[0].type:
        check_static_shape(op, op.results[0].type)
        check_static_shape(op, op.operands[0].type)
    replace(op, op.operands[0])


def _known(op: Operation, name: str, operands: Sequence[SSAValue]) -> tuple[int, ...]:
    """Numbers of a property, or operands that are constants where it leaves numbers open."""
    given = iter(operands)
    numbers: list[int] = []
    for value in cast("DenseArrayBase[IntegerType]", op.properties[name]).iter_values():
        found = constant_numbers(next(given)) if value == DYNAMIC_INDEX else (value,)
        if found is None:
            kind = name.removeprefix("static_")
            refuse_to_legalize(op, f"some of its {kind} are computed; supported are constants")
        numbers.append(int(found[0]))
    return tuple(numbers)


@dataclass(frozen=True)
class _Slice:
    """A part of a tensor."""

    starts: tuple[SSAValue | int, ...]
    """Numbers, or values of the program."""
    sizes: tuple[int, ...]
    steps: tuple[int, ...]

    @property
    def known_starts(self) -> tuple[int, ...] | None:
        """Where it begins; None if a place is computed."""
        known = tuple(start for start in self.starts if isinstance(start, int))
        return known if len(known) == len(self.starts) else None


def _slice(op: Operation) -> _Slice:
    """The part that an operation reads or writes."""
    groups = cast("DenseArrayBase[IntegerType]", op.properties["operandSegmentSizes"])
    offsets, sizes, strides = tuple(groups.iter_values())[-3:]
    operands = op.operands[len(op.operands) - offsets - sizes - strides :]
    return _Slice(
        _starts(op, operands[:offsets]),
        _known(op, "static_sizes", operands[offsets : offsets + sizes]),
        _known(op, "static_strides", operands[offsets + sizes :]),
    )


def _starts(op: Operation, operands: Sequence[SSAValue]) -> tuple[SSAValue | int, ...]:
    given = iter(operands)
    starts: list[SSAValue | int] = []
    for number in cast(
        "DenseArrayBase[IntegerType]", op.properties["static_offsets"]
    ).iter_values():
        if number != DYNAMIC_INDEX:
            starts.append(number)
            continue
        value = next(given)
        found = constant_numbers(value)
        starts.append(value if found is None else int(found[0]))
    return tuple(starts)


def _pad(op: Operation) -> None:
    builder = Builder.before(op)
    check_static_shape(op, op.results[0].type)
    groups = cast("DenseArrayBase[IntegerType]", op.properties["operandSegmentSizes"])
    _, lows, highs = groups.iter_values()
    low = _known(op, "static_low", op.operands[1 : 1 + lows])
    high = _known(op, "static_high", op.operands[1 + lows : 1 + lows + highs])
    yielded = op.regions[0].block.last_op
    assert yielded is not None, "a body ends in tensor.yield"
    found = constant_numbers(yielded.operands[0])
    if found is None:
        refuse_to_legalize(op, "what it pads with is computed; supported are constants")
    padding = tuple(count for pair in zip(low, high, strict=True) for count in pair)
    if not any(padding):
        replace(op, op.operands[0])
        return
    replace(
        op,
        builder.create(
            "pad", op.operands[:1], op.results[0].type, padding=padding, value=float(found[0])
        ),
    )


def _extract_slice(op: Operation) -> None:
    builder = Builder.before(op)
    check_static_shape(op, op.operands[0].type)
    wanted = _slice(op)
    bounds = zip(wanted.sizes, wanted.steps, strict=True)
    spans = [(size - 1) * step + 1 if size else 0 for size, step in bounds]
    source, starts = op.operands[0], wanted.known_starts
    if starts is None:
        begins = places_as_tensor(op, wanted.starts)
        source = builder.create_inferred("slice_dynamic", source, begins, sizes=tuple(spans))
        starts = (0,) * len(spans)
    ends = [start + span for start, span in zip(starts, spans, strict=True)]
    part = builder.slice(source, starts, ends, wanted.steps)
    # A slice may drop dimensions of extent 1.
    replace(op, builder.reshape(part, value_shape(op.results[0])))


def _insert_slice(op: Operation) -> None:
    builder = Builder.before(op)
    part, whole = op.operands[:2]
    check_static_shape(op, whole.type)
    written = _slice(op)
    if any(step != 1 for step in written.steps):
        refuse_to_legalize(op, f"its strides are {list(written.steps)}; supported are strides of 1")
    part = builder.reshape(part, written.sizes)
    starts = written.known_starts
    if starts is not None:
        replace(op, _insert(builder, part, whole, starts, 0))
        return
    begins = places_as_tensor(op, written.starts)
    replace(op, builder.create_inferred("slice_write", whole, part, begins))


def _insert_element(op: Operation) -> None:
    """A tensor with one element replaced."""
    number, whole, *places = op.operands
    check_static_shape(op, whole.type)
    builder = Builder.before(op)
    element = builder.reshape(as_tensor(op, number), (1,) * len(places))
    if not places:
        replace(op, element)
        return
    known = [constant_numbers(place) for place in places]
    if all(found is not None for found in known):
        starts = [int(found[0]) for found in known if found is not None]
        replace(op, _insert(builder, element, whole, starts, 0))
        return
    begins = places_as_tensor(op, places)
    replace(op, builder.create_inferred("slice_write", whole, element, begins))


def _insert(
    builder: Builder, part: SSAValue, whole: SSAValue, starts: Sequence[int], dim: int
) -> SSAValue:
    """A tensor with a part of it, which is as large in front of dimension `dim`, replaced."""
    extents = value_shape(whole)
    if value_shape(part) == extents:
        return part
    begin, end = starts[dim], starts[dim] + value_shape(part)[dim]

    def cut(first: int, last: int) -> SSAValue:
        begins = [first if d == dim else 0 for d in range(len(extents))]
        ends = [last if d == dim else extent for d, extent in enumerate(extents)]
        return builder.slice(whole, begins, ends)

    inner = _insert(builder, part, cut(begin, end), starts, dim + 1)
    outer = [cut(0, begin)] if begin else []
    rest = [cut(end, extents[dim])] if end < extents[dim] else []
    return builder.concat([*outer, inner, *rest], dim)


def _concat(op: Operation) -> None:
    builder = Builder.before(op)
    dim = cast("IntegerAttr", op.properties["dim"]).value.data
    replace(op, builder.create("concat", op.operands, op.results[0].type, dim=dim))


def _splat(op: Operation) -> None:
    builder = Builder.before(op)
    check_static_shape(op, op.results[0].type)
    shape = value_shape(op.results[0])
    scalar = as_tensor(op, op.operands[0])
    replace(op, builder.broadcast(builder.reshape(scalar, (1,) * len(shape)), shape))


def _from_elements(op: Operation) -> None:
    builder = Builder.before(op)
    type_ = cast("TensorType[Attribute]", op.results[0].type)
    check_static_shape(op, op.results[0].type)
    shape = type_.get_shape()
    element = number_type(element_type(op.results[0]))
    found = [constant_numbers(value) for value in op.operands]
    if all(numbers is not None for numbers in found):
        numbers = [number for numbers in found if numbers is not None for number in numbers]
        replace(op, builder.create_numbers(numbers, tensor_of(element, shape)))
        return
    parts = [builder.reshape(as_tensor(op, value), (1,)) for value in op.operands]
    replace(op, builder.reshape(builder.concat(parts, 0), shape))


TENSOR_RULES: dict[str, ConversionRule] = {
    "tensor.cast": _cast,
    "tensor.collapse_shape": _reshape,
    "tensor.concat": _concat,
    "tensor.expand_shape": _reshape,
    "tensor.extract_slice": _extract_slice,
    "tensor.from_elements": _from_elements,
    "tensor.insert": _insert_element,
    "tensor.insert_slice": _insert_slice,
    "tensor.pad": _pad,
    "tensor.reshape": _reshape,
    "tensor.splat": _splat,
}
"""What becomes of each operation."""


# --- Convert linalg to ttir -----------------------------------------------------------------------
# Turn operations of linalg, tensor, arith and math on tensors into ttir operations.
#
# Named operations are converted by what they compute, `linalg.generic`, `map` and `reduce` by their
# body: elementwise computations, reductions, and sums of products, which become products of
# matrices.
#
# Before:
#
#     func.func @layer(%x: tensor<33x70xf32>, %w: tensor<70x5xf32>) -> tensor<33x5xf32> {
#       %zero = arith.constant 0.0 : f32
#       %0 = tensor.empty() : tensor<33x5xf32>
#       %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<33x5xf32>) -> tensor<33x5xf32>
#       %2 = linalg.matmul ins(%x, %w : tensor<33x70xf32>, tensor<70x5xf32>)
#           outs(%1 : tensor<33x5xf32>) -> tensor<33x5xf32>
#       %3 = linalg.exp ins(%2 : tensor<33x5xf32>) outs(%0 : tensor<33x5xf32>) -> tensor<33x5xf32>
#       return %3 : tensor<33x5xf32>
#     }
#
# After:
#
#     #any_device_tile = #tt.operand_constraint<dram|l1|tile|...>
#     module {
#       func.func @layer(%arg0: tensor<33x70xf32>, %arg1: tensor<70x5xf32>) -> tensor<33x5xf32> {
#         %0 = tensor.empty() : tensor<33x5xf32>
#         %1 = "ttir.matmul"(%arg0, %arg1, %0) <{operand_constraints =
#             [#any_device_tile, #any_device_tile, #any_device_tile]}>
#             : (tensor<33x70xf32>, tensor<70x5xf32>, tensor<33x5xf32>) -> tensor<33x5xf32>
#         %2 = tensor.empty() : tensor<33x5xf32>
#         %3 = "ttir.exp"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>,
#             operand_constraints = [#any_device_tile, #any_device_tile]}>
#             : (tensor<33x5xf32>, tensor<33x5xf32>) -> tensor<33x5xf32>
#         return %3 : tensor<33x5xf32>
#       }
#     }
#
# Requires: static shapes; numbers outside of tensors are constants or computed from constants and
# elements of tensors. Ensures: no operation of linalg is left, nor one of tensor, arith or math
# with a tensor as result, but for `tensor.empty`; constants and numbers that are not used any more
# are gone. Options: none. Not done here: operations on memory, computed shapes, convolutions as
# `linalg.generic`. Operations of other dialects stay as they are.

RULES: Mapping[str, ConversionRule] = {**NAMED_RULES, **GENERIC_RULES, **TENSOR_RULES}
"""What becomes of each operation of linalg and tensor that can be converted."""

_NUMBERS = ("arith.", "math.", "tensor.extract", "tensor.empty", "ttir.constant")


@dataclass(frozen=True)
class ConvertLinalgToTTIRPass(ModulePass):
    """Turn operations of linalg, tensor, arith and math on tensors into ttir operations."""

    name = "convert-linalg-to-ttir"
    title = "ConvertLinalgToTTIR"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert everything inside the module, and erase what nobody uses then."""
        convert_inside(module, RULES, _convert_other)
        erase_unused(op for op in module.walk() if op.name.startswith(_NUMBERS))
        warn_of_narrowing(module)


def _convert_other(op: Operation) -> None:
    """Convert arithmetic on tensors; leave numbers and operations of other dialects."""
    gives_tensors = any(isinstance(type, TensorType) for type in op.result_types)
    if op.name.startswith(("arith.", "math.")) and gives_tensors:
        convert_tensor_arithmetic(op)
    elif op.name.startswith(("linalg.", "tensor.")) and op.name != "tensor.extract":
        taken = ", ".join(sorted(RULES))
        refuse_to_legalize(
            op, f"{ConvertLinalgToTTIRPass.name} takes {taken}, and operations of arith and math"
        )
