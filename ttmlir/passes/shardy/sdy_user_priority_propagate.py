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
Ensures: what has the same factors (`ttmlir.passes.shardy.factors`) is divided over the same axes,
as far as dimensions are open, parts are equal and no axis divides a tensor twice. First axes spread
over operations on each element, then over the factors that results have, then over all, and last
forward over what repeats elements.
Options: `keep-sharding-rules`, `conservative-propagation` and the like are known and change
nothing: axes are never divided, and parts are always equal.
Not done here: priorities; what is in loops and branches stays whole. A program that says itself
what each device computes (`sdy.manual_computation`) stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp, ReturnOp

from ttmlir.dialects import sdy
from ttmlir.dialects.sdy import Mesh, count_devices, meshes_in
from ttmlir.ir.tensor_types import value_shape
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.shardy.factors import IN_STEP, Rule, rule_of
from ttmlir.passes.shardy.shardings import (
    SHARDING,
    Sharding,
    per_value,
    result_sharding,
    set_argument,
    sharding_of,
)
from ttmlir.passes.shardy.spreading import Spread, Spreader

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


def is_solved(module: ModuleOp) -> bool:
    """True for one device, and for a program that says what each device computes."""
    return count_devices(module) == 1 or any(
        isinstance(op, sdy.ManualComputationOp) for op in module.walk()
    )


@dataclass(frozen=True)
class _Step:
    """An operation that axes spread over."""

    op: Operation
    rule: Rule
    spreads: list[Spread]


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

    def run(self) -> None:
        """Spread until nothing changes, and write down what was found."""
        block = self.function.body.block
        steps = self._steps(block)
        for level in _LEVELS:
            chosen = [each for each in steps if level.names is None or each.op.name in level.names]
            while any([self._spread(each, level) for each in chosen]):
                chosen.reverse()
        for argument in block.args:
            spread = self.known.get(argument)
            if spread is not None and any(spread.axes):
                said = sdy.TensorShardingAttr(str(spread.sharding()))
                set_argument(self.function, argument.index, sdy__sharding=said)
        for step in steps:
            spreads = step.spreads[len(step.op.operands) :]
            if any(any(each.axes) for each in spreads) and step.op.name != _RETURN:
                step.op.attributes[SHARDING] = per_value(tuple(s.sharding() for s in spreads))

    def _spread_of(self, value: SSAValue) -> Spread:
        if value not in self.known:
            rank = len(value_shape(value)) if isinstance(value.type, TensorType) else 0
            sharding = sharding_of(value) or Sharding.open(self.name, rank)
            self.known[value] = Spread.of(sharding)
        return self.known[value]

    def _steps(self, block: Block) -> list[_Step]:
        steps: list[_Step] = []
        for op in block.ops:
            spreads = [self._spread_of(value) for value in (*op.operands, *op.results)]
            if isinstance(op, ReturnOp):
                steps += self._results(op)
            elif spreads:
                steps.append(_Step(op, rule_of(op), spreads))
        return steps

    def _results(self, op: Operation) -> list[_Step]:
        """What is returned is what the function says of its results."""
        steps: list[_Step] = []
        for index, value in enumerate(op.operands):
            sharding = result_sharding(self.function, index)
            if sharding is not None:
                rule = Rule([], [])
                dims = [rule.dimension(extent) for extent in value_shape(value)]
                rule.operands, rule.results = [dims], [dims]
                steps.append(_Step(op, rule, [self._spread_of(value), Spread.of(sharding)]))
        return steps

    def _spread(self, step: _Step, level: _Level) -> bool:
        """Spread over one operation; True if something changed."""
        held = step.spreads
        is_backward = step.op.name == "stablehlo.broadcast_in_dim" and not level.repeats
        if is_backward:
            # Results may stay less divided than what they repeat.
            held = [held[0], *(_copy(each) for each in held[1:])]
        changed = self.spreader.spread_over(
            step.rule, held, combined=level.combined, decides=level.decides
        )
        return 0 in changed if is_backward else bool(changed)


_RETURN = ReturnOp.name


def _copy(spread: Spread) -> Spread:
    return Spread(spread.mesh, [[*axes] for axes in spread.axes], spread.is_open, spread.rest)
