"""Modules that programs written for PyKernel of 2025 and 2026 import by these names."""
