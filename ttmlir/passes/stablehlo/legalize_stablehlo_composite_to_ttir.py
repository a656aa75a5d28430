"""Turn composites of the library into operations of ttir.

Before:

    func.func private @gelu(%a: tensor<3x70xf32>) -> tensor<3x70xf32> {
      %0 = stablehlo.tanh %a : tensor<3x70xf32>
      return %0 : tensor<3x70xf32>
    }
    func.func @main(%a: tensor<3x70xf32>) -> tensor<3x70xf32> {
      %0 = stablehlo.composite "tenstorrent.gelu" %a {decomposition = @gelu}
          : (tensor<3x70xf32>) -> tensor<3x70xf32>
      return %0 : tensor<3x70xf32>
    }

After:

    ...
      func.func @main(%arg0: tensor<3x70xf32>) -> tensor<3x70xf32> {
        %0 = "ttir.gelu"(%arg0) : (tensor<3x70xf32>) -> tensor<3x70xf32>
        ...

Requires: nothing.
Ensures: no composite has a name that begins with `tenstorrent.`; what ttir has no operation for is
a `ttcore.composite`. Functions that say what composites mean stay.
Options: none.
Not done here: other composites, which `stablehlo-legalize-composite-to-call` calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import StringAttr

from ttmlir.ir.builder import Spelling, use_style
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class LegalizeStableHLOCompositeToTTIRPass(ModulePass):
    """Turn composites of the library into operations of ttir."""

    name = "legalize-stablehlo-composite-to-ttir"
    title = "LegalizeStableHLOCompositeToTTIR"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert every composite of the library."""
        from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_control import (
            LIBRARY_PREFIX,
            convert_composite,
        )

        with use_style(Spelling.LATE.style):
            for op in [op for op in module.walk() if op.name == "stablehlo.composite"]:
                name = op.properties.get("name")
                if isinstance(name, StringAttr) and name.data.startswith(LIBRARY_PREFIX):
                    convert_composite(op)
