"""Mark functions that users call as programs of the device.

Before:

    func.func @main(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
      return %a : tensor<5x7xf32>
    }
    func.func private @helper()

After:

    module {
      func.func @main(%arg0: tensor<5x7xf32>) -> tensor<5x7xf32>
          attributes {tt.function_type = "forward_device"} {
        return %arg0 : tensor<5x7xf32>
      }
      func.func private @helper()
    }

Requires: nothing.
Ensures: public functions with a body that have no `tt.function_type` have `"forward_device"`.
Options: none.
Not done here: functions that others call keep what they say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from ttmlir.ir.rewriting import symbol_visibility
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context

FUNCTION_TYPE = "tt.function_type"
"""The attribute that says what a function is for."""


@dataclass(frozen=True)
class TTCoreMarkFunctionsAsForwardPass(ModulePass):
    """Mark functions that users call as programs of the device."""

    name = "ttcore-mark-functions-as-forward"
    title = "TTCoreMarkFunctionsAsForwardPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Set the attribute."""
        for op in module.walk():
            if isinstance(op, FuncOp) and op.body.blocks and symbol_visibility(op) == "public":
                op.attributes.setdefault(FUNCTION_TYPE, StringAttr("forward_device"))
