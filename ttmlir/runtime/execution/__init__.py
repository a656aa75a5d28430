"""Programs of ttnn operations, prepared and run with NumPy."""
