"""Compiles the C++ text of a kernel to a generator of Python.

A kernel is parsed with the macros of its processor, type-checked, and becomes one function of
Python that is compiled once. Integers wrap as in C++, calls of the kernel library become methods of
an API object, and every node of the Python code carries the line and column of the C++ text.
"""

from ttmlir.sim.kernels.compiler import CompiledKernel, compile_kernel
from ttmlir.sim.kernels.library import KernelApi

__all__ = ["CompiledKernel", "KernelApi", "compile_kernel"]
