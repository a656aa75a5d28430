"""Annotations of kernels, and what kernels are described with."""

from ttmlir.frontend.pykernel.builder import (
    Arguments,
    CircularBuffer,
    CompiledValue,
    CompileTimeValue,
    TensorAccessorConfig,
)
from ttmlir.frontend.pykernel.compilation import Kernel

__all__ = [
    "Arguments",
    "CircularBuffer",
    "CompileTimeValue",
    "CompiledValue",
    "Kernel",
    "TensorAccessorConfig",
]
