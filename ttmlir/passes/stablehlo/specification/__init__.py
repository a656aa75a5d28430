"""The rest of StableHLO's and CHLO's specifications, in terms of common operations."""
