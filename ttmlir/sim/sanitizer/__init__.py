"""Finds what goes wrong silently on a chip: races, protocol errors, bytes that nobody wrote."""
