"""PyKernel under the import name that the guides use; the code is in `ttmlir.frontend.pykernel`."""
