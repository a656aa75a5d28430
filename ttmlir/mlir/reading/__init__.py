"""MLIR text into xDSL's IR."""
