"""Passes of the direct-to-metal path: from ttir through d2m to kernels."""
