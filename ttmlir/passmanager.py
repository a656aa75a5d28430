"""The pass manager of MLIR's Python classes, by the name that scripts import."""

from ttmlir.bindings import PassManager

__all__ = ["PassManager"]
