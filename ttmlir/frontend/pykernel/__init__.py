"""Python functions as kernels of Tensix cores, under the names of tt-mlir's PyKernel.

The lowering path: the source of a function, never run, becomes ttkernel, arith, memref and scf;
that becomes C++, which devices and the simulator take.
"""
