"""PyKernel under the import name that the guides use; the code is in `ttmlir.frontend.pykernel`.

Where no ttnn is installed, `import ttnn` finds that of simulated devices afterwards.
"""

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from ttmlir.pykernel import simulate

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
    "simulate",
    "ttkernel_compile",
    "ttkernel_noc_compile",
    "ttkernel_tensix_compile",
    "writer_thread",
]

activate()


def __getattr__(name: str) -> object:
    """`simulate`, which loads ttnn's stand-in, is loaded when it is asked for."""
    if name != "simulate":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ttmlir.pykernel import simulate

    return simulate


def __dir__() -> list[str]:
    """Public names, those that are not loaded yet included."""
    return sorted({*globals(), *__all__})
