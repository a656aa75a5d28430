"""Files, environments and runtimes as the objects of tt-mlir's Python modules."""
