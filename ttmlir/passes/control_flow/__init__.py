"""Loops and branches of all dialects: copies of short ones, functions of the regions of others."""
