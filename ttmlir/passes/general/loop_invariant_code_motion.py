"""Move what a loop computes alike in every iteration to before the loop.

Before:

    func.func private @use(i32)
    func.func @f(%n: index, %x: i32) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %n step %c1 {
        %square = arith.muli %x, %x : i32
        func.call @use(%square) : (i32) -> ()
      }
      return
    }

After:

    module {
      func.func private @use(i32)
      func.func @f(%arg0: index, %arg1: i32) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %0 = arith.muli %arg1, %arg1 : i32
        scf.for %arg2 = %c0 to %arg0 step %c1 {
          func.call @use(%0) : (i32) -> ()
        }
        return
      }
    }

Requires: nothing.
Ensures: no operation without side effects stays in an `scf.for` whose values it does not use.
Options: none.
Not done here: other loops than `scf.for`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.passes.core.base import OperationPass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import Operation


@dataclass(frozen=True)
class LoopInvariantCodeMotionPass(OperationPass):
    """Hoist loop invariant instructions outside of the loop."""

    name = "loop-invariant-code-motion"

    def apply(self, ctx: Context, op: Operation) -> None:
        """Hoist out of the loops inside `op`, innermost first."""
        from xdsl.dialects.scf import ForOp
        from xdsl.transforms.loop_invariant_code_motion import move_loop_invariant_code

        # A walk in reverse reaches an outer loop after everything inside it.
        for loop in [inner for inner in op.walk(reverse=True) if isinstance(inner, ForOp)]:
            move_loop_invariant_code(loop)
