"""Passes from ttnn to Python."""
