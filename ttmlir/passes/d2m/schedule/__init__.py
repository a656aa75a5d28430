"""Passes that put generics on cores: memrefs, blocks and grids, addresses."""
