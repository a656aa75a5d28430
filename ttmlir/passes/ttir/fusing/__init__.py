"""Fusing of ttir operations: the pass and its families of rules."""
