"""Spread other tensors as arguments, results and constraints are spread.

Before:

    sdy.mesh @mesh = <["x"=1, "y"=2]>
    func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>},
        %b: tensor<32x16xf32>) -> tensor<64x16xf32> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
          : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
      return %0 : tensor<64x16xf32>
    }

After:

    ...
        %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding =
            #sdy.sharding_per_value<[<@mesh, [{"y", ?}, {?}]>]>}
            : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
        return %0 : tensor<64x16xf32>
      }
    }

Requires: one mesh; calls are inlined.
Ensures: what has the same factors (`ttmlir.passes.shardy.spreading.factors`) is divided over the
same axes, as far as dimensions are open, parts are equal and no axis divides a tensor twice. First
axes spread over operations on each element, then over the factors that results have, of which an
axis that tensors have along several is given to one, then over all, and last forward over what
repeats elements. Tensors that loops carry, that branches return, and parts in regions of
`sdy.manual_computation` lie as those that go in and come out. Dimensions with a priority
(`{"x"}p1`) spread after those with a lower one. Nothing spreads over a `sdy.propagation_barrier`
but in its direction.
Options: `keep-sharding-rules`, `conservative-propagation` and the like are known and change
nothing: axes are never divided, and parts are always equal.
Not done here: a program that says itself what each device computes (`sdy.manual_computation` over
all axes, around all of it) stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp, ReturnOp

from ttmlir.dialects import sdy
from ttmlir.dialects.sdy import Mesh, meshes_in
from ttmlir.ir.tensor_types import value_shape
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.shardy.spreading.factors import IN_STEP, Rule, rule_of
from ttmlir.passes.shardy.spreading.flow import borders_of, edges_of, is_solved
from ttmlir.passes.shardy.spreading.shardings import (
    SHARDING,
    Dimension,
    Sharding,
    per_value,
    result_sharding,
    set_argument,
    sharding_or_open,
)
from ttmlir.passes.shardy.spreading.spread import Spread, Spreader

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Block, Operation, SSAValue


@dataclass(frozen=True)
class SdyUserPriorityPropagatePass(ModulePass):
    """Spread other tensors as arguments and constraints are spread."""

    name = "sdy-user-priority-propagate"
    title = "UserPriorityPropagationPass"
    keep_sharding_rules: bool = option(False, "Keep the rules by which operations spread tensors")
    conservative_propagation: bool = option(False, "Spread over whole axes, into equal parts")
    propagation_strategy: str = option("basic-then-aggressive", "How conflicts are decided")
    run_op_priority_propagation: bool = option(True, "Spread over elementwise operations first")
    debug_sharding_origins: bool = option(False, "Say from where shardings come")
    debug_propagation_edge_sharding: bool = option(False, "Say over which values they came")
    module_dump_directory: str = option("", "Directory for the module as it is before and after")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Spread over the operations of every function."""
        if is_solved(module):
            return
        [(name, mesh), *_] = meshes_in(module).items()
        for function in module.ops:
            if isinstance(function, FuncOp) and function.body.blocks:
                _Propagation(name, mesh, function).run()


@dataclass(frozen=True)
class _Step:
    """An operation that axes spread over, or one of the edges that it hands tensors on by."""

    name: str
    """That of the operation; of a barrier, its direction."""
    rule: Rule
    spreads: list[Spread]


@dataclass(frozen=True)
class _Mirror:
    """A tensor at the border of a region, and its part inside, along the axes that are left."""

    outer: Spread
    inner: Spread
    counts: list[int]
    """How many axes of each dimension of the outer one the region tells apart."""

    def spread(self) -> bool:
        """Let each have what the other has; True if something changed."""
        is_changed = False
        for place, count in enumerate(self.counts):
            mine, yours = self.outer.axes[place][count:], self.inner.axes[place]
            for target, own, more in ((self.outer, mine, yours), (self.inner, yours, mine)):
                if more[: len(own)] != own or not target.is_open[place]:
                    continue
                for axis in more[len(own) :]:
                    if target.has(axis):
                        break
                    target.axes[place].append(axis)
                    is_changed = True
        return is_changed


@dataclass(frozen=True)
class _Level:
    """What axes spread over, one level after the other."""

    names: frozenset[str] | None = None
    """Operations; None for all."""
    combined: bool = False
    """Also over factors that are reduced."""
    repeats: bool = False
    """Also from what is repeated to what repeats it."""
    decides: bool = False
    """Also where tensors have an axis along different factors."""


_LEVELS = (
    _Level(IN_STEP),
    _Level(),
    _Level(decides=True),
    _Level(combined=True),
    _Level(combined=True, repeats=True),
    _Level(combined=True, repeats=True, decides=True),
)


