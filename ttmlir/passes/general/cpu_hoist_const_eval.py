"""Let the host compute what depends on constants alone.

Before:

    module {
      ttcore.device_module {
        builtin.module {
          func.func private @main_const_eval_0(%a: tensor<5x7xbf16>) -> tensor<5x7xbf16>
              attributes {tt.function_type = "const_eval"} {
            %0 = "ttir.exp"(%a) : (tensor<5x7xbf16>) -> tensor<5x7xbf16>
            return %0 : tensor<5x7xbf16>
          }
        }
      }
    }

After:

    ...
            %0 = ttir.empty() : tensor<5x7xf32>
            %1 = ttir.to_layout %arg0, %0 : ...
            %2 = call @cpu_hoisted_const_eval_...(%1) {ttir.cpu_hoisted_call} ...
            %3 = ttir.empty() : tensor<5x7xbf16>
            %4 = ttir.to_layout %2, %3 : ...
            return %4 : tensor<5x7xbf16>
          }
          ...
        }
      }
      ttcore.cpu_module {
        ...
      }
    }

Requires: a `ttcore.device_module`, functions of constants (`const-eval-hoist-transform`).
Ensures: these functions call functions of a `ttcore.cpu_module` for all that they compute. Their
floats have 32 bits and their integers no sign there.
Options: none.
Not done here: functions that only make tensors of numbers, and those with operations on several
devices, are computed by the device. There is no code of the host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp

from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.general.cpu_hoist import CPUHoister
from ttmlir.passes.general.ttcore_mark_functions_as_forward import FUNCTION_TYPE

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation


@dataclass(frozen=True)
class CPUHoistConstEvalPass(ModulePass):
    """Let the host compute what depends on constants alone."""

    name = "cpu-hoist-const-eval"
    title = "CPUHoistConstEvalTransform"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Move what each function of constants computes."""
        hoister = CPUHoister(module)
        for op in tuple(hoister.device.body.block.ops):
            kind = op.attributes.get(FUNCTION_TYPE)
            if isinstance(op, FuncOp) and isinstance(kind, StringAttr) and op.body.blocks:
                ops = [each for each in op.body.blocks[0].ops if not isinstance(each, ReturnOp)]
                if kind.data == "const_eval" and _may_move(ops):
                    hoister.hoist(ops, "const_eval")


_OF_DEVICES = ("mesh_", "all_", "reduce_scatter", "collective_")


def _may_move(ops: list[Operation]) -> bool:
    """True if the host can compute it, and there is something to compute."""
    if any(op.name.split(".")[-1].startswith(_OF_DEVICES) or op.regions for op in ops):
        return False
    return all(op.name.startswith("ttir.") for op in ops) and any(op.operands for op in ops)
