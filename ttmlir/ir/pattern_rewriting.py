"""Greedy pattern rewriting that keeps locations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Operation, Region
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
    root: Operation,
    patterns: Sequence[RewritePattern],
    *,
    context: Context | None = None,
    after_walk: Callable[[Region, PatternRewriterListener], bool] | None = None,
) -> bool:
    """Apply patterns inside `root` until none applies; true if anything changed.

    An operation inserted without a location gets that of the operation its pattern matched. With a
    `context`, operations are folded too. `after_walk` runs after each walk and says whether it
    changed anything.
    """
    applier = GreedyRewritePatternApplier(
        list(patterns), ctx=context, folding_enabled=context is not None
    )
    keeper = _KeepLocations(applier)
    walker = PatternRewriteWalker(
        keeper,
        post_walk_func=after_walk,
        listener=PatternRewriterListener(operation_insertion_handler=[keeper.located]),
    )
    changed = False
    for region in root.regions:
        changed |= walker.rewrite_region(region)
    return changed
