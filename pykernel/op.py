"""Operations whose kernels are written in Python."""

from ttmlir.frontend.pykernel.op import PyKernelOp

__all__ = ["PyKernelOp"]
