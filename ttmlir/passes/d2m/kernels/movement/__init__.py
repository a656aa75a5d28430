"""Kernels that move data: reading, gathering, multicasting and storing blocks of tiles."""
