"""Runs described programs of kernels on the simulator: their programs, and tensors as buffers."""
