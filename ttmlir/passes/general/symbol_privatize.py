"""Make symbols private, so that unused ones can be removed.

Before:

    module {
      func.func @main() {
        return
      }
      func.func @helper() {
        return
      }
    }

After:

    module {
      func.func private @main() {
        return
      }
      func.func private @helper() {
        return
      }
    }

Requires: nothing.
Ensures: every symbol directly inside the operation is private, apart from the excluded ones.
Options: `exclude` names symbols that stay as they are.
Not done here: nothing is removed, see symbol-dce.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.mlir.option_values import STRINGS
from ttmlir.passes.core.base import OperationPass, option

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import Operation


@dataclass(frozen=True)
class SymbolPrivatizePass(OperationPass):
    """Mark symbols private."""

    name = "symbol-privatize"

    exclude: tuple[str, ...] = option((), "Symbols that should not be marked private", type=STRINGS)

    def apply(self, ctx: Context, op: Operation) -> None:
        """Make the symbols of `op` private."""
        from xdsl.dialects.builtin import StringAttr

        from ttmlir.ir.rewriting import symbols_in

        for name, symbol in symbols_in(op).items():
            if name not in self.exclude:
                symbol.properties["sym_visibility"] = StringAttr("private")
