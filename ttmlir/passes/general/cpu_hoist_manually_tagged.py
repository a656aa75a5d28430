"""Let the host compute the operations that say so.

Before:

    module {
      ttcore.device_module {
        builtin.module {
          func.func @main(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
            %0 = "ttir.exp"(%a) {ttir.should_hoist} : (tensor<5x7xf32>) -> tensor<5x7xf32>
            return %0 : tensor<5x7xf32>
          }
        }
      }
    }

After:

    ...
          func.func @main(%arg0: tensor<5x7xf32>) -> tensor<5x7xf32> {
            %0 = call @cpu_hoisted_ttir_exp_...(%arg0) {ttir.cpu_hoisted_call} ...
            return %0 : tensor<5x7xf32>
          }
          func.func private @cpu_hoisted_ttir_exp_...(tensor<5x7xf32>) -> tensor<5x7xf32>
              attributes {func_hash = ..., tt.function_type = "forward_cpu_declaration"}
        }
      }
      ttcore.cpu_module {
        builtin.module {
          func.func @cpu_hoisted_ttir_exp_...
            ...
          }
        }
      }
    }

Requires: a `ttcore.device_module` (`ttcore-wrap-device-module`).
Ensures: no operation of it has `ttir.should_hoist`; each that had it is a function of a
`ttcore.cpu_module`, which the device's module declares and calls.
Options: none.
Not done here: code of the host for these functions. Equal ones are one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.general.cpu_hoist import SHOULD_HOIST, CPUHoister

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class CPUHoistManuallyTaggedPass(ModulePass):
    """Let the host compute the operations that say so."""

    name = "cpu-hoist-manually-tagged"
    title = "CPUHoistManuallyTaggedOpsTransform"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Move each operation that is marked."""
        hoister = CPUHoister(module)
        for op in tuple(hoister.device.walk()):
            if SHOULD_HOIST in op.attributes:
                hoister.hoist((op,), op.name.replace(".", "_"))
