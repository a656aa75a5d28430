"""Leave out operations of stablehlo that change nothing, and merge those that follow each other.

Before:

    func.func @main(%a: tensor<70xf32>) -> tensor<33x70xf32> {
      %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<70xf32>) -> tensor<1x70xf32>
      %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x70xf32>) -> tensor<33x70xf32>
      %2 = stablehlo.convert %1 : tensor<33x70xf32>
      return %2 : tensor<33x70xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<70xf32>) -> tensor<33x70xf32> {
        %0 = stablehlo.broadcast_in_dim %arg0, dims = [1]
            : (tensor<70xf32>) -> tensor<33x70xf32>
        return %0 : tensor<33x70xf32>
      }
    }

Requires: nothing.
Ensures: constants are second operands where the order of operands does not matter, and stand at
the top of their function, equal ones once; unused operations without effects are gone.
Options: none.
Not done here: constants are not computed with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    CallSiteLoc,
    ComplexType,
    FusedLoc,
    IntegerAttr,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects.stablehlo.form import integer, integers
from ttmlir.ir.constants import constant_elements, splat_number
from ttmlir.ir.rewriting import clean_up, erase, insert_before, replace
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier, i64_array
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.mlir.reporting import fused_location
from ttmlir.passes.core.base import OperationPass
from ttmlir.passes.general.inline import InlinePass
from ttmlir.passes.shardy.spreading.flow import settle_names

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import LocationAttr
    from xdsl.dialects.func import FuncOp

    from ttmlir.dialects.stablehlo.attrs import (
        ComparisonDirectionAttr,
        GatherDimensionNumbersAttr,
    )


@dataclass(frozen=True)
class StableHLOAggressiveSimplificationPass(OperationPass):
    """Leave out and merge operations of stablehlo."""

    name = "stablehlo-aggressive-simplification"
    title = "StablehloAggressiveSimplificationPass"

    def apply(self, ctx: Context, op: Operation) -> None:
        """Simplify everything inside `op`."""
        clean_up_stablehlo(op)
        if _Simplifier().run(op):
            clean_up_stablehlo(op)


class InlineNamedPass(InlinePass):
    """Inline calls and the named computations of Shardy, whose edges are left out."""

    def prepare(self, function: FuncOp) -> None:
        """Inline named computations."""
        settle_names(function, self.locate)


class InlineStableHLOPass(InlineNamedPass):
    """Inline calls as MLIR of 2026 does, where constants stand at the top of each function."""

    def locate(self, location: LocationAttr, call: LocationAttr) -> LocationAttr:
        """The innermost location first, and calls in the order in which they return."""
        if isinstance(location, CallSiteLoc):
            caller = cast("LocationAttr", location.caller)
            return CallSiteLoc(location.callee, self.locate(caller, call))
        return CallSiteLoc(location, call)

    def prepare(self, function: FuncOp) -> None:
        """Move constants to the top, and leave away vectors of one index."""
        super().prepare(function)
        for op in [op for op in function.walk() if op.name == "stablehlo.gather"]:
            if _is_static(op) and (found := _gather(op)) is not None:
                replace(op, *found)
        clean_up_stablehlo(function)


class MergeStableHLOPass(InlineStableHLOPass):
    """Inline, where vectors of one index stay."""

    def prepare(self, function: FuncOp) -> None:
        """Move constants to the top."""
        clean_up_stablehlo(function)


def clean_up_stablehlo(root: Operation) -> None:
    """Move constants to the top, merge equal ones, and drop what is not used."""
    clean_up(
        root,
        may_vanish=_may_vanish,
        is_constant=_is_constant_op,
        forgets_locations=True,
    )


def _is_constant_op(op: Operation) -> bool:
    return op.name == "stablehlo.constant"


def _may_vanish(op: Operation) -> bool:
    return op.name.startswith(("stablehlo.", "chlo.")) and op.name not in _WITH_EFFECTS


_WITH_EFFECTS = {
    f"stablehlo.{name}"
    for name in (
        *("case", "custom_call", "if", "infeed", "outfeed", "recv", "return", "rng", "send"),
        "while",
    )
}
"""Operations that may do more than give results."""


class _Simplifier:
    """Applies rules until none applies, the last operations first, in the order of MLIR."""

    def __init__(self) -> None:
        self._waiting: list[Operation] = []
        self._is_waiting: set[int] = set()

    def run(self, root: Operation) -> bool:
        """Simplify everything inside `root`; true if anything changed."""
        for op in root.walk(region_first=True):
            self._add(op)
        changed = False
        while self._waiting:
            op = self._waiting.pop()
            self._is_waiting.discard(id(op))
            if op.parent is None:
                continue
            if _is_unused(op):
                self._erase(op)
                changed = True
                continue
            rule = _RULES.get(op.name, _keep)
            if not op.name.startswith("stablehlo.") or not _is_static(op):
                continue
            before = op.prev_op
            found = _empty(op) or rule(op)
            if found is not None:
                self._replace(op, found, before)
                changed = True
        return changed

    def _add(self, op: Operation) -> None:
        if id(op) not in self._is_waiting:
            self._is_waiting.add(id(op))
            self._waiting.append(op)

    def _replace(self, op: Operation, values: Sequence[SSAValue], before: Operation | None) -> None:
        made: list[Operation] = []
        new = op.prev_op
        while new is not None and new is not before:
            made.append(new)
            new = new.prev_op
        for each in reversed(made):
            self._add(each)
        users = [use.operation for result in op.results for use in result.uses]
        for result, value in zip(op.results, values, strict=True):
            result.replace_all_uses_with(value)
        for user in users:
            self._add(user)
        self._erase(op)

    def _erase(self, op: Operation) -> None:
        makers = [value.owner for value in op.operands]
        erase(op)
        for maker in makers:
            if isinstance(maker, Operation):
                # A rule may have waited for the only use of a value.
                uses = [use.operation for result in maker.results for use in result.uses]
                for each in (maker, *(uses if len(uses) == 1 else ())):
                    self._add(each)


def _is_unused(op: Operation) -> bool:
    return (
        bool(op.results)
        and _may_vanish(op)
        and all(result.first_use is None for result in op.results)
    )


def _is_static(op: Operation) -> bool:
    return all(
        isinstance(type_, TensorType) and cast("TensorType[Attribute]", type_).has_static_shape()
        for type_ in (*op.operand_types, *op.result_types)
    )


Found = Sequence[SSAValue] | None
"""What replaces the results of an operation; None if it stays as it is."""


def _keep(op: Operation) -> Found:
    return None


def _empty(op: Operation) -> Found:
    """A tensor without elements is a constant."""
    if len(op.results) != 1 or _is_constant_op(op) or op.regions:
        return None
    if 0 not in value_shape(op.results[0]):
        return None
    carrier = StableHLOCarrier.before(op)
    return [carrier.make_constant(op.results[0].type, [])]


def _owner(value: SSAValue, name: str) -> Operation | None:
    """The operation of stablehlo that makes a value, if it is of this name."""
    owner = value.owner
    return owner if isinstance(owner, Operation) and owner.name == f"stablehlo.{name}" else None


def _fused(*ops: Operation) -> LocationAttr:
    """The locations of operations that become one."""
    return fused_location([part for op in ops for part in _parts_of(op.location)])


def _parts_of(location: LocationAttr) -> Sequence[LocationAttr]:
    """The locations that were fused, or the location itself."""
    if not isinstance(location, FusedLoc):
        return [location]
    return cast("ArrayAttr[LocationAttr]", location.locations).data


def _make(
    op: Operation, name: str, operands: Sequence[SSAValue], *merged: Operation, **more: Attribute
) -> list[SSAValue]:
    """The result of a new operation in place of one, and of others that it is merged with."""
    carrier = StableHLOCarrier.before(op)
    carrier.location = _fused(op, *merged)
    return [carrier.make_one(name, operands, op.results[0].type, **more)]


# -- operands ----------------------------------------------------------------------------------


def _is_constant(value: SSAValue) -> bool:
    return _owner(value, "constant") is not None


def _number(value: SSAValue) -> float | None:
    return splat_number(value) if constant_elements(value) is not None else None


def _commute(op: Operation) -> Found:
    """A constant is the second operand."""
    first, second = op.operands
    if not _is_constant(first) or _is_constant(second):
        return None
    return _make(op, op.name.partition(".")[2], [second, first], cast("Operation", first.owner))


def _without_neutral(neutral: float) -> Callable[[Operation], Found]:
    def rule(op: Operation) -> Found:
        if (commuted := _commute(op)) is not None:
            return commuted
        return [op.operands[0]] if _number(op.operands[1]) == neutral else None

    return rule


def _subtract(op: Operation) -> Found:
    return [op.operands[0]] if _number(op.operands[1]) == 0 else None


def _select(op: Operation) -> Found:
    predicate, yes, no = op.operands
    if yes is no:
        return [yes]
    number = _number(predicate)
    if number is not None:
        return [yes if number else no] if op.results[0].type == yes.type else None
    inverted = _owner(predicate, "not")
    if inverted is not None:
        return _make(op, "select", [inverted.operands[0], no, yes], inverted)
    return None


_REVERSED = {"EQ": "EQ", "NE": "NE", "LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE"}
"""Directions of comparisons whose operands change places."""
_TRUE_OF_EQUALS = {"EQ": True, "GE": True, "LE": True, "NE": False, "GT": False, "LT": False}


def _compare(op: Operation) -> Found:
    """A constant is the second operand; integers are equal to themselves."""
    first, second = op.operands
    direction = cast("ComparisonDirectionAttr", op.properties["comparison_direction"])
    if first is second and not isinstance(element_type(first), AnyFloat | ComplexType):
        carrier = StableHLOCarrier.before(op)
        return [carrier.make_constant(op.results[0].type, [_TRUE_OF_EQUALS[direction.data]])]
    is_integer = isinstance(element_type(first), IntegerType)
    if not is_integer or not _is_constant(first) or _is_constant(second):
        return None
    more = {**op.properties, "comparison_direction": type(direction)(_REVERSED[direction.data])}
    return _make(op, "compare", [second, first], **more)


# -- movement ----------------------------------------------------------------------------------


def _is_same(op: Operation) -> bool:
    return op.operands[0].type == op.results[0].type


def _broadcast_in_dim(op: Operation) -> Found:
    operand = op.operands[0]
    dims = integers(op, "broadcast_dimensions")
    ranked = tuple(range(len(dims)))
    if _is_same(op) and dims == ranked:
        return [operand]
    inner = _owner(operand, "broadcast_in_dim")
    if inner is not None:
        merged = i64_array([dims[dim] for dim in integers(inner, "broadcast_dimensions")])
        operands = inner.operands
        return _make(op, "broadcast_in_dim", operands, inner, broadcast_dimensions=merged)
    own, shape = value_shape(operand), value_shape(op.results[0])
    if math.prod(own) == math.prod(shape):
        if tuple(sorted(dims)) == dims:
            return _make(op, "reshape", [operand])
        if len(own) == len(shape):
            order = sorted(range(len(dims)), key=lambda number: dims[number])
            return _make(op, "transpose", [operand], permutation=i64_array(order))
    return None


def _broadcast(op: Operation) -> Found:
    """The older form: all dimensions follow the new ones."""
    rank, own = (len(value_shape(value)) for value in (op.results[0], op.operands[0]))
    dims = i64_array(range(rank - own, rank))
    return _make(op, "broadcast_in_dim", op.operands, broadcast_dimensions=dims)


def _reshape(op: Operation) -> Found:
    if _is_same(op):
        return [op.operands[0]]
    inner = _owner(op.operands[0], "reshape")
    return None if inner is None else _make(op, "reshape", inner.operands, inner)


def _part(which: int) -> Callable[[Operation], Found]:
    """A rule for a part of a complex number, which is there when the number was made of both."""

    def rule(op: Operation) -> Found:
        made = _owner(op.operands[0], "complex")
        return None if made is None else [made.operands[which]]

    return rule


def _transpose(op: Operation) -> Found:
    """Where only dimensions of one element move, the elements stay in order."""
    order = integers(op, "permutation")
    if order == tuple(range(len(order))):
        return [op.operands[0]]
    shape = value_shape(op.operands[0])
    moved = [dim for dim in order if shape[dim] != 1]
    return _make(op, "reshape", op.operands) if moved == sorted(moved) else None


def _slice(op: Operation) -> Found:
    """A slice of parts that were put together is one of those that it meets."""
    if _is_same(op):
        return [op.operands[0]]
    inner = _owner(op.operands[0], "concatenate")
    if inner is None:
        return None
    dim = integer(inner, "dimension")
    starts, limits = [*integers(op, "start_indices")], [*integers(op, "limit_indices")]
    first, met, offset = 0, list[SSAValue](), 0
    for part in inner.operands:
        end = first + value_shape(part)[dim]
        if first < limits[dim] and end > starts[dim]:
            offset = offset if met else first
            met.append(part)
        first = end
    is_shared = len(met) > 1 and len({*inner.results[0].uses}) > 1
    if not met or len(met) == len(inner.operands) or is_shared:
        return None
    starts[dim] -= offset
    limits[dim] -= offset
    carrier = StableHLOCarrier.before(op)
    value = met[0]
    if len(met) > 1:
        shape = [*value_shape(value)]
        shape[dim] = sum(value_shape(part)[dim] for part in met)
        type_ = TensorType(element_type(value), shape)
        value = carrier.make_one("concatenate", met, type_, dimension=inner.properties["dimension"])
    bounds = {"start_indices": i64_array(starts), "limit_indices": i64_array(limits)}
    return _make(op, "slice", [value], **bounds, strides=op.properties["strides"])


def _case(op: Operation) -> Found:
    """The branch that a constant chooses takes the place of all."""
    number = _number(op.operands[0])
    last = len(op.regions) - 1
    if number is None and last:
        return None
    chosen = last if number is None or not 0 <= number <= last else int(number)
    block = op.regions[chosen].block
    *operations, end = block.ops
    for inner in operations:
        inner.detach()
        insert_before(op, inner)
    return [*end.operands]


def _reduce(op: Operation) -> Found:
    """A reduction along no dimension changes nothing."""
    return None if integers(op, "dimensions") else [*op.operands[: len(op.results)]]


def _gather(op: Operation) -> Found:
    """Vectors of one index are left away."""
    numbers = cast("GatherDimensionNumbersAttr", op.properties["dimension_numbers"])
    inner = _owner(op.operands[1], "reshape")
    if inner is None:
        return None
    shape, own = value_shape(op.operands[1]), value_shape(inner.operands[0])
    if numbers.index_vector_dim != len(shape) - 1 or shape != (*own, 1):
        return None
    return _make(op, "gather", [op.operands[0], inner.operands[0]], **op.properties)


def _concatenate(op: Operation) -> Found:
    dim = integer(op, "dimension")
    if len(op.operands) == 1:
        return [op.operands[0]]
    kept = [each for each in op.operands if value_shape(each)[dim]]
    parts = [part for each in kept for part in _parts(each, dim)]
    if parts and len(parts) != len(op.operands):
        return _make(op, "concatenate", parts, dimension=op.properties["dimension"])
    return None


def _parts(value: SSAValue, dim: int) -> Sequence[SSAValue]:
    """What a value was put together from along a dimension, or the value itself."""
    inner = _owner(value, "concatenate")
    return inner.operands if inner is not None and integer(inner, "dimension") == dim else [value]


def _iota(op: Operation) -> Found:
    """Numbers along one of several dimensions are those of one, repeated; a single one is 0."""
    dim = integer(op, "iota_dimension")
    shape = value_shape(op.results[0])
    carrier = StableHLOCarrier.before(op)
    if shape[dim] == 1:
        return [carrier.make_constant(op.results[0].type, [0])]
    if len(shape) < 2:
        return None
    type_ = TensorType(element_type(op.results[0]), (shape[dim],))
    numbers = carrier.make_one("iota", [], type_, iota_dimension=IntegerAttr(0, i64))
    return [carrier.broadcast(numbers, shape, (dim,))]


def _pad(op: Operation) -> Found:
    return [op.operands[0]] if _is_same(op) and not any(integers(op, "edge_padding_low")) else None


def _convert(op: Operation) -> Found:
    return [op.operands[0]] if _is_same(op) else None


_RULES: dict[str, Callable[[Operation], Found]] = {
    f"stablehlo.{name}": rule
    for name, rule in {
        "add": _without_neutral(0),
        "and": _commute,
        "broadcast": _broadcast,
        "broadcast_in_dim": _broadcast_in_dim,
        "compare": _compare,
        "case": _case,
        "concatenate": _concatenate,
        "convert": _convert,
        "imag": _part(1),
        "iota": _iota,
        "maximum": _commute,
        "minimum": _commute,
        "multiply": _without_neutral(1),
        "or": _commute,
        "pad": _pad,
        "reduce": _reduce,
        "real": _part(0),
        "reshape": _reshape,
        "select": _select,
        "slice": _slice,
        "subtract": _subtract,
        "transpose": _transpose,
        "xor": _commute,
    }.items()
}
"""Rules by the name of the operation."""
