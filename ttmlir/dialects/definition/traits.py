"""Traits of operations that MLIR expresses through interfaces of their dialects."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from xdsl.traits import HasCanonicalizationPatternsTrait, OpTrait

if TYPE_CHECKING:
    from xdsl.ir import Operation
    from xdsl.pattern_rewriter import RewritePattern


@dataclass(frozen=True)
class KeepsConstants(OpTrait):
    """Constants that an operation's regions use stay in these regions, as in kernels.

    It stands for `DialectFoldInterface::shouldMaterializeInto`.
    """


@dataclass(frozen=True)
class CanonicalPatterns(HasCanonicalizationPatternsTrait):
    """The canonical forms of an operation, at `module:attribute`; imported when first asked for.

    Patterns create operations, so their module needs the one of the operation's class.
    """

    path: str

    def get_patterns(self, op: type[Operation]) -> tuple[RewritePattern, ...]:
        """The patterns at the path."""
        module, _, attribute = self.path.partition(":")
        return cast("tuple[RewritePattern, ...]", getattr(import_module(module), attribute))

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        """None without a path."""
        return ()
