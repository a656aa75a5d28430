"""Merge and cancel reshapes and permutations.

Reshapes and permutations that follow each other become one permutation between two reshapes, or
less, where that moves fewer tiles. Permutations are carried past operations that work in any order
of the dimensions, where that lets permutations meet, as those around convolutions of images whose
features come first. Slices are taken before moves, products take rows that are flattened before and
put back after them as they are, and constants are moved while compiling.

In modules of 2026 moves change places with elementwise operations, reductions, concatenations,
slices, broadcasts, softmax and `rms_norm`, first upwards, then downwards, until their number stays;
without `force` in functions with images whose pixels are one dimension.

Before:

    #any = #tt.operand_constraint<any_device_tile>
    func.func @moves(%arg0: tensor<5x6x70xf32>) -> tensor<30x70xf32> {
      %0 = tensor.empty() : tensor<5x70x6xf32>
      %1 = "ttir.transpose"(%arg0, %0) <{dim0 = 1 : si32, dim1 = 2 : si32,
          operand_constraints = [#any, #any]}>
          : (tensor<5x6x70xf32>, tensor<5x70x6xf32>) -> tensor<5x70x6xf32>
      %2 = tensor.empty() : tensor<5x7x10x6xf32>
      %3 = "ttir.reshape"(%1, %2) <{shape = [5 : i32, 7 : i32, 10 : i32, 6 : i32],
          operand_constraints = [#any, #any]}>
          : (tensor<5x70x6xf32>, tensor<5x7x10x6xf32>) -> tensor<5x7x10x6xf32>
      %4 = tensor.empty() : tensor<5x6x7x10xf32>
      %5 = "ttir.permute"(%3, %4) <{permutation = array<i64: 0, 3, 1, 2>,
          operand_constraints = [#any, #any]}>
          : (tensor<5x7x10x6xf32>, tensor<5x6x7x10xf32>) -> tensor<5x6x7x10xf32>
      %6 = tensor.empty() : tensor<30x70xf32>
      %7 = "ttir.reshape"(%5, %6) <{shape = [30 : i32, 70 : i32],
          operand_constraints = [#any, #any]}>
          : (tensor<5x6x7x10xf32>, tensor<30x70xf32>) -> tensor<30x70xf32>
      return %7 : tensor<30x70xf32>
    }

After:

    ...
      %0 = tensor.empty() : tensor<30x70xf32>
      %1 = "ttir.reshape"(%arg0, %0) <{operand_constraints = [...],
          shape = [30 : i32, 70 : i32]}>
          : (tensor<5x6x70xf32>, tensor<30x70xf32>) -> tensor<30x70xf32>
      return %1 : tensor<30x70xf32>
    ...

Requires: ttir; operations on tensors with a layout are left alone.
Ensures: the same results.
Options: `enable-commute-upwards`, `enable-commute-downwards`, `max-iterations`, `force`, in modules
  of 2026.
Not done here: in modules of 2024 reshapes are not carried past other operations, except products
that keep their rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import ttir
from ttmlir.dialects.ttir import TTIRTableOp
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import erase, erase_unused, replace
from ttmlir.ir.tensor_types import is_plain_and_static, tensor_like, value_shape
from ttmlir.mlir.option_values import option
from ttmlir.mlir.reporting import op_diagnostic, warn
from ttmlir.optable.op_definition import Family
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.core.value_form import is_value_form
from ttmlir.passes.ttir.constants.ttir_constant_folding import (
    PERMUTATIONS,
    RESHAPES,
    fold_move,
    permutation_of,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import Block

    from ttmlir.dialects.definition.table_ops import ParameterValue


# --- Move chains ----------------------------------------------------------------------------------
# What reshapes and permutations do one after another, and roughly what moving tiles costs.
#
# A chain is followed by *atoms*: factors of the dimensions that stay together all along. A reshape
# cuts and joins dimensions, a permutation puts them in another order; together they put the atoms
# of the source in another order, which one permutation between two reshapes does.

_TILE = 32
LAUNCH = 45.0
"""Of a program, in tiles whose lines are moved one by one: 3.1 us, and 64 cores that take 4400
cycles for a tile."""
_COPY = 0.6
"""Of a tile that is copied whole: DRAM moves 8 KB."""
_MULTIPLY = 0.5
"""Of a product of two tiles."""


@dataclass(frozen=True)
class Form:
    """A reshape, a permutation and a reshape; each may change nothing."""

    source: Shape
    split: Shape
    order: Shape
    result: Shape

    @property
    def permuted(self) -> Shape:
        """The shape after the permutation."""
        return tuple(self.split[dim] for dim in self.order)

    @property
    def is_reshape(self) -> bool:
        """True if no element changes its place."""
        return self.order == tuple(range(len(self.order)))

    @property
    def steps(self) -> int:
        """How many operations it takes."""
        if self.is_reshape:
            return int(self.source != self.result)
        return 1 + int(self.source != self.split) + int(self.permuted != self.result)

    @property
    def cost(self) -> float:
        """In tiles."""
        if self.is_reshape:
            return reshape_cost(self.source, self.result)
        return (
            reshape_cost(self.source, self.split)
            + permute_cost(self.split, self.order)
            + reshape_cost(self.permuted, self.result)
        )


class Chain:
    """Where the elements of a tensor are after some moves."""

    def __init__(self, shape: Shape) -> None:
        """A tensor that nothing has moved; it has elements."""
        assert math.prod(shape), "nothing is known of tensors without elements"
        self._extents = [extent for extent in shape]
        # Numbers of atoms, by the dimensions of the source, which they are cut from, and of the
        # result.
        self._source = [[number] for number in range(len(shape))]
        self._result = [[number] for number in range(len(shape))]

    def reshape(self, shape: Shape) -> bool:
        """Follow a reshape; False if it cuts dimensions where they have no factor."""
        left = [atom for dim in self._result for atom in dim if self._extents[atom] != 1]
        left.reverse()
        dims: list[list[int]] = []
        for extent in shape:
            dim: list[int] = []
            while extent > 1:
                atom = left.pop()
                if extent % self._extents[atom]:
                    if self._extents[atom] % extent:
                        return False
                    atom, rest = self._cut(atom, extent)
                    left.append(rest)
                dim.append(atom)
                extent //= self._extents[atom]
            dims.append(dim)
        self._result = dims
        return True

    def permute(self, order: Sequence[int]) -> None:
        """Follow a permutation."""
        self._result = [self._result[dim] for dim in order]

    def slice(self, begins: Sequence[int], ends: Sequence[int]) -> tuple[Shape, Shape] | None:
        """Follow a slice; where it begins and ends in the source, None if it is none there."""
        first = [0] * len(self._source)
        last = [math.prod(self._extents[atom] for atom in dim) for dim in self._source]
        for dim, begin, end in zip(self._result, begins, ends, strict=True):
            if begin == 0 and end == math.prod(self._extents[atom] for atom in dim):
                continue
            outer, *others = dim
            inner = math.prod(self._extents[atom] for atom in others)
            place = next((i for i, atoms in enumerate(self._source) if atoms[:1] == [outer]), None)
            if place is None or begin % inner or end % inner:
                return None
            step = math.prod(self._extents[atom] for atom in self._source[place][1:])
            first[place], last[place] = begin // inner * step, end // inner * step
            self._extents[outer] = (end - begin) // inner
        return tuple(first), tuple(last)

    @property
    def form(self) -> Form:
        """The moves in as few steps as they need, of as few dimensions."""
        source = [atom for dim in self._source for atom in dim if self._extents[atom] != 1]
        result = [atom for dim in self._result for atom in dim if self._extents[atom] != 1]
        place = {atom: number for number, atom in enumerate(source)}
        groups: list[list[int]] = []
        for atom in result:
            if groups and place[atom] == place[groups[-1][-1]] + 1:
                groups[-1].append(atom)
            else:
                groups.append([atom])
        ordered = sorted(groups, key=lambda group: place[group[0]])
        return Form(
            self._shape(self._source),
            self._shape(ordered),
            tuple(ordered.index(group) for group in groups),
            self._shape(self._result),
        )

    def _shape(self, dims: Sequence[Sequence[int]]) -> Shape:
        return tuple(math.prod(self._extents[atom] for atom in dim) for dim in dims)

    def _cut(self, atom: int, extent: int) -> tuple[int, int]:
        """Cut an atom in two, the first of which has an extent."""
        rest = len(self._extents)
        self._extents.append(self._extents[atom] // extent)
        self._extents[atom] = extent
        for dims in (self._source, self._result):
            for dim in dims:
                if atom in dim:
                    dim.insert(dim.index(atom) + 1, rest)
        return atom, rest


def tiles(shape: Shape) -> int:
    """Tiles of a tensor, padding included."""
    *outer, rows, columns = (1, 1, *shape)
    return math.prod(outer) * -(-rows // _TILE) * -(-columns // _TILE)


def reshape_cost(before: Shape, after: Shape) -> float:
    """Of a reshape: nothing if tiles stay as they are."""
    (rows, columns), (new_rows, new_columns) = (((1, 1, *each)[-2:]) for each in (before, after))
    keeps_rows = rows == new_rows or (rows % _TILE == 0 and new_rows % _TILE == 0)
    if before == after or (columns == new_columns and keeps_rows):
        return 0.0
    return LAUNCH + tiles(after)


def permute_cost(shape: Shape, order: Shape) -> float:
    """Of a permutation: whole tiles are copied if rows and columns stay such."""
    rank = len(order)
    last = set(range(max(0, rank - 2), rank))
    each = _COPY if {order[dim] for dim in last} == last else 1.0
    return LAUNCH + each * tiles(tuple(shape[dim] for dim in order))


def slice_cost(begins: Shape, result: Shape) -> float:
    """Of a slice: whole tiles are copied if it begins with one."""
    is_whole = all(begin % _TILE == 0 for begin in begins[-2:])
    return LAUNCH + (_COPY if is_whole else 1.0) * tiles(result)


def product_cost(rows: Shape, inner: int, columns: int) -> float:
    """Of the sums of a product whose first operand has these rows, in batches."""
    return _MULTIPLY * tiles((*rows, columns)) * -(-inner // _TILE)


# --- Carried permutations -------------------------------------------------------------------------
# Carries permutations past operations that work in any order of the dimensions.
#
# Networks of convolutions are written with features in front of the pixels, and the convolutions of
# ttnn take them as the last dimension: each stands between two permutations. Where all that lies
# between convolutions can be computed in their order, the permutations meet and go.
#
# A *group* is what such operations connect: one takes its operand from another, or both from the
# same value, and all tensors have one rank. All of it is computed in another order of the
# dimensions if fewer tiles are moved then.

Order = tuple[int, ...]
Parameters = dict[str, "ParameterValue"]

_ORDERS = 8
"""How many orders of dimensions are tried: the most frequent ones."""


@dataclass(frozen=True)
class Rewriting:
    """What the pass that carries permutations knows of operations."""

    is_plain: Callable[[TTIRTableOp], bool]
    """True if nothing is said of the layouts of its tensors."""
    builder: Callable[[TTIRTableOp], Builder]
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
    superfluous: list[TTIRTableOp] = []
    for op in block.ops:
        if isinstance(op, TTIRTableOp) and _is_permutation(op) and rewriting.is_plain(op):
            [result] = op.results
            first = known.setdefault((op.operands[0], permutation_of(op)), result)
            if first is not result and first.type == result.type:
                result.replace_all_uses_with(first)
                superfluous.append(op)
    _erase_with_destinations(superfluous)


def _erase_with_destinations(ops: Iterable[TTIRTableOp]) -> None:
    """Erase operations that nobody uses, and the tensors that only they wrote to."""
    ops = list(ops)
    empties = [op.output.owner for op in ops if isinstance(op.output.owner, EmptyOp)]
    erase_unused(ops)
    erase_unused(dict.fromkeys(empties))


def _frequent_orders(block: Block, rewriting: Rewriting) -> list[Order]:
    counts: Counter[Order] = Counter()
    for op in block.ops:
        if isinstance(op, TTIRTableOp) and _is_permutation(op) and rewriting.is_plain(op):
            order = permutation_of(op)
            counts.update({order, _invert(order)})
    return [order for order, _ in counts.most_common(_ORDERS)]


def _is_permutation(op: Operation) -> bool:
    return isinstance(op, TTIRTableOp) and op.DEFINITION.mnemonic in ("transpose", "permute")


def _invert(order: Order) -> Order:
    return tuple(order.index(dim) for dim in range(len(order)))


def _permuted(numbers: Sequence[int], order: Order) -> tuple[int, ...]:
    return tuple(numbers[dim] for dim in order)


def _form(shape: Sequence[int], order: Order) -> Form:
    chain = Chain(tuple(shape))
    chain.permute(order)
    return chain.form


def _cost_of_moves(shape: Sequence[int], order: Order) -> float:
    """What it takes to permute a tensor."""
    return _form(shape, order).cost


def _permute(builder: Builder, value: SSAValue, order: Order) -> SSAValue:
    """The value in another order; a reshape is enough where only extents of 1 are moved."""
    shape = value_shape(value)
    if _form(shape, order).is_reshape:
        return builder.reshape(value, _permuted(shape, order))
    return builder.permute(value, order)


# -- operations in another order -------------------------------------------------------------------


def _keep(op: TTIRTableOp, order: Order) -> Parameters:
    return op.parameters()


def _move_dimension(name: str) -> Callable[[TTIRTableOp, Order], Parameters]:
    def move(op: TTIRTableOp, order: Order) -> Parameters:
        parameters = op.parameters()
        return parameters | {name: order.index(cast("int", parameters[name]) % len(order))}

    return move


def _move_lists(*names: str) -> Callable[[TTIRTableOp, Order], Parameters]:
    def move(op: TTIRTableOp, order: Order) -> Parameters:
        parameters = op.parameters()
        lists = {name: cast("Sequence[int]", parameters[name]) for name in names}
        return parameters | {name: _permuted(numbers, order) for name, numbers in lists.items()}

    return move


def _move_margins(op: TTIRTableOp, order: Order) -> Parameters:
    parameters = op.parameters()
    padding = cast("Sequence[int]", parameters["padding"])
    moved = tuple(n for dim in order for n in padding[2 * dim : 2 * dim + 2])
    return parameters | {"padding": moved}


def _reduce(op: TTIRTableOp, order: Order) -> Parameters | None:
    """The dimensions that are summed; those that are left have to stay in their order."""
    parameters = op.parameters()
    if "dim_arg" not in parameters:
        return None
    dims = {dim % len(order) for dim in cast("Sequence[int]", parameters["dim_arg"])}
    left = [dim for dim in order if dim not in dims]
    if not parameters["keep_dim"] and left != sorted(left):
        return None
    if op.DEFINITION.mnemonic == "argmax" and len(dims) > 1:
        return None
    return parameters | {"dim_arg": tuple(sorted(map(order.index, dims)))}


_IN_ORDER: dict[str, Callable[[TTIRTableOp, Order], Parameters | None]] = {
    "concat": _move_dimension("dim"),
    "cumsum": _move_dimension("dim"),
    "softmax": _move_dimension("dimension"),
    "batch_norm_inference": _move_dimension("dimension"),
    "slice": _move_lists("begins", "ends", "step"),
    "repeat": _move_lists("repeat_dimensions"),
    "pad": _move_margins,
}
"""The parameters of operations whose dimensions are in another order, besides those of families."""


def _parameters_in(op: TTIRTableOp, order: Order) -> Parameters | None:
    """The parameters with which an operation does the same in an order; None if it cannot."""
    if op.DEFINITION.family.is_elementwise:
        return _keep(op, order)
    if op.DEFINITION.family is Family.REDUCTION:
        return _reduce(op, order)
    move = _IN_ORDER.get(op.DEFINITION.mnemonic)
    return None if move is None else move(op, order)


def _ranked(values: Sequence[SSAValue], rank: int) -> list[SSAValue]:
    return [value for value in values if len(value_shape(value)) == rank]


def _ordered(op: TTIRTableOp) -> Sequence[SSAValue]:
    """The operands whose dimensions are those of the operation; numbers have none."""
    if op.DEFINITION.mnemonic == "batch_norm_inference":
        return op.inputs[:1]
    return [value for value in op.inputs if value_shape(value)]


def _fits(op: TTIRTableOp, order: Order) -> bool:
    """True if the operands that are to be permuted have the rank, and the others need not be."""
    if not isinstance(op.inits[0].owner, EmptyOp):
        return False
    ranks = {len(value_shape(value)) for value in _ordered(op)}
    # Operands of fewer dimensions are repeated along those in front.
    return max(ranks, default=0) == len(order) and (
        len(ranks) == 1 or op.DEFINITION.family.is_elementwise
    )


# -- groups ----------------------------------------------------------------------------------------


@dataclass
class _Group:
    """Operations that are computed in another order together, in the order of the block."""

    order: Order
    rewriting: Rewriting
    members: dict[TTIRTableOp, Parameters] = field(default_factory=dict["TTIRTableOp", Parameters])

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
                gain -= _cost_of_moves(self._widen(shape), self.order)
            elif not self._is_permuted_by(value, back):
                gain -= _cost_of_moves(shape, self.order)
            elif not self._is_used_outside(value):
                gain += _cost_of_moves(value_shape(cast("TTIRTableOp", owner).operands[0]), back)
        for op in self.members:
            for result in _ranked(op.results, self.rank):
                gain += sum(
                    _cost_of_moves(value_shape(result), self.order) for _ in self._undone(result)
                )
                if self._is_used_outside(result):
                    gain -= _cost_of_moves(_permuted(value_shape(result), self.order), back)
        return gain

    def _is_permuted_by(self, value: SSAValue, order: Order) -> bool:
        owner = value.owner
        return (
            isinstance(owner, TTIRTableOp)
            and _is_permutation(owner)
            and self.rewriting.is_plain(owner)
            and permutation_of(owner) == order
        )

    def _undone(self, value: SSAValue) -> list[TTIRTableOp]:
        """The permutations that put a value in the order of the group."""
        users = (use.operation for use in value.uses)
        return [
            user
            for user in users
            if isinstance(user, TTIRTableOp) and self._is_permuted_by(user.results[0], self.order)
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
                new = builder.create(op.DEFINITION.mnemonic, operands, result.type, **parameters)
                result.replace_all_uses_with(new)
                continue
            type_ = tensor_like(result, _permuted(value_shape(result), self.order))
            new = moved[result] = builder.create(
                op.DEFINITION.mnemonic, operands, type_, **parameters
            )
            undone = self._undone(result)
            for permutation in undone:
                permutation.results[0].replace_all_uses_with(new)
            _erase_with_destinations(undone)
            if self._is_used_outside(result):
                again = _permute(builder, new, back)
                result.replace_uses_with_if(again, lambda use: use.operation not in self.members)
        inputs = [value.owner for op in self.members for value in op.inputs]
        before = [
            owner for owner in inputs if isinstance(owner, TTIRTableOp) and _is_permutation(owner)
        ]
        _erase_with_destinations(dict.fromkeys([*before, *self.members]))

    def _widen(self, shape: Sequence[int]) -> tuple[int, ...]:
        return (1,) * (self.rank - len(shape)) + tuple(shape)

    def _take(self, value: SSAValue, moved: dict[SSAValue, SSAValue], builder: Builder) -> SSAValue:
        """A value in the order of the group."""
        if value not in moved:
            owner = value.owner
            if self._is_permuted_by(value, _invert(self.order)):
                moved[value] = cast("TTIRTableOp", owner).operands[0]
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
    members: list[tuple[TTIRTableOp, Parameters, SSAValue]] = []
    for op in block.ops:
        if not isinstance(op, TTIRTableOp) or not rewriting.is_plain(op) or not _fits(op, order):
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


# --- Ttir erase inverse ops -----------------------------------------------------------------------

Shape = tuple[int, ...]

_MOVES = RESHAPES | PERMUTATIONS
_LOOKED_AT = _MOVES | {"slice"}


@dataclass(frozen=True)
class TTIREraseInverseOpsPass(ModulePass):
    """Merge and cancel reshapes and permutations."""

    name = "ttir-erase-inverse-ops"
    title = "TTIREraseInverseOps"
    enable_commute_upwards: bool = option(True, "2026: move operands instead of results")
    enable_commute_downwards: bool = option(True, "2026: move results instead of operands")
    max_iterations: int = option(100, "2026: rounds upwards and downwards, at most")
    force: bool = option(False, "2026: in functions without flattened images, too")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Rewrite the moves of every function, in the order of the text."""
        if is_value_form(module):
            self._commute(module)
        else:
            self._merge_by_cost(module)

    def _commute(self, module: ModuleOp) -> None:
        from ttmlir.passes.ttir.ttir_commuting_moves import commute_moves

        for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
            flattened = any("flattened_compat_info" in op.properties for op in function.walk())
            if not self.force and not flattened:
                continue
            if not commute_moves(
                function,
                upwards=self.enable_commute_upwards,
                downwards=self.enable_commute_downwards,
                limit=self.max_iterations,
            ):
                text = f"TM count has not converged after {self.max_iterations} iterations"
                warn(op_diagnostic(function, text, severity="warning", with_name=False))

    def _merge_by_cost(self, module: ModuleOp) -> None:
        rewriting = Rewriting(_is_plain_op, _MoveBuilder.like)
        for block in _blocks_of(module):
            carry_permutations(block, rewriting)
        sliced: set[SSAValue] = set()
        for op in [op for op in module.walk() if isinstance(op, TTIRTableOp)]:
            if op.DEFINITION.mnemonic not in _LOOKED_AT:
                continue
            # What an earlier operation made superfluous is gone.
            if op.parent is None or not _is_plain_op(op):
                continue
            if _is_move(op):
                _simplify(op)
            elif op.operands[0] not in sliced:
                # All slices of a tensor are looked at together, once.
                sliced.add(op.operands[0])
                _slice_before_moving(op)


