"""Let the host compute what of StableHLO has no form in ttir.

Before:

    module {
      ttcore.device_module {
        builtin.module {
          func.func @main(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
            %0 = stablehlo.round_nearest_even %a : tensor<5x7xf32>
            return %0 : tensor<5x7xf32>
          }
        }
      }
    }

After:

    module {
      ttcore.device_module {
        builtin.module {
          func.func @main(%arg0: tensor<5x7xf32>) -> tensor<5x7xf32> {
            %0 = call @cpu_hoisted_stablehlo_round_nearest_even_...(%arg0)
                {ttir.cpu_hoisted_call} : (tensor<5x7xf32>) -> tensor<5x7xf32>
            return %0 : tensor<5x7xf32>
          }
          ...
        }
      }
      ttcore.cpu_module {
        ...
              %0 = stablehlo.round_nearest_even %arg0 : tensor<5x7xf32>
        ...
      }
    }

Requires: a `ttcore.device_module` (`ttcore-wrap-device-module`).
Ensures: no operation of StableHLO is in it; each is a function of a `ttcore.cpu_module`, which the
device's module declares and calls.
Options: none.
Not done here: code of the host for these functions, which no file has; `stablehlo-to-ttir-pipeline`
leaves nothing of StableHLO.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.func import FuncOp

from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.general.cpu_hoist import CPUHoister

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class CPUHoistNonLowerableSHLOOpsPass(ModulePass):
    """Let the host compute what of StableHLO has no form in ttir."""

    name = "cpu-hoist-non-lowerable-shlo-ops"
    title = "CPUHoistNonLowerableSHLOOpsTransform"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Move each operation of StableHLO in the block of a function."""
        hoister = CPUHoister(module)
        functions = [op for op in hoister.device.walk() if isinstance(op, FuncOp)]
        for function in functions:
            for block in function.body.blocks:
                for op in [op for op in block.ops if op.name.startswith("stablehlo.")]:
                    hoister.hoist((op,), op.name.replace(".", "_"))
