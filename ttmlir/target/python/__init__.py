"""Modules as text of Python."""
