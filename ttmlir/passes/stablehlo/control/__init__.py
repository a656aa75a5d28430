"""Loops and branches of StableHLO: how often they iteration, and functions of their regions."""
