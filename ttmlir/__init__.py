"""A Tenstorrent compiler stack in pure Python."""
