"""Helpers that programs written for tt-mlir's own package import."""

from ttmlir.ttnn_jit.recording import get_maximal_block_sharding_grid

__all__ = ["get_maximal_block_sharding_grid"]
