"""Factorizations of matrices and triangular systems, as loops over rows and columns."""
