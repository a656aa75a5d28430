"""Cores that run the same kernels, simulated together: see `group_run`."""
