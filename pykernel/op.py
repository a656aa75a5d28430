"""Operations whose kernels are written in Python."""

from ttmlir.frontend.pykernel.operation.op import PyKernelOp

__all__ = ["PyKernelOp"]
