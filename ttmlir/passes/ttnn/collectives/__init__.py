"""Passes on the collectives of ttnn of 2026."""
