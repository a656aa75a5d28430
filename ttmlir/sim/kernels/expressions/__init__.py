"""Expressions of C++ as typed ones of Python."""