def _blocks_of(module: ModuleOp) -> list[Block]:
    """The blocks in which there are moves."""
    return list(
        dict.fromkeys(block for op in module.walk() if _is_move(op) and (block := op.parent))
    )


class _MoveBuilder(Builder):
    """Creates what takes the place of an operation, in the layouts that it takes."""

    constraints: Sequence[Attribute]

    @classmethod
    def like(cls, op: TTIRTableOp) -> _MoveBuilder:
        """A builder before an operation."""
        builder, attr = cls.before(op), op.operand_constraints
        builder.constraints = () if attr is None else attr.data
        return builder

    def operand_constraints(self, operands: int) -> Attribute:
        """That of the operation for its first operand, for all."""
        return ArrayAttr([*self.constraints[:1]] * operands)


def _is_plain_op(op: TTIRTableOp) -> bool:
    return len(op.results) == 1 and all(map(_is_plain, (*op.operands, op.results[0])))


def _is_plain(value: SSAValue) -> bool:
    """True for tensors of known extents, without a layout, that have elements."""
    return is_plain_and_static(value) and 0 not in value_shape(value)


def _is_move(op: Operation) -> bool:
    return isinstance(op, TTIRTableOp) and op.DEFINITION.mnemonic in _MOVES


def _maker(value: SSAValue) -> TTIRTableOp | None:
    """The operation that makes a value, if it has no layouts and nobody else uses the value."""
    owner = value.owner
    if isinstance(owner, TTIRTableOp) and value.has_one_use() and _is_plain_op(owner):
        return owner
    return None


