"""Statements of C++ as statements of Python."""
