"""Mathematics of more than one operation, written once, on arrays of any carrier."""
