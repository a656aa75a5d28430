"""Say how much L1 the results of constant computations take.

Before:

    module {
      ttcore.device_module {
        builtin.module {
        }
      }
    }

After:

    module {
      ttcore.device_module {
        builtin.module attributes {ttnn.l1_const_eval_usage = 1024 : ui64} {
        }
      }
    }

Requires: nothing.
Ensures: modules for devices have the attribute `ttnn.l1_const_eval_usage`, in bytes of each core.
Options: none.
Not done here: results are in DRAM, so that it is the 1024 bytes that are reserved in any case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerAttr, IntegerType, Signedness

from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.general.ttcore_register_device import device_modules

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

RESERVED_L1 = 1024


@dataclass(frozen=True)
class TTNNMemoryManagementPass(ModulePass):
    """Say how much L1 the results of constant computations take."""

    name = "ttnn-memory-management"
    title = "TTNNMemoryManagement"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Set the attribute."""
        usage = IntegerAttr(RESERVED_L1, IntegerType(64, Signedness.UNSIGNED))
        for each in device_modules(module):
            each.attributes["ttnn.l1_const_eval_usage"] = usage
