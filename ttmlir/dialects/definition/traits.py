"""Traits of operations that MLIR expresses through interfaces of their dialects."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.traits import OpTrait


@dataclass(frozen=True)
class KeepsConstants(OpTrait):
    """Constants that an operation's regions use stay in these regions, as in kernels.

    It stands for `DialectFoldInterface::shouldMaterializeInto`.
    """
