"""Loads and runs .ttnn programs with NumPy; never imports the compiler."""
