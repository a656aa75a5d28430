"""What the regions of StableHLO's operations mean, found by computing them on samples."""
