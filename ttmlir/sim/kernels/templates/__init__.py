"""Templates: what their parameters stand for, and which functions are called."""
