"""The decorators that make kernels of functions."""

from ttmlir.frontend.pykernel.builder import PyKernelError
from ttmlir.frontend.pykernel.compilation import (
    compute_thread,
    reader_thread,
    ttkernel_compile,
    ttkernel_noc_compile,
    ttkernel_tensix_compile,
    writer_thread,
)

__all__ = [
    "PyKernelError",
    "compute_thread",
    "reader_thread",
    "ttkernel_compile",
    "ttkernel_noc_compile",
    "ttkernel_tensix_compile",
    "writer_thread",
]
