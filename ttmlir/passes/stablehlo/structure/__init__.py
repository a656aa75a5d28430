"""What a program of StableHLO is made of: values that hold several others, and sizes."""
