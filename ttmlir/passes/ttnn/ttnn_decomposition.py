"""Write operations of ttnn as others that the library has.

Before:

    func.func @nothing() {
      return
    }

After:

    module {
      func.func @nothing() {
        return
      }
    }

Requires: ttnn of 2026.
Ensures: no rule of `ttnn_decomposition_*.py` applies: each file is a family of rules, named in
`_FAMILIES`.
Options: none.
Not done here: operations that the library has and computes otherwise belong to `ttnn-workaround`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.ir.greedy_rewriting import GreedyRewriter, collect_rules
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

_FAMILIES: tuple[str, ...] = ("ttmlir.passes.ttnn.ttnn_decomposition_attention",)
"""The modules of rules, in the order in which rules of an operation are tried."""


@dataclass(frozen=True)
class TTNNDecompositionPass(ModulePass):
    """Write operations of ttnn as others that the library has."""

    name = "ttnn-decomposition"
    title = "TTNNDecomposition"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Decompose what there is a rule for."""
        GreedyRewriter(collect_rules(_FAMILIES)).run(module)
