"""xDSL's IR as MLIR text, byte for byte."""
