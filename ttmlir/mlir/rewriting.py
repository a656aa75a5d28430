"""Greedy pattern rewriting that keeps locations."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Operation
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriterListener,
    PatternRewriteWalker,
    RewritePattern,
)


class _KeepLocations(RewritePattern):
    """Applies patterns and gives what they insert the location of the matched operation."""

    def __init__(self, inner: RewritePattern):
        self._inner = inner
        self._location: LocationAttr = UNKNOWN_LOC

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        self._location = op.location
        self._inner.match_and_rewrite(op, rewriter)

    def located(self, op: Operation) -> None:
        for nested in op.walk() if op.regions else (op,):
            if nested.location is UNKNOWN_LOC:
                nested.location = self._location


def rewrite_greedily(
    root: Operation, patterns: Sequence[RewritePattern], *, apply_recursively: bool = True
) -> bool:
    """Apply patterns inside `root` until none applies; true if anything changed.

    An operation inserted without a location gets that of the operation its pattern matched. With
    `apply_recursively` false, each operation is visited once.
    """
    keeper = _KeepLocations(GreedyRewritePatternApplier(list(patterns), dce_enabled=True))
    walker = PatternRewriteWalker(
        keeper,
        apply_recursively=apply_recursively,
        listener=PatternRewriterListener(operation_insertion_handler=[keeper.located]),
    )
    changed = False
    for region in root.regions:
        changed |= walker.rewrite_region(region)
    return changed
