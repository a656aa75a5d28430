"""Syntax that the reader and the printer share."""
