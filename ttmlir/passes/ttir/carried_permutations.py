"""Carries permutations past operations that work in any order of the dimensions.

Networks of convolutions are written with features in front of the pixels, and the convolutions of
ttnn take them behind: each stands between two permutations. Where all that lies between
convolutions can be computed in their order, the permutations meet and go.

A *group* is what such operations connect: one takes its operand from another, or both from the same
value, and all tensors have one rank. All of it is computed in another order of the dimensions if
fewer tiles are moved then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from xdsl.dialects.tensor import EmptyOp

from ttmlir.dialects import ttir
from ttmlir.dialects.ttir.families import TTIRRowOp
from ttmlir.ir.rewriting import erase_unused
from ttmlir.ir.tensor_types import tensor_like, value_shape
from ttmlir.optable.row import Family
from ttmlir.passes.ttir.move_chains import Chain, Form
from ttmlir.passes.ttir.ttir_constant_folding import permutation_of

if TYPE_CHECKING:
    from xdsl.ir import Block, Operation, SSAValue

    from ttmlir.dialects.definition.row_ops import ParameterValue
    from ttmlir.ir.builder import Builder

Order = tuple[int, ...]
Parameters = dict[str, "ParameterValue"]

_ORDERS = 8
"""How many orders of dimensions are tried: the most frequent ones."""


@dataclass(frozen=True)
class Rewriting:
    """What the pass that carries permutations knows of operations."""

    is_plain: Callable[[TTIRRowOp], bool]
    """True if nothing is said of the layouts of its tensors."""
    builder: Callable[[TTIRRowOp], Builder]
    """What creates operations in place of one."""


def carry_permutations(block: Block, rewriting: Rewriting) -> None:
    """Compute groups of operations of a block in the orders that save moves."""
    _share_equal_permutations(block, rewriting)
    for order in _frequent_orders(block, rewriting):
        for group in _find_groups(block, order, rewriting):
            if group.gain() > 0:
                group.rewrite()


def _share_equal_permutations(block: Block, rewriting: Rewriting) -> None:
    """Permute a value once where several operations take it in the same order."""
    known: dict[tuple[SSAValue, Order], SSAValue] = {}
    superfluous: list[TTIRRowOp] = []
    for op in block.ops:
        if isinstance(op, TTIRRowOp) and _is_permutation(op) and rewriting.is_plain(op):
            [result] = op.results
            first = known.setdefault((op.operands[0], permutation_of(op)), result)
            if first is not result and first.type == result.type:
                result.replace_all_uses_with(first)
                superfluous.append(op)
    _erase_with_destinations(superfluous)


def _erase_with_destinations(ops: Iterable[TTIRRowOp]) -> None:
    """Erase operations that nobody uses, and the tensors that only they wrote to."""
    ops = list(ops)
    empties = [op.output.owner for op in ops if isinstance(op.output.owner, EmptyOp)]
    erase_unused(ops)
    erase_unused(dict.fromkeys(empties))


def _frequent_orders(block: Block, rewriting: Rewriting) -> list[Order]:
    counts: Counter[Order] = Counter()
    for op in block.ops:
        if isinstance(op, TTIRRowOp) and _is_permutation(op) and rewriting.is_plain(op):
            order = permutation_of(op)
            counts.update({order, _invert(order)})
    return [order for order, _ in counts.most_common(_ORDERS)]


def _is_permutation(op: Operation) -> bool:
    return isinstance(op, TTIRRowOp) and op.ROW.mnemonic in ("transpose", "permute")


def _invert(order: Order) -> Order:
    return tuple(order.index(dim) for dim in range(len(order)))


def _permuted(numbers: Sequence[int], order: Order) -> tuple[int, ...]:
    return tuple(numbers[dim] for dim in order)


def _form(shape: Sequence[int], order: Order) -> Form:
    chain = Chain(tuple(shape))
    chain.permute(order)
    return chain.form


def _cost(shape: Sequence[int], order: Order) -> float:
    """What it takes to permute a tensor."""
    return _form(shape, order).cost


def _permute(builder: Builder, value: SSAValue, order: Order) -> SSAValue:
    """The value in another order; a reshape is enough where only extents of 1 are moved."""
    shape = value_shape(value)
    if _form(shape, order).is_reshape:
        return builder.reshape(value, _permuted(shape, order))
    return builder.permute(value, order)


# -- operations in another order -------------------------------------------------------------------


def _keep(op: TTIRRowOp, order: Order) -> Parameters:
    return op.parameters()


def _move_dimension(name: str) -> Callable[[TTIRRowOp, Order], Parameters]:
    def move(op: TTIRRowOp, order: Order) -> Parameters:
        parameters = op.parameters()
        return parameters | {name: order.index(cast("int", parameters[name]) % len(order))}

    return move


def _move_lists(*names: str) -> Callable[[TTIRRowOp, Order], Parameters]:
    def move(op: TTIRRowOp, order: Order) -> Parameters:
        parameters = op.parameters()
        lists = {name: cast("Sequence[int]", parameters[name]) for name in names}
        return parameters | {name: _permuted(numbers, order) for name, numbers in lists.items()}

    return move


def _move_margins(op: TTIRRowOp, order: Order) -> Parameters:
    parameters = op.parameters()
    padding = cast("Sequence[int]", parameters["padding"])
    moved = tuple(n for dim in order for n in padding[2 * dim : 2 * dim + 2])
    return parameters | {"padding": moved}


def _reduce(op: TTIRRowOp, order: Order) -> Parameters | None:
    """The dimensions that are summed; those that are left have to stay in their order."""
    parameters = op.parameters()
    if "dim_arg" not in parameters:
        return None
    dims = {dim % len(order) for dim in cast("Sequence[int]", parameters["dim_arg"])}
    left = [dim for dim in order if dim not in dims]
    if not parameters["keep_dim"] and left != sorted(left):
        return None
    if op.ROW.mnemonic == "argmax" and len(dims) > 1:
        return None
    return parameters | {"dim_arg": tuple(sorted(map(order.index, dims)))}


_IN_ORDER: dict[str, Callable[[TTIRRowOp, Order], Parameters | None]] = {
    "concat": _move_dimension("dim"),
    "cumsum": _move_dimension("dim"),
    "softmax": _move_dimension("dimension"),
    "batch_norm_inference": _move_dimension("dimension"),
    "slice": _move_lists("begins", "ends", "step"),
    "repeat": _move_lists("repeat_dimensions"),
    "pad": _move_margins,
}
"""The parameters of operations whose dimensions are in another order, besides those of families."""


def _parameters_in(op: TTIRRowOp, order: Order) -> Parameters | None:
    """The parameters with which an operation does the same in an order; None if it cannot."""
    if op.ROW.family.is_elementwise:
        return _keep(op, order)
    if op.ROW.family is Family.REDUCTION:
        return _reduce(op, order)
    move = _IN_ORDER.get(op.ROW.mnemonic)
    return None if move is None else move(op, order)


def _ranked(values: Sequence[SSAValue], rank: int) -> list[SSAValue]:
    return [value for value in values if len(value_shape(value)) == rank]


def _ordered(op: TTIRRowOp) -> Sequence[SSAValue]:
    """The operands whose dimensions are those of the operation; numbers have none."""
    if op.ROW.mnemonic == "batch_norm_inference":
        return op.inputs[:1]
    return [value for value in op.inputs if value_shape(value)]


def _fits(op: TTIRRowOp, order: Order) -> bool:
    """True if the operands that are to be permuted have the rank, and the others need not be."""
    if not isinstance(op.inits[0].owner, EmptyOp):
        return False
    ranks = {len(value_shape(value)) for value in _ordered(op)}
    # Operands of fewer dimensions are repeated along those in front.
    return max(ranks, default=0) == len(order) and (len(ranks) == 1 or op.ROW.family.is_elementwise)


# -- groups ----------------------------------------------------------------------------------------


@dataclass
class _Group:
    """Operations that are computed in another order together, in the order of the block."""

    order: Order
    rewriting: Rewriting
    members: dict[TTIRRowOp, Parameters] = field(default_factory=dict["TTIRRowOp", Parameters])

    @property
    def rank(self) -> int:
        """How many dimensions the tensors have."""
        return len(self.order)

    def gain(self) -> float:
        """How many moved tiles it saves."""
        back = _invert(self.order)
        gain = 0.0
        for value in dict.fromkeys(v for op in self.members for v in _ordered(op)):
            owner, shape = value.owner, value_shape(value)
            if owner in self.members or isinstance(owner, ttir.ConstantOp):
                continue
            if len(shape) < self.rank:
                gain -= _cost(self._widen(shape), self.order)
            elif not self._is_permuted_by(value, back):
                gain -= _cost(shape, self.order)
            elif not self._is_used_outside(value):
                gain += _cost(value_shape(cast("TTIRRowOp", owner).operands[0]), back)
        for op in self.members:
            for result in _ranked(op.results, self.rank):
                gain += sum(_cost(value_shape(result), self.order) for _ in self._undone(result))
                if self._is_used_outside(result):
                    gain -= _cost(_permuted(value_shape(result), self.order), back)
        return gain

    def _is_permuted_by(self, value: SSAValue, order: Order) -> bool:
        owner = value.owner
        return (
            isinstance(owner, TTIRRowOp)
            and _is_permutation(owner)
            and self.rewriting.is_plain(owner)
            and permutation_of(owner) == order
        )

    def _undone(self, value: SSAValue) -> list[TTIRRowOp]:
        """The permutations that put a value in the order of the group."""
        users = (use.operation for use in value.uses)
        return [
            user
            for user in users
            if isinstance(user, TTIRRowOp) and self._is_permuted_by(user.results[0], self.order)
        ]

    def _is_used_outside(self, value: SSAValue) -> bool:
        """True if somebody takes the value who is neither a member nor undoes its order."""
        undone = self._undone(value)
        return any(
            use.operation not in self.members and use.operation not in undone for use in value.uses
        )

    def rewrite(self) -> None:
        """Replace the members."""
        back = _invert(self.order)
        moved: dict[SSAValue, SSAValue] = {}
        for op, parameters in self.members.items():
            builder = self.rewriting.builder(op)
            ordered = _ordered(op)
            operands = [
                self._take(value, moved, builder) if value in ordered else value
                for value in op.inputs
            ]
            [result] = op.results
            if len(value_shape(result)) != self.rank:
                new = builder.create(op.ROW.mnemonic, operands, result.type, **parameters)
                result.replace_all_uses_with(new)
                continue
            type_ = tensor_like(result, _permuted(value_shape(result), self.order))
            new = moved[result] = builder.create(op.ROW.mnemonic, operands, type_, **parameters)
            undone = self._undone(result)
            for permutation in undone:
                permutation.results[0].replace_all_uses_with(new)
            _erase_with_destinations(undone)
            if self._is_used_outside(result):
                again = _permute(builder, new, back)
                result.replace_uses_with_if(again, lambda use: use.operation not in self.members)
        inputs = [value.owner for op in self.members for value in op.inputs]
        before = [
            owner for owner in inputs if isinstance(owner, TTIRRowOp) and _is_permutation(owner)
        ]
        _erase_with_destinations(dict.fromkeys([*before, *self.members]))

    def _widen(self, shape: Sequence[int]) -> tuple[int, ...]:
        return (1,) * (self.rank - len(shape)) + tuple(shape)

    def _take(self, value: SSAValue, moved: dict[SSAValue, SSAValue], builder: Builder) -> SSAValue:
        """A value in the order of the group."""
        if value not in moved:
            owner = value.owner
            if self._is_permuted_by(value, _invert(self.order)):
                moved[value] = cast("TTIRRowOp", owner).operands[0]
            else:
                widened = builder.reshape(value, self._widen(value_shape(value)))
                moved[value] = _permute(builder, widened, self.order)
        return moved[value]


def _find_groups(block: Block, order: Order, rewriting: Rewriting) -> list[_Group]:
    """The groups of a block for an order, first ones first."""
    leaders: dict[SSAValue, SSAValue] = {}

    def find(value: SSAValue) -> SSAValue:
        while (leader := leaders.setdefault(value, value)) is not value:
            leaders[value] = leaders[leader]
            value = leader
        return value

    groups: dict[SSAValue, _Group] = {}
    members: list[tuple[TTIRRowOp, Parameters, SSAValue]] = []
    for op in block.ops:
        if not isinstance(op, TTIRRowOp) or not rewriting.is_plain(op) or not _fits(op, order):
            continue
        parameters = _parameters_in(op, order)
        values = [
            value
            for value in _ranked((*op.inputs, *op.results), len(order))
            if not isinstance(value.owner, ttir.ConstantOp)
        ]
        if parameters is None or not values:
            continue
        members.append((op, parameters, values[0]))
        for other in values[1:]:
            leaders[find(other)] = find(values[0])
    for op, parameters, value in members:
        groups.setdefault(find(value), _Group(order, rewriting)).members[op] = parameters
    return list(groups.values())
