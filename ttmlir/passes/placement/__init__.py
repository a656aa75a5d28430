"""Where tensors lie: machines, devices, layouts, grids, addresses."""
