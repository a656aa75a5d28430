"""Numbers that devices lack as pairs of those that they have, as tt-mlir of 2026 stores them."""
