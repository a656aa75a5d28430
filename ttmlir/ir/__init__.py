"""What passes and frontends share: building, rewriting and asking the IR.

To scripts the package has MLIR's Python classes, such as `Context` and `Module`, which are those of
`ttmlir.bindings`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ttmlir.errors import MissingNameError

_BINDINGS = (
    *("ArrayAttr", "Attribute", "Block", "BoolAttr", "Context", "DenseArrayAttr", "DictAttr"),
    *("FlatSymbolRefAttr", "FloatAttr", "IntegerAttr", "Location", "MLIRError", "Module"),
    *("Operation", "RankedTensorType", "Region", "StringAttr", "Type", "TypeAttr", "Value"),
    *("WalkOrder", "WalkResult"),
)
__all__ = [*_BINDINGS]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    """One of MLIR's classes, which are imported when a script asks for them."""
    if name in _BINDINGS:
        return getattr(import_module("ttmlir.bindings"), name)
    raise MissingNameError(f"module {__name__!r} has no attribute {name!r}")
