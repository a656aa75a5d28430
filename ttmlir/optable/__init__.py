"""Facts about operations, one row each; data only, no xDSL, no NumPy."""
