"""The ttkernel dialect: what kernels do on the cores of a chip.

Operations are those of September 2024, in the generic form, or those of 2026, in the syntax that
tt-mlir has for them since 2025 (`late.py`).
"""

from __future__ import annotations

from typing import cast

from xdsl.ir import Dialect, Operation

from ttmlir.dialects.ttkernel.attrs import (
    ATTRIBUTES,
    KERNEL_CONFIGS,
    ArgAttr,
    ArgSpecAttr,
    ArgType,
    BcastTypeAttr,
    CBType,
    CircularBuffer,
    CircularBufferParameter,
    DataFormatType,
    EltwiseBinaryTypeAttr,
    EthernetConfigAttr,
    FabricConnectionManagerType,
    InterleavedAddrGenType,
    KernelArgument,
    L1AddrPtrType,
    L1AddrType,
    LocalSemaphoreType,
    NocAddrType,
    NocConfigAttr,
    PageMappingType,
    ReduceDimAttr,
    ReduceTypeAttr,
    ReuseTypeAttr,
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
    LateOp,
    LateSyntaxOp,
    ReturnOp,
    TTKernelOp,
    UnreachableOp,
    op_class,
)

__all__ = [
    "ATTRIBUTES",
    "KERNEL_CONFIGS",
    "OPERATIONS",
    "RESULT_TYPES",
    "TTKERNEL",
    "ArgAttr",
    "ArgSpecAttr",
    "ArgType",
    "BcastTypeAttr",
    "BuiltinOp",
    "CBType",
    "CallOp",
    "CircularBuffer",
    "CircularBufferParameter",
    "DataFormatType",
    "EltwiseBinaryTypeAttr",
    "EthernetConfigAttr",
    "FabricConnectionManagerType",
    "InterleavedAddrGenType",
    "KernelArgument",
    "L1AddrPtrType",
    "L1AddrType",
    "LateOp",
    "LateSyntaxOp",
    "LocalSemaphoreType",
    "NocAddrType",
    "NocConfigAttr",
    "PageMappingType",
    "ReduceDimAttr",
    "ReduceTypeAttr",
    "ReturnOp",
    "ReuseTypeAttr",
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
