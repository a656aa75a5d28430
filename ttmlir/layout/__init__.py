"""Arithmetic of tiles, shards, grids, affine maps, data formats and chips; no xDSL."""
