"""Turn constants of sdy into those of StableHLO.

Before:

    func.func @main() -> tensor<2xf32> {
      %0 = sdy.constant dense<[1.0, 2.0]> : tensor<2xf32>
      return %0 : tensor<2xf32>
    }

After:

    module {
      func.func @main() -> tensor<2xf32> {
        %cst = stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
        return %cst : tensor<2xf32>
      }
    }

Requires: nothing.
Ensures: there is no `sdy.constant`.
Options: none.
Not done here: what says how tensors are spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.dialects import sdy
from ttmlir.dialects.stablehlo.creation import ConstantOp
from ttmlir.ir.rewriting import insert_before, replace
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class PartiallyConvertSdyToStableHLOPass(ModulePass):
    """Turn constants of sdy into those of StableHLO."""

    name = "partially-convert-sdy-to-stablehlo"
    title = "PartiallyConvertSdyToStableHLOPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Replace every constant."""
        for op in [op for op in module.walk() if isinstance(op, sdy.ConstantOp)]:
            new = ConstantOp.create(
                result_types=[op.results[0].type],
                properties={"value": op.properties["value"]},
                attributes={**op.attributes},
                location=op.location,
            )
            insert_before(op, new)
            replace(op, *new.results)
