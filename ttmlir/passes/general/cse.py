"""Compute equal expressions once.

Before:

    func.func @twice(%x: i32) -> i32 {
      %a = arith.muli %x, %x : i32
      %b = arith.muli %x, %x : i32
      %sum = arith.addi %a, %b : i32
      return %sum : i32
    }

After:

    module {
      func.func @twice(%arg0: i32) -> i32 {
        %0 = arith.muli %arg0, %arg0 : i32
        %1 = arith.addi %0, %0 : i32
        return %1 : i32
      }
    }

Requires: nothing.
Ensures: of equal operations without side effects in a block, or in blocks nested in it, the first
one is left; unused operations without side effects are gone.
Options: none.
Not done here: operations in different blocks of one region are not compared; `a + b` and `b + a`
differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.passes.core.base import OperationPass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import Operation


@dataclass(frozen=True)
class CSEPass(OperationPass):
    """Eliminate common sub-expressions."""

    name = "cse"

    def apply(self, ctx: Context, op: Operation) -> None:
        """Merge equal operations inside `op`."""
        from ttmlir.passes.core.value_form import is_value_form

        if is_value_form(op):
            from ttmlir.ir.greedy_rewriting import may_vanish
            from ttmlir.ir.rewriting import merge_equal

            merge_equal(op, may_vanish)
            return
        from xdsl.transforms.common_subexpression_elimination import cse

        cse(op)
        for region in [region for inner in op.walk() for region in inner.regions]:
            if len(region.blocks) > 1:
                for block in region.blocks:
                    cse(block)
