"""Runs compiled kernels on a model of the chip: cores, memories, networks, clocks."""
