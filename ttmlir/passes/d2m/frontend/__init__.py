"""From ttir to loops over tiles: the pass `ttir-to-d2m`, a file for each family of operations."""
