"""TT-Metalium's host API in Python, for programs that run on simulated devices.

Names are those of tt-metal's C++ headers (tt_metal/api/tt-metalium/host_api.hpp and others). They
are loaded on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttmlir.layout.enums import MathFidelity
    from ttmlir.metalium.buffers import Buffer, TensorAccessorArgs
    from ttmlir.metalium.configs import (
        CircularBufferConfig,
        ComputeConfig,
        DataMovementConfig,
        InterleavedBufferConfig,
        ReaderDataMovementConfig,
        ShardedBufferConfig,
        ShardSpecBuffer,
        WriterDataMovementConfig,
    )
    from ttmlir.metalium.cores import CoreCoord, CoreRange, CoreRangeSet
    from ttmlir.metalium.device import Device
    from ttmlir.metalium.enums import (
        NOC,
        BufferType,
        CBIndex,
        DataFormat,
        DataMovementProcessor,
        ShardOrientation,
        TensorMemoryLayout,
        UnpackToDestMode,
        tile_size,
    )
    from ttmlir.metalium.errors import MetaliumError
    from ttmlir.metalium.host_api import (
        CloseDevice,
        CreateBuffer,
        CreateCircularBuffer,
        CreateDevice,
        CreateKernel,
        CreateKernelFromString,
        CreateProgram,
        CreateSemaphore,
        DeallocateBuffer,
        EnqueueProgram,
        EnqueueReadBuffer,
        EnqueueWriteBuffer,
        Finish,
        GetRuntimeArgs,
        SetCommonRuntimeArgs,
        SetRuntimeArgs,
    )
    from ttmlir.metalium.tile_data import (
        pack_bfloat16,
        pack_bfloat16_vec_into_uint32_vec,
        pack_tiles,
        tilize_nfaces,
        unpack_bfloat16,
        unpack_tiles,
        unpack_uint32_vec_into_bfloat16_vec,
        untilize_nfaces,
    )
    from ttmlir.metalium.work_split import num_cores_to_corerangeset, split_work_to_cores
    from ttmlir.sim.execution.program import Program

_HOMES = {
    "ttmlir.layout.enums": ("MathFidelity",),
    "ttmlir.metalium.buffers": (
        "Buffer",
        "TensorAccessorArgs",
    ),
    "ttmlir.metalium.configs": (
        "CircularBufferConfig",
        "ComputeConfig",
        "DataMovementConfig",
        "InterleavedBufferConfig",
        "ReaderDataMovementConfig",
        "ShardedBufferConfig",
        "ShardSpecBuffer",
        "WriterDataMovementConfig",
    ),
    "ttmlir.metalium.cores": (
        "CoreCoord",
        "CoreRange",
        "CoreRangeSet",
    ),
    "ttmlir.metalium.device": ("Device",),
    "ttmlir.metalium.enums": (
        "NOC",
        "BufferType",
        "CBIndex",
        "DataFormat",
        "DataMovementProcessor",
        "ShardOrientation",
        "TensorMemoryLayout",
        "UnpackToDestMode",
        "tile_size",
    ),
    "ttmlir.metalium.errors": ("MetaliumError",),
    "ttmlir.metalium.host_api": (
        "CloseDevice",
        "CreateBuffer",
        "CreateCircularBuffer",
        "CreateDevice",
        "CreateKernel",
        "CreateKernelFromString",
        "CreateProgram",
        "CreateSemaphore",
        "DeallocateBuffer",
        "EnqueueProgram",
        "EnqueueReadBuffer",
        "EnqueueWriteBuffer",
        "Finish",
        "GetRuntimeArgs",
        "SetCommonRuntimeArgs",
        "SetRuntimeArgs",
    ),
    "ttmlir.metalium.tile_data": (
        "pack_bfloat16",
        "pack_bfloat16_vec_into_uint32_vec",
        "pack_tiles",
        "tilize_nfaces",
        "unpack_bfloat16",
        "unpack_tiles",
        "unpack_uint32_vec_into_bfloat16_vec",
        "untilize_nfaces",
    ),
    "ttmlir.metalium.work_split": (
        "num_cores_to_corerangeset",
        "split_work_to_cores",
    ),
    "ttmlir.sim.execution.program": ("Program",),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "NOC",
    "Buffer",
    "BufferType",
    "CBIndex",
    "CircularBufferConfig",
    "CloseDevice",
    "ComputeConfig",
    "CoreCoord",
    "CoreRange",
    "CoreRangeSet",
    "CreateBuffer",
    "CreateCircularBuffer",
    "CreateDevice",
    "CreateKernel",
    "CreateKernelFromString",
    "CreateProgram",
    "CreateSemaphore",
    "DataFormat",
    "DataMovementConfig",
    "DataMovementProcessor",
    "DeallocateBuffer",
    "Device",
    "EnqueueProgram",
    "EnqueueReadBuffer",
    "EnqueueWriteBuffer",
    "Finish",
    "GetRuntimeArgs",
    "InterleavedBufferConfig",
    "MathFidelity",
    "MetaliumError",
    "Program",
    "ReaderDataMovementConfig",
    "SetCommonRuntimeArgs",
    "SetRuntimeArgs",
    "ShardOrientation",
    "ShardSpecBuffer",
    "ShardedBufferConfig",
    "TensorAccessorArgs",
    "TensorMemoryLayout",
    "UnpackToDestMode",
    "WriterDataMovementConfig",
    "num_cores_to_corerangeset",
    "pack_bfloat16",
    "pack_bfloat16_vec_into_uint32_vec",
    "pack_tiles",
    "split_work_to_cores",
    "tile_size",
    "tilize_nfaces",
    "unpack_bfloat16",
    "unpack_tiles",
    "unpack_uint32_vec_into_bfloat16_vec",
    "untilize_nfaces",
]


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it."""
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    """Public names, those that are not loaded yet included."""
    return sorted({*globals(), *__all__})
