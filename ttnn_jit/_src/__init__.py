"""Modules that programs written for tt-mlir's own package import by these names."""
