"""StableHLO's sorting in ttir."""
