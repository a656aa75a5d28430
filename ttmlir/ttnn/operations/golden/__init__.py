"""Golden functions: what operations compute, by torch."""
