"""Loops and branches of StableHLO: how often they turn, and functions of their regions."""
