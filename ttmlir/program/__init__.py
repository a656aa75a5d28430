"""Programs of kernels as plain data: what runs on which cores, with which arguments and buffers."""
