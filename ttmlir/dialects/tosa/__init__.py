"""The tosa dialect: MLIR 19's operations and text, and the forms that operations have had since.

xDSL's dialect lacks most operations, so none of it is used.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Dialect, Operation

from ttmlir.dialects.tosa import (
    attrs,
    contraction,
    control,
    creation,
    elementwise,
    indexing,
    movement,
    reduction,
    window,
)

__all__ = ["OPERATIONS", "TOSA"]

OPERATIONS: Sequence[type[Operation]] = (
    *elementwise.OPERATIONS,
    *creation.OPERATIONS,
    *movement.OPERATIONS,
    *indexing.OPERATIONS,
    *reduction.OPERATIONS,
    *contraction.OPERATIONS,
    *window.OPERATIONS,
    *control.OPERATIONS,
)
"""Every operation of the dialect."""

TOSA = Dialect("tosa", list(OPERATIONS), list(attrs.ATTRIBUTES))
"""The dialect, for an xDSL context."""
