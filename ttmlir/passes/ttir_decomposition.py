"""Take general ttir operations apart into operations that ttnn has.

Before:

    func.func @kept(%a: tensor<33x70xf32>) -> tensor<33x70xf32> {
      return %a : tensor<33x70xf32>
    }

After:

    module {
      func.func @kept(%arg0: tensor<33x70xf32>) -> tensor<33x70xf32> {
        return %arg0 : tensor<33x70xf32>
      }
    }

Requires: nothing.
Ensures: no operation of `RULES` is left; all others stay as they are.
Options: none.
Not done here: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.passes.base import ModulePass
from ttmlir.passes.ttir_conversion import Rule

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class TTIRDecompositionPass(ModulePass):
    """Take general ttir operations apart into operations that ttnn has."""

    name = "ttir-decomposition"
    title = "TTIRDecomposition"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Apply the rules to every operation inside the module."""
        for op in [op for op in module.walk() if op.name in RULES]:
            RULES[op.name](op)


RULES: dict[str, Rule] = {}
"""What becomes of each operation that is taken apart."""
