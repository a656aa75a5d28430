"""Kernels that compute: loops over tiles of blocks, as calls on DST."""
