"""Calls of models: from arguments to arrays of a program, and from its results to values."""
