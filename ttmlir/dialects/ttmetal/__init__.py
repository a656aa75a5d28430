"""The ttmetal dialect: what the host asks a device to do, in order, on fixed addresses.

The operations of 2024 work on tensors and hold their kernels in regions (`dispatch.py`). Those of
late 2025, to which d2m is lowered, work on memrefs and name functions (`programs.py`).
"""

from __future__ import annotations

from typing import cast

from xdsl.ir import Dialect, Operation

from ttmlir.dialects.ttmetal.dispatch import (
    DISPATCH_OPS,
    AllocOp,
    Area,
    CoreRangeAttr,
    DeallocOp,
    DispatchOp,
    HostReadOp,
    HostWriteOp,
)
from ttmlir.dialects.ttmetal.kernel_configs import (
    ComputeConfigAttr,
    KernelArgAttr,
    KernelArgsAttr,
    NocConfigAttr,
)
from ttmlir.dialects.ttmetal.programs import (
    PROGRAM_OPS,
    CreateBufferOp,
    DeallocateBufferOp,
    EnqueueProgramOp,
    EnqueueReadBufferOp,
    EnqueueWriteBufferOp,
    FinishOp,
    MeshShardOp,
)

__all__ = [
    "TTMETAL",
    "AllocOp",
    "Area",
    "ComputeConfigAttr",
    "CoreRangeAttr",
    "CreateBufferOp",
    "DeallocOp",
    "DeallocateBufferOp",
    "DispatchOp",
    "EnqueueProgramOp",
    "EnqueueReadBufferOp",
    "EnqueueWriteBufferOp",
    "FinishOp",
    "HostReadOp",
    "HostWriteOp",
    "KernelArgAttr",
    "KernelArgsAttr",
    "MeshShardOp",
    "NocConfigAttr",
]

TTMETAL = Dialect(
    "ttmetal",
    cast("list[type[Operation]]", [*DISPATCH_OPS, *PROGRAM_OPS]),
    [ComputeConfigAttr, CoreRangeAttr, KernelArgAttr, KernelArgsAttr, NocConfigAttr],
)
"""The dialect, for an xDSL context."""
