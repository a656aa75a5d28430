"""Rules of `ttir-decomposition` for elementwise operations of 2026."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule


def _swapped(mnemonic: str) -> Rule:
    """A comparison as its mirror image."""

    def rule(op: Operation, rewriter: GreedyRewriter) -> bool:
        lhs, rhs = op.operands
        build = rewriter.builder(op)
        rewriter.replace(op, build.create(mnemonic, (rhs, lhs), op.results[0].type))
        return True

    return rule


RULES: Mapping[str, Sequence[Rule]] = {
    "ttir.lt": (_swapped("gt"),),
    "ttir.le": (_swapped("ge"),),
}
"""Rules by the name of the operation."""
