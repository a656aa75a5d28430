"""Turn constants of arith that are tensors into those of stablehlo.

Before:

    func.func @main(%a: tensor<3x70xf32>) -> tensor<3x70xf32> {
      %c = arith.constant dense<2.5> : tensor<3x70xf32>
      %0 = stablehlo.add %a, %c : tensor<3x70xf32>
      return %0 : tensor<3x70xf32>
    }

After:

    ...
        %cst = stablehlo.constant dense<2.500000e+00> : tensor<3x70xf32>
        %0 = stablehlo.add %arg0, %cst : tensor<3x70xf32>
        ...

Requires: nothing.
Ensures: there is no `arith.constant` of a tensor.
Options: none.
Not done here: other operations of arith, which `convert-arith-to-ttir` takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType

from ttmlir.ir.rewriting import replace
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class ConvertArithToStableHLOPass(ModulePass):
    """Turn constants of arith that are tensors into those of stablehlo."""

    name = "convert-arith-to-stablehlo"
    title = "ConvertArithToStableHLO"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Replace every constant."""
        for op in tuple(module.walk()):
            if op.name == "arith.constant" and isinstance(op.results[0].type, TensorType):
                build, value = StableHLOCarrier.before(op), op.properties["value"]
                replace(op, build.make_one("constant", (), op.result_types[0], value=value))
