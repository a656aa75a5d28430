"""Calls that kernels in C++ make and that no operation of the dialect stands for.

They are calls of other releases of tt-metal than the dialect is made from, of its helpers, and of
the layers below its API. The simulator runs kernels with them; they are not translated to IR.
"""

from __future__ import annotations

from ttmlir.optable.kernel.cpp_calls import (
    circular_buffers,
    columns,
    compute,
    data_movement,
    device_objects,
    printing,
    vector,
)
from ttmlir.optable.kernel.row import KernelCall

CALLS: tuple[KernelCall, ...] = (
    *circular_buffers.CALLS,
    *data_movement.CALLS,
    *compute.CALLS,
    *vector.CALLS,
    *columns.CALLS,
    *printing.CALLS,
    *device_objects.CALLS,
)
"""Every such call."""
