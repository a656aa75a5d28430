"""Kernels of fused generics: data movement, computation, and the programs that run them."""
