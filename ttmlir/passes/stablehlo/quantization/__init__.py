"""Quantized tensors as integers."""
