"""Kernels in C++ as ttkernel, arith and scf."""
