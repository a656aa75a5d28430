"""Operations whose kernels are written in Python."""

from ttmlir.frontend.pykernel.operation import PyKernelOp

__all__ = ["PyKernelOp"]
