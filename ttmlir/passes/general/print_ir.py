"""Print the IR in the middle of a pipeline.

Before:

    func.func @f() {
      return
    }

After:

    module {
      func.func @f() {
        return
      }
    }

Requires: nothing.
Ensures: the IR is as before; its text stands on the standard error.
Options: `label` names the dump.
Not done here: nothing else.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.passes.core.base import OperationPass, option

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import Operation


@dataclass(frozen=True)
class PrintIRPass(OperationPass):
    """Print IR on the debug stream."""

    name = "print-ir"

    label: str = option("", "Label")

    def apply(self, ctx: Context, op: Operation) -> None:
        """Print `op`."""
        from ttmlir.mlir.module_printer import print_module

        label = f" {self.label}" if self.label else ""
        sys.stderr.write(f"// -----// IR Dump{label} //----- //\n{print_module(op)}")
