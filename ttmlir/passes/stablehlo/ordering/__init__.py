"""StableHLO's sorting in ttir: what comparators mean, and the rules."""
