"""Unroll short loops, and outline the bodies of longer ones as functions.

A short loop becomes as many copies of its body as it has iterations; counters become constants. Any
other loop becomes a `ttir.while`, which calls a function for each iteration, with a number of
iterations if integers that are known while compiling give it, else with a function that is asked
before each iteration. Of small branches, all are computed and `stablehlo.select` takes the results
of one; others become a `ttir.case`, which calls one of several functions. Of a known branch, only
that one is left.

Before:

    func.func @three_times(%x: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %0:2 = "stablehlo.while"(%zero, %x) ({
      ^bb0(%i: tensor<i32>, %value: tensor<33x70xf32>):
        %1 = stablehlo.compare LT, %i, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      }, {
      ^bb0(%i: tensor<i32>, %value: tensor<33x70xf32>):
        %one = stablehlo.constant dense<1> : tensor<i32>
        %1 = stablehlo.add %i, %one : tensor<i32>
        %2 = stablehlo.add %value, %x : tensor<33x70xf32>
        stablehlo.return %1, %2 : tensor<i32>, tensor<33x70xf32>
      }) : (tensor<i32>, tensor<33x70xf32>) -> (tensor<i32>, tensor<33x70xf32>)
      return %0#1 : tensor<33x70xf32>
    }

After:

    module {
      func.func @three_times(%arg0: tensor<33x70xf32>) -> tensor<33x70xf32> {
        %0 = stablehlo.add %arg0, %arg0 : tensor<33x70xf32>
        %1 = stablehlo.add %0, %arg0 : tensor<33x70xf32>
        return %1 : tensor<33x70xf32>
      }
    }

Requires: calls inlined (`inline`).
Ensures: no `stablehlo.while`, `stablehlo.if` or `stablehlo.case` is left; constants without users
are gone.
Options: `max-trip-count` is the largest number of iterations of loops that are unrolled. 0, the
default, writes out loops of at most 64 iterations which become at most 256 operations.
Not done here: what a loop computes alike in each iteration stays in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.mlir.option_values import option
from ttmlir.passes.control_flow.flattening import CONTROL, Flattening
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class StableHLOFlattenControlFlowPass(ModulePass):
    """Unroll short loops, and outline the bodies of longer ones as functions."""

    name = "stablehlo-flatten-control-flow"
    title = "StableHLOFlattenControlFlow"
    max_trip_count: int = option(
        0, "Largest number of iterations of a loop that is unrolled; 0 for short loops"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Flatten what every function contains, the outermost loops and branches first."""
        if any(op.name in CONTROL for op in module.walk()):
            from ttmlir.passes.control_flow.flattening import StableHLOChoices

            Flattening(module, self.max_trip_count, StableHLOChoices()).flatten()
