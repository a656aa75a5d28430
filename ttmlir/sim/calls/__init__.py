"""What kernels can call, by processor."""
