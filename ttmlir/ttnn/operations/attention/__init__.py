"""Attention in the forms that models have: whole, of single tokens, by indices, with a state."""
