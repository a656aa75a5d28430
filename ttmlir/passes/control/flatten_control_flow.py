"""Unroll short loops of scf, affine and tosa, and outline longer ones as functions.

As `stablehlo-flatten-control-flow` does: a short loop becomes as many copies of its body as it has
iterations, another one a `ttir.while`, small branches a choice, others a `ttir.case`. Numbers that
loops carry become tensors without dimensions, and maps of affine become arithmetic.

Before:

    func.func @three_times(%x: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %0 = scf.for %i = %c0 to %c2 step %c1 iter_args(%sum = %x) -> (tensor<33x70xf32>) {
        %1 = arith.addf %sum, %x : tensor<33x70xf32>
        scf.yield %1 : tensor<33x70xf32>
      }
      return %0 : tensor<33x70xf32>
    }

After:

    module {
      func.func @three_times(%arg0: tensor<33x70xf32>) -> tensor<33x70xf32> {
        %0 = arith.addf %arg0, %arg0 : tensor<33x70xf32>
        %1 = arith.addf %0, %arg0 : tensor<33x70xf32>
        return %1 : tensor<33x70xf32>
      }
    }

Requires: calls inlined (`inline`); static shapes.
Ensures: no loop or branch of scf, affine or tosa is left.
Options: `max-trip-count` is the largest number of iterations of loops that are unrolled. 0, the
default, writes out loops of at most 64 iterations which become at most 256 operations.
Not done here: loops over memory, `scf.parallel`, `scf.forall`, and regions of several blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

_DIALECTS = ("affine.", "scf.", "tensor.dim", "tosa.cond_if", "tosa.while_loop")


@dataclass(frozen=True)
class FlattenControlFlowPass(ModulePass):
    """Unroll short loops of scf, affine and tosa, and outline longer ones as functions."""

    name = "flatten-control-flow"
    max_trip_count: int = option(
        0, "Largest number of iterations of a loop that is unrolled; 0 for short loops"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Flatten what every function contains, the outermost loops and branches first."""
        if not any(op.name.startswith(_DIALECTS) for op in module.walk()):
            return
        from xdsl.traits import is_side_effect_free

        from ttmlir.ir.rewriting import erase_unused
        from ttmlir.passes.control.choices import TTIRChoices
        from ttmlir.passes.control.flattening import Flattening
        from ttmlir.passes.control.regions import convert_regions

        convert_regions(module)
        Flattening(module, self.max_trip_count, TTIRChoices()).flatten()
        erase_unused(op for op in module.walk() if _is_number(op) and is_side_effect_free(op))


def _is_number(op: Operation) -> bool:
    """True for what only served counters."""
    return op.name.startswith(("arith.", "tensor.from_elements", "tensor.extract"))
