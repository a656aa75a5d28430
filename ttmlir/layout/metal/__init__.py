"""Arithmetic of the direct-to-metal path: grids and shards, views, and where they lie in memory."""
