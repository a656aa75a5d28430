"""Calls that kernels in C++ make and that no operation of the dialect stands for.

They are calls of other releases of tt-metal than the dialect is made from, of its helpers, and of
the layers below its API. The simulator runs kernels with them; they are not translated to IR.
"""

from __future__ import annotations

from ttmlir.optable.kernel import (
    cpp_compute_calls,
    cpp_movement_calls,
    late_columns,
    late_vector,
    pack_vector,
)
from ttmlir.optable.kernel.kernel_call import KernelCall

CALLS: tuple[KernelCall, ...] = (
    *cpp_movement_calls.CIRCULAR_BUFFERS_CALLS,
    *cpp_movement_calls.CALLS,
    *cpp_compute_calls.CALLS,
    *cpp_compute_calls.VECTOR_CALLS,
    *late_vector.CALLS,
    *pack_vector.CALLS,
    *cpp_compute_calls.COLUMNS_CALLS,
    *late_columns.CALLS,
    *cpp_movement_calls.PRINTING_CALLS,
    *cpp_movement_calls.DEVICE_OBJECTS_CALLS,
)
"""Every such call."""
