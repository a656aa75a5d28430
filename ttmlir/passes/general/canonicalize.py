"""Bring operations into their canonical form.

Before:

    func.func @twice(%x: index) -> index {
      %zero = arith.constant 0 : index
      %sum = arith.addi %x, %zero : index
      %unused = arith.muli %x, %x : index
      return %sum : index
    }

After:

    module {
      func.func @twice(%arg0: index) -> index {
        return %arg0 : index
      }
    }

Requires: nothing.
Ensures: no fold or canonicalization pattern of an operation applies; of ttir on tensors without
layouts, moves one after another are one, exact casts and operations with a neutral number are gone,
and small constants are computed (`passes/ttir/ttir_canonical_forms.py`, for ttir of 2026
`ttir_value_forms.py`, which folds what tt-mlir folds and no more); equal constants are one,
at the top of the function; operations that have no effect and no user, and blocks that cannot be
reached, are gone.
Options: `region-simplify` keeps unused operations and blocks when it is `disabled`.
Not done here: no pass and no pipeline relies on this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ttmlir.passes.core.base import OperationPass, option

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import Attribute, Operation, SSAValue
    from xdsl.pattern_rewriter import RewritePattern


class RegionSimplify(Enum):
    """What happens to the control flow around the operations."""

    DISABLED = "disabled"
    NORMAL = "normal"
    AGGRESSIVE = "aggressive"


@dataclass(frozen=True)
class CanonicalizePass(OperationPass):
    """Canonicalize operations."""

    name = "canonicalize"
    title = "Canonicalizer"

    region_simplify: RegionSimplify = option(
        RegionSimplify.NORMAL, "Remove unused operations and unreachable blocks"
    )

    def apply(self, ctx: Context, op: Operation) -> None:
        """Apply folds and patterns to what is inside `op` until none applies."""
        from xdsl.transforms.canonicalize import CanonicalizationRewritePattern
        from xdsl.transforms.dead_code_elimination import region_dce

        from ttmlir.ir.rewriting import clean_up, rewrite_greedily
        from ttmlir.passes.core.value_form import is_value_form
        from ttmlir.passes.general.reconcile_unrealized_casts import fold_casts

        if is_value_form(op):
            _canonicalize_values(op)
            return
        simplify = None if self.region_simplify is RegionSimplify.DISABLED else region_dce
        patterns = [CanonicalizationRewritePattern(), *_ttir_patterns(op)]
        rewrite_greedily(op, patterns, context=ctx, after_walk=simplify)
        fold_casts(op)
        clean_up(op)


def _canonicalize_values(op: Operation) -> None:
    """What the canonicalizer of 2026 does, in its order, which is that of constants."""
    from ttmlir.ir.greedy_rewriting import GreedyRewriter
    from ttmlir.passes.ttir import ttir_value_forms
    from ttmlir.passes.ttnn import ttnn_value_forms

    def fold(inner: Operation) -> SSAValue | Attribute | None:
        forms = ttnn_value_forms if inner.name.startswith("ttnn.") else ttir_value_forms
        return forms.fold(inner)

    rules = {**ttir_value_forms.RULES, **ttnn_value_forms.RULES}
    GreedyRewriter(rules, fold=fold, top_down=True).run(op)


def _ttir_patterns(root: Operation) -> list[RewritePattern]:
    """The patterns of ttir, which are loaded for modules that have such operations."""
    if not any(op.name.startswith("ttir.") for op in root.walk()):
        return []
    from ttmlir.passes.ttir.ttir_canonical_forms import Canonicalization

    return [Canonicalization()]
