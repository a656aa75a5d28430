"""Remove chains of unrealized casts that lead back to the type they began with.

Before:

    func.func @f(%x: i64) -> i64 {
      %0 = builtin.unrealized_conversion_cast %x : i64 to index
      %1 = builtin.unrealized_conversion_cast %0 : index to i64
      return %1 : i64
    }

After:

    module {
      func.func @f(%arg0: i64) -> i64 {
        return %arg0 : i64
      }
    }

Requires: nothing.
Ensures: the casts that are left change a type that something uses.
Options: none.
Not done here: casts that are left are no error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.passes.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class ReconcileUnrealizedCastsPass(ModulePass):
    """Simplify and eliminate unrealized conversion casts."""

    name = "reconcile-unrealized-casts"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Remove the casts of the module that cancel out."""
        from xdsl.transforms.reconcile_unrealized_casts import reconcile_unrealized_casts

        reconcile_unrealized_casts(module, warn_on_failure=False)
