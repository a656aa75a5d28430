"""Polynomials for ttmlir: a dialect, a pass and a pipeline from outside of it."""