def _chain_before(op: TTIRTableOp) -> list[TTIRTableOp]:
    """The moves that end with this one, each of which alone uses the one before it."""
    chain = [op]
    while (before := _maker(chain[-1].operands[0])) is not None and _is_move(before):
        chain.append(before)
    chain.reverse()
    return chain


def _follow(chain: Sequence[TTIRTableOp]) -> Chain | None:
    """What the moves do together; None where dimensions are cut anew."""
    followed = Chain(value_shape(chain[0].operands[0]))
    for op in chain:
        if op.DEFINITION.mnemonic in PERMUTATIONS:
            followed.permute(permutation_of(op))
        elif not followed.reshape(value_shape(op.results[0])):
            return None
    return followed


def _cost(chain: Sequence[TTIRTableOp]) -> float:
    return sum(
        permute_cost(value_shape(op.operands[0]), permutation_of(op))
        if op.DEFINITION.mnemonic in PERMUTATIONS
        else reshape_cost(value_shape(op.operands[0]), value_shape(op.results[0]))
        for op in chain
    )


def _simplify(op: TTIRTableOp) -> None:
    """Merge the moves that end here, or leave them out around a product."""
    if _fold_constant(op) or _keep_rows(op):
        return
    result = op.results[0]
    if result.has_one_use() and any(_is_move(use.operation) for use in result.uses):
        # What follows is merged, too.
        return
    chain = _chain_before(op)
    followed = _follow(chain) if len(chain) > 1 else None
    if followed is None:
        return
    form = followed.form
    if (form.cost, form.steps) < (_cost(chain), len(chain)):
        _replace(op, _build(_MoveBuilder.like(op), chain[0].operands[0], form))


