"""Decompositions of ttir operations: the passes and their families of rules."""
