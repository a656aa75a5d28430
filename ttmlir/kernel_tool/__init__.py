"""Kernels in files, without a host program: which of them compile, and what they compute."""