def _build(builder: Builder, source: SSAValue, form: Form) -> SSAValue:
    if not form.is_reshape:
        source = builder.permute(builder.reshape(source, form.split), form.order)
    return builder.reshape(source, form.result)


def _fold_constant(op: TTIRTableOp) -> bool:
    """Move a constant while compiling."""
    elements = fold_move(op)
    if elements is None:
        return False
    _replace(op, _MoveBuilder.like(op).create_constant(elements, op.results[0].type))
    return True


def _keep_rows(op: TTIRTableOp) -> bool:
    """Multiply tensors of several dimensions by a matrix without making them one before.

    Rows that are not whole tiles are padded for each batch then, which may cost more.
    """
    product = _maker(op.operands[0]) if op.DEFINITION.mnemonic in RESHAPES else None
    if product is None or product.DEFINITION.mnemonic != "matmul":
        return False
    flattening, matrix = _maker(product.operands[0]), value_shape(product.operands[1])
    is_flattened = flattening is not None and flattening.DEFINITION.mnemonic in RESHAPES
    if flattening is None or not is_flattened or len(matrix) != 2:
        return False
    source, (rows, inner) = flattening.operands[0], value_shape(flattening.results[0])
    shape, result = value_shape(source), value_shape(op.results[0])
    if len(shape) <= 2 or shape[-1] != inner or result != (*shape[:-1], matrix[1]):
        return False
    more = product_cost(shape[:-1], *matrix) - product_cost((rows,), *matrix)
    if more >= _cost([flattening, op]):
        return False
    builder = _MoveBuilder.like(op)
    # Both operands of a product in ttnn have as many dimensions.
    weight = builder.reshape(product.operands[1], (*(1,) * (len(shape) - 2), *matrix))
    type_ = tensor_like(product.results[0], result)
    _replace(op, builder.create("matmul", (source, weight), type_))
    if isinstance(weight.owner, TTIRTableOp):
        _fold_constant(weight.owner)
    return True


