"""Move tensors to where operations take them, and combine what devices have in parts.

Before:

    sdy.mesh @mesh = <["x"=1, "y"=2]>
    func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
        %b: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
        -> tensor<64x16xf32> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
          : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
      return %0 : tensor<64x16xf32>
    }

After:

    ...
        %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding =
            #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
            : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
        %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<64x16xf32>
        return %1 : tensor<64x16xf32>
      }
    }

Requires: shardings are spread (`sdy-user-priority-propagate`).
Ensures: the tensors of each operation are divided over the same axes along the same factors
(`ttmlir.passes.shardy.spreading.factors`); where they differ, what moves the fewest elements is
done. Reductions over divided dimensions are followed by `sdy.all_reduce`; places of extremes are
looked for in parts first.
Options: none.
Not done here: a program that says itself what each device computes stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from ttmlir.dialects import sdy
from ttmlir.dialects.sdy import Mesh, meshes_in
from ttmlir.ir.rewriting import insert_before
from ttmlir.ir.tensor_types import value_shape
from ttmlir.mlir.attributes import splat_bytes
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.shardy.spreading.factors import Rule, rule_of
from ttmlir.passes.shardy.spreading.flow import borders_of, edges_of, is_solved
from ttmlir.passes.shardy.spreading.partial_extremes import split_extremes
from ttmlir.passes.shardy.spreading.shardings import (
    SHARDING,
    per_value,
    result_sharding,
    sharding_or_open,
)
from ttmlir.passes.shardy.spreading.spread import Axes, Spread, Spreader

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Block, SSAValue

    from ttmlir.mlir.attributes import Elements


@dataclass(frozen=True)
class InsertExplicitReshardsPass(ModulePass):
    """Move tensors between devices to where operations take them."""

    name = "insert-explicit-reshards"
    title = "InsertExplicitReshardsPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Look at the operations of every function."""
        if is_solved(module):
            return
        [(name, mesh), *_] = meshes_in(module).items()
        for function in module.ops:
            if isinstance(function, FuncOp) and function.body.blocks:
                split_extremes(function, mesh)
                _Resharding(name, mesh, function).run()