class _Propagation:
    """Spreads over one function."""

    def __init__(self, name: str, mesh: Mesh, function: FuncOp) -> None:
        self.name, self.function = name, function
        self.spreader = Spreader(mesh)
        self.known: dict[SSAValue, Spread] = {}
        self.steps: list[_Step | _Mirror] = []
        self.borders: list[tuple[sdy.ManualComputationOp, list[list[Spread]]]] = []
        self.later: list[tuple[int, Spread, int, Dimension]] = []

    def run(self) -> None:
        """Spread until nothing changes, and write down what was found."""
        block = self.function.body.block
        self._visit(block)
        for priority in sorted({0, *(each for each, *_ in self.later)}):
            self._begin(priority)
            for level in _LEVELS:
                chosen = [
                    each
                    for each in self.steps
                    if isinstance(each, _Mirror) or level.names is None or each.name in level.names
                ]
                while any([self._spread(each, level) for each in chosen]):
                    chosen.reverse()
        self._write(block)

    def _begin(self, priority: int) -> None:
        """Let dimensions that have waited for their turn say what they are divided over."""
        for turn, spread, place, said in self.later:
            if turn == priority:
                spread.axes[place], spread.is_open[place] = [*said.axes], said.is_open
                spread.barred -= {*said.axes}

    def _write(self, block: Block) -> None:
        """Say of arguments, values and regions how they lie."""
        for argument in block.args:
            spread = self.known.get(argument)
            if spread is not None and any(spread.axes):
                said = sdy.TensorShardingAttr(str(spread.sharding()))
                set_argument(self.function, argument.index, sdy__sharding=said)
        self._write_block(block)
        for op, groups in self.borders:
            for name, spreads in zip(("in_shardings", "out_shardings"), groups, strict=True):
                op.properties[name] = per_value(tuple(each.sharding() for each in spreads))
            self._write_block(op.regions[0].block)

    def _write_block(self, block: Block) -> None:
        for op in block.ops:
            spreads = [self.known[each] for each in op.results if each in self.known]
            if isinstance(op, sdy.ShardingConstraintOp):
                op.properties["sharding"] = sdy.TensorShardingAttr(str(spreads[0].sharding()))
            elif any(any(each.axes) for each in spreads) and op.name != _REGION:
                op.attributes[SHARDING] = per_value(tuple(s.sharding() for s in spreads))
            for region in op.regions if edges_of(op) is not None else ():
                self._write_block(region.block)

    def _spread_of(self, value: SSAValue) -> Spread:
        if value not in self.known:
            self.known[value] = self._said(sharding_or_open(value, self.name))
        return self.known[value]

    def _said(self, sharding: Sharding) -> Spread:
        """What a sharding says at first: dimensions with a priority wait for their turn."""
        spread = Spread.of(sharding)
        for place, said in enumerate(sharding.dimensions):
            turn = int(said.priority.removeprefix("p") or 0)
            if turn:
                self.later.append((turn, spread, place, said))
                spread.axes[place], spread.is_open[place] = [], False
                spread.barred |= {*said.axes}
        return spread

    def _visit(self, block: Block) -> None:
        """Find the steps of a block and of its regions."""
        for op in block.ops:
            edges = edges_of(op)
            if isinstance(op, ReturnOp):
                self._results(op)
            elif isinstance(op, sdy.ManualComputationOp):
                self._borders(op)
                self._visit(op.regions[0].block)
            elif isinstance(op, sdy.PropagationBarrierOp):
                spreads = [self._spread_of(value) for value in (*op.operands, *op.results)]
                self._join(op.direction, spreads, op.results[0])
            elif edges is not None:
                for values in edges:
                    # A step has what it makes last, which other steps look at.
                    self._join(op.name, [self._spread_of(value) for value in values], values[-1])
                for region in op.regions:
                    self._visit(region.block)
            elif op.results:
                spreads = [self._spread_of(value) for value in (*op.operands, *op.results)]
                self.steps.append(_Step(op.name, rule_of(op), spreads))

    def _join(self, name: str, spreads: list[Spread], value: SSAValue) -> None:
        """Let tensors lie alike."""
        rule = Rule([], [])
        shape = value_shape(value) if isinstance(value.type, TensorType) else ()
        dims = [rule.dimension(extent) for extent in shape]
        rule.operands, rule.results = [dims] * (len(spreads) - 1), [dims]
        self.steps.append(_Step(name, rule, spreads))

    def _results(self, op: Operation) -> None:
        """What is returned is what the function says of its results."""
        for index, value in enumerate(op.operands):
            sharding = result_sharding(self.function, index)
            if sharding is not None:
                self._join(op.name, [self._spread_of(value), self._said(sharding)], value)

    def _borders(self, op: sdy.ManualComputationOp) -> None:
        """Operands and results of a region are what it says of them."""
        groups: list[list[Spread]] = []
        for borders in borders_of(op):
            groups.append([])
            for border in borders:
                said = self._said(border.sharding)
                said.barred |= border.axes
                inner = self._spread_of(border.inner)
                inner.barred |= border.axes
                self._join(op.name, [self._spread_of(border.outer), said], border.outer)
                counts = [sum(axis in border.axes for axis in axes) for axes in said.axes]
                self.steps.append(_Mirror(said, inner, counts))
                groups[-1].append(said)
        self.borders.append((op, groups))

    def _spread(self, step: _Step | _Mirror, level: _Level) -> bool:
        """Spread over one operation; True if something changed."""
        if isinstance(step, _Mirror):
            return step.spread()
        held = step.spreads
        is_backward = step.name == "BACKWARD" or (
            step.name == "stablehlo.broadcast_in_dim" and not level.repeats
        )
        if is_backward:
            # Results may stay less divided than what they repeat.
            held = [held[0], *(each.copy() for each in held[1:])]
        elif step.name == "FORWARD":
            held = [held[0].copy(), held[1]]
        elif step.name == "NONE":
            return False
        changed = self.spreader.spread_over(
            step.rule, held, combined=level.combined, decides=level.decides
        )
        if step.name == "FORWARD":
            return 1 in changed
        return 0 in changed if is_backward else bool(changed)


_REGION = sdy.ManualComputationOp.name
