"""Loads `.ttm` files and runs their commands on the simulator: tensors in and out as arrays."""
