"""The ttkernel dialect: what kernels do on the cores of a chip."""

from __future__ import annotations

from typing import cast

from xdsl.ir import Dialect, Operation

from ttmlir.dialects.ttkernel.attrs import (
    ATTRIBUTES,
    KERNEL_CONFIGS,
    CBType,
    CircularBuffer,
    CircularBufferParameter,
    DataFormatType,
    EthernetConfigAttr,
    InterleavedAddrGenType,
    L1AddrPtrType,
    LocalSemaphoreType,
    NocAddrType,
    NocConfigAttr,
    TensixConfig,
    TensixConfigAttr,
    TensorAccessorArgsType,
    TensorAccessorType,
    ThreadTypeAttr,
)
from ttmlir.dialects.ttkernel.ops import (
    OPERATIONS,
    RESULT_TYPES,
    BuiltinOp,
    CallOp,
    ReturnOp,
    TTKernelOp,
    UnreachableOp,
    op_class,
)

__all__ = [
    "KERNEL_CONFIGS",
    "RESULT_TYPES",
    "TTKERNEL",
    "BuiltinOp",
    "CBType",
    "CallOp",
    "CircularBuffer",
    "CircularBufferParameter",
    "DataFormatType",
    "EthernetConfigAttr",
    "InterleavedAddrGenType",
    "L1AddrPtrType",
    "LocalSemaphoreType",
    "NocAddrType",
    "NocConfigAttr",
    "ReturnOp",
    "TTKernelOp",
    "TensixConfig",
    "TensixConfigAttr",
    "TensorAccessorArgsType",
    "TensorAccessorType",
    "ThreadTypeAttr",
    "UnreachableOp",
    "op_class",
]

TTKERNEL = Dialect("ttkernel", cast("list[type[Operation]]", list(OPERATIONS)), list(ATTRIBUTES))
"""The dialect, for an xDSL context."""
