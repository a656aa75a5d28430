"""Annotations of kernels, and what kernels are described with."""

from ttmlir.frontend.pykernel.kernels import Kernel
from ttmlir.frontend.pykernel.types import (
    Arguments,
    CircularBuffer,
    CompiledValue,
    CompileTimeValue,
    TensorAccessorConfig,
)

__all__ = [
    "Arguments",
    "CircularBuffer",
    "CompileTimeValue",
    "CompiledValue",
    "Kernel",
    "TensorAccessorConfig",
]
