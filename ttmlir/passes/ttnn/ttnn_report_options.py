"""Say which options of a pipeline change nothing.

Before:

    // Options: without-effect=max-legal-layouts
    func.func @main(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
      return %a : tensor<5x7xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<5x7xf32>) -> tensor<5x7xf32> {
        return %arg0 : tensor<5x7xf32>
      }
    }

Requires: nothing.
Ensures: the IR is as before; there is a warning for each of these options.
Options: `without-effect`: names of options.
Not done here: what they ask for. Layouts are searched for with a model of the device, which says
whether an operation takes them and how long it takes then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.mlir.option_values import STRINGS, option
from ttmlir.mlir.reporting import op_diagnostic, warn
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

OF_OPTIMIZER = (
    *("row-major-enabled", "max-legal-layouts", "max-fallback-attempts"),
    *("enable-dram-sharded-matmul", "enable-decision-trace", "decision-trace-dir"),
    *("enable-compile-time-stats", "use-mock-allocator-state"),
)
"""Options that there is no use for without a model of the device."""
NOT_DONE = (
    *("enable-fusing-conv2d-with-multiply-pattern", "enable-permute-slice-after-matmul-fusion"),
    *("enable-create-d2m-subgraphs", "enable-d2m-elementwise-fusion"),
)
"""Options of pipelines to ttnn for what no pass here does."""
OF_2026 = "optimization-level"
"""The option that chooses among the passes of 2026."""


@dataclass(frozen=True)
class TTNNReportOptionsPass(ModulePass):
    """Say which options of a pipeline change nothing."""

    name = "ttnn-report-options"
    title = "TTNNReportOptions"
    without_effect: tuple[str, ...] = option((), "Names of options", type=STRINGS)

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Warn."""
        for name in self.without_effect:
            text = f"--{name} has no effect: {_reason(name)}"
            warn(op_diagnostic(module, text, severity="warning", with_name=False))


def _reason(name: str) -> str:
    if name == OF_2026:
        return "the program becomes text of 2024; spelling=2026 writes that of 2026, which has it"
    if name in OF_OPTIMIZER:
        return "there is no model of the device, with which tt-mlir searches for layouts"
    return "no pass does it here; leave it out"
