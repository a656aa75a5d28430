"""Forget where operations come from.

Before:

    func.func @f(%x: i32) -> i32 {
      return %x : i32 loc("source.py":3:1)
    }

After:

    module {
      func.func @f(%arg0: i32) -> i32 {
        return %arg0 : i32
      }
    }

Requires: nothing.
Ensures: every operation and block argument has the location `unknown`.
Options: none.
Not done here: names that attributes hold are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.passes.core.base import OperationPass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import Operation


@dataclass(frozen=True)
class StripDebugInfoPass(OperationPass):
    """Strip debug info from all operations."""

    name = "strip-debuginfo"
    title = "StripDebugInfo"

    def apply(self, ctx: Context, op: Operation) -> None:
        """Give everything inside `op`, and `op`, the unknown location."""
        from xdsl.dialects.builtin import UNKNOWN_LOC

        for inner in op.walk():
            inner.location = UNKNOWN_LOC
            for region in inner.regions:
                for block in region.blocks:
                    for argument in block.args:
                        argument.location = UNKNOWN_LOC
