"""The commands of ttrt and what they work with."""
