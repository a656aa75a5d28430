"""What StableHLO's specification demands of operations."""
