"""Generations of silicon, boards, and the chips of a machine."""
