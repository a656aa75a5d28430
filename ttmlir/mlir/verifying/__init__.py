"""Checks of a module in MLIR's order and words."""