def _slices_of(value: SSAValue) -> list[TTIRTableOp] | None:
    """The slices of a value if nothing else uses it, and they leave nothing out in between."""
    slices: list[TTIRTableOp] = []
    for use in value.uses:
        op = use.operation
        if (
            not isinstance(op, TTIRTableOp)
            or op.DEFINITION.mnemonic != "slice"
            or not _is_plain_op(op)
        ):
            return None
        begins, ends = _bounds(op)
        steps = cast("Shape", op.parameters()["step"])
        extents = value_shape(value)
        bounds = zip(begins, ends, steps, extents, strict=True)
        if not all(0 <= begin < end <= extent and step == 1 for begin, end, step, extent in bounds):
            return None
        slices.append(op)
    return slices


def _bounds(op: TTIRTableOp) -> tuple[Shape, Shape]:
    parameters = op.parameters()
    return cast("Shape", parameters["begins"]), cast("Shape", parameters["ends"])


def _slice_before_moving(op: TTIRTableOp) -> None:
    """Slice what is moved instead of the moved tensor, for all its slices."""
    moved = op.operands[0].owner
    if not isinstance(moved, TTIRTableOp) or not _is_move(moved) or not _is_plain_op(moved):
        return
    slices, chain = _slices_of(op.operands[0]), _chain_before(moved)
    if slices is None:
        return
    before = _cost(chain) + sum(
        slice_cost(_bounds(each)[0], value_shape(each.results[0])) for each in slices
    )
    found: list[tuple[TTIRTableOp, Shape, Shape]] = []
    for each in slices:
        followed = _follow(chain)
        bounds = None if followed is None else followed.slice(*_bounds(each))
        if followed is None or bounds is None or not followed.form.is_reshape:
            return
        before -= slice_cost(bounds[0], followed.form.source) + followed.form.cost
        found.append((each, *bounds))
    if before <= 0:
        return
    for each, begins, ends in found:
        builder = _MoveBuilder.like(each)
        sliced = builder.slice(chain[0].operands[0], begins, ends)
        _replace(each, builder.reshape(sliced, value_shape(each.results[0])))


def _replace(op: TTIRTableOp, value: SSAValue) -> None:
    """Let a value stand for the result, and remove what only the operation has used."""
    left = [operand.owner for operand in op.operands]
    replace(op, value)
    while left:
        owner = left.pop()
        is_ours = isinstance(owner, TTIRTableOp | EmptyOp | ttir.ConstantOp)
        if is_ours and owner.parent and all(r.first_use is None for r in owner.results):
            left += [operand.owner for operand in owner.operands]
            erase(owner)
