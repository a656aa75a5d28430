"""PyKernel under the import name that the guides use; the code is in `ttmlir.frontend.pykernel`.

Where no ttnn is installed, `import ttnn` finds that of simulated devices afterwards.
"""

from pykernel.ast import (
    compute_thread,
    reader_thread,
    ttkernel_compile,
    ttkernel_noc_compile,
    ttkernel_tensix_compile,
    writer_thread,
)
from pykernel.op import PyKernelOp
from pykernel.types import (
    Arguments,
    CircularBuffer,
    CompiledValue,
    CompileTimeValue,
    Kernel,
    TensorAccessorConfig,
)
from ttmlir.ttnn.activate import activate

__all__ = [
    "Arguments",
    "CircularBuffer",
    "CompileTimeValue",
    "CompiledValue",
    "Kernel",
    "PyKernelOp",
    "TensorAccessorConfig",
    "compute_thread",
    "reader_thread",
    "ttkernel_compile",
    "ttkernel_noc_compile",
    "ttkernel_tensix_compile",
    "writer_thread",
]

activate()
