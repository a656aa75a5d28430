"""Doors: programs of JAX, torch and MLIR text become compiled models that run here."""
