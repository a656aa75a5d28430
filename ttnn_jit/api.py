"""The decorator under the module name that tt-mlir's own package has for it."""

from ttmlir.ttnn_jit import JitFunction, jit

__all__ = ["JitFunction", "jit"]
