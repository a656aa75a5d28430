"""Tensors: their numbers, their bytes on a device, and what converts, indexes and prints them."""