class _Resharding:
    """Moves the tensors of one function."""

    def __init__(self, name: str, mesh: Mesh, function: FuncOp) -> None:
        self.name, self.function = name, function
        self.spreader = Spreader(mesh)

    def run(self) -> None:
        """Visit all operations."""
        self._visit_block(self.function.body.block)

    def _visit_block(self, block: Block) -> None:
        for op in tuple(block.ops):
            edges = edges_of(op)
            if isinstance(op, ReturnOp):
                self._return(op)
            elif isinstance(op, sdy.ManualComputationOp):
                self._cross(op)
            elif edges is not None:
                self._hand_on(op, edges)
            elif op.name != sdy.ReshardOp.name and op.results:
                self._visit(op)
                self._enter(op)

    def _hand_on(self, op: Operation, edges: list[list[SSAValue]]) -> None:
        """Let what an operation hands on lie as its results do."""
        for index, values in enumerate(edges):
            wanted = self._spread_of(values[-1])
            for value in values[:-1]:
                for use in tuple(value.uses):
                    user = use.operation
                    is_end = user.parent_op() is op and user.name == "stablehlo.return"
                    if use.index == index and (user is op or is_end):
                        user.operands[use.index] = self._move(value, wanted, user)
        for region in op.regions:
            self._visit_block(region.block)

    def _cross(self, op: sdy.ManualComputationOp) -> None:
        """Let operands of a region lie as it says, and what it makes, too."""
        given, made = borders_of(op)
        block = op.regions[0].block
        for index, border in enumerate(given):
            wanted = Spread.of(border.sharding.closed())
            op.operands[index] = self._move(border.outer, wanted, op)
        end = cast("Operation", block.last_op)
        for index, border in enumerate(made):
            wanted = Spread.of(border.sharding.without(border.axes).closed())
            end.operands[index] = self._move(border.inner, wanted, end)
        self._visit_block(block)

    def _spread_of(self, value: SSAValue) -> Spread:
        return Spread.of(sharding_or_open(value, self.name).closed())

    def _move(self, value: SSAValue, wanted: Spread, op: Operation) -> SSAValue:
        """A tensor as an operation takes it."""
        if self._spread_of(value).axes == wanted.axes:
            return value
        if _is_made_in_parts(value):
            owner = cast("Operation", value.owner)
            owner.attributes[SHARDING] = per_value((wanted.sharding(),))
            return value
        text = str(wanted.sharding().closed())
        new = sdy.ReshardOp.create(
            operands=[value],
            result_types=[value.type],
            properties={"sharding": sdy.TensorShardingAttr(text)},
            location=op.location,
        )
        insert_before(op, new)
        return new.results[0]

    def _return(self, op: Operation) -> None:
        for index, value in enumerate(op.operands):
            sharding = result_sharding(self.function, index)
            if sharding is not None:
                op.operands[index] = self._move(value, Spread.of(sharding), op)

    def _enter(self, op: Operation) -> None:
        """Regions see tensors of the function as wholes."""
        inside = [each for region in op.regions for each in region.walk()]
        known = {*map(id, inside)}
        wholes: dict[SSAValue, SSAValue] = {}
        for inner in inside:
            for index, value in enumerate(inner.operands):
                if id(value.owner) in known or _is_within(value, op):
                    continue
                if value not in wholes:
                    whole = self._spread_of(value)
                    whole.axes = [[] for _ in whole.axes]
                    wholes[value] = self._move(value, whole, op)
                inner.operands[index] = wholes[value]

    def _visit(self, op: Operation) -> None:
        rule = rule_of(op)
        count = len(op.operands)
        spreads = [self._spread_of(value) for value in (*op.operands, *op.results)]
        numbers = range(len(spreads))
        orders = ([*numbers[count:], *numbers[:count]], [*numbers])
        choices = [self.spreader.choose_axes(rule, spreads, order) for order in orders]
        # Where an operand is whole, others may be put together before instead of results after.
        uneven = self._uneven(rule, spreads[:count])
        if uneven:
            choices += [{f: () if f in uneven else a for f, a in c.items()} for c in choices]
        chosen = min(choices, key=lambda each: self._cost(op, rule, spreads, each))
        if op.name == "stablehlo.gather":
            # A small table is put together, instead of what is looked up in its parts.
            whole = {f: () if f in rule.combined else axes for f, axes in chosen.items()}
            costs = [self._cost(op, rule, spreads, each) for each in (whole, chosen)]
            chosen = whole if _MUCH * costs[0] < costs[1] else chosen
        for index, (factors, value) in enumerate(zip(rule.operands, op.operands, strict=True)):
            op.operands[index] = self._move(
                value, self.spreader.wanted(factors, chosen, spreads[index]), op
            )
        made = [
            self.spreader.wanted(factors, chosen, spread)
            for factors, spread in zip(rule.results, spreads[count:], strict=True)
        ]
        axes = [axis for factor in sorted(rule.combined) for axis in chosen.get(factor, ())]
        is_moved = [old.axes != new.axes for old, new in zip(spreads[count:], made, strict=True)]
        if axes or any(is_moved) or any(any(each.axes) for each in made):
            op.attributes[SHARDING] = per_value(tuple(each.sharding() for each in made))
        for value, old, new in zip(tuple(op.results), spreads[count:], made, strict=True):
            users = tuple(value.uses)
            last = value
            if axes:
                last = self._combine(op, value, axes, rule.combination, new)
            if old.axes != new.axes:
                move = sdy.ReshardOp.create(
                    operands=[last],
                    result_types=[value.type],
                    properties={"sharding": sdy.TensorShardingAttr(str(old.sharding()))},
                    location=op.location,
                )
                _insert_after(op if last is value else cast("Operation", last.owner), move)
                last = move.results[0]
            for use in users:
                if last is not value:
                    use.operation.operands[use.index] = last

    def _uneven(self, rule: Rule, spreads: list[Spread]) -> set[int]:
        """The factors to combine along which some operands are divided, and others are whole."""
        known = [
            self.spreader.axes_of_factors(rule, factors, spread)
            for factors, spread in zip(rule.operands, spreads, strict=True)
        ]
        found = {
            factor: {
                each.get(factor, ())
                for each, factors in zip(known, rule.operands, strict=True)
                if any(factor in numbers for numbers in factors)
            }
            for factor in rule.combined
        }
        return {factor for factor, axes in found.items() if len(axes) > 1}

    def _combine(
        self, op: Operation, value: SSAValue, axes: list[str], combination: str, made: Spread
    ) -> SSAValue:
        """The combination of what the devices along some axes have."""
        axes = sorted(axes, key=[*self.spreader.extents].index)
        new = sdy.AllReduceOp.create(
            operands=[value],
            result_types=[value.type],
            properties={
                "reduction_axes": sdy.AxesAttr(f"{{{', '.join(axes)}}}"),
                "out_sharding": sdy.TensorShardingAttr(str(made.sharding())),
            },
            location=op.location,
        )
        if combination != "add":
            new.attributes[COMBINATION] = StringAttr(combination)
        _insert_after(op, new)
        return new.results[0]

    def _cost(
        self, op: Operation, rule: Rule, spreads: list[Spread], chosen: dict[int, Axes]
    ) -> float:
        """About how many elements devices receive if an operation computes with some axes."""
        cost, count = 0.0, len(op.operands)
        axes = [axis for factor in rule.combined for axis in chosen.get(factor, ())]
        for number, (value, factors) in enumerate(
            zip((*op.operands, *op.results), rule.tensors, strict=True)
        ):
            shape = value_shape(value) if isinstance(value.type, TensorType) else ()
            wanted = self.spreader.wanted(factors, chosen, spreads[number])
            if number < count and _is_made_in_parts(value):
                continue
            pair = (spreads[number], wanted) if number < count else (wanted, spreads[number])
            cost += self.spreader.moved(shape, *pair)
            if number >= count and axes:
                held = 1
                for extent in shape:
                    held *= extent
                cost += 2 * held / self.spreader.volume([a for each in wanted.axes for a in each])
        return cost


_MUCH = 2
"""How many times fewer elements have to move for a table that is divided to be put together."""

COMBINATION = "combination"
"""The attribute of a `sdy.all_reduce` that is no sum: the operation of StableHLO."""


def _is_made_in_parts(value: SSAValue) -> bool:
    """True for equal elements with one user: each device makes its part itself."""
    op = value.owner
    if not isinstance(op, Operation) or len([*value.uses]) != 1:
        return False
    if op.name == "stablehlo.broadcast_in_dim":
        return not value_shape(op.operands[0])
    elements = op.properties.get("value") if op.name == "stablehlo.constant" else None
    return elements is not None and splat_bytes(cast("Elements", elements)) is not None


def _insert_after(op: Operation, new: Operation) -> None:
    assert op.parent is not None, "operations stand in blocks"
    op.parent.insert_op_after(new, op)


def _is_within(value: SSAValue, op: Operation) -> bool:
    """True for an argument of a block in a region of an operation."""
    block = value.owner
    parent = getattr(block, "parent_op", lambda: None)()
    while parent is not None:
        if parent is op:
            return True
        parent = parent.parent_op()
    return False
